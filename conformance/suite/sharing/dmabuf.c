/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for other devices of the machine: vmm_mem_get_handle_for_address_range. What was not measured on a driver runs
 * on the simulator alone, which follows the documentation there. So do tests of the file's contents, which are cuvmm's
 * choice. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "registration.h"
#include "test.h"

#define FD VMM_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD
#define PCIE VMM_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE
#define NONE VMM_MEM_ACCESS_FLAGS_PROT_NONE
#define DMABUF "attribute.124 = 1"
#define UNTOUCHED (-7777)

#define ASK(fd, dptr, size) vmm_mem_get_handle_for_address_range(S, &(fd), dptr, size, FD, 0)

static void need_dmabuf(struct fix *f)
{
    fix_need_attribute(f, VMM_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, "needs DMA-BUF (attribute 124)");
}

/* Where only the documentation defines the behaviour. */
static void need_documents(struct fix *f)
{
    fix_need_simulator(f, "not measured on a driver");
    need_dmabuf(f);
}

/* For files that can be read and do not hold the memory. */
static void need_copies(struct fix *f)
{
    fix_need_simulator(f, "a driver's dma-buf cannot be read, and holds the memory");
    need_dmabuf(f);
}

static uint64_t page(void)
{
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

/* The lowest free descriptor: the same before and after if nothing was left open. */
static int next_fd(void)
{
    int fd = dup(STDERR_FILENO);
    if (fd >= 0)
        close(fd);
    return fd;
}

/* Checks a descriptor of a range of this size, and closes it. */
static void check_fd(struct fix *f, int fd, uint64_t size)
{
    CHECK(fd >= 0, "the descriptor is %d", fd);
    CHECK((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0, "other programs would inherit it");
    CHECK_U64((uint64_t)lseek(fd, 0, SEEK_END), size);
    CHECK(!close(fd), "it cannot be closed");
}

/* Checks that the range is exported, whatever is in it. */
static void accepted(struct fix *f, vmm_deviceptr dptr, uint64_t size)
{
    int fd = UNTOUCHED;
    char *state = fix_state(f);
    ACCEPTED(ASK(fd, dptr, size));
    check_fd(f, fd, size);
    char *after = fix_state(f);
    CHECK(state && after && strcmp(state, after) == 0, "the call changed the state");
    free(state);
    free(after);
}

/* The byte of the file there, -1 for none. */
static int byte_of(int fd, uint64_t offset)
{
    unsigned char byte = 0;
    return pread(fd, &byte, 1, (off_t)offset) == 1 ? byte : -1;
}

/* After a refusal for its arguments or for lack of a context: the call wrote nothing and left nothing open. */
#define NOTHING_MADE(fd, free_fd)                                                        \
    do {                                                                                 \
        CHECK((fd) == UNTOUCHED, "the refused call wrote %d through handle", fd);        \
        CHECK(next_fd() == (free_fd), "the refused call left a descriptor open");        \
    } while (0)

/* After any other refusal: the call wrote -1, as measured. Resets fd for the next. */
#define NO_FD_MADE(fd, free_fd)                                                          \
    do {                                                                                 \
        CHECK((fd) == -1, "the refused call left %d in handle", fd);                     \
        CHECK(next_fd() == (free_fd), "the refused call left a descriptor open");        \
        (fd) = UNTOUCHED;                                                                \
    } while (0)

/* ---------------------------------------------------------------------------------------------------------- arguments */

TEST_BREAKS_ON(DMABUF_NULL_HANDLE, dmabuf_without_a_place, DMABUF, TEST_AS_GIVEN, 0)
{
    need_dmabuf(f);
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    int free_fd = next_fd();
    REFUSED(vmm_mem_get_handle_for_address_range(S, NULL, p, f->g, FD, 0), INVALID_VALUE, "handle", 0);
    CHECK(next_fd() == free_fd, "the call left an unknown descriptor open");
}

TEST_BREAKS_ON(DMABUF_SIZE_ZERO, dmabuf_of_nothing, DMABUF, TEST_AS_GIVEN, 0)
{
    need_dmabuf(f);
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    int fd = UNTOUCHED, free_fd = next_fd();
    REFUSED(ASK(fd, p, 0), INVALID_VALUE, "size", 0);
    NOTHING_MADE(fd, free_fd);
}

/* Measured on the driver with 4096 bytes, its host's page size. */
TEST_NEAR_MISS_ON(DMABUF_SIZE_ZERO, dmabuf_of_one_page, DMABUF, TEST_AS_GIVEN, 0)
{
    need_dmabuf(f);
    accepted(f, fix_mapped(f, f->g, RW, NULL), page());
}

TEST_BREAKS_ON(DMABUF_PTR_ZERO, dmabuf_of_address_0, DMABUF, TEST_AS_GIVEN, 0)
{
    need_dmabuf(f);
    int fd = UNTOUCHED, free_fd = next_fd();
    REFUSED(ASK(fd, 0, f->g), INVALID_VALUE, "dptr", 0);
    NOTHING_MADE(fd, free_fd);
}

/* There is no memory either, but that is another mistake, visible in what the call writes. */
TEST_NEAR_MISS_ON(DMABUF_PTR_ZERO, dmabuf_of_the_first_page, DMABUF, TEST_AS_GIVEN, 0)
{
    need_documents(f);
    int fd = UNTOUCHED, free_fd = next_fd();
    REFUSED_BY("VMM-DMABUF-NOT-MAPPED", ASK(fd, page(), page()), INVALID_VALUE, "dptr", page());
    NO_FD_MADE(fd, free_fd);
}

TEST_BREAKS_ON(DMABUF_TYPE, dmabuf_of_another_type, DMABUF, TEST_AS_GIVEN, 0)
{
    need_dmabuf(f);
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    const int types[] = {0, 2, 3, -1, 0x7fffffff, VMM_MEM_HANDLE_TYPE_FABRIC};
    int fd = UNTOUCHED, free_fd = next_fd();
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        REFUSED(vmm_mem_get_handle_for_address_range(S, &fd, p, f->g, types[i], 0), INVALID_VALUE, "handleType",
                (uint64_t)(int64_t)types[i]);
    NOTHING_MADE(fd, free_fd);
}

TEST_NEAR_MISS_ON(DMABUF_TYPE, dmabuf_of_its_type, DMABUF, TEST_AS_GIVEN, 0)
{
    int fd = UNTOUCHED;
    need_dmabuf(f);
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    ACCEPTED(vmm_mem_get_handle_for_address_range(S, &fd, p, f->g, 1, 0));
    check_fd(f, fd, f->g);
}

TEST_BREAKS_ON(DMABUF_FLAGS, dmabuf_with_unknown_flags, DMABUF, TEST_AS_GIVEN, 0)
{
    need_dmabuf(f);
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    const uint64_t flags[] = {2, 4, UINT64_C(1) << 32, UINT64_C(1) << 63};
    int fd = UNTOUCHED, free_fd = next_fd();
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        REFUSED(vmm_mem_get_handle_for_address_range(S, &fd, p, f->g, FD, flags[i]), INVALID_VALUE, "flags", flags[i]);
    NOTHING_MADE(fd, free_fd);
}

TEST_BREAKS_ON(DMABUF_ALIGNMENT, dmabuf_of_parts_of_pages, DMABUF, TEST_AS_GIVEN, 0)
{
    need_dmabuf(f);
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    int fd = UNTOUCHED, free_fd = next_fd();
    REFUSED(ASK(fd, p + 1, page()), INVALID_VALUE, "dptr", p + 1);
    REFUSED(ASK(fd, p + page() / 2, page()), INVALID_VALUE, "dptr", p + page() / 2);
    REFUSED(ASK(fd, p, page() - 1), INVALID_VALUE, "size", page() - 1);
    REFUSED(ASK(fd, p, f->g + page() / 2), INVALID_VALUE, "size", f->g + page() / 2);
    vmm_deviceptr a = fix_alloc(f, 100);
    REFUSED(ASK(fd, a, 100), INVALID_VALUE, "size", 100);
    NOTHING_MADE(fd, free_fd);
}

/* The second page, and the last: the range's ends are not a mapping's ends. */
TEST_NEAR_MISS_ON(DMABUF_ALIGNMENT, dmabuf_of_pages_inside, DMABUF, TEST_AS_GIVEN, 0)
{
    need_dmabuf(f);
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    accepted(f, p + page(), page());
    accepted(f, p + f->g - page(), page());
}

TEST_BREAKS_ON(DMABUF_OVERFLOW, dmabuf_to_the_end_of_all_addresses, DMABUF, TEST_AS_GIVEN, 0)
{
    need_dmabuf(f);
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    int fd = UNTOUCHED, free_fd = next_fd();
    REFUSED(ASK(fd, p, -p), INVALID_VALUE, "size", -p);                      /* to the end */
    REFUSED(ASK(fd, p, 0 - page()), INVALID_VALUE, "size", 0 - page());      /* and around it */
    NOTHING_MADE(fd, free_fd);
}

/* One page less is an ordinary range past its memory. */
TEST_NEAR_MISS_ON(DMABUF_OVERFLOW, dmabuf_almost_to_the_end, DMABUF, TEST_AS_GIVEN, 0)
{
    need_documents(f);
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    int fd = UNTOUCHED, free_fd = next_fd();
    REFUSED_BY("VMM-DMABUF-HOLE", ASK(fd, p, 0 - page() - p), INVALID_VALUE, "size", 0 - page() - p);
    NO_FD_MADE(fd, free_fd);
}

/* ------------------------------------------------------------------------------------------------------- the context */

TEST_EXPECTS_ON("dmabuf.needs_a_context", dmabuf_without_a_context, DMABUF, TEST_AS_GIVEN, 0)
{
    need_dmabuf(f);
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    int fd = UNTOUCHED, free_fd = next_fd();
    fix_need(f, vmm_ctx_set_current(S, NULL));
    REFUSED_BY("VMM-CTX-CURRENT", ASK(fd, p, f->g), INVALID_CONTEXT, NULL, 0);
    REFUSED_BY("VMM-CTX-CURRENT", ASK(fd, p + 8 * f->g, f->g), INVALID_CONTEXT, NULL, 0); /* whatever is there */
    NOTHING_MADE(fd, free_fd);
    fix_need(f, vmm_ctx_set_current(S, f->ctx));
    accepted(f, p, f->g);
}

/* cuvmm's choice: both faults together were not measured. */
TEST_EXPECTS_ON("dmabuf.arguments_before_context", dmabuf_of_nothing_without_a_context, DMABUF, TEST_AS_GIVEN,
                FIX_NO_CONTEXT)
{
    need_documents(f);
    int fd = UNTOUCHED, free_fd = next_fd();
    REFUSED_BY("VMM-DMABUF-SIZE-ZERO", ASK(fd, page(), 0), INVALID_VALUE, "size", 0);
    NOTHING_MADE(fd, free_fd);
}

TEST_EXPECTS_ON("dmabuf.ended_context", dmabuf_in_a_context_that_ended, DMABUF, TEST_AS_GIVEN, 0)
{
    need_documents(f);
    vmm_context ctx = fix_context(f, 0);
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    int fd = UNTOUCHED, free_fd = next_fd();
    fix_context_destroy(f, ctx);
    fix_need(f, vmm_ctx_set_current(S, ctx));
    REFUSED_BY("VMM-CTX-DESTROYED", ASK(fd, p, f->g), CONTEXT_IS_DESTROYED, NULL, (uintptr_t)ctx);
    NOTHING_MADE(fd, free_fd);
    fix_need(f, vmm_ctx_set_current(S, f->ctx));
}

/* -------------------------------------------------------------------------------------------------- what is mapped */

TEST_BREAKS_ON(DMABUF_NOT_MAPPED, dmabuf_of_reserved_addresses, DMABUF, TEST_AS_GIVEN, 0)
{
    need_dmabuf(f);
    vmm_deviceptr p = fix_reserve(f, 4 * f->g);
    int fd = UNTOUCHED, free_fd = next_fd();
    REFUSED_NEAR(ASK(fd, p, 2 * f->g), INVALID_VALUE, "dptr", p, RESERVATION, p);
    NO_FD_MADE(fd, free_fd);
    REFUSED(vmm_mem_get_handle_for_address_range(S, &fd, p, f->g, FD, PCIE), INVALID_VALUE, "dptr", p);
    NO_FD_MADE(fd, free_fd);
}

/* Memory that was unmapped or freed, and memory that never was a device's. */
TEST_BREAKS_ON(DMABUF_NOT_MAPPED, dmabuf_of_what_is_gone, DMABUF, TEST_AS_GIVEN, 0)
{
    need_dmabuf(f);
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL), a = fix_alloc(f, f->g);
    int fd = UNTOUCHED, free_fd = next_fd();
    uint64_t own = (uint64_t)(uintptr_t)&fd / page() * page();
    fix_unmap(f, p, f->g);
    REFUSED(ASK(fd, p, f->g), INVALID_VALUE, "dptr", p);
    NO_FD_MADE(fd, free_fd);
    fix_mem_free(f, a);
    a = a / page() * page();
    REFUSED(ASK(fd, a, page()), INVALID_VALUE, "dptr", a);
    NO_FD_MADE(fd, free_fd);
    if (!f->simulator) /* where this was not measured */
        return;
    REFUSED(ASK(fd, own, page()), INVALID_VALUE, "dptr", own);
    NO_FD_MADE(fd, free_fd);
}

/* Mapped is enough, as measured. */
TEST_NEAR_MISS_ON(DMABUF_NOT_MAPPED, dmabuf_of_mapped_addresses, DMABUF, TEST_AS_GIVEN, 0)
{
    need_dmabuf(f);
    vmm_deviceptr p = fix_reserve(f, 4 * f->g);
    fix_map(f, p, 2 * f->g, fix_create(f, 2 * f->g));
    accepted(f, p, 2 * f->g);
}

TEST_BREAKS_ON(DMABUF_HOLE, dmabuf_over_a_hole, DMABUF, TEST_AS_GIVEN, 0)
{
    need_dmabuf(f);
    vmm_deviceptr p = fix_reserve(f, 4 * f->g);
    fix_map(f, p, f->g, fix_create(f, f->g));
    fix_map(f, p + 2 * f->g, f->g, fix_create(f, f->g));
    int fd = UNTOUCHED, free_fd = next_fd();
    REFUSED(ASK(fd, p, 3 * f->g), INVALID_VALUE, "size", 3 * f->g);                      /* in the middle */
    NO_FD_MADE(fd, free_fd);
    REFUSED(ASK(fd, p + 2 * f->g, f->g + page()), INVALID_VALUE, "size", f->g + page()); /* at the end */
    NO_FD_MADE(fd, free_fd);
    REFUSED(ASK(fd, p, UINT64_C(1) << 46), INVALID_VALUE, "size", UINT64_C(1) << 46);
    NO_FD_MADE(fd, free_fd);
}

TEST_NEAR_MISS_ON(DMABUF_HOLE, dmabuf_up_to_a_hole, DMABUF, TEST_AS_GIVEN, 0)
{
    need_dmabuf(f);
    vmm_deviceptr p = fix_reserve(f, 4 * f->g);
    fix_map(f, p, f->g, fix_create(f, f->g));
    fix_map(f, p + f->g, f->g, fix_create(f, f->g));
    accepted(f, p, 2 * f->g);
}

TEST_BREAKS_ON(DMABUF_MIXED, dmabuf_of_two_kinds, DMABUF "\nattribute.103 = 1\nattribute.110 = 1", TEST_BOTH_MODES, 0)
{
    need_dmabuf(f);
    vmm_deviceptr p = fix_reserve(f, 4 * f->g);
    vmm_mem_allocation_prop exportable = fix_prop(0), rdma = fix_prop(0), usage = fix_prop(0);
    int fd = UNTOUCHED;
    exportable.requested_handle_types = VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    rdma.alloc_flags.gpu_direct_rdma_capable = 1;
    usage.alloc_flags.usage = VMM_MEM_CREATE_USAGE_HW_DECOMPRESS;
    const vmm_mem_allocation_prop *kinds[] = {&exportable, &rdma, &usage};
    fix_map(f, p, f->g, fix_create(f, f->g));
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        fix_map(f, p + f->g, f->g, fix_create_prop(f, f->g, kinds[i]));
        int free_fd = next_fd();
        WARNED(ASK(fd, p, 2 * f->g), INVALID_VALUE, "size", 2 * f->g);
        if (test_refuses(f, NULL))
            NO_FD_MADE(fd, free_fd);
        else
            check_fd(f, fd, 2 * f->g);
        fd = UNTOUCHED;
        fix_unmap(f, p + f->g, f->g);
    }
}

