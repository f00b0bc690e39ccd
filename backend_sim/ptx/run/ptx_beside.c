/* SPDX-License-Identifier: Apache-2.0 */
#include "ptx_beside.h"

static bool pause_beside(struct twin_memory *memory, uint64_t nanoseconds)
{
    struct twin_memory *inner = ((struct ptx_beside *)memory)->inner;
    return inner->pause(inner, nanoseconds);
}

static bool replicas_beside(struct twin_memory *memory, uint64_t address, unsigned width, enum twin_use use,
                            unsigned char *bytes[TWIN_REPLICAS], unsigned *count)
{
    struct twin_memory *inner = ((struct ptx_beside *)memory)->inner;
    return inner->replicas(inner, address, width, use, bytes, count);
}

static void fence_beside(struct twin_memory *memory)
{
    struct twin_memory *inner = ((struct ptx_beside *)memory)->inner;
    inner->fence(inner);
}

void ptx_beside_set(struct ptx_beside *beside, struct twin_memory *inner)
{
    beside->memory = (struct twin_memory){.replicas = replicas_beside, .pause = inner->pause ? pause_beside : NULL,
                                           .fleeting = inner->fleeting,
                                           .dry = inner->dry, .fence = inner->fence ? fence_beside : NULL};
    beside->inner = inner;
}
