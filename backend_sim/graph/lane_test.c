/* SPDX-License-Identifier: Apache-2.0 */
/* lane: the branches of a launch are lanes of its own. Nothing orders them with the branches of another launch, unless the streams do.
 *
 *     launch on s    branch 0: fills a    branch 1: fills b
 *     launch on t    branch 0: fills c    branch 1: fills b or d
 */
#include <string.h>

#include "tap.h"
#include "vmm.h"

enum { SIZE = 64 };

static vmm_system *sys;
static vmm_context context;
static vmm_deviceptr memory;
static unsigned found, others;

static void hear(void *user, const vmm_detail *detail)
{
    (void)user;
    const bool order = detail->rule && !strcmp(detail->rule, "VMM-ORDER-STREAMS");
    found += order;
    others += !order;
}

static void need(vmm_result result)
{
    if (result != VMM_SUCCESS)
        tap_bail("%s: %s", vmm_result_name(result), vmm_last_detail()->note);
}

/* Fills of the places, with nothing between them. */
static vmm_graph_exec fills(const unsigned *places, unsigned count)
{
    vmm_graph graph = NULL;
    vmm_graph_exec exec = NULL;
    need(vmm_graph_create(sys, &graph, 0));
    for (unsigned i = 0; i < count; i++) {
        const vmm_memset_node_params fill = {.dst = memory + places[i] * SIZE, .value = i, .element_size = 1, .width = SIZE, .height = 1};
        vmm_graph_node node = NULL;
        need(vmm_graph_add_memset_node(sys, &node, graph, NULL, 0, &fill, context));
    }
    need(vmm_graph_instantiate(sys, &exec, graph, 0));
    need(vmm_graph_destroy(sys, graph));
    return exec;
}

static void launches(vmm_stream s, vmm_stream t, const unsigned *first, const unsigned *second, unsigned expected, const char *what)
{
    vmm_graph_exec one = fills(first, 3), two = fills(second, 3);
    found = others = 0;
    need(vmm_graph_launch(sys, one, s));
    need(vmm_graph_launch(sys, two, t));
    need(vmm_ctx_synchronize(sys));
    tap_ok(found == expected && !others, "%s: %u reports", what, found);
    need(vmm_graph_exec_destroy(sys, one));
    need(vmm_graph_exec_destroy(sys, two));
}

int main(void)
{
    static const unsigned of_one[] = {0, 1, 2}, apart[] = {3, 4, 5}, second_meets_second[] = {3, 1, 5}, second_meets_third[] = {3, 2, 5},
                          third_meets_third[] = {3, 4, 2}, first_meets_second[] = {1, 4, 5};
    vmm_stream s = NULL, t = NULL;
    need(vmm_open("sim:h100,order=report,schedule=late", &sys));
    need(vmm_init(sys, 0));
    need(vmm_ctx_create(sys, &context, 0, 0));
    vmm_set_report(sys, hear, NULL);
    need(vmm_stream_create(sys, &s, VMM_STREAM_NON_BLOCKING));
    need(vmm_stream_create(sys, &t, VMM_STREAM_NON_BLOCKING));
    need(vmm_mem_alloc(sys, &memory, 6 * SIZE));
    launches(s, t, of_one, apart, 0, "branches with separate memory");
    launches(s, t, of_one, second_meets_second, 1, "a second branch meets a second branch");
    launches(s, t, of_one, third_meets_third, 1, "a third one meets a third one");
    launches(s, t, of_one, second_meets_third, 1, "a second one meets a third one");
    launches(s, t, of_one, first_meets_second, 1, "a first one meets a second one");
    launches(s, s, of_one, second_meets_second, 0, "on one stream the launches are ordered");
    vmm_close(sys);
    return tap_done();
}
