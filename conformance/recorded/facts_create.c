/* SPDX-License-Identifier: Apache-2.0 */
/* Granularity and creation: one table of properties each. */
#include "facts_calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define G FACTS_G
#define TOTAL_AND_G UINT64_MAX - 1 /* stands for the first multiple of G that the device does not have */
#define NEXT_DEVICE 1000           /* stands for the first ordinal that no device has */

#define DEVICE VMM_MEM_LOCATION_TYPE_DEVICE
#define HOST VMM_MEM_LOCATION_TYPE_HOST
#define NUMA VMM_MEM_LOCATION_TYPE_HOST_NUMA
#define CURRENT VMM_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT
#define PLACE(place, number) .type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {place, number}
#define HANDLES(types) {PLACE(DEVICE, 0), .requested_handle_types = (types)}
#define WITH(...) {PLACE(DEVICE, 0), .alloc_flags = {__VA_ARGS__}}
#define TYPE(kind) {.type = (kind), .location = {DEVICE, 0}}
#define PLAIN {PLACE(DEVICE, 0)}
#define META {PLACE(DEVICE, 0), .win32_handle_meta_data = (void *)8}

static const struct {
    const char *name;
    int option;
    vmm_mem_allocation_prop prop;
} granularities[] = {
    {"gran.dev.min", 0, PLAIN},
    {"gran.dev.rec", 1, PLAIN},
    {"gran.dev.opt2", 2, PLAIN},
    {"gran.dev.optneg", -1, PLAIN},
    {"gran.fd", 0, HANDLES(1)},
    {"gran.fabric", 0, HANDLES(8)},
    {"gran.win32", 0, HANDLES(2)},
    {"gran.kmt", 0, HANDLES(4)},
    {"gran.ht16", 0, HANDLES(16)},
    {"gran.fd_fabric", 0, HANDLES(9)},
    {"gran.type0", 0, TYPE(0)},
    {"gran.managed", 0, TYPE(2)},
    {"gran.type3", 0, TYPE(3)},
    {"gran.id-1", 0, {PLACE(DEVICE, -1)}},
    {"gran.id_n", 0, {PLACE(DEVICE, NEXT_DEVICE)}},
    {"gran.id99", 0, {PLACE(DEVICE, 99)}},
    {"gran.loc0", 0, {PLACE(0, 0)}},
    {"gran.host.min", 0, {PLACE(HOST, 0)}},
    {"gran.host.rec", 1, {PLACE(HOST, 0)}},
    {"gran.host.id99", 0, {PLACE(HOST, 99)}},
    {"gran.numa0.min", 0, {PLACE(NUMA, 0)}},
    {"gran.numa0.rec", 1, {PLACE(NUMA, 0)}},
    {"gran.numa1", 0, {PLACE(NUMA, 1)}},
    {"gran.numa-1", 0, {PLACE(NUMA, -1)}},
    {"gran.numa99", 0, {PLACE(NUMA, 99)}},
    {"gran.numa0.fd", 0, {PLACE(NUMA, 0), .requested_handle_types = 1}},
    {"gran.numacur", 0, {PLACE(CURRENT, 0)}},
    {"gran.loc5", 0, {PLACE(5, 0)}},
    {"gran.comp.min", 0, WITH(.compression_type = 1)},
    {"gran.comp.rec", 1, WITH(.compression_type = 1)},
    {"gran.comp2", 0, WITH(.compression_type = 2)},
    {"gran.rdma", 0, WITH(.gpu_direct_rdma_capable = 1)},
    {"gran.tilepool", 0, WITH(.usage = 1)},
    {"gran.decomp", 0, WITH(.usage = 2)},
    {"gran.usage4", 0, WITH(.usage = 4)},
    {"gran.reserved", 0, WITH(.reserved = {1})},
    {"gran.w32meta", 0, META},
};

