/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"

void json_free(struct json *json)
{
    heap.free(json->text);
    *json = (struct json){0};
}

void json_reset(struct json *json)
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
        char *text = heap.realloc(json->text, room);
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

void json_open(struct json *json, const char *key, char bracket)
{
    lead(json, key);
    put(json, &bracket, 1);
}

void json_close(struct json *json, char bracket)
{
    put(json, &bracket, 1);
}

void json_int(struct json *json, const char *key, int64_t value)
{
    char text[32];
    lead(json, key);
    snprintf(text, sizeof text, "%" PRId64, value);
    words(json, text);
}

void json_hex(struct json *json, const char *key, uint64_t value)
{
    char text[32];
    lead(json, key);
    snprintf(text, sizeof text, "\"0x%" PRIx64 "\"", value);
    words(json, text);
}

void json_null(struct json *json, const char *key)
{
    lead(json, key);
    words(json, "null");
}

static bool is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x7F && byte != '"' && byte != '\\';
}

void json_text(struct json *json, const char *key, const char *value)
{
    lead(json, key);
    words(json, "\"");
    while (*value) {
        size_t plain = 0;
        char escape[8];
        while (is_plain((unsigned char)value[plain]))
            plain++;
        put(json, value, plain);
        value += plain;
        if (!*value)
            break;
        snprintf(escape, sizeof escape, *value == '"' || *value == '\\' ? "\\%c" : "\\u%04x", (unsigned char)*value);
        words(json, escape);
        value++;
    }
    words(json, "\"");
}

void json_bytes(struct json *json, const char *key, const void *bytes, size_t length)
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

void json_newline(struct json *json)
{
    words(json, "\n");
}

void json_drop_empty(struct json *json, const char *key)
{
    size_t size = strlen(key) + strlen("\"\":{");
    if (json->failed)
        return;
    json->length -= size;
    if (json->text[json->length - 1] == ',')
        json->length--;
}
