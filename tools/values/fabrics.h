/* SPDX-License-Identifier: Apache-2.0 */
/* fabrics.h - fabric handles that exports made, known by numbers as descriptors are: for scripts and replays, which have no
 * addresses.
 *
 *   f = export h type=fabric      keeps the 64 bytes     f is 1 << 40 (31 where pointers have 32 bits)
 *   i = import f type=fabric      finds them             the call gets the address of a copy
 *   osHandle = 0x1a19...          the last eight of them, as details show a handle: 1 << 40, which is f
 */
#ifndef CUVMM_TOOLS_FABRICS_H
#define CUVMM_TOOLS_FABRICS_H

#include <stddef.h>

#include "vmm.h"

struct fabrics {
    unsigned char (*handle)[VMM_FABRIC_HANDLE_SIZE];
    size_t count;
};

/* A number that is not a descriptor's. */
uint64_t fabrics_keep(struct fabrics *fabrics, const unsigned char *bytes);
/* Copies the handle of that number to bytes; zeros where there is none. */
void fabrics_find(const struct fabrics *fabrics, uint64_t number, unsigned char *bytes);
/* The number of the handle that ends in these eight bytes; 0 where there is none. */
uint64_t fabrics_ending(const struct fabrics *fabrics, uint64_t last);
void fabrics_clear(struct fabrics *fabrics);

#endif
