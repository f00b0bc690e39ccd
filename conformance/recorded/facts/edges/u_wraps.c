/* SPDX-License-Identifier: Apache-2.0 */
/* Group U: copies and fills past the end of the address space, from every kind of start. Part of ../edges.c, which includes
 * it. */

enum { U_MAPPED, U_RESERVED, U_NO_ACCESS, U_READ_ONLY, U_FREED, U_HOST, U_PLACES };
enum { U_KINDS = 15 };

static CUdeviceptr u_place[U_PLACES], u_first;
static CUstream u_stream;

/* p [RW][RW: mapped][no access][read only][host RW] .. [reserved] */
static void u_start(void)
{
    u_first = mapped_rw(2);
    u_place[U_MAPPED] = u_first + G;
    u_place[U_NO_ACCESS] = u_first + 2 * G;
    u_place[U_READ_ONLY] = u_first + 3 * G;
    u_place[U_HOST] = u_first + 4 * G;
    u_place[U_RESERVED] = u_first + 8 * G;
    u_place[U_FREED] = window(64 * G);
    map(u_place[U_NO_ACCESS], G, make(G));
    map(u_place[U_READ_ONLY], G, make(G));
    give(u_place[U_READ_ONLY], G, L_DEVICE, READ);
    map(u_place[U_HOST], G, make_at(L_HOST, G));
    give(u_place[U_HOST], G, L_HOST, RW);
    give(u_place[U_HOST], G, L_DEVICE, RW);
    cuMemsetD8(u_first, 0x11, 2 * G);
    cuStreamCreate(&u_stream, 0);
    cuCtxSynchronize();
}

/* past: ends 16 bytes after the last address; whole: the largest possible size. */
static CUresult u_ask(size_t kind, CUdeviceptr at)
{
    size_t past = (size_t)0 - (size_t)at + 16, whole = SIZE_MAX;
    switch (kind) {
    case 0: return cuMemsetD8(at, 0x22, past);
    case 1: return cuMemsetD16(at, 0x2222, past / 2);
    case 2: return cuMemsetD32(at, 0x22222222, past / 4);
    case 3: return cuMemsetD8Async(at, 0x22, past, u_stream);
    case 4: return cuMemcpyHtoD(at, buffer, past);
    case 5: return cuMemcpyHtoDAsync(at, buffer, past, u_stream);
    case 6: return cuMemcpyDtoH(buffer, at, past);
    case 7: return cuMemcpyDtoHAsync(buffer, at, past, u_stream);
    case 8: return cuMemcpyDtoD(at, u_first, past);
    case 9: return cuMemcpyDtoD(u_first, at, past);
    case 10: return cuMemcpyDtoD(at, u_first, whole);
    case 11: return cuMemcpyDtoD(u_first, at, whole);
    case 12: return cuMemcpyDtoDAsync(at, u_first, whole, u_stream);
    case 13: return cuMemcpyDtoDAsync(u_first, at, past, u_stream);
    default: return cuMemcpyDtoD(at, u_place[U_RESERVED] + G, whole);
    }
}

static void u_one(size_t i, char *id, int run)
{
    static const char *const kinds[U_KINDS] = {
        "memset8",    "memset16",   "memset32",   "memset8_async", "htod",      "htod_async", "dtoh",        "dtoh_async",
        "dtod_to",    "dtod_from",  "dtod_both",  "dtod_both_from", "dtod_both_async", "dtod_from_async", "dtod_from_nothing"};
    static const char *const places[U_PLACES] = {"mapped", "reserved", "no_access", "read_only", "freed", "host"};
    sprintf(id, "U.%s.%s", kinds[i / U_PLACES], places[i % U_PLACES]);
    if (!run)
        return;
    end_after(8);
    CUresult r = u_ask(i / U_PLACES, u_place[i % U_PLACES]);
    CUresult sync = cuCtxSynchronize();
    say(id, "%s sync=%s bytes first=%d at=%d", name_of(r), name_of(sync), byte_at(u_first), byte_at(u_place[i % U_PLACES]));
}

static void group_u(void)
{
    if (is_wanted("U.x"))
        run_cases(u_start, (size_t)U_KINDS * U_PLACES, u_one);
}
