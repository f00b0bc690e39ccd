/* SPDX-License-Identifier: Apache-2.0 */
/* The loop of `cuvmm shell`. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "complete.h"
#include "lines.h"
#include "shell.h"
#include "text.h"
#include "typed.h"

#define PROMPT "cuvmm> "

static void complete(void *user, const char *text, size_t length, struct lines_words *words)
{
    const struct shell *shell = user;
    complete_line(shell->session.script, text, length, words);
}

/* The history file, if a person is at a terminal. */
static char *history_of(FILE *out, bool terminal)
{
    char *path = terminal ? typed_path() : NULL;
    if (terminal && !path)
        fprintf(out, "(what is typed is not kept for another time: %s)\n", errno ? strerror(errno) : "there is no home folder");
    return path;
}

static void loop(struct shell *shell, FILE *in, bool terminal)
{
    char *history = history_of(shell->out, terminal), *line;
    struct lines *lines = lines_open(&(struct lines_options){.in = in, .out = shell->out, .prompt = PROMPT, .terminal = terminal,
                                                             .history = history, .complete = complete, .user = shell});
    size_t length;
    while (!shell->ended && (line = lines_next(lines, &length))) {
        shell_line(shell, line, length);
        fflush(shell->out);
    }
    lines_close(lines);
    free(history);
}

/* --backend becomes a line of the session, so that it is saved; it cannot be undone. */
static bool open_machine(struct shell *shell, const char *spec, FILE *err)
{
    struct text line = {0};
    text_add(&line, "backend \"%s\"", spec);
    const struct session_line *ran = session_run(&shell->session, line.data);
    if (ran->status != SCRIPT_OK)
        fputs(ran->output, err);
    shell->session.fixed = shell->session.count;
    text_free(&line);
    return shell->session.count == 1;
}

/* Suggests the first lines, which lead to a first picture. */
static void greet(FILE *out, const char *spec)
{
    struct text head = {0};
    text_add(&head, "cuvmm shell on %s: each call is answered, drawn and explained.", spec);
    text_wrap(out, head.data, 0, 2, text_columns());
    text_free(&head);
    fputs("\n"
          "  type first:   init\n"
          "                r = reserve 4gran\n"
          "                h = create 2gran dev0\n"
          "                map r 2gran h\n"
          "  then:         ", out);
    text_wrap(out, "help lists the commands, the Tab key completes words, undo reverts a step, quit ends the shell", 16, 16, text_columns());
    fputs("\n", out);
}

int shell_main(const struct script_options *options, FILE *out, FILE *err)
{
    struct shell shell = {.out = out};
    bool terminal = isatty(fileno(stdin)) && fileno(out) >= 0 && isatty(fileno(out));
    session_begin(&shell.session, options);
    bool opened = !options->backend || open_machine(&shell, options->backend, err);
    if (opened && terminal)
        greet(out, options->backend ? options->backend : getenv("CUVMM_BACKEND") ? getenv("CUVMM_BACKEND") : "sim:h100");
    if (opened)
        loop(&shell, stdin, terminal);
    session_end(&shell.session, opened ? out : NULL);
    shell_forget(&shell);
    return !opened ? 2 : shell.failed && !terminal;
}
