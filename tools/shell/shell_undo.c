/* SPDX-License-Identifier: Apache-2.0 */
/* undo and redo. */
#include <stdlib.h>
#include <string.h>

#include "shell.h"

void shell_forget(struct shell *shell)
{
    while (shell->undone_count)
        free(shell->undone[--shell->undone_count].text);
    free(shell->undone);
    shell->undone = NULL;
}

/* "undo 3". False: the text is not a number of steps, which was reported. */
static bool steps_of(struct shell *shell, const struct words *words, unsigned long *count)
{
    const char *name = words->word[0].text;
    char *end = NULL;
    *count = 1;
    if (words->count == 2)
        *count = strtoul(words->word[1].text, &end, 10);
    if (words->count > 2 || (end && (*end || *count == 0 || words->word[1].text[0] == '-')))
        return shell_wrong(shell, "usage: %s [N]; \"%.40s\" is not a number of steps (1 or more)", name, words->word[1].text);
    return true;
}

/* The removed lines, the first one on top. */
static void keep_undone(struct shell *shell, const struct session *session, size_t steps)
{
    size_t left = session->count, room;
    while (left > session->fixed && steps > 0)
        steps -= session->line[--left].step;
    room = shell->undone_count + session->count - left;
    shell->undone = text_grow(shell->undone, room * sizeof *shell->undone);
    for (size_t i = session->count; i-- > left;) {
        const struct session_line *line = &session->line[i];
        shell->undone[shell->undone_count++] =
            (struct shell_undone){strcpy(text_grow(NULL, strlen(line->text) + 1), line->text), line->step};
    }
}

bool shell_undo(struct shell *shell, const struct words *words)
{
    struct session *session = &shell->session;
    size_t steps = session_steps(session), before = shell->undone_count;
    const char *why = session_keeps(session);
    unsigned long count;
    if (!steps_of(shell, words, &count))
        return false;
    if (why)
        return shell_wrong(shell, "nothing is undone: %s", why);
    if (!steps)
        return shell_wrong(shell, "there is nothing to undo");
    if (count > steps)
        return shell_wrong(shell, "cannot undo %lu steps, there are only %zu; undo %zu takes all of them back",
                           count, steps, steps);
    keep_undone(shell, session, count);
    if (!session_undo(session, count, shell->out)) {
        while (shell->undone_count > before)
            free(shell->undone[--shell->undone_count].text);
        return false;
    }
    session->script->options.out = shell->out;
    if (session->script->options.draw)
        script_draw(session->script, true);
    return true;
}

/* A step and the lines after it. */
static void redo_step(struct shell *shell)
{
    bool ran = false;
    while (shell->undone_count && !(ran && shell->undone[shell->undone_count - 1].step)) {
        struct shell_undone next = shell->undone[--shell->undone_count];
        ran |= next.step;
        fprintf(shell->out, "  again: %s\n", next.text);
        shell_run(shell, next.text);
        free(next.text);
    }
}

bool shell_redo(struct shell *shell, const struct words *words)
{
    unsigned long count;
    if (!steps_of(shell, words, &count))
        return false;
    if (!shell->undone_count)
        return shell_wrong(shell, "there is nothing to redo");
    while (count-- && shell->undone_count)
        redo_step(shell);
    return true;
}
