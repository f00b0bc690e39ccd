/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `cuvmm shell`, and its loop. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "complete.h"
#include "lines.h"
#include "shell.h"
#include "typed.h"
#include "usage.h"

#define PROMPT "cuvmm> "

static void complete(void *user, const char *text, size_t length, struct lines_words *words)
{
    const struct shell *shell = user;
    complete_line(shell->session.script, text, length, words);
}

/* The file of what was typed, where somebody sits at a terminal. */
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

/* --color WHEN, --color=WHEN. Returns how many arguments it took; -1 after an error that was told. */
static int take_colour(int argc, char **argv, int at, bool *colour, FILE *err)
{
    const char *when = strncmp(argv[at], "--color=", 8) == 0 ? argv[at] + 8 : NULL;
    int taken = when ? 1 : 2;
    if (!when && strcmp(argv[at], "--color") != 0)
        return 0;
    if (!when && at + 1 < argc)
        when = argv[at + 1];
    if (when && strcmp(when, "always") == 0)
        *colour = true;
    else if (when && strcmp(when, "never") == 0)
        *colour = false;
    else if (!when || strcmp(when, "auto") != 0) {
        fprintf(err, "cuvmm shell: --color is always, never or auto, not \"%.40s\"\n", when ? when : "");
        return -1;
    }
    return taken;
}

static bool take_arguments(int argc, char **argv, struct script_options *options, FILE *err)
{
    for (int i = 1; i < argc;) {
        int taken = cuvmm_take_backend(argc, argv, i, &options->backend);
        if (taken < 0)
            fprintf(err, "cuvmm shell: --backend needs a SPEC, for example sim:h100\n");
        if (taken == 0)
            taken = take_colour(argc, argv, i, &options->colour, err);
        if (taken == 0 && (strcmp(argv[i], "--addresses") == 0 || strcmp(argv[i], "--brief") == 0)) {
            *(argv[i][2] == 'a' ? &options->addresses : &options->brief) = true;
            taken = 1;
        }
        if (taken == 0)
            fprintf(err, "cuvmm shell: unknown argument \"%.60s\"; lines are read from standard input\n", argv[i]);
        if (taken <= 0)
            return false;
        i += taken;
    }
    return true;
}

/* The machine of --backend is a line like others, so that it is saved; it cannot be undone. */
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

int cuvmm_shell(int argc, char **argv, FILE *out, FILE *err)
{
    struct script_options options = {.draw = true, .trusted = true, .colour = cuvmm_wants_colour(out)};
    struct shell shell = {.out = out};
    bool terminal = isatty(fileno(stdin)) && fileno(out) >= 0 && isatty(fileno(out));
    if (!take_arguments(argc, argv, &options, err))
        return cuvmm_usage(err, "shell");
    session_begin(&shell.session, &options);
    bool opened = !options.backend || open_machine(&shell, options.backend, err);
    if (opened && terminal)
        fprintf(out, "cuvmm shell on %s; help lists the commands, the tabulator key completes words, quit ends it\n",
                options.backend ? options.backend : getenv("CUVMM_BACKEND") ? getenv("CUVMM_BACKEND") : "sim:h100");
    if (opened)
        loop(&shell, stdin, terminal);
    session_end(&shell.session, opened ? out : NULL);
    return !opened ? 2 : shell.failed && !terminal;
}
