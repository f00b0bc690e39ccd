/* SPDX-License-Identifier: Apache-2.0 */
/* One call of a script in C, for both interfaces: arguments before it is made, outputs after it. See program_state.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "program_state.h"

/* ---- the line's words */

static void add_word(struct program *program, struct script *script, const struct word *word)
{
    struct words_error error;
    struct value_env env = script_env(script);
    uint64_t value;
    if (word->quoted || !value_number(&env, word, &value, &error))
        return;
    program->word = text_grow(program->word, (program->words + 1) * sizeof *program->word);
    struct program_word *made = &program->word[program->words++];
    *made = (struct program_word){.value = value};
    made->text = strcpy(text_grow(NULL, strlen(word->text) + 1), word->text);
    if (word->key)
        made->key = strcpy(text_grow(NULL, strlen(word->key) + 1), word->key);
}

/* The words behind the command, those in braces each by itself. */
static void collect_words(struct program *program, struct script *script)
{
    const char *command = script->command->name;
    size_t length = strcspn(command, " "); /* of "check access" the first word */
    size_t i = 0;
    program_forget_words(program);
    while (i < script->words.count && (strlen(script->words.word[i].text) != length ||
                                       memcmp(script->words.word[i].text, command, length) != 0))
        i++;
    for (i++; i < script->words.count; i++) {
        const struct word *word = &script->words.word[i];
        struct words inside;
        struct words_error error;
        if (word->quoted || word->text[0] != '{') {
            add_word(program, script, word);
            continue;
        }
        for (size_t k = 0; value_inside(word, &inside, &error) && k < inside.count; k++)
            add_word(program, script, &inside.word[k]);
    }
}

/* offset= is for mem_offset and the like. */
static bool key_means(const char *key, const char *param)
{
    return strcmp(key, param) == 0 || (strcmp(key, "align") == 0 && strcmp(param, "alignment") == 0) ||
           (strcmp(key, "at") == 0 && strcmp(param, "addr") == 0) ||
           (strcmp(key, "offset") == 0 && strcmp(param, "mem_offset") == 0);
}

/* The word that a parameter's value came from: its own option, else the next one with that value. */
static struct program_word *word_of(struct program *program, const char *param, uint64_t value)
{
    bool by_key_alone = strcmp(param, "flags") == 0 || strcmp(param, "count") == 0 || strcmp(param, "num_attributes") == 0;
    for (size_t i = 0; i < program->words; i++)
        if (program->word[i].key && key_means(program->word[i].key, param) && program->word[i].value == value)
            return &program->word[i];
    for (size_t i = 0; !by_key_alone && i < program->words; i++)
        if (!program->word[i].key && !program->word[i].used && program->word[i].value == value) {
            program->word[i].used = true;
            return &program->word[i];
        }
    return NULL;
}

/* ---- arguments */

static void add_literal(struct text *out, uint64_t value)
{
    if (value <= INT32_MAX)
        text_add(out, "%" PRIu64, value);
    else if (value == UINT64_MAX)
        text_add(out, "UINT64_MAX");
    else
        text_add(out, "UINT64_C(0x%" PRIx64 ")", value);
}

/* A size that the line leaves out is that of the name before it. */
static bool size_of_name(struct program *program, struct script *script, uint64_t value, struct text *out)
{
    for (size_t i = 0; i < program->words; i++) {
        const char *name = program->word[i].text;
        const struct symbol *symbol = symbols_find(&script->symbols, name, strlen(name));
        struct program_variable *v = program_find(program, name, strlen(name));
        if (!symbol || !v || symbol->size != value || !value)
            continue;
        v->size_used = true;
        text_add(out, "%s", v->size);
        return true;
    }
    return false;
}

/* Fills of 16 and 32 bits count elements, and the line counts bytes. */
static unsigned unit_of(const struct script *script, const char *param)
{
    enum vmm_call_id id = script->step.call.head.id;
    if (strcmp(param, "n") != 0 || strcmp(script->command->name, "call") == 0)
        return 1;
    return id == VMM_CALL_memset_d16 || id == VMM_CALL_memset_d16_async   ? 2
           : id == VMM_CALL_memset_d32 || id == VMM_CALL_memset_d32_async ? 4
                                                                          : 1;
}

