/* SPDX-License-Identifier: Apache-2.0 */
/* Twins that use the replicas behind a multicast address. The sums are of integers, so the order of the team's devices
 * does not matter. */
#include <string.h>

#include "norm.h"
#include "twin.h"

bool twin_store_all(struct twin_memory *memory, uint64_t address, uint64_t value)
{
    unsigned char *bytes[TWIN_REPLICAS];
    unsigned count;
    memory->writes++;
    if (!memory->replicas(memory, address, 8, TWIN_WRITE, bytes, &count))
        return false;
    for (unsigned i = 0; i < count; i++)
        memcpy(bytes[i], &value, sizeof value);
    return true;
}

static bool twin_add_all(struct twin_memory *memory, uint64_t address, uint64_t value)
{
    unsigned char *bytes[TWIN_REPLICAS];
    unsigned count;
    memory->writes++;
    if (!memory->replicas(memory, address, 8, TWIN_ATOMIC, bytes, &count))
        return false;
    for (unsigned i = 0; i < count; i++)
        twin_add_word(bytes[i], value);
    return true;
}

static bool twin_sum_all(struct twin_memory *memory, uint64_t address, uint64_t *sum)
{
    unsigned char *bytes[TWIN_REPLICAS];
    unsigned count;
    *sum = 0;
    if (!memory->replicas(memory, address, 8, TWIN_READ, bytes, &count))
        return false;
    for (unsigned i = 0; i < count; i++)
        *sum += bytes[i] ? twin_taken(bytes[i], 8) : 0;
    return true;
}

/* Word by word from an ordinary address to all replicas. */
static bool each(struct twin_memory *memory, const uint64_t *args,
                 bool (*put)(struct twin_memory *memory, uint64_t address, uint64_t value))
{
    uint64_t value;
    for (uint64_t i = 0; i < args[2]; i += 8)
        if (!twin_load(memory, args[1] + i, 8, &value) || !put(memory, args[0] + i, value))
            return false;
    return true;
}

bool twin_multimem_store(struct twin_memory *memory, const uint64_t *args)
{
    return each(memory, args, twin_store_all);
}

bool twin_multimem_reduce(struct twin_memory *memory, const uint64_t *args)
{
    return each(memory, args, twin_add_all);
}

bool twin_multimem_load_reduce(struct twin_memory *memory, const uint64_t *args)
{
    uint64_t sum;
    for (uint64_t i = 0; i < args[2]; i += 8)
        if (!twin_sum_all(memory, args[1] + i, &sum) || !twin_store(memory, args[0] + i, 8, sum))
            return false;
    return true;
}

bool twin_norm_arrive(struct twin_memory *memory, const uint64_t *args)
{
    uint64_t value, sum = 0;
    for (uint64_t i = 0; i < args[3]; i += 8) {
        if (!twin_load(memory, args[2] + i, 8, &value))
            return false;
        sum += value * value;
    }
    return twin_store(memory, args[0], 8, sum) && twin_add_all(memory, args[1], 1);
}

/* Nothing else runs meanwhile, so a single check is enough. */
bool twin_norm_finish(struct twin_memory *memory, const uint64_t *args)
{
    uint64_t arrived, sum;
    if (!twin_load(memory, args[2], 8, &arrived))
        return false;
    bool complete = arrived >= args[3] || memory->dry;
    if (complete && (!twin_sum_all(memory, args[1], &sum) || !twin_store(memory, args[0], 8, sum) ||
                     !twin_store(memory, args[0] + 8, 8, norm_root(sum))))
        return false;
    return twin_store(memory, args[0] + 16, 8, complete);
}
