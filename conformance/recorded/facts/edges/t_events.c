/* SPDX-License-Identifier: Apache-2.0 */
/* Group T: events: refusals, the work that an event captures, what waits for it, and events of a lost device. Part of ../edges.c,
 * which includes it.
 *
 * Host functions that wait for a gate block a stream. The gate opens on its own after a while, so nothing can hang. Several of
 * them run in a row, because the replay does one work item per query.
 */
#include <stdatomic.h>

#ifdef CUVMM_REPLAYS_DRIVER
/* the waiting calls run the work: no other thread could open the gate, and time alone changes nothing */
enum { T_PATIENCE = 0, T_TIME = 0 };
#else
enum { T_PATIENCE = 5000, T_TIME = 1 }; /* milliseconds; does work proceed during a sleep? */
#endif

enum { T_DEPTH = 8 };

static atomic_int t_open;

static void t_sleep(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    if (T_TIME)
        nanosleep(&t, NULL);
}

static void CUDA_CB t_gate(void *unused)
{
    (void)unused;
    for (int waited = 0; !t_open && waited < T_PATIENCE; waited++)
        t_sleep(1);
}

/* Blocks a stream until t_release. */
static void t_hold(CUstream s)
{
    t_open = 0;
    for (int i = 0; i < T_DEPTH; i++) {
        CUresult r = cuLaunchHostFunc(s, t_gate, NULL);
        if (r)
            say("t_hold!", "%s", name_of(r));
    }
}

static void t_release(void)
{
    t_open = 1;
}

static CUevent t_event(void)
{
    CUevent e = NULL;
    CUresult r = cuEventCreate(&e, CU_EVENT_DISABLE_TIMING);
    if (r)
        say("t_event!", "%s", name_of(r));
    return e;
}

/* flags 1: CU_STREAM_NON_BLOCKING */
static CUstream t_stream(unsigned flags)
{
    CUstream s = NULL;
    CUresult r = cuStreamCreate(&s, flags);
    if (r)
        say("t_stream!", "%s", name_of(r));
    return s;
}

static void t_id(char *id, const char *a, const char *b, const char *c)
{
    snprintf(id, CASE_ID, "T.%s.%s%s%s", a, b, *c ? "." : "", c);
}

/* ---- the calls that take an event ---- */

enum { T_DESTROY, T_RECORD, T_QUERY, T_SYNC, T_WAIT, T_CALLS };

static const char *const t_calls[T_CALLS] = {"destroy", "record", "query", "synchronize", "wait"};

static CUresult t_call(size_t call, CUevent e, CUstream s)
{
    switch (call) {
    case T_DESTROY: return cuEventDestroy(e);
    case T_RECORD: return cuEventRecord(e, s);
    case T_QUERY: return cuEventQuery(e);
    case T_SYNC: return cuEventSynchronize(e);
    default: return cuStreamWaitEvent(s, e, 0);
    }
}

/* ---- creation ---- */

static void t_create(void)
{
    static const unsigned flags[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 0x80, 0x100, 0x80000000, 0xffffffff};
    char id[CASE_ID];
    init();
    for (size_t i = 0; i < COUNT(flags); i++) {
        CUevent e = (CUevent)8;
        CUresult r = cuEventCreate(&e, flags[i]);
        snprintf(id, sizeof id, "T.create.flags%x", flags[i]);
        say(id, "%s untouched=%d null=%d", name_of(r), e == (CUevent)8, !e);
        if (!r) {
            snprintf(id, sizeof id, "T.create.flags%x.destroy", flags[i]);
            R(id, cuEventDestroy(e));
        }
    }
}

static void t_create_null(void)
{
    init();
    R("T.create.null", cuEventCreate(NULL, 0));
    R("T.create.null_flags8", cuEventCreate(NULL, 8));
    cuCtxSetCurrent(NULL);
    CUevent e = (CUevent)8;
    R("T.create.null_noctx", cuEventCreate(NULL, 0));
    RV("T.create.noctx", cuEventCreate(&e, 0), "untouched=%d null=%d", e == (CUevent)8, !e);
    e = (CUevent)8;
    RV("T.create.flags8_noctx", cuEventCreate(&e, 8), "untouched=%d null=%d", e == (CUevent)8, !e);
}

