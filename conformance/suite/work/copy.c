/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills: refusals. */
#include <string.h>

#include "test.h"

#define READ VMM_MEM_ACCESS_FLAGS_PROT_READ
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE

TEST_BREAKS(COPY_NULL, copy_from_and_to_nowhere)
{
    vmm_deviceptr ptr = fix_mapped(f, f->g, RW, NULL);
    REFUSED(vmm_memcpy_htod(S, ptr, NULL, 8), INVALID_VALUE, "srcHost", 0);
    REFUSED(vmm_memcpy_dtoh(S, NULL, ptr, 8), INVALID_VALUE, "dstHost", 0);
    REFUSED(vmm_memcpy_htod_async(S, ptr, NULL, 8, NULL), INVALID_VALUE, "srcHost", 0);
    REFUSED(vmm_memcpy_dtoh_async(S, NULL, ptr, 8, NULL), INVALID_VALUE, "dstHost", 0);
}

TEST_NEAR_MISS(COPY_NULL, copy_from_and_to_somewhere)
{
    vmm_deviceptr ptr = fix_mapped(f, f->g, RW, NULL);
    char out[8] = "1234567", in[8] = "";
    ACCEPTED(vmm_memcpy_htod(S, ptr, out, 8));
    ACCEPTED(vmm_memcpy_dtoh(S, in, ptr, 8));
    CHECK(strcmp(in, out) == 0, "other bytes came back");
    ACCEPTED(vmm_memcpy_htod(S, ptr, NULL, 0)); /* a copy of 0 bytes needs no address */
    ACCEPTED(vmm_memcpy_dtoh(S, NULL, ptr, 0));
}

TEST_NEAR_MISS(COPY_OVERFLOW, fill_up_to_the_last_byte)
{
    vmm_deviceptr ptr = fix_mapped(f, f->g, RW, NULL);
    ACCEPTED(vmm_memset_d8(S, ptr, 1, f->g));
    ACCEPTED(vmm_memset_d32(S, ptr, 1, f->g / 4));
    ACCEPTED(vmm_memset_d8(S, ptr + f->g - 1, 1, 1));
}

/* Every kind of access to an address; reads that fail leave the host's bytes unchanged. */
static void refuse_write(struct fix *f, vmm_deviceptr bad, uint64_t size, vmm_deviceptr good)
{
    static const unsigned char bytes[64];
    REFUSED(vmm_memset_d8(S, bad, 1, size), INVALID_VALUE, "dstDevice", bad);
    REFUSED(vmm_memcpy_htod(S, bad, bytes, size), INVALID_VALUE, "dstDevice", bad);
    REFUSED(vmm_memcpy_dtod(S, bad, good, size), INVALID_VALUE, "dstDevice", bad);
    REFUSED(vmm_memset_d8_async(S, bad, 1, size, NULL), INVALID_VALUE, "dstDevice", bad);
    REFUSED(vmm_memcpy_htod_async(S, bad, bytes, size, NULL), INVALID_VALUE, "dstDevice", bad);
    REFUSED(vmm_memcpy_dtod_async(S, bad, good, size, NULL), INVALID_VALUE, "dstDevice", bad);
    if (bad % 4 == 0 && size % 4 == 0) {
        REFUSED(vmm_memset_d16(S, bad, 1, size / 2), INVALID_VALUE, "dstDevice", bad);
        REFUSED(vmm_memset_d32_async(S, bad, 1, size / 4, NULL), INVALID_VALUE, "dstDevice", bad);
    }
}

static void refuse_read(struct fix *f, vmm_deviceptr bad, uint64_t size, vmm_deviceptr good)
{
    unsigned char bytes[64] = {0x77};
    REFUSED(vmm_memcpy_dtoh(S, bytes, bad, size), INVALID_VALUE, "srcDevice", bad);
    REFUSED(vmm_memcpy_dtod(S, good, bad, size), INVALID_VALUE, "srcDevice", bad);
    REFUSED(vmm_memcpy_dtoh_async(S, bytes, bad, size, NULL), INVALID_VALUE, "srcDevice", bad);
    CHECK_U64(bytes[0], 0x77);
}

TEST_BREAKS(COPY_NOT_MAPPED, copy_where_nothing_is_mapped)
{
    vmm_deviceptr p = fix_reserve(f, 4 * f->g), old = fix_free_range(f, 64 * f->g) + 32 * f->g;
    vmm_deviceptr good = fix_mapped(f, f->g, RW, NULL);
    const vmm_deviceptr at[] = {p, old};
    for (size_t i = 0; i < 2; i++) {
        refuse_write(f, at[i], 16, good);
        refuse_read(f, at[i], 16, good);
    }
    fix_map(f, p + f->g, f->g, fix_create(f, f->g));
    fix_access(f, p + f->g, f->g, RW);
    fix_unmap(f, p + f->g, f->g);
    refuse_read(f, p + f->g, 16, good);
    refuse_read(f, 0, 16, good);
    refuse_write(f, 0, 16, good);
}

