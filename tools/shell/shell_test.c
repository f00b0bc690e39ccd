/* SPDX-License-Identifier: Apache-2.0 */
/* The shell with plain input: its own commands, what it keeps and what it frees. Programs that it writes are compiled and run
 * by shell_test.sh. */
#include "shell.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "complete.h"
#include "cuvmm.h"
#include "save.h"
#include "tap.h"
#include "typed.h"

static struct shell shell;
static char folder[200];

static void begin(void)
{
    struct script_options options = {.brief = true};
    shell = (struct shell){.out = stdout};
    session_begin(&shell.session, &options);
}

static void end(void)
{
    session_end(&shell.session, NULL);
    shell_forget(&shell);
}

/* The output of a line; the caller frees it. */
static char *say_bytes(const char *line, size_t length)
{
    char *text = NULL;
    size_t size;
    shell.out = open_memstream(&text, &size);
    if (!shell.out)
        tap_bail("no memory");
    shell_line(&shell, line, length);
    fclose(shell.out);
    return text;
}

static char *say(const char *line)
{
    return say_bytes(line, strlen(line));
}

static void says(const char *line, const char *wanted)
{
    char *text = say(line);
    if (!tap_ok(strstr(text, wanted) != NULL, "%s: says \"%s\"", line, wanted))
        tap_note("%s", text);
    free(text);
}

static void says_not(const char *line, const char *unwanted)
{
    char *text = say(line);
    if (!tap_ok(strstr(text, unwanted) == NULL, "%s: does not say \"%s\"", line, unwanted))
        tap_note("%s", text);
    free(text);
}

static void run(const char *line)
{
    char *text = say(line);
    free(text);
}

/* The numbers of live objects and of kept lines: enough to see whether anything changed. */
static void count(void *user, const vmm_object *object)
{
    if (object->kind != VMM_OBJECT_DEVICE)
        ++*(size_t *)user;
}

static size_t living(void)
{
    size_t n = 0;
    if (shell.session.script->sys)
        vmm_visit(shell.session.script->sys, count, &n);
    return n;
}

static char *path(const char *name)
{
    static char buffer[4][256];
    static int next;
    next = (next + 1) % 4;
    snprintf(buffer[next], sizeof buffer[next], "%s/%s", folder, name);
    return buffer[next];
}

static char *read_file(const char *name)
{
    struct text text = {0};
    char buffer[4096];
    FILE *in = fopen(name, "rb");
    text_add_bytes(&text, "", 0);
    for (size_t n; in && (n = fread(buffer, 1, sizeof buffer, in)) > 0;)
        text_add_bytes(&text, buffer, n);
    if (in)
        fclose(in);
    return text.data;
}

/* ---- lines */

static void test_lines(void)
{
    begin();
    says("  ", "");
    says("init", "cuInit(0) -> CUDA_SUCCESS");
    says("reserve 0", "CUDA_ERROR_INVALID_VALUE");
    tap_ok(!shell.failed && !shell.ended, "a refused call is not a failure and ends nothing");
    tap_u64(shell.session.count, 2, "both are lines of the session");
    says("reserv 2gran", "did you mean reserve?");
    says("reserv 2gran", "type instead: reserve 2gran");
    says("udno", "type instead: undo");
    says("hlep", "did you mean help?");
    says("frobnicate", "there is no command \"frobnicate\"; help lists them");
    says("cuvmm explain VMM-MAP-OVERLAP", "type instead: explain VMM-MAP-OVERLAP\n");
    says("cuMemMap r", "cuMemMap is \"map\" here: map ADDRESS SIZE HANDLE");
    says("cuStreamDestroy(s)", "is \"destroy\" here");
    says("cuMem", "there is no command \"cuMem\"");
    says("cuMemMap(r, 2MiB, 0, m, 0)", "  cuMemMap is \"map\" here: map ADDRESS");
    says("cudaMalloc(&p, 4096)", "  cudaMalloc is \"alloc\" here: alloc SIZE");
    says("cudaFoo(p)", "there is no command \"cudaFoo(p)\"; help lists them");
    says("ls", "there is no command \"ls\"; help lists them");
    says("foo bar", "there is no command \"foo\"; help lists them");
    says_not("int main(void)", "type instead");
    says("help cuMemMap", "driver: cuMemMap");
    says("reserve 2MB", "type instead: reserve 2MiB");
    tap_ok(shell.failed, "a mistake is a failure");
    tap_u64(shell.session.count, 2, "and leaves no line");
    says("frob = reserve 2gran", "cuMemAddressReserve(&frob");
    says("undo = reserve 2gran", "cuMemAddressReserve(&undo");
    says("free frob+1gran", "line 5, column 16: ");
    says("free frob 1gran", "VMM-FREE-SIZE-MATCH");
    says("backend sim:nothing", "cannot be opened");
    tap_u64(living(), 2, "a missing backend does not change the machine");
    says("explain VMM-MAP-OVERLAP", "VMM-MAP-OVERLAP");
    says("history", "    3  frob = reserve 2gran\n");
    says("# a remark", "");
    char *text = say_bytes("in\0it", 5);
    tap_ok(strstr(text, "a byte 0x00") != NULL, "a byte 0 is reported");
    free(text);
    says("quit", "");
    tap_ok(shell.ended, "quit ends");
    end();
}

