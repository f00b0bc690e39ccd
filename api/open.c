/* SPDX-License-Identifier: Apache-2.0 */
/* Opens, attaches and closes systems; forwards visit and leaks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"
#include "os_environment.h"
#include "spec.h"
#include "system.h"

static const struct {
    const char *name;
    vmm_result (*open)(const char *args, struct vmm_backend **backend);
} backends[] = {
    {"sim", vmm_sim_open},
#ifndef CUVMM_NO_CUDA
    {"cuda", vmm_cuda_open},
#endif
};

static const struct {
    const char *name;
    vmm_result (*open)(const char *args, struct vmm_backend *inner, struct vmm_backend **backend);
} layers[] = {{"trace", vmm_trace_open}, {"fault", vmm_fault_open}, {"shadow", vmm_shadow_open}, {"sites", vmm_sites_open},
            {"recorder", vmm_recorder_open}};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Prepends the position to an opener's message. */
static void at_column(const struct spec_part *part, const char *spec)
{
    char note[sizeof((vmm_detail *)0)->note];
    snprintf(note, sizeof note, "%s", vmm_last_detail()->note);
    vmm_detail_note("spec \"%.40s\" column %zu: %.130s", spec, part->column, note);
}

static vmm_result open_backend(const struct spec_part *part, struct vmm_backend **backend)
{
    for (size_t i = 0; i < COUNT(backends); i++)
        if (strcmp(backends[i].name, part->name) == 0)
            return backends[i].open(part->args, backend);
#ifdef CUVMM_NO_CUDA
    if (strcmp(part->name, "cuda") == 0)
        return vmm_refuse_open(VMM_RULE_OPEN_NOT_FOUND, "vmm_open",
                               "this program is linked with the simulator only; link libcuvmm for the cuda backend");
#endif
    return vmm_refuse_open(VMM_RULE_OPEN_NOT_FOUND, "vmm_open", "no backend \"%.40s\"; there are: sim, cuda", part->name);
}

static vmm_result open_layer(const struct spec_part *part, struct vmm_backend *inner, struct vmm_backend **backend)
{
    for (size_t i = 0; i < COUNT(layers); i++)
        if (strcmp(layers[i].name, part->name) == 0)
            return layers[i].open(part->args, inner, backend);
    return vmm_refuse_open(VMM_RULE_OPEN_NOT_FOUND, "vmm_open", "no layer \"%.40s\"; there are: trace, fault, shadow", part->name);
}

static vmm_result open_parts(const char *text, const struct spec *spec, struct vmm_backend **top)
{
    struct vmm_backend *backend = NULL;
    vmm_result result = VMM_SUCCESS;
    for (size_t i = spec->count; i-- > 0 && result == VMM_SUCCESS;) {
        const struct spec_part *part = &spec->part[i];
        result = backend ? open_layer(part, backend, &backend) : open_backend(part, &backend);
        if (result == VMM_SUCCESS && backend->ops->size != sizeof(struct vmm_backend_ops)) {
            backend = NULL; /* the function that would close it lies elsewhere in its table */
            result = vmm_refuse_open(VMM_RULE_OPEN_UNSUPPORTED, "vmm_open", "%.40s was built for another version",
                                     part->name);
        }
        if (result != VMM_SUCCESS)
            at_column(part, text);
    }
    if (result == VMM_SUCCESS)
        *top = backend;
    else if (backend)
        backend->ops->close(backend);
    return result;
}

/* Returns spec, completed from the environment; the caller frees it. NULL when memory is out. */
static char *whole_spec(const char *spec)
{
    const char *backend = spec ? spec : os_environment("CUVMM_BACKEND");
    const char *wrap = os_environment("CUVMM_LAYERS");
    if (!backend)
        backend = "sim:h100";
    if (!wrap || !wrap[0] || strchr(backend, '|'))
        wrap = NULL;
    size_t size = strlen(backend) + (wrap ? strlen(wrap) + 1 : 0) + 1;
    char *text = heap.malloc(size);
    if (text)
        snprintf(text, size, "%s%s%s", wrap ? wrap : "", wrap ? "|" : "", backend);
    return text;
}

