/* SPDX-License-Identifier: Apache-2.0 */
/* The call itself in C, once it is known what it answered: outputs, the names they get, what is checked. See program_state.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "program_state.h"

static const char *const call_prefix[PROGRAM_APIS] = {"vmm_", ""};

/* The type of what an output writes, by its kind; PROGRAM_TYPES where that is not one of them. */
static enum program_type type_of(const struct step *step, enum vmm_param_kind kind)
{
    switch (kind) {
    case VMM_PARAM_OUT_INT: return PROGRAM_INT;
    case VMM_PARAM_OUT_FD: return step_wrote_fabric(step) ? PROGRAM_FABRIC : PROGRAM_FD;
    case VMM_PARAM_OUT_U64: return PROGRAM_FLAGS;
    case VMM_PARAM_OUT_SIZE: return PROGRAM_SIZE;
    case VMM_PARAM_OUT_ADDRESS: return PROGRAM_ADDRESS;
    case VMM_PARAM_OUT_HANDLE: return PROGRAM_HANDLE;
    case VMM_PARAM_OUT_CONTEXT: return PROGRAM_CONTEXT;
    case VMM_PARAM_OUT_STREAM: return PROGRAM_STREAM;
    case VMM_PARAM_OUT_EVENT: return PROGRAM_EVENT;
    case VMM_PARAM_OUT_POOL: return PROGRAM_POOL;
    case VMM_PARAM_OUT_ARRAY: return step->call.head.id == VMM_CALL_mipmapped_array_create ? PROGRAM_MIPMAPPED : PROGRAM_ARRAY;
    case VMM_PARAM_OUT_IPC_HANDLE: return step->call.head.id == VMM_CALL_ipc_get_event_handle ? PROGRAM_IPC_EVENT : PROGRAM_IPC;
    case VMM_PARAM_OUT_GRAPH: return PROGRAM_GRAPH;
    case VMM_PARAM_OUT_GRAPH_NODE: return PROGRAM_NODE;
    case VMM_PARAM_OUT_GRAPH_EXEC: return PROGRAM_EXEC;
    case VMM_PARAM_OUT_USER_OBJECT: return PROGRAM_OBJECT;
    default: return PROGRAM_TYPES;
    }
}

static const char *no_value(enum program_type type)
{
    return program_is_pointer(type) ? "NULL" : type == PROGRAM_FABRIC || type == PROGRAM_IPC || type == PROGRAM_IPC_EVENT ? "{0}" : "0";
}

static void add_answers(struct text *out, const struct step *step)
{
    unsigned count = step->call.pointer_get_attributes.num_attributes;
    text_add(out, "(void *[]){");
    for (unsigned i = 0; i < STEP_ATTRIBUTES && (i < count || i == 0); i++)
        text_add(out, "%s&(union answer){0}", i ? ", " : "");
    text_add(out, "}");
}

/* The type of an output that no name is given to, for each interface; NULL where it is none of these. */
static const char *type_of_room(enum vmm_param_kind kind, enum program_api api)
{
    const bool vmm = api == PROGRAM_VMM;
    switch (kind) {
    case VMM_PARAM_OUT_NODES: return vmm ? "vmm_graph_node[256]" : "CUgraphNode[256]";
    case VMM_PARAM_OUT_EDGES: return vmm ? "vmm_graph_edge_data[256]" : "CUgraphEdgeData[256]";
    case VMM_PARAM_OUT_NODES_AT: return vmm ? "const vmm_graph_node *[1]" : "const CUgraphNode *[1]";
    case VMM_PARAM_OUT_EDGES_AT: return vmm ? "const vmm_graph_edge_data *[1]" : "const CUgraphEdgeData *[1]";
    case VMM_PARAM_OUT_ID: return vmm ? "uint64_t[1]" : "cuuint64_t[1]";
    case VMM_PARAM_OUT_UPDATE: return vmm ? "vmm_graph_exec_update_result_info[1]" : "CUgraphExecUpdateResultInfo[1]";
    case VMM_PARAM_OUT_FILL_NODE: return vmm ? "vmm_memset_node_params[1]" : "CUDA_MEMSET_NODE_PARAMS[1]";
    case VMM_PARAM_OUT_HOST_NODE: return vmm ? "vmm_host_node_params[1]" : "CUDA_HOST_NODE_PARAMS[1]";
    default: return NULL;
    }
}