static void t_before_init_one(size_t i, char *id, int run)
{
    t_id(id, "uninitialised", i < T_CALLS ? t_calls[i] : "create", "");
    if (run && i < T_CALLS)
        R(id, t_call(i, NULL, NULL));
    else if (run)
        R(id, cuEventCreate(NULL, 0));
}

static void t_nothing(void)
{
}

/* ---- invalid events and invalid streams: a child each ---- */

static const char *const t_values[] = {"null", "forged", "small", "stream", "destroyed", "of_destroyed_context"};

static CUevent t_bad(size_t value)
{
    CUevent e = NULL;
    CUcontext own = NULL, before = NULL;
    switch (value) {
    case 0: return NULL;
    case 1: return (CUevent)0xdead0;
    case 2: return (CUevent)1;
    case 3: return (CUevent)t_stream(0);
    case 4:
        e = t_event();
        R("T.bad.first_destroy", cuEventDestroy(e));
        return e;
    default:
        cuCtxGetCurrent(&before);
        cuCtxCreate(&own, NULL, 0, 0);
        e = t_event();
        cuCtxDestroy(own);
        cuCtxSetCurrent(before);
        return e;
    }
}

/* Call i with a value on the default stream; calls with a stream also run on a created one. */
static void t_bad_one(size_t i, char *id, int run)
{
    const size_t call = i % T_CALLS, value = i / T_CALLS % COUNT(t_values), own = i / T_CALLS / COUNT(t_values);
    t_id(id, own ? "bad_own" : "bad", t_calls[call], t_values[value]);
    if (!run || (own && call != T_RECORD && call != T_WAIT))
        return;
    CUevent e = t_bad(value);
    CUstream s = own ? t_stream(0) : NULL;
    R(id, t_call(call, e, s));
    R(id, cuCtxSynchronize());
}

/* The stream's error is number i / 2; the event's varies as well. */
static void t_bad_stream_one(size_t i, char *id, int run)
{
    static const char *const streams[] = {"destroyed", "forged", "of_destroyed_context"};
    static const char *const events[] = {"good", "null", "of_other_context"};
    const size_t call = i % 2 ? T_WAIT : T_RECORD, stream = i / 2 % COUNT(streams), event = i / 2 / COUNT(streams);
    t_id(id, "bad_stream", t_calls[call], streams[stream]);
    strcat(strcat(id, "."), events[event]);
    if (!run)
        return;
    CUcontext own = NULL, before = NULL;
    CUstream s = stream == 1 ? (CUstream)0xdead0 : t_stream(0);
    CUevent e = event == 1 ? NULL : t_event();
    cuCtxGetCurrent(&before);
    if (event == 2) {
        cuCtxCreate(&own, NULL, 0, 0);
        e = t_event();
        cuCtxSetCurrent(before);
    }
    if (stream == 0)
        cuStreamDestroy(s);
    if (stream == 2) {
        cuCtxCreate(&own, NULL, 0, 0);
        s = t_stream(0);
        cuCtxDestroy(own);
        cuCtxSetCurrent(before);
    }
    R(id, t_call(call, e, s));
}

static void t_wait_flags(void)
{
    static const unsigned flags[] = {0, 1, 2, 3, 4, 8, 0x80000000, 0xffffffff};
    char id[CASE_ID];
    init();
    CUevent e = t_event();
    CUstream s = t_stream(0);
    for (int recorded = 0; recorded < 2; recorded++) {
        for (size_t i = 0; i < COUNT(flags); i++) {
            snprintf(id, sizeof id, "T.wait.flags%x.%s", flags[i], recorded ? "recorded" : "new");
            R(id, cuStreamWaitEvent(s, e, flags[i]));
            snprintf(id, sizeof id, "T.wait.flags%x.%s.default_stream", flags[i], recorded ? "recorded" : "new");
            R(id, cuStreamWaitEvent(NULL, e, flags[i]));
        }
        cuEventRecord(e, s);
    }
    R("T.wait.flags.after", cuCtxSynchronize());
}

