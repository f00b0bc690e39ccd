/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and stores. */
#include "ptx_lower.h"

static unsigned named_space(const struct ptx_lower *l)
{
    for (unsigned i = 0; i < l->ins->modifiers; i++)
        switch (l->ins->modifier[i]) {
        case PTX_MOD_GLOBAL: return PTX_SPACE_GLOBAL;
        case PTX_MOD_CONST: return PTX_SPACE_CONST;
        case PTX_MOD_SHARED:
        case PTX_MOD_SHARED_CTA:
        case PTX_MOD_SHARED_CLUSTER: return PTX_SPACE_SHARED;
        case PTX_MOD_LOCAL: return PTX_SPACE_LOCAL;
        case PTX_MOD_PARAM:
        case PTX_MOD_PARAM_ENTRY:
        case PTX_MOD_PARAM_FUNC: return PTX_SPACE_PARAM;
        default: break;
        }
    return PTX_SPACE_GENERIC;
}

static unsigned memory_of(unsigned space)
{
    static const uint8_t memory[] = {[PTX_SPACE_GENERIC] = PTX_M_GENERIC, [PTX_SPACE_GLOBAL] = PTX_M_GLOBAL,
                                     [PTX_SPACE_CONST] = PTX_M_GLOBAL,    [PTX_SPACE_SHARED] = PTX_M_SHARED,
                                     [PTX_SPACE_LOCAL] = PTX_M_LOCAL,     [PTX_SPACE_PARAM] = PTX_M_KERNEL_PARAM};
    return memory[space];
}

/* The address of a named variable; it needs no register if its offset in the frame or the parameters is known. */
static struct ptx_place_in_memory by_name(struct ptx_lower *l, const struct ptx_operand *o, unsigned space)
{
    const struct ptx_variable *v = o->list[0].variable;
    struct ptx_place_in_memory at = {memory_of(v->space), PTX_UNUSED, o->offset};
    unsigned is = v->space;
    if (space != PTX_SPACE_GENERIC && space != is)
        ptx_fail(l->context, o->place, "%.*s: %.*s is in another space", PTX_TEXT(l->ins->text), PTX_TEXT(v->name));
    if (ptx_is_kernel_param(l, v)) {
        at.offset += l->param_offset[v->number];
    } else if (is == PTX_SPACE_PARAM || is == PTX_SPACE_LOCAL) {
        at.space = PTX_M_FRAME;
        at.offset += ptx_frame_offset(l, v);
    } else {
        enum ptx_reference_kind kind = is == PTX_SPACE_SHARED ? PTX_R_SHARED : PTX_R_VARIABLE;
        at.base = ptx_reference(l, kind, v->index, 0, 8);
    }
    return at;
}

struct ptx_place_in_memory ptx_memory_at(struct ptx_lower *l, unsigned i)
{
    const struct ptx_operand *o = &l->ins->operand[i];
    if (i >= l->ins->operands || o->kind != PTX_O_ADDRESS || o->count != 1)
        ptx_lower_fail(l, "operand %u must be an address in brackets", i + 1);
    const struct ptx_operand *base = &o->list[0];
    unsigned space = named_space(l), bytes;
    if (base->kind == PTX_O_VARIABLE)
        return by_name(l, o, space);
    struct ptx_place_in_memory at = {memory_of(space), PTX_UNUSED, o->offset};
    if (base->kind == PTX_O_INTEGER) {
        at.offset = (int64_t)base->value;
        return at;
    }
    unsigned declared = ptx_declared(l, base);
    bytes = declared ? ptx_register_bytes(declared) : 0;
    if (!declared || ptx_is_float(declared) || (bytes != 8 && bytes != 4))
        ptx_fail(l->context, base->place, "%.*s: an address must be in a register of 64 or 32 bits", PTX_TEXT(l->ins->text));
    at.base = l->register_value[base->value];
    return at;
}

/* ---- ld and st ---- */

unsigned ptx_elements(const struct ptx_lower *l)
{
    return ptx_has(l, PTX_MOD_V2) ? 2 : ptx_has(l, PTX_MOD_V4) ? 4 : ptx_has(l, PTX_MOD_V8) ? 8 : 1;
}

static unsigned log2_of(unsigned bytes)
{
    return bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : bytes == 8 ? 3 : 4;
}

