/* SPDX-License-Identifier: Apache-2.0 */
#include "lesson.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

/* What is being read. */
struct reader {
    struct lesson *lesson;
    FILE *err;
    int line;                 /* the current one, from 1 */
    struct lesson_part *open; /* the paragraph or question that the next line may belong to, or NULL */
    bool driver_said;
};

static bool wrong(const struct reader *reader, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool wrong(const struct reader *reader, int line, const char *format, ...)
{
    va_list args;
    fprintf(reader->err, "%s:%d: ", reader->lesson->file, line);
    va_start(args, format);
    vfprintf(reader->err, format, args);
    va_end(args);
    fputs("\n", reader->err);
    return false;
}

static const char *skip_blanks(const char *text)
{
    return text + strspn(text, " \t");
}

/* A copy without blanks around it. */
static char *trimmed(const char *text, size_t length)
{
    while (length && (*text == ' ' || *text == '\t'))
        text++, length--;
    while (length && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    char *copy = text_grow(NULL, length + 1);
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

static struct lesson_part *add_part(struct reader *reader, enum lesson_kind kind)
{
    struct lesson *lesson = reader->lesson;
    lesson->part = text_grow(lesson->part, (lesson->parts + 1) * sizeof *lesson->part);
    struct lesson_part *part = &lesson->part[lesson->parts++];
    *part = (struct lesson_part){.kind = kind, .line = reader->line};
    return part;
}

/* Puts text behind what the part says already: joined by a blank, or as a line of its own. */
static void say_more(struct lesson_part *part, const char *text, bool own_line)
{
    size_t before = part->text ? strlen(part->text) : 0;
    char *more = own_line ? NULL : trimmed(text, strlen(text));
    const char *said = more ? more : text;
    part->text = text_grow(part->text, before + strlen(said) + 3);
    const char *between = before == 0 || part->text[before - 1] == '\n' ? "" : own_line ? "\n" : " ";
    snprintf(part->text + before, strlen(said) + 3, "%s%s%s", between, said, own_line ? "\n" : "");
    free(more);
}

static bool read_text(struct reader *reader, const char *text)
{
    struct lesson_part *open = reader->open && reader->open->kind == LESSON_TEXT ? reader->open : NULL;
    reader->open = NULL;
    if (!skip_blanks(text)[0])
        return true;
    reader->open = open ? open : add_part(reader, LESSON_TEXT);
    bool own_line = strncmp(text, "  ", 2) == 0;
    say_more(reader->open, own_line ? text + 1 : text, own_line);
    return true;
}

static bool read_question(struct reader *reader, const char *text)
{
    bool goes_on = reader->open && reader->open->kind == LESSON_QUESTION && reader->open->choices == 0;
    if (!skip_blanks(text)[0])
        return wrong(reader, reader->line, "an empty question; write #? and the question");
    if (!goes_on) {
        reader->open = add_part(reader, LESSON_QUESTION);
        reader->lesson->questions++;
    }
    say_more(reader->open, text, false);
    return true;
}

static bool read_choice(struct reader *reader, const char *text, bool right)
{
    struct lesson_part *open = reader->open && reader->open->kind == LESSON_QUESTION ? reader->open : NULL;
    const char *bar = strstr(text, " | ");
    if (!open)
        return wrong(reader, reader->line, "a choice without a question; #? comes before #- and #+");
    if (open->choices == LESSON_CHOICES)
        return wrong(reader, reader->line, "more than %d choices", LESSON_CHOICES);
    if (!bar || bar == text || !skip_blanks(bar + 3)[0])
        return wrong(reader, reader->line, "a choice is \"the choice | what to say to who picks it\"");
    open->choice[open->choices++] = (struct lesson_choice){trimmed(text, (size_t)(bar - text)),
                                                           trimmed(bar + 3, strlen(bar + 3)), right};
    return true;
}

static bool read_driver(struct reader *reader, const char *value)
{
    struct lesson *lesson = reader->lesson;
    if (reader->driver_said)
        return wrong(reader, reader->line, "a second driver line");
    reader->driver_said = true;
    lesson->driver = strcmp(value, "yes") == 0;
    if (lesson->driver)
        return true;
    if (strncmp(value, "no,", 3) != 0 || !skip_blanks(value + 3)[0])
        return wrong(reader, reader->line, "\"%.60s\" after driver:; write yes, or no, and the reason", value);
    lesson->reason = trimmed(value + 3, strlen(value + 3));
    return true;
}

/* #@ KEY: VALUE */
static bool read_about(struct reader *reader, const char *text)
{
    struct lesson *lesson = reader->lesson;
    text = skip_blanks(text);
    if (strncmp(text, "driver:", 7) == 0)
        return read_driver(reader, skip_blanks(text + 7));
    if (strncmp(text, "title:", 6) != 0)
        return wrong(reader, reader->line, "\"%.60s\" after #@; title: and driver: are known", text);
    if (lesson->title)
        return wrong(reader, reader->line, "a second title");
    if (!skip_blanks(text + 6)[0])
        return wrong(reader, reader->line, "an empty title");
    lesson->title = trimmed(text + 6, strlen(text + 6));
    return true;
}

static bool is_draw(const char *line)
{
    return strncmp(line, "#draw", 5) == 0 && !skip_blanks(line + 5)[0];
}

/* A mark is # and another sign; # and a blank is a comment for readers of the script. */
static bool read_mark(struct reader *reader, const char *line)
{
    switch (line[1]) {
    case '@': return read_about(reader, line + 2);
    case '#': return read_text(reader, line + 2);
    case '?': return read_question(reader, line + 2);
    case '-': return read_choice(reader, line + 2, false);
    case '+': return read_choice(reader, line + 2, true);
    case ' ':
    case 0: return true;
    default: break;
    }
    reader->open = NULL;
    if (!is_draw(line))
        return wrong(reader, reader->line,
                     "\"%.20s\" is not a mark of a lesson (#@ ## #? #- #+ #draw); a comment begins with \"# \"", line);
    add_part(reader, LESSON_DRAW);
    return true;
}

static bool read_line(struct reader *reader, const char *line)
{
    if (reader->line == 1 && strncmp(line, "#@ title:", 9) != 0)
        return wrong(reader, 1, "a lesson begins with #@ title: TEXT");
    if (line[0] == '#')
        return read_mark(reader, line);
    reader->open = NULL;
    if (skip_blanks(line)[0])
        add_part(reader, LESSON_COMMAND);
    return true;
}

/* What is only known once the whole is read. */
static bool check_whole(const struct reader *reader)
{
    const struct lesson *lesson = reader->lesson;
    bool commands = false;
    if (!lesson->title || !reader->driver_said)
        return wrong(reader, 1, "the line #@ %s is missing", lesson->title ? "driver: yes, or: no, REASON" : "title: TEXT");
    for (size_t i = 0; i < lesson->parts; i++) {
        const struct lesson_part *part = &lesson->part[i];
        size_t right = 0;
        for (size_t c = 0; c < part->choices; c++)
            right += part->choice[c].right;
        if (part->kind == LESSON_QUESTION && (part->choices < 2 || right != 1))
            return wrong(reader, part->line,
                         "a question has two choices (#- #+) or more and one is right; here are %zu, %zu right", part->choices,
                         right);
        commands = commands || part->kind == LESSON_COMMAND;
    }
    return commands || wrong(reader, reader->line, "a lesson without a command; the machine is to show what the text says");
}

bool lesson_parse(struct lesson *lesson, const char *file, const char *const *lines, FILE *err)
{
    *lesson = (struct lesson){.file = file, .lines = lines};
    struct reader reader = {.lesson = lesson, .err = err, .line = 1};
    bool fine = true;
    for (size_t i = 0; fine && lines[i]; i++) {
        reader.line = (int)i + 1;
        fine = read_line(&reader, lines[i]);
    }
    if (fine && check_whole(&reader))
        return true;
    lesson_free(lesson);
    return false;
}

void lesson_free(struct lesson *lesson)
{
    for (size_t i = 0; i < lesson->parts; i++) {
        for (size_t c = 0; c < lesson->part[i].choices; c++) {
            free(lesson->part[i].choice[c].text);
            free(lesson->part[i].choice[c].answer);
        }
        free(lesson->part[i].text);
    }
    free(lesson->part);
    free(lesson->title);
    free(lesson->reason);
    *lesson = (struct lesson){0};
}
