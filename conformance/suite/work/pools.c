/* SPDX-License-Identifier: Apache-2.0 */
/* Memory pools and allocations in the order of a stream: what the calls refuse, and what else they let pass. */
#include <stdlib.h>

#include "test.h"
#include "touch.h"

#define SIZE UINT64_C(4096)
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE
#define NO_DEVICE 1000
#define MEMORY_POOLS_SUPPORTED 115 /* a device attribute */

static vmm_mem_pool_props props_of(int device)
{
    return (vmm_mem_pool_props){.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {VMM_MEM_LOCATION_TYPE_DEVICE, device}};
}

static vmm_memory_pool pool_with(struct fix *f, const vmm_mem_pool_props *props)
{
    vmm_memory_pool pool = NULL;
    fix_need_attribute(f, MEMORY_POOLS_SUPPORTED, "needs memory pools");
    fix_need(f, vmm_mem_pool_create(S, &pool, props));
    return pool;
}

static vmm_memory_pool new_pool(struct fix *f)
{
    const vmm_mem_pool_props props = props_of(0);
    return pool_with(f, &props);
}

static uint64_t value_of(vmm_memory_pool pool)
{
    return (uint64_t)(uintptr_t)pool;
}

static uint64_t attribute_of(struct fix *f, vmm_memory_pool pool, vmm_mem_pool_attribute attribute)
{
    uint64_t value = FIX_UNTOUCHED;
    fix_need(f, vmm_mem_pool_get_attribute(S, pool, attribute, &value));
    return value;
}

static vmm_deviceptr take(struct fix *f, vmm_memory_pool pool, uint64_t size, vmm_stream stream)
{
    vmm_deviceptr ptr = 0;
    fix_need(f, vmm_mem_alloc_from_pool_async(S, &ptr, size, pool, stream));
    return ptr;
}

static void done(struct fix *f, vmm_memory_pool pool)
{
    fix_need(f, vmm_mem_pool_destroy(S, pool));
}

/* ---- creating and destroying ---- */

TEST_BREAKS(POOL_NULL, pool_nowhere)
{
    const vmm_mem_pool_props props = props_of(0);
    vmm_memory_pool pool = NULL;
    REFUSED(vmm_mem_pool_create(S, NULL, &props), INVALID_VALUE, "pool", 0);
    REFUSED(vmm_mem_pool_create(S, &pool, NULL), INVALID_VALUE, "poolProps", 0);
    REFUSED(vmm_mem_pool_destroy(S, NULL), INVALID_VALUE, "pool", 0);
    REFUSED(vmm_mem_pool_trim_to(S, NULL, 0), INVALID_VALUE, "pool", 0);
    REFUSED(vmm_device_get_mem_pool(S, NULL, 0), INVALID_VALUE, "pool", 0);
    REFUSED(vmm_device_get_default_mem_pool(S, NULL, 0), INVALID_VALUE, "pool_out", 0);
}

TEST_NEAR_MISS(POOL_NULL, pool_somewhere)
{
    vmm_memory_pool own = NULL, current = NULL, pool = new_pool(f);
    ACCEPTED(vmm_device_get_default_mem_pool(S, &own, 0));
    ACCEPTED(vmm_device_get_mem_pool(S, &current, 0));
    CHECK(own && own == current && own != pool, "the default pool is not the current one, or is %p", (void *)pool);
    ACCEPTED(vmm_mem_pool_destroy(S, pool));
}

TEST_BREAKS(POOL_UNKNOWN, pool_after_its_end)
{
    uint64_t value = 0;
    vmm_memory_pool pool = new_pool(f);
    done(f, pool);
    fix_need_simulator(f, "a driver may have reused the value");
    REFUSED_LIKE(vmm_mem_pool_trim_to(S, pool, 0), NULL, VMM_ERROR_INVALID_VALUE, "pool", value_of(pool), VMM_OBJECT_POOL, 0);
    REFUSED_LIKE(vmm_mem_pool_destroy(S, pool), NULL, VMM_ERROR_INVALID_VALUE, "pool", value_of(pool), VMM_OBJECT_POOL, 0);
    REFUSED_LIKE(vmm_mem_pool_get_attribute(S, pool, VMM_MEMPOOL_ATTR_USED_MEM_CURRENT, &value), NULL, VMM_ERROR_INVALID_VALUE,
                 "pool", value_of(pool), VMM_OBJECT_POOL, 0);
}

TEST_NEAR_MISS(POOL_UNKNOWN, pool_before_its_end)
{
    vmm_memory_pool pool = new_pool(f);
    ACCEPTED(vmm_mem_pool_trim_to(S, pool, 0));
    ACCEPTED(vmm_mem_pool_destroy(S, pool));
}

TEST_WARNS(POOL_ENDED, pool_rights_after_its_end)
{
    int flags = 0;
    vmm_mem_location at = {VMM_MEM_LOCATION_TYPE_DEVICE, 0};
    vmm_memory_pool pool = new_pool(f);
    done(f, pool);
    fix_need_simulator(f, "a driver reads memory that it freed");
    WARNED(vmm_mem_pool_get_access(S, &flags, pool, &at), INVALID_VALUE, "memPool", value_of(pool));
}

TEST_NEAR_MISS(POOL_ENDED, pool_rights_before_its_end)
{
    int flags = 0;
    vmm_mem_location at = {VMM_MEM_LOCATION_TYPE_DEVICE, 0};
    vmm_memory_pool pool = new_pool(f);
    ACCEPTED(vmm_mem_pool_get_access(S, &flags, pool, &at));
    CHECK_U64((uint64_t)flags, RW);
    done(f, pool);
}

static void refuse_props(struct fix *f, vmm_mem_pool_props props, const char *argument, uint64_t value, vmm_result result)
{
    vmm_memory_pool pool = NULL;
    fix_need_attribute(f, MEMORY_POOLS_SUPPORTED, "needs memory pools");
    REFUSED_LIKE(vmm_mem_pool_create(S, &pool, &props), NULL, result, argument, value, VMM_OBJECT_NONE, 0);
    CHECK(!pool, "a refused call returned a pool");
}

static void accept_props(struct fix *f, vmm_mem_pool_props props)
{
    vmm_memory_pool pool = NULL;
    fix_need_attribute(f, MEMORY_POOLS_SUPPORTED, "needs memory pools");
    ACCEPTED(vmm_mem_pool_create(S, &pool, &props));
    if (pool)
        ACCEPTED(vmm_mem_pool_destroy(S, pool));
}

