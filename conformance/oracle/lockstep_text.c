/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep_text.c - steps as readable lines, and back. */
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lockstep.h"

enum { NAMES = 1 << 24 }; /* of a script's steps */
static const char LETTERS[] = "rhcsepgnxuy"; /* which begin a name */

/* ---- steps ---- */

void steps_add(struct script *script, const struct step *step)
{
    if (script->count == script->room) {
        size_t room = script->room ? script->room * 2 : 256;
        struct step *larger = realloc(script->steps, room * sizeof *larger);
        if (!larger) {
            fputs("script: the host has no memory left\n", stderr);
            exit(255);
        }
        script->steps = larger;
        script->room = room;
    }
    script->steps[script->count++] = *step;
}

void steps_free(struct script *script)
{
    free(script->steps);
    memset(script, 0, sizeof *script);
}

struct step step_of(enum vmm_call_id call)
{
    struct step step;
    size_t count;
    const struct vmm_param *params = vmm_call_params(call, &count);
    memset(&step, 0, sizeof step);
    step.call = (uint16_t)call;
    for (size_t i = 0; i < count && i < STEP_ARGS; i++)
        step.arg[i].add = params[i].kind >= VMM_PARAM_PROP;
    step.prop.type = VMM_MEM_ALLOCATION_TYPE_PINNED;
    step.prop.location.type = VMM_MEM_LOCATION_TYPE_DEVICE;
    for (size_t i = 0; i < STEP_DESCS; i++)
        step.desc[i].location.type = VMM_MEM_LOCATION_TYPE_DEVICE;
    return step;
}

struct step_arg *step_arg(struct step *step, const char *parameter)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params(step->call, &count);
    for (size_t i = 0; i < count && i < STEP_ARGS; i++)
        if (!strcmp(params[i].name, parameter))
            return &step->arg[i];
    fprintf(stderr, "step_arg: %s has no parameter \"%s\"\n", vmm_call_name(step->call), parameter);
    abort();
}

/* ---- printing ---- */

struct line {
    char *text;
    size_t size, length;
};

static void put(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct line *line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t left = line->length < line->size ? line->size - line->length : 0;
    int n = vsnprintf(left ? line->text + line->length : NULL, left, format, args);
    va_end(args);
    line->length += n > 0 ? (size_t)n : 0;
}

/* 0, 4G, 2G+0x1000, 0x7fff00000000; sign joins the two parts. */
static void put_amount(struct line *line, uint64_t value, uint64_t unit, char sign)
{
    uint64_t whole = value / unit, rest = value % unit;
    if (!value || whole >= 4096)
        put(line, value < 10 ? "%" PRIu64 : "%#" PRIx64, value);
    else if (whole)
        put(line, rest ? "%" PRIu64 "G%c%#" PRIx64 : "%" PRIu64 "G", whole, sign, rest);
    else
        put(line, rest < 65536 ? "%" PRIu64 : "%#" PRIx64, rest);
}

static char letter_of(enum vmm_param_kind kind)
{
    switch (kind) {
    case VMM_PARAM_HANDLE: return 'h';
    case VMM_PARAM_CONTEXT: return 'c';
    case VMM_PARAM_STREAM: return 's';
    case VMM_PARAM_EVENT: return 'e';
    case VMM_PARAM_POOL: return 'p';
    case VMM_PARAM_GRAPH: return 'g';
    case VMM_PARAM_GRAPH_NODE: return 'n';
    case VMM_PARAM_GRAPH_EXEC: return 'x';
    case VMM_PARAM_USER_OBJECT: return 'u';
    case VMM_PARAM_ARRAY: return 'y';
    default: return 'r';
    }
}

static void put_value(struct line *line, const struct step_arg *arg, enum vmm_param_kind kind, uint64_t unit)
{
    uint64_t add = arg->add;
    if (!arg->name) {
        if (kind == VMM_PARAM_INT)
            put(line, "%" PRId64, (int64_t)add);
        else
            put_amount(line, add, unit, '+');
        return;
    }
    put(line, "%c%u", letter_of(kind), arg->name);
    if (!add)
        return;
    char sign = add >> 63 ? '-' : '+';
    put(line, "%c", sign);
    put_amount(line, sign == '-' ? 0 - add : add, unit, sign);
}

