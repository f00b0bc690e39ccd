/* SPDX-License-Identifier: Apache-2.0 */
/* Group F: cuMemCreate. Part of ../edges.c, which includes it. */

struct creation {
    size_t size, total;
    CUmemAllocationProp prop;
    u64 flags;
};

/* The fields that a violation sets: two that share one cannot be expressed together. */
enum { F_SIZE = 1, F_FLAGS = 2, F_TYPE = 4, F_LOCATION = 8, F_HANDLE = 16, F_COMP = 32, F_RESERVED = 64, F_META = 128,
       F_USAGE = 256, F_RDMA = 512 };

struct violation {
    const char *name;
    unsigned fields;
    void (*apply)(struct creation *c);
};

#define VIOLATION(name, statement)                   \
    static void name(struct creation *c)             \
    {                                                \
        statement;                                   \
    }

VIOLATION(v_size0, c->size = 0)
VIOLATION(v_unaligned, c->size = G + 4096)
VIOLATION(v_too_big, c->size = (c->total / G + 1) * G)
VIOLATION(v_size_max, c->size = SIZE_MAX)
VIOLATION(v_flags1, c->flags = 1)
VIOLATION(v_type0, c->prop.type = (CUmemAllocationType)0)
VIOLATION(v_managed, c->prop.type = (CUmemAllocationType)2)
VIOLATION(v_loc0, c->prop.location.type = (CUmemLocationType)0)
VIOLATION(v_dev99, c->prop.location.id = 99)
VIOLATION(v_numa99, c->prop.location = loc_at(L_NUMA, 99))
VIOLATION(v_host_fd, (c->prop.location = loc_at(L_HOST, 0),
                      c->prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))
VIOLATION(v_win32, c->prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_WIN32)
VIOLATION(v_fabric, c->prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC)
VIOLATION(v_comp2, c->prop.allocFlags.compressionType = 2)
VIOLATION(v_reserved, c->prop.allocFlags.reserved[0] = 1)
VIOLATION(v_meta, c->prop.win32HandleMetaData = (void *)8)
VIOLATION(v_usage4, c->prop.allocFlags.usage = 4)
VIOLATION(v_rdma2, c->prop.allocFlags.gpuDirectRDMACapable = 2)

static const struct violation violations[] = {
    {"size0", F_SIZE, v_size0},
    {"unaligned", F_SIZE, v_unaligned},
    {"too_big", F_SIZE, v_too_big},
    {"size_max", F_SIZE, v_size_max},
    {"flags1", F_FLAGS, v_flags1},
    {"type0", F_TYPE, v_type0},
    {"managed", F_TYPE, v_managed},
    {"loc0", F_LOCATION, v_loc0},
    {"dev99", F_LOCATION, v_dev99},
    {"numa99", F_LOCATION, v_numa99},
    {"host_fd", F_LOCATION | F_HANDLE, v_host_fd},
    {"win32", F_HANDLE, v_win32},
    {"fabric", F_HANDLE, v_fabric},
    {"comp2", F_COMP, v_comp2},
    {"reserved", F_RESERVED, v_reserved},
    {"meta8", F_META, v_meta},
    {"usage4", F_USAGE, v_usage4},
    {"rdma2", F_RDMA, v_rdma2},
};

