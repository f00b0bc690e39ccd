/* SPDX-License-Identifier: Apache-2.0 */
#include "json_read.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 16 };

struct reader {
    struct json_doc *doc;
    char *at; /* ends with a zero */
    uint32_t room;
};

static bool read_value(struct reader *reader, const char *key, int depth);

static void skip_blanks(struct reader *reader)
{
    reader->at += strspn(reader->at, " \t\r\n");
}

static bool take_char(struct reader *reader, char wanted)
{
    skip_blanks(reader);
    if (*reader->at != wanted)
        return false;
    reader->at++;
    return true;
}

/* The byte after a backslash; *at moves to the escape's last character. */
static int escaped(char **at)
{
    static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    const char *name = **at ? strchr(names, **at) : NULL;
    char digits[3] = "", *end = NULL;
    if (name)
        return (unsigned char)bytes[name - names];
    if (**at != 'u' || strncmp(*at + 1, "00", 2) != 0)
        return -1;
    strncpy(digits, *at + 3, 2);
    long byte = strtol(digits, &end, 16);
    if (end != digits + 2 || digits[0] == '+' || digits[0] == '-' || digits[0] == ' ')
        return -1;
    *at += 4;
    return (int)byte;
}

/* Unescapes in place, because the value is never longer. NULL: it is no text. */
static char *read_text(struct reader *reader)
{
    if (!take_char(reader, '"'))
        return NULL;
    char *start = reader->at, *to = start;
    for (; *reader->at && *reader->at != '"'; reader->at++) {
        int byte = (unsigned char)*reader->at;
        if (byte == '\\') {
            reader->at++;
            byte = escaped(&reader->at);
        }
        if (byte <= 0)
            return NULL;
        *to++ = (char)byte;
    }
    if (!*reader->at)
        return NULL;
    reader->at++;
    *to = '\0'; /* at the quote, or before it */
    return start;
}

/* NULL: memory is out. */
static struct json_node *add(struct reader *reader, const char *key)
{
    struct json_doc *doc = reader->doc;
    if (doc->count == reader->room) {
        uint32_t room = reader->room ? 2 * reader->room : 64;
        struct json_node *node = realloc(doc->node, room * sizeof *node);
        if (!node)
            return NULL;
        doc->node = node;
        reader->room = room;
    }
    struct json_node *node = &doc->node[doc->count++];
    *node = (struct json_node){.key = key ? key : "", .text = "", .end = doc->count};
    return node;
}

static bool read_inside(struct reader *reader, bool object, int depth)
{
    char close = object ? '}' : ']';
    if (take_char(reader, close))
        return true;
    do {
        const char *key = NULL;
        if (object && (!(key = read_text(reader)) || !take_char(reader, ':')))
            return false;
        if (!read_value(reader, key, depth + 1))
            return false;
    } while (take_char(reader, ','));
    return take_char(reader, close);
}

static bool read_word(struct reader *reader, struct json_node *node)
{
    static const struct {
        const char *word;
        enum json_kind kind;
        int number;
    } words[] = {{"null", JSON_NULL, 0}, {"true", JSON_BOOL, 1}, {"false", JSON_BOOL, 0}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strncmp(reader->at, words[i].word, strlen(words[i].word)) == 0) {
            reader->at += strlen(words[i].word);
            node->kind = words[i].kind;
            node->number = words[i].number;
            return true;
        }
    char *end;
    node->kind = JSON_NUMBER;
    node->number = strtoll(reader->at, &end, 10);
    bool good = (*reader->at == '-' || (*reader->at >= '0' && *reader->at <= '9')) && end > reader->at;
    reader->at = end;
    return good;
}

static bool read_value(struct reader *reader, const char *key, int depth)
{
    struct json_node *node = add(reader, key);
    if (!node || depth > DEEPEST)
        return false;
    uint32_t place = reader->doc->count - 1;
    skip_blanks(reader);
    if (*reader->at == '"') {
        node->kind = JSON_TEXT;
        node->text = read_text(reader);
        return node->text != NULL;
    }
    if (*reader->at != '{' && *reader->at != '[')
        return read_word(reader, node);
    bool object = *reader->at++ == '{';
    node->kind = object ? JSON_OBJECT : JSON_LIST;
    if (!read_inside(reader, object, depth))
        return false;
    reader->doc->node[place].end = reader->doc->count;
    return true;
}

bool json_doc_read(struct json_doc *doc, const char *text, size_t length)
{
    struct reader reader = {.doc = doc};
    *doc = (struct json_doc){.bytes = malloc(length + 1)};
    if (!doc->bytes)
        return false;
    memcpy(doc->bytes, text, length);
    doc->bytes[length] = '\0';
    reader.at = doc->bytes;
    bool good = read_value(&reader, NULL, 0);
    skip_blanks(&reader);
    if (good && reader.at == doc->bytes + length)
        return true;
    json_doc_free(doc);
    return false;
}

void json_doc_free(struct json_doc *doc)
{
    free(doc->node);
    free(doc->bytes);
    *doc = (struct json_doc){0};
}

const struct json_node *json_doc_next(const struct json_doc *doc, const struct json_node *list, const struct json_node *before)
{
    const struct json_node *next = before ? &doc->node[before->end] : list + 1;
    return next < &doc->node[list->end] ? next : NULL;
}

const struct json_node *json_doc_member(const struct json_doc *doc, const struct json_node *object, const char *key, enum json_kind kind)
{
    const struct json_node *node = NULL;
    if (object && object->kind == JSON_OBJECT)
        while ((node = json_doc_next(doc, object, node)) && strcmp(node->key, key) != 0)
            ;
    return node && node->kind == kind ? node : NULL;
}

const char *json_doc_string(const struct json_doc *doc, const struct json_node *object, const char *key)
{
    const struct json_node *node = json_doc_member(doc, object, key, JSON_TEXT);
    return node ? node->text : NULL;
}

uint64_t json_doc_number(const struct json_doc *doc, const struct json_node *object, const char *key)
{
    const struct json_node *node = json_doc_member(doc, object, key, JSON_NUMBER);
    const char *text = node ? NULL : json_doc_string(doc, object, key);
    return node ? (uint64_t)node->number : text ? strtoull(text, NULL, 0) : 0;
}
