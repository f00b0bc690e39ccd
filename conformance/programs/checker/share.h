/* SPDX-License-Identifier: Apache-2.0 */
/* share.h - memory that goes to other processes, a registry of who holds what, and blocks of pools.
 *
 *     share_export(memory) = descriptor        share_import(descriptor) = window { handle, at, size }
 */
#ifndef CHECKER_SHARE_H
#define CHECKER_SHARE_H

#include "buffer.h"

struct window {
    CUmemGenericAllocationHandle handle;
    CUdeviceptr at;
    size_t size;
};

/* Memory of one unit that can be exported, and its descriptor. */
CUmemGenericAllocationHandle share_create(void);
int share_export(CUmemGenericAllocationHandle memory);
/* Maps imported memory; with `keep` the handle stays with the window, otherwise nothing but the mapping holds the memory. */
void share_import(struct window *w, int descriptor, size_t size, bool keep);
void share_close(struct window *w, bool release);

/* Planes of one size at consecutive addresses. When memory runs out, existing memory is freed, or leaked with `leak`. */
struct planes {
    CUdeviceptr base;
    size_t plane;
    CUmemGenericAllocationHandle handle[4];
    unsigned int count;
};

bool planes_open(struct planes *p, const size_t *size, unsigned int count, bool leak);
void planes_close(struct planes *p);

/* One more holder of the memory, one fewer; `guarded`: nothing happens below 0. */
struct counted {
    CUmemGenericAllocationHandle memory;
    int holders;
};

void counted_drop(struct counted *c, bool guarded);

/* A range at the wanted address or, after that, anywhere. */
CUdeviceptr place_near(CUdeviceptr wanted, size_t size, bool forget);

/* A pool for scratch memory, and a block of it. */
CUmemoryPool scratch_pool(void);
void scratch_free(CUdeviceptr block, CUstream stream);

#endif
