/* SPDX-License-Identifier: Apache-2.0 */
#include "growth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "growth_files.h"
#include "growth_series.h"
#include "random.h"
#include "system.h"
#include "tap.h"

/* ---- one group's values ---- */

static bool grows(const char *values, unsigned steps)
{
    struct growth_series series;
    growth_series_begin(&series, 0);
    bool grew = false;
    for (const char *at = values; *at; at++) {
        growth_series_add(&series, (uint64_t)(*at - '0'));
        grew |= growth_series_grows(&series, steps) >= 0;
    }
    return grew;
}

static void test_series(void)
{
    tap_ok(grows("1234", 3) && !grows("123", 3), "three rises in a row are growth, two are not");
    tap_ok(!grows("1232345", 4) && grows("123234567", 4), "a fall in between begins anew");
    tap_ok(!grows("1112223", 3) && grows("1122334455", 3), "the least of each two marks grows where it does not at each");
    tap_ok(!grows("4656465646564656", 3), "objects that come and go are not growth");
    tap_ok(grows("19293949596979", 3), "unless its least does");
    tap_ok(!grows("5123451234512345", 3), "a rise after a fall is not growth");
    tap_ok(grows("91234567899", 3), "a peak at the beginning hides none, for the least of each two shows it");
    tap_ok(!grows("12345", 5) && grows("123456", 5), "as many rises as are asked for");
    struct growth_series late;
    growth_series_begin(&late, 5);
    growth_series_add(&late, 1);
    growth_series_add(&late, 2);
    tap_ok(growth_series_grows(&late, 3) < 0, "a group that came late was nothing before, which is one rise");
    growth_series_add(&late, 3);
    tap_ok(growth_series_grows(&late, 3) == 0 && late.first == 0, "and is compared from there");
}

/* Slow leaks with noise that comes and goes are found, noise alone is not. */
static void test_noise(void)
{
    uint64_t random = random_seed(22);
    unsigned wrong = 0, missed = 0;
    for (int round = 0; round < 300; round++) {
        struct growth_series leak;
        growth_series_begin(&leak, 0);
        uint64_t each = 1 + random_below(&random, 100), noise = 1 + random_below(&random, 20);
        for (uint64_t mark = 0; mark < 4096; mark++)
            growth_series_add(&leak, 50 + mark / each + random_below(&random, noise));
        missed += growth_series_grows(&leak, 3) < 0;
    }
    tap_u64(missed, 0, "a leak of one each 1 to 100 marks is found in 4,096, whatever the noise");
    for (int round = 0; round < 300; round++) {
        struct growth_series cache;
        growth_series_begin(&cache, 0);
        bool grew = false;
        for (uint64_t mark = 0; mark < 4096; mark++) {
            growth_series_add(&cache, 50 + (mark * 5 % 7) * (mark % 3) + (mark < 20 ? mark == 0 : random_below(&random, 5)));
            grew |= growth_series_grows(&cache, 3) >= 0;
        }
        wrong += grew;
    }
    tap_u64(wrong, 0, "a cache that comes and goes in rounds is not");
}

/* ---- a system ---- */

static vmm_system *sys;
static vmm_detail found[40];
static unsigned count;

static void collect(void *user, const vmm_detail *detail)
{
    (void)user;
    if (count < sizeof found / sizeof found[0])
        found[count++] = *detail;
}

static struct growth *begin(unsigned steps)
{
    struct growth *growth = growth_new(steps);
    count = 0;
    if (!growth || vmm_open("sim:h100", &sys) || vmm_init(sys, 0))
        tap_bail("no machine");
    return growth;
}

static void end(struct growth *growth)
{
    growth_free(growth);
    vmm_close(sys);
}

static vmm_mem_generic_allocation_handle create(void)
{
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    if (vmm_mem_create(sys, &handle, 2 << 20, &prop, 0))
        tap_bail("no memory");
    return handle;
}

static vmm_deviceptr reserve(void)
{
    vmm_deviceptr at = 0;
    if (vmm_mem_address_reserve(sys, &at, 2 << 20, 0, 0, 0))
        tap_bail("no addresses");
    return at;
}

