/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_overlay.h - an accessor for dry runs: what the kernel writes stays in the overlay, where it reads it again.
 *
 *     kernel   write 7 at 0x1000          read at 0x1000     read at 0x1010
 *     inner    is asked, and writes not   is asked           is asked
 *     finds                               7                  the memory as it is
 *
 * The inner accessor checks and notes accesses, and answers with the bytes as they are, NULL for zeros, also for a write, which goes
 * to the overlay. It is not asked again for what it granted: the *size of its answer says how far it has noted. Bytes of the overlay
 * are valid until the next request.
 */
#ifndef PTX_OVERLAY_H
#define PTX_OVERLAY_H

#include "twin.h"

enum { PTX_OVERLAY_UNIT = 16 }; /* bytes; no access is wider, nor in two units */

struct ptx_overlay_cell {
    uint64_t place; /* 1 + the address / PTX_OVERLAY_UNIT; 0: free */
    uint16_t written; /* bit by bit */
    unsigned char bytes[PTX_OVERLAY_UNIT];
};

enum { PTX_OVERLAY_GRANTS = 64, PTX_OVERLAY_SHIFT = 21 };

/* What the inner accessor granted; bytes is NULL for zeros. */
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
