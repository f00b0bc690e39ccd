/* SPDX-License-Identifier: Apache-2.0 */
/* Group B: mappings that cross the end of a reservation. Part of ../edges.c, which includes it. */

/* A and B of n U each, adjacent; the caller maps 2 U at A's last granule. */
static CUdeviceptr side_by_side(size_t n)
{
    init();
    CUdeviceptr a = window(2 * n * U);
    CUdeviceptr one = reserve_here(a, n * U), two = reserve_here(a + n * U, n * U);
    if (one != a || two != a + n * U)
        _exit(8);
    return a;
}

/* A window of 8 U whose first 4 U are reserved; a mapping of 2 U at 3 U runs past the end. */
static CUdeviceptr past_the_end(void)
{
    init();
    CUdeviceptr a = window(8 * U);
    if (reserve_here(a, 4 * U) != a)
        _exit(8);
    map(a + 3 * U, 2 * U, make(2 * U));
    return a;
}

/* Prints where q lies according to the pointer attributes, in U from base. */
static void place(const char *id, CUdeviceptr base, CUdeviceptr q)
{
    CUdeviceptr range = 0, mapping = 0, start = 0;
    size_t range_size = 0, mapping_size = 0, size = 0;
    CUresult r1 = cuPointerGetAttribute(&range, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, q);
    CUresult r2 = cuPointerGetAttribute(&range_size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, q);
    CUresult r3 = cuPointerGetAttribute(&mapping, CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, q);
    CUresult r4 = cuPointerGetAttribute(&mapping_size, CU_POINTER_ATTRIBUTE_MAPPING_SIZE, q);
    CUresult r5 = cuMemGetAddressRange(&start, &size, q);
    if (!r1 && !range)
        printf("%s\tRANGE_START %s=NULL", id, name_of(r1));
    else
        printf("%s\tRANGE_START %s=%gU", id, name_of(r1), r1 ? 0 : in_u((i64)(range - base)));
    printf(" RANGE_SIZE %s=%gU", name_of(r2), in_u((i64)range_size));
    printf(" MAPPING_BASE %s=%gU", name_of(r3), r3 ? 0 : in_u((i64)(mapping - base)));
    printf(" MAPPING_SIZE %s=%gU", name_of(r4), in_u((i64)mapping_size));
    printf(" cuMemGetAddressRange %s=%gU+%gU\n", name_of(r5), r5 ? 0 : in_u((i64)(start - base)), in_u((i64)size));
    fflush(stdout);
}

/* Prints access, retain and place at q. */
static void look(const char *tag, CUdeviceptr base, CUdeviceptr q)
{
    char id[96];
    u64 f;
    Handle k = 0;
    snprintf(id, sizeof id, "B.%s.getaccess.%s", tag, variant);
    RV(id, read_access(q, L_DEVICE, &f), "=%llu", f);
    snprintf(id, sizeof id, "B.%s.retain.%s", tag, variant);
    if (R(id, cuMemRetainAllocationHandle(&k, (void *)(uintptr_t)q)) == CUDA_SUCCESS)
        cuMemRelease(k);
    snprintf(id, sizeof id, "B.%s.place.%s", tag, variant);
    place(id, base, q);
}

/* Reserves by hint, prints whether the driver took the hint, and frees the range. */
static void try_hint(const char *id, CUdeviceptr hint, size_t size)
{
    CUdeviceptr p = 0;
    CUresult r = cuMemAddressReserve(&p, size, 0, hint, 0);
    say(id, "%s given=%d", name_of(r), p == hint);
    if (!r && (r = cuMemAddressFree(p, size)) != CUDA_SUCCESS)
        say(id, "free %s", name_of(r));
}

static CUdeviceptr crossing(void)
{
    CUdeviceptr a = side_by_side(4);
    map(a + 3 * U, 2 * U, make(2 * U));
    return a;
}

static void b_look(void)
{
    CUdeviceptr a = crossing();
    look("cross.fresh.before_seam", a, a + 3 * U);
    look("cross.fresh.after_seam", a, a + 4 * U);
    R(v("B.cross.setaccess"), give(a + 3 * U, 2 * U, L_DEVICE, RW));
    look("cross.rw.before_seam", a, a + 3 * U);
    look("cross.rw.after_seam", a, a + 4 * U);
    R(v("B.cross.setaccess_a_part"), give(a + 3 * U, U, L_DEVICE, READ));
    R(v("B.cross.setaccess_b_part"), give(a + 4 * U, U, L_DEVICE, READ));
    say(v("B.cross.flags"), "=%llu %llu", flags_of(a + 3 * U, L_DEVICE), flags_of(a + 4 * U, L_DEVICE));
    R(v("B.cross.unmap_a_only"), cuMemUnmap(a, 4 * U));
    R(v("B.cross.unmap_a_part"), cuMemUnmap(a + 3 * U, U));
    R(v("B.cross.unmap_b_tail"), cuMemUnmap(a + 4 * U, U));
    R(v("B.cross.unmap_b_all"), cuMemUnmap(a + 4 * U, 4 * U));
    R(v("B.cross.unmap_b_after_tail"), cuMemUnmap(a + 5 * U, 3 * U));
    say(v("B.cross.alive"), "%d %d", alive(a + 3 * U), alive(a + 4 * U));
    R(v("B.cross.unmap_both_whole"), cuMemUnmap(a, 8 * U));
    say(v("B.cross.alive_after"), "%d %d", alive(a + 3 * U), alive(a + 4 * U));
}

