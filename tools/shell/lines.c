/* SPDX-License-Identifier: Apache-2.0 */
#include "lines.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "text.h"

struct plain {
    struct lines lines;
    char *line;
    size_t room;
};

void lines_add_word(struct lines_words *words, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    words->word = text_grow(words->word, (words->count + 1) * sizeof *words->word);
    words->word[words->count++] = strcpy(text_grow(NULL, strlen(text) + 1), text);
}

void lines_free_words(struct lines_words *words)
{
    for (size_t i = 0; i < words->count; i++)
        free(words->word[i]);
    free(words->word);
    *words = (struct lines_words){0};
}

/* A terminal shows the typed line already; otherwise it is printed after the prompt, so that both outputs look alike. */
static char *plain_next(struct lines *lines, size_t *length)
{
    struct plain *plain = (struct plain *)lines;
    const struct lines_options *options = &lines->options;
    if (options->terminal) {
        fputs(options->prompt, options->out);
        fflush(options->out);
    }
    ssize_t n = getline(&plain->line, &plain->room, options->in);
    if (n < 0) {
        if (options->terminal)
            fputs("\n", options->out);
        return NULL;
    }
    while (n > 0 && (plain->line[n - 1] == '\n' || plain->line[n - 1] == '\r'))
        plain->line[--n] = 0;
    *length = (size_t)n;
    if (!options->terminal) {
        fputs(options->prompt, options->out);
        for (ssize_t i = 0; i < n; i++)
            putc((unsigned char)plain->line[i] < 0x20 || plain->line[i] == 0x7f ? '?' : plain->line[i], options->out);
        fputs("\n", options->out);
    }
    return plain->line;
}

static void plain_close(struct lines *lines)
{
    free(((struct plain *)lines)->line);
    free(lines);
}

static struct lines *lines_plain(const struct lines_options *options)
{
    struct plain *plain = text_grow(NULL, sizeof *plain);
    *plain = (struct plain){.lines = {plain_next, plain_close, *options}};
    return &plain->lines;
}

struct lines *lines_open(const struct lines_options *options)
{
    struct lines *lines = options->terminal ? lines_edited(options) : NULL;
    return lines ? lines : lines_plain(options);
}

void lines_close(struct lines *lines)
{
    lines->close(lines);
}

char *lines_next(struct lines *lines, size_t *length)
{
    return lines->next(lines, length);
}
