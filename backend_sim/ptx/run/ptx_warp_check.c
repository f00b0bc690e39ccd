/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "ptx_warp.h"

const char *ptx_warp_check(const struct ptx_warp *warp)
{
    uint32_t all = 0;
    for (uint32_t i = 0; i < warp->splits; i++) {
        const struct ptx_split *s = &warp->split[i];
        if (!s->mask)
            return "a split has no lanes";
        if (s->mask & all)
            return "a lane is in two splits";
        if (s->mask & ~s->frame->lanes)
            return "a lane is not in its split's frame";
        all |= s->mask;
    }
    return all == warp->alive ? NULL : "the splits do not cover exactly the live lanes";
}
