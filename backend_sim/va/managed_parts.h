/* SPDX-License-Identifier: Apache-2.0 */
/* managed_parts.h - what the program said of each part of managed memory, page by page.
 *
 *     bytes    0 ............. 4096 ........................ 65536 ..... size
 *     parts    [ read mostly  ][ preferred: device 0         ][           ]
 *
 * Parts cover the memory without a gap; one begins at 0, and each ends where the next one begins. Of neighbours different things
 * hold. Measured: a driver walks the pages of a range from part to part, and steps by the length of a part even where it entered
 * it in the middle, or has just joined it with its neighbours:
 *
 *     parts    [ a a a a ][ b ][ a a a ]
 *     asked        [ - - - - - ]            a: the first step is four pages long, and passes over b
 */
#ifndef SIM_MANAGED_PARTS_H
#define SIM_MANAGED_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vmm.h"

#define MANAGED_PAGE UINT64_C(4096)

struct managed_hint {
    vmm_mem_location preferred, prefetched; /* type INVALID: none */
    uint32_t devices;                       /* that will access it, one bit each */
    bool host;                              /* the host will */
    bool read_mostly;
};

struct managed_part {
    uint64_t start;
    struct managed_hint hint;
    bool said; /* something holds of it; within managed_parts_say: or did before */
};

/* Changes what holds of a part. */
typedef void managed_change(struct managed_hint *hint, const void *what);

struct managed_parts {
    struct managed_part *part; /* NULL until something is said of some part */
    size_t count, room;
};

void managed_parts_clear(struct managed_parts *parts);

/* Changes the parts of the pages [start, end), which is not empty, as a driver does, which leaves some out. False when host memory
 * is exhausted: nothing has changed. */
bool managed_parts_say(struct managed_parts *parts, uint64_t start, uint64_t end, managed_change *change, const void *what);

/* What holds at a byte, as a driver reads it that comes from *at, and *at: where it reads on. NULL: nothing was said of any part. */
const struct managed_hint *managed_parts_read(const struct managed_parts *parts, uint64_t *at);

#endif
