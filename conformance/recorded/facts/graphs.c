/* SPDX-License-Identifier: Apache-2.0 */
/* The recording program of graphs: capture, building by nodes, instances and their updates, memory nodes, and what a launch finds
 * when memory has changed since.
 *
 * Prints "id<TAB>result" lines as edges.c does. A case prints one line for each step: GROUP.case.step. Each group of cases is a
 * file of graphs/; cases share a process until one of them spoils it.
 *
 *     shape    3: fill copy host; 0>1 1>2       the nodes in the order of cuGraphGetNodes, and the edges by their numbers
 *
 * Build: gcc -std=c11 -Wall -isystem /usr/local/cuda/include graphs.c -o graphs -lcuda -ldl -pthread
 * Use:   graphs [letters of groups | beginning of an id, with a point in it]
 */
#include "recorder.h"

#include <dlfcn.h>
#include <pthread.h>

#include "graphs/functions.h"

#include "graphs/common.c"

#include "graphs/a_capture.c"
#include "graphs/b_nodes.c"
#include "graphs/c_edges.c"
#include "graphs/d_launch.c"
#include "graphs/e_update.c"
#include "graphs/f_memory.c"
#include "graphs/h_hazards.c"
#include "graphs/g_again.c"
#include "graphs/l_scale.c"
#include "graphs/w_arguments.c"
#include "graphs/x_devices.c"
#include "graphs/q_questions.c"
#include "graphs/r_random.c"

static void every_group(void)
{
    static void (*const groups[])(void) = {group_a, group_b, group_c, group_d, group_e,
                                           group_f, group_l, group_w, group_x, group_g, group_h,
                                           group_q, group_q2, group_y, group_n, group_r};
    patience = 4;
    for (size_t i = 0; i < COUNT(groups); i++)
        groups[i]();
}

int main(int argc, char **argv)
{
    if (argc > 1)
        snprintf(wanted, sizeof wanted, "%s", argv[1]);
    return record("graphs.c", every_group);
}
