/* SPDX-License-Identifier: Apache-2.0 */
/* Managed memory: what is said of it is answered, and what is refused changes nothing. */
#include "test.h"

enum { SIZE = 2 << 20 };

static const vmm_mem_location device = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}, host = {VMM_MEM_LOCATION_TYPE_HOST, 0};

static vmm_deviceptr managed(struct fix *f)
{
    vmm_deviceptr p = 0;
    fix_need_numa(f);
    ACCEPTED(vmm_mem_alloc_managed(S, &p, SIZE, VMM_MEM_ATTACH_GLOBAL));
    return p;
}

static void ended(struct fix *f, vmm_deviceptr p)
{
    ACCEPTED(vmm_mem_free(S, p));
}

static int attribute(struct fix *f, vmm_mem_range_attribute which, vmm_deviceptr p)
{
    int value = -99;
    ACCEPTED(vmm_mem_range_get_attribute(S, &value, sizeof value, which, p, SIZE));
    return value;
}

TEST_BREAKS(MANAGED_FLAGS, managed_memory_of_unknown_flags)
{
    vmm_deviceptr p = 0;
    for (unsigned flags = 0; flags < 10; flags++)
        if (flags != VMM_MEM_ATTACH_GLOBAL && flags != VMM_MEM_ATTACH_HOST)
            REFUSED(vmm_mem_alloc_managed(S, &p, SIZE, flags), INVALID_VALUE, "flags", flags);
}

TEST_NEAR_MISS(MANAGED_FLAGS, managed_memory_of_the_host)
{
    vmm_deviceptr p = managed(f), q = 0;
    ACCEPTED(vmm_mem_alloc_managed(S, &q, SIZE, VMM_MEM_ATTACH_HOST));
    ended(f, q);
    ended(f, p);
}

TEST_BREAKS(MANAGED_MEMORY, managed_memory_beyond_all)
{
    vmm_deviceptr p = 0;
    REFUSED(vmm_mem_alloc_managed(S, &p, UINT64_C(1) << 60, VMM_MEM_ATTACH_GLOBAL), OUT_OF_MEMORY, "bytesize", UINT64_C(1) << 60);
    REFUSED(vmm_mem_alloc_managed(S, &p, UINT64_MAX, VMM_MEM_ATTACH_GLOBAL), OUT_OF_MEMORY, "bytesize", UINT64_MAX);
}

TEST_NEAR_MISS(MANAGED_MEMORY, managed_memory_is_filled_and_copied)
{
    static unsigned char got[SIZE];
    vmm_deviceptr p = managed(f);
    ACCEPTED(vmm_memset_d8(S, p, 0x5a, SIZE));
    ACCEPTED(vmm_memcpy_dtoh(S, got, p, SIZE));
    CHECK_U64(got[0], 0x5a);
    CHECK_U64(got[SIZE - 1], 0x5a);
    ended(f, p);
}

TEST_BREAKS(MANAGED_ADVICE, advise_what_is_not_known)
{
    vmm_deviceptr p = managed(f);
    REFUSED(vmm_mem_advise(S, p, SIZE, 0, device), INVALID_VALUE, "advice", 0);
    REFUSED(vmm_mem_advise(S, p, SIZE, 7, device), INVALID_VALUE, "advice", 7);
    ended(f, p);
}

TEST_NEAR_MISS(MANAGED_ADVICE, advise_and_take_back)
{
    vmm_deviceptr p = managed(f);
    ACCEPTED(vmm_mem_advise(S, p, SIZE, VMM_MEM_ADVISE_SET_READ_MOSTLY, device));
    CHECK_U64((uint64_t)attribute(f, VMM_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p), 1);
    ACCEPTED(vmm_mem_advise(S, p, SIZE / 2, VMM_MEM_ADVISE_UNSET_READ_MOSTLY, device));
    CHECK_U64((uint64_t)attribute(f, VMM_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p), 0);
    ended(f, p);
}

TEST_BREAKS(MANAGED_PREFETCH_FLAGS, prefetch_with_flags)
{
    vmm_deviceptr p = managed(f);
    REFUSED(vmm_mem_prefetch_async(S, p, SIZE, device, 1, NULL), INVALID_VALUE, "flags", 1);
    ended(f, p);
}

