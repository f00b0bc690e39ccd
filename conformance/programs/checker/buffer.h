/* SPDX-License-Identifier: Apache-2.0 */
/* buffer.h - memory of virtual memory management: whole buffers, and arenas that grow in place.
 *
 *     arena_grow(a, 2)     before  base [chunk][.......................]  reserved
 *                          after   base [chunk][chunk][chunk][.........]
 */
#ifndef CHECKER_BUFFER_H
#define CHECKER_BUFFER_H

#include "program.h"

/* The allocation granularity of device 0. */
size_t buffer_unit(void);
CUmemAllocationProp buffer_prop(CUdevice device);
/* Rights of a device to a range. */
CUresult buffer_allow(CUdeviceptr at, size_t size, CUdevice device, CUmemAccess_flags flags);

/* Memory of device 0, at least size bytes, that it may read and write. */
CUdeviceptr buffer_new(size_t size);
/* The same, for as long as `handle` is held as well. */
CUdeviceptr buffer_new_on(CUdevice device, size_t size);
void buffer_free(CUdeviceptr at, size_t size);

enum { ARENA_CHUNKS = 16 };

struct arena {
    CUdeviceptr base;
    size_t chunk, count; /* bytes of a chunk, chunks that are mapped */
    CUdevice device;
    CUmemGenericAllocationHandle handle[ARENA_CHUNKS];
};

void arena_open(struct arena *a, CUdevice device);
CUresult arena_grow(struct arena *a, size_t chunks);
CUresult arena_shrink(struct arena *a, size_t chunks);
void arena_close(struct arena *a);

#endif
