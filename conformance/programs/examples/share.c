/* SPDX-License-Identifier: Apache-2.0 */
/* One memory in two processes: the exporter writes, the importer reads and writes back, the exporter reads that.
 *
 *   exporter                                                       importer (the same program, executed anew)
 *   fork, exec  ------------------------------------------------>
 *   open, create, map, fill 0x11, export
 *   vmm_fd_send     ==[ the descriptor, and how large ]==>         vmm_fd_receive
 *   wait for its end                                               open, import, map, compare with 0x11, fill 0x22
 *   compare with 0x22, give all back                               give all back
 *
 *   share [SPEC [host]]   SPEC is what vmm_open takes, or "" for what $CUVMM_BACKEND says; host: memory of a host node
 *
 * The importer starts before the driver is initialised, which would not survive a fork. Ends with 77 where the machine has no
 * memory that can be exported like this. */
#define _POSIX_C_SOURCE 200809L /* setenv, fork */
#include <cuvmm/vmm.h>
#include <cuvmm/vmm_fd.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE = 60000, NOT_HERE = 77 };

/* What the importer has to know: no call returns the size of imported memory. */
struct about {
    uint64_t size;
    int32_t host;
};

struct memory {
    vmm_mem_generic_allocation_handle handle;
    vmm_deviceptr at;
    struct about about;
};

static const char *who = "exporter";
static vmm_system *sys;
static vmm_context ctx;

static bool fail(const char *what)
{
    char text[2048];
    vmm_detail_text(vmm_last_detail(), text, sizeof text);
    fprintf(stderr, "%s: %s: %s\n%s", who, what, vmm_result_name(vmm_last_detail()->result), text);
    return false;
}

