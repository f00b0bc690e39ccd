/* SPDX-License-Identifier: Apache-2.0 */
/* Untracked objects with a backend whose results break the rules: calls on them are passed through until they end. */
#include "shadow_rig.h"

static const vmm_mem_access_desc read_write = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, RW};
static unsigned char bytes[64];

static uint64_t held(struct world *w)
{
    return vmm_leaks(w->sys, NULL, NULL);
}

/* ---- the calls that name addresses ---- */

static vmm_result query(vmm_system *sys, enum vmm_call_id id, vmm_deviceptr at)
{
    static uint64_t out[2];
    static vmm_pointer_attribute type = VMM_POINTER_ATTRIBUTE_MEMORY_TYPE;
    void *data = out;
    handle_t handle = 0;
    if (id == VMM_CALL_mem_get_access)
        return vmm_mem_get_access(sys, out, &read_write.location, at);
    if (id == VMM_CALL_mem_retain_allocation_handle)
        return vmm_mem_retain_allocation_handle(sys, &handle, at);
    if (id == VMM_CALL_pointer_get_attribute)
        return vmm_pointer_get_attribute(sys, out, type, at);
    if (id == VMM_CALL_pointer_get_attributes)
        return vmm_pointer_get_attributes(sys, 1, &type, &data, at);
    if (id == VMM_CALL_mem_get_address_range)
        return vmm_mem_get_address_range(sys, &out[0], &out[1], at);
    return vmm_mem_get_handle_for_address_range(sys, out, at, G, 1, 0);
}

static vmm_result copy(vmm_system *sys, enum vmm_call_id id, vmm_deviceptr at)
{
    switch (id) {
    case VMM_CALL_memcpy_htod:
        return vmm_memcpy_htod(sys, at, bytes, 16);
    case VMM_CALL_memcpy_htod_async:
        return vmm_memcpy_htod_async(sys, at, bytes, 16, NULL);
    case VMM_CALL_memcpy_dtoh:
        return vmm_memcpy_dtoh(sys, bytes, at, 16);
    case VMM_CALL_memcpy_dtoh_async:
        return vmm_memcpy_dtoh_async(sys, bytes, at, 16, NULL);
    case VMM_CALL_memcpy_dtod:
        return vmm_memcpy_dtod(sys, at, at + G, 16);
    case VMM_CALL_memcpy_dtod_async:
        return vmm_memcpy_dtod_async(sys, at, at + G, 16, NULL);
    case VMM_CALL_memset_d8:
        return vmm_memset_d8(sys, at, 1, 0);
    case VMM_CALL_memset_d8_async:
        return vmm_memset_d8_async(sys, at, 1, 16, NULL);
    case VMM_CALL_memset_d16:
        return vmm_memset_d16(sys, at, 1, 16);
    case VMM_CALL_memset_d16_async:
        return vmm_memset_d16_async(sys, at, 1, 16, NULL);
    case VMM_CALL_memset_d32:
        return vmm_memset_d32(sys, at, 1, 16);
    case VMM_CALL_memset_d32_async:
        return vmm_memset_d32_async(sys, at, 1, 16, NULL);
    case VMM_CALL_mem_set_access:
        return vmm_mem_set_access(sys, at, 2 * G, &read_write, 1);
    case VMM_CALL_mem_unmap:
        return vmm_mem_unmap(sys, at, 2 * G);
    default:
        return query(sys, id, at);
    }
}

static const enum vmm_call_id namers[] = {
    VMM_CALL_memcpy_htod,
    VMM_CALL_memcpy_htod_async,
    VMM_CALL_memcpy_dtoh,
    VMM_CALL_memcpy_dtoh_async,
    VMM_CALL_memcpy_dtod,
    VMM_CALL_memcpy_dtod_async,
    VMM_CALL_memset_d8_async,
    VMM_CALL_memset_d16,
    VMM_CALL_memset_d16_async,
    VMM_CALL_memset_d32,
    VMM_CALL_memset_d32_async,
    VMM_CALL_mem_set_access,
    VMM_CALL_mem_unmap,
    VMM_CALL_mem_get_access,
    VMM_CALL_mem_retain_allocation_handle,
    VMM_CALL_pointer_get_attribute,
    VMM_CALL_pointer_get_attributes,
    VMM_CALL_mem_get_address_range,
    VMM_CALL_mem_get_handle_for_address_range,
};

