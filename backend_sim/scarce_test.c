/* A whole life in which the Nth request for memory fails, or the Nth request to the operating system, for every N: the
 * call says so and has changed nothing, for the same call again succeeds; and in the end nothing is left. */
#define _GNU_SOURCE /* memfd_create, fallocate, mmap's flags */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "share_rig.h"
#include "tap.h"
#include "vmm.h"

#if defined(__GLIBC__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CAN_FAIL 1
#else
#define CAN_FAIL 0
#endif

#if CAN_FAIL
/* What the library asks for goes through these. Counted down to the one that fails; 0: none does. */
static unsigned long memory_left, system_left;
static bool failed;

static bool fails(unsigned long *left)
{
    if (!*left || --*left)
        return false;
    failed = true;
    errno = ENOMEM;
    return true;
}

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

void *malloc(size_t size)
{
    return fails(&memory_left) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails(&memory_left) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return fails(&memory_left) ? NULL : __libc_realloc(memory, size);
}

void *mmap(void *at, size_t size, int rights, int flags, int file, off_t offset)
{
    if (fails(&system_left))
        return MAP_FAILED;
    long result = syscall(SYS_mmap, at, size, rights, flags, file, offset);
    return result == -1 ? MAP_FAILED : (void *)(uintptr_t)result;
}

int memfd_create(const char *name, unsigned flags)
{
    return fails(&system_left) ? -1 : (int)syscall(SYS_memfd_create, name, flags);
}

int ftruncate(int file, off_t size)
{
    return fails(&system_left) ? -1 : (int)syscall(SYS_ftruncate, file, size);
}

int fallocate(int file, int mode, off_t offset, off_t size)
{
    return fails(&system_left) ? -1 : (int)syscall(SYS_fallocate, file, mode, offset, size);
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset)
{
    return fails(&system_left) ? -1 : (ssize_t)syscall(SYS_pwrite64, file, bytes, size, offset);
}

