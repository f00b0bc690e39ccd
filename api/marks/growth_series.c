/* SPDX-License-Identifier: Apache-2.0 */
#include "growth_series.h"

void growth_series_begin(struct growth_series *series, uint64_t marks)
{
    *series = (struct growth_series){.marks = marks};
    for (int i = 0; i < GROWTH_SCALES; i++)
        series->scale[i].least = marks % (UINT64_C(1) << i) ? 0 : UINT64_MAX;
}

void growth_series_add(struct growth_series *series, uint64_t value)
{
    if (!series->marks)
        series->first = value;
    series->now = value;
    series->marks++;
    for (int i = 0; i < GROWTH_SCALES; i++) {
        struct growth_scale *scale = &series->scale[i];
        uint64_t window = UINT64_C(1) << i;
        if (value < scale->least)
            scale->least = value;
        if (series->marks % window)
            continue;
        bool compared = series->marks > window;
        scale->rises = compared && scale->least > scale->highest ? scale->rises + 1 : 0;
        if (scale->least > scale->highest)
            scale->highest = scale->least;
        scale->least = UINT64_MAX;
    }
}

int growth_series_grows(const struct growth_series *series, unsigned steps)
{
    for (int i = 0; i < GROWTH_SCALES; i++)
        if (series->scale[i].rises >= steps + (i > 0))
            return i;
    return -1;
}