/* A refusal of each of them. */
static void refuse_all(struct world *w, vmm_deviceptr at, bool explained)
{
    for (size_t i = 0; i < sizeof namers / sizeof namers[0]; i++) {
        const char *name = vmm_call_name(namers[i]);
        answer(w, namers[i], VMM_ERROR_INVALID_VALUE);
        tap_result(copy(w->sys, namers[i], at), VMM_ERROR_INVALID_VALUE, "%s is refused", name);
        const char *rule = vmm_last_detail()->rule;
        tap_ok(!w->odd->armed && (rule != NULL) == explained, "%s: %s: %s", name, explained ? "explained" : "passed", rule ? rule : "no rule");
    }
}

static void test_each_call(void)
{
    struct world w = opened("", "h100");
    vmm_deviceptr at = 0;
    answer_with(&w, VMM_CALL_mem_address_reserve, UINT64_C(1) << 40, sizeof at);
    vmm_mem_address_reserve(w.sys, &at, 4 * G, 3, 0, 0);
    said("VMM-SHADOW-OPAQUE", "", "a reservation that no rule allows");
    refuse_all(&w, at, false);
    answer(&w, VMM_CALL_memset_d8, VMM_ERROR_INVALID_VALUE);
    tap_result(vmm_memset_d8(w.sys, at + G, 1, 0), VMM_ERROR_INVALID_VALUE, "a fill of nothing there");
    said(NULL, "", "a fill of nothing");
    answer(&w, VMM_CALL_memset_d8, VMM_ERROR_INVALID_VALUE);
    tap_result(vmm_memset_d8(w.sys, at + G, 1, UINT64_MAX), VMM_ERROR_INVALID_VALUE, "a fill past the end of the address space");
    said(NULL, "", "past the end of the address space");
    answer(&w, VMM_CALL_mem_address_free, VMM_SUCCESS);
    tap_result(vmm_mem_address_free(w.sys, at, 4 * G), VMM_SUCCESS, "it is freed");
    refuse_all(&w, at, true);
    vmm_close(w.sys);
}

/* Only the backend checks rights to a pool's memory; rights to ordinary memory are checked by the rules. */
static void test_copies_of_pools(void)
{
    struct world w = opened("", "h100");
    vmm_deviceptr plain = 0, ordered = 0;
    vmm_mem_alloc(w.sys, &plain, 1000);
    vmm_mem_alloc_async(w.sys, &ordered, 1000, NULL);
    answer(&w, VMM_CALL_memcpy_htod, VMM_ERROR_INVALID_VALUE);
    tap_result(vmm_memcpy_htod(w.sys, ordered, bytes, 16), VMM_ERROR_INVALID_VALUE, "a refused copy to a pool's memory");
    said(NULL, "", "a pool's memory");
    answer(&w, VMM_CALL_memcpy_dtod, VMM_ERROR_INVALID_VALUE);
    tap_result(vmm_memcpy_dtod(w.sys, plain, ordered, 16), VMM_ERROR_INVALID_VALUE, "a refused copy from a pool's memory");
    said(NULL, "", "from a pool's memory");
    answer(&w, VMM_CALL_memcpy_htod, VMM_ERROR_INVALID_VALUE);
    tap_result(vmm_memcpy_htod(w.sys, plain, bytes, 16), VMM_ERROR_INVALID_VALUE, "a refused copy to ordinary memory");
    said("VMM-SHADOW-DIFFERS", "the rules say CUDA_SUCCESS", "ordinary memory");
    vmm_close(w.sys);
}

/* ---- results that break the rules ---- */

