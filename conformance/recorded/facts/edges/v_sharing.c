/* SPDX-License-Identifier: Apache-2.0 */
/* Group V: memory passed on as a file descriptor: which descriptors are accepted, the properties of an import, and what holds the
 * memory, in one process and between two. Part of ../edges.c, which includes it. */
#include <sys/socket.h>

#define V_FD CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

static CUmemAllocationProp v_prop(int type)
{
    CUmemAllocationProp p = prop_at(type, 0);
    p.requestedHandleTypes = V_FD;
    return p;
}

static Handle v_make(size_t size)
{
    CUmemAllocationProp p = v_prop(L_DEVICE);
    Handle h = 0;
    CUresult r = cuMemCreate(&h, size, &p, 0);
    if (r)
        say("v_make!", "%s", name_of(r));
    return h;
}

static int v_export(Handle h)
{
    int fd = -1;
    CUresult r = cuMemExportToShareableHandle(&fd, h, V_FD, 0);
    if (r)
        say("v_export!", "%s", name_of(r));
    return fd;
}

static void *v_pointer(long long fd)
{
    return (void *)(uintptr_t)fd;
}

static Handle v_import(const char *id, int fd)
{
    Handle h = 0;
    R(id, cuMemImportFromShareableHandle(&h, v_pointer(fd), V_FD));
    return h;
}

/* ---- arguments ---- */

static void v_export_arguments(void)
{
    init();
    Handle h = v_make(G), plain = make(G), gone = v_make(G);
    cuMemRelease(gone);
    int fd;
#define EXPORT(id, out, handle, type, flags)                                                                      \
    do {                                                                                                          \
        fd = -7;                                                                                                  \
        RV("V.export." id, cuMemExportToShareableHandle(out, handle, (CUmemAllocationHandleType)(type), flags), "wrote=%d", \
           fd >= 0 ? 1 : fd);                                                                                     \
    } while (0)
    EXPORT("ok", &fd, h, 1, 0);
    EXPORT("type3", &fd, h, 3, 0);
    EXPORT("type4", &fd, h, 4, 0);
    EXPORT("type8", &fd, h, 8, 0);
    EXPORT("type9", &fd, h, 9, 0);
    EXPORT("type-1", &fd, h, -1, 0);
    EXPORT("flags_high", &fd, h, 1, (u64)1 << 40);
    EXPORT("plain", &fd, plain, 1, 0);
    EXPORT("plain_type0", &fd, plain, 0, 0);
    EXPORT("gone", &fd, gone, 1, 0);
    EXPORT("plain+flags", &fd, plain, 1, 1);
    EXPORT("type8+flags", &fd, h, 8, 1);
    EXPORT("null+flags", NULL, h, 1, 1);
    EXPORT("null+plain", NULL, plain, 1, 0);
    EXPORT("null+type8", NULL, h, 8, 0);
}

static size_t v_case;
static void v_export_bad_handle(void)
{
    static const Handle bad[] = {0, 1, 0x1000, (Handle)-1};
    init();
    int fd = -7;
    char id[CASE_ID];
    snprintf(id, sizeof id, "V.export.handle%zu", v_case);
    RV(id, cuMemExportToShareableHandle(&fd, bad[v_case], V_FD, 0), "wrote=%d", fd);
}

static void v_one_import(const char *id, long long value, int type)
{
    Handle h = 0x77;
    CUresult r = cuMemImportFromShareableHandle(&h, v_pointer(value), (CUmemAllocationHandleType)type);
    say(id, "%s wrote=%d", name_of(r), r ? h != 0x77 : h != 0);
}

