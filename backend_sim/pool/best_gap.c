/* SPDX-License-Identifier: Apache-2.0 */
#include "best_gap.h"

#include <stdlib.h>

static int by_start(const void *a, const void *b)
{
    const struct gap_span *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

uint64_t best_gap(struct gap_span *used, size_t count, uint64_t start, uint64_t end, uint64_t size)
{
    uint64_t best = end, room = UINT64_MAX, at = start;
    if (count)
        qsort(used, count, sizeof *used, by_start);
    for (size_t i = 0; i <= count; i++) {
        const uint64_t until = i < count ? used[i].start : end;
        if (until - at >= size && until - at < room) {
            best = at;
            room = until - at;
        }
        if (i < count)
            at = used[i].end;
    }
    return best;
}
