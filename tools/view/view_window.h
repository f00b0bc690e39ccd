/* SPDX-License-Identifier: Apache-2.0 */
/* view_window.h - which calls and objects of a trace the page has at a time: all of a short one, and of a long one a part.
 *
 *     calls      0 ........ [first ... end) ........ 10,000,000
 *     objects    those that live at some time in there, those that its calls have to do with, and what these refer to
 *
 * What the page shows of any moment in the window follows from these alone.
 */
#ifndef CUVMM_TOOLS_VIEW_WINDOW_H
#define CUVMM_TOOLS_VIEW_WINDOW_H

#include "timeline.h"

/* The driver's values are small, so that both fit into one number. */
static inline int view_place(vmm_mem_location location)
{
    return (location.type & 0xff) << 16 | (location.id & 0xffff);
}

enum { VIEW_STRIP = 4096, VIEW_BLOCK = 256 };

/* What is worked out once for a trace. */
struct view_trace {
    const struct timeline *timeline;
    const char *name;              /* of its file */
    uint32_t *last_change, *change_before; /* of an object, newest first: last_change[object], then change_before[change] */
    uint32_t *last_death;          /* of each block of VIEW_BLOCK objects: the last call that ended one of them */
    double *used;                  /* bytes of memory in use: the most in each part of the calls */
    size_t strip;                  /* parts: the calls, but at most VIEW_STRIP */
    double most_used;
    int *grantee;                  /* places that are ever given rights, type << 16 | id */
    size_t grantees;
    uint32_t *stamp, stamps;       /* by object: the window that it was taken into last */
};
void view_trace_of(struct view_trace *trace, const struct timeline *timeline, const char *name);
void view_trace_free(struct view_trace *trace);

struct view_window {
    uint32_t first, end;           /* calls */
    uint32_t *object;              /* in the order of their births */
    size_t objects, room;
};
/* The calls from first on, at most most. */
void view_window_of(struct view_window *window, struct view_trace *trace, uint32_t first, uint32_t most);
void view_window_free(struct view_window *window);

#endif
