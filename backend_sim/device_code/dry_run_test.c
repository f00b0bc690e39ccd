/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of PTX in dry runs: what they leave unchanged, when one is cut short, and what they see through aliases. The suite
 * tests the warnings. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dry_run.h"
#include "in_flight.h"
#include "kernels.h"
#include "kernels_ptx.h"
#include "registered.h"
#include "system.h"
#include "tap.h"
#include "vmm.h"

#define G (UINT64_C(2) << 20)
#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

static vmm_system *sys;
static vmm_deviceptr p, q; /* G bytes each, and the second one twice */

static void need(vmm_result result, const char *what)
{
    if (result != VMM_SUCCESS)
        tap_bail("%s: %s", what, vmm_result_name(result));
}

static void map(vmm_deviceptr at, vmm_mem_generic_allocation_handle memory)
{
    const vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    need(vmm_mem_map(sys, at, G, 0, memory, 0), "map");
    need(vmm_mem_set_access(sys, at, G, &desc, 1), "access");
}

/* [p: its own memory][q: memory, at q and at q + G] */
static void open_machine(const char *spec)
{
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    vmm_mem_generic_allocation_handle one, two;
    vmm_context context;
    need(vmm_open(spec, &sys), spec);
    need(vmm_init(sys, 0), "init");
    need(vmm_ctx_create(sys, &context, 0, 0), "context");
    need(vmm_mem_create(sys, &one, G, &prop, 0), "create");
    need(vmm_mem_create(sys, &two, G, &prop, 0), "create");
    need(vmm_mem_address_reserve(sys, &p, 3 * G, 0, 0, 0), "reserve");
    q = p + G;
    map(p, one);
    map(q, two);
    map(q + G, two);
    need(vmm_memset_d8(sys, p, 0, 2 * G), "fill");
}

static vmm_kernel loaded(const void *text, size_t size, const char *name)
{
    vmm_kernel kernel = -1;
    need(vmm_kernel_load(&(vmm_ptx_kernel){.ptx = text, .size = size, .name = name}, &kernel), name);
    return kernel;
}

static bool warns(const char *rule)
{
    return vmm_last_detail()->rule && strcmp(vmm_last_detail()->rule, rule) == 0;
}

static uint64_t word(vmm_deviceptr at)
{
    uint64_t value = 0;
    need(vmm_memcpy_dtoh(sys, &value, at, sizeof value), "copy");
    return value;
}

/* Counts its launches in a variable and in memory. */
static const char counting[] = HEAD ".visible .global .u32 launches;\n.visible .entry c(.param .u64 out, .param .u64 other) { .reg .b64 %d<4>; .reg .b32 %r<4>;\n"
                                    "ld.param.u64 %d1, [out]; ld.param.u64 %d2, [other]; atom.global.add.u32 %r1, [launches], 1; red.global.add.u32 [%d1+8], 1;\n"
                                    "st.global.u32 [%d1], %r1; ld.global.u32 %r2, [%d2]; ret; }\n";
static const char endless[] = HEAD ".visible .entry e(.param .u64 out) { .reg .b64 %d<4>; .reg .b32 %r<4>; ld.param.u64 %d1, [out]; st.global.u32 [%d1], 1;\n"
                                   "L: add.u32 %r1, %r1, 1; bra L; }\n";

/* Unmapping causes a dry run, which changes neither the variable nor the memory. */
static void test_no_effect(void)
{
    open_machine("sim:h100");
    const vmm_kernel kernel = loaded(counting, sizeof counting - 1, "c");
    for (uint64_t i = 0; i < 3; i++) {
        need(vmm_launch(sys, kernel, 1, 1, (uint64_t[]){p, q}, 2, NULL), "launch");
        tap_result(vmm_mem_unmap(sys, q + G, G), VMM_SUCCESS, "what it does not use is unmapped");
        tap_ok(!vmm_last_detail()->rule, "without a warning");
        need(vmm_ctx_synchronize(sys), "synchronize");
        tap_ok(word(p) == i && word(p + 8) == i + 1, "it has run %" PRIu64 " times", i + 1);
        vmm_mem_generic_allocation_handle memory;
        need(vmm_mem_retain_allocation_handle(sys, &memory, q), "retain");
        map(q + G, memory);
        need(vmm_mem_release(sys, memory), "release");
    }
    need(vmm_launch(sys, kernel, 1, 1, (uint64_t[]){p, q}, 2, NULL), "launch");
    tap_result(vmm_mem_unmap(sys, q, G), VMM_SUCCESS, "what it reads is unmapped");
    tap_ok(warns("VMM-UNMAP-IN-FLIGHT"), "with a warning");
    tap_result(vmm_ctx_synchronize(sys), VMM_ERROR_ILLEGAL_ADDRESS, "and it faults");
    vmm_close(sys);
}

