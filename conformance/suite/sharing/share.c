/* SPDX-License-Identifier: Apache-2.0 */
/* Export and import in one process: arguments, properties of an import, and what holds the memory. share_other.c tests
 * other processes, fabric.c fabric handles. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "house.h"
#include "other.h"
#include "test.h"

#define FD VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
#define FABRIC VMM_MEM_HANDLE_TYPE_FABRIC
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE
#define SHARING "attribute.103 = 1"
#define UNTOUCHED (-7777)

typedef vmm_mem_generic_allocation_handle handle_t;

static void need_sharing(struct fix *f)
{
    fix_need_attribute(f, VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
                       "needs export as a file descriptor (attribute 103)");
}

static handle_t shareable(struct fix *f, uint64_t size)
{
    vmm_mem_allocation_prop prop = fix_prop(0);
    prop.requested_handle_types = FD;
    return fix_create_prop(f, size, &prop);
}

static void *by_value(int fd)
{
    return (void *)(uintptr_t)fd;
}

static int next_fd(void)
{
    int fd = dup(STDERR_FILENO);
    if (fd >= 0)
        close(fd);
    return fd;
}

/* A descriptor that the test closes. */
static int exported(struct fix *f, handle_t handle)
{
    int fd = UNTOUCHED;
    ACCEPTED(vmm_mem_export_to_shareable_handle(S, &fd, handle, FD, 0));
    CHECK(fd >= 0 && (fcntl(fd, F_GETFD) & FD_CLOEXEC), "the descriptor %d is not open, or would be inherited", fd);
    return fd;
}

static handle_t imported(struct fix *f, int fd, uint64_t size)
{
    handle_t handle = 0;
    ACCEPTED(vmm_mem_import_from_shareable_handle(S, &handle, by_value(fd), FD));
    fix_note(f, FIX_HANDLE, handle, size);
    return handle;
}

#define EXPORT(fd, handle, type, flags) vmm_mem_export_to_shareable_handle(S, &(fd), handle, type, flags)
#define IMPORT(handle, fd, type) vmm_mem_import_from_shareable_handle(S, &(handle), by_value(fd), type)

#define NO_FD(fd, free_fd)                                                        \
    do {                                                                          \
        CHECK((fd) == UNTOUCHED, "the refused call wrote %d", fd);                \
        CHECK(next_fd() == (free_fd), "the refused call left a descriptor open"); \
    } while (0)

/* ------------------------------------------------------------------------------------------------------------- export */

TEST_BREAKS_ON(EXPORT_NULL_HANDLE, export_without_a_place, SHARING, TEST_AS_GIVEN, 0)
{
    need_sharing(f);
    handle_t handle = shareable(f, f->g);
    int free_fd = next_fd();
    REFUSED(vmm_mem_export_to_shareable_handle(S, NULL, handle, FD, 0), INVALID_VALUE, "shareableHandle", 0);
    CHECK(next_fd() == free_fd, "the call left an unknown descriptor open");
}

TEST_BREAKS_ON(EXPORT_FLAGS, export_with_flags, SHARING, TEST_AS_GIVEN, 0)
{
    need_sharing(f);
    handle_t handle = shareable(f, f->g);
    int fd = UNTOUCHED, free_fd = next_fd();
    REFUSED(EXPORT(fd, handle, FD, 1), INVALID_VALUE, "flags", 1);
    REFUSED(EXPORT(fd, handle, FD, UINT64_C(1) << 40), INVALID_VALUE, "flags", UINT64_C(1) << 40);
    NO_FD(fd, free_fd);
}

TEST_BREAKS_ON(EXPORT_TYPE, export_as_no_one_type, SHARING, TEST_AS_GIVEN, 0)
{
    need_sharing(f);
    static const int types[] = {0, 3, 9, 16, -1};
    handle_t handle = shareable(f, f->g);
    int fd = UNTOUCHED, free_fd = next_fd();
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        REFUSED(EXPORT(fd, handle, types[i], 0), INVALID_VALUE, "handleType", (uint64_t)(int64_t)types[i]);
    NO_FD(fd, free_fd);
}

TEST_BREAKS_ON(EXPORT_HANDLE_ZERO, export_handle_0, SHARING, TEST_AS_GIVEN, 0)
{
    need_sharing(f);
    shareable(f, f->g);
    int fd = UNTOUCHED, free_fd = next_fd();
    REFUSED(EXPORT(fd, 0, FD, 0), INVALID_VALUE, "handle", 0);
    NO_FD(fd, free_fd);
}

