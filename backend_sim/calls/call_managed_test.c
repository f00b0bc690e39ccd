/* SPDX-License-Identifier: Apache-2.0 */
/* call_managed: what is said of pages, answered for ranges of them; batches; bytes that are discarded. Expected values are counted
 * page by page, without the engine's parts. */
#include <stdio.h>
#include <string.h>

#include "process.h"
#include "system.h"

#include "edges_rig.h" /* behind the others, whose names its macros would take */

enum { PAGE = 4096, PAGES = 8, SIZE = PAGE * PAGES, NONE = VMM_DEVICE_INVALID, CPU = VMM_DEVICE_CPU };

static const vmm_mem_location gpu0 = {DEVICE, 0}, gpu1 = {DEVICE, 1}, cpu = {HOST, 0};
static vmm_stream stream;
static vmm_deviceptr p;

static void open_machine(void)
{
    begin("sim:h200x2");
    need(vmm_stream_create(sys, &stream, VMM_STREAM_NON_BLOCKING), "stream");
    need(vmm_mem_alloc_managed(sys, &p, SIZE, VMM_MEM_ATTACH_GLOBAL), "memory");
}

static int answer(vmm_mem_range_attribute which, uint64_t first, uint64_t size)
{
    int value = -99;
    need(vmm_mem_range_get_attribute(sys, &value, sizeof value, which, p + first, size), "attribute");
    return value;
}

/* Advice for a range is advice for each page that the range touches, and for no other. */
static void pages_of_a_range(void)
{
    static const uint64_t ranges[][2] = {{0, 1}, {0, PAGE}, {0, PAGE + 1}, {PAGE - 1, 2}, {PAGE, PAGE}, {PAGE + 1, PAGE}, {2 * PAGE, 1},
                                         {3 * PAGE - 1, 1}, {100, 5000}, {5 * PAGE + 7, 2 * PAGE}, {SIZE - 1, 1}, {1, SIZE - 2}, {0, SIZE}};
    for (unsigned i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        const uint64_t first = ranges[i][0], size = ranges[i][1];
        unsigned wrong = 0, all = 0;
        need(vmm_mem_advise(sys, p + first, size, VMM_MEM_ADVISE_SET_READ_MOSTLY, gpu0), "advice");
        for (uint64_t page = 0; page < PAGES; page++) {
            const bool touched = page >= first / PAGE && page <= (first + size - 1) / PAGE;
            all += touched;
            wrong += answer(VMM_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, page * PAGE + 77, 1) != touched;
            wrong += answer(VMM_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, page * PAGE, PAGE) != touched;
        }
        tap_ok(!wrong, "advice for %llu bytes from %llu on is for %u pages", (unsigned long long)size, (unsigned long long)first, all);
        need(vmm_mem_advise(sys, p, SIZE, VMM_MEM_ADVISE_UNSET_READ_MOSTLY, gpu0), "advice");
    }
}

/* What the pages of a range do not have in common is answered as none.
 *
 *     pages        0 1        2 3       4           5 6 7
 *     preferred    device 0   the host  device 1    nowhere
 */
