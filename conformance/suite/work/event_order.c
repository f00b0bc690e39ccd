/* SPDX-License-Identifier: Apache-2.0 */
/* Events: what they stand for, what waits for them, and what the host knows afterwards. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "house.h"
#include "random.h"
#include "scheduled.h"
#include "test.h"

#define READ VMM_MEM_ACCESS_FLAGS_PROT_READ
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE

/* ---- what an event stands for ---- */

/* schedule=late shows what waits for what: only work that must run has run. */
TEST_EXPECTS("event.stands_for_the_work_before", events_and_late_work)
{
    struct fix own, *root = f;
    scheduled_open(root, &own, "late");
    f = &own;
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    vmm_stream aside = fix_stream(f), one = fix_stream(f);
    vmm_event event = fix_event(f);
    ACCEPTED(LAUNCH(one, ATOMIC_ADD, p, 1));
    ACCEPTED(vmm_event_record(S, event, one));
    ACCEPTED(LAUNCH(one, ATOMIC_ADD, p, 1));
    CHECK_U64(glance(f, aside, p), 0);
    CHECK_U64(vmm_event_query(S, event), VMM_ERROR_NOT_READY);
    CHECK_U64(glance(f, aside, p), 1); /* the query let it run */
    ACCEPTED(vmm_event_query(S, event));
    ACCEPTED(vmm_event_synchronize(S, event));
    CHECK_U64(glance(f, aside, p), 1); /* what came after the record is not waited for */
    ACCEPTED(vmm_event_record(S, event, one)); /* and now it is */
    ACCEPTED(vmm_event_synchronize(S, event));
    CHECK_U64(glance(f, aside, p), 2);
    fix_close(f);
}

TEST_EXPECTS("event.never_recorded", events_that_stand_for_nothing)
{
    vmm_stream stream = fix_stream(f);
    vmm_event event = fix_event(f);
    ACCEPTED(vmm_event_query(S, event));
    ACCEPTED(vmm_event_synchronize(S, event));
    ACCEPTED(vmm_stream_wait_event(S, stream, event, 0));
    ACCEPTED(vmm_stream_wait_event(S, NULL, event, 0));
    ACCEPTED(vmm_stream_synchronize(S, stream));
    ACCEPTED(vmm_event_record(S, event, stream)); /* also in a stream without work */
    ACCEPTED(vmm_event_synchronize(S, event));
    ACCEPTED(vmm_event_query(S, event));
}

/* A new record moves the event; an earlier wait keeps the old record; destroying the event changes neither. */
TEST_EXPECTS("event.waits_keep_their_work", record_after_a_wait)
{
    struct fix own, *root = f;
    scheduled_open(root, &own, "late");
    f = &own;
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    vmm_stream aside = fix_stream(f), one = fix_stream(f), two = fix_stream(f), three = fix_stream(f);
    vmm_event event = fix_event(f), unrecorded = fix_event(f);
    ACCEPTED(LAUNCH(one, ATOMIC_ADD, p, 1));
    ACCEPTED(vmm_event_record(S, event, one));
    ACCEPTED(vmm_stream_wait_event(S, two, event, 0));
    ACCEPTED(LAUNCH(three, ATOMIC_ADD, p + 8, 1));
    ACCEPTED(vmm_event_record(S, event, three));
    ACCEPTED(vmm_stream_wait_event(S, two, unrecorded, 0));
    ACCEPTED(vmm_event_record(S, unrecorded, three)); /* too late for the wait */
    ACCEPTED(vmm_stream_synchronize(S, two));
    CHECK_U64(glance(f, aside, p), 1);
    CHECK_U64(glance(f, aside, p + 8), 0);
    ACCEPTED(LAUNCH(one, ATOMIC_ADD, p, 1));
    ACCEPTED(vmm_stream_wait_event(S, two, event, 0));
    fix_event_destroy(f, event);
    ACCEPTED(vmm_stream_synchronize(S, two));
    CHECK_U64(glance(f, aside, p), 1);
    CHECK_U64(glance(f, aside, p + 8), 1);
    fix_close(f);
}