TEST_BREAKS_ON(EXPORT_HANDLE_STALE, export_after_release, SHARING, TEST_AS_GIVEN, 0)
{
    need_sharing(f);
    handle_t handle = shareable(f, f->g);
    fix_release(f, handle);
    int fd = UNTOUCHED, free_fd = next_fd();
    REFUSED_NEAR(EXPORT(fd, handle, FD, 0), INVALID_VALUE, "handle", handle, HANDLE, 0);
    NO_FD(fd, free_fd);
}

/* Memory that only a mapping holds can be exported, by the handle that cuMemRetainAllocationHandle returns. */
TEST_NEAR_MISS_ON(EXPORT_HANDLE_STALE, export_a_retained_handle, SHARING, TEST_AS_GIVEN, 0)
{
    need_sharing(f);
    handle_t handle = shareable(f, f->g), again = 0;
    vmm_deviceptr p = fix_reserve(f, f->g);
    fix_map(f, p, f->g, handle);
    fix_release(f, handle);
    ACCEPTED(vmm_mem_retain_allocation_handle(S, &again, p));
    fix_note(f, FIX_HANDLE, again, f->g);
    close(exported(f, again));
}

TEST_BREAKS_ON(EXPORT_HANDLE_FORGED, export_a_forged_handle, SHARING, TEST_AS_GIVEN, 0)
{
    need_sharing(f);
    const handle_t values[] = {1, 0x1000, UINT64_MAX, shareable(f, f->g) ^ UINT64_C(0x5a5a5a5a5a)};
    int fd = UNTOUCHED, free_fd = next_fd();
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        REFUSED(EXPORT(fd, values[i], FD, 0), INVALID_VALUE, "handle", values[i]);
    NO_FD(fd, free_fd);
}

TEST_NEAR_MISS_ON(EXPORT_HANDLE_FORGED, export_the_second_of_two, SHARING, TEST_AS_GIVEN, 0)
{
    need_sharing(f);
    shareable(f, f->g);
    close(exported(f, shareable(f, f->g)));
}

TEST_BREAKS_ON(EXPORT_IMPORTED, export_an_import, SHARING, TEST_AS_GIVEN, 0)
{
    need_sharing(f);
    int fd = exported(f, shareable(f, f->g)), other = UNTOUCHED;
    handle_t copy = imported(f, fd, f->g);
    int free_fd = next_fd();
    REFUSED_NEAR(EXPORT(other, copy, FD, 0), INVALID_VALUE, "handle", copy, HANDLE, 0);
    NO_FD(other, free_fd);
    close(fd);
}

/* The descriptor that it came from can be passed on; the original can be exported again. */
TEST_NEAR_MISS_ON(EXPORT_IMPORTED, export_the_original_again, SHARING, TEST_AS_GIVEN, 0)
{
    need_sharing(f);
    handle_t handle = shareable(f, f->g);
    int fd = exported(f, handle), again;
    imported(f, fd, f->g);
    again = exported(f, handle);
    CHECK(fd != again, "both exports gave descriptor %d", fd);
    imported(f, again, f->g);
    close(fd);
    close(again);
}

TEST_BREAKS_ON(EXPORT_NOT_REQUESTED, export_what_was_not_made_for_it, SHARING, TEST_AS_GIVEN, 0)
{
    need_sharing(f);
    static const int others[] = {VMM_MEM_HANDLE_TYPE_WIN32, VMM_MEM_HANDLE_TYPE_WIN32_KMT, FABRIC};
    handle_t plain = fix_create(f, f->g), handle = shareable(f, f->g);
    int room[VMM_FABRIC_HANDLE_SIZE / sizeof(int)], free_fd = next_fd();
    room[0] = UNTOUCHED;
    REFUSED_NEAR(EXPORT(room, plain, FD, 0), INVALID_VALUE, "handleType", FD, HANDLE, 0);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        REFUSED(EXPORT(room, handle, others[i], 0), INVALID_VALUE, "handleType", (uint64_t)others[i]);
        REFUSED(EXPORT(room, plain, others[i], 0), INVALID_VALUE, "handleType", (uint64_t)others[i]);
    }
    NO_FD(room[0], free_fd);
}