static void t_wait_flags_null(void)
{
    init();
    R("T.wait.flags2_null", cuStreamWaitEvent(NULL, NULL, 2));
}

static void t_wait_flags_destroyed(void)
{
    init();
    R("T.wait.flags2_destroyed", cuStreamWaitEvent(NULL, t_bad(4), 2));
}

static void t_wait_flags_no_context(void)
{
    init();
    CUevent e = t_event();
    cuCtxSetCurrent(NULL);
    R("T.wait.flags2_noctx", cuStreamWaitEvent(NULL, e, 2));
    R("T.wait.flags1_noctx", cuStreamWaitEvent(NULL, e, 1));
}

static void t_values_again(void)
{
    init();
    CUevent e = t_event(), next;
    cuEventDestroy(e);
    next = t_event();
    say("T.value_again", "%d", e == next);
}

/* ---- contexts ---- */

static void t_no_context(void)
{
    init();
    CUevent e = t_event();
    CUstream s = t_stream(0);
    cuCtxSetCurrent(NULL);
    R("T.noctx.query", cuEventQuery(e));
    R("T.noctx.synchronize", cuEventSynchronize(e));
    R("T.noctx.record_default", cuEventRecord(e, NULL));
    R("T.noctx.record_legacy", cuEventRecord(e, CU_STREAM_LEGACY));
    R("T.noctx.record_per_thread", cuEventRecord(e, CU_STREAM_PER_THREAD));
    R("T.noctx.record", cuEventRecord(e, s));
    R("T.noctx.query_recorded", (t_sleep(20), cuEventQuery(e)));
    R("T.noctx.synchronize_recorded", cuEventSynchronize(e));
    R("T.noctx.wait_default", cuStreamWaitEvent(NULL, e, 0));
    R("T.noctx.wait_per_thread", cuStreamWaitEvent(CU_STREAM_PER_THREAD, e, 0));
    R("T.noctx.wait", cuStreamWaitEvent(s, e, 0));
    R("T.noctx.destroy", cuEventDestroy(e));
}

static void t_no_context_null_one(size_t i, char *id, int run)
{
    t_id(id, "noctx_null", t_calls[i], "");
    if (!run)
        return;
    cuCtxSetCurrent(NULL);
    R(id, t_call(i, NULL, NULL));
    cuCtxSetCurrent(primary[0]);
}

static void t_two_contexts(void)
{
    init();
    CUcontext two = NULL;
    CUevent one_e = t_event();
    CUstream one_s = t_stream(0);
    cuCtxCreate(&two, NULL, 0, 0);
    CUevent e = t_event();
    CUstream s = t_stream(0);
    R("T.two.record_other_event_own_stream", cuEventRecord(one_e, s));
    R("T.two.record_other_event_default", cuEventRecord(one_e, NULL));
    R("T.two.record_other_event_legacy", cuEventRecord(one_e, CU_STREAM_LEGACY));
    R("T.two.record_other_event_per_thread", cuEventRecord(one_e, CU_STREAM_PER_THREAD));
    R("T.two.record_own_event_other_stream", cuEventRecord(e, one_s));
    R("T.two.record_both_other", cuEventRecord(one_e, one_s));
    R("T.two.synchronize_other", cuEventSynchronize(one_e));
    R("T.two.query_other", cuEventQuery(one_e));
    R("T.two.wait_own_stream", cuStreamWaitEvent(s, one_e, 0));
    R("T.two.wait_default", cuStreamWaitEvent(NULL, one_e, 0));
    R("T.two.wait_other_stream_own_event", cuStreamWaitEvent(one_s, e, 0));
    R("T.two.wait_both_other", cuStreamWaitEvent(one_s, one_e, 0));
    R("T.two.destroy_other", cuEventDestroy(one_e));
    R("T.two.after", cuCtxSynchronize());
    R("T.two.wait_of_destroyed_before", cuEventRecord(e, s));
    cuStreamWaitEvent(one_s, e, 0);
    R("T.two.ctx_destroy", cuCtxDestroy(two));
    R("T.two.stream_that_waited", cuStreamSynchronize(one_s));
}

