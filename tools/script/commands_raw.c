/* SPDX-License-Identifier: Apache-2.0 */
/* `call`: any entry point with any arguments, in the driver's order, from the table of calls. For
 * arguments that no other command accepts.
 *
 *     call cuMemMap r0 2MiB 0 0xdead 0
 *     h0 = call cuMemCreate out 4gran {dev0 handle=fd} 0        an output is written `out`, or null
 */
#include <string.h>

#include "script_state.h"

struct raw {
    struct script *script;
    const struct vmm_param *params;
    size_t count;
    uint64_t given; /* bytes of the BYTES argument */
};

static bool is_null(const struct word *word)
{
    return strcmp(word->text, "null") == 0;
}

static bool kernel_find(const char *name, int *kernel)
{
    for (*kernel = 0; *kernel < vmm_kernel_count(); ++*kernel)
        if (strcmp(name, vmm_kernel_name(*kernel)) == 0)
            return true;
    return false;
}

static bool raw_number(struct raw *raw, const struct word *word, const struct vmm_param *param)
{
    struct words_error error;
    struct value_env env = script_env(raw->script);
    struct vmm_call *call = &raw->script->step.call.head;
    uint64_t value = 0;
    int number = 0;
    if (param->kind == VMM_PARAM_INT) {
        bool named = step_attribute_find(word->text, &number) || step_pool_attribute_find(word->text, &number) || step_device_attribute_find(word->text, &number) ||
                     (strcmp(param->name, "kernel") == 0 && kernel_find(word->text, &number));
        if (!named && !value_int(&env, word, &number, &error))
            return script_wrong_at(raw->script, &error);
        value = (uint64_t)(int64_t)number;
    } else if (strcmp(word->text, "none") != 0 && !value_number(&env, word, &value, &error)) {
        return script_wrong_at(raw->script, &error);
    }
    if (param->size < 8 && param->kind != VMM_PARAM_INT && value >> (8 * param->size))
        return script_wrong(raw->script, word->column, "0x%llx does not fit into the %d bytes of %s",
                            (unsigned long long)value, param->size, param->name);
    vmm_call_set_scalar(call, param, value);
    return true;
}

static bool raw_attributes(struct raw *raw, const struct word *word)
{
    struct words_error error;
    struct value_env env = script_env(raw->script);
    struct words inside;
    if (!value_inside(word, &inside, &error))
        return script_wrong_at(raw->script, &error);
    if (inside.count > STEP_ATTRIBUTES)
        return script_wrong(raw->script, word->column, "%zu attributes; %d are possible", inside.count, STEP_ATTRIBUTES);
    for (size_t i = 0; i < inside.count; i++)
        if (!step_attribute_find(inside.word[i].text, &raw->script->step.attributes[i]) &&
            !value_int(&env, &inside.word[i], &raw->script->step.attributes[i], &error))
            return script_wrong_at(raw->script, &error);
    return true;
}

static bool raw_words(struct raw *raw, const struct word *word)
{
    struct words_error error;
    struct value_env env = script_env(raw->script);
    struct words inside;
    if (!value_inside(word, &inside, &error))
        return script_wrong_at(raw->script, &error);
    if (inside.count > STEP_WORDS)
        return script_wrong(raw->script, word->column, "%zu arguments; %d are possible", inside.count, STEP_WORDS);
    for (size_t i = 0; i < inside.count; i++)
        if (!value_number(&env, &inside.word[i], &raw->script->step.words[i], &error))
            return script_wrong_at(raw->script, &error);
    return true;
}

/* {DEVICES SIZE [TYPES [FLAGS]]} */
static bool raw_team(struct raw *raw, const struct word *word)
{
    struct words_error error;
    struct value_env env = script_env(raw->script);
    struct words inside;
    vmm_multicast_object_prop *team = &raw->script->step.team;
    uint64_t value[4] = {0};
    if (!value_inside(word, &inside, &error))
        return script_wrong_at(raw->script, &error);
    if (inside.count > 4)
        return script_wrong(raw->script, word->column, "%zu properties; a multicast object has 4", inside.count);
    for (size_t i = 0; i < inside.count; i++)
        if (!value_number(&env, &inside.word[i], &value[i], &error))
            return script_wrong_at(raw->script, &error);
    *team = (vmm_multicast_object_prop){(unsigned)value[0], value[1], value[2], value[3]};
    return true;
}

static bool raw_edges(struct raw *raw, const struct word *word)
{
    struct step *step = &raw->script->step;
    struct words_error error;
    struct value_env env = script_env(raw->script);
    struct words inside;
    uint64_t value;
    if (!value_inside(word, &inside, &error))
        return script_wrong_at(raw->script, &error);
    if (inside.count > STEP_NODES)
        return script_wrong(raw->script, word->column, "%zu edges; at most %d are possible", inside.count, STEP_NODES);
    for (size_t i = 0; i < inside.count; i++) {
        if (!value_number(&env, &inside.word[i], &value, &error))
            return script_wrong_at(raw->script, &error);
        memcpy(&step->edges[i], &value, sizeof value);
    }
    return true;
}

