/* SPDX-License-Identifier: Apache-2.0 */
/* transfer.h - one form for the copies and fills of all twelve calls, and the code that moves their bytes.
 *
 *   cuMemcpyHtoD(dst, from, n)    FROM_HOST  from -> dst          n bytes, in runs that are contiguous:
 *   cuMemsetD32Async(dst, v, n)   FILL       v v v v -> dst       [run 1 .....][run 2 ..][run 3 ........]
 */
#ifndef SIM_TRANSFER_H
#define SIM_TRANSFER_H

#include "process.h"

enum direction { FROM_HOST, TO_HOST, BETWEEN, FILL };

/* The devices whose rights the two sides of a copy need; for a fill the first one counts. */
struct transfer_rights {
    int to, from;
};

/* One of the twelve calls. */
struct transfer {
    enum direction direction;
    uint64_t dst, src;
    const void *from; /* the host's bytes, or the value of a fill */
    void *to;
    uint64_t size;  /* bytes; for a fill n * width, which wraps, as measured */
    uint64_t n;     /* number of elements of a fill */
    unsigned width; /* bytes of one element */
    const char *dst_name, *src_name; /* the arguments that are device addresses */
    struct transfer_rights rights;
};

/* Moves the bytes; access to all of them has been checked. Returns false, with nothing written, when host memory is exhausted. */
bool transfer_make(const struct sim_process *process, const struct transfer *t);

#endif