static void t_current_destroyed(void)
{
    init();
    CUcontext two = NULL;
    CUevent kept = t_event(), e = (CUevent)8;
    CUstream s = t_stream(0);
    cuCtxCreate(&two, NULL, 0, 0);
    cuCtxDestroy(two);
    cuCtxSetCurrent(two);
    RV("T.current_destroyed.create", cuEventCreate(&e, 0), "untouched=%d null=%d", e == (CUevent)8, !e);
    R("T.current_destroyed.query", cuEventQuery(kept));
    R("T.current_destroyed.synchronize", cuEventSynchronize(kept));
    R("T.current_destroyed.record", cuEventRecord(kept, s));
    R("T.current_destroyed.record_default", cuEventRecord(kept, NULL));
    R("T.current_destroyed.wait", cuStreamWaitEvent(s, kept, 0));
    R("T.current_destroyed.wait_default", cuStreamWaitEvent(NULL, kept, 0));
    R("T.current_destroyed.destroy", cuEventDestroy(kept));
}

/* The primary context ends, by reset (0 to 4) or by its last release, with or without its events. */
static void t_primary_one(size_t i, char *id, int run)
{
    const bool reset = i < T_CALLS;
    t_id(id, reset ? "reset" : "released", t_calls[i % T_CALLS], "");
    if (!run)
        return;
    CUevent e = t_event();
    if (reset)
        cuDevicePrimaryCtxReset(0);
    else
        cuDevicePrimaryCtxRelease(0);
    R(id, t_call(i % T_CALLS, e, NULL));
    CUcontext again = NULL;
    cuDevicePrimaryCtxRetain(&again, 0);
    strcat(id, ".retained_again");
    R(id, t_call(i % T_CALLS, e, NULL));
}

/* A context ends while its event is pending; the gate opens after a while, or at once. */
static void t_ctx_destroy_pending(void)
{
    init();
    CUcontext two = NULL;
    cuCtxCreate(&two, NULL, 0, 0);
    CUevent e = t_event();
    CUstream s = t_stream(0);
    t_hold(s);
    cuEventRecord(e, s);
    t_release();
    R("T.ctx_destroy_pending", cuCtxDestroy(two));
}

/* ---- the captured work ---- */

static void t_never_recorded(void)
{
    init();
    CUevent e = t_event();
    CUstream s = t_stream(0);
    R("T.new.query", cuEventQuery(e));
    R("T.new.synchronize", cuEventSynchronize(e));
    R("T.new.wait", cuStreamWaitEvent(s, e, 0));
    R("T.new.wait_default", cuStreamWaitEvent(NULL, e, 0));
    R("T.new.wait_per_thread", cuStreamWaitEvent(CU_STREAM_PER_THREAD, e, 0));
    R("T.new.stream_query", (t_sleep(20), cuStreamQuery(s)));
    R("T.new.destroy", cuEventDestroy(e));
    R("T.new.after", cuCtxSynchronize());
}

static void t_pending(void)
{
    init();
    CUevent e = t_event();
    CUstream s = t_stream(0);
    t_hold(s);
    R("T.pending.record", cuEventRecord(e, s));
    R("T.pending.query", cuEventQuery(e));
    R("T.pending.query_again", cuEventQuery(e));
    R("T.pending.stream_query", cuStreamQuery(s));
    t_release();
    R("T.pending.synchronize", cuEventSynchronize(e));
    R("T.pending.query_after", cuEventQuery(e));
    R("T.pending.synchronize_again", cuEventSynchronize(e));
    R("T.pending.stream_query_after", (t_sleep(20), cuStreamQuery(s)));
}