static struct creation creation_of(size_t i, size_t k)
{
    struct creation c = {.size = G, .prop = prop_at(L_DEVICE, 0), .flags = 0};
    cuDeviceTotalMem(&c.total, 0);
    violations[i].apply(&c);
    violations[k].apply(&c);
    /* Never requests 80 GiB from the host, which may have it. */
    if (c.size > G && c.size < SIZE_MAX && c.size % G == 0 && c.prop.location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        c.size = (size_t)1 << 44;
    return c;
}

static void f_pairs(void)
{
    init();
    for (size_t i = 0; i < COUNT(violations); i++)
        for (size_t k = i; k < COUNT(violations); k++) {
            if (i != k && (violations[i].fields & violations[k].fields))
                continue;
            struct creation c = creation_of(i, k);
            Handle h = 0x77;
            CUresult r = cuMemCreate(&h, c.size, &c.prop, c.flags);
            char id[64];
            snprintf(id, sizeof id, i == k ? "F.%s" : "F.%s+%s", violations[i].name, violations[k].name);
            say(id, "%s%s", name_of(r), r && h != 0x77 ? " handle_written" : "");
            if (!r)
                cuMemRelease(h);
        }
}

static void f_one(const char *id, size_t size, const CUmemAllocationProp *p)
{
    Handle h = 0x77;
    CUmemAllocationProp q = prop_at(9, 9);
    CUresult r = cuMemCreate(&h, size, p, 0);
    if (r) {
        say(id, "%s%s", name_of(r), h != 0x77 ? " handle_written" : "");
        return;
    }
    cuMemGetAllocationPropertiesFromHandle(&q, h);
    say(id, "%s type=%d ht=%d loc=%d/%d comp=%d rdma=%d usage=%d", name_of(r), q.type, (int)q.requestedHandleTypes,
        q.location.type, q.location.id, q.allocFlags.compressionType, q.allocFlags.gpuDirectRDMACapable,
        q.allocFlags.usage);
    cuMemRelease(h);
}

static void f_more(void)
{
    init();
    static const char *places[] = {"", "dev", "host", "numa"};
    char id[64];
    for (int type = L_DEVICE; type <= L_NUMA; type++) {
        CUmemAllocationProp p = prop_at(type, 0);
#define F_ONE(what, statement)                                       \
    do {                                                             \
        p = prop_at(type, 0);                                        \
        statement;                                                   \
        snprintf(id, sizeof id, "F.%s.%s", places[type], what);      \
        f_one(id, G, &p);                                            \
    } while (0)
        F_ONE("reserved1", p.allocFlags.reserved[1] = 1);
        F_ONE("reserved2", p.allocFlags.reserved[2] = 1);
        F_ONE("reserved3", p.allocFlags.reserved[3] = 1);
        F_ONE("reserved3_255", p.allocFlags.reserved[3] = 255);
        F_ONE("comp1", p.allocFlags.compressionType = 1);
        F_ONE("comp2", p.allocFlags.compressionType = 2);
        F_ONE("comp255", p.allocFlags.compressionType = 255);
        F_ONE("rdma1", p.allocFlags.gpuDirectRDMACapable = 1);
        F_ONE("usage1", p.allocFlags.usage = 1);
        F_ONE("usage_all", p.allocFlags.usage = 0xffff);
        F_ONE("handle_fd", p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
        F_ONE("handle_win32", p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_WIN32);
        F_ONE("handle_fabric", p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC);
        F_ONE("handle_0x10", p.requestedHandleTypes = (CUmemAllocationHandleType)0x10);
        F_ONE("handle_0x80000000", p.requestedHandleTypes = (CUmemAllocationHandleType)(-0x7fffffff - 1));
        F_ONE("handle_fd_win32", p.requestedHandleTypes = (CUmemAllocationHandleType)3);
        F_ONE("handle_max", p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_MAX);
        F_ONE("meta8_win32", (p.win32HandleMetaData = (void *)8, p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_WIN32));
    }
    CUmemAllocationProp p = prop_at(L_NUMA, 1);
    f_one("F.numa_id1", G, &p);
    p = prop_at(L_HOST, -1);
    f_one("F.host_id-1", G, &p);
    p = prop_at(L_DEVICE, 99);
    p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
    f_one("F.dev99_fabric", G, &p);
    p = prop_at(L_NUMA, 0);
    p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
    f_one("F.numa_fabric_1<<44", (size_t)1 << 44, &p);
}

static void f_null_handle(void)
{
    init();
    CUmemAllocationProp p = prop_at(L_DEVICE, 0), bad = prop_at(L_DEVICE, 99), fabric = p;
    fabric.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
    R("F.null_handle.size0", cuMemCreate(NULL, 0, &p, 0));
    R("F.null_handle.dev99", cuMemCreate(NULL, G, &bad, 0));
    R("F.null_handle.too_big", cuMemCreate(NULL, (size_t)1 << 44, &p, 0));
    R("F.null_handle.fabric", cuMemCreate(NULL, G, &fabric, 0));
    R("F.null_handle.flags1", cuMemCreate(NULL, G, &p, 1));
}

static void f_null_prop(void)
{
    init();
    Handle h = 0x77;
    RV("F.null_prop", cuMemCreate(&h, G, NULL, 0), "handle=%llx", (u64)h);
    R("F.null_prop.size0", cuMemCreate(&h, 0, NULL, 0));
    R("F.null_prop.too_big", cuMemCreate(&h, (size_t)1 << 44, NULL, 0));
    R("F.null_prop.null_handle", cuMemCreate(NULL, G, NULL, 0));
}

static void f_host_memory(void)
{
    init();
    for (int type = L_HOST; type <= L_NUMA; type++) {
        const char *id = type == L_HOST ? "F.host.device_memory" : "F.numa.device_memory";
        size_t before = free_memory();
        Handle h = make_at(type, 64 * G);
        say(id, "create fell=%gG", -in_g(risen(before)));
        CUdeviceptr p = reserve(64 * G);
        map(p, 64 * G, h);
        CUresult r = give(p, 64 * G, L_DEVICE, RW);
        say(id, "setaccess %s fell=%gG", name_of(r), -in_g(risen(before)));
        cuMemUnmap(p, 64 * G);
        cuMemRelease(h);
        say(id, "released fell=%gG", -in_g(risen(before)));
    }
}

static void f_host_huge(void)
{
    init();
    for (int type = L_HOST; type <= L_NUMA; type++)
        for (int bits = 50; bits >= 44; bits -= 6) {
            char id[64];
            snprintf(id, sizeof id, "F.%s.1<<%d", type == L_HOST ? "host" : "numa", bits);
            CUmemAllocationProp p = prop_at(type, 0);
            f_one(id, (size_t)1 << bits, &p);
        }
    CUmemAllocationProp p = prop_at(L_HOST, 0);
    f_one("F.host.max_aligned", SIZE_MAX - (G - 1), &p);
    f_one("F.host.max", SIZE_MAX, &p);
}

static void group_f(void)
{
    child("F.pairs!", f_pairs);
    child("F.more!", f_more);
    child("F.null_handle!", f_null_handle);
    child("F.null_prop!", f_null_prop);
    child("F.host_memory!", f_host_memory);
}

/* Runs last: a driver that searches for this much memory could take long. */
static void group_f_huge(void)
{
    child("F.host_huge!", f_host_huge);
}
