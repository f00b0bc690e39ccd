/* SPDX-License-Identifier: Apache-2.0 */
/* Host functions: when they are called, what they may call, and that no lock is held meanwhile. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "house.h"
#include "scheduled.h"
#include "test.h"

#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE

/* ---- what may be called ---- */

enum { MADE = 64 };

struct inside {
    vmm_system *sys;
    vmm_deviceptr p, reserved;
    uint64_t g;
    vmm_mem_generic_allocation_handle handle;
    vmm_context ctx;
    vmm_stream stream, aside;
    vmm_event event;
    unsigned made;
    vmm_result result[MADE];
    char rule[MADE][40];
    bool marked;
};

static void note(struct inside *in, vmm_result result)
{
    const char *rule = vmm_last_detail()->rule;
    in->result[in->made] = result;
    snprintf(in->rule[in->made++], sizeof in->rule[0], "%s", rule ? rule : "");
}

/* Also measured on a driver. */
static void control(void *user)
{
    struct inside *in = user;
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_deviceptr q = 0;
    note(in, vmm_mem_create(in->sys, &handle, in->g, &prop, 0));
    note(in, vmm_mem_address_reserve(in->sys, &q, in->g, 0, 0, 0));
    note(in, vmm_mem_unmap(in->sys, in->p, in->g));
    in->handle = handle ? handle : in->handle;
    in->reserved = q;
}

/* Everything else that changes state or waits, except work in streams. */
static void change(void *user)
{
    struct inside *in = user;
    vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, RW};
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_deviceptr q = 0;
    vmm_context made = NULL;
    vmm_stream stream = NULL;
    vmm_event event = NULL;
    unsigned char byte = 0;
    vmm_system *sys = in->sys;
    control(in);
    note(in, vmm_mem_map(sys, in->p + in->g, in->g, 0, in->handle, 0));
    note(in, vmm_mem_set_access(sys, in->p, in->g, &desc, 1));
    note(in, vmm_mem_release(sys, in->handle));
    note(in, vmm_mem_retain_allocation_handle(sys, &handle, in->p));
    note(in, vmm_mem_address_free(sys, in->p, 2 * in->g));
    note(in, vmm_mem_alloc(sys, &q, 64));
    note(in, vmm_mem_free(sys, in->p));
    note(in, vmm_ctx_create(sys, &made, 0, 0));
    note(in, vmm_ctx_destroy(sys, in->ctx));
    note(in, vmm_ctx_set_current(sys, NULL));
    note(in, vmm_ctx_synchronize(sys));
    note(in, vmm_device_primary_ctx_retain(sys, &made, 0));
    note(in, vmm_device_primary_ctx_release(sys, 0));
    note(in, vmm_device_primary_ctx_reset(sys, 0));
    note(in, vmm_stream_create(sys, &stream, 0));
    note(in, vmm_stream_destroy(sys, in->stream));
    note(in, vmm_stream_synchronize(sys, in->stream));
    note(in, vmm_event_create(sys, &event, 0));
    note(in, vmm_memcpy_htod(sys, in->p, &byte, 1));
    note(in, vmm_memcpy_dtoh(sys, &byte, in->p, 1));
    note(in, vmm_memcpy_dtod(sys, in->p, in->p + 8, 1));
    note(in, vmm_memset_d8(sys, in->p, 1, 1));
    note(in, vmm_memcpy_dtoh_async(sys, &byte, in->p, 1, in->stream));
}

/* Queries are refused as well. */
static void ask(void *user)
{
    struct inside *in = user;
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    uint64_t value = 0, other = 0;
    int number = 0;
    char name[64];
    vmm_context current = NULL;
    vmm_system *sys = in->sys;
    note(in, vmm_device_get_count(sys, &number));
    note(in, vmm_device_get(sys, &number, 0));
    note(in, vmm_device_get_name(sys, name, sizeof name, 0));
    note(in, vmm_device_get_attribute(sys, &number, VMM_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 0));
    note(in, vmm_device_total_mem(sys, &value, 0));
    note(in, vmm_device_can_access_peer(sys, &number, 0, 0));
    note(in, vmm_ctx_get_current(sys, &current));
    note(in, vmm_mem_get_allocation_granularity(sys, &value, &prop, 0));
    note(in, vmm_mem_get_allocation_properties_from_handle(sys, &prop, in->handle));
    note(in, vmm_mem_get_access(sys, &value, &prop.location, in->p));
    note(in, vmm_pointer_get_attribute(sys, &value, VMM_POINTER_ATTRIBUTE_MAPPING_SIZE, in->p));
    note(in, vmm_ctx_get_device(sys, &number));
    note(in, vmm_mem_get_info(sys, &value, &other));
    note(in, vmm_mem_get_address_range(sys, &value, &other, in->p));
}