static void test_help(void)
{
    const struct script_command *command;
    begin();
    char *all = say("help");
    bool whole = true;
    for (size_t i = 0; (command = script_command(i)); i++)
        whole &= strstr(all, command->name) != NULL;
    for (const struct shell_command *own = shell_commands; own->name; own++)
        whole &= strstr(all, own->name) != NULL;
    tap_ok(whole, "help lists every command of both kinds");
    free(all);
    says("help", "map r 2gran h");
    says("help addresses", "addresses: address ranges, mappings and access rights");
    says("help addresses", "    reserve          reserves a range of addresses; no memory yet");
    says("help all", "    undo             undoes the last step, or the last N");
    says("help all", "    launch-graph     launches an instance");
    says("help map", "for example: map r0 2gran h0");
    says("help undo", "for example: undo 2");
    says("help check", "check refs HANDLE N");
    says("help mop", "did you mean map?");
    end();
}

/* ---- pictures */

static void test_picture(void)
{
    begin();
    says("picture on", "");
    says("init", "physical memory");
    char *text = say("devices");
    tap_ok(!strstr(text, "physical memory"), "a line without effect draws nothing");
    free(text);
    run("h = create 1gran dev0 handle=fd");
    says("f = export h", "descriptors\n      f               open, of h, 2MiB");
    text = say("close f");
    tap_ok(strstr(text, "physical memory") && !strstr(text, "descriptors"), "a closed descriptor is gone from the picture");
    free(text);
    run("picture off");
    text = say("reserve 1gran");
    tap_ok(!strstr(text, "physical memory"), "picture off");
    free(text);
    says("picture", "usage: picture on, or picture off");
    end();
}

static void test_colour(void)
{
    struct script_options options = {.brief = true, .draw = true, .colour = true};
    shell = (struct shell){.out = stdout};
    session_begin(&shell.session, &options);
    run("init");
    run("r = reserve 2gran");
    run("h = create 1gran dev0");
    run("map r 1gran h");
    says("access r 1gran dev0:rw", "\033[32m");
    says("access r 1gran dev0:r", "r-");
    says("access r 1gran dev0:none", "\033[31m");
    end();
}

/* ---- undo */

static void test_undo(void)
{
    begin();
    says("undo", "there is nothing to undo");
    run("init");
    run("r = reserve 4gran");
    run("h = create 2gran dev0");
    run("map r 2gran h");
    run("echo mapped");
    tap_u64(living(), 3, "a reservation, a handle, a mapping");
    says("undo", "undone: map r 2gran h\n  undone: echo mapped\n");
    tap_u64(living(), 2, "the mapping is gone");
    says("map r 2gran h", "CUDA_SUCCESS");
    says("undo 2", "undone: h = create 2gran dev0");
    tap_u64(living(), 1, "two steps at once");
    says("map r 2gran h", "nothing is named \"h\"");
    says("undo 3", "cannot undo 3 steps, there are only 2");
    says("undo 0", "is not a number of steps");
    says("undo -1", "is not a number of steps");
    says("undo x", "is not a number of steps");
    tap_u64(living(), 1, "and nothing changed");
    says("undo 2", "undone: init");
    tap_u64(shell.session.count, 0, "back at the beginning");
    says("r = reserve 4MiB", "NOT_INITIALIZED");
    end();
}

/* A line that was copied with its prompt. */
static void test_prompts(void)
{
    begin();
    says("> init", "cuInit(0) -> CUDA_SUCCESS");
    says(" cuvmm>devices", "cuDeviceGetCount");
    says("cuvmm> ", "");
    says("cuvmm", "omit the first word");
    tap_text(shell.session.line[0].text, "init", "the session has the line without its prompt");
    end();
}