static void b_free_b(void)
{
    CUdeviceptr a = crossing();
    give(a + 3 * U, 2 * U, L_DEVICE, RW);
    cuMemsetD8(a + 3 * U, 0x41, 2 * U);
    CUresult r = R(v("B.free_b"), cuMemAddressFree(a + 4 * U, 4 * U));
    look("free_b.before_seam", a, a + 3 * U);
    look("free_b.after_seam", a, a + 4 * U);
    say(v("B.free_b.bytes"), "%d %d", byte_at(a + 4 * U - 1), byte_at(a + 4 * U));
    R(v("B.free_b.memset"), cuMemsetD8(a + 3 * U, 0x42, 2 * U));
    R(v("B.free_b.setaccess"), give(a + 3 * U, 2 * U, L_DEVICE, READ));
    say(v("B.free_b.flags"), "=%llu %llu", flags_of(a + 3 * U, L_DEVICE), flags_of(a + 4 * U, L_DEVICE));
    if (!r)
        R(v("B.free_b.again"), cuMemAddressFree(a + 4 * U, 4 * U));
    R(v("B.free_b.unmap_tail"), cuMemUnmap(a + 4 * U, U));
    R(v("B.free_b.free_a_mapped"), cuMemAddressFree(a, 4 * U));
    R(v("B.free_b.unmap"), cuMemUnmap(a + 3 * U, 2 * U));
    R(v("B.free_b.free_a"), cuMemAddressFree(a, 4 * U));
    if (r)
        R(v("B.free_b.after_unmap"), cuMemAddressFree(a + 4 * U, 4 * U));
}

static void b_free_b_reserve(void)
{
    CUdeviceptr a = crossing();
    if (R(v("B.free_b_reserve.free"), cuMemAddressFree(a + 4 * U, 4 * U)))
        return;
    try_hint(v("B.free_b_reserve.one_u_at_tail"), a + 4 * U, U);
    try_hint(v("B.free_b_reserve.whole_b"), a + 4 * U, 4 * U);
    try_hint(v("B.free_b_reserve.after_tail"), a + 5 * U, 3 * U);
    CUdeviceptr b = 0;
    RV(v("B.free_b_reserve.keep"), cuMemAddressReserve(&b, 4 * U, 0, a + 4 * U, 0), "given=%d", b == a + 4 * U);
    Handle h = make(U);
    R(v("B.free_b_reserve.map_on_tail"), cuMemMap(a + 4 * U, U, 0, h, 0));
    R(v("B.free_b_reserve.map_after_tail"), cuMemMap(a + 5 * U, U, 0, h, 0));
    look("free_b_reserve.after_seam", a, a + 4 * U);
    R(v("B.free_b_reserve.unmap"), cuMemUnmap(a + 3 * U, 2 * U));
    R(v("B.free_b_reserve.map_on_tail_now"), cuMemMap(a + 4 * U, U, 0, h, 0));
}

static void b_free_a(void)
{
    CUdeviceptr a = crossing();
    give(a + 3 * U, 2 * U, L_DEVICE, RW);
    R(v("B.free_a"), cuMemAddressFree(a, 4 * U));
    say(v("B.free_a.alive"), "%d %d", alive(a + 3 * U), alive(a + 4 * U));
    R(v("B.free_a.memset"), cuMemsetD8(a + 3 * U, 1, 2 * U));
    R(v("B.free_a.free_b"), cuMemAddressFree(a + 4 * U, 4 * U));
    R(v("B.free_a.free_a_again"), cuMemAddressFree(a, 4 * U));
    R(v("B.free_a.unmap"), cuMemUnmap(a + 3 * U, 2 * U));
    R(v("B.free_a.then_free_a"), cuMemAddressFree(a, 4 * U));
    R(v("B.free_a.then_free_b"), cuMemAddressFree(a + 4 * U, 4 * U));
}

