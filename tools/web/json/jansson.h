/* SPDX-License-Identifier: Apache-2.0 */
/* jansson.h - the part of jansson's interface that reading a trace needs, for browsers, where that library is not
 * available. It is based on json_read.h, and accepts the same: the JSON in traces of this library.
 */
#ifndef CUVMM_WEB_JANSSON_H
#define CUVMM_WEB_JANSSON_H

#include <stdbool.h>
#include <stddef.h>

typedef struct json_tree json_t;
typedef long long json_int_t;
#define JSON_INTEGER_FORMAT    "lld"
#define JSON_REJECT_DUPLICATES 1

typedef struct {
    int column;
    char text[80];
} json_error_t;

/* flags are ignored; if a key occurs twice, the first one counts. NULL: *error has the reason. */
json_t *json_loads(const char *text, size_t flags, json_error_t *error);
/* Frees all of it, for the value that json_loads returned; NULL is ignored. */
void json_decref(json_t *json);

bool json_is_object(const json_t *json);
bool json_is_array(const json_t *json);
bool json_is_string(const json_t *json);
bool json_is_integer(const json_t *json);
bool json_is_null(const json_t *json);

/* NULL or 0 if there is none, or json is NULL or of another kind. */
json_t *json_object_get(const json_t *object, const char *key);
size_t json_array_size(const json_t *array);
json_t *json_array_get(const json_t *array, size_t index);
const char *json_string_value(const json_t *json);
size_t json_string_length(const json_t *json);
json_int_t json_integer_value(const json_t *json);

/* The next value in a list or object after this one (NULL: the first); NULL after the last. */
json_t *json_tree_next(const json_t *list, const json_t *before);
const char *json_tree_key(const json_t *json);

#define json_object_foreach(object, key, value) \
    for (value = json_tree_next(object, NULL); value && (key = json_tree_key(value)); value = json_tree_next(object, value))
#define json_array_foreach(array, index, value) \
    for (index = 0, value = json_tree_next(array, NULL); value; index++, value = json_tree_next(array, value))

#endif
