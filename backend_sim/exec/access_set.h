/* SPDX-License-Identifier: Apache-2.0 */
/* access_set.h - the memory that a work item reads or writes, in the units in which memory is mapped.
 *
 *     kernel    reads  |x x x x|x x  |      writes        |      |wwww|      addresses it goes to
 *     ranges    [ first ... last ] READ            [ first ... last ] READWRITE
 *
 * For a kernel, a dry run finds the access set (dry_run.h): a twin computes all addresses but reads and writes nothing, and a
 * kernel of PTX runs on what is in memory now. The run ends where the kernel would fault under the current rights; the accesses
 * after that are unknown (complete is false).
 */
#ifndef SIM_ACCESS_SET_H
#define SIM_ACCESS_SET_H

#include "process.h"
#include "queue.h"

struct access_set_range {
    uint64_t first, last; /* bytes, whole units */
    unsigned need;        /* VMM_MEM_ACCESS_FLAGS_PROT_ that the device needs */
};

struct access_set {
    struct access_set_range *range; /* sorted by need, then by address; no two adjacent */
    size_t count, room;
    bool complete;
};

/* Adds what the call, a launch, a copy or a fill, uses on the place's device; set is empty before. Returns false when memory is
 * exhausted: set then holds what was found so far. */
bool access_set_by(struct access_set *set, const struct sim_process *process, const struct queue_place *place,
                   const struct vmm_call *call);

/* The first range that overlaps [start, start + size) and for which the device needs a right of need. */
const struct access_set_range *access_set_in(const struct access_set *set, uint64_t start, uint64_t size, unsigned need);

void access_set_clear(struct access_set *set);

#endif
