/* SPDX-License-Identifier: Apache-2.0 */
/* Reservations: sizes, alignments, hints, and giving them back. */
#include "facts_calls.h"

#include <inttypes.h>
#include <stdio.h>

#define G FACTS_G
#define BIT(n) ((uint64_t)1 << (n))

struct reservation {
    const char *name;
    uint64_t size, alignment, hint, flags;
};

static const struct reservation plain[] = {
    {"reserve.g", G, 0, 0, 0},
    {"reserve.0", 0, 0, 0, 0},
    {"reserve.1", 1, 0, 0, 0},
    {"reserve.1024", 1024, 0, 0, 0},
    {"reserve.4096", 4096, 0, 0, 0},
    {"reserve.64k", 65536, 0, 0, 0},
    {"reserve.1m", BIT(20), 0, 0, 0},
    {"reserve.g+4096", G + 4096, 0, 0, 0},
    {"reserve.g+64k", G + 65536, 0, 0, 0},
    {"reserve.g+1", G + 1, 0, 0, 0},
    {"reserve.3g", 3 * G, 0, 0, 0},
    {"reserve.al1", G, 1, 0, 0},
    {"reserve.al3", G, 3, 0, 0},
    {"reserve.al4096", G, 4096, 0, 0},
    {"reserve.al4097", G, 4097, 0, 0},
    {"reserve.alG", G, G, 0, 0},
    {"reserve.al3G", G, 3 * G, 0, 0},
    {"reserve.al1<<30", G, BIT(30), 0, 0},
    {"reserve.al1<<36", G, BIT(36), 0, 0},
    {"reserve.al1<<40", G, BIT(40), 0, 0},
    {"reserve.al1<<46", G, BIT(46), 0, 0},
    {"reserve.al1<<47", G, BIT(47), 0, 0},
    {"reserve.al1<<63", G, BIT(63), 0, 0},
    {"reserve.flags1", G, 0, 0, 1},
    {"reserve.1<<40", BIT(40), 0, 0, 0},
    {"reserve.1<<44", BIT(44), 0, 0, 0},
    {"reserve.1<<45", BIT(45), 0, 0, 0},
    {"reserve.1<<46", BIT(46), 0, 0, 0},
    {"reserve.1<<47", BIT(47), 0, 0, 0},
    {"reserve.1<<48", BIT(48), 0, 0, 0},
    {"reserve.1<<49", BIT(49), 0, 0, 0},
    {"reserve.1<<62", BIT(62), 0, 0, 0},
    {"reserve.max", UINT64_MAX, 0, 0, 0},
    {"reserve.max_al", UINT64_MAX - (G - 1), 0, 0, 0},
};

static int trailing_zeros(uint64_t value)
{
    int zeros = 0;
    for (; value && !(value & 1); value >>= 1)
        zeros++;
    return zeros;
}

static void reserve(struct facts *f, const struct reservation *r)
{
    vmm_deviceptr p = 0x77;
    vmm_result result = fc_reserve(f, &p, r->size, r->alignment, r->hint, r->flags);
    facts_explain(f, result, r->name);
    facts_line(f, r->name, "%s p=%" PRIx64 " hint=%" PRIx64 " ctz=%d", facts_code(result), p, r->hint,
               trailing_zeros(p));
    if (result != VMM_SUCCESS)
        return;
    facts_require(f, !r->alignment || p % r->alignment == 0, r->name, "not aligned as asked");
    facts_setup(f, fc_free(f, p, r->size), r->name);
}

