/* SPDX-License-Identifier: Apache-2.0 */
/* Memory as a file descriptor, in this process, in another one, and after fork. Part of ../first.c. */

static void t_export(void)
{
    begin();
    CUmemAccessDesc a = rights(0, 3);
    Handle h = make(G), e = make_shareable(2 * G), i = 0, j = 0;
    int fd = -7, fd2 = -7;
    R("export.notrequested", cuMemExportToShareableHandle(&fd, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    V("export.notrequested.fd", "%d", fd);
    R("export.type0", cuMemExportToShareableHandle(&fd, e, 0, 0));
    R("export.win32", cuMemExportToShareableHandle(&fd, e, 2, 0));
    char fb[256];
    R("export.fabric_on_fd", cuMemExportToShareableHandle(fb, e, 8, 0));
    R("export.type16", cuMemExportToShareableHandle(fb, e, 16, 0));
    R("export.flags1", cuMemExportToShareableHandle(&fd, e, 1, 1));
    R("export.null", cuMemExportToShareableHandle(0, e, 1, 0));
    R("export.ok", cuMemExportToShareableHandle(&fd, e, 1, 0));
    R("export.ok2", cuMemExportToShareableHandle(&fd2, e, 1, 0));
    V("export.distinct_fds", "%d", fd != fd2);
    char ln[256] = {0}, pth[64];
    snprintf(pth, 64, "/proc/self/fd/%d", fd);
    ssize_t k = readlink(pth, ln, 255);
    (void)k;
    V("export.fd_is", "%s", ln);
    V("export.cloexec", "%d", fcntl(fd, F_GETFD));
    R("import.ok", cuMemImportFromShareableHandle(&i, (void *)(uintptr_t)fd, 1));
    R("import.again", cuMemImportFromShareableHandle(&j, (void *)(uintptr_t)fd, 1));
    V("import.handles", "orig_same=%d two_same=%d", i == e, i == j);
    CUmemAllocationProp q;
    memset(&q, 0xff, sizeof q);
    R("import.props", cuMemGetAllocationPropertiesFromHandle(&q, i));
    V("import.props", "type=%d ht=%d loc=%d/%d", q.type, q.requestedHandleTypes, q.location.type, q.location.id);
    int fd3 = -1;
    R("import.reexport", cuMemExportToShareableHandle(&fd3, i, 1, 0));
    R("import.null", cuMemImportFromShareableHandle(0, (void *)(uintptr_t)fd, 1));
    R("import.fd-1", cuMemImportFromShareableHandle(&j, (void *)(uintptr_t)-1, 1));
    R("import.fd999", cuMemImportFromShareableHandle(&j, (void *)(uintptr_t)999, 1));
    int nf = open("/dev/null", O_RDWR);
    R("import.devnull", cuMemImportFromShareableHandle(&j, (void *)(uintptr_t)nf, 1));
    R("import.type0", cuMemImportFromShareableHandle(&j, (void *)(uintptr_t)fd, 0));
    R("import.type2", cuMemImportFromShareableHandle(&j, (void *)(uintptr_t)fd, 2));
    memset(fb, 0, sizeof fb);
    R("import.fabric_zero", cuMemImportFromShareableHandle(&j, fb, 8));
    R("import.fabric_null", cuMemImportFromShareableHandle(&j, 0, 8));
    CUdeviceptr p = reserve(8 * G);
    cuMemMap(p, 2 * G, 0, e, 0);
    R("import.map_alias", cuMemMap(p + 2 * G, 2 * G, 0, i, 0));
    cuMemSetAccess(p, 4 * G, &a, 1);
    cuMemsetD8(p, 0x33, 2 * G);
    unsigned char v = 0;
    cuMemcpyDtoH(&v, p + 3 * G, 1);
    V("import.alias_read(33)", "%x", v);
    Handle rt = 0;
    cuMemRetainAllocationHandle(&rt, (void *)(p + 2 * G));
    V("import.retain_same_as_import", "%d", rt == i);
    size_t f0 = free_memory();
    cuMemUnmap(p, 2 * G);
    cuMemRelease(e);
    cuMemUnmap(p + 2 * G, 2 * G);
    cuMemRelease(i);
    cuMemRelease(rt);
    cuMemRelease(j);
    size_t f1 = free_memory();
    close(fd);
    size_t f2 = free_memory();
    close(fd2);
    close(fd3);
    V("export.fd_keeps_memory", "after_release=%ld after_close1=%ld after_close_all=%ld",
      ((long)f1 - (long)f0) / (long)G, ((long)f2 - (long)f0) / (long)G, ((long)free_memory() - (long)f0) / (long)G);
}

static void sendfd(int s, int fd)
{
    char c = 'x';
    struct iovec io = {&c, 1};
    union {
        struct cmsghdr h;
        char b[CMSG_SPACE(sizeof(int))];
    } u;
    memset(&u, 0, sizeof u);
    struct msghdr m = {0};
    m.msg_iov = &io;
    m.msg_iovlen = 1;
    m.msg_control = u.b;
    m.msg_controllen = sizeof u.b;
    struct cmsghdr *k = CMSG_FIRSTHDR(&m);
    k->cmsg_level = SOL_SOCKET;
    k->cmsg_type = SCM_RIGHTS;
    k->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(k), &fd, sizeof fd);
    if (sendmsg(s, &m, 0) < 0)
        perror("send");
}

static int recvfd(int s)
{
    char c;
    struct iovec io = {&c, 1};
    union {
        struct cmsghdr h;
        char b[CMSG_SPACE(sizeof(int))];
    } u;
    struct msghdr m = {0};
    m.msg_iov = &io;
    m.msg_iovlen = 1;
    m.msg_control = u.b;
    m.msg_controllen = sizeof u.b;
    if (recvmsg(s, &m, 0) <= 0)
        return -1;
    int fd;
    struct cmsghdr *k = CMSG_FIRSTHDR(&m);
    if (!k)
        return -1;
    memcpy(&fd, CMSG_DATA(k), sizeof fd);
    return fd;
}

static void t_ipc(void)
{
    int sv[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
        return;
    pid_t c = fork();
    if (!c) {
        begin();
        CUmemAccessDesc a = rights(0, 3);
        int fd = recvfd(sv[1]);
        Handle h = 0;
        R("ipc.child.import", cuMemImportFromShareableHandle(&h, (void *)(uintptr_t)fd, 1));
        close(fd);
        CUdeviceptr p = reserve(4 * G);
        R("ipc.child.map_before_access", cuMemMap(p, 2 * G, 0, h, 0));
        cuMemSetAccess(p, 2 * G, &a, 1);
        unsigned char v = 0;
        cuMemcpyDtoH(&v, p + 100, 1);
        V("ipc.child.read(44)", "%x", v);
        cuMemsetD8(p, 0x66, 2 * G);
        cuCtxSynchronize();
        R("ipc.child.map_too_long", cuMemMap(p + 2 * G, 4 * G, 0, h, 0));
        char x = 'k';
        if (write(sv[1], &x, 1) < 0) {
        }
        if (read(sv[1], &x, 1) < 0) {
        }
        v = 0;
        R("ipc.child.read_after_exporter_freed", cuMemcpyDtoH(&v, p + 100, 1));
        V("ipc.child.v(66)", "%x", v);
        fflush(stdout);
        _exit(0);
    }
    begin();
    CUmemAccessDesc a = rights(0, 3);
    Handle h = make_shareable(2 * G);
    CUdeviceptr p = reserve(2 * G);
    cuMemMap(p, 2 * G, 0, h, 0);
    cuMemSetAccess(p, 2 * G, &a, 1);
    cuMemsetD8(p, 0x44, 2 * G);
    cuCtxSynchronize();
    int fd;
    cuMemExportToShareableHandle(&fd, h, 1, 0);
    sendfd(sv[0], fd);
    close(fd);
    char x;
    if (read(sv[0], &x, 1) < 0) {
    }
    unsigned char v = 0;
    cuMemcpyDtoH(&v, p + 5, 1);
    V("ipc.parent.sees_child_write(66)", "%x", v);
    cuMemUnmap(p, 2 * G);
    cuMemRelease(h);
    cuMemAddressFree(p, 2 * G);
    if (write(sv[0], &x, 1) < 0) {
    }
    waitpid(c, 0, 0);
}

static void t_fork(void)
{
    begin();
    Handle h = make(G);
    fflush(stdout);
    pid_t c = fork();
    if (!c) {
        CUmemAllocationProp p = on_device(0);
        Handle k;
        R("fork.child.create", cuMemCreate(&k, G, &p, 0));
        CUdeviceptr d;
        R("fork.child.reserve", cuMemAddressReserve(&d, G, 0, 0, 0));
        R("fork.child.map", cuMemMap(d, G, 0, h, 0));
        fflush(stdout);
        _exit(0);
    }
    waitpid(c, 0, 0);
}
