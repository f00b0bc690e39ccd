/* SPDX-License-Identifier: Apache-2.0 */
/* Telling a lesson: its parts in the order of their lines, and every line to the interpreter of scripts, for which the
 * marks are comments, so that its own messages count lines as the file does. */
#include <stdlib.h>
#include <string.h>

#include "lesson.h"
#include "script_state.h"


struct teller {
    const struct lesson *lesson;
    const struct lesson_talk *talk;
    struct script *script;
    size_t next;           /* the next part */
    size_t asked, at_once; /* questions so far, and those answered well at the first try */
    bool paused;           /* the listener had time to read what was said last */
    bool blank;            /* the last line that was printed is empty */
    bool left;
};

/* A paragraph in lines of at most that many columns; indented ones stand as they are. */
static void say_text(FILE *out, const char *text)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        char *line = text_grow(NULL, length + 1);
        memcpy(line, text, length);
        line[length] = 0;
        if (line[0] == ' ')
            fputs(line, out);
        else
            text_wrap(out, line, 0, 0, text_columns());
        fputs("\n", out);
        free(line);
        text += length + (text[length] == '\n');
    }
}

/* An empty line between what belongs to different things. */
static void gap(struct teller *t)
{
    if (!t->blank)
        fputs("\n", t->talk->out);
    t->blank = true;
}

/* What the listener typed, without blanks around it, in line; false at the end of input, or where the listener leaves. */
static bool listen(struct teller *t, const char *prompt, char *line, size_t size)
{
    fputs(prompt, t->talk->out);
    fflush(t->talk->out);
    bool heard = fgets(line, (int)size, t->talk->in);
    for (int c = 0; heard && !strchr(line, '\n') && c != '\n' && c != EOF;)
        c = getc(t->talk->in); /* the rest of a long line is not the next answer */
    size_t start = heard ? strspn(line, " \t\r\n") : 0, end = heard ? strlen(line) : 0;
    while (end > start && strchr(" \t\r\n", line[end - 1]))
        end--;
    memmove(line, line + start, end - start);
    line[end - start] = 0;
    t->left = !heard || text_same(line, "q") || text_same(line, "quit");
    return !t->left;
}

static bool pause_here(struct teller *t)
{
    char line[80];
    if (!t->talk->in || t->paused)
        return true;
    t->paused = true;
    return listen(t, "[Enter goes on, q leaves] ", line, sizeof line);
}

static void say_answer(struct teller *t, const struct lesson_choice *choice, size_t index)
{
    char head[16];
    snprintf(head, sizeof head, "  %c %c) ", choice->right ? '+' : '-', (char)('a' + index));
    script_colour(t->script, choice->right ? "32" : "33");
    fputs(head, t->talk->out);
    text_wrap(t->talk->out, choice->answer, strlen(head), strlen(head), text_columns());
    script_plain(t->script);
    fputs("\n", t->talk->out);
}

static void say_choices(struct teller *t, const struct lesson_part *part)
{
    char head[64];
    snprintf(head, sizeof head, "Question %zu of %zu: ", t->asked, t->lesson->questions);
    script_colour(t->script, "1");
    fputs(head, t->talk->out);
    text_wrap(t->talk->out, part->text, strlen(head), 2, text_columns());
    script_plain(t->script);
    fputs("\n", t->talk->out);
    for (size_t i = 0; i < part->choices; i++) {
        fprintf(t->talk->out, "    %c) ", (char)('a' + i));
        text_wrap(t->talk->out, part->choice[i].text, 7, 7, text_columns());
        fputs("\n", t->talk->out);
    }
}

/* Asks until the right choice was made; Enter alone asks for it. */
static bool ask(struct teller *t, const struct lesson_part *part)
{
    char line[80], prompt[80];
    size_t right = 0;
    while (!part->choice[right].right)
        right++;
    snprintf(prompt, sizeof prompt, "[a to %c answers, Enter shows the answer, q leaves] ", (char)('a' + part->choices - 1));
    for (bool first = true;; first = false) {
        if (!listen(t, prompt, line, sizeof line))
            return false;
        size_t pick = line[0] ? (size_t)((line[0] | 0x20) - 'a') : right;
        if (pick >= part->choices || (line[0] && line[1])) {
            fprintf(t->talk->out, "  One letter, a to %c, is an answer.\n", (char)('a' + part->choices - 1));
            continue;
        }
        say_answer(t, &part->choice[pick], pick);
        t->at_once += first && line[0] && pick == right;
        if (pick == right)
            return true;
    }
}

static bool tell_question(struct teller *t, const struct lesson_part *part)
{
    t->asked++;
    gap(t);
    say_choices(t, part);
    fputs("\n", t->talk->out);
    for (size_t i = 0; !t->talk->in && i < part->choices; i++)
        say_answer(t, &part->choice[i], i);
    bool stays = !t->talk->in || ask(t, part);
    t->paused = true;
    t->blank = false;
    return stays;
}

/* The parts that begin in this line, which is a part's at most. False: the listener leaves. */
static bool tell_part(struct teller *t, int line)
{
    if (t->next == t->lesson->parts || t->lesson->part[t->next].line != line)
        return true;
    const struct lesson_part *part = &t->lesson->part[t->next++];
    switch (part->kind) {
    case LESSON_TEXT:
        gap(t);
        say_text(t->talk->out, part->text);
        t->paused = t->blank = false;
        return true;
    case LESSON_QUESTION: return tell_question(t, part);
    case LESSON_DRAW:
        if (!pause_here(t))
            return false;
        script_draw(t->script, true);
        t->blank = true;
        return true;
    case LESSON_COMMAND: break;
    }
    if (t->next > 1 && (part - 1)->kind != LESSON_COMMAND)
        gap(t);
    t->blank = false;
    return pause_here(t);
}

static void tell_title(struct teller *t)
{
    script_colour(t->script, "1;36");
    fprintf(t->talk->out, "%s\n", t->talk->title);
    for (size_t i = 0; t->talk->title[i]; i++)
        fputc('=', t->talk->out);
    script_plain(t->script);
    fputs("\n", t->talk->out);
}

static void tell_end(struct teller *t)
{
    if (!t->talk->in || t->left)
        return;
    fprintf(t->talk->out, "\nThat was the lesson. You answered %zu of %zu questions at the first try.\n", t->at_once,
            t->lesson->questions);
    if (t->talk->next)
        fprintf(t->talk->out, "%s\n", t->talk->next);
}

int lesson_run(const struct lesson *lesson, const struct lesson_talk *talk)
{
    struct script_options options = {.out = talk->out, .err = talk->err, .backend = talk->backend, .colour = talk->colour};
    struct teller t = {.lesson = lesson, .talk = talk, .script = script_new(&options, lesson->file), .paused = true};
    enum script_status status = SCRIPT_OK;
    tell_title(&t);
    for (int i = 0; lesson->lines[i] && status == SCRIPT_OK; i++) {
        if (!tell_part(&t, i + 1))
            break;
        status = script_line(t.script, lesson->lines[i], strlen(lesson->lines[i]));
    }
    if (t.left) { /* without a listener, what is still held is not reported */
        fputs("\n", talk->out);
        t.script->options.quiet = true;
    }
    status = script_finish(t.script);
    if (status == SCRIPT_OK)
        tell_end(&t);
    return (int)status;
}