/* Does a wait of the default stream order one blocking stream after another? Yes, also when its work is already done;
 * no, if there never was any. */
static void wait_there_for_nothing(struct fix *f, vmm_event done)
{
    const vmm_event events[] = {fix_event(f), done};
    const vmm_stream streams[] = {NULL, VMM_STREAM_LEGACY};
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    vmm_stream aside = fix_stream(f), one = blocking_stream(f), two = blocking_stream(f);
    ACCEPTED(vmm_event_synchronize(S, done));
    for (unsigned recorded = 0; recorded < 2; recorded++)
        for (unsigned i = 0; i < 2; i++) {
            const vmm_deviceptr at = p + 16 * (2 * recorded + i);
            ACCEPTED(LAUNCH(one, ATOMIC_ADD, at, 1));
            ACCEPTED(vmm_stream_wait_event(S, streams[i], events[recorded], 0));
            ACCEPTED(LAUNCH(two, ATOMIC_ADD, at + 8, 1));
            ACCEPTED(vmm_stream_synchronize(S, two));
            CHECK_U64(glance(f, aside, at), recorded);
            CHECK_U64(glance(f, aside, at + 8), 1);
            ACCEPTED(vmm_ctx_synchronize(S));
        }
}

/* The default stream's record includes blocking streams, and its wait delays them; non-blocking streams are not
 * affected. */
TEST_EXPECTS("event.on_the_default_stream", events_of_the_default_stream)
{
    struct fix own, *root = f;
    scheduled_open(root, &own, "late");
    f = &own;
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    vmm_stream aside = fix_stream(f), one = blocking_stream(f), free_one = fix_stream(f);
    vmm_event event = fix_event(f);
    ACCEPTED(LAUNCH(one, ATOMIC_ADD, p, 1));
    ACCEPTED(LAUNCH(VMM_STREAM_PER_THREAD, ATOMIC_ADD, p, 1));
    ACCEPTED(LAUNCH(free_one, ATOMIC_ADD, p + 8, 1));
    ACCEPTED(vmm_event_record(S, event, NULL));
    ACCEPTED(vmm_event_synchronize(S, event));
    CHECK_U64(glance(f, aside, p), 2);
    CHECK_U64(glance(f, aside, p + 8), 0);
    ACCEPTED(vmm_event_record(S, event, free_one));
    ACCEPTED(vmm_stream_wait_event(S, VMM_STREAM_LEGACY, event, 0));
    ACCEPTED(LAUNCH(one, ATOMIC_ADD, p, 1));
    ACCEPTED(vmm_stream_synchronize(S, one));
    CHECK_U64(glance(f, aside, p + 8), 1);
    wait_there_for_nothing(f, event);
    fix_close(f);
}

/* ---- across contexts and devices ---- */

static void across(struct fix *f, int device)
{
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    vmm_stream one = fix_stream(f), aside = fix_stream(f);
    vmm_event event = fix_event(f);
    ACCEPTED(LAUNCH(one, ATOMIC_ADD, p, 1));
    ACCEPTED(vmm_event_record(S, event, one));
    vmm_context ctx = fix_context(f, device);
    vmm_stream two = fix_stream(f);
    vmm_event last = fix_event(f);
    ACCEPTED(vmm_stream_wait_event(S, two, event, 0));
    ACCEPTED(vmm_event_record(S, last, two));
    CHECK_U64(vmm_event_query(S, last), VMM_ERROR_NOT_READY);
    ACCEPTED(vmm_event_synchronize(S, last));
    fix_need(f, vmm_ctx_set_current(S, f->ctx)); /* whose device's rights a copy has */
    CHECK_U64(glance(f, aside, p), 1);
    ACCEPTED(LAUNCH(one, ATOMIC_ADD, p, 1));
    ACCEPTED(vmm_event_record(S, event, one));
    fix_need(f, vmm_ctx_set_current(S, ctx));
    ACCEPTED(vmm_stream_wait_event(S, NULL, event, 0));
    fix_need(f, vmm_ctx_set_current(S, f->ctx));
    fix_context_destroy(f, ctx); /* which waits for its work, and so for the other's */
    fix_forget(f, FIX_STREAM, (uintptr_t)two, 0);
    fix_forget(f, FIX_EVENT, (uintptr_t)last, 0);
    CHECK_U64(glance(f, aside, p), 2);
}

