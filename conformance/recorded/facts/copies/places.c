/* SPDX-License-Identifier: Apache-2.0 */
/* Places: memory of every kind, 2 MiB each, once as the source and once as the destination. Part of ../copies.c, which includes
 * it. */

enum { BLANK = 0xd1 };

enum kind {
    MALLOC, REGISTERED, HOSTALLOC, ALLOC, MAPPED, READONLY, NORIGHTS, LOCATED, KINDS_LIVE,
    RESERVED = KINDS_LIVE, FREED, NOWHERE, KINDS_ONE,
    PEER = KINDS_ONE, PEERONLY, PEERALLOC, KINDS
};

static const char *const kind_name[KINDS] = {"malloc", "registered", "hostalloc", "alloc", "rw", "ro", "none", "located",
                                             "reserved", "freed", "null", "peer", "peeronly", "peeralloc"};

struct place {
    u64 at;    /* the address to pass to calls */
    u64 seen;  /* an address at which its bytes can be accessed; 0: none */
    bool host; /* the host itself accesses seen */
    int device; /* the device whose context accesses seen */
    const unsigned char *holds; /* setup before its use; NULL: none needed */
};

static struct place from[KINDS], to[KINDS];
static unsigned char pattern[G], blank[G], got[G], expected[G];
static int devices;

static CUdeviceptr mapped(Handle h, int device, int flags)
{
    CUdeviceptr p = reserve(4 * G) + G;
    CUmemAccessDesc d = desc(L_DEVICE, device, flags);
    map(p, G, h);
    if (flags != NONE && cuMemSetAccess(p, G, &d, 1))
        say("access!", "device %d flags %d", device, flags);
    return p;
}

/* Host memory between two inaccessible pages. */
static void *guarded(void)
{
    enum { PAGE = 4096 };
    char *p = mmap(NULL, G + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || mprotect(p + PAGE, G, PROT_READ | PROT_WRITE))
        _exit(8);
    return p + PAGE;
}

/* With restricted rights, an alias gives access to the bytes. */
static struct place mapped_place(int device, int rights_of, int flags)
{
    CUmemAllocationProp p = prop_at(L_DEVICE, device);
    Handle h = 0;
    if (cuMemCreate(&h, G, &p, 0))
        say("make!", "device %d", device);
    struct place place = {.at = mapped(h, rights_of, flags)};
    place.seen = flags == RW && rights_of == 0 ? place.at : mapped(h, 0, RW);
    return place;
}

static struct place host_place(void *p)
{
    return (struct place){.at = (u64)(uintptr_t)p, .seen = (u64)(uintptr_t)p, .host = true};
}

static struct place make_place(enum kind kind)
{
    struct place place = {0};
    CUdeviceptr p = 0;
    void *host = NULL;
    switch (kind) {
    case MALLOC: return host_place(guarded());
    case REGISTERED:
        place = host_place(guarded());
        cuMemHostRegister((void *)(uintptr_t)place.at, G, 0);
        return place;
    case HOSTALLOC: cuMemHostAlloc(&host, G, 0); return host_place(host);
    case MAPPED: return mapped_place(0, 0, RW);
    case READONLY: return mapped_place(0, 0, READ);
    case NORIGHTS: return mapped_place(0, 0, NONE);
    case LOCATED:
        place = host_place((void *)(uintptr_t)mapped(make_at(L_HOST, G), 0, RW));
        give(place.at, G, L_HOST, RW);
        return place;
    case PEER: return mapped_place(1, 0, RW);
    case PEERONLY: return mapped_place(1, 1, RW);
    case PEERALLOC: place.device = 1; /* fall through */
    case ALLOC:
        cuCtxSetCurrent(primary[place.device]);
        cuMemAlloc(&p, G);
        cuCtxSetCurrent(primary[0]);
        place.at = place.seen = p;
        return place;
    case RESERVED: place.at = reserve(4 * G) + G; return place;
    case FREED:
        cuMemAlloc(&p, G);
        cuMemFree(p);
        place.at = p;
        return place;
    default: return place;
    }
}

/* Its bytes, where they are or in got; NULL where they cannot be read. */
static const unsigned char *look(const struct place *place)
{
    if (place->host)
        return (const unsigned char *)(uintptr_t)place->seen;
    cuCtxSetCurrent(primary[place->device]);
    CUresult r = cuMemcpyDtoH(got, place->seen, G);
    cuCtxSetCurrent(primary[0]);
    return r ? NULL : got;
}

static void put(const struct place *place, const void *bytes, size_t size)
{
    if (!place->seen || !size)
        return;
    if (place->host) {
        memcpy((void *)(uintptr_t)place->seen, bytes, size);
        return;
    }
    cuCtxSetCurrent(primary[place->device]);
    cuMemcpyHtoD(place->seen, bytes, size);
    cuCtxSynchronize();
    cuCtxSetCurrent(primary[0]);
}

/* Most children use few places, and none pays for the pages of others. */
static void use(struct place *place)
{
    if (place->holds)
        put(place, place->holds, G);
    place->holds = NULL;
}

/* Once, before there are children. */
static void draw_patterns(void)
{
    memset(blank, BLANK, G);
    for (size_t i = 0; i < G; i++) {
        pattern[i] = (unsigned char)((i * 2654435761u) >> 13);
        pattern[i] = pattern[i] == BLANK ? 0 : pattern[i];
    }
}

static void start_places(void)
{
    init();
    cuDeviceGetCount(&devices);
    if (devices > 1)
        cuDevicePrimaryCtxRetain(&primary[1], 1);
    for (int k = 0; k < (devices > 1 ? KINDS : KINDS_ONE); k++)
        if (k != FREED) {
            from[k] = make_place((enum kind)k);
            to[k] = make_place((enum kind)k);
            from[k].holds = pattern;
            to[k].holds = blank;
        }
    from[FREED] = to[FREED] = make_place(FREED);
}

/* The number of kinds, including those of a second device if there is one. Determined before any case, in a child. */
static size_t kinds(void)
{
    int ends[2], count = 0;
    if (pipe(ends))
        return KINDS_ONE;
    pid_t pid = fork();
    if (pid == 0) {
        cuInit(0);
        cuDeviceGetCount(&count);
        _exit(write(ends[1], &count, sizeof count) != sizeof count);
    }
    close(ends[1]);
    if (read(ends[0], &count, sizeof count) != sizeof count)
        count = 1;
    close(ends[0]);
    waitpid(pid, NULL, 0);
    return count > 1 ? KINDS : KINDS_ONE;
}