/* How many bytes are copied stands inside the word that says which. */
static bool size_of_bytes(struct program *program, const struct script *script, const struct vmm_param *param, struct text *out)
{
    const struct word *word = strcmp(param->name, "byte_count") == 0 ? program_bytes_word(script) : NULL;
    const char *colon = word && !word->quoted && strncmp(word->text, "hex:", 4) != 0 ? strrchr(word->text, ':') : NULL;
    return colon && program_expression(program, colon + 1, out);
}

void program_number(struct program *program, struct script *script, const struct vmm_param *param, uint64_t value,
                       struct text *out)
{
    unsigned unit = unit_of(script, param->name);
    struct program_word *word = word_of(program, param->name, value * unit);
    struct text made = {0};
    if (size_of_bytes(program, script, param, out))
        return;
    if (word && program_expression(program, word->text, &made))
        text_add(out, unit > 1 ? "(%s) / %u" : "%s", made.data, unit);
    else if (param->kind != VMM_PARAM_SIZE || !size_of_name(program, script, value, out))
        add_literal(out, value);
    text_free(&made);
}

/* A context, stream or event by its name; other numbers as pointers. */
void program_object(struct program *program, const struct vmm_param *param, enum program_type type, uint64_t value,
                       struct text out[PROGRAM_APIS])
{
    struct program_word *word = word_of(program, param->name, value);
    struct program_variable *v = word ? program_find(program, word->text, strlen(word->text)) : NULL;
    struct text made = {0};
    for (int api = 0; api < PROGRAM_APIS; api++) {
        if (value == 0 || (v && v->type == type)) {
            text_add(&out[api], "%s", value ? v->name : "NULL");
            continue;
        }
        if (!made.data && !(word && program_expression(program, word->text, &made)))
            add_literal(&made, value);
        text_add(&out[api], "(%s)(uintptr_t)(%s)", program_types[type][api], made.data);
    }
    text_free(&made);
}

static void add_team(struct program *program, struct script *script, struct text out[PROGRAM_APIS])
{
    const vmm_multicast_object_prop *team = &script->step.team;
    struct text size = {0};
    program_number(program, script, &(struct vmm_param){.name = "size", .kind = VMM_PARAM_U64}, team->size, &size);
    text_add(&out[PROGRAM_VMM], "&(vmm_multicast_object_prop){.num_devices = %u, .size = %s, .handle_types", team->num_devices,
             size.data);
    text_add(&out[PROGRAM_DRIVER], "&(CUmulticastObjectProp){.numDevices = %u, .size = %s, .handleTypes", team->num_devices,
             size.data);
    for (int api = 0; api < PROGRAM_APIS; api++)
        text_add(&out[api], " = %" PRIu64 ", .flags = %" PRIu64 "}", team->handle_types, team->flags);
    text_free(&size);
}

static void add_int(struct program *program, struct script *script, const struct vmm_param *param, struct text out[PROGRAM_APIS])
{
    enum vmm_call_id id = script->step.call.head.id;
    int value = (int)(int64_t)vmm_call_scalar(&script->step.call.head, param);
    struct program_word *word = word_of(program, param->name, (uint64_t)(int64_t)value);
    struct program_variable *v = word ? program_find(program, word->text, strlen(word->text)) : NULL;
    bool range = strcmp(param->name, "handle_type") == 0 && id == VMM_CALL_mem_get_handle_for_address_range;
    bool graph_memory = id == VMM_CALL_device_get_graph_mem_attribute || id == VMM_CALL_device_set_graph_mem_attribute;
    for (int a = 0; a < PROGRAM_APIS; a++) {
        enum program_api api = (enum program_api)a;
        if (v)
            text_add(&out[api], "(int)%s", v->name);
        else if (strcmp(param->name, "attribute") == 0)
            program_attribute(&out[api], api, "POINTER", step_attribute_name(value), value);
        else if (strcmp(param->name, "attr") == 0 && graph_memory)
            text_add(&out[api], "%d", value);
        else if (strcmp(param->name, "attr") == 0)
            program_attribute(&out[api], api, "MEMPOOL", step_pool_attribute_name(value), value);
        else if (strcmp(param->name, "attrib") == 0)
            program_attribute(&out[api], api, "DEVICE", step_device_attribute_name(value), value);
        else if (strcmp(param->name, "kernel") == 0)
            program_kernel(program, script, &out[api], value);
        else if (strcmp(param->name, "option") == 0 && (value == 0 || value == 1))
            text_add(&out[api], "%s_%s_GRANULARITY_%s", program_prefix[api],
                     id == VMM_CALL_multicast_get_granularity ? "MULTICAST" : "MEM_ALLOC", value ? "RECOMMENDED" : "MINIMUM");
        else if (range && value == VMM_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD)
            text_add(&out[api], "%s_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD", program_prefix[api]);
        else if (strstr(param->name, "handle_type") && !range)
            program_handle_types(&out[api], api, value);
        else
            text_add(&out[api], "%d", value);
    }
}