/* One past free, used, odd and far addresses; a is 4 G long and reserved first, then given back. */
static void reserve_hints(struct facts *f, vmm_deviceptr a)
{
    const struct reservation used[] = {
        {"reserve.hint_used", G, 0, a, 0},
        {"reserve.hint_used_mid", G, 0, a + G, 0},
    };
    const struct reservation unused[] = {
        {"reserve.hint_free", 4 * G, 0, a, 0},
        {"reserve.hint_free_unaligned", G, 0, a + 1, 0},
        {"reserve.hint_free_4096", G, 0, a + 4096, 0},
        {"reserve.hint_free_mid", G, 0, a + G, 0},
        {"reserve.hint_low", G, 0, 0x10000, 0},
        {"reserve.hint_high", G, 0, BIT(60), 0},
        {"reserve.hint_2^56", G, 0, BIT(56), 0},
        {"reserve.hint_hostimg", G, 0, (vmm_deviceptr)(uintptr_t)plain & ~(G - 1), 0},
        {"reserve.hint_far", G, 0, 0x200000000000, 0},
        {"reserve.hint_al_conflict", G, BIT(30), a + G, 0},
    };
    for (size_t i = 0; i < sizeof used / sizeof used[0]; i++)
        reserve(f, &used[i]);
    facts_setup(f, fc_free(f, a, 4 * G), "free");
    for (size_t i = 0; i < sizeof unused / sizeof unused[0]; i++)
        reserve(f, &unused[i]);
}

void facts_reserve(struct facts *f)
{
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        reserve(f, &plain[i]);
    facts_result(f, fc_reserve(f, NULL, G, 0, 0, 0), "reserve.null");
    vmm_deviceptr a = fc_take(f, 4 * G), b = fc_take(f, 4 * G), c = fc_take(f, G);
    facts_value(f, "reserve.seq", "a=%" PRIx64 " b=%" PRIx64 " c=%" PRIx64 " b-a=%" PRId64, a, b, c, (int64_t)(b - a));
    reserve_hints(f, a);
    facts_setup(f, fc_free(f, b, 4 * G), "free");
    vmm_deviceptr first = fc_take(f, G);
    facts_setup(f, fc_free(f, first, G), "free");
    vmm_deviceptr second = fc_take(f, G);
    facts_value(f, "reserve.reuse", "%d (%" PRIx64 " %" PRIx64 ")", first == second, first, second);
}

/* Ordinary and virtual memory given back by the other's call. */
static void free_by_the_other(struct facts *f)
{
    vmm_deviceptr ordinary = 0, q = fc_take(f, G);
    facts_setup(f, fc_alloc(f, &ordinary, G), "ordinary memory");
    facts_result(f, fc_free(f, ordinary, G), "free.cumemalloc");
    facts_setup(f, fc_alloc_free(f, ordinary), "ordinary memory back");
    facts_result(f, fc_alloc_free(f, q), "free.vmm_by_cuMemFree");
    facts_result(f, fc_free(f, q, G), "free.after_cuMemFree");
    q = fc_take(f, G);
    fc_put(f, q, G, fc_make(f, G));
    fc_grant(f, q, G, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
    facts_result(f, fc_alloc_free(f, q), "cuMemFree.mapped_vmm");
    facts_result(f, fc_unmap(f, q, G), "cuMemFree.then_unmap");
}

void facts_free(struct facts *f)
{
    vmm_deviceptr p = fc_take(f, 4 * G);
    vmm_mem_access_desc desc = fc_desc(0, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
    facts_result(f, fc_free(f, p, 2 * G), "free.half");
    facts_result(f, fc_free(f, p, 8 * G), "free.toolong");
    facts_result(f, fc_free(f, p + G, 3 * G), "free.interior");
    facts_result(f, fc_free(f, p, 0), "free.size0");
    facts_result(f, fc_free(f, 0, G), "free.ptr0");
    facts_result(f, fc_free(f, 0, 0), "free.00");
    facts_result(f, fc_free(f, p + 1, 4 * G), "free.unaligned");
    facts_result(f, fc_free(f, p, 4 * G - 1), "free.g-1");
    vmm_mem_generic_allocation_handle handle = fc_make(f, G);
    fc_put(f, p + G, G, handle);
    facts_result(f, fc_free(f, p, 4 * G), "free.mapped");
    facts_result(f, fc_set_access(f, p + G, G, &desc, 1), "free.mapped.still_mapped_setaccess");
    facts_result(f, fc_unmap(f, p + G, G), "free.mapped.unmap");
    facts_result(f, fc_free(f, p, 4 * G), "free.ok");
    facts_result(f, fc_free(f, p, 4 * G), "free.double");
    facts_setup(f, fc_release(f, handle), "release");
    free_by_the_other(f);
}
