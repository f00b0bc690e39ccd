/* SPDX-License-Identifier: Apache-2.0 */
/* The shadow over a backend with results that no simulator gives: the results that it accepts, those that are
 * differences, and the objects that it stops tracking. */
#include <pthread.h>

#include "fabric_handle.h"
#include "shadow_rig.h"

/* ---- state that the shadow cannot know ---- */

static void test_taken_as_it_is(void)
{
    static const vmm_result results[] = {VMM_ERROR_OUT_OF_MEMORY, VMM_ERROR_NOT_PERMITTED, VMM_ERROR_NOT_INITIALIZED,
                                         VMM_ERROR_INVALID_HANDLE, VMM_ERROR_ILLEGAL_ADDRESS, VMM_ERROR_LAUNCH_FAILED,
                                         VMM_ERROR_STREAM_CAPTURE_UNSUPPORTED, VMM_ERROR_STREAM_CAPTURE_IMPLICIT,
                                         VMM_ERROR_STREAM_CAPTURE_WRONG_THREAD};
    struct world w = opened("", "h100");
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
        vmm_deviceptr at = 77;
        answer(&w, VMM_CALL_mem_address_reserve, results[i]);
        tap_result(vmm_mem_address_reserve(w.sys, &at, G, 0, 0, 0), results[i], "the backend answers %s",
                   vmm_result_name(results[i]));
        said(NULL, "", vmm_result_name(results[i]));
    }
    follows(&w, true, "after answers that only the backend can know");
    vmm_close(w.sys);
}

/* The driver shuts down before its program ends. From then on its results say nothing about the program, even if they
 * break the rules. */
static void test_driver_ends(void)
{
    static const enum vmm_call_id calls[] = {VMM_CALL_device_primary_ctx_release, VMM_CALL_mem_unmap};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        struct world w = opened("", "h100");
        const char *name = vmm_call_name(calls[i]);
        unsigned seen = 0;
        answer(&w, calls[i], VMM_ERROR_DEINITIALIZED);
        tap_result(i ? vmm_mem_unmap(w.sys, w.at, 2 * G) : vmm_device_primary_ctx_release(w.sys, 0), VMM_ERROR_DEINITIALIZED,
                   "%s: the driver answers DEINITIALIZED", name);
        said(NULL, "", name);
        answer(&w, VMM_CALL_mem_map, VMM_SUCCESS);
        tap_result(vmm_mem_map(w.sys, w.at, 2 * G, 0, w.handle, 0), VMM_SUCCESS, "%s: a later answer", name);
        said(NULL, "", "a later answer is not compared");
        vmm_mem_release(w.sys, w.handle);
        answer(&w, VMM_CALL_mem_map, VMM_ERROR_DEINITIALIZED);
        vmm_mem_map(w.sys, w.at + 2 * G, 2 * G, 0, w.handle, 0);
        tap_ok(!w.odd->armed && !w.odd->foretold, "%s: no refusal is predicted either", name);
        tap_ok(vmm_visit(w.sys, count, &seen) == VMM_SUCCESS && seen > 0 && vmm_leaks(w.sys, NULL, NULL) > 0,
               "%s: the leaks at the driver's end are still known", name);
        vmm_close(w.sys);
    }
}

/* Memory that exit handlers free after the driver's shutdown is not a leak. */
static void test_late_ends(void)
{
    struct world w = opened("", "h100");
    vmm_deviceptr memory = 0;
    vmm_mem_alloc(w.sys, &memory, 1000);
    answer(&w, VMM_CALL_mem_free, VMM_ERROR_DEINITIALIZED);
    vmm_mem_free(w.sys, memory);
    answer(&w, VMM_CALL_mem_free, VMM_ERROR_DEINITIALIZED);
    tap_result(vmm_mem_free(w.sys, memory), VMM_ERROR_DEINITIALIZED, "memory is freed twice, of an ended driver");
    said(NULL, "", "an ended driver");
    answer(&w, VMM_CALL_mem_unmap, VMM_ERROR_DEINITIALIZED);
    vmm_mem_unmap(w.sys, w.at, 2 * G);
    answer(&w, VMM_CALL_mem_release, VMM_ERROR_DEINITIALIZED);
    vmm_mem_release(w.sys, w.handle);
    answer(&w, VMM_CALL_mem_address_free, VMM_ERROR_DEINITIALIZED);
    vmm_mem_address_free(w.sys, w.at, 4 * G);
    answer(&w, VMM_CALL_ctx_destroy, VMM_ERROR_DEINITIALIZED);
    tap_result(vmm_ctx_destroy(w.sys, w.context), VMM_ERROR_DEINITIALIZED, "all else is freed");
    said(NULL, "", "freed");
    tap_u64(vmm_leaks(w.sys, NULL, NULL), 0, "nothing is left");
    vmm_close(w.sys);
}

