/* SPDX-License-Identifier: Apache-2.0 */
/* json.h - writes JSON values into a growing text, and adds the commas:
 *
 *     json_open(j, NULL, '{');  json_int(j, "n", 1);  json_open(j, "args", '[');  json_hex(j, NULL, 16);
 *     json_close(j, ']');       json_close(j, '}');                        {"n":1,"args":["0x10"]}
 *
 * key is NULL inside a list. Keys are not escaped: plain words only. When memory runs out, the text is marked as failed and stays
 * unchanged, so only the end needs a check.
 */
#ifndef CUVMM_LAYERS_JSON_H
#define CUVMM_LAYERS_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json {
    char *text; /* length bytes, not terminated */
    size_t length, room;
    bool failed;
};

void json_free(struct json *json);

/* Empties the text, and keeps its memory. */
void json_reset(struct json *json);

void json_open(struct json *json, const char *key, char bracket);
void json_close(struct json *json, char bracket);
void json_int(struct json *json, const char *key, int64_t value);
void json_hex(struct json *json, const char *key, uint64_t value); /* "0x10" */
void json_null(struct json *json, const char *key);
void json_text(struct json *json, const char *key, const char *value);
void json_bytes(struct json *json, const char *key, const void *bytes, size_t length); /* "00ff" */
void json_newline(struct json *json);

/* If the value opened last inside another one is an empty object, removes it and its key. */
void json_drop_empty(struct json *json, const char *key);

#endif