static void what_pages_share(void)
{
    static const struct {
        uint64_t first, size;
        int number, type, id;
    } asked[] = {{0, 1, 0, DEVICE, 0}, {0, 2 * PAGE, 0, DEVICE, 0}, {PAGE + 5, 9, 0, DEVICE, 0}, {2 * PAGE, 2 * PAGE, CPU, HOST, CPU},
                 {3 * PAGE + 1, 1, CPU, HOST, CPU}, {4 * PAGE, PAGE, 1, DEVICE, 1}, {5 * PAGE, PAGE, NONE, 0, NONE},
                 {2 * PAGE - 1, 2, 0, DEVICE, 0}, {4 * PAGE - 1, 2, CPU, HOST, CPU}, {5 * PAGE - 1, 2, NONE, 0, NONE},
                 {2 * PAGE - 1, 2 * PAGE, NONE, 0, NONE},
                 {4 * PAGE, 2 * PAGE, NONE, 0, NONE}, {0, SIZE, NONE, 0, NONE}};
    need(vmm_mem_advise(sys, p, 2 * PAGE, VMM_MEM_ADVISE_SET_PREFERRED_LOCATION, gpu0), "advice");
    need(vmm_mem_advise(sys, p + 2 * PAGE, 2 * PAGE, VMM_MEM_ADVISE_SET_PREFERRED_LOCATION, cpu), "advice");
    need(vmm_mem_advise(sys, p + 4 * PAGE, PAGE, VMM_MEM_ADVISE_SET_PREFERRED_LOCATION, gpu1), "advice");
    need(vmm_mem_prefetch_async(sys, p, 2 * PAGE, gpu0, 0, stream), "prefetch");
    need(vmm_mem_prefetch_async(sys, p + 2 * PAGE, 2 * PAGE, cpu, 0, stream), "prefetch");
    need(vmm_mem_prefetch_async(sys, p + 4 * PAGE, PAGE, gpu1, 0, stream), "prefetch");
    for (unsigned i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        const uint64_t first = asked[i].first, size = asked[i].size;
        tap_ok(answer(VMM_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, first, size) == asked[i].number &&
               answer(VMM_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, first, size) == asked[i].type &&
               answer(VMM_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID, first, size) == asked[i].id,
               "%llu bytes from %llu on: the preferred place is %d", (unsigned long long)size, (unsigned long long)first, asked[i].number);
        tap_ok(answer(VMM_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, first, size) == asked[i].number &&
               answer(VMM_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE, first, size) == asked[i].type &&
               answer(VMM_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID, first, size) == asked[i].id,
               "and so is the last prefetch's");
    }
}

static void accessors(void)
{
    int who[4], one = -99;
    need(vmm_mem_advise(sys, p, 2 * PAGE, VMM_MEM_ADVISE_SET_ACCESSED_BY, gpu1), "advice");
    need(vmm_mem_advise(sys, p + PAGE, 2 * PAGE, VMM_MEM_ADVISE_SET_ACCESSED_BY, gpu0), "advice");
    need(vmm_mem_advise(sys, p + PAGE, PAGE, VMM_MEM_ADVISE_SET_ACCESSED_BY, cpu), "advice");
    need(vmm_mem_range_get_attribute(sys, who, sizeof who, VMM_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p + PAGE, PAGE), "attribute");
    tap_ok(who[0] == 0 && who[1] == 1 && who[2] == CPU && who[3] == NONE, "both devices and the host access the page");
    need(vmm_mem_range_get_attribute(sys, &one, sizeof one, VMM_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p + PAGE, PAGE), "attribute");
    tap_ok(one == 0, "of which one has room");
    need(vmm_mem_range_get_attribute(sys, who, sizeof who, VMM_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p, 2 * PAGE), "attribute");
    tap_ok(who[0] == 1 && who[1] == NONE, "one device accesses this page and the one before");
    need(vmm_mem_advise(sys, p, SIZE, VMM_MEM_ADVISE_UNSET_ACCESSED_BY, gpu1), "advice");
    need(vmm_mem_range_get_attribute(sys, who, sizeof who, VMM_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p + PAGE, PAGE), "attribute");
    tap_ok(who[0] == 0 && who[1] == CPU && who[2] == NONE, "revoking one device's advice keeps the others'");
    need(vmm_mem_advise(sys, p, SIZE, VMM_MEM_ADVISE_UNSET_ACCESSED_BY, cpu), "advice");
    need(vmm_mem_range_get_attribute(sys, who, sizeof who, VMM_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p + PAGE, PAGE), "attribute");
    tap_ok(who[0] == 0 && who[1] == NONE, "and so does what is taken back of the host");
}