/* Where an output without a name goes. index is its place, for what counts it stands beside. */
static void add_room(struct program *program, const struct step *step, enum vmm_param_kind kind, size_t index,
                     enum program_api api, struct text *out)
{
    enum program_type type = type_of(step, kind);
    bool wants_fabric = step->call.head.id == VMM_CALL_mem_export_to_shareable_handle &&
                        step->call.mem_export_to_shareable_handle.handle_type == VMM_MEM_HANDLE_TYPE_FABRIC;
    if (kind == VMM_PARAM_OUT_FD && wants_fabric) {
        text_add(out, "(unsigned char[64]){0}");
    } else if (type != PROGRAM_TYPES) {
        text_add(out, "&(%s){%s}", program_types[type][api], no_value(type));
    } else if (type_of_room(kind, api)) {
        const bool structures = kind == VMM_PARAM_OUT_EDGES || kind == VMM_PARAM_OUT_UPDATE || kind == VMM_PARAM_OUT_FILL_NODE ||
                                kind == VMM_PARAM_OUT_HOST_NODE;
        text_add(out, structures ? "(%s){{0}}" : "(%s){0}", type_of_room(kind, api));
    } else if (kind == VMM_PARAM_OUT_STRUCT) {
        size_t parameters;
        program_shape_room(out, vmm_call_params(step->call.head.id, &parameters)[index].shape, api);
    } else if (kind == VMM_PARAM_OUT_RANGE) {
        text_add(out, "(int[%d]){0}", STEP_RANGE);
    } else if (kind == VMM_PARAM_OUT_PROP) {
        text_add(out, "&(%s){.type = 0}", api == PROGRAM_VMM ? "vmm_mem_allocation_prop" : "CUmemAllocationProp");
    } else if (kind == VMM_PARAM_OUT_MEMCPY3D) {
        text_add(out, api == PROGRAM_VMM ? "&(vmm_memcpy3d){.depth = 0}" : "&(CUDA_MEMCPY3D){.Depth = 0}");
    } else if (kind == VMM_PARAM_OUT_POOL_POINTER) {
        text_add(out, "&(%s){{0}}", api == PROGRAM_VMM ? "vmm_mem_pool_ptr_export_data" : "CUmemPoolPtrExportData");
    } else if (kind == VMM_PARAM_OUT_TEXT) {
        text_add(out, "(char[%d]){0}", STEP_TEXT);
    } else if (kind == VMM_PARAM_OUT_BYTES) { /* the address stands between it and its length */
        program_use(program, PROGRAM_USES_HOST);
        text_add(out, "host(%s)", program->argument[index + 2][api].data);
    } else {
        program_use(program, PROGRAM_USES_ANSWER);
        if (kind == VMM_PARAM_OUT_ATTRIBUTES)
            add_answers(out, step);
        else
            text_add(out, "&(union answer){0}");
    }
}

/* The first output that a name is given to, as the interpreter chooses it. */
static size_t bound_output(const struct script *script, bool answered)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params(script->step.call.head.id, &count);
    if (!script->bind[0] || !answered)
        return STEP_PARAMS;
    for (size_t i = 0; i < count && i < STEP_PARAMS; i++)
        if (params[i].kind == VMM_PARAM_OUT_ATTRIBUTE || params[i].kind == VMM_PARAM_OUT_POOL_VALUE || type_of(&script->step, params[i].kind) != PROGRAM_TYPES)
            return vmm_call_scalar(&script->step.call.head, &params[i]) ? i : STEP_PARAMS;
    return STEP_PARAMS;
}

struct call_code {
    struct program *program;
    struct script *script;
    size_t bound;               /* index of the output that has a name, else STEP_PARAMS */
    size_t variable;            /* its variable */
    bool word;                  /* it is an attribute, and goes through a union */
    bool total;                 /* the output after it has a name as well */
    bool read;                  /* the bytes that are read are looked at afterwards */
};