#define BREAKS_PROPS(rule, name, result, argument, value, ...) \
    TEST_BREAKS(rule, name)                                    \
    {                                                          \
        vmm_mem_pool_props props = props_of(0);                \
        __VA_ARGS__;                                           \
        refuse_props(f, props, argument, value, result);       \
    }                                                          \
    TEST_NEAR_MISS(rule, name##_corrected)                     \
    {                                                          \
        accept_props(f, props_of(0));                          \
    }

BREAKS_PROPS(POOL_CREATE_TYPE, pool_of_no_type, VMM_ERROR_INVALID_VALUE, "poolProps.allocType", 0, props.alloc_type = 0)
BREAKS_PROPS(POOL_CREATE_LOCATION, pool_at_no_location, VMM_ERROR_INVALID_VALUE, "poolProps.location.type", 0,
             props.location.type = 0)
BREAKS_PROPS(POOL_CREATE_DEVICE, pool_on_no_device, VMM_ERROR_INVALID_VALUE, "poolProps.location.id", NO_DEVICE,
             props.location.id = NO_DEVICE)
BREAKS_PROPS(POOL_CREATE_HANDLE_TYPES, pool_with_other_handles, VMM_ERROR_INVALID_VALUE, "poolProps.handleTypes", 2,
             props.handle_types = 2)
BREAKS_PROPS(POOL_CREATE_RESERVED, pool_not_cleared, VMM_ERROR_INVALID_VALUE, "poolProps.reserved", 5, props.reserved[5] = 1)
BREAKS_PROPS(POOL_CREATE_MANAGED, pool_of_managed_memory, VMM_ERROR_NOT_SUPPORTED, "poolProps.allocType", 2,
             fix_need_simulator(f, "a driver has them");
             props.alloc_type = VMM_MEM_ALLOCATION_TYPE_MANAGED)
BREAKS_PROPS(POOL_CREATE_MAX_SIZE, pool_of_the_largest_size, VMM_ERROR_OUT_OF_MEMORY, "poolProps.maxSize", UINT64_C(1) << 62,
             props.max_size = UINT64_C(1) << 62)

#define HOST_MEMORY_POOLS_SUPPORTED 144

/* Memory of the host without a node has no handles. */
TEST_BREAKS(POOL_CREATE_HANDLE_TYPES, pool_of_the_host_to_be_shared)
{
    const vmm_mem_allocation_handle_type types[] = {VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, VMM_MEM_HANDLE_TYPE_FABRIC, 16};
    vmm_mem_pool_props props = props_of(0);
    fix_need_attribute(f, HOST_MEMORY_POOLS_SUPPORTED, "needs pools of host memory");
    props.location.type = VMM_MEM_LOCATION_TYPE_HOST;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        props.handle_types = types[i];
        refuse_props(f, props, "poolProps.handleTypes", (uint64_t)types[i], VMM_ERROR_INVALID_VALUE);
    }
}

/* ---- host memory ---- */

static vmm_memory_pool host_pool(struct fix *f, vmm_mem_location_type type)
{
    vmm_mem_pool_props props = props_of(0);
    props.location.type = type;
    fix_need_attribute(f, HOST_MEMORY_POOLS_SUPPORTED, "needs pools of host memory");
    return pool_with(f, &props);
}

static vmm_result grant_to(struct fix *f, vmm_memory_pool pool, vmm_mem_location_type type, int flags)
{
    const vmm_mem_access_desc desc = {{type, 0}, flags};
    return vmm_mem_pool_set_access(S, pool, &desc, 1);
}

TEST_BREAKS(POOL_ACCESS_NOWHERE, host_pool_for_nowhere)
{
    vmm_memory_pool pool = host_pool(f, VMM_MEM_LOCATION_TYPE_HOST);
    REFUSED(grant_to(f, pool, VMM_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, RW), INVALID_VALUE, "map.location.type",
            VMM_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT);
    REFUSED(grant_to(f, pool, VMM_MEM_LOCATION_TYPE_INVALID, 0), INVALID_VALUE, "map.location.type", 0);
    done(f, pool);
}

TEST_NEAR_MISS(POOL_ACCESS_NOWHERE, host_pool_for_a_device)
{
    vmm_memory_pool pool = host_pool(f, VMM_MEM_LOCATION_TYPE_HOST_NUMA);
    ACCEPTED(grant_to(f, pool, VMM_MEM_LOCATION_TYPE_DEVICE, RW));
    ACCEPTED(grant_to(f, pool, VMM_MEM_LOCATION_TYPE_DEVICE, 0));
    done(f, pool);
}

TEST_BREAKS(POOL_ACCESS_HOST, host_pool_without_the_host)
{
    vmm_memory_pool pool = host_pool(f, VMM_MEM_LOCATION_TYPE_HOST);
    REFUSED_LIKE(grant_to(f, pool, VMM_MEM_LOCATION_TYPE_HOST, 0), NULL, VMM_ERROR_NOT_SUPPORTED, "map.flags", value_of(pool), VMM_OBJECT_POOL, 0);
    REFUSED_LIKE(grant_to(f, pool, VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0), NULL, VMM_ERROR_NOT_SUPPORTED, "map.flags", value_of(pool),
                 VMM_OBJECT_POOL, 0);
    done(f, pool);
}

TEST_NEAR_MISS(POOL_ACCESS_HOST, host_pool_with_the_host)
{
    vmm_memory_pool pool = host_pool(f, VMM_MEM_LOCATION_TYPE_HOST);
    ACCEPTED(grant_to(f, pool, VMM_MEM_LOCATION_TYPE_HOST, RW));
    ACCEPTED(grant_to(f, pool, VMM_MEM_LOCATION_TYPE_HOST_NUMA, RW));
    done(f, pool);
}

TEST_BREAKS(POOL_COPY_HOST, host_pool_as_the_device_of_a_copy)
{
    unsigned char byte[2] = {0};
    fix_need_host(f);
    fix_context(f, 0);
    vmm_memory_pool pool = host_pool(f, VMM_MEM_LOCATION_TYPE_HOST);
    vmm_deviceptr ptr = take(f, pool, SIZE, NULL), there = 0;
    fix_need(f, vmm_mem_alloc(S, &there, SIZE));
    for (int given = 0; given < 2; given++) {
        REFUSED_LIKE(vmm_memcpy_dtoh(S, byte, ptr, 2), NULL, VMM_ERROR_INVALID_VALUE, "srcDevice", ptr, VMM_OBJECT_ALLOCATION, 0);
        REFUSED_LIKE(vmm_memcpy_htod(S, ptr, byte, 2), NULL, VMM_ERROR_INVALID_VALUE, "dstDevice", ptr, VMM_OBJECT_ALLOCATION, 0);
        REFUSED_LIKE(vmm_memcpy_dtod(S, ptr, there, 2), NULL, VMM_ERROR_INVALID_VALUE, "dstDevice", ptr, VMM_OBJECT_ALLOCATION, 0);
        REFUSED_LIKE(vmm_memcpy_dtod_async(S, there, ptr, 2, NULL), NULL, VMM_ERROR_INVALID_VALUE, "srcDevice", ptr, VMM_OBJECT_ALLOCATION, 0);
        fix_need(f, grant_to(f, pool, VMM_MEM_LOCATION_TYPE_DEVICE, RW));
    }
    fix_need(f, vmm_mem_free(S, there));
    fix_need(f, vmm_mem_free_async(S, ptr, NULL));
    fix_settle(f);
    done(f, pool);
}