TEST_NEAR_MISS_ON(EXPORT_NOT_REQUESTED, export_what_was_made_for_it, SHARING, TEST_AS_GIVEN, 0)
{
    need_sharing(f);
    fix_create(f, f->g);
    close(exported(f, shareable(f, f->g)));
}

/* For the simulator's own rules: limits of the process. */
static void limit(struct rlimit *before, rlim_t files)
{
    struct rlimit now;
    getrlimit(RLIMIT_NOFILE, before);
    now = *before;
    now.rlim_cur = files;
    setrlimit(RLIMIT_NOFILE, &now);
}

TEST_BREAKS_ON(EXPORT_SYSTEM, export_without_a_file, SHARING, TEST_AS_GIVEN, 0)
{
    fix_need_simulator(f, "a driver's answer was not measured");
    struct rlimit before;
    handle_t handle = shareable(f, f->g), other = shareable(f, f->g);
    uint64_t left = fix_free_memory(f);
    int fd = UNTOUCHED, free_fd = next_fd();
    limit(&before, 0);
    REFUSED(EXPORT(fd, handle, FD, 0), OPERATING_SYSTEM, NULL, 0);
    setrlimit(RLIMIT_NOFILE, &before);
    NO_FD(fd, free_fd);
    close(exported(f, other)); /* now everything is there, except room for another descriptor */
    limit(&before, 0);
    REFUSED(EXPORT(fd, handle, FD, 0), OPERATING_SYSTEM, NULL, 0);
    REFUSED(EXPORT(fd, other, FD, 0), OPERATING_SYSTEM, NULL, 0);
    setrlimit(RLIMIT_NOFILE, &before);
    CHECK(fd == UNTOUCHED, "the refused call wrote %d", fd);
    CHECK_FREE(left, 0);
    close(exported(f, handle));
}

TEST_NEAR_MISS_ON(EXPORT_SYSTEM, export_with_a_file, SHARING, TEST_AS_GIVEN, 0)
{
    need_sharing(f);
    handle_t handle = shareable(f, f->g);
    close(exported(f, handle));
    close(exported(f, handle));
}

/* ------------------------------------------------------------------------------------------------------------- import */

TEST_BREAKS_ON(IMPORT_NULL_HANDLE, import_without_a_place, SHARING, TEST_AS_GIVEN, 0)
{
    need_sharing(f);
    int fd = exported(f, shareable(f, f->g));
    REFUSED(vmm_mem_import_from_shareable_handle(S, NULL, by_value(fd), FD), INVALID_VALUE, "handle", 0);
    REFUSED(vmm_mem_import_from_shareable_handle(S, NULL, by_value(-1), FD), INVALID_VALUE, "handle", 0);
    close(fd);
}

TEST_BREAKS_ON(IMPORT_TYPE, import_as_no_one_type, SHARING, TEST_AS_GIVEN, 0)
{
    need_sharing(f);
    static const int types[] = {0, 3, 9, 16, -1};
    int fd = exported(f, shareable(f, f->g));
    handle_t handle = FIX_UNTOUCHED;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        REFUSED(IMPORT(handle, fd, types[i]), INVALID_VALUE, "shHandleType", (uint64_t)(int64_t)types[i]);
    CHECK_U64(handle, FIX_UNTOUCHED);
    close(fd);
}

TEST_BREAKS_ON(IMPORT_WINDOWS, import_a_handle_of_windows, SHARING, TEST_AS_GIVEN, 0)
{
    need_sharing(f);
    int fd = exported(f, shareable(f, f->g));
    handle_t handle = FIX_UNTOUCHED;
    REFUSED(IMPORT(handle, fd, VMM_MEM_HANDLE_TYPE_WIN32), NOT_SUPPORTED, "shHandleType", VMM_MEM_HANDLE_TYPE_WIN32);
    REFUSED(IMPORT(handle, fd, VMM_MEM_HANDLE_TYPE_WIN32_KMT), NOT_SUPPORTED, "shHandleType",
            VMM_MEM_HANDLE_TYPE_WIN32_KMT);
    REFUSED(IMPORT(handle, -1, VMM_MEM_HANDLE_TYPE_WIN32_KMT), NOT_SUPPORTED, "shHandleType",
            VMM_MEM_HANDLE_TYPE_WIN32_KMT);
    CHECK_U64(handle, FIX_UNTOUCHED);
    close(fd);
}