/* Work after the record is not waited for. */
static void t_later_work(void)
{
    init();
    CUevent e = t_event();
    CUstream s = t_stream(0);
    cuEventRecord(e, s);
    t_hold(s);
    R("T.later.synchronize", cuEventSynchronize(e));
    R("T.later.query", cuEventQuery(e));
    R("T.later.stream_query", cuStreamQuery(s));
    t_release();
    R("T.later.end", cuCtxSynchronize());
}

static void t_again(void)
{
    init();
    CUevent e = t_event();
    CUstream busy = t_stream(1), idle = t_stream(1), waits = t_stream(1);
    t_hold(busy);
    cuEventRecord(e, busy);
    R("T.again.before", cuEventQuery(e));
    R("T.again.wait", cuStreamWaitEvent(waits, e, 0));
    R("T.again.record", cuEventRecord(e, idle));
    R("T.again.query", (t_sleep(20), cuEventQuery(e)));
    R("T.again.synchronize", cuEventSynchronize(e));
    R("T.again.earlier_wait", cuStreamQuery(waits));
    R("T.again.record_third", cuEventRecord(e, waits));
    R("T.again.query_third", cuEventQuery(e));
    t_release();
    R("T.again.synchronize_third", cuEventSynchronize(e));
    R("T.again.end", cuCtxSynchronize());
}

static void t_destroy_pending(void)
{
    init();
    CUevent e = t_event();
    CUstream busy = t_stream(1), waits = t_stream(1);
    t_hold(busy);
    cuEventRecord(e, busy);
    cuStreamWaitEvent(waits, e, 0);
    R("T.destroy_pending.destroy", cuEventDestroy(e));
    R("T.destroy_pending.waiter", cuStreamQuery(waits));
    t_release();
    R("T.destroy_pending.waiter_after", cuStreamSynchronize(waits));
    R("T.destroy_pending.end", cuCtxSynchronize());
}

static void t_stream_destroyed(void)
{
    init();
    CUevent e = t_event();
    CUstream busy = t_stream(1), waits = t_stream(1);
    t_hold(busy);
    cuEventRecord(e, busy);
    R("T.stream_destroyed.destroy", cuStreamDestroy(busy));
    R("T.stream_destroyed.query", cuEventQuery(e));
    R("T.stream_destroyed.wait", cuStreamWaitEvent(waits, e, 0));
    R("T.stream_destroyed.waiter", cuStreamQuery(waits));
    t_release();
    R("T.stream_destroyed.synchronize", cuEventSynchronize(e));
    R("T.stream_destroyed.end", cuCtxSynchronize());
}

/* The work of another stream that a record captures: [blocked] then [recorded]. */
enum { T_LEGACY, T_PER_THREAD, T_BLOCKING, T_OTHER, T_NON_BLOCKING, T_NULL, T_PLACES };

static const char *const t_places[T_PLACES] = {"legacy", "per_thread", "blocking", "other", "non_blocking", "null"};

static void t_streams(CUstream s[T_PLACES])
{
    s[T_LEGACY] = CU_STREAM_LEGACY;
    s[T_PER_THREAD] = CU_STREAM_PER_THREAD;
    s[T_BLOCKING] = t_stream(0);
    s[T_OTHER] = t_stream(0);
    s[T_NON_BLOCKING] = t_stream(1);
    s[T_NULL] = NULL;
}

static void t_captures_one(size_t i, char *id, int run)
{
    const size_t held = i / T_PLACES, recorded = i % T_PLACES;
    t_id(id, "captures", t_places[held], t_places[recorded]);
    if (!run)
        return;
    CUstream s[T_PLACES];
    t_streams(s);
    CUevent e = t_event();
    t_hold(s[held]);
    CUresult record = cuEventRecord(e, s[recorded]);
    t_sleep(20);
    CUresult query = cuEventQuery(e);
    t_release();
    CUresult sync = cuEventSynchronize(e);
    say(id, "%s query=%s sync=%s", name_of(record), name_of(query), name_of(sync));
    cuCtxSynchronize();
}