static void test_created(void)
{
    struct world w = opened("", "h100");
    const vmm_mem_allocation_prop prop = prop_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0);
    const uint64_t before = held(&w);
    handle_t handle = 0;
    answer_next(&w, VMM_CALL_mem_create, 0x1234, sizeof handle, VMM_CALL_mem_get_allocation_properties_from_handle, &prop);
    tap_result(vmm_mem_create(w.sys, &handle, 2 * G, &prop, 1), VMM_SUCCESS, "memory with flags that no rule allows");
    said("VMM-SHADOW-OPAQUE", "the rules say CUDA_ERROR_INVALID_VALUE", "flags that no rule allows");
    tap_u64(held(&w), before + 1, "the shadow has the memory as the backend reports it");
    answer(&w, VMM_CALL_mem_map, VMM_ERROR_NOT_SUPPORTED);
    tap_result(vmm_mem_map(w.sys, w.at + 2 * G, G, 0, handle, 0), VMM_ERROR_NOT_SUPPORTED, "half of it is mapped");
    said("VMM-MAP-SIZE-WHOLE", "", "half of it");
    tap_u64(vmm_last_detail()->nearest.size, 2 * G, "the message has the memory of that size");
    answer(&w, VMM_CALL_mem_release, VMM_SUCCESS);
    vmm_mem_release(w.sys, handle);
    tap_u64(held(&w), before, "its release ends it");
    answer(&w, VMM_CALL_mem_release, VMM_SUCCESS);
    vmm_mem_release(w.sys, handle);
    said("VMM-SHADOW-OPAQUE", "the backend answers CUDA_SUCCESS", "a second release that the backend accepts");
    answer_with(&w, VMM_CALL_mem_create, 0x5678, sizeof handle);
    tap_result(vmm_mem_create(w.sys, &handle, 2 * G, &prop, 1), VMM_SUCCESS, "the same, without properties");
    said("VMM-SHADOW-OPAQUE", "", "without properties");
    answer_with(&w, VMM_CALL_mem_create, 0x5679, sizeof handle);
    tap_result(vmm_mem_create(w.sys, &handle, 0, &prop, 0), VMM_SUCCESS, "memory of no size");
    said("VMM-SHADOW-OPAQUE", "", "memory of no size");
    answer(&w, VMM_CALL_mem_create, VMM_SUCCESS);
    tap_result(vmm_mem_create(w.sys, NULL, 2 * G, &prop, 0), VMM_SUCCESS, "memory without a handle");
    said("VMM-SHADOW-OPAQUE", "", "memory without a handle");
    tap_u64(held(&w), before, "none of them is followed");
    answer(&w, VMM_CALL_mem_map, VMM_SUCCESS);
    vmm_mem_map(w.sys, w.at + 2 * G, G, 0, 0x5678, 0);
    said("VMM-SHADOW-OPAQUE", "an object that the checker does not track", "a mapping of one of them");
    vmm_close(w.sys);
}

static void test_retained(void)
{
    struct world w = opened("", "h100");
    handle_t handle = 0;
    vmm_mem_unmap(w.sys, w.at, 2 * G);
    const uint64_t before = held(&w);
    answer_with(&w, VMM_CALL_mem_retain_allocation_handle, w.handle, sizeof handle);
    tap_result(vmm_mem_retain_allocation_handle(w.sys, &handle, w.at + 3 * G), VMM_SUCCESS, "a handle of what is not mapped");
    said("VMM-SHADOW-OPAQUE", "", "what is not mapped");
    answer_with(&w, VMM_CALL_mem_retain_allocation_handle, w.handle, sizeof handle);
    tap_result(vmm_mem_retain_allocation_handle(w.sys, &handle, w.at + 3 * G), VMM_SUCCESS, "once more");
    said(NULL, "", "its address is not followed now");
    answer(&w, VMM_CALL_mem_retain_allocation_handle, VMM_SUCCESS);
    tap_result(vmm_mem_retain_allocation_handle(w.sys, NULL, w.at + 3 * G), VMM_SUCCESS, "nowhere to store it");
    answer_with(&w, VMM_CALL_mem_retain_allocation_handle, 0x9999, sizeof handle);
    tap_result(vmm_mem_retain_allocation_handle(w.sys, &handle, w.at + 3 * G), VMM_SUCCESS, "a handle that came unseen");
    for (int i = 0; i < 3; i++) {
        tap_u64(held(&w), before, "%d of three references released", i);
        answer(&w, VMM_CALL_mem_release, VMM_SUCCESS);
        vmm_mem_release(w.sys, w.handle);
        said(NULL, "", "a reference");
    }
    tap_u64(held(&w), before - 1, "the third was the last");
    vmm_close(w.sys);
}

