/* SPDX-License-Identifier: Apache-2.0 */
/* Group L: two devices. Part of ../edges.c, which includes it. On a machine with one device it prints nothing.
 *
 * The owners of memory are a string with one letter per G: "0h.1" is a G of device 0, one of the host, a gap, one of device 1.
 * Rights are written in the order of granting: "03 11+h3" gives device 0 RW, then in one call device 1 READ and HOST RW; n is
 * HOST_NUMA.
 */

static void l_init(void)
{
    init();
    for (int d = 0; d < 2; d++)
        cuDevicePrimaryCtxRetain(&primary[d], d);
}

/* Makes a device's context current; -1: no context. */
static void l_on(int device)
{
    cuCtxSetCurrent(device < 0 ? NULL : primary[device]);
}

static const char *l_on_name(int device)
{
    return device < 0 ? "noctx" : device ? "ctx1" : "ctx0";
}

static CUmemLocation l_location(char who)
{
    return who == 'h' ? loc_at(L_HOST, 0) : who == 'n' ? loc_at(L_NUMA, 0) : loc_at(L_DEVICE, who - '0');
}

static Handle l_make(char owner, size_t size)
{
    CUmemAllocationProp p = prop_at(L_DEVICE, 0);
    p.location = l_location(owner);
    Handle h = 0;
    CUresult r = cuMemCreate(&h, size, &p, 0);
    if (r)
        say("l_make!", "%s owner %c", name_of(r), owner);
    return h;
}

/* The first error of the calls that grant these rights. */
static CUresult l_give(CUdeviceptr p, size_t size, const char *rights)
{
    CUresult first = CUDA_SUCCESS;
    CUmemAccessDesc d[8];
    for (size_t n = 0; *rights;) {
        d[n] = desc(L_DEVICE, 0, rights[1] - '0');
        d[n++].location = l_location(rights[0]);
        rights += 2;
        if (*rights != '+') {
            CUresult r = cuMemSetAccess(p, size, d, n);
            first = first ? first : r;
            n = 0;
        }
        rights += *rights != 0;
    }
    return first;
}

static u64 l_flags(CUdeviceptr p, char who)
{
    u64 f = 99;
    CUmemLocation l = l_location(who);
    cuMemGetAccess(&f, &l, p);
    return f;
}

/* A reservation of 8 G that starts with memory of these owners; only the mappings hold the memory. */
static CUdeviceptr l_place(const char *owners)
{
    CUdeviceptr p = reserve(8 * G);
    for (size_t i = 0; owners[i]; i++) {
        if (owners[i] == '.')
            continue;
        Handle h = l_make(owners[i], G);
        map(p + i * G, G, h);
        cuMemRelease(h);
    }
    return p;
}

/* The same memory of one owner twice: at the start with these rights, and 4 G later with RW for both devices. */
static CUdeviceptr l_alias(char owner, const char *rights)
{
    CUdeviceptr p = reserve(8 * G);
    Handle h = l_make(owner, G);
    map(p, G, h);
    map(p + 4 * G, G, h);
    cuMemRelease(h);
    l_give(p + 4 * G, G, "03+13");
    l_give(p, G, rights);
    return p;
}

static void l_end(CUdeviceptr p)
{
    cuMemUnmap(p, 8 * G);
    cuMemAddressFree(p, 8 * G);
}

/* ---- (1), (2): whose rights HOST reports ---- */

static void l_get_case(const char *owner, const char *rights)
{
    char id[96];
    CUdeviceptr p = l_place(owner);
    l_give(p, G, rights);
    u64 host[3];
    for (int d = -1; d < 2; d++) {
        l_on(d);
        host[d + 1] = l_flags(p, 'h');
    }
    snprintf(id, sizeof id, "L.get.mem_%s", owner);
    say(id, "%s: dev0 %llu dev1 %llu numa %llu host %llu ctx0 %llu ctx1 %llu", *rights ? rights : "none",
        l_flags(p, '0'), l_flags(p, '1'), l_flags(p, 'n'), host[0], host[1], host[2]);
    l_end(p);
}

/* Every combination of rights, granted in this order. */
static void l_get_order(const char *owner, const char *order)
{
    const size_t n = strlen(order), all = n == 2 ? 9 : 27;
    for (size_t c = 0; c < all; c++) {
        char rights[16] = "";
        for (size_t i = 0, x = c; i < n; i++, x /= 3)
            snprintf(rights + 3 * i, 4, "%c%c%s", order[i], "013"[x % 3], i + 1 < n ? " " : "");
        l_get_case(owner, rights);
    }
}

