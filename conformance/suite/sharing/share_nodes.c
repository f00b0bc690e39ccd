/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of NUMA nodes, exported and imported by processes of one machine: each node is a location with its own
 * capacity, which all processes share.
 *
 *     node 0  [ .................... ]   all free for every process
 *     node 1  [ H1 of A, imported by B ........ ]   counted once, also when A has ended
 *     node 2  [ .................... ]
 */
#include <string.h>
#include <unistd.h>

#include "other.h"
#include "test.h"

#define FD VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
#define NUMA VMM_MEM_LOCATION_TYPE_HOST_NUMA
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE
#define THREE_NODES "attribute.103 = 1\nattribute.141 = 1\nattribute.145 = 1\nhost.nodes = 3\nhost.memory = 8MiB"

enum { NODES = 3 };
#define ALL (UINT64_C(8) << 20) /* of each */
#define HALF (ALL / 2)

typedef vmm_mem_generic_allocation_handle handle_t;

static struct fix *begin(struct fix *f)
{
    fix_need_simulator(f, "the test chooses the number and size of the nodes");
    return fix_share(f);
}

static vmm_mem_allocation_prop prop_of(int node)
{
    vmm_mem_allocation_prop prop = fix_prop_at(NUMA, node);
    prop.requested_handle_types = FD;
    return prop;
}

static int exported(struct fix *f, handle_t handle)
{
    int fd = -1;
    ACCEPTED(vmm_mem_export_to_shareable_handle(S, &fd, handle, FD, 0));
    return fd;
}

/* With rights for device 0 and for the host. */
static vmm_deviceptr mapped(struct fix *f, handle_t handle, uint64_t size)
{
    vmm_deviceptr p = fix_reserve(f, size);
    fix_map(f, p, size, handle);
    fix_access_at(f, p, size, fix_at(VMM_MEM_LOCATION_TYPE_HOST, 0), RW);
    fix_access(f, p, size, RW);
    return p;
}

static uint64_t done(struct fix *f, struct other *o, enum other_op op, uint64_t first, uint64_t second, int fd)
{
    struct other_answer answer = other_ask(o, op, first, second, fd);
    CHECK(!answer.result, "the other process, step %d: %s %s", (int)op,
          answer.result < 0 ? "it is gone" : vmm_result_name((vmm_result)answer.result), answer.rule);
    return answer.value;
}

/* Exactly this much of the node is free, for this process and for the other (socket -1: there is no other). */
static void left(struct fix *f, struct other *o, int node, uint64_t size)
{
    const uint64_t unit = fix_host_unit(f), place = other_place(NUMA, node);
    vmm_mem_allocation_prop prop = prop_of(node);
    handle_t handle = 0;
    REFUSED_BY("VMM-CREATE-MEMORY", vmm_mem_create(S, &handle, size + unit, &prop, 0), OUT_OF_MEMORY, "size", size + unit);
    if (size)
        fix_release(f, fix_create_prop(f, size, &prop));
    if (o->socket < 0)
        return;
    CHECK(other_ask(o, OTHER_CREATE, size + unit, place, -1).result == VMM_ERROR_OUT_OF_MEMORY,
          "the other process finds more free on node %d than there is", node);
    if (size)
        done(f, o, OTHER_RELEASE, done(f, o, OTHER_CREATE, size, place, -1), 0, -1);
}

static unsigned char here(vmm_deviceptr at)
{
    return *(volatile unsigned char *)(uintptr_t)at;
}

TEST_EXPECTS_ON("share.memory_of_each_node", memory_of_each_node, THREE_NODES, TEST_AS_GIVEN, 0)
{
    f = begin(f);
    struct other o = other_start(f);
    const uint64_t size = fix_host_unit(f);
    for (int node = 0; node < NODES; node++) {
        vmm_mem_allocation_prop prop = prop_of(node);
        handle_t handle = fix_create_prop(f, size, &prop);
        vmm_deviceptr p = mapped(f, handle, size);
        *(volatile unsigned char *)(uintptr_t)(p + 7) = (unsigned char)(0x30 + node);
        int fd = exported(f, handle);
        uint64_t copy = done(f, &o, OTHER_IMPORT, 0, 0, fd), at = done(f, &o, OTHER_MAP, copy, size, -1);
        close(fd);
        CHECK_U64(done(f, &o, OTHER_PLACE, copy, 0, -1), other_place(NUMA, node));
        CHECK_U64(done(f, &o, OTHER_PEEK, at + 7, 0, -1), 0x30 + (uint64_t)node); /* by its device what the host wrote */
        done(f, &o, OTHER_POKE, at + size - 1, 0x40 + (uint64_t)node, -1);
        CHECK_U64(here(p + size - 1), 0x40 + (uint64_t)node); /* in place on both sides */
        CHECK_U64(fix_peek(f, p + size - 1), 0x40 + (uint64_t)node);
    }
    other_end(&o);
}

