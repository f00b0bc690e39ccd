/* SPDX-License-Identifier: Apache-2.0 */
/* managed_parts.h - the program's advice for each part of managed memory, page by page.
 *
 *     bytes    0 ............. 4096 ........................ 65536 ..... size
 *     parts    [ read mostly  ][ preferred: device 0         ][           ]
 *
 * Parts cover the memory without a gap; one begins at 0, and each ends where the next one begins. Neighbours have
 * different states. Measured: a driver walks the pages of a range part by part, and advances by the length of a part
 * even if it started in the middle, or has just merged it with its neighbours:
 *
 *     parts    [ a a a a ][ b ][ a a a ]
 *     asked        [ - - - - - ]            a: the first step is four pages long and skips b
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
    uint32_t devices;                       /* devices that will access it, one bit each */
    bool host;                              /* the host will */
    bool read_mostly;
};

struct managed_part {
    uint64_t start;
    struct managed_hint hint;
    bool said; /* it has any advice; within managed_parts_say: or had some before */
};

/* Changes the state of a part. */
typedef void managed_change(struct managed_hint *hint, const void *what);

struct managed_parts {
    struct managed_part *part; /* NULL until the program advises something */
    size_t count, room;
};

void managed_parts_clear(struct managed_parts *parts);

/* Changes the parts of the non-empty page range [start, end) like a driver, which skips some. False when host memory
 * is exhausted: nothing has changed. */
bool managed_parts_say(struct managed_parts *parts, uint64_t start, uint64_t end, managed_change *change, const void *what);

/* The state at a byte, as read by a driver that continues at *at; *at becomes the next position. NULL: no part has any advice. */
const struct managed_hint *managed_parts_read(const struct managed_parts *parts, uint64_t *at);

#endif
