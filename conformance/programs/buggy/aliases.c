/* SPDX-License-Identifier: Apache-2.0 */
/* One memory at two addresses: a kernel writes through one and reads through the other. These programs work by luck: no
 * device was observed to show old bytes, but alias=stale:SEED does. */
#include "buggy.h"

/* [M1 of H][M2 of H], one mapping to write and one to read. */
static vmm_deviceptr two_views(struct run *b, vmm_handle *memory)
{
    vmm_deviceptr p = reserve(b, 2 * G);
    *memory = create(b, G);
    DO(vmm_mem_map(S, p, G, 0, *memory, 0));
    DO(vmm_mem_map(S, p + G, G, 0, *memory, 0));
    DO(grant(b, p, 2 * G, DEVICE(0), RW));
    DO(vmm_memset_d8(S, p, 0, 65536));
    return p;
}

static void give_views_back(struct run *b, vmm_deviceptr p, vmm_handle memory)
{
    DO(vmm_mem_unmap(S, p, 2 * G));
    DO(vmm_mem_release(S, memory));
    DO(vmm_mem_address_free(S, p, 2 * G));
}

/* The kernel checks its own work through a second mapping, and counts the missing bytes. */
PROGRAM(fence_forgotten, .does = "reads in a kernel through one mapping what it has just written through another",
        .rule = "VMM-LAUNCH-ALIAS", .at = "cuLaunchKernel", .way = "fence.proxy.alias between the write and the read",
        .driver = "SUCCESS; undefined, the new value whenever it was measured", .near = VMM_OBJECT_MAPPING, .luck = true)
{
    vmm_handle memory, answer;
    vmm_deviceptr p = two_views(b, &memory), bad = mapped(b, G, RW, &answer);
    VALUE(p + G);
    NEAR(p + G);
    REPORTED(LAUNCH(NULL, ALIAS_WRITE_READ, p, p + G, 8, BUG_OR_FIX(0, 1), bad));
    DO(vmm_ctx_synchronize(S));
    RIGHT(byte_at(b, bad) == 0);
    RIGHT(byte_at(b, p) == 1 && byte_at(b, p + G) == 1); /* later work sees it in any case */
    give_views_back(b, p, memory);
    give_back(b, bad, G, answer);
}

/* A ring mapped twice in a row, so that no record has to be split at the end: bytes past the end are also at the
 * start. */
PROGRAM(ring_read_on_the_other_side,
        .does = "writes over the end of a ring that is mapped twice in a row, and reads at its start",
        .rule = "VMM-LAUNCH-ALIAS", .at = "cuLaunchKernel",
        .way = "one kernel uses one of the two addresses; the next kernel may use the other",
        .driver = "SUCCESS; undefined, the new value whenever it was measured", .near = VMM_OBJECT_MAPPING, .luck = true)
{
    vmm_handle memory, answer;
    vmm_deviceptr ring = two_views(b, &memory), over = ring + G, bad = mapped(b, G, RW, &answer);
    VALUE(ring + 64);
    NEAR(ring);
    REPORTED(LAUNCH(NULL, ALIAS_WRITE_READ, over + 64, BUG_OR_FIX(ring, over) + 64, 8, 0, bad));
    DO(vmm_ctx_synchronize(S));
    RIGHT(byte_at(b, bad) == 0);
    FIX(DO(LAUNCH(NULL, SUM, ring + 64, 8, bad)); RIGHT(byte_at(b, bad) == 1)); /* the next kernel */
    give_views_back(b, ring, memory);
    give_back(b, bad, G, answer);
}

/* Passing a block on step by step: each step reads what the previous one wrote, without any guaranteed order. */
PROGRAM(steps_in_one_launch, .does = "lets one kernel read through a second view what an earlier part of it wrote",
        .rule = "VMM-LAUNCH-ALIAS", .at = "cuLaunchKernel", .way = "a launch for each step, on one stream",
        .driver = "SUCCESS; undefined, as is the order of a kernel's threads", .near = VMM_OBJECT_MAPPING, .luck = true)
{
    enum { STEP = 4096 };
    vmm_handle memory;
    vmm_deviceptr p = two_views(b, &memory), to = p + G;
    DO(vmm_memset_d8(S, p, 5, STEP));
    BUG(REPORTED(LAUNCH(NULL, COPY, to + STEP, p, 2 * STEP)));
    FIX(DO(LAUNCH(NULL, COPY, to + STEP, p, STEP)); DO(LAUNCH(NULL, COPY, to + 2 * STEP, p + STEP, STEP)));
    DO(vmm_ctx_synchronize(S));
    RIGHT(byte_at(b, p + STEP) == 5);
    RIGHT(byte_at(b, p + 2 * STEP) == 5);
    RIGHT(byte_at(b, to + 3 * STEP - 1) == 5);
    give_views_back(b, p, memory);
}
