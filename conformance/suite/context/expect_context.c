/* SPDX-License-Identifier: Apache-2.0 */
/* Expectations: contexts, threads, other processes and layers. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE

/* Create, map, unmap and release without any context, on any thread. */
TEST_EXPECTS_ON("context.control_calls_need_none", life_without_a_context, NULL, TEST_AS_GIVEN, FIX_NO_CONTEXT)
{
    vmm_mem_allocation_prop got;
    vmm_mem_generic_allocation_handle handle = 0, again = 0;
    vmm_deviceptr p = fix_mapped(f, 2 * f->g, RW, &handle);
    CHECK_U64(fix_rights(f, p, VMM_MEM_LOCATION_TYPE_DEVICE, 0), RW);
    fix_need(f, vmm_mem_retain_allocation_handle(S, &again, p));
    fix_need(f, vmm_mem_release(S, again));
    fix_need(f, vmm_mem_get_allocation_properties_from_handle(S, &got, handle));
    fix_unmap(f, p, 2 * f->g);
    fix_release(f, handle);
    fix_address_free(f, p, 2 * f->g);
    REFUSED_BY("VMM-CTX-CURRENT", vmm_memset_d8(S, p, 1, 1), INVALID_CONTEXT, NULL, 0);
}

/* Mappings, rights and bytes outlive the context that was current at their creation, and a reset of the primary
 * context. */
TEST_EXPECTS_ON("context.memory_survives", memory_outlives_contexts, NULL, TEST_AS_GIVEN, FIX_NO_CONTEXT)
{
    vmm_context first = fix_context(f, 0), primary = NULL;
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_deviceptr p = fix_mapped(f, 2 * f->g, RW, &handle);
    fix_fill(f, p, 5, 2 * f->g);
    fix_context_destroy(f, first);
    CHECK_U64(fix_rights(f, p, VMM_MEM_LOCATION_TYPE_DEVICE, 0), RW);
    fix_context(f, 0);
    CHECK_U64(fix_peek(f, p + 2 * f->g - 1), 5);
    fix_need(f, vmm_device_primary_ctx_retain(S, &primary, 0));
    fix_need(f, vmm_ctx_set_current(S, primary));
    fix_fill(f, p, 6, f->g);
    fix_need(f, vmm_device_primary_ctx_reset(S, 0));
    CHECK_U64(fix_rights(f, p, VMM_MEM_LOCATION_TYPE_DEVICE, 0), RW);
    fix_context(f, 0);
    CHECK_U64(fix_peek(f, p), 6);
    vmm_device_primary_ctx_release(S, 0); /* refused where the reset dropped the reference, as on the driver */
    fix_unmap(f, p, 2 * f->g);
    fix_release(f, handle);
    fix_address_free(f, p, 2 * f->g);
}

/* ---- threads ---- */

struct worker {
    struct fix *f;
    vmm_deviceptr at;
    vmm_mem_generic_allocation_handle handle;
    vmm_context before;
    unsigned char fill;
    unsigned wrong, won;
    vmm_result result;
};

static void *look_at_the_context(void *argument)
{
    struct worker *w = argument;
    w->result = vmm_ctx_get_current(w->f->sys, &w->before);
    w->won = vmm_memset_d8(w->f->sys, w->at, 1, 1) == VMM_ERROR_INVALID_CONTEXT;
    w->wrong += vmm_ctx_set_current(w->f->sys, w->f->ctx) != VMM_SUCCESS;
    w->wrong += vmm_memset_d8(w->f->sys, w->at, 1, 1) != VMM_SUCCESS;
    w->wrong += vmm_ctx_set_current(w->f->sys, NULL) != VMM_SUCCESS;
    return NULL;
}