TEST_EXPECTS("event.across_contexts", wait_for_another_context)
{
    struct fix own, *root = f;
    scheduled_open(root, &own, "late");
    f = &own;
    across(f, 0);
    if (f->devices > 1)
        across(f, 1);
    fix_close(f);
}

/* ---- what the host knows ---- */

/* Is in-flight work writing the mapping? Tested by revoking write access, which is granted again at once. */
static bool in_flight(struct fix *f, vmm_deviceptr p)
{
    vmm_mem_access_desc less = {fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0), READ}, again = less;
    again.flags = RW;
    vmm_result result = vmm_mem_set_access(S, p, f->g, &less, 1);
    const char *rule = vmm_last_detail()->rule;
    bool warned = rule && strcmp(rule, "VMM-ACCESS-IN-FLIGHT") == 0;
    CHECK(result == VMM_SUCCESS && (warned || !rule), "%s by %s", vmm_result_name(result), rule ? rule : "no rule");
    fix_need(f, vmm_mem_set_access(S, p, f->g, &again, 1));
    return warned;
}

static void knows(struct fix *root, const char *schedule)
{
    struct fix own, *f = &own;
    scheduled_open(root, f, schedule);
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL), q = fix_mapped(f, f->g, RW, NULL);
    vmm_stream one = fix_stream(f), two = fix_stream(f);
    vmm_event first = fix_event(f), second = fix_event(f);
    ACCEPTED(LAUNCH(one, FILL, p, 8, 7));
    ACCEPTED(vmm_event_record(S, first, one));
    ACCEPTED(LAUNCH(one, FILL, q, 8, 9));
    ACCEPTED(vmm_stream_wait_event(S, two, first, 0));
    CHECK(in_flight(f, p), "%s: a stream's wait counts as the host's", schedule);
    ACCEPTED(vmm_event_synchronize(S, first));
    CHECK(!in_flight(f, p), "%s: the host has waited", schedule);
    CHECK(in_flight(f, q), "%s: what came after the record counts as waited for", schedule);
    ACCEPTED(vmm_event_record(S, first, one));
    ACCEPTED(vmm_stream_wait_event(S, two, first, 0));
    ACCEPTED(vmm_event_record(S, second, two));
    ACCEPTED(LAUNCH(two, FILL, p, 8, 8));
    for (int i = 0; vmm_event_query(S, second) == VMM_ERROR_NOT_READY; i++)
        CHECK(i < 100, "%s: the query never succeeds", schedule);
    CHECK(!in_flight(f, q), "%s: SUCCESS of a query counts as waiting, also through other streams", schedule);
    CHECK(in_flight(f, p), "%s: work after the record", schedule);
    ACCEPTED(vmm_event_synchronize(S, first)); /* known already */
    ACCEPTED(vmm_stream_synchronize(S, two));
    CHECK(!in_flight(f, p), "%s: the stream", schedule);
    CHECK(fix_peek(f, p) == 8 && fix_peek(f, q) == 9, "%s: the fills are not done", schedule);
    fix_close(f);
}

TEST_EXPECTS("event.host_knows", what_the_host_knows)
{
    for (int i = 0; i < SCHEDULES; i++)
        knows(f, schedules[i]);
}

TEST_NEAR_MISS(UNMAP_IN_FLIGHT, unmap_after_waiting_for_an_event)
{
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    vmm_stream one = fix_stream(f), two = fix_stream(f);
    vmm_event event = fix_event(f);
    ACCEPTED(vmm_memset_d8_async(S, p, 1, f->g, one));
    ACCEPTED(vmm_event_record(S, event, one));
    ACCEPTED(vmm_stream_wait_event(S, two, event, 0));
    ACCEPTED(vmm_stream_synchronize(S, two));
    ACCEPTED(vmm_mem_unmap(S, p, f->g));
    fix_forget(f, FIX_MAPPING, p, f->g);
}