static bool raw_pointer(struct raw *raw, const struct word *word, const struct vmm_param *param)
{
    struct step *step = &raw->script->step;
    struct words_error error;
    struct value_env env = script_env(raw->script);
    size_t count;
    bool ok = true;
    if (is_null(word)) {
        vmm_call_set_scalar(&step->call.head, param, 0);
        return true;
    }
    switch (param->kind) {
    case VMM_PARAM_PROP: ok = value_prop(&env, word, &step->prop, &error); break;
    case VMM_PARAM_TEAM: return raw_team(raw, word);
    case VMM_PARAM_POOL_PROPS: ok = value_pool_props(&env, word, &step->pool_props, &error); break;
    case VMM_PARAM_POOL_VALUE: ok = value_number(&env, word, &step->pool_value, &error); break;
    case VMM_PARAM_POOL_POINTER: {
        uint64_t value = 0;
        ok = value_number(&env, word, &value, &error);
        fabrics_find(&raw->script->fabrics, value, step->fabric);
        break;
    }
    case VMM_PARAM_IPC_HANDLE: {
        uint64_t value = 0;
        ok = value_number(&env, word, &value, &error);
        fabrics_find(&raw->script->fabrics, value, step->fabric);
        vmm_call_set_scalar(&step->call.head, param, (uint64_t)(uintptr_t)step->fabric);
        break;
    }
    case VMM_PARAM_STRUCT: ok = value_struct(&env, word, vmm_shape(param->shape), step->structure, &error); break;
    case VMM_PARAM_STRUCTS: ok = value_structs(&env, word, vmm_shape(param->shape), step->structs, STEP_STRUCTS, &count, &error); break;
    case VMM_PARAM_LOCATION_VALUE:
        ok = value_location(&env, word, &step->location, &error);
        vmm_call_set_scalar(&step->call.head, param, (uint64_t)(uintptr_t)&step->location);
        break;
    case VMM_PARAM_LOCATION: ok = value_location(&env, word, &step->location, &error); break;
    case VMM_PARAM_DESCS: ok = value_grants(&env, word, step->grants, STEP_GRANTS, &count, &error); break;
    case VMM_PARAM_ARGS: return raw_words(raw, word);
    case VMM_PARAM_MEM_OPS: ok = value_mem_ops(&env, word, step->mem_ops, STEP_MEM_OPS, &count, &error); break;
    case VMM_PARAM_MEMCPY3D:
    case VMM_PARAM_MEMCPY3D_PEER: ok = value_box(&env, word, &step->box, &error); break;
    case VMM_PARAM_ADDRESSES:
    case VMM_PARAM_SIZES:
        ok = value_list(&env, word, step_batch(step, (size_t)(param - raw->params)), STEP_COPIES, &count, &error);
        break;
    case VMM_PARAM_COPY_ATTRIBUTES: ok = value_copy_attributes(&env, word, step->copy_attributes, STEP_COPIES, &count, &error); break;
    case VMM_PARAM_BOXES: ok = value_boxes(&env, word, step->boxes, STEP_COPIES, &count, &error); break;
    case VMM_PARAM_NODES: ok = value_nodes(&env, word, step_nodes(step, (size_t)(param - raw->params)), STEP_NODES, &count, &error); break;
    case VMM_PARAM_EDGES: return raw_edges(raw, word);
    case VMM_PARAM_FILL_NODE: ok = value_fill_node(&env, word, &step->fill_node, &error); break;
    case VMM_PARAM_KERNEL_NODE: ok = value_kernel_node(&env, word, &step->kernel_node, step->words, STEP_WORDS, &error); break;
    case VMM_PARAM_HOST_NODE:
        if (strcmp(word->text, "nothing") != 0)
            return script_wrong(raw->script, word->column, "\"%.40s\" for %s; write nothing (a function without effect) "
                                                           "or null", word->text, param->name);
        break;
    case VMM_PARAM_ATTRIBUTES: return raw_attributes(raw, word);
    case VMM_PARAM_BYTES:
        ok = value_bytes(&env, word, &step->bytes, &raw->given, &error);
        if (ok)
            vmm_call_set_scalar(&step->call.head, param, (uint64_t)(uintptr_t)step->bytes);
        break;
    case VMM_PARAM_IO_COUNT: ok = value_number(&env, word, &step->out[param - raw->params].u64, &error); break;
    case VMM_PARAM_IO_INT: ok = value_int(&env, word, &step->out[param - raw->params].i, &error); break;
    case VMM_PARAM_FD: {
        uint64_t value = 0;
        ok = value_number(&env, word, &value, &error);
        vmm_call_set_scalar(&step->call.head, param, value);
        break;
    }
    case VMM_PARAM_FUNCTION:
        if (strcmp(word->text, "nothing") != 0)
            return script_wrong(raw->script, word->column, "\"%.40s\" for the function %s; write nothing (a function "
                                                           "without effect) or null", word->text, param->name);
        break;
    case VMM_PARAM_USER_DATA:
        return script_wrong(raw->script, word->column, "\"%.40s\" for %s; a script can pass null only", word->text,
                            param->name);
    default:
        if (strcmp(word->text, "out") != 0)
            return script_wrong(raw->script, word->column, "\"%.40s\" for the output %s; write out or null", word->text,
                                param->name);
        break;
    }
    return ok || script_wrong_at(raw->script, &error);
}