TEST_NEAR_MISS(POOL_COPY_HOST, host_pool_filled_by_the_device)
{
    unsigned char byte[2] = {0};
    fix_need_host(f);
    fix_context(f, 0);
    vmm_memory_pool pool = host_pool(f, VMM_MEM_LOCATION_TYPE_HOST);
    vmm_deviceptr ptr = take(f, pool, SIZE, NULL);
    fix_need(f, grant_to(f, pool, VMM_MEM_LOCATION_TYPE_DEVICE, RW));
    ACCEPTED(vmm_memset_d8(S, ptr, 9, SIZE));
    ACCEPTED(vmm_memcpy_dtoh(S, byte, ptr, 0));
    fix_need(f, vmm_mem_free_async(S, ptr, NULL));
    fix_settle(f);
    done(f, pool);
}

/* The device sees what the program wrote in place, and the other way round, once it has rights. */
TEST_EXPECTS("pools.host_memory_in_place", pool_memory_in_place)
{
    unsigned char byte = 0;
    vmm_deviceptr copy = 0;
    fix_need_host(f);
    fix_context(f, 0);
    vmm_memory_pool pool = host_pool(f, VMM_MEM_LOCATION_TYPE_HOST);
    vmm_deviceptr ptr = take(f, pool, SIZE, NULL);
    volatile unsigned char *here = (void *)(uintptr_t)ptr;
    touch_begin();
    const bool writes = touch_write(ptr, 5);
    touch_end();
    if (!writes && getenv("CUVMM_RUN"))
        fix_skip(f, "a tool leaves the program too few addresses");
    CHECK(writes, "the host cannot write");
    CHECK(vmm_memset_d8(S, ptr, 9, SIZE) == VMM_ERROR_INVALID_VALUE, "the device has rights before it gets any");
    ACCEPTED(grant_to(f, pool, VMM_MEM_LOCATION_TYPE_DEVICE, RW));
    ACCEPTED(vmm_mem_alloc(S, &copy, SIZE));
    ACCEPTED(vmm_memcpy_htod(S, copy, (const void *)(uintptr_t)ptr, SIZE));
    ACCEPTED(vmm_memcpy_dtoh(S, &byte, copy, 1));
    CHECK_U64(byte, 5);
    ACCEPTED(vmm_memset_d8(S, ptr, 9, SIZE));
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK_U64(*here, 9);
    fix_need(f, vmm_memset_d8(S, copy, 7, SIZE));
    ACCEPTED(vmm_memcpy_dtoh(S, (void *)(uintptr_t)ptr, copy, 1));
    CHECK_U64(*here, 7);
    ACCEPTED(vmm_mem_free(S, copy));
    ACCEPTED(vmm_mem_free_async(S, ptr, NULL));
    fix_settle(f);
    done(f, pool);
}

/* A location's current pool: its own until another is set. */
TEST_EXPECTS("pools.of_the_host", current_pool_of_the_host)
{
    const vmm_mem_location at = {VMM_MEM_LOCATION_TYPE_HOST, 0};
    const int pinned = VMM_MEM_ALLOCATION_TYPE_PINNED;
    vmm_memory_pool own = NULL, current = NULL, pool = host_pool(f, VMM_MEM_LOCATION_TYPE_HOST), device = new_pool(f);
    ACCEPTED(vmm_mem_get_default_mem_pool(S, &own, &at, pinned));
    ACCEPTED(vmm_mem_get_mem_pool(S, &current, &at, pinned));
    CHECK(current == own, "the host's own pool is not current before");
    REFUSED_BY("VMM-POOL-SET-ELSEWHERE", vmm_mem_set_mem_pool(S, &at, pinned, device), INVALID_VALUE, "pool", value_of(device));
    ACCEPTED(vmm_mem_set_mem_pool(S, &at, pinned, pool));
    ACCEPTED(vmm_mem_get_mem_pool(S, &current, &at, pinned));
    CHECK(current == pool && own != pool, "the pool is not the host's current one");
    ACCEPTED(vmm_mem_set_mem_pool(S, &at, pinned, own));
    ACCEPTED(vmm_mem_get_mem_pool(S, &current, &at, pinned));
    CHECK(current == own, "the host's own pool is not current again");
    done(f, pool);
    done(f, device);
}

TEST_EXPECTS("pools.of_the_host", end_of_the_host_s_current_pool)
{
    fix_need_simulator(f, "on an H100 another pool than the host's own was current then");
    const vmm_mem_location at = {VMM_MEM_LOCATION_TYPE_HOST, 0};
    const int pinned = VMM_MEM_ALLOCATION_TYPE_PINNED;
    vmm_memory_pool own = NULL, current = NULL, pool = host_pool(f, VMM_MEM_LOCATION_TYPE_HOST);
    ACCEPTED(vmm_mem_get_default_mem_pool(S, &own, &at, pinned));
    ACCEPTED(vmm_mem_set_mem_pool(S, &at, pinned, pool));
    done(f, pool);
    ACCEPTED(vmm_mem_get_mem_pool(S, &current, &at, pinned));
    CHECK(current == own, "the host's own pool is not current again");
}

TEST_BREAKS(POOL_DESTROY_DEFAULT, destroy_the_default_pool)
{
    vmm_memory_pool pool = NULL;
    fix_need(f, vmm_device_get_default_mem_pool(S, &pool, 0));
    REFUSED(vmm_mem_pool_destroy(S, pool), INVALID_VALUE, "pool", value_of(pool));
}

TEST_NEAR_MISS(POOL_DESTROY_DEFAULT, destroy_the_current_pool)
{
    vmm_memory_pool own = NULL, current = NULL, pool = new_pool(f);
    fix_need(f, vmm_device_get_default_mem_pool(S, &own, 0));
    ACCEPTED(vmm_device_set_mem_pool(S, 0, pool));
    ACCEPTED(vmm_mem_pool_destroy(S, pool));
    ACCEPTED(vmm_device_get_mem_pool(S, &current, 0));
    CHECK(current == own, "the default pool is not current again");
}

