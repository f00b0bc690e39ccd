/* SPDX-License-Identifier: Apache-2.0 */
/* rows: a node without a named context may copy to memory without rights where all its rows lie in one mapping, as measured. */
#include "edges_rig.h"

enum { WIDTH = 64 };

/* rows of so many bytes, slices of so many rows; the mapping has G bytes. */
static vmm_result add(vmm_deviceptr to, vmm_deviceptr from, uint64_t pitch, uint64_t slice, uint64_t height, uint64_t depth, vmm_context named)
{
    const vmm_memcpy3d copy = {.src_memory_type = VMM_MEMORYTYPE_DEVICE, .src_device = from, .src_pitch = WIDTH, .src_height = height,
                               .dst_memory_type = VMM_MEMORYTYPE_DEVICE, .dst_device = to, .dst_pitch = pitch, .dst_height = slice,
                               .width_in_bytes = WIDTH, .height = height, .depth = depth};
    vmm_graph graph = NULL;
    vmm_graph_node node = NULL;
    need(vmm_graph_create(sys, &graph, 0), "graph");
    return vmm_graph_add_memcpy_node(sys, &node, graph, NULL, 0, &copy, named);
}

int main(void)
{
    static const struct {
        uint64_t pitch, slice, height, depth;
        bool fits;
    } copies[] = {{WIDTH, 1, 1, 1, true}, {WIDTH, G / WIDTH, 2, 1, true}, {G - WIDTH, 2, 2, 1, true}, {G - WIDTH + 1, 2, 2, 1, false},
                  {WIDTH, G / WIDTH - 1, 1, 2, true}, {WIDTH, G / WIDTH, 1, 2, false}, {G / 4, 2, 2, 2, true}, {G / 4, 3, 2, 2, false}};
    vmm_context context = NULL;
    begin("sim:h100");
    need(vmm_ctx_get_current(sys, &context), "context");
    const vmm_deviceptr at = reserved(2 * G), with_rights = reserved(2 * G); /* nothing is mapped behind the first halves */
    vmm_deviceptr from = 0;
    need(vmm_mem_map(sys, at, G, 0, created(DEVICE, 0, G), 0), "mapping");
    need(vmm_mem_map(sys, with_rights, G, 0, created(DEVICE, 0, G), 0), "mapping");
    granted(with_rights, G, DEVICE, 0, RW);
    need(vmm_mem_alloc(sys, &from, G), "memory");
    for (unsigned i = 0; i < sizeof copies / sizeof copies[0]; i++) {
        const vmm_result open = add(at, from, copies[i].pitch, copies[i].slice, copies[i].height, copies[i].depth, NULL);
        tap_ok((open == VMM_SUCCESS) == copies[i].fits, "copy %u %s in the mapping: %s", i, copies[i].fits ? "fits" : "does not fit",
               vmm_result_name(open));
        tap_ok(add(at, from, copies[i].pitch, copies[i].slice, copies[i].height, copies[i].depth, context) != VMM_SUCCESS,
               "with a named context it needs rights");
        const vmm_result granted_too = add(with_rights, from, copies[i].pitch, copies[i].slice, copies[i].height, copies[i].depth, context);
        tap_ok((granted_too == VMM_SUCCESS) == copies[i].fits, "which suffice where it fits");
    }
    end();
    return tap_done();
}
