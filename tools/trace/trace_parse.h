/* SPDX-License-Identifier: Apache-2.0 */
/* trace_parse.h - internals of reading lines of a trace: from JSON to the memory of an event. Needs jansson.
 *
 *     "args":{"ptr":"0x100000000000","desc":[{...}]}   ->   call.ptr, and a list that call.desc points to
 *
 * A line is checked completely: anything that the writer would not have written is refused, with its position in the line.
 */
#ifndef CUVMM_TOOLS_TRACE_PARSE_H
#define CUVMM_TOOLS_TRACE_PARSE_H

#include <jansson.h>

#include "trace_line.h"
#include "trace_names.h"
#include "trace_read.h"
#include "trace_store.h"

struct parsing {
    struct trace_store *store;
    struct trace_line line;     /* the line being read */
    struct names names;         /* as of the previous lines */
    uint32_t descriptors;       /* the greatest number of one so far */
    struct trace_room *room;
    const struct vmm_param *params; /* of the line's call */
    size_t count;
    json_t *args, *given, *out; /* the names given in the line */
};

/* Reports that the line is invalid, at the position of key in it. Returns false. */
bool parse_malformed(struct parsing *p, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Arguments: first numbers and whether there is memory, then that memory. */
bool parse_arguments(struct parsing *p);
/* Outputs. */
bool parse_outputs(struct parsing *p);

/* ---- values (trace_parse_values.c); key names them in messages ---- */

bool parse_hex(struct parsing *p, const char *key, json_t *json, uint64_t *value);
bool parse_int(struct parsing *p, const char *key, json_t *json, int *value);
bool parse_int_of(struct parsing *p, json_t *json, const char *key, int *value);   /* a member */
bool parse_hex_of(struct parsing *p, json_t *json, const char *key, uint64_t most, uint64_t *value);
bool parse_location(struct parsing *p, const char *key, json_t *json, vmm_mem_location *location);
bool parse_prop(struct parsing *p, const char *key, json_t *json, vmm_mem_allocation_prop *prop);
bool parse_team(struct parsing *p, const char *key, json_t *json, vmm_multicast_object_prop *team);
bool parse_pool_props(struct parsing *p, const char *key, json_t *json, vmm_mem_pool_props *props);
bool parse_box(struct parsing *p, const char *key, json_t *json, vmm_memcpy3d *box);
bool parse_struct(struct parsing *p, const char *key, json_t *json, const struct vmm_shape *shape, void *structure);
bool parse_fill_node(struct parsing *p, const char *key, json_t *json, vmm_memset_node_params *fill);
bool parse_words(struct parsing *p, const char *key, json_t *json, uint64_t *words, size_t count);

/* A list of that many elements. */
bool parse_list(struct parsing *p, const char *key, json_t *json, uint64_t count);

/* {"length":...} with its bytes or their hash; the call gives their number. there: they are in the trace. bytes has room for
 * TRACE_BYTES_MAX. */
bool parse_bytes(struct parsing *p, const char *key, json_t *json, unsigned char *bytes, bool there);

/* A string as the written bytes: each character up to U+00FF is one. Room memory. NULL: not a string, or too long. */
const char *parse_text(struct parsing *p, json_t *json);

/* "R1+0x200000" in parts; false if that is not a name. */
bool parse_name(const char *text, struct name *name);

#endif
