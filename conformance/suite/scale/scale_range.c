/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of many mappings: what one call does to all of them.
 *
 *     range    [0: memory 0][1: memory 1] ... [k: memory 0] ... [count - 1]     a granule each, memories in turn
 *     calls    [-------------------- rights for all ---------------------]
 *                        [---- fewer rights, or unmapped ----)
 */
#include <stdlib.h>

#include "scale.h"

struct range {
    vmm_deviceptr start;
    uint64_t count, size, memories;
};

/* Mapped, without rights. */
static struct range make(struct fix *f, uint64_t count, uint64_t memories)
{
    struct range r = {.count = count, .size = count * f->g, .memories = memories};
    vmm_mem_allocation_prop prop = fix_prop(0);
    vmm_result result = VMM_SUCCESS;
    uint64_t made = 0, mapped = 0;
    r.start = scale_reserve(f, r.size);
    fix_note(f, FIX_MAPPING, r.start, r.size);
    vmm_mem_generic_allocation_handle *handle = scale_room(f, memories, sizeof *handle); /* a skipped test ends above */
    while (made < memories && (result = vmm_mem_create(S, &handle[made], f->g, &prop, 0)) == VMM_SUCCESS)
        made++;
    while (result == VMM_SUCCESS && mapped < count &&
           (result = vmm_mem_map(S, r.start + mapped * f->g, f->g, 0, handle[mapped % memories], 0)) == VMM_SUCCESS)
        mapped++;
    while (made)
        vmm_mem_release(S, handle[--made]);
    free(handle);
    fix_need(f, result);
    return r;
}

static void set_rights(struct fix *f, const struct range *r, uint64_t first, uint64_t end, vmm_mem_access_flags flags)
{
    vmm_mem_access_desc desc = {fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0), flags};
    fix_settle(f);
    ACCEPTED(vmm_mem_set_access(S, r->start + first * f->g, (end - first) * f->g, &desc, 1));
}

/* Every mapping from first on up to end has these rights, at its first byte and at its last. */
static void check_rights(struct fix *f, const struct range *r, uint64_t first, uint64_t end, uint64_t want)
{
    vmm_mem_location location = fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0);
    uint64_t wrong = 0, which = 0, got = 0;
    for (uint64_t i = first; i < end; i++) {
        uint64_t at_start = FIX_UNTOUCHED, at_end = FIX_UNTOUCHED;
        vmm_mem_get_access(S, &at_start, &location, r->start + i * f->g);
        vmm_mem_get_access(S, &at_end, &location, r->start + (i + 1) * f->g - 1);
        if (at_start == want && at_end == want)
            continue;
        which = wrong++ ? which : i;
        got = at_start == want ? at_end : at_start;
    }
    CHECK(!wrong, "%llu of the mappings %llu to %llu have other rights than %llu: mapping %llu has %llu",
          (unsigned long long)wrong, (unsigned long long)first, (unsigned long long)end - 1, (unsigned long long)want,
          (unsigned long long)which, (unsigned long long)got);
}

static bool is_gone(struct fix *f, const struct range *r, uint64_t i)
{
    vmm_mem_location location = fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0);
    uint64_t flags;
    return vmm_mem_get_access(S, &flags, &location, r->start + i * f->g) == VMM_ERROR_INVALID_VALUE;
}

/* Nothing is mapped from first on up to end. Each refusal is formatted as text, so of many only some are checked. */
static void check_gone(struct fix *f, const struct range *r, uint64_t first, uint64_t end)
{
    uint64_t there = !is_gone(f, r, end - 1), step = end - first > 1000 ? 97 : 1;
    for (uint64_t i = first; i < end; i += step)
        there += !is_gone(f, r, i);
    CHECK_U64(there, 0);
}

/* Bytes written over the seam before mapping i, and read back. */
static void cross(struct fix *f, const struct range *r, uint64_t i)
{
    unsigned char bytes[64];
    vmm_deviceptr at = r->start + i * f->g - sizeof bytes / 2;
    unsigned char value = (unsigned char)(i % 251 + 1);
    unsigned wrong = 0;
    fix_need(f, vmm_memset_d8(S, at, value, sizeof bytes));
    fix_need(f, vmm_memcpy_dtoh(S, bytes, at, sizeof bytes));
    for (unsigned k = 0; k < sizeof bytes; k++)
        wrong += bytes[k] != value;
    CHECK(!wrong, "%u of %zu bytes over the seam before mapping %llu are wrong", wrong, sizeof bytes,
          (unsigned long long)i);
}

