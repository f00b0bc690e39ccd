/* SPDX-License-Identifier: Apache-2.0 */
#include "shell.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "advice.h"

bool shell_wrong(struct shell *shell, const char *format, ...)
{
    va_list args;
    fputs("  ", shell->out);
    va_start(args, format);
    vfprintf(shell->out, format, args);
    va_end(args);
    fputs("\n", shell->out);
    return false;
}

/* ---- the shell's own commands */

static bool run_quit(struct shell *shell, const struct words *words)
{
    (void)words;
    shell->ended = true;
    return true;
}

static bool run_history(struct shell *shell, const struct words *words)
{
    (void)words;
    for (size_t i = 0; i < shell->session.count; i++)
        fprintf(shell->out, "  %3zu  %s\n", i + 1, shell->session.line[i].text);
    return true;
}

static bool run_undo(struct shell *shell, const struct words *words)
{
    struct session *session = &shell->session;
    size_t steps = session_steps(session);
    const char *why = session_keeps(session);
    unsigned long count = 1;
    char *end = NULL;
    if (words->count == 2)
        count = strtoul(words->word[1].text, &end, 10);
    if (words->count > 2 || (end && (*end || count == 0 || words->word[1].text[0] == '-')))
        return shell_wrong(shell, "undo is: undo [N]; \"%.40s\" is not a number of steps from 1 on", words->word[1].text);
    if (why)
        return shell_wrong(shell, "nothing is undone: %s", why);
    if (!steps)
        return shell_wrong(shell, "there is nothing to undo");
    if (count > steps)
        return shell_wrong(shell, "%lu steps cannot be undone, for there are %zu; undo %zu takes back all", count, steps, steps);
    if (!session_undo(session, count, shell->out))
        return false;
    session->script->options.out = shell->out;
    if (session->script->options.draw)
        script_draw(session->script, true);
    return true;
}

static void run_script_line(struct shell *shell, const char *line);

static bool run_picture(struct shell *shell, const struct words *words)
{
    const char *what = words->count == 2 ? words->word[1].text : "";
    if (strcmp(what, "on") != 0 && strcmp(what, "off") != 0)
        return shell_wrong(shell, "picture is: picture on, or picture off; draw draws it once");
    run_script_line(shell, strcmp(what, "on") == 0 ? "draw on" : "draw off");
    return true;
}

const struct shell_command shell_commands[] = {
    {"help", "[COMMAND|GROUP|all]", "lists the commands in groups, or one group, or shows a command with an example", "help map", shell_help},
    {"history", "", "the lines of this session, numbered as messages number them", "history", run_history},
    {"undo", "[N]", "takes back the last step, or the last N", "undo 2", run_undo},
    {"save", "FILE.vmm|FILE.c [--api=driver|vmm] [--force]", "writes the session as a script, or as a C program",
     "save mine.c --api=driver", shell_save},
    {"picture", "on|off", "draws after every change, or no longer", "picture off", run_picture},
    {"quit", "", "ends the shell; so does Ctrl-D", "quit", run_quit},
    {"exit", "", "the same", "exit", run_quit},
    {0},
};

/* ---- lines of the script */

static void print_advice(struct shell *shell, struct advice *advice)
{
    const char *lead = advice->first ? "type first:  " : "type instead:";
    bool colour = shell->session.options.colour;
    for (const char *line = advice->lines.data; line && *line; line = strchr(line, '\n') + 1) {
        fprintf(shell->out, "  %s%s %.*s%s\n", colour ? "\033[36m" : "", lead, (int)strcspn(line, "\n"), line,
                colour ? "\033[0m" : "");
        lead = "             ";
    }
    advice_free(advice);
}

static void run_script_line(struct shell *shell, const char *line)
{
    struct session *session = &shell->session;
    struct advice advice = {{0}, false};
    const struct session_line *ran = session_run(session, line);
    fputs(ran->output ? ran->output : "", shell->out);
    if (ran->status == SCRIPT_WRONG)
        advice = advice_mistake(session->script, line);
    else if (ran->called && ran->result != VMM_SUCCESS && !ran->expected)
        advice = advice_refusal(session->script, &session->detail, line);
    print_advice(shell, &advice);
    shell->failed |= ran->status != SCRIPT_OK;
}

static const struct shell_command *find_own(const char *name)
{
    for (const struct shell_command *command = shell_commands; command->name; command++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}

/* The command, of both kinds, that is nearest to a word; NULL when none is near. */
static const char *nearest(const char *name)
{
    const struct script_command *near;
    unsigned least = 3;
    script_command_find(name, &near);
    const char *best = near ? near->name : NULL;
    if (near)
        least = text_distance(name, near->name, 2);
    for (const struct shell_command *command = shell_commands; command->name; command++) {
        unsigned distance = text_distance(name, command->name, 2);
        if (distance < least && distance < strlen(command->name)) {
            least = distance;
            best = command->name;
        }
    }
    return best;
}

/* A first word that is not a command, and names nothing either. */
static bool is_unknown(const struct words *words)
{
    const struct word *first = &words->word[0];
    const struct script_command *near;
    if (first->key || first->quoted || strcmp(first->text, "expect") == 0)
        return false;
    if (words->count > 1 && strcmp(words->word[1].text, "=") == 0)
        return false;
    return !script_command_find(first->text, &near);
}

static void tell_unknown(struct shell *shell, const char *line, const struct word *first)
{
    const char *near = nearest(first->text);
    size_t from = (size_t)first->column - 1;
    const struct script_command *meant = script_command_of_call(first->text);
    shell->failed = true;
    if (strcmp(first->text, "cuvmm") == 0) {
        shell_wrong(shell, "you are in cuvmm already: leave the first word out");
        fprintf(shell->out, "  type instead: %s\n", line + from + strlen("cuvmm") + strspn(line + from + strlen("cuvmm"), " "));
        return;
    }
    if (meant) {
        shell_wrong(shell, "%.40s is \"%s\" here: %s %s", first->text, meant->name, meant->name, meant->usage);
        return;
    }
    if (!near) {
        shell_wrong(shell, "there is no command \"%.40s\"; help lists them", first->text);
        return;
    }
    shell_wrong(shell, "there is no command \"%.40s\"; did you mean %s?", first->text, near);
    fprintf(shell->out, "  type instead: %.*s%s%s\n", (int)from, line, near, line + from + strlen(first->text));
}

void shell_line(struct shell *shell, const char *line, size_t length)
{
    struct words words;
    struct words_error error;
    if (strlen(line) != length) {
        shell->failed = true;
        shell_wrong(shell, "a byte 0x00 in the line; text has no control characters");
        return;
    }
    if (line[strspn(line, " \t")] == 0)
        return;
    if (!words_split(line, length, &words, &error) || words.count == 0) { /* a remark, or a mistake that the script reports */
        run_script_line(shell, line);
        return;
    }
    const struct shell_command *own = words.word[0].key || words.word[0].quoted ? NULL : find_own(words.word[0].text);
    if (own && words.count > 1 && strcmp(words.word[1].text, "=") == 0)
        own = NULL;
    if (own)
        shell->failed |= !own->run(shell, &words);
    else if (is_unknown(&words))
        tell_unknown(shell, line, &words.word[0]);
    else
        run_script_line(shell, line);
}