/* A kernel that does not end is cut short, and no longer tried when the budget is used up. */
static void test_budget(void)
{
    open_machine("sim:h100,kernel_steps=1000");
    struct in_flight *in_flight = ((struct sim_process *)sys->top)->in_flight;
    const vmm_kernel kernel = loaded(endless, sizeof endless - 1, "e");
    tap_u64(in_flight->dry_steps, DRY_FIRST, "so many steps are allowed at first");
    need(vmm_launch(sys, kernel, 1, 1, &p, 1, NULL), "launch");
    tap_result(vmm_mem_unmap(sys, q + G, G), VMM_SUCCESS, "memory beside it is unmapped");
    tap_ok(!vmm_last_detail()->rule && in_flight->dry_steps < DRY_FIRST && DRY_FIRST - in_flight->dry_steps <= 4 * (DRY_STEPS + (1 << 16)),
           "a dry run ends after its steps (%" PRIu64 " are left)", in_flight->dry_steps);
    in_flight->dry_steps = 10;
    tap_result(vmm_mem_unmap(sys, q, G), VMM_SUCCESS, "the same, with ten left");
    tap_u64(in_flight->dry_steps, 0, "all are spent");
    tap_result(vmm_mem_unmap(sys, p, G), VMM_SUCCESS, "what it writes is unmapped");
    tap_ok(!vmm_last_detail()->rule, "the use is no longer known, so nothing is reported");
    tap_result(vmm_ctx_synchronize(sys), VMM_ERROR_ILLEGAL_ADDRESS, "but faults");
    vmm_close(sys);
    open_machine("sim:h100,kernel_steps=1000");
    in_flight = ((struct sim_process *)sys->top)->in_flight;
    in_flight->dry_steps = 0;
    need(vmm_launch(sys, loaded(counting, sizeof counting - 1, "c"), 8, 1, (uint64_t[]){p, q}, 2, NULL), "launch");
    need(vmm_ctx_synchronize(sys), "synchronize");
    tap_ok(in_flight->dry_steps > 10 && in_flight->dry_steps < 40, "a part of what kernels made is allowed again (%" PRIu64 ")", in_flight->dry_steps);
    vmm_close(sys);
}

/* Half of the words are old without a fence, and none with one. */
static void test_aliases(void)
{
    open_machine("sim:h100,alias=stale:5");
    const vmm_kernel kernel = loaded(kernels_ptx, kernels_ptx_size, "alias_write_read");
    const uint64_t bytes = 4096;
    need(vmm_launch(sys, kernel, 2, 64, (uint64_t[]){q, q + G, bytes, 0, p}, 5, NULL), "launch");
    tap_ok(warns("VMM-LAUNCH-ALIAS"), "a kernel that uses two addresses is warned of");
    need(vmm_ctx_synchronize(sys), "synchronize");
    tap_ok(word(p) > 100 && word(p) < 400, "and finds old words through the other address (%" PRIu64 " of 512)", word(p));
    need(vmm_memset_d8(sys, p, 0, 8), "fill");
    need(vmm_launch(sys, kernel, 2, 64, (uint64_t[]){q, q + G, bytes, 1, p}, 5, NULL), "launch");
    tap_ok(!vmm_last_detail()->rule, "one with a fence is not");
    need(vmm_ctx_synchronize(sys), "synchronize");
    tap_u64(word(p), 0, "and finds none");
    need(vmm_launch(sys, kernel, 1, 1, (uint64_t[]){q, q + G, bytes, 1, p + 8 * G}, 5, NULL), "launch");
    tap_result(vmm_ctx_synchronize(sys), VMM_ERROR_ILLEGAL_ADDRESS, "a fault is reported as ever");
    tap_ok(strstr(vmm_last_detail()->note, "by thread (0,0,0) of block (0,0,0), ") != NULL, "with its place: %s", vmm_last_detail()->note);
    vmm_close(sys);
}

static void plain(struct twin_memory *memory, const struct vmm_call_launch *call, void *user)
{
    unsigned char *bytes;
    uint64_t size = 8;
    ++*(unsigned *)user;
    memory->run(memory, call->args[0], 8, &size, TWIN_READ, &bytes);
}

/* A plugin's kernel is not run to find out what it accesses. */
static void test_plugin(void)
{
    unsigned runs = 0;
    open_machine("sim:h100");
    need(vmm_launch(sys, kernels_register("plain", plain, &runs), 1, 1, &p, 1, NULL), "launch");
    tap_result(vmm_mem_unmap(sys, p, G), VMM_SUCCESS, "memory that a plugin's kernel uses is unmapped");
    tap_ok(!vmm_last_detail()->rule && !runs, "the use is unknown, so nothing is reported");
    tap_result(vmm_ctx_synchronize(sys), VMM_ERROR_ILLEGAL_ADDRESS, "and faults");
    vmm_close(sys);
}

int main(void)
{
    test_no_effect();
    test_budget();
    test_aliases();
    test_plugin();
    return tap_done();
}