static void l_get(void)
{
    static const char *const orders[] = {"01", "10"}, *const with_host[] = {"01h", "0h1", "10h", "1h0", "h01", "h10"};
    static const char *const owners[] = {"0", "1", "h"};
    static const char *const more[] = {
        "",         "03",          "13",          "03 11 03",    "03 11 01",    "01 13 00 01", "13 01 11",
        "03 13 00", "03 13 10",    "13 03 10",    "13 03 00",    "13 01 00",    "11 03 10",    "03+11",
        "11+03",    "01+13",       "13+01",       "13 h1 13",    "h1 13 03",    "h3 11 10",    "13 h1 h0",
        "13 h1 10", "13 h1 10 13", "03 11 h1 h0", "11 03 h1 h0", "03 11 n3 n0", "h1 03 11 03", "h1 03 11 13",
        "h3+03+11", "h3+11+03",    "03+h3+11",    "11+h1+03",    "11+03+h1"};
    l_init();
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < COUNT(orders); k++)
            l_get_order(owners[i], orders[k]);
    for (size_t k = 0; k < COUNT(with_host); k++)
        l_get_order("h", with_host[k]);
    for (size_t i = 0; i < COUNT(owners); i++)
        for (size_t k = 0; k < COUNT(more); k++)
            if (i == 2 || !strpbrk(more[k], "hn"))
                l_get_case(owners[i], more[k]);
}

/* ---- (3): set access ---- */

/* Initially both devices have read access; prints the rights of device 0, device 1 and HOST for each G. */
static void l_set_case(const char *owners, const char *rights)
{
    char id[96];
    const size_t n = strlen(owners);
    CUdeviceptr p = l_place(owners);
    l_give(p, n * G, "01+11");
    CUresult r = l_give(p, n * G, rights);
    char text[96];
    for (size_t i = 0, at = 0; i < n; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, " %c:%llu,%llu,%llu", owners[i], l_flags(p + i * G, '0'),
                               l_flags(p + i * G, '1'), l_flags(p + i * G, 'h'));
    snprintf(id, sizeof id, "L.set.%s.%s", owners, rights);
    say(id, "%s%s", name_of(r), text);
    l_end(p);
}

static void l_set(void)
{
    static const char *const cases[][2] = {
        {"0", "13+h3"},   {"0", "h3+13"},   {"1", "13+h3"},      {"1", "h3+13"},  {"1", "03+h3"},   {"1", "13+h0"},
        {"1", "h3"},      {"1", "13+n3"},   {"1", "03+13+h3"},   {"1", "03+23"},  {"1", "23+03"},   {"01", "03+13"},
        {"01", "13+03"},  {"01", "03"},     {"01", "13"},        {"01", "00+10"}, {"01", "13+h3"},  {"01", "h3+13"},
        {"01", "03+12"},  {"01", "12+h3"},  {"01", "h3+12"},     {"01", "23+13"}, {"01", "13+23"},  {"10", "13+h3"},
        {"1h", "13+h3"},  {"1h", "h3+13"},  {"h1", "13+h3"},     {"h1", "h3+13"}, {"h0", "13+h3"},  {"h01", "13+h3"},
        {"h10", "h3+13"}, {"0h1", "03+13"}, {"0h1", "h3"},       {"0.1", "13"},   {"h.1", "13+h3"}, {"1.h", "13+h3"},
        {"01", "03+03+13+13+03"},           {"01", "03+13+00+11"},                {"01", "00+10+03+13"},
        {"01", "03+13+01+11+00+10+03"}};
    l_init();
    for (size_t i = 0; i < COUNT(cases); i++)
        l_set_case(cases[i][0], cases[i][1]);
    static CUmemAccessDesc many[1000];
    for (size_t i = 0; i < COUNT(many); i++)
        many[i] = desc(L_DEVICE, i % 2, i < 998 ? RW : i % 2 ? NONE : READ);
    CUdeviceptr p = l_place("01");
    RV("L.set.01.count1000", cuMemSetAccess(p, 2 * G, many, COUNT(many)), "0:%llu,%llu 1:%llu,%llu", l_flags(p, '0'),
       l_flags(p, '1'), l_flags(p + G, '0'), l_flags(p + G, '1'));
    many[500].location.id = 2;
    RV("L.set.01.count1000_one_bad", cuMemSetAccess(p, 2 * G, many, COUNT(many)), "0:%llu,%llu 1:%llu,%llu",
       l_flags(p, '0'), l_flags(p, '1'), l_flags(p + G, '0'), l_flags(p + G, '1'));
}

/* ---- (4): pointer attributes, asked under each context ---- */

