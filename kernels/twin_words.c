/* SPDX-License-Identifier: Apache-2.0 */
/* Twins that work on words of 8 bytes. */
#include <string.h>

#include "pattern.h"
#include "twin.h"

/* A run of whole words: addresses are multiples of 8, and so is where a run ends before its range does. */
static bool words(struct twin_memory *memory, uint64_t address, uint64_t left, uint64_t *size, enum twin_use use,
                  unsigned char **bytes)
{
    *size = left;
    return memory->run(memory, address, 8, size, use, bytes);
}

bool twin_pattern_write(struct twin_memory *memory, const uint64_t *args)
{
    uint64_t base = pattern_base(args[2]), size, word = 0;
    unsigned char *to;
    for (uint64_t dst = args[0], left = args[1]; left; dst += size, left -= size) {
        if (!words(memory, dst, left, &size, TWIN_WRITE, &to))
            return false;
        for (uint64_t i = 0; to && i < size; i += 8, word++) {
            uint64_t value = pattern_word(base, word);
            memcpy(to + i, &value, sizeof value);
        }
    }
    return true;
}

/* What a check found so far. */
struct verdict {
    uint64_t bad, first, found;
};

/* Adds to what earlier launches left in out: the count, and the lowest position with its contents. */
static bool add_verdict(struct twin_memory *memory, uint64_t out, const struct verdict *verdict)
{
    uint64_t bad = 0, first = 0;
    if (!verdict->bad)
        return true;
    if (!twin_load(memory, out, 8, &bad) || !twin_load(memory, out + 8, 8, &first))
        return false;
    if ((!bad || verdict->first < first) && (!twin_store(memory, out + 8, 8, verdict->first) ||
                                             !twin_store(memory, out + 16, 8, verdict->found)))
        return false;
    return twin_store(memory, out, 8, bad + verdict->bad);
}

bool twin_pattern_verify(struct twin_memory *memory, const uint64_t *args)
{
    struct verdict verdict = {0, 0, 0};
    uint64_t base = pattern_base(args[2]), size, word = 0;
    unsigned char *from;
    for (uint64_t src = args[0], left = args[1]; left; src += size, left -= size) {
        if (!words(memory, src, left, &size, TWIN_READ, &from))
            return false;
        verdict.bad += memory->dry;
        for (uint64_t i = 0; !memory->dry && i < size; i += 8, word++) {
            uint64_t value = 0;
            if (from)
                memcpy(&value, from + i, sizeof value);
            if (value == pattern_word(base, word))
                continue;
            if (!verdict.bad++)
                verdict.first = word, verdict.found = value;
        }
    }
    return add_verdict(memory, args[3], &verdict);
}

/* The processor fetches a word while those before it are added: an address is known some words ahead. */
bool twin_random_read(struct twin_memory *memory, const uint64_t *args)
{
    enum { AHEAD = 16 };
    const uint64_t src = args[0], base = pattern_base(args[3]), count = args[1] / 8, times = count ? args[2] : 0;
    uint64_t next[AHEAD], sum = 0, value = 0, size;
    for (uint64_t i = 0; i < AHEAD && i < times; i++)
        next[i] = src + 8 * pattern_place(base, i, count);
    for (uint64_t i = 0; i < times; i++) {
        const uint64_t address = next[i % AHEAD];
        next[i % AHEAD] = src + 8 * pattern_place(base, i + AHEAD, count);
        const unsigned char *at = twin_granted(memory, next[i % AHEAD], &size);
        if (at)
            __builtin_prefetch(at);
        if (!twin_load(memory, address, 8, &value))
            return false;
        sum += value;
    }
    return twin_add(memory, args[4], sum);
}

/* Whether the second address shows what went through the first is the accessor's affair. */
bool twin_alias_write_read(struct twin_memory *memory, const uint64_t *args)
{
    uint64_t stale = 0, old = 0, now = 0;
    for (uint64_t i = 0; i < args[2]; i += 8) {
        if (!twin_load(memory, args[1] + i, 8, &old) || !twin_store(memory, args[0] + i, 8, old + 1))
            return false;
        if (args[3])
            twin_fence(memory);
        if (!twin_load(memory, args[1] + i, 8, &now))
            return false;
        stale += now != old + 1;
    }
    return twin_add(memory, args[4], stale);
}