vmm_result vmm_system_wrap(struct vmm_backend *top, vmm_system **sys)
{
    vmm_system *made = heap.calloc(1, sizeof *made);
    if (!made) {
        /* analysers: clang-analyzer-core.NullDereference is wrong: a spec has at least one part, and its backend was opened */
        top->ops->close(top);
        return vmm_refuse_open(VMM_RULE_SYSTEM_HOST_MEMORY, "vmm_open", "the host's memory is exhausted");
    }
    made->top = top;
    ordinals_init(&made->calls);
    life_lock_init(&made->lock, LIFE_TABLE, NULL);
    *sys = made;
    return VMM_SUCCESS;
}

static vmm_result open_system(const char *spec, vmm_system **sys)
{
    struct spec parts;
    struct spec_error error;
    struct vmm_backend *top = NULL;
    if (!sys)
        return vmm_refuse_open(VMM_RULE_OPEN_ARGUMENT, "vmm_open", "sys is NULL: pass the address of a variable for the system");
    char *text = whole_spec(spec);
    if (!text)
        return vmm_refuse_open(VMM_RULE_SYSTEM_HOST_MEMORY, "vmm_open", "the host's memory is exhausted");
    vmm_result result;
    if (!spec_parse(text, &parts, &error)) {
        result = vmm_refuse_open(error.column ? VMM_RULE_OPEN_ARGUMENT : VMM_RULE_SYSTEM_HOST_MEMORY, "vmm_open",
                                 "spec \"%.40s\" column %zu: %.100s", text, error.column, error.text);
    } else {
        result = open_parts(text, &parts, &top);
        spec_free(&parts);
    }
    heap.free(text);
    if (result != VMM_SUCCESS)
        return result;
    *vmm_detail_here() = (vmm_detail){0};
    return vmm_system_wrap(top, sys);
}

vmm_result vmm_open(const char *spec, vmm_system **sys)
{
    int cancel = life_no_cancel();
    vmm_result result = open_system(spec, sys);
    life_may_cancel(cancel);
    return result;
}

vmm_result vmm_attach(vmm_system *sys, vmm_system **peer)
{
    struct vmm_backend *top = NULL;
    if (!peer)
        return vmm_refuse_open(VMM_RULE_OPEN_ARGUMENT, "vmm_attach", "peer is NULL: pass the address of a variable for the "
                                                                     "system");
    int cancel = life_no_cancel();
    vmm_result result = sys->top->ops->attach(sys->top, &top);
    life_may_cancel(cancel);
    return result == VMM_SUCCESS ? vmm_system_wrap(top, peer) : result;
}

void vmm_close(vmm_system *sys)
{
    if (!sys)
        return;
    int cancel = life_no_cancel();
    if (sys->report)
        vmm_leaks(sys, sys->report, sys->user);
    sys->top->ops->close(sys->top);
    life_lock_end(&sys->lock);
    heap.free(sys);
    life_may_cancel(cancel);
}

uint64_t vmm_leaks(vmm_system *sys, vmm_report_fn report, void *user)
{
    int cancel = life_no_cancel();
    uint64_t leaks = sys->top->ops->leaks(sys->top, report, user);
    life_may_cancel(cancel);
    return leaks;
}

vmm_result vmm_visit(vmm_system *sys, vmm_visit_fn visit, void *user)
{
    int cancel = life_no_cancel();
    vmm_result result = sys->top->ops->visit(sys->top, visit, user);
    life_may_cancel(cancel);
    return result;
}

vmm_mem_access_flags vmm_object_access(const vmm_object *mapping, vmm_mem_location location)
{
    unsigned slot = VMM_MAX_DEVICES; /* the host's slot; see access.h of the simulator */
    if (location.type == VMM_MEM_LOCATION_TYPE_DEVICE) {
        if (location.id < 0 || location.id >= VMM_MAX_DEVICES)
            return VMM_MEM_ACCESS_FLAGS_PROT_NONE;
        slot = (unsigned)location.id;
    } else if (location.type != VMM_MEM_LOCATION_TYPE_HOST && location.type != VMM_MEM_LOCATION_TYPE_HOST_NUMA) {
        return VMM_MEM_ACCESS_FLAGS_PROT_NONE;
    }
    return (vmm_mem_access_flags)(mapping->access >> (2 * slot) & 3);
}