/* The driver shuts down before its machine is known, or the shadow does not know the freed object: neither has an effect. */
static void test_late_unknown(void)
{
    struct world w = unopened("", "h100");
    answer(&w, VMM_CALL_mem_release, VMM_ERROR_DEINITIALIZED);
    tap_result(vmm_mem_release(w.sys, 0x1234), VMM_ERROR_DEINITIALIZED, "a driver that ended before cuInit");
    tap_u64(vmm_leaks(w.sys, NULL, NULL), 0, "holds nothing");
    vmm_close(w.sys);
    w = unopened("", "h100");
    answer(&w, VMM_CALL_driver_get_version, VMM_ERROR_UNKNOWN);
    vmm_init(w.sys, 0);
    answer(&w, VMM_CALL_mem_release, VMM_ERROR_DEINITIALIZED);
    tap_result(vmm_mem_release(w.sys, 0x1234), VMM_ERROR_DEINITIALIZED, "a driver without a shadow ends");
    said(NULL, "", "without a shadow");
    vmm_close(w.sys);
    w = opened("", "h100");
    uint64_t held = vmm_leaks(w.sys, NULL, NULL);
    answer(&w, VMM_CALL_mem_release, VMM_ERROR_DEINITIALIZED);
    vmm_mem_release(w.sys, 0x1234);
    said(NULL, "", "a handle that came unseen");
    tap_u64(vmm_leaks(w.sys, NULL, NULL), held, "its end changes nothing");
    vmm_close(w.sys);
}

/* The shadow does not track multicast objects: a mapping of one affects only its own range. */
static void test_multicast(void)
{
    const vmm_multicast_object_prop prop = {.num_devices = 2, .size = 2 * G};
    struct world w = opened("", "h200x2");
    handle_t object = 0;
    tap_result(vmm_multicast_create(w.sys, &object, &prop), VMM_SUCCESS, "an object");
    said(NULL, "", "an object");
    answer(&w, VMM_CALL_mem_map, VMM_SUCCESS);
    tap_result(vmm_mem_map(w.sys, w.at + 2 * G, 2 * G, 0, object, 0), VMM_SUCCESS, "a mapping of a multicast object");
    said("VMM-SHADOW-OPAQUE", "does not track, such as a multicast object", "a mapping of a multicast object");
    follows(&w, true, "beside a multicast object");
    const vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, RW};
    vmm_deviceptr far = w.at + 2 * G;
    answer(&w, VMM_CALL_mem_set_access, VMM_SUCCESS);
    tap_result(vmm_mem_set_access(w.sys, far, 2 * G, &desc, 1), VMM_SUCCESS, "rights to it");
    said(NULL, "", "rights to it");
    answer(&w, VMM_CALL_memset_d8, VMM_SUCCESS);
    tap_result(vmm_memset_d8(w.sys, far, 1, G), VMM_SUCCESS, "a fill of it");
    said(NULL, "", "a fill of it");
    answer(&w, VMM_CALL_mem_address_free, VMM_ERROR_INVALID_VALUE);
    tap_result(vmm_mem_address_free(w.sys, w.at, 4 * G), VMM_ERROR_INVALID_VALUE, "its addresses cannot be freed yet");
    answer(&w, VMM_CALL_mem_unmap, VMM_SUCCESS);
    tap_result(vmm_mem_unmap(w.sys, far, 2 * G), VMM_SUCCESS, "it is unmapped");
    said(NULL, "", "it is unmapped");
    answer(&w, VMM_CALL_memset_d8, VMM_ERROR_INVALID_VALUE);
    tap_result(vmm_memset_d8(w.sys, far, 1, G), VMM_ERROR_INVALID_VALUE, "then its addresses are checked again");
    said("VMM-COPY-NOT-MAPPED", "", "addresses that are checked again");
    tap_result(vmm_mem_release(w.sys, object), VMM_SUCCESS, "the multicast object is released");
    follows(&w, true, "after a multicast object");
    vmm_close(w.sys);
}

struct other {
    vmm_system *sys;
    vmm_context context;
};

static void *destroy(void *other)
{
    vmm_ctx_destroy(((struct other *)other)->sys, ((struct other *)other)->context);
    return NULL;
}

/* Makes current a context that another thread has destroyed. */
static void destroyed_elsewhere(vmm_system *sys)
{
    struct other other = {.sys = sys};
    pthread_t thread;
    if (vmm_ctx_create(sys, &other.context, 0, 0) || pthread_create(&thread, NULL, destroy, &other) || pthread_join(thread, NULL))
        tap_bail("no context: %s", vmm_last_detail()->note);
}

/* A context that became current without the shadow's knowledge. */
static void test_contexts(void)
{
    struct world w = opened("", "h100");
    for (int gone = 0; gone < 2; gone++) {
        if (gone)
            destroyed_elsewhere(w.sys);
        else
            vmm_ctx_set_current(w.sys, NULL);
        answer(&w, VMM_CALL_memset_d8, VMM_SUCCESS);
        tap_result(vmm_memset_d8(w.sys, w.at, 1, 1), VMM_SUCCESS, "a fill in a context that is unknown to the shadow");
        said(NULL, "", "a fill");
        vmm_ctx_set_current(w.sys, w.context);
    }
    follows(&w, true, "after contexts that are unknown to the shadow");
    vmm_close(w.sys);
}

/* A refused call on contexts changes no tracked state, whether only the backend can know the reason or the rules
 * would have accepted it. */
static void refused_context(struct world *w, enum vmm_call_id id, vmm_result result, vmm_result (*call)(struct world *))
{
    const char *name = vmm_call_name(id);
    answer(w, id, result);
    tap_result(call(w), result, "%s is refused", name);
    said(result == VMM_ERROR_NOT_PERMITTED ? NULL : "VMM-SHADOW-DIFFERS", "", name);
}

static vmm_context primary, made;