/* Does a stream proceed after that wait? f: an event for its work. */
static void t_tell_held_up(const char *id, CUresult wait, CUstream asked, CUevent f)
{
    t_sleep(20);
    CUresult query = cuStreamQuery(asked);
    CUresult record = cuEventRecord(f, asked);
    t_sleep(20);
    CUresult captured = cuEventQuery(f);
    t_release();
    say(id, "%s query=%s record=%s captured=%s", name_of(wait), name_of(query), name_of(record), name_of(captured));
    cuCtxSynchronize();
}

/* The streams that are blocked when one stream waits for a blocked non-blocking one: [waits] then [queried]. */
static void t_holds_up_one(size_t i, char *id, int run)
{
    const size_t waits = i / T_PLACES, asked = i % T_PLACES;
    t_id(id, "holds_up", t_places[waits], t_places[asked]);
    if (!run)
        return;
    CUstream s[T_PLACES], held = t_stream(1);
    t_streams(s);
    CUevent e = t_event(), f = t_event();
    t_hold(held);
    cuEventRecord(e, held);
    CUresult wait = cuStreamWaitEvent(s[waits], e, 0);
    t_tell_held_up(id, wait, s[asked], f);
}

/* A wait without effect, because the event was never recorded or its work is done: does it still take a place in its stream's
 * order, between the blocked stream and streams that wait for nothing else? [waits] then [queried]. */
static void t_for_nothing_one(size_t i, char *id, int run)
{
    const size_t recorded = i / (T_PLACES * T_PLACES), waits = i / T_PLACES % T_PLACES, asked = i % T_PLACES;
    t_id(id, recorded ? "waits_for_done" : "waits_for_nothing", t_places[waits], t_places[asked]);
    if (!run)
        return;
    CUstream s[T_PLACES], held = t_stream(0), idle = t_stream(1);
    t_streams(s);
    CUevent e = t_event(), f = t_event();
    if (recorded) {
        cuEventRecord(e, idle);
        cuEventSynchronize(e);
    }
    t_hold(held);
    CUresult wait = cuStreamWaitEvent(s[waits], e, 0);
    t_tell_held_up(id, wait, s[asked], f);
}

/* A stream waits for its own event, and two streams wait for each other's. */
static void t_circle(void)
{
    init();
    CUevent e = t_event(), f = t_event();
    CUstream a = t_stream(1), b = t_stream(1);
    t_hold(a);
    cuEventRecord(e, a);
    R("T.circle.own", cuStreamWaitEvent(a, e, 0));
    R("T.circle.record_b", cuEventRecord(f, b));
    R("T.circle.a_for_b", cuStreamWaitEvent(a, f, 0));
    R("T.circle.b_for_a", cuStreamWaitEvent(b, e, 0));
    t_release();
    R("T.circle.end", cuCtxSynchronize());
}

/* ---- memory ---- */

static CUdeviceptr t_memory(void)
{
    CUdeviceptr p = reserve(4 * G);
    map(p, 4 * G, make(4 * G));
    give(p, 4 * G, L_DEVICE, RW);
    return p;
}

static void t_unmap_after_event(void)
{
    init();
    CUdeviceptr p = t_memory();
    CUevent e = t_event();
    CUstream s = t_stream(1), other = t_stream(1);
    t_hold(s);
    R("T.unmap.fill", cuMemsetD8Async(p, 1, 4 * G, s));
    cuEventRecord(e, s);
    cuStreamWaitEvent(other, e, 0);
    t_release();
    R("T.unmap.synchronize", cuEventSynchronize(e));
    R("T.unmap.unmap", cuMemUnmap(p, 4 * G));
    R("T.unmap.end", cuCtxSynchronize());
}

/* ---- inside a host function ---- */

static CUevent t_inside_event[2]; /* complete; never recorded */
static CUstream t_inside_stream;
static CUcontext t_inside_context;

