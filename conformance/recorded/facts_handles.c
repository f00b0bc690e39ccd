/* SPDX-License-Identifier: Apache-2.0 */
/* Handles that are released, forged, released twice, kept alive by a mapping. */
#include "facts_calls.h"

#include <inttypes.h>

#define FORGED 0xdead0

void facts_handles(struct facts *f)
{
    vmm_mem_generic_allocation_handle a = fc_make(f, FACTS_G), b = fc_make(f, FACTS_G);
    facts_value(f, "handle.v1", "%" PRIx64, a);
    facts_value(f, "handle.v2", "%" PRIx64, b);
    facts_require(f, a != b, "handle.v2", "two live handles have one value");
    facts_result(f, fc_properties(f, NULL, a), "props.null");
    facts_result(f, fc_release(f, a), "release.ok");
    facts_result(f, fc_release(f, b), "release.ok2");
}

void facts_handle_zero(struct facts *f)
{
    vmm_mem_allocation_prop prop;
    facts_result(f, fc_properties(f, &prop, 0), "props.h0");
    facts_result(f, fc_release(f, 0), "release.h0");
    facts_result(f, fc_map(f, fc_take(f, FACTS_G), FACTS_G, 0, 0, 0), "map.h0");
}

void facts_handle_forged(struct facts *f)
{
    vmm_mem_allocation_prop prop;
    vmm_deviceptr ptr = fc_take(f, FACTS_G);
    facts_crash(f, fc_properties(f, &prop, FORGED), "t_hbad!");
    facts_crash(f, fc_release(f, FORGED), "t_relbad!");
    facts_crash(f, fc_map(f, ptr, FACTS_G, 0, FORGED, 0), "t_mapbad!");
}

void facts_handle_double(struct facts *f)
{
    vmm_mem_generic_allocation_handle handle = fc_make(f, FACTS_G);
    facts_setup(f, fc_release(f, handle), "release");
    facts_result(f, fc_release(f, handle), "release.double");
}

void facts_handle_stale(struct facts *f)
{
    vmm_mem_allocation_prop prop;
    vmm_mem_generic_allocation_handle handle = fc_make(f, FACTS_G);
    vmm_deviceptr ptr = fc_take(f, FACTS_G);
    facts_setup(f, fc_release(f, handle), "release");
    facts_result(f, fc_properties(f, &prop, handle), "props.released");
    facts_crash(f, fc_map(f, ptr, FACTS_G, 0, handle, 0), "t_maprel!");
}

static void retain_refused(struct facts *f, vmm_deviceptr p)
{
    int on_stack = 0;
    vmm_mem_generic_allocation_handle again = 0;
    vmm_deviceptr ordinary = 0;
    facts_result(f, fc_retain(f, NULL, p), "retain.null");
    facts_result(f, fc_retain(f, &again, 0), "retain.addr0");
    facts_result(f, fc_retain(f, &again, p + 2 * FACTS_G), "retain.past");
    facts_result(f, fc_retain(f, &again, (vmm_deviceptr)(uintptr_t)&on_stack), "retain.host");
    facts_setup(f, fc_alloc(f, &ordinary, FACTS_G), "ordinary memory");
    facts_result(f, fc_retain(f, &again, ordinary), "retain.cumemalloc");
}

/* The mapping keeps the memory; retaining finds the very handle again, and its data. */
static void retain_revives(struct facts *f, vmm_deviceptr p, vmm_mem_generic_allocation_handle handle)
{
    const uint64_t size = 2 * FACTS_G;
    vmm_mem_generic_allocation_handle again = 0;
    facts_result(f, fc_release(f, handle), "retain.rel1");
    facts_result(f, fc_release(f, handle), "retain.rel2");
    facts_result(f, fc_release(f, handle), "retain.rel3");
    facts_result(f, fc_retain(f, &again, p), "retain.after_release_mapped");
    facts_value(f, "retain.after_release.same", "%d", again == handle);
    fc_grant(f, p, size, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
    facts_result(f, fc_fill(f, p, 7, size), "retain.after.memset");
    facts_setup(f, fc_unmap(f, p, size), "unmap");
    facts_result(f, fc_map(f, p + size, size, 0, again, 0), "retain.map_again");
    fc_grant(f, p + size, size, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
    facts_value(f, "retain.persist(7)", "%d", fc_byte(f, p + 3 * FACTS_G));
    facts_setup(f, fc_unmap(f, p + size, size), "unmap");
    facts_result(f, fc_release(f, again), "retain.final_release");
}

void facts_retain(struct facts *f)
{
    vmm_mem_generic_allocation_handle handle = fc_make(f, 2 * FACTS_G), again = 0;
    vmm_deviceptr p = fc_take(f, 4 * FACTS_G);
    facts_result(f, fc_retain(f, &again, p), "retain.unmapped");
    fc_put(f, p, 2 * FACTS_G, handle);
    facts_result(f, fc_retain(f, &again, p), "retain.noaccess");
    facts_value(f, "retain.same", "%d", again == handle);
    facts_result(f, fc_retain(f, &again, p + FACTS_G + 5), "retain.interior");
    facts_value(f, "retain.same2", "%d", again == handle);
    retain_refused(f, p);
    retain_revives(f, p, handle);
}
