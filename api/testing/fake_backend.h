/* SPDX-License-Identifier: Apache-2.0 */
/* fake_backend.h - for tests of layers in isolation: a backend made from calls.def that records its calls, writes every output,
 * and returns a result that the test has set. */
#ifndef CUVMM_LAYERS_FAKE_BACKEND_H
#define CUVMM_LAYERS_FAKE_BACKEND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "backend.h"
#include "detail.h"

struct fake {
    struct vmm_backend base;
    _Atomic uint64_t seen;    /* calls that arrived */
    union vmm_any_call last;  /* the latest call */
    vmm_result result;        /* the result of all calls */
    const vmm_object *nearest; /* NULL: none; otherwise every call is refused because of it, by a rule */
    bool writes_flags;        /* also write OUT_U64 when the call fails */
    uint64_t next;            /* the next value for 64-bit outputs, which is incremented */
    int visited, leaked, attached, closed;
};

static void fake_write(struct fake *fake, const struct vmm_call *call, const struct vmm_param *param)
{
    void *at = (void *)(uintptr_t)vmm_call_scalar(call, param);
    int narrow = 7;
    uint64_t wide = fake->next;
    if (!at)
        return;
    switch (param->kind) {
    case VMM_PARAM_OUT_INT:
    case VMM_PARAM_OUT_FD:
        memcpy(at, &narrow, sizeof narrow);
        break;
    case VMM_PARAM_OUT_PROP:
        memset(at, 0, sizeof(vmm_mem_allocation_prop));
        break;
    case VMM_PARAM_OUT_POOL_POINTER:
        memset(at, 0, sizeof(vmm_mem_pool_ptr_export_data));
        break;
    case VMM_PARAM_OUT_STRUCT:
        memset(at, 0, vmm_shape(param->shape)->size);
        break;
    case VMM_PARAM_OUT_MEMCPY3D:
        memset(at, 0, sizeof(vmm_memcpy3d));
        break;
    case VMM_PARAM_OUT_NODES_AT:
    case VMM_PARAM_OUT_EDGES_AT: /* no list */
        memset(at, 0, sizeof(void *));
        break;
    case VMM_PARAM_IO_COUNT: /* as many as fit, or as there are */
        memset(at, 0, sizeof(uint64_t));
        break;
    case VMM_PARAM_IO_INT:
        memcpy(at, &narrow, sizeof narrow);
        break;
    case VMM_PARAM_OUT_UPDATE:
        memset(at, 0, sizeof(vmm_graph_exec_update_result_info));
        break;
    case VMM_PARAM_OUT_FILL_NODE:
        memset(at, 0, sizeof(vmm_memset_node_params));
        break;
    case VMM_PARAM_OUT_HOST_NODE:
        memset(at, 0, sizeof(vmm_host_node_params));
        break;
    case VMM_PARAM_OUT_IPC_HANDLE:
        memset(at, 0x11, sizeof(vmm_ipc_mem_handle));
        break;
    case VMM_PARAM_OUT_TEXT:
        memcpy(at, "a \"b\"\n\\\x80", 9);
        break;
    case VMM_PARAM_OUT_U64:
    case VMM_PARAM_OUT_SIZE:
    case VMM_PARAM_OUT_ADDRESS:
    case VMM_PARAM_OUT_HANDLE:
    case VMM_PARAM_OUT_CONTEXT:
    case VMM_PARAM_OUT_STREAM:
    case VMM_PARAM_OUT_EVENT:
    case VMM_PARAM_OUT_POOL:
    case VMM_PARAM_OUT_ARRAY:
    case VMM_PARAM_OUT_GRAPH:
    case VMM_PARAM_OUT_GRAPH_NODE:
    case VMM_PARAM_OUT_GRAPH_EXEC:
    case VMM_PARAM_OUT_USER_OBJECT:
    case VMM_PARAM_OUT_ID:
    case VMM_PARAM_OUT_POOL_VALUE:
        memcpy(at, &wide, sizeof wide);
        fake->next += UINT64_C(0x1000000);
        break;
    default: /* bytes and attributes belong to the test */
        break;
    }
}

static vmm_result fake_call(struct vmm_backend *self, struct vmm_call *call)
{
    struct fake *fake = (struct fake *)self;
    size_t count = 0;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)call->id, &count);
    atomic_fetch_add(&fake->seen, 1);
    memcpy(&fake->last, call, vmm_call_size((enum vmm_call_id)call->id));
    for (size_t i = 0; i < count; i++)
        if (fake->result == VMM_SUCCESS || (fake->writes_flags && params[i].kind == VMM_PARAM_OUT_U64))
            fake_write(fake, call, &params[i]);
    if (fake->nearest)
        return vmm_detail_refuse(VMM_RULE_MAP_OVERLAP, 0, 0, fake->nearest);
    return fake->result;
}

static vmm_result fake_visit(struct vmm_backend *self, vmm_visit_fn visit, void *user)
{
    (void)visit;
    (void)user;
    ((struct fake *)self)->visited++;
    return VMM_SUCCESS;
}

static uint64_t fake_leaks(struct vmm_backend *self, vmm_report_fn report, void *user)
{
    (void)report;
    (void)user;
    return (uint64_t)++((struct fake *)self)->leaked;
}

static vmm_result fake_attach(struct vmm_backend *self, struct vmm_backend **peer)
{
    ((struct fake *)self)->attached++;
    *peer = self;
    return VMM_SUCCESS;
}

static void fake_close(struct vmm_backend *self)
{
    ((struct fake *)self)->closed++;
}

static const struct vmm_backend_ops fake_ops = {
    .size = sizeof(struct vmm_backend_ops),
    .name = "fake",
    .call =
        {
#define VMM_CALL(name, ...) [VMM_CALL_##name] = fake_call,
#include "calls.def"
        },
    .visit = fake_visit,
    .leaks = fake_leaks,
    .attach = fake_attach,
    .close = fake_close,
};

static inline void fake_init(struct fake *fake)
{
    memset(fake, 0, sizeof *fake);
    fake->base.ops = &fake_ops;
    fake->next = UINT64_C(0x100000000000);
}

/* Dispatches a call like dispatch.c. */
static inline vmm_result fake_dispatch(struct vmm_backend *top, struct vmm_call *call, uint64_t number)
{
    call->number = number;
    vmm_detail_begin(call);
    return vmm_backend_call(top, call);
}

#endif