/* B has a mapping where the tail would be, and vice versa. */
static void b_onto_mapping(void)
{
    CUdeviceptr a = side_by_side(4);
    Handle two = make(2 * U), one = make(U);
    map(a + 4 * U, U, one);
    R(v("B.onto.cross_onto_mapping"), cuMemMap(a + 3 * U, 2 * U, 0, two, 0));
    say(v("B.onto.alive"), "%d %d", alive(a + 3 * U), alive(a + 4 * U));
    R(v("B.onto.unmap_b"), cuMemUnmap(a + 4 * U, U));
    R(v("B.onto.cross_now"), cuMemMap(a + 3 * U, 2 * U, 0, two, 0));
    R(v("B.onto.map_on_tail"), cuMemMap(a + 4 * U, U, 0, one, 0));
    R(v("B.onto.map_after_tail"), cuMemMap(a + 5 * U, U, 0, one, 0));
    /* Three whole mappings, one of which crosses the end. */
    map(a + 2 * U, U, one);
    R(v("B.onto.setaccess_three"), give(a + 2 * U, 4 * U, L_DEVICE, RW));
    R(v("B.onto.memset_three"), cuMemsetD8(a + 2 * U, 1, 4 * U));
    R(v("B.onto.unmap_three"), cuMemUnmap(a + 2 * U, 4 * U));
    say(v("B.onto.alive_after"), "%d %d %d %d", alive(a + 2 * U), alive(a + 3 * U), alive(a + 4 * U), alive(a + 5 * U));
}

static void b_past_look(void)
{
    CUdeviceptr a = past_the_end();
    look("past.fresh.inside", a, a + 3 * U);
    look("past.fresh.beyond", a, a + 4 * U);
    look("past.fresh.after_tail", a, a + 5 * U);
    R(v("B.past.setaccess_inside_part"), give(a + 3 * U, U, L_DEVICE, RW));
    R(v("B.past.setaccess_beyond_part"), give(a + 4 * U, U, L_DEVICE, RW));
    R(v("B.past.setaccess"), give(a + 3 * U, 2 * U, L_DEVICE, RW));
    look("past.rw.inside", a, a + 3 * U);
    look("past.rw.beyond", a, a + 4 * U + 77);
    R(v("B.past.unmap_beyond_part"), cuMemUnmap(a + 4 * U, U));
    R(v("B.past.unmap_beyond_long"), cuMemUnmap(a + 4 * U, 4 * U));
    R(v("B.past.unmap_reserved_only"), cuMemUnmap(a, 4 * U));
    R(v("B.past.unmap_from_start_to_tail_end"), cuMemUnmap(a, 5 * U));
    say(v("B.past.alive"), "%d %d", alive(a + 3 * U), alive(a + 4 * U));
}

static void b_past_unmap_everything(void)
{
    CUdeviceptr a = past_the_end();
    R(v("B.past_all.unmap_start_past_everything"), cuMemUnmap(a, 8 * U));
    say(v("B.past_all.alive"), "%d %d", alive(a + 3 * U), alive(a + 4 * U));
    R(v("B.past_all.free"), cuMemAddressFree(a, 4 * U));
}

static void b_past_unmap_mapping_long(void)
{
    CUdeviceptr a = past_the_end();
    R(v("B.past_long.unmap_mapping_and_more"), cuMemUnmap(a + 3 * U, 4 * U));
    say(v("B.past_long.alive"), "%d %d", alive(a + 3 * U), alive(a + 4 * U));
}

static void b_past_reserve(void)
{
    CUdeviceptr a = past_the_end();
    try_hint(v("B.past_reserve.one_u_at_tail"), a + 4 * U, U);
    try_hint(v("B.past_reserve.four_u_at_tail"), a + 4 * U, 4 * U);
    try_hint(v("B.past_reserve.after_tail"), a + 5 * U, 3 * U);
    CUdeviceptr b = reserve_here(a + 5 * U, 3 * U);
    say(v("B.past_reserve.keep_after_tail"), "given=%d", b == a + 5 * U);
    look("past_reserve.beyond", a, a + 4 * U);
    Handle h = make(U);
    R(v("B.past_reserve.map_on_tail"), cuMemMap(a + 4 * U, U, 0, h, 0));
    R(v("B.past_reserve.map_after_tail"), cuMemMap(a + 5 * U, U, 0, h, 0));
    R(v("B.past_reserve.setaccess_both"), give(a + 3 * U, 3 * U, L_DEVICE, RW));
    R(v("B.past_reserve.unmap_both"), cuMemUnmap(a + 3 * U, 3 * U));
    say(v("B.past_reserve.alive"), "%d %d %d", alive(a + 3 * U), alive(a + 4 * U), alive(a + 5 * U));
    cuMemUnmap(a + 3 * U, 2 * U);
    cuMemUnmap(a + 5 * U, U);
    try_hint(v("B.past_reserve.tail_once_unmapped"), a + 4 * U, U);
    R(v("B.past_reserve.map_starting_beyond"), cuMemMap(a + 4 * U, U, 0, h, 0));
}