TEST_NEAR_MISS_ON(DMABUF_MIXED, dmabuf_of_each_kind, DMABUF "\nattribute.103 = 1", TEST_AS_GIVEN, 0)
{
    need_dmabuf(f);
    vmm_deviceptr p = fix_reserve(f, 3 * f->g);
    vmm_mem_allocation_prop exportable = fix_prop(0);
    exportable.requested_handle_types = VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    fix_map(f, p, f->g, fix_create(f, f->g));
    fix_map(f, p + f->g, f->g, fix_create_prop(f, f->g, &exportable));
    fix_map(f, p + 2 * f->g, f->g, fix_create_prop(f, f->g, &exportable));
    accepted(f, p, f->g);
    accepted(f, p + f->g, 2 * f->g);
}

TEST_BREAKS_ON(DMABUF_DEVICES, dmabuf_of_two_devices, DMABUF "\ndevices = 2", TEST_AS_GIVEN, 0)
{
    need_documents(f);
    fix_need_devices(f, 2);
    vmm_deviceptr p = fix_reserve(f, 2 * f->g);
    vmm_mem_allocation_prop other = fix_prop(1);
    fix_map(f, p, f->g, fix_create(f, f->g));
    fix_map(f, p + f->g, f->g, fix_create_prop(f, f->g, &other));
    int fd = UNTOUCHED, free_fd = next_fd();
    REFUSED_NEAR(ASK(fd, p, 2 * f->g), INVALID_VALUE, "size", 2 * f->g, MAPPING, p + f->g);
    NO_FD_MADE(fd, free_fd);
}

