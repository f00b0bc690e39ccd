/* SPDX-License-Identifier: Apache-2.0 */
/* Group C: unmap. Part of ../edges.c, which includes it. */

static CUdeviceptr half_window(void)
{
    init();
    CUdeviceptr a = window(8 * U);
    if (reserve_here(a, 4 * U) != a)
        _exit(8);
    return a;
}

static void c_past_end(void)
{
    CUdeviceptr a = half_window();
    Handle h = make(U);
    R(v("C.past_end.nothing_mapped"), cuMemUnmap(a, 6 * U));
    R(v("C.past_end.nothing_mapped_from_last"), cuMemUnmap(a + 3 * U, 2 * U));
    map(a + 2 * U, U, h);
    RV(v("C.past_end.whole_mapping"), cuMemUnmap(a + 2 * U, 6 * U), "alive=%d", alive(a + 2 * U));
    map(a + 3 * U, U, h);
    RV(v("C.past_end.last_mapping"), cuMemUnmap(a + 3 * U, 2 * U), "alive=%d", alive(a + 3 * U));
    RV(v("C.past_end.from_start"), cuMemUnmap(a, 16 * U), "alive=%d", alive(a + 3 * U));
    RV(v("C.past_end.exact"), cuMemUnmap(a, 4 * U), "alive=%d", alive(a + 3 * U));
}

static void c_two_reservations(void)
{
    CUdeviceptr a = side_by_side(4);
    Handle h = make(U), k = make(U);
    R(v("C.two.nothing_mapped"), cuMemUnmap(a, 8 * U));
    map(a + 3 * U, U, h);
    map(a + 4 * U, U, k);
    RV(v("C.two.whole_both"), cuMemUnmap(a + 3 * U, 2 * U), "alive=%d,%d", alive(a + 3 * U), alive(a + 4 * U));
    cuMemUnmap(a, 4 * U);
    cuMemUnmap(a + 4 * U, 4 * U);
    map(a + 2 * U, U, h);
    map(a + 5 * U, U, k);
    RV(v("C.two.hole_at_seam"), cuMemUnmap(a + 2 * U, 4 * U), "alive=%d,%d", alive(a + 2 * U), alive(a + 5 * U));
    RV(v("C.two.all_with_holes"), cuMemUnmap(a, 8 * U), "alive=%d,%d", alive(a + 2 * U), alive(a + 5 * U));
    cuMemUnmap(a, 4 * U);
    cuMemUnmap(a + 4 * U, 4 * U);
    map(a + 3 * U, U, h);
    RV(v("C.two.a_whole_then_b_empty"), cuMemUnmap(a + 3 * U, 2 * U), "alive=%d", alive(a + 3 * U));
    cuMemUnmap(a, 4 * U);
    map(a + 4 * U, U, k);
    RV(v("C.two.a_empty_then_b_whole"), cuMemUnmap(a + 3 * U, 2 * U), "alive=%d", alive(a + 4 * U));
    RV(v("C.two.a_empty_long"), cuMemUnmap(a, 5 * U), "alive=%d", alive(a + 4 * U));
}

/* Two reservations with unreserved space between them. */
static void c_gap(void)
{
    CUdeviceptr a = half_window();
    reserve_here(a + 5 * U, 3 * U);
    Handle h = make(U), k = make(U);
    map(a + 3 * U, U, h);
    map(a + 5 * U, U, k);
    RV(v("C.gap.over_unreserved"), cuMemUnmap(a + 3 * U, 3 * U), "alive=%d,%d", alive(a + 3 * U), alive(a + 5 * U));
}