/* Seams at both ends, in the middle, and around every power of two. */
static void cross_seams(struct fix *f, const struct range *r)
{
    cross(f, r, r->count / 2);
    cross(f, r, r->count - 1);
    for (uint64_t i = 1; i < r->count; i *= 2) {
        cross(f, r, i);
        if (i > 2)
            cross(f, r, i - 1);
        if (i + 1 < r->count)
            cross(f, r, i + 1);
    }
}

/* The first bytes of each memory, through the first mappings. */
static void set_bytes(struct fix *f, const struct range *r, unsigned char value)
{
    for (uint64_t i = 0; i < r->memories; i++)
        fix_need(f, vmm_memset_d8(S, r->start + i * f->g, value, 8));
}

/* One kernel reads the first byte of every mapping. */
static void sum_bytes(struct fix *f, const struct range *r, vmm_deviceptr out, uint64_t want)
{
    fix_need(f, vmm_memset_d8(S, out, 0, 8));
    ACCEPTED(LAUNCH(STRIDE_READ, r->start, r->size, f->g, out));
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK_U64(scale_word(f, out), want);
}

/* Where every mapping has memory of its own: one copy of the first eighth carries a byte into every mapping of the last. */
static void copy_part(struct fix *f, const struct range *r, vmm_deviceptr out)
{
    uint64_t part = r->count / 8, rest = r->count - part;
    vmm_deviceptr to = r->start + rest * f->g;
    if (r->memories < r->count)
        return;
    ACCEPTED(vmm_memset_d8(S, to, 0, part * f->g));
    sum_bytes(f, r, out, rest);
    ACCEPTED(vmm_memcpy_dtod(S, to, r->start, part * f->g));
    sum_bytes(f, r, out, r->count);
}

/* A change of one part leaves its neighbours alone: [first, end) loses its rights, then its mappings. */
static void change_part(struct fix *f, const struct range *r, uint64_t first, uint64_t end)
{
    vmm_deviceptr left = r->start + first * f->g, right = r->start + end * f->g;
    set_rights(f, r, first, end, READ);
    check_rights(f, r, 0, first, RW);
    check_rights(f, r, first, end, READ);
    check_rights(f, r, end, r->count, RW);
    scale_refused(f, vmm_memset_d8(S, left - 8, 9, 16), VMM_ERROR_INVALID_VALUE, "VMM-COPY-NO-WRITE");
    scale_refused(f, vmm_memset_d8(S, right - 8, 9, 16), VMM_ERROR_INVALID_VALUE, "VMM-COPY-NO-WRITE");
    fix_settle(f);
    ACCEPTED(vmm_mem_unmap(S, left, right - left));
    check_rights(f, r, 0, first, RW);
    check_gone(f, r, first, end);
    check_rights(f, r, end, r->count, RW);
    ACCEPTED(vmm_mem_unmap(S, r->start, left - r->start));
    ACCEPTED(vmm_mem_unmap(S, right, r->start + r->size - right));
    check_gone(f, r, 0, r->count);
    fix_forget(f, FIX_MAPPING, r->start, r->size);
}

static void range_of(struct fix *f, uint64_t count, uint64_t memories, uint64_t first, uint64_t end)
{
    SCALE_NEED_ROOM(f);
    vmm_deviceptr out = fix_mapped(f, f->g, RW, NULL);
    uint64_t before = fix_free_memory(f);
    struct range r = make(f, count, memories);
    CHECK_FREE(before, memories * f->g);
    check_rights(f, &r, 0, count, NONE);
    set_rights(f, &r, 0, count, RW);
    check_rights(f, &r, 0, count, RW);
    cross_seams(f, &r);
    set_bytes(f, &r, 1);
    sum_bytes(f, &r, out, count);
    copy_part(f, &r, out);
    change_part(f, &r, first, end);
    CHECK_FREE(before, 0);
}

/* Memory for each mapping, where there is enough. */
TEST_EXPECTS("scale.range_of_1000", range_of_1000_mappings)
{
    uint64_t most = fix_free_memory(f) / f->g / 2;
    range_of(f, 1000, most < 1000 ? most : 1000, 250, 750);
}

/* All of one memory. A driver takes some 30 us for each mapping whose rights change, and 20 to unmap it. */
TEST_EXPECTS("scale.range_of_100000", range_of_100000_mappings)
{
    range_of(f, 100000, 1, 80000, 80300);
}
