/* SPDX-License-Identifier: Apache-2.0 */
/* Group A: handles. Part of ../edges.c, which includes it. */

static void a_release_again(void)
{
    CUdeviceptr p;
    Handle h = orphan(&p);
    size_t before = free_memory();
    R("A.again.release2", cuMemRelease(h));
    say("A.again.release2.risen", "=%gG alive=%d byte=%d", in_g(risen(before)), alive(p), byte_at(p));
    R("A.again.release3", cuMemRelease(h));
    say("A.again.release3.risen", "=%gG alive=%d byte=%d", in_g(risen(before)), alive(p), byte_at(p));
    R("A.again.unmap", cuMemUnmap(p, G));
    say("A.again.unmap.risen", "=%gG alive=%d", in_g(risen(before)), alive(p));
    R("A.again.free", cuMemAddressFree(p, 8 * G));
    R("A.again.release_after_unmap", cuMemRelease(h));
}

static void a_properties(void)
{
    CUdeviceptr p;
    Handle h = orphan(&p);
    CUmemAllocationProp q = prop_at(9, 9);
    RV("A.properties.refs0_mapped", cuMemGetAllocationPropertiesFromHandle(&q, h), "type=%d loc=%d/%d", q.type,
       q.location.type, q.location.id);
    int fd = -1;
    R("A.export.refs0_mapped", cuMemExportToShareableHandle(&fd, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
}

static void a_map_second(void)
{
    CUdeviceptr p;
    Handle h = orphan(&p);
    size_t before = free_memory();
    R("A.second.map", cuMemMap(p + 2 * G, G, 0, h, 0));
    R("A.second.setaccess", give(p + 2 * G, G, L_DEVICE, RW));
    say("A.second.byte", "=%d", byte_at(p + 2 * G));
    R("A.second.unmap_first", cuMemUnmap(p, G));
    say("A.second.unmap_first.risen", "=%gG byte=%d", in_g(risen(before)), byte_at(p + 2 * G));
    R("A.second.release", cuMemRelease(h));
    say("A.second.release.risen", "=%gG byte=%d", in_g(risen(before)), byte_at(p + 2 * G));
    R("A.second.unmap_last", cuMemUnmap(p + 2 * G, G));
    say("A.second.unmap_last.risen", "=%gG", in_g(risen(before)));
    R("A.second.release_after", cuMemRelease(h));
}

static void a_second_then_all(void)
{
    CUdeviceptr p;
    Handle h = orphan(&p);
    size_t before = free_memory();
    map(p + G, G, h);
    R("A.second_all.unmap_both", cuMemUnmap(p, 2 * G));
    say("A.second_all.risen", "=%gG", in_g(risen(before)));
}

static void a_retain_extra(void)
{
    CUdeviceptr p;
    Handle h = orphan(&p), k = 0;
    size_t before = free_memory();
    R("A.retain_extra.release2", cuMemRelease(h));
    RV("A.retain_extra.retain", cuMemRetainAllocationHandle(&k, (void *)(uintptr_t)p), "same=%d", k == h);
    R("A.retain_extra.release_retained", cuMemRelease(k));
    R("A.retain_extra.release_again", cuMemRelease(k));
    RV("A.retain_extra.retain_again", cuMemRetainAllocationHandle(&k, (void *)(uintptr_t)p), "same=%d", k == h);
    R("A.retain_extra.unmap", cuMemUnmap(p, G));
    say("A.retain_extra.unmap.risen", "=%gG", in_g(risen(before)));
    R("A.retain_extra.map_again", cuMemMap(p + 4 * G, G, 0, k, 0));
    R("A.retain_extra.setaccess", give(p + 4 * G, G, L_DEVICE, RW));
    say("A.retain_extra.byte", "=%d", byte_at(p + 4 * G));
    R("A.retain_extra.final_release", cuMemRelease(k));
    R("A.retain_extra.final_unmap", cuMemUnmap(p + 4 * G, G));
    say("A.retain_extra.final.risen", "=%gG", in_g(risen(before)));
}

static void release_all(const char *tag, Handle h, CUdeviceptr p, size_t before)
{
    char id[64];
    for (int i = 1; i <= 5; i++) {
        snprintf(id, sizeof id, "A.%s.release%d", tag, i);
        CUresult r = cuMemRelease(h);
        say(id, "%s risen=%gG alive=%d", name_of(r), in_g(risen(before)), alive(p));
    }
    snprintf(id, sizeof id, "A.%s.unmap", tag);
    RV(id, cuMemUnmap(p, G), "risen=%gG", in_g(risen(before)));
}

static void a_two_retains(void)
{
    CUdeviceptr p;
    Handle h = orphan(&p), k = 0;
    size_t before = free_memory();
    cuMemRetainAllocationHandle(&k, (void *)(uintptr_t)p);
    cuMemRetainAllocationHandle(&k, (void *)(uintptr_t)p);
    release_all("two_retains", h, p, before);
}

static void a_two_retains_and_own(void)
{
    init();
    Handle h = make(G), k = 0;
    CUdeviceptr p = reserve(2 * G);
    map(p, G, h);
    size_t before = free_memory();
    cuMemRetainAllocationHandle(&k, (void *)(uintptr_t)p);
    cuMemRetainAllocationHandle(&k, (void *)(uintptr_t)p);
    release_all("own_and_two_retains", h, p, before);
}

/* Unmapped with two references: how many releases succeed? */
static void a_retained_then_unmapped(void)
{
    init();
    Handle h = make(G), k = 0;
    CUdeviceptr p = reserve(2 * G);
    map(p, G, h);
    cuMemRetainAllocationHandle(&k, (void *)(uintptr_t)p);
    size_t before = free_memory();
    cuMemUnmap(p, G);
    for (int i = 1; i <= 3; i++)
        RV("A.retained_unmapped.release", cuMemRelease(h), "number=%d risen=%gG", i, in_g(risen(before)));
}

static void a_extra_then_unmap(void)
{
    CUdeviceptr p;
    Handle h = orphan(&p);
    size_t before = free_memory();
    R("A.extra_unmap.release2", cuMemRelease(h));
    R("A.extra_unmap.unmap", cuMemUnmap(p, G));
    say("A.extra_unmap.risen", "=%gG", in_g(risen(before)));
    before = free_memory();
    Handle n = make(G);
    say("A.extra_unmap.new", "fell=%gG same_value=%d", -in_g(risen(before)), n == h);
    R("A.extra_unmap.new.map", cuMemMap(p, G, 0, n, 0));
    R("A.extra_unmap.new.setaccess", give(p, G, L_DEVICE, RW));
    say("A.extra_unmap.new.byte", "=%d", byte_at(p));
    R("A.extra_unmap.new.unmap", cuMemUnmap(p, G));
    R("A.extra_unmap.new.release", cuMemRelease(n));
    say("A.extra_unmap.new.risen", "=%gG", in_g(risen(before)));
}

/* The stale value of a handle freed at unmap. */
static void a_stale_after_unmap(void)
{
    CUdeviceptr p;
    Handle h = orphan(&p);
    R("A.stale.unmap", cuMemUnmap(p, G));
    CUmemAllocationProp q = prop_at(9, 9);
    RV("A.stale.properties", cuMemGetAllocationPropertiesFromHandle(&q, h), "type=%d loc=%d/%d", q.type,
       q.location.type, q.location.id);
    R("A.stale.release", cuMemRelease(h));
}

static void a_value_reuse(void)
{
    init();
    Handle a = make(G);
    cuMemRelease(a);
    Handle b = make(G);
    say("A.reuse.same_size", "same=%d", a == b);
    cuMemRelease(b);
    Handle c = make(3 * G);
    say("A.reuse.other_size", "same=%d", b == c);
    cuMemRelease(c);
    Handle d = make_at(L_HOST, G);
    say("A.reuse.host", "same=%d", c == d);
    cuMemRelease(d);
    Handle e = make(G), f = make(G);
    say("A.reuse.device_after_host", "same=%d distinct=%d", d == e, e != f);
    cuMemRelease(e);
    Handle g = make(G);
    say("A.reuse.first_of_two", "same=%d", e == g);
    cuMemRelease(f);
    cuMemRelease(g);
    Handle i = make(G), j = make(G);
    say("A.reuse.two_freed", "i==g %d i==f %d j==g %d j==f %d", i == g, i == f, j == g, j == f);
    say("A.values", "%llx %llx aligned16=%d", (u64)i, (u64)j, i % 16 == 0 && j % 16 == 0);
    /* Freed while mapped, so the memory is freed at unmap. */
    CUdeviceptr p = reserve(G);
    map(p, G, i);
    cuMemRelease(i);
    Handle k = make(G);
    say("A.reuse.released_but_mapped", "same=%d", i == k);
    cuMemUnmap(p, G);
    Handle l = make(G);
    say("A.reuse.after_unmap", "same=%d", i == l);
}

static void a_value_reuse_many(void)
{
    static Handle seen[400];
    init();
    int first = -1, previous = 0, distinct = 0;
    for (int i = 0; i < 400; i++) {
        seen[i] = make(G);
        int old = 0;
        for (int k = 0; k < i; k++)
            old |= seen[k] == seen[i];
        if (old && first < 0)
            first = i;
        distinct += !old;
        previous += i && seen[i - 1] == seen[i];
        cuMemRelease(seen[i]);
    }
    say("A.reuse.create_release_400_times", "first repeat at %d, %d like the one before, %d distinct", first, previous,
        distinct);
}

static void group_a(void)
{
    child("A.reuse_many!", a_value_reuse_many);
    child("A.again!", a_release_again);
    child("A.properties!", a_properties);
    child("A.second!", a_map_second);
    child("A.second_all!", a_second_then_all);
    child("A.retain_extra!", a_retain_extra);
    child("A.two_retains!", a_two_retains);
    child("A.own_and_two_retains!", a_two_retains_and_own);
    child("A.retained_unmapped!", a_retained_then_unmapped);
    child("A.extra_unmap!", a_extra_then_unmap);
    child("A.stale!", a_stale_after_unmap);
    child("A.reuse!", a_value_reuse);
}