/* Each range of a batch goes to the place whose index is the last one not behind it. */
static void batch_of_prefetches(void)
{
    enum { RANGES = 4 };
    static const struct {
        uint64_t index[3], places;
        int expected[RANGES];
    } batches[] = {{{0}, 1, {1, 1, 1, 1}}, {{0, 1}, 2, {1, CPU, CPU, CPU}}, {{0, 3}, 2, {1, 1, 1, CPU}},
                   {{0, 1, 2}, 3, {1, CPU, 0, 0}}, {{0, 0}, 2, {1, 1, 1, 1}}};
    const vmm_mem_location places[] = {gpu1, cpu, gpu0};
    const vmm_deviceptr ranges[RANGES] = {p, p + 2 * PAGE, p + 4 * PAGE, p + 6 * PAGE};
    const uint64_t sizes[RANGES] = {PAGE, 1, PAGE + 1, 2 * PAGE};
    for (unsigned i = 0; i < sizeof batches / sizeof batches[0]; i++) {
        need(vmm_mem_prefetch_async(sys, p, SIZE, (vmm_mem_location){VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0}, 0, stream), "prefetch");
        need(vmm_mem_prefetch_batch_async(sys, ranges, sizes, RANGES, places, batches[i].index, batches[i].places, 0, stream), "batch");
        unsigned wrong = 0;
        for (unsigned r = 0; r < RANGES; r++)
            wrong += answer(VMM_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, ranges[r] - p, sizes[r]) != batches[i].expected[r];
        tap_ok(!wrong, "batch %u: each range goes to its place", i);
        tap_u64((uint64_t)answer(VMM_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE, 3 * PAGE, PAGE), VMM_MEM_LOCATION_TYPE_HOST_NUMA,
                "a page between them does not");
    }
}

static unsigned other_bytes(uint64_t first, uint64_t end)
{
    static unsigned char got[SIZE];
    unsigned wrong = 0;
    need(vmm_memcpy_dtoh(sys, got, p, SIZE), "copy");
    for (uint64_t i = 0; i < SIZE; i++)
        wrong += got[i] != (i >= first && i < end ? 0 : 0x5a);
    return wrong;
}

/* What is discarded reads as 0, and nothing beside it does. */
static void discarded_bytes(void)
{
    static const uint64_t ranges[][2] = {{0, 1}, {PAGE, PAGE}, {PAGE - 3, 7}, {SIZE - 5, 5}, {0, SIZE}};
    for (unsigned i = 0; i < 2 * sizeof ranges / sizeof ranges[0]; i++) {
        const uint64_t first = ranges[i / 2][0], size = ranges[i / 2][1], index = 0;
        const vmm_deviceptr at = p + first;
        need(vmm_memset_d8(sys, p, 0x5a, SIZE), "fill");
        need(i % 2 ? vmm_mem_discard_batch_async(sys, &at, &size, 1, 0, stream)
                   : vmm_mem_discard_and_prefetch_batch_async(sys, &at, &size, 1, &gpu1, &index, 1, 0, stream),
             "discard");
        need(vmm_stream_synchronize(sys, stream), "wait");
        tap_u64(other_bytes(first, first + size), 0, "%llu bytes from %llu on are discarded", (unsigned long long)size,
                (unsigned long long)first);
    }
    const uint64_t size = UINT64_MAX - p + 1;
    need(vmm_memset_d8(sys, p, 0x5a, SIZE), "fill");
    need(vmm_mem_discard_batch_async(sys, &p, &size, 1, 0, stream), "discard");
    tap_text(vmm_last_detail()->rule, "VMM-MANAGED-WRAPS", "a range that wraps is warned of");
    need(vmm_stream_synchronize(sys, stream), "wait");
    tap_u64(other_bytes(0, 0), 0, "and loses nothing");
}

/* ---- refusals ---- */

/* Is the call refused by the rule, and with this argument, value and expectation? */
static void refused(vmm_result result, const char *rule, const char *argument, uint64_t value, uint64_t expected)
{
    const vmm_detail *detail = vmm_last_detail();
    by(result, rule, argument);
    tap_ok(detail->argument && !strcmp(detail->argument, argument) && detail->value == value && detail->expected == expected,
           "%s: %s is 0x%llx, against 0x%llx", rule, detail->argument ? detail->argument : "none", (unsigned long long)detail->value,
           (unsigned long long)detail->expected);
}

