/* SPDX-License-Identifier: Apache-2.0 */
/* Exported memory in other processes: where descriptors may go, bytes, capacity, and what holds the memory, also after
 * a process is killed. */
#define _GNU_SOURCE /* syscall */
#include <sys/syscall.h>
#include <unistd.h>

#include "house.h"
#include "other.h"
#include "test.h"
#include "vmm_fd.h"

#define FD VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE
#define DEVICE VMM_MEM_LOCATION_TYPE_DEVICE

typedef vmm_mem_generic_allocation_handle handle_t;

static struct fix *begin(struct fix *f)
{
    fix_need_attribute(f, VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
                       "needs export as a file descriptor (attribute 103)");
    return fix_share(f);
}

static int exported(struct fix *f, handle_t handle)
{
    int fd = -1;
    ACCEPTED(vmm_mem_export_to_shareable_handle(S, &fd, handle, FD, 0));
    return fd;
}

static handle_t imported(struct fix *f, int fd, uint64_t size)
{
    handle_t handle = 0;
    ACCEPTED(vmm_mem_import_from_shareable_handle(S, &handle, (void *)(uintptr_t)fd, FD));
    fix_note(f, FIX_HANDLE, handle, size);
    return handle;
}

static handle_t shareable(struct fix *f, uint64_t size)
{
    vmm_mem_allocation_prop prop = fix_prop(0);
    prop.requested_handle_types = FD;
    return fix_create_prop(f, size, &prop);
}

/* The other process carries the request out without an error. */
static uint64_t done(struct fix *f, struct other *o, enum other_op op, uint64_t first, uint64_t second, int fd)
{
    struct other_answer answer = other_ask(o, op, first, second, fd);
    CHECK(!answer.result, "the other process, step %d: %s %s", (int)op,
          answer.result < 0 ? "it is gone" : vmm_result_name((vmm_result)answer.result), answer.rule);
    return answer.value;
}

/* Exported memory with a byte in it; releases the handle where only the descriptor is to hold the memory. */
static int prepared(struct fix *f, uint64_t size, unsigned char value, bool let_go)
{
    handle_t handle = shareable(f, size);
    vmm_deviceptr p = fix_reserve(f, size);
    fix_map(f, p, size, handle);
    fix_access(f, p, size, RW);
    fix_fill(f, p, value, size);
    int fd = exported(f, handle);
    if (let_go) {
        fix_unmap(f, p, size);
        fix_release(f, handle);
        fix_address_free(f, p, size);
    }
    return fd;
}

TEST_EXPECTS("share.other_process_imports", other_process_imports)
{
    f = begin(f);
    handle_t handle = shareable(f, f->g);
    vmm_deviceptr p = fix_reserve(f, f->g);
    fix_map(f, p, f->g, handle);
    fix_access(f, p, f->g, RW);
    fix_fill(f, p, 0x11, f->g);
    int fd = exported(f, handle);
    struct other o = other_start(f);
    uint64_t copy = done(f, &o, OTHER_IMPORT, 0, 0, fd), again = done(f, &o, OTHER_IMPORT, 0, 0, fd);
    CHECK(copy != again, "two imports have one handle");
    CHECK_U64(done(f, &o, OTHER_TYPES, copy, 0, -1), 0);
    uint64_t at = done(f, &o, OTHER_MAP, copy, f->g, -1), alias = done(f, &o, OTHER_MAP, again, f->g, -1);
    CHECK_U64(done(f, &o, OTHER_PEEK, at + 5, 0, -1), 0x11);
    done(f, &o, OTHER_FILL, alias, 0x33, -1);
    CHECK_U64(done(f, &o, OTHER_PEEK, at, 0, -1), 0x33);
    CHECK_U64(fix_peek(f, p + 3), 0x33);
    fix_fill(f, p, 0x44, f->g);
    CHECK_U64(done(f, &o, OTHER_PEEK, alias + 1, 0, -1), 0x44);
    struct other_answer answer = other_ask(&o, OTHER_EXPORT, copy, 0, -1);
    CHECK(answer.result == VMM_ERROR_INVALID_VALUE, "an import was exported again");
    other_end(&o);
    close(fd);
    CHECK_U64(fix_peek(f, p + 3), 0x44);
}

/* The other direction: this process imports what the other creates, and the memory outlives the other. */
TEST_EXPECTS("share.memory_outlives_its_exporter", memory_outlives_exporter)
{
    f = begin(f);
    struct other o = other_start(f);
    uint64_t theirs = done(f, &o, OTHER_CREATE, f->g, DEVICE, -1);
    uint64_t at = done(f, &o, OTHER_MAP, theirs, f->g, -1);
    done(f, &o, OTHER_FILL, at, 0x66, -1);
    struct other_answer sent = other_ask(&o, OTHER_EXPORT, theirs, 0, -1);
    CHECK(!sent.result && sent.fd >= 0, "nothing was exported");
    other_kill(&o);
    handle_t copy = imported(f, sent.fd, f->g);
    close(sent.fd);
    vmm_deviceptr p = fix_reserve(f, f->g);
    fix_map(f, p, f->g, copy);
    fix_access(f, p, f->g, RW);
    CHECK_U64(fix_peek(f, p + 100), 0x66);
    fix_fill(f, p, 0x67, f->g);
    CHECK_U64(fix_peek(f, p + 100), 0x67);
}