TEST_NEAR_MISS(COPY_NOT_MAPPED, copy_at_the_first_byte)
{
    vmm_deviceptr p = fix_reserve(f, 4 * f->g);
    fix_map(f, p + f->g, f->g, fix_create(f, f->g));
    fix_access(f, p + f->g, f->g, RW);
    ACCEPTED(vmm_memset_d8(S, p + f->g, 1, 16));
}

TEST_BREAKS(COPY_RUNS_PAST, copy_past_the_end)
{
    vmm_deviceptr p = fix_reserve(f, 4 * f->g), good = fix_mapped(f, f->g, RW, NULL);
    fix_map(f, p, f->g, fix_create(f, f->g));
    fix_access(f, p, f->g, RW);
    refuse_write(f, p + f->g - 8, 16, good);
    refuse_read(f, p + f->g - 8, 16, good);
    refuse_write(f, p + f->g - 1, 2, good);
    REFUSED(vmm_memset_d8(S, p, 1, f->g + 1), INVALID_VALUE, "dstDevice", p);
}

/* Two mappings without a gap between them; the address 8 bytes before the end of the first one. */
static vmm_deviceptr seam(struct fix *f)
{
    vmm_deviceptr p = fix_reserve(f, 4 * f->g);
    fix_map(f, p, f->g, fix_create(f, f->g));
    fix_map(f, p + f->g, f->g, fix_create(f, f->g));
    fix_access(f, p, 2 * f->g, RW);
    return p + f->g - 8;
}

TEST_BREAKS(COPY_RUNS_PAST, copy_across_mappings_in_no_context)
{
    const vmm_deviceptr p = seam(f);
    unsigned char bytes[16] = {0};
    vmm_stream stream = fix_stream(f);
    fix_need(f, vmm_ctx_set_current(S, NULL));
    REFUSED(vmm_memcpy_htod_async(S, p, bytes, 16, stream), INVALID_VALUE, "dstDevice", p);
    REFUSED(vmm_memcpy_dtoh_async(S, bytes, p, 16, stream), INVALID_VALUE, "srcDevice", p);
    REFUSED(vmm_memcpy_dtod_async(S, p - 64, p, 16, stream), INVALID_VALUE, "srcDevice", p);
    REFUSED(vmm_memcpy_dtod_async(S, p, p - 64, 16, stream), INVALID_VALUE, "dstDevice", p);
    fix_need(f, vmm_ctx_set_current(S, f->ctx));
    fix_stream_destroy(f, stream);
}

TEST_NEAR_MISS(COPY_RUNS_PAST, fill_across_mappings_in_no_context)
{
    const vmm_deviceptr p = seam(f);
    unsigned char bytes[16] = {0};
    vmm_stream stream = fix_stream(f);
    ACCEPTED(vmm_memcpy_htod_async(S, p, bytes, 16, stream));
    fix_need(f, vmm_ctx_set_current(S, NULL));
    ACCEPTED(vmm_memcpy_htod_async(S, p, bytes, 8, stream));
    ACCEPTED(vmm_memcpy_dtoh_async(S, bytes, p + 8, 8, stream));
    ACCEPTED(vmm_memcpy_dtod_async(S, p, p + 8, 8, stream));
    ACCEPTED(vmm_memset_d8_async(S, p, 7, 16, stream));
    fix_need(f, vmm_ctx_set_current(S, f->ctx));
    ACCEPTED(vmm_stream_synchronize(S, stream));
    CHECK_U64(fix_peek(f, p + 15), 7);
    fix_stream_destroy(f, stream);
}

TEST_NEAR_MISS(COPY_RUNS_PAST, copy_up_to_the_end)
{
    vmm_deviceptr p = fix_reserve(f, 4 * f->g);
    fix_map(f, p, f->g, fix_create(f, f->g));
    fix_access(f, p, f->g, RW);
    ACCEPTED(vmm_memset_d8(S, p, 1, f->g));
    ACCEPTED(vmm_memset_d8(S, p + f->g - 16, 1, 16));
}

/* Without rights, and with them on the first half only. */
TEST_BREAKS(COPY_NO_READ, read_without_rights)
{
    vmm_deviceptr p = fix_reserve(f, 2 * f->g), good = fix_mapped(f, f->g, RW, NULL);
    fix_map(f, p, f->g, fix_create(f, f->g));
    fix_map(f, p + f->g, f->g, fix_create(f, f->g));
    refuse_read(f, p, 16, good);
    fix_access(f, p, f->g, RW);
    refuse_read(f, p + f->g - 8, 16, good);
    fix_access(f, p, f->g, VMM_MEM_ACCESS_FLAGS_PROT_NONE);
    refuse_read(f, p, 16, good);
}

TEST_NEAR_MISS(COPY_NO_READ, read_with_the_right_to_read)
{
    vmm_deviceptr p = fix_mapped(f, f->g, READ, NULL), good = fix_mapped(f, f->g, RW, NULL);
    char bytes[16];
    ACCEPTED(vmm_memcpy_dtoh(S, bytes, p, 16));
    ACCEPTED(vmm_memcpy_dtod(S, good, p, 16));
}