static void refused_batches(void)
{
    const uint64_t size = PAGE, first[] = {0, 1}, second[] = {1, 0}, third[] = {0, 2};
    const vmm_deviceptr two[] = {p, p + PAGE};
    const uint64_t sizes[] = {size, size};
    const vmm_mem_location good[] = {gpu1, cpu}, none[] = {gpu1, {VMM_MEM_LOCATION_TYPE_INVALID, 0}}, device[] = {gpu1, {DEVICE, 2}},
                           type[] = {{7, 0}}, node[] = {{VMM_MEM_LOCATION_TYPE_HOST_NUMA, 99}};
    static const char rule[] = "VMM-MANAGED-BATCH";
    refused(vmm_mem_discard_batch_async(sys, two, sizes, 2, 1, stream), rule, "flags", 1, 0);
    refused(vmm_mem_discard_batch_async(sys, two, sizes, 0, 0, stream), rule, "count", 0, 0);
    refused(vmm_mem_discard_batch_async(sys, NULL, sizes, 2, 0, stream), rule, "dptrs", 0, 0);
    refused(vmm_mem_discard_batch_async(sys, two, NULL, 2, 0, stream), rule, "sizes", 0, 0);
    refused(vmm_mem_discard_batch_async(sys, two, sizes, 2, 0, NULL), "VMM-MANAGED-BATCH-STREAM", "hStream", 0, 0);
    refused(vmm_mem_discard_batch_async(sys, two, sizes, 2, 0, VMM_STREAM_LEGACY), "VMM-MANAGED-BATCH-STREAM", "hStream", 1, 0);
    refused(vmm_mem_prefetch_batch_async(sys, two, sizes, 2, NULL, first, 2, 0, stream), rule, "prefetchLocs", 2, 0);
    refused(vmm_mem_prefetch_batch_async(sys, two, sizes, 2, good, NULL, 2, 0, stream), rule, "prefetchLocIdxs", 2, 0);
    refused(vmm_mem_prefetch_batch_async(sys, two, sizes, 2, good, first, 0, 0, stream), rule, "numPrefetchLocs", 0, 0);
    refused(vmm_mem_prefetch_batch_async(sys, two, sizes, 2, good, first, 3, 0, stream), rule, "numPrefetchLocs", 3, 0);
    refused(vmm_mem_prefetch_batch_async(sys, two, sizes, 2, good, second, 2, 0, stream), rule, "prefetchLocIdxs", 1, 0);
    refused(vmm_mem_prefetch_batch_async(sys, two, sizes, 2, good, third, 2, 0, stream), rule, "prefetchLocIdxs", 2, 0);
    refused(vmm_mem_prefetch_batch_async(sys, two, sizes, 2, none, first, 2, 0, stream), "VMM-MANAGED-LOCATION", "location", 0, 0);
    refused(vmm_mem_prefetch_batch_async(sys, two, sizes, 2, device, first, 2, 0, stream), "VMM-MANAGED-LOCATION", "location", 2, 0);
    refused(vmm_mem_prefetch_batch_async(sys, two, sizes, 2, type, first, 1, 0, stream), "VMM-MANAGED-LOCATION", "location", 7, 0);
    refused(vmm_mem_prefetch_batch_async(sys, two, sizes, 2, node, first, 1, 0, stream), "VMM-MANAGED-LOCATION", "location", 99, 0);
    tap_u64((uint64_t)answer(VMM_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, 0, SIZE), (uint64_t)NONE, "nothing was prefetched");
}

