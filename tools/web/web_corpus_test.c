/* SPDX-License-Identifier: Apache-2.0 */
/* The WebAssembly module against the same C code natively, line by line: every demo, lesson, script and exercise, both forms of every rule's
 * example, and every article of the rule book; the demo also line by line in the shell, with picture, explanation and completion.
 *
 *     requests ---> node corpus.js MODULE ---> answers        native: web_run, web_lesson_all, ... of this program
 *                                                 '--- compared ---'
 *
 * Skipped without a module (no compiler for WebAssembly: ci/web-compiler prints what is missing) or without node.
 * tools/web/differs.tsv lists the differences and their reasons. CUVMM_SRC: where the source tree is.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lessons.h"
#include "practice.h"
#include "rule_examples.h"
#include "tap.h"
#include "text.h"
#include "vmm.h"
#include "web.h"

enum { NAMES = 500 };

static struct text requests;
static const char *answers; /* the requests not yet compared */
static size_t compared, different, listed;

static char *read_file(const char *path)
{
    struct text text = {0};
    char buffer[65536];
    FILE *in = fopen(path, "rb");
    if (!in)
        tap_bail("%s cannot be read", path);
    text_add_bytes(&text, "", 0);
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, in)) > 0;)
        text_add_bytes(&text, buffer, n);
    fclose(in);
    return text.data;
}

/* ---- requests, natively ---- */

static size_t size_of(const char *path)
{
    FILE *in = fopen(path, "rb");
    fseek(in, 0, SEEK_END);
    size_t size = (size_t)ftell(in);
    fclose(in);
    return size;
}

static void run_script(struct text *out, const char *name, const char *path)
{
    char *script = read_file(path);
    text_add(out, "%s", web_run(name, script, size_of(path)));
    free(script);
}

static char *part_of(const char *id, enum example_part part)
{
    struct rule_example example;
    struct text text = {0};
    text_add_bytes(&text, "", 0);
    if (rule_example_find(id, &example))
        rule_example_part(&example, part, &text);
    return text.data;
}

static void run_pair(struct text *out, const char *id, const char *form)
{
    char *script = part_of(id, strcmp(form, "broken") == 0 ? EXAMPLE_BROKEN : EXAMPLE_CORRECTED);
    char *machine = part_of(id, EXAMPLE_MACHINE);
    if (machine[0] && !web_file_put("my.profile", machine, strlen(machine)))
        tap_bail("my.profile cannot be written");
    text_add(out, "%s", web_run("example", script, strlen(script)));
    free(script);
    free(machine);
}

static void run_session(struct text *out, const char *path)
{
    char *lines = read_file(path);
    text_add(out, "%s", web_open("", 100));
    for (char *line = lines, *end; line; line = end) {
        end = strchr(line, '\n');
        if (end)
            *end++ = 0;
        text_add(out, "\n%s\n%s", line, web_complete(line));
        text_add(out, "\n%s", web_line(line));
        text_add(out, "\n%s", web_show(720));
    }
    for (int form = WEB_TYPED; form <= WEB_VMM; form++)
        text_add(out, "\n%s", web_text(form));
    free(lines);
}

static const char *call(const char *name)
{
    return strcmp(name, "web_machines") == 0    ? web_machines()
           : strcmp(name, "web_lessons") == 0   ? web_lessons()
           : strcmp(name, "web_examples") == 0  ? web_examples()
           : strcmp(name, "web_exercises") == 0 ? web_exercises()
                                                : web_rules();
}

/* This program's reply to a request. */
static void answer(struct text *out, const char *request)
{
    char kind[16] = "", a[512] = "", b[512] = "";
    sscanf(request, "%15s %511s %511s", kind, a, b);
    if (strcmp(kind, "run") == 0)
        run_script(out, a, b);
    else if (strcmp(kind, "lesson") == 0)
        text_add(out, "%s", web_lesson_all(atoi(a)));
    else if (strcmp(kind, "page") == 0)
        text_add(out, "%s", web_lesson(atoi(a)));
    else if (strcmp(kind, "pair") == 0)
        run_pair(out, a, b);
    else if (strcmp(kind, "session") == 0)
        run_session(out, a);
    else if (strcmp(kind, "call") == 0)
        text_add(out, "%s", call(a));
    else if (strcmp(kind, "grade") == 0) {
        char *lines = read_file(b);
        text_add(out, "%s", web_grade(atoi(a), lines));
        free(lines);
    } else {
        text_add(out, "%s", web_rule(a));
        text_add(out, "%s", web_explain(a));
    }
}