/* Descriptor 0 equals NULL. */
TEST_BREAKS_ON(IMPORT_ZERO, import_descriptor_zero, SHARING, TEST_AS_GIVEN, 0)
{
    need_sharing(f);
    static const int types[] = {FD, VMM_MEM_HANDLE_TYPE_WIN32, VMM_MEM_HANDLE_TYPE_WIN32_KMT};
    int fd = exported(f, shareable(f, f->g)), was = dup(0);
    handle_t handle = FIX_UNTOUCHED;
    CHECK(dup2(fd, 0) == 0, "descriptor 0 is not available");
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        REFUSED(vmm_mem_import_from_shareable_handle(S, &handle, NULL, types[i]), INVALID_VALUE, "osHandle", 0);
    CHECK_U64(handle, FIX_UNTOUCHED);
    dup2(was, 0);
    close(was);
    close(fd);
}

TEST_NEAR_MISS_ON(IMPORT_ZERO, import_descriptor_zero_with_more_bits, SHARING, TEST_AS_GIVEN, 0)
{
    need_sharing(f);
    house_need_calls(f, DUPLICATES);
    int fd = exported(f, shareable(f, f->g)), was = dup(0), copy;
    handle_t handle = 0;
    CHECK(dup2(fd, 0) == 0, "descriptor 0 is not available");
    ACCEPTED(vmm_mem_import_from_shareable_handle(S, &handle, (void *)(uintptr_t)(UINT64_C(1) << 32), FD));
    fix_note(f, FIX_HANDLE, handle, f->g);
    copy = fcntl(0, F_DUPFD_CLOEXEC, 3); /* the fix */
    imported(f, copy, f->g);
    close(copy);
    dup2(was, 0);
    close(was);
    close(fd);
}

TEST_BREAKS_ON(IMPORT_CLOSED, import_a_closed_descriptor, SHARING, TEST_AS_GIVEN, 0)
{
    need_sharing(f);
    static const int never[] = {-1, -2, 1 << 20, 0x7fffffff};
    handle_t handle = FIX_UNTOUCHED;
    int fd = exported(f, shareable(f, f->g));
    close(fd);
    REFUSED(IMPORT(handle, fd, FD), UNKNOWN, "osHandle", (uint64_t)fd);
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++)
        REFUSED(IMPORT(handle, never[i], FD), UNKNOWN, "osHandle", (uint64_t)(uintptr_t)by_value(never[i]));
    CHECK_U64(handle, FIX_UNTOUCHED);
}

/* A duplicate, after the original is closed; and the upper half of the value, which driver 580 ignores. */
TEST_NEAR_MISS_ON(IMPORT_CLOSED, import_a_duplicate, SHARING, TEST_AS_GIVEN, 0)
{
    need_sharing(f);
    house_need_calls(f, DUPLICATES);
    int fd = exported(f, shareable(f, f->g)), other = dup(fd);
    handle_t handle = 0;
    close(fd);
    imported(f, other, f->g);
    ACCEPTED(vmm_mem_import_from_shareable_handle(S, &handle, (void *)((uintptr_t)other | (uintptr_t)1 << 32), FD));
    fix_note(f, FIX_HANDLE, handle, f->g);
    close(other);
}

/* Every kind of wrong descriptor; a file with the contents of the right one, too. */
TEST_BREAKS_ON(IMPORT_FOREIGN, import_other_descriptors, SHARING, TEST_AS_GIVEN, 0)
{
    need_sharing(f);
    int ends[2], sockets[2], fd = exported(f, shareable(f, f->g));
    FILE *file = tmpfile();
    fix_need(f, !pipe(ends) && !socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) && file ? VMM_SUCCESS
                                                                                      : VMM_ERROR_OPERATING_SYSTEM);
    const int fds[] = {ends[0], ends[1], sockets[0], fileno(file), open("/", O_RDONLY), open("/dev/null", O_RDWR),
                       open("/dev/zero", O_RDONLY)};
    handle_t handle = FIX_UNTOUCHED;
    char said[1024];
    ssize_t length = pread(fd, said, sizeof said, 0); /* a driver's cannot be read */
    fix_need(f, length <= 0 || pwrite(fileno(file), said, (size_t)length, 0) == length ? VMM_SUCCESS
                                                                                     : VMM_ERROR_OPERATING_SYSTEM);
    /* analysers: clang-analyzer-core.CallAndMessage is wrong: where no pair was made the test has ended */
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
        REFUSED(IMPORT(handle, fds[i], FD), UNKNOWN, "osHandle", (uint64_t)fds[i]);
    CHECK_U64(handle, FIX_UNTOUCHED);
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
        if (fds[i] != fileno(file))
            close(fds[i]);
    fclose(file);
    close(sockets[1]);
    close(fd);
}

