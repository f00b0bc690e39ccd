/* SPDX-License-Identifier: Apache-2.0 */
/* findings_record.h - a finding as a record, and the other records about a process.
 *
 *     detail   MAP-OVERLAP, cuMemMap, call 11, nearest M1          {"v":1,"pid":4711,"kind":"finding","class":"error",
 *     stack    17: grow (pool.so+0x11f5), main (a.out+0x1302) ->    "rule":"VMM-MAP-OVERLAP",...,"stack":[{"module":"/srv/pool.so",...
 *
 * A record that exceeds the maximum message size is shortened and has "cut":true: texts to 200 bytes, the stack to 8 frames,
 * everything else dropped.
 */
#ifndef CUVMM_FINDINGS_RECORD_H
#define CUVMM_FINDINGS_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "findings.h"

/* The place of a finding, and what distinguishes it from others. */
struct findings_place {
    vmm_site call;    /* the call that is wrong, that issued the second of two accesses, or that made what leaked */
    vmm_site noticed; /* the call during which an access was noticed, if that is a different one; otherwise empty */
    uint64_t print;   /* of rule, calls, places, mark and process; never 0 */
};

/* Returns false if it was not sent: there is no stream, no reader, or no memory. */
bool record_finding(const vmm_detail *detail, enum finding class, const struct findings_place *place);

/* The process calls the driver for the first time, has created something, cannot be checked, or exits cleanly. */
bool record_started(void);
bool record_checked(void);
bool record_stopped(enum findings_obstacle obstacle);
bool record_ended(void);

/* "error", "hazard", "note", "leak". */
const char *findings_class_name(enum finding class);

#endif
