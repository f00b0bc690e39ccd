/* SPDX-License-Identifier: Apache-2.0 */
/* Branches and calls. */
#include <string.h>

#include "ptx_lower.h"

static uint32_t label_of(const struct ptx_lower *l, const struct ptx_operand *o)
{
    if (o->kind != PTX_O_LABEL)
        ptx_fail(l->context, o->place, "%.*s: expected a label", PTX_TEXT(l->ins->text));
    return l->function->labels[o->value];
}

/* The target is an instruction for now; ptx_lower_function replaces it by its op. */
void ptx_lower_bra(struct ptx_lower *l, const struct ptx_match *m)
{
    (void)m;
    if (l->ins->operands != 1)
        ptx_lower_fail(l, "takes a label");
    uint32_t to = label_of(l, l->ins->operand);
    ptx_emit(l, STEP_BRA, PTX_UNUSED, PTX_UNUSED, PTX_UNUSED, PTX_UNUSED)->imm = to;
}

/* brx.idx index, list; */
void ptx_lower_brx(struct ptx_lower *l, const struct ptx_match *m)
{
    (void)m;
    const struct ptx_targets *targets = l->ins->operands == 2 ? l->ins->operand[1].targets : NULL;
    if (!targets || targets->kind != 'b' || l->ins->operand[1].kind != PTX_O_TARGETS)
        ptx_lower_fail(l, "takes an index and the name of a .branchtargets");
    uint32_t index = ptx_source(l, 0, PTX_U32, false);
    struct ptx_op *op = ptx_emit(l, STEP_BRX, PTX_UNUSED, index, PTX_UNUSED, PTX_UNUSED);
    op->list = l->list_count;
    op->imm = targets->count;
    for (uint32_t i = 0; i < targets->count; i++) {
        l->list = ptx_more(l->context, l->list, l->list_count, &l->list_room, sizeof *l->list);
        l->list[l->list_count++] = label_of(l, &targets->target[i]);
    }
}

/* The type of a whole parameter, which a register can hold; PTX_NONE: it is larger. */
static unsigned param_type(const struct ptx_variable *v)
{
    return v->is_array || v->vector > 1 ? PTX_NONE : v->type;
}

/* An argument that is a register or a number, through room in the frame. */
static uint32_t through_frame(struct ptx_lower *l, const struct ptx_operand *o, const struct ptx_variable *param, bool result)
{
    unsigned type = param_type(param);
    if (!type)
        ptx_fail(l->context, o->place, "%.*s: this parameter does not fit in a register", PTX_TEXT(l->ins->text));
    uint32_t offset = ptx_frame_more(l, param->size, param->align);
    if (result)
        return offset;
    uint32_t value = ptx_source_of(l, o, type, true);
    struct ptx_op *op = ptx_emit(l, STEP_ST, PTX_UNUSED, PTX_UNUSED, value, PTX_UNUSED);
    op->more = (uint16_t)(PTX_M_FRAME | PTX_MEM_NO_BASE | (unsigned)__builtin_ctz(ptx_type_size(type)) << PTX_MEM_SIZE_SHIFT);
    op->imm = offset;
    op->bytes[2] = l->bytes[value];
    return offset;
}

static uint32_t argument(struct ptx_lower *l, const struct ptx_operand *o, const struct ptx_variable *param, bool result)
{
    const struct ptx_variable *v = o->variable;
    if (o->kind != PTX_O_VARIABLE)
        return through_frame(l, o, param, result);
    if (v->space != PTX_SPACE_PARAM || !v->of || ptx_is_kernel_param(l, v) || o->offset || v->size < param->size)
        ptx_fail(l->context, o->place, "%.*s: an argument must be a .param of the function with the size of the parameter",
                 PTX_TEXT(l->ins->text));
    return ptx_frame_offset(l, v);
}

static void arguments(struct ptx_lower *l, const struct ptx_operand *given, const struct ptx_variable *params, uint32_t count, bool results,
                      uint32_t *offsets)
{
    uint32_t have = given ? given->count : 0;
    if (have != count)
        ptx_lower_fail(l, "passes %u %s, but the function has %u", have, results ? "results" : "parameters", count);
    for (uint32_t i = 0; i < count; i++, params = params->next)
        offsets[i] = argument(l, &given->list[i], params, results);
}

/* Results in registers are loaded after the call. */
static void load_results(struct ptx_lower *l, const struct ptx_operand *given, const struct ptx_variable *params, const uint32_t *offsets)
{
    for (uint32_t i = 0; given && i < given->count; i++, params = params->next) {
        unsigned type = param_type(params);
        if (given->list[i].kind == PTX_O_VARIABLE || given->list[i].kind == PTX_O_SINK)
            continue;
        uint32_t value = ptx_destination_of(l, &given->list[i], type, true);
        struct ptx_op *op = ptx_emit(l, STEP_LD, value, PTX_UNUSED, PTX_UNUSED, PTX_UNUSED);
        op->more = (uint16_t)(PTX_M_FRAME | PTX_MEM_NO_BASE | (unsigned)__builtin_ctz(ptx_type_size(type)) << PTX_MEM_SIZE_SHIFT |
                              (ptx_is_signed(type) ? PTX_MEM_SIGNED : 0));
        op->imm = offsets[i];
    }
}

