/* SPDX-License-Identifier: Apache-2.0 */
/* Group D: cuMemSetAccess. Part of ../edges.c, which includes it. */

static CUdeviceptr d_base;   /* device memory of 2 G at d_base, host memory of 1 G at d_base + 2 G */

/* Before each case: the device has read access to the device memory, and there are no other rights. */
static void d_reset(void)
{
    give(d_base, 2 * G, L_DEVICE, READ);
    if (alive(d_base + 2 * G)) {
        give(d_base + 2 * G, G, L_DEVICE, NONE);
        give(d_base + 2 * G, G, L_HOST, NONE);
    }
}

/* Prints the code, the device's rights to the device memory (1 = unchanged), the device's and the host's to the host memory (0 =
 * unchanged; 99 = not mapped, 0 written). */
static void d_case(const char *id, CUdeviceptr p, size_t size, const CUmemAccessDesc *d, size_t n)
{
    d_reset();
    CUresult r = cuMemSetAccess(p, size, d, n);
    say(id, "%s dev=%llu,%llu host_mem=dev%llu,host%llu", name_of(r), flags_of(d_base, L_DEVICE),
        flags_of(d_base + G, L_DEVICE), flags_of(d_base + 2 * G, L_DEVICE), flags_of(d_base + 2 * G, L_HOST));
}

static void d_setup(int with_host)
{
    init();
    d_base = reserve(16 * G);
    map(d_base, 2 * G, make(2 * G));
    if (with_host)
        map(d_base + 2 * G, G, make_at(L_HOST, G));
}

#define PAIR(a, b) ((CUmemAccessDesc[]){a, b})
#define ONE(a) ((CUmemAccessDesc[]){a})

static void d_not_supported_pairs(void)
{
    d_setup(0);
    CUdeviceptr p = d_base;
    const CUmemAccessDesc host = desc(L_HOST, 0, RW), dev = desc(L_DEVICE, 0, RW), numa = desc(L_NUMA, 0, RW);
    const CUmemAccessDesc bad_flags = desc(L_DEVICE, 0, 2), bad_id = desc(L_DEVICE, 99, RW);
    const CUmemAccessDesc current = desc(L_NUMA_CURRENT, 0, RW), loc0 = desc(0, 0, RW);
    d_case("D.host", p, 2 * G, ONE(host), 1);
    d_case("D.numa", p, 2 * G, ONE(numa), 1);
    d_case("D.numa_id99", p, 2 * G, ONE(desc(L_NUMA, 99, RW)), 1);
    d_case("D.host_id99", p, 2 * G, ONE(desc(L_HOST, 99, RW)), 1);
    d_case("D.host.count0", p, 2 * G, ONE(host), 0);
    d_case("D.host.flags2", p, 2 * G, ONE(desc(L_HOST, 0, 2)), 1);
    d_case("D.host.flags7", p, 2 * G, ONE(desc(L_HOST, 0, 7)), 1);
    d_case("D.host+dev_flags2", p, 2 * G, PAIR(host, bad_flags), 2);
    d_case("D.dev_flags2+host", p, 2 * G, PAIR(bad_flags, host), 2);
    d_case("D.host.unmapped", p + 4 * G, 2 * G, ONE(host), 1);
    d_case("D.host.unreserved", p + ((CUdeviceptr)1 << 38), 2 * G, ONE(host), 1);
    d_case("D.host.partial_front", p, G, ONE(host), 1);
    d_case("D.host.partial_back", p + G, G, ONE(host), 1);
    d_case("D.host.past_end", p, 3 * G, ONE(host), 1);
    d_case("D.host.size_unaligned_long", p, 2 * G + 4096, ONE(host), 1);
    d_case("D.host.size_unaligned_short", p, 4096, ONE(host), 1);
    d_case("D.host.size0", p, 0, ONE(host), 1);
    d_case("D.host.ptr_unaligned", p + 4096, 2 * G, ONE(host), 1);
    d_case("D.host.ptr0", 0, 2 * G, ONE(host), 1);
    d_case("D.host+id99", p, 2 * G, PAIR(host, bad_id), 2);
    d_case("D.id99+host", p, 2 * G, PAIR(bad_id, host), 2);
    d_case("D.host+numa_current", p, 2 * G, PAIR(host, current), 2);
    d_case("D.numa_current+host", p, 2 * G, PAIR(current, host), 2);
    d_case("D.host+loc0", p, 2 * G, PAIR(host, loc0), 2);
    d_case("D.loc0+host", p, 2 * G, PAIR(loc0, host), 2);
    d_case("D.host+dev", p, 2 * G, PAIR(host, dev), 2);
    d_case("D.dev+host", p, 2 * G, PAIR(dev, host), 2);
    d_case("D.dev+host_none", p, 2 * G, PAIR(dev, desc(L_HOST, 0, NONE)), 2);
    d_case("D.host_none", p, 2 * G, ONE(desc(L_HOST, 0, NONE)), 1);
    d_case("D.numa_none", p, 2 * G, ONE(desc(L_NUMA, 0, NONE)), 1);
    d_case("D.host_read", p, 2 * G, ONE(desc(L_HOST, 0, READ)), 1);
    say("D.end.host_flags", "=%llu numa=%llu", flags_of(p, L_HOST), flags_of(p, L_NUMA));
}