unsigned ptx_memory_more(const struct ptx_lower *l, const struct ptx_place_in_memory *at, unsigned type)
{
    unsigned more = at->space | log2_of(ptx_type_size(type)) << PTX_MEM_SIZE_SHIFT;
    if (ptx_is_signed(type))
        more |= PTX_MEM_SIGNED;
    if (ptx_has(l, PTX_MOD_VOLATILE) || ptx_has(l, PTX_MOD_RELAXED) || ptx_has(l, PTX_MOD_ACQUIRE) || ptx_has(l, PTX_MOD_RELEASE) ||
        ptx_has(l, PTX_MOD_CV))
        more |= PTX_MEM_SHOWS;
    if (ptx_has(l, PTX_MOD_ACQUIRE))
        more |= PTX_MEM_ACQUIRE;
    if (ptx_has(l, PTX_MOD_RELEASE))
        more |= PTX_MEM_RELEASE;
    if (at->base == PTX_UNUSED)
        more |= PTX_MEM_NO_BASE;
    return more;
}

/* Checks the number of operands: a cache policy, if the modifiers announce one, is the last, and has no effect here. */
static void check_operands(const struct ptx_lower *l, unsigned count)
{
    unsigned most = count + ptx_has(l, PTX_MOD_L2_CACHE_HINT);
    if (l->ins->operands < count || l->ins->operands > most)
        ptx_lower_fail(l, "has %u operands, but takes %u", l->ins->operands, most);
}

/* The registers of operand i: one, or those of a vector. */
static unsigned take_vector(struct ptx_lower *l, unsigned i, unsigned type, bool written, uint32_t values[8])
{
    const struct ptx_operand *o = &l->ins->operand[i];
    unsigned count = ptx_elements(l);
    if ((o->kind == PTX_O_LIST ? o->count : 1) != count)
        ptx_lower_fail(l, "operand %u must have %u registers in braces", i + 1, count);
    for (unsigned k = 0; k < count; k++) {
        const struct ptx_operand *one = o->kind == PTX_O_LIST ? &o->list[k] : o;
        values[k] = written ? ptx_destination_of(l, one, type, true) : ptx_source_of(l, one, type, true);
    }
    return count;
}

static void check_size(const struct ptx_lower *l, unsigned type, unsigned count)
{
    unsigned bytes = ptx_type_size(type) * count;
    bool wide = bytes == 32 && l->module->capability >= 100 && ptx_type_size(type) >= 4;
    if ((count > 1 && bytes > 16 && !wide) || (type == PTX_B128 && count > 1))
        ptx_lower_fail(l, "moves %u bytes, but a vector has at most 16", bytes);
}

/* A register of 16 bytes counts as two of 8. */
static unsigned split_whole(unsigned *type, unsigned count, uint32_t values[8])
{
    if (*type != PTX_B128)
        return count;
    *type = PTX_B64;
    values[1] = values[0] + 1;
    return 2;
}

void ptx_lower_ld(struct ptx_lower *l, const struct ptx_match *m)
{
    unsigned type = m->type[0];
    uint32_t values[8];
    check_operands(l, 2);
    struct ptx_place_in_memory at = ptx_memory_at(l, 1);
    unsigned count = take_vector(l, 0, type, true, values);
    check_size(l, type, count);
    count = split_whole(&type, count, values);
    struct ptx_op *op = count == 1 ? ptx_emit(l, STEP_LD, values[0], at.base, PTX_UNUSED, PTX_UNUSED)
                                   : ptx_emit(l, STEP_LDV, PTX_UNUSED, at.base, PTX_UNUSED, PTX_UNUSED);
    op->more = (uint16_t)ptx_memory_more(l, &at, type);
    op->imm = at.offset;
    op->bytes[0] = l->bytes[values[0]];
    for (unsigned i = 0; i < count && count > 1; i++)
        ptx_list(l, op, values[i] | PTX_WRITTEN);
    for (unsigned i = 1; i < count; i++)
        if (l->bytes[values[i]] != op->bytes[0])
            ptx_lower_fail(l, "the registers of a vector must have the same size");
}

void ptx_lower_st(struct ptx_lower *l, const struct ptx_match *m)
{
    unsigned type = m->type[0];
    uint32_t values[8];
    check_operands(l, 2);
    struct ptx_place_in_memory at = ptx_memory_at(l, 0);
    if (named_space(l) == PTX_SPACE_CONST || at.space == PTX_M_KERNEL_PARAM)
        ptx_lower_fail(l, "constant memory and a kernel's parameters cannot be written");
    unsigned count = take_vector(l, 1, type, false, values);
    check_size(l, type, count);
    count = split_whole(&type, count, values);
    struct ptx_op *op = count == 1 ? ptx_emit(l, STEP_ST, PTX_UNUSED, at.base, values[0], PTX_UNUSED)
                                   : ptx_emit(l, STEP_STV, PTX_UNUSED, at.base, PTX_UNUSED, PTX_UNUSED);
    op->more = (uint16_t)ptx_memory_more(l, &at, type);
    op->imm = at.offset;
    op->bytes[2] = l->bytes[values[0]];
    for (unsigned i = 0; i < count && count > 1; i++)
        ptx_list(l, op, values[i]);
    for (unsigned i = 1; i < count; i++)
        if (l->bytes[values[i]] != op->bytes[2])
            ptx_lower_fail(l, "the registers of a vector must have the same size");
}

