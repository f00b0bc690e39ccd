/* SPDX-License-Identifier: Apache-2.0 */
/* access_set.h - which memory a piece of work touches, in the units in which memory is mapped.
 *
 *     kernel    reads  |x x x x|x x  |      writes        |      |wwww|      addresses it goes to
 *     ranges    [ first ... last ] READ            [ first ... last ] READWRITE
 *
 * A kernel's are found by its twin on a dry run: it goes where it would go, and nothing is read or written. The run ends
 * where the kernel would fault as things are, and what comes after is not known then (complete is false).
 */
#ifndef SIM_ACCESS_SET_H
#define SIM_ACCESS_SET_H

#include "process.h"

struct access_set_range {
    uint64_t first, last; /* bytes, whole units */
    unsigned need;        /* VMM_MEM_ACCESS_FLAGS_PROT_ that the device needs */
};

struct access_set {
    struct access_set_range *range; /* by need, then by address, none touching the next */
    size_t count, room;
    bool complete;
};

/* Adds what the call, a launch, a copy or a fill, touches on device; touched is empty before. False when memory is out;
 * what was found by then is there. */
bool access_set_by(struct access_set *touched, const struct sim_process *process, int device, const struct vmm_call *call);

/* The first range with a byte in [start, start + size) for which the device needs a right of need. */
const struct access_set_range *access_set_in(const struct access_set *touched, uint64_t start, uint64_t size, unsigned need);

void access_set_clear(struct access_set *touched);

#endif