static void d_mixed(void)
{
    d_setup(1);
    CUdeviceptr p = d_base;
    const CUmemAccessDesc host = desc(L_HOST, 0, RW), dev = desc(L_DEVICE, 0, RW);
    d_case("D.mixed.host", p, 3 * G, ONE(host), 1);
    d_case("D.mixed.host_none", p, 3 * G, ONE(desc(L_HOST, 0, NONE)), 1);
    d_case("D.mixed.dev", p, 3 * G, ONE(dev), 1);
    d_case("D.mixed.host+dev", p, 3 * G, PAIR(host, dev), 2);
    d_case("D.mixed.dev+host", p, 3 * G, PAIR(dev, host), 2);
    d_case("D.mixed.host.past_end", p, 4 * G, ONE(host), 1);
    d_case("D.mixed.host.partial", p + G, 2 * G, ONE(host), 1);
    d_case("D.hostmem.host", p + 2 * G, G, ONE(host), 1);
    d_case("D.hostmem.host+dev", p + 2 * G, G, PAIR(host, dev), 2);
    d_case("D.hostmem.host+numa_read", p + 2 * G, G, PAIR(host, desc(L_NUMA, 0, READ)), 2);
    d_case("D.hostmem.numa_read+host", p + 2 * G, G, PAIR(desc(L_NUMA, 0, READ), host), 2);
    d_case("D.hostmem.host+id99", p + 2 * G, G, PAIR(host, desc(L_DEVICE, 99, RW)), 2);
    d_case("D.hostmem.numa-1", p + 2 * G, G, ONE(desc(L_NUMA, -1, RW)), 1);
    d_case("D.hostmem.host_id99", p + 2 * G, G, ONE(desc(L_HOST, 99, RW)), 1);
    d_case("D.hostmem.host_flags2", p + 2 * G, G, ONE(desc(L_HOST, 0, 2)), 1);
    /* The host memory comes first. */
    map(p + 3 * G, G, make(G));
    give(p + 3 * G, G, L_DEVICE, READ);
    d_case("D.mixed_back.host", p + 2 * G, 2 * G, ONE(host), 1);
    say("D.mixed_back.host.last", "dev=%llu", flags_of(p + 3 * G, L_DEVICE));
    d_case("D.mixed_back.dev", p + 2 * G, 2 * G, ONE(dev), 1);
    say("D.mixed_back.dev.last", "dev=%llu", flags_of(p + 3 * G, L_DEVICE));
}

static void d_ranges(void)
{
    d_setup(0);
    CUdeviceptr p = d_base;
    const CUmemAccessDesc dev = desc(L_DEVICE, 0, RW);
    d_case("D.ptr+4096.same_size", p + 4096, 2 * G, ONE(dev), 1);
    d_case("D.ptr+4096.inside", p + 4096, G, ONE(dev), 1);
    d_case("D.ptr+4096.to_end", p + 4096, 2 * G - 4096, ONE(dev), 1);
    d_case("D.ptr+64K.same_size", p + 65536, 2 * G, ONE(dev), 1);
    d_case("D.ptr+1.same_size", p + 1, 2 * G, ONE(dev), 1);
    d_case("D.ptr0", 0, 2 * G, ONE(dev), 1);
    d_case("D.ptr0_size0", 0, 0, ONE(dev), 1);
    d_case("D.size.max", p, SIZE_MAX, ONE(dev), 1);
    d_case("D.size.max_aligned", p, SIZE_MAX - (G - 1), ONE(dev), 1);
    d_case("D.size.to_zero", p, (size_t)0 - (size_t)p, ONE(dev), 1);
    d_case("D.size.wraps_to_2G", p, 2 * G - (size_t)p, ONE(dev), 1);
    d_case("D.size.1<<46", p, (size_t)1 << 46, ONE(dev), 1);
    static CUmemAccessDesc many[1000];
    for (size_t i = 0; i < COUNT(many); i++)
        many[i] = dev;
    d_case("D.count1000", p, 2 * G, many, COUNT(many));
    d_case("D.count33", p, 2 * G, many, 33);
    many[COUNT(many) - 1].location.id = 99;
    d_case("D.count1000_last_bad", p, 2 * G, many, COUNT(many));
    many[COUNT(many) - 1] = desc(L_DEVICE, 0, NONE);
    d_case("D.count1000_last_none", p, 2 * G, many, COUNT(many));
}

