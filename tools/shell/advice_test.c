/* SPDX-License-Identifier: Apache-2.0 */
/* The test types what the shell advises, and it must succeed: the advice alone, or the advice and then the line again. */
#include "advice.h"

#include <stdlib.h>
#include <string.h>

#include "session.h"
#include "tap.h"

#define BASE "init|c0 = context dev0|r0 = reserve 4gran|h0 = create 2gran dev0"
#define MAPPED BASE "|map r0 2gran h0"

static struct session session;

static void begin(const char *lines)
{
    struct script_options options = {.brief = true};
    char text[512], *save = NULL;
    session_begin(&session, &options);
    snprintf(text, sizeof text, "%s", lines);
    for (char *line = strtok_r(text, "|", &save); line; line = strtok_r(NULL, "|", &save)) {
        const struct session_line *ran = session_run(&session, line);
        if (ran->status != SCRIPT_OK)
            tap_bail("\"%s\" does not go: %s", line, ran->output);
    }
}

static bool goes(const char *line)
{
    const struct session_line *ran = session_run(&session, line);
    if (ran->status == SCRIPT_OK && (ran->expected || ran->result == VMM_SUCCESS))
        return true;
    tap_note("%s: %s", line, ran->output);
    return false;
}

/* Types each line of the advice. */
static bool all_go(char *lines)
{
    char *save = NULL;
    for (char *line = strtok_r(lines, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        if (!goes(line))
            return false;
    return true;
}

static void test_refusal(const char *before, const char *line, const char *rule, const char *wanted)
{
    begin(before);
    const struct session_line *ran = session_run(&session, line);
    tap_text(ran->rule ? ran->rule : "none", rule, "%s is refused", line);
    struct advice advice = advice_refusal(session.script, &session.detail, line);
    bool first = advice.first;
    tap_text(advice.lines.data ? advice.lines.data : "", wanted, "%s: what to type %s", rule, first ? "first" : "instead");
    if (advice.lines.data)
        tap_ok(all_go(advice.lines.data) && (!first || goes(line)), "%s: and it goes", rule);
    advice_free(&advice);
    session_end(&session, NULL);
}

static void test_refusals(void)
{
    static const char *const cases[][4] = {
        {"backend sim:h100", "reserve 2MiB", "VMM-INIT-REQUIRED", "init\n"},
        {"backend sim:h100", "init 1", "VMM-INIT-FLAGS", "init\n"},
        {"init", "meminfo", "VMM-CTX-CURRENT", "c = context dev0\n"},
        {"init|c = context dev0|use none", "meminfo", "VMM-CTX-CURRENT", "c2 = context dev0\n"},
        {"init", "name dev7", "VMM-DEVICE-ID", "name dev0\n"},
        {BASE, "h1 = create 3MiB dev0 # odd", "VMM-CREATE-SIZE-GRANULARITY", "h1 = create roundup(3MiB) dev0 # odd\n"},
        {BASE, "h1 = create 0 dev0", "VMM-CREATE-SIZE-ZERO", "h1 = create 1gran dev0\n"},
        {BASE, "h1 = create 1gran dev0 flags=1", "VMM-CREATE-FLAGS", "h1 = create 1gran dev0\n"},
        {BASE, "h1 = create flags=1 1gran dev0", "VMM-CREATE-FLAGS", "h1 = create 1gran dev0\n"},
        {BASE, "h1 = create 1gran dev9", "VMM-CREATE-DEVICE-ID", "h1 = create 1gran dev0\n"},
        {BASE, "h1 = create 1gran dev0 out=null", "VMM-CREATE-NULL-HANDLE", NULL},
        {BASE, "reserve 3MiB", "VMM-RESERVE-SIZE-GRANULARITY", "reserve roundup(3MiB)\n"},
        {BASE, "r1 = reserve 2gran align=3MiB", "VMM-RESERVE-ALIGNMENT-POWER", "r1 = reserve 2gran\n"},
        {BASE, "map r0 1gran h0", "VMM-MAP-SIZE-WHOLE", "map r0 h0.size h0\n"},
        {BASE, "map r0 2gran h0 offset=1gran", "VMM-MAP-OFFSET", "map r0 2gran h0\n"},
        {BASE, "map 0x7000000000 2gran h0", "VMM-MAP-NOT-RESERVED", "r = reserve 4MiB\nmap r 4MiB h0\n"},
        {BASE, "map r0 2gran 0", "VMM-MAP-HANDLE-ZERO", "h = create 4MiB dev0\nmap r0 4MiB h\n"},
        {BASE "|release h0", "map r0 2gran h0", "VMM-MAP-HANDLE-STALE", "h = create 4MiB dev0\nmap r0 4MiB h\n"},
        {MAPPED, "map r0 2gran h0", "VMM-MAP-OVERLAP", "map r0+4MiB 2gran h0\n"},
        {MAPPED "|map r0+2gran 2gran h0", "map r0+2gran 2gran h0", "VMM-MAP-OVERLAP", "unmap r0+4MiB 4MiB\n"},
        {BASE "|map r0+1gran 2gran h0", "access r0+1gran 3gran dev0:rw", "VMM-ACCESS-NOT-MAPPED",
         "h = create 2MiB dev0\nmap r0+6MiB 2MiB h\n"},
        {BASE "|map r0+1gran 2gran h0", "access r0 3gran dev0:rw", "VMM-ACCESS-NOT-MAPPED", "h = create 2MiB dev0\nmap r0 2MiB h\n"},
        {MAPPED, "free r0", "VMM-FREE-MAPPED", "unmap r0 4MiB\n"},
        {BASE, "free r0 1gran", "VMM-FREE-SIZE-MATCH", "free r0 8MiB\n"},
        {BASE, "free r0+1gran 1gran", "VMM-FREE-NOT-START", "free r0 8MiB\n"},
        {MAPPED, "unmap r0 1gran", "VMM-UNMAP-PARTIAL", "unmap r0 4MiB\n"},
        {BASE, "access r0 2gran dev0:rw", "VMM-ACCESS-NOT-MAPPED", "h = create 4MiB dev0\nmap r0 4MiB h\n"},
        {MAPPED, "fill r0+1gran 16 7", "VMM-COPY-NO-WRITE", "access r0 4MiB dev0:rw\n"},
        {MAPPED, "read r0 16", "VMM-COPY-NO-READ", "access r0 4MiB dev0:rw\n"},
        {"backend sim:h200x2|init|c1 = context dev1|r = reserve 2gran|h = create 1gran dev0|map r 1gran h", "fill r 16 7",
         "VMM-COPY-NO-WRITE", "access r 2MiB dev1:rw\n"},
        {BASE, "f0 = export h0", "VMM-EXPORT-NOT-REQUESTED", "h = create 4MiB dev0 handle=fd\nf = export h\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        test_refusal(cases[i][0], cases[i][1], cases[i][2], cases[i][3] ? cases[i][3] : "h1 = create 1gran dev0\n");
}

/* There is no advice if nothing is known, and none for the command `call`. */
static void test_silence(void)
{
    begin(BASE);
    session_run(&session, "call cuMemCreate null 3MiB {dev0} 0");
    struct advice advice = advice_refusal(session.script, &session.detail, "call cuMemCreate null 3MiB {dev0} 0");
    tap_ok(!advice.lines.data, "no advice for a call by hand");
    session_run(&session, "retain r0");
    advice = advice_refusal(session.script, &session.detail, "retain r0");
    tap_ok(!advice.lines.data, "no advice where none can be derived");
    session_end(&session, NULL);
}

static void test_mistake(const char *line, const char *wanted, bool first)
{
    begin(BASE);
    const struct session_line *ran = session_run(&session, line);
    tap_ok(ran->status == SCRIPT_WRONG, "%s is a mistake", line);
    struct advice advice = advice_mistake(session.script, line);
    tap_text(advice.lines.data ? advice.lines.data : "", wanted, "%s: what to type", line);
    tap_ok(advice.first == first, "%s: %s", line, first ? "before it" : "in its place");
    if (advice.lines.data)
        tap_ok(all_go(advice.lines.data), "%s: and it goes", line);
    advice_free(&advice);
    session_end(&session, NULL);
}

static void test_mistakes(void)
{
    test_mistake("r1 = reserve 2MB", "r1 = reserve 2MiB\n", false);
    test_mistake("r1 = reserve 2G", "r1 = reserve 2GiB\n", false);
    test_mistake("x = reserv 2gran", "x = reserve 2gran\n", false);
    test_mistake("map r0 2gran h1", "map r0 2gran h0\n", false);
    test_mistake("map r0", "map r0 2gran h0\n", false);
    test_mistake("map r0 2gran", "map r0 2gran h0\n", false);
    test_mistake("h1 = create 4gran # how much", "h1 = create 4gran dev0\n", false);
    test_mistake("h1 = create", "h1 = create 2gran dev0\n", false);
    test_mistake("map r0 2gran h0;", "map r0 2gran h0\n", false);
    test_mistake("h1 = create 4 MiB dev0", "h1 = create 4MiB dev0\n", false);
    test_mistake("reserve 4\tMiB", "reserve 4MiB\n", false);
    test_mistake("reserve 2gran 2gran", "reserve 2gran\n", false);
    test_mistake("reserve 2gran sise=1", "reserve 2gran\n", false);
    test_mistake("expect INVALID_VALUE VMM-RESERVE-SIZE-ZER: reserve 0",
                 "expect INVALID_VALUE VMM-RESERVE-SIZE-ZERO: reserve 0\n", false);
}

/* Before init there is no granularity. */
static void test_before_init(void)
{
    struct script_options options = {.brief = true};
    session_begin(&session, &options);
    session_run(&session, "r0 = reserve 4gran");
    struct advice advice = advice_mistake(session.script, "r0 = reserve 4gran");
    tap_text(advice.lines.data ? advice.lines.data : "", "init\n", "gran before init: init");
    tap_ok(advice.first && goes("init") && goes("r0 = reserve 4gran"), "which comes first");
    advice_free(&advice);
    session_end(&session, NULL);
}

/* The example of every command is valid: its call may be refused, but the line is not a mistake. */
static void test_examples(void)
{
    const struct script_command *command;
    for (size_t i = 0; (command = script_command(i)); i++) {
        struct text example = {0};
        begin(MAPPED "|s = stream|e = event|x = create 1gran dev0 handle=fd|f = export x|p = pool dev0|y = array 64x64|g = graph|n = add-empty g"
              "|i = instantiate g");
        advice_example(session.script, command, &example);
        example.data[strcspn(example.data, "\n")] = 0;
        const struct session_line *ran = session_run(&session, example.data);
        if (!tap_ok(ran->status != SCRIPT_WRONG, "an example of %s: %s", command->name, example.data))
            tap_note("%s", ran->output);
        text_free(&example);
        session_end(&session, NULL);
    }
}

int main(void)
{
    unsetenv("CUVMM_BACKEND");
    unsetenv("CUVMM_LAYERS");
    test_refusals();
    test_silence();
    test_mistakes();
    test_before_init();
    test_examples();
    return tap_done();
}