/* What an import is given: a descriptor by its number, a fabric handle by its address. */
static void add_descriptor(struct program *program, struct script *script, const struct vmm_param *param,
                           struct text out[PROGRAM_APIS])
{
    uint64_t value = vmm_call_scalar(&script->step.call.head, param);
    struct program_word *word = word_of(program, param->name, value);
    struct program_variable *v = word ? program_find(program, word->text, strlen(word->text)) : NULL;
    bool fabric = script->step.call.mem_import_from_shareable_handle.sh_handle_type == VMM_MEM_HANDLE_TYPE_FABRIC;
    for (int api = 0; api < PROGRAM_APIS; api++) {
        if (v && v->type == PROGRAM_FABRIC)
            text_add(&out[api], "&%s", v->name);
        else if (fabric && value)
            text_add(&out[api], "(unsigned char[64]){0}");
        else if (v)
            text_add(&out[api], "(void *)(uintptr_t)%s", v->name);
        else
            text_add(&out[api], value ? "(void *)(uintptr_t)UINT64_C(%" PRIu64 ")" : "NULL", value);
    }
}

/* A handle by the name that the script gave it; any other is zeros. */
static void add_ipc_handle(struct program *program, struct script *script, const struct vmm_param *param,
                           struct text out[PROGRAM_APIS])
{
    uint64_t last;
    memcpy(&last, script->step.fabric + sizeof script->step.fabric - sizeof last, sizeof last);
    struct program_word *word = word_of(program, param->name, fabrics_ending(&script->fabrics, last));
    struct program_variable *v = word ? program_find(program, word->text, strlen(word->text)) : NULL;
    const bool of_event = script->step.call.head.id == VMM_CALL_ipc_open_event_handle;
    const enum program_type type = of_event ? PROGRAM_IPC_EVENT : PROGRAM_IPC;
    for (int api = 0; api < PROGRAM_APIS; api++)
        if (v && v->type == type)
            text_add(&out[api], "%s", v->name);
        else
            text_add(&out[api], "(%s){{0}}", program_types[type][api]);
}

static void add_kernel_words(struct program *program, struct script *script, uint64_t count, struct text *out)
{
    text_add(out, "(const uint64_t[]){");
    for (uint64_t i = 0; i < STEP_WORDS && (i < count || i == 0); i++) {
        text_add(out, i ? ", " : "");
        program_number(program, script, &(struct vmm_param){.name = "args", .kind = VMM_PARAM_U64}, script->step.words[i], out);
    }
    text_add(out, "}");
}

/* Where the pointers of a list or struct come from: numbers of the line, by their names where they have some. */
static void add_part(struct program *program, struct script *script, const char *name, enum vmm_param_kind kind, uint64_t value,
                     struct text *out)
{
    program_number(program, script, &(struct vmm_param){.name = name, .kind = kind}, value, out);
}