static void put_prop(struct line *line, const vmm_mem_allocation_prop *p)
{
    put(line, "{%d %d %d:%d %d %u %u %u %u.%u.%u.%u}", p->type, p->requested_handle_types, p->location.type,
        p->location.id, p->win32_handle_meta_data != NULL, p->alloc_flags.compression_type,
        p->alloc_flags.gpu_direct_rdma_capable, p->alloc_flags.usage, p->alloc_flags.reserved[0],
        p->alloc_flags.reserved[1], p->alloc_flags.reserved[2], p->alloc_flags.reserved[3]);
}

/* type, handle types, location, most bytes, usage, a reserved byte */
static void put_pool_props(struct line *line, const struct step *step, uint64_t unit)
{
    put(line, "{%d %d %d:%d ", (int)step->word[0], (int)step->word[1], step->desc[0].location.type, step->desc[0].location.id);
    put_amount(line, step->word[2], unit, '+');
    put(line, " %" PRIu64 " %" PRIu64 "}", step->word[3], step->word[4]);
}

/* [operation@address=value/flags ...] */
static void put_ops(struct line *line, const struct step *step, uint64_t unit)
{
    for (size_t i = 0; i < STEP_OPS; i++) {
        const struct step_op *op = &step->op[i];
        put(line, "%s%d@", i ? " " : "[", op->operation);
        put_value(line, &op->address, VMM_PARAM_ADDRESS, unit);
        put(line, "=%" PRIu64 "/%u", op->value, op->flags);
    }
    put(line, "]");
}

/* Is it the second list of nodes of a call? */
static size_t list_of(enum vmm_call_id call, size_t i)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params(call, &count);
    return i && params[i - 1].kind == VMM_PARAM_NODES;
}

/* [n70 n71 n72] */
static void put_nodes(struct line *line, const struct step_arg *node)
{
    for (size_t i = 0; i < STEP_NODES; i++) {
        put(line, "%s", i ? " " : "[");
        put_value(line, &node[i], VMM_PARAM_GRAPH_NODE, 1);
    }
    put(line, "]");
}

/* {address pitch value size width height}, or of a kernel {address kernel blocks threads bytes arguments} */
static void put_work(struct line *line, const struct step *step, uint64_t unit)
{
    put(line, "{");
    put_value(line, &step->node[1][0], VMM_PARAM_ADDRESS, unit);
    for (size_t i = 0; i < STEP_WORDS; i++)
        put(line, " %" PRIu64, step->word[i]);
    put(line, "}");
}

/* {type base x y z pitch height context, the other side, width height depth} */
static void put_box(struct line *line, const struct step *step, uint64_t unit)
{
    for (size_t i = 0; i < 2; i++) {
        const struct step_side *s = &step->side[i];
        put(line, i ? ", %d " : "{%d ", s->type);
        put_value(line, &s->base, VMM_PARAM_ADDRESS, unit);
        put(line, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " ", s->x, s->y, s->z, s->pitch, s->height);
        put_value(line, &s->context, VMM_PARAM_CONTEXT, 1);
    }
    put(line, ", %" PRIu64 " %" PRIu64 " %" PRIu64 "}", step->extent[0], step->extent[1], step->extent[2]);
}

/* {value value ...}, of each field of the structure, and of each structure of a list */
static void put_structs(struct line *line, const struct step *step, const struct vmm_param *param, uint64_t unit)
{
    const struct vmm_shape *shape = vmm_shape(param->shape);
    for (size_t k = 0; k < (param->kind == VMM_PARAM_STRUCTS ? STEP_STRUCTS : 1); k++) {
        put(line, k ? " {" : "{");
        for (size_t f = 0; f < shape->count; f++) {
            put(line, f ? " " : "");
            put_value(line, &step->field[k][f], shape->fields[f].kind, unit);
        }
        put(line, "}");
    }
}

/* The position of the number of a step's descriptors. */
static size_t count_at(enum vmm_call_id call)
{
    return call == VMM_CALL_mem_pool_set_access ? 2 : 3;
}

/* How many descriptors of a step are printed. */
static size_t descs_of(const struct step *step)
{
    const struct step_arg *at = &step->arg[count_at(step->call)];
    uint64_t count = at->name ? 0 : at->add;
    return count > STEP_FEW_DESCS && count <= STEP_DESCS ? (size_t)count : STEP_FEW_DESCS;
}