/* The other process's memory: a query here reports its node, and it counts there once and nowhere else. */
TEST_EXPECTS_ON("share.capacity_of_a_node", capacity_of_a_node, THREE_NODES, TEST_AS_GIVEN, 0)
{
    f = begin(f);
    struct other o = other_start(f);
    vmm_mem_allocation_prop got = {0};
    handle_t copy = 0;
    uint64_t theirs = done(f, &o, OTHER_CREATE, HALF, other_place(NUMA, 1), -1);
    left(f, &o, 1, HALF);
    struct other_answer sent = other_ask(&o, OTHER_EXPORT, theirs, 0, -1);
    CHECK(!sent.result && sent.fd >= 0, "nothing was exported: %s", sent.rule);
    ACCEPTED(vmm_mem_import_from_shareable_handle(S, &copy, (void *)(uintptr_t)sent.fd, FD));
    fix_note(f, FIX_HANDLE, copy, HALF);
    ACCEPTED(vmm_mem_get_allocation_properties_from_handle(S, &got, copy));
    CHECK_U64(other_place(got.location.type, got.location.id), other_place(NUMA, 1));
    close(sent.fd);
    left(f, &o, 0, ALL);
    left(f, &o, 1, HALF);
    left(f, &o, 2, ALL);
    other_kill(&o);
    left(f, &o, 1, HALF); /* the import holds it */
    fix_release(f, copy);
    left(f, &o, 1, ALL);
}

TEST_EXPECTS_ON("share.killed_process_gives_back_its_nodes", killed_process_gives_nodes_back, THREE_NODES, TEST_AS_GIVEN, 0)
{
    f = begin(f);
    struct other o = other_start(f);
    for (int node = 0; node < NODES; node++) {
        uint64_t handle = done(f, &o, OTHER_CREATE, HALF, other_place(NUMA, node), -1);
        done(f, &o, OTHER_MAP, handle, HALF, -1);
        struct other_answer sent = other_ask(&o, OTHER_EXPORT, handle, 0, -1);
        CHECK(!sent.result, "nothing was exported: %s", sent.rule);
        close(sent.fd);
        left(f, &o, node, HALF);
    }
    other_kill(&o);
    for (int node = 0; node < NODES; node++)
        left(f, &o, node, ALL);
}

/* Two processes use it: one counts with kernels on all its devices, the other reads and writes in place. */
TEST_EXPECTS_ON("share.node_memory_for_all_devices", node_memory_for_all_devices, THREE_NODES "\ndevices = 4\npeers = all",
                TEST_AS_GIVEN, 0)
{
    enum { DEVICES = 4, TIMES = 100 };
    struct fix *one = begin(f), *two = fix_same(f);
    const uint64_t size = fix_host_unit(one);
    for (int node = 0; node < NODES; node++) {
        f = one;
        vmm_mem_allocation_prop prop = prop_of(node);
        handle_t handle = fix_create_prop(f, size, &prop), copy = 0;
        volatile uint64_t *word = (volatile uint64_t *)(uintptr_t)mapped(f, handle, size);
        int fd = exported(f, handle);
        *word = 1000;
        f = two;
        ACCEPTED(vmm_mem_import_from_shareable_handle(S, &copy, (void *)(uintptr_t)fd, FD));
        fix_note(f, FIX_HANDLE, copy, size);
        close(fd);
        vmm_deviceptr p = mapped(f, copy, size);
        for (int device = 0; device < DEVICES; device++) {
            const uint64_t args[] = {p, TIMES};
            fix_access_at(f, p, size, fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, device), RW);
            vmm_context context = fix_context(f, device);
            ACCEPTED(vmm_launch(S, VMM_KERNEL_ATOMIC_ADD, 2, 32, args, 2, NULL));
            ACCEPTED(vmm_ctx_synchronize(S));
            CHECK_U64(*word, 1000 + TIMES * (uint64_t)(device + 1));
            fix_context_destroy(f, context);
        }
        *word = 7; /* p itself is not always readable: a program's second system may have no host window */
        fix_need(f, vmm_ctx_set_current(S, f->ctx));
        CHECK_U64(fix_peek(f, p), 7);
    }
}

/* The node after the last, and one below the first, in both processes. */
TEST_EXPECTS_ON("share.no_such_node", no_such_node, THREE_NODES, TEST_AS_GIVEN, 0)
{
    static const int wrong[] = {NODES, -1, 1 << 20};
    f = begin(f);
    struct other o = other_start(f);
    const uint64_t unit = fix_host_unit(f);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        vmm_mem_allocation_prop prop = prop_of(wrong[i]);
        handle_t handle = FIX_UNTOUCHED;
        REFUSED_BY("VMM-CREATE-NUMA-ID", vmm_mem_create(S, &handle, unit, &prop, 0), INVALID_VALUE, "prop.location.id",
                   (uint64_t)(int64_t)wrong[i]);
        CHECK_U64(handle, FIX_UNTOUCHED);
        struct other_answer answer = other_ask(&o, OTHER_CREATE, unit, other_place(NUMA, wrong[i]), -1);
        CHECK(answer.result == VMM_ERROR_INVALID_VALUE && !strcmp(answer.rule, "VMM-CREATE-NUMA-ID"), "%s by %s",
              vmm_result_name((vmm_result)answer.result), answer.rule);
    }
    other_end(&o);
}
