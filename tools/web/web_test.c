/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that the page calls, natively: web_corpus_test compares them with the module. */
#define _GNU_SOURCE /* mkdtemp */
#include "web.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"
#include "text.h"

static bool has(const char *text, const char *words)
{
    if (text && strstr(text, words))
        return true;
    tap_note("missing: %s", words);
    tap_note("in: %.600s", text ? text : "NULL");
    return false;
}

static void lines(const char *const *list)
{
    for (; *list; list++)
        web_line(*list);
}

static const char *const mapped[] = {"init", "c = context dev0", "r = reserve 4gran", "h = create 2gran dev0", "map r 2gran h", NULL};

static void test_lines(void)
{
    const char *opened = web_open("", 100);
    tap_ok(has(opened, "\"output\":\"\"") && has(opened, "\"lines\":0") && has(opened, "\"spec\":\"sim:h100\""), "a session begins without lines");
    const char *said = web_line("init");
    tap_ok(has(said, "cuInit(0) -> \\u001b[32mCUDA_SUCCESS") && has(said, "\"status\":0,\"called\":true,\"why\":false,\"refused\":false,\"rule\":\"\",\"lines\":1,\"steps\":1"),
           "a line is answered with what it printed");
    lines(mapped + 1);
    said = web_line("fill r 1gran 7");
    tap_ok(has(said, "\"called\":true,\"why\":true,\"refused\":true") && has(said, "VMM-COPY-NO-WRITE") && has(said, "type first"), "a refused one with its rule");
    said = web_line("mpa r");
    tap_ok(has(said, "did you mean map?") && has(said, "\"status\":2,\"called\":false,\"why\":false,\"refused\":false,\"rule\":\"\",\"lines\":6"), "an unknown one is no line of the session");
    said = web_line("reserve 2MB");
    tap_ok(has(said, "unknown unit") && has(said, "\"status\":2") && has(said, "\"lines\":6"), "nor is a mistake of the text");
    said = web_line("undo 3");
    tap_ok(has(said, "undone: map r 2gran h") && has(said, "\"lines\":3,\"steps\":3"), "undo takes steps back");
    said = web_line("undo 9");
    tap_ok(has(said, "cannot undo 9 steps") && has(said, "\"status\":2"), "and no more than there are");
    tap_text(web_text(WEB_TYPED), "init\nc = context dev0\nr = reserve 4gran\n", "the remaining lines");
    said = web_line("quit");
    tap_ok(has(said, "\"ended\":true"), "quit is for the page to see");
    said = web_line("> devices");
    tap_ok(has(said, "\"ended\":false,\"line\":\"devices\"") && has(said, "\"lines\":4"), "the page can continue, and "
        "gets the line as it was kept");
}

static void test_numbers(void)
{
    web_open("", 100);
    web_line("init");
    web_number(7);
    tap_ok(has(web_line("mpa"), "did you mean map?") && has(web_line("reserve 2MB"), "line 7, column 10"), "a line has the number that it is said to have");
    web_number(9);
    tap_ok(has(web_line("reserve 2MB"), "line 9, column 10"), "whatever was a mistake before it");
}

static void test_same(void)
{
    tap_text(web_line("init"), "null", "without a session there is no line");
    web_number(3);
    tap_ok(!web_same("init", "init"), "without a session nothing is compared");
    web_open("", 100);
    lines(mapped);
    tap_ok(web_same("access r 1gran dev0:rw", " access  r 2MiB dev0:rw # so"), "a size is the same in other units");
    tap_ok(web_same("map r+0 2gran h offset=0", "map r 4MiB h offset=0MiB"), "so are sums and options");
    tap_ok(!web_same("access r 1gran dev0:rw", "access r 1gran dev0:r") && !web_same("map r 1gran h", "map r 2gran h") && !web_same("free r", "free r 4gran"),
           "other words are not");
    tap_ok(!web_same("map r 1gran h flags=0", "map r 1gran h offset=0") && !web_same("map r 1gran h flags=0", "map r 1gran h 0"), "nor other options");
    tap_ok(!web_same("echo \"1\"", "echo 1") && !web_same("echo \"1", "echo") && !web_same("echo", "echo \"1"), "nor text");
}