TEST_NEAR_MISS_ON(IMPORT_FOREIGN, import_a_descriptor_that_was_passed_on, SHARING, TEST_AS_GIVEN, 0)
{
    need_sharing(f);
    house_need_calls(f, DUPLICATES);
    int fd = exported(f, shareable(f, f->g)), other = fcntl(fd, F_DUPFD_CLOEXEC, 100);
    close(fd);
    imported(f, other, f->g);
    close(other);
}

/* Two systems are two machines unless their specs name one machine. */
TEST_BREAKS_ON(IMPORT_MACHINE, import_on_another_machine, NULL, TEST_AS_GIVEN, 0)
{
    fix_need_simulator(f, "a driver has one machine");
    need_sharing(f);
    struct fix *other = fix_also(f, f->spec, 0);
    int fd = exported(f, shareable(f, f->g));
    handle_t handle = FIX_UNTOUCHED;
    f = other;
    REFUSED(IMPORT(handle, fd, FD), UNKNOWN, "osHandle", (uint64_t)fd);
    close(exported(f, shareable(f, f->g))); /* also when it exports something itself */
    REFUSED(IMPORT(handle, fd, FD), UNKNOWN, "osHandle", (uint64_t)fd);
    CHECK_U64(handle, FIX_UNTOUCHED);
    close(fd);
}

TEST_NEAR_MISS_ON(IMPORT_MACHINE, import_on_the_same_machine, NULL, TEST_AS_GIVEN, 0)
{
    fix_need_simulator(f, "a driver has one machine");
    need_sharing(f);
    struct fix *one = fix_share(f), *two = fix_same(f);
    int fd = exported(one, shareable(one, f->g));
    imported(two, fd, f->g);
    close(fd);
}

/* The import must open the file of the exporter's memory, and cannot. */
TEST_BREAKS_ON(IMPORT_SYSTEM, import_without_a_file, NULL, TEST_AS_GIVEN, 0)
{
    fix_need_simulator(f, "a driver's answer was not measured");
    need_sharing(f);
    struct rlimit before;
    struct fix *one = fix_share(f), *two = fix_same(f);
    int fd = exported(one, shareable(one, f->g));
    handle_t handle = FIX_UNTOUCHED;
    f = two;
    char *state = fix_state(f);
    limit(&before, 0);
    vmm_result result = IMPORT(handle, fd, FD);
    vmm_detail detail = *vmm_last_detail();
    setrlimit(RLIMIT_NOFILE, &before);
    CHECK(result == VMM_ERROR_OPERATING_SYSTEM && detail.rule && !strcmp(detail.rule, "VMM-IMPORT-SYSTEM"),
          "%s by %s", vmm_result_name(result), detail.rule ? detail.rule : "no rule");
    CHECK_U64(handle, FIX_UNTOUCHED);
    char *after = fix_state(f);
    CHECK(state && after && !strcmp(state, after), "the refused call changed the state");
    free(state);
    free(after);
    imported(f, fd, f->g);
    close(fd);
}

TEST_NEAR_MISS_ON(IMPORT_SYSTEM, import_with_a_file, NULL, TEST_AS_GIVEN, 0)
{
    fix_need_simulator(f, "a driver's answer was not measured");
    need_sharing(f);
    struct fix *one = fix_share(f), *two = fix_same(f);
    int fd = exported(one, shareable(one, f->g));
    imported(two, fd, f->g);
    imported(two, fd, f->g); /* the file is already open */
    close(fd);
}

/* ----------------------------------------------------------------------------------------------------- what is expected */