static void v_import_arguments(void)
{
    init();
    int fd = v_export(v_make(G)), ends[2], sockets[2];
    v_one_import("V.import.ok", fd, 1);
    v_one_import("V.import.type0", fd, 0);
    v_one_import("V.import.type2", fd, 2);
    v_one_import("V.import.type3", fd, 3);
    v_one_import("V.import.type4", fd, 4);
    v_one_import("V.import.type9", fd, 9);
    v_one_import("V.import.type16", fd, 16);
    v_one_import("V.import.type-1", fd, -1);
    v_one_import("V.import.fd_high_bits", (long long)fd | (1ll << 32), 1);
    v_one_import("V.import.fd_minus1", -1, 1);
    v_one_import("V.import.fd_minus2", -2, 1);
    v_one_import("V.import.fd_large", 1 << 20, 1);
    v_one_import("V.import.fd_int_max", 0x7fffffff, 1);
    v_one_import("V.import.null_type1", 0, 1);
    v_one_import("V.import.null_type2", 0, 2);
    v_one_import("V.import.null_type4", 0, 4);
    v_one_import("V.import.null_type8", 0, 8);
    int stdin_was = dup(0);
    if (dup2(fd, 0) == 0) { /* descriptor 0 is exported memory, and NULL has the same value */
        v_one_import("V.import.fd_zero", 0, 1);
        v_one_import("V.import.fd_zero_high_bits", 1ll << 32, 1);
    }
    if (stdin_was >= 0)
        dup2(stdin_was, 0);
    close(stdin_was);
    int other = dup(fd);
    v_one_import("V.import.dup", other, 1);
    close(fd);
    v_one_import("V.import.closed", fd, 1);
    v_one_import("V.import.dup_after_close", other, 1);
    if (pipe(ends) == 0)
        v_one_import("V.import.pipe", ends[0], 1);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0)
        v_one_import("V.import.socket", sockets[0], 1);
    FILE *file = tmpfile();
    if (file)
        v_one_import("V.import.file", fileno(file), 1);
    int dir = open("/", O_RDONLY);
    v_one_import("V.import.directory", dir, 1);
    int control = open("/dev/nvidiactl", O_RDWR);
    say("V.import.has_control", "%d", control >= 0);
    v_one_import("V.import.control_opened_anew", control, 1);
    CUdeviceptr p = reserve(G);
    map(p, G, make(G));
    give(p, G, L_DEVICE, RW);
    int buf = -1;
    cuMemGetHandleForAddressRange(&buf, p, G, (CUmemRangeHandleType)1, 0);
    v_one_import("V.import.dma_buf", buf, 1);
    v_one_import("V.import.dma_buf_again", buf, 1);
    Handle h = 0;
    RV("V.import.no_output", cuMemImportFromShareableHandle(NULL, v_pointer(other), V_FD), "h=%d", h != 0);
    R("V.import.no_output_bad_fd", cuMemImportFromShareableHandle(NULL, v_pointer(-1), V_FD));
    cuCtxSetCurrent(NULL);
    v_one_import("V.import.no_context", other, 1);
}

static void v_before_init(void)
{
    int fd = -7;
    Handle h = 0;
    R("V.before_init.export", cuMemExportToShareableHandle(&fd, 0, V_FD, 0));
    R("V.before_init.import", cuMemImportFromShareableHandle(&h, v_pointer(0), V_FD));
}

/* ---- the file ---- */

static const char *v_errno(long result)
{
    static char text[32];
    snprintf(text, sizeof text, "%s", result >= 0 ? "ok" : strerror(errno));
    return text;
}

