/* SPDX-License-Identifier: Apache-2.0 */
#include "words.h"

#include <stdio.h>
#include <string.h>

struct cutter {
    const char *line;
    size_t length, at;
    struct words *words;
    size_t stored;
    struct words_error *error;
};

static bool fail(struct cutter *c, size_t at, const char *text)
{
    c->error->column = (int)at + 1;
    snprintf(c->error->text, sizeof c->error->text, "%s", text);
    return false;
}

static bool blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool key_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* Text is text: a NUL or another control byte is a damaged or binary file, whatever stands around it. */
static bool check_bytes(struct cutter *c)
{
    if (c->length > WORDS_LINE_MAX) {
        snprintf(c->error->text, sizeof c->error->text, "line of %zu bytes or more; a line has at most %d bytes",
                 c->length, WORDS_LINE_MAX);
        c->error->column = WORDS_LINE_MAX + 1;
        return false;
    }
    for (size_t i = 0; i < c->length; i++) {
        unsigned char byte = (unsigned char)c->line[i];
        if ((byte < 0x20 && byte != '\t') || byte == 0x7f) {
            snprintf(c->error->text, sizeof c->error->text, "byte 0x%02x; a script is text without control characters",
                     byte);
            c->error->column = (int)i + 1;
            return false;
        }
    }
    return true;
}

static void store(struct cutter *c, char byte)
{
    c->words->store[c->stored++] = byte;
}

static bool cut_quoted(struct cutter *c)
{
    size_t start = c->at++;
    while (c->at < c->length && c->line[c->at] != '"') {
        char byte = c->line[c->at++];
        if (byte == '\\' && c->at < c->length) {
            byte = c->line[c->at++];
            if (byte == 'n')
                byte = '\n';
            else if (byte == 't')
                byte = '\t';
            else if (byte != '"' && byte != '\\')
                return fail(c, c->at - 2, "unknown escape in quoted text; \\n, \\t, \\\" and \\\\ are known");
        }
        store(c, byte);
    }
    if (c->at == c->length)
        return fail(c, start, "quoted text without its closing \"");
    c->at++;
    return true;
}

static bool cut_plain(struct cutter *c)
{
    size_t depth = 0, start = c->at, open = 0;
    while (c->at < c->length && (depth || !blank(c->line[c->at]))) {
        char byte = c->line[c->at];
        if ((unsigned char)byte >= 0x80) {
            snprintf(c->error->text, sizeof c->error->text,
                     "byte 0x%02x; outside comments, echo and quoted text only ASCII is understood",
                     (unsigned char)byte);
            c->error->column = (int)c->at + 1;
            return false;
        }
        if (byte == '{') {
            if (depth++)
                return fail(c, c->at, "'{' inside braces; they do not nest");
            open = c->at;
        }
        if (byte == '}' && !depth--)
            return fail(c, c->at, "'}' without '{'");
        store(c, byte);
        c->at++;
        if (byte == '=' && c->at < c->length && c->line[c->at] == '"' && c->at > start + 1)
            return cut_quoted(c);
    }
    return depth ? fail(c, open, "'{' without its closing '}'") : true;
}

/* key=value becomes an option; a lone '=', '==' and the like stay words. */
static void split_option(struct word *word)
{
    char *end = word->text;
    while (key_char(*end))
        end++;
    if (end == word->text || *end != '=' || end[1] == '=')
        return;
    *end = 0;
    word->key = word->text;
    word->column += (int)(end + 1 - word->text);
    word->text = end + 1;
}

static bool cut_word(struct cutter *c)
{
    struct words *words = c->words;
    bool quoted = c->line[c->at] == '"', joins = c->line[c->at] == '+' && words->count > 1;
    size_t start = c->at;
    if (joins && !words->word[words->count - 1].quoted) {
        c->stored--; /* over the 0 of the word before */
        if (!cut_plain(c))
            return false;
        store(c, 0);
        return true;
    }
    if (words->count == WORDS_MAX)
        return fail(c, start, "too many words in one line; 64 are possible");
    struct word *word = &words->word[words->count++];
    *word = (struct word){.text = words->store + c->stored, .column = (int)start + 1, .quoted = quoted};
    if (!(quoted ? cut_quoted(c) : cut_plain(c)))
        return false;
    store(c, 0);
    if (words->count == 2)
        words->tail = word->column;
    if (!quoted)
        split_option(word);
    return true;
}

bool words_split(const char *line, size_t length, struct words *words, struct words_error *error)
{
    struct cutter c = {.line = line, .length = length, .words = words, .error = error};
    words->count = 0;
    words->tail = 0;
    if (!check_bytes(&c))
        return false;
    for (;;) {
        while (c.at < length && blank(line[c.at]))
            c.at++;
        if (c.at == length || line[c.at] == '#')
            return true;
        if (!cut_word(&c))
            return false;
    }
}