static void CUDA_CB t_inside(void *unused)
{
    (void)unused;
    CUevent e = (CUevent)8;
    R("T.inside.query", cuEventQuery(t_inside_event[0]));
    R("T.inside.query_new", cuEventQuery(t_inside_event[1]));
    R("T.inside.stream_query", cuStreamQuery(t_inside_stream));
    R("T.inside.create_noctx", cuEventCreate(&e, 0));
    R("T.inside.set_current", cuCtxSetCurrent(t_inside_context));
    RV("T.inside.create", cuEventCreate(&e, 0), "untouched=%d null=%d", e == (CUevent)8, !e);
    R("T.inside.create_null", cuEventCreate(NULL, 0));
    R("T.inside.synchronize", cuEventSynchronize(t_inside_event[0]));
    R("T.inside.record", cuEventRecord(t_inside_event[1], t_inside_stream));
    R("T.inside.wait", cuStreamWaitEvent(t_inside_stream, t_inside_event[0], 0));
    R("T.inside.destroy", cuEventDestroy(t_inside_event[1]));
}

static void CUDA_CB t_inside_null(void *unused)
{
    (void)unused;
    R("T.inside_null.query", cuEventQuery(NULL));
    R("T.inside_null.synchronize", cuEventSynchronize(NULL));
}

static void t_host_function(void)
{
    init();
    CUstream s = t_stream(1);
    t_inside_context = primary[0];
    t_inside_stream = t_stream(1);
    t_inside_event[0] = t_event();
    t_inside_event[1] = t_event();
    cuEventRecord(t_inside_event[0], t_inside_stream);
    cuEventSynchronize(t_inside_event[0]);
    cuLaunchHostFunc(s, t_inside, NULL);
    R("T.inside.end", cuCtxSynchronize());
    R("T.inside.query_after", cuEventQuery(t_inside_event[1]));
    R("T.inside.destroy_after", cuEventDestroy(t_inside_event[1]));
}

static void t_host_function_null(void)
{
    init();
    cuLaunchHostFunc(NULL, t_inside_null, NULL);
    R("T.inside_null.end", cuCtxSynchronize());
}

/* ---- a lost device: a fill in flight when its memory was unmapped ---- */

static const char *const t_lost[] = {"query_before", "synchronize_before", "query_after", "synchronize_after",
                                     "query_new",    "synchronize_new",    "record",      "wait_before",
                                     "wait_after",   "create",             "destroy"};

static CUresult t_lost_call(size_t i, CUevent e[3], CUstream s)
{
    CUevent made = NULL;
    switch (i) {
    case 0: return cuEventQuery(e[0]);
    case 1: return cuEventSynchronize(e[0]);
    case 2: return cuEventQuery(e[1]);
    case 3: return cuEventSynchronize(e[1]);
    case 4: return cuEventQuery(e[2]);
    case 5: return cuEventSynchronize(e[2]);
    case 6: return cuEventRecord(e[2], s);
    case 7: return cuStreamWaitEvent(s, e[0], 0);
    case 8: return cuStreamWaitEvent(s, e[1], 0);
    case 9: return cuEventCreate(&made, 0);
    default: return cuEventDestroy(e[1]);
    }
}

/* e: recorded before the fill, after it, and never. Case i is the first call after the fault, or one after the fault was
 * reported. */
static void t_lost_one(size_t i, char *id, int run)
{
    const bool told = i >= COUNT(t_lost);
    t_id(id, told ? "lost" : "fault", t_lost[i % COUNT(t_lost)], "");
    if (!run)
        return;
    CUdeviceptr p = t_memory();
    CUevent e[3] = {t_event(), t_event(), t_event()};
    CUstream s = t_stream(1), other = t_stream(1);
    cuEventRecord(e[0], s);
    cuEventSynchronize(e[0]);
    t_hold(s);
    cuMemsetD8Async(p, 1, 4 * G, s);
    cuEventRecord(e[1], s);
    cuMemUnmap(p, 4 * G);
    t_release();
    t_sleep(100);
    if (told)
        cuStreamSynchronize(s);
    CUresult first = t_lost_call(i % COUNT(t_lost), e, other), sync = cuCtxSynchronize();
    say(id, "%s sync=%s", name_of(first), name_of(sync));
}

