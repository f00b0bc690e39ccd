/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes and offsets past 4 GiB. Allocations are that large, but the tests write little of them: a simulator could not
 * back all of it.
 *
 *     offset    0                          2^32                    size
 *     memory    [A B ...                ...C D ...              E ]      a write to D, 2^32 further on, leaves A alone
 */
#include "team.h"
#undef LAUNCH
#include "scale.h"

#define FOUR_GIB (UINT64_C(1) << 32)
#define ROOMY "device.memory = 256GiB"

/* The smallest size that holds some granules past 4 GiB. */
static uint64_t large(const struct fix *f)
{
    return (FOUR_GIB + f->g - 1) / f->g * f->g + 2 * f->g;
}

static vmm_deviceptr large_mapped(struct fix *f, vmm_mem_generic_allocation_handle *handle)
{
    vmm_deviceptr p = scale_reserve(f, large(f));
    vmm_mem_generic_allocation_handle made = fix_create(f, large(f));
    fix_map(f, p, large(f), made);
    fix_access(f, p, large(f), RW);
    if (handle)
        *handle = made;
    return p;
}

static void put(struct fix *f, vmm_deviceptr p, uint64_t word)
{
    ACCEPTED(vmm_memcpy_htod(S, p, &word, sizeof word));
}

/* Offsets: each one past 4 GiB has a counterpart near the start that differs in bit 32 alone. */
static uint64_t place(const struct fix *f, unsigned i)
{
    const uint64_t places[] = {0, 64, f->g, FOUR_GIB - 8, FOUR_GIB, FOUR_GIB + 64, FOUR_GIB + f->g, large(f) - 8};
    return places[i];
}
enum { PLACES = 8 };

static void check_places(struct fix *f, vmm_deviceptr p, uint64_t first)
{
    for (unsigned i = 0; i < PLACES; i++)
        CHECK_U64(scale_word(f, p + place(f, i)), first + i);
}

TEST_EXPECTS_ON("scale.bytes_past_4_gib", bytes_past_4_gib, ROOMY, TEST_AS_GIVEN, 0)
{
    scale_need_memory(f, large(f) + 2 * f->g);
    uint64_t before = fix_free_memory(f), word = 0;
    vmm_mem_generic_allocation_handle handle;
    vmm_deviceptr p = large_mapped(f, &handle);
    CHECK_FREE(before, large(f));
    for (unsigned i = 0; i < PLACES; i++)
        put(f, p + place(f, i), 100 + i);
    check_places(f, p, 100);
    for (unsigned i = PLACES; i-- > 0;)
        ACCEPTED(LAUNCH(ATOMIC_ADD, p + place(f, i), 100));
    ACCEPTED(vmm_ctx_synchronize(S));
    check_places(f, p, 200);
    put(f, p + FOUR_GIB - 4, UINT64_C(0x1122334455667788)); /* over the seam */
    fix_need(f, vmm_memcpy_dtoh(S, &word, p + FOUR_GIB, 4));
    CHECK_U64(word, 0x11223344);
    CHECK_U64(scale_word(f, p), 200);
    CHECK_U64(fix_rights(f, p + large(f) - 1, VMM_MEM_LOCATION_TYPE_DEVICE, 0), RW);
    fix_unmap(f, p, large(f));
    fix_release(f, handle);
    CHECK_FREE(before, 0);
}

/* Fills and one copy of everything: zeros except for words at these offsets. */
TEST_EXPECTS_ON("scale.copies_past_4_gib", copies_and_fills_past_4_gib, ROOMY, TEST_AS_GIVEN, 0)
{
    scale_need_memory(f, 2 * large(f) + 2 * f->g);
    vmm_deviceptr a = large_mapped(f, NULL), b = large_mapped(f, NULL);
    vmm_stream stream = fix_stream(f);
    for (unsigned i = 0; i < PLACES; i++) {
        put(f, a + place(f, i), 300 + i);
        put(f, b + place(f, i), 1);
    }
    ACCEPTED(vmm_memcpy_dtod(S, b, a, large(f)));
    check_places(f, b, 300);
    ACCEPTED(vmm_memset_d8(S, b, 0, large(f)));
    for (unsigned i = 0; i < PLACES; i++)
        CHECK_U64(scale_word(f, b + place(f, i)), 0);
    ACCEPTED(vmm_memcpy_dtod_async(S, b, a, large(f), stream));
    ACCEPTED(vmm_stream_synchronize(S, stream));
    check_places(f, b, 300);
    ACCEPTED(vmm_memset_d16(S, a, 0, large(f) / 2));
    ACCEPTED(vmm_memset_d32(S, b, 0, large(f) / 4));
    for (unsigned i = 0; i < PLACES; i++)
        CHECK_U64(scale_word(f, a + place(f, i)) | scale_word(f, b + place(f, i)), 0);
}

