/* SPDX-License-Identifier: Apache-2.0 */
/* Reserving, mapping and unmapping. */
#define _GNU_SOURCE
#include <sched.h>

#include "growing.h"

static void grow_twice(enum growing_mistake mistake)
{
    struct growing list;
    growing_open(&list, 8 * buffer_unit(), 1, mistake);
    growing_extend(&list, 300000); /* caller: size_not_rounded */
    growing_extend(&list, 300000); /* caller: cursor_not_advanced */
    if (list.used > 0)
        DO(cuMemsetD8(list.base, 0, 300000));
    growing_close(&list);
}

PROGRAM(cursor_not_advanced, .group = "other")
{
    grow_twice(BUG ? GROWING_CURSOR : GROWING_RIGHT);
}

PROGRAM(size_not_rounded, .group = "other")
{
    grow_twice(BUG ? GROWING_SIZE : GROWING_RIGHT);
}

/* The correct form maps all of the memory once and gives out addresses inside. */
PROGRAM(parts_of_one_handle, .group = "other")
{
    struct slab slab;
    slab_open(&slab, 4, BUG); /* caller: parts_of_one_handle */
    for (unsigned int i = 0; !BUG && i < slab.blocks; i++)
        DO(cuMemsetD8(slab.base + i * slab.block, (unsigned char)i, slab.block));
    if (BUG)
        TRY(cuMemUnmap(slab.base, slab.block)); /* also: parts_of_one_handle VMM-UNMAP-NOTHING */
    slab_close(&slab, BUG);
}

/* Pieces of two units, and one unit to give up. The correct form keeps the piece until all of it can go. */
PROGRAM(shrink_cuts_a_mapping, .group = "other")
{
    struct growing list;
    size_t unit = buffer_unit();
    growing_open(&list, 8 * unit, 1, BUG ? GROWING_CUT : GROWING_RIGHT);
    growing_extend(&list, 2 * unit);
    growing_extend(&list, 2 * unit);
    DO(cuMemsetD8(list.base, 0, list.used));
    growing_shrink(&list, unit); /* caller: shrink_cuts_a_mapping */
    growing_close(&list);
}

PROGRAM(addresses_freed_first, .group = "other")
{
    struct growing list;
    growing_open(&list, 4 * buffer_unit(), 1, BUG ? GROWING_CLOSE : GROWING_RIGHT);
    growing_extend(&list, buffer_unit());
    growing_close(&list); /* caller: addresses_freed_first */
}

PROGRAM(freed_at_the_aligned_address, .group = "other")
{
    struct aligned table;
    size_t unit = buffer_unit();
    aligned_open(&table, unit, 4 * unit, BUG);
    DO(cuMemsetD8(table.at, 0, unit));
    aligned_close(&table, table.at, unit); /* caller: freed_at_the_aligned_address */
}

static void set_done(void *user)
{
    __atomic_store_n((int *)user, 1, __ATOMIC_RELEASE);
}

/* The last piece is given up while a copy reads it. The correct form does not wait in a call either: a host function behind the
 * copy has run. */
PROGRAM(unmapped_under_a_copy, .group = "other", .spins = true, .sim = true)
{
    struct growing list;
    size_t unit = buffer_unit();
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    CUdeviceptr kept = buffer_new(unit);
    int done = 0;
    growing_open(&list, 4 * unit, 1, GROWING_NO_WAIT);
    growing_extend(&list, unit);
    growing_extend(&list, unit);
    DO(cuMemsetD8Async(list.base, 1, 2 * unit, stream)); /* other: unmapped_under_a_copy */
    DO(cuMemcpyDtoDAsync(kept, list.base + unit, unit, stream)); /* other: unmapped_under_a_copy */
    if (!BUG)
        DO(cuLaunchHostFunc(stream, set_done, &done));
    while (!BUG && !__atomic_load_n(&done, __ATOMIC_ACQUIRE))
        sched_yield();
    growing_shrink(&list, unit); /* caller: unmapped_under_a_copy */
    TRY(cuStreamSynchronize(stream)); /* also: unmapped_under_a_copy VMM-FAULT-COPY */
    if (BUG)
        _Exit(0); /* the device is lost, and nothing can be freed */
    DO(cuStreamDestroy(stream));
    growing_close(&list);
    buffer_free(kept, unit);
}
