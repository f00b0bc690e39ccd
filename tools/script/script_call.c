/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a step's call, judges its outcome and names the objects that it made. See script_state.h. */
#include <stdlib.h>
#include <string.h>

#include "script_state.h"

static bool is_async(enum vmm_call_id id)
{
    return id == VMM_CALL_memcpy_htod_async || id == VMM_CALL_memcpy_dtoh_async;
}

struct step *script_step(struct script *script, enum vmm_call_id id)
{
    struct step *old = &script->step;
    if (old->bytes && is_async(old->call.head.id)) {
        script->kept = text_grow(script->kept, (script->kept_count + 1) * sizeof *script->kept);
        script->kept[script->kept_count++] = old->bytes;
        old->bytes = NULL;
    }
    step_end(old);
    step_begin(&script->step, id);
    return &script->step;
}

struct step_names script_names(const struct script *script)
{
    return (struct step_names){&script->symbols, &script->open, script->options.addresses};
}

/* Is it not an output, or an output of several values? */
static bool has_no_name(enum vmm_param_kind kind)
{
    switch (kind) {
    case VMM_PARAM_OUT_BYTES:
    case VMM_PARAM_OUT_TEXT:
    case VMM_PARAM_OUT_PROP:
    case VMM_PARAM_OUT_STRUCT:
    case VMM_PARAM_OUT_RANGE:
    case VMM_PARAM_OUT_MEMCPY3D:
    case VMM_PARAM_OUT_ATTRIBUTES:
    case VMM_PARAM_OUT_NODES:
    case VMM_PARAM_OUT_EDGES:
    case VMM_PARAM_OUT_NODES_AT:
    case VMM_PARAM_OUT_EDGES_AT:
    case VMM_PARAM_IO_COUNT:
    case VMM_PARAM_IO_INT:
    case VMM_PARAM_OUT_ID:
    case VMM_PARAM_OUT_UPDATE:
    case VMM_PARAM_OUT_FILL_NODE:
    case VMM_PARAM_OUT_HOST_NODE: return true;
    default: return !step_is_out(kind);
    }
}

/* The first output that can have a name: its index, or the count when there is none. */
static size_t named_output(const struct step *step, size_t *count)
{
    const struct vmm_param *params = vmm_call_params(step->call.head.id, count);
    for (size_t i = 0; i < *count; i++) {
        enum vmm_param_kind kind = params[i].kind;
        if (!has_no_name(kind) &&
            (kind != VMM_PARAM_OUT_FD || step->call.head.id != VMM_CALL_mem_get_handle_for_address_range))
            return i;
    }
    return *count;
}

/* out=null: the first output, of whatever kind, is a NULL pointer. */
static bool null_output(struct script *script)
{
    const struct word *word = args_option(script, "out");
    size_t count;
    const struct vmm_param *params = vmm_call_params(script->step.call.head.id, &count);
    if (!word)
        return true;
    if (strcmp(word->text, "null") != 0)
        return script_wrong(script, word->column, "\"%.40s\" after out=; only null can be said about an output",
                            word->text);
    for (size_t i = 0; i < count; i++)
        if (step_is_out(params[i].kind)) {
            vmm_call_set_scalar(&script->step.call.head, &params[i], 0);
            return true;
        }
    return script_wrong(script, word->column - 4, "%s has no output", script->command->name);
}

static enum symbol_kind kind_of(const struct step *step, enum vmm_param_kind kind)
{
    switch (kind) {
    case VMM_PARAM_OUT_ADDRESS:
        if (step->call.head.id == VMM_CALL_mem_get_address_range)
            return SYMBOL_NUMBER;
        return step->call.head.id == VMM_CALL_mem_address_reserve ? SYMBOL_RESERVATION : SYMBOL_ALLOCATION;
    case VMM_PARAM_OUT_HANDLE: return SYMBOL_HANDLE;
    case VMM_PARAM_OUT_CONTEXT: return SYMBOL_CONTEXT;
    case VMM_PARAM_OUT_STREAM: return SYMBOL_STREAM;
    case VMM_PARAM_OUT_EVENT: return SYMBOL_EVENT;
    case VMM_PARAM_OUT_POOL: return SYMBOL_POOL;
    case VMM_PARAM_OUT_ARRAY: return SYMBOL_ARRAY;
    case VMM_PARAM_OUT_GRAPH: return SYMBOL_GRAPH;
    case VMM_PARAM_OUT_GRAPH_NODE: return SYMBOL_NODE;
    case VMM_PARAM_OUT_GRAPH_EXEC: return SYMBOL_EXEC;
    case VMM_PARAM_OUT_USER_OBJECT: return SYMBOL_OBJECT;
    case VMM_PARAM_OUT_FD: return SYMBOL_DESCRIPTOR;
    default: return SYMBOL_NUMBER;
    }
}

