/* SPDX-License-Identifier: Apache-2.0 */
/* A recording program: stream-ordered allocation and memory pools.
 *
 * Prints answers as edges.c does. Addresses are distances in bytes from the first allocation of the case. The state of a pool is
 * printed as `res=` CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT and `used=` USED_MEM_CURRENT, with `rh=` and `uh=` their high marks.
 * `waited` after a result: the call did not return before the gate of the stream was opened.
 *
 * Each group of cases is a file of pools/.
 *
 * Build: gcc -std=c11 -Wall -isystem /usr/local/cuda/include pools.c -o pools -lcuda -ldl
 * Use:   pools [letters of groups [words]]     words: what the driver's error log says, as comments before the answers
 */
#include "recorder.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "script/gate.c"
#include "script/words.c"

#include "pools/tools.c"

#include "pools/a_attributes.c"
#include "pools/b_create.c"
#include "pools/c_sizes.c"
#include "pools/d_default.c"
#include "pools/e_refusals.c"
#include "pools/f_free.c"
#include "pools/g_reuse.c"
#include "pools/h_release.c"
#include "pools/i_processes.c"
#include "pools/j_queries.c"
#include "pools/k_captures.c"
#include "pools/l_lifetimes.c"
#include "pools/m_limits.c"
#include "pools/n_bytes.c"
#include "pools/o_host.c"
#include "pools/p_importers.c"
#include "pools/q_sequences.c"
#include "pools/r_access.c"
#include "pools/t_places.c"
#include "pools/u_random.c"
#include "pools/v_more.c"
#include "pools/w_two_devices.c"

static void every_group(void)
{
    static void (*const groups[])(void) = {group_a, group_b, group_c, group_d, group_e, group_f, group_g, group_h, group_i,
                                           group_j, group_k, group_l, group_m, group_n, group_q, group_r, group_s, group_w,
                                           group_o, group_p, group_t, group_u, group_v};
    for (size_t i = 0; i < COUNT(groups); i++)
        groups[i]();
}

int main(int argc, char **argv)
{
    if (argc > 1)
        snprintf(wanted, sizeof wanted, "%s", argv[1]);
    words = argc > 2 && strcmp(argv[2], "words") == 0;
    patience = 5;
    return record("pools.c", every_group);
}