static void put_list(struct line *line, const struct step *step, enum vmm_param_kind kind)
{
    put(line, "[");
    for (size_t i = 0; kind == VMM_PARAM_DESCS && i < descs_of(step); i++)
        put(line, "%s%d:%d=%d", i ? " " : "", step->desc[i].location.type, step->desc[i].location.id,
            step->desc[i].flags);
    for (size_t i = 0; kind == VMM_PARAM_ATTRIBUTES && i < STEP_ATTRIBUTES; i++)
        put(line, "%s%d", i ? " " : "", step->attribute[i]);
    for (size_t i = 0; (kind == VMM_PARAM_ARGS || kind == VMM_PARAM_EDGES) && i < STEP_WORDS; i++)
        put(line, "%s%" PRIu64, i ? " " : "", step->word[i]);
    put(line, "]");
}

/* Are these the places of a batch in its list of locations? */
static bool is_index(enum vmm_call_id call, size_t i)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params(call, &count);
    return params[i].kind == VMM_PARAM_SIZES && i > 1 && params[0].kind == VMM_PARAM_ADDRESSES && params[i - 1].kind != VMM_PARAM_ADDRESSES;
}

/* Are these the sizes of a batch, of as many ranges as there are addresses? */
static bool is_of_batch(enum vmm_call_id call, size_t i)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params(call, &count);
    return i && params[i - 1].kind == VMM_PARAM_ADDRESSES;
}

/* [address address address], or sizes */
static void put_batch(struct line *line, const struct step_arg *value, uint64_t unit)
{
    for (size_t i = 0; i < STEP_NODES; i++) {
        put(line, "%s", i ? " " : "[");
        put_value(line, &value[i], VMM_PARAM_ADDRESS, unit);
    }
    put(line, "]");
}

static void put_pointer(struct line *line, const struct step *step, size_t i, enum vmm_param_kind kind, uint64_t unit)
{
    if (!step->arg[i].add)
        put(line, "null");
    else if (kind == VMM_PARAM_ADDRESSES || (kind == VMM_PARAM_SIZES && is_of_batch(step->call, i)))
        put_batch(line, step->node[kind == VMM_PARAM_SIZES], unit);
    else if (is_index(step->call, i))
        put(line, "[%" PRIu64 " %" PRIu64 "]", step->word[0], step->word[1]);
    else if (kind == VMM_PARAM_PROP)
        put_prop(line, &step->prop);
    else if (kind == VMM_PARAM_POOL_PROPS)
        put_pool_props(line, step, unit);
    else if (kind == VMM_PARAM_POOL_VALUE)
        put(line, "value:%" PRIu64, step->word[0]);
    else if (kind == VMM_PARAM_MEM_OPS)
        put_ops(line, step, unit);
    else if (kind == VMM_PARAM_LOCATION || kind == VMM_PARAM_LOCATION_VALUE)
        put(line, "%d:%d", step->desc[0].location.type, step->desc[0].location.id);
    else if (kind == VMM_PARAM_NODES)
        put_nodes(line, step->node[list_of(step->call, i)]);
    else if (kind == VMM_PARAM_FILL_NODE || kind == VMM_PARAM_KERNEL_NODE)
        put_work(line, step, unit);
    else if (kind == VMM_PARAM_HOST_NODE || kind == VMM_PARAM_SIZES || kind == VMM_PARAM_IO_COUNT || kind == VMM_PARAM_IO_INT)
        put(line, "{%" PRIu64 "}", step->word[0]);
    else if (kind == VMM_PARAM_MEMCPY3D || kind == VMM_PARAM_MEMCPY3D_PEER)
        put_box(line, step, unit);
    else if (kind == VMM_PARAM_DESCS || kind == VMM_PARAM_ATTRIBUTES || kind == VMM_PARAM_ARGS || kind == VMM_PARAM_EDGES)
        put_list(line, step, kind);
    else if (kind == VMM_PARAM_BYTES)
        put(line, "bytes:%u", (unsigned)(unsigned char)step->arg[i].add);
    else
        put(line, "out");
}