static void test_redo(void)
{
    begin();
    says("redo", "there is nothing to redo");
    run("init");
    run("r = reserve 4gran");
    run("echo reserved");
    run("h = create 2gran dev0");
    run("undo 2");
    says("redo x", "usage: redo [N]");
    says("redo", "again: r = reserve 4gran");
    tap_u64(shell.session.count, 3, "a step comes back with what was said after it");
    tap_u64(living(), 1, "on the machine, too");
    says("undo", "undone: r = reserve 4gran");
    says("redo 9", "again: h = create 2gran dev0");
    tap_u64(living(), 2, "or all of them");
    run("undo 2");
    says("reserv 2MB", "did you mean reserve?");
    says("redo", "again: r = reserve 4gran");
    run("k = create 1gran dev0");
    says("redo", "there is nothing to redo");
    tap_u64(living(), 2, "another line in between forgets the rest");
    run("undo");
    end();
}

/* Changes of process and machine are steps as well, and so are accesses by the host. */
static void test_undo_process(void)
{
    begin();
    run("backend sim:h100,arena=auto");
    run("init");
    run("r = reserve 1hgran");
    run("h = create 1hgran host");
    run("map r 1hgran h");
    run("access r 1hgran numa0:rw");
    run("host-write r \"first\"");
    run("host-write r \"other\"");
    says("undo", "undone: host-write r \"other\"");
    says("check host-bytes r \"first\"", "as expected");
    run("undo 7");
    tap_u64(shell.session.count, 0, "back at the beginning");
    run("init");
    run("process b");
    run("init");
    tap_u64(shell.session.script->processes, 2, "a second process");
    run("undo 2");
    tap_u64(shell.session.script->processes, 0, "is taken back");
    run("backend sim:h200x2");
    run("init");
    run("undo 2");
    says("devices", "count = 1");
    end();
}

static void write_file(const char *name, const char *text)
{
    FILE *out = fopen(name, "w");
    if (!out || fputs(text, out) < 0 || fclose(out) != 0)
        tap_bail("%s cannot be written", name);
}

/* The machine changes behind the session's back: different results are reported, and if something
 * has disappeared, nothing changes. */
static void test_undo_differs(void)
{
    char line[300];
    write_file(path("a.profile"), "base = h100\ndevice.memory = 96GiB\n");
    snprintf(line, sizeof line, "backend sim:%s", path("a.profile"));
    begin();
    run(line);
    run("init");
    run("total dev0");
    run("devices");
    write_file(path("a.profile"), "base = h100\ndevice.memory = 128GiB\n");
    says("undo", "line 3 answers otherwise than before: total dev0\n"
                 "  cuDeviceTotalMem(&bytes, 0) -> CUDA_SUCCESS, bytes = 128GiB");
    unlink(path("a.profile"));
    says("undo", "line 1 cannot be run again, so nothing is undone");
    says("devices", "count = 1");
    tap_u64(shell.session.count, 4, "and the lines are there");
    end();
}

static void test_undo_refused(void)
{
    begin();
    run("backend sim:h100,machine=shell_test");
    run("init");
    says("undo", "other processes use this machine");
    tap_u64(shell.session.count, 2, "nothing is undone on a shared machine");
    end();
}

/* ---- save */

static void test_save_script(void)
{
    static const char wanted[] =
        "init\nr = reserve 4gran\nexpect INVALID_VALUE VMM-CREATE-SIZE-GRANULARITY: h = create 3MiB dev0\n"
        "h = create 2gran dev0\n# a remark\nexpect INVALID_VALUE VMM-FREE-SIZE-MATCH: free r 1gran\nmap r 2gran h\n"
        "expect INVALID_VALUE VMM-MAP-OVERLAP: map r 2gran h\n# did not hold in the session: check leaks 0\n";
    char line[300];
    begin();
    run("init");
    run("r = reserve 4gran");
    run("h = create 3MiB dev0");
    run("reserve 3MB");
    run("h = create 2gran dev0");
    run("# a remark");
    run("expect NOT_SUPPORTED: free r 1gran");
    run("map r 2gran h");
    run("expect INVALID_VALUE VMM-MAP-OVERLAP: map r 2gran h");
    run("check leaks 0");
    snprintf(line, sizeof line, "save %s", path("s.vmm"));
    says(line, "saved: ");
    char *text = read_file(path("s.vmm"));
    tap_text(text, wanted, "the typed lines, with expect before refused ones");
    free(text);
    char *argv[] = {"cuvmm", "run", path("s.vmm"), NULL}, *memory = NULL;
    size_t size;
    FILE *out = open_memstream(&memory, &size);
    int status = out ? cuvmm_main(3, argv, out, out) : -1;
    if (out)
        fclose(out);
    if (!tap_ok(status == 0, "and cuvmm run runs it to the end"))
        tap_note("%s", memory);
    free(memory);
    end();
}