static void unmap_too_early(struct fix *root, const char *schedule)
{
    struct fix own, *f = &own;
    scheduled_open(root, f, schedule);
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    vmm_stream one = fix_stream(f), two = fix_stream(f);
    vmm_event event = fix_event(f);
    ACCEPTED(vmm_event_record(S, event, one));
    ACCEPTED(vmm_memset_d8_async(S, p, 1, f->g, one));
    ACCEPTED(vmm_event_synchronize(S, event)); /* recorded before the fill */
    ACCEPTED(vmm_event_record(S, event, one));
    ACCEPTED(vmm_stream_wait_event(S, two, event, 0)); /* and this is no wait */
    vmm_result result = vmm_mem_unmap(S, p, f->g);
    const char *rule = vmm_last_detail()->rule;
    CHECK(result == VMM_SUCCESS && rule && strcmp(rule, "VMM-UNMAP-IN-FLIGHT") == 0, "%s: %s by %s", schedule,
          vmm_result_name(result), rule ? rule : "no rule");
    fix_forget(f, FIX_MAPPING, p, f->g);
    result = vmm_event_synchronize(S, event);
    if (strcmp(schedule, "late") == 0)
        CHECK(result == VMM_ERROR_ILLEGAL_ADDRESS && strcmp(vmm_last_detail()->rule, "VMM-FAULT-COPY") == 0,
              "the event's wait does not report the fault: %s", vmm_result_name(result));
    if (result != VMM_SUCCESS)
        f->things = 0; /* vmm_close frees everything */
    vmm_close(f->sys);
}

TEST_BREAKS(UNMAP_IN_FLIGHT, unmap_before_the_work_that_was_recorded)
{
    for (int i = 0; i < SCHEDULES; i++)
        unmap_too_early(f, schedules[i]);
}

/* ---- a lost device ---- */

struct lost {
    vmm_event before, after, new;
    vmm_stream stream, other;
};

/* Calls that do not notice the fault, in an order in which each leaves what the next one needs. */
static void use_when_lost(struct fix *f, const struct lost *l, vmm_result want)
{
    vmm_event made = NULL;
    CHECK_U64(vmm_event_query(S, l->before), want);
    CHECK_U64(vmm_event_synchronize(S, l->before), want);
    CHECK_U64(vmm_event_query(S, l->new), want);
    CHECK_U64(vmm_event_synchronize(S, l->new), want);
    CHECK_U64(vmm_stream_wait_event(S, l->other, l->before, 0), want);
    CHECK_U64(vmm_stream_wait_event(S, l->other, l->after, 0), want);
    CHECK_U64(vmm_event_create(S, &made, 0), want);
    CHECK_U64(vmm_event_record(S, want == VMM_SUCCESS ? made : l->new, l->other), want);
    CHECK_U64(vmm_event_destroy(S, want == VMM_SUCCESS ? made : l->new), want);
}

/* Until the fault is reported, an event that completed before it still succeeds; one that did not reports the fault. */
static void use_after_a_fault(struct fix *root, const char *schedule)
{
    struct fix own, *f = &own;
    struct lost l;
    scheduled_open(root, f, schedule);
    fix_need(f, vmm_event_create(S, &l.before, 0));
    fix_need(f, vmm_event_create(S, &l.after, 0));
    fix_need(f, vmm_event_create(S, &l.new, 0));
    fix_need(f, vmm_stream_create(S, &l.stream, VMM_STREAM_NON_BLOCKING));
    fix_need(f, vmm_stream_create(S, &l.other, VMM_STREAM_NON_BLOCKING));
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    ACCEPTED(LAUNCH(l.stream, FILL, p, 8, 1));
    ACCEPTED(vmm_event_record(S, l.before, l.stream));
    for (int i = 0; i < 100 && vmm_event_query(S, l.before) == VMM_ERROR_NOT_READY; i++) {
    }
    ACCEPTED(LAUNCH(l.stream, FILL, 4096, 8, 1));
    ACCEPTED(vmm_event_record(S, l.after, l.stream));
    if (strcmp(schedule, "late") == 0)
        CHECK_U64(vmm_event_query(S, l.after), VMM_ERROR_NOT_READY); /* the kernel faults here, unnoticed so far */
    use_when_lost(f, &l, VMM_SUCCESS);
    vmm_result result = vmm_event_synchronize(S, l.after);
    CHECK(result == VMM_ERROR_ILLEGAL_ADDRESS && strcmp(vmm_last_detail()->rule, "VMM-FAULT-ACCESS") == 0, "%s: %s by %s",
          schedule, vmm_result_name(result), vmm_last_detail()->rule);
    use_when_lost(f, &l, VMM_ERROR_ILLEGAL_ADDRESS);
    CHECK(strcmp(vmm_last_detail()->rule, "VMM-FAULT-STICKY") == 0, "by %s", vmm_last_detail()->rule);
    CHECK_U64(vmm_event_create(S, NULL, 8), VMM_ERROR_ILLEGAL_ADDRESS); /* before the arguments */
    CHECK_U64(vmm_stream_wait_event(S, l.other, l.new, 2), VMM_ERROR_ILLEGAL_ADDRESS);
    f->things = 0; /* vmm_close frees the rest */
    vmm_close(S);
}