int open(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    unsigned mode = flags & O_CREAT ? va_arg(list, unsigned) : 0;
    va_end(list);
    return fails(&system_left) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int flock(int file, int operation)
{
    return fails(&system_left) ? -1 : (int)syscall(SYS_flock, file, operation);
}

int mkdir(const char *path, mode_t mode)
{
    return fails(&system_left) ? -1 : (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

/* ---- a life ---- */

#define G (UINT64_C(2) << 20)
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE

struct outcome {
    unsigned refused; /* calls that said that memory, or a file, is not to be had */
    unsigned wrong;   /* calls that failed otherwise, or again */
    uint64_t left;
    char first[200];
};

static vmm_result note(struct outcome *o, vmm_result result, const char *call)
{
    const char *rule = vmm_last_detail()->rule;
    bool memory = result == VMM_ERROR_OUT_OF_MEMORY && (!rule || !strcmp(rule, "VMM-SYSTEM-HOST-MEMORY") ||
                                                        !strcmp(rule, "VMM-BIND-RESOURCES"));
    static const char *const system[] = {"VMM-DMABUF-FILE", "VMM-EXPORT-SYSTEM", "VMM-IMPORT-SYSTEM", "VMM-SHARE-STATE"};
    bool file = result == VMM_ERROR_OPERATING_SYSTEM && !rule;
    for (size_t i = 0; rule && i < sizeof system / sizeof system[0]; i++)
        file |= result == VMM_ERROR_OPERATING_SYSTEM && !strcmp(rule, system[i]);
    bool scarce = failed && (memory || file);
    o->refused += scarce;
    if (!scarce && o->wrong++ == 0)
        snprintf(o->first, sizeof o->first, "%.90s: %s by %s", call, vmm_result_name(result), rule ? rule : "no rule");
    return result;
}

/* The second time there is enough. */
#define TRY(call)                                                                \
    do {                                                                         \
        vmm_result result_ = (call);                                             \
        if (result_ != VMM_SUCCESS && note(o, result_, #call) != VMM_SUCCESS && (call) != VMM_SUCCESS) \
            note(o, VMM_ERROR_UNKNOWN, "again: " #call);                         \
    } while (0)

#define KERNEL(kernel, stream, ...)                                                                       \
    TRY(vmm_launch(sys, VMM_KERNEL_##kernel, 1, 32, (const uint64_t[]){__VA_ARGS__},                      \
                   sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), stream))

static vmm_mem_allocation_prop prop_at(vmm_mem_location_type type)
{
    return (vmm_mem_allocation_prop){.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {type, 0}};
}

/* A range for other devices: a descriptor is written when there is one, and -1 otherwise. */
static vmm_result hand_on(vmm_system *sys, vmm_deviceptr at, uint64_t size)
{
    int fd = -7;
    vmm_result result = vmm_mem_get_handle_for_address_range(sys, &fd, at, size, VMM_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
    bool made = fd >= 0 && !close(fd);
    return made == (result == VMM_SUCCESS) && (made || fd == -1) ? result : VMM_ERROR_UNKNOWN;
}

/* Memory for other processes: exported, imported, and used through the import. */
static void share(vmm_system *sys, struct outcome *o)
{
    vmm_mem_allocation_prop prop = prop_at(VMM_MEM_LOCATION_TYPE_DEVICE);
    vmm_mem_access_desc desc = {prop.location, RW};
    vmm_mem_generic_allocation_handle handle = 0, copy = 0;
    vmm_deviceptr p = 0;
    unsigned char byte = 0;
    int fd = -1;
    prop.requested_handle_types = RIG_FD;
    TRY(vmm_mem_create(sys, &handle, G, &prop, 0));
    TRY(vmm_mem_address_reserve(sys, &p, 2 * G, 0, 0, 0));
    TRY(vmm_mem_map(sys, p, G, 0, handle, 0));
    TRY(vmm_mem_set_access(sys, p, G, &desc, 1));
    TRY(vmm_memset_d8(sys, p, 0x42, G));
    TRY(vmm_mem_export_to_shareable_handle(sys, &fd, handle, RIG_FD, 0));
    TRY(rig_import(sys, fd, &copy));
    close(fd);
    TRY(vmm_mem_map(sys, p + G, G, 0, copy, 0));
    TRY(vmm_mem_set_access(sys, p + G, G, &desc, 1));
    TRY(vmm_memcpy_dtoh(sys, &byte, p + 2 * G - 1, 1));
    if (byte != 0x42)
        note(o, VMM_ERROR_UNKNOWN, "bytes that were exported are lost");
    TRY(vmm_mem_unmap(sys, p, 2 * G));
    TRY(vmm_mem_release(sys, copy));
    TRY(vmm_mem_release(sys, handle));
    TRY(vmm_mem_address_free(sys, p, 2 * G));
}

/* The lowest descriptor that is free. */
static int next_fd(void)
{
    int fd = dup(STDERR_FILENO);
    close(fd);
    return fd;
}

static void work(vmm_system *sys, struct outcome *o, vmm_deviceptr at)
{
    vmm_stream stream = NULL, other = NULL;
    vmm_event event = NULL;
    static char bytes[3 * 65536];
    vmm_deviceptr allocated = 0;
    TRY(vmm_stream_create(sys, &stream, 0));
    TRY(vmm_stream_create(sys, &other, VMM_STREAM_NON_BLOCKING));
    TRY(vmm_event_create(sys, &event, 0));
    KERNEL(FILL, stream, at, 2 * G, 7);
    KERNEL(COPY, stream, at, at + G, 4096);
    KERNEL(RANDOM_READ, NULL, at, 2 * G, 50, 1, at + 2 * G);
    TRY(vmm_memset_d32_async(sys, at + 64, 5, 1000, stream));
    TRY(vmm_memcpy_htod_async(sys, at + G - 4096, bytes, 8192, stream));
    TRY(vmm_memcpy_dtod_async(sys, at + 512, at + 2 * G, 512, stream));
    TRY(vmm_event_record(sys, event, stream));
    TRY(vmm_stream_wait_event(sys, other, event, 0));
    TRY(vmm_event_record(sys, event, other));
    TRY(vmm_event_synchronize(sys, event));
    TRY(vmm_event_query(sys, event));
    TRY(vmm_event_destroy(sys, event));
    TRY(vmm_stream_synchronize(sys, stream));
    TRY(vmm_stream_destroy(sys, other));
    TRY(vmm_memcpy_htod(sys, at + G - 65536, bytes, sizeof bytes));
    TRY(vmm_memcpy_dtoh(sys, bytes, at, sizeof bytes));
    TRY(vmm_memset_d8(sys, at + 2 * G, 1, G));
    TRY(hand_on(sys, at, 2 * G));
    TRY(vmm_mem_alloc(sys, &allocated, 100));
    TRY(vmm_memset_d8(sys, allocated, 1, 100));
    TRY(vmm_mem_free(sys, allocated));
    TRY(vmm_ctx_synchronize(sys));
    TRY(vmm_stream_destroy(sys, stream));
}

/* [M1 of H][M2 of H]: old bytes of what a kernel writes are kept where the spec says so. Without room for them the work is
 * done all the same: its last byte is there through either address. */
static void aliases(vmm_system *sys, struct outcome *o)
{
    enum { FILLED = 5000, WORDS = 8, COUNTED = 8192, OUT = 16384, USED = 3 * 8192 };
    static unsigned char bytes[COUNTED + 8 * WORDS];
    vmm_mem_allocation_prop device = prop_at(VMM_MEM_LOCATION_TYPE_DEVICE);
    vmm_mem_access_desc desc = {device.location, RW};
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_deviceptr p = 0;
    unsigned lost = 0;
    TRY(vmm_mem_address_reserve(sys, &p, 2 * G, 0, 0, 0));
    TRY(vmm_mem_create(sys, &handle, G, &device, 0));
    TRY(vmm_mem_map(sys, p, G, 0, handle, 0));
    TRY(vmm_mem_map(sys, p + G, G, 0, handle, 0));
    TRY(vmm_mem_release(sys, handle));
    TRY(vmm_mem_set_access(sys, p, 2 * G, &desc, 1));
    TRY(vmm_memset_d8(sys, p, 0, USED));
    KERNEL(FILL, NULL, p, FILLED, 7);
    KERNEL(ALIAS_WRITE_READ, NULL, p + COUNTED, p + G + COUNTED, 8 * WORDS, 0, p + OUT);
    TRY(vmm_ctx_synchronize(sys));
    TRY(vmm_memcpy_dtoh(sys, bytes, p + G, sizeof bytes));
    for (unsigned i = 0; i < sizeof bytes; i++)
        lost += bytes[i] != (i < FILLED ? 7 : i >= COUNTED && i % 8 == 0);
    if (lost)
        note(o, VMM_ERROR_UNKNOWN, "bytes that kernels wrote are lost");
    TRY(vmm_mem_unmap(sys, p, 2 * G));
    TRY(vmm_mem_address_free(sys, p, 2 * G));
}

/* A team of two, memory of both behind the object, and a store that reaches them. */
static void multicast(vmm_system *sys, struct outcome *o, bool shared)
{
    const vmm_multicast_object_prop prop = {.num_devices = 2, .size = G, .handle_types = shared ? RIG_FD : 0};
    vmm_mem_generic_allocation_handle object = 0, copy = 0, memory[2] = {0};
    int fd = -1;
    vmm_mem_access_desc desc[2];
    vmm_deviceptr p = 0;
    uint64_t word = 0;
    TRY(vmm_multicast_create(sys, &object, &prop));
    TRY(vmm_mem_address_reserve(sys, &p, 3 * G, 0, 0, 0));
    for (int i = 0; i < 2; i++) {
        vmm_mem_allocation_prop device = prop_at(VMM_MEM_LOCATION_TYPE_DEVICE);
        device.location.id = i;
        device.requested_handle_types = (int)prop.handle_types;
        desc[i] = (vmm_mem_access_desc){device.location, RW};
        TRY(vmm_multicast_add_device(sys, object, i));
        TRY(vmm_mem_create(sys, &memory[i], G, &device, 0));
        TRY(vmm_mem_map(sys, p + (uint64_t)i * G, G, 0, memory[i], 0));
    }
    TRY(vmm_multicast_bind_mem(sys, object, 0, memory[0], 0, G, 0));
    if (shared) { /* with what is bound, and then goes on as everybody's */
        TRY(vmm_mem_export_to_shareable_handle(sys, &fd, object, RIG_FD, 0));
        TRY(rig_import(sys, fd, &copy));
        close(fd);
    }
    TRY(vmm_multicast_bind_addr(sys, object, 0, p + G, G, 0));
    TRY(vmm_mem_map(sys, p + 2 * G, G, 0, object, 0));
    TRY(vmm_mem_set_access(sys, p, 3 * G, desc, 1));
    TRY(vmm_memset_d8(sys, p + 65536, 7, 8));
    KERNEL(MULTIMEM_STORE, NULL, p + 2 * G, p + 65536, 8);
    TRY(vmm_ctx_synchronize(sys));
    TRY(vmm_memcpy_dtoh(sys, &word, p + G, 8));
    bool stored = word == UINT64_C(0x0707070707070707);
    TRY(vmm_memcpy_dtoh(sys, &word, p, 8));
    if (stored != (word == UINT64_C(0x0707070707070707)) || (!stored && !failed))
        note(o, VMM_ERROR_UNKNOWN, "a store reached some of the replicas");
    for (int i = 0; i < 2; i++) {
        TRY(vmm_multicast_unbind(sys, object, i, 0, G));
        TRY(vmm_mem_release(sys, memory[i]));
    }
    TRY(vmm_mem_unmap(sys, p, 3 * G));
    if (shared)
        TRY(vmm_mem_release(sys, copy));
    TRY(vmm_mem_release(sys, object));
    TRY(vmm_mem_address_free(sys, p, 3 * G));
}

/* [device 2 MiB][device 2 MiB][host 2 MiB] */
static void life(vmm_system *sys, struct outcome *o, bool shared)
{
    vmm_mem_allocation_prop device = prop_at(VMM_MEM_LOCATION_TYPE_DEVICE), host = prop_at(VMM_MEM_LOCATION_TYPE_HOST);
    vmm_mem_access_desc both[2] = {{device.location, RW}, {host.location, RW}};
    vmm_mem_generic_allocation_handle handle[3] = {0};
    vmm_deviceptr at = 0, large = 0;
    vmm_context ctx = NULL, primary = NULL;
    int teams = 0;
    TRY(vmm_init(sys, 0));
    TRY(vmm_device_get_attribute(sys, &teams, VMM_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 0));
    TRY(vmm_ctx_create(sys, &ctx, 0, 0));
    TRY(vmm_device_primary_ctx_retain(sys, &primary, 0));
    TRY(vmm_ctx_set_current(sys, primary));
    TRY(vmm_mem_address_reserve(sys, &at, 3 * G, 0, 0, 0));
    TRY(vmm_mem_address_reserve(sys, &large, 100 * G, 0, 0, 0));
    for (int i = 0; i < 3; i++) {
        TRY(vmm_mem_create(sys, &handle[i], G, i == 2 ? &host : &device, 0));
        TRY(vmm_mem_map(sys, at + (uint64_t)i * G, G, 0, handle[i], 0));
    }
    TRY(vmm_mem_set_access(sys, at, 2 * G, both, 1));
    TRY(vmm_mem_set_access(sys, at + 2 * G, G, both, 2));
    work(sys, o, at);
    aliases(sys, o);
    share(sys, o);
    if (teams)
        multicast(sys, o, shared);
    TRY(vmm_mem_unmap(sys, at, 3 * G));
    for (int i = 0; i < 3; i++)
        TRY(vmm_mem_release(sys, handle[i]));
    TRY(vmm_mem_address_free(sys, at, 3 * G));
    TRY(vmm_mem_address_free(sys, large, 100 * G));
    TRY(vmm_device_primary_ctx_release(sys, 0));
    TRY(vmm_ctx_destroy(sys, ctx));
}

/* With the nth request of a kind failing. True when there were fewer. */
static bool lived(const char *spec, unsigned long *kind, unsigned long nth, struct outcome *o)
{
    vmm_system *sys = NULL, *peer = NULL;
    int fd = next_fd();
    memset(o, 0, sizeof *o);
    failed = false;
    *kind = nth;
    TRY(vmm_open(spec, &sys));
    life(sys, o, strstr(spec, "machine=") != NULL);
    TRY(vmm_attach(sys, &peer));
    life(peer, o, strstr(spec, "machine=") != NULL);
    *kind = 0;
    o->left = vmm_leaks(sys, NULL, NULL) + vmm_leaks(peer, NULL, NULL);
    vmm_close(peer);
    vmm_close(sys);
    o->left += next_fd() != fd;
    return !failed;
}

static void one_by_one(const char *spec, unsigned long *kind, const char *what, unsigned least)
{
    struct outcome o;
    unsigned long n = 1;
    unsigned refused = 0, wrong = 0;
    uint64_t left = 0;
    char first[240] = "";
    for (bool done = false; !done && n < 100000; n++) {
        done = lived(spec, kind, n, &o);
        refused += o.refused;
        left += o.left;
        wrong += o.wrong;
        if (o.wrong && !*first)
            snprintf(first, sizeof first, "request %lu: %s", n, o.first);
    }
    tap_note("%s: %lu requests %s, each failed once; %u calls said so", spec, n - 2, what, refused);
    if (!tap_ok(!wrong, "%s: the call says that memory is out, and succeeds when it is made again", what))
        tap_note("%u do not; %s", wrong, first);
    tap_u64(left, 0, "%s: nothing is left", what);
    tap_ok(refused >= least && n > least, "%s: many calls were refused", what);
}
#endif

int main(void)
{
    if (!CAN_FAIL || getenv("CUVMM_RUN")) {
        tap_skip("requests cannot be made to fail under this tool", "scarce memory");
        return tap_done();
    }
#if CAN_FAIL
    rig_begin();
    one_by_one("sim:h100,machine=scarce", &memory_left, "for memory, on a shared machine", 30);
    one_by_one("sim:h100,machine=scarce", &system_left, "to the system, on a shared machine", 20);
    one_by_one("sim:h100", &memory_left, "for memory", 30);
    one_by_one("sim:h100", &system_left, "to the system", 3);
    one_by_one("sim:h200x2", &memory_left, "for memory, with a team", 30);
    one_by_one("sim:h200x2", &system_left, "to the system, with a team", 3);
    one_by_one("sim:h200x2,machine=scarce", &memory_left, "for memory, with a shared team", 30);
    one_by_one("sim:h200x2,machine=scarce", &system_left, "to the system, with a shared team", 20);
    one_by_one("sim:h100,alias=stale:1", &memory_left, "for memory, with old bytes", 80);
    one_by_one("sim:h100,alias=stale:1", &system_left, "to the system, with old bytes", 3);
    rig_end();
#endif
    return tap_done();
}
