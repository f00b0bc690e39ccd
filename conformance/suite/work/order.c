/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses that nothing orders, under each schedule: what is found, the two accesses that it names, and what must stay silent. */
#include <stdio.h>
#include <string.h>

#include "scheduled.h"
#include "test.h"

/* What the system of a scenario reported. */
struct told {
    unsigned streams, host, unwritten, other;
    vmm_order last;
};

struct scene {
    struct fix *f;
    vmm_stream s, t; /* non-blocking */
    vmm_event e;
    vmm_deviceptr p; /* two granules */
    struct told told;
};

static void hear(void *user, const vmm_detail *detail)
{
    struct told *told = user;
    const char *rule = detail->rule ? detail->rule : "";
    unsigned *count = strcmp(rule, "VMM-ORDER-STREAMS") == 0    ? &told->streams
                      : strcmp(rule, "VMM-ORDER-HOST") == 0     ? &told->host
                      : strcmp(rule, "VMM-UNWRITTEN-READ") == 0 ? &told->unwritten
                                                                : &told->other;
    ++*count;
    if (detail->order)
        told->last = *detail->order;
}

#undef S
#define S (scene->f->sys)

static void fill(struct scene *scene, vmm_stream stream, uint64_t at, uint64_t size)
{
    fix_need(scene->f, vmm_memset_d8_async(S, scene->p + at, 7, size, stream));
}

static void copy(struct scene *scene, vmm_stream stream, uint64_t to, uint64_t from, uint64_t size)
{
    fix_need(scene->f, vmm_memcpy_dtod_async(S, scene->p + to, scene->p + from, size, stream));
}

static void kernel(struct scene *scene, vmm_stream stream, uint64_t at, uint64_t size)
{
    fix_need(scene->f, LAUNCH(stream, FILL, scene->p + at, size, 7));
}

static void add(struct scene *scene, vmm_stream stream)
{
    fix_need(scene->f, LAUNCH(stream, ATOMIC_ADD, scene->p, 1));
}

static void order(struct scene *scene, vmm_stream first, vmm_stream second)
{
    fix_need(scene->f, vmm_event_record(S, scene->e, first));
    fix_need(scene->f, vmm_stream_wait_event(S, second, scene->e, 0));
}

static void sync(struct scene *scene, vmm_stream stream)
{
    fix_need(scene->f, vmm_stream_synchronize(S, stream));
}

static void set_flag(void *user)
{
    *(int *)user = 1;
}

static void peek(struct scene *scene, uint64_t at)
{
    uint64_t word;
    fix_need(scene->f, vmm_memcpy_dtoh(S, &word, scene->p + at, sizeof word));
}

typedef void (*action)(struct scene *scene);

/* Runs the scene under a schedule, and waits for all that it has issued. */
static struct told played(struct fix *root, const char *schedule, const char *options, action act)
{
    struct fix own;
    struct scene whole = {.f = &own}, *scene = &whole;
    char spec[64];
    snprintf(spec, sizeof spec, "%s%s", schedule, options);
    scheduled_open(root, &own, spec);
    vmm_set_report(S, hear, &whole.told);
    scene->s = fix_stream(&own);
    scene->t = fix_stream(&own);
    fix_need(&own, vmm_event_create(S, &scene->e, VMM_EVENT_DISABLE_TIMING));
    scene->p = fix_mapped(&own, 2 * own.g, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, NULL);
    act(scene);
    fix_need(&own, vmm_ctx_synchronize(S));
    fix_need(&own, vmm_event_destroy(S, scene->e));
    struct told told = whole.told;
    vmm_set_report(S, NULL, NULL);
    fix_close(&own);
    return told;
}

static void check_finds(struct fix *f, const char *options, unsigned offset, action act, const char *what)
{
    for (int i = 0; i < SCHEDULES; i++) {
        struct told told = played(f, schedules[i], options, act);
        const unsigned counts[] = {told.streams, told.host, told.unwritten};
        CHECK(counts[offset] == 1 && told.streams + told.host + told.unwritten == 1 && !told.other,
              "%s, %s: %u between streams, %u with the host, %u unwritten, %u others", what, schedules[i], told.streams, told.host,
              told.unwritten, told.other);
    }
}