TEST_EXPECTS("event.after_a_fault", events_after_a_fault)
{
    for (int i = 0; i < SCHEDULES; i++)
        use_after_a_fault(f, schedules[i]);
}

/* A query of faulted work finally reports the fault. */
TEST_EXPECTS("event.query_ends_after_a_fault", query_until_the_fault_is_told)
{
    struct fix own, *root = f;
    vmm_event event = NULL;
    scheduled_open(root, &own, "late");
    f = &own;
    fix_need(f, vmm_event_create(S, &event, 0));
    ACCEPTED(LAUNCH(NULL, FILL, 4096, 8, 1));
    ACCEPTED(vmm_event_record(S, event, NULL));
    CHECK_U64(vmm_event_query(S, event), VMM_ERROR_NOT_READY);
    CHECK_U64(vmm_event_query(S, event), VMM_ERROR_ILLEGAL_ADDRESS);
    CHECK(strcmp(vmm_last_detail()->rule, "VMM-FAULT-ACCESS") == 0, "by %s", vmm_last_detail()->rule);
    vmm_close(S);
}

/* ---- inside a host function ---- */

enum { INSIDE = 4 };

struct inside {
    vmm_system *sys;
    vmm_event done, pending, moved, ended;
    vmm_stream stream, aside;
    vmm_result ready, not_ready, idle, hopeless;
    bool asked;    /* without a warning */
    bool compared; /* a message names a value, or what it was compared with */
    vmm_result result[INSIDE];
    char rule[INSIDE][40];
};

static void note(struct inside *in, int at, vmm_result result)
{
    const char *rule = vmm_last_detail()->rule;
    in->result[at] = result;
    in->compared |= vmm_last_detail()->value || vmm_last_detail()->expected;
    snprintf(in->rule[at], sizeof in->rule[at], "%s", rule ? rule : "nothing");
}

static void use_events(void *user)
{
    struct inside *in = user;
    note(in, 0, vmm_event_record(in->sys, in->moved, in->aside));
    note(in, 1, vmm_stream_wait_event(in->sys, in->aside, in->done, 0));
    note(in, 2, vmm_event_synchronize(in->sys, in->done));
    note(in, 3, vmm_event_destroy(in->sys, in->ended));
}

static void ask_events(void *user)
{
    struct inside *in = user;
    in->ready = vmm_event_query(in->sys, in->done);
    in->asked = !vmm_last_detail()->rule;
    in->not_ready = vmm_event_query(in->sys, in->pending);
    in->asked = in->asked && !vmm_last_detail()->rule;
    in->idle = vmm_stream_query(in->sys, in->aside);
    in->asked = in->asked && !vmm_last_detail()->rule;
}

static struct inside prepare(struct fix *f)
{
    struct inside in = {.sys = S, .done = fix_event(f), .pending = fix_event(f), .moved = fix_event(f)};
    house_need_calls(f, "what is called inside a function cannot be replayed");
    fix_need(f, vmm_event_create(S, &in.ended, 0));
    in.stream = fix_stream(f);
    in.aside = fix_stream(f);
    ACCEPTED(vmm_event_record(S, in.done, in.aside));
    ACCEPTED(vmm_event_synchronize(S, in.done));
    return in;
}