/* A step's name prefix comes from its first output that later steps can refer to. */
static char made_by(enum vmm_call_id call)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params(call, &count);
    for (size_t i = 0; i < count; i++) {
        if (params[i].kind == VMM_PARAM_OUT_HANDLE)
            return 'h';
        if (params[i].kind == VMM_PARAM_OUT_CONTEXT)
            return 'c';
        if (params[i].kind == VMM_PARAM_OUT_POOL)
            return 'p';
        if (params[i].kind == VMM_PARAM_OUT_GRAPH)
            return 'g';
        if (params[i].kind == VMM_PARAM_OUT_GRAPH_NODE)
            return 'n';
        if (params[i].kind == VMM_PARAM_OUT_GRAPH_EXEC)
            return 'x';
        if (params[i].kind == VMM_PARAM_OUT_USER_OBJECT)
            return 'u';
        if (params[i].kind == VMM_PARAM_OUT_ARRAY)
            return 'y';
        if (params[i].kind == VMM_PARAM_OUT_ADDRESS)
            return 'r';
    }
    return 0;
}

int step_print(const struct step *step, uint64_t unit, char *text, size_t size)
{
    struct line line = {text, size, 0};
    size_t count;
    const struct vmm_param *params = vmm_call_params(step->call, &count);
    char made = made_by(step->call);
    if (made && step->name)
        put(&line, "%c%u = ", made, step->name);
    put(&line, "%s", vmm_call_name(step->call));
    for (size_t i = 0; i < count && i < STEP_ARGS; i++) {
        put(&line, " %s=", params[i].name);
        if (params[i].kind < VMM_PARAM_PROP)
            put_value(&line, &step->arg[i], params[i].kind, unit);
        else if ((params[i].kind == VMM_PARAM_STRUCT || params[i].kind == VMM_PARAM_STRUCTS) && step->arg[i].add)
            put_structs(&line, step, &params[i], unit);
        else
            put_pointer(&line, step, i, params[i].kind, unit);
    }
    return (int)line.length;
}

void steps_write(FILE *file, const char *spec, uint64_t unit, const struct script *script)
{
    char line[512];
    fprintf(file, "spec %s\n# G is %" PRIu64 " bytes; c1, c2, ... are the primary contexts of devices 0, 1, ...\n",
            spec, unit);
    fputs("# prop={type handle-types location:id win32-meta compression rdma usage reserved}\n", file);
    fputs("# desc=[location:id=rights ...]\n", file);
    fputs("# s40.. are streams, e48.. events; pool_props={type handle-types location:id most-bytes usage reserved}\n", file);
    fputs("# param_array=[operation@address=value/flags ...]\n", file);
    fputs("# p_copy={type base x y z pitch height context, the same of the destination, width height depth}\n", file);
    fputs("# a fill as a node: {address pitch value size width height}; a kernel: {address kernel blocks threads bytes arguments}\n", file);
    for (size_t i = 0; i < script->count; i++) {
        step_print(&script->steps[i], unit, line, sizeof line);
        fprintf(file, "%s\n", line);
    }
}

/* ---- parsing ---- */

struct reader {
    const char *at, *start;
    uint64_t unit;
    const char *expected; /* NULL while all is well */
};

static bool expect(struct reader *in, bool cond, const char *what)
{
    if (!cond && !in->expected)
        in->expected = what;
    return cond;
}

static bool take(struct reader *in, const char *text)
{
    size_t n = strlen(text);
    if (strncmp(in->at, text, n) != 0)
        return false;
    in->at += n;
    return true;
}

static uint64_t read_number(struct reader *in)
{
    char *end;
    bool negative = take(in, "-");
    if (!expect(in, isdigit((unsigned char)*in->at) != 0, "a number"))
        return 0;
    uint64_t value = strtoull(in->at, &end, 0);
    in->at = end;
    if (take(in, "G"))
        value *= in->unit;
    return negative ? 0 - value : value;
}

static uint32_t read_name(struct reader *in)
{
    uint64_t name = read_number(in);
    return expect(in, name < NAMES, "a smaller name") ? (uint32_t)name : 0;
}

static int read_int(struct reader *in, const char *before)
{
    expect(in, take(in, before), before);
    return (int)read_number(in);
}

static struct step_arg read_value(struct reader *in)
{
    struct step_arg arg = {0, 0};
    if (*in->at && strchr(LETTERS, *in->at)) {
        in->at++;
        arg.name = read_name(in);
    } else {
        arg.add = read_number(in);
    }
    while (!in->expected && (*in->at == '+' || *in->at == '-')) {
        bool minus = *in->at++ == '-';
        uint64_t term = read_number(in);
        arg.add += minus ? 0 - term : term;
    }
    return arg;
}

