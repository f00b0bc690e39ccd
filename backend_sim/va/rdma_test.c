/* SPDX-License-Identifier: Apache-2.0 */
/* rdma: the mapping of a handle that was granted rights too late. The suite tests the effects that a program sees
 * (conformance/suite/sharing/rdma.c). */
#include "rdma.h"

#include "process.h"
#include "tap.h"

int main(void)
{
    struct sim_handle handle = {.prop.location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    struct sim_mapping late = {.handle = &handle}, other = {.handle = &handle};
    vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    rdma_grant(&late, &desc);
    tap_ok(rdma_bar(&other, &desc) == RDMA_LATE && rdma_bar(&late, &desc) == RDMA_NONE,
           "without its first mapping, only one mapping of a handle gets rights");
    desc.flags = VMM_MEM_ACCESS_FLAGS_PROT_NONE;
    desc.location.type = VMM_MEM_LOCATION_TYPE_HOST;
    rdma_grant(&late, &desc);
    tap_ok(rdma_late(&handle) == &late, "nor does what the host loses");
    desc.location = (vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, 1};
    rdma_grant(&late, &desc);
    tap_ok(rdma_late(&handle) == &late, "nor what another device loses");
    desc.location.id = 0;
    rdma_grant(&other, &desc);
    tap_ok(rdma_late(&handle) == &late, "revoking the rights of another mapping does not change that");
    rdma_grant(&late, &desc);
    tap_ok(!rdma_late(&handle), "revoking its own does");
    return tap_done();
}
