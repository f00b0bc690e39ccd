/* SPDX-License-Identifier: Apache-2.0 */
/* edges_rig.h - for tests of edge cases that ordinary programs do not reach: one system, and common helpers. Included
 * by one file of a program. */
#ifndef SIM_EDGES_RIG_H
#define SIM_EDGES_RIG_H

#include <string.h>

#include "tap.h"
#include "vmm.h"

#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE
#define G (UINT64_C(2) << 20)
#define DEVICE VMM_MEM_LOCATION_TYPE_DEVICE
#define HOST VMM_MEM_LOCATION_TYPE_HOST

typedef vmm_mem_generic_allocation_handle handle_t;

static vmm_system *sys;

static inline void begin(const char *spec)
{
    vmm_context ctx;
    if (vmm_open(spec, &sys) || vmm_init(sys, 0) || vmm_ctx_create(sys, &ctx, 0, 0))
        tap_bail("%s: %s", spec, vmm_last_detail()->note);
}

static inline void ignore(void *user, const vmm_detail *detail)
{
    (void)user;
    (void)detail;
}

static inline void end(void)
{
    vmm_set_report(sys, ignore, NULL);
    vmm_close(sys);
}

static inline void need(vmm_result result, const char *what)
{
    if (result != VMM_SUCCESS)
        tap_bail("%s: %s %s", what, vmm_result_name(result), vmm_last_detail()->note);
}

/* Checks that the call is refused by this rule, with the rule's result. */
static inline void by(vmm_result result, const char *rule, const char *what)
{
    const vmm_detail *detail = vmm_last_detail();
    tap_ok(result != VMM_SUCCESS && detail->rule && !strcmp(detail->rule, rule) && result == detail->result,
           "%s: %s by %s, %s", what,
           vmm_result_name(result), detail->rule ? detail->rule : "no rule", detail->note);
}

static inline handle_t created(vmm_mem_location_type type, int id, uint64_t size)
{
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {type, id}};
    handle_t handle = 0;
    need(vmm_mem_create(sys, &handle, size, &prop, 0), "memory");
    return handle;
}

static inline void granted(vmm_deviceptr at, uint64_t size, vmm_mem_location_type type, int id, unsigned rights)
{
    const vmm_mem_access_desc desc = {{type, id}, (vmm_mem_access_flags)rights};
    need(vmm_mem_set_access(sys, at, size, &desc, 1), "rights");
}

static inline vmm_deviceptr reserved(uint64_t size)
{
    vmm_deviceptr at = 0;
    need(vmm_mem_address_reserve(sys, &at, size, 0, 0, 0), "addresses");
    return at;
}

static inline vmm_result waited(vmm_kernel kernel, uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t args[] = {a, b, c};
    vmm_result result = vmm_launch(sys, kernel, 1, 32, args, 3, NULL);
    return result == VMM_SUCCESS ? vmm_ctx_synchronize(sys) : result;
}

#endif