static struct inside prepare(struct fix *f)
{
    struct inside in = {.sys = S, .g = f->g, .ctx = f->ctx};
    in.p = fix_reserve(f, 2 * f->g);
    in.handle = fix_create(f, f->g);
    fix_map(f, in.p, f->g, in.handle);
    fix_access(f, in.p, f->g, RW);
    in.stream = fix_stream(f);
    in.aside = fix_stream(f);
    in.event = fix_event(f);
    return in;
}

/* A refused call does nothing, and the state is unchanged. */
TEST_BREAKS(HOSTFUNC_CALL, control_calls_inside)
{
    house_need_calls(f, "what is called inside a function cannot be replayed");
    struct inside in = prepare(f);
    ACCEPTED(vmm_launch_host_func(S, in.stream, control, &in));
    ACCEPTED(vmm_stream_synchronize(S, in.stream));
    CHECK_U64(in.made, 3);
    for (unsigned i = 0; i < in.made; i++)
        CHECK(in.result[i] == VMM_ERROR_NOT_PERMITTED, "call %u: %s", i, vmm_result_name(in.result[i]));
    CHECK(fix_rights(f, in.p, VMM_MEM_LOCATION_TYPE_DEVICE, 0) == RW, "the mapping is gone");
}

TEST_BREAKS(HOSTFUNC_CALL, all_calls_that_change_or_wait_inside)
{
    fix_need_simulator(f, "on a driver only measured calls run");
    struct inside in = prepare(f);
    char *before = fix_state(f);
    ACCEPTED(vmm_launch_host_func(S, in.stream, change, &in));
    ACCEPTED(vmm_stream_synchronize(S, in.stream));
    CHECK_U64(in.made, 26);
    for (unsigned i = 0; i < in.made; i++)
        CHECK(in.result[i] == VMM_ERROR_NOT_PERMITTED && strcmp(in.rule[i], "VMM-HOSTFUNC-CALL") == 0, "call %u: %s by %s",
              i, vmm_result_name(in.result[i]), in.rule[i]);
    char *after = fix_state(f);
    CHECK(before && after && strcmp(before, after) == 0, "the state differs");
    free(before);
    free(after);
}

TEST_BREAKS(HOSTFUNC_CALL, calls_that_ask_inside)
{
    house_need_calls(f, "what is called inside a function cannot be replayed");
    struct inside in = prepare(f);
    ACCEPTED(vmm_launch_host_func(S, in.stream, ask, &in));
    ACCEPTED(vmm_stream_synchronize(S, in.stream));
    CHECK_U64(in.made, 14);
    for (unsigned i = 0; i < in.made; i++)
        CHECK(in.result[i] == VMM_ERROR_NOT_PERMITTED, "call %u: %s by %s", i, vmm_result_name(in.result[i]), in.rule[i]);
    fix_unmap(f, in.p, f->g); /* and afterwards everything works as before */
}

static void mark(void *user)
{
    struct inside *in = user;
    in->marked = true;
}

/* Calls that succeed, as measured: issuing work into the stream, and querying whether it is done. */
static void issue(void *user)
{
    struct inside *in = user;
    note(in, vmm_memset_d8_async(in->sys, in->p, 7, in->g, in->stream));
    note(in, vmm_launch_host_func(in->sys, in->stream, mark, in));
}