static void add_output(const struct call_code *code, size_t index, enum vmm_param_kind kind, enum program_api api,
                       struct text *out)
{
    bool named = index == code->bound, total = code->total && index == code->bound + 1;
    if (named && code->word)
        text_add(out, "&answer");
    else if (named)
        text_add(out, "&%s", code->program->variable[code->variable].name);
    else if (total)
        text_add(out, "&%s", code->program->variable[code->variable].total);
    else if (code->read && kind == VMM_PARAM_OUT_BYTES)
        text_add(out, "read");
    else if (code->read && kind == VMM_PARAM_OUT_U64)
        text_add(out, "&flags");
    else
        add_room(code->program, &code->script->step, kind, index, api, out);
}

/* Does the driver have an enumeration of its own there, or another type of 64 bits? */
static bool has_own_type(enum vmm_call_id id)
{
    return id == VMM_CALL_stream_is_capturing || id == VMM_CALL_graph_node_get_type || id == VMM_CALL_graph_exec_get_flags ||
           id == VMM_CALL_graph_node_get_enabled || id == VMM_CALL_stream_get_capture_info;
}

/* "cuMemMap(r0, 4 * MiB, 0, h0, 0)" */
static void add_call(const struct call_code *code, enum program_api api, struct text *out)
{
    const struct vmm_call *call = &code->script->step.call.head;
    size_t count;
    const struct vmm_param *params = vmm_call_params(call->id, &count);
    bool context = api == PROGRAM_DRIVER && call->id == VMM_CALL_ctx_create;
    if (api == PROGRAM_VMM)
        text_add(out, "%s%s(sys%s", call_prefix[api], vmm_call_name(call->id), count ? ", " : "");
    else
        text_add(out, "%s(", context ? "CREATE_CONTEXT" : vmm_call_driver_name(call->id));
    for (size_t i = 0; i < count && i < STEP_PARAMS; i++) {
        text_add(out, i ? ", " : "");
        if (!step_is_out(params[i].kind) || params[i].kind == VMM_PARAM_IO_COUNT || params[i].kind == VMM_PARAM_IO_INT) {
            text_add(out, "%s", code->program->argument[i][api].data);
        } else if (vmm_call_scalar(call, &params[i])) {
            text_add(out, api == PROGRAM_DRIVER && has_own_type(call->id) ? "(void *)" : "");
            add_output(code, i, params[i].kind, api, out);
        } else {
            text_add(out, "NULL");
        }
    }
    text_add(out, ")");
}

/* Breaks a long call behind commas, outside of its strings. */
static void add_folded(struct text *out, const char *call)
{
    enum { WIDTH = 118, INDENT = 8 };
    size_t start = 0, comma = 0, column = INDENT;
    bool quoted = false;
    for (size_t i = 0; call[i]; i++, column++) {
        quoted ^= call[i] == '"';
        if (quoted && call[i] == '\\' && call[i + 1]) { /* whatever follows does not end the string */
            i++;
            column++;
        }
        if (column > WIDTH && comma > start) {
            text_add(out, "%.*s\n%*s", (int)(comma - start), call + start, INDENT, "");
            start = comma + 1; /* without the blank */
            column = INDENT + i - start;
        }
        if (call[i] == ',' && call[i + 1] == ' ' && !quoted)
            comma = i + 1;
    }
    text_add(out, "%s", call + start);
}

/* OK(...) or REFUSED(RESULT, ...). */
static void add_checked(const struct call_code *code, vmm_result result, enum program_api api, struct text *out)
{
    const char *name = vmm_result_name(result);
    struct text call = {0};
    if (result == VMM_SUCCESS)
        text_add(&call, "OK(");
    else if (strncmp(name, "CUDA_", 5) != 0)
        text_add(&call, "REFUSED((%s)%d, ", api == PROGRAM_VMM ? "vmm_result" : "CUresult", (int)result);
    else
        text_add(&call, "REFUSED(%s%s, ", api == PROGRAM_VMM ? "VMM" : "CUDA", name + 4);
    add_call(code, api, &call);
    text_add(&call, ");\n");
    add_folded(out, call.data);
    text_free(&call);
}

/* What a new object's size is, in C: from the call's own argument, or another name's. */
static void add_size(struct program *program, size_t variable, struct program_variable *of, size_t argument)
{
    if (!of && argument == STEP_PARAMS)
        return;
    struct program_piece *piece = program_piece(program);
    piece->sets = (int)variable;
    piece->from = of ? (int)(of - program->variable) : -1;
    for (int api = 0; api < PROGRAM_APIS; api++)
        text_add(&piece->code[api], "    %s = %s;\n", program->variable[variable].size,
                 of ? of->size : program->argument[argument][api].data);
}