static void test_machines(void)
{
    tap_ok(has(web_machines(), "{\"name\":\"h100\",\"about\":\"recorded") && has(web_machines(), "\"name\":\"h200x2\",\"about\":\"recorded"),
           "the machines say where they come from");
    const char *said = web_open("sim:h200x2,strict", 100);
    tap_ok(has(said, "\"spec\":\"sim:h200x2,strict\"") && has(said, "\"lines\":1,\"steps\":0"), "a machine is a line that undo leaves alone");
    said = web_open("sim:nosuch", 100);
    tap_ok(has(said, "cannot be opened") && has(said, "\"status\":2"), "one that is not there is explained");
    said = web_open("cuda", 100);
    tap_ok(!strstr(said, "\"status\":0"), "a driver is not opened without one");
}

static void test_show(void)
{
    web_open("", 100);
    const char *shown = web_show(500);
    tap_ok(has(shown, "{\"svg\":\"\",\"why\":\"\",\"text\":\"\",\"rule\":\"\"}"), "before the first line there is nothing to show");
    lines(mapped);
    shown = web_show(500);
    tap_ok(has(shown, "data-object=\\\"M1\\\"") && has(shown, "mapping M1 of h, 4MiB at r; dev0: none") && has(shown, "M1: h ="),
           "the picture has the script's names, in SVG and in letters");
    tap_ok(has(shown, "<p class=\\\"head good\\\">map: CUDA_SUCCESS</p><p>maps physical memory at reserved addresses</p>") && has(shown, "cuMemMap"),
           "a call that went well is said with what it does");
    web_line("m = meminfo");
    tap_ok(has(web_show(500), "meminfo: CUDA_SUCCESS, free = 81075MiB, total = 81079MiB</p>"), "and with its answers");
    text_set_columns(56);
    web_line("meminfo");
    tap_ok(has(web_show(500), "meminfo: CUDA_SUCCESS, free = 81075MiB, total = 81079MiB</p>"), "which a narrow terminal wraps");
    text_set_columns(45);
    web_line("getaccess r dev0");
    tap_ok(has(web_show(500), "getaccess: CUDA_SUCCESS, flags = none</p>"), "even before the result");
    text_set_columns(100);
    web_line("fill r 1gran 7");
    shown = web_show(500);
    tap_ok(has(shown, "<p class=\\\"head error\\\">error VMM-COPY-NO-WRITE: cuMemsetD8 (line 9) -&gt; CUDA_ERROR_INVALID_VALUE</p>") &&
               has(shown, "<dt>nearest</dt><dd>mapping M1 [r, r+4MiB)") && has(shown, "<dt>line 5</dt><dd>map r 2gran h</dd>") &&
               has(shown, "\"rule\":\"VMM-COPY-NO-WRITE\"") && !strstr(shown, "<dt>more</dt>"),
           "a refusal is explained with its rows");
    tap_ok(has(shown, "mapping dev0 culprit"), "and what is in the way is marked in the picture");
    web_line("access r 2gran dev0:rw");
    shown = web_show(500);
    tap_ok(has(shown, "right rw fresh") && !strstr(shown, "culprit"), "objects changed by the last line are new");
    tap_ok(has(web_show(700), "right rw fresh") && has(web_show(700), "width=\\\"700\\\""), "and stays new when it is drawn again");
    web_line("reserve <b>");
    shown = web_show(500);
    tap_ok(has(shown, "head warning\\\">not done</p><pre>") && has(shown, "&lt;b&gt;") && !strstr(shown, "<b>"), "a mistake is shown as text, whatever it holds");
    web_line("unmap r 2gran");
    tap_ok(has(web_show(500), "class=\\\"ghost\\\""), "a removed object is an outline");
    web_line("undo");
    tap_ok(has(web_show(500), "data-object=\\\"M1\\\""), "undo brings it back");
}

