/* SPDX-License-Identifier: Apache-2.0 */
/* Memory as a file descriptor: what is refused, what an import is, who holds the memory; and between two processes, which
 * open the same machine. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "facts_calls.h"
#include "passing.h"
#include "vmm_fd.h"

#define G FACTS_G
#define FD VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
#define FABRIC VMM_MEM_HANDLE_TYPE_FABRIC

typedef vmm_mem_generic_allocation_handle handle_t;

vmm_result fc_export(struct facts *f, void *out, vmm_mem_generic_allocation_handle handle, int type, uint64_t flags)
{
    fc_begin(f, "cuMemExportToShareableHandle");
    fc_arg_pointer(f, "shareableHandle", out);
    fc_arg(f, "handle", handle);
    fc_arg_int(f, "handleType", type);
    fc_arg(f, "flags", flags);
    return vmm_mem_export_to_shareable_handle(f->sys, out, handle, type, flags);
}

/* What is told of a fabric handle: its last eight bytes. */
static uint64_t last_of(const void *handle)
{
    uint64_t last;
    memcpy(&last, (const char *)handle + VMM_FABRIC_HANDLE_SIZE - sizeof last, sizeof last);
    return last;
}

vmm_result fc_import(struct facts *f, vmm_mem_generic_allocation_handle *handle, void *in, int type)
{
    fc_begin(f, "cuMemImportFromShareableHandle");
    fc_arg_pointer(f, "handle", handle);
    if (type == FABRIC && in)
        fc_arg(f, "osHandle", last_of(in));
    else
        fc_arg_pointer(f, "osHandle", in);
    fc_arg_int(f, "shHandleType", type);
    return vmm_mem_import_from_shareable_handle(f->sys, handle, in, type);
}

static handle_t shareable(struct facts *f, uint64_t size)
{
    vmm_mem_allocation_prop prop = fc_prop(0);
    handle_t handle = 0;
    prop.requested_handle_types = FD;
    facts_setup(f, fc_create(f, &handle, size, &prop, 0), "create");
    return handle;
}

static void *by_value(int fd)
{
    return (void *)(uintptr_t)fd;
}

static void exports(struct facts *f, handle_t handle, int fds[2])
{
    char room[VMM_FABRIC_HANDLE_SIZE], link[256] = "", path[64];
    int fd = -7;
    handle_t plain = fc_make(f, G);
    facts_result(f, fc_export(f, &fd, plain, FD, 0), "export.notrequested");
    facts_value(f, "export.notrequested.fd", "%d", fd);
    facts_result(f, fc_export(f, &fd, handle, 0, 0), "export.type0");
    facts_result(f, fc_export(f, &fd, handle, 2, 0), "export.win32");
    facts_result(f, fc_export(f, room, handle, FABRIC, 0), "export.fabric_on_fd");
    facts_result(f, fc_export(f, room, handle, 16, 0), "export.type16");
    facts_result(f, fc_export(f, &fd, handle, FD, 1), "export.flags1");
    facts_result(f, fc_export(f, NULL, handle, FD, 0), "export.null");
    facts_result(f, fc_export(f, &fds[0], handle, FD, 0), "export.ok");
    facts_result(f, fc_export(f, &fds[1], handle, FD, 0), "export.ok2");
    facts_value(f, "export.distinct_fds", "%d", fds[0] != fds[1]);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fds[0]);
    if (readlink(path, link, sizeof link - 1) < 0)
        link[0] = '\0';
    facts_value(f, "export.fd_is", "%s", link);
    facts_value(f, "export.cloexec", "%d", fcntl(fds[0], F_GETFD));
}

static void imports(struct facts *f, handle_t handle, const int fds[2], handle_t copies[2])
{
    vmm_mem_allocation_prop prop;
    char room[VMM_FABRIC_HANDLE_SIZE] = {0};
    handle_t none = 0;
    int fd = -1, null = open("/dev/null", O_RDWR);
    memset(&prop, 0xff, sizeof prop);
    facts_result(f, fc_import(f, &copies[0], by_value(fds[0]), FD), "import.ok");
    facts_result(f, fc_import(f, &copies[1], by_value(fds[0]), FD), "import.again");
    facts_value(f, "import.handles", "orig_same=%d two_same=%d", copies[0] == handle, copies[0] == copies[1]);
    facts_result(f, fc_properties(f, &prop, copies[0]), "import.props");
    facts_value(f, "import.props", "type=%d ht=%d loc=%d/%d", prop.type, prop.requested_handle_types, prop.location.type,
                prop.location.id);
    facts_result(f, fc_export(f, &fd, copies[0], FD, 0), "import.reexport");
    facts_result(f, fc_import(f, NULL, by_value(fds[0]), FD), "import.null");
    facts_result(f, fc_import(f, &none, by_value(-1), FD), "import.fd-1");
    facts_result(f, fc_import(f, &none, by_value(999), FD), "import.fd999");
    facts_result(f, fc_import(f, &none, by_value(null), FD), "import.devnull");
    facts_result(f, fc_import(f, &none, by_value(fds[0]), 0), "import.type0");
    facts_result(f, fc_import(f, &none, by_value(fds[0]), 2), "import.type2");
    facts_result(f, fc_import(f, &none, room, FABRIC), "import.fabric_zero");
    facts_result(f, fc_import(f, &none, NULL, FABRIC), "import.fabric_null");
    facts_require(f, none == 0, "import.fd-1", "a refused import wrote a handle");
    close(null);
}

static long granules(struct facts *f, uint64_t before)
{
    return ((long)fc_free_memory(f) - (long)before) / (long)G;
}