static void test_save_refused(void)
{
    char line[400];
    begin();
    run("init");
    says("save", "a file name is missing");
    says("save x.txt", "neither FILE.vmm");
    says("save x.c --api=cuda", "--api=cuda:");
    says("save x.vmm --api=vmm", "--api is for C programs");
    says("save x.vmm y.vmm", "does not belong there");
    snprintf(line, sizeof line, "save %s/no/where.vmm", folder);
    says(line, "where.vmm: No such file or directory");
    write_file(path("kept.c"), "precious");
    snprintf(line, sizeof line, "save %s", path("kept.c"));
    says(line, "already exists and was not changed");
    char *text = read_file(path("kept.c"));
    tap_text(text, "precious", "an existing file is not changed");
    free(text);
    snprintf(line, sizeof line, "save %s --force", path("kept.c"));
    says(line, "saved: ");
    text = read_file(path("kept.c"));
    tap_ok(strstr(text, "OK(cuInit(0));") != NULL, "unless --force is said");
    free(text);
    end();
}

/* Lines that cannot be expressed in C. After undo, saving works. */
static void test_save_c_refused(void)
{
    char line[400];
    snprintf(line, sizeof line, "save %s --api=vmm", path("p.c"));
    begin();
    run("backend sim:h200x2");
    run("init");
    run("process b");
    says(line, "line 3, \"process b\": a C program is one process");
    tap_ok(access(path("p.c"), F_OK) != 0, "and there is no file");
    run("undo");
    says(line, "saved: ");
    run("backend sim:h100");
    says(line, "line 3, \"backend sim:h100\": a C program has one machine");
    run("undo");
    run("call cuLaunchKernel pattern_write 1 1 {0 0 0} 3 0");
    snprintf(line, sizeof line, "save %s --api=driver", path("k.c"));
    says(line, "line 3, \"call cuLaunchKernel");
    snprintf(line, sizeof line, "save %s --api=vmm", path("k.c"));
    says(line, "saved: ");
    end();
}

static void fail_midway(FILE *out, void *user)
{
    (void)user;
    fputs("half", out);
    close(fileno(out)); /* the stream's buffered data cannot be written */
}

/* A file that cannot be written completely does not replace the existing one. */
static void test_save_unfinished(void)
{
    FILE *err = fopen("/dev/null", "w");
    write_file(path("old.c"), "precious");
    tap_ok(err && !save_file(path("old.c"), true, fail_midway, NULL, err), "an unfinished save fails, even with force");
    char *text = read_file(path("old.c"));
    tap_text(text, "precious", "and leaves the file");
    free(text);
    if (err)
        fclose(err);
    glob_t beside;
    tap_ok(glob(path("old.c?*"), 0, NULL, &beside) == GLOB_NOMATCH, "with nothing beside it");
}

/* ---- completion */

static void completes(const char *line, const char *wanted)
{
    struct lines_words words = {0};
    struct text got = {0};
    complete_line(shell.session.script, line, strlen(line), &words);
    for (size_t i = 0; i < words.count; i++)
        text_add(&got, "%s%s", i ? " " : "", words.word[i]);
    tap_text(got.data ? got.data : "", wanted, "\"%s\"", line);
    lines_free_words(&words);
    text_free(&got);
}