/* The callee: the parameters are the function's, or those of the prototype or of the first target. */
struct callee {
    const struct ptx_function *function; /* NULL: called through a pointer */
    uint32_t pointer;
    const struct ptx_variable *params, *results;
    uint32_t param_count, result_count;
};

static struct callee callee_of(struct ptx_lower *l, unsigned *i)
{
    const struct ptx_operand *o = &l->ins->operand[*i];
    struct callee c = {.pointer = PTX_UNUSED};
    const struct ptx_function *f = o->function;
    if (o->kind == PTX_O_FUNCTION) {
        f = f->alias ? f->alias : f;
        c.function = f;
    } else {
        const struct ptx_targets *targets = l->ins->operand[l->ins->operands - 1].targets;
        c.pointer = ptx_source(l, *i, PTX_U64, false);
        if (!targets || targets->kind == 'b')
            ptx_lower_fail(l, "a call of a pointer needs a .callprototype or .calltargets");
        if (targets->kind == 'p') {
            c = (struct callee){NULL, c.pointer, targets->params, targets->result, targets->param_count, targets->results};
            ++*i;
            return c;
        }
        f = targets->target[0].function;
    }
    ++*i;
    if (f->is_entry)
        ptx_lower_fail(l, "a kernel cannot be called");
    c.params = f->params;
    c.results = f->results;
    c.param_count = f->param_count;
    c.result_count = f->result_count;
    return c;
}

/* call (results), function, (arguments), prototype; */
void ptx_lower_call(struct ptx_lower *l, const struct ptx_match *m)
{
    const struct ptx_operand *o = l->ins->operand, *results = NULL, *given = NULL;
    uint32_t offsets[2][UINT8_MAX];
    unsigned i = 0;
    (void)m;
    if (l->ins->operands && o[0].kind == PTX_O_LIST)
        results = &o[i++];
    if (i >= l->ins->operands)
        ptx_lower_fail(l, "calls nothing");
    struct callee c = callee_of(l, &i);
    if (i < l->ins->operands && o[i].kind == PTX_O_LIST)
        given = &o[i++];
    if (i < l->ins->operands && o[i].kind == PTX_O_TARGETS)
        i++;
    if (i != l->ins->operands)
        ptx_lower_fail(l, "has one operand too many");
    if (c.param_count + c.result_count > UINT8_MAX)
        ptx_lower_fail(l, "calls a function with more than %d parameters and results", UINT8_MAX);
    arguments(l, given, c.params, c.param_count, false, offsets[0]);
    arguments(l, results, c.results, c.result_count, true, offsets[1]);
    struct ptx_op *op = ptx_emit(l, c.function ? STEP_CALL : STEP_CALL_POINTER, PTX_UNUSED, c.pointer, PTX_UNUSED, PTX_UNUSED);
    op->imm = c.function ? c.function->number : 0;
    op->what = (uint16_t)c.param_count;
    for (uint32_t k = 0; k < c.param_count; k++)
        ptx_list(l, op, offsets[0][k]);
    for (uint32_t k = 0; k < c.result_count; k++)
        ptx_list(l, op, offsets[1][k]);
    ptx_emit(l, STEP_JOIN, PTX_UNUSED, PTX_UNUSED, PTX_UNUSED, PTX_UNUSED)->guard = 0;
    load_results(l, results, c.results, offsets[1]);
}

void ptx_lower_ret(struct ptx_lower *l, const struct ptx_match *m)
{
    (void)m;
    ptx_emit(l, l->function->is_entry ? STEP_EXIT : STEP_RET, PTX_UNUSED, PTX_UNUSED, PTX_UNUSED, PTX_UNUSED);
}

void ptx_lower_exit(struct ptx_lower *l, const struct ptx_match *m)
{
    (void)m;
    ptx_emit(l, STEP_EXIT, PTX_UNUSED, PTX_UNUSED, PTX_UNUSED, PTX_UNUSED);
}

void ptx_lower_trap(struct ptx_lower *l, const struct ptx_match *m)
{
    ptx_emit(l, m->data, PTX_UNUSED, PTX_UNUSED, PTX_UNUSED, PTX_UNUSED);
}

void ptx_lower_nanosleep(struct ptx_lower *l, const struct ptx_match *m)
{
    ptx_emit(l, STEP_NANOSLEEP, PTX_UNUSED, m->value[0], PTX_UNUSED, PTX_UNUSED);
}