static void refused_ranges(void)
{
    static const vmm_mem_location places[] = {{DEVICE, 2}, {DEVICE, -1}, {VMM_MEM_LOCATION_TYPE_HOST_NUMA, 99}, {VMM_MEM_LOCATION_TYPE_INVALID, 3}};
    static const char *const rules[] = {"VMM-MANAGED-DEVICE", "VMM-MANAGED-DEVICE", "VMM-MANAGED-LOCATION", "VMM-MANAGED-LOCATION"};
    char note[160];
    int value = -99;
    refused(vmm_mem_prefetch_async(sys, p + PAGE, SIZE, gpu0, 0, stream), "VMM-MANAGED-RANGE", "count", SIZE, SIZE - PAGE);
    snprintf(note, sizeof note, "0x%x bytes from 0x%llx on: the memory ends before", SIZE, (unsigned long long)(p + PAGE));
    tap_text(vmm_last_detail()->note, note, "the note");
    refused(vmm_mem_prefetch_async(sys, p + PAGE, SIZE - PAGE + 1, gpu0, 0, stream), "VMM-MANAGED-RANGE", "count", SIZE - PAGE + 1, SIZE - PAGE);
    refused(vmm_mem_prefetch_async(sys, p - 1, 1, gpu0, 0, stream), "VMM-MANAGED-RANGE", "devPtr", p - 1, 0);
    snprintf(note, sizeof note, "0x1 bytes from 0x%llx on: there is no managed memory at that address", (unsigned long long)(p - 1));
    tap_text(vmm_last_detail()->note, note, "the note");
    refused(vmm_mem_advise(sys, p + 1, UINT64_MAX, VMM_MEM_ADVISE_SET_READ_MOSTLY, gpu0), "VMM-MANAGED-RANGE", "count", UINT64_MAX, SIZE - 1);
    refused(vmm_mem_range_get_attribute(sys, &value, sizeof value, 0, p, SIZE), "VMM-MANAGED-ATTRIBUTE", "attribute", 0, 0);
    refused(vmm_stream_attach_mem_async(sys, stream, p + PAGE, 0, VMM_MEM_ATTACH_GLOBAL), "VMM-MANAGED-ATTACH-RANGE", "dptr", p + PAGE, 0);
    refused(vmm_stream_attach_mem_async(sys, stream, p, PAGE, VMM_MEM_ATTACH_GLOBAL), "VMM-MANAGED-ATTACH-RANGE", "length", PAGE, SIZE);
    for (unsigned i = 0; i < sizeof places / sizeof places[0]; i++) {
        by(vmm_mem_prefetch_async(sys, p, SIZE, places[i], 0, stream), rules[i], "a prefetch to nowhere");
        snprintf(note, sizeof note, "the location has type %d and id %d", (int)places[i].type, places[i].id);
        tap_text(vmm_last_detail()->note, note, "the note");
    }
    tap_result(vmm_mem_prefetch_async(sys, p + PAGE, SIZE - PAGE, (vmm_mem_location){HOST, 55}, 0, stream), VMM_SUCCESS, "a prefetch to the end");
    need(vmm_ctx_synchronize(sys), "wait");
}

/* A range that passes the last address counts as one of nothing: its answers are as measured, and nothing is done to it. */
static void ranges_that_wrap(void)
{
    const vmm_deviceptr from = p + PAGE + 5;
    const uint64_t size = UINT64_MAX - from + 1, index = 0;
    int who[4] = {-99, -99, -99, -99}, value = -99;
    need(vmm_mem_range_get_attribute(sys, &value, sizeof value, VMM_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, from, size), "attribute");
    tap_text(vmm_last_detail()->rule, "VMM-MANAGED-WRAPS", "the warning");
    tap_ok(vmm_last_detail()->value == size && vmm_last_detail()->expected == SIZE, "names both sizes");
    tap_ok(value == 1, "all pages of none are read mostly");
    need(vmm_mem_range_get_attribute(sys, who, sizeof who, VMM_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, from, size), "attribute");
    tap_ok(who[0] == 0 && who[1] == 1 && who[2] == CPU && who[3] == NONE, "and all devices and the host access them");
    need(vmm_mem_range_get_attribute(sys, &value, sizeof value, VMM_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, from, size), "attribute");
    tap_ok(value == NONE, "but they have no place");
    need(vmm_mem_prefetch_async(sys, from, size, gpu1, 0, stream), "prefetch");
    need(vmm_mem_prefetch_batch_async(sys, &from, &size, 1, &gpu1, &index, 1, 0, stream), "prefetch");
    tap_ok(answer(VMM_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, 0, SIZE) == NONE &&
           answer(VMM_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, PAGE, PAGE) == NONE, "no page is prefetched");
    need(vmm_mem_prefetch_async(sys, from, UINT64_MAX, gpu1, 0, stream), "prefetch that ends just before its first byte");
    tap_ok(answer(VMM_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, 0, PAGE) == NONE &&
           answer(VMM_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, PAGE, PAGE) == 1 &&
           answer(VMM_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, 2 * PAGE, PAGE) == NONE, "or the one in which it ends before its first byte");
    need(vmm_mem_discard_batch_async(sys, &from, &size, 1, 0, stream), "discard");
    tap_result(vmm_stream_query(sys, stream), VMM_SUCCESS, "and no work is queued");
    refused(vmm_mem_advise(sys, from, size, VMM_MEM_ADVISE_SET_READ_MOSTLY, gpu0), "VMM-MANAGED-RANGE", "count", size, SIZE - PAGE - 5);
    need(vmm_mem_advise(sys, from, UINT64_MAX, VMM_MEM_ADVISE_SET_READ_MOSTLY, gpu0), "advice that ends just before its first byte");
    tap_text(vmm_last_detail()->rule, "VMM-MANAGED-WRAPS", "the warning");
    tap_ok(answer(VMM_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 0, PAGE) == 0 && answer(VMM_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, PAGE, PAGE) == 1 &&
           answer(VMM_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 2 * PAGE, PAGE) == 0, "it applies to the page that contains both ends");
    need(vmm_mem_advise(sys, from, UINT64_MAX, VMM_MEM_ADVISE_UNSET_READ_MOSTLY, gpu0), "as before");
}

