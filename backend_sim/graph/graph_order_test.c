/* SPDX-License-Identifier: Apache-2.0 */
/* Random graphs of host functions, some of them in a child graph, launched under random schedules: each function runs once, and
 * after all those that it depends on; work issued before and after the launch runs before and after all of them. */
#include <stdio.h>

#include "tap.h"
#include "vmm.h"

enum { NODES = 9, GRAPHS = 12, SCHEDULES = 6, BEFORE = NODES, BEHIND, FUNCTIONS };

static int order[2 * FUNCTIONS], ran;
static const int name[FUNCTIONS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, BEFORE, BEHIND};

static void run(void *user)
{
    if (ran < 2 * FUNCTIONS)
        order[ran++] = *(const int *)user;
}

static vmm_host_node_params function_of(int node)
{
    return (vmm_host_node_params){run, (void *)(uintptr_t)&name[node]};
}

static uint32_t any_of(uint32_t *seed, uint32_t count)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 16) % count;
}

static void need(vmm_result result)
{
    if (result != VMM_SUCCESS)
        tap_bail("%s: %s", vmm_result_name(result), vmm_last_detail()->note);
}

/* A node of a child graph, or of the graph itself. */
static vmm_graph_node add(vmm_system *sys, vmm_graph graph, const vmm_graph_node *on, uint64_t count, int node, bool within)
{
    const vmm_host_node_params function = function_of(node);
    vmm_graph_node added = NULL;
    vmm_graph child = NULL;
    if (!within) {
        need(vmm_graph_add_host_node(sys, &added, graph, on, count, &function));
        return added;
    }
    need(vmm_graph_create(sys, &child, 0));
    need(vmm_graph_add_host_node(sys, &added, child, NULL, 0, &function));
    need(vmm_graph_add_child_graph_node(sys, &added, graph, on, count, child));
    need(vmm_graph_destroy(sys, child));
    return added;
}

/* depends[i]: the nodes before i that it depends on, in random order in its list. */
static vmm_graph random_graph(vmm_system *sys, uint32_t seed, unsigned depends[NODES])
{
    vmm_graph graph = NULL;
    vmm_graph_node node[NODES];
    need(vmm_graph_create(sys, &graph, 0));
    for (int i = 0; i < NODES; i++) {
        vmm_graph_node on[NODES];
        uint64_t count = 0;
        depends[i] = i ? any_of(&seed, 1u << i) & any_of(&seed, 1u << i) : 0;
        for (int j = 0; j < i; j++)
            if (depends[i] >> j & 1) {
                uint64_t at = any_of(&seed, (uint32_t)count + 1);
                on[count++] = on[at];
                on[at] = node[j];
            }
        node[i] = add(sys, graph, on, count, i, any_of(&seed, 4) == 0);
    }
    return graph;
}

static int place_of(int node)
{
    for (int i = 0; i < ran; i++)
        if (order[i] == node)
            return i;
    return -1;
}

/* How many rules of the order are broken. */
static unsigned wrong(const unsigned depends[NODES])
{
    unsigned broken = ran != FUNCTIONS;
    for (int i = 0; i < NODES; i++) {
        broken += place_of(i) <= place_of(BEFORE) || place_of(i) >= place_of(BEHIND);
        for (int j = 0; j < i; j++)
            broken += (depends[i] >> j & 1) && place_of(j) >= place_of(i);
    }
    return broken;
}

static void launch(vmm_system *sys, vmm_stream stream, vmm_graph graph)
{
    const vmm_host_node_params before = function_of(BEFORE), behind = function_of(BEHIND);
    vmm_graph_exec exec = NULL;
    ran = 0;
    need(vmm_graph_instantiate(sys, &exec, graph, 0));
    need(vmm_launch_host_func(sys, stream, before.fn, before.user_data));
    need(vmm_graph_launch(sys, exec, stream));
    need(vmm_launch_host_func(sys, stream, behind.fn, behind.user_data));
    need(vmm_stream_synchronize(sys, stream));
    need(vmm_graph_exec_destroy(sys, exec));
}

int main(void)
{
    unsigned beside = 0;
    for (uint32_t schedule = 1; schedule <= SCHEDULES; schedule++) {
        vmm_system *sys = NULL;
        vmm_context ctx = NULL;
        vmm_stream stream = NULL;
        char spec[48];
        snprintf(spec, sizeof spec, "sim:h100,schedule=random:%u", (unsigned)schedule);
        need(vmm_open(spec, &sys));
        need(vmm_init(sys, 0));
        need(vmm_ctx_create(sys, &ctx, 0, 0));
        need(vmm_stream_create(sys, &stream, 1));
        for (uint32_t seed = 1; seed <= GRAPHS; seed++) {
            unsigned depends[NODES];
            vmm_graph graph = random_graph(sys, seed * 7919, depends);
            launch(sys, stream, graph);
            tap_u64(wrong(depends), 0, "graph %u, schedule %u: all run in the order of their dependencies", (unsigned)seed,
                    (unsigned)schedule);
            for (int i = 1; i < NODES; i++)
                beside += place_of(i) < place_of(i - 1);
            need(vmm_graph_destroy(sys, graph));
        }
        vmm_close(sys);
    }
    tap_ok(beside > GRAPHS, "nodes that do not depend on each other run in other orders, too: %u", beside);
    return tap_done();
}
