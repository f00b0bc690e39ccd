/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of a text as values that refer to their text; a value and its node have the same index. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jansson.h"
#include "json_read.h"

struct tree {
    struct json_doc doc;
    json_t *value;
};

struct json_tree {
    struct tree *tree;
};

static const struct json_node *node_of(const json_t *json)
{
    return json ? &json->tree->doc.node[json - json->tree->value] : NULL;
}

static json_t *value_of(const json_t *json, const struct json_node *node)
{
    return node ? &json->tree->value[node - json->tree->doc.node] : NULL;
}

static bool is(const json_t *json, enum json_kind kind)
{
    return json && node_of(json)->kind == kind;
}

json_t *json_loads(const char *text, size_t flags, json_error_t *error)
{
    struct tree *tree = calloc(1, sizeof *tree);
    (void)flags;
    *error = (json_error_t){.column = 1};
    snprintf(error->text, sizeof error->text, "%s", tree ? "a value, or its end, is missing or malformed" : "out of memory");
    if (!tree || !json_doc_read(&tree->doc, text, strlen(text))) {
        free(tree);
        return NULL;
    }
    tree->value = calloc(tree->doc.count, sizeof *tree->value);
    for (uint32_t i = 0; tree->value && i < tree->doc.count; i++)
        tree->value[i].tree = tree;
    if (tree->value)
        return tree->value;
    json_doc_free(&tree->doc);
    free(tree);
    return NULL;
}

void json_decref(json_t *json)
{
    struct tree *tree = json ? json->tree : NULL;
    if (!tree)
        return;
    json_doc_free(&tree->doc);
    free(tree->value);
    free(tree);
}

bool json_is_object(const json_t *json)
{
    return is(json, JSON_OBJECT);
}

bool json_is_array(const json_t *json)
{
    return is(json, JSON_LIST);
}

bool json_is_string(const json_t *json)
{
    return is(json, JSON_TEXT);
}

bool json_is_integer(const json_t *json)
{
    return is(json, JSON_NUMBER);
}

bool json_is_null(const json_t *json)
{
    return is(json, JSON_NULL);
}

json_t *json_tree_next(const json_t *list, const json_t *before)
{
    if (!is(list, JSON_OBJECT) && !is(list, JSON_LIST))
        return NULL;
    return value_of(list, json_doc_next(&list->tree->doc, node_of(list), node_of(before)));
}

const char *json_tree_key(const json_t *json)
{
    return node_of(json)->key;
}

json_t *json_object_get(const json_t *object, const char *key)
{
    json_t *value = NULL;
    if (!is(object, JSON_OBJECT))
        return NULL;
    while ((value = json_tree_next(object, value)) && strcmp(json_tree_key(value), key) != 0)
        ;
    return value;
}

size_t json_array_size(const json_t *array)
{
    size_t size = 0;
    for (json_t *value = is(array, JSON_LIST) ? json_tree_next(array, NULL) : NULL; value; value = json_tree_next(array, value))
        size++;
    return size;
}

json_t *json_array_get(const json_t *array, size_t index)
{
    json_t *value = is(array, JSON_LIST) ? json_tree_next(array, NULL) : NULL;
    while (value && index--)
        value = json_tree_next(array, value);
    return value;
}

const char *json_string_value(const json_t *json)
{
    return is(json, JSON_TEXT) ? node_of(json)->text : NULL;
}

/* A text of json_read.h ends with its first 0. */
size_t json_string_length(const json_t *json)
{
    return is(json, JSON_TEXT) ? strlen(node_of(json)->text) : 0;
}

json_int_t json_integer_value(const json_t *json)
{
    return is(json, JSON_NUMBER) ? (json_int_t)node_of(json)->number : 0;
}
