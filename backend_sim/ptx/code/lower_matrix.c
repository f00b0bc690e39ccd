/* SPDX-License-Identifier: Apache-2.0 */
/* ldmatrix and stmatrix as shuffles, loads and stores: the part of a matrix (8 rows of 16 bytes) that each lane holds.
 *
 *     rows, in shared memory, at the address of lane 8i + r for row r of matrix i    lanes: l holds word l % 4 of row l / 4
 *
 *       row 0   [ w0 | w1 | w2 | w3 ]      <->      lane 0: w0 of row 0   lane 1: w1 of row 0   ...   lane 4: w0 of row 1   ...
 *       row 1   [ w0 | w1 | w2 | w3 ]      .trans:  lane l holds halves 2 * (l % 4) and the next one of column l / 4
 */
#include "ptx_lower.h"

#include "ptx_words.h"

enum { WORDS = 4 };

static uint32_t made(struct ptx_lower *l, unsigned step, uint32_t a, uint32_t b)
{
    uint32_t value = ptx_value(l, 4);
    ptx_emit(l, step, value, a, b, PTX_UNUSED);
    return value;
}

static uint32_t number(struct ptx_lower *l, uint64_t value)
{
    return ptx_constant(l, value, 4);
}

static uint32_t lane(struct ptx_lower *l)
{
    uint32_t value = ptx_value(l, 4);
    ptx_emit(l, STEP_SPECIAL, value, PTX_UNUSED, PTX_UNUSED, PTX_UNUSED)->imm = PTX_SR_LANEID;
    return value;
}

/* Another lane's value; all lanes take part. */
static uint32_t from_lane(struct ptx_lower *l, uint32_t value, uint32_t other)
{
    uint32_t got = ptx_value(l, 4);
    struct ptx_op *op = ptx_emit(l, STEP_SHFL, got, value, other, number(l, 31));
    op->imm = PTX_SHUFFLE_IDX;
    op->more = 1;
    ptx_list(l, op, number(l, UINT32_MAX));
    return got;
}

static uint32_t bit(struct ptx_lower *l, uint32_t value, unsigned which)
{
    uint32_t p = ptx_value(l, 0);
    struct ptx_op *op = ptx_emit(l, STEP_EQ32, p, made(l, STEP_AND32, value, number(l, UINT64_C(1) << which)), number(l, 0), PTX_UNUSED);
    op->more = 1; /* unequal */
    return p;
}

static uint32_t choose(struct ptx_lower *l, uint32_t p, uint32_t yes, uint32_t no)
{
    uint32_t value = ptx_value(l, 4);
    ptx_emit(l, STEP_SEL32, value, yes, no, p);
    return value;
}

/* The address of this lane's row, in shared memory; the low half of a generic address is the same.
 * A copy, because a destination may be the source register. */
static uint32_t address_of(struct ptx_lower *l, unsigned operand)
{
    struct ptx_place_in_memory at = ptx_memory_at(l, operand);
    if (at.space != PTX_M_SHARED && at.space != PTX_M_GENERIC)
        ptx_lower_fail(l, "is only for matrices in shared memory");
    uint32_t base = at.base == PTX_UNUSED ? number(l, 0) : at.base;
    if (l->bytes[base] == 8) {
        uint32_t low = ptx_value(l, 4);
        ptx_emit(l, STEP_EXT_U_64_32, low, base, PTX_UNUSED, PTX_UNUSED)->imm = 32;
        base = low;
    }
    return made(l, STEP_ADD32, base, number(l, (uint32_t)at.offset));
}

/* A step that moves a row of 16 bytes as words. */
static struct ptx_op *row(struct ptx_lower *l, unsigned step, uint32_t address, const uint32_t words[WORDS], uint32_t mark)
{
    struct ptx_op *op = ptx_emit(l, step, PTX_UNUSED, address, PTX_UNUSED, PTX_UNUSED);
    op->more = PTX_M_SHARED | 2 << PTX_MEM_SIZE_SHIFT;
    op->bytes[step == STEP_LDV ? 0 : 2] = 4;
    for (unsigned i = 0; i < WORDS; i++)
        ptx_list(l, op, words[i] | mark);
    return op;
}

/* A word of another lane's row, selected by two predicates. */
static uint32_t load_word(struct ptx_lower *l, uint32_t address, uint32_t low, uint32_t high)
{
    const uint32_t words[WORDS] = {ptx_value(l, 4), ptx_value(l, 4), ptx_value(l, 4), ptx_value(l, 4)};
    row(l, STEP_LDV, address, words, PTX_WRITTEN);
    return choose(l, high, choose(l, low, words[3], words[2]), choose(l, low, words[1], words[0]));
}

/* Of a matrix that is not transposed: word l % 4 of row l / 4. */
static uint32_t load_plain(struct ptx_lower *l, uint32_t address, unsigned matrix)
{
    uint32_t me = lane(l), holder = made(l, STEP_ADD32, made(l, STEP_SHR_U32, me, number(l, 2)), number(l, 8 * matrix));
    return load_word(l, from_lane(l, address, holder), bit(l, me, 0), bit(l, me, 1));
}

