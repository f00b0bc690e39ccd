/* SPDX-License-Identifier: Apache-2.0 */
/* Two devices: rights are per device, and the owner has none of its own accord. */
#include "facts_calls.h"

#include <inttypes.h>

#define G FACTS_G

static uint64_t rights(struct facts *f, int device, vmm_deviceptr ptr)
{
    vmm_mem_location location = {VMM_MEM_LOCATION_TYPE_DEVICE, device};
    uint64_t flags = 9;
    facts_setup(f, fc_get_access(f, &flags, &location, ptr), "get access");
    return flags;
}

static vmm_mem_generic_allocation_handle on_device_1(struct facts *f)
{
    vmm_mem_allocation_prop prop = fc_prop(1);
    vmm_mem_generic_allocation_handle handle = 0;
    facts_setup(f, fc_create(f, &handle, G, &prop, 0), "create on device 1");
    return handle;
}

void facts_peer_absent(struct facts *f)
{
    facts_value(f, "peer", "skipped ndev=%d", f->devices);
}

/* [G on device 0][G on device 1], read and written by the one, then by the other. */
static void peer_both(struct facts *f, vmm_deviceptr d)
{
    const vmm_mem_access_desc both[2] = {fc_desc(0, 3), fc_desc(1, 3)}, read_only = fc_desc(1, 1);
    vmm_context other = NULL;
    uint64_t sum = 0;
    facts_setup(f, fc_primary_retain(f, &other, 1), "context of device 1");
    facts_setup(f, fc_ctx_set_current(f, other), "current context");
    facts_result(f, fc_set_access(f, d, 2 * G, both, 2), "peer.set_both");
    facts_result(f, fc_kernel_sum(f, d, 2 * G, &sum), "peer.sum_from_dev1");
    facts_value(f, "peer.sum1", "%" PRIu64 " exp %" PRIu64, sum, 7 * 2 * G);
    facts_value(f, "peer.dev1_on_mem0", "%" PRIu64, rights(f, 1, d));
    facts_result(f, fc_set_access(f, d, G, &read_only, 1), "peer.ro1");
    facts_value(f, "peer.dev0_unchanged(3)", "%" PRIu64, rights(f, 0, d));
    facts_result(f, fc_kernel_fill(f, d, 1, 16), "peer.dev1_write_ro");
}

void facts_peer(struct facts *f)
{
    const vmm_mem_access_desc first = fc_desc(0, 3);
    vmm_mem_allocation_prop prop = fc_prop(1);
    vmm_mem_generic_allocation_handle near = fc_make(f, G), far = 0;
    int can = 0;
    uint64_t sum = 0;
    facts_setup(f, vmm_device_can_access_peer(f->sys, &can, 0, 1), "can access peer");
    facts_value(f, "peer.can", "%d", can);
    facts_result(f, fc_create(f, &far, G, &prop, 0), "peer.create_on_1");
    vmm_deviceptr d = fc_take(f, 2 * G);
    facts_result(f, fc_map(f, d, G, 0, near, 0), "peer.map0");
    facts_result(f, fc_map(f, d + G, G, 0, far, 0), "peer.map1");
    facts_result(f, fc_set_access(f, d, 2 * G, &first, 1), "peer.set0_only_all");
    facts_value(f, "peer.owner_access_default", "%" PRIu64, rights(f, 1, d + G));
    facts_result(f, fc_kernel_fill(f, d, 7, 2 * G), "peer.kernel0_span");
    facts_result(f, fc_kernel_sum(f, d, 2 * G, &sum), "peer.sum0");
    facts_value(f, "peer.sum(ok=%llu)", "%" PRIu64, sum);
    peer_both(f, d);
}

/* Memory of device 1 that only device 1 may touch, from a context of device 0. */
void facts_peer_refused(struct facts *f)
{
    const vmm_mem_access_desc second = fc_desc(1, 3);
    unsigned char byte;
    vmm_deviceptr d = fc_take(f, G);
    fc_put(f, d, G, on_device_1(f));
    facts_setup(f, fc_set_access(f, d, G, &second, 1), "set access");
    facts_result(f, fc_fill(f, d, 1, 16), "peer3.dev0_memset_without_access");
    facts_result(f, fc_dtoh(f, &byte, d, 1), "peer3.dtoh_from_ctx0");
    facts_pointer_lines(f, "peer3", d);
}