/* Each kind alone, and more of the other kind. */
TEST_NEAR_MISS_ON(DMABUF_DEVICES, dmabuf_of_each_device, DMABUF "\ndevices = 2", TEST_AS_GIVEN, 0)
{
    need_documents(f);
    fix_need_devices(f, 2);
    vmm_deviceptr p = fix_reserve(f, 3 * f->g);
    vmm_mem_allocation_prop other = fix_prop(1);
    fix_map(f, p, f->g, fix_create(f, f->g));
    fix_map(f, p + f->g, f->g, fix_create_prop(f, f->g, &other));
    fix_map(f, p + 2 * f->g, f->g, fix_create_prop(f, f->g, &other));
    accepted(f, p, f->g);
    accepted(f, p + f->g, 2 * f->g);
}

/* --------------------------------------------------------------------------------------------- what the machine can do */

/* Whatever the rights, and after memory of the device; but the check of the flag comes first. */
static void refused_of_host(struct fix *f, vmm_mem_location_type type)
{
    uint64_t size = fix_host_unit(f);
    vmm_mem_allocation_prop prop = fix_prop_at(type, 0);
    vmm_deviceptr p = fix_reserve(f, 2 * size), host = p + size;
    fix_map(f, p, size, fix_create(f, size));
    fix_map(f, host, size, fix_create_prop(f, size, &prop));
    int fd = UNTOUCHED, free_fd = next_fd();
    REFUSED_NEAR(ASK(fd, host, size), INVALID_VALUE, "dptr", host, MAPPING, host);
    NO_FD_MADE(fd, free_fd);
    REFUSED_NEAR(ASK(fd, p, 2 * size), INVALID_VALUE, "size", 2 * size, MAPPING, host);
    NO_FD_MADE(fd, free_fd);
    fix_access(f, host, size, RW);
    fix_access_at(f, host, size, fix_at(VMM_MEM_LOCATION_TYPE_HOST, 0), RW);
    free_fd = next_fd(); /* the simulator keeps memory with host rights in a file */
    REFUSED(ASK(fd, host, size), INVALID_VALUE, "dptr", host);
    NO_FD_MADE(fd, free_fd);
    if (!f->simulator)
        return;
    REFUSED_BY("VMM-DMABUF-PCIE", vmm_mem_get_handle_for_address_range(S, &fd, host, size, FD, PCIE), NOT_SUPPORTED,
               "flags", PCIE);
    NO_FD_MADE(fd, free_fd);
}