/* A context is current on one thread, not in the whole process. */
TEST_EXPECTS("threads.have_their_own_context", context_of_another_thread)
{
    struct worker w = {.f = f, .at = fix_mapped(f, f->g, RW, NULL), .before = f->ctx};
    vmm_context mine = NULL;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, look_at_the_context, &w) == 0, "no thread");
    pthread_join(thread, NULL);
    CHECK(w.result == VMM_SUCCESS && w.before == NULL, "a new thread has a current context");
    CHECK(w.won, "work of a thread without context was not refused");
    CHECK_U64(w.wrong, 0);
    fix_need(f, vmm_ctx_get_current(S, &mine));
    CHECK(mine == f->ctx, "another thread changed this one's context");
}

static void *refused_elsewhere(void *argument)
{
    struct worker *w = argument;
    w->result = vmm_mem_release(w->f->sys, 0);
    w->won = vmm_last_detail()->rule && strcmp(vmm_last_detail()->rule, "VMM-RELEASE-HANDLE-ZERO") == 0;
    return NULL;
}

TEST_EXPECTS("threads.have_their_own_detail", detail_of_another_thread)
{
    fix_need_simulator(f, "needs a backend with rule ids");
    struct worker w = {.f = f};
    pthread_t thread;
    vmm_mem_unmap(S, 0, f->g);
    CHECK(pthread_create(&thread, NULL, refused_elsewhere, &w) == 0, "no thread");
    pthread_join(thread, NULL);
    CHECK(w.result == VMM_ERROR_INVALID_VALUE && w.won, "the thread's own detail");
    CHECK(vmm_last_detail()->rule && strcmp(vmm_last_detail()->rule, "VMM-UNMAP-PTR-ZERO") == 0,
          "another thread changed this one's detail");
}

static void *live_and_die(void *argument)
{
    struct worker *w = argument;
    struct fix *f = w->f;
    vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, RW};
    w->wrong += vmm_ctx_set_current(S, f->ctx) != VMM_SUCCESS;
    for (unsigned round = 0; round < 40; round++) {
        unsigned char byte = 0;
        w->wrong += vmm_mem_map(S, w->at, f->g, 0, w->handle, 0) != VMM_SUCCESS;
        w->wrong += vmm_mem_set_access(S, w->at, f->g, &desc, 1) != VMM_SUCCESS;
        w->wrong += vmm_memset_d8(S, w->at, w->fill, 64) != VMM_SUCCESS;
        w->wrong += vmm_memcpy_dtoh(S, &byte, w->at + 63, 1) != VMM_SUCCESS;
        w->wrong += byte != w->fill;
        w->wrong += vmm_mem_unmap(S, w->at, f->g) != VMM_SUCCESS;
    }
    return NULL;
}

TEST_EXPECTS("threads.disjoint_ranges", threads_side_by_side)
{
    enum { COUNT = 4 };
    struct worker w[COUNT];
    pthread_t thread[COUNT];
    vmm_deviceptr p = fix_reserve(f, COUNT * f->g);
    for (unsigned i = 0; i < COUNT; i++) {
        w[i] = (struct worker){.f = f, .at = p + i * f->g, .handle = fix_create(f, f->g), .fill = (unsigned char)(i + 1)};
        CHECK(pthread_create(&thread[i], NULL, live_and_die, &w[i]) == 0, "no thread");
    }
    for (unsigned i = 0; i < COUNT; i++) {
        pthread_join(thread[i], NULL);
        CHECK(w[i].wrong == 0, "thread %u: %u calls failed", i, w[i].wrong);
    }
}

static void *map_if_first(void *argument)
{
    struct worker *w = argument;
    struct fix *f = w->f;
    for (unsigned round = 0; round < 64; round++) {
        vmm_result result = vmm_mem_map(S, w->at + round * f->g, f->g, 0, w->handle, 0);
        w->won += result == VMM_SUCCESS;
        w->wrong += result != VMM_SUCCESS && result != VMM_ERROR_INVALID_VALUE;
    }
    return NULL;
}