static void add_nodes(struct program *program, struct script *script, size_t index, struct text out[PROGRAM_APIS])
{
    static const struct vmm_param node = {.name = "node", .kind = VMM_PARAM_GRAPH_NODE};
    const vmm_graph_node *list = script->step.nodes[index & 1];
    const uint64_t count = step_list(&script->step);
    for (int api = 0; api < PROGRAM_APIS; api++)
        text_add(&out[api], "(const %s[]){%s", program_types[PROGRAM_NODE][api], count ? "" : "NULL");
    for (uint64_t i = 0; i < count && i < STEP_NODES; i++) {
        for (int api = 0; api < PROGRAM_APIS; api++)
            text_add(&out[api], i ? ", " : "");
        program_object(program, &node, PROGRAM_NODE, (uint64_t)(uintptr_t)list[i], out);
    }
    for (int api = 0; api < PROGRAM_APIS; api++)
        text_add(&out[api], "}");
}

/* Addresses and sizes of a batch, by the line's words. */
static void add_batch(struct program *program, struct script *script, const struct vmm_param *param, struct text out[PROGRAM_APIS])
{
    size_t parameters;
    const size_t index = (size_t)(param - vmm_call_params(script->step.call.head.id, &parameters));
    const uint64_t *list = step_batch(&script->step, index), count = vmm_batch_length(&script->step.call.head, param);
    const bool addresses = param->kind == VMM_PARAM_ADDRESSES;
    struct text made = {0};
    for (uint64_t i = 0; i < STEP_COPIES && (i < count || i == 0); i++) {
        text_add(&made, i ? ", " : "");
        add_part(program, script, param->name, addresses ? VMM_PARAM_ADDRESS : VMM_PARAM_U64, list[i], &made);
    }
    text_add(&out[PROGRAM_VMM], "(const %s[]){%s}", addresses ? "vmm_deviceptr" : "uint64_t", made.data);
    text_add(&out[PROGRAM_DRIVER], "(%s[]){%s}", addresses ? "CUdeviceptr" : "size_t", made.data);
    text_free(&made);
}

static void add_fill_node(struct program *program, struct script *script, struct text out[PROGRAM_APIS])
{
    const vmm_memset_node_params *fill = &script->step.fill_node;
    struct text dst = {0};
    add_part(program, script, "dst", VMM_PARAM_ADDRESS, fill->dst, &dst);
    for (int api = 0; api < PROGRAM_APIS; api++)
        text_add(&out[api],
                 "&(%s){.dst = %s, .pitch = %" PRIu64 ", .value = 0x%xU, .%s = %u, .width = %" PRIu64 ", .height = %" PRIu64 "}",
                 api == PROGRAM_VMM ? "vmm_memset_node_params" : "CUDA_MEMSET_NODE_PARAMS", dst.data, fill->pitch, fill->value,
                 api == PROGRAM_VMM ? "element_size" : "elementSize", fill->element_size, fill->width, fill->height);
    text_free(&dst);
}

/* The driver's kernels are functions of modules: like launches, such a node is written for this library alone. */
static void add_kernel_node(struct program *program, struct script *script, struct text *out)
{
    const vmm_kernel_node_params *kernel = &script->step.kernel_node;
    text_add(out, "&(vmm_kernel_node_params){");
    program_kernel(program, script, out, kernel->kernel);
    text_add(out, ", %u, %u, ", kernel->grid_dim, kernel->block_dim);
    if (kernel->args)
        add_kernel_words(program, script, kernel->count, out);
    else
        text_add(out, "NULL");
    text_add(out, ", %" PRIu64 "}", kernel->count);
}

static void add_edges(const struct step *step, enum program_api api, struct text *out)
{
    const uint64_t count = step_list(step);
    text_add(out, "(const %s[]){", api == PROGRAM_VMM ? "vmm_graph_edge_data" : "CUgraphEdgeData");
    for (uint64_t i = 0; i < STEP_NODES && (i < count || i == 0); i++)
        text_add(out, "%s{%u, %u, %u, {%u}}", i ? ", " : "", step->edges[i].from_port, step->edges[i].to_port, step->edges[i].type,
                 step->edges[i].reserved[0]);
    text_add(out, "}");
}

/* How many bytes a BYTES parameter has. */
static uint64_t byte_count(const struct step *step)
{
    return step->call.head.id == VMM_CALL_memcpy_htod ? step->call.memcpy_htod.byte_count
                                                      : step->call.memcpy_htod_async.byte_count;
}

