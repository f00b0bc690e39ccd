/* SPDX-License-Identifier: Apache-2.0 */
/* json.h - writes JSON values into a growing text, and adds the commas:
 *
 *     jsonw_open(j, NULL, '{');  jsonw_int(j, "n", 1);  jsonw_open(j, "args", '[');  jsonw_hex(j, NULL, 16);
 *     jsonw_close(j, ']');       jsonw_close(j, '}');                        {"n":1,"args":["0x10"]}
 *
 * Names begin with jsonw_: jansson, which the command links, exports json_null and others, and a program's own function would
 * take the place of the library's.
 *
 * key is NULL inside a list. Keys are not escaped: plain words only. When memory runs out, the text is marked as failed and stays
 * unchanged, so only the end needs a check. A signal handler's text has a fixed size: the caller provides the room.
 */
#ifndef CUVMM_BASE_JSON_H
#define CUVMM_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json {
    char *text; /* length bytes, not terminated */
    size_t length, room;
    bool failed;
    bool fixed; /* the text is the caller's memory, room bytes that cannot grow */
};

void jsonw_free(struct json *json);

/* Empties the text, and keeps its memory. */
void jsonw_reset(struct json *json);

void jsonw_open(struct json *json, const char *key, char bracket);
void jsonw_close(struct json *json, char bracket);
void jsonw_int(struct json *json, const char *key, int64_t value);
void jsonw_hex(struct json *json, const char *key, uint64_t value); /* "0x10" */
void jsonw_null(struct json *json, const char *key);
void jsonw_text(struct json *json, const char *key, const char *value); /* each byte above 0x7e as \u00xx */
void jsonw_utf8(struct json *json, const char *key, const char *value); /* UTF-8 unchanged; each other byte becomes \ufffd */
/* The bytes of the UTF-8 character at the beginning of a text; 0 if the bytes are not valid UTF-8. */
size_t jsonw_character(const char *text);
void jsonw_bool(struct json *json, const char *key, bool value);
void jsonw_bytes(struct json *json, const char *key, const void *bytes, size_t length); /* "00ff" */
void jsonw_newline(struct json *json);

/* If the value opened last inside another one is an empty object, removes it and its key. */
void jsonw_drop_empty(struct json *json, const char *key);

#endif
