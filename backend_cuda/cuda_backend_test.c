/* SPDX-License-Identifier: Apache-2.0 */
/* Every call reaches the driver's function of the same name, with our signature and the arguments in the driver's order; the
 * caller gets the function's result. With a driver that has cuGetProcAddress, and with an old one. */
#include <stdlib.h>

#include "backend.h"
#include "fake/rig.h"

/* A value with distinct bytes in every position that a narrow parameter keeps, and with the top bits set, so that sign
 * extension shows. */
static uint64_t value_of(size_t param)
{
    return UINT64_C(0xF1E2D3C4B5A69780) + UINT64_C(0x0101010101010111) * param;
}

/* A structure that is passed by value begins with that value. */
static void fill(struct vmm_call *call, const struct vmm_param *param, uint64_t value)
{
    uint64_t bytes[8] = {value};
    vmm_call_set_scalar(call, param, VMM_BY_VALUE(param->kind) ? (uint64_t)(uintptr_t)bytes : value);
}

static uint64_t filled(const struct vmm_call *call, const struct vmm_param *param)
{
    uint64_t value = vmm_call_scalar(call, param);
    if (VMM_BY_VALUE(param->kind))
        memcpy(&value, (const void *)(uintptr_t)value, sizeof value);
    return value;
}

static bool same_arguments(const struct fake_driver *driver, const struct vmm_call *call)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)call->id, &count);
    if (driver->arguments != count) {
        tap_note("%u arguments reached the driver instead of %zu", driver->arguments, count);
        return false;
    }
    for (size_t i = 0; i < count; i++)
        if (driver->argument[i] != filled(call, &params[i])) {
            tap_note("%s is 0x%" PRIx64 " at the driver", params[i].name, driver->argument[i]);
            return false;
        }
    return true;
}

static bool is_symbol_of(const char *symbol, const char *name)
{
    size_t length = strlen(name);
    return symbol && strncmp(symbol, name, length) == 0 &&
           (symbol[length] == '\0' || strcmp(symbol + length, "_v2") == 0 || strcmp(symbol + length, "_v3") == 0);
}

static void check_call(struct rig *rig, struct vmm_backend *backend, enum vmm_call_id id, const char *where)
{
    union vmm_any_call call;
    size_t count;
    const struct vmm_param *params = vmm_call_params(id, &count);
    const char *name = vmm_call_driver_name(id);
    memset(&call, 0, sizeof call);
    call.head.id = (uint16_t)id;
    for (size_t i = 0; i < count; i++)
        fill(&call.head, &params[i], value_of(i));
    rig_reset(rig);
    rig->driver->result = 1;
    vmm_detail_begin(&call.head);
    vmm_result refused = vmm_backend_call(backend, &call.head);
    bool reported = vmm_last_detail()->severity == VMM_SEVERITY_ERROR && !vmm_last_detail()->rule &&
                vmm_last_detail()->result == refused && strcmp(vmm_last_detail()->function, name) == 0;
    tap_ok(is_symbol_of(rig->driver->symbol, name), "%s: %s reaches %s", where, name,
           rig->driver->symbol ? rig->driver->symbol : "no function");
    tap_ok(same_arguments(rig->driver, &call.head), "%s: %s: its %zu arguments", where, name, count);
    rig->driver->result = 0;
    vmm_detail_begin(&call.head);
    vmm_result done = vmm_backend_call(backend, &call.head);
    tap_ok(refused == VMM_ERROR_INVALID_VALUE && reported && done == VMM_SUCCESS && rig->driver->calls == 2 &&
               vmm_last_detail()->severity == VMM_SEVERITY_NONE,
           "%s: %s: called once each time, and its result is returned", where, name);
}

static void check_all(struct rig *rig, const char *where)
{
    struct vmm_backend *backend;
    if (vmm_cuda_open(rig->path, &backend) != VMM_SUCCESS)
        tap_bail("%s: %s", where, vmm_last_detail()->note);
    for (int id = 0; id < VMM_CALL_COUNT; id++)
        if (id != VMM_CALL_launch && id != VMM_CALL_graph_add_kernel_node && id != VMM_CALL_graph_kernel_node_set_params &&
            id != VMM_CALL_graph_exec_kernel_node_set_params) /* several calls of the driver: launch_test.c */
            check_call(rig, backend, (enum vmm_call_id)id, where);
    backend->ops->close(backend);
}