TEST_BREAKS_ON(DMABUF_HOST, dmabuf_of_host_memory, DMABUF, TEST_AS_GIVEN, 0)
{
    need_dmabuf(f);
    fix_need_host(f);
    refused_of_host(f, VMM_MEM_LOCATION_TYPE_HOST);
}

TEST_BREAKS_ON(DMABUF_HOST, dmabuf_of_node_memory, DMABUF, TEST_AS_GIVEN, 0)
{
    need_dmabuf(f);
    fix_need_host(f);
    fix_need_numa(f);
    refused_of_host(f, VMM_MEM_LOCATION_TYPE_HOST_NUMA);
}

TEST_NEAR_MISS_ON(DMABUF_HOST, dmabuf_of_device_memory, DMABUF, TEST_AS_GIVEN, 0)
{
    need_dmabuf(f);
    accepted(f, fix_mapped(f, f->g, RW, NULL), f->g);
}

TEST_BREAKS_ON(DMABUF_COMPRESSED, dmabuf_of_compressible_memory, DMABUF "\nattribute.107 = 1\ncompression.memory = 16MiB",
               TEST_AS_GIVEN, 0)
{
    need_dmabuf(f);
    fix_need_attribute(f, VMM_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED, "needs compressible memory (attribute 107)");
    vmm_mem_allocation_prop prop = fix_prop(0);
    prop.alloc_flags.compression_type = VMM_MEM_ALLOCATION_COMP_GENERIC;
    vmm_deviceptr p = fix_reserve(f, 2 * f->g), dense = p + f->g;
    fix_map(f, p, f->g, fix_create(f, f->g));
    fix_map(f, dense, f->g, fix_create_prop(f, f->g, &prop));
    int fd = UNTOUCHED, free_fd = next_fd();
    REFUSED_NEAR(ASK(fd, dense, f->g), UNKNOWN, "dptr", dense, MAPPING, dense);
    NO_FD_MADE(fd, free_fd);
    REFUSED_NEAR(ASK(fd, p, 2 * f->g), UNKNOWN, "size", 2 * f->g, MAPPING, dense);
    NO_FD_MADE(fd, free_fd);
    if (!f->simulator)
        return;
    REFUSED_BY("VMM-DMABUF-PCIE", vmm_mem_get_handle_for_address_range(S, &fd, dense, f->g, FD, PCIE), NOT_SUPPORTED,
               "flags", PCIE);
    NO_FD_MADE(fd, free_fd);
}