static void read_prop(struct reader *in, vmm_mem_allocation_prop *p)
{
    memset(p, 0, sizeof *p);
    p->type = read_int(in, "{");
    p->requested_handle_types = read_int(in, " ");
    p->location.type = read_int(in, " ");
    p->location.id = read_int(in, ":");
    p->win32_handle_meta_data = read_int(in, " ") ? (void *)(uintptr_t)8 : NULL;
    p->alloc_flags.compression_type = (unsigned char)read_int(in, " ");
    p->alloc_flags.gpu_direct_rdma_capable = (unsigned char)read_int(in, " ");
    p->alloc_flags.usage = (unsigned short)read_int(in, " ");
    for (int i = 0; i < 4; i++)
        p->alloc_flags.reserved[i] = (unsigned char)read_int(in, i ? "." : " ");
    expect(in, take(in, "}"), "}");
}

static void read_pool_props(struct reader *in, struct step *step)
{
    step->word[0] = (uint64_t)(int64_t)read_int(in, "{");
    step->word[1] = (uint64_t)(int64_t)read_int(in, " ");
    step->desc[0].location.type = read_int(in, " ");
    step->desc[0].location.id = read_int(in, ":");
    expect(in, take(in, " "), " ");
    step->word[2] = read_value(in).add;
    step->word[3] = (uint64_t)read_int(in, " ");
    step->word[4] = (uint64_t)read_int(in, " ");
    expect(in, take(in, "}"), "}");
}

static void read_ops(struct reader *in, struct step *step)
{
    for (size_t i = 0; i < STEP_OPS; i++) {
        struct step_op *op = &step->op[i];
        op->operation = read_int(in, i ? " " : "[");
        expect(in, take(in, "@"), "@");
        op->address = read_value(in);
        expect(in, take(in, "="), "=");
        op->value = read_number(in);
        op->flags = (unsigned)read_int(in, "/");
    }
    expect(in, take(in, "]"), "]");
}

static void read_nodes(struct reader *in, struct step_arg *node)
{
    for (size_t i = 0; i < STEP_NODES; i++) {
        expect(in, take(in, i ? " " : "["), i ? " " : "[");
        node[i] = read_value(in);
    }
    expect(in, take(in, "]"), "]");
}

static void read_work(struct reader *in, struct step *step)
{
    expect(in, take(in, "{"), "{");
    step->node[1][0] = read_value(in);
    for (size_t i = 0; i < STEP_WORDS; i++) {
        expect(in, take(in, " "), " ");
        step->word[i] = read_number(in);
    }
    expect(in, take(in, "}"), "}");
}

static uint64_t read_next(struct reader *in)
{
    expect(in, take(in, " "), " ");
    return read_number(in);
}

static void read_box(struct reader *in, struct step *step)
{
    for (size_t i = 0; i < 2; i++) {
        struct step_side *s = &step->side[i];
        s->type = read_int(in, i ? ", " : "{");
        expect(in, take(in, " "), " ");
        s->base = read_value(in);
        uint64_t *const numbers[] = {&s->x, &s->y, &s->z, &s->pitch, &s->height};
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
            *numbers[k] = read_next(in);
        expect(in, take(in, " "), " ");
        s->context = read_value(in);
    }
    expect(in, take(in, ","), ",");
    for (size_t i = 0; i < 3; i++)
        step->extent[i] = read_next(in);
    expect(in, take(in, "}"), "}");
}

static void read_structs(struct reader *in, struct step *step, size_t i, const struct vmm_param *param)
{
    const struct vmm_shape *shape = vmm_shape(param->shape);
    step->arg[i].add = !take(in, "null");
    for (size_t k = 0; step->arg[i].add && k < (param->kind == VMM_PARAM_STRUCTS ? STEP_STRUCTS : 1); k++) {
        for (size_t f = 0; f < shape->count && !in->expected; f++) {
            const char *before = f ? " " : k ? " {" : "{";
            expect(in, take(in, before), before);
            step->field[k][f] = read_value(in);
        }
        expect(in, take(in, "}"), "}");
    }
}

/* The list of addresses of a batch, or of sizes. */
static void read_batch(struct reader *in, struct step_arg *value)
{
    for (size_t i = 0; i < STEP_NODES; i++) {
        expect(in, take(in, i ? " " : "["), i ? " " : "[");
        value[i] = read_value(in);
    }
    expect(in, take(in, "]"), "]");
}

