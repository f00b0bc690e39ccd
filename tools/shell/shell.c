/* SPDX-License-Identifier: Apache-2.0 */
#include "shell.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "trial.h"

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

static void run_script_line(struct shell *shell, const char *line);

static bool run_picture(struct shell *shell, const struct words *words)
{
    const char *what = words->count == 2 ? words->word[1].text : "";
    if (strcmp(what, "on") != 0 && strcmp(what, "off") != 0)
        return shell_wrong(shell, "usage: picture on, or picture off; `draw` draws it once");
    run_script_line(shell, strcmp(what, "on") == 0 ? "draw on" : "draw off");
    return true;
}

const struct shell_command shell_commands[] = {
    {"help", "[COMMAND|GROUP|all]", "lists the commands by group, or shows a command with an example", "help map", shell_help},
    {"history", "", "lists the lines of this session with the numbers that messages use", "history", run_history},
    {"undo", "[N]", "undoes the last step, or the last N", "undo 2", shell_undo},
    {"redo", "[N]", "repeats undone steps, one or N, unless another line was run since", "redo 2", shell_redo},
    {"save", "FILE.vmm|FILE.c [--api=driver|vmm] [--force]", "writes the session as a script, or as a C program",
     "save mine.c --api=driver", shell_save},
    {"picture", "on|off", "draws after every change, or stops doing so", "picture off", run_picture},
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

void shell_run(struct shell *shell, const char *line)
{
    struct session *session = &shell->session;
    const struct session_line *ran = session_run(session, line);
    fputs(ran->output ? ran->output : "", shell->out);
    struct advice advice = trial_advice(session, ran, line);
    print_advice(shell, &advice);
    shell->failed |= ran->status != SCRIPT_OK;
}

static void run_script_line(struct shell *shell, const char *line)
{
    size_t count = shell->session.count;
    shell_run(shell, line);
    if (shell->session.count > count)
        shell_forget(shell);
}

static const struct shell_command *find_own(const char *name)
{
    for (const struct shell_command *command = shell_commands; command->name; command++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}

/* The command of the shell or of scripts whose name is most similar to a word; NULL if none is. */
static const char *nearest(const char *name)
{
    const struct script_command *near;
    unsigned least = 3;
    script_command_find(name, &near);
    const char *best = near ? near->name : NULL;
    if (near)
        least = text_meant(name, near->name, 2);
    for (const struct shell_command *command = shell_commands; command->name; command++) {
        unsigned distance = text_meant(name, command->name, 2);
        if (distance < least) {
            least = distance;
            best = command->name;
        }
    }
    return best;
}

/* A first word that is neither a command nor a name. */
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

/* The line with the intended command, if that works; the shell's own commands are not tried. */
static void tell_meant(struct shell *shell, const char *line, size_t from, const char *near, size_t length)
{
    struct text text = {0};
    struct advice advice;
    text_add(&text, "%.*s%s%s", (int)from, line, near, line + from + length);
    if (find_own(near)) {
        advice = (struct advice){{0}, false};
        text_add(&advice.lines, "%s\n", text.data);
    } else {
        advice = trial_of(&shell->session, text.data);
    }
    print_advice(shell, &advice);
    text_free(&text);
}

/* The commands that correspond to functions of the runtime. */
static const char *of_runtime(const char *name, size_t length)
{
    static const char *const names[][2] = {
        {"cudaMalloc", "alloc"},      {"cudaFree", "freemem"},       {"cudaMallocAsync", "alloc"}, {"cudaFreeAsync", "freemem"},
        {"cudaMemcpy", "copy"},       {"cudaMemcpyAsync", "copy"},   {"cudaMemset", "fill"},       {"cudaMemsetAsync", "fill"},
        {"cudaMemGetInfo", "meminfo"}, {"cudaSetDevice", "context"}, {"cudaStreamCreate", "stream"}, {"cudaEventCreate", "event"},
        {"cudaDeviceSynchronize", "synchronize"}, {"cudaMallocManaged", "managed"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i][0]) == length && strncmp(names[i][0], name, length) == 0)
            return names[i][1];
    return NULL;
}

static void tell_unknown(struct shell *shell, const char *line, const struct word *first)
{
    const char *near = nearest(first->text), *ignored_name;
    const struct script_command *none;
    size_t from = (size_t)first->column - 1, length = strcspn(first->text, "(");
    const struct script_command *meant = script_command_of_call(first->text);
    ignored_name = of_runtime(first->text, length);
    if (!meant && ignored_name)
        meant = script_command_find(ignored_name, &none);
    shell->failed = true;
    if (strcmp(first->text, "cuvmm") == 0) {
        shell_wrong(shell, "this is already cuvmm: omit the first word");
        fprintf(shell->out, "  type instead: %s\n", line + from + strlen("cuvmm") + strspn(line + from + strlen("cuvmm"), " "));
        return;
    }
    if (meant) {
        shell_wrong(shell, "%.*s is \"%s\" here: %s %s", (int)(length < 40 ? length : 40), first->text, meant->name, meant->name, meant->usage);
        return;
    }
    if (!near) {
        shell_wrong(shell, "there is no command \"%.40s\"; help lists them", first->text);
        return;
    }
    shell_wrong(shell, "there is no command \"%.40s\"; did you mean %s?", first->text, near);
    tell_meant(shell, line, from, near, strlen(first->text));
}

/* The line without a prompt that was copied along with it. */
static const char *behind_prompt(const char *line)
{
    const char *at = line + strspn(line, " \t");
    if (strncmp(at, "cuvmm>", 6) == 0)
        at += 5;
    return *at == '>' ? at + 1 + strspn(at + 1, " \t") : line;
}

void shell_line(struct shell *shell, const char *line, size_t length)
{
    struct words words;
    struct words_error error;
    const char *behind = behind_prompt(line);
    length -= (size_t)(behind - line);
    line = behind;
    if (strlen(line) != length) {
        shell->failed = true;
        shell_wrong(shell, "a byte 0x00 in the line; text has no control characters");
        return;
    }
    if (line[strspn(line, " \t")] == 0)
        return;
    if (!words_split(line, length, &words, &error) || words.count == 0) { /* a comment, or a mistake that the script reports */
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