/* The size of the memory whose 64 bytes have that number, regardless of the process that exported it. */
static uint64_t size_of_handle(struct script *script, uint64_t number)
{
    const struct symbol *known = symbols_named(&script->symbols, SYMBOL_NUMBER, number);
    for (size_t i = 0; !known && i < script->processes; i++)
        if (i != script->current)
            known = symbols_named(&script->process[i].symbols, SYMBOL_NUMBER, number);
    return known ? known->size : 0;
}

static uint64_t size_of_new(struct script *script, const struct step *step, uint64_t value)
{
    const struct symbol *known;
    switch (step->call.head.id) {
    case VMM_CALL_mem_address_reserve: return step->call.mem_address_reserve.size;
    case VMM_CALL_mem_create: return step->call.mem_create.size;
    case VMM_CALL_multicast_create: return step->call.multicast_create.prop ? step->team.size : 0;
    case VMM_CALL_mem_alloc_managed: return step->call.mem_alloc_managed.bytesize;
    case VMM_CALL_mipmapped_array_create: return 1; /* it has levels */
    case VMM_CALL_mem_alloc: return step->call.mem_alloc.bytesize;
    case VMM_CALL_mem_alloc_async: return step->call.mem_alloc_async.bytesize;
    case VMM_CALL_mem_alloc_from_pool_async: return step->call.mem_alloc_from_pool_async.bytesize;
    case VMM_CALL_mem_export_to_shareable_handle:
        known = symbols_named(&script->symbols, SYMBOL_HANDLE, step->call.mem_export_to_shareable_handle.handle);
        return known ? known->size : 0;
    case VMM_CALL_mem_import_from_shareable_handle:
        known = symbols_named(&script->symbols, SYMBOL_DESCRIPTOR,
                              (uint64_t)(uintptr_t)step->call.mem_import_from_shareable_handle.os_handle);
        return known ? known->size : 0;
    case VMM_CALL_ipc_get_mem_handle:
        known = symbols_at(&script->symbols, step->call.ipc_get_mem_handle.dptr);
        return known ? known->size : 0;
    case VMM_CALL_ipc_open_mem_handle: {
        uint64_t last;
        memcpy(&last, step->fabric + sizeof step->fabric - sizeof last, sizeof last);
        return size_of_handle(script, fabrics_ending(&script->fabrics, last));
    }
    case VMM_CALL_mem_retain_allocation_handle:
        known = symbols_named(&script->symbols, SYMBOL_HANDLE, value);
        return known ? known->size : 0;
    default: return 0;
    }
}

/* A named descriptor stays open until the script closes it or ends. */
static void keep_descriptor(struct script *script)
{
    if (!script->step.has_descriptor)
        return;
    script->step.has_descriptor = false;
    descriptors_keep(&script->open, script->step.descriptor);
}

/* The handle that a descriptor or fabric handle was exported from. */
static void name_exported(struct script *script, struct symbol *symbol)
{
    const struct symbol *handle = NULL;
    if (script->step.call.head.id == VMM_CALL_mem_export_to_shareable_handle)
        handle = symbols_named(&script->symbols, SYMBOL_HANDLE, script->step.call.mem_export_to_shareable_handle.handle);
    if (handle)
        strcpy(symbol->of, handle->name);
}

