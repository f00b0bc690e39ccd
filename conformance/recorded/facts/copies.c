/* SPDX-License-Identifier: Apache-2.0 */
/* A recording program: copies and fills of rows, the texts of all result codes, and the devices that a process sees.
 *
 * Prints answers as edges.c does. After the result of a copy or fill come the result of cuCtxSynchronize, and the state of the
 * destination's bytes:
 *
 *     wrote=nothing    every byte of the 2 MiB is unchanged
 *     wrote=rows       exactly the bytes of the rows changed, to the expected values
 *     wrote=N A-B #H   anything else: N bytes changed, the first and the last of them, a hash of all
 *     wrote=?          the bytes cannot be read
 *
 * Build: gcc -std=c11 -isystem /usr/local/cuda/include copies.c -o copies -lcuda
 * Use:   copies [letters of groups]
 */
#include "recorder.h"

#include <sys/mman.h>
#include <sys/socket.h>

#include "copies/places.c"
#include "copies/rows.c"

#include "copies/a_types.c"
#include "copies/p_pairs.c"
#include "copies/s_shapes.c"
#include "copies/o_offsets.c"
#include "copies/m_mappings.c"
#include "copies/f_fills.c"
#include "copies/w_when.c"
#include "copies/e_words.c"
#include "copies/v_visible.c"

static void every_group(void)
{
    static void (*const groups[])(void) = {group_a, group_b, group_c, group_p, group_s, group_t, group_x, group_y,
                                           group_l, group_o, group_m, group_f, group_g, group_h, group_w, group_e,
                                           group_v};
    draw_patterns();
    for (size_t i = 0; i < COUNT(groups); i++)
        groups[i]();
}

int main(int argc, char **argv)
{
    if (argc > 1 && strncmp(argv[1], "--", 2) == 0)
        return visible_child(argc, argv);
    if (argc > 1)
        snprintf(wanted, sizeof wanted, "%s", argv[1]);
    patience = 4;
    return record("copies.c", every_group);
}
