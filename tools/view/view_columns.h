/* SPDX-License-Identifier: Apache-2.0 */
/* view_columns.h - the inside of writing the page's data: columns of numbers, and words that columns name by index. */
#ifndef CUVMM_TOOLS_VIEW_COLUMNS_H
#define CUVMM_TOOLS_VIEW_COLUMNS_H

#include "json.h"
#include "view_window.h"

/* One number of a list; TIMELINE_NONE is -1. */
static inline void put_index(struct json *json, uint32_t value)
{
    jsonw_int(json, NULL, value == TIMELINE_NONE ? -1 : (int64_t)value);
}

/* As exact as the page needs, and exact as a number of JavaScript for 285 years. */
static inline int64_t microseconds(uint64_t nanoseconds)
{
    return (int64_t)(nanoseconds / 1000);
}

/* names, results and kinds, the same in every page. */
void put_tables(struct json *json);

/* objects and changes of a window. */
void put_objects(struct json *json, const struct view_trace *trace, const struct view_window *window);

/* said and rules: of the calls with these indexes in the list of calls that were refused or warned of. */
void put_said(struct json *json, const struct timeline *t, size_t from, size_t to, const char *key);

/* Where the calls from that one on begin in that list. */
size_t said_from(const struct timeline *t, uint32_t call);

#endif
