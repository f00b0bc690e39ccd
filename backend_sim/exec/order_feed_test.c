/* SPDX-License-Identifier: Apache-2.0 */
/* order_feed: what each asynchronous copy and fill accesses, on both sides of the bus; what the host that sees a short one knows; and
 * values that the host may write as well. */
#include <string.h>

#include "tap.h"
#include "vmm.h"

enum { SIZE = 1 << 16 };

static vmm_system *sys;
static vmm_stream s, t;
static vmm_deviceptr p;
static unsigned found, unwritten, others;

static void hear(void *user, const vmm_detail *detail)
{
    (void)user;
    const char *rule = detail->rule ? detail->rule : "";
    unsigned *count = !strcmp(rule, "VMM-ORDER-STREAMS") ? &found : !strcmp(rule, "VMM-UNWRITTEN-READ") ? &unwritten : &others;
    ++*count;
}

static void need(vmm_result result)
{
    if (result != VMM_SUCCESS)
        tap_bail("%s: %s", vmm_result_name(result), vmm_last_detail()->note);
}

/* One access by each of the calls that make two, at the address. */
static void d8(vmm_stream stream, uint64_t at) { need(vmm_memset_d8_async(sys, p + at, 1, 64, stream)); }
static void d16(vmm_stream stream, uint64_t at) { need(vmm_memset_d16_async(sys, p + at, 1, 32, stream)); }
static void d32(vmm_stream stream, uint64_t at) { need(vmm_memset_d32_async(sys, p + at, 1, 16, stream)); }
static void to(vmm_stream stream, uint64_t at) { need(vmm_memcpy_dtod_async(sys, p + at, p + SIZE / 2, 64, stream)); }

static void settle(void)
{
    need(vmm_ctx_synchronize(sys));
    found = unwritten = others = 0;
}

/* A pool that may not grow gives a stream what another one frees; what that one did before the free is done before. */
static void test_reuse(void)
{
    const vmm_mem_pool_props props = {.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0},
                                      .max_size = UINT64_C(32) << 20};
    vmm_memory_pool pool;
    vmm_deviceptr first, second = 0;
    need(vmm_mem_pool_create(sys, &pool, &props));
    need(vmm_mem_alloc_from_pool_async(sys, &first, UINT64_C(32) << 20, pool, s));
    d8(s, 8192);
    need(vmm_mem_free_async(sys, first, s));
    need(vmm_mem_alloc_from_pool_async(sys, &second, UINT64_C(32) << 20, pool, t));
    d8(t, 8192);
    tap_ok(second == first && !found && !others, "an allocation that waits for a free orders the streams");
    d8(s, 9216);
    d8(t, 9216);
    tap_ok(found == 1 && !others, "up to then");
    need(vmm_mem_free_async(sys, second, t));
    settle();
    need(vmm_mem_pool_destroy(sys, pool));
}

int main(void)
{
    static const struct {
        const char *name;
        void (*call)(vmm_stream stream, uint64_t at);
    } calls[] = {{"bytes", d8}, {"halves", d16}, {"words", d32}, {"a copy", to}};
    enum { CALLS = sizeof calls / sizeof calls[0] };
    need(vmm_open("sim:h100,order=report,unwritten=report,schedule=late", &sys));
    need(vmm_init(sys, 0));
    vmm_context context;
    need(vmm_ctx_create(sys, &context, 0, 0));
    vmm_set_report(sys, hear, NULL);
    need(vmm_stream_create(sys, &s, VMM_STREAM_NON_BLOCKING));
    need(vmm_stream_create(sys, &t, VMM_STREAM_NON_BLOCKING));
    need(vmm_mem_alloc(sys, &p, SIZE));
    need(vmm_memset_d8(sys, p, 0, SIZE));
    settle();
    for (unsigned i = 0; i < CALLS; i++)
        for (unsigned j = 0; j < CALLS; j++) {
            const uint64_t at = 1024 * (i * CALLS + j);
            calls[i].call(s, at);
            calls[j].call(t, at + 64);
            const unsigned beside = found;
            calls[j].call(t, at + 60);
            tap_ok(!beside && found == 1 && !unwritten && !others, "%s, and %s that overlaps its last word", calls[i].name, calls[j].name);
            settle();
        }
    vmm_deviceptr fresh = 0;
    need(vmm_mem_alloc(sys, &fresh, SIZE));
    uint64_t word = 0;
    need(vmm_memset_d16_async(sys, fresh, 1, 2, s));
    need(vmm_stream_synchronize(sys, s));
    need(vmm_memcpy_dtoh(sys, &word, fresh, 4));
    tap_ok(!unwritten && word == 0x10001, "bytes of a 16-bit fill count as written");
    need(vmm_memcpy_dtoh(sys, &word, fresh, 8));
    tap_ok(unwritten == 1 && !found && !others, "and no byte after it");
    settle();
    need(vmm_stream_write_value64(sys, s, p, 1, 0));
    need(vmm_stream_wait_value64(sys, t, p, 1, VMM_STREAM_WAIT_VALUE_EQ));
    d8(t, 4096);
    tap_ok(!found && !others, "a value of 8 bytes orders the streams");
    settle();
    test_reuse();
    need(vmm_mem_free(sys, fresh));
    d8(s, 8192);
    d32(t, 8192 + 64);
    need(vmm_memset_d8_async(sys, p, 2, SIZE / 2, NULL));
    const unsigned at_once = found;
    vmm_close(sys);
    tap_ok(at_once == 1 && found == 2, "a call reports one of its two findings, and the end of the process the other");
    return tap_done();
}