static void check_silent(struct fix *f, const char *options, action act, const char *what)
{
    for (int i = 0; i < SCHEDULES; i++) {
        struct told told = played(f, schedules[i], options, act);
        CHECK(!told.streams && !told.host && !told.unwritten && !told.other, "%s, %s: %s, %s of call %llu", what, schedules[i],
              told.last.missing, told.last.second.issued.function ? told.last.second.issued.function : "",
              (unsigned long long)told.last.second.issued.call);
    }
}

#define FINDS(rule, act) check_finds(f, ",order=report", rule, act, #act)
#define SILENT(act) check_silent(f, ",order=report", act, #act)
enum { STREAMS_RULE, HOST_RULE, UNWRITTEN_RULE };

/* ---- between streams ---- */

static void fill_and_copy(struct scene *s) { fill(s, s->s, 0, 64); copy(s, s->t, 4096, 63, 64); }
static void copy_and_fill(struct scene *s) { copy(s, s->s, 4096, 0, 64); fill(s, s->t, 0, 64); }
static void two_kernels(struct scene *s) { kernel(s, s->s, 0, 64); kernel(s, s->t, 32, 64); }
static void kernel_and_add(struct scene *s) { kernel(s, s->s, 0, 8); add(s, s->t); }
static void default_and_free(struct scene *s) { fill(s, NULL, 0, 64); copy(s, s->t, 4096, 0, 64); }
static void record_too_early(struct scene *s) { order(s, s->s, s->t); fill(s, s->s, 0, 64); copy(s, s->t, 4096, 0, 64); }
static void other_way_round(struct scene *s) { fill(s, s->s, 0, 64); order(s, s->t, s->s); copy(s, s->t, 4096, 0, 64); }

/* The default stream's fill may still run when its call has returned. */
static void fill_without_async(struct scene *scene)
{
    fix_need(scene->f, vmm_memset_d8(S, scene->p, 7, 64));
    copy(scene, scene->t, 4096, 0, 64);
}

static void wait_for_another_stream(struct scene *scene)
{
    fill(scene, scene->s, 0, 64);
    sync(scene, scene->t);
    copy(scene, scene->t, 4096, 0, 64);
}

/* The same memory at another address. */
static void through_an_alias(struct scene *scene)
{
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_deviceptr q = 0;
    const vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    const uint64_t g = scene->f->g;
    fix_need(scene->f, vmm_mem_retain_allocation_handle(S, &handle, scene->p));
    fix_need(scene->f, vmm_mem_address_reserve(S, &q, 2 * g, 0, 0, 0));
    fix_need(scene->f, vmm_mem_map(S, q, 2 * g, 0, handle, 0));
    fix_need(scene->f, vmm_mem_set_access(S, q, 2 * g, &desc, 1));
    fill(scene, scene->s, 128, 64);
    fix_need(scene->f, vmm_memset_d8_async(S, q + 130, 1, 1, scene->t));
    fix_need(scene->f, vmm_ctx_synchronize(S));
    fix_need(scene->f, vmm_mem_unmap(S, q, 2 * g));
    fix_need(scene->f, vmm_mem_address_free(S, q, 2 * g));
    fix_need(scene->f, vmm_mem_release(S, handle));
}

TEST_BREAKS(ORDER_STREAMS, accesses_of_streams_that_nothing_orders)
{
    FINDS(STREAMS_RULE, fill_and_copy);
    FINDS(STREAMS_RULE, copy_and_fill);
    FINDS(STREAMS_RULE, two_kernels);
    FINDS(STREAMS_RULE, kernel_and_add);
    FINDS(STREAMS_RULE, default_and_free);
    FINDS(STREAMS_RULE, fill_without_async);
    FINDS(STREAMS_RULE, record_too_early);
    FINDS(STREAMS_RULE, other_way_round);
    FINDS(STREAMS_RULE, wait_for_another_stream);
    FINDS(STREAMS_RULE, through_an_alias);
}