/* Adjacent to it, up to its first byte. */
TEST_NEAR_MISS_ON(DMABUF_COMPRESSED, dmabuf_beside_compressible_memory,
                  DMABUF "\nattribute.107 = 1\ncompression.memory = 16MiB", TEST_AS_GIVEN, 0)
{
    need_dmabuf(f);
    fix_need_attribute(f, VMM_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED, "needs compressible memory (attribute 107)");
    vmm_mem_allocation_prop prop = fix_prop(0);
    prop.alloc_flags.compression_type = VMM_MEM_ALLOCATION_COMP_GENERIC;
    vmm_deviceptr p = fix_reserve(f, 2 * f->g);
    fix_map(f, p, f->g, fix_create(f, f->g));
    fix_map(f, p + f->g, f->g, fix_create_prop(f, f->g, &prop));
    accepted(f, p, f->g);
}

TEST_BREAKS_ON(DMABUF_UNSUPPORTED, dmabuf_where_there_is_none, "attribute.124 = 0", TEST_AS_GIVEN, 0)
{
    fix_need_simulator(f, "not measured on a driver");
    fix_need_no_attribute(f, VMM_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, "needs a machine without DMA-BUF");
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    int fd = UNTOUCHED, free_fd = next_fd();
    REFUSED(ASK(fd, p, f->g), NOT_SUPPORTED, "dptr", p);
    NO_FD_MADE(fd, free_fd);
}

