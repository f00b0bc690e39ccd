/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_overlay.h - an accessor for dry runs: the kernel's stores go to the overlay, and its loads see them.
 *
 *     kernel   write 7 at 0x1000          read at 0x1000     read at 0x1010
 *     inner    is queried, not written    is queried         is queried
 *     finds                               7                  the memory as it is
 *
 * The inner accessor checks and records accesses, and returns the current bytes (NULL for zeros),
 * also for a store, which goes to the overlay. It is not queried again for granted bytes: *size
 * says how many bytes the grant covers. Bytes of the overlay are valid until the next request.
 */
#ifndef PTX_OVERLAY_H
#define PTX_OVERLAY_H

#include "twin.h"

enum { PTX_OVERLAY_UNIT = 16 }; /* bytes; no access is wider or crosses units */

struct ptx_overlay_cell {
    uint64_t place; /* 1 + the address / PTX_OVERLAY_UNIT; 0: free */
    uint16_t written; /* bit by bit */
    unsigned char bytes[PTX_OVERLAY_UNIT];
};

enum { PTX_OVERLAY_GRANTS = 64, PTX_OVERLAY_SHIFT = 21 };

/* A grant of the inner accessor; bytes is NULL for zeros. */
struct ptx_overlay_grant {
    uint64_t start, size;
    unsigned char *bytes;
};

struct ptx_overlay {
    struct twin_memory memory; /* first: the kernel passes this pointer back */
    struct twin_memory *inner;
    struct ptx_overlay_grant grant[TWIN_ATOMIC + 1][PTX_OVERLAY_GRANTS];
    struct ptx_overlay_cell *cells;
    size_t count, room; /* room: a power of two, or 0 */
};

void ptx_overlay_open(struct ptx_overlay *overlay, struct twin_memory *inner);
void ptx_overlay_close(struct ptx_overlay *overlay);

#endif