static vmm_result call_create(struct world *w) { return vmm_ctx_create(w->sys, &made, 0, 0); }
static vmm_result call_destroy(struct world *w) { return vmm_ctx_destroy(w->sys, w->context); }
static vmm_result call_set_current(struct world *w) { return vmm_ctx_set_current(w->sys, primary); }
static vmm_result call_retain(struct world *w) { return vmm_device_primary_ctx_retain(w->sys, &made, 0); }
static vmm_result call_release(struct world *w) { return vmm_device_primary_ctx_release(w->sys, 0); }
static vmm_result call_reset(struct world *w) { return vmm_device_primary_ctx_reset(w->sys, 0); }

static void test_contexts_refused(void)
{
    static const vmm_result results[] = {VMM_ERROR_NOT_PERMITTED, VMM_ERROR_INVALID_VALUE};
    struct world w = opened("", "h100");
    vmm_context now = NULL;
    vmm_device_primary_ctx_retain(w.sys, &primary, 0);
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
        refused_context(&w, VMM_CALL_ctx_create, results[i], call_create);
        refused_context(&w, VMM_CALL_ctx_destroy, results[i], call_destroy);
        refused_context(&w, VMM_CALL_ctx_set_current, results[i], call_set_current);
        refused_context(&w, VMM_CALL_device_primary_ctx_retain, results[i], call_retain);
        refused_context(&w, VMM_CALL_device_primary_ctx_reset, results[i], call_reset);
        refused_context(&w, VMM_CALL_device_primary_ctx_release, results[i], call_release);
    }
    tap_ok(vmm_ctx_get_current(w.sys, &now) == VMM_SUCCESS && now == w.context, "the current context is the one before");
    said(NULL, "", "ctx_get_current");
    tap_result(vmm_device_primary_ctx_release(w.sys, 0), VMM_SUCCESS, "its one retain is released");
    said(NULL, "", "device_primary_ctx_release");
    tap_result(vmm_device_primary_ctx_release(w.sys, 0), VMM_ERROR_INVALID_CONTEXT, "and there is no second");
    said("VMM-CTX-PRIMARY-UNUSED", "", "device_primary_ctx_release");
    follows(&w, true, "after contexts that stayed as they were");
    vmm_close(w.sys);
}

/* The host has the nodes that the backend accepts. */
static void test_nodes(void)
{
    struct world w = opened("nodes=8", "h100");
    vmm_mem_allocation_prop prop = prop_at(VMM_MEM_LOCATION_TYPE_HOST_NUMA, 7);
    handle_t handle = 77;
    uint64_t held = vmm_leaks(w.sys, NULL, NULL);
    answer(&w, VMM_CALL_mem_create, VMM_ERROR_INVALID_VALUE);
    tap_result(vmm_mem_create(w.sys, &handle, G, &prop, 0), VMM_ERROR_INVALID_VALUE, "a node that the backend does not have");
    said("VMM-CREATE-NUMA-ID", "", "a node");
    tap_result(vmm_mem_create(w.sys, &handle, UINT64_C(1) << 60, &prop, 0), VMM_ERROR_INVALID_VALUE,
               "the same for more memory than the node would have");
    said("VMM-CREATE-NUMA-ID", "", "a node");
    tap_ok(vmm_last_detail()->value == 7 && vmm_leaks(w.sys, NULL, NULL) == held,
           "the message names the node, and no memory is left on it");
    follows(&w, true, "after a node that does not exist");
    vmm_close(w.sys);
}

/* ---- differences ---- */

static void test_harmless(void)
{
    struct world w = opened("", "h100");
    const vmm_mem_location device = {VMM_MEM_LOCATION_TYPE_DEVICE, 0};
    uint64_t rights = 77;
    answer(&w, VMM_CALL_memset_d8, VMM_SUCCESS);
    tap_result(vmm_memset_d8(w.sys, w.at, 1, 1), VMM_SUCCESS, "a fill without rights that the backend accepts");
    said("VMM-SHADOW-DIFFERS", "the backend answers CUDA_SUCCESS, the rules say CUDA_ERROR_INVALID_VALUE", "without rights");
    answer_with(&w, VMM_CALL_mem_get_access, RW, sizeof rights);
    tap_result(vmm_mem_get_access(w.sys, &rights, &device, w.at), VMM_SUCCESS, "rights that the program never set");
    tap_u64(rights, RW, "the backend's rights are reported");
    said("VMM-SHADOW-DIFFERS", "both give CUDA_SUCCESS, but their outputs do not match", "rights");
    answer(&w, VMM_CALL_mem_get_access, VMM_ERROR_INVALID_VALUE);
    tap_result(vmm_mem_get_access(w.sys, &rights, &device, w.at), VMM_ERROR_INVALID_VALUE, "a refused query");
    said("VMM-SHADOW-DIFFERS", "the backend answers CUDA_ERROR_INVALID_VALUE, the rules say CUDA_SUCCESS", "refused rights");
    const vmm_mem_access_desc desc = {device, RW};
    vmm_deviceptr base = 0;
    vmm_mem_set_access(w.sys, w.at, 2 * G, &desc, 1);
    answer_with(&w, VMM_CALL_mem_get_address_range, w.at + G, sizeof base);
    tap_result(vmm_mem_get_address_range(w.sys, &base, NULL, w.at + G), VMM_SUCCESS, "another range");
    tap_u64(base, w.at + G, "the backend's base address is reported");
    said(NULL, "", "another range");
    follows(&w, true, "after differences without consequences");
    vmm_close(w.sys);
}

