/* SPDX-License-Identifier: Apache-2.0 */
/* defrag.h - pieces of memory with holes between them become one range, and no byte is copied. Exercise 5; task.md says what
 * to do.
 *
 *     before   start [ .... | A rw | ......... | B r- .... B | C rw | .... | D rw ]
 *     after    start [ A rw | B r- .... B | C rw | D rw | ....................... ]     the same memory at other addresses
 */
#ifndef EXERCISE_DEFRAG_H
#define EXERCISE_DEFRAG_H

#include <cuvmm/vmm.h>

/* A piece of memory, mapped as a whole in one mapping. */
struct piece {
    vmm_deviceptr at;
    uint64_t size;                            /* whole granules */
    vmm_mem_generic_allocation_handle memory; /* the caller's, who releases it */
    vmm_mem_access_flags rights;              /* of the device; no other has any */
};

/* Moves count pieces, which lie one after another at or above start in one reservation, so that the first begins at start and
 * each next one where the previous one ends, in the same order. A piece that is already in place is not touched. Nothing is
 * copied and no memory is created. Before anything is moved, work in flight of the current context is done.
 *
 * On failure: the driver's result. Then every piece is mapped, with its rights, at its `at`, either the old or the new
 * address; another call continues. */
vmm_result defrag_compact(vmm_system *sys, vmm_device device, vmm_deviceptr start, struct piece *pieces, unsigned count);

#endif