/* ---- the list of requests ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_scripts(const char *source, const char *folder, bool sessions)
{
    char path[600], *names[NAMES];
    size_t count = 0;
    snprintf(path, sizeof path, "%s/conformance/corpus/%s", source, folder);
    DIR *dir = opendir(path);
    if (!dir)
        tap_bail("%s cannot be opened; run the test in the source tree or set CUVMM_SRC", path);
    for (struct dirent *entry; (entry = readdir(dir)) && count < NAMES;) {
        size_t length = strlen(entry->d_name);
        if (length > 4 && strcmp(entry->d_name + length - 4, ".vmm") == 0)
            names[count++] = strcpy(text_grow(NULL, length + 1), entry->d_name);
    }
    closedir(dir);
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; i++) {
        text_add(&requests, "run %s %s/%s\n", names[i], path, names[i]);
        if (sessions)
            text_add(&requests, "session %s/%s\n", path, names[i]);
        free(names[i]);
    }
}

/* An exercise is graded on each of its parts with a student's lines, in separate files. */
static void add_exercise(const struct practice_source *source, const char *work)
{
    struct practice practice;
    char path[600];
    if (!practice_parse(&practice, source, stderr))
        return;
    for (size_t i = 0; i <= practice.mistakes; i++) {
        const struct practice_part *part = i ? &practice.mistake[i - 1] : &practice.solution;
        snprintf(path, sizeof path, "%s/%s-%zu", work, source->name, i);
        FILE *out = fopen(path, "w");
        for (size_t line = 0; out && line < part->count; line++)
            fprintf(out, "%s\n", source->lines[part->first + line]);
        if (!out || fclose(out))
            tap_bail("%s cannot be written", path);
        text_add(&requests, "grade %d %s\n", atoi(source->name), path);
    }
    practice_free(&practice);
}

static void add_rules(void)
{
    size_t count;
    const vmm_rule *rules = vmm_rules(&count);
    for (size_t i = 0; i < count; i++) {
        text_add(&requests, "rule %s\n", rules[i].id);
        char *broken = part_of(rules[i].id, EXAMPLE_BROKEN);
        if (broken[0])
            text_add(&requests, "pair %s broken\npair %s corrected\n", rules[i].id, rules[i].id);
        free(broken);
    }
}

static void list_requests(const char *source, const char *work)
{
    static const char *const functions[] = {"web_machines", "web_lessons", "web_examples", "web_exercises", "web_rules"};
    add_scripts(source, "demo", true);
    add_scripts(source, "scripts", false);
    for (const struct lesson_source *lesson = lessons; lesson->name; lesson++)
        text_add(&requests, "lesson %d\npage %d\n", lessons_number(lesson), lessons_number(lesson));
    for (const struct practice_source *practice = practices; practice->name; practice++)
        add_exercise(practice, work);
    add_rules();
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        text_add(&requests, "call %s\n", functions[i]);
}

/* ---- the comparison ---- */

/* The reason why this request differs; NULL: none is listed. */
static const char *reason_for(const char *list, const char *request)
{
    size_t length = strlen(request);
    for (const char *line = list; line && *line; line = strchr(line, '\n'), line += line != NULL)
        if (strncmp(line, request, length) == 0 && line[length] == '\t')
            return line + length + 1;
    return NULL;
}

static char *next_answer(void)
{
    char *begin;
    size_t length = (size_t)strtoull(answers, &begin, 10);
    if (*begin != '\n' || strlen(begin + 1) < length)
        return NULL;
    char *text = text_grow(NULL, length + 1);
    memcpy(text, begin + 1, length);
    text[length] = 0;
    answers = begin + 1 + length;
    return text;
}

static void show_difference(const char *wasm, const char *native)
{
    int line = 1;
    while (*wasm && *native) {
        size_t a = strcspn(wasm, "\n"), b = strcspn(native, "\n");
        if (a != b || memcmp(wasm, native, a) != 0)
            break;
        wasm += a + (wasm[a] == '\n');
        native += b + (native[b] == '\n');
        line++;
    }
    tap_note("line %d, WebAssembly: %.*s", line, (int)(strcspn(wasm, "\n") < 400 ? strcspn(wasm, "\n") : 400), wasm);
    tap_note("line %d, native:      %.*s", line, (int)(strcspn(native, "\n") < 400 ? strcspn(native, "\n") : 400), native);
}

