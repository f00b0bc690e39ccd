/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"

void jsonw_free(struct json *json)
{
    heap.free(json->text);
    *json = (struct json){0};
}

void jsonw_reset(struct json *json)
{
    json->length = 0;
    json->failed = false;
}

static void put(struct json *json, const char *bytes, size_t length)
{
    if (json->failed)
        return;
    if (length > json->room - json->length) {
        size_t room = json->room ? json->room : 1024;
        while (length > room - json->length)
            room *= 2;
        char *text = json->fixed ? NULL : heap.realloc(json->text, room);
        if (!text) {
            json->failed = true;
            return;
        }
        json->text = text;
        json->room = room;
    }
    memcpy(json->text + json->length, bytes, length);
    json->length += length;
}

static void words(struct json *json, const char *text)
{
    put(json, text, strlen(text));
}

/* Writes what precedes a value: a comma unless it is the first, and its key. */
static void lead(struct json *json, const char *key)
{
    char last = json->length ? json->text[json->length - 1] : '{';
    if (last != '{' && last != '[')
        words(json, ",");
    if (!key)
        return;
    words(json, "\"");
    words(json, key);
    words(json, "\":");
}

void jsonw_open(struct json *json, const char *key, char bracket)
{
    lead(json, key);
    put(json, &bracket, 1);
}

void jsonw_close(struct json *json, char bracket)
{
    put(json, &bracket, 1);
}

void jsonw_int(struct json *json, const char *key, int64_t value)
{
    char text[32];
    lead(json, key);
    snprintf(text, sizeof text, "%" PRId64, value);
    words(json, text);
}

void jsonw_hex(struct json *json, const char *key, uint64_t value)
{
    char text[32];
    lead(json, key);
    snprintf(text, sizeof text, "\"0x%" PRIx64 "\"", value);
    words(json, text);
}

void jsonw_bool(struct json *json, const char *key, bool value)
{
    lead(json, key);
    words(json, value ? "true" : "false");
}

void jsonw_null(struct json *json, const char *key)
{
    lead(json, key);
    words(json, "null");
}

static bool is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x7F && byte != '"' && byte != '\\';
}

static void put_escaped(struct json *json, unsigned char byte)
{
    char escape[8];
    snprintf(escape, sizeof escape, byte == '"' || byte == '\\' ? "\\%c" : "\\u%04x", byte);
    words(json, escape);
}

void jsonw_text(struct json *json, const char *key, const char *value)
{
    lead(json, key);
    words(json, "\"");
    while (*value) {
        size_t plain = 0;
        while (is_plain((unsigned char)value[plain]))
            plain++;
        put(json, value, plain);
        value += plain;
        if (*value)
            put_escaped(json, (unsigned char)*value++);
    }
    words(json, "\"");
}

/* Surrogates and overlong forms are invalid. */
size_t jsonw_character(const char *text)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } forms[] = {{0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    const unsigned char *at = (const unsigned char *)text;
    if (at[0] < 0x80)
        return at[0] != 0;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if ((at[0] & forms[i].mask) != forms[i].lead)
            continue;
        uint32_t code = at[0] & (unsigned char)~forms[i].mask;
        for (size_t n = 1; n < i + 2; n++) {
            if ((at[n] & 0xc0) != 0x80)
                return 0;
            code = code << 6 | (at[n] & 0x3f);
        }
        return code < forms[i].least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : i + 2;
    }
    return 0;
}

void jsonw_utf8(struct json *json, const char *key, const char *value)
{
    lead(json, key);
    words(json, "\"");
    while (*value) {
        unsigned char byte = (unsigned char)*value;
        size_t length = jsonw_character(value);
        if (byte < 0x80 && !is_plain(byte))
            put_escaped(json, byte);
        else if (length)
            put(json, value, length);
        else
            words(json, "\\ufffd");
        value += length ? length : 1;
    }
    words(json, "\"");
}

void jsonw_bytes(struct json *json, const char *key, const void *bytes, size_t length)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *byte = bytes;
    lead(json, key);
    words(json, "\"");
    for (size_t i = 0; i < length; i++) {
        char pair[2] = {digits[byte[i] >> 4], digits[byte[i] & 15]};
        put(json, pair, sizeof pair);
    }
    words(json, "\"");
}

void jsonw_newline(struct json *json)
{
    words(json, "\n");
}

void jsonw_drop_empty(struct json *json, const char *key)
{
    size_t size = strlen(key) + strlen("\"\":{");
    if (json->failed)
        return;
    json->length -= size;
    if (json->text[json->length - 1] == ',')
        json->length--;
}