/* The list of accessors has room for so many, and nothing is written behind it. */
static void room_for_accessors(void)
{
    enum { ROOM = 6, MARK = -77 };
    const int expected[ROOM] = {0, 1, CPU, NONE, NONE, NONE};
    need(vmm_mem_advise(sys, p, SIZE, VMM_MEM_ADVISE_SET_ACCESSED_BY, gpu0), "advice");
    need(vmm_mem_advise(sys, p, SIZE, VMM_MEM_ADVISE_SET_ACCESSED_BY, gpu1), "advice");
    need(vmm_mem_advise(sys, p, SIZE, VMM_MEM_ADVISE_SET_ACCESSED_BY, cpu), "advice");
    for (unsigned room = 1; room <= ROOM; room++) {
        int who[ROOM + 1];
        unsigned wrong = 0;
        for (unsigned i = 0; i <= ROOM; i++)
            who[i] = MARK;
        need(vmm_mem_range_get_attribute(sys, who, room * sizeof who[0], VMM_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p, SIZE), "attribute");
        for (unsigned i = 0; i <= ROOM; i++)
            wrong += who[i] != (i < room ? expected[i] : MARK);
        tap_u64(wrong, 0, "a list with room for %u", room);
    }
}

/* What arguments alone refuse is refused before cuInit, too; other calls find no driver. */
static void before_the_driver(void)
{
    vmm_system *own = NULL;
    vmm_deviceptr at = 0;
    const vmm_mem_location nowhere = {VMM_MEM_LOCATION_TYPE_INVALID, 0}, last = {VMM_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0}, more = {5, 0};
    const vmm_stream some = (vmm_stream)(uintptr_t)3; /* none of the default streams, which are 0 to 2 */
    need(vmm_open("sim:h200x2", &own), "machine");
    const struct {
        vmm_result result;
        bool refused;
    } calls[] = {{vmm_mem_alloc_managed(own, &at, SIZE, VMM_MEM_ATTACH_GLOBAL), false},
                 {vmm_mem_alloc_managed(own, &at, SIZE, VMM_MEM_ATTACH_HOST), false},
                 {vmm_mem_alloc_managed(own, &at, SIZE, VMM_MEM_ATTACH_SINGLE), true},
                 {vmm_mem_alloc_managed(own, &at, SIZE, 0), true},
                 {vmm_mem_alloc_managed(own, &at, 0, VMM_MEM_ATTACH_HOST), true},
                 {vmm_mem_alloc_managed(own, NULL, SIZE, VMM_MEM_ATTACH_HOST), true},
                 {vmm_mem_advise(own, p, SIZE, VMM_MEM_ADVISE_SET_READ_MOSTLY, gpu0), false},
                 {vmm_mem_advise(own, p, SIZE, VMM_MEM_ADVISE_UNSET_ACCESSED_BY, last), false},
                 {vmm_mem_advise(own, p, SIZE, VMM_MEM_ADVISE_SET_READ_MOSTLY - 1, gpu0), true},
                 {vmm_mem_advise(own, p, SIZE, VMM_MEM_ADVISE_UNSET_ACCESSED_BY + 1, gpu0), true},
                 {vmm_mem_advise(own, p, SIZE, VMM_MEM_ADVISE_SET_READ_MOSTLY, nowhere), true},
                 {vmm_mem_advise(own, p, SIZE, VMM_MEM_ADVISE_SET_READ_MOSTLY, more), true},
                 {vmm_mem_prefetch_async(own, p, SIZE, gpu0, 0, NULL), false},
                 {vmm_mem_prefetch_async(own, p, SIZE, last, 0, VMM_STREAM_LEGACY), false},
                 {vmm_mem_prefetch_async(own, p, SIZE, cpu, 0, VMM_STREAM_PER_THREAD), false},
                 {vmm_mem_prefetch_async(own, p, SIZE, gpu0, 0, some), true},
                 {vmm_mem_prefetch_async(own, p, SIZE, gpu0, 1, NULL), true},
                 {vmm_mem_prefetch_async(own, p, SIZE, nowhere, 0, NULL), true},
                 {vmm_mem_prefetch_async(own, p, SIZE, more, 0, NULL), true}};
    for (unsigned i = 0; i < sizeof calls / sizeof calls[0]; i++)
        tap_ok((calls[i].result != VMM_ERROR_NOT_INITIALIZED) == calls[i].refused && calls[i].result != VMM_SUCCESS,
               "before the driver is initialised, call %u: %s", i, vmm_result_name(calls[i].result));
    vmm_close(own);
}