static void test_leaks(void)
{
    web_open("", 100);
    lines(mapped);
    web_line("leaks");
    tap_ok(has(web_show(500), "<p class=\\\"head good\\\">leaks</p>"), "a command that makes no call is said with what it does");
    const char *said = web_line("backend sim:odd");
    tap_ok(has(said, "\"spec\":\"sim:odd\"") && has(said, "still holds"), "another machine ends the one before it");
}

static void test_words(void)
{
    web_open("", 100);
    lines(mapped);
    tap_text(web_complete("unm"), "{\"from\":0,\"words\":[\"unmap\",\"unmap-tail\",\"unmap-tiles\",\"unmap-whole\"]}", "a command is completed");
    tap_text(web_complete("map r"), "{\"from\":4,\"words\":[\"r\"]}", "and a name");
    tap_text(web_complete("map \xc3\xa4 r"), "{\"from\":7,\"words\":[\"r.size\"]}", "from counts bytes");
    tap_ok(has(web_complete("explain VMM-MAP-O"), "VMM-MAP-OVERLAP"), "and a rule");
    tap_text(web_complete("xyzzy"), "{\"from\":0,\"words\":[]}", "an unknown beginning is not completed");
}

static void test_forms(void)
{
    web_open("", 100);
    lines(mapped);
    web_line("fill r 1gran 7");
    tap_ok(has(web_text(WEB_SCRIPT), "expect INVALID_VALUE VMM-COPY-NO-WRITE: fill r 1gran 7\n"), "as a script, a refused "
        "line is expected");
    tap_ok(has(web_text(WEB_DRIVER), "OK(cuMemMap(") && has(web_text(WEB_DRIVER), "#include <cuda.h>"), "as a program of the driver's header");
    tap_ok(has(web_text(WEB_VMM), "vmm_mem_map("), "or of vmm.h");
    web_line("process b");
    web_line("init");
    const char *refusal = web_text(WEB_DRIVER);
    tap_ok(refusal[0] == '!', "the reason why there is no C program: %.60s", refusal);
}

static void test_lessons(void)
{
    tap_ok(has(web_lessons(), "{\"number\":1,\"title\":\"Address and memory are two things\",\"questions\":4}"), "the lessons are listed");
    const char *lesson = web_lesson(1);
    tap_ok(has(lesson, "{\"kind\":\"command\",\"text\":\"backend sim:h100\"}") && has(lesson, "\"right\":true}") && has(lesson, "\"page\":\"# 1. "),
           "a lesson has its parts and its page");
    tap_text(web_lesson(99), "{}", "one that is not there has none");
    tap_ok(has(web_examples(), "{\"name\":\"01-create\",\"script\":\"title 1."), "the demo's scripts are examples");
    tap_ok(has(web_lesson_all(1), "exit status 0\n"), "a lesson is printed whole");
}

static void test_exercises(void)
{
    tap_ok(has(web_exercises(), "{\"number\":1,\"title\":\"A vector that grows without moving\"}"), "the exercises are listed");
    const char *exercise = web_exercise(1);
    tap_ok(has(exercise, "\"given\":\"init\\u000ac = context dev0") && has(exercise, "\"machines\":[\"sim:h100\"") && has(exercise, "\"forbid\":[\"alloc\"") &&
               !strstr(exercise, "## "),
           "an exercise has its task and what is given");
    tap_ok(!strstr(exercise, "h1 = create"), "and not its solution");
    const char *graded = web_grade(1, "");
    tap_ok(has(graded, "\"points\":0") || has(graded, "not ok"), "no lines get few points");
    tap_text(web_exercise(9), "{}", "one that is not there has none");
    tap_ok(has(web_grade(9, "init"), "\"of\":0"), "and no points");
}

