/* SPDX-License-Identifier: Apache-2.0 */
/* managed_parts.h - what the program said of each part of managed memory, page by page.
 *
 *     bytes    0 ............. 4096 ........................ 65536 ..... size
 *     parts    [ read mostly  ][ preferred: device 0         ][           ]
 *
 * Parts cover the memory without a gap; one begins at 0, and each ends where the next one begins. Neighbours may say the same.
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
};

struct managed_parts {
    struct managed_part *part; /* NULL until something is said of some part */
    size_t count, room;
};

void managed_parts_clear(struct managed_parts *parts);

/* The parts of [start, end), which is not empty: splits those that reach over its bounds. False when host memory is exhausted:
 * nothing has changed. */
bool managed_parts_of(struct managed_parts *parts, uint64_t start, uint64_t end, struct managed_part **first, size_t *count);

/* The part that holds a byte, or NULL where nothing was said of any; *end: where it ends, at most size. */
const struct managed_part *managed_part_at(const struct managed_parts *parts, uint64_t at, uint64_t size, uint64_t *end);

#endif