/* All calls after the fault was reported, in one process. */
static void t_lost_row(void)
{
    init();
    CUdeviceptr p = t_memory();
    CUstream s = t_stream(1);
    t_hold(s);
    cuMemsetD8Async(p, 1, 4 * G, s);
    CUevent e = t_event();
    cuMemUnmap(p, 4 * G);
    t_release();
    R("T.lost_row.tell", cuCtxSynchronize());
    CUevent made = (CUevent)8;
    RV("T.lost_row.create", cuEventCreate(&made, 0), "untouched=%d null=%d", made == (CUevent)8, !made);
    R("T.lost_row.create_flags", cuEventCreate(&made, 8));
    R("T.lost_row.create_null", cuEventCreate(NULL, 0));
    R("T.lost_row.wait_flags", cuStreamWaitEvent(s, e, 2));
    R("T.lost_row.wait_external", cuStreamWaitEvent(s, e, 1));
    R("T.lost_row.record_default", cuEventRecord(e, NULL));
    R("T.lost_row.record_per_thread", cuEventRecord(e, CU_STREAM_PER_THREAD));
    R("T.lost_row.destroy", cuEventDestroy(e));
}

/* Runs each case in a child. */
static void t_each(size_t count, case_one one, void (*start)(void))
{
    for (size_t i = 0; i < count; i++) {
        char id[CASE_ID];
        one(i, id, 0);
        strcat(id, "!");
        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0) {
            alarm(20);
            start();
            one(i, id, 1);
            fflush(stdout);
            _exit(0);
        }
        report(id, pid);
    }
}

static void group_t(void)
{
    static const struct {
        const char *id;
        void (*body)(void);
    } parts[] = {{"T.create!", t_create},
                 {"T.create_null!", t_create_null},
                 {"T.wait_flags!", t_wait_flags},
                 {"T.wait_flags_null!", t_wait_flags_null},
                 {"T.wait_flags_destroyed!", t_wait_flags_destroyed},
                 {"T.wait_flags_noctx!", t_wait_flags_no_context},
                 {"T.value_again!", t_values_again},
                 {"T.noctx!", t_no_context},
                 {"T.two!", t_two_contexts},
                 {"T.current_destroyed!", t_current_destroyed},
                 {"T.ctx_destroy_pending!", t_ctx_destroy_pending},
                 {"T.new!", t_never_recorded},
                 {"T.pending!", t_pending},
                 {"T.later!", t_later_work},
                 {"T.again!", t_again},
                 {"T.destroy_pending!", t_destroy_pending},
                 {"T.stream_destroyed!", t_stream_destroyed},
                 {"T.circle!", t_circle},
                 {"T.unmap!", t_unmap_after_event},
                 {"T.inside!", t_host_function},
                 {"T.inside_null!", t_host_function_null},
                 {"T.lost_row!", t_lost_row}};
    for (size_t i = 0; i < COUNT(parts); i++)
        child(parts[i].id, parts[i].body);
    if (!is_wanted("T.x"))
        return;
    t_each(T_CALLS + 1, t_before_init_one, t_nothing);
    t_each(2 * T_CALLS * COUNT(t_values), t_bad_one, init);
    t_each(18, t_bad_stream_one, init);
    t_each(T_CALLS, t_no_context_null_one, init);
    t_each(2 * T_CALLS, t_primary_one, init);
    run_cases(init, T_PLACES * T_PLACES, t_captures_one);
    run_cases(init, T_PLACES * T_PLACES, t_holds_up_one);
    run_cases(init, 2 * COUNT(t_lost), t_lost_one);
    run_cases(init, 2 * T_PLACES * T_PLACES, t_for_nothing_one);
}