/* A difference that changes the state of one object: that object is no longer tracked, everything else is. */
static void given_up_by(struct world *w, vmm_result got, vmm_result want, const char *rule, const char *note, const char *name)
{
    vmm_deviceptr other = 0;
    tap_result(got, want, "%s: the backend's answer", name);
    said(rule, note, name);
    tap_result(vmm_mem_address_reserve(w->sys, &other, 2 * G, 0, 0, 0), VMM_SUCCESS, "%s: then a reservation", name);
    said(NULL, "", name);
    tap_result(vmm_mem_address_free(w->sys, other, G), VMM_ERROR_INVALID_VALUE, "%s: half of which is freed", name);
    said("VMM-FREE-SIZE-MATCH", "", name);
    vmm_mem_address_free(w->sys, other, 2 * G);
    vmm_close(w->sys);
}

#define DIFFERENT "the backend answers CUDA_SUCCESS, the rules say CUDA_ERROR_INVALID_VALUE"
#define REFUSED "the backend answers CUDA_ERROR_INVALID_VALUE, the rules say CUDA_SUCCESS"

static void test_given_up(void)
{
    struct world w = opened("", "h100");
    const vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, RW};
    vmm_mem_allocation_prop prop = prop_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0);
    vmm_deviceptr at = 0;
    handle_t handle = 0;
    answer(&w, VMM_CALL_mem_map, VMM_SUCCESS);
    given_up_by(&w, vmm_mem_map(w.sys, w.at, 2 * G, 0, w.handle, 0), VMM_SUCCESS, "VMM-SHADOW-OPAQUE", DIFFERENT, "a mapping over another one");
    w = opened("", "h100");
    answer(&w, VMM_CALL_mem_create, VMM_ERROR_INVALID_VALUE);
    given_up_by(&w, vmm_mem_create(w.sys, &handle, G, &prop, 0), VMM_ERROR_INVALID_VALUE, "VMM-SHADOW-DIFFERS", REFUSED,
                "a valid creation that is refused");
    w = opened("", "h100");
    answer(&w, VMM_CALL_mem_unmap, VMM_ERROR_INVALID_VALUE);
    given_up_by(&w, vmm_mem_unmap(w.sys, w.at, 2 * G), VMM_ERROR_INVALID_VALUE, "VMM-SHADOW-DIFFERS", REFUSED, "a valid call that is refused");
    w = opened("", "h100");
    answer(&w, VMM_CALL_mem_set_access, VMM_ERROR_INVALID_VALUE);
    given_up_by(&w, vmm_mem_set_access(w.sys, w.at, 2 * G, &desc, 1), VMM_ERROR_INVALID_VALUE, "VMM-SHADOW-OPAQUE", REFUSED,
                "valid rights that are refused");
    w = opened("", "h100");
    answer_with(&w, VMM_CALL_mem_address_reserve, w.at, sizeof at);
    given_up_by(&w, vmm_mem_address_reserve(w.sys, &at, G, 0, 0, 0), VMM_SUCCESS, "VMM-SHADOW-OPAQUE",
                "both give CUDA_SUCCESS, but their outputs do not match", "addresses that are already reserved");
    w = opened("", "h100");
    vmm_mem_unmap(w.sys, w.at, 2 * G);
    vmm_mem_release(w.sys, w.handle);
    answer(&w, VMM_CALL_mem_map, VMM_SUCCESS);
    given_up_by(&w, vmm_mem_map(w.sys, w.at, 2 * G, 0, w.handle, 0), VMM_SUCCESS, "VMM-SHADOW-OPAQUE", DIFFERENT,
                "a mapping of a released handle");
}

/* A refused call changes nothing on either side: the next valid call succeeds. */
static void test_refused(void)
{
    struct world w = opened("", "h100");
    vmm_mem_allocation_prop prop = prop_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0);
    uint64_t held = vmm_leaks(w.sys, NULL, NULL);
    vmm_deviceptr at = 0;
    handle_t handle = 0;
    answer(&w, VMM_CALL_mem_create, VMM_ERROR_INVALID_VALUE);
    vmm_mem_create(w.sys, &handle, G, &prop, 0);
    answer(&w, VMM_CALL_mem_address_reserve, VMM_ERROR_INVALID_VALUE);
    vmm_mem_address_reserve(w.sys, &at, G, 0, 0, 0);
    answer(&w, VMM_CALL_mem_retain_allocation_handle, VMM_ERROR_INVALID_VALUE);
    vmm_mem_retain_allocation_handle(w.sys, &handle, w.at);
    answer(&w, VMM_CALL_mem_map, VMM_ERROR_INVALID_VALUE);
    vmm_mem_map(w.sys, w.at + 2 * G, 2 * G, 0, w.handle, 0);
    answer(&w, VMM_CALL_mem_release, VMM_ERROR_INVALID_VALUE);
    vmm_mem_release(w.sys, w.handle);
    answer(&w, VMM_CALL_mem_unmap, VMM_ERROR_INVALID_VALUE);
    vmm_mem_unmap(w.sys, w.at, 2 * G);
    answer(&w, VMM_CALL_ctx_destroy, VMM_ERROR_INVALID_VALUE);
    vmm_ctx_destroy(w.sys, w.context);
    tap_u64(vmm_leaks(w.sys, NULL, NULL), held, "calls that are refused against the rules change nothing");
    follows(&w, true, "after refused calls");
    tap_result(vmm_mem_unmap(w.sys, w.at, 2 * G), VMM_SUCCESS, "the same unmap, accepted");
    said(NULL, "", "the same unmap");
    answer(&w, VMM_CALL_mem_address_free, VMM_ERROR_INVALID_VALUE);
    vmm_mem_address_free(w.sys, w.at, 4 * G);
    tap_result(vmm_mem_release(w.sys, w.handle), VMM_SUCCESS, "the same release, accepted");
    said(NULL, "", "the same release");
    tap_result(vmm_mem_address_free(w.sys, w.at, 4 * G), VMM_SUCCESS, "the same free, accepted");
    said(NULL, "", "the same free");
    tap_u64(vmm_leaks(w.sys, NULL, NULL), held - 3, "they had their effect once");
    vmm_close(w.sys);
}