TEST_WARNS(HOSTFUNC_WORK, work_issued_inside)
{
    house_need_calls(f, "what is called inside a function cannot be replayed");
    struct inside in = prepare(f);
    bool refuses = test_refuses(f, NULL);
    ACCEPTED(vmm_launch_host_func(S, in.stream, issue, &in));
    ACCEPTED(vmm_stream_synchronize(S, in.stream));
    CHECK_U64(in.made, 2);
    for (unsigned i = 0; i < in.made; i++)
        CHECK(in.result[i] == (refuses ? VMM_ERROR_NOT_PERMITTED : VMM_SUCCESS) &&
                  (!f->simulator || strcmp(in.rule[i], "VMM-HOSTFUNC-WORK") == 0),
              "call %u: %s by %s", i, vmm_result_name(in.result[i]), in.rule[i]);
    ACCEPTED(vmm_stream_synchronize(S, in.stream));
    CHECK(in.marked == !refuses && fix_peek(f, in.p + f->g - 1) == (refuses ? 0 : 7), "what was issued inside is not done");
}

static void ask_for_work(void *user)
{
    struct inside *in = user;
    note(in, vmm_init(in->sys, 0));
    note(in, vmm_stream_query(in->sys, in->stream));
}

TEST_NEAR_MISS(HOSTFUNC_CALL, asking_for_work_inside)
{
    house_need_calls(f, "what is called inside a function cannot be replayed");
    struct inside in = prepare(f);
    ACCEPTED(vmm_launch_host_func(S, in.stream, ask_for_work, &in));
    ACCEPTED(vmm_stream_synchronize(S, in.stream));
    CHECK(in.made == 2 && in.result[0] == VMM_SUCCESS && in.result[1] == VMM_ERROR_NOT_READY, "%s and %s",
          vmm_result_name(in.result[0]), vmm_result_name(in.result[1]));
}

/* Another process of the machine is not affected. */
TEST_NEAR_MISS(HOSTFUNC_CALL, calls_on_another_process_inside)
{
    fix_need_simulator(f, "needs a second process of the machine");
    struct fix *other = fix_also(f, NULL, 0);
    struct inside in = {.sys = other->sys, .g = other->g};
    in.p = fix_mapped(other, other->g, RW, NULL);
    fix_forget(other, FIX_MAPPING, in.p, other->g); /* control removes it, and makes two objects */
    ACCEPTED(vmm_launch_host_func(S, NULL, control, &in));
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK(in.made == 3 && in.result[0] == VMM_SUCCESS && in.result[1] == VMM_SUCCESS && in.result[2] == VMM_SUCCESS,
          "refused: %s", in.rule[0]);
    fix_note(other, FIX_HANDLE, in.handle, 0);
    fix_note(other, FIX_RESERVATION, in.reserved, other->g);
}

TEST_BREAKS(HOSTFUNC_NULL, no_function)
{
    fix_need_simulator(f, "not measured");
    REFUSED(vmm_launch_host_func(S, NULL, NULL, f), INVALID_VALUE, "fn", 0);
}

static void count(void *user)
{
    ++*(unsigned *)user;
}

static void nothing(void *user)
{
    (void)user;
}

TEST_NEAR_MISS(HOSTFUNC_NULL, a_function_without_data)
{
    ACCEPTED(vmm_launch_host_func(S, NULL, nothing, NULL));
    ACCEPTED(vmm_ctx_synchronize(S));
}

/* ---- when it is called ---- */

TEST_EXPECTS("hostfunc.ordered_on_its_stream", function_between_kernels)
{
    vmm_stream stream = fix_stream(f);
    unsigned called = 0;
    for (int i = 0; i < 3; i++)
        ACCEPTED(vmm_launch_host_func(S, stream, count, &called));
    ACCEPTED(vmm_stream_synchronize(S, stream));
    CHECK_U64(called, 3);
    fix_need_simulator(f, "a driver may call it at any time");
    struct fix own, *root = f;
    scheduled_open(root, &own, "late");
    f = &own;
    vmm_stream one = fix_stream(f), two = fix_stream(f);
    ACCEPTED(vmm_launch_host_func(S, one, count, &called));
    CHECK_U64(called, 3);
    ACCEPTED(vmm_stream_synchronize(S, two));
    CHECK_U64(called, 3);
    CHECK_U64(vmm_stream_query(S, one), VMM_ERROR_NOT_READY);
    CHECK_U64(called, 4);
    ACCEPTED(vmm_stream_query(S, one));
    fix_close(f);
    scheduled_open(root, &own, "eager");
    f = &own;
    ACCEPTED(vmm_launch_host_func(S, NULL, count, &called));
    CHECK_U64(called, 5);
    fix_close(f);
}

