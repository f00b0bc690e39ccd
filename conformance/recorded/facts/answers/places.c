/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of addresses. Part of ../answers.c, which includes it.
 *
 *     place "read":   near          base                        near + 16 G
 *                     | reserved    | 2 G of memory, READ       | reserved       |
 *                                   ^start      ^inside         ^end
 *
 * Every kind is rebuilt when a call may have changed it, and dismantled regardless of its state.
 */

enum { FROM_ASKER = 1, FROM_OWNER = 2 }; /* which rights a place has */

struct place;

struct kind {
    const char *name;
    void (*build)(struct place *place, const struct kind *kind);
    int location;          /* where cuMemCreate's memory is */
    int rights;            /* the devices' rights */
    int host_rights;
    unsigned extra;        /* EXTRA_, or a call's flags */
    int whose;             /* which of two devices have rights; 0: both */
};

enum {
    EXTRA_POSIX = 1,     /* can be exported */
    EXTRA_IMPORTED = 2,  /* imported from a descriptor */
    EXTRA_ORPHAN = 4,    /* its handle is released */
    EXTRA_ALIAS = 8,     /* a second mapping of memory that is also mapped RW */
    EXTRA_UNMAPPED = 16, /* mapped once, and unmapped */
    EXTRA_FREED = 32,    /* and its reservation freed */
    EXTRA_RDMA = 64,
    EXTRA_COMPRESSED = 128,
    EXTRA_PAIR = 256 /* two adjacent mappings */
};

struct place {
    u64 base, size, near, near_size;
    Handle handle[2];
    CUdeviceptr alloc;
    void *host_alloc, *registered, *pages;
    size_t pages_size;
    bool filled; /* its bytes are 0x5a */
    bool peer;   /* the asker has peer access to the owner's allocations */
};

static int asker, owner; /* devices */

static void must(const char *what, CUresult r)
{
    if (r)
        say("place!", "%s %s", what, name_of(r));
}

/* ---- memory of cuMemCreate ---- */