/* [H][its import]: the same bytes at both addresses, in both directions. */
TEST_EXPECTS_ON("share.import_aliases_the_memory", import_and_original, SHARING, TEST_AS_GIVEN, 0)
{
    need_sharing(f);
    handle_t handle = shareable(f, f->g);
    vmm_deviceptr p = fix_reserve(f, 2 * f->g);
    fix_map(f, p, f->g, handle);
    fix_access(f, p, f->g, RW);
    fix_fill(f, p, 0x5c, f->g);
    int fd = exported(f, handle);
    handle_t copy = imported(f, fd, f->g), again = imported(f, fd, f->g);
    CHECK(copy != handle && copy != again, "an import is not a new handle");
    close(fd);
    fix_map(f, p + f->g, f->g, copy);
    CHECK_U64(fix_rights(f, p + f->g, VMM_MEM_LOCATION_TYPE_DEVICE, 0), 0);
    fix_access(f, p + f->g, f->g, RW);
    CHECK_U64(fix_peek(f, p + f->g + 7), 0x5c);
    fix_fill(f, p + f->g, 0x33, f->g);
    CHECK_U64(fix_peek(f, p + 9), 0x33);
    handle_t retained = 0;
    ACCEPTED(vmm_mem_retain_allocation_handle(S, &retained, p + f->g));
    CHECK_U64(retained, copy);
    ACCEPTED(vmm_mem_release(S, retained));
}

static void check_prop(struct fix *f, const vmm_mem_allocation_prop *asked)
{
    vmm_mem_allocation_prop own = {0}, got = {0};
    handle_t handle = fix_create_prop(f, f->g, asked);
    int fd = exported(f, handle);
    handle_t copy = imported(f, fd, f->g);
    close(fd);
    ACCEPTED(vmm_mem_get_allocation_properties_from_handle(S, &own, handle));
    ACCEPTED(vmm_mem_get_allocation_properties_from_handle(S, &got, copy));
    CHECK(got.type == own.type && got.location.type == own.location.type && got.location.id == own.location.id &&
              got.alloc_flags.compression_type == own.alloc_flags.compression_type,
          "an import has another type, location or compression");
    CHECK(!got.requested_handle_types && !got.alloc_flags.gpu_direct_rdma_capable, "an import can be exported, or is for RDMA");
    CHECK(own.requested_handle_types == FD, "the original lost its handle types");
}

TEST_EXPECTS_ON("share.properties_of_an_import", properties_of_imports, SHARING, TEST_AS_GIVEN, 0)
{
    need_sharing(f);
    vmm_mem_allocation_prop prop = fix_prop(0);
    prop.requested_handle_types = FD;
    check_prop(f, &prop);
    if (fix_attribute(f, VMM_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED)) {
        prop.alloc_flags.compression_type = VMM_MEM_ALLOCATION_COMP_GENERIC;
        check_prop(f, &prop);
        prop.alloc_flags.compression_type = 0;
    }
    if (fix_attribute(f, VMM_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED)) {
        prop.alloc_flags.gpu_direct_rdma_capable = 1;
        check_prop(f, &prop);
    }
}

/* A handle, two imports, two descriptors: the last one to end frees the memory, whichever it is. */
TEST_EXPECTS_ON("share.memory_lives_until_the_last", memory_until_the_last, SHARING, TEST_AS_GIVEN, 0)
{
    need_sharing(f);
    uint64_t before = fix_free_memory(f);
    handle_t handle = shareable(f, 2 * f->g);
    int fd = exported(f, handle), again = exported(f, handle);
    handle_t copy = imported(f, fd, 2 * f->g), other = imported(f, fd, 2 * f->g);
    CHECK_FREE(before, 2 * f->g);
    close(fd);
    fix_release(f, handle);
    CHECK_FREE(before, 2 * f->g);
    REFUSED_BY("VMM-RELEASE-HANDLE-STALE", vmm_mem_release(S, handle), INVALID_VALUE, "handle", handle);
    fix_release(f, copy);
    vmm_deviceptr p = fix_reserve(f, 2 * f->g);
    fix_map(f, p, 2 * f->g, other);
    fix_release(f, other);
    CHECK_FREE(before, 2 * f->g);
    fix_unmap(f, p, 2 * f->g);
    CHECK_FREE(before, 2 * f->g);
    handle_t late = imported(f, again, 2 * f->g);
    close(again);
    CHECK_FREE(before, 2 * f->g);
    fix_release(f, late);
    CHECK_FREE(before, 0);
}