TEST_WARNS(HOSTFUNC_WORK, events_used_inside_a_host_function)
{
    struct inside in = prepare(f);
    bool refuses = test_refuses(f, NULL);
    vmm_result want = refuses ? VMM_ERROR_NOT_PERMITTED : VMM_SUCCESS;
    ACCEPTED(vmm_launch_host_func(S, in.stream, use_events, &in));
    ACCEPTED(vmm_stream_synchronize(S, in.stream));
    for (int i = 0; i < INSIDE; i++) {
        CHECK(in.result[i] == want, "call %d: %s", i, vmm_result_name(in.result[i]));
        CHECK(!f->simulator || strcmp(in.rule[i], "VMM-HOSTFUNC-WORK") == 0, "call %d: by %s", i, in.rule[i]);
    }
    CHECK(!in.compared, "the rule compares nothing");
    ACCEPTED(vmm_event_synchronize(S, in.moved));
    if (refuses)
        ACCEPTED(vmm_event_destroy(S, in.ended));
}

/* The event after the function is not complete, and a query does not start the work that must follow it. */
TEST_NEAR_MISS(HOSTFUNC_WORK, events_asked_about_inside_a_host_function)
{
    struct inside in = prepare(f);
    ACCEPTED(vmm_launch_host_func(S, in.stream, ask_events, &in));
    ACCEPTED(vmm_event_record(S, in.pending, in.stream));
    ACCEPTED(vmm_event_synchronize(S, in.pending));
    CHECK_U64(in.ready, VMM_SUCCESS);
    if (f->simulator && !strstr(f->spec, "schedule=")) /* else the function may be called before the record */
        CHECK_U64(in.not_ready, VMM_ERROR_NOT_READY);
    CHECK_U64(in.idle, VMM_SUCCESS);
    CHECK(in.asked, "a warning is reported");
    ACCEPTED(vmm_event_query(S, in.pending));
    ACCEPTED(vmm_event_destroy(S, in.ended));
}

/* Nor does a query start work that need not follow it. */
TEST_NEAR_MISS(HOSTFUNC_WORK, asking_inside_a_host_function_does_no_work)
{
    struct fix own, *root = f;
    scheduled_open(root, &own, "late");
    f = &own;
    struct inside in = prepare(f);
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    vmm_stream beside = fix_stream(f), aside = fix_stream(f);
    ACCEPTED(LAUNCH(beside, ATOMIC_ADD, p, 1));
    ACCEPTED(vmm_event_record(S, in.pending, beside));
    ACCEPTED(vmm_launch_host_func(S, in.stream, ask_events, &in));
    ACCEPTED(vmm_stream_synchronize(S, in.stream));
    CHECK_U64(in.not_ready, VMM_ERROR_NOT_READY);
    CHECK_U64(glance(f, aside, p), 0);
    ACCEPTED(vmm_event_synchronize(S, in.pending));
    CHECK_U64(glance(f, aside, p), 1);
    ACCEPTED(vmm_event_destroy(S, in.ended));
    fix_close(f);
}

static void wait_for_itself(void *user)
{
    struct inside *in = user;
    in->hopeless = vmm_event_synchronize(in->sys, in->pending);
}

TEST_BREAKS(HOSTFUNC_CALL, wait_inside_for_an_event_behind)
{
    struct fix own, *root = f;
    scheduled_open(root, &own, "late");
    f = &own;
    struct inside in = prepare(f);
    ACCEPTED(vmm_launch_host_func(S, in.stream, wait_for_itself, &in));
    ACCEPTED(vmm_event_record(S, in.pending, in.stream));
    ACCEPTED(vmm_event_synchronize(S, in.pending));
    CHECK_U64(in.hopeless, VMM_ERROR_NOT_PERMITTED);
    ACCEPTED(vmm_event_destroy(S, in.ended));
    fix_close(f);
}

