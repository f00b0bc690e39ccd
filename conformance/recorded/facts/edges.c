/* SPDX-License-Identifier: Apache-2.0 */
/* The second recording program: edge cases that the first one left open.
 *
 * Prints "id<TAB>result" lines; a result is the CUresult's name without CUDA_ERROR_, then values. Addresses are relative to a
 * reservation, in G = 2 MiB. Every group runs in a child of its own, which initialises CUDA itself, because stale handles and
 * NULL pointers may crash the driver; a crash prints as "SIGNAL n".
 *
 * Each group of cases is a file of edges/.
 *
 * Build: gcc -std=c11 -Wall -isystem /usr/local/cuda/include edges.c -o edges -lcuda
 * Use:   edges [letters of groups | beginning of an id, with a point in it]
 */
#include "recorder.h"

static CUdeviceptr reserve_here(CUdeviceptr where, size_t size)
{
    CUdeviceptr p = 0;
    CUresult r = cuMemAddressReserve(&p, size, 0, where, 0);
    if (r || p != where)
        say("reserve_here!", "%s not given", name_of(r));
    return p;
}

/* An address range of n free bytes: reserved once and freed. */
static CUdeviceptr window(size_t n)
{
    CUdeviceptr p = reserve(n);
    cuMemAddressFree(p, n);
    return p;
}

static CUresult read_access(CUdeviceptr p, int type, u64 *flags)
{
    CUmemLocation l = loc_at(type, 0);
    *flags = 99;
    return cuMemGetAccess(flags, &l, p);
}

/* Only the flags; 99 when unchanged. */
static u64 flags_of(CUdeviceptr p, int type)
{
    u64 f;
    read_access(p, type, &f);
    return f;
}

/* Is anything mapped at p? Retaining the handle tells, without changing anything. */
static int alive(CUdeviceptr p)
{
    Handle h = 0;
    if (cuMemRetainAllocationHandle(&h, (void *)(uintptr_t)p))
        return 0;
    cuMemRelease(h);
    return 1;
}

static size_t free_memory(void)
{
    size_t f = 0, t = 0;
    cuMemGetInfo(&f, &t);
    return f;
}

/* By how much free memory has risen since `before`, in bytes. */
static i64 risen(size_t before)
{
    return (i64)free_memory() - (i64)before;
}

static double in_g(i64 bytes)
{
    return (double)bytes / (double)G;
}

/* The driver places ranges of less than 16 G and larger ones in different parts of the address space, so the cases of ranges run
 * in units of 1 G and again in units of 16 G. */
static size_t U = G;
static const char *variant = "small";

static const char *v(const char *id)
{
    static char text[4][96];
    static unsigned next;
    char *b = text[next++ % 4];
    snprintf(b, sizeof text[0], "%s.%s", id, variant);
    return b;
}

static double in_u(i64 bytes)
{
    return (double)bytes / (double)U;
}

/* A handle without references, mapped RW at *p in a reservation of 8 G and filled with 0x5a. */
static Handle orphan(CUdeviceptr *p)
{
    init();
    Handle h = make(G);
    *p = reserve(8 * G);
    map(*p, G, h);
    give(*p, G, L_DEVICE, RW);
    cuMemsetD8(*p, 0x5a, G);
    R("A.orphan.release", cuMemRelease(h));
    return h;
}

#include "edges/a_handles.c"
#include "edges/b_straddle.c"
#include "edges/c_unmap.c"
#include "edges/d_set_access.c"
#include "edges/e_get_access.c"
#include "edges/f_create.c"
#include "edges/g_reserve.c"
#include "edges/h_copies.c"
#include "edges/i_pointers.c"
#include "edges/j_alloc.c"
#include "edges/k_misc.c"
#include "edges/l_two_devices.c"
#include "edges/l_two_devices_work.c"
#include "edges/m_seams.c"
#include "edges/n_rdma.c"
#include "edges/o_both_sides.c"
#include "edges/q_peers.c"
#include "edges/r_dmabuf.c"
#include "edges/s_host_arguments.c"
#include "edges/t_events.c"
#include "edges/u_wraps.c"
#include "edges/v_sharing.c"
#include "edges/w_in_flight.c"
#include "edges/x_host_id.c"

/* ---- the run ---- */

static void every_group(void)
{
    static void (*const groups[])(void) = {group_a, group_b, group_c, group_d, group_e, group_f,
                                           group_g, group_h, group_i, group_j, group_k, group_l,
                                           group_l_work, group_f_huge, group_m,   group_n, group_o, group_q, group_r,
                                           group_s, group_t, group_u, group_v, group_w, group_x};
    for (size_t i = 0; i < COUNT(groups); i++)
        groups[i]();
}

int main(int argc, char **argv)
{
    if (argc > 1)
        snprintf(wanted, sizeof wanted, "%s", argv[1]);
    return record("edges.c", every_group);
}