static void read_pointer(struct reader *in, struct step *step, size_t i, enum vmm_param_kind kind)
{
    step->arg[i].add = !take(in, "null");
    if (!step->arg[i].add)
        return;
    if (is_index(step->call, i)) {
        expect(in, take(in, "["), "[");
        step->word[0] = read_number(in);
        step->word[1] = read_next(in);
        expect(in, take(in, "]"), "]");
    } else if (kind == VMM_PARAM_PROP) {
        read_prop(in, &step->prop);
    } else if (kind == VMM_PARAM_POOL_PROPS) {
        read_pool_props(in, step);
    } else if (kind == VMM_PARAM_POOL_VALUE) {
        expect(in, take(in, "value:"), "value:");
        step->word[0] = read_number(in);
    } else if (kind == VMM_PARAM_MEM_OPS) {
        read_ops(in, step);
    } else if (kind == VMM_PARAM_ADDRESSES || (kind == VMM_PARAM_SIZES && is_of_batch(step->call, i))) {
        read_batch(in, step->node[kind == VMM_PARAM_SIZES]);
    } else if (kind == VMM_PARAM_LOCATION || kind == VMM_PARAM_LOCATION_VALUE) {
        step->desc[0].location.type = read_int(in, "");
        step->desc[0].location.id = read_int(in, ":");
    } else if (kind == VMM_PARAM_DESCS) {
        for (size_t d = 0; d < STEP_DESCS && (d < STEP_FEW_DESCS || *in->at == ' '); d++) {
            step->desc[d].location.type = read_int(in, d ? " " : "[");
            step->desc[d].location.id = read_int(in, ":");
            step->desc[d].flags = read_int(in, "=");
        }
        expect(in, take(in, "]"), "]");
    } else if (kind == VMM_PARAM_ATTRIBUTES) {
        for (size_t d = 0; d < STEP_ATTRIBUTES; d++)
            step->attribute[d] = read_int(in, d ? " " : "[");
        expect(in, take(in, "]"), "]");
    } else if (kind == VMM_PARAM_NODES) {
        read_nodes(in, step->node[list_of(step->call, i)]);
    } else if (kind == VMM_PARAM_FILL_NODE || kind == VMM_PARAM_KERNEL_NODE) {
        read_work(in, step);
    } else if (kind == VMM_PARAM_HOST_NODE || kind == VMM_PARAM_SIZES || kind == VMM_PARAM_IO_COUNT || kind == VMM_PARAM_IO_INT) {
        expect(in, take(in, "{"), "{");
        step->word[0] = read_number(in);
        expect(in, take(in, "}"), "}");
    } else if (kind == VMM_PARAM_MEMCPY3D || kind == VMM_PARAM_MEMCPY3D_PEER) {
        read_box(in, step);
    } else if (kind == VMM_PARAM_ARGS || kind == VMM_PARAM_EDGES) {
        for (size_t d = 0; d < STEP_WORDS; d++) {
            expect(in, take(in, d ? " " : "["), d ? " " : "[");
            step->word[d] = read_number(in);
        }
        expect(in, take(in, "]"), "]");
    } else if (kind == VMM_PARAM_BYTES) {
        step->arg[i].add = (uint64_t)(unsigned char)read_int(in, "bytes:");
    } else {
        expect(in, take(in, "out"), "out or null");
    }
}

static enum vmm_call_id read_call(struct reader *in)
{
    char name[64];
    size_t n = strcspn(in->at, " ");
    if (n >= sizeof name)
        n = sizeof name - 1;
    memcpy(name, in->at, n);
    name[n] = 0;
    enum vmm_call_id call = vmm_call_find(name);
    if (expect(in, call != VMM_CALL_COUNT, "the name of a call"))
        in->at += n;
    return call;
}