/* A reservation that the simulator lacks: all calls on it are passed through, until it is freed. */
static void test_foreign_reservation(void)
{
    struct world w = opened("", "h100");
    vmm_deviceptr at = 0;
    uint64_t held = vmm_leaks(w.sys, NULL, NULL);
    answer_with(&w, VMM_CALL_mem_address_reserve, UINT64_C(1) << 40, sizeof at);
    tap_result(vmm_mem_address_reserve(w.sys, &at, 4 * G, 3, 0, 0), VMM_SUCCESS, "a reservation with an alignment that no rule allows");
    said("VMM-SHADOW-OPAQUE", DIFFERENT, "such a reservation");
    answer(&w, VMM_CALL_mem_map, VMM_SUCCESS);
    tap_result(vmm_mem_map(w.sys, at, 2 * G, 0, w.handle, 0), VMM_SUCCESS, "a mapping in it");
    said(NULL, "", "a mapping in it");
    answer(&w, VMM_CALL_mem_unmap, VMM_SUCCESS);
    tap_result(vmm_mem_unmap(w.sys, at, 2 * G), VMM_SUCCESS, "its end");
    said(NULL, "", "its end");
    tap_u64(vmm_leaks(w.sys, NULL, NULL), held, "the shadow holds nothing of it");
    answer(&w, VMM_CALL_mem_address_free, VMM_SUCCESS);
    tap_result(vmm_mem_address_free(w.sys, at, 4 * G), VMM_SUCCESS, "the reservation is freed");
    said(NULL, "", "it is freed");
    answer(&w, VMM_CALL_mem_unmap, VMM_ERROR_INVALID_VALUE);
    tap_result(vmm_mem_unmap(w.sys, at, 2 * G), VMM_ERROR_INVALID_VALUE, "then its addresses are checked again");
    said("VMM-UNMAP-NOT-RESERVED", "", "checked again");
    follows(&w, true, "after a reservation that is not followed");
    vmm_close(w.sys);
}

/* The shadow recognises a bad handle before it calls the backend, as long as the handle's value is known. */
static void test_handles(void)
{
    struct world w = opened("", "h100");
    vmm_mem_allocation_prop prop = prop_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0);
    handle_t first = 0, handle = 0;
    vmm_mem_create(w.sys, &first, G, &prop, 0);
    vmm_mem_release(w.sys, first);
    for (int later = 0; later < 2; later++) {
        answer(&w, VMM_CALL_mem_map, VMM_ERROR_INVALID_VALUE);
        tap_result(vmm_mem_map(w.sys, w.at + 2 * G, G, 0, first, 0), VMM_ERROR_INVALID_VALUE, "a released handle");
        said("VMM-MAP-HANDLE-STALE", "", later ? "300 handles later" : "released");
        tap_text(w.odd->foretold ? w.odd->foretold : "none", "VMM-MAP-HANDLE-STALE",
                 "its rule is on record before the backend is called");
        for (int i = 0; i < 300; i++)
            if (vmm_mem_create(w.sys, &handle, G, &prop, 0) || vmm_mem_release(w.sys, handle))
                tap_bail("no memory: %s", vmm_last_detail()->note);
    }
    answer(&w, VMM_CALL_mem_map, VMM_ERROR_INVALID_VALUE);
    tap_result(vmm_mem_map(w.sys, w.at + 2 * G, G, 0, 0, 0), VMM_ERROR_INVALID_VALUE, "no handle");
    said("VMM-MAP-HANDLE-ZERO", "", "no handle");
    tap_ok(!w.odd->foretold, "no rule is on record before the call");
    follows(&w, true, "after invalid handles");
    vmm_close(w.sys);
}

/* ---- imports ---- */

static vmm_result import(struct world *w, vmm_result result, bool to, void *from, vmm_mem_allocation_handle_type type)
{
    handle_t handle = 0;
    if (result == VMM_SUCCESS)
        answer_with(w, VMM_CALL_mem_import_from_shareable_handle, 0x1234, sizeof handle);
    else
        answer(w, VMM_CALL_mem_import_from_shareable_handle, result);
    return vmm_mem_import_from_shareable_handle(w->sys, to ? &handle : NULL, from, type);
}