/* All the host's memory may be managed, and no byte more. */
static void all_memory(void)
{
    struct sim_machine *machine = ((struct sim_process *)sys->top)->machine;
    vmm_deviceptr at = 0, more = 0;
    need(vmm_mem_free(sys, p), "free");
    sim_machine_lock(machine);
    const uint64_t left = sim_machine_free_bytes(machine, (vmm_mem_location){VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0});
    sim_machine_unlock(machine);
    refused(vmm_mem_alloc_managed(sys, &at, left + 1, VMM_MEM_ATTACH_GLOBAL), "VMM-MANAGED-MEMORY", "bytesize", left + 1, left);
    tap_result(vmm_mem_alloc_managed(sys, &at, left, VMM_MEM_ATTACH_GLOBAL), VMM_SUCCESS, "all of it");
    refused(vmm_mem_alloc_managed(sys, &more, 1, VMM_MEM_ATTACH_GLOBAL), "VMM-MANAGED-MEMORY", "bytesize", 1, 0);
    refused(vmm_mem_advise(sys, at, PAGE, VMM_MEM_ADVISE_SET_ACCESSED_BY, (vmm_mem_location){VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0}),
            "VMM-MANAGED-LOCATION", "location", 0, 0);
    need(vmm_mem_free(sys, at), "free");
}

static void attachments(void)
{
    unsigned wrong = 0;
    for (unsigned flags = 0; flags < 16; flags++) {
        const bool known = flags == VMM_MEM_ATTACH_GLOBAL || flags == VMM_MEM_ATTACH_HOST || flags == VMM_MEM_ATTACH_SINGLE;
        wrong += (vmm_stream_attach_mem_async(sys, stream, p, 0, flags) == VMM_SUCCESS) != known;
    }
    tap_u64(wrong, 0, "memory is attached in three ways");
}

int main(void)
{
    static void (*const tests[])(void) = {pages_of_a_range, what_pages_share, accessors, room_for_accessors, batch_of_prefetches, discarded_bytes,
                                          attachments, refused_batches, refused_ranges, ranges_that_wrap, before_the_driver,
                                          all_memory};
    for (unsigned i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        open_machine();
        tests[i]();
        end();
    }
    return tap_done();
}