TEST_NEAR_MISS(MANAGED_PREFETCH_FLAGS, prefetch_to_the_device)
{
    vmm_deviceptr p = managed(f);
    CHECK_U64((uint64_t)attribute(f, VMM_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p), (uint64_t)VMM_DEVICE_INVALID);
    ACCEPTED(vmm_mem_prefetch_async(S, p, SIZE, device, 0, NULL));
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK_U64((uint64_t)attribute(f, VMM_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p), 0);
    ended(f, p);
}

TEST_BREAKS(MANAGED_LOCATION, advise_nowhere)
{
    const vmm_mem_location nowhere = {VMM_MEM_LOCATION_TYPE_INVALID, 0}, node = {VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0};
    vmm_deviceptr p = managed(f);
    REFUSED(vmm_mem_advise(S, p, SIZE, VMM_MEM_ADVISE_SET_PREFERRED_LOCATION, nowhere), INVALID_VALUE, "location", 0);
    REFUSED(vmm_mem_advise(S, p, SIZE, VMM_MEM_ADVISE_SET_ACCESSED_BY, node), INVALID_VALUE, "location", 0);
    ended(f, p);
}

TEST_NEAR_MISS(MANAGED_LOCATION, advise_each_place)
{
    const vmm_mem_location node = {VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0};
    vmm_deviceptr p = managed(f);
    ACCEPTED(vmm_mem_advise(S, p, SIZE, VMM_MEM_ADVISE_SET_PREFERRED_LOCATION, device));
    CHECK_U64((uint64_t)attribute(f, VMM_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p), 0);
    ACCEPTED(vmm_mem_advise(S, p, SIZE, VMM_MEM_ADVISE_SET_PREFERRED_LOCATION, host));
    CHECK_U64((uint64_t)attribute(f, VMM_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p), (uint64_t)VMM_DEVICE_CPU);
    ACCEPTED(vmm_mem_advise(S, 0, SIZE, VMM_MEM_ADVISE_SET_PREFERRED_LOCATION, node)); /* it changes nothing, whatever the address */
    ended(f, p);
}

TEST_BREAKS(MANAGED_NULL, prefetch_address_0)
{
    REFUSED(vmm_mem_prefetch_async(S, 0, SIZE, device, 0, NULL), INVALID_VALUE, "devPtr", 0);
    REFUSED(vmm_mem_advise(S, 0, SIZE, VMM_MEM_ADVISE_SET_READ_MOSTLY, device), INVALID_VALUE, "devPtr", 0);
}

TEST_NEAR_MISS(MANAGED_NULL, prefetch_the_last_byte)
{
    vmm_deviceptr p = managed(f);
    ACCEPTED(vmm_mem_prefetch_async(S, p + SIZE - 1, 1, device, 0, NULL));
    ended(f, p);
}

TEST_BREAKS(MANAGED_EMPTY, prefetch_nothing)
{
    vmm_deviceptr p = managed(f);
    REFUSED(vmm_mem_prefetch_async(S, p, 0, device, 0, NULL), INVALID_VALUE, "count", 0);
    REFUSED(vmm_mem_advise(S, p, 0, VMM_MEM_ADVISE_SET_READ_MOSTLY, device), INVALID_VALUE, "count", 0);
    ended(f, p);
}

TEST_NEAR_MISS(MANAGED_EMPTY, prefetch_one_byte)
{
    vmm_deviceptr p = managed(f);
    ACCEPTED(vmm_mem_prefetch_async(S, p, 1, device, 0, NULL));
    ended(f, p);
}

TEST_BREAKS(MANAGED_DEVICE, prefetch_to_no_device)
{
    const vmm_mem_location far = {VMM_MEM_LOCATION_TYPE_DEVICE, 99};
    vmm_deviceptr p = managed(f);
    REFUSED(vmm_mem_prefetch_async(S, p, SIZE, far, 0, NULL), INVALID_DEVICE, "location", 99);
    ended(f, p);
}

TEST_NEAR_MISS(MANAGED_DEVICE, prefetch_to_the_host)
{
    vmm_deviceptr p = managed(f);
    ACCEPTED(vmm_mem_prefetch_async(S, p, SIZE, host, 0, NULL));
    CHECK_U64((uint64_t)attribute(f, VMM_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p), (uint64_t)VMM_DEVICE_CPU);
    ended(f, p);
}