static void test_rules(void)
{
    tap_ok(has(web_rules(), "{\"id\":\"VMM-MAP-OVERLAP\",\"call\":\"cuMemMap\""), "the rules are listed");
    tap_ok(has(web_rule("VMM-MAP-OVERLAP"), "<article id=\"VMM-MAP-OVERLAP\">") && has(web_rule("VMM-MAP-OVERLAP"), "<h4>Breaks it</h4>"),
           "a rule has its article");
    tap_text(web_rule("VMM-X"), "", "one that is not there has none");
    tap_ok(has(web_pair("VMM-MAP-OVERLAP"), "\"broken\":\"init\\u000a") && has(web_pair("VMM-MAP-OVERLAP"), "\"machine\":\"\""), "its pair are two scripts");
    tap_text(web_pair("VMM-X"), "{}", "one that is not there has no pair");
    tap_ok(has(web_explain("VMM-MAP-OVERLAP"), "VMM-MAP-OVERLAP") && has(web_explain("xyz"), "neither a rule"), "a rule is explained as by the command");
}

static void test_files(void)
{
    static const char profile[] = "base = h100\ndevices = 3\npeers = all\n";
    tap_ok(web_file_put("mine.profile", profile, sizeof profile - 1) && has(web_files(), "{\"name\":\"mine.profile\",\"size\":36}"), "a file can be put there");
    tap_text(web_file("mine.profile"), profile, "and had back");
    tap_ok(web_file("none") == NULL && !web_file_put("no/such/folder", "", 0), "one that is not there cannot");
    const char *said = web_open("sim:mine.profile", 100);
    tap_ok(has(said, "\"status\":0") && has(web_line("init"), "CUDA_SUCCESS") && has(web_line("devices"), "3"), "a profile is a machine");
    lines(mapped);
    said = web_line("save kept.vmm");
    tap_ok(has(said, "saved: kept.vmm") && has(web_files(), "kept.vmm"), "save writes a file that the page can keep");
    web_open("", 100);
    web_line("backend \"trace=t.jsonl|sim:h100\"");
    lines(mapped);
    web_open("", 100);
    const char *page = web_trace("t.jsonl");
    tap_ok(page[0] != '!' ? has(page, "<!DOCTYPE html>") && has(page, "cuMemMap") : strstr(page, "jansson") != NULL, "a trace becomes the page of cuvmm view");
    web_file_put("no.jsonl", "{}\n", 3);
    tap_ok(web_trace("no.jsonl")[0] == '!' && web_trace("none")[0] == '!', "an invalid trace is explained");
}

static void test_run(void)
{
    static const char script[] = "init\nr = reserve 1gran\nfree r\n";
    tap_ok(has(web_run("x.vmm", script, sizeof script - 1), "cuMemAddressFree(r, 2MiB) -> CUDA_SUCCESS\nexit status 0\n"), "a script runs as by cuvmm run");
    tap_text(web_run("x.vmm", "", 0), "exit status 0\n", "an empty one, too");
    tap_ok(has(web_run("x.vmm", "in\0it", 5), "byte 0x00"), "bytes are what they are");
}

int main(void)
{
    char folder[200];
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.150s/web-XXXXXX", temporary && temporary[0] ? temporary : "/tmp");
    unsetenv("CUVMM_BACKEND");
    unsetenv("CUVMM_LAYERS");
    unsetenv("CUVMM_MACHINE");
    if (!mkdtemp(folder) || chdir(folder))
        tap_bail("%s: no folder", folder);
    test_same();
    test_numbers();
    test_lines();
    test_machines();
    test_show();
    test_leaks();
    test_words();
    test_forms();
    test_lessons();
    test_exercises();
    test_rules();
    test_files();
    test_run();
    web_open("", 100);
    static const char *const left[] = {"mine.profile", "kept.vmm", "t.jsonl", "no.jsonl"};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        unlink(left[i]);
    if (chdir("/") || rmdir(folder))
        tap_note("%s stays behind", folder);
    return tap_done();
}
