/* Memory that lives on the host: who may be given rights to it and what the queries say. */
#include "facts_calls.h"

#include <inttypes.h>
#include <stdio.h>

#define G FACTS_G

static const char *line_of(char *line, size_t size, const char *place, const char *rest)
{
    snprintf(line, size, "%s.%s", place, rest);
    return line;
}

static void grant_line(struct facts *f, const char *place, vmm_deviceptr d, vmm_mem_access_desc desc, const char *rest)
{
    char line[64];
    vmm_result result = fc_set_access(f, d, 2 * G, &desc, 1);
    facts_result(f, result, line_of(line, sizeof line, place, rest));
}

/* Rights for each kind of location in turn, and what each then has. */
static void grant_each(struct facts *f, const char *place, vmm_deviceptr d)
{
    static const vmm_mem_location_type types[] = {
        VMM_MEM_LOCATION_TYPE_HOST,
        VMM_MEM_LOCATION_TYPE_HOST_NUMA,
        VMM_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT,
        VMM_MEM_LOCATION_TYPE_DEVICE,
    };
    char rest[32], line[64];
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        vmm_mem_access_desc desc = {{types[i], 0}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
        uint64_t flags = 99;
        snprintf(rest, sizeof rest, "setaccess_loc%d", types[i]);
        grant_line(f, place, d, desc, rest);
        snprintf(rest, sizeof rest, "getaccess_loc%d", types[i]);
        vmm_result result = fc_get_access(f, &flags, &desc.location, d);
        facts_result(f, result, line_of(line, sizeof line, place, rest));
        facts_value(f, line, "%" PRIu64, flags);
    }
}

static void on_host(struct facts *f, const char *place, vmm_mem_location_type type)
{
    char line[64];
    uint64_t g = 0;
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_mem_allocation_prop prop = fc_prop(0);
    prop.location.type = type;
    vmm_result result = fc_granularity(f, &g, &prop, 0);
    facts_line(f, line_of(line, sizeof line, place, "gran"), "%s %" PRIu64, facts_code(result), g);
    result = fc_create(f, &handle, 2 * G, &prop, 0);
    facts_result(f, result, line_of(line, sizeof line, place, "create"));
    vmm_deviceptr d = fc_take(f, 4 * G);
    result = fc_map(f, d, 2 * G, 0, handle, 0);
    facts_result(f, result, line_of(line, sizeof line, place, "map"));
    grant_each(f, place, d);
    result = fc_kernel_fill(f, d, 0x42, 2 * G);
    facts_result(f, result, line_of(line, sizeof line, place, "kernel_fill"));
    vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_HOST, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READ};
    grant_line(f, place, d, desc, "setaccess_host_ro");
    desc.flags = VMM_MEM_ACCESS_FLAGS_PROT_NONE;
    grant_line(f, place, d, desc, "setaccess_host_none");
    desc = (vmm_mem_access_desc){{VMM_MEM_LOCATION_TYPE_HOST_NUMA, 99}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    grant_line(f, place, d, desc, "setaccess_numa99");
    facts_pointer_lines(f, place, d);
    facts_result(f, fc_unmap(f, d, 2 * G), "hostloc.unmap");
    facts_result(f, fc_release(f, handle), "hostloc.release");
    facts_result(f, fc_free(f, d, 4 * G), "hostloc.free");
}

void facts_host_memory(struct facts *f)
{
    on_host(f, "HOST", VMM_MEM_LOCATION_TYPE_HOST);
}

void facts_numa_memory(struct facts *f)
{
    on_host(f, "NUMA0", VMM_MEM_LOCATION_TYPE_HOST_NUMA);
}