/* ---- the pools of a device ---- */

TEST_BREAKS(POOL_DEVICE, default_pool_of_no_device)
{
    vmm_memory_pool pool = NULL;
    REFUSED(vmm_device_get_default_mem_pool(S, &pool, NO_DEVICE), INVALID_DEVICE, "dev", NO_DEVICE);
}

TEST_NEAR_MISS(POOL_DEVICE, default_pool_of_a_device)
{
    vmm_memory_pool pool = NULL;
    ACCEPTED(vmm_device_get_default_mem_pool(S, &pool, 0));
}

TEST_BREAKS(POOL_CURRENT_DEVICE, current_pool_of_no_device)
{
    vmm_memory_pool pool = NULL;
    REFUSED(vmm_device_get_mem_pool(S, &pool, NO_DEVICE), INVALID_VALUE, "dev", NO_DEVICE);
}

TEST_NEAR_MISS(POOL_CURRENT_DEVICE, current_pool_of_a_device)
{
    vmm_memory_pool pool = NULL;
    ACCEPTED(vmm_device_get_mem_pool(S, &pool, 0));
}

TEST_BREAKS(POOL_LOCATION_TYPE, pool_of_no_location)
{
    vmm_memory_pool pool = NULL;
    vmm_mem_location at = {5, 0};
    fix_need_simulator(f, "a driver may be older than these calls");
    REFUSED(vmm_mem_get_mem_pool(S, &pool, &at, VMM_MEM_ALLOCATION_TYPE_PINNED), NOT_SUPPORTED, "location.type", 5);
    REFUSED_BY("VMM-POOL-NULL", vmm_mem_set_mem_pool(S, &at, VMM_MEM_ALLOCATION_TYPE_PINNED, NULL), INVALID_VALUE, "pool", 0);
}

TEST_NEAR_MISS(POOL_LOCATION_TYPE, pool_of_a_location)
{
    vmm_memory_pool pool = NULL, same = NULL;
    vmm_mem_location at = {VMM_MEM_LOCATION_TYPE_DEVICE, 0};
    fix_need_simulator(f, "a driver may be older than these calls");
    ACCEPTED(vmm_mem_get_mem_pool(S, &pool, &at, VMM_MEM_ALLOCATION_TYPE_PINNED));
    ACCEPTED(vmm_device_get_mem_pool(S, &same, 0));
    CHECK(pool == same, "two calls name different pools");
}

TEST_BREAKS(POOL_SET_ELSEWHERE, use_a_pool_of_another_device)
{
    fix_need_devices(f, 2);
    vmm_memory_pool pool = new_pool(f);
    REFUSED(vmm_device_set_mem_pool(S, 1, pool), INVALID_VALUE, "pool", value_of(pool));
    done(f, pool);
}

TEST_NEAR_MISS(POOL_SET_ELSEWHERE, use_a_pool_of_the_device)
{
    vmm_memory_pool pool = new_pool(f), current = NULL;
    ACCEPTED(vmm_device_set_mem_pool(S, 0, pool));
    ACCEPTED(vmm_device_get_mem_pool(S, &current, 0));
    CHECK(current == pool, "another pool is current");
    done(f, pool);
}

/* ---- attributes ---- */

TEST_BREAKS(POOL_ATTRIBUTE, pool_attribute_of_no_number)
{
    uint64_t value = 0;
    vmm_memory_pool pool = new_pool(f);
    REFUSED(vmm_mem_pool_get_attribute(S, pool, 99, &value), INVALID_VALUE, "attr", 99);
    done(f, pool);
}

TEST_NEAR_MISS(POOL_ATTRIBUTE, pool_attributes)
{
    vmm_memory_pool pool = new_pool(f);
    for (vmm_mem_pool_attribute i = VMM_MEMPOOL_ATTR_RELEASE_THRESHOLD; i <= VMM_MEMPOOL_ATTR_USED_MEM_HIGH; i++)
        CHECK_U64(attribute_of(f, pool, i), 0);
    done(f, pool);
}

TEST_BREAKS(POOL_ATTRIBUTE_READ_ONLY, set_the_memory_in_use)
{
    uint64_t value = 0;
    vmm_memory_pool pool = new_pool(f);
    REFUSED(vmm_mem_pool_set_attribute(S, pool, VMM_MEMPOOL_ATTR_USED_MEM_CURRENT, &value), INVALID_VALUE, "attr",
            VMM_MEMPOOL_ATTR_USED_MEM_CURRENT);
    done(f, pool);
}

TEST_NEAR_MISS(POOL_ATTRIBUTE_READ_ONLY, set_the_threshold)
{
    uint64_t value = UINT64_MAX;
    vmm_memory_pool pool = new_pool(f);
    ACCEPTED(vmm_mem_pool_set_attribute(S, pool, VMM_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value));
    CHECK_U64(attribute_of(f, pool, VMM_MEMPOOL_ATTR_RELEASE_THRESHOLD), UINT64_MAX);
    done(f, pool);
}

/* 80 MiB of a pool that keeps them, idle, and a piece in use. The caller frees that. */
static vmm_deviceptr keep_idle(struct fix *f, vmm_memory_pool pool, vmm_stream stream)
{
    uint64_t most = UINT64_MAX;
    ACCEPTED(vmm_mem_pool_set_attribute(S, pool, VMM_MEMPOOL_ATTR_RELEASE_THRESHOLD, &most));
    vmm_deviceptr stays = take(f, pool, SIZE, stream), p = take(f, pool, UINT64_C(80) << 20, stream);
    fix_need(f, vmm_mem_free_async(S, p, stream));
    ACCEPTED(vmm_stream_synchronize(S, stream));
    return stays;
}

static void lower(struct fix *f, vmm_memory_pool pool)
{
    uint64_t less = 0;
    ACCEPTED(vmm_mem_pool_set_attribute(S, pool, VMM_MEMPOOL_ATTR_RELEASE_THRESHOLD, &less));
}

static void need_much(struct fix *f)
{
    uint64_t total;
    fix_need(f, vmm_device_total_mem(S, &total, 0));
    if (total < UINT64_C(1) << 28)
        fix_skip(f, "needs a device with 256 MiB");
}