static void bind_output(struct script *script)
{
    const struct step *step = &script->step;
    size_t count, index = named_output(step, &count);
    const struct vmm_param *params = vmm_call_params(step->call.head.id, &count);
    if (!script->bind[0] || index == count || !vmm_call_scalar(&step->call.head, &params[index]))
        return;
    const union step_out *out = &step->out[index];
    enum symbol_kind kind = kind_of(step, params[index].kind);
    bool narrow = params[index].kind == VMM_PARAM_OUT_INT || kind == SYMBOL_DESCRIPTOR ||
                  (params[index].kind == VMM_PARAM_OUT_POOL_VALUE &&
                   vmm_pool_attribute_size(step->call.mem_pool_get_attribute.attr) == sizeof(int));
    uint64_t value = narrow ? (uint64_t)(int64_t)out->i : out->u64;
    if (step_wrote_fabric(step) || params[index].kind == VMM_PARAM_OUT_POOL_POINTER ||
        params[index].kind == VMM_PARAM_OUT_IPC_HANDLE)
        value = fabrics_keep(&script->fabrics, out->shareable);
    uint64_t size = size_of_new(script, step, value);
    struct symbol *symbol = symbols_set(&script->symbols, script->bind, kind, value);
    symbol->size = size;
    if (kind == SYMBOL_DESCRIPTOR) {
        keep_descriptor(script);
        name_exported(script, symbol);
    }
    if (kind == SYMBOL_NUMBER && index + 1 < count && params[index + 1].kind == VMM_PARAM_OUT_SIZE)
        symbol->total = step->out[index + 1].u64;
}

/* The objects that a successful call ended. */
static void end_names(struct script *script)
{
    const union vmm_any_call *call = &script->step.call;
    switch (call->head.id) {
    case VMM_CALL_mem_address_free: symbols_end(&script->symbols, SYMBOL_RESERVATION, call->mem_address_free.ptr); break;
    case VMM_CALL_mem_release: symbols_end(&script->symbols, SYMBOL_HANDLE, call->mem_release.handle); break;
    case VMM_CALL_ipc_close_mem_handle:
        symbols_end(&script->symbols, SYMBOL_ALLOCATION, call->ipc_close_mem_handle.dptr);
        break;
    case VMM_CALL_mem_free: symbols_end(&script->symbols, SYMBOL_ALLOCATION, call->mem_free.dptr); break;
    case VMM_CALL_mem_free_async: symbols_end(&script->symbols, SYMBOL_ALLOCATION, call->mem_free_async.dptr); break;
    case VMM_CALL_mem_pool_destroy:
        symbols_end(&script->symbols, SYMBOL_POOL, (uint64_t)(uintptr_t)call->mem_pool_destroy.pool);
        break;
    case VMM_CALL_array_destroy:
    case VMM_CALL_mipmapped_array_destroy: /* the same parameters */
        symbols_end(&script->symbols, SYMBOL_ARRAY, (uint64_t)(uintptr_t)call->array_destroy.h_array);
        break;
    case VMM_CALL_ctx_destroy:
        symbols_end(&script->symbols, SYMBOL_CONTEXT, (uint64_t)(uintptr_t)call->ctx_destroy.ctx);
        break;
    case VMM_CALL_stream_destroy:
        symbols_end(&script->symbols, SYMBOL_STREAM, (uint64_t)(uintptr_t)call->stream_destroy.stream);
        break;
    case VMM_CALL_event_destroy:
        symbols_end(&script->symbols, SYMBOL_EVENT, (uint64_t)(uintptr_t)call->event_destroy.event);
        break;
    case VMM_CALL_graph_destroy:
        symbols_end(&script->symbols, SYMBOL_GRAPH, (uint64_t)(uintptr_t)call->graph_destroy.graph);
        break;
    case VMM_CALL_graph_destroy_node:
        symbols_end(&script->symbols, SYMBOL_NODE, (uint64_t)(uintptr_t)call->graph_destroy_node.node);
        break;
    case VMM_CALL_graph_exec_destroy:
        symbols_end(&script->symbols, SYMBOL_EXEC, (uint64_t)(uintptr_t)call->graph_exec_destroy.graph_exec);
        break;
    default: break;
    }
}

static void print_outcome(struct script *script, const char *call, vmm_result result)
{
    FILE *out = script->options.out;
    struct step_names names = script_names(script);
    if (script->options.quiet)
        return;
    char *text = NULL;
    size_t size;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return;
    script->options.out = memory;
    fprintf(memory, "%s -> ", call);
    script_colour(script, result == VMM_SUCCESS ? "32" : "31");
    fputs(vmm_result_name(result), memory);
    script_plain(script);
    if (result == VMM_SUCCESS)
        step_print_answers(memory, &script->step, &names);
    fclose(memory);
    script->options.out = out;
    fputs("  ", out);
    text_wrap(out, text, 2, 6, text_columns_of_lines());
    fputs("\n", out);
    free(text);
}