/* The request as named in the list and in test points: without the path of a file. */
static const char *short_name(const char *request, char *name, size_t size)
{
    char kind[16] = "", a[512] = "", b[512] = "";
    sscanf(request, "%15s %511s %511s", kind, a, b);
    const char *slash_a = strrchr(a, '/'), *slash_b = strrchr(b, '/');
    if (strcmp(kind, "run") == 0)
        snprintf(name, size, "%s %.250s", kind, a);
    else
        snprintf(name, size, "%s %.120s%s%.120s", kind, slash_a ? slash_a + 1 : a, b[0] ? " " : "", slash_b ? slash_b + 1 : b);
    return name;
}

static void compare(const char *request, const char *list)
{
    struct text native = {0};
    char name[300];
    char *wasm = next_answer();
    if (!wasm)
        tap_bail("node ended at: %s", request);
    text_add_bytes(&native, "", 0);
    answer(&native, request);
    const char *reason = reason_for(list, short_name(request, name, sizeof name));
    const bool same = strcmp(wasm, native.data) == 0;
    compared++;
    different += !same;
    listed += reason != NULL;
    if (reason)
        tap_ok(!same, "%s differs: %.*s", name, (int)strcspn(reason, "\n"), reason);
    else if (!tap_ok(same, "%s", name))
        show_difference(wasm, native.data);
    free(wasm);
    text_free(&native);
}

/* Outputs contain descriptor numbers: the next one must match the module's, which has only a folder open. */
static void same_descriptors(void)
{
    for (int file = 3; file < 100; file++)
        close(file);
    if (open("/", O_RDONLY | O_DIRECTORY) != 3)
        tap_note("the descriptor 3 is taken, so that numbers of descriptors may differ");
}

static void compare_all(const char *source, const char *work)
{
    char path[600];
    snprintf(path, sizeof path, "%s/tools/web/differs.tsv", source);
    char *list = read_file(path);
    if (chdir(work)) /* of both, for my.profile */
        tap_bail("%s: no such folder", work);
    for (char *request = requests.data, *end; *request; request = end + 1) {
        end = strchr(request, '\n');
        *end = 0;
        compare(request, list);
    }
    tap_ok(different * 20 <= compared, "%zu of %zu differ, at most a twentieth", different, compared);
    free(list);
}

static void skip(const char *why)
{
    printf("1..0 # SKIP %s\n", why);
    exit(0);
}

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && value[0];
}

/* The reason why there is nothing to compare with, or NULL. */
static const char *lacks(const char *module)
{
    if (is_set("CUVMM_RUN") || is_set("CUVMM_SAN"))
        return "the module is the same whatever this build is instrumented with";
    if (access(module, R_OK))
        return "no WebAssembly module: ci/web-compiler says which package is missing";
    return system("command -v node >/dev/null") == 0 ? NULL : "no node";
}

int main(void)
{
    const char *source = getenv("CUVMM_SRC"), *build = getenv("CUVMM_BUILD"), *temporary = getenv("TMPDIR");
    char here[400], module[600], work[300], command[2400];
    if (!getcwd(here, sizeof here))
        tap_bail("no current folder");
    if (!source || source[0] != '/')
        source = here;
    snprintf(module, sizeof module, "%s%s%s/web/cuvmm.wasm", build && build[0] == '/' ? "" : here, build && build[0] == '/' ? "" : "/",
             build ? build : "build");
    const char *why = lacks(module);
    if (why)
        skip(why);
    unsetenv("CUVMM_BACKEND");
    unsetenv("CUVMM_LAYERS");
    unsetenv("CUVMM_MACHINE");
    snprintf(work, sizeof work, "%.200s/web-XXXXXX", temporary && temporary[0] ? temporary : "/tmp");
    if (!mkdtemp(work))
        tap_bail("%s: no folder", work);
    list_requests(source, work);
    snprintf(command, sizeof command, "%s/requests", work);
    FILE *out = fopen(command, "w");
    if (!out || fputs(requests.data, out) < 0 || fclose(out))
        tap_bail("%s cannot be written", command);
    snprintf(command, sizeof command, "node '%s/tools/web/corpus.js' '%s' / <'%s/requests' >'%s/answers'", source, module, work, work);
    tap_ok(system(command) == 0, "node ended in order");
    snprintf(command, sizeof command, "%s/answers", work);
    char *all = read_file(command);
    answers = all;
    same_descriptors();
    compare_all(source, work);
    web_open("", 100);
    text_free(&requests);
    free(all);
    snprintf(command, sizeof command, "rm -rf '%s'", work);
    return system(command) == 0 ? tap_done() : 1;
}