/* Idle memory goes back at the next synchronisation of the context, which has nothing else to see, or of a stream that pools were used on. */
TEST_EXPECTS("pools.of_the_host", lower_the_threshold)
{
    fix_context(f, 0);
    need_much(f);
    vmm_stream stream = fix_stream(f), aside = fix_stream(f);
    for (int of_context = 0; of_context < 2; of_context++) {
        vmm_memory_pool pool = new_pool(f);
        vmm_deviceptr stays = keep_idle(f, pool, stream);
        const uint64_t before = attribute_of(f, pool, VMM_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
        lower(f, pool);
        ACCEPTED(vmm_stream_synchronize(S, aside));
        CHECK_U64(attribute_of(f, pool, VMM_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), before);
        ACCEPTED(of_context ? vmm_ctx_synchronize(S) : vmm_stream_synchronize(S, stream));
        CHECK(attribute_of(f, pool, VMM_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) < before, "the idle memory is still there");
        fix_need(f, vmm_mem_free_async(S, stays, stream));
        ACCEPTED(vmm_stream_synchronize(S, stream));
        done(f, pool);
    }
    fix_stream_destroy(f, stream);
    fix_stream_destroy(f, aside);
}

static void nothing(void *user)
{
    (void)user;
}

/* What a graph has before the node of an event. */
enum before { ALONE, WORK, NO_WORK, CHILD, CHILD_OF_NO_WORK, CHILD_OF_WORK, TWICE_NO_WORK, NO_WORK_AND_WORK, BEFORE };

/* Is the event's node the first with work? */
static bool is_first(enum before before)
{
    return before != WORK && before != CHILD_OF_WORK && before != NO_WORK_AND_WORK;
}

static void child_in(struct fix *f, vmm_graph graph, enum before before)
{
    const vmm_host_node_params host = {nothing, NULL};
    vmm_graph inside = NULL;
    vmm_graph_node node = NULL;
    ACCEPTED(vmm_graph_create(S, &inside, 0));
    if (before == CHILD_OF_NO_WORK)
        ACCEPTED(vmm_graph_add_empty_node(S, &node, inside, NULL, 0));
    if (before == CHILD_OF_WORK)
        ACCEPTED(vmm_graph_add_host_node(S, &node, inside, NULL, 0, &host));
    ACCEPTED(vmm_graph_add_child_graph_node(S, &node, graph, NULL, 0, inside));
    ACCEPTED(vmm_graph_destroy(S, inside));
}

/* A graph that waits for the event, or records it. */
static vmm_graph graph_of_event(struct fix *f, vmm_event event, enum before before, bool records)
{
    vmm_graph graph = NULL;
    vmm_graph_node node = NULL, on[2] = {NULL, NULL};
    const vmm_host_node_params host = {nothing, NULL};
    size_t count = 0;
    ACCEPTED(vmm_graph_create(S, &graph, 0));
    if (before == WORK)
        ACCEPTED(vmm_graph_add_host_node(S, &node, graph, NULL, 0, &host));
    if (before >= CHILD && before <= CHILD_OF_WORK)
        child_in(f, graph, before);
    if (before == NO_WORK || before == TWICE_NO_WORK || before == NO_WORK_AND_WORK)
        ACCEPTED(vmm_graph_add_empty_node(S, &on[0], graph, NULL, 0));
    if (before == TWICE_NO_WORK)
        ACCEPTED(vmm_graph_add_empty_node(S, &on[1], graph, NULL, 0));
    if (before == NO_WORK_AND_WORK)
        ACCEPTED(vmm_graph_add_host_node(S, &node, graph, on, 1, &host));
    count = before == TWICE_NO_WORK ? 2 : before == NO_WORK_AND_WORK ? 1 : 0;
    ACCEPTED(records ? vmm_graph_add_event_record_node(S, &node, graph, on, count, event)
                     : vmm_graph_add_event_wait_node(S, &node, graph, on, count, event));
    return graph;
}

/* What a pool has left when a call has waited for the second stream, which waits for an event after a free in the first one's order. A
 * graph does one of both: it records the event, or waits for it. */
static void see_a_free(struct fix *f, enum before before, bool records)
{
    vmm_stream one = fix_stream(f), two = fix_stream(f);
    vmm_event freed = fix_event(f);
    vmm_memory_pool pool = new_pool(f);
    vmm_graph graph = graph_of_event(f, freed, before, records);
    vmm_graph_exec exec = NULL;
    fix_need(f, vmm_mem_free_async(S, take(f, pool, SIZE, one), one));
    const uint64_t all = attribute_of(f, pool, VMM_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
    ACCEPTED(vmm_graph_instantiate(S, &exec, graph, 0));
    ACCEPTED(records ? vmm_graph_launch(S, exec, one) : vmm_event_record(S, freed, one));
    ACCEPTED(records ? vmm_stream_wait_event(S, two, freed, 0) : vmm_graph_launch(S, exec, two));
    ACCEPTED(vmm_stream_synchronize(S, two));
    CHECK_U64(attribute_of(f, pool, VMM_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), is_first(before) ? 0 : all);
    ACCEPTED(vmm_stream_synchronize(S, one));
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    ACCEPTED(vmm_graph_destroy(S, graph));
    done(f, pool);
    fix_stream_destroy(f, one);
    fix_stream_destroy(f, two);
}

/* Pools see the waits and records among a launch's first nodes, one after the other, which are the stream's own; not those beside them.
 * Nodes that have nothing to do do not count. */
TEST_EXPECTS("pools.see_the_stream_s_own_nodes", launch_a_wait_for_a_free)
{
    need_much(f);
    for (enum before before = ALONE; before < BEFORE; before++)
        see_a_free(f, before, false);
}

TEST_EXPECTS("pools.see_the_stream_s_own_nodes", wait_for_a_launched_record)
{
    need_much(f);
    for (enum before before = ALONE; before < BEFORE; before++)
        see_a_free(f, before, true);
}

/* ---- pools of two devices ---- */

/* A wait trims the pools of the device for which it gave memory back, and all those whose threshold was lowered. */
TEST_EXPECTS_ON("pools.trimmed_by_device", waits_of_another_device, "devices = 2\npeers = all", TEST_AS_GIVEN, 0)
{
    fix_need_link(f, true);
    need_much(f);
    vmm_context there = fix_context(f, 1), here = fix_context(f, 0);
    vmm_stream stream = fix_stream(f);
    const vmm_mem_pool_props theirs = props_of(1);
    vmm_memory_pool ours = new_pool(f), pool = pool_with(f, &theirs);
    fix_need(f, vmm_ctx_set_current(S, there));
    vmm_stream other = fix_stream(f);
    vmm_deviceptr stays = keep_idle(f, pool, other);
    const uint64_t before = attribute_of(f, pool, VMM_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
    fix_need(f, vmm_ctx_set_current(S, here));
    fix_need(f, vmm_mem_free_async(S, take(f, ours, SIZE, stream), stream));
    ACCEPTED(vmm_stream_synchronize(S, stream));
    CHECK_U64(attribute_of(f, ours, VMM_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0);
    CHECK_U64(attribute_of(f, pool, VMM_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), before);
    lower(f, pool);
    ACCEPTED(vmm_ctx_synchronize(S)); /* of whatever device */
    CHECK(attribute_of(f, pool, VMM_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) < before, "the idle memory is still there");
    fix_need(f, vmm_mem_free_async(S, stays, stream));
    ACCEPTED(vmm_stream_synchronize(S, stream));
    done(f, pool);
    done(f, ours);
}

/* A synchronisation of a context sees what its streams wait for, also of other devices' streams. */
TEST_EXPECTS_ON("pools.waited_for_by_context", wait_for_frees_of_another_device, "devices = 2\npeers = all", TEST_AS_GIVEN, 0)
{
    fix_need_link(f, true);
    vmm_context there = fix_context(f, 1);
    vmm_stream other = fix_stream(f);
    vmm_event freed = fix_event(f);
    vmm_context here = fix_context(f, 0);
    vmm_stream stream = fix_stream(f);
    vmm_memory_pool pool = new_pool(f);
    vmm_deviceptr p = take(f, pool, SIZE, stream);
    ACCEPTED(vmm_stream_synchronize(S, stream));
    fix_need(f, vmm_mem_free_async(S, p, other));
    fix_need(f, vmm_ctx_set_current(S, there));
    ACCEPTED(vmm_event_record(S, freed, other));
    fix_need(f, vmm_ctx_set_current(S, here));
    const uint64_t before = attribute_of(f, pool, VMM_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK_U64(attribute_of(f, pool, VMM_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), before);
    ACCEPTED(vmm_stream_wait_event(S, stream, freed, 0));
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK_U64(attribute_of(f, pool, VMM_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0);
    done(f, pool);
}

TEST_BREAKS(POOL_ATTRIBUTE_HIGH, set_the_high_mark)
{
    uint64_t value = 1;
    vmm_memory_pool pool = new_pool(f);
    REFUSED(vmm_mem_pool_set_attribute(S, pool, VMM_MEMPOOL_ATTR_USED_MEM_HIGH, &value), INVALID_VALUE, "value", 1);
    done(f, pool);
}

TEST_NEAR_MISS(POOL_ATTRIBUTE_HIGH, reset_the_high_mark)
{
    uint64_t value = 0;
    fix_context(f, 0);
    vmm_memory_pool pool = new_pool(f);
    vmm_deviceptr a = take(f, pool, SIZE, NULL), b = take(f, pool, SIZE, NULL);
    fix_need(f, vmm_mem_free_async(S, b, NULL));
    CHECK_U64(attribute_of(f, pool, VMM_MEMPOOL_ATTR_USED_MEM_HIGH), 2 * SIZE);
    ACCEPTED(vmm_mem_pool_set_attribute(S, pool, VMM_MEMPOOL_ATTR_USED_MEM_HIGH, &value));
    CHECK_U64(attribute_of(f, pool, VMM_MEMPOOL_ATTR_USED_MEM_HIGH), SIZE);
    fix_need(f, vmm_mem_free_async(S, a, NULL));
    done(f, pool);
}

/* ---- rights ---- */

static void grant(struct fix *f, vmm_mem_access_desc desc, const char *argument, uint64_t value, vmm_result result)
{
    vmm_memory_pool pool = new_pool(f);
    REFUSED_LIKE(vmm_mem_pool_set_access(S, pool, &desc, 1), NULL, result, argument, value, VMM_OBJECT_NONE, 0);
    done(f, pool);
}

static void grant_own(struct fix *f)
{
    const vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, RW};
    vmm_memory_pool pool = new_pool(f);
    ACCEPTED(vmm_mem_pool_set_access(S, pool, &desc, 1));
    done(f, pool);
}

#define BREAKS_GRANT(rule, name, result, argument, value, ...) \
    TEST_BREAKS(rule, name)                                    \
    {                                                          \
        grant(f, (vmm_mem_access_desc)__VA_ARGS__, argument, value, result); \
    }                                                          \
    TEST_NEAR_MISS(rule, name##_corrected)                     \
    {                                                          \
        grant_own(f);                                          \
    }

BREAKS_GRANT(POOL_ACCESS_LOCATION, pool_rights_of_the_host, VMM_ERROR_NOT_SUPPORTED, "map.location.type",
             VMM_MEM_LOCATION_TYPE_HOST, {{VMM_MEM_LOCATION_TYPE_HOST, 0}, RW})
BREAKS_GRANT(POOL_ACCESS_DEVICE, pool_rights_of_no_device, VMM_ERROR_INVALID_DEVICE, "map.location.id", NO_DEVICE,
             {{VMM_MEM_LOCATION_TYPE_DEVICE, NO_DEVICE}, RW})

TEST_BREAKS(POOL_ACCESS_FLAGS, pool_rights_to_write_only)
{
    grant(f, (vmm_mem_access_desc){{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, 2}, "map.flags", 2, VMM_ERROR_INVALID_VALUE);
}

TEST_NEAR_MISS(POOL_ACCESS_FLAGS, pool_rights_to_read_and_write)
{
    grant_own(f);
}

BREAKS_GRANT(POOL_ACCESS_READ, pool_rights_to_read_only, VMM_ERROR_NOT_SUPPORTED, "map.flags", 1,
             {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READ})

/* A list is looked at three times: for READ and for other places, for other flags, and for what the pool cannot give. */
TEST_BREAKS(POOL_ACCESS_READ, pool_rights_of_which_several_are_wrong)
{
    const vmm_mem_access_desc none = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, 0}, flags = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, 7},
                              device = {{VMM_MEM_LOCATION_TYPE_DEVICE, NO_DEVICE}, RW}, read = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, 1};
    const vmm_mem_access_desc late[] = {none, flags, read}, early[] = {flags, device, read}, own[] = {none, flags};
    vmm_memory_pool pool = new_pool(f);
    REFUSED(vmm_mem_pool_set_access(S, pool, late, 3), NOT_SUPPORTED, "map.flags", 1);
    REFUSED_BY("VMM-POOL-ACCESS-DEVICE", vmm_mem_pool_set_access(S, pool, early, 3), INVALID_DEVICE, "map.location.id", NO_DEVICE);
    REFUSED_BY("VMM-POOL-ACCESS-FLAGS", vmm_mem_pool_set_access(S, pool, own, 2), INVALID_VALUE, "map.flags", 7);
    done(f, pool);
}

TEST_BREAKS(POOL_ACCESS_OWN, no_rights_for_the_own_device)
{
    const vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, VMM_MEM_ACCESS_FLAGS_PROT_NONE};
    vmm_memory_pool pool = new_pool(f);
    REFUSED(vmm_mem_pool_set_access(S, pool, &desc, 1), INVALID_DEVICE, "map.flags", value_of(pool));
    done(f, pool);
}

TEST_NEAR_MISS(POOL_ACCESS_OWN, all_rights_for_the_own_device)
{
    grant_own(f);
}

TEST_BREAKS(POOL_ACCESS_PEER, pool_rights_of_a_device_out_of_reach)
{
    const vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, 1}, RW};
    fix_need_devices(f, 2);
    fix_need_link(f, false);
    vmm_memory_pool pool = new_pool(f);
    REFUSED(vmm_mem_pool_set_access(S, pool, &desc, 1), INVALID_DEVICE, "map.location.id", value_of(pool));
    done(f, pool);
}

TEST_NEAR_MISS(POOL_ACCESS_PEER, pool_rights_of_a_peer)
{
    const vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, 1}, RW};
    fix_need_devices(f, 2);
    fix_need_link(f, true);
    vmm_memory_pool pool = new_pool(f);
    ACCEPTED(vmm_mem_pool_set_access(S, pool, &desc, 1));
    done(f, pool);
}

