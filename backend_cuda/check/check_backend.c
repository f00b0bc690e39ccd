/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's pending call, as a backend. The shadow's own queries about the machine find no pending call and use the entry
 * point of that name. */
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "check.h"
#include "cuda_entries.h"
#include "heap.h"

struct check_backend {
    struct vmm_backend backend; /* must be first */
    struct cuda_entries entries;
};

static _Thread_local struct {
    check_function function;
    bool answered;
    vmm_result answer;
} waiting;

void check_wait_function(check_function function)
{
    waiting.function = function;
    waiting.answered = false;
}

void check_wait_answer(vmm_result result)
{
    waiting.function = NULL;
    waiting.answered = true;
    waiting.answer = result;
}

/* A refusal for which there may be no rule. */
static vmm_result finish(vmm_result result)
{
    if (result == VMM_ERROR_NOT_INITIALIZED)
        return vmm_detail_refuse(VMM_RULE_INIT_REQUIRED, 0, 0, NULL);
    if (result != VMM_SUCCESS) {
        vmm_detail_here()->result = result;
        vmm_detail_here()->severity = VMM_SEVERITY_ERROR;
    }
    return result;
}

/* Takes the pending call; returns false if *result already holds its result. */
static bool take(void *function, vmm_result *result)
{
    check_function waits = waiting.function;
    bool answered = waiting.answered;
    *result = answered ? waiting.answer : VMM_ERROR_NOT_SUPPORTED;
    waiting.function = NULL;
    waiting.answered = false;
    if (waits)
        memcpy(function, &waits, sizeof waits);
    if (vmm_last_detail()->severity != VMM_SEVERITY_NONE)
        check_foreseen(vmm_last_detail()); /* the driver may crash in this call */
    memcpy(&waits, function, sizeof waits);
    return !answered && waits;
}

/* This library's kernels cannot be launched through this backend, nor become nodes of graphs. */
#define HANDLER_OWN(name)                                                                           \
    static vmm_result call_##name(struct vmm_backend *self, struct vmm_call *call)                  \
    {                                                                                               \
        (void)self, (void)call;                                                                     \
        return VMM_ERROR_NOT_SUPPORTED;                                                             \
    }
#define HANDLER_SAME(name)                                                                          \
    static vmm_result call_##name(struct vmm_backend *self, struct vmm_call *head)                  \
    {                                                                                               \
        const struct vmm_call_##name *call = (const struct vmm_call_##name *)(const void *)head;    \
        struct cuda_entries entries = {.name = ((struct check_backend *)self)->entries.name};       \
        vmm_result result;                                                                          \
        (void)call;                                                                                 \
        if (take(&entries.name, &result))                                                           \
            result = entries.name(VMM_LIST(VMM_MEMBER, VMM_PARAMS_##name));                         \
        return finish(result);                                                                      \
    }
#define VMM_CALL(name, symbol, form, traits) HANDLER_##form(name)
#include "calls.def"

static vmm_result visit(struct vmm_backend *self, vmm_visit_fn visitor, void *user)
{
    (void)self, (void)visitor, (void)user;
    return VMM_ERROR_NOT_SUPPORTED;
}

static uint64_t leaks(struct vmm_backend *self, vmm_report_fn report, void *user)
{
    (void)self, (void)report, (void)user;
    return 0;
}

static vmm_result attach(struct vmm_backend *self, struct vmm_backend **peer)
{
    (void)self, (void)peer;
    return VMM_ERROR_NOT_SUPPORTED;
}

static void close_backend(struct vmm_backend *self)
{
    heap.free(self);
}

static const struct vmm_backend_ops ops = {
    .size = sizeof(struct vmm_backend_ops),
    .name = "check",
    .call =
        {
#define VMM_CALL(name, ...) [VMM_CALL_##name] = call_##name,
#include "calls.def"
        },
    .visit = visit,
    .leaks = leaks,
    .attach = attach,
    .close = close_backend,
};

struct vmm_backend *check_backend(void)
{
    struct check_backend *check = heap.calloc(1, sizeof *check);
    check_function function;
    if (!check)
        return NULL;
    check->backend.ops = &ops;
#define DRIVERS_OWN(name, symbol)
#define DRIVERS_SAME(name, symbol)          \
    function = check_driver_symbol(symbol); \
    memcpy(&check->entries.name, &function, sizeof function);
#define VMM_CALL(name, symbol, form, traits) DRIVERS_##form(name, #symbol)
#include "calls.def"
    /* analysers: malloc-leak is wrong: the caller owns the backend in it, and closing frees it */
    return &check->backend;
}