static void test_each_mark(void)
{
    struct growth *growth = begin(3);
    create();
    for (int step = 0; step < 6; step++) {
        create();
        vmm_mem_release(sys, create());
        growth_mark(growth, sys, "step", collect, NULL);
        tap_u64(count, step < 3 ? 0 : 1, "%u steps, each leaks a handle", step + 1);
    }
    tap_text(found[0].rule, "VMM-LEAK-GROWS", "the rule");
    tap_ok(found[0].severity == VMM_SEVERITY_WARNING && !strcmp(found[0].function, "cuMemCreate") &&
               found[0].nearest.kind == VMM_OBJECT_HANDLE && found[0].nearest.number > 4,
           "the growing kind and its newest object");
    tap_text(found[0].note,
             "5 handles, 10 MiB held at mark 4 \"step\", 2 at the first; it grew at 3 marks in a row, about 1 a mark",
             "how many, how much, how fast");
    end(growth);
}

/* Near misses: a program that holds much, never frees it, but no longer grows; and one whose phases differ. */
static void test_steady(void)
{
    struct growth *growth = begin(3);
    vmm_mem_generic_allocation_handle cache[8] = {0};
    char text[20];
    for (int i = 0; i < 100; i++)
        create();
    for (int step = 0; step < 200; step++) {
        int at = step % 8;
        if (cache[at])
            vmm_mem_release(sys, cache[at]);
        cache[at] = create();
        if (step >= 8)
            growth_mark(growth, sys, "step", collect, NULL);
        snprintf(text, sizeof text, "once %d", step);
        growth_mark(growth, sys, text, collect, NULL);
    }
    tap_u64(count, 0, "a full cache and marks that come once are no growth");
    end(growth);
    growth = begin(3);
    for (int step = 0; step < 20; step++) {
        vmm_mem_generic_allocation_handle one = create(), other = create();
        growth_mark(growth, sys, "inside", collect, NULL);
        vmm_mem_release(sys, one);
        vmm_mem_release(sys, other);
        growth_mark(growth, sys, "outside", collect, NULL);
    }
    tap_u64(count, 0, "phases are compared only with their own kind");
    end(growth);
}

static void test_slow(void)
{
    struct growth *growth = begin(3);
    int at = 0;
    for (int step = 1; step <= 1000; step++) {
        vmm_deviceptr work = reserve();
        if (step % 100 == 0)
            create();
        growth_mark(growth, sys, "step", collect, NULL);
        if (count && !at)
            at = step;
        vmm_mem_address_free(sys, work, 2 << 20);
    }
    tap_ok(count == 1 && found[0].nearest.kind == VMM_OBJECT_HANDLE && at <= 640,
           "one handle each 100 steps is found, after %d of them", at);
    tap_ok(strstr(found[0].note, "1 each 100 marks") || strstr(found[0].note, "about 1 each 1"), "and how slow it is: %s",
           found[0].note);
    end(growth);
}

static void test_kinds(void)
{
    struct growth *growth = begin(2);
    vmm_context context;
    unsigned kinds = 0;
    vmm_device_primary_ctx_retain(sys, &context, 0);
    vmm_ctx_set_current(sys, context);
    for (int step = 0; step < 4; step++) {
        vmm_deviceptr at = reserve(), memory;
        vmm_stream stream;
        vmm_event event;
        vmm_mem_map(sys, at, 2 << 20, 0, create(), 0);
        vmm_mem_alloc(sys, &memory, 64 << 10);
        vmm_stream_create(sys, &stream, 0);
        vmm_event_create(sys, &event, 0);
        growth_mark(growth, sys, "step", collect, NULL);
    }
    for (unsigned i = 0; i < count; i++)
        kinds |= 1U << found[i].nearest.kind;
    tap_u64(kinds,
            1U << VMM_OBJECT_RESERVATION | 1U << VMM_OBJECT_MAPPING | 1U << VMM_OBJECT_HANDLE | 1U << VMM_OBJECT_ALLOCATION |
                1U << VMM_OBJECT_STREAM | 1U << VMM_OBJECT_EVENT,
            "addresses, mappings, handles, allocations, streams and events");
    tap_u64(count, 6, "each once");
    end(growth);
}