static void test_completion(void)
{
    begin();
    run("init");
    run("r0 = reserve 4gran");
    run("r1 = reserve 4gran");
    run("h0 = create 2gran dev0");
    run("free r1");
    completes("ma", "managed map map-arrays map-tail map-tiles map-whole");
    completes("un", "unbind undo unmap unmap-tail unmap-tiles unmap-whole");
    completes("ex", "exit expect explain export");
    completes("map r", "r0");
    completes("map r0 h", "h0.size");
    completes("map r0 2gran ", "h0");
    completes("map r0 2gran h0 ", "flags= offset=");
    completes("release ", "h0");
    completes("devices x", "");
    completes("map r0+r", "r0+r0");
    completes("map r0 2gran h0 o", "offset=");
    completes("x = cr", "create");
    completes("x = create 2gran d", "dev0");
    completes("x = create 2gran dev0 ha", "handle=");
    completes("access r0 2gran d", "dev0:");
    completes("access r0 2gran dev0:", "dev0:none dev0:r dev0:rw");
    completes("access r0 2gran dev0:rw h", "host:");
    completes("access r0 2gran dev0:rw c", "count=");
    completes("context d", "dev0");
    completes("explain VMM-MAP-OV", "VMM-MAP-OVERLAP");
    completes("explain NOT_INI", "NOT_INITIALIZED");
    completes("expect INVALID_V", "INVALID_VALUE");
    completes("expect INVALID_VALUE VMM-MAP-OV", "VMM-MAP-OVERLAP");
    completes("expect INVALID_VALUE VMM-MAP-OVERLAP: map r", "r0");
    completes("backend sim:h200", "sim:h200 sim:h200x2 sim:h200x4");
    completes("help und", "undo");
    completes("query r0 MAPPING_", "MAPPING_BASE_ADDR MAPPING_SIZE");
    completes("attribute MULTIC", "MULTICAST_SUPPORTED");
    completes("check le", "leaks");
    completes("call cuMemMap", "cuMemMap cuMemMapArrayAsync");
    completes("picture o", "off on");
    completes("launch pattern_", "pattern_verify pattern_write");
    completes("launch conformance/corpus/scripts/la", "conformance/corpus/scripts/launch.ptx:");
    completes("launch conformance/corpus/scripts/launch.ptx:s",
              "conformance/corpus/scripts/launch.ptx:scale conformance/corpus/scripts/launch.ptx:skewed "
              "conformance/corpus/scripts/launch.ptx:sum");
    completes("launch conformance/corpus/scripts/none.ptx:s", "");
    completes("launch no/where/x", "");
    completes("launch fill 1 32 {r", "{r0");
    completes("launch fill 1 32 {r0} sh", "shared=");
    completes("save x.c --a", "--api=driver --api=vmm");
    completes("frobnicate x", "");
    end();
}

/* ---- what was typed */

static void count_line(void *user, const char *line)
{
    (void)line;
    ++*(size_t *)user;
}

static void test_typed(void)
{
    struct stat state;
    size_t n = 0;
    setenv("XDG_STATE_HOME", folder, 1);
    char *name = typed_path();
    tap_ok(name && strstr(name, "/cuvmm/history"), "there is a file for what was typed");
    tap_ok(name && typed_add(name, "init") && typed_add(name, "r = reserve 2gran"), "lines are kept");
    tap_ok(name && stat(name, &state) == 0 && (state.st_mode & 0777) == 0600, "for their owner alone");
    typed_read(name, count_line, &n);
    tap_u64(n, 2, "and come back");
    for (int i = 0; i < 2 * TYPED_MAX; i++)
        typed_add(name, "devices");
    n = 0;
    typed_read(name, count_line, &n);
    tap_u64(n, TYPED_MAX, "a long file gives its last lines");
    tap_ok(stat(name, &state) == 0 && state.st_size == TYPED_MAX * (off_t)strlen("devices\n") && (state.st_mode & 0777) == 0600,
           "and is cut to them");
    free(name);
    setenv("XDG_STATE_HOME", "/dev/null/state", 1);
    name = typed_path();
    tap_ok(!name && errno, "no folder, no file, and a reason");
    setenv("XDG_STATE_HOME", folder, 1);
    tap_ok(!typed_add("/dev/null/x", "init"), "a line that cannot be kept is reported");
}

int main(void)
{
    unsetenv("CUVMM_BACKEND");
    unsetenv("CUVMM_LAYERS");
    unsetenv("CUVMM_MACHINE");
    const char *where = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/shell_test.XXXXXX", where && *where ? where : "/tmp");
    if (!mkdtemp(folder))
        tap_bail("no folder");
    setenv("CUVMM_MACHINES", folder, 1);
    test_lines();
    test_help();
    test_picture();
    test_colour();
    test_undo();
    test_prompts();
    test_redo();
    test_undo_process();
    test_undo_differs();
    test_undo_refused();
    test_save_script();
    test_save_refused();
    test_save_c_refused();
    test_save_unfinished();
    test_completion();
    test_typed();
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) == 0 ? tap_done() : 1;
}
