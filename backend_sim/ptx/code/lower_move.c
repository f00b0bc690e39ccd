/* SPDX-License-Identifier: Apache-2.0 */
/* mov, including packing and unpacking; conversion of addresses between spaces. */
#include "ptx_lower.h"

static void move(struct ptx_lower *l, uint32_t d, uint32_t a)
{
    unsigned bytes = l->bytes[d];
    ptx_emit(l, bytes ? STEP_MOV16 + ptx_size_index(bytes) : STEP_MOVP, d, a, PTX_UNUSED, PTX_UNUSED);
}

/* The type of each of count parts. */
static unsigned part_type(const struct ptx_lower *l, unsigned type, unsigned count)
{
    unsigned bits = count ? ptx_type_bits(type) / count : 0;
    unsigned part = bits == 8 ? PTX_B8 : bits == 16 ? PTX_B16 : bits == 32 ? PTX_B32 : bits == 64 ? PTX_B64 : PTX_NONE;
    if (ptx_type_kind(type) != 'b' || !part || (count != 2 && count != 4))
        ptx_lower_fail(l, "cannot pack %u parts", count);
    return part;
}

/* The two values of a register of 128 bits. */
static uint32_t whole(struct ptx_lower *l, unsigned i)
{
    const struct ptx_operand *o = &l->ins->operand[i];
    if (o->kind != PTX_O_REGISTER || ptx_declared(l, o) != PTX_B128)
        ptx_lower_fail(l, "operand %u must be a register of .b128", i + 1);
    return l->register_value[o->value];
}

static void pack(struct ptx_lower *l, unsigned type)
{
    const struct ptx_operand *all = &l->ins->operand[1];
    unsigned part = part_type(l, type, all->count), bytes = ptx_type_size(part);
    uint32_t values[4];
    for (uint32_t i = 0; i < all->count; i++)
        values[i] = ptx_source_of(l, &all->list[i], part, bytes == 1);
    if (type == PTX_B128) {
        uint32_t d = whole(l, 0);
        move(l, d, values[0]);
        move(l, d + 1, values[1]);
        return;
    }
    struct ptx_op *op = ptx_emit(l, STEP_PACK, ptx_destination(l, 0, type, false), PTX_UNUSED, PTX_UNUSED, PTX_UNUSED);
    op->imm = bytes;
    for (uint32_t i = 0; i < all->count; i++)
        ptx_list(l, op, values[i]);
}

static void unpack(struct ptx_lower *l, unsigned type)
{
    const struct ptx_operand *all = &l->ins->operand[0];
    unsigned part = part_type(l, type, all->count), bytes = ptx_type_size(part);
    uint32_t values[4];
    for (uint32_t i = 0; i < all->count; i++)
        values[i] = ptx_destination_of(l, &all->list[i], part, bytes == 1);
    if (type == PTX_B128) {
        uint32_t a = whole(l, 1);
        move(l, values[0], a);
        move(l, values[1], a + 1);
        return;
    }
    struct ptx_op *op = ptx_emit(l, STEP_UNPACK, PTX_UNUSED, ptx_source(l, 1, type, false), PTX_UNUSED, PTX_UNUSED);
    op->imm = bytes;
    for (uint32_t i = 0; i < all->count; i++)
        ptx_list(l, op, values[i] | PTX_WRITTEN);
}

void ptx_lower_mov(struct ptx_lower *l, const struct ptx_match *m)
{
    unsigned type = m->type[0];
    if (l->ins->operands != 2)
        ptx_lower_fail(l, "has %u operands, but takes 2", l->ins->operands);
    bool packs = l->ins->operand[1].kind == PTX_O_LIST, unpacks = l->ins->operand[0].kind == PTX_O_LIST;
    if (packs && unpacks)
        ptx_lower_fail(l, "cannot pack and unpack at once");
    if (packs) {
        pack(l, type);
    } else if (unpacks) {
        unpack(l, type);
    } else if (type == PTX_B128) {
        uint32_t d = whole(l, 0), a = whole(l, 1);
        move(l, d, a);
        move(l, d + 1, a + 1);
    } else {
        bool computed = l->ins->operand[1].kind != PTX_O_REGISTER || l->ins->operand[1].negated;
        uint32_t a = type == PTX_PRED ? ptx_predicate(l, 1) : ptx_source(l, 1, type, false), d = ptx_destination(l, 0, type, false);
        if (computed)
            ptx_deliver(l, a, d);
        else
            move(l, d, a);
    }
}

/* ---- addresses ---- */

static unsigned space_of(const struct ptx_lower *l)
{
    if (ptx_has(l, PTX_MOD_SHARED) || ptx_has(l, PTX_MOD_SHARED_CTA) || ptx_has(l, PTX_MOD_SHARED_CLUSTER))
        return PTX_M_SHARED;
    if (ptx_has(l, PTX_MOD_LOCAL))
        return PTX_M_LOCAL;
    return ptx_has(l, PTX_MOD_PARAM) || ptx_has(l, PTX_MOD_PARAM_ENTRY) ? PTX_M_KERNEL_PARAM : PTX_M_GLOBAL;
}

void ptx_lower_cvta(struct ptx_lower *l, const struct ptx_match *m)
{
    unsigned space = space_of(l);
    if (l->ins->operands != 2)
        ptx_lower_fail(l, "has %u operands, but takes 2", l->ins->operands);
    uint32_t d = ptx_destination(l, 0, m->type[0], false), a = ptx_source(l, 1, m->type[0], false);
    if (space == PTX_M_GLOBAL)
        move(l, d, a);
    else
        ptx_emit(l, ptx_has(l, PTX_MOD_TO) ? STEP_FROM_GENERIC : STEP_TO_GENERIC, d, a, PTX_UNUSED, PTX_UNUSED)->imm = space;
}

void ptx_lower_isspacep(struct ptx_lower *l, const struct ptx_match *m)
{
    (void)m;
    if (l->ins->operands != 2)
        ptx_lower_fail(l, "has %u operands, but takes 2", l->ins->operands);
    bool narrow = ptx_register_bytes(ptx_declared(l, &l->ins->operand[1])) == 4;
    uint32_t p = ptx_destination(l, 0, PTX_PRED, false), a = ptx_source(l, 1, narrow ? PTX_U32 : PTX_U64, false);
    struct ptx_op *op = ptx_emit(l, STEP_SPACE_IS, p, a, PTX_UNUSED, PTX_UNUSED);
    op->imm = space_of(l);
    op->more = ptx_has(l, PTX_MOD_CONST); /* 1: of constant memory, whose address only the launch knows */
}
