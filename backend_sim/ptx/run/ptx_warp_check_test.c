/* SPDX-License-Identifier: Apache-2.0 */
/* The check of a warp's invariants names each one that is broken. */
#include "ptx_warp.h"

#include "tap.h"

static struct ptx_frame frame;

static struct ptx_warp sound(void)
{
    struct ptx_warp warp = {.alive = 0xff, .splits = 2};
    frame.lanes = 0xff;
    warp.split[0] = (struct ptx_split){.frame = &frame, .mask = 0x0f};
    warp.split[1] = (struct ptx_split){.frame = &frame, .mask = 0xf0, .step = 3};
    return warp;
}

int main(void)
{
    struct ptx_warp warp = sound();
    tap_ok(!ptx_warp_check(&warp), "two splits of eight lanes");
    warp.split[1].mask = 0;
    tap_text(ptx_warp_check(&warp), "a split has no lanes", "an empty split");
    warp.split[1].mask = 0xf8;
    tap_text(ptx_warp_check(&warp), "a lane is in two splits", "a lane twice");
    warp = sound();
    warp.split[1].mask = 0x100;
    tap_text(ptx_warp_check(&warp), "a lane is not in its split's frame", "a lane that is elsewhere");
    warp = sound();
    warp.alive = 0x1ff;
    tap_text(ptx_warp_check(&warp), "the splits do not cover exactly the live lanes", "a lane without a split");
    return tap_done();
}
