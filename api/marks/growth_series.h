/* SPDX-License-Identifier: Apache-2.0 */
/* growth_series.h - one group's values at the marks of one text, and whether they grow.
 *
 *     value          1 1 2 2 3 3 4 4
 *     scale 0 (1)    1 1 2 2 3 3 4 4      grew 1 time in a row
 *     scale 1 (2)     1   2   3   4       the least of each two: grew 3 times in a row
 *     scale 2 (4)       1       3         1 time
 *
 * A rise counts only if the value exceeds all earlier ones, so a recovery after a fall is not growth.
 */
#ifndef CUVMM_GROWTH_SERIES_H
#define CUVMM_GROWTH_SERIES_H

#include <stdint.h>

#include "growth.h"

struct growth_series {
    uint64_t first, now; /* at the first mark and the last */
    uint64_t marks;
    struct growth_scale {
        uint64_t least;   /* since its window began */
        uint64_t highest; /* of the minimums of all earlier windows */
        uint32_t rises;   /* consecutive windows whose minimum exceeded all earlier ones */
    } scale[GROWTH_SCALES];
};

/* Accounts for that many earlier marks at which the group did not exist: its value was 0 there. */
void growth_series_begin(struct growth_series *series, uint64_t marks);
void growth_series_add(struct growth_series *series, uint64_t value);

/* The smallest scale that grew as often, -1 for none. Over several marks one more rise is needed, because a minimum over a few
 * marks may grow by chance. */
int growth_series_grows(const struct growth_series *series, unsigned steps);

#endif
