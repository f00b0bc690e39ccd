/* SPDX-License-Identifier: Apache-2.0 */
/* Group R: dma-bufs of address ranges: what is refused, the order of checks, the outputs, and the kind of file. Part of
 * ../edges.c, which includes it. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { R_UNTOUCHED = 777, R_FD = 1, R_PCIE = 1 };

/* Makes the call, and prints its result and the output: unchanged, a negative number, or a descriptor. */
static int r_ask(const char *id, CUdeviceptr p, size_t size, int type, u64 flags)
{
    int fd = R_UNTOUCHED;
    CUresult r = cuMemGetHandleForAddressRange(&fd, p, size, (CUmemRangeHandleType)type, flags);
    if (fd == R_UNTOUCHED)
        say(id, "%s untouched", name_of(r));
    else if (fd < 0)
        say(id, "%s wrote %d", name_of(r), fd);
    else
        say(id, "%s fd cloexec=%d", name_of(r), (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
    return r || fd == R_UNTOUCHED ? -1 : fd;
}

static void r_once(const char *id, CUdeviceptr p, size_t size, int type, u64 flags)
{
    int fd = r_ask(id, p, size, type, flags);
    if (fd >= 0)
        close(fd);
}

static void r_null(void)
{
    CUdeviceptr p = mapped_rw(1);
    R("R.null", cuMemGetHandleForAddressRange(NULL, p, G, (CUmemRangeHandleType)R_FD, 0));
    R("R.null_size0", cuMemGetHandleForAddressRange(NULL, p, 0, (CUmemRangeHandleType)R_FD, 0));
    R("R.null_type", cuMemGetHandleForAddressRange(NULL, p, G, (CUmemRangeHandleType)9, 0));
}

static void r_arguments(void)
{
    CUdeviceptr p = mapped_rw(2), far = p + 8 * G;
    r_once("R.size0", p, 0, R_FD, 0);
    r_once("R.ptr0", 0, G, R_FD, 0);
    r_once("R.both0", 0, 0, R_FD, 0);
    static const int types[] = {0, 2, 3, -1, 0x7fffffff};
    static const u64 flags[] = {1, 2, 3, 4, 0x80000000u, (u64)1 << 32, (u64)1 << 63};
    static const size_t offsets[] = {1, 8, 512, 2048, 4095, 4096, 65536};
    char id[CASE_ID];
    for (size_t i = 0; i < COUNT(types); i++) {
        snprintf(id, sizeof id, "R.type%d", types[i]);
        r_once(id, p, G, types[i], 0);
    }
    for (size_t i = 0; i < COUNT(flags); i++) {
        snprintf(id, sizeof id, "R.flags%llx", flags[i]);
        r_once(id, p, G, R_FD, flags[i]);
    }
    for (size_t i = 0; i < COUNT(offsets); i++) {
        snprintf(id, sizeof id, "R.start+%zu", offsets[i]);
        r_once(id, p + offsets[i], G, R_FD, 0);
        snprintf(id, sizeof id, "R.size%zu", offsets[i]);
        r_once(id, p, offsets[i], R_FD, 0);
        snprintf(id, sizeof id, "R.size-%zu", offsets[i]);
        r_once(id, p, 2 * G - offsets[i], R_FD, 0);
    }
    static const struct {
        const char *id;
        int type;
        u64 flags;
        size_t start, size;
    } both[] = {{"R.type+flags", 9, 2, 0, G},      {"R.type+size0", 9, 0, 0, 0},     {"R.type+far", 9, 0, 1, G},
                {"R.flags+size0", R_FD, 2, 0, 0},  {"R.flags+far", R_FD, 2, 1, G},   {"R.pcie+size0", R_FD, 1, 0, 0},
                {"R.pcie+far", R_FD, 1, 1, G},     {"R.type+pcie", 9, 1, 0, G},      {"R.type+odd", 9, 0, 0, 100},
                {"R.flags+odd", R_FD, 2, 0, 100},  {"R.pcie+odd", R_FD, 1, 0, 100},  {"R.far+odd", R_FD, 0, 1, 100},
                {"R.far+size0", R_FD, 0, 1, 0}};
    for (size_t i = 0; i < COUNT(both); i++)
        r_once(both[i].id, both[i].start ? far : p, both[i].size, both[i].type, both[i].flags);
}

static void r_ranges(void)
{
    init();
    CUdeviceptr p = reserve(16 * G);
    Handle one = make(G), two = make(2 * G);
    map(p, G, one);
    map(p + G, 2 * G, two);
    map(p + 4 * G, G, one);
    give(p, G, L_DEVICE, RW);
    r_once("R.whole", p, G, R_FD, 0);
    r_once("R.two", p, 3 * G, R_FD, 0);
    r_once("R.inside", p + 4096, 8192, R_FD, 0);
    r_once("R.over_seam", p + G - 4096, 8192, R_FD, 0);
    r_once("R.no_access", p + G, 2 * G, R_FD, 0);
    r_once("R.alias", p + 4 * G, G, R_FD, 0);
    r_once("R.hole", p, 5 * G, R_FD, 0);
    r_once("R.into_rest", p + 4 * G, 2 * G, R_FD, 0);
    r_once("R.page_into_rest", p + 4 * G, G + 4096, R_FD, 0);
    r_once("R.before", p - 4096, 8192, R_FD, 0);
    r_once("R.reserved", p + 8 * G, G, R_FD, 0);
    r_once("R.reserved_pcie", p + 8 * G, G, R_FD, R_PCIE);
    cuMemUnmap(p + 4 * G, G);
    r_once("R.unmapped", p + 4 * G, G, R_FD, 0);
    r_once("R.huge", p, (size_t)1 << 46, R_FD, 0);
    r_once("R.wraps", p, (size_t)0 - 4096, R_FD, 0);
    r_once("R.to_the_end", p, (size_t)0 - (size_t)p, R_FD, 0);
    cuMemUnmap(p, 3 * G);
    cuMemRelease(one);
    cuMemRelease(two);
    r_once("R.gone", p, G, R_FD, 0);
}

/* Adjacent: memory of device 0, and memory that differs in one property. */
static void r_kinds(void)
{
    init();
    CUdeviceptr p = reserve(16 * G);
    char id[CASE_ID];
    map(p, G, make(G));
    for (int kind = 0; kind < 6; kind++) {
        static const char *const names[] = {"exportable", "rdma", "compressible", "host", "numa", "decompress"};
        CUmemAllocationProp prop = prop_at(kind == 3 ? L_HOST : kind == 4 ? L_NUMA : L_DEVICE, 0);
        Handle h = 0;
        prop.requestedHandleTypes = kind == 0 ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : 0;
        prop.allocFlags.gpuDirectRDMACapable = kind == 1;
        prop.allocFlags.compressionType = kind == 2;
        prop.allocFlags.usage = kind == 5 ? 2 : 0;
        if (cuMemCreate(&h, G, &prop, 0))
            continue;
        map(p + G, G, h);
        snprintf(id, sizeof id, "R.kind.%s", names[kind]);
        r_once(id, p + G, G, R_FD, 0);
        snprintf(id, sizeof id, "R.kind.%s.pcie", names[kind]);
        r_once(id, p + G, G, R_FD, R_PCIE);
        snprintf(id, sizeof id, "R.kind.plain+%s", names[kind]);
        r_once(id, p, 2 * G, R_FD, 0);
        if (kind == 3 || kind == 4) {
            give(p + G, G, L_DEVICE, RW);
            snprintf(id, sizeof id, "R.kind.%s.device_rw", names[kind]);
            r_once(id, p + G, G, R_FD, 0);
            give(p + G, G, L_HOST, RW);
            snprintf(id, sizeof id, "R.kind.%s.both_rw", names[kind]);
            r_once(id, p + G, G, R_FD, 0);
        }
        cuMemUnmap(p + G, G);
        cuMemRelease(h);
    }
}

static void r_alloc(void)
{
    init();
    CUdeviceptr a = 0;
    cuMemAlloc(&a, 2 * G);
    r_once("R.alloc", a, 2 * G, R_FD, 0);
    r_once("R.alloc_part", a + 4096, 4096, R_FD, 0);
    r_once("R.alloc_beyond", a, 4 * G, R_FD, 0);
    cuMemFree(a);
    r_once("R.alloc_freed", a, 2 * G, R_FD, 0);
    cuMemAlloc(&a, 100);
    r_once("R.alloc_small", a, 4096, R_FD, 0);
    r_once("R.alloc_small_size", a, 100, R_FD, 0);
}

static void r_context(void)
{
    CUdeviceptr p = mapped_rw(1);
    cuCtxSetCurrent(NULL);
    r_once("R.no_context", p, G, R_FD, 0);
    r_once("R.no_context_far", p + 8 * G, G, R_FD, 0);
}

/* The kind of file, and the operations that it supports on the host. */
static void r_file(void)
{
    CUdeviceptr p = mapped_rw(2);
    struct stat is = {0};
    char link[64], target[128] = "", byte = 0x77;
    cuMemsetD8(p, 0x42, 2 * G);
    cuCtxSynchronize();
    int fd = r_ask("R.file", p + 4096, G, R_FD, 0), other = r_ask("R.file_again", p + 4096, G, R_FD, 0);
    say("R.file.new", "%d", fd != other);
    fstat(fd, &is);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, target, sizeof target - 1);
    say("R.file.link", "%.*s", (int)(n > 0 ? n : 0), target);
    say("R.file.stat", "mode=%o size=%lld", (unsigned)is.st_mode, (i64)is.st_size);
    say("R.file.seek", "end=%lld start=%lld middle=%lld", (i64)lseek(fd, 0, SEEK_END), (i64)lseek(fd, 0, SEEK_SET),
        (i64)lseek(fd, 4096, SEEK_SET));
    errno = 0;
    n = read(fd, &byte, 1);
    say("R.file.read", "%zd errno=%d", n, errno);
    errno = 0;
    void *seen = mmap(NULL, G, PROT_READ, MAP_SHARED, fd, 0);
    say("R.file.mmap", "%d errno=%d", seen != MAP_FAILED, errno);
    close(fd);
    close(other);
}

/* Which objects hold the memory, in free G. */
static void r_life(void)
{
    init();
    i64 start = (i64)free_memory();
    CUdeviceptr p = reserve(64 * G);
    Handle h = make(32 * G);
    map(p, 32 * G, h);
    give(p, 32 * G, L_DEVICE, RW);
    say("R.life.made", "%lld", ((i64)free_memory() - start) / (i64)G);
    int fd = r_ask("R.life.ask", p, 32 * G, R_FD, 0);
    say("R.life.asked", "%lld", ((i64)free_memory() - start) / (i64)G);
    R("R.life.unmap", cuMemUnmap(p, 32 * G));
    R("R.life.release", cuMemRelease(h));
    say("R.life.released", "%lld", ((i64)free_memory() - start) / (i64)G);
    R("R.life.free", cuMemAddressFree(p, 64 * G));
    if (fd >= 0)
        close(fd);
    say("R.life.closed", "%lld", ((i64)free_memory() - start) / (i64)G);
}

static void group_r(void)
{
    static const struct {
        const char *id;
        void (*body)(void);
    } parts[] = {{"R.null!", r_null},   {"R.arguments!", r_arguments}, {"R.ranges!", r_ranges}, {"R.kinds!", r_kinds},
                 {"R.alloc!", r_alloc}, {"R.context!", r_context},     {"R.file!", r_file},     {"R.life!", r_life}};
    for (size_t i = 0; i < COUNT(parts); i++)
        child(parts[i].id, parts[i].body);
}
