/* SPDX-License-Identifier: Apache-2.0 */
/* shadow_rig.h - for tests of the shadow: a backend with results that no simulator gives.
 *
 *     program -> shadow -> odd -> a simulator
 *                           '--- answer(&w, VMM_CALL_mem_map, VMM_ERROR_INVALID_VALUE): the next cuMemMap gets this instead
 */
#ifndef SHADOW_RIG_H
#define SHADOW_RIG_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shadow.h"
#include "system.h"
#include "tap.h"

#define G (UINT64_C(2) << 20)
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE

typedef vmm_mem_generic_allocation_handle handle_t;

/* Wraps a backend and replaces the result of one call of one kind: the next one, unless skip is set. */
struct odd {
    struct vmm_backend base;
    bool armed;
    unsigned skip; /* the number of calls of that kind to pass on first */
    enum vmm_call_id id;
    vmm_result result;
    uint64_t output; /* the first parameter's output, and its size in bytes */
    size_t size;
    enum vmm_call_id then; /* the shadow's own call that gets prop */
    const vmm_mem_allocation_prop *prop;
    const char *foretold; /* the rule in the thread's record when the call was made */
};

static inline vmm_result odd_call(struct vmm_backend *self, struct vmm_call *call)
{
    struct odd *odd = (struct odd *)self;
    size_t count;
    if (odd->prop && !odd->armed && odd->then == (enum vmm_call_id)call->id) {
        *((union vmm_any_call *)(void *)call)->mem_get_allocation_properties_from_handle.prop = *odd->prop;
        odd->prop = NULL;
        return VMM_SUCCESS;
    }
    if (!odd->armed || odd->id != (enum vmm_call_id)call->id || odd->skip-- > 0)
        return vmm_backend_call(self->inner, call);
    odd->armed = false;
    odd->foretold = vmm_last_detail()->rule;
    if (odd->size)
        memcpy((void *)(uintptr_t)vmm_call_scalar(call, vmm_call_params(odd->id, &count)), &odd->output, odd->size);
    return odd->result;
}

static inline void odd_close(struct vmm_backend *self)
{
    self->inner->ops->close(self->inner);
    free(self);
}

static const struct vmm_backend_ops odd_ops = {
    .size = sizeof(struct vmm_backend_ops),
    .name = "odd",
    .call =
        {
#define VMM_CALL(name, ...) [VMM_CALL_##name] = odd_call,
#include "calls.def"
        },
    .visit = vmm_layer_visit,
    .leaks = vmm_layer_leaks,
    .attach = vmm_layer_attach,
    .close = odd_close,
};

struct world {
    vmm_system *sys;
    struct odd *odd;
    vmm_context context;
    vmm_deviceptr at; /* 4 granules: handle mapped in the first two, the last two free */
    handle_t handle;
};

static inline vmm_mem_allocation_prop prop_at(vmm_mem_location_type type, int id)
{
    return (vmm_mem_allocation_prop){.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {type, id}};
}

static inline struct world unopened(const char *args, const char *machine)
{
    struct world w = {.odd = calloc(1, sizeof *w.odd)};
    struct vmm_backend *top = NULL;
    if (!w.odd || vmm_sim_open(machine, &w.odd->base.inner) != VMM_SUCCESS)
        tap_bail("%s cannot be opened", machine);
    w.odd->base.ops = &odd_ops;
    if (vmm_shadow_open(args, &w.odd->base, &top) != VMM_SUCCESS || vmm_system_wrap(top, &w.sys) != VMM_SUCCESS)
        tap_bail("no shadow: %s", vmm_last_detail()->note);
    return w;
}

static inline struct world opened(const char *args, const char *machine)
{
    struct world w = unopened(args, machine);
    vmm_mem_allocation_prop prop = prop_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0);
    if (vmm_init(w.sys, 0) || vmm_ctx_create(w.sys, &w.context, 0, 0) || vmm_mem_create(w.sys, &w.handle, 2 * G, &prop, 0) ||
        vmm_mem_address_reserve(w.sys, &w.at, 4 * G, 0, 0, 0) || vmm_mem_map(w.sys, w.at, 2 * G, 0, w.handle, 0))
        tap_bail("no memory: %s", vmm_last_detail()->note);
    return w;
}

/* Replaces the result of the next call of that kind. */
static inline void answer(struct world *w, enum vmm_call_id id, vmm_result result)
{
    *w->odd = (struct odd){.base = w->odd->base, .armed = true, .id = id, .result = result};
}

static inline void answer_with(struct world *w, enum vmm_call_id id, uint64_t output, size_t size)
{
    answer(w, id, VMM_SUCCESS);
    w->odd->output = output;
    w->odd->size = size;
}

/* The same, and the shadow's own query of its properties gets these. */
static inline void answer_next(struct world *w, enum vmm_call_id id, uint64_t output, size_t size, enum vmm_call_id then,
                               const vmm_mem_allocation_prop *prop)
{
    answer_with(w, id, output, size);
    w->odd->then = then;
    w->odd->prop = prop;
}

static inline void count(void *user, const vmm_object *object)
{
    (void)object;
    ++*(unsigned *)user;
}

/* Does the shadow know which objects exist, and the reason for a refusal that the backend does not explain? */
static inline void follows(struct world *w, bool want, const char *name)
{
    unsigned seen = 0;
    answer(w, VMM_CALL_mem_map, VMM_ERROR_INVALID_VALUE);
    tap_result(vmm_mem_map(w->sys, w->at + G, 2 * G, 0, w->handle, 0), VMM_ERROR_INVALID_VALUE, "%s: then a refusal", name);
    const char *rule = vmm_last_detail()->rule;
    tap_text(rule ? rule : "none", want ? "VMM-MAP-OVERLAP" : "none", "%s: its rule", name);
    tap_ok((vmm_visit(w->sys, count, &seen) == VMM_SUCCESS) == want && (seen > 0) == want, "%s: the shadow enumerates %s", name,
           want ? "the objects" : "nothing");
    tap_ok((vmm_leaks(w->sys, NULL, NULL) > 0) == want, "%s: it reports %s", name,
           want ? "the leaks" : "no leaks");
}

static inline void said(const char *rule, const char *note, const char *name)
{
    const vmm_detail *detail = vmm_last_detail();
    tap_text(detail->rule ? detail->rule : "none", rule ? rule : "none", "%s: the rule", name);
    tap_ok(strstr(detail->note, note) != NULL, "%s: the words: %s", name, detail->note);
}

#endif
