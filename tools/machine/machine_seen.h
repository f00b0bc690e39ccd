/* SPDX-License-Identifier: Apache-2.0 */
/* machine_seen.h - a machine that processes share, as text or JSON.
 *
 *   m-mine/state --share_inspect.h--> who --+--> machine_text: lines to read
 *                                       '--> machine_json: one object, for programs
 */
#ifndef CUVMM_TOOLS_MACHINE_SEEN_H
#define CUVMM_TOOLS_MACHINE_SEEN_H

#include <stdio.h>

#include "share_inspect.h"

/* A machine as it was found. */
struct machine_seen {
    char name[SHARE_NAME_MAX + 8]; /* "" for one without */
    struct share_inspect *who;
};

void machine_text(FILE *out, const struct machine_seen *seen);

/* All of them. False when memory is out, or this cuvmm was built without what writes JSON. */
bool machine_json(FILE *out, FILE *err, const struct machine_seen *seen, size_t count);

/* "device 0", "host node 1", "location type 9, 7". Returns text. */
const char *machine_place(vmm_mem_location location, char text[32]);

#endif
