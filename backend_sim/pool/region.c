/* SPDX-License-Identifier: Apache-2.0 */
#include "region.h"

#include <stddef.h>

#include "pool_policy.h"

unsigned region_bin(uint64_t size)
{
    uint64_t units = size / POOL_UNIT;
    if (units < 4)
        return (unsigned)units;
    unsigned high = 63 - (unsigned)__builtin_clzll(units);
    return high * 4 + (unsigned)(units >> (high - 2) & 3);
}

void region_bins_add(struct region_bins *bins, struct region *region)
{
    unsigned bin = region_bin(region->size);
    region->bins = bins;
    region->previous = NULL;
    region->next = bins->first[bin];
    if (region->next)
        region->next->previous = region;
    bins->first[bin] = region;
    bins->some[bin / 64] |= UINT64_C(1) << bin % 64;
}

void region_bins_remove(struct region *region)
{
    struct region_bins *bins = region->bins;
    unsigned bin = region_bin(region->size);
    if (region->next)
        region->next->previous = region->previous;
    if (region->previous)
        region->previous->next = region->next;
    else
        bins->first[bin] = region->next;
    if (!bins->first[bin])
        bins->some[bin / 64] &= ~(UINT64_C(1) << bin % 64);
    region->bins = NULL;
}

/* The first bin from bin on that has a region; REGION_BINS when there is none. */
static unsigned next_bin(const struct region_bins *bins, unsigned bin)
{
    while (bin < REGION_BINS) {
        uint64_t some = bins->some[bin / 64] >> bin % 64;
        if (some)
            return bin + (unsigned)__builtin_ctzll(some);
        bin = (bin / 64 + 1) * 64;
    }
    return REGION_BINS;
}

/* Every region of a higher bin is large enough; of the first one only some are, so at first a few of these are tried. */
enum { A_FEW = 16 };

static struct region *find_in(struct region *region, uint64_t size, unsigned limit,
                              bool (*fits)(void *user, const struct region *region), void *user)
{
    for (; region && limit; region = region->next, limit--)
        if (region->size >= size && (!fits || fits(user, region)))
            return region;
    return NULL;
}

struct region *region_bins_find(const struct region_bins *bins, uint64_t size,
                                bool (*fits)(void *user, const struct region *region), void *user)
{
    unsigned first = region_bin(size);
    struct region *found = find_in(bins->first[first], size, A_FEW, fits, user);
    for (unsigned bin = next_bin(bins, first + 1); bin < REGION_BINS && !found; bin = next_bin(bins, bin + 1))
        found = find_in(bins->first[bin], size, UINT32_MAX, fits, user);
    return found ? found : find_in(bins->first[first], size, UINT32_MAX, fits, user);
}