static void v_file(void)
{
    init();
    int fd = v_export(v_make(2 * G));
    char byte = 0;
    say("V.file.flags", "rdwr=%d cloexec=%d", (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR,
        (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
    say("V.file.read", "%s", v_errno(read(fd, &byte, 1)));
    say("V.file.write", "%s", v_errno(write(fd, &byte, 1)));
    say("V.file.seek", "%s", v_errno(lseek(fd, 0, SEEK_END)));
    say("V.file.truncate", "%s", v_errno(ftruncate(fd, 4096)));
    void *at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    say("V.file.mmap", "%s", v_errno(at == MAP_FAILED ? -1 : 0));
    v_import("V.file.import_after", fd);
}

/* ---- the properties of an import ---- */

static void v_show(const char *id, Handle h)
{
    CUmemAllocationProp p;
    memset(&p, 0x55, sizeof p);
    CUresult r = cuMemGetAllocationPropertiesFromHandle(&p, h);
    say(id, "%s type=%d types=%d loc=%d/%d comp=%d rdma=%d usage=%d", name_of(r), (int)p.type, (int)p.requestedHandleTypes,
        (int)p.location.type, p.location.id, p.allocFlags.compressionType, p.allocFlags.gpuDirectRDMACapable,
        p.allocFlags.usage);
}

static void v_kind(const char *name, CUmemAllocationProp p)
{
    char id[CASE_ID];
    Handle h = 0, copy = 0;
    snprintf(id, sizeof id, "V.kind.%s.create", name);
    if (R(id, cuMemCreate(&h, 2 * G, &p, 0)))
        return;
    snprintf(id, sizeof id, "V.kind.%s.own", name);
    v_show(id, h);
    int fd = v_export(h);
    snprintf(id, sizeof id, "V.kind.%s.import", name);
    copy = v_import(id, fd);
    snprintf(id, sizeof id, "V.kind.%s.imported", name);
    v_show(id, copy);
    CUdeviceptr a = reserve(8 * G), b = a + 4 * G;
    map(a, 2 * G, h);
    snprintf(id, sizeof id, "V.kind.%s.map", name);
    R(id, cuMemMap(b, 2 * G, 0, copy, 0));
    give(a, 2 * G, L_DEVICE, RW);
    snprintf(id, sizeof id, "V.kind.%s.access", name);
    R(id, give(b, 2 * G, L_DEVICE, RW));
    snprintf(id, sizeof id, "V.kind.%s.access_host", name);
    R(id, give(b, 2 * G, L_HOST, RW));
    cuMemsetD8(a, 0x5c, 16);
    cuCtxSynchronize();
    snprintf(id, sizeof id, "V.kind.%s.byte", name);
    say(id, "%d", byte_at(b));
    cuMemRelease(h);
    cuMemRelease(copy);
    cuMemUnmap(a, 2 * G);
    cuMemUnmap(b, 2 * G);
    cuMemAddressFree(a, 8 * G);
    close(fd);
}

static void v_kinds(void)
{
    init();
    CUmemAllocationProp p = v_prop(L_DEVICE);
    v_kind("plain", p);
    p.allocFlags.compressionType = 1;
    v_kind("compressed", p);
    p = v_prop(L_DEVICE);
    p.allocFlags.gpuDirectRDMACapable = 1;
    v_kind("rdma", p);
    v_kind("numa", v_prop(L_NUMA));
}

static void v_map_arguments(void)
{
    init();
    Handle own = v_make(4 * G), copy = v_import("V.map.import", v_export(own));
    CUdeviceptr p = reserve(32 * G);
    R("V.map.part", cuMemMap(p, G, 0, copy, 0));
    R("V.map.part_own", cuMemMap(p + 4 * G, G, 0, own, 0));
    R("V.map.offset", cuMemMap(p + 8 * G, G, G, copy, 0));
    R("V.map.offset_own", cuMemMap(p + 8 * G, G, G, own, 0));
    R("V.map.longer", cuMemMap(p + 8 * G, 5 * G, 0, copy, 0));
    R("V.map.longer_own", cuMemMap(p + 8 * G, 5 * G, 0, own, 0));
    R("V.map.offset_longer", cuMemMap(p + 8 * G, 4 * G, G, copy, 0));
    R("V.map.whole", cuMemMap(p + 16 * G, 4 * G, 0, copy, 0));
    R("V.map.twice", cuMemMap(p + 20 * G, 4 * G, 0, copy, 0));
    give(p + 16 * G, 8 * G, L_DEVICE, RW);
    Handle kept = 0;
    R("V.map.retain", cuMemRetainAllocationHandle(&kept, (void *)(uintptr_t)(p + 16 * G)));
    say("V.map.retained", "copy=%d own=%d", kept == copy, kept == own);
    int fd = -7;
    RV("V.map.reexport", cuMemExportToShareableHandle(&fd, copy, V_FD, 0), "wrote=%d", fd);
    RV("V.map.reexport_type0", cuMemExportToShareableHandle(&fd, copy, (CUmemAllocationHandleType)0, 0), "wrote=%d", fd);
    int types[3] = {-1, -1, -1}; /* each result has 64 bits */
    u64 block[3] = {0, 0, 0}, buffer_id[3] = {0, 0, 0};
    enum { ALLOWED_HANDLE_TYPES = 14 };
    CUdeviceptr at[3] = {p + 4 * G, p + 16 * G, p + 20 * G};
    give(at[0], G, L_DEVICE, RW);
    for (int i = 0; i < 3; i++) {
        if (i < 2)
            cuPointerGetAttribute(&types[i], (CUpointer_attribute)ALLOWED_HANDLE_TYPES, at[i]);
        cuPointerGetAttribute(&block[i], CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID, at[i]);
        cuPointerGetAttribute(&buffer_id[i], CU_POINTER_ATTRIBUTE_BUFFER_ID, at[i]);
    }
    say("V.map.allowed_types", "own=%d copy=%d", types[0], types[1]);
    say("V.map.block_ids", "own_copy_same=%d copies_same=%d", block[0] == block[1], block[1] == block[2]);
    say("V.map.buffer_ids", "own_copy_same=%d copies_same=%d", buffer_id[0] == buffer_id[1], buffer_id[1] == buffer_id[2]);
    int buf = -7;
    RV("V.map.dma_buf", cuMemGetHandleForAddressRange(&buf, at[1], G, (CUmemRangeHandleType)1, 0), "fd=%d", buf >= 0);
}

/* What holds the memory: each step prints how many granules are in use. */
static i64 v_before;

static void v_taken(const char *id)
{
    say(id, "%lld", (v_before - (i64)free_memory()) / (i64)G);
}

static void v_life(void)
{
    init();
    v_before = (i64)free_memory();
    Handle own = v_make(32 * G);
    v_taken("V.life.made");
    int fd = v_export(own), again = v_export(own);
    v_taken("V.life.exported");
    Handle copy = v_import("V.life.import", fd), other = v_import("V.life.import2", fd);
    v_taken("V.life.imported");
    close(fd);
    R("V.life.release_own", cuMemRelease(own));
    v_taken("V.life.released_own");
    R("V.life.release_own_again", cuMemRelease(own));
    v_show("V.life.own_shown", own);
    v_show("V.life.copy_shown", copy);
    R("V.life.release_copy", cuMemRelease(copy));
    v_taken("V.life.released_copy");
    CUdeviceptr p = reserve(64 * G);
    R("V.life.map_other", cuMemMap(p, 32 * G, 0, other, 0));
    R("V.life.release_other", cuMemRelease(other));
    v_taken("V.life.released_other");
    R("V.life.unmap", cuMemUnmap(p, 32 * G));
    v_taken("V.life.unmapped");
    Handle late = v_import("V.life.import_late", again);
    R("V.life.release_late", cuMemRelease(late));
    close(again);
    v_taken("V.life.closed");
}

/* ---- two processes ---- */

static void v_send(int socket, int fd)
{
    char byte = 'f', room[CMSG_SPACE(sizeof fd)];
    memset(room, 0, sizeof room);
    struct iovec io = {&byte, 1};
    struct msghdr m;
    memset(&m, 0, sizeof m);
    m.msg_iov = &io;
    m.msg_iovlen = 1;
    if (fd >= 0) {
        m.msg_control = room;
        m.msg_controllen = sizeof room;
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    if (sendmsg(socket, &m, 0) != 1)
        say("v_send!", "%s", strerror(errno));
}

static int v_receive(int socket)
{
    int fd = -1;
    char byte, room[CMSG_SPACE(sizeof fd)];
    struct iovec io = {&byte, 1};
    struct msghdr m;
    memset(&m, 0, sizeof m);
    m.msg_iov = &io;
    m.msg_iovlen = 1;
    m.msg_control = room;
    m.msg_controllen = sizeof room;
    if (recvmsg(socket, &m, 0) == 1 && CMSG_FIRSTHDR(&m))
        memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
    return fd;
}

/* Passes the turn to the other side, or waits for it. */
static void v_pass(int socket)
{
    if (write(socket, "", 1) != 1)
        say("v_pass!", "%s", strerror(errno));
}

static void v_wait(int socket)
{
    char c;
    if (read(socket, &c, 1) != 1)
        _exit(3);
}

/* Runs both sides, each in a process that has not used the driver before. */
static void v_pair(const char *id, void (*exporter)(int), void (*importer)(int, pid_t))
{
    int ends[2];
    if (!is_wanted(id) || socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        return;
    fflush(stdout);
    pid_t one = fork();
    if (one == 0) {
        close(ends[1]);
        end_after(20);
        exporter(ends[0]);
        _exit(0);
    }
    pid_t two = fork();
    if (two == 0) {
        close(ends[0]);
        end_after(20);
        importer(ends[1], one);
        _exit(0);
    }
    close(ends[0]);
    close(ends[1]);
    report(id, one);
    report(id, two);
}

static void v_use_exporter(int socket)
{
    init();
    v_wait(socket); /* until the other side's context has allocated its memory */
    v_before = (i64)free_memory();
    Handle h = v_make(32 * G);
    CUdeviceptr p = reserve(32 * G);
    map(p, 32 * G, h);
    give(p, 32 * G, L_DEVICE, RW);
    cuMemsetD8(p, 0x11, 32 * G);
    cuCtxSynchronize();
    int fd = v_export(h);
    v_send(socket, fd);
    v_wait(socket);
    v_taken("V.use.exporter.while_imported");
    say("V.use.exporter.sees", "%d", byte_at(p + G));
    close(fd);
    cuMemUnmap(p, 32 * G);
    cuMemRelease(h);
    v_taken("V.use.exporter.released");
    v_pass(socket);
    v_wait(socket);
    v_taken("V.use.exporter.at_the_end");
}

static void v_use_importer(int socket, pid_t exporter)
{
    (void)exporter;
    init();
    v_pass(socket);
    int fd = v_receive(socket);
    v_before = (i64)free_memory();
    Handle h = v_import("V.use.importer.import", fd), again = v_import("V.use.importer.import2", fd);
    v_taken("V.use.importer.imported");
    v_show("V.use.importer.shown", h);
    CUdeviceptr p = reserve(128 * G);
    R("V.use.importer.part", cuMemMap(p, 16 * G, 0, h, 0));
    R("V.use.importer.longer", cuMemMap(p, 64 * G, 0, h, 0));
    R("V.use.importer.offset", cuMemMap(p, G, G, h, 0));
    R("V.use.importer.whole", cuMemMap(p, 32 * G, 0, h, 0));
    R("V.use.importer.twice", cuMemMap(p + 32 * G, 32 * G, 0, again, 0));
    R("V.use.importer.read_only", give(p, 32 * G, L_DEVICE, READ));
    R("V.use.importer.read_write", give(p + 32 * G, 32 * G, L_DEVICE, RW));
    say("V.use.importer.sees", "%d", byte_at(p + G));
    R("V.use.importer.write_read_only", cuMemsetD8(p + G, 0x22, G));
    R("V.use.importer.write", cuMemsetD8(p + 33 * G, 0x33, G));
    cuCtxSynchronize();
    close(fd);
    v_pass(socket);
    v_wait(socket);
    say("V.use.importer.sees_after", "%d", byte_at(p + G));
    v_before = (i64)free_memory();
    cuMemUnmap(p, 64 * G);
    cuMemRelease(h);
    cuMemRelease(again);
    v_taken("V.use.importer.given_back");
    v_pass(socket);
}

/* The exporter has ended before the import. */
static void v_dead_exporter(int socket)
{
    init();
    Handle h = v_make(32 * G);
    CUdeviceptr p = reserve(32 * G);
    map(p, 32 * G, h);
    give(p, 32 * G, L_DEVICE, RW);
    cuMemsetD8(p, 0x77, 32 * G);
    cuCtxSynchronize();
    v_send(socket, v_export(h));
    v_wait(socket);
    raise(SIGKILL);
}

static void v_dead_importer(int socket, pid_t exporter)
{
    init();
    int fd = v_receive(socket);
    v_before = (i64)free_memory();
    v_pass(socket);
    struct timespec step = {0, 10000000};
    char c;
    ssize_t got = read(socket, &c, 1); /* until the other end closes */
    for (int i = 0; i < 50; i++)
        nanosleep(&step, NULL);
    (void)exporter;
    say("V.dead.ended", "%d", (int)got);
    v_taken("V.dead.taken_then");
    Handle h = v_import("V.dead.import", fd);
    close(fd);
    CUdeviceptr p = reserve(32 * G);
    R("V.dead.map", cuMemMap(p, 32 * G, 0, h, 0));
    R("V.dead.access", give(p, 32 * G, L_DEVICE, RW));
    say("V.dead.byte", "%d", byte_at(p + 5 * G));
    cuMemUnmap(p, 32 * G);
    cuMemRelease(h);
    v_taken("V.dead.taken_at_the_end");
}

/* The importer is killed with the memory mapped, after the exporter released it. */
static void v_killed_exporter(int socket)
{
    init();
    v_wait(socket); /* as in v_use_exporter */
    v_before = (i64)free_memory();
    Handle h = v_make(32 * G);
    int fd = v_export(h);
    v_send(socket, fd);
    close(fd);
    v_wait(socket);
    cuMemRelease(h);
    v_taken("V.killed.held_by_importer");
    v_pass(socket);
    char c;
    ssize_t got = read(socket, &c, 1);
    struct timespec step = {0, 10000000};
    for (int i = 0; i < 50; i++)
        nanosleep(&step, NULL);
    say("V.killed.ended", "%d", (int)got);
    v_taken("V.killed.after");
}

static void v_killed_importer(int socket, pid_t exporter)
{
    (void)exporter;
    init();
    v_pass(socket);
    Handle h = v_import("V.killed.import", v_receive(socket));
    CUdeviceptr p = reserve(32 * G);
    map(p, 32 * G, h);
    give(p, 32 * G, L_DEVICE, RW);
    v_pass(socket);
    v_wait(socket);
    raise(SIGKILL);
}

/* Host memory, accessed by both processes. */
static void v_numa_exporter(int socket)
{
    init();
    CUmemAllocationProp prop = v_prop(L_NUMA);
    Handle h = 0;
    R("V.numa.create", cuMemCreate(&h, 2 * G, &prop, 0));
    CUdeviceptr p = reserve(2 * G);
    map(p, 2 * G, h);
    give(p, 2 * G, L_NUMA, RW);
    *(volatile unsigned char *)(uintptr_t)p = 0x21;
    v_send(socket, v_export(h));
    v_wait(socket);
    say("V.numa.exporter.sees", "%d", ((volatile unsigned char *)(uintptr_t)p)[1]);
}

static void v_numa_importer(int socket, pid_t exporter)
{
    (void)exporter;
    init();
    Handle h = v_import("V.numa.import", v_receive(socket));
    v_show("V.numa.shown", h);
    CUdeviceptr p = reserve(2 * G);
    R("V.numa.map", cuMemMap(p, 2 * G, 0, h, 0));
    R("V.numa.access_device", give(p, 2 * G, L_DEVICE, RW));
    R("V.numa.access_numa", give(p, 2 * G, L_NUMA, RW));
    R("V.numa.access_host", give(p, 2 * G, L_HOST, RW));
    say("V.numa.importer.sees", "%d", *(volatile unsigned char *)(uintptr_t)p);
    ((volatile unsigned char *)(uintptr_t)p)[1] = 0x43;
    v_pass(socket);
}

static void group_v(void)
{
    static const struct {
        const char *id;
        void (*body)(void);
    } parts[] = {{"V.export!", v_export_arguments}, {"V.import!", v_import_arguments}, {"V.before_init!", v_before_init},
                 {"V.file!", v_file},               {"V.kind!", v_kinds},              {"V.map!", v_map_arguments},
                 {"V.life!", v_life}};
    for (size_t i = 0; i < COUNT(parts); i++)
        child(parts[i].id, parts[i].body);
    for (v_case = 0; v_case < 4; v_case++) {
        char id[CASE_ID];
        snprintf(id, sizeof id, "V.export.handle%zu!", v_case);
        child(id, v_export_bad_handle);
    }
    v_pair("V.use!", v_use_exporter, v_use_importer);
    v_pair("V.dead!", v_dead_exporter, v_dead_importer);
    v_pair("V.killed!", v_killed_exporter, v_killed_importer);
    v_pair("V.numa!", v_numa_exporter, v_numa_importer);
}