void facts_share(struct facts *f)
{
    int fds[2] = {-1, -1};
    handle_t handle = shareable(f, 2 * G), copies[2] = {0, 0}, retained = 0;
    exports(f, handle, fds);
    imports(f, handle, fds, copies);
    vmm_deviceptr p = fc_take(f, 8 * G);
    fc_put(f, p, 2 * G, handle);
    facts_result(f, fc_map(f, p + 2 * G, 2 * G, 0, copies[0], 0), "import.map_alias");
    fc_grant(f, p, 4 * G, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
    facts_setup(f, fc_fill(f, p, 0x33, 2 * G), "fill");
    facts_value(f, "import.alias_read(33)", "%x", fc_byte(f, p + 3 * G));
    facts_setup(f, fc_retain(f, &retained, p + 2 * G), "retain");
    facts_value(f, "import.retain_same_as_import", "%d", retained == copies[0]);
    uint64_t before = fc_free_memory(f);
    facts_setup(f, fc_unmap(f, p, 4 * G), "unmap");
    const handle_t held[] = {handle, copies[0], retained, copies[1]};
    for (size_t i = 0; i < sizeof held / sizeof held[0]; i++)
        facts_setup(f, fc_release(f, held[i]), "release");
    long released = granules(f, before);
    close(fds[0]);
    long first = granules(f, before);
    close(fds[1]);
    facts_value(f, "export.fd_keeps_memory", "after_release=%ld after_close1=%ld after_close_all=%ld", released, first,
                granules(f, before));
}

/* ---- two processes ---- */

/* What the child's calls answered. */
struct told {
    vmm_result import, map, too_long, read_after;
    char rule[64], fault[96];
    unsigned char read, last;
};

static void importer(struct facts *f, int socket)
{
    struct told told;
    vmm_deviceptr p = 0;
    handle_t handle = 0;
    memset(&told, 0, sizeof told);
    int fd = -1;
    f->sys = NULL;
    facts_setup(f, vmm_fd_receive(socket, &fd, NULL, 0, -1), "receive");
    facts_setup(f, vmm_open(f->spec, &f->sys), "open");
    facts_setup(f, fc_init(f, 0), "init");
    facts_setup(f, fc_primary_retain(f, &f->ctx, 0), "context");
    facts_setup(f, fc_ctx_set_current(f, f->ctx), "current");
    told.import = fc_import(f, &handle, by_value(fd), FD);
    close(fd);
    p = fc_take(f, 4 * G);
    told.map = fc_map(f, p, 2 * G, 0, handle, 0);
    fc_grant(f, p, 2 * G, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
    told.read = fc_byte(f, p + 100);
    facts_setup(f, fc_fill(f, p, 0x66, 2 * G), "fill");
    facts_setup(f, fc_ctx_synchronize(f), "synchronise");
    told.too_long = fc_map(f, p + 2 * G, 4 * G, 0, handle, 0);
    const char *fault = facts_unexplained(f, told.too_long, false);
    snprintf(told.rule, sizeof told.rule, "%s", vmm_last_detail()->rule ? vmm_last_detail()->rule : "nothing");
    snprintf(told.fault, sizeof told.fault, "%s", fault ? fault : "");
    passing_go_on(socket);
    passing_wait(socket);
    told.read_after = fc_dtoh(f, &told.last, p + 100, 1);
    _exit(write(socket, &told, sizeof told) != (ssize_t)sizeof told);
}

static unsigned char exporter(struct facts *f, int socket)
{
    int fd = -1;
    facts_setup(f, fc_init(f, 0), "init");
    facts_setup(f, fc_primary_retain(f, &f->ctx, 0), "context");
    facts_setup(f, fc_ctx_set_current(f, f->ctx), "current");
    handle_t handle = shareable(f, 2 * G);
    vmm_deviceptr p = fc_take(f, 2 * G);
    fc_put(f, p, 2 * G, handle);
    fc_grant(f, p, 2 * G, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
    facts_setup(f, fc_fill(f, p, 0x44, 2 * G), "fill");
    facts_setup(f, fc_export(f, &fd, handle, FD, 0), "export");
    facts_setup(f, vmm_fd_send(socket, fd, NULL, 0, -1), "send");
    close(fd);
    passing_wait(socket);
    unsigned char seen = fc_byte(f, p + 5);
    facts_setup(f, fc_unmap(f, p, 2 * G), "unmap");
    facts_setup(f, fc_release(f, handle), "release");
    facts_setup(f, fc_free(f, p, 2 * G), "free");
    passing_go_on(socket);
    return seen;
}

void facts_share_processes(struct facts *f)
{
    struct told told;
    int ends[2], status = 0;
    fflush(stdout);
    bool paired = vmm_fd_pair(ends) == VMM_SUCCESS;
    pid_t pid = paired ? fork() : -1;
    if (pid == 0) {
        close(ends[0]);
        importer(f, ends[1]);
    }
    if (paired)
        close(ends[1]);
    unsigned char seen = pid > 0 ? exporter(f, ends[0]) : 0;
    bool heard = pid > 0 && read(ends[0], &told, sizeof told) == (ssize_t)sizeof told && waitpid(pid, &status, 0) == pid &&
                 status == 0;
    facts_require(f, heard, "ipc.child.import", "the child did not answer");
    if (paired)
        close(ends[0]);
    if (!heard)
        return;
    facts_told(f, told.import, "", "", "ipc.child.import");
    facts_told(f, told.map, "", "", "ipc.child.map_before_access");
    facts_value(f, "ipc.child.read(44)", "%x", told.read);
    facts_told(f, told.too_long, told.rule, told.fault, "ipc.child.map_too_long");
    facts_value(f, "ipc.parent.sees_child_write(66)", "%x", seen);
    facts_told(f, told.read_after, "", "", "ipc.child.read_after_exporter_freed");
    facts_value(f, "ipc.child.v(66)", "%x", told.last);
}