/* Both accesses with their calls, streams and bytes, and what is missing. */
TEST_EXPECTS("order.names_both_accesses", both_accesses_are_named)
{
    for (int i = 0; i < SCHEDULES; i++) {
        const vmm_order found = played(f, schedules[i], ",order=report", fill_and_copy).last;
        CHECK(found.first.issued.function && strcmp(found.first.issued.function, "cuMemsetD8Async") == 0 && found.first.writes &&
                  found.second.issued.function && strcmp(found.second.issued.function, "cuMemcpyDtoDAsync") == 0 &&
                  !found.second.writes && found.first.issued.call + 1 == found.second.issued.call &&
                  found.first.stream_number + 1 == found.second.stream_number && found.offset == 63 && found.size == 1 && found.memory,
              "%s: call %llu and call %llu at %llu", schedules[i], (unsigned long long)found.first.issued.call,
              (unsigned long long)found.second.issued.call, (unsigned long long)found.offset);
        CHECK(strstr(found.missing, "cuStreamWaitEvent") != NULL, "missing: %s", found.missing);
    }
}

static void with_an_event(struct scene *s) { fill(s, s->s, 0, 64); order(s, s->s, s->t); copy(s, s->t, 4096, 0, 64); }
static void after_a_wait(struct scene *s) { kernel(s, s->s, 0, 64); sync(s, s->s); kernel(s, s->t, 0, 64); }
static void in_one_stream(struct scene *s) { kernel(s, s->s, 0, 64); copy(s, s->s, 4096, 0, 64); }
static void other_bytes(struct scene *s) { kernel(s, s->s, 0, 64); kernel(s, s->t, 64, 64); }
static void two_readers(struct scene *s) { copy(s, s->s, 4096, 0, 64); copy(s, s->t, 8192, 0, 64); }
static void two_adders(struct scene *s) { add(s, s->s); add(s, s->t); }

static void through_a_third_stream(struct scene *scene)
{
    fill(scene, scene->s, 0, 64);
    order(scene, scene->s, NULL);
    order(scene, NULL, scene->t);
    copy(scene, scene->t, 4096, 0, 64);
}

static void blocking_streams(struct scene *scene)
{
    const vmm_stream a = blocking_stream(scene->f), b = blocking_stream(scene->f);
    fill(scene, a, 0, 64);
    fill(scene, NULL, 0, 64);
    copy(scene, b, 4096, 0, 64);
}

static void after_a_query(struct scene *scene)
{
    fill(scene, scene->s, 0, 64);
    while (vmm_stream_query(S, scene->s) != VMM_SUCCESS)
        continue;
    copy(scene, scene->t, 4096, 0, 64);
}

/* A host function that has started proves what came before it. */
static void after_a_host_function(struct scene *scene)
{
    int flag = 0;
    fill(scene, scene->s, 0, 64);
    fix_need(scene->f, vmm_launch_host_func(S, scene->s, set_flag, &flag));
    while (!flag)
        (void)vmm_stream_query(S, scene->s);
    copy(scene, scene->t, 4096, 0, 64);
}

/* A value that a stream waits for, written before the wait was issued and after. */
static void through_a_value(struct scene *scene)
{
    fill(scene, scene->s, 0, 64);
    fix_need(scene->f, vmm_stream_write_value32(S, scene->s, scene->p + 8192, 1, 0));
    fix_need(scene->f, vmm_stream_wait_value32(S, scene->t, scene->p + 8192, 1, VMM_STREAM_WAIT_VALUE_EQ));
    copy(scene, scene->t, 4096, 0, 64);
}

static void through_a_later_value(struct scene *scene)
{
    fix_need(scene->f, vmm_stream_wait_value32(S, scene->t, scene->p + 8192, 1, VMM_STREAM_WAIT_VALUE_EQ));
    copy(scene, scene->t, 4096, 0, 64);
    fill(scene, scene->s, 0, 64);
    fix_need(scene->f, vmm_stream_write_value32(S, scene->s, scene->p + 8192, 1, 0));
}