/* The variable of an array that a word of the line names; NULL: there is none. */
static const char *array_named(struct program *program, uint64_t value)
{
    for (size_t i = 0; i < program->words; i++) {
        const struct program_word *word = &program->word[i];
        const struct program_variable *v = word->value == value ? program_find(program, word->text, strlen(word->text)) : NULL;
        if (v && v->type == PROGRAM_ARRAY)
            return v->name;
    }
    return NULL;
}

/* What a pointer that is read points to. */
static void add_pointer(struct program *program, struct script *script, const struct vmm_param *param, enum program_api api,
                        struct text *out)
{
    const struct step *step = &script->step;
    switch (param->kind) {
    case VMM_PARAM_POOL_PROPS: program_pool_props(out, api, &step->pool_props); break;
    case VMM_PARAM_POOL_VALUE: text_add(out, "&(uint64_t){UINT64_C(%" PRIu64 ")}", step->pool_value); break;
    case VMM_PARAM_PROP: program_prop(out, api, &step->prop); break;
    case VMM_PARAM_LOCATION:
        text_add(out, "&(%s)", api == PROGRAM_VMM ? "vmm_mem_location" : "CUmemLocation");
        program_location(out, api, step->location);
        break;
    case VMM_PARAM_LOCATION_VALUE: {
        vmm_mem_location location;
        memcpy(&location, (const void *)(uintptr_t)vmm_call_scalar(&step->call.head, param), sizeof location);
        text_add(out, "(%s)", api == PROGRAM_VMM ? "vmm_mem_location" : "CUmemLocation");
        program_location(out, api, location);
        break;
    }
    case VMM_PARAM_DESCS: program_grants(out, api, step->grants, vmm_call_scalar(&step->call.head, param + 1)); break;
    case VMM_PARAM_ATTRIBUTES: program_attributes(out, api, step); break;
    case VMM_PARAM_MEM_OPS: program_mem_ops(out, api, step); break;
    case VMM_PARAM_COPY_ATTRIBUTES: program_copy_attributes(out, api, step); break;
    case VMM_PARAM_BOXES: program_boxes(out, api, step); break;
    case VMM_PARAM_MEMCPY3D:
    case VMM_PARAM_MEMCPY3D_PEER: {
        const char *const arrays[] = {array_named(program, vmm_box_src(&step->box)), array_named(program, vmm_box_dst(&step->box))};
        program_box(out, api, &step->box, param->kind == VMM_PARAM_MEMCPY3D_PEER, arrays);
        break;
    }
    case VMM_PARAM_BYTES: program_bytes(program, program_bytes_word(script), step->bytes, byte_count(step), out); break;
    case VMM_PARAM_EDGES: add_edges(step, api, out); break;
    case VMM_PARAM_IO_COUNT:
        text_add(out, "&(%s){%" PRIu64 "}", api == PROGRAM_VMM ? "uint64_t" : "size_t",
                 *(const uint64_t *)(uintptr_t)vmm_call_scalar(&step->call.head, param));
        break;
    case VMM_PARAM_IO_INT:
        text_add(out, "&(%s){%d}", api == PROGRAM_VMM ? "int" : "CUstreamCaptureMode",
                 *(const int *)(uintptr_t)vmm_call_scalar(&step->call.head, param));
        break;
    case VMM_PARAM_HOST_NODE:
        program_use(program, PROGRAM_USES_NOTHING);
        text_add(out, "&(%s){nothing, NULL}", api == PROGRAM_VMM ? "vmm_host_node_params" : "CUDA_HOST_NODE_PARAMS");
        break;
    case VMM_PARAM_FUNCTION:
        program_use(program, PROGRAM_USES_NOTHING);
        text_add(out, "nothing");
        break;
    default: text_add(out, "NULL"); break;
    }
}

static void add_same(struct text out[PROGRAM_APIS], const struct text *made)
{
    for (int api = 0; api < PROGRAM_APIS; api++)
        text_add(&out[api], "%s", made->data ? made->data : "");
}

static enum program_type type_of_array(const struct script *script)
{
    return strncmp(vmm_call_name(script->step.call.head.id), "mipmapped", 9) == 0 ? PROGRAM_MIPMAPPED : PROGRAM_ARRAY;
}