/* A size whose lower 32 bits alone would fit. */
TEST_EXPECTS("scale.sizes_are_whole", sizes_that_fit_when_cut)
{
    unsigned char bytes[16] = {0};
    const uint64_t size = FOUR_GIB + sizeof bytes;
    vmm_mem_access_desc desc = {fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0), RW};
    vmm_mem_generic_allocation_handle handle;
    vmm_deviceptr p = fix_mapped(f, f->g, RW, &handle), q = fix_mapped(f, f->g, RW, NULL);
    vmm_stream stream = fix_stream(f);
#define PAST(call, what, value) REFUSED_BY("VMM-COPY-RUNS-PAST", call, INVALID_VALUE, what, value)
    if (f->simulator) { /* which checks the device's address first */
        PAST(vmm_memcpy_htod(S, p, bytes, size), "dstDevice", p);
        PAST(vmm_memcpy_dtoh(S, bytes, p, size), "srcDevice", p);
        PAST(vmm_memcpy_htod_async(S, p, bytes, size, stream), "dstDevice", p);
        PAST(vmm_memcpy_dtoh_async(S, bytes, p, size, stream), "srcDevice", p);
    }
    PAST(vmm_memset_d8(S, p, 0, size), "dstDevice", p);
    PAST(vmm_memset_d16(S, p, 0, size / 2), "dstDevice", p);
    PAST(vmm_memset_d32(S, p, 0, size / 4), "dstDevice", p);
    PAST(vmm_memset_d16(S, p, 0, size), "dstDevice", p);
    PAST(vmm_memset_d32(S, p, 0, size), "dstDevice", p);
    PAST(vmm_memset_d8_async(S, p, 0, size, stream), "dstDevice", p);
    PAST(vmm_memset_d16_async(S, p, 0, size / 2, stream), "dstDevice", p);
    PAST(vmm_memset_d32_async(S, p, 0, size / 4, stream), "dstDevice", p);
#undef PAST
    scale_refused(f, vmm_memcpy_dtod(S, p, q, size), VMM_ERROR_INVALID_VALUE, "VMM-COPY-RUNS-PAST");
    scale_refused(f, vmm_memcpy_dtod_async(S, p, q, size, stream), VMM_ERROR_INVALID_VALUE, "VMM-COPY-RUNS-PAST");
    REFUSED_BY("VMM-ACCESS-NOT-MAPPED", vmm_mem_set_access(S, p, FOUR_GIB + f->g, &desc, 1), INVALID_VALUE, "size",
               FOUR_GIB + f->g);
    REFUSED_BY("VMM-FREE-SIZE-MATCH", vmm_mem_address_free(S, f->keeper, FOUR_GIB + f->unit), INVALID_VALUE, "size",
               FOUR_GIB + f->unit);
    fix_unmap(f, p, f->g);
    bool parts = fix_partial(f);
    vmm_result want = parts ? VMM_ERROR_INVALID_VALUE : VMM_ERROR_NOT_SUPPORTED;
    scale_refused(f, vmm_mem_map(S, p, FOUR_GIB + f->g, 0, handle, 0), want,
                  parts ? "VMM-MAP-OFFSET-RANGE" : "VMM-MAP-SIZE-WHOLE");
    scale_refused(f, vmm_mem_map(S, p, f->g, FOUR_GIB, handle, 0), want, parts ? "VMM-MAP-OFFSET-RANGE" : "VMM-MAP-OFFSET");
}

/* Addresses, and what queries report of them. */
TEST_EXPECTS_ON("scale.ranges_past_4_gib", ranges_past_4_gib, ROOMY, TEST_AS_GIVEN, 0)
{
    scale_need_memory(f, 2 * large(f));
    vmm_deviceptr p = large_mapped(f, NULL), q = scale_reserve(f, large(f)), r = fix_reserve(f, f->g), at = 0;
    vmm_deviceptr last = p + large(f) - 1;
    uint64_t reported = 0;
    CHECK(q - p >= large(f) && p - q >= large(f), "reservations at 0x%llx and 0x%llx overlap", (unsigned long long)p,
          (unsigned long long)q);
    CHECK(r - p >= large(f) && r - q >= large(f), "a reservation at 0x%llx lies in a large one", (unsigned long long)r);
    fix_need(f, vmm_pointer_get_attribute(S, &reported, VMM_POINTER_ATTRIBUTE_RANGE_SIZE, last));
    CHECK_U64(reported, large(f));
    fix_need(f, vmm_pointer_get_attribute(S, &at, VMM_POINTER_ATTRIBUTE_RANGE_START_ADDR, last));
    CHECK_U64(at, p);
    fix_need(f, vmm_pointer_get_attribute(S, &reported, VMM_POINTER_ATTRIBUTE_MAPPING_SIZE, last));
    CHECK_U64(reported, large(f));
    fix_need(f, vmm_pointer_get_attribute(S, &at, VMM_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, last));
    CHECK_U64(at, p);
    fix_need(f, vmm_mem_get_address_range(S, &at, &reported, last));
    CHECK(at <= p && reported - (p - at) >= large(f),
          "0x%llx bytes at 0x%llx are reported for a mapping of 0x%llx at 0x%llx",
          (unsigned long long)reported, (unsigned long long)at, (unsigned long long)large(f), (unsigned long long)p);
    vmm_deviceptr aligned = 0;
    if (vmm_mem_address_reserve(S, &aligned, f->g, 4 * FOUR_GIB, 0, 0) == VMM_SUCCESS) {
        fix_note(f, FIX_RESERVATION, aligned, f->g);
        CHECK_U64(aligned % (4 * FOUR_GIB), 0);
    }
}