TEST_NEAR_MISS(ORDER_STREAMS, accesses_that_something_orders)
{
    SILENT(with_an_event);
    SILENT(after_a_wait);
    SILENT(in_one_stream);
    SILENT(other_bytes);
    SILENT(two_readers);
    SILENT(two_adders);
    SILENT(through_a_third_stream);
    SILENT(blocking_streams);
    SILENT(after_a_query);
    SILENT(after_a_host_function);
    SILENT(through_a_value);
    SILENT(through_a_later_value);
}

/* ---- with the host ---- */

static void read_too_early(struct scene *s) { fill(s, s->s, 0, 64); peek(s, 0); }
static void read_after_another(struct scene *s) { kernel(s, s->s, 0, 64); sync(s, s->t); peek(s, 8); }

static void overwrite_too_early(struct scene *scene)
{
    const uint64_t word = 5;
    copy(scene, scene->s, 4096, 0, 64);
    fix_need(scene->f, vmm_memcpy_htod(S, scene->p, &word, sizeof word));
}

TEST_BREAKS(ORDER_HOST, copies_of_the_host_that_wait_for_nothing)
{
    FINDS(HOST_RULE, read_too_early);
    FINDS(HOST_RULE, read_after_another);
    FINDS(HOST_RULE, overwrite_too_early);
}

static void read_after_a_wait(struct scene *s) { fill(s, s->s, 0, 64); sync(s, s->s); peek(s, 0); }
static void read_beside_it(struct scene *s) { fill(s, s->s, 0, 64); peek(s, 64); }
static void read_what_is_read(struct scene *s) { copy(s, s->s, 4096, 0, 64); peek(s, 0); }

static void read_a_blocking_stream(struct scene *scene)
{
    kernel(scene, blocking_stream(scene->f), 0, 64);
    peek(scene, 0);
}

static void copy_before_the_work(struct scene *scene)
{
    const uint64_t word = 5;
    fix_need(scene->f, vmm_memcpy_htod(S, scene->p, &word, sizeof word));
    copy(scene, scene->s, 4096, 0, 64);
}

TEST_NEAR_MISS(ORDER_HOST, copies_of_the_host_that_wait)
{
    SILENT(read_after_a_wait);
    SILENT(read_beside_it);
    SILENT(read_what_is_read);
    SILENT(read_a_blocking_stream);
    SILENT(copy_before_the_work);
}

/* ---- bytes that nothing wrote ---- */

static void read_new_memory(struct scene *s) { peek(s, 0); }
static void read_past_the_fill(struct scene *s) { fill(s, s->s, 0, 64); sync(s, s->s); peek(s, 60); }
static void read_what_was_copied(struct scene *s) { copy(s, s->s, 4096, 0, 64); sync(s, s->s); peek(s, 4096); }

static void kernel_reads(struct scene *scene)
{
    fix_need(scene->f, LAUNCH(scene->s, COPY, scene->p + 4096, scene->p, 64));
}

TEST_BREAKS(UNWRITTEN_READ, reads_of_bytes_that_nothing_wrote)
{
    static const action acts[] = {read_new_memory, read_past_the_fill, read_what_was_copied, kernel_reads};
    for (size_t i = 0; i < sizeof acts / sizeof acts[0]; i++)
        check_finds(f, ",unwritten=report", UNWRITTEN_RULE, acts[i], "unwritten");
}

static void read_the_fill(struct scene *s) { fill(s, s->s, 0, 64); sync(s, s->s); peek(s, 56); }

static void read_a_copy_of_the_fill(struct scene *scene)
{
    kernel(scene, scene->s, 0, 64);
    copy(scene, scene->s, 4096, 0, 64);
    fix_need(scene->f, LAUNCH(scene->s, COPY, scene->p + 8192, scene->p + 4096, 64));
    sync(scene, scene->s);
    peek(scene, 8192);
}

TEST_NEAR_MISS(UNWRITTEN_READ, reads_of_bytes_that_were_written)
{
    check_silent(f, ",unwritten=report", read_the_fill, "a fill");
    check_silent(f, ",unwritten=report", read_a_copy_of_the_fill, "a copy of a fill");
}