/* The half of column l / 4 in a row, in the low half of a register. */
static uint32_t load_half(struct ptx_lower *l, uint32_t address, uint32_t me, uint32_t holder)
{
    uint32_t word = load_word(l, from_lane(l, address, holder), bit(l, me, 3), bit(l, me, 4));
    return choose(l, bit(l, me, 2), made(l, STEP_SHR_U32, word, number(l, 16)), made(l, STEP_AND32, word, number(l, 0xffff)));
}

/* Of the transposed one: column l / 4 of rows 2 * (l % 4) and the next one. */
static uint32_t load_transposed(struct ptx_lower *l, uint32_t address, unsigned matrix)
{
    uint32_t me = lane(l), pair = made(l, STEP_SHL32, made(l, STEP_AND32, me, number(l, 3)), number(l, 1));
    uint32_t holder = made(l, STEP_ADD32, pair, number(l, 8 * matrix)), next = made(l, STEP_ADD32, pair, number(l, 8 * matrix + 1));
    uint32_t low = load_half(l, address, me, holder), high = load_half(l, address, me, next);
    return made(l, STEP_OR32, low, made(l, STEP_SHL32, high, number(l, 16)));
}

/* Word i of row l % 8: from the lane that holds it, or a half each from two lanes. */
static uint32_t gather_word(struct ptx_lower *l, uint32_t value, uint32_t me, unsigned i, bool transposed)
{
    uint32_t in_matrix = made(l, STEP_AND32, me, number(l, 7));
    if (!transposed)
        return from_lane(l, value, made(l, STEP_ADD32, made(l, STEP_SHL32, in_matrix, number(l, 2)), number(l, i)));
    uint32_t pair = made(l, STEP_SHR_U32, in_matrix, number(l, 1)), odd = bit(l, me, 0), half[2];
    for (unsigned k = 0; k < 2; k++) {
        uint32_t word = from_lane(l, value, made(l, STEP_ADD32, pair, number(l, 4 * (2 * i + k))));
        half[k] = choose(l, odd, made(l, STEP_SHR_U32, word, number(l, 16)), made(l, STEP_AND32, word, number(l, 0xffff)));
    }
    return made(l, STEP_OR32, half[0], made(l, STEP_SHL32, half[1], number(l, 16)));
}

/* The lanes with the rows of a matrix, limited to the instruction's guard. Computed without that
 * guard, because lanes outside it read the value. */
static uint32_t writers(struct ptx_lower *l, uint32_t me, unsigned matrix, uint32_t guard, bool guard_not)
{
    uint32_t mine = ptx_value(l, 0), other = ptx_value(l, 0), both = ptx_value(l, 0);
    ptx_emit(l, STEP_EQ32, mine, made(l, STEP_SHR_U32, me, number(l, 3)), number(l, matrix), PTX_UNUSED);
    if (!guard)
        return mine;
    ptx_emit(l, STEP_NOTP, other, guard - 1, PTX_UNUSED, PTX_UNUSED);
    ptx_emit(l, STEP_ANDP, both, mine, guard_not ? other : guard - 1, PTX_UNUSED);
    return both;
}

/* Lanes 8i to 8i + 7 each write a whole row of matrix i. The guard is the same for all lanes (.aligned). */
static void store(struct ptx_lower *l, uint32_t address, uint32_t value, unsigned matrix, bool transposed)
{
    const uint32_t guard = l->guard;
    const bool guard_not = l->guard_not;
    l->guard = 0;
    l->guard_not = false;
    uint32_t me = lane(l), words[WORDS];
    for (unsigned i = 0; i < WORDS; i++)
        words[i] = gather_word(l, value, me, i, transposed);
    uint32_t who = writers(l, me, matrix, guard, guard_not);
    row(l, STEP_STV, address, words, 0)->guard = 1 + who;
    l->guard = guard;
    l->guard_not = guard_not;
}

/* ldmatrix {d, ...}, [a]; stmatrix [a], {b, ...}. data: 1 stores. */
void ptx_lower_matrix(struct ptx_lower *l, const struct ptx_match *m)
{
    const bool stores = m->data, transposed = ptx_has(l, PTX_MOD_TRANS);
    const unsigned count = ptx_has(l, PTX_MOD_X4) ? 4 : ptx_has(l, PTX_MOD_X2) ? 2 : 1;
    if (l->ins->operands != 2)
        ptx_lower_fail(l, "has %u operands, but takes 2", l->ins->operands);
    const struct ptx_operand *o = &l->ins->operand[stores ? 1 : 0];
    if ((o->kind == PTX_O_LIST ? o->count : 1) != count)
        ptx_lower_fail(l, "takes %u register%s of 32 bits", count, count == 1 ? "" : "s");
    uint32_t address = address_of(l, stores ? 0 : 1), values[4];
    for (unsigned i = 0; i < count; i++) {
        const struct ptx_operand *one = o->kind == PTX_O_LIST ? &o->list[i] : o;
        values[i] = stores ? ptx_source_of(l, one, PTX_B32, false) : ptx_destination_of(l, one, PTX_B32, false);
    }
    for (unsigned i = 0; i < count; i++) {
        if (stores)
            store(l, address, values[i], i, transposed);
        else
            ptx_deliver(l, transposed ? load_transposed(l, address, i) : load_plain(l, address, i), values[i]);
    }
}