static void c_unaligned(void)
{
    CUdeviceptr a = half_window();
    Handle h = make(U), k = make(2 * U);
    map(a + U, U, h);
    RV(v("C.unaligned.ptr+4096,size3U"), cuMemUnmap(a + 4096, 3 * U), "alive=%d", alive(a + U));
    if (!alive(a + U))
        map(a + U, U, h);
    RV(v("C.unaligned.ptr+4096,size4U-4096"), cuMemUnmap(a + 4096, 4 * U - 4096), "alive=%d", alive(a + U));
    if (!alive(a + U))
        map(a + U, U, h);
    RV(v("C.unaligned.ptr+1,size2U-1"), cuMemUnmap(a + 1, 2 * U - 1), "alive=%d", alive(a + U));
    if (!alive(a + U))
        map(a + U, U, h);
    RV(v("C.unaligned.ptr_in_mapping"), cuMemUnmap(a + U + 4096, U), "alive=%d", alive(a + U));
    cuMemUnmap(a, 4 * U);
    map(a, 2 * U, k);
    RV(v("C.unaligned.size2U+4096_then_hole"), cuMemUnmap(a, 2 * U + 4096), "alive=%d", alive(a));
    if (!alive(a))
        map(a, 2 * U, k);
    RV(v("C.unaligned.size2U-4096"), cuMemUnmap(a, 2 * U - 4096), "alive=%d", alive(a));
    if (!alive(a))
        map(a, 2 * U, k);
    RV(v("C.unaligned.size1"), cuMemUnmap(a, 1), "alive=%d", alive(a));
    RV(v("C.unaligned.size1_on_hole"), cuMemUnmap(a + 3 * U, 1), "alive=%d", alive(a));
    R(v("C.unaligned.size4U-4096_whole_and_hole"), cuMemUnmap(a, 4 * U - 4096));
    say(v("C.unaligned.end"), "alive=%d", alive(a));
}

static void c_sizes(void)
{
    CUdeviceptr a = half_window();
    Handle h = make(U);
    const struct {
        const char *id;
        size_t size;
    } cases[] = {
        {"C.size.1<<46", (size_t)1 << 46},
        {"C.size.1<<47", (size_t)1 << 47},
        {"C.size.1<<63", (size_t)1 << 63},
        {"C.size.max", SIZE_MAX},
        {"C.size.max_aligned", SIZE_MAX - (U - 1)},
        {"C.size.to_zero", (size_t)0 - (size_t)(a + U)},
        {"C.size.wraps_to_U", U - (size_t)(a + U)},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        if (!alive(a + U))
            map(a + U, U, h);
        RV(v(cases[i].id), cuMemUnmap(a + U, cases[i].size), "alive=%d", alive(a + U));
    }
    cuMemUnmap(a, 4 * U);
    for (size_t i = 0; i < COUNT(cases); i++) {
        char id[64];
        snprintf(id, sizeof id, "%s.unmapped.%s", cases[i].id, variant);
        R(id, cuMemUnmap(a + U, cases[i].size));
    }
}

static void c_unreserved_start(void)
{
    init();
    CUdeviceptr a = window(8 * U);
    reserve_here(a + 4 * U, 4 * U);
    map(a + 5 * U, U, make(U));
    RV(v("C.unreserved_start.covers_reservation"), cuMemUnmap(a, 12 * U), "alive=%d", alive(a + 5 * U));
    RV(v("C.unreserved_start.covers_to_end"), cuMemUnmap(a + 2 * U, 6 * U), "alive=%d", alive(a + 5 * U));
    RV(v("C.unreserved_start.ptr0_size_max"), cuMemUnmap(0, SIZE_MAX), "alive=%d", alive(a + 5 * U));
    RV(v("C.ptr_4096.size_U"), cuMemUnmap(4096, U), "alive=%d", alive(a + 5 * U));
}

/* One whole mapping and one partial in a range over two reservations: is nothing unmapped? */
static void c_partial_in_second(void)
{
    CUdeviceptr a = side_by_side(4);
    map(a + 3 * U, U, make(U));
    map(a + 4 * U, 2 * U, make(2 * U));
    RV(v("C.partial_in_second"), cuMemUnmap(a + 3 * U, 2 * U), "alive=%d,%d", alive(a + 3 * U), alive(a + 4 * U));
}

static void group_c(void)
{
    for (int big = 0; big < 2; big++) {
        U = big ? 16 * G : G;
        variant = big ? "big" : "small";
        child(v("C.past_end!"), c_past_end);
        child(v("C.two!"), c_two_reservations);
        child(v("C.gap!"), c_gap);
        child(v("C.unaligned!"), c_unaligned);
        child(v("C.size!"), c_sizes);
        child(v("C.unreserved_start!"), c_unreserved_start);
        child(v("C.partial_in_second!"), c_partial_in_second);
    }
    U = G;
    variant = "small";
}