TEST_EXPECTS_ON("scale.alloc_past_4_gib", alloc_past_4_gib, ROOMY, TEST_AS_GIVEN, 0)
{
    scale_need_memory(f, 2 * large(f));
    scale_need_addresses(f, 2 * large(f));
    uint64_t before = fix_free_memory(f), size = 0;
    vmm_deviceptr at = 0;
    vmm_deviceptr p = fix_alloc(f, large(f)), q = fix_alloc(f, f->g);
    CHECK_FREE(before, large(f) + f->g);
    CHECK(q - p >= large(f), "memory at 0x%llx lies in that at 0x%llx", (unsigned long long)q, (unsigned long long)p);
    for (unsigned i = 0; i < PLACES; i++)
        put(f, p + place(f, i), 400 + i);
    check_places(f, p, 400);
    fix_need(f, vmm_mem_get_address_range(S, &at, &size, p + FOUR_GIB));
    CHECK_U64(at, p);
    CHECK_U64(size, large(f));
    fix_mem_free(f, p);
    CHECK_FREE(before, f->g);
}

/* A part of memory that starts past 4 GiB. */
TEST_EXPECTS_ON("scale.offset_past_4_gib", offset_past_4_gib, ROOMY "\nmap.partial = yes", TEST_AS_GIVEN, 0)
{
    fix_need_parts(f, true);
    scale_need_memory(f, 2 * large(f));
    vmm_mem_generic_allocation_handle handle;
    vmm_deviceptr p = large_mapped(f, &handle), part = fix_reserve(f, f->g);
    uint64_t offset = large(f) - f->g;
    fix_need(f, vmm_mem_map(S, part, f->g, offset, handle, 0));
    fix_note(f, FIX_MAPPING, part, f->g);
    fix_access(f, part, f->g, RW);
    put(f, p + offset % FOUR_GIB, 1);
    put(f, p + offset, 2);
    CHECK_U64(scale_word(f, part), 2);
    put(f, part + f->g - 8, 3);
    CHECK_U64(scale_word(f, p + large(f) - 8), 3);
}

/* The object and the memory behind it are larger than 4 GiB, and bound crosswise: the object's end to the memory's start on
 * device 0, its start to the memory's end on device 1. */
TEST_EXPECTS_ON("scale.multicast_past_4_gib", multicast_past_4_gib, TEAM_OF(2) "\n" ROOMY, TEST_AS_GIVEN, 0)
{
    team_need(f);
    struct crew crew;
    const uint64_t unit = team_unit(f), size = FOUR_GIB + 2 * unit, far = FOUR_GIB + unit;
    scale_crew(f, size, size, &crew);
    for (int id = 0; id < 2; id++) {
        ACCEPTED(vmm_multicast_bind_mem(S, crew.object, 0, crew.memory[id], id ? far : 0, unit, 0));
        ACCEPTED(vmm_multicast_bind_mem(S, crew.object, far, crew.memory[id], id ? 0 : far, unit, 0));
    }
    fix_map(f, crew.mc, size, crew.object);
    team_access(f, crew.mc, size, 2, RW);
    put(f, crew.own[0], 7); /* stored to all devices */
    ACCEPTED(LAUNCH(MULTIMEM_STORE, crew.mc + far + 64, crew.own[0], 8));
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK_U64(scale_word(f, crew.own[0] + far + 64), 7);
    CHECK_U64(scale_word(f, crew.own[1] + 64), 7);
    CHECK_U64(scale_word(f, crew.own[0] + 64) | scale_word(f, crew.own[1] + far + 64), 0);
    ACCEPTED(vmm_multicast_unbind(S, crew.object, 0, far, unit));
    ACCEPTED(vmm_multicast_unbind(S, crew.object, 1, 0, unit));
}