static void test_imports(void)
{
    enum { FD = VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, FABRIC = VMM_MEM_HANDLE_TYPE_FABRIC };
    static unsigned char bytes[VMM_FABRIC_HANDLE_SIZE], pools[VMM_FABRIC_HANDLE_SIZE] = {1, 2, 3};
    vmm_memory_pool pool = (vmm_memory_pool)(uintptr_t)0x700;
    void *const fd = (void *)3;
    const struct {
        vmm_result result;
        bool to;
        void *from;
        int type;
        const char *rule, *name;
    } refused[] = {
        {VMM_ERROR_UNKNOWN, true, fd, FD, NULL, "a descriptor that the backend does not know"},
        {VMM_ERROR_NOT_SUPPORTED, true, fd, FD, "VMM-IMPORT-KIND", "a descriptor of a pool"},
        {VMM_ERROR_INVALID_VALUE, true, bytes, FABRIC, NULL, "a fabric handle that the backend does not know"},
        {VMM_ERROR_NOT_SUPPORTED, true, bytes, FABRIC, "VMM-IMPORT-FABRIC", "bytes that are no fabric handle"},
        {VMM_ERROR_NOT_SUPPORTED, true, pools, FABRIC, "VMM-IMPORT-KIND", "the fabric handle of a pool"},
        {VMM_ERROR_INVALID_VALUE, false, bytes, FABRIC, "VMM-IMPORT-NULL-HANDLE",
         "a fabric handle, and nowhere to store the result"},
        {VMM_ERROR_INVALID_VALUE, true, NULL, FABRIC, "VMM-IMPORT-FABRIC-NULL", "no fabric handle"},
        {VMM_ERROR_INVALID_VALUE, false, fd, FD, "VMM-IMPORT-NULL-HANDLE", "a descriptor, and nowhere to store the result"},
        {VMM_ERROR_INVALID_VALUE, true, fd, 99, "VMM-IMPORT-TYPE", "an unknown handle type"},
    };
    struct world w = opened("", "gb200x4");
    answer(&w, VMM_CALL_mem_pool_export_to_shareable_handle, VMM_SUCCESS);
    tap_result(vmm_mem_pool_export_to_shareable_handle(w.sys, pools, pool, FABRIC, 0), VMM_SUCCESS, "a pool is exported");
    answer(&w, VMM_CALL_mem_pool_export_to_shareable_handle, VMM_ERROR_NOT_PERMITTED);
    tap_result(vmm_mem_pool_export_to_shareable_handle(w.sys, bytes, pool, FABRIC, 0), VMM_ERROR_NOT_PERMITTED, "another one is not");
    answer(&w, VMM_CALL_mem_pool_export_to_shareable_handle, VMM_SUCCESS);
    vmm_mem_pool_export_to_shareable_handle(w.sys, bytes, pool, FD, 0); /* writes a descriptor, if anything */
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        tap_result(import(&w, refused[i].result, refused[i].to, refused[i].from, refused[i].type), refused[i].result,
                   "%s: is refused", refused[i].name);
        said(refused[i].rule, "", refused[i].name);
    }
    fabric_handle_write(bytes, &(struct imex_place){1, 0}, &(struct share_label){2, 3, {4, 5}, 6});
    tap_result(import(&w, VMM_ERROR_NOT_SUPPORTED, true, bytes, FABRIC), VMM_ERROR_NOT_SUPPORTED, "a handle of another fabric");
    said("VMM-IMPORT-FABRIC", "", "a handle of another fabric");
    follows(&w, true, "after refused imports");
    vmm_close(w.sys);
    w = opened("", "h100");
    tap_result(import(&w, VMM_ERROR_NOT_SUPPORTED, true, bytes, FABRIC), VMM_ERROR_NOT_SUPPORTED, "a machine without a fabric");
    said("VMM-IMPORT-FABRIC", "", "a machine without a fabric");
    follows(&w, true, "without a fabric");
    vmm_close(w.sys);
    w = opened("", "gb200x4");
    given_up_by(&w, import(&w, VMM_ERROR_NOT_SUPPORTED, false, fd, FD), VMM_ERROR_NOT_SUPPORTED, "VMM-SHADOW-DIFFERS", "",
                "an answer about the descriptor where there is nowhere to store the result");
}

/* ---- several attributes at once ---- */

static vmm_mem_pool_props pool_at(vmm_mem_location_type type)
{
    return (vmm_mem_pool_props){.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {type, 0}};
}

