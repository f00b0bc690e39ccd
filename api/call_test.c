/* SPDX-License-Identifier: Apache-2.0 */
/* Call records and their descriptors, on which layers and replays rely. */
#include "call.h"

#include <string.h>

#include "tap.h"

static void test_names(void)
{
    bool ok = true;
    for (int i = 0; i < VMM_CALL_COUNT; i++) {
        enum vmm_call_id id = (enum vmm_call_id)i;
        enum vmm_call_id first = vmm_call_find(vmm_call_driver_name(id)); /* all forms of a call share that name */
        bool older = id > 0 && strcmp(vmm_call_driver_name(id), vmm_call_driver_name((enum vmm_call_id)(i - 1))) == 0;
        ok = ok && vmm_call_find(vmm_call_name(id)) == id && (int)first == i - older;
    }
    tap_ok(ok, "every call is found by both its names, an older form by the first one");
    tap_ok(vmm_call_find("mem_mapp") == VMM_CALL_COUNT && vmm_call_find("") == VMM_CALL_COUNT, "other names are not found");
    tap_text(vmm_call_name(VMM_CALL_mem_map), "mem_map", "our name");
    tap_text(vmm_call_driver_name(VMM_CALL_mem_map), "cuMemMap", "the driver's name of a call");
}

static void test_layout(void)
{
    bool inside = true, ordered = true;
    for (int i = 0; i < VMM_CALL_COUNT; i++) {
        size_t count, at = sizeof(struct vmm_call);
        const struct vmm_param *params = vmm_call_params((enum vmm_call_id)i, &count);
        for (size_t p = 0; p < count; p++) {
            ordered = ordered && params[p].offset >= at;
            at = (size_t)params[p].offset + params[p].size;
            inside = inside && at <= vmm_call_size((enum vmm_call_id)i);
        }
    }
    tap_ok(inside && ordered, "parameters are in order and inside their record");
    size_t count;
    vmm_call_params(VMM_CALL_ctx_synchronize, &count);
    tap_u64(count, 0, "a call without parameters has none");
    vmm_call_params(VMM_CALL_mem_map, &count);
    tap_u64(count, 5, "cuMemMap has five parameters");
}

static const struct vmm_param *param(enum vmm_call_id id, const char *name)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params(id, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(params[i].name, name) == 0)
            return &params[i];
    return NULL;
}

static void test_scalars(void)
{
    struct vmm_call_mem_map map = {{VMM_CALL_mem_map, 0}, 0x1000, 2, 3, 4, 5};
    const struct vmm_param *ptr = param(VMM_CALL_mem_map, "ptr");
    tap_u64(vmm_call_scalar(&map.head, ptr), 0x1000, "an address parameter is read");
    vmm_call_set_scalar(&map.head, ptr, UINT64_MAX);
    tap_ok(map.ptr == UINT64_MAX && map.size == 2, "an address is written, and nothing beside it changes");

    struct vmm_call_device_get get = {{VMM_CALL_device_get, 0}, NULL, -1};
    const struct vmm_param *ordinal = param(VMM_CALL_device_get, "ordinal");
    tap_u64(vmm_call_scalar(&get.head, ordinal), UINT64_MAX, "a negative int is sign-extended");
    vmm_call_set_scalar(&get.head, ordinal, (uint64_t)-7);
    tap_ok(get.ordinal == -7, "a negative int is written");

    struct vmm_call_memset_d8 d8 = {{VMM_CALL_memset_d8, 0}, 1, 0x80, 2};
    struct vmm_call_memset_d16 d16 = {{VMM_CALL_memset_d16, 0}, 1, 0x8001, 2};
    tap_u64(vmm_call_scalar(&d8.head, param(VMM_CALL_memset_d8, "value")), 0x80, "a byte is not sign-extended");
    tap_u64(vmm_call_scalar(&d16.head, param(VMM_CALL_memset_d16, "value")), 0x8001, "two bytes");
    vmm_call_set_scalar(&d8.head, param(VMM_CALL_memset_d8, "value"), 0x1ff);
    vmm_call_set_scalar(&d16.head, param(VMM_CALL_memset_d16, "value"), 0x12345);
    tap_ok(d8.value == 0xff && d16.value == 0x2345 && d8.n == 2 && d16.n == 2, "narrow parameters are truncated to their width");
}

