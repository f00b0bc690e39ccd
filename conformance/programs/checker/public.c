/* SPDX-License-Identifier: Apache-2.0 */
/* Mistakes that were reported in public, as small programs of our own. */
#include <unistd.h>

#include "segment.h"
#include "share.h"

/* pytorch/pytorch#188008: a map in the middle of an expandable segment fails; the slots behind it stay in the segment, and
 * its end unmaps all of them in one call. */
PROGRAM(pytorch_188008, .group = "public", .fault = "mem_map:3", .sim = true)
{
    struct segment segment;
    segment_open(&segment);
    if (segment_extend(&segment, 1, !BUG))
        DO(cuMemsetD8(segment.base, 0, segment.slot));
    if (!segment_extend(&segment, 3, !BUG))
        fprintf(stderr, "out of memory\n");
    segment_close(&segment); /* caller: pytorch_188008 */
}

/* invergent-ai/surogate#117: the second plane of a page cannot be created; the first one stays mapped, and the page does not
 * know of it. */
PROGRAM(surogate_117, .group = "public")
{
    struct granule granule;
    size_t free_bytes, total, unit = buffer_unit();
    DO(cuMemGetInfo(&free_bytes, &total));
    granule_open(&granule, unit, total / unit * unit + unit);
    if (!granule_map(&granule, !BUG)) /* caller: surogate_117 */
        fprintf(stderr, "out of memory\n");
    granule_close(&granule); /* caller: surogate_117 */
}

/* microsoft/mscclpp#451: the exporter rounds the size up to a larger granularity than the importer, which maps as much as
 * the user has asked for. */
PROGRAM(mscclpp_451, .group = "public")
{
    CUmemGenericAllocationHandle memory, imported;
    CUmemAllocationProp prop = buffer_prop(0);
    size_t unit = buffer_unit(), asked = 3 * unit, created = 4 * unit;
    CUdeviceptr at;
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    DO(cuMemCreate(&memory, created, &prop, 0));
    int descriptor = share_export(memory);
    DO(cuMemImportFromShareableHandle(&imported, (void *)(uintptr_t)(unsigned int)descriptor,
                                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(descriptor);
    size_t size = BUG ? asked : created;
    DO(cuMemAddressReserve(&at, size, unit, 0, 0));
    if (TRY(cuMemMap(at, size, 0, imported, 0))) { /* finding: mscclpp_451 VMM-MAP-SIZE-WHOLE */
        DO(buffer_allow(at, size, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
        DO(cuMemsetD8(at, 1, asked));
        DO(cuMemUnmap(at, size));
    }
    DO(cuMemRelease(imported));
    DO(cuMemRelease(memory));
    DO(cuMemAddressFree(at, size));
}

static void register_cache(enum dmabuf_range range)
{
    struct arena arena;
    arena_open(&arena, 0);
    DO(arena_grow(&arena, 3));
    /* caller: mooncake_2511 */
    if (!dmabuf_register(arena.base + arena.chunk + 2048, arena.chunk + 4096, BUG ? range : DMABUF_ASKED))
        fprintf(stderr, "the registration does not cover the cache\n");
    arena_close(&arena);
}

/* kvcache-ai/Mooncake#2511: a buffer of several chunks is registered by what cuMemGetAddressRange reports, which is one of
 * them. */
PROGRAM(mooncake_2511, .group = "public")
{
    register_cache(DMABUF_CHUNK);
}

/* kvcache-ai/Mooncake#2035, the form before: the size of the allocation, counted from an address inside. */
PROGRAM(mooncake_2035, .group = "public")
{
    struct arena arena;
    arena_open(&arena, 0);
    DO(arena_grow(&arena, 3));
    CUdeviceptr tensor = arena.base + 2 * arena.chunk + 8192;
    if (!dmabuf_register(tensor, 65536, BUG ? DMABUF_FROM_HERE : DMABUF_ASKED)) /* caller: mooncake_2035 */
        fprintf(stderr, "the registration fails\n");
    arena_close(&arena);
}