/* Pools of the driver without a counterpart, with values of destroyed pools. */
static void test_pools(void)
{
    struct world w = opened("", "h100");
    vmm_mem_pool_props props = pool_at(VMM_MEM_LOCATION_TYPE_DEVICE), host = pool_at(VMM_MEM_LOCATION_TYPE_HOST);
    vmm_memory_pool pool = NULL, other = NULL;
    int descriptor = 3;
    tap_result(vmm_mem_pool_create(w.sys, &pool, &props), VMM_SUCCESS, "a pool");
    tap_result(vmm_mem_pool_destroy(w.sys, pool), VMM_SUCCESS, "and its end");
    answer(&w, VMM_CALL_mem_pool_trim_to, VMM_ERROR_INVALID_VALUE);
    tap_result(vmm_mem_pool_trim_to(w.sys, pool, 0), VMM_ERROR_INVALID_VALUE, "it is used again");
    said("VMM-POOL-UNKNOWN", "", "a destroyed pool");
    answer_with(&w, VMM_CALL_mem_pool_create, (uint64_t)(uintptr_t)pool, sizeof pool);
    tap_result(vmm_mem_pool_create(w.sys, &other, &host), VMM_SUCCESS, "a pool of the host, at its value");
    said(NULL, "", "a pool that the simulator does not have");
    answer(&w, VMM_CALL_mem_pool_trim_to, VMM_SUCCESS);
    tap_result(vmm_mem_pool_trim_to(w.sys, other, 0), VMM_SUCCESS, "which is used");
    said(NULL, "", "a pool that is not followed");
    tap_result(vmm_mem_pool_create(w.sys, &pool, &props), VMM_SUCCESS, "another pool");
    tap_result(vmm_mem_pool_destroy(w.sys, pool), VMM_SUCCESS, "and its end");
    answer_with(&w, VMM_CALL_mem_pool_import_from_shareable_handle, (uint64_t)(uintptr_t)pool, sizeof pool);
    tap_result(vmm_mem_pool_import_from_shareable_handle(w.sys, &other, &descriptor, VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
               VMM_SUCCESS, "an imported pool, at its value");
    answer(&w, VMM_CALL_mem_pool_trim_to, VMM_SUCCESS);
    tap_result(vmm_mem_pool_trim_to(w.sys, other, 0), VMM_SUCCESS, "which is used");
    said(NULL, "", "an imported pool");
    answer(&w, VMM_CALL_mem_pool_import_from_shareable_handle, VMM_SUCCESS);
    tap_result(vmm_mem_pool_import_from_shareable_handle(w.sys, NULL, &descriptor, VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
               VMM_SUCCESS, "an import that stores nothing");
    said(NULL, "", "an import that stores nothing");
    answer(&w, VMM_CALL_mem_pool_import_from_shareable_handle, VMM_ERROR_INVALID_VALUE);
    vmm_mem_pool_import_from_shareable_handle(w.sys, &other, &descriptor, VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    said(NULL, "", "a descriptor that only the backend knows");
    static const struct {
        vmm_result result;
        bool to;
        vmm_mem_allocation_handle_type type;
        unsigned long long flags;
        const char *rule;
    } imports[] = {{VMM_ERROR_NOT_SUPPORTED, true, VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0, "VMM-IMPORT-KIND"},
                   {VMM_ERROR_NOT_SUPPORTED, true, VMM_MEM_HANDLE_TYPE_FABRIC, 0, NULL},
                   {VMM_ERROR_INVALID_VALUE, true, VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 1, "VMM-POOL-IMPORT-FLAGS"},
                   {VMM_ERROR_INVALID_VALUE, false, VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0, "VMM-POOL-NULL"}};
    for (size_t i = 0; i < sizeof imports / sizeof imports[0]; i++) {
        answer(&w, VMM_CALL_mem_pool_import_from_shareable_handle, imports[i].result);
        tap_result(vmm_mem_pool_import_from_shareable_handle(w.sys, imports[i].to ? &other : NULL, &descriptor, imports[i].type,
                                                             imports[i].flags),
                   imports[i].result, "an import of a pool is refused");
        said(imports[i].rule, "", "an import of a pool");
    }
    answer(&w, VMM_CALL_mem_pool_create, VMM_ERROR_INVALID_VALUE);
    tap_result(vmm_mem_pool_create(w.sys, &pool, &props), VMM_ERROR_INVALID_VALUE, "a pool that the rules allow");
    said("VMM-SHADOW-DIFFERS", "", "a refused pool");
    follows(&w, true, "after differences of pools");
    vmm_close(w.sys);
}

/* The current pool may be one that the shadow has not seen: its value is not paired. */
static void test_current_pool(void)
{
    struct world w = opened("", "h100");
    vmm_memory_pool own = NULL, current = NULL;
    answer_with(&w, VMM_CALL_device_get_mem_pool, 0x7000, sizeof current);
    tap_result(vmm_device_get_mem_pool(w.sys, &current, 0), VMM_SUCCESS, "a current pool of somewhere else");
    answer(&w, VMM_CALL_mem_pool_destroy, VMM_SUCCESS);
    tap_result(vmm_mem_pool_destroy(w.sys, current), VMM_SUCCESS, "which is destroyed");
    said(NULL, "", "it is not the device's own");
    tap_result(vmm_device_get_default_mem_pool(w.sys, &own, 0), VMM_SUCCESS, "the device's own");
    tap_result(vmm_mem_pool_destroy(w.sys, own), VMM_ERROR_INVALID_VALUE, "which cannot be destroyed");
    said("VMM-POOL-DESTROY-DEFAULT", "", "the device's own");
    vmm_mem_location location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0};
    tap_result(vmm_mem_get_default_mem_pool(w.sys, &current, &location, VMM_MEM_ALLOCATION_TYPE_PINNED), VMM_SUCCESS, "asked by location");
    tap_ok(current == own, "it is the same");
    said(NULL, "", "the device's own by location");
    vmm_close(w.sys);
}

/* The program uses the driver's addresses: a pool of the shadow never blocks a reservation. */
static void test_places(void)
{
    struct world w = opened("", "h100");
    vmm_mem_pool_props props = pool_at(VMM_MEM_LOCATION_TYPE_DEVICE);
    vmm_memory_pool pool;
    bool taken = vmm_mem_pool_create(w.sys, &pool, &props) == VMM_SUCCESS;
    for (uint64_t at = 16 * G; taken && at < UINT64_C(1) << 47; at <<= 1) {
        vmm_deviceptr got;
        answer_with(&w, VMM_CALL_mem_address_reserve, at, sizeof got);
        taken = vmm_mem_address_reserve(w.sys, &got, G, 0, 0, 0) == VMM_SUCCESS && !vmm_last_detail()->rule;
    }
    tap_ok(taken, "reservations at every power of two");
    follows(&w, true, "with reservations and a pool");
    vmm_close(w.sys);
}

static void test_attributes(void)
{
    enum { MANY = 65 };
    struct world w = opened("", "h100");
    vmm_pointer_attribute list[MANY];
    unsigned type[MANY] = {0};
    void *data[MANY];
    for (int i = 0; i < MANY; i++) {
        list[i] = VMM_POINTER_ATTRIBUTE_MEMORY_TYPE;
        data[i] = &type[i];
    }
    data[1] = NULL;
    tap_result(vmm_pointer_get_attributes(w.sys, 3, list, data, w.at), VMM_ERROR_INVALID_VALUE,
               "one of three attributes without a destination");
    const char *rule = vmm_last_detail()->rule;
    tap_ok(rule && strncmp(rule, "VMM-POINTER-", 12) == 0 && vmm_last_detail()->severity == VMM_SEVERITY_ERROR,
           "the refusal has a rule: %s",
           rule ? rule : "none");
    data[1] = &type[1];
    answer(&w, VMM_CALL_pointer_get_attributes, VMM_ERROR_INVALID_VALUE);
    tap_result(vmm_pointer_get_attributes(w.sys, MANY, list, data, w.at), VMM_ERROR_INVALID_VALUE,
               "more attributes than the shadow compares");
    said(NULL, "", "more attributes than the shadow compares");
    answer(&w, VMM_CALL_pointer_get_attributes, VMM_ERROR_INVALID_VALUE);
    tap_result(vmm_pointer_get_attributes(w.sys, MANY - 1, list, data, w.at), VMM_ERROR_INVALID_VALUE,
               "as many attributes as the shadow compares");
    said("VMM-SHADOW-DIFFERS", "the rules say CUDA_SUCCESS", "as many attributes as the shadow compares");
    follows(&w, true, "after attributes");
    vmm_close(w.sys);
}

/* ---- querying the machine ---- */

/* The backend refuses a query about the machine. */
static void test_no_machine(void)
{
    static const struct {
        enum vmm_call_id id;
        unsigned skip;
        const char *name;
    } questions[] = {{VMM_CALL_driver_get_version, 0, "the driver's version"},
                     {VMM_CALL_device_get_count, 0, "the number of devices"},
                     {VMM_CALL_device_total_mem, 0, "the amount of memory"},
                     {VMM_CALL_mem_get_allocation_granularity, 0, "the devices' granularity"},
                     {VMM_CALL_mem_get_allocation_granularity, 2, "the host's granularity"}};
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
        struct world w = unopened("", "h100");
        answer(&w, questions[i].id, VMM_ERROR_UNKNOWN);
        w.odd->skip = questions[i].skip;
        tap_result(vmm_init(w.sys, 0), VMM_SUCCESS, "the backend does not report %s: initialisation succeeds", questions[i].name);
        said("VMM-SHADOW-LOST", "simulate a machine like the backend's", questions[i].name);
        tap_ok(vmm_visit(w.sys, count, NULL) == VMM_ERROR_NOT_SUPPORTED && !vmm_leaks(w.sys, NULL, NULL),
               "the program has no shadow");
        vmm_close(w.sys);
    }
    struct world w = unopened("", "h100");
    answer_with(&w, VMM_CALL_device_get_count, VMM_MAX_DEVICES + 1, sizeof(int));
    tap_result(vmm_init(w.sys, 0), VMM_SUCCESS, "more devices than a machine can have");
    said("VMM-SHADOW-LOST", "simulate a machine like the backend's", "more devices than a machine can have");
    vmm_close(w.sys);
}

/* Queries that may fail: an attribute that an older driver does not know, and peer access between devices. */
static void test_half_a_machine(void)
{
    static const enum vmm_call_id questions[] = {VMM_CALL_device_get_attribute, VMM_CALL_device_can_access_peer};
    for (size_t i = 0; i < 2; i++) {
        struct world w = unopened("", "h200x2");
        vmm_mem_allocation_prop prop = prop_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0);
        answer(&w, questions[i], VMM_ERROR_INVALID_VALUE);
        tap_result(vmm_init(w.sys, 0), VMM_SUCCESS, "initialising without %s", vmm_call_name(questions[i]));
        said(NULL, "", "set up without an answer");
        tap_ok(!w.odd->armed, "the query was made");
        if (vmm_mem_create(w.sys, &w.handle, 2 * G, &prop, 0) || vmm_mem_address_reserve(w.sys, &w.at, 4 * G, 0, 0, 0) ||
            vmm_mem_map(w.sys, w.at, 2 * G, 0, w.handle, 0))
            tap_bail("no memory: %s", vmm_last_detail()->note);
        follows(&w, true, "set up without an answer");
        vmm_close(w.sys);
    }
}

int main(void)
{
    test_taken_as_it_is();
    test_driver_ends();
    test_late_ends();
    test_late_unknown();
    test_multicast();
    test_contexts();
    test_contexts_refused();
    test_nodes();
    test_harmless();
    test_given_up();
    test_refused();
    test_foreign_reservation();
    test_handles();
    test_imports();
    test_pools();
    test_current_pool();
    test_places();
    test_attributes();
    test_no_machine();
    test_half_a_machine();
    return tap_done();
}