static bool is_scalar(enum vmm_param_kind kind)
{
    return kind < VMM_PARAM_PROP;
}

/* A call accesses as much memory as its counts say, so they must stay within the script's own memory. */
static bool raw_bounds(struct raw *raw)
{
    struct step *step = &raw->script->step;
    const struct vmm_call *call = &step->call.head;
    for (size_t i = 0; i < raw->count; i++) {
        const struct vmm_param *param = &raw->params[i];
        uint64_t limit = 0, length = 0, pointer = is_scalar(param->kind) ? 0 : vmm_call_scalar(call, param);
        switch (param->kind) {
        case VMM_PARAM_DESCS: limit = STEP_GRANTS, length = vmm_call_scalar(call, &raw->params[i + 1]); break;
        case VMM_PARAM_MEM_OPS: /* longer ones are refused before the call reads them */
            limit = STEP_MEM_OPS, length = step->call.stream_batch_mem_op.count > STEP_MEM_OPS
                                               ? 0 : step->call.stream_batch_mem_op.count;
            break;
        case VMM_PARAM_STRUCTS: limit = STEP_STRUCTS, length = vmm_structs_length(call, param); break;
        case VMM_PARAM_OUT_RANGE: limit = sizeof step->range, length = step->call.mem_range_get_attribute.data_size; break;
        case VMM_PARAM_ADDRESSES:
        case VMM_PARAM_SIZES:
        case VMM_PARAM_COPY_ATTRIBUTES:
        case VMM_PARAM_BOXES: limit = STEP_COPIES, length = vmm_batch_length(call, param); break;
        case VMM_PARAM_NODES:
        case VMM_PARAM_EDGES: limit = STEP_NODES, length = step_list(step); break;
        case VMM_PARAM_OUT_NODES:
        case VMM_PARAM_OUT_EDGES: limit = STEP_NODES, length = step_written(step); break;
        case VMM_PARAM_ARGS: limit = STEP_WORDS, length = step->call.launch.count; break;
        case VMM_PARAM_OUT_TEXT: limit = STEP_TEXT, length = (uint64_t)step->call.device_get_name.len; break;
        case VMM_PARAM_ATTRIBUTES:
            limit = STEP_ATTRIBUTES, length = step->call.pointer_get_attributes.num_attributes;
            break;
        case VMM_PARAM_BYTES: limit = raw->given, length = step->call.memcpy_htod.byte_count; break;
        case VMM_PARAM_OUT_BYTES: limit = VALUE_BYTES_MAX, length = step->call.memcpy_dtoh.byte_count; break;
        default: continue;
        }
        if (pointer && length > limit && !(param->kind == VMM_PARAM_OUT_TEXT && (int64_t)length < 0))
            return script_wrong(raw->script, 1, "%s is to reach over %llu, yet the script gives it %llu", param->name,
                                (unsigned long long)length, (unsigned long long)limit);
    }
    return true;
}

/* The buffer for the bytes that a copy to the host writes. */
static void raw_room(struct raw *raw)
{
    struct step *step = &raw->script->step;
    for (size_t i = 0; i < raw->count; i++)
        if (raw->params[i].kind == VMM_PARAM_OUT_BYTES && vmm_call_scalar(&step->call.head, &raw->params[i])) {
            uint64_t size = step->call.memcpy_dtoh.byte_count;
            step->bytes = text_grow(NULL, (size_t)size);
            memset(step->bytes, 0, (size_t)size);
            vmm_call_set_scalar(&step->call.head, &raw->params[i], (uint64_t)(uintptr_t)step->bytes);
        }
}

static bool run_call(struct script *script)
{
    const struct word *word = args_next(script, "the call's name in the driver API");
    if (!word)
        return false;
    enum vmm_call_id id = vmm_call_find(word->text);
    if (id == VMM_CALL_COUNT)
        return script_wrong(script, word->column, "there is no call \"%.60s\"; names of calls look like cuMemMap or mem_map",
                            word->text);
    struct raw raw = {.script = script};
    struct step *step = script_step(script, id);
    raw.params = vmm_call_params(id, &raw.count);
    for (size_t i = 0; i < raw.count; i++) {
        const struct vmm_param *param = &raw.params[i];
        word = args_next(script, param->name);
        if (!word || !(is_scalar(param->kind) ? raw_number(&raw, word, param) : raw_pointer(&raw, word, param)))
            return false;
        /* Any value but NULL: the buffer of a copy to the host is allocated when its size is known. */
        if (param->kind == VMM_PARAM_OUT_BYTES && !is_null(word))
            vmm_call_set_scalar(&step->call.head, param, (uint64_t)(uintptr_t)step);
    }
    if (!raw_bounds(&raw))
        return false;
    raw_room(&raw);
    return script_make(script, NULL);
}

const struct script_command script_raw_commands[] = {
    {"call", "DRIVER-CALL ARGUMENT ...", "any call with any arguments, in the driver's order", "any", run_call, false},
    {0},
};