/* ---- the rest ---- */

void ptx_lower_fence(struct ptx_lower *l, const struct ptx_match *m)
{
    ptx_emit(l, STEP_FENCE, PTX_UNUSED, PTX_UNUSED, PTX_UNUSED, PTX_UNUSED)->more = (uint16_t)m->data;
}

/* Hints. data: the minimum and maximum number of operands, and 256 if the destination gets a value that nothing uses. */
void ptx_lower_nothing(struct ptx_lower *l, const struct ptx_match *m)
{
    unsigned least = m->data & 15, most = m->data >> 4 & 15;
    if (l->ins->operands < least || l->ins->operands > most)
        ptx_lower_fail(l, "has %u operands, but takes %u", l->ins->operands, most);
    if (m->data & 256)
        ptx_emit(l, STEP_MOV64, ptx_destination(l, 0, PTX_B64, false), ptx_constant(l, 0, 8), PTX_UNUSED, PTX_UNUSED);
}

/* The copy happens at once, so a wait returns immediately. cp.async [shared], [global], size {, of
 * these from there {, policy}}. */
void ptx_lower_cp_async(struct ptx_lower *l, const struct ptx_match *m)
{
    const struct ptx_instruction *ins = l->ins;
    (void)m;
    unsigned most = 4u + ptx_has(l, PTX_MOD_L2_CACHE_HINT);
    if (ins->operands < 3 || ins->operands > most || ins->operand[2].kind != PTX_O_INTEGER ||
        (ins->operand[2].value != 4 && ins->operand[2].value != 8 && ins->operand[2].value != 16) ||
        (ptx_has(l, PTX_MOD_CG) && ins->operand[2].value != 16))
        ptx_lower_fail(l, "takes two addresses and the size: 4, 8 or 16, with .cg 16");
    struct ptx_instruction part = *ins; /* each side with its own space */
    part.modifiers = 1;
    part.modifier[0] = PTX_MOD_SHARED;
    l->ins = &part;
    struct ptx_place_in_memory to = ptx_memory_at(l, 0);
    part.modifier[0] = PTX_MOD_GLOBAL;
    struct ptx_place_in_memory at = ptx_memory_at(l, 1);
    l->ins = ins;
    uint32_t size = ptx_constant(l, ins->operand[2].value, 4), bytes = size;
    if (ins->operands > 3 && ptx_declared(l, &ins->operand[3]) != PTX_B64)
        bytes = ptx_declared(l, &ins->operand[3]) == PTX_PRED ? PTX_UNUSED : ptx_source(l, 3, PTX_U32, false);
    if (bytes == PTX_UNUSED) { /* a predicate: if it is true, nothing is read */
        bytes = ptx_value(l, 4);
        ptx_emit(l, STEP_SEL32, bytes, ptx_constant(l, 0, 4), size, ptx_predicate(l, 3));
    }
    uint32_t source = ptx_value(l, 8);
    ptx_emit(l, STEP_ADD64, source, at.base == PTX_UNUSED ? ptx_constant(l, 0, 8) : at.base, ptx_constant(l, (uint64_t)at.offset, 8),
             PTX_UNUSED);
    struct ptx_op *op = ptx_emit(l, STEP_COPY_ASYNC, PTX_UNUSED, to.base == PTX_UNUSED ? ptx_constant(l, 0, 8) : to.base, source, bytes);
    op->imm = to.offset;
    op->more = (uint16_t)ins->operand[2].value;
}

void ptx_lower_stack(struct ptx_lower *l, const struct ptx_match *m)
{
    if (m->data == 1) {
        ptx_emit(l, STEP_STACK_SAVE, m->value[0], PTX_UNUSED, PTX_UNUSED, PTX_UNUSED);
        return;
    }
    if (m->data == 2) {
        ptx_emit(l, STEP_STACK_RESTORE, PTX_UNUSED, m->value[0], PTX_UNUSED, PTX_UNUSED);
        return;
    }
    const struct ptx_operand *o = l->ins->operand;
    uint64_t align = l->ins->operands == 3 ? o[2].value : 8;
    if (l->ins->operands < 2 || l->ins->operands > 3 || (l->ins->operands == 3 && o[2].kind != PTX_O_INTEGER) || !align ||
        (align & (align - 1)) || align > 128)
        ptx_lower_fail(l, "takes a destination, a size and an alignment that is a power of two up to 128");
    uint32_t d = ptx_destination(l, 0, m->type[0], false), size = ptx_source(l, 1, m->type[0], false);
    ptx_emit(l, STEP_ALLOCA, d, size, PTX_UNUSED, PTX_UNUSED)->imm = (int64_t)align;
}