/* Multicast on a driver must be enabled. */
static void check_closed(struct rig *rig, const char *value)
{
    vmm_system *sys;
    vmm_mem_generic_allocation_handle handle = 7;
    const vmm_multicast_object_prop prop = {.num_devices = 2, .size = 2 << 20};
    const uint64_t args[3] = {8, 8, 8};
    if (value)
        setenv("CUVMM_REAL_MULTICAST", value, 1);
    else
        unsetenv("CUVMM_REAL_MULTICAST");
    if (vmm_open(rig->spec, &sys) != VMM_SUCCESS)
        tap_bail("%s", vmm_last_detail()->note);
    rig_reset(rig);
    tap_result(vmm_multicast_create(sys, &handle, &prop), VMM_ERROR_NOT_SUPPORTED, "no multicast object is created with %s",
               value ? value : "no setting");
    tap_ok(strstr(vmm_last_detail()->note, "CUVMM_REAL_MULTICAST=1") && handle == 7, "the message says how to enable it: %s",
           vmm_last_detail()->note);
    tap_text(rig->driver->symbol, "cuDeviceGetCount", "the only driver call is the query for initialisation");
    tap_result(vmm_multicast_bind_mem(sys, 1, 0, 2, 0, 2 << 20, 0), VMM_ERROR_NOT_SUPPORTED, "a bind is refused");
    tap_result(vmm_launch(sys, VMM_KERNEL_MULTIMEM_STORE, 1, 1, args, 3, NULL), VMM_ERROR_NOT_SUPPORTED,
               "a multimem kernel is refused");
    tap_u64(rig->driver->calls, 3, "no other call reached the driver");
    rig->driver->result = VMM_ERROR_NOT_INITIALIZED;
    tap_result(vmm_multicast_create(sys, NULL, NULL), VMM_ERROR_NOT_INITIALIZED,
               "without initialisation, that is reported first");
    vmm_close(sys);
}

/* The same through the public functions, with one parameter of each kind. */
static void check_public(struct rig *rig)
{
    vmm_system *sys;
    vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READ};
    if (vmm_open(rig->spec, &sys) != VMM_SUCCESS)
        tap_bail("%s", vmm_last_detail()->note);
    rig_reset(rig);
    tap_u64(rig->driver->calls, 0, "opening makes no call");
    tap_result(vmm_mem_set_access(sys, 0x200000, 0x400000, &desc, 1), VMM_SUCCESS, "cuMemSetAccess succeeds");
    tap_ok(strcmp(rig->driver->symbol, "cuMemSetAccess") == 0 && rig->driver->argument[0] == 0x200000 &&
               rig->driver->argument[1] == 0x400000 && rig->driver->argument[2] == (uintptr_t)&desc &&
               rig->driver->argument[3] == 1,
           "the driver receives the caller's own array");
    tap_result(vmm_ctx_synchronize(sys), VMM_SUCCESS, "a call without arguments");
    tap_text(rig->driver->symbol, "cuCtxSynchronize", "it reaches its function");
    tap_u64(vmm_leaks(sys, NULL, NULL), 0, "no leaks are reported, because none are known");
    tap_result(vmm_visit(sys, NULL, NULL), VMM_ERROR_NOT_SUPPORTED, "live objects cannot be listed");
    tap_ok(strstr(vmm_last_detail()->note, "simulator"), "the message names the simulator: %s", vmm_last_detail()->note);
    vmm_system *peer = NULL;
    tap_result(vmm_attach(sys, &peer), VMM_ERROR_NOT_SUPPORTED, "a second process cannot be attached");
    tap_ok(!peer && strstr(vmm_last_detail()->note, "process"), "the message says why: %s", vmm_last_detail()->note);
    vmm_close(sys);
    tap_u64(rig->driver->calls, 2, "closing makes no call");
}

int main(int argc, char **argv)
{
    struct rig rig;
    (void)argc;
    rig_load(&rig, argv[0], "libcuda.so");
    check_closed(&rig, NULL);
    check_closed(&rig, "0");
    setenv("CUVMM_REAL_MULTICAST", "1", 1);
    check_all(&rig, "by version");
    check_public(&rig);
    rig_load(&rig, argv[0], "libcuda-old.so");
    check_all(&rig, "by symbol");
    return tap_done();
}
