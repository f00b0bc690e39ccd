/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_memory.h - translates addresses of lanes to host memory.
 *
 *     generic   [ the device's addresses ...   | shared | local | parameters | grid | functions ]
 *                 through the accessor           a window each, where no address of a device or of the host is
 *
 * A port is a host thread's view of the accessor. It caches grants, so that most accesses need no
 * request; an accessor with fleeting bytes receives a request for every access.
 */
#ifndef PTX_MEMORY_H
#define PTX_MEMORY_H

#include "ptx_warp.h"

#define PTX_WINDOW (UINT64_C(1) << 48)
#define PTX_WINDOW_SIZE (UINT64_C(1) << 32)

static inline uint64_t ptx_window(enum ptx_memory space)
{
    return PTX_WINDOW + (uint64_t)space * PTX_WINDOW_SIZE;
}

/* Shared memory begins after the part that devices of these architectures reserve for the system.
 * Libraries of the toolkit use that part, too, if a program reads its offset: cooperative groups
 * use 288 bytes from %reserved_smem_offset_1 on. It ends at a multiple of PTX_SHARED_GRANULE. */
#define PTX_SHARED_BASE UINT32_C(1024)
#define PTX_SHARED_GRANULE UINT32_C(128)

#define PTX_FUNCTIONS (PTX_WINDOW + 15 * PTX_WINDOW_SIZE)

/* The space that a generic address is in; *at becomes the address in it. */
static inline enum ptx_memory ptx_space_of(uint64_t *at)
{
    uint64_t window = (*at >> 32) - (PTX_WINDOW >> 32);
    if (window > PTX_M_GRID)
        return PTX_M_GLOBAL;
    *at &= PTX_WINDOW_SIZE - 1;
    return (enum ptx_memory)window;
}

struct ptx_grant {
    uint64_t start, size;
    unsigned char *bytes;
    uint32_t writes; /* for zeros: the grid's count of writes at the time of the grant */
    bool zeros;
};

enum { PTX_GRANTS = 64, PTX_GRANT_SHIFT = 21 };

struct ptx_port {
    struct ptx_grid *grid;
    struct ptx_grant read[PTX_GRANTS], write[PTX_GRANTS];
    unsigned char (*copies)[PTX_WIDEST]; /* of each lane, if bytes are fleeting */
};

void ptx_port_open(struct ptx_port *port, struct ptx_grid *grid);
/* Drops the cached grants. */
void ptx_port_forget(struct ptx_port *port);

/* The bytes at a global address, at least *size of them; NULL if the accessor refused. *size
 * becomes the number of granted bytes. */
unsigned char *ptx_port_reach(struct ptx_port *port, uint64_t address, uint32_t width, uint64_t *size, enum twin_use use);

/* The addresses that the lanes in mask access with o, in the step's space. */
void ptx_addresses(const struct ptx_warp *warp, const struct ptx_op *o, uint64_t at[PTX_LANES]);

/* Pointers to `bytes` bytes for each lane in mask, aligned to `bytes`. False: the launch has ended, and warp->ended is set.
 * With fleeting bytes, stores through them are not possible; use ptx_store_lanes. */
bool ptx_reach_lanes(struct ptx_warp *warp, const struct ptx_op *o, uint32_t mask, const uint64_t at[PTX_LANES], uint32_t bytes,
                     unsigned char *to[PTX_LANES]);
bool ptx_store_lanes(struct ptx_warp *warp, const struct ptx_op *o, uint32_t mask, const uint64_t at[PTX_LANES], uint32_t bytes,
                     unsigned char from[PTX_LANES][PTX_WIDEST]);

/* For a single lane; use is TWIN_ATOMIC or the access of the step. */
unsigned char *ptx_reach_lane(struct ptx_warp *warp, const struct ptx_op *o, unsigned lane, uint64_t at, uint32_t bytes, enum twin_use use);

/* Are the accessor's bytes fleeting? */
bool ptx_is_fleeting(const struct ptx_warp *warp);

#endif