TEST_BREAKS(MANAGED_RANGE, prefetch_other_memory)
{
    vmm_deviceptr p = managed(f), q = 0;
    ACCEPTED(vmm_mem_alloc(S, &q, SIZE));
    REFUSED(vmm_mem_prefetch_async(S, q, SIZE, device, 0, NULL), INVALID_VALUE, "devPtr", q);
    REFUSED(vmm_mem_prefetch_async(S, p, SIZE + 1, device, 0, NULL), INVALID_VALUE, "count", SIZE + 1);
    REFUSED(vmm_mem_advise(S, p + 1, SIZE, VMM_MEM_ADVISE_SET_READ_MOSTLY, device), INVALID_VALUE, "count", SIZE);
    ended(f, q);
    ended(f, p);
}

TEST_NEAR_MISS(MANAGED_RANGE, advise_to_the_end)
{
    vmm_deviceptr p = managed(f);
    ACCEPTED(vmm_mem_advise(S, p + SIZE / 2, SIZE / 2, VMM_MEM_ADVISE_SET_READ_MOSTLY, device));
    ended(f, p);
}

TEST_BREAKS(MANAGED_WRAPS, prefetch_past_the_last_address)
{
    vmm_deviceptr p = managed(f);
    WARNED(vmm_mem_prefetch_async(S, p, UINT64_MAX, device, 0, NULL), INVALID_VALUE, "count", UINT64_MAX);
    ended(f, p);
}

TEST_NEAR_MISS(MANAGED_WRAPS, prefetch_all)
{
    vmm_deviceptr p = managed(f);
    ACCEPTED(vmm_mem_prefetch_async(S, p, SIZE, device, 0, NULL));
    ended(f, p);
}

TEST_BREAKS(MANAGED_DATA, range_attribute_to_null)
{
    vmm_deviceptr p = managed(f);
    REFUSED(vmm_mem_range_get_attribute(S, NULL, 4, VMM_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, SIZE), INVALID_VALUE, "data", 0);
    ended(f, p);
}

TEST_BREAKS(MANAGED_ATTRIBUTE, range_attribute_unknown)
{
    int value = 0;
    vmm_deviceptr p = managed(f);
    REFUSED(vmm_mem_range_get_attribute(S, &value, 4, 0, p, SIZE), INVALID_VALUE, "attribute", 0);
    REFUSED(vmm_mem_range_get_attribute(S, &value, 4, 9, p, SIZE), INVALID_VALUE, "attribute", 9);
    ended(f, p);
}

TEST_NEAR_MISS(MANAGED_ATTRIBUTE, range_attributes_known)
{
    vmm_deviceptr p = managed(f);
    for (int which = VMM_MEM_RANGE_ATTRIBUTE_READ_MOSTLY; which <= VMM_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID; which++)
        attribute(f, which, p);
    ended(f, p);
}

TEST_BREAKS(MANAGED_DATA_SIZE, range_attribute_of_another_size)
{
    int value[2] = {0};
    vmm_deviceptr p = managed(f);
    REFUSED(vmm_mem_range_get_attribute(S, value, 8, VMM_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, SIZE), INVALID_VALUE, "dataSize", 8);
    REFUSED(vmm_mem_range_get_attribute(S, value, 6, VMM_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p, SIZE), INVALID_VALUE, "dataSize", 6);
    ended(f, p);
}

TEST_NEAR_MISS(MANAGED_DATA_SIZE, range_attribute_of_several)
{
    int value[2] = {0};
    vmm_deviceptr p = managed(f);
    ACCEPTED(vmm_mem_advise(S, p, SIZE, VMM_MEM_ADVISE_SET_ACCESSED_BY, device));
    ACCEPTED(vmm_mem_range_get_attribute(S, value, 8, VMM_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p, SIZE));
    CHECK_U64((uint64_t)value[0], 0);
    CHECK_U64((uint64_t)value[1], (uint64_t)VMM_DEVICE_INVALID);
    ended(f, p);
}

TEST_BREAKS(MANAGED_ATTACH_FLAGS, attach_by_unknown_flags)
{
    vmm_stream stream = fix_stream(f);
    vmm_deviceptr p = managed(f);
    REFUSED(vmm_stream_attach_mem_async(S, stream, p, 0, 3), INVALID_VALUE, "flags", 3);
    ended(f, p);
}

TEST_NEAR_MISS(MANAGED_ATTACH_FLAGS, attach_in_each_way)
{
    vmm_stream stream = fix_stream(f);
    vmm_deviceptr p = managed(f);
    for (unsigned flags = 1; flags <= 4; flags *= 2)
        ACCEPTED(vmm_stream_attach_mem_async(S, stream, p, 0, flags));
    ACCEPTED(vmm_ctx_synchronize(S));
    ended(f, p);
}