static void d_null_pairs(void)
{
    d_setup(0);
    d_case("D.null_desc.unmapped", d_base + 4 * G, G, NULL, 1);
    d_case("D.null_desc.size0", d_base, 0, NULL, 1);
}

static void d_seam(void)
{
    CUdeviceptr a = side_by_side(4);
    map(a + 2 * G, G, make(G));
    map(a + 5 * G, G, make(G));
    R("D.seam.hole", give(a + 2 * G, 4 * G, L_DEVICE, RW));
    say("D.seam.hole.flags", "=%llu %llu", flags_of(a + 2 * G, L_DEVICE), flags_of(a + 5 * G, L_DEVICE));
    map(a + 3 * G, 2 * G, make(2 * G));
    R("D.seam.crossing_filled", give(a + 2 * G, 4 * G, L_DEVICE, READ));
    say("D.seam.crossing_filled.flags", "=%llu %llu %llu", flags_of(a + 2 * G, L_DEVICE),
        flags_of(a + 4 * G, L_DEVICE), flags_of(a + 5 * G, L_DEVICE));
}

/* A range from the first mapping's start to the last one's end, over two adjacent reservations of 4 G; bit i of mapped stands for
 * granule i. */
static void d_seam_shape(const char *id, unsigned mapped, int from, int to)
{
    CUdeviceptr a = side_by_side(4);
    for (int i = 0; i < 8; i++)
        if (mapped >> i & 1)
            map(a + (CUdeviceptr)i * G, G, make(G));
    CUresult r = give(a + (CUdeviceptr)from * G, (size_t)(to - from) * G, L_DEVICE, RW);
    printf("D.seam_shape.%s\t%s", id, name_of(r));
    for (int i = 0; i < 8; i++)
        if (mapped >> i & 1)
            printf(" %d:%llu", i, flags_of(a + (CUdeviceptr)i * G, L_DEVICE));
    putchar('\n');
    r = cuMemUnmap(a + (CUdeviceptr)from * G, (size_t)(to - from) * G);
    printf("D.seam_shape.%s.unmap\t%s", id, name_of(r));
    for (int i = 0; i < 8; i++)
        if (mapped >> i & 1)
            printf(" %d:%s", i, alive(a + (CUdeviceptr)i * G) ? "mapped" : "gone");
    putchar('\n');
}

#define SHAPE(name, id, mapped, from, to)             \
    static void name(void)                            \
    {                                                 \
        d_seam_shape(id, mapped, from, to);           \
    }
SHAPE(d_shape1, "both_sides_filled_hole_in_b", 0x2c, 2, 6)
SHAPE(d_shape2, "hole_in_a_b_filled", 0x34, 2, 6)
SHAPE(d_shape3, "a_only_trailing_hole_in_b", 0x08, 3, 6)
SHAPE(d_shape4, "b_only_leading_hole_in_a", 0x10, 2, 5)
SHAPE(d_shape5, "no_hole", 0x3c, 2, 6)
SHAPE(d_shape6, "hole_inside_a_only", 0x1a, 1, 5)
SHAPE(d_shape7, "hole_inside_b_only", 0x58, 3, 7)
SHAPE(d_shape8, "nothing_mapped", 0, 3, 5)
SHAPE(d_shape9, "hole_in_one_reservation", 0x05, 0, 3)
SHAPE(d_shape10, "two_holes_in_one_reservation", 0x15, 0, 5)

/* Which mappings change when a later one is refused? */
static void d_partial_failure(void)
{
    d_setup(1);
    map(d_base + 3 * G, G, make(G));
    give(d_base + 3 * G, G, L_DEVICE, READ);
    const CUmemAccessDesc host = desc(L_HOST, 0, RW), dev = desc(L_DEVICE, 0, RW);
    d_case("D.partial.dev+host_three", d_base, 4 * G, PAIR(dev, host), 2);
    say("D.partial.dev+host_three.last", "dev=%llu", flags_of(d_base + 3 * G, L_DEVICE));
    d_reset();
    d_case("D.partial.dev+host_from_host_memory", d_base + 2 * G, 2 * G, PAIR(dev, host), 2);
    say("D.partial.dev+host_from_host_memory.last", "dev=%llu", flags_of(d_base + 3 * G, L_DEVICE));
    give(d_base + 3 * G, G, L_DEVICE, READ);
    d_case("D.partial.host+dev_from_host_memory", d_base + 2 * G, 2 * G, PAIR(host, dev), 2);
    say("D.partial.host+dev_from_host_memory.last", "dev=%llu", flags_of(d_base + 3 * G, L_DEVICE));
    /* The same across a gap, and with two device mappings. */
    CUdeviceptr p = d_base + 8 * G;
    map(p, G, make(G));
    map(p + G, G, make(G));
    give(p, 2 * G, L_DEVICE, READ);
    CUmemAccessDesc pair[] = {dev, host};
    RV("D.partial.two_device", cuMemSetAccess(p, 2 * G, pair, 2), "dev=%llu,%llu", flags_of(p, L_DEVICE),
       flags_of(p + G, L_DEVICE));
}