/* One object per step, of growing size. */
static void test_bytes(void)
{
    struct growth *growth = begin(3);
    vmm_deviceptr at = 0;
    for (uint64_t step = 1; step <= 5; step++) {
        if (at)
            vmm_mem_address_free(sys, at, (step - 1) << 21);
        vmm_mem_address_reserve(sys, &at, step << 21, 0, 0, 0);
        growth_mark(growth, sys, "step", collect, NULL);
    }
    tap_ok(count == 1 && strstr(found[0].note, "1 reservation, 8 MiB held at mark 4") && strstr(found[0].note, "2 MiB a mark"),
           "bytes that grow in one object: %s", count ? found[0].note : "nothing");
    end(growth);
}

static void test_files(void)
{
    tap_ok(growth_file_is_memory("/dev/nvidiactl") && growth_file_is_memory("/dev/nvidia0") &&
               growth_file_is_memory("anon_inode:[dmabuf]") && growth_file_is_memory("/dmabuf:") &&
               growth_file_is_memory("/dev/shm/cuvmm/m-run/token.12") &&
               growth_file_is_memory("/dev/shm/cuvmm/u-0000000000000007/token.9 (deleted)"),
           "descriptors of device memory");
    tap_ok(!growth_file_is_memory("/home/m-x/token.txt") && !growth_file_is_memory("/tmp/log") &&
               !growth_file_is_memory("/dev/shm/m-x/token.") && !growth_file_is_memory("/dev/shm/m-x/token.x") &&
               !growth_file_is_memory("/dev/shm/x/token.1") && !growth_file_is_memory("socket:[1]") && !growth_file_is_memory(""),
           "and of others");
    struct growth *growth = begin(3);
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                    .requested_handle_types = VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                    .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    vmm_mem_generic_allocation_handle handle;
    int file[8] = {0};
    vmm_mem_create(sys, &handle, 2 << 20, &prop, 0);
    bool exports = true;
    for (int step = 0; step < 5; step++) {
        exports = exports && vmm_mem_export_to_shareable_handle(sys, &file[step], handle,
                                                                VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0) == VMM_SUCCESS;
        growth_mark(growth, sys, "step", collect, NULL);
    }
    tap_ok(exports && count == 1 && strstr(found[0].note, "4 open descriptors of device memory"),
           "descriptors that stay open: %s", count ? found[0].note : "nothing");
    for (int step = 0; step < 5; step++)
        close(file[step]);
    end(growth);
}

/* ---- a backend whose objects are made up ---- */

struct made {
    struct vmm_backend base;
    vmm_result result;
    uint32_t places;
    uint64_t each, size; /* objects per place, and bytes per object */
    vmm_object_kind kind;
};

static vmm_result visit_made(struct vmm_backend *self, vmm_visit_fn visit, void *user)
{
    const struct made *made = (struct made *)self;
    for (uint32_t place = 1; place <= made->places && made->result == VMM_SUCCESS; place++)
        for (uint64_t i = 0; i < made->each; i++)
            visit(user, &(vmm_object){.kind = made->kind, .created_by = "cuMemCreate", .created_stack = place, .created = 1, .size = made->size});
    return made->result;
}

static void close_made(struct vmm_backend *self)
{
    (void)self;
}

static struct growth *begin_made(struct made *made, unsigned steps)
{
    static const struct vmm_backend_ops ops = {.size = sizeof ops, .name = "made", .visit = visit_made, .close = close_made};
    struct growth *growth = growth_new(steps);
    count = 0;
    made->base.ops = &ops;
    if (!growth || vmm_system_wrap(&made->base, &sys) != VMM_SUCCESS)
        tap_bail("no system");
    return growth;
}

/* More places than a mark reports, and than a hash can distinguish. */
static void test_places(void)
{
    enum { PLACES = 3000, REPORTS = 32 };
    static unsigned char seen[PLACES + 1];
    struct made made = {.places = PLACES, .each = 1, .size = 1 << 20, .kind = VMM_OBJECT_POOL};
    struct growth *growth = begin_made(&made, 2);
    unsigned marks = 0, twice = 0, all = 0;
    for (; all < PLACES && marks < PLACES / REPORTS + 10; marks++, made.each++) {
        count = 0;
        growth_mark(growth, sys, "step", collect, NULL);
        for (unsigned i = 0; i < count; i++)
            twice += seen[found[i].nearest.created_stack]++;
        all += count;
        if (marks == 2)
            tap_ok(count == REPORTS && strstr(found[0].note, "3 memory pools, 3 MiB held at mark 3"), "a mark reports %d places at most: %s",
                   REPORTS, found[0].note);
    }
    tap_ok(all == PLACES && !twice, "the others' turn comes, and each is reported once: %u in %u marks", all, marks);
    end(growth);
}