static void l_pointer_line(const char *id, CUdeviceptr q, CUdeviceptr base)
{
    static const int which[] = {2, 3, 4, 9, 11, 12, 16, 18, 19};
    char text[250];
    size_t at = 0, size = 0;
    for (size_t i = 0; i < COUNT(which); i++) {
        u64 x = 0;
        CUresult r = cuPointerGetAttribute(&x, (CUpointer_attribute)which[i], q);
        const int placed = x - base < 8 * G;
        if (r)
            at += (size_t)snprintf(text + at, sizeof text - at, "%d:%s ", which[i], name_of(r));
        else
            at += (size_t)snprintf(text + at, sizeof text - at, "%d:%s%llx ", which[i], placed ? "+" : "",
                                   placed ? x - base : x);
    }
    CUdeviceptr start = 0;
    CUresult r = cuMemGetAddressRange(&start, &size, q);
    say(id, "%srange:%s %s%llx %zx", text, name_of(r), start ? "+" : "", start ? (u64)(start - base) : 0, size);
}

static void l_pointer_case(const char *owner, const char *rights, int ctx)
{
    char id[96];
    CUdeviceptr p = l_place(owner);
    l_give(p + G, G, rights);
    l_on(ctx);
    snprintf(id, sizeof id, "L.pointer.mem_%c.%s.%s", owner[1], *rights ? rights : "none", l_on_name(ctx));
    l_pointer_line(id, p + G + 5, p);
    l_end(p);
}

static void l_pointer(void)
{
    static const char *const owners[] = {".0", ".1", ".h"};
    static const char *const rights[] = {"", "03", "13", "03+13", "01", "11", "01+13", "03+11", "h3", "h3+13", "h1+03"};
    l_init();
    for (size_t i = 0; i < COUNT(owners); i++)
        for (size_t k = 0; k < COUNT(rights); k++)
            for (int ctx = -1; ctx < 2; ctx++)
                if (i == 2 || rights[k][0] != 'h')
                    l_pointer_case(owners[i], rights[k], ctx);
}

/* ---- (7), (8): memory and links ---- */

/* By how much each device's free memory has fallen since before was filled; without an id, fills before. */
static void l_fell(const char *id, size_t *before)
{
    for (int d = 0; d < 2; d++) {
        l_on(d);
        if (!id)
            before[d] = free_memory();
    }
    if (!id)
        return;
    l_on(0);
    const double fell0 = in_g(0 - risen(before[0]));
    l_on(1);
    say(id, "dev0 fell %gG dev1 fell %gG", fell0, in_g(0 - risen(before[1])));
}

static void l_memory(void)
{
    l_init();
    size_t before[2], totals[2] = {0, 0}, g = 0;
    static const char *const owners[] = {"0", "1", "h"};
    for (size_t i = 0; i < COUNT(owners); i++) {
        char id[96];
        snprintf(id, sizeof id, "L.memory.%s", owners[i]);
        l_fell(NULL, before);
        Handle h = l_make(owners[i][0], 64 * G);
        l_fell(id, before);
        CUdeviceptr p = reserve(64 * G);
        map(p, 64 * G, h);
        l_give(p, 64 * G, "03+13");
        l_fell(id, before);
        cuMemUnmap(p, 64 * G);
        cuMemRelease(h);
        l_fell(id, before);
    }
    for (int d = 0; d < 2; d++)
        cuDeviceTotalMem(&totals[d], d);
    say("L.total", "equal=%d", totals[0] == totals[1]);
    for (int d = 1; d < 3; d++) {
        char id[64];
        CUmemAllocationProp p = prop_at(L_DEVICE, d);
        snprintf(id, sizeof id, "L.create.dev%d", d);
        f_one(id, G, &p);
        f_one(id, G + 4096, &p);
        f_one(id, (totals[1] / G + 1) * G, &p);
        snprintf(id, sizeof id, "L.granularity.dev%d", d);
        RV(id, cuMemGetAllocationGranularity(&g, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM), "=%zu", g);
        RV(id, cuMemGetAllocationGranularity(&g, &p, (CUmemAllocationGranularity_flags)1), "=%zu", g);
    }
}

static void l_peers(void)
{
    cuInit(0);
    for (int d = -1; d < 4; d++)
        for (int peer = -1; peer < 4; peer++) {
            char id[64];
            int can = 77;
            snprintf(id, sizeof id, "L.peer.%d_%d", d, peer);
            RV(id, cuDeviceCanAccessPeer(&can, d, peer), "=%d", can);
        }
}

/* Is there a second device? Queries in a separate process, because this one must not be initialised. */
static int l_two(void)
{
    int status = 1, n = 0;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        _exit(cuInit(0) || cuDeviceGetCount(&n) || n < 2);
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static void group_l(void)
{
    if ((wanted[0] && !strchr(wanted, 'L')) || !l_two())
        return;
    child("L.get!", l_get);
    child("L.set!", l_set);
    child("L.pointer!", l_pointer);
    child("L.memory!", l_memory);
    child("L.peers!", l_peers);
}