/* What one process takes is missing from the others' free memory, until it is freed. */
TEST_EXPECTS("share.one_capacity_for_all", one_capacity)
{
    f = begin(f);
    fix_need_simulator(f, "other programs use a driver's memory as well");
    struct other o = other_start(f), q = other_start(f);
    uint64_t before = fix_free_memory(f);
    uint64_t theirs = done(f, &o, OTHER_CREATE, 2 * f->g, DEVICE, -1);
    CHECK_U64(fix_free_memory(f), before - 2 * f->g);
    CHECK_U64(done(f, &q, OTHER_FREE, 0, 0, -1), before - 2 * f->g);
    struct other_answer sent = other_ask(&o, OTHER_EXPORT, theirs, 0, -1);
    CHECK_U64(fix_free_memory(f), before - 2 * f->g); /* exported memory is counted once */
    uint64_t copy = done(f, &q, OTHER_IMPORT, 0, 0, sent.fd);
    CHECK_U64(done(f, &q, OTHER_FREE, 0, 0, -1), before - 2 * f->g);
    close(sent.fd);
    done(f, &o, OTHER_RELEASE, theirs, 0, -1);
    CHECK_U64(fix_free_memory(f), before - 2 * f->g);
    done(f, &q, OTHER_RELEASE, copy, 0, -1);
    CHECK_U64(fix_free_memory(f), before);
    CHECK_U64(done(f, &o, OTHER_FREE, 0, 0, -1), before);
    uint64_t most = before / f->minimum * f->minimum;
    done(f, &o, OTHER_CREATE, most, DEVICE, -1);
    vmm_mem_allocation_prop prop = fix_prop(0);
    handle_t handle = 0;
    REFUSED_BY("VMM-CREATE-MEMORY", vmm_mem_create(S, &handle, f->g, &prop, 0), OUT_OF_MEMORY, "size", f->g);
    other_kill(&o);
    ACCEPTED(vmm_mem_create(S, &handle, most, &prop, 0)); /* what a killed process held is free for the next */
    fix_note(f, FIX_HANDLE, handle, most);
    other_end(&q);
}

/* A descriptor in a process that never uses it holds the memory until that process ends. */
TEST_EXPECTS("share.descriptor_holds_anywhere", descriptor_holds_anywhere)
{
    f = begin(f);
    struct other o = other_start(f);
    uint64_t before = fix_free_memory(f);
    int fd = prepared(f, f->g, 0x21, true);
    done(f, &o, OTHER_KEEP, 0, 0, fd);
    close(fd);
    CHECK_FREE(before, f->g);
    done(f, &o, OTHER_DROP, 0, 0, -1);
    CHECK_FREE(before, 0);
    fd = prepared(f, f->g, 0x22, true);
    done(f, &o, OTHER_KEEP, 0, 0, fd);
    close(fd);
    CHECK_FREE(before, f->g);
    other_kill(&o);
    if (f->simulator) /* on a driver, the end of its context freed memory as well */
        CHECK_FREE(before, 0);
}

/* A descriptor in a message that was not received is in no process. */
TEST_EXPECTS("share.descriptor_in_flight_holds", descriptor_in_flight)
{
    f = begin(f);
    house_need_calls(f, DUPLICATES);
    int ends[2];
    fix_need(f, vmm_fd_pair(ends));
    uint64_t before = fix_free_memory(f);
    int fd = prepared(f, f->g, 0x55, true);
    ACCEPTED(vmm_fd_send(ends[0], fd, NULL, 0, 0));
    close(fd);
    CHECK_FREE(before, f->g);
    ACCEPTED(vmm_fd_receive(ends[1], &fd, NULL, 0, 0));
    handle_t copy = imported(f, fd, f->g);
    close(fd);
    vmm_deviceptr p = fix_reserve(f, f->g);
    fix_map(f, p, f->g, copy);
    fix_access(f, p, f->g, RW);
    CHECK_U64(fix_peek(f, p), 0x55);
    fix_unmap(f, p, f->g);
    fix_release(f, copy);
    CHECK_FREE(before, 0);
    fd = prepared(f, f->g, 0x56, true);
    ACCEPTED(vmm_fd_send(ends[0], fd, NULL, 0, 0));
    close(fd);
    close(ends[0]);
    CHECK_FREE(before, f->g);
    close(ends[1]); /* with what was not received */
    CHECK_FREE(before, 0);
}