static void test_ranges(void)
{
    struct world w = opened("", "h100");
    const uint64_t before = held(&w);
    answer(&w, VMM_CALL_mem_set_access, VMM_SUCCESS);
    tap_result(vmm_mem_set_access(w.sys, w.at + G, 2 * G, &read_write, 1), VMM_SUCCESS, "rights to half of a mapping and to nothing");
    said("VMM-SHADOW-OPAQUE", "", "rights to nothing");
    tap_u64(held(&w), before - 1, "the mapping is given up whole");
    answer(&w, VMM_CALL_memset_d8, VMM_ERROR_INVALID_VALUE);
    vmm_memset_d8(w.sys, w.at, 1, 1);
    said(NULL, "", "its first byte");
    answer(&w, VMM_CALL_mem_unmap, VMM_SUCCESS);
    tap_result(vmm_mem_unmap(w.sys, w.at, 4 * G), VMM_SUCCESS, "all is unmapped");
    answer(&w, VMM_CALL_memset_d8, VMM_ERROR_INVALID_VALUE);
    vmm_memset_d8(w.sys, w.at, 1, 1);
    said("VMM-COPY-NOT-MAPPED", "", "then its first byte");
    vmm_close(w.sys);
    w = opened("", "h100");
    answer(&w, VMM_CALL_mem_unmap, VMM_SUCCESS);
    tap_result(vmm_mem_unmap(w.sys, w.at + G, G), VMM_SUCCESS, "half of a mapping is unmapped");
    said("VMM-SHADOW-OPAQUE", "", "half of a mapping");
    tap_u64(held(&w), before - 1, "the mapping is not followed");
    answer(&w, VMM_CALL_mem_map, VMM_SUCCESS);
    tap_result(vmm_mem_map(w.sys, w.at + 2 * G, 2 * G, 0, w.handle, 0), VMM_SUCCESS, "the range after it can be mapped");
    said(NULL, "", "behind it");
    answer(&w, VMM_CALL_mem_address_free, VMM_SUCCESS);
    tap_result(vmm_mem_address_free(w.sys, w.at, 2 * G), VMM_SUCCESS, "half of the reservation is freed, with its mapping");
    tap_u64(held(&w), before - 2, "the reservation and all that was in it has ended");
    answer(&w, VMM_CALL_mem_set_access, VMM_ERROR_NOT_SUPPORTED);
    tap_result(vmm_mem_set_access(w.sys, w.at, 2 * G, &read_write, 1), VMM_ERROR_NOT_SUPPORTED, "rights that both refuse");
    said("VMM-SHADOW-OPAQUE", "the backend answers CUDA_ERROR_NOT_SUPPORTED", "rights that both refuse");
    vmm_close(w.sys);
    w = opened("", "h100");
    answer(&w, VMM_CALL_mem_address_free, VMM_SUCCESS);
    tap_result(vmm_mem_address_free(w.sys, w.at, 4 * G), VMM_SUCCESS, "a reservation is freed with its mapping");
    said("VMM-SHADOW-OPAQUE", "", "a reservation with its mapping");
    tap_u64(held(&w), before - 2, "both have ended");
    vmm_close(w.sys);
}

/* ---- contexts ---- */

static void call_inner(struct world *w, void *call)
{
    if (vmm_backend_call(w->odd->base.inner, call) != VMM_SUCCESS)
        tap_bail("the backend refuses: %s", vmm_last_detail()->note);
}

/* The backend's current context of the thread, of which the shadow has seen none. */
static void unseen(struct world *w, vmm_context context)
{
    struct vmm_call_ctx_set_current set = {{VMM_CALL_ctx_set_current, 0}, context};
    vmm_ctx_set_current(w->sys, NULL);
    call_inner(w, &set.head);
}