static void add_argument(struct program *program, struct script *script, const struct vmm_param *param,
                         struct text out[PROGRAM_APIS])
{
    uint64_t value = vmm_call_scalar(&script->step.call.head, param);
    struct text made = {0};
    switch (param->kind) {
    case VMM_PARAM_INT: add_int(program, script, param, out); return;
    case VMM_PARAM_CONTEXT: program_object(program, param, PROGRAM_CONTEXT, value, out); return;
    case VMM_PARAM_STREAM: program_object(program, param, PROGRAM_STREAM, value, out); return;
    case VMM_PARAM_EVENT: program_object(program, param, PROGRAM_EVENT, value, out); return;
    case VMM_PARAM_GRAPH: program_object(program, param, PROGRAM_GRAPH, value, out); return;
    case VMM_PARAM_GRAPH_NODE: program_object(program, param, PROGRAM_NODE, value, out); return;
    case VMM_PARAM_GRAPH_EXEC: program_object(program, param, PROGRAM_EXEC, value, out); return;
    case VMM_PARAM_USER_OBJECT: program_object(program, param, PROGRAM_OBJECT, value, out); return;
    case VMM_PARAM_POOL: program_object(program, param, PROGRAM_POOL, value, out); return;
    case VMM_PARAM_ARRAY: program_object(program, param, type_of_array(script), value, out); return;
    case VMM_PARAM_IPC_HANDLE: add_ipc_handle(program, script, param, out); return;
    case VMM_PARAM_FD: add_descriptor(program, script, param, out); return;
    case VMM_PARAM_U32:
    case VMM_PARAM_U64:
    case VMM_PARAM_SIZE:
    case VMM_PARAM_COUNT:
    case VMM_PARAM_ADDRESS:
    case VMM_PARAM_HANDLE: program_number(program, script, param, value, &made); break;
    default:
        if (!value) {
            text_add(&made, "NULL");
        } else if (param->kind == VMM_PARAM_STRUCT || param->kind == VMM_PARAM_STRUCTS) {
            program_structs(program, script, param, out);
            return;
        } else if (param->kind == VMM_PARAM_TEAM) {
            add_team(program, script, out);
            return;
        } else if (param->kind == VMM_PARAM_NODES) {
            size_t count;
            add_nodes(program, script, (size_t)(param - vmm_call_params(script->step.call.head.id, &count)), out);
            return;
        } else if (param->kind == VMM_PARAM_ADDRESSES || param->kind == VMM_PARAM_SIZES) {
            add_batch(program, script, param, out);
            return;
        } else if (param->kind == VMM_PARAM_FILL_NODE) {
            add_fill_node(program, script, out);
            return;
        } else if (param->kind == VMM_PARAM_KERNEL_NODE) {
            add_kernel_node(program, script, &made);
        } else if (param->kind == VMM_PARAM_ARGS) {
            add_kernel_words(program, script, script->step.call.launch.count, &made);
        } else {
            for (int api = 0; api < PROGRAM_APIS; api++)
                add_pointer(program, script, param, (enum program_api)api, &out[api]);
            return;
        }
    }
    add_same(out, &made);
    text_free(&made);
    if (script->step.call.head.id != VMM_CALL_mem_retain_allocation_handle)
        return;
    struct text pointer = {0}; /* the one address that the driver has as a pointer */
    text_add(&pointer, "(void *)(uintptr_t)(%s)", out[PROGRAM_DRIVER].data);
    text_free(&out[PROGRAM_DRIVER]);
    out[PROGRAM_DRIVER] = pointer;
}

void program_before(void *user, struct script *script)
{
    struct program *program = user;
    size_t count;
    const struct vmm_param *params = vmm_call_params(script->step.call.head.id, &count);
    collect_words(program, script);
    for (size_t i = 0; i < count && i < STEP_PARAMS; i++) {
        for (int api = 0; api < PROGRAM_APIS; api++)
            text_free(&program->argument[i][api]);
        if (!step_is_out(params[i].kind) || params[i].kind == VMM_PARAM_IO_COUNT || params[i].kind == VMM_PARAM_IO_INT)
            add_argument(program, script, &params[i], program->argument[i]);
    }
}