/* Several threads map the same granule: exactly one succeeds. */
TEST_EXPECTS("threads.same_range", threads_over_each_other)
{
    fix_need_simulator(f, "needs a backend that lets one of several threads win (driver 580 let 69 map 64 granules)");
    enum { COUNT = 4 };
    struct worker w[COUNT];
    pthread_t thread[COUNT];
    unsigned won = 0;
    vmm_deviceptr p = fix_reserve(f, 64 * f->g);
    for (unsigned i = 0; i < COUNT; i++) {
        w[i] = (struct worker){.f = f, .at = p, .handle = fix_create(f, f->g)};
        CHECK(pthread_create(&thread[i], NULL, map_if_first, &w[i]) == 0, "no thread");
    }
    for (unsigned i = 0; i < COUNT; i++) {
        pthread_join(thread[i], NULL);
        won += w[i].won;
        CHECK(w[i].wrong == 0, "thread %u got a different code", i);
    }
    CHECK_U64(won, 64);
    fix_need(f, vmm_mem_unmap(S, p, 64 * f->g));
}

/* ---- further processes of the machine ---- */

TEST_EXPECTS("close.gives_back", closing_gives_memory_back)
{
    fix_need_simulator(f, "needs a second process of the machine in this program");
    uint64_t before = fix_free_memory(f);
    struct fix *peer = fix_also(f, NULL, 0);
    fix_mapped(peer, 2 * f->g, RW, NULL);
    vmm_deviceptr old = fix_alloc(peer, f->g);
    CHECK(old != 0, "no address");
    CHECK_FREE(before, 3 * f->g);
    vmm_close(peer->sys);
    peer->sys = NULL;
    CHECK_FREE(before, 0);
}

/* Another process shares the devices and their memory, and nothing else. */
TEST_EXPECTS("attach.shares_memory_only", second_process)
{
    fix_need_simulator(f, "needs a second process of the machine in this program");
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_deviceptr p = fix_mapped(f, f->g, RW, &handle);
    struct fix *peer = fix_also(f, NULL, 0);
    vmm_deviceptr q = fix_reserve(peer, f->g);
    CHECK(vmm_mem_map(peer->sys, q, f->g, 0, handle, 0) == VMM_ERROR_INVALID_VALUE,
          "a handle works in another process");
    CHECK(vmm_memset_d8(peer->sys, p, 1, 1) == VMM_ERROR_INVALID_VALUE, "an address works in another process");
    CHECK_U64(fix_free_memory(peer), fix_free_memory(f));
    uint64_t before = fix_free_memory(f);
    fix_create(peer, f->g);
    CHECK_FREE(before, f->g);
    CHECK_U64(fix_peek(f, p), 0);
}

TEST_EXPECTS("attach.starts_uninitialised", second_process_initialises_itself)
{
    fix_need_simulator(f, "needs a second process of the machine in this program");
    struct fix *peer = fix_also(f, NULL, FIX_RAW);
    vmm_deviceptr p = FIX_UNTOUCHED;
    vmm_result result = vmm_mem_address_reserve(peer->sys, &p, f->g, 0, 0, 0);
    CHECK(result == VMM_ERROR_NOT_INITIALIZED && p == FIX_UNTOUCHED, "%s", vmm_result_name(result));
    fix_need(f, vmm_init(peer->sys, 0));
    fix_need(f, vmm_mem_address_reserve(peer->sys, &p, f->g, 0, 0, 0));
    fix_note(peer, FIX_RESERVATION, p, f->g);
}

/* ---- layers ---- */