/* The calls that wait are listed by hand; a few on each side of each boundary are checked here. */
static void test_waiting(void)
{
    static const enum vmm_call_id waits[] = {
        VMM_CALL_ctx_synchronize, VMM_CALL_ctx_destroy, VMM_CALL_device_primary_ctx_release, VMM_CALL_stream_query,
        VMM_CALL_stream_synchronize, VMM_CALL_device_primary_ctx_reset, VMM_CALL_mem_free, VMM_CALL_launch,
        VMM_CALL_launch_host_func, VMM_CALL_event_record, VMM_CALL_event_query, VMM_CALL_event_synchronize,
        VMM_CALL_stream_wait_event, VMM_CALL_memcpy_htod, VMM_CALL_memset_d8, VMM_CALL_memset_d32_async};
    static const enum vmm_call_id others[] = {VMM_CALL_init, VMM_CALL_mem_map, VMM_CALL_mem_unmap, VMM_CALL_mem_alloc,
                                              VMM_CALL_mem_get_address_range, VMM_CALL_stream_destroy,
                                              VMM_CALL_event_create, VMM_CALL_event_destroy};
    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++)
        tap_ok(vmm_call_waits(waits[i]), "%s may wait", vmm_call_name(waits[i]));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        tap_ok(!vmm_call_waits(others[i]), "%s does not", vmm_call_name(others[i]));
}

static bool listed(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

/* One call too many outside the lock is a race, one too few a bottleneck, so all calls that run there are listed here again;
 * likewise those that work before cuInit. */
static void test_named(void)
{
    static const struct {
        enum vmm_call_trait trait;
        const char *what, *names[8];
        size_t count;
    } lists[] = {
        {CALL_QUERIES, "beside the lock", {"mem_get_access", "pointer_get_attribute", "pointer_get_attributes"}, 3},
        {CALL_EARLY, "before cuInit", {"init", "driver_get_version"}, 2},
        {CALL_EARLY_NULL,
         "before cuInit with NULL",
         {"ctx_destroy", "stream_destroy", "event_destroy", "event_query", "event_synchronize", "ipc_get_mem_handle",
          "ipc_open_mem_handle", "ipc_get_event_handle"},
         8},
        {CALL_ANYWHERE, "in host functions", {"init", "driver_get_version", "stream_query", "event_query"}, 4},
    };
    for (size_t l = 0; l < sizeof lists / sizeof lists[0]; l++)
        for (int i = 0; i < VMM_CALL_COUNT; i++) {
            const char *name = vmm_call_name((enum vmm_call_id)i);
            bool want = listed(lists[l].names, lists[l].count, name);
            tap_ok(vmm_call_has((enum vmm_call_id)i, lists[l].trait) == want, "%s %s %s", name, want ? "runs" : "does not run",
                   lists[l].what);
        }
}

/* Checks by name which calls are copies, fills or calls of multicast objects. */
static void test_families(void)
{
    for (int i = 0; i < VMM_CALL_COUNT; i++) {
        const char *name = vmm_call_name((enum vmm_call_id)i);
        bool moves = !strncmp(name, "memcpy_", 7) || !strncmp(name, "memset_", 7);
        tap_ok(vmm_call_has((enum vmm_call_id)i, CALL_MOVES) == moves, "%s %s", name, moves ? "moves bytes" : "moves none");
        bool multicast = !strncmp(name, "multicast_", 10);
        tap_ok(vmm_call_has((enum vmm_call_id)i, CALL_MULTICAST) == multicast, "%s %s multicast objects", name,
               multicast ? "is about" : "is not about");
    }
}

int main(void)
{
    test_waiting();
    test_named();
    test_families();
    test_names();
    test_layout();
    test_scalars();
    return tap_done();
}