TEST_NEAR_MISS_ON(DMABUF_UNSUPPORTED, dmabuf_where_there_is_one, DMABUF, TEST_AS_GIVEN, 0)
{
    need_dmabuf(f);
    accepted(f, fix_mapped(f, f->g, NONE, NULL), f->g);
}

/* On a driver a platform that supports it makes no mistake. */
TEST_BREAKS_ON(DMABUF_PCIE, dmabuf_over_pcie, DMABUF, TEST_AS_GIVEN, 0)
{
    need_dmabuf(f);
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    int fd = UNTOUCHED, free_fd = next_fd();
    if (!f->simulator && vmm_mem_get_handle_for_address_range(S, &fd, p, f->g, FD, PCIE) == VMM_SUCCESS) {
        close(fd);
        fix_skip(f, "needs a platform without dma-bufs over PCIe");
    }
    REFUSED(vmm_mem_get_handle_for_address_range(S, &fd, p, f->g, FD, PCIE), NOT_SUPPORTED, "flags", PCIE);
    NO_FD_MADE(fd, free_fd);
    REFUSED(vmm_mem_get_handle_for_address_range(S, &fd, p, f->g, FD, PCIE | 2), NOT_SUPPORTED, "flags", PCIE | 2);
    NO_FD_MADE(fd, free_fd);
}

/* First the process may open no more files; then no file may become that long. */
TEST_BREAKS_ON(DMABUF_FILE, dmabuf_without_a_file, DMABUF, TEST_AS_GIVEN, 0)
{
    struct rlimit files, length, none;
    need_documents(f);
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    fix_fill(f, p, 0x42, f->g);
    int fd = UNTOUCHED, free_fd = next_fd();
    getrlimit(RLIMIT_NOFILE, &files);
    getrlimit(RLIMIT_FSIZE, &length);
    none = files;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_NOFILE, &none);
    REFUSED(ASK(fd, p, f->g), OPERATING_SYSTEM, NULL, 0);
    CHECK(ASK(fd, p, f->g) != VMM_SUCCESS && (!f->simulator || strstr(vmm_last_detail()->note, "no descriptor left")), "note: %s",
          vmm_last_detail()->note);
    setrlimit(RLIMIT_NOFILE, &files);
    NO_FD_MADE(fd, free_fd);
    none = length;
    none.rlim_cur = (rlim_t)(f->g - 1);
    setrlimit(RLIMIT_FSIZE, &none);
    REFUSED(ASK(fd, p, f->g), OPERATING_SYSTEM, NULL, 0);
    CHECK(ASK(fd, p, f->g) != VMM_SUCCESS && (!f->simulator || strstr(vmm_last_detail()->note, "allows no file of")), "note: %s",
          vmm_last_detail()->note);
    setrlimit(RLIMIT_FSIZE, &length);
    NO_FD_MADE(fd, free_fd);
    CHECK_U64(fix_peek(f, p), 0x42);
}

/* A file of exactly the allowed length. */
TEST_NEAR_MISS_ON(DMABUF_FILE, dmabuf_with_a_file, DMABUF, TEST_AS_GIVEN, 0)
{
    struct rlimit length, enough;
    need_documents(f);
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    getrlimit(RLIMIT_FSIZE, &length);
    enough = length;
    enough.rlim_cur = (rlim_t)f->g;
    setrlimit(RLIMIT_FSIZE, &enough);
    accepted(f, p, f->g);
    setrlimit(RLIMIT_FSIZE, &length);
}

