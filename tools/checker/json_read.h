/* SPDX-License-Identifier: Apache-2.0 */
/* json_read.h - reads the JSON of a record, without a library: a text of the processes' own making
 * (api/findings/findings_record.h), which may nevertheless be forged.
 *
 *     {"rule":"VMM-X","stack":[{"offset":7}]}     doc.node  [0] object  [1] rule "VMM-X"  [2] stack, a list  [3] object  [4] offset 7
 *                                                           end 5           end 2           end 5           end 5      end 5
 *
 * Names begin with json_doc: jansson, which other parts of the command link, has a json_string of its own.
 *
 * Nodes are in the order of the text; a node's children lie between it and its end. \u00xx is the byte xx, as jsonw_text
 * writes it.
 */
#ifndef CUVMM_TOOLS_JSON_READ_H
#define CUVMM_TOOLS_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_TEXT, JSON_LIST, JSON_OBJECT };

struct json_node {
    enum json_kind kind;
    const char *key, *text; /* "": it has none */
    int64_t number;         /* 1 of true */
    uint32_t end;
};

struct json_doc {
    char *bytes; /* the keys and texts */
    struct json_node *node;
    uint32_t count;
};

/* Copies the text. Returns false if the text is not JSON or memory is exhausted; then nothing needs to be freed. */
bool json_doc_read(struct json_doc *doc, const char *text, size_t length);
void json_doc_free(struct json_doc *doc);

/* The node of that key in an object; NULL if there is none, or if it has another kind. */
const struct json_node *json_doc_member(const struct json_doc *doc, const struct json_node *object, const char *key, enum json_kind kind);

/* The next node in a list or object, starting with NULL; NULL after the last. */
const struct json_node *json_doc_next(const struct json_doc *doc, const struct json_node *list, const struct json_node *before);

/* The value of a key; NULL or 0 if there is none. json_doc_number also accepts "0x10". */
const char *json_doc_string(const struct json_doc *doc, const struct json_node *object, const char *key);
uint64_t json_doc_number(const struct json_doc *doc, const struct json_node *object, const char *key);

#endif