static void test_unseen(void)
{
    struct made made = {.places = 1, .each = 1, .kind = VMM_OBJECT_HANDLE, .result = VMM_ERROR_NOT_SUPPORTED};
    struct growth *growth = begin_made(&made, 2);
    for (int i = 0; i < 5; i++) {
        made.each++;
        growth_mark(growth, sys, "step", collect, NULL);
    }
    tap_u64(count, 0, "a backend that cannot list its objects has no growth");
    made.result = VMM_SUCCESS;
    made.kind = VMM_OBJECT_BIND;
    for (int i = 0; i < 5; i++, made.each++)
        growth_mark(growth, sys, "step", collect, NULL);
    tap_u64(count, 0, "nor have binds, which are their mappings'");
    growth_free(NULL);
    end(growth);
}

static void call_made(struct growth *growth, struct made *made, int calls, int often)
{
    for (int call = 0; call < calls; call++) {
        if (call % often == 0)
            made->size += 4096;
        growth_call(growth, sys);
    }
    growth_end(growth, collect, NULL);
}

/* Without marks: one object that becomes larger and larger, and a backend that does not list its objects. */
static void test_own_bytes(void)
{
    struct made made = {.places = 1, .each = 1, .size = 4096, .kind = VMM_OBJECT_ALLOCATION};
    struct growth *growth = begin_made(&made, 3);
    call_made(growth, &made, 40000, 100);
    tap_ok(count == 1 && strstr(found[0].note, "1 allocation, ") && strstr(found[0].note, " a mark"), "bytes that grow in one object: %s",
           count ? found[0].note : "nothing");
    end(growth);
    made.result = VMM_ERROR_NOT_SUPPORTED;
    growth = begin_made(&made, 3);
    call_made(growth, &made, 40000, 100);
    tap_u64(count, 0, "none where they cannot be seen");
    end(growth);
}

/* ---- marks of its own ---- */

static void run_calls(struct growth *growth, int calls, int loads, int leaks)
{
    for (int call = 0; call < calls; call++) {
        vmm_mem_address_free(sys, reserve(), 2 << 20);
        if (call < loads || (leaks && call % leaks == 0))
            create();
        growth_call(growth, sys);
    }
    growth_end(growth, collect, NULL);
}

static void test_own_marks(void)
{
    struct growth *growth = begin(3);
    run_calls(growth, 40000, 0, 400);
    tap_ok(count == 1 && found[0].nearest.kind == VMM_OBJECT_HANDLE && strstr(found[0].note, "of its own"),
           "without marks a leak that goes on is found: %s", count ? found[0].note : "nothing");
    end(growth);
    growth = begin(3);
    run_calls(growth, 40000, 12000, 0);
    tap_u64(count, 0, "memory loaded at the beginning is not growth");
    end(growth);
    growth = begin(3);
    growth_mark(growth, sys, "one", collect, NULL);
    run_calls(growth, 20000, 0, 200);
    tap_u64(count, 0, "a program that sets marks is compared at those");
    end(growth);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void test_scale(void)
{
    enum { LIVE = 100000 };
    struct growth *growth = begin(3);
    for (int i = 0; i < LIVE; i++)
        reserve();
    double start = seconds();
    for (int mark = 0; mark < 10; mark++)
        growth_mark(growth, sys, "step", collect, NULL);
    double each = (seconds() - start) / 10;
    tap_note("a mark with %d live objects: %.2f ms", LIVE, each * 1e3);
    tap_ok(count == 0 && each < 2, "a hundred thousand objects are looked at");
    end(growth);
}

int main(void)
{
    test_series();
    test_noise();
    test_each_mark();
    test_steady();
    test_slow();
    test_kinds();
    test_bytes();
    test_files();
    test_places();
    test_unseen();
    test_own_bytes();
    test_own_marks();
    test_scale();
    return tap_done();
}