static void ignore_object(void *user, const vmm_object *object)
{
    (void)user;
    (void)object;
}

/* Backends without rules (a bare driver) can only be checked for the result. */
static bool same_rule(const struct script *script, const vmm_detail *detail)
{
    if (!script->expect.rule || (detail->rule && strcmp(detail->rule, script->expect.rule) == 0))
        return true;
    return !detail->rule && vmm_visit(script->sys, ignore_object, NULL) == VMM_ERROR_NOT_SUPPORTED;
}

static const char *short_name(vmm_result result)
{
    const char *name = vmm_result_name(result);
    return strncmp(name, "CUDA_ERROR_", 11) == 0 ? name + 11 : name;
}

static const char *outcome_text(const vmm_detail *detail, char *buffer, size_t size)
{
    bool warned = detail->severity == VMM_SEVERITY_WARNING;
    snprintf(buffer, size, "%s%s%s%s", vmm_result_name(detail->result), warned ? ", warned about" : "",
             detail->rule ? " " : "", detail->rule ? detail->rule : "");
    return buffer;
}

static bool judge(struct script *script, const vmm_detail *detail)
{
    const struct script_expect *expect = &script->expect;
    bool warned = detail->severity == VMM_SEVERITY_WARNING, refused = detail->result != VMM_SUCCESS;
    char got[128];
    if (expect->kind == EXPECT_NOTHING) {
        if (!refused || script->options.interactive)
            return true;
        return script_failed(script, "%s was refused: %s\n    where that is intended, write: expect %s%s%s: ...",
                             detail->function ? detail->function : vmm_call_driver_name(script->step.call.head.id),
                             vmm_result_text(detail->result), short_name(detail->result), detail->rule ? " " : "",
                             detail->rule ? detail->rule : "");
    }
    bool as_expected = expect->kind == EXPECT_WARNING ? warned && !refused
                       : expect->result == VMM_SUCCESS ? !refused && !warned
                                                       : detail->result == expect->result;
    if (as_expected && same_rule(script, detail)) {
        if (!script->options.quiet)
            fputs("  as expected\n", script->options.out);
        return true;
    }
    return script_failed(script, "expected %s%s%s%s, got %s", expect->kind == EXPECT_WARNING ? "a warning"
                         : vmm_result_name(expect->result),
                         expect->kind == EXPECT_RESULT && expect->result == VMM_SUCCESS ? " without a warning" : "",
                         expect->rule ? " " : "", expect->rule ? expect->rule : "",
                         outcome_text(detail, got, sizeof got));
}

/* Prints the call before its outputs change the meaning of the names. */
static char *call_text(struct script *script)
{
    char *text = NULL;
    size_t size;
    struct step_names names = script_names(script);
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return NULL;
    step_print_call(memory, &script->step, &names);
    fclose(memory);
    return text;
}

bool script_refused(struct script *script, const char *call)
{
    vmm_detail detail = *vmm_last_detail();
    print_outcome(script, call, detail.result);
    if (!script->options.quiet)
        script_print_detail(script, &detail);
    return judge(script, &detail);
}

bool script_make(struct script *script, bool *answered)
{
    struct step *step = &script->step;
    size_t count;
    if (answered)
        *answered = false;
    if (!null_output(script) || !args_done(script) || !script_system(script))
        return false;
    if (script->bind[0] && named_output(step, &count) == count)
        return script_wrong(script, script->bind_column, "%s gives nothing that could be named \"%s\"",
                            vmm_call_driver_name(step->call.head.id), script->bind);
    step->bind = script->bind[0] ? script->bind : NULL;
    char *text = call_text(script);
    const struct script_watch *watch = script->options.watch;
    if (watch)
        watch->before(watch->user, script);
    script_invoke(script, step);
    vmm_detail detail = *vmm_last_detail();
    detail.result = step->result; /* a backend without details leaves it empty */
    if (step->result == VMM_SUCCESS) {
        bind_output(script);
        end_names(script);
    }
    print_outcome(script, text ? text : "?", step->result);
    free(text);
    if (!script->options.quiet && detail.severity != VMM_SEVERITY_NONE)
        script_print_detail(script, &detail);
    if (watch)
        watch->after(watch->user, script, &detail);
    bool ok = judge(script, &detail);
    if (answered)
        *answered = step->result == VMM_SUCCESS;
    return ok;
}
