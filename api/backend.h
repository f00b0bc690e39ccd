/* SPDX-License-Identifier: Apache-2.0 */
/* backend.h - the table that every backend and every layer fills.
 *
 *   vmm_mem_map(sys, ...)  ->  dispatch: number the call  ->  layer  ->  layer  ->  backend
 *                                                            inner ->  inner ->
 *
 * A layer is a backend that contains another one. No slot is ever NULL: VMM_BACKEND_SLOTS names one handler per entry point of
 * calls.def, so a missing handler is a link error.
 */
#ifndef CUVMM_BACKEND_H
#define CUVMM_BACKEND_H

#include "call.h"
#include "detail.h"
#include "vmm.h"

struct vmm_backend;

typedef vmm_result (*vmm_handler)(struct vmm_backend *self, struct vmm_call *call);

struct vmm_backend_ops {
    size_t size;      /* sizeof this struct as the backend was built with, checked at open */
    const char *name; /* "sim", "cuda", "trace", ... */
    vmm_handler call[VMM_CALL_COUNT];
    vmm_result (*visit)(struct vmm_backend *self, vmm_visit_fn visit, void *user);
    uint64_t (*leaks)(struct vmm_backend *self, vmm_report_fn report, void *user);
    vmm_result (*attach)(struct vmm_backend *self, struct vmm_backend **peer);
    void (*close)(struct vmm_backend *self); /* ends self and, in a layer, the inner backend */
};

struct vmm_backend {
    const struct vmm_backend_ops *ops;
    struct vmm_backend *inner; /* NULL in the innermost backend */
};

/* Passes the call to a backend. */
static inline vmm_result vmm_backend_call(struct vmm_backend *backend, struct vmm_call *call)
{
    return backend->ops->call[call->id](backend, call);
}

/* Openers. args is the text after ':' or '=' in the spec, "" if there is none. On failure *backend is unchanged, inner still
 * belongs to the caller, and the thread's detail is set. */
vmm_result vmm_sim_open(const char *args, struct vmm_backend **backend);
vmm_result vmm_cuda_open(const char *args, struct vmm_backend **backend);
vmm_result vmm_trace_open(const char *args, struct vmm_backend *inner, struct vmm_backend **backend);
vmm_result vmm_fault_open(const char *args, struct vmm_backend *inner, struct vmm_backend **backend);
vmm_result vmm_sites_open(const char *args, struct vmm_backend *inner, struct vmm_backend **backend);
vmm_result vmm_recorder_open(const char *args, struct vmm_backend *inner, struct vmm_backend **backend);
vmm_result vmm_shadow_open(const char *args, struct vmm_backend *inner, struct vmm_backend **backend);

/* The memory at an address and after it, as the shadow tracks it. */
struct shadow_bytes {
    uint64_t memory, offset, length; /* the memory's number: the same at each of its addresses, and never reused */
    bool host, managed;
};
/* At most size bytes starting at the address; false if the shadow knows of no memory there. */
bool vmm_shadow_bytes(struct vmm_backend *shadow, uint64_t address, uint64_t size, struct shadow_bytes *bytes);

/* Handlers of visit, leaks and attach for a layer that adds nothing to them: they forward to the inner backend. */
vmm_result vmm_layer_visit(struct vmm_backend *self, vmm_visit_fn visit, void *user);
uint64_t vmm_layer_leaks(struct vmm_backend *self, vmm_report_fn report, void *user);
vmm_result vmm_layer_attach(struct vmm_backend *self, struct vmm_backend **peer);

/* Keeps a layer whose inner backend was closed in a forked child. A thread of the parent may have been changing the layer during
 * the fork, so it stays as it is. */
void vmm_layer_leave(struct vmm_backend *self);

#endif
