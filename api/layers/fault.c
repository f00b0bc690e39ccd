/* SPDX-License-Identifier: Apache-2.0 */
#include "fault.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"
#include "sites.h"

struct fault {
    struct vmm_backend base;
    struct fault_plan plan;
    bool here; /* is this the process whose call is to fail? */
    _Atomic uint64_t seen; /* matching calls so far */
};

/* ---- parsing the plan ---- */

/* A piece of the text between two colons. */
struct field {
    const char *at;
    size_t length;
};

static bool wrong(struct fault_error *error, const char *args, const struct field *field, const char *expected)
{
    error->column = (size_t)(field->at - args) + 1;
    if (field->length)
        snprintf(error->text, sizeof error->text, "expected %s, found \"%.*s\"", expected,
                 field->length > 32 ? 32 : (int)field->length, field->at);
    else
        snprintf(error->text, sizeof error->text, "expected %s, found nothing", expected);
    return false;
}

static bool is(const struct field *field, const char *text)
{
    return strlen(text) == field->length && strncmp(field->at, text, field->length) == 0;
}

/* Returns the field at *at and moves *at past its colon; *at is NULL after the last field. */
static struct field next_field(const char **at)
{
    const char *colon = strchr(*at, ':');
    struct field field = {*at, colon ? (size_t)(colon - *at) : strlen(*at)};
    *at = colon ? colon + 1 : NULL;
    return field;
}

static bool read_call(const struct field *field, enum vmm_call_id *call)
{
    char name[64];
    if (field->length >= sizeof name)
        return false;
    memcpy(name, field->at, field->length);
    name[field->length] = '\0';
    *call = strcmp(name, "any") == 0 ? VMM_CALL_COUNT : vmm_call_find(name);
    return *call != VMM_CALL_COUNT || strcmp(name, "any") == 0;
}

static bool read_nth(const struct field *field, uint64_t *nth)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < field->length; i++) {
        unsigned digit = (unsigned char)field->at[i] - (unsigned)'0';
        if (digit > 9 || sum > (UINT64_MAX - digit) / 10)
            return false;
        sum = sum * 10 + digit;
    }
    *nth = sum;
    return sum > 0;
}

static bool begins(const struct field *field, const char *text)
{
    return field->length >= strlen(text) && strncmp(field->at, text, strlen(text)) == 0;
}

static bool read_process(const struct field *field, uint32_t *process)
{
    size_t before = strlen("process=");
    struct field digits = {field->at + before, field->length - before};
    uint64_t number;
    if (!read_nth(&digits, &number) || number > UINT32_MAX)
        return false;
    *process = (uint32_t)number;
    return true;
}

static bool read_result(const struct field *field, vmm_result *result)
{
    static const struct {
        const char *name;
        vmm_result result;
    } rows[] = {
#define VMM_RESULT(name, number, text) {#name, VMM_##name},
#include "results.def"
    };
    struct field rest = *field;
    if (rest.length > 5 && strncmp(rest.at, "CUDA_", 5) == 0)
        rest = (struct field){rest.at + 5, rest.length - 5};
    if (rest.length > 6 && strncmp(rest.at, "ERROR_", 6) == 0)
        rest = (struct field){rest.at + 6, rest.length - 6};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].result != VMM_SUCCESS && is(&rest, rows[i].name + strlen("ERROR_"))) {
            *result = rows[i].result;
            return true;
        }
    return false;
}

bool fault_parse(const char *args, struct fault_plan *plan, struct fault_error *error)
{
    struct fault_plan read = {VMM_CALL_COUNT, 0, VMM_ERROR_OUT_OF_MEMORY, false, 0};
    const char *at = args;
    struct field field = next_field(&at);
    if (!read_call(&field, &read.call))
        return wrong(error, args, &field, "a call such as mem_create or cuMemCreate, or any");
    field = at ? next_field(&at) : (struct field){args + strlen(args), 0};
    if (!read_nth(&field, &read.nth))
        return wrong(error, args, &field, "which call is to fail, a number from 1");
    bool named = false;
    while (at) {
        field = next_field(&at);
        if (read.forever)
            return wrong(error, args, &field, "the end after \"forever\"");
        if (is(&field, "forever"))
            read.forever = true;
        else if (begins(&field, "process=") && !read.process && read_process(&field, &read.process))
            continue;
        else if (begins(&field, "process="))
            return wrong(error, args, &field, "one process, a number from 1, as process=2");
        else if (named || !read_result(&field, &read.result))
            return wrong(error, args, &field, named ? "\"forever\" or the end" : "an error's name or \"forever\"");
        else
            named = true;
    }
    *plan = read;
    return true;
}

/* ---- the layer ---- */

static vmm_result inject(const struct fault *fault, uint64_t nth)
{
    vmm_detail *detail = vmm_detail_here();
    detail->result = fault->plan.result;
    detail->severity = VMM_SEVERITY_ERROR;
    vmm_detail_note("layer fault, call %" PRIu64 " of %s: made to fail; the backend did not see the call", nth,
                    fault->plan.call == VMM_CALL_COUNT ? "any" : vmm_call_name(fault->plan.call));
    return fault->plan.result;
}

static vmm_result fault_call(struct vmm_backend *self, struct vmm_call *call)
{
    struct fault *fault = (struct fault *)self;
    if (fault->here && (fault->plan.call == VMM_CALL_COUNT || fault->plan.call == (enum vmm_call_id)call->id)) {
        uint64_t nth = atomic_fetch_add_explicit(&fault->seen, 1, memory_order_relaxed) + 1;
        if (nth == fault->plan.nth || (fault->plan.forever && nth > fault->plan.nth))
            return inject(fault, nth);
    }
    return vmm_backend_call(self->inner, call);
}

static void fault_close(struct vmm_backend *self)
{
    self->inner->ops->close(self->inner);
    heap.free(self);
}

static const struct vmm_backend_ops fault_ops = {
    .size = sizeof(struct vmm_backend_ops),
    .name = "fault",
    .call =
        {
#define VMM_CALL(name, ...) [VMM_CALL_##name] = fault_call,
#include "calls.def"
        },
    .visit = vmm_layer_visit,
    .leaks = vmm_layer_leaks,
    .attach = vmm_layer_attach,
    .close = fault_close,
};

vmm_result vmm_fault_open(const char *args, struct vmm_backend *inner, struct vmm_backend **backend)
{
    struct fault_plan plan;
    struct fault_error error;
    if (!fault_parse(args, &plan, &error))
        return vmm_refuse_open(VMM_RULE_OPEN_ARGUMENT, "vmm_open", "fault, character %zu: %s", error.column,
                               error.text);
    uint32_t process = plan.process ? sites_process() : 0;
    if (plan.process && !process)
        return vmm_refuse_open(VMM_RULE_OPEN_ARGUMENT, "vmm_open",
                               "fault: processes are counted only under cuvmm exec, which sets CUVMM_PROCESSES; leave out "
                               "process=%" PRIu32
                               " out", plan.process);
    struct fault *fault = heap.calloc(1, sizeof *fault);
    if (!fault)
        return vmm_refuse_open(VMM_RULE_SYSTEM_HOST_MEMORY, "vmm_open", "fault: the host's memory is exhausted");
    fault->base = (struct vmm_backend){&fault_ops, inner};
    fault->plan = plan;
    fault->here = process == plan.process;
    *backend = &fault->base;
    return VMM_SUCCESS;
}
