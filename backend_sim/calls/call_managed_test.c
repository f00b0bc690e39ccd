/* SPDX-License-Identifier: Apache-2.0 */
/* call_managed: what is said of pages, answered for ranges of them; batches; bytes that are discarded. Expected values are counted
 * page by page, without the engine's parts. */
#include <string.h>

#include "edges_rig.h"

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
    tap_ok(who[0] == 0 && who[1] == CPU && who[2] == NONE, "what is taken back of one device leaves the others");
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
    static void (*const tests[])(void) = {pages_of_a_range, what_pages_share, accessors, batch_of_prefetches, discarded_bytes, attachments};
    for (unsigned i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        open_machine();
        tests[i]();
        end();
    }
    return tap_done();
}