TEST_BREAKS(POOL_GET_ACCESS_LOCATION, rights_of_no_device)
{
    int flags = 0;
    vmm_mem_location at = {VMM_MEM_LOCATION_TYPE_DEVICE, NO_DEVICE};
    vmm_memory_pool pool = new_pool(f);
    REFUSED(vmm_mem_pool_get_access(S, &flags, pool, &at), INVALID_VALUE, "location", NO_DEVICE);
    done(f, pool);
}

TEST_NEAR_MISS(POOL_GET_ACCESS_LOCATION, rights_of_the_host)
{
    int flags = 7;
    vmm_mem_location at = {VMM_MEM_LOCATION_TYPE_HOST, 0};
    vmm_memory_pool pool = new_pool(f);
    ACCEPTED(vmm_mem_pool_get_access(S, &flags, pool, &at));
    CHECK_U64((uint64_t)flags, VMM_MEM_ACCESS_FLAGS_PROT_NONE);
    done(f, pool);
}

/* ---- allocating ---- */

TEST_BREAKS(POOL_ALLOC_NULL, allocate_async_without_place_for_the_address)
{
    fix_context(f, 0);
    REFUSED(vmm_mem_alloc_async(S, NULL, SIZE, NULL), INVALID_VALUE, "dptr", 0);
}