/* ----------------------------------------------------------------------------------------------------- what is expected */

/* As measured: without access, with access, a part, one page, and across two mappings. */
TEST_EXPECTS_ON("dmabuf.ranges", dmabufs_of_ranges, DMABUF, TEST_AS_GIVEN, 0)
{
    need_dmabuf(f);
    uint64_t size = 2 * f->g;
    vmm_deviceptr p = fix_reserve(f, 4 * size);
    fix_map(f, p, size, fix_create(f, size));
    accepted(f, p, size);
    fix_access(f, p, size, RW);
    accepted(f, p, size);
    accepted(f, p, f->g);
    accepted(f, p, page());
    fix_map(f, p + size, size, fix_create(f, size));
    fix_access(f, p + size, size, RW);
    accepted(f, p, 2 * size);
}

TEST_EXPECTS_ON("dmabuf.no_access_needed", dmabuf_without_access, DMABUF, TEST_AS_GIVEN, 0)
{
    need_dmabuf(f);
    vmm_deviceptr p = fix_reserve(f, f->g);
    fix_map(f, p, f->g, fix_create(f, f->g));
    CHECK_U64(fix_rights(f, p, VMM_MEM_LOCATION_TYPE_DEVICE, 0), NONE);
    accepted(f, p, f->g);
    CHECK_U64(fix_rights(f, p, VMM_MEM_LOCATION_TYPE_DEVICE, 0), NONE);
}

TEST_EXPECTS_ON("dmabuf.new_each_time", dmabufs_of_one_range, DMABUF, TEST_AS_GIVEN, 0)
{
    int first = UNTOUCHED, second = UNTOUCHED;
    need_dmabuf(f);
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    ACCEPTED(ASK(first, p, f->g));
    ACCEPTED(ASK(second, p, f->g));
    CHECK(first != second, "two exports have the same descriptor");
    check_fd(f, first, f->g);
    check_fd(f, second, f->g);
}

/* Memory of cuMemAlloc, which the documentation names first: parts of it, and the page that holds a small
 * allocation. */
TEST_EXPECTS_ON("dmabuf.of_alloc", dmabuf_of_ordinary_memory, DMABUF, TEST_AS_GIVEN, 0)
{
    need_dmabuf(f);
    vmm_deviceptr a = fix_alloc(f, 2 * f->g), small = fix_alloc(f, 100);
    accepted(f, a, 2 * f->g);
    accepted(f, a + page(), page());
    accepted(f, small, page());
}

/* Its span has an end as well, which may lie past the requested size. */
TEST_EXPECTS_ON("dmabuf.beyond_alloc", dmabuf_beyond_ordinary_memory, DMABUF, TEST_AS_GIVEN, 0)
{
    need_dmabuf(f);
    vmm_deviceptr a = fix_alloc(f, 2 * f->g);
    int fd = UNTOUCHED, free_fd = next_fd();
    REFUSED_BY("VMM-DMABUF-HOLE", ASK(fd, a, 4 * f->g), INVALID_VALUE, "size", 4 * f->g);
    NO_FD_MADE(fd, free_fd);
}

/* The bytes of the range, wherever it starts, with zeros where nothing was written. */
TEST_EXPECTS_ON("dmabuf.bytes", dmabuf_holds_the_bytes, DMABUF, TEST_AS_GIVEN, 0)
{
    int fd = UNTOUCHED;
    struct stat is = {0};
    need_copies(f);
    uint64_t size = f->g < UINT64_C(1) << 20 ? 16 * f->g : f->g, from = size - page(), length = size + page();
    vmm_deviceptr p = fix_reserve(f, 2 * size);
    fix_map(f, p, size, fix_create(f, size));
    fix_map(f, p + size, size, fix_create(f, size));
    fix_access(f, p, 2 * size, RW);
    fix_fill(f, p + size - 3, 0x11, 3);
    fix_fill(f, p + size, 0x22, 5);
    fix_fill(f, p + 2 * size - 1, 0x33, 1);
    fix_fill(f, p + size + size / 2, 0x44, 2);
    fix_fill(f, p + size + size / 2 - 2, 0, 1); /* written, and zero as before */
    ACCEPTED(ASK(fd, p + from, length));
    CHECK(byte_of(fd, 0) == 0, "a byte that was not written is %d", byte_of(fd, 0));
    CHECK(byte_of(fd, page() - 4) == 0 && byte_of(fd, page() - 3) == 0x11, "the end of the first mapping");
    CHECK(byte_of(fd, page()) == 0x22 && byte_of(fd, page() + 4) == 0x22 && byte_of(fd, page() + 5) == 0,
          "the start of the second");
    CHECK(byte_of(fd, length - 1) == 0x33 && byte_of(fd, length) == -1, "its last byte is the file's last");
    CHECK(byte_of(fd, page() + size / 2 - 1) == 0 && byte_of(fd, page() + size / 2 + 1) == 0x44, "the middle of it");
    /* At most a page, and the three chunks of 64 KiB that have contents. */
    CHECK(!fstat(fd, &is) && (uint64_t)is.st_blocks * 512 < length &&
              (uint64_t)is.st_blocks * 512 <= page() + 3 * (UINT64_C(1) << 16), "a file of %llu bytes takes %llu",
          (unsigned long long)length, (unsigned long long)is.st_blocks * 512);
    check_fd(f, fd, length);
}