static const struct creation {
    const char *name;
    uint64_t size;
    vmm_mem_allocation_prop prop;
    uint64_t flags;
} creations[] = {
    {"create.ok", G, PLAIN, 0},
    {"create.size0", 0, PLAIN, 0},
    {"create.size1", 1, PLAIN, 0},
    {"create.g-1", G - 1, PLAIN, 0},
    {"create.4096", 4096, PLAIN, 0},
    {"create.64k", 65536, PLAIN, 0},
    {"create.g+4096", G + 4096, PLAIN, 0},
    {"create.g*3", 3 * G, PLAIN, 0},
    {"create.1<<44", (uint64_t)1 << 44, PLAIN, 0},
    {"create.1<<62", (uint64_t)1 << 62, PLAIN, 0},
    {"create.max", UINT64_MAX, PLAIN, 0},
    {"create.max_al", UINT64_MAX - (G - 1), PLAIN, 0},
    {"create.flags1", G, PLAIN, 1},
    {"create.total+g", TOTAL_AND_G, PLAIN, 0},
    {"create.type0", G, TYPE(0), 0},
    {"create.managed", G, TYPE(2), 0},
    {"create.type3", G, TYPE(3), 0},
    {"create.id-1", G, {PLACE(DEVICE, -1)}, 0},
    {"create.id_n", G, {PLACE(DEVICE, NEXT_DEVICE)}, 0},
    {"create.loc0", G, {PLACE(0, 0)}, 0},
    {"create.host", G, {PLACE(HOST, 0)}, 0},
    {"create.host.fd", G, {PLACE(HOST, 0), .requested_handle_types = 1}, 0},
    {"create.host.4096", 4096, {PLACE(HOST, 0)}, 0},
    {"create.host.id99", G, {PLACE(HOST, 99)}, 0},
    {"create.numa0", G, {PLACE(NUMA, 0)}, 0},
    {"create.numa0.4096", 4096, {PLACE(NUMA, 0)}, 0},
    {"create.numa0.fd", G, {PLACE(NUMA, 0), .requested_handle_types = 1}, 0},
    {"create.numa99", G, {PLACE(NUMA, 99)}, 0},
    {"create.numa-1", G, {PLACE(NUMA, -1)}, 0},
    {"create.numacur", G, {PLACE(CURRENT, 0)}, 0},
    {"create.loc5", G, {PLACE(5, 0)}, 0},
    {"create.fd", G, HANDLES(1), 0},
    {"create.win32", G, HANDLES(2), 0},
    {"create.kmt", G, HANDLES(4), 0},
    {"create.fabric", G, HANDLES(8), 0},
    {"create.fd|fabric", G, HANDLES(9), 0},
    {"create.ht16", G, HANDLES(16), 0},
    {"create.fd|16", G, HANDLES(17), 0},
    {"create.comp", G, WITH(.compression_type = 1), 0},
    {"create.comp2", G, WITH(.compression_type = 2), 0},
    {"create.rdma", G, WITH(.gpu_direct_rdma_capable = 1), 0},
    {"create.rdma2", G, WITH(.gpu_direct_rdma_capable = 2), 0},
    {"create.tilepool", G, WITH(.usage = 1), 0},
    {"create.tilepool.64k", 65536, WITH(.usage = 1), 0},
    {"create.decomp", G, WITH(.usage = 2), 0},
    {"create.usage4", G, WITH(.usage = 4), 0},
    {"create.reserved", G, WITH(.reserved = {1}), 0},
    {"create.w32meta", G, META, 0},
};

/* The stand-ins of the tables, as they are on this machine. */
static vmm_mem_allocation_prop on_machine(const struct facts *f, vmm_mem_allocation_prop prop)
{
    if (prop.location.id == NEXT_DEVICE)
        prop.location.id = f->devices;
    return prop;
}

void facts_granularity(struct facts *f)
{
    vmm_mem_allocation_prop prop = fc_prop(0);
    uint64_t g;
    facts_result(f, fc_granularity(f, NULL, &prop, 0), "gran.null_out");
    facts_result(f, fc_granularity(f, &g, NULL, 0), "gran.null_prop");
    for (size_t i = 0; i < sizeof granularities / sizeof granularities[0]; i++) {
        g = 77;
        prop = on_machine(f, granularities[i].prop);
        vmm_result result = fc_granularity(f, &g, &prop, granularities[i].option);
        facts_explain(f, result, granularities[i].name);
        facts_line(f, granularities[i].name, "%s g=%" PRIu64, facts_code(result), g);
    }
}

/* What was obtained, and the memory given back. */
static void created(struct facts *f, const char *name, vmm_mem_generic_allocation_handle handle)
{
    char line[99];
    vmm_mem_allocation_prop q;
    memset(&q, 0xff, sizeof q);
    vmm_result result = fc_properties(f, &q, handle);
    snprintf(line, sizeof line, "%s.props", name);
    facts_explain(f, result, line);
    facts_line(f, line, "%s type=%d ht=%d loc=%d/%d meta=%s comp=%d rdma=%d usage=%d", facts_code(result), q.type,
               q.requested_handle_types, q.location.type, q.location.id, q.win32_handle_meta_data ? "set" : "(nil)",
               q.alloc_flags.compression_type, q.alloc_flags.gpu_direct_rdma_capable, q.alloc_flags.usage);
    facts_setup(f, fc_release(f, handle), line);
}

static void create(struct facts *f, const struct creation *c, uint64_t too_much)
{
    vmm_mem_generic_allocation_handle handle = 0x77;
    vmm_mem_allocation_prop prop = on_machine(f, c->prop);
    vmm_result result = fc_create(f, &handle, c->size == TOTAL_AND_G ? too_much : c->size, &prop, c->flags);
    facts_result(f, result, c->name);
    if (result == VMM_SUCCESS)
        created(f, c->name, handle);
    else
        facts_value(f, c->name, "handle_after_fail %" PRIx64, handle);
}

void facts_create(struct facts *f)
{
    vmm_mem_allocation_prop prop = fc_prop(0);
    vmm_mem_generic_allocation_handle handle;
    uint64_t free_bytes, total = 0;
    facts_setup(f, vmm_mem_get_info(f->sys, &free_bytes, &total), "memory");
    for (size_t i = 0; i < sizeof creations / sizeof creations[0]; i++)
        create(f, &creations[i], (total / G + 1) * G);
    facts_result(f, fc_create(f, NULL, G, &prop, 0), "create.null_handle");
    facts_result(f, fc_create(f, &handle, G, NULL, 0), "create.null_prop");
}