/* The name whose size a new one takes: what was exported, imported or retained. */
static struct program_variable *sized_like(struct program *program, struct script *script)
{
    const union vmm_any_call *call = &script->step.call;
    const struct symbol *symbol = NULL;
    switch ((enum vmm_call_id)call->head.id) {
    case VMM_CALL_mem_export_to_shareable_handle:
        symbol = symbols_named(&script->symbols, SYMBOL_HANDLE, call->mem_export_to_shareable_handle.handle);
        break;
    case VMM_CALL_mem_import_from_shareable_handle:
        symbol = symbols_named(&script->symbols, SYMBOL_DESCRIPTOR,
                               (uint64_t)(uintptr_t)call->mem_import_from_shareable_handle.os_handle);
        break;
    case VMM_CALL_mem_retain_allocation_handle:
        for (size_t i = 0; i < script->symbols.count; i++) { /* another name than the one just given */
            const struct symbol *other = &script->symbols.list[i];
            if (other->kind == SYMBOL_HANDLE && !other->ended && other->value == script->step.out[0].u64 &&
                strcmp(other->name, script->bind) != 0)
                symbol = other;
        }
        break;
    default: break;
    }
    return symbol ? program_find(program, symbol->name, strlen(symbol->name)) : NULL;
}

static size_t size_argument(enum vmm_call_id id)
{
    return id == VMM_CALL_mem_address_reserve || id == VMM_CALL_mem_create || id == VMM_CALL_mem_alloc || id == VMM_CALL_mem_alloc_managed ||
                   id == VMM_CALL_mem_alloc_async || id == VMM_CALL_mem_alloc_from_pool_async
               ? 1
               : STEP_PARAMS;
}

/* The multicast object's size stands inside its properties. */
static void add_team_size(struct program *program, const struct script *script, size_t variable)
{
    struct program_piece *piece = program_piece(program);
    piece->sets = (int)variable;
    for (int api = 0; api < PROGRAM_APIS; api++)
        text_add(&piece->code[api], "    %s = UINT64_C(%" PRIu64 ");\n", program->variable[variable].size,
                 script->step.team.size);
}

/* check access, check bytes: what is read is what the session read. Empty where nothing is looked at. */
static void add_look(struct call_code *code, struct text look[PROGRAM_APIS], struct text open[PROGRAM_APIS])
{
    struct script *script = code->script;
    const struct step *step = &script->step;
    for (int api = 0; code->read && api < PROGRAM_APIS; api++) {
        if (step->call.head.id == VMM_CALL_mem_get_access) {
            program_use(code->program, PROGRAM_USES_HOLDS);
            text_add(&open[api], "    {\n        %s flags = 0;\n    ", program_types[PROGRAM_FLAGS][api]);
            text_add(&look[api], "        holds(flags, \"==\", %" PRIu64 ", __LINE__);\n    }\n", step->out[0].u64);
        } else {
            const char *size = code->program->argument[2][api].data;
            program_use(code->program, PROGRAM_USES_SAME | PROGRAM_USES_HOST);
            text_add(&open[api], "    {\n        void *read = host(%s);\n    ", size);
            text_add(&look[api], "        same(read, ");
            program_bytes(code->program, program_bytes_word(script), step->bytes, step->call.memcpy_dtoh.byte_count, &look[api]);
            text_add(&look[api], ", %s, __LINE__);\n    }\n", size);
        }
    }
    if (code->word)
        for (int api = 0; api < PROGRAM_APIS; api++) {
            program_use(code->program, PROGRAM_USES_ANSWER);
            text_add(&open[api], "    {\n        union answer answer = {0};\n    ");
            const char *name = code->program->variable[code->variable].name;
            text_add(&look[api], "        memcpy(&%s, &answer, sizeof %s);\n    }\n", name, name);
        }
}

/* Bytes that were not as the line wanted them are not looked at, for the program is to go as the session went. */
static bool bytes_as_said(struct script *script)
{
    struct words_error error;
    struct value_env env = script_env(script);
    unsigned char *wanted = NULL;
    uint64_t size = 0;
    const struct word *word = program_bytes_word(script);
    bool ok = word && value_bytes(&env, word, &wanted, &size, &error) && size == script->step.call.memcpy_dtoh.byte_count &&
              memcmp(wanted, script->step.bytes, (size_t)size) == 0;
    free(wanted);
    return ok;
}