/* Does the simulator know the thread's context, in which the program has no write access? */
static void learnt(struct world *w, bool want, const char *name)
{
    answer(w, VMM_CALL_memset_d8, VMM_ERROR_INVALID_VALUE);
    vmm_memset_d8(w->sys, w->at, 1, 1);
    said(want ? "VMM-COPY-NO-WRITE" : "VMM-SHADOW-DIFFERS", "", name);
}

static void test_contexts_learnt(void)
{
    struct world w = opened("", "h100");
    vmm_context gone = NULL, primary = NULL;
    vmm_mem_set_access(w.sys, w.at, 2 * G, &read_write, 1);
    struct vmm_call_device_primary_ctx_retain retain = {{VMM_CALL_device_primary_ctx_retain, 0}, &primary, 0};
    call_inner(&w, &retain.head);
    vmm_ctx_create(w.sys, &gone, 0, 0);
    vmm_ctx_destroy(w.sys, gone);
    const struct {
        enum vmm_call_id id;
        vmm_result result;
        uint64_t output;
        size_t size;
        const char *name;
    } failing[] = {{VMM_CALL_ctx_get_current, VMM_ERROR_UNKNOWN, 0, 0, "no context is reported"},
                   {VMM_CALL_ctx_get_device, VMM_ERROR_UNKNOWN, 0, 0, "no device is reported"},
                   {VMM_CALL_ctx_get_device, VMM_SUCCESS, 99, sizeof(int), "a missing device"},
                   {VMM_CALL_ctx_get_current, VMM_SUCCESS, (uint64_t)(uintptr_t)gone, sizeof gone, "a destroyed context"}};
    for (size_t i = 0; i < sizeof failing / sizeof failing[0]; i++) {
        unseen(&w, primary);
        answer_with(&w, failing[i].id, failing[i].output, failing[i].size);
        w.odd->result = failing[i].result;
        tap_result(vmm_memset_d8(w.sys, w.at, 1, 1), VMM_SUCCESS, "%s: a fill", failing[i].name);
        said(NULL, "", failing[i].name);
        tap_ok(!w.odd->armed, "%s: the question was put", failing[i].name);
    }
    unseen(&w, primary);
    tap_result(vmm_memset_d8(w.sys, w.at, 1, 1), VMM_SUCCESS, "a fill in the primary context, which came unseen");
    said(NULL, "", "the primary context");
    vmm_mem_set_access(w.sys, w.at, 2 * G, &(vmm_mem_access_desc){read_write.location, VMM_MEM_ACCESS_FLAGS_PROT_READ}, 1);
    learnt(&w, true, "it is followed");
    vmm_close(w.sys);
}

/* Contexts that the backend creates or makes current in violation of the rules. */
static void test_contexts_against_rules(void)
{
    struct world w = opened("", "h100");
    vmm_context context = NULL;
    unseen(&w, w.context);
    answer_with(&w, VMM_CALL_ctx_create, 0x9990, sizeof context);
    tap_result(vmm_ctx_create(w.sys, &context, 0xffff, 0), VMM_SUCCESS, "a context with flags that no rule allows");
    said("VMM-SHADOW-OPAQUE", "", "flags that no rule allows");
    learnt(&w, true, "the thread's context is the backend's");
    unseen(&w, w.context);
    answer_with(&w, VMM_CALL_device_primary_ctx_retain, 0x9990, sizeof context);
    tap_result(vmm_device_primary_ctx_retain(w.sys, &context, 99), VMM_SUCCESS, "the primary context of no device");
    said("VMM-SHADOW-OPAQUE", "", "no device");
    learnt(&w, true, "and again");
    unseen(&w, w.context);
    answer(&w, VMM_CALL_ctx_set_current, VMM_SUCCESS);
    tap_result(vmm_ctx_set_current(w.sys, (vmm_context)(uintptr_t)0x9994), VMM_SUCCESS, "a context that came unseen");
    said(NULL, "", "came unseen");
    learnt(&w, true, "the backend names which one it is");
    vmm_close(w.sys);
}

int main(void)
{
    test_each_call();
    test_copies_of_pools();
    test_created();
    test_retained();
    test_ranges();
    test_contexts_learnt();
    test_contexts_against_rules();
    return tap_done();
}
