/* SPDX-License-Identifier: Apache-2.0 */
/* Memory pools and their allocations in other processes: what the calls refuse, and how long an importer has the memory. A pool that
 * is imported in the process that exported it is as in any other, so that most tests need one process alone. */
#include <string.h>
#include <unistd.h>

#include "other.h"
#include "test.h"

#define SIZE UINT64_C(4096)
#define FD VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
#define MEMORY_POOLS_SUPPORTED 115

typedef vmm_mem_pool_ptr_export_data pointer_t;

/* A pool, its descriptor, and an import of it. */
struct shared {
    vmm_memory_pool pool, import;
    int fd;
};

static uint64_t value_of(vmm_memory_pool pool)
{
    return (uint64_t)(uintptr_t)pool;
}

static vmm_memory_pool new_pool(struct fix *f)
{
    const vmm_mem_pool_props props = {.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED, .handle_types = FD,
                                      .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    vmm_memory_pool pool = NULL;
    fix_need_attribute(f, MEMORY_POOLS_SUPPORTED, "needs memory pools");
    fix_context(f, 0);
    fix_need(f, vmm_mem_pool_create(S, &pool, &props));
    return pool;
}

static vmm_result import_pool(struct fix *f, vmm_memory_pool *pool, int fd)
{
    return vmm_mem_pool_import_from_shareable_handle(S, pool, (void *)(intptr_t)fd, FD, 0);
}

static struct shared begin(struct fix *f)
{
    struct shared s = {new_pool(f), NULL, -1};
    fix_need(f, vmm_mem_pool_export_to_shareable_handle(S, &s.fd, s.pool, FD, 0));
    fix_need(f, import_pool(f, &s.import, s.fd));
    return s;
}

/* What was freed goes back to the device. */
static void settle(struct fix *f)
{
    fix_need(f, vmm_ctx_synchronize(S));
}

static void end(struct fix *f, const struct shared *s)
{
    settle(f);
    close(s->fd);
    fix_need(f, vmm_mem_pool_destroy(S, s->import));
    fix_need(f, vmm_mem_pool_destroy(S, s->pool));
}

static vmm_deviceptr take(struct fix *f, vmm_memory_pool pool, uint64_t size)
{
    vmm_deviceptr ptr = 0;
    fix_need(f, vmm_mem_alloc_from_pool_async(S, &ptr, size, pool, NULL));
    return ptr;
}

static void drop(struct fix *f, vmm_deviceptr ptr)
{
    fix_need(f, vmm_mem_free_async(S, ptr, NULL));
}

static pointer_t data_of(struct fix *f, vmm_deviceptr ptr)
{
    pointer_t data;
    memset(&data, 0, sizeof data);
    fix_need(f, vmm_mem_pool_export_pointer(S, &data, ptr));
    return data;
}

static vmm_deviceptr import_pointer(struct fix *f, const struct shared *s, const pointer_t *data)
{
    vmm_deviceptr ptr = 0;
    ACCEPTED(vmm_mem_pool_import_pointer(S, &ptr, s->import, data));
    return ptr;
}

static uint64_t byte_at(struct fix *f, vmm_deviceptr ptr)
{
    unsigned char byte = 0;
    ACCEPTED(vmm_memcpy_dtoh(S, &byte, ptr, 1));
    return byte;
}

/* ---- what the calls refuse ---- */

TEST_BREAKS(POOL_EXPORT_KIND, export_pools_of_others)
{
    int fd = -7;
    vmm_memory_pool own = NULL;
    struct shared s = begin(f);
    fix_need(f, vmm_device_get_default_mem_pool(S, &own, 0));
    REFUSED_LIKE(vmm_mem_pool_export_to_shareable_handle(S, &fd, own, FD, 0), NULL, VMM_ERROR_INVALID_VALUE, "pool", value_of(own),
                 VMM_OBJECT_POOL, 0);
    REFUSED_LIKE(vmm_mem_pool_export_to_shareable_handle(S, &fd, s.import, FD, 0), NULL, VMM_ERROR_INVALID_VALUE, "pool",
                 value_of(s.import), VMM_OBJECT_POOL, 0);
    CHECK(fd == -7, "a refused call wrote a descriptor");
    end(f, &s);
}

TEST_NEAR_MISS(POOL_EXPORT_KIND, export_a_pool_twice)
{
    int fd = -7;
    struct shared s = begin(f);
    ACCEPTED(vmm_mem_pool_export_to_shareable_handle(S, &fd, s.pool, FD, 0));
    CHECK(fd != s.fd, "two exports are one descriptor");
    close(fd);
    end(f, &s);
}

/* What the calls have in common with those of memory. */
TEST_EXPECTS("pools.export_arguments", pool_export_arguments)
{
    int fd = -7;
    struct shared s = begin(f);
    const vmm_mem_pool_props plain = {.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    vmm_memory_pool pool = NULL;
    fix_need(f, vmm_mem_pool_create(S, &pool, &plain));
    REFUSED_BY("VMM-POOL-NULL", vmm_mem_pool_export_to_shareable_handle(S, NULL, s.pool, FD, 1), INVALID_VALUE, "handle_out", 0);
    REFUSED_BY("VMM-EXPORT-FLAGS", vmm_mem_pool_export_to_shareable_handle(S, &fd, s.pool, FD, 4), INVALID_VALUE, "flags", 4);
    REFUSED_BY("VMM-EXPORT-TYPE", vmm_mem_pool_export_to_shareable_handle(S, &fd, s.pool, 3, 0), INVALID_VALUE, "handleType", 3);
    REFUSED_BY("VMM-POOL-NULL", vmm_mem_pool_export_to_shareable_handle(S, &fd, NULL, FD, 0), INVALID_VALUE, "pool", 0);
    REFUSED_LIKE(vmm_mem_pool_export_to_shareable_handle(S, &fd, pool, FD, 0), "VMM-EXPORT-NOT-REQUESTED", VMM_ERROR_INVALID_VALUE,
                 "handleType", FD, VMM_OBJECT_POOL, 0);
    CHECK(fd == -7, "a refused call wrote a descriptor");
    fix_need(f, vmm_mem_pool_destroy(S, pool));
    end(f, &s);
}

TEST_EXPECTS("pools.import_arguments", pool_import_arguments)
{
    int ends[2];
    struct shared s = begin(f);
    void *handle = (void *)(intptr_t)s.fd;
    vmm_memory_pool pool = NULL;
    CHECK(!pipe(ends), "no pipe");
    REFUSED_BY("VMM-POOL-NULL", vmm_mem_pool_import_from_shareable_handle(S, NULL, handle, FD, 1), INVALID_VALUE, "pool_out", 0);
    REFUSED_BY("VMM-IMPORT-TYPE", vmm_mem_pool_import_from_shareable_handle(S, &pool, handle, 3, 0), INVALID_VALUE, "handleType", 3);
    REFUSED_BY("VMM-IMPORT-WINDOWS", vmm_mem_pool_import_from_shareable_handle(S, &pool, handle, 2, 0), NOT_SUPPORTED, "handleType", 2);
    REFUSED_BY("VMM-IMPORT-FABRIC-NULL",
               vmm_mem_pool_import_from_shareable_handle(S, &pool, NULL, VMM_MEM_HANDLE_TYPE_FABRIC, 0), INVALID_VALUE, "handle", 0);
    REFUSED_BY("VMM-IMPORT-FOREIGN", import_pool(f, &pool, ends[0]), UNKNOWN, "osHandle", (uint64_t)ends[0]);
    REFUSED_BY("VMM-IMPORT-CLOSED", import_pool(f, &pool, 1 << 20), UNKNOWN, "osHandle", 1 << 20);
    CHECK(!pool, "a refused call wrote a pool");
    close(ends[0]);
    close(ends[1]);
    end(f, &s);
}

TEST_BREAKS(POOL_IMPORT_FLAGS, import_a_pool_with_flags)
{
    struct shared s = begin(f);
    vmm_memory_pool pool = s.pool;
    REFUSED(vmm_mem_pool_import_from_shareable_handle(S, &pool, (void *)(intptr_t)s.fd, FD, 1), INVALID_VALUE, "flags", 1);
    REFUSED(vmm_mem_pool_import_from_shareable_handle(S, &pool, (void *)(intptr_t)-1, 2, UINT64_C(1) << 63), INVALID_VALUE, "flags",
            UINT64_C(1) << 63);
    CHECK(pool == s.pool, "the output was written");
    end(f, &s);
}

/* Imported twice it has to be destroyed twice, and is one pool until then. */
TEST_NEAR_MISS(POOL_IMPORT_FLAGS, import_a_pool_twice)
{
    struct shared s = begin(f);
    vmm_memory_pool again = NULL;
    ACCEPTED(import_pool(f, &again, s.fd));
    vmm_deviceptr a = take(f, s.pool, SIZE);
    const pointer_t data = data_of(f, a);
    vmm_deviceptr b = import_pointer(f, &s, &data), c = 0;
    ACCEPTED(vmm_mem_pool_import_pointer(S, &c, again, &data));
    CHECK(b == c, "one allocation has two addresses in one process");
    drop(f, b);
    drop(f, a);
    ACCEPTED(vmm_mem_pool_destroy(S, again));
    end(f, &s);
}

TEST_BREAKS(IMPORT_KIND, import_one_kind_as_the_other)
{
    fix_need_attribute(f, VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, "needs export (attribute 103)");
    int fd = -1;
    struct shared s = begin(f);
    vmm_memory_pool pool = NULL;
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_mem_allocation_prop prop = fix_prop(0);
    prop.requested_handle_types = FD;
    vmm_mem_generic_allocation_handle memory = fix_create_prop(f, f->g, &prop);
    fix_need(f, vmm_mem_export_to_shareable_handle(S, &fd, memory, FD, 0));
    REFUSED(import_pool(f, &pool, fd), NOT_SUPPORTED, "handle", (uint64_t)fd);
    REFUSED(vmm_mem_import_from_shareable_handle(S, &handle, (void *)(intptr_t)s.fd, FD), NOT_SUPPORTED, "osHandle", (uint64_t)s.fd);
    CHECK(!pool && !handle, "a refused call wrote its output");
    close(fd);
    fix_release(f, memory);
    end(f, &s);
}

/* A descriptor imports the pool also after its end. */
TEST_NEAR_MISS(IMPORT_KIND, import_a_destroyed_pool)
{
    struct shared s = {new_pool(f), NULL, -1};
    fix_need(f, vmm_mem_pool_export_to_shareable_handle(S, &s.fd, s.pool, FD, 0));
    fix_need(f, vmm_mem_pool_destroy(S, s.pool));
    ACCEPTED(import_pool(f, &s.import, s.fd));
    CHECK(s.import != s.pool, "the import is the pool itself");
    close(s.fd);
    fix_need(f, vmm_mem_pool_destroy(S, s.import));
}

TEST_BREAKS(POOL_IMPORTED, use_an_imported_pool_as_ones_own)
{
    struct shared s = begin(f);
    uint64_t value = 7;
    vmm_deviceptr ptr = 0;
    REFUSED_LIKE(vmm_mem_pool_trim_to(S, s.import, 0), NULL, VMM_ERROR_INVALID_VALUE, "pool", value_of(s.import), VMM_OBJECT_POOL, 0);
    REFUSED_LIKE(vmm_mem_pool_get_attribute(S, s.import, VMM_MEMPOOL_ATTR_USED_MEM_CURRENT, &value), NULL, VMM_ERROR_INVALID_VALUE, "pool",
                 value_of(s.import), VMM_OBJECT_POOL, 0);
    REFUSED_LIKE(vmm_mem_pool_set_attribute(S, s.import, VMM_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value), NULL, VMM_ERROR_INVALID_VALUE,
                 "pool", value_of(s.import), VMM_OBJECT_POOL, 0);
    REFUSED_LIKE(vmm_device_set_mem_pool(S, 0, s.import), NULL, VMM_ERROR_INVALID_VALUE, "pool", value_of(s.import), VMM_OBJECT_POOL, 0);
    REFUSED_LIKE(vmm_mem_alloc_from_pool_async(S, &ptr, SIZE, s.import, NULL), NULL, VMM_ERROR_INVALID_VALUE, "pool",
                 value_of(s.import), VMM_OBJECT_POOL, 0);
    CHECK(value == 7 && !ptr, "a refused call wrote its output");
    end(f, &s);
}

TEST_NEAR_MISS(POOL_IMPORTED, rights_of_an_imported_pool)
{
    struct shared s = begin(f);
    int flags = 0;
    const vmm_mem_location at = {VMM_MEM_LOCATION_TYPE_DEVICE, 0};
    const vmm_mem_access_desc desc = {at, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    ACCEPTED(vmm_mem_pool_get_access(S, &flags, s.import, &at));
    CHECK_U64((uint64_t)flags, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
    ACCEPTED(vmm_mem_pool_set_access(S, s.import, &desc, 1));
    end(f, &s);
}

TEST_BREAKS(POOL_DESTROY_IMPORTED, destroy_an_import_in_use)
{
    struct shared s = begin(f);
    vmm_deviceptr a = take(f, s.pool, SIZE);
    const pointer_t data = data_of(f, a);
    vmm_deviceptr b = import_pointer(f, &s, &data);
    REFUSED_LIKE(vmm_mem_pool_destroy(S, s.import), NULL, VMM_ERROR_INVALID_VALUE, "pool", value_of(s.import), VMM_OBJECT_POOL, 0);
    vmm_memory_pool again = NULL;
    fix_need(f, import_pool(f, &again, s.fd));
    REFUSED_LIKE(vmm_mem_pool_destroy(S, again), NULL, VMM_ERROR_INVALID_VALUE, "pool", value_of(again), VMM_OBJECT_POOL, 0);
    drop(f, b);
    ACCEPTED(vmm_mem_pool_destroy(S, again));
    drop(f, a);
    end(f, &s);
}

/* The free need not be done. */
TEST_NEAR_MISS(POOL_DESTROY_IMPORTED, destroy_an_import_after_its_frees)
{
    struct shared s = begin(f);
    vmm_deviceptr a = take(f, s.pool, SIZE);
    const pointer_t data = data_of(f, a);
    drop(f, import_pointer(f, &s, &data));
    ACCEPTED(vmm_mem_pool_destroy(S, s.import));
    drop(f, a);
    settle(f);
    close(s.fd);
    fix_need(f, vmm_mem_pool_destroy(S, s.pool));
}

TEST_BREAKS(POOL_POINTER_UNKNOWN, export_what_is_no_allocation)
{
    pointer_t data;
    struct shared s = begin(f);
    vmm_deviceptr a = take(f, s.pool, SIZE), plain = 0;
    fix_need(f, vmm_mem_alloc(S, &plain, SIZE));
    memset(&data, 0x55, sizeof data);
    REFUSED_LIKE(vmm_mem_pool_export_pointer(S, &data, a + 512), NULL, VMM_ERROR_INVALID_VALUE, "ptr", a + 512, VMM_OBJECT_ALLOCATION, a);
    REFUSED(vmm_mem_pool_export_pointer(S, &data, a + SIZE), INVALID_VALUE, "ptr", a + SIZE);
    REFUSED_LIKE(vmm_mem_pool_export_pointer(S, &data, plain), NULL, VMM_ERROR_INVALID_VALUE, "ptr", plain, VMM_OBJECT_ALLOCATION, plain);
    drop(f, a);
    REFUSED_LIKE(vmm_mem_pool_export_pointer(S, &data, a), NULL, VMM_ERROR_INVALID_VALUE, "ptr", a, VMM_OBJECT_ALLOCATION, a);
    REFUSED_BY("VMM-POOL-NULL", vmm_mem_pool_export_pointer(S, NULL, a), INVALID_VALUE, "shareData_out", 0);
    REFUSED_BY("VMM-POOL-NULL", vmm_mem_pool_export_pointer(S, &data, 0), INVALID_VALUE, "ptr", 0);
    CHECK(data.reserved[0] == 0x55, "a refused call wrote its output");
    fix_need(f, vmm_mem_free(S, plain));
    end(f, &s);
}

TEST_NEAR_MISS(POOL_POINTER_UNKNOWN, export_an_allocation_twice)
{
    struct shared s = begin(f);
    vmm_deviceptr a = take(f, s.pool, SIZE), b = take(f, s.pool, SIZE);
    const pointer_t first = data_of(f, a), second = data_of(f, a), other = data_of(f, b);
    CHECK(!memcmp(&first, &second, sizeof first), "the same allocation has other bytes");
    CHECK(memcmp(&first, &other, sizeof first), "two allocations have the same bytes");
    drop(f, a);
    drop(f, b);
    end(f, &s);
}

TEST_BREAKS(POOL_POINTER_POOL, export_from_a_pool_that_is_not)
{
    pointer_t data;
    struct shared s = begin(f);
    vmm_memory_pool pool = new_pool(f);
    vmm_deviceptr a = take(f, pool, SIZE), b = take(f, s.pool, SIZE);
    const pointer_t other = data_of(f, b);
    vmm_deviceptr c = import_pointer(f, &s, &other);
    REFUSED_LIKE(vmm_mem_pool_export_pointer(S, &data, a), NULL, VMM_ERROR_INVALID_VALUE, "ptr", a, VMM_OBJECT_POOL, 0);
    REFUSED_LIKE(vmm_mem_pool_export_pointer(S, &data, c), NULL, VMM_ERROR_INVALID_VALUE, "ptr", c, VMM_OBJECT_POOL, 0);
    drop(f, a);
    drop(f, c);
    drop(f, b);
    end(f, &s);
    fix_need(f, vmm_mem_pool_destroy(S, pool));
}

TEST_NEAR_MISS(POOL_POINTER_POOL, export_what_is_older_than_the_export)
{
    int fd = -1;
    pointer_t data;
    vmm_memory_pool pool = new_pool(f);
    vmm_deviceptr a = take(f, pool, SIZE);
    fix_need(f, vmm_mem_pool_export_to_shareable_handle(S, &fd, pool, FD, 0));
    close(fd);
    ACCEPTED(vmm_mem_pool_export_pointer(S, &data, a));
    drop(f, a);
    settle(f);
    fix_need(f, vmm_mem_pool_destroy(S, pool));
}

TEST_BREAKS(POOL_IMPORT_POOL, import_into_the_pool_itself)
{
    struct shared s = begin(f);
    vmm_deviceptr a = take(f, s.pool, SIZE), out = 7;
    const pointer_t data = data_of(f, a);
    REFUSED_LIKE(vmm_mem_pool_import_pointer(S, &out, s.pool, &data), NULL, VMM_ERROR_INVALID_VALUE, "pool", value_of(s.pool), VMM_OBJECT_POOL,
                 0);
    CHECK_U64(out, 0);
    REFUSED_BY("VMM-POOL-NULL", vmm_mem_pool_import_pointer(S, NULL, s.import, &data), INVALID_VALUE, "ptr_out", 0);
    out = 7;
    REFUSED_BY("VMM-POOL-NULL", vmm_mem_pool_import_pointer(S, &out, NULL, &data), INVALID_VALUE, "pool", 0);
    REFUSED_BY("VMM-POOL-NULL", vmm_mem_pool_import_pointer(S, &out, s.import, NULL), INVALID_VALUE, "shareData", 0);
    CHECK_U64(out, 7);
    drop(f, a);
    end(f, &s);
}

TEST_NEAR_MISS(POOL_IMPORT_POOL, import_into_the_import)
{
    struct shared s = begin(f);
    vmm_deviceptr a = take(f, s.pool, SIZE);
    const pointer_t data = data_of(f, a);
    ACCEPTED(vmm_memset_d8(S, a, 0x11, SIZE));
    vmm_deviceptr b = import_pointer(f, &s, &data);
    CHECK(a != b, "the import has the addresses of the pool itself");
    CHECK_U64(byte_at(f, b), 0x11);
    ACCEPTED(vmm_memset_d8(S, b, 0x22, SIZE));
    CHECK_U64(byte_at(f, a), 0x22);
    drop(f, b);
    drop(f, a);
    end(f, &s);
}

static void refuse_data(struct fix *f, const struct shared *s, const pointer_t *data)
{
    uint64_t offset;
    vmm_deviceptr ptr = 7;
    memcpy(&offset, data->reserved, sizeof offset);
    REFUSED_LIKE(vmm_mem_pool_import_pointer(S, &ptr, s->import, data), NULL, VMM_ERROR_INVALID_VALUE, "shareData", offset, VMM_OBJECT_POOL, 0);
    CHECK_U64(ptr, 0);
}

TEST_BREAKS(POOL_IMPORT_DATA, import_what_another_pool_has)
{
    struct shared s = begin(f), t = begin(f);
    vmm_deviceptr ptr = take(f, t.pool, SIZE);
    const pointer_t data = data_of(f, ptr);
    refuse_data(f, &s, &data);
    drop(f, ptr);
    end(f, &t);
    end(f, &s);
}

TEST_BREAKS(POOL_IMPORT_DATA, import_what_is_not_there)
{
    fix_need_simulator(f, "the bytes are ours");
    struct shared s = begin(f);
    vmm_deviceptr a = take(f, s.pool, SIZE);
    pointer_t data = data_of(f, a);
    for (size_t i = 0; i < 24; i++) { /* changed */
        data.reserved[i] ^= 0x40;
        refuse_data(f, &s, &data);
        data.reserved[i] ^= 0x40;
    }
    memset(&data, 0, sizeof data);
    refuse_data(f, &s, &data);
    memset(&data, 0xff, sizeof data);
    refuse_data(f, &s, &data);
    data = data_of(f, a); /* its memory goes back to the device */
    drop(f, a);
    settle(f);
    a = take(f, s.pool, SIZE);
    refuse_data(f, &s, &data);
    drop(f, a);
    end(f, &s);
}

/* The exporter's free does not take it away once it is imported, and it may be imported again. */
TEST_NEAR_MISS(POOL_IMPORT_DATA, import_what_was_there)
{
    struct shared s = begin(f);
    vmm_deviceptr a = take(f, s.pool, SIZE);
    const pointer_t data = data_of(f, a);
    ACCEPTED(vmm_memset_d8(S, a, 0x33, SIZE));
    vmm_deviceptr b = import_pointer(f, &s, &data);
    drop(f, a);
    settle(f);
    CHECK(import_pointer(f, &s, &data) == b, "it has another address when it is imported again");
    drop(f, b);
    settle(f);
    CHECK(import_pointer(f, &s, &data) == b, "it has another address after a free");
    CHECK_U64(byte_at(f, b), 0x33);
    drop(f, b);
    end(f, &s);
}

TEST_BREAKS(POOL_IMPORT_TAKEN, import_over_an_earlier_allocation)
{
    fix_need_simulator(f, "what a driver answers was not recorded");
    struct shared s = begin(f);
    vmm_deviceptr a = take(f, s.pool, 2 * SIZE);
    const pointer_t first = data_of(f, a);
    vmm_deviceptr b = import_pointer(f, &s, &first);
    drop(f, a);
    a = take(f, s.pool, SIZE); /* in the same memory */
    pointer_t second = data_of(f, a);
    refuse_data(f, &s, &second);
    drop(f, a);
    settle(f);
    a = take(f, s.pool, SIZE); /* in other memory at the same place */
    second = data_of(f, a);
    refuse_data(f, &s, &second);
    CHECK_U64(byte_at(f, b), 0);
    drop(f, b);
    drop(f, a);
    end(f, &s);
}

/* After the importer's free the same place has the exporter's new memory. */
TEST_NEAR_MISS(POOL_IMPORT_TAKEN, import_after_the_free_of_the_earlier_one)
{
    fix_need_simulator(f, "what a driver answers was not recorded");
    struct shared s = begin(f);
    vmm_deviceptr a = take(f, s.pool, SIZE);
    const pointer_t first = data_of(f, a);
    ACCEPTED(vmm_memset_d8(S, a, 1, SIZE));
    vmm_deviceptr b = import_pointer(f, &s, &first);
    drop(f, b);
    drop(f, a);
    settle(f);
    a = take(f, s.pool, 2 * SIZE);
    ACCEPTED(vmm_memset_d8(S, a, 2, 2 * SIZE));
    const pointer_t second = data_of(f, a);
    CHECK(import_pointer(f, &s, &second) == b, "it lies elsewhere");
    CHECK_U64(byte_at(f, b + SIZE), 2);
    drop(f, b);
    drop(f, a);
    end(f, &s);
}

/* ---- another process ---- */

static uint64_t ask(struct fix *f, struct other *o, enum other_op op, uint64_t first, int fd)
{
    struct other_answer answer = other_ask(o, op, first, 0, fd);
    CHECK(!answer.result, "the other process, step %d: %s %s %s", (int)op,
          answer.result < 0 ? "it is gone" : vmm_result_name((vmm_result)answer.result), answer.rule, answer.note);
    return answer.value;
}

static uint64_t ask_pointer(struct fix *f, struct other *o, const pointer_t *data)
{
    struct other_answer answer = other_ask_fabric(o, OTHER_IMPORT_POINTER, data->reserved);
    CHECK(!answer.result, "the other process imports no pointer: %s %s", answer.rule, answer.note);
    return answer.value;
}

/* The importer has the memory until it destroys its pool, whatever the exporter frees, and both see one memory. */
TEST_EXPECTS("pools.other_process", pool_in_another_process)
{
    f = fix_share(f);
    struct other o = other_start(f); /* before the export: a driver's descriptors are inherited, and each keeps the memory */
    vmm_memory_pool pool = new_pool(f);
    int fd = -1;
    fix_need(f, vmm_mem_pool_export_to_shareable_handle(S, &fd, pool, FD, 0));
    uint64_t import = ask(f, &o, OTHER_IMPORT_POOL, 0, fd), before = fix_free_memory(f), value = 0;
    close(fd);
    vmm_deviceptr a = take(f, pool, SIZE), b = take(f, pool, SIZE);
    ACCEPTED(vmm_memset_d8(S, a, 0x11, SIZE));
    ACCEPTED(vmm_memset_d8(S, b, 0x22, SIZE));
    const pointer_t da = data_of(f, a), db = data_of(f, b);
    uint64_t a_there = ask_pointer(f, &o, &da), b_there = ask_pointer(f, &o, &db), taken = before - fix_free_memory(f);
    CHECK_U64(b_there - a_there, b - a);
    CHECK_U64(ask(f, &o, OTHER_PEEK, a_there + 5, -1), 0x11);
    CHECK_U64(ask(f, &o, OTHER_PEEK, b_there, -1), 0x22);
    fix_need(f, vmm_mem_pool_get_attribute(S, pool, VMM_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &value));
    CHECK_U64(taken, value); /* counted once */
    drop(f, a);
    drop(f, b);
    settle(f);
    fix_need(f, vmm_mem_pool_destroy(S, pool));
    CHECK_U64(before - fix_free_memory(f), taken);
    CHECK_U64(ask(f, &o, OTHER_PEEK, b_there, -1), 0x22);
    ask(f, &o, OTHER_FREE_POINTER, a_there, -1);
    ask(f, &o, OTHER_FREE_POINTER, b_there, -1);
    CHECK_U64(before - fix_free_memory(f), taken);
    ask(f, &o, OTHER_DESTROY_POOL, import, -1);
    CHECK_U64(before, fix_free_memory(f));
    other_end(&o);
}