static void make_memory(struct place *place, const struct kind *kind, int i, size_t size)
{
    CUmemAllocationProp p = prop_at(kind->location, kind->location == L_DEVICE ? owner : 0);
    int fd = -1;
    if (kind->extra & (EXTRA_POSIX | EXTRA_IMPORTED))
        p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    p.allocFlags.gpuDirectRDMACapable = (kind->extra & EXTRA_RDMA) != 0;
    p.allocFlags.compressionType = (kind->extra & EXTRA_COMPRESSED) != 0;
    must("create", cuMemCreate(&place->handle[i], size, &p, 0));
    if (!(kind->extra & EXTRA_IMPORTED))
        return;
    Handle made = place->handle[i];
    must("export", cuMemExportToShareableHandle(&fd, made, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    must("import", cuMemImportFromShareableHandle(&place->handle[i], (void *)(intptr_t)fd,
                                                  CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(fd);
    cuMemRelease(made);
}

static void rights(u64 at, size_t size, int device, int flags)
{
    CUmemAccessDesc d = desc(L_DEVICE, device, flags);
    must("rights", cuMemSetAccess(at, size, &d, 1));
}

static void host_rights(u64 at, size_t size, int flags)
{
    CUmemAccessDesc d = desc(L_HOST, 0, flags);
    must("host rights", cuMemSetAccess(at, size, &d, 1));
}

/* Sets the rights of the kind, after the bytes were written. */
static void rights_of_kind(struct place *place, const struct kind *kind)
{
    rights(place->base, place->size, asker, RW);
    place->filled = cuMemsetD8(place->base, 0x5a, 64) == CUDA_SUCCESS &&
                    cuMemsetD8(place->base + place->size / 2, 0x5a, 64) == CUDA_SUCCESS;
    cuCtxSynchronize();
    rights(place->base, place->size, asker, kind->whose == FROM_OWNER && asker != owner ? NONE : kind->rights);
    if (asker != owner)
        rights(place->base, place->size, owner, kind->whose == FROM_ASKER ? NONE : kind->rights);
    if (kind->location != L_DEVICE && kind->host_rights)
        host_rights(place->base, place->size, kind->host_rights);
}

static void build_memory(struct place *place, const struct kind *kind)
{
    place->near_size = 16 * G;
    must("reserve", cuMemAddressReserve(&place->near, place->near_size, 0, 0, 0));
    place->base = place->near + 2 * G;
    place->size = 2 * G;
    if (!kind->location)
        place->base = place->near;
    else if (kind->extra & EXTRA_PAIR)
        for (int i = 0; i < 2; i++) {
            make_memory(place, kind, i, G);
            must("map", cuMemMap(place->base + (u64)i * G, G, 0, place->handle[i], 0));
        }
    else {
        make_memory(place, kind, 0, place->size);
        if (kind->extra & EXTRA_ALIAS) {
            must("map", cuMemMap(place->near + 8 * G, place->size, 0, place->handle[0], 0));
            rights(place->near + 8 * G, place->size, asker, RW);
        }
        must("map", cuMemMap(place->base, place->size, 0, place->handle[0], 0));
    }
    if (kind->location && kind->rights >= 0)
        rights_of_kind(place, kind);
    if (kind->extra & EXTRA_ORPHAN) {
        cuMemRelease(place->handle[0]);
        place->handle[0] = 0;
    }
    if (kind->extra & (EXTRA_UNMAPPED | EXTRA_FREED))
        cuMemUnmap(place->near, place->near_size);
    if (kind->extra & EXTRA_FREED)
        cuMemAddressFree(place->near, place->near_size);
}

/* ---- memory of cuMemAlloc and the host calls ---- */

static void build_alloc(struct place *place, const struct kind *kind)
{
    size_t pitch = 0;
    place->size = kind->extra;
    if (kind->host_rights)
        must("alloc pitch", cuMemAllocPitch(&place->alloc, &pitch, 512, place->size / 512, 4));
    else
        must("alloc", cuMemAlloc(&place->alloc, place->size));
    place->base = place->alloc;
    place->peer = kind->whose == FROM_ASKER;
    if (place->peer) {
        cuCtxSetCurrent(now.own);
        must("peer access", cuCtxEnablePeerAccess(now.other, 0));
    }
    place->filled = !cuMemsetD8(place->base, 0x5a, 64) && !cuMemsetD8(place->base + place->size / 2, 0x5a, 64);
    cuCtxSynchronize();
    if (kind->rights < 0) {
        cuMemFree(place->alloc);
        place->alloc = 0;
    }
}

/* Fills what is looked at of host memory: the first bytes and those in the middle. More would take most of the program's time. */
static void fill_looked_at(void *at, size_t size)
{
    memset(at, 0x5a, 64);
    memset((char *)at + size / 2, 0x5a, 64);
}

static void build_host_alloc(struct place *place, const struct kind *kind)
{
    place->size = 2 * G;
    if (kind->host_rights)
        must("alloc host", cuMemAllocHost(&place->host_alloc, place->size));
    else
        must("host alloc", cuMemHostAlloc(&place->host_alloc, place->size, kind->extra));
    place->base = (u64)(uintptr_t)place->host_alloc;
    if (place->host_alloc)
        fill_looked_at(place->host_alloc, place->size);
    place->filled = true;
    if (kind->rights < 0) {
        cuMemFreeHost(place->host_alloc);
        place->host_alloc = NULL;
    }
}

/* Pages of the program between inaccessible ones. */
static void pages(struct place *place, size_t size)
{
    place->pages_size = size + 16 * G;
    place->pages = mmap(NULL, place->pages_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect((char *)place->pages + 8 * G, size, PROT_READ | PROT_WRITE);
    place->base = (u64)(uintptr_t)place->pages + 8 * G;
    place->size = size;
    fill_looked_at((void *)(uintptr_t)place->base, size);
    place->filled = true;
}

static void build_pages(struct place *place, const struct kind *kind)
{
    pages(place, 2 * G);
    if (kind->rights == RW)
        return;
    mprotect((void *)(uintptr_t)place->base, place->size, kind->rights == READ ? PROT_READ : PROT_NONE);
    place->filled = false;
}

/* extra: flags; location: how far inside the pages the registered range begins and ends */
static void build_registered(struct place *place, const struct kind *kind)
{
    pages(place, 2 * G);
    place->base += (u64)kind->location;
    place->size -= 2 * (u64)kind->location;
    place->registered = (void *)(uintptr_t)place->base;
    if (kind->rights == READ) {
        mprotect(place->registered, place->size, PROT_READ);
        place->filled = false;
    }
    must("register", cuMemHostRegister(place->registered, place->size, kind->extra));
    if (kind->rights < 0) {
        cuMemHostUnregister(place->registered);
        place->registered = NULL;
    }
}

/* An address that no call returned; size is the size that calls get. */
static void build_number(struct place *place, const struct kind *kind)
{
    static const u64 numbers[] = {0, 0x12345000, 0x7000000000000000, 0xfffffffffffff000, (u64)1 << 46};
    place->base = numbers[kind->extra];
    place->size = 4096;
}

/* ---- dismantling ---- */

static void undo(struct place *place, u64 asked)
{
    cuCtxSynchronize();
    if (asked)
        cuMemHostUnregister((void *)(uintptr_t)asked);
    if (place->registered)
        cuMemHostUnregister(place->registered);
    if (place->host_alloc)
        cuMemFreeHost(place->host_alloc);
    if (place->alloc)
        cuMemFree(place->alloc);
    if (place->near) {
        cuMemUnmap(place->near, place->near_size);
        cuMemAddressFree(place->near, place->near_size);
    }
    for (int i = 0; i < 2; i++)
        if (place->handle[i])
            cuMemRelease(place->handle[i]);
    if (place->peer)
        cuCtxDisablePeerAccess(now.other);
    if (place->pages)
        munmap(place->pages, place->pages_size);
    memset(place, 0, sizeof *place);
}

/* ---- the kinds ---- */

enum { DEV = L_DEVICE, NUMA = L_NUMA, HOST = L_HOST, NEVER = -1, GONE = -1, LARGE = 4 << 20, SMALL = 4096 };

static const struct kind kinds[] = {
    {"null", build_number, 0, 0, 0, 0, 0},
    {"low", build_number, 0, 0, 0, 1, 0},
    {"hole", build_number, 0, 0, 0, 2, 0},
    {"top", build_number, 0, 0, 0, 3, 0},
    {"far", build_number, 0, 0, 0, 4, 0},
    {"reserved", build_memory, 0, NEVER, 0, 0, 0},
    {"freed_range", build_memory, DEV, RW, 0, EXTRA_FREED, 0},
    {"unmapped", build_memory, DEV, RW, 0, EXTRA_UNMAPPED, 0},
    {"mapped", build_memory, DEV, NEVER, 0, 0, 0},
    {"none", build_memory, DEV, NONE, 0, 0, 0},
    {"read", build_memory, DEV, READ, 0, 0, 0},
    {"rw", build_memory, DEV, RW, 0, 0, 0},
    {"pair", build_memory, DEV, RW, 0, EXTRA_PAIR, 0},
    {"alias", build_memory, DEV, RW, 0, EXTRA_ALIAS, 0},
    {"alias_mapped", build_memory, DEV, NEVER, 0, EXTRA_ALIAS, 0},
    {"alias_read", build_memory, DEV, READ, 0, EXTRA_ALIAS, 0},
    {"orphan", build_memory, DEV, RW, 0, EXTRA_ORPHAN, 0},
    {"exportable", build_memory, DEV, RW, 0, EXTRA_POSIX, 0},
    {"rdma", build_memory, DEV, RW, 0, EXTRA_RDMA, 0},
    {"compressed", build_memory, DEV, RW, 0, EXTRA_COMPRESSED, 0},
    {"imported_mapped", build_memory, DEV, NEVER, 0, EXTRA_IMPORTED, 0},
    {"imported", build_memory, DEV, RW, 0, EXTRA_IMPORTED, 0},
    {"rw_askers", build_memory, DEV, RW, 0, 0, FROM_ASKER},
    {"rw_owners", build_memory, DEV, RW, 0, 0, FROM_OWNER},
    {"read_owners", build_memory, DEV, READ, 0, 0, FROM_OWNER},
    {"host_mapped", build_memory, HOST, NEVER, 0, 0, 0},
    {"host_rw", build_memory, HOST, RW, 0, 0, 0},
    {"host_read", build_memory, HOST, READ, READ, 0, 0},
    {"host_both", build_memory, HOST, RW, RW, 0, 0},
    {"host_own", build_memory, HOST, NONE, RW, 0, 0},
    {"numa_mapped", build_memory, NUMA, NEVER, 0, 0, 0},
    {"numa_rw", build_memory, NUMA, RW, 0, 0, 0},
    {"numa_both", build_memory, NUMA, RW, RW, 0, 0},
    {"numa_imported", build_memory, NUMA, RW, RW, EXTRA_IMPORTED, 0},
    {"alloc", build_alloc, 0, RW, 0, LARGE, 0},
    {"alloc_small", build_alloc, 0, RW, 0, SMALL, 0},
    {"alloc_pitch", build_alloc, 0, RW, 1, LARGE, 0},
    {"alloc_peer", build_alloc, 0, RW, 0, LARGE, FROM_ASKER},
    {"alloc_freed", build_alloc, 0, GONE, 0, LARGE, 0},
    {"host_alloc", build_host_alloc, 0, RW, 0, 0, 0},
    {"host_alloc1", build_host_alloc, 0, RW, 0, 1, 0},
    {"host_alloc2", build_host_alloc, 0, RW, 0, 2, 0},
    {"host_alloc4", build_host_alloc, 0, RW, 0, 4, 0},
    {"host_alloc7", build_host_alloc, 0, RW, 0, 7, 0},
    {"alloc_host", build_host_alloc, 0, RW, 1, 0, 0},
    {"host_alloc_freed", build_host_alloc, 0, GONE, 0, 0, 0},
    {"registered", build_registered, 0, RW, 0, 0, 0},
    {"registered1", build_registered, 0, RW, 0, 1, 0},
    {"registered2", build_registered, 0, RW, 0, 2, 0},
    {"registered3", build_registered, 0, RW, 0, 3, 0},
    {"registered8", build_registered, 0, READ, 0, 8, 0},
    {"registered_part", build_registered, 1000, RW, 0, 0, 0},
    {"unregistered", build_registered, 0, GONE, 0, 0, 0},
    {"plain", build_pages, 0, RW, 0, 0, 0},
    {"plain_read", build_pages, 0, READ, 0, 0, 0},
    {"plain_none", build_pages, 0, NONE, 0, 0, 0},
};