TEST_NEAR_MISS(POOL_ALLOC_NULL, allocate_async)
{
    vmm_deviceptr ptr = 0;
    fix_context(f, 0);
    vmm_stream stream = fix_stream(f);
    ACCEPTED(vmm_mem_alloc_async(S, &ptr, SIZE, stream));
    ACCEPTED(vmm_memset_d8_async(S, ptr, 7, SIZE, stream));
    ACCEPTED(vmm_mem_free_async(S, ptr, stream));
    ACCEPTED(vmm_stream_synchronize(S, stream));
}

TEST_WARNS(POOL_ALLOC_SIZE_ZERO, allocate_nothing_async)
{
    vmm_deviceptr ptr = FIX_UNTOUCHED;
    fix_context(f, 0);
    WARNED(vmm_mem_alloc_async(S, &ptr, 0, NULL), INVALID_VALUE, "bytesize", 0);
    CHECK_U64(ptr, 0); /* as measured */
}

TEST_NEAR_MISS(POOL_ALLOC_SIZE_ZERO, allocate_one_byte_async)
{
    vmm_deviceptr ptr = 0;
    fix_context(f, 0);
    ACCEPTED(vmm_mem_alloc_async(S, &ptr, 1, NULL));
    ACCEPTED(vmm_mem_free_async(S, ptr, NULL));
    ACCEPTED(vmm_mem_free_async(S, 0, NULL));
}

static vmm_memory_pool small_pool(struct fix *f)
{
    vmm_mem_pool_props props = props_of(0);
    props.max_size = UINT64_C(32) << 20;
    return pool_with(f, &props);
}

TEST_BREAKS(POOL_ALLOC_MAX_SIZE, allocate_more_than_a_pool_may_have)
{
    uint64_t size = UINT64_C(48) << 20;
    vmm_deviceptr ptr = FIX_UNTOUCHED;
    fix_context(f, 0);
    vmm_memory_pool pool = small_pool(f);
    REFUSED_NEAR(vmm_mem_alloc_from_pool_async(S, &ptr, size, pool, NULL), OUT_OF_MEMORY, "bytesize", size, POOL, 0);
    CHECK_U64(ptr, 0); /* as measured */
    done(f, pool);
}

TEST_NEAR_MISS(POOL_ALLOC_MAX_SIZE, allocate_what_a_pool_may_have)
{
    vmm_deviceptr ptr = 0;
    fix_context(f, 0);
    vmm_memory_pool pool = small_pool(f);
    ACCEPTED(vmm_mem_alloc_from_pool_async(S, &ptr, UINT64_C(32) << 20, pool, NULL));
    ACCEPTED(vmm_mem_free_async(S, ptr, NULL));
    done(f, pool);
}

TEST_BREAKS(POOL_ALLOC_MEMORY, allocate_more_than_the_device_has)
{
    uint64_t total = 0;
    vmm_deviceptr ptr = FIX_UNTOUCHED;
    fix_context(f, 0);
    fix_need(f, vmm_device_total_mem(S, &total, 0));
    REFUSED_NEAR(vmm_mem_alloc_async(S, &ptr, 4 * total, NULL), OUT_OF_MEMORY, "bytesize", 4 * total, POOL, 0);
    CHECK_U64(ptr, 0); /* as measured */
}

TEST_NEAR_MISS(POOL_ALLOC_MEMORY, allocate_what_the_device_has)
{
    vmm_deviceptr ptr = 0;
    fix_context(f, 0);
    ACCEPTED(vmm_mem_alloc_async(S, &ptr, fix_free_memory(f) / 4, NULL));
    ACCEPTED(vmm_mem_free_async(S, ptr, NULL));
    fix_settle(f);
}

/* ---- freeing ---- */

TEST_BREAKS(POOL_FREE_ORDINARY, free_ordinary_memory_in_order)
{
    fix_need_simulator(f, "a driver hangs later");
    fix_context(f, 0);
    vmm_deviceptr ptr = fix_alloc(f, f->g);
    REFUSED(vmm_mem_free_async(S, ptr, NULL), INVALID_VALUE, "dptr", ptr);
}