static void name_outputs(struct call_code *code)
{
    struct script *script = code->script;
    size_t count;
    const struct vmm_param *params = vmm_call_params(script->step.call.head.id, &count);
    if (code->bound == STEP_PARAMS)
        return;
    code->word = params[code->bound].kind == VMM_PARAM_OUT_ATTRIBUTE || params[code->bound].kind == VMM_PARAM_OUT_POOL_VALUE;
    enum program_type type = code->word ? PROGRAM_WORD : type_of(&script->step, params[code->bound].kind);
    code->variable = program_variable(code->program, script->bind, type);
    code->total = code->bound + 1 < count && params[code->bound + 1].kind == VMM_PARAM_OUT_SIZE;
    struct program_variable *v = &code->program->variable[code->variable];
    v->has_total |= code->total && vmm_call_scalar(&script->step.call.head, &params[code->bound + 1]);
    program_use(code->program, v->type == PROGRAM_FABRIC ? PROGRAM_USES_FABRIC : 0);
}

/* Sizes of what has a name now, and the wait that belongs to a read of a stream. */
static void add_rest(struct call_code *code, vmm_result result)
{
    struct script *script = code->script;
    enum vmm_call_id id = script->step.call.head.id;
    if (code->bound != STEP_PARAMS && id == VMM_CALL_multicast_create)
        add_team_size(code->program, script, code->variable);
    else if (code->bound != STEP_PARAMS)
        add_size(code->program, code->variable, sized_like(code->program, script), size_argument(id));
    if (result != VMM_SUCCESS || id != VMM_CALL_memcpy_dtoh_async || strcmp(script->command->name, "read") != 0)
        return;
    struct program_piece *piece = program_piece(code->program);
    text_add(&piece->code[PROGRAM_VMM], "    vmm_stream_synchronize(sys, %s);\n", code->program->argument[3][PROGRAM_VMM].data);
    text_add(&piece->code[PROGRAM_DRIVER], "    cuStreamSynchronize(%s);\n", code->program->argument[3][PROGRAM_DRIVER].data);
}

void program_after(void *user, struct script *script, const vmm_detail *detail)
{
    struct call_code code = {.program = user, .script = script};
    struct text open[PROGRAM_APIS] = {{0}}, look[PROGRAM_APIS] = {{0}};
    enum vmm_call_id id = script->step.call.head.id;
    bool answered = detail->result == VMM_SUCCESS;
    code.bound = bound_output(script, answered);
    code.read = answered && (strcmp(script->command->name, "check access") == 0 ||
                             (strcmp(script->command->name, "check bytes") == 0 && bytes_as_said(script)));
    name_outputs(&code);
    add_look(&code, look, open);
    struct text made[PROGRAM_APIS] = {{0}};
    for (int api = 0; api < PROGRAM_APIS; api++) { /* what helpers a call needs may add a piece before it */
        text_add(&made[api], "%s    ", open[api].data ? open[api].data : "");
        add_checked(&code, detail->result, (enum program_api)api, &made[api]);
        text_add(&made[api], "%s", look[api].data ? look[api].data : "");
        text_free(&open[api]);
        text_free(&look[api]);
    }
    struct program_piece *piece = program_piece(code.program);
    piece->code[PROGRAM_VMM] = made[PROGRAM_VMM];
    piece->code[PROGRAM_DRIVER] = made[PROGRAM_DRIVER];
    code.program->calls++;
    program_use(code.program, id == VMM_CALL_ctx_create ? PROGRAM_USES_CONTEXT : 0);
    add_rest(&code, detail->result);
    if (id == VMM_CALL_launch || id == VMM_CALL_graph_add_kernel_node)
        program_refuse(code.program, PROGRAM_DRIVER, "kernels are launched as vmm.h numbers them; save it with --api=vmm");
    if (id == VMM_CALL_memcpy_batch_async_v1 || id == VMM_CALL_memcpy_3d_batch_async_v1)
        program_refuse(code.program, PROGRAM_DRIVER, "cuda.h of CUDA 13 has a different form of the call; save it with --api=vmm");
}