/* Calls that a layer makes fail change nothing, and the next one works. */
static void fail_once(struct fix *f, const char *call)
{
    char spec[600];
    vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, RW};
    snprintf(spec, sizeof spec, "fault=%s:1|%s", call, f->spec);
    struct fix *g = fix_also(f, spec, 0);
    vmm_deviceptr p = fix_reserve(g, f->g);
    vmm_mem_generic_allocation_handle handle = FIX_UNTOUCHED;
    vmm_mem_allocation_prop prop = fix_prop(0);
    bool create = strcmp(call, "mem_create") == 0, map = strcmp(call, "mem_map") == 0;
    uint64_t before = fix_free_memory(g);
    vmm_result result = vmm_mem_create(g->sys, &handle, f->g, &prop, 0);
    CHECK(result == (create ? VMM_ERROR_OUT_OF_MEMORY : VMM_SUCCESS), "%s: create %s", call, vmm_result_name(result));
    if (create) {
        CHECK_U64(handle, FIX_UNTOUCHED);
        CHECK_U64(fix_free_memory(g), before);
        fix_need(f, vmm_mem_create(g->sys, &handle, f->g, &prop, 0));
    }
    fix_note(g, FIX_HANDLE, handle, f->g);
    char *state = fix_state(g), *after;
    if (map) {
        result = vmm_mem_map(g->sys, p, f->g, 0, handle, 0);
        CHECK(result == VMM_ERROR_OUT_OF_MEMORY, "%s: %s", call, vmm_result_name(result));
        after = fix_state(g);
        CHECK(state && after && strcmp(state, after) == 0, "a failed map changed something");
        free(after);
    }
    free(state);
    fix_map(g, p, f->g, handle);
    result = vmm_mem_set_access(g->sys, p, f->g, &desc, 1);
    CHECK(result == (create || map ? VMM_SUCCESS : VMM_ERROR_OUT_OF_MEMORY), "%s: access %s", call,
          vmm_result_name(result));
    if (!create && !map) {
        CHECK_U64(fix_rights(g, p, VMM_MEM_LOCATION_TYPE_DEVICE, 0), VMM_MEM_ACCESS_FLAGS_PROT_NONE);
        fix_access(g, p, f->g, RW);
    }
    fix_fill(g, p, 1, f->g);
    fix_unmap(g, p, f->g);
}

TEST_EXPECTS("oom.state_usable", out_of_memory_anywhere)
{
    fix_need_simulator(f, "needs a backend whose calls can be made to fail");
    if (strchr(f->spec, '|'))
        fix_skip(f, "needs a backend without layers");
    fail_once(f, "mem_create");
    fail_once(f, "mem_map");
    fail_once(f, "mem_set_access");
}

/* Each kind of call fails once, the first time; the sequence still runs to its end. */
TEST_EXPECTS("oom.any_call_may_fail", every_call_of_a_life_fails_once)
{
    fix_need_simulator(f, "needs a backend whose calls can be made to fail");
    if (strchr(f->spec, '|'))
        fix_skip(f, "needs a backend without layers");
    for (unsigned nth = 1; nth <= 12; nth++) {
        char spec[600];
        vmm_system *sys = NULL;
        vmm_mem_allocation_prop prop = fix_prop(0);
        vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, RW};
        vmm_mem_generic_allocation_handle handle = 0;
        vmm_deviceptr p = 0;
        unsigned failed = 0;
        snprintf(spec, sizeof spec, "fault=any:%u|%s", nth, f->spec);
        fix_need(f, vmm_open(spec, &sys));
#define UNTIL_IT_WORKS(call) \
    while ((call) != VMM_SUCCESS && failed < 2) \
    failed++
        UNTIL_IT_WORKS(vmm_init(sys, 0));
        UNTIL_IT_WORKS(vmm_mem_create(sys, &handle, f->g, &prop, 0));
        UNTIL_IT_WORKS(vmm_mem_address_reserve(sys, &p, f->g, 0, 0, 0));
        UNTIL_IT_WORKS(vmm_mem_map(sys, p, f->g, 0, handle, 0));
        UNTIL_IT_WORKS(vmm_mem_set_access(sys, p, f->g, &desc, 1));
        UNTIL_IT_WORKS(vmm_mem_unmap(sys, p, f->g));
        UNTIL_IT_WORKS(vmm_mem_release(sys, handle));
        UNTIL_IT_WORKS(vmm_mem_address_free(sys, p, f->g));
#undef UNTIL_IT_WORKS
        CHECK_U64(failed, nth <= 8 ? 1 : 0);
        CHECK_U64(vmm_leaks(sys, NULL, NULL), 0);
        vmm_close(sys);
    }
}