/* A step's arrays are short; a longer count would read past their end. */
static void check_lengths(struct reader *in, const struct step *step)
{
    size_t parameters;
    if (step->call == VMM_CALL_mem_set_access || step->call == VMM_CALL_mem_pool_set_access) {
        const struct step_arg *count = &step->arg[count_at(step->call)];
        expect(in, !count->name && count->add <= STEP_DESCS, "a count of 9 at most");
    }
    if (step->call == VMM_CALL_stream_batch_mem_op) /* of more than 255 operations, none is read */
        expect(in, !step->arg[1].name && (step->arg[1].add <= STEP_OPS || step->arg[1].add > 255), "3 operations at most");
    if (step->call == VMM_CALL_pointer_get_attributes)
        expect(in, !step->arg[0].name && step->arg[0].add <= STEP_ATTRIBUTES, "4 attributes at most");
    const struct vmm_param *params = vmm_call_params(step->call, &parameters);
    for (size_t i = 0; i < parameters && i < STEP_ARGS; i++) /* of more nodes than a graph has, none is read */
        if (params[i].kind == VMM_PARAM_COUNT && !strncmp(params[i].name, "num_dependencies", 16))
            expect(in, !step->arg[i].name && (step->arg[i].add <= STEP_NODES || step->arg[i].add > UINT32_MAX), "3 nodes at most");
    for (size_t i = 0; i < parameters && i < STEP_ARGS; i++)
        if (params[i].kind == VMM_PARAM_STRUCTS || params[i].kind == VMM_PARAM_ADDRESSES) {
            const size_t most = params[i].kind == VMM_PARAM_STRUCTS ? STEP_STRUCTS : STEP_NODES;
            for (size_t k = i + 1; k < parameters && k < STEP_ARGS; k++)
                if (params[k].kind == VMM_PARAM_COUNT || params[k].kind == VMM_PARAM_U32) {
                    expect(in, !step->arg[k].name && step->arg[k].add <= most, "at most as many as the list has");
                    break;
                }
        }
    for (size_t i = 0; i < parameters && i < STEP_ARGS; i++)
        if (params[i].kind == VMM_PARAM_IO_COUNT)
            expect(in, step->word[0] <= LOCKSTEP_LISTED, "room for at most 12 entries");
    if (step->call == VMM_CALL_launch)
        expect(in, !step->arg[4].name && step->arg[4].add <= STEP_WORDS, "5 arguments at most");
}

bool step_parse(const char *text, uint64_t unit, struct step *step, char *error, size_t size)
{
    struct reader in = {text, text, unit, NULL};
    uint32_t name = 0;
    memset(step, 0, sizeof *step);
    if (*in.at && strchr("rhcpgnxuy", *in.at) && isdigit((unsigned char)in.at[1])) {
        in.at++;
        name = read_name(&in);
        expect(&in, in.expected || take(&in, " = "), " = ");
    }
    enum vmm_call_id call = in.expected ? VMM_CALL_COUNT : read_call(&in);
    if (!in.expected) {
        size_t count;
        const struct vmm_param *params = vmm_call_params(call, &count);
        *step = step_of(call);
        step->name = name;
        for (size_t i = 0; i < count && i < STEP_ARGS && !in.expected; i++) {
            expect(&in, take(&in, " ") && take(&in, params[i].name) && take(&in, "="), params[i].name);
            if (params[i].kind < VMM_PARAM_PROP)
                step->arg[i] = read_value(&in);
            else if (params[i].kind == VMM_PARAM_STRUCT || params[i].kind == VMM_PARAM_STRUCTS)
                read_structs(&in, step, i, &params[i]);
            else
                read_pointer(&in, step, i, params[i].kind);
        }
        check_lengths(&in, step);
        expect(&in, !in.expected && !*in.at, "the end of the line");
    }
    if (in.expected)
        snprintf(error, size, "column %zu: expected %s", (size_t)(in.at - in.start) + 1, in.expected);
    return !in.expected;
}

/* The unit of a spec's machine. */
static bool unit_of(const char *spec, uint64_t *unit)
{
    struct lockstep pair;
    if (!lockstep_open(&pair, spec))
        return false;
    *unit = lockstep_unit(&pair);
    lockstep_close(&pair);
    return true;
}

bool steps_read(FILE *file, char *spec, size_t spec_size, struct script *script, char *error, size_t size)
{
    char line[1024], why[128];
    uint64_t unit = 0;
    memset(script, 0, sizeof *script);
    for (int number = 1; fgets(line, sizeof line, file); number++) {
        struct step step;
        line[strcspn(line, "\r\n")] = 0;
        if (!*line || *line == '#')
            continue;
        if (!strncmp(line, "spec ", 5)) {
            snprintf(spec, spec_size, "%s", line + 5);
            if (unit_of(spec, &unit))
                continue;
            snprintf(why, sizeof why, "column 6: expected a spec that can be opened");
        } else if (!unit) {
            snprintf(why, sizeof why, "column 1: expected \"spec SPEC\" before the first step");
        } else if (step_parse(line, unit, &step, why, sizeof why)) {
            steps_add(script, &step);
            continue;
        }
        snprintf(error, size, "line %d, %s", number, why);
        steps_free(script);
        return false;
    }
    return true;
}
