/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills that end past the end of the address space: they start all the same, and the device is lost. Also
 * device addresses where a call expects a host address. Group U of edges.c measures the first on a driver, in child
 * processes. */
#include <string.h>

#include "test.h"

#define READ VMM_MEM_ACCESS_FLAGS_PROT_READ
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE

static unsigned char bytes[64];

/* A machine of its own, which the test may lose. */
static void open_own(struct fix *f, struct fix *own)
{
    fix_need_simulator(f, "the context would be lost");
    *own = (struct fix){.root = f->root, .out = f->out};
    fix_need(f, fix_open(own, f->spec, 0));
}

enum work { FILL, FILL_ASYNC, HTOD, HTOD_ASYNC, DTOH, DTOH_ASYNC, DTOD, DTOD_ASYNC, WORKS };

static vmm_result ask(struct fix *f, enum work work, vmm_deviceptr p, uint64_t size)
{
    switch (work) {
    case FILL: return vmm_memset_d8(S, p, 1, size);
    case FILL_ASYNC: return vmm_memset_d32_async(S, p, 1, size / 4, NULL);
    case HTOD: return vmm_memcpy_htod(S, p, bytes, size);
    case HTOD_ASYNC: return vmm_memcpy_htod_async(S, p, bytes, size, NULL);
    case DTOH: return vmm_memcpy_dtoh(S, bytes, p, size);
    case DTOH_ASYNC: return vmm_memcpy_dtoh_async(S, bytes, p, size, NULL);
    case DTOD: return vmm_memcpy_dtod(S, p, p, size);
    default: return vmm_memcpy_dtod_async(S, p, p, size, NULL);
    }
}

static bool with_host(enum work work)
{
    return work == HTOD || work == HTOD_ASYNC || work == DTOH || work == DTOH_ASYNC;
}

/* Checks the last call's answer. It does not read the state, for that call would report the loss first. */
static void reported(struct fix *f, enum work work, vmm_result result, vmm_result want, const char *rule, uint64_t value)
{
    const vmm_detail *detail = vmm_last_detail();
    CHECK(result == want && detail->rule && strcmp(detail->rule, rule) == 0 && detail->value == value,
          "work %d: %s by %s with 0x%llx, expected %s by %s with 0x%llx", (int)work, vmm_result_name(result),
          detail->rule ? detail->rule : "no rule", (unsigned long long)detail->value, vmm_result_name(want), rule,
          (unsigned long long)value);
}

static void run_off(struct fix *root, enum work work, uint64_t behind)
{
    struct fix own, *f = &own;
    open_own(root, f);
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    uint64_t size = 0 - p + behind, end = p + f->g, lost = (uintptr_t)f->ctx; /* ends this far past the last address */
    vmm_result result = ask(f, work, p, size);
    if (test_refuses(root, "VMM-COPY-OVERFLOW")) {
        reported(f, work, result, VMM_ERROR_INVALID_VALUE, "VMM-COPY-OVERFLOW", size);
        ACCEPTED(vmm_ctx_synchronize(S));
    } else if (with_host(work)) {
        reported(f, work, result, VMM_ERROR_LAUNCH_FAILED, "VMM-FAULT-HOST-COPY", end);
        reported(f, work, vmm_ctx_synchronize(S), VMM_ERROR_LAUNCH_FAILED, "VMM-FAULT-HOST-COPY-STICKY", lost);
    } else {
        reported(f, work, result, VMM_SUCCESS, "VMM-COPY-OVERFLOW", size);
        reported(f, work, vmm_ctx_synchronize(S), VMM_ERROR_ILLEGAL_ADDRESS, "VMM-FAULT-COPY", end);
        reported(f, work, vmm_ctx_synchronize(S), VMM_ERROR_ILLEGAL_ADDRESS, "VMM-FAULT-COPY-STICKY", lost);
    }
    fix_close(f);
}

TEST_WARNS(COPY_OVERFLOW, work_past_the_last_address)
{
    for (enum work work = FILL; work < WORKS; work++) {
        run_off(f, work, 16);
        if (f->simulator) /* not measured: up to the very last address, which no range may hold either */
            run_off(f, work, 0);
    }
}