TEST_BREAKS(MANAGED_ATTACH_RANGE, attach_a_part)
{
    vmm_stream stream = fix_stream(f);
    vmm_deviceptr p = managed(f);
    REFUSED(vmm_stream_attach_mem_async(S, stream, p, 4096, VMM_MEM_ATTACH_SINGLE), INVALID_VALUE, "length", 4096);
    ended(f, p);
}

TEST_NEAR_MISS(MANAGED_ATTACH_RANGE, attach_the_whole)
{
    vmm_stream stream = fix_stream(f);
    vmm_deviceptr p = managed(f);
    ACCEPTED(vmm_stream_attach_mem_async(S, stream, p, SIZE, VMM_MEM_ATTACH_SINGLE));
    ACCEPTED(vmm_ctx_synchronize(S));
    ended(f, p);
}

TEST_BREAKS(MANAGED_ATTACH_SINGLE, attach_to_the_default_stream)
{
    vmm_deviceptr p = managed(f);
    REFUSED(vmm_stream_attach_mem_async(S, NULL, p, 0, VMM_MEM_ATTACH_SINGLE), INVALID_VALUE, "hStream", 0);
    ended(f, p);
}

TEST_NEAR_MISS(MANAGED_ATTACH_SINGLE, attach_to_all_by_the_default_stream)
{
    vmm_deviceptr p = managed(f);
    ACCEPTED(vmm_stream_attach_mem_async(S, NULL, p, 0, VMM_MEM_ATTACH_GLOBAL));
    ended(f, p);
}

static vmm_result batch(struct fix *f, vmm_deviceptr p, uint64_t flags, vmm_stream stream)
{
    const uint64_t size = SIZE, first = 0;
    return vmm_mem_prefetch_batch_async(S, &p, &size, 1, &device, &first, 1, flags, stream);
}

TEST_BREAKS(MANAGED_BATCH_STREAM, batch_of_prefetches_on_the_default_stream)
{
    vmm_deviceptr p = managed(f);
    REFUSED(batch(f, p, 0, NULL), INVALID_VALUE, "hStream", 0);
    ended(f, p);
}

TEST_NEAR_MISS(MANAGED_BATCH_STREAM, batch_of_prefetches_on_a_stream)
{
    vmm_stream stream = fix_stream(f);
    vmm_deviceptr p = managed(f);
    ACCEPTED(batch(f, p, 0, stream));
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK_U64((uint64_t)attribute(f, VMM_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p), 0);
    ended(f, p);
}

TEST_BREAKS(MANAGED_BATCH, batch_of_prefetches_with_flags)
{
    const uint64_t size = SIZE, first = 1;
    vmm_stream stream = fix_stream(f);
    vmm_deviceptr p = managed(f);
    REFUSED(batch(f, p, 1, stream), INVALID_VALUE, "flags", 1);
    REFUSED(vmm_mem_discard_batch_async(S, &p, NULL, 1, 0, stream), INVALID_VALUE, "sizes", 0);
    REFUSED(vmm_mem_prefetch_batch_async(S, &p, &size, 1, &device, &first, 1, 0, stream), INVALID_VALUE, "prefetchLocIdxs", 1);
    ended(f, p);
}

TEST_NEAR_MISS(MANAGED_BATCH, batches_of_discards)
{
    const uint64_t size = SIZE, first = 0;
    vmm_stream stream = fix_stream(f);
    vmm_deviceptr p = managed(f);
    ACCEPTED(vmm_mem_discard_batch_async(S, &p, &size, 1, 0, stream));
    ACCEPTED(vmm_mem_discard_and_prefetch_batch_async(S, &p, &size, 1, &device, &first, 1, 0, stream));
    ACCEPTED(vmm_ctx_synchronize(S));
    ended(f, p);
}

TEST_BREAKS(MANAGED_FREE_ASYNC, free_managed_memory_in_order)
{
    vmm_stream stream = fix_stream(f);
    vmm_deviceptr p = managed(f);
    REFUSED(vmm_mem_free_async(S, p, stream), NOT_SUPPORTED, "dptr", p);
    ended(f, p);
}

TEST_NEAR_MISS(MANAGED_FREE_ASYNC, free_managed_memory)
{
    ended(f, managed(f));
}