/* The death of a process frees its imports, its mappings and its own memory. */
TEST_EXPECTS("share.killed_process_gives_back", killed_importer)
{
    f = begin(f);
    struct other o = other_start(f);
    uint64_t before = fix_free_memory(f);
    int fd = prepared(f, f->g, 0x31, true);
    uint64_t copy = done(f, &o, OTHER_IMPORT, 0, 0, fd);
    close(fd);
    uint64_t at = done(f, &o, OTHER_MAP, copy, f->g, -1);
    CHECK_U64(done(f, &o, OTHER_PEEK, at, 0, -1), 0x31);
    done(f, &o, OTHER_CREATE, f->g, DEVICE, -1);
    CHECK_FREE(before, 2 * f->g);
    other_kill(&o);
    if (f->simulator)
        CHECK_FREE(before, 0);
}

/* Inherited over exec by a process that knows only the number; its parent only passes it on. */
TEST_EXPECTS("share.grandchild_inherits", grandchild_inherits)
{
    f = begin(f);
    uint64_t before = fix_free_memory(f);
    int fd = prepared(f, f->g, 0x29, true);
    struct other o = other_start(f);
    CHECK_U64(done(f, &o, OTHER_GRANDCHILD, f->g, 0, fd), 0x29);
    other_end(&o);
    if (f->simulator)
        CHECK_FREE(before, f->g);
    close(fd);
    if (f->simulator)
        CHECK_FREE(before, 0);
}

/* Two unrelated processes import the same memory. */
TEST_EXPECTS("share.many_processes_one_memory", many_processes)
{
    enum { OTHERS = 3 };
    struct other o[OTHERS];
    uint64_t at[OTHERS];
    f = begin(f);
    int fd = prepared(f, f->g, 0, true);
    for (int i = 0; i < OTHERS; i++) {
        o[i] = other_start(f);
        at[i] = done(f, &o[i], OTHER_MAP, done(f, &o[i], OTHER_IMPORT, 0, 0, fd), f->g, -1);
    }
    close(fd);
    for (unsigned i = 0; i < OTHERS; i++) {
        done(f, &o[i], OTHER_FILL, at[i], 0x40 + i, -1);
        for (unsigned j = 0; j < OTHERS; j++)
            CHECK_U64(done(f, &o[j], OTHER_PEEK, at[j] + i, 0, -1), 0x40 + i);
    }
    other_kill(&o[0]);
    CHECK_U64(done(f, &o[1], OTHER_PEEK, at[1], 0, -1), 0x40 + OTHERS - 1);
    for (int i = 1; i < OTHERS; i++)
        other_end(&o[i]);
}

#ifdef SYS_pidfd_getfd
/* Fetched from the exporter with pidfd_getfd, without the exporter's help. */
TEST_EXPECTS("share.fetched_by_pidfd", fetched_by_pidfd)
{
    f = begin(f);
    struct other o = other_start(f);
    uint64_t theirs = done(f, &o, OTHER_CREATE, f->g, DEVICE, -1);
    struct other_answer sent = other_ask(&o, OTHER_EXPORT, theirs, 0, -1);
    done(f, &o, OTHER_KEEP, 0, 0, sent.fd);
    int own = (int)syscall(SYS_pidfd_open, getpid(), 0), fd = own < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, own, sent.fd, 0);
    if (own >= 0)
        close(own);
    close(sent.fd);
    if (fd < 0) {
        other_end(&o);
        fix_skip(f, "this system has no pidfd_getfd");
    }
    imported(f, fd, f->g);
    close(fd);
    other_end(&o);
}
#endif

/* Memory of a NUMA node: both processes see writes in place at once. */
TEST_EXPECTS("share.host_memory_is_coherent", host_memory)
{
    fix_need_numa(f);
    f = begin(f);
    vmm_mem_allocation_prop prop = fix_prop_at(VMM_MEM_LOCATION_TYPE_HOST_NUMA, fix_numa_node(f));
    prop.requested_handle_types = FD;
    uint64_t size = fix_host_unit(f);
    handle_t handle = fix_create_prop(f, size, &prop);
    vmm_deviceptr p = fix_reserve(f, size);
    fix_map(f, p, size, handle);
    fix_access_at(f, p, size, fix_at(VMM_MEM_LOCATION_TYPE_HOST, 0), RW);
    fix_access_at(f, p, size, fix_at(DEVICE, 0), RW);
    int fd = exported(f, handle);
    struct other o = other_start(f);
    uint64_t copy = done(f, &o, OTHER_IMPORT, 0, 0, fd), at = done(f, &o, OTHER_MAP, copy, size, -1);
    close(fd);
    fix_fill(f, p, 0x21, f->minimum < size ? f->minimum : size);
    CHECK_U64(done(f, &o, OTHER_PEEK, at, 0, -1), 0x21);
    done(f, &o, OTHER_POKE, at + 1, 0x43, -1);
    CHECK_U64(fix_peek(f, p + 1), 0x43);
    CHECK_U64(fix_peek(f, p), 0x21);
    other_end(&o);
}