/* cuvmm's choice: a copy, which neither follows the memory nor holds it. */
TEST_EXPECTS_ON("dmabuf.is_a_copy", dmabuf_stays_as_it_was, DMABUF, TEST_AS_GIVEN, 0)
{
    int old = UNTOUCHED, renewed = UNTOUCHED;
    need_copies(f);
    uint64_t before = fix_free_memory(f);
    vmm_mem_generic_allocation_handle handle;
    vmm_deviceptr p = fix_mapped(f, f->g, RW, &handle);
    fix_fill(f, p, 0x11, f->g);
    ACCEPTED(ASK(old, p, f->g));
    fix_fill(f, p, 0x22, f->g);
    CHECK(byte_of(old, 0) == 0x11, "the copy follows the memory");
    CHECK(pwrite(old, "3", 1, 0) == 1, "it cannot be written");
    CHECK_U64(fix_peek(f, p), 0x22);
    ACCEPTED(ASK(renewed, p, f->g));
    CHECK(byte_of(renewed, 0) == 0x22 && byte_of(old, f->g - 1) == 0x11, "each holds the bytes of its own time");
    fix_unmap(f, p, f->g);
    fix_release(f, handle);
    CHECK_FREE(before, 0);
    CHECK(byte_of(old, f->g - 1) == 0x11 && byte_of(renewed, f->g - 1) == 0x22, "the bytes ended with the memory");
    check_fd(f, old, f->g);
    check_fd(f, renewed, f->g);
}

/* New memory at the same addresses: the documentation requires a new descriptor. */
TEST_EXPECTS_ON("dmabuf.renewed_after_remap", dmabuf_of_new_memory, DMABUF, TEST_AS_GIVEN, 0)
{
    int old = UNTOUCHED, renewed = UNTOUCHED;
    need_copies(f);
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    fix_fill(f, p, 0x11, f->g);
    ACCEPTED(ASK(old, p, f->g));
    fix_unmap(f, p, f->g);
    fix_map(f, p, f->g, fix_create(f, f->g));
    ACCEPTED(ASK(renewed, p, f->g));
    CHECK(byte_of(old, 5) == 0x11, "the old one shows the new memory");
    CHECK(byte_of(renewed, 5) == 0, "the new one shows the old memory");
    check_fd(f, old, f->g);
    check_fd(f, renewed, f->g);
}

/* Two mappings side by side, and a buffer over both that is registered with the dma-buf of that range. */
static bool registers(struct fix *f, bool whole)
{
    vmm_detail detail = {.rule = NULL};
    int fd = UNTOUCHED;
    need_dmabuf(f);
    vmm_deviceptr p = fix_reserve(f, 2 * f->g), start = p;
    uint64_t size = 2 * f->g;
    fix_map(f, p, f->g, fix_create(f, f->g));
    fix_map(f, p + f->g, f->g, fix_create(f, f->g));
    fix_access(f, p, 2 * f->g, RW);
    if (!whole)
        ACCEPTED(vmm_mem_get_address_range(S, &start, &size, p + 4096)); /* of the mapping, not of the buffer */
    ACCEPTED(ASK(fd, start, size));
    bool past = registration_past_end(fd, p + 4096 - start, f->g, &detail);
    CHECK(past == (detail.rule && strcmp(detail.rule, "VMM-DMABUF-REGISTRATION") == 0), "the rule is %s", detail.rule ? detail.rule : "none");
    close(fd);
    fix_unmap(f, p, 2 * f->g);
    return !past;
}

TEST_BREAKS_ON(DMABUF_REGISTRATION, registration_of_more_than_one_mapping, DMABUF, TEST_AS_GIVEN, 0)
{
    CHECK(!registers(f, false), "the dma-buf of one mapping has both writes");
}

TEST_NEAR_MISS_ON(DMABUF_REGISTRATION, registration_of_the_buffer, DMABUF, TEST_AS_GIVEN, 0)
{
    CHECK(registers(f, true), "the dma-buf of the buffer does not hold it");
}