TEST_BREAKS(COPY_NO_WRITE, write_without_rights)
{
    vmm_deviceptr p = fix_reserve(f, 2 * f->g), good = fix_mapped(f, f->g, RW, NULL);
    fix_map(f, p, f->g, fix_create(f, f->g));
    fix_map(f, p + f->g, f->g, fix_create(f, f->g));
    refuse_write(f, p, 16, good);
    fix_access(f, p, f->g, READ);
    refuse_write(f, p, 16, good);
    fix_access(f, p, f->g, RW);
    fix_access(f, p + f->g, f->g, READ);
    refuse_write(f, p + f->g - 8, 16, good);
}

TEST_NEAR_MISS(COPY_NO_WRITE, write_with_the_right_to_write)
{
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL), source = fix_mapped(f, f->g, READ, NULL);
    ACCEPTED(vmm_memset_d8(S, p, 1, 16));
    ACCEPTED(vmm_memcpy_dtod(S, p, source, 16));
    CHECK_U64(fix_peek(f, p), 0);
}

TEST_BREAKS(SET_ALIGNMENT, fill_at_an_odd_address)
{
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    REFUSED(vmm_memset_d16(S, p + 1, 1, 4), INVALID_VALUE, "dstDevice", p + 1);
    REFUSED(vmm_memset_d32(S, p + 2, 1, 4), INVALID_VALUE, "dstDevice", p + 2);
    REFUSED(vmm_memset_d32(S, p + 1, 1, 4), INVALID_VALUE, "dstDevice", p + 1);
    REFUSED(vmm_memset_d16_async(S, p + 3, 1, 4, NULL), INVALID_VALUE, "dstDevice", p + 3);
}

TEST_NEAR_MISS(SET_ALIGNMENT, fill_at_an_even_address)
{
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    ACCEPTED(vmm_memset_d8(S, p + 1, 1, 1));
    ACCEPTED(vmm_memset_d16(S, p + 2, 0x0202, 1));
    ACCEPTED(vmm_memset_d32(S, p + 4, 0x04040404, 1));
    const unsigned char want[8] = {0, 1, 2, 2, 4, 4, 4, 4};
    unsigned char got[8];
    fix_need(f, vmm_memcpy_dtoh(S, got, p, 8));
    CHECK(memcmp(got, want, 8) == 0, "the bytes differ from those filled");
}

/* A copy with one inaccessible byte copies nothing, wherever that byte is. */
TEST_EXPECTS("copy.all_or_nothing", copies_are_atomic)
{
    vmm_deviceptr p = fix_reserve(f, 4 * f->g);
    unsigned char bytes[32];
    fix_map(f, p, f->g, fix_create(f, f->g));
    fix_map(f, p + f->g, f->g, fix_create(f, f->g));
    fix_access(f, p, 2 * f->g, RW);
    fix_fill(f, p, 1, 2 * f->g);
    fix_access(f, p + f->g, f->g, READ);
    memset(bytes, 9, sizeof bytes);
    REFUSED_BY("VMM-COPY-NO-WRITE", vmm_memcpy_htod(S, p + f->g - 16, bytes, 32), INVALID_VALUE, "dstDevice",
               p + f->g - 16);
    CHECK_U64(fix_peek(f, p + f->g - 16), 1);
    REFUSED_BY("VMM-COPY-RUNS-PAST", vmm_memcpy_dtoh(S, bytes, p + 2 * f->g - 16, 32), INVALID_VALUE, "srcDevice",
               p + 2 * f->g - 16);
    CHECK_U64(bytes[0], 9);
}

TEST_EXPECTS("copy.refusal_is_not_sticky", work_goes_on_after_a_refusal)
{
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL), bad = fix_reserve(f, f->g);
    REFUSED_BY("VMM-COPY-NOT-MAPPED", vmm_memset_d8(S, bad, 1, 16), INVALID_VALUE, "dstDevice", bad);
    ACCEPTED(vmm_ctx_synchronize(S));
    vmm_deviceptr old = fix_alloc(f, f->g);
    ACCEPTED(vmm_memset_d8(S, old, 1, 16));
    ACCEPTED(vmm_memset_d8(S, p, 1, 16));
}

TEST_EXPECTS("copy.size_zero_anywhere", size_0_checks_no_address)
{
    vmm_deviceptr bad = fix_reserve(f, f->g);
    char byte = 0;
    ACCEPTED(vmm_memset_d8(S, bad, 1, 0));
    ACCEPTED(vmm_memset_d32(S, bad, 1, 0));
    ACCEPTED(vmm_memcpy_htod(S, bad, &byte, 0));
    ACCEPTED(vmm_memcpy_dtoh(S, &byte, bad, 0));
    ACCEPTED(vmm_memcpy_dtod(S, bad, bad, 0));
}