/* The call checks the start, and the device survives. */
TEST_EXPECTS("edge.wrap_from_a_bad_start", wrap_from_where_nothing_may_be_done)
{
    vmm_deviceptr p = fix_reserve(f, 3 * f->g);
    fix_map(f, p, f->g, fix_create(f, f->g));
    fix_map(f, p + f->g, f->g, fix_create(f, f->g));
    fix_access(f, p + f->g, f->g, READ);
    for (enum work work = FILL; work < WORKS; work++) {
        bool reads = work == DTOH || work == DTOH_ASYNC;
        const char *argument = reads ? "srcDevice" : "dstDevice";
        vmm_deviceptr at = p + 2 * f->g;
        REFUSED_BY("VMM-COPY-NOT-MAPPED", ask(f, work, at, 0 - at), INVALID_VALUE, argument, at);
        REFUSED_BY(reads ? "VMM-COPY-NO-READ" : "VMM-COPY-NO-WRITE", ask(f, work, p, 0 - p), INVALID_VALUE, argument, p);
        at = p + f->g;
        if (!reads)
            REFUSED_BY("VMM-COPY-NO-WRITE", ask(f, work, at, 0 - at), INVALID_VALUE, argument, at);
    }
    ACCEPTED(vmm_ctx_synchronize(S));
}

/* One range wraps and the other is only too long: the call is refused for the one that is too long. */
TEST_EXPECTS("edge.wrap_of_one_side", wrap_on_one_side_of_a_copy)
{
    vmm_deviceptr p = fix_mapped(f, 2 * f->g, RW, NULL), q = p + f->g;
    REFUSED_BY("VMM-COPY-RUNS-PAST", vmm_memcpy_dtod(S, q, p, 0 - q), INVALID_VALUE, "srcDevice", p);
    REFUSED_BY("VMM-COPY-RUNS-PAST", vmm_memcpy_dtod(S, p, q, 0 - q), INVALID_VALUE, "dstDevice", p);
    ACCEPTED(vmm_ctx_synchronize(S));
}

/* ---- device addresses for the host's ---- */

/* Group S: a driver recognises every address, and copies between device addresses. */
TEST_EXPECTS("edge.device_address_for_host", copies_with_device_addresses_for_the_hosts)
{
    fix_need_host(f); /* where no memory backs the host's addresses, other code may own them */
    vmm_deviceptr p = fix_mapped(f, 2 * f->g, RW, NULL), q = p + f->g;
    void *as_host = (void *)(uintptr_t)q;
    fix_fill(f, p, 0x11, f->g);
    fix_fill(f, q, 0x22, f->g);
    ACCEPTED(vmm_memcpy_htod(S, p, as_host, 64));
    CHECK(fix_peek(f, p + 63) == 0x22 && fix_peek(f, p + 64) == 0x11, "the copy differs");
    ACCEPTED(vmm_memcpy_dtoh(S, as_host, p + 64, 64));
    CHECK(fix_peek(f, q + 63) == 0x11 && fix_peek(f, q + 64) == 0x22, "the copy back differs");
    ACCEPTED(vmm_memcpy_htod_async(S, p + 128, as_host, 64, NULL));
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK(fix_peek(f, p + 191) == 0x11, "the copy on the stream differs");
}

TEST_EXPECTS("edge.device_address_without_rights", copies_with_device_addresses_without_rights)
{
    fix_need_host(f);
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL), q = fix_mapped(f, f->g, READ, NULL);
    vmm_deviceptr none = fix_reserve(f, f->g);
    fix_map(f, none, f->g, fix_create(f, f->g));
    REFUSED_BY("VMM-COPY-NO-READ", vmm_memcpy_htod(S, p, (void *)(uintptr_t)none, 64), INVALID_VALUE, "srcHost", none);
    REFUSED_BY("VMM-COPY-NO-WRITE", vmm_memcpy_dtoh(S, (void *)(uintptr_t)none, p, 64), INVALID_VALUE, "dstHost", none);
    REFUSED_BY("VMM-COPY-NO-WRITE", vmm_memcpy_dtoh(S, (void *)(uintptr_t)q, p, 64), INVALID_VALUE, "dstHost", q);
    ACCEPTED(vmm_memcpy_htod(S, p, (void *)(uintptr_t)q, 64));
}