/* No host function runs after a fault; all before it run. */
TEST_EXPECTS("hostfunc.not_after_a_fault", function_behind_a_fault)
{
    struct fix own, *root = f;
    unsigned before = 0, after = 0;
    scheduled_open(root, &own, "late");
    f = &own;
    ACCEPTED(vmm_launch_host_func(S, NULL, count, &before));
    ACCEPTED(LAUNCH(NULL, FILL, 4096, 8, 1));
    ACCEPTED(vmm_launch_host_func(S, NULL, count, &after));
    CHECK_U64(vmm_ctx_synchronize(S), VMM_ERROR_ILLEGAL_ADDRESS);
    CHECK(before == 1 && after == 0, "called %u times before and %u times after", before, after);
    CHECK_U64(vmm_launch_host_func(S, NULL, count, &after), VMM_ERROR_ILLEGAL_ADDRESS);
    fix_close(f);
}

/* ---- and no lock is held ---- */

struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool inside, open, returned;
};

static void set(struct gate *gate, bool *what)
{
    pthread_mutex_lock(&gate->lock);
    *what = true;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}

static void await(struct gate *gate, const bool *what)
{
    pthread_mutex_lock(&gate->lock);
    while (!*what)
        pthread_cond_wait(&gate->changed, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

static void hold(void *user)
{
    struct gate *gate = user;
    set(gate, &gate->inside);
    await(gate, &gate->open);
    set(gate, &gate->returned);
}

struct waiter {
    struct fix *f;
    vmm_stream stream;
    struct gate *gate;
    vmm_result result;
    bool after; /* the function had returned when the wait ended */
};

static void *wait_for_stream(void *user)
{
    struct waiter *w = user;
    struct fix *f = w->f;
    vmm_ctx_set_current(S, f->ctx);
    w->result = vmm_stream_synchronize(S, w->stream);
    pthread_mutex_lock(&w->gate->lock);
    w->after = w->gate->returned;
    pthread_mutex_unlock(&w->gate->lock);
    return NULL;
}

TEST_EXPECTS("hostfunc.locks_nothing", calls_beside_a_function)
{
    struct gate gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, false, false};
    struct fix own, *root = f;
    house_need_calls(f, "interleaved threads cannot be replayed");
    if (f->simulator) { /* under eager this thread itself would be blocked */
        scheduled_open(root, &own, "late");
        f = &own;
    }
    vmm_stream stream = fix_stream(f), aside = fix_stream(f);
    struct waiter waiter[2] = {{f, stream, &gate, VMM_ERROR_UNKNOWN, false}, {f, stream, &gate, VMM_ERROR_UNKNOWN, false}};
    pthread_t thread[2];
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    ACCEPTED(vmm_launch_host_func(S, stream, hold, &gate));
    ACCEPTED(LAUNCH(stream, FILL, p, 8, 3));
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&thread[i], NULL, wait_for_stream, &waiter[i]) == 0, "no thread");
    await(&gate, &gate.inside);
    /* the system accepts calls meanwhile; the call that settles a driver would wait for the function */
    fix_reserve(f, f->g);
    fix_create(f, f->g);
    CHECK(vmm_stream_query(S, stream) == VMM_ERROR_NOT_READY, "the stream was done before the function returned");
    fix_need(f, vmm_stream_synchronize(S, aside));
    set(&gate, &gate.open);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    CHECK(waiter[0].result == VMM_SUCCESS && waiter[1].result == VMM_SUCCESS, "a wait failed");
    CHECK(waiter[0].after && waiter[1].after, "a wait ended before the function");
    CHECK(fix_peek(f, p) == 3, "the fill is not done");
    if (f != root)
        fix_close(f);
}
