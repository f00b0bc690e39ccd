/* SPDX-License-Identifier: Apache-2.0 */
/* A recording program: copies of boxes (cuMemcpy3D), between contexts (cuMemcpy3DPeer), and of batches (cuMemcpyBatchAsync,
 * cuMemcpy3DBatchAsync), on the places of copies.c, and with its answers:
 *
 *     wrote=nothing    every byte of the 2 MiB is unchanged
 *     wrote=rows       exactly the bytes of the box changed, to the expected values
 *     wrote=N A-B #H   anything else: N bytes changed, the first and the last of them, a hash of all
 *     wrote=?          the bytes cannot be read
 *     wrote=101        of a batch: which of its copies were made; x: other bytes
 *
 * Build: gcc -std=c11 -isystem /usr/local/cuda/include copies3d.c -o copies3d -lcuda -ldl
 * Use:   copies3d [letters of groups]
 */
#include "recorder.h"

#include <dlfcn.h>
#include <stddef.h>
#include <sys/mman.h>

#include "copies/places.c"
#include "copies/rows.c"

#include "copies3d/boxes.c"
#include "copies3d/types.c"
#include "copies3d/shapes.c"
#include "copies3d/mappings.c"
#include "copies3d/fields.c"
#include "copies3d/when.c"
#include "copies3d/batches.c"
#include "copies3d/box_batches.c"
#include "copies3d/fault_call.c"
#include "copies3d/host_type.c"

static void every_group(void)
{
    static void (*const groups[])(void) = {group_w, group_j, group_k, group_a, group_b, group_c, group_d, group_p, group_s,
                                           group_u, group_o, group_x, group_m, group_f, group_q, group_r, group_h};
    draw_patterns();
    for (size_t i = 0; i < COUNT(groups); i++)
        groups[i]();
}

int main(int argc, char **argv)
{
    if (argc > 1)
        snprintf(wanted, sizeof wanted, "%s", argv[1]);
    patience = 2;
    return record("copies3d.c", every_group);
}