/* The bytes survive while only the descriptor holds the memory, and end with it. */
TEST_EXPECTS_ON("share.bytes_outlive_their_handles", bytes_outlive_handles, SHARING, TEST_AS_GIVEN, 0)
{
    need_sharing(f);
    handle_t handle = shareable(f, f->g);
    vmm_deviceptr p = fix_reserve(f, f->g);
    fix_map(f, p, f->g, handle);
    fix_access(f, p, f->g, RW);
    fix_fill(f, p, 0x77, f->g);
    int fd = exported(f, handle);
    fix_unmap(f, p, f->g);
    fix_release(f, handle);
    handle_t late = imported(f, fd, f->g);
    close(fd);
    fix_map(f, p, f->g, late);
    fix_access(f, p, f->g, RW);
    CHECK_U64(fix_peek(f, p + f->g - 1), 0x77);
    fix_unmap(f, p, f->g);
    fix_release(f, late);
    handle_t next = shareable(f, f->g);
    fix_map(f, p, f->g, next);
    fix_access(f, p, f->g, RW);
    if (f->simulator) /* a driver's new memory may hold anything */
        CHECK_U64(fix_peek(f, p), 0);
}

/* As measured: mapped whole or not at all, like other memory. */
TEST_EXPECTS("share.import_maps_whole", import_maps_whole)
{
    need_sharing(f);
    fix_need_parts(f, false);
    int fd = exported(f, shareable(f, 2 * f->g));
    handle_t copy = imported(f, fd, 2 * f->g);
    close(fd);
    vmm_deviceptr p = fix_reserve(f, 4 * f->g);
    REFUSED_BY("VMM-MAP-SIZE-WHOLE", vmm_mem_map(S, p, f->g, 0, copy, 0), NOT_SUPPORTED, "size", f->g);
    REFUSED_BY("VMM-MAP-SIZE-WHOLE", vmm_mem_map(S, p, 4 * f->g, 0, copy, 0), NOT_SUPPORTED, "size", 4 * f->g);
    REFUSED_BY("VMM-MAP-OFFSET", vmm_mem_map(S, p, f->g, f->g, copy, 0), NOT_SUPPORTED, "offset", f->g);
    fix_map(f, p, 2 * f->g, copy);
    fix_map(f, p + 2 * f->g, 2 * f->g, copy);
}

TEST_EXPECTS_ON("share.import_has_no_handle_types", attribute_of_an_import, SHARING, TEST_AS_GIVEN, 0)
{
    need_sharing(f);
    handle_t handle = shareable(f, f->g);
    int fd = exported(f, handle);
    handle_t copy = imported(f, fd, f->g);
    close(fd);
    vmm_deviceptr p = fix_reserve(f, 2 * f->g);
    uint64_t own = 9, other = 9, first = 0, second = 0;
    fix_map(f, p, f->g, handle);
    fix_map(f, p + f->g, f->g, copy);
    fix_access(f, p, 2 * f->g, RW);
    ACCEPTED(vmm_pointer_get_attribute(S, &own, VMM_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, p));
    ACCEPTED(vmm_pointer_get_attribute(S, &other, VMM_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, p + f->g));
    CHECK_U64(own, FD);
    CHECK_U64(other, 0);
    ACCEPTED(vmm_pointer_get_attribute(S, &first, VMM_POINTER_ATTRIBUTE_BUFFER_ID, p));
    ACCEPTED(vmm_pointer_get_attribute(S, &second, VMM_POINTER_ATTRIBUTE_BUFFER_ID, p + f->g));
    CHECK(first != second, "two mappings have one buffer id");
}

/* Exported memory belongs to the machine: another of its processes finds less free, or imports it. */
TEST_EXPECTS_ON("share.attached_process_imports", attached_process_imports, SHARING, TEST_AS_GIVEN, 0)
{
    fix_need_simulator(f, "needs a second process in this one");
    need_sharing(f);
    struct fix *peer = fix_also(f, NULL, 0);
    uint64_t before = fix_free_memory(peer);
    handle_t handle = shareable(f, f->g);
    vmm_deviceptr p = fix_reserve(f, f->g), q = fix_reserve(peer, f->g);
    fix_map(f, p, f->g, handle);
    fix_access(f, p, f->g, RW);
    fix_fill(f, p, 0x21, f->g);
    int fd = exported(f, handle);
    handle_t copy = imported(peer, fd, f->g);
    close(fd);
    fix_map(peer, q, f->g, copy);
    fix_access(peer, q, f->g, RW);
    CHECK_U64(fix_peek(peer, q), 0x21);
    fix_unmap(f, p, f->g);
    fix_release(f, handle);
    CHECK_U64(fix_peek(peer, q), 0x21);
    CHECK_U64(fix_free_memory(peer), before - f->g);
    fix_unmap(peer, q, f->g);
    fix_release(peer, copy);
    CHECK_U64(fix_free_memory(peer), before);
}