/* Reserves the range of a tail, if the driver returns it. */
static void b_take_tail(void)
{
    CUdeviceptr a = past_the_end(), b = 0;
    give(a + 3 * U, 2 * U, L_DEVICE, RW);
    RV(v("B.take.reserve"), cuMemAddressReserve(&b, U, 0, a + 4 * U, 0), "given=%d", b == a + 4 * U);
    if (b != a + 4 * U)
        return;
    look("take.tail", a, a + 4 * U);
    Handle h = make(U);
    R(v("B.take.map_on_tail"), cuMemMap(b, U, 0, h, 0));
    R(v("B.take.setaccess_tail"), give(b, U, L_DEVICE, READ));
    R(v("B.take.unmap_tail"), cuMemUnmap(b, U));
    R(v("B.take.memset"), cuMemsetD8(a + 3 * U, 1, 2 * U));
    R(v("B.take.free_tail"), cuMemAddressFree(b, U));
    R(v("B.take.unmap"), cuMemUnmap(a + 3 * U, 2 * U));
    R(v("B.take.free_tail_after"), cuMemAddressFree(b, U));
    R(v("B.take.free_a"), cuMemAddressFree(a, 4 * U));
}

/* Does a reservation without a hint ever overlap a tail? */
static void b_tail_unasked(void)
{
    CUdeviceptr a = past_the_end();
    int hit = 0;
    for (int i = 0; i < 12; i++) {
        CUdeviceptr p = reserve(U);
        hit |= p == a + 4 * U;
    }
    say(v("B.tail_unasked"), "hit=%d", hit);
}

/* The tail overlaps memory of cuMemAlloc. */
static void b_onto_cumemalloc(void)
{
    init();
    CUdeviceptr m = 0, p = 0;
    cuMemAlloc(&m, U);
    RV(v("B.onto_cumemalloc.hint_on_it"), cuMemAddressReserve(&p, U, 0, m, 0), "given=%d", p == m);
    p = 0;
    CUresult r = cuMemAddressReserve(&p, U, 0, m - U, 0);
    say(v("B.onto_cumemalloc.hint_below"), "%s given=%d", name_of(r), p == m - U);
    if (p == m - U)
        RV(v("B.onto_cumemalloc.map"), cuMemMap(p, 2 * U, 0, make(2 * U), 0), "alive=%d", alive(p));
    if (p == m - U)
        RV(v("B.onto_cumemalloc.unmap_over"), cuMemUnmap(p, 2 * U), "cumemalloc byte=%d", byte_at(m));
}

/* Extends past the end of A and across a gap into a later reservation, mapped and not. */
static void b_over_a_gap(void)
{
    init();
    CUdeviceptr a = window(8 * U);
    reserve_here(a, 4 * U);
    reserve_here(a + 5 * U, 3 * U);
    Handle four = make(4 * U), one = make(U);
    R(v("B.gap.map_over_gap"), cuMemMap(a + 3 * U, 4 * U, 0, four, 0));
    R(v("B.gap.setaccess"), give(a + 3 * U, 4 * U, L_DEVICE, RW));
    look("gap.in_gap", a, a + 4 * U);
    look("gap.in_second", a, a + 5 * U);
    R(v("B.gap.free_second"), cuMemAddressFree(a + 5 * U, 3 * U));
    R(v("B.gap.unmap"), cuMemUnmap(a + 3 * U, 4 * U));
    map(a + 5 * U, U, one);
    R(v("B.gap.map_over_gap_onto_mapping"), cuMemMap(a + 3 * U, 4 * U, 0, four, 0));
}

static void group_b(void)
{
    for (int big = 0; big < 2; big++) {
        U = big ? 16 * G : G;
        variant = big ? "big" : "small";
        child(v("B.cross!"), b_look);
        child(v("B.free_b!"), b_free_b);
        child(v("B.free_b_reserve!"), b_free_b_reserve);
        child(v("B.free_a!"), b_free_a);
        child(v("B.onto!"), b_onto_mapping);
        child(v("B.past!"), b_past_look);
        child(v("B.past_all!"), b_past_unmap_everything);
        child(v("B.past_long!"), b_past_unmap_mapping_long);
        child(v("B.past_reserve!"), b_past_reserve);
        child(v("B.take!"), b_take_tail);
        child(v("B.tail_unasked!"), b_tail_unasked);
        child(v("B.onto_cumemalloc!"), b_onto_cumemalloc);
        child(v("B.gap!"), b_over_a_gap);
    }
    U = G;
    variant = "small";
}