/* Are rights after a gap really unchanged, and what about an invalid descriptor or a partial mapping there? */
static void d_beyond_hole(void)
{
    init();
    CUdeviceptr p = reserve(16 * G);
    map(p, G, make(G));
    map(p + 2 * G, G, make(G));
    map(p + 3 * G, G, make(G));
    R("D.beyond_hole.rw", give(p, 4 * G, L_DEVICE, RW));
    say("D.beyond_hole.memset", "before=%s after=%s last=%s", name_of(cuMemsetD8(p, 1, G)),
        name_of(cuMemsetD8(p + 2 * G, 1, G)), name_of(cuMemsetD8(p + 3 * G, 1, G)));
    R("D.beyond_hole.sync", cuCtxSynchronize());
    give(p + 2 * G, 2 * G, L_DEVICE, RW);
    R("D.beyond_hole.none", give(p, 4 * G, L_DEVICE, NONE));
    say("D.beyond_hole.none.flags", "=%llu,%llu,%llu", flags_of(p, L_DEVICE), flags_of(p + 2 * G, L_DEVICE),
        flags_of(p + 3 * G, L_DEVICE));
    map(p + 5 * G, 2 * G, make(2 * G));
    R("D.beyond_hole.cut_mapping", give(p, 6 * G, L_DEVICE, RW));
    say("D.beyond_hole.cut_mapping.flags", "=%llu,%llu", flags_of(p, L_DEVICE), flags_of(p + 5 * G, L_DEVICE));
    R("D.beyond_hole.starts_cut", give(p + 6 * G, G, L_DEVICE, RW));
    map(p + 8 * G, G, make_at(L_HOST, G));
    map(p + 10 * G, G, make(G));
    R("D.beyond_hole.host_on_host_then_device", give(p + 8 * G, 3 * G, L_HOST, RW));
    say("D.beyond_hole.host_on_host_then_device.flags", "host=%llu dev=%llu", flags_of(p + 8 * G, L_HOST),
        flags_of(p + 10 * G, L_DEVICE));
    map(p + 12 * G, G, make(G));
    map(p + 14 * G, G, make_at(L_HOST, G));
    R("D.beyond_hole.host_on_device_then_host", give(p + 12 * G, 3 * G, L_HOST, RW));
    say("D.beyond_hole.host_on_device_then_host.flags", "host=%llu", flags_of(p + 14 * G, L_HOST));
}

static void d_gap(void)
{
    CUdeviceptr a = half_window();
    reserve_here(a + 6 * G, 2 * G);
    map(a + 3 * G, G, make(G));
    map(a + 6 * G, G, make(G));
    R("D.gap.over_unreserved", give(a + 3 * G, 4 * G, L_DEVICE, RW));
    say("D.gap.flags", "=%llu %llu", flags_of(a + 3 * G, L_DEVICE), flags_of(a + 6 * G, L_DEVICE));
    /* For comparison: one reservation, a gap, aliases. */
    map(a, G, make(G));
    R("D.gap.hole_inside_one", give(a, 4 * G, L_DEVICE, READ));
    say("D.gap.hole_inside_one.flags", "=%llu %llu", flags_of(a, L_DEVICE), flags_of(a + 3 * G, L_DEVICE));
}

static void group_d(void)
{
    child("D.pairs!", d_not_supported_pairs);
    child("D.mixed!", d_mixed);
    child("D.ranges!", d_ranges);
    child("D.null!", d_null_pairs);
    child("D.seam!", d_seam);
    static void (*const shapes[])(void) = {d_shape1, d_shape2, d_shape3, d_shape4, d_shape5,
                                           d_shape6, d_shape7, d_shape8, d_shape9, d_shape10};
    for (size_t i = 0; i < COUNT(shapes); i++)
        child("D.seam_shape!", shapes[i]);
    child("D.partial!", d_partial_failure);
    child("D.beyond_hole!", d_beyond_hole);
    child("D.gap!", d_gap);
}