#define TRY(call)                  \
    do {                           \
        if ((call) != VMM_SUCCESS) \
            return fail(#call);    \
    } while (0)

static bool open_device(const char *spec)
{
    TRY(vmm_open(spec[0] ? spec : NULL, &sys));
    TRY(vmm_init(sys, 0));
    TRY(vmm_ctx_create(sys, &ctx, 0, 0));
    return true;
}

/* Has device 0 memory of this kind that can be exported as a descriptor? */
static bool is_offered(bool host, bool *offered)
{
    int fds = 0, nodes = 1;
    TRY(vmm_device_get_attribute(sys, &fds, VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 0));
    if (host)
        TRY(vmm_device_get_attribute(sys, &nodes, VMM_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
    *offered = fds && nodes;
    return true;
}

static bool create(struct memory *m, bool host)
{
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                    .requested_handle_types = VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                    .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    uint64_t addresses; /* come in the granularity of the device, whatever the memory's is */
    TRY(vmm_mem_get_allocation_granularity(sys, &addresses, &prop, VMM_MEM_ALLOC_GRANULARITY_MINIMUM));
    if (host) {
        prop.location.type = VMM_MEM_LOCATION_TYPE_HOST_NUMA;
        TRY(vmm_device_get_attribute(sys, &prop.location.id, VMM_DEVICE_ATTRIBUTE_HOST_NUMA_ID, 0));
    }
    TRY(vmm_mem_get_allocation_granularity(sys, &m->about.size, &prop, VMM_MEM_ALLOC_GRANULARITY_MINIMUM));
    if (m->about.size < addresses) /* both are powers of two */
        m->about.size = addresses;
    m->about.host = host;
    TRY(vmm_mem_create(sys, &m->handle, m->about.size, &prop, 0));
    return true;
}

/* The descriptor is closed here: what was sent holds the memory until it is received. */
static bool export_and_send(const struct memory *m, int socket)
{
    int fd = -1;
    TRY(vmm_mem_export_to_shareable_handle(sys, &fd, m->handle, VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    vmm_result sent = vmm_fd_send(socket, fd, &m->about, sizeof m->about, PATIENCE);
    close(fd);
    return sent == VMM_SUCCESS || fail("vmm_fd_send");
}

/* And here: the import holds it. */
static bool import_and_close(struct memory *m, int fd)
{
    vmm_result imported = vmm_mem_import_from_shareable_handle(sys, &m->handle, (void *)(uintptr_t)fd,
                                                               VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    close(fd);
    return imported == VMM_SUCCESS || fail("vmm_mem_import_from_shareable_handle");
}

static bool map(struct memory *m)
{
    vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    TRY(vmm_mem_address_reserve(sys, &m->at, m->about.size, 0, 0, 0));
    TRY(vmm_mem_map(sys, m->at, m->about.size, 0, m->handle, 0));
    TRY(vmm_mem_set_access(sys, m->at, m->about.size, &desc, 1));
    return true;
}

static bool fill(const struct memory *m, unsigned char value)
{
    TRY(vmm_memset_d8(sys, m->at, value, m->about.size));
    TRY(vmm_ctx_synchronize(sys)); /* written, before the other side hears of it */
    printf("%s: wrote 0x%x\n", who, value);
    return true;
}

static bool compare(const struct memory *m, unsigned char value)
{
    static unsigned char bytes[1 << 16];
    uint64_t wrong = 0, now;
    for (uint64_t done = 0; done < m->about.size; done += now) {
        now = m->about.size - done < sizeof bytes ? m->about.size - done : sizeof bytes;
        TRY(vmm_memcpy_dtoh(sys, bytes, m->at + done, now));
        for (uint64_t i = 0; i < now; i++)
            wrong += bytes[i] != value;
    }
    printf("%s: reads 0x%x, %llu bytes are wrong\n", who, value, (unsigned long long)wrong);
    return !wrong;
}

static bool give_back(const struct memory *m)
{
    TRY(vmm_mem_unmap(sys, m->at, m->about.size));
    TRY(vmm_mem_release(sys, m->handle));
    TRY(vmm_mem_address_free(sys, m->at, m->about.size));
    TRY(vmm_ctx_destroy(sys, ctx));
    printf("%s: %llu objects are still held\n", who, (unsigned long long)vmm_leaks(sys, NULL, NULL));
    return true;
}

static int importer(const char *spec, int socket)
{
    struct memory m = {0};
    int fd = -1;
    who = "importer";
    fcntl(socket, F_SETFD, FD_CLOEXEC);
    vmm_result received = vmm_fd_receive(socket, &fd, &m.about, sizeof m.about, PATIENCE);
    close(socket);
    if (received == VMM_ERROR_NOT_FOUND) /* the exporter ended, and has said why */
        return 1;
    if (received != VMM_SUCCESS)
        return !fail("vmm_fd_receive");
    return !(open_device(spec) && import_and_close(&m, fd) && map(&m) && compare(&m, 0x11) && fill(&m, 0x22) && give_back(&m));
}

/* All that comes before the importer's turn. */
static bool prepare(struct memory *m, bool host, int socket)
{
    bool well = create(m, host) && map(m) && fill(m, 0x11);
    fflush(stdout); /* before the importer prints */
    return well && export_and_send(m, socket);
}

/* The socket is closed when nothing more is sent, so that the importer never waits for what does not come. */
static int exporter(const char *spec, bool host, int socket, pid_t child)
{
    struct memory m = {0};
    bool offered = false;
    int status = 1;
    bool well = open_device(spec) && is_offered(host, &offered), missing = well && !offered;
    well = well && offered && prepare(&m, host, socket);
    close(socket);
    waitpid(child, &status, 0);
    if (missing) {
        printf("this machine cannot share such memory\n");
        return NOT_HERE;
    }
    return !(well && status == 0 && compare(&m, 0x22) && give_back(&m));
}

/* This program again, with one end of the pair. */
static void execute_importer(const char *program, const char *spec, int socket)
{
    char number[16];
    snprintf(number, sizeof number, "%d", socket);
    fcntl(socket, F_SETFD, 0); /* the one descriptor that it inherits */
    execlp(program, program, "--import", number, spec, (char *)NULL);
    _exit(127);
}

int main(int argc, char **argv)
{
    int ends[2], ended;
    char machine[32];
    const char *spec = argc > 1 ? argv[1] : "";
    if (argc == 4 && strcmp(argv[1], "--import") == 0) {
        ended = importer(argv[3], atoi(argv[2]));
        vmm_close(sys);
        return ended;
    }
    snprintf(machine, sizeof machine, "share-%ld", (long)getpid());
    setenv("CUVMM_MACHINE", machine, 0); /* on the simulator both are to be on one machine; a driver needs no name */
    if (vmm_fd_pair(ends) != VMM_SUCCESS)
        return !fail("vmm_fd_pair");
    pid_t child = fork();
    if (child == 0)
        execute_importer(argv[0], spec, ends[1]);
    close(ends[1]);
    ended = exporter(spec, argc > 2 && strcmp(argv[2], "host") == 0, ends[0], child);
    vmm_close(sys);
    return ended;
}