TEST_NEAR_MISS(POOL_FREE_ORDINARY, free_memory_of_a_pool_out_of_order)
{
    vmm_deviceptr ptr = 0;
    fix_context(f, 0);
    fix_need(f, vmm_mem_alloc_async(S, &ptr, SIZE, NULL));
    fix_settle(f);
    ACCEPTED(vmm_mem_free(S, ptr));
}

TEST_BREAKS(POOL_FREE_UNKNOWN, free_twice_in_order)
{
    fix_context(f, 0);
    vmm_memory_pool pool = new_pool(f);
    vmm_deviceptr ptr = take(f, pool, SIZE, NULL);
    REFUSED(vmm_mem_free_async(S, ptr + 512, NULL), INVALID_VALUE, "dptr", ptr + 512);
    fix_need(f, vmm_mem_free_async(S, ptr, NULL));
    REFUSED(vmm_mem_free_async(S, ptr, NULL), INVALID_VALUE, "dptr", ptr);
    done(f, pool);
}

/* A stream that freed memory gets it back, at once. */
TEST_NEAR_MISS(POOL_FREE_UNKNOWN, free_and_allocate_in_order)
{
    fix_context(f, 0);
    vmm_stream stream = fix_stream(f);
    vmm_memory_pool pool = new_pool(f);
    vmm_deviceptr first = take(f, pool, SIZE, stream);
    ACCEPTED(vmm_mem_free_async(S, first, stream));
    CHECK_U64(take(f, pool, SIZE, stream), first);
    ACCEPTED(vmm_mem_free_async(S, first, stream));
    done(f, pool);
}

/* ---- what the order of streams does not allow ---- */

static vmm_result fill(struct fix *f, vmm_deviceptr ptr, vmm_stream stream)
{
    return vmm_memset_d8_async(S, ptr, 7, 64, stream);
}

static void order(struct fix *f, vmm_stream first, vmm_stream second)
{
    vmm_event event = fix_event(f);
    fix_need(f, vmm_event_record(S, event, first));
    fix_need(f, vmm_stream_wait_event(S, second, event, 0));
}

/* Each way to use a pool's memory in the order of a stream; the name of the argument that holds its address. */
enum use { FILLED, COPIED_IN, COPIED_OUT, COPIED_TO, COPIED_FROM, LAUNCHED, USES };
static const char *const use_argument[USES] = {"dstDevice", "dstDevice", "srcDevice", "dstDevice", "srcDevice", "args"};

static vmm_result use(struct fix *f, enum use how, vmm_deviceptr ptr, vmm_deviceptr other, vmm_stream stream)
{
    static unsigned char bytes[64];
    switch (how) {
    case FILLED: return fill(f, ptr, stream);
    case COPIED_IN: return vmm_memcpy_htod_async(S, ptr, bytes, sizeof bytes, stream);
    case COPIED_OUT: return vmm_memcpy_dtoh_async(S, bytes, ptr, sizeof bytes, stream);
    case COPIED_TO: return vmm_memcpy_dtod_async(S, ptr, other, sizeof bytes, stream);
    case COPIED_FROM: return vmm_memcpy_dtod_async(S, other, ptr, sizeof bytes, stream);
    default: return vmm_launch(S, VMM_KERNEL_FILL, 1, 32, (const uint64_t[]){ptr, sizeof bytes, 7}, 3, stream);
    }
}

static void use_on_another_stream(struct fix *f, bool ordered)
{
    fix_context(f, 0);
    vmm_stream here = fix_stream(f), there = fix_stream(f);
    vmm_memory_pool pool = new_pool(f);
    vmm_deviceptr other = 0;
    fix_need(f, vmm_mem_alloc(S, &other, SIZE));
    for (enum use how = 0; how < USES; how++) {
        vmm_deviceptr ptr = take(f, pool, SIZE, here);
        if (ordered)
            order(f, here, there);
        if (ordered)
            ACCEPTED(use(f, how, ptr, other, there));
        else
            WARNED(use(f, how, ptr, other, there), INVALID_VALUE, use_argument[how], ptr);
        order(f, there, here);
        fix_need(f, vmm_mem_free_async(S, ptr, here));
        fix_settle(f);
    }
    fix_need(f, vmm_mem_free(S, other));
    done(f, pool);
}

TEST_BREAKS(POOL_USE_UNORDERED, use_on_a_stream_that_does_not_wait)
{
    use_on_another_stream(f, false);
}

TEST_NEAR_MISS(POOL_USE_UNORDERED, use_on_a_stream_that_waits)
{
    use_on_another_stream(f, true);
}

TEST_BREAKS(POOL_USE_FREED, use_after_the_free)
{
    fix_context(f, 0);
    vmm_memory_pool pool = new_pool(f);
    vmm_deviceptr ptr = take(f, pool, SIZE, NULL);
    fix_need(f, vmm_mem_free_async(S, ptr, NULL));
    WARNED(use(f, LAUNCHED, ptr, 0, NULL), INVALID_VALUE, "args", ptr);
    fix_settle(f);
    done(f, pool);
}

TEST_NEAR_MISS(POOL_USE_FREED, use_before_the_free)
{
    fix_context(f, 0);
    vmm_memory_pool pool = new_pool(f);
    vmm_deviceptr ptr = take(f, pool, SIZE, NULL);
    ACCEPTED(use(f, LAUNCHED, ptr, 0, NULL));
    ACCEPTED(vmm_mem_free_async(S, ptr, NULL));
    fix_settle(f);
    done(f, pool);
}

static void free_on_another_stream(struct fix *f, bool ordered)
{
    fix_context(f, 0);
    vmm_stream here = fix_stream(f), there = fix_stream(f);
    vmm_memory_pool pool = new_pool(f);
    vmm_deviceptr ptr = take(f, pool, SIZE, here);
    order(f, here, there);
    fix_need(f, fill(f, ptr, there));
    if (ordered)
        order(f, there, here);
    if (ordered)
        ACCEPTED(vmm_mem_free_async(S, ptr, here));
    else
        WARNED(vmm_mem_free_async(S, ptr, here), INVALID_VALUE, "dptr", ptr);
    fix_settle(f);
    done(f, pool);
}

TEST_BREAKS(POOL_FREE_IN_FLIGHT, free_before_the_use_on_another_stream)
{
    free_on_another_stream(f, false);
}

TEST_NEAR_MISS(POOL_FREE_IN_FLIGHT, free_after_the_use_on_another_stream)
{
    free_on_another_stream(f, true);
}