/* ---- any allowed order, and no other ---- */

enum { STREAMS = 5, DEFAULT = 0, BLOCKING = 2, EVENTS = 4, PIECES = 40 }; /* [default, 2 blocking, 2 not] */

struct run {
    struct fix *f;
    const char *schedule;
    vmm_stream stream[STREAMS];
    vmm_event event[EVENTS];
    uint64_t before[STREAMS];    /* the work items, as bits, that the stream's next one follows */
    uint64_t stands_for[EVENTS];
    uint64_t done;
    unsigned issued;
};

struct piece {
    struct run *run;
    uint64_t bit, after;
};

static void call_piece(void *user)
{
    struct piece *piece = user;
    struct run *run = piece->run;
    struct fix *f = run->f;
    CHECK((run->done & piece->after) == piece->after, "%s: a work item runs before one that it must follow",
          run->schedule);
    CHECK(!(run->done & piece->bit), "%s: it runs twice", run->schedule);
    run->done |= piece->bit;
}

/* What an item issued on the stream now follows; later, for the default stream, also all blocking ones. */
static uint64_t join(struct run *run, unsigned s, uint64_t more)
{
    for (unsigned i = 1; s == DEFAULT && i <= BLOCKING; i++)
        run->before[DEFAULT] |= run->before[i];
    uint64_t all = run->before[s] |= more;
    for (unsigned i = 1; s == DEFAULT && i <= BLOCKING; i++)
        run->before[i] |= all;
    return all;
}

static void issue_piece(struct run *run, unsigned s, struct piece *piece)
{
    struct fix *f = run->f;
    *piece = (struct piece){run, UINT64_C(1) << run->issued++, join(run, s, 0)};
    join(run, s, piece->bit);
    ACCEPTED(vmm_launch_host_func(S, run->stream[s], call_piece, piece));
}

static void step(struct run *run, uint64_t *random, struct piece *piece)
{
    struct fix *f = run->f;
    unsigned s = (unsigned)random_below(random, STREAMS), e = (unsigned)random_below(random, EVENTS);
    vmm_result result;
    switch (random_below(random, 8)) {
    case 0:
        ACCEPTED(vmm_event_record(S, run->event[e], run->stream[s]));
        run->stands_for[e] = join(run, s, 0);
        break;
    case 1:
    case 2:
        ACCEPTED(vmm_stream_wait_event(S, run->stream[s], run->event[e], 0));
        if (run->stands_for[e])
            join(run, s, run->stands_for[e]);
        break;
    case 3:
        result = vmm_event_query(S, run->event[e]);
        CHECK((result == VMM_SUCCESS || result == VMM_ERROR_NOT_READY) &&
                  (result != VMM_SUCCESS || (run->done & run->stands_for[e]) == run->stands_for[e]),
              "%s: %s", run->schedule, vmm_result_name(result));
        break;
    case 4:
        ACCEPTED(vmm_event_synchronize(S, run->event[e]));
        CHECK((run->done & run->stands_for[e]) == run->stands_for[e], "%s: some work has not run", run->schedule);
        break;
    default:
        issue_piece(run, s, piece);
    }
}

static void random_run(struct fix *root, const char *schedule, uint64_t seed)
{
    struct fix own, *f = &own;
    struct run run = {.f = f, .schedule = schedule};
    struct piece piece[PIECES];
    uint64_t random = seed;
    scheduled_open(root, f, schedule);
    for (unsigned i = 1; i < STREAMS; i++)
        run.stream[i] = i <= BLOCKING ? blocking_stream(f) : fix_stream(f);
    for (unsigned i = 0; i < EVENTS; i++)
        run.event[i] = fix_event(f);
    while (run.issued < PIECES)
        step(&run, &random, &piece[run.issued]);
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK_U64(run.done, (UINT64_C(1) << PIECES) - 1);
    fix_close(f);
}

TEST_EXPECTS("event.order_under_every_schedule", random_work_with_events)
{
    for (uint64_t seed = 1; seed <= 12; seed++)
        for (int i = 0; i < SCHEDULES; i++)
            random_run(f, schedules[i], seed);
}
