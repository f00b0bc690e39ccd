/* SPDX-License-Identifier: Apache-2.0 */
/* Values, steps and operands. */
#include "ptx_lower.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ptx_table.h"

void ptx_lower_fail(const struct ptx_lower *l, const char *format, ...)
{
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ptx_fail(l->context, l->ins->place, "%.*s: %s", PTX_TEXT(l->ins->text), text);
}

void ptx_lower_unsupported(struct ptx_lower *l, const char *why)
{
    if (!l->options->let_unsupported_stay) {
        l->context->error->unsupported = true;
        ptx_lower_fail(l, "%s", why);
    }
    if (!l->refused) {
        char text[160];
        snprintf(text, sizeof text, "%.*s at line %u: %s", PTX_TEXT(l->ins->text), l->ins->place.line, why);
        l->refused = ptx_string(l->lasting, (struct ptx_text){text, (uint32_t)strlen(text)});
    }
    ptx_emit(l, STEP_UNSUPPORTED, PTX_UNUSED, PTX_UNUSED, PTX_UNUSED, PTX_UNUSED);
}

/* ---- values ---- */

uint32_t ptx_value(struct ptx_lower *l, unsigned bytes)
{
    l->bytes = ptx_more(l->context, l->bytes, l->value_count, &l->value_room, 1);
    l->bytes[l->value_count] = (uint8_t)bytes;
    return l->value_count++;
}

static struct ptx_lower_constant *add_constant(struct ptx_lower *l, uint64_t bits, unsigned bytes, uint32_t *bucket)
{
    l->constants = ptx_more(l->context, l->constants, l->constant_count, &l->constant_room, sizeof *l->constants);
    struct ptx_lower_constant *c = &l->constants[l->constant_count++];
    *c = (struct ptx_lower_constant){.value = ptx_value(l, bytes), .bits = bits, .bytes = (uint8_t)bytes, .next = *bucket};
    *bucket = l->constant_count;
    return c;
}

uint32_t ptx_constant(struct ptx_lower *l, uint64_t bits, unsigned bytes)
{
    if (bytes < 8)
        bits &= (UINT64_C(1) << 8 * bytes) - 1;
    uint32_t *bucket = &l->bucket[(bits ^ bits >> 32 ^ bits >> 17) % PTX_CONSTANT_BUCKETS];
    for (uint32_t i = *bucket; i; i = l->constants[i - 1].next) {
        const struct ptx_lower_constant *c = &l->constants[i - 1];
        if (!c->is_reference && c->bits == bits && c->bytes == bytes)
            return c->value;
    }
    return add_constant(l, bits, bytes, bucket)->value;
}

uint32_t ptx_reference(struct ptx_lower *l, enum ptx_reference_kind kind, uint32_t number, int64_t offset, unsigned bytes)
{
    uint32_t *bucket = &l->bucket[(kind * 31 + number) % PTX_CONSTANT_BUCKETS];
    for (uint32_t i = *bucket; i; i = l->constants[i - 1].next) {
        const struct ptx_lower_constant *c = &l->constants[i - 1];
        const struct ptx_reference *r = &c->reference;
        if (c->is_reference && r->kind == (uint8_t)kind && r->number == number && r->offset == offset && c->bytes == bytes)
            return c->value;
    }
    struct ptx_lower_constant *c = add_constant(l, 0, bytes, bucket);
    c->is_reference = true;
    c->reference = (struct ptx_reference){.bytes = (uint8_t)bytes, .kind = (uint8_t)kind, .number = number, .offset = offset};
    return c->value;
}

/* ---- steps ---- */

static uint8_t bytes_of(const struct ptx_lower *l, uint32_t value)
{
    return value == PTX_UNUSED ? 0 : l->bytes[value];
}

struct ptx_op *ptx_emit(struct ptx_lower *l, unsigned step, uint32_t d, uint32_t a, uint32_t b, uint32_t c)
{
    l->ops = ptx_more(l->context, l->ops, l->op_count, &l->op_room, sizeof *l->ops);
    l->from = ptx_more(l->context, l->from, l->op_count, &l->from_room, sizeof *l->from);
    l->from[l->op_count] = (uint32_t)(l->ins - l->function->instructions);
    struct ptx_op *op = &l->ops[l->op_count++];
    *op = (struct ptx_op){.step = (uint16_t)step, .guard = l->guard, .guard_not = l->guard_not, .d = d, .a = a, .b = b, .c = c,
                          .bytes = {bytes_of(l, d), bytes_of(l, a), bytes_of(l, b), bytes_of(l, c)}};
    return op;
}

struct ptx_op *ptx_emit_scalar(struct ptx_lower *l, unsigned scalar, uint32_t which, unsigned more, uint32_t d, uint32_t a, uint32_t b,
                               uint32_t c)
{
    unsigned step = c != PTX_UNUSED ? STEP_SCALAR3 : b != PTX_UNUSED ? STEP_SCALAR2 : STEP_SCALAR1;
    struct ptx_op *op = ptx_emit(l, step, d, a, b, c);
    op->imm = (int64_t)scalar | (int64_t)which << 16;
    op->more = (uint16_t)more;
    return op;
}

void ptx_deliver(struct ptx_lower *l, uint32_t from, uint32_t to)
{
    struct ptx_op *last = l->op_count ? &l->ops[l->op_count - 1] : NULL;
    unsigned bytes = l->bytes[to];
    if (last && last->d == from && ptx_step_fields(last->step)[0] == 'w' && last->guard == l->guard && last->guard_not == l->guard_not)
        last->d = to;
    else
        ptx_emit(l, bytes ? STEP_MOV16 + ptx_size_index(bytes) : STEP_MOVP, to, from, PTX_UNUSED, PTX_UNUSED);
}

void ptx_list(struct ptx_lower *l, struct ptx_op *op, uint32_t entry)
{
    l->list = ptx_more(l->context, l->list, l->list_count, &l->list_room, sizeof *l->list);
    if (!op->count)
        op->list = l->list_count;
    op->count++;
    l->list[l->list_count++] = entry;
}

/* ---- types ---- */

unsigned ptx_register_bytes(unsigned type)
{
    unsigned bits = ptx_type_bits(type);
    return type == PTX_PRED ? 0 : bits <= 16 ? 2 : bits / 8;
}

bool ptx_is_float(unsigned type)
{
    return ptx_type_kind(type) == 'f' || (ptx_is_pair(type) && type != PTX_U16X2 && type != PTX_S16X2);
}

bool ptx_is_signed(unsigned type)
{
    return ptx_type_kind(type) == 's';
}

bool ptx_is_pair(unsigned type)
{
    return ptx_type_kind(type) == 'v';
}

enum ptx_number ptx_number_of(unsigned type)
{
    switch (type) {
    case PTX_F16:
    case PTX_F16X2: return PTX_N_F16;
    case PTX_BF16:
    case PTX_BF16X2: return PTX_N_BF16;
    case PTX_TF32: return PTX_N_TF32;
    case PTX_F64: return PTX_N_F64;
    case PTX_E4M3X2: return PTX_N_E4M3;
    case PTX_E5M2X2: return PTX_N_E5M2;
    default: return PTX_N_F32;
    }
}

bool ptx_has(const struct ptx_lower *l, unsigned modifier)
{
    for (unsigned i = 0; i < l->ins->modifiers; i++)
        if (l->ins->modifier[i] == modifier)
            return true;
    return false;
}

/* PTX_ROUND_... in the order of enum ptx_round (ptx/float). */
static unsigned rounding(const struct ptx_lower *l)
{
    static const unsigned names[][3] = {{PTX_MOD_RN, PTX_MOD_RNI, 0}, {PTX_MOD_RZ, PTX_MOD_RZI, 0}, {PTX_MOD_RM, PTX_MOD_RMI, 0},
                                        {PTX_MOD_RP, PTX_MOD_RPI, 0}, {PTX_MOD_RNA, PTX_MOD_RNA, 0}};
    for (unsigned i = 0; i < 5; i++)
        if (ptx_has(l, names[i][0]) || ptx_has(l, names[i][1]))
            return i;
    return 0;
}

unsigned ptx_float_more(const struct ptx_lower *l, unsigned type)
{
    static const unsigned flags[][2] = {{PTX_MOD_FTZ, PTX_FLOAT_FLUSH}, {PTX_MOD_SAT, PTX_FLOAT_SATURATE},
                                        {PTX_MOD_RELU, PTX_FLOAT_RELU}, {PTX_MOD_NAN_KEPT, PTX_FLOAT_NAN},
                                        {PTX_MOD_XORSIGN, PTX_FLOAT_XORSIGN}, {PTX_MOD_SATFINITE, PTX_FLOAT_FINITE}};
    unsigned more = rounding(l);
    for (unsigned i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (ptx_has(l, flags[i][0]))
            more |= flags[i][1];
    return more | (unsigned)ptx_number_of(type) << PTX_FLOAT_FORMAT_SHIFT | (ptx_is_pair(type) ? PTX_FLOAT_PACKED : 0);
}

/* May a register of type r be an operand of type t? A register that packs two numbers counts as
 * untyped. wide: it may be wider than t. */
static bool fits(unsigned r, unsigned t, bool wide)
{
    char of = ptx_type_kind(r) == 'v' ? 'b' : ptx_type_kind(r), as = ptx_type_kind(t);
    unsigned have = ptx_type_bits(r), want = ptx_type_bits(t);
    if (r == t)
        return true;
    if (r == PTX_PRED || t == PTX_PRED || (wide ? have < want : have != want))
        return false;
    if (of == 'b' || as == 'b')
        return have == want || as != 'f' || of == 'b';
    return (of == 'u' || of == 's') && (as == 'u' || as == 's');
}

unsigned ptx_declared(const struct ptx_lower *l, const struct ptx_operand *o)
{
    return o->kind == PTX_O_REGISTER ? l->function->registers[o->value].type : PTX_NONE;
}

static _Noreturn void mismatch(const struct ptx_lower *l, const struct ptx_operand *o, unsigned type, const char *role)
{
    static const char *const kinds[] = {[PTX_O_NONE] = "missing", [PTX_O_INTEGER] = "a whole number", [PTX_O_FLOAT] = "a float",
                                        [PTX_O_VARIABLE] = "a variable", [PTX_O_FUNCTION] = "a function", [PTX_O_LABEL] = "a label",
                                        [PTX_O_TARGETS] = "a list of targets", [PTX_O_SPECIAL] = "a special register",
                                        [PTX_O_LIST] = "a list", [PTX_O_ADDRESS] = "an address", [PTX_O_SINK] = "_"};
    char is[32];
    unsigned declared = ptx_declared(l, o);
    snprintf(is, sizeof is, "a register of .%s", ptx_modifier_text(declared));
    ptx_fail(l->context, o->place, "%.*s: the %s must be of .%s, and is %s", PTX_TEXT(l->ins->text), role, ptx_modifier_text(type),
             declared ? is : kinds[o->kind]);
}

/* ---- operands ---- */

static uint32_t special(struct ptx_lower *l, const struct ptx_operand *o, unsigned type)
{
    unsigned bits = ptx_special_bits((unsigned)o->value), bytes = bits == 1 ? 0 : bits / 8;
    if (ptx_special_is_vector((unsigned)o->value) && o->part > 3)
        mismatch(l, o, type, "source that allows a vector's part,");
    bool cut = bytes == 4 && ptx_register_bytes(type) == 2;
    if ((bytes != ptx_register_bytes(type) && !cut) || ptx_type_kind(type) == 'f')
        mismatch(l, o, type, "source");
    l->program->reserves = l->program->reserves || (o->value >= PTX_SR_RESERVED_SMEM_BEGIN && o->value <= PTX_SR_RESERVED_SMEM_1);
    uint32_t value = ptx_value(l, bytes), low = value;
    struct ptx_op *op = ptx_emit(l, STEP_SPECIAL, value, PTX_UNUSED, PTX_UNUSED, PTX_UNUSED);
    op->imm = (int64_t)o->value;
    op->count = o->part;
    if (cut) {
        low = ptx_value(l, 2);
        ptx_emit(l, STEP_EXT_U_32_16, low, value, PTX_UNUSED, PTX_UNUSED)->imm = 16;
    }
    return low;
}

/* The address of a variable as a number, in its space. */
static uint32_t address(struct ptx_lower *l, const struct ptx_operand *o, unsigned type)
{
    const struct ptx_variable *v = o->variable;
    unsigned bytes = ptx_register_bytes(type);
    if (bytes != 4 && bytes != 8)
        mismatch(l, o, type, "source");
    if (v->space == PTX_SPACE_GLOBAL || v->space == PTX_SPACE_CONST)
        return ptx_reference(l, PTX_R_VARIABLE, v->index, o->offset, bytes);
    if (v->space == PTX_SPACE_SHARED)
        return ptx_reference(l, PTX_R_SHARED, v->index, o->offset, bytes);
    if (ptx_is_kernel_param(l, v))
        return ptx_constant(l, l->param_offset[v->number] + (uint64_t)o->offset, bytes);
    uint32_t value = ptx_value(l, bytes);
    ptx_emit(l, STEP_LOCAL_ADDRESS, value, PTX_UNUSED, PTX_UNUSED, PTX_UNUSED)->imm = (int64_t)ptx_frame_offset(l, v) + o->offset;
    return value;
}

/* A number as the bits of a constant of that type. */
static uint64_t literal(const struct ptx_lower *l, const struct ptx_operand *o, unsigned type)
{
    uint64_t bits = o->value;
    double wide;
    float narrow;
    uint32_t word;
    if (o->kind == PTX_O_INTEGER) {
        if (ptx_type_kind(type) == 'f' || ptx_type_kind(type) == 'v')
            mismatch(l, o, type, "source");
        return bits;
    }
    bool is_double = type == PTX_F64 || type == PTX_B64;
    if (type != PTX_F32 && type != PTX_F64 && !(type == PTX_B32 && o->single) && !(type == PTX_B64 && !o->single))
        mismatch(l, o, type, "source");
    if (o->single != is_double)
        return bits;
    if (is_double) {
        word = (uint32_t)bits;
        memcpy(&narrow, &word, sizeof narrow);
        wide = (double)narrow;
        memcpy(&bits, &wide, sizeof bits);
        return bits;
    }
    memcpy(&wide, &bits, sizeof wide);
    narrow = (float)wide;
    memcpy(&word, &narrow, sizeof word);
    return word;
}

/* A predicate with the same value in all lanes. */
static uint32_t always(struct ptx_lower *l, bool truth)
{
    uint32_t p = ptx_value(l, 0), zero = ptx_constant(l, 0, 4);
    ptx_emit(l, STEP_EQ32, p, zero, zero, PTX_UNUSED)->more = !truth;
    return p;
}

uint32_t ptx_source_of(struct ptx_lower *l, const struct ptx_operand *o, unsigned type, bool wide)
{
    if (o->negated && type != PTX_PRED)
        ptx_fail(l->context, o->place, "%.*s: only source predicates can be negated", PTX_TEXT(l->ins->text));
    switch (o->kind) {
    case PTX_O_REGISTER:
        if (!fits(ptx_declared(l, o), type, wide) || o->selector)
            mismatch(l, o, type, "source");
        return l->register_value[o->value];
    case PTX_O_INTEGER:
    case PTX_O_FLOAT:
        if (type == PTX_PRED && o->kind == PTX_O_FLOAT)
            break;
        if (type == PTX_PRED)
            return always(l, o->value != 0);
        return ptx_constant(l, literal(l, o, type), ptx_register_bytes(type) > 8 ? 8 : ptx_register_bytes(type));
    case PTX_O_SPECIAL:
        if (l->ins->opcode != PTX_OPCODE_mov)
            ptx_fail(l->context, o->place, "%.*s: a special register can be read only by mov", PTX_TEXT(l->ins->text));
        return special(l, o, type);
    case PTX_O_VARIABLE: return address(l, o, type);
    case PTX_O_FUNCTION:
        if (ptx_register_bytes(type) == 8)
            return ptx_reference(l, PTX_R_ROUTINE, o->function->number, o->offset, 8);
        break;
    default: break;
    }
    mismatch(l, o, type, "source");
}

uint32_t ptx_destination_of(struct ptx_lower *l, const struct ptx_operand *o, unsigned type, bool wide)
{
    if (o->kind == PTX_O_SINK)
        return ptx_value(l, ptx_register_bytes(type) > 8 ? 8 : ptx_register_bytes(type));
    if (o->kind != PTX_O_REGISTER || !fits(ptx_declared(l, o), type, wide) || o->selector || o->negated)
        mismatch(l, o, type, "destination");
    return l->register_value[o->value];
}

uint32_t ptx_source(struct ptx_lower *l, unsigned i, unsigned type, bool wide)
{
    return ptx_source_of(l, &l->ins->operand[i], type, wide);
}

uint32_t ptx_destination(struct ptx_lower *l, unsigned i, unsigned type, bool wide)
{
    return ptx_destination_of(l, &l->ins->operand[i], type, wide);
}

uint32_t ptx_predicate(struct ptx_lower *l, unsigned i)
{
    const struct ptx_operand *o = &l->ins->operand[i];
    uint32_t value = ptx_source_of(l, o, PTX_PRED, false);
    if (!o->negated)
        return value;
    uint32_t inverse = ptx_value(l, 0);
    ptx_emit(l, STEP_NOTP, inverse, value, PTX_UNUSED, PTX_UNUSED);
    return inverse;
}

/* ---- instructions ---- */

/* For the types that .wide supports. */
static unsigned twice(unsigned type)
{
    static const unsigned pairs[][2] = {{PTX_U16, PTX_U32}, {PTX_S16, PTX_S32}, {PTX_U32, PTX_U64}, {PTX_S32, PTX_S64}};
    unsigned i = 0;
    while (pairs[i][0] != type)
        i++;
    return pairs[i][1];
}

static uint32_t operand(struct ptx_lower *l, char letter, unsigned i, const struct ptx_match *m)
{
    const struct ptx_operand *o = &l->ins->operand[i];
    bool predicate = letter == 'a' && m->type[0] == PTX_PRED;
    switch (letter) {
    case 'd': return ptx_destination(l, i, m->type[0], false);
    case 'a': return predicate ? ptx_predicate(l, i) : ptx_source(l, i, m->type[0], false);
    case 'b': return ptx_source(l, i, m->type[1], false);
    case 'D': return ptx_destination(l, i, twice(m->type[0]), false);
    case 'A': return ptx_source(l, i, twice(m->type[0]), false);
    case 'U': return ptx_destination(l, i, PTX_U32, false);
    case 'u': return ptx_source(l, i, PTX_U32, false);
    case 'p':
    case 'q': return ptx_destination(l, i, PTX_PRED, false);
    case 'P': return ptx_predicate(l, i);
    default: break;
    }
    if (o->kind != PTX_O_INTEGER)
        ptx_fail(l->context, o->place, "%.*s: expected a constant", PTX_TEXT(l->ins->text));
    return (uint32_t)o->value;
}

/* Turns the operands into values: sources first, because their steps must come before. */
static void take_operands(struct ptx_lower *l, const char *letters, struct ptx_match *m)
{
    unsigned i = 0;
    for (const char *letter = letters; *letter; letter++) {
        bool there = i < l->ins->operands && l->ins->operand[i].joined == (*letter == 'q');
        unsigned place = (unsigned)(letter - letters);
        m->value[place] = PTX_UNUSED;
        if (there)
            m->value[place] = operand(l, *letter, i++, m);
        else if (*letter != 'q')
            ptx_lower_fail(l, "has %u operands: too few", l->ins->operands);
    }
    if (i < l->ins->operands)
        ptx_lower_fail(l, "has %u operands: %u too many", l->ins->operands, l->ins->operands - i);
}

static _Noreturn void no_row(const struct ptx_lower *l, unsigned taken)
{
    if (taken < l->ins->modifiers && !l->ins->modifier[taken])
        ptx_lower_fail(l, "modifier %u is unknown", taken + 1);
    if (taken < l->ins->modifiers)
        ptx_lower_fail(l, "there is no such instruction: .%s is not allowed there", ptx_modifier_text(l->ins->modifier[taken]));
    ptx_lower_fail(l, "there is no such instruction: a modifier or the type is missing");
}

static bool holds(struct ptx_text text, const char *part)
{
    size_t length = strlen(part);
    for (uint32_t i = 0; i + length <= text.length; i++)
        if (memcmp(text.at + i, part, length) == 0)
            return true;
    return false;
}

/* Unsupported forms of a supported opcode. */
static bool is_left_out(const struct ptx_instruction *ins)
{
    static const char *const parts[] = {".bulk", ".tensor", "mbarrier", ".f32x2", "e2m1x2", "e2m3x2", "e3m2x2", "ue8m0x2", ".oob",
                                        "sync_restrict", ".async", ".rs.", "tensormap", ".reduce", "x4.", "m16n16", "m8n16", "m16n8"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (holds(ins->text, parts[i]))
            return true;
    return false;
}

static bool runs_here(unsigned opcode)
{
    for (unsigned i = 0; i < ptx_row_count; i++)
        if (ptx_rows[i].opcode == opcode)
            return true;
    return false;
}

void ptx_lower_instruction(struct ptx_lower *l)
{
    const struct ptx_instruction *ins = l->ins;
    struct ptx_match m = {.data = 0};
    unsigned taken;
    l->guard = ins->guarded ? 1 + l->register_value[ins->guard] : 0;
    l->guard_not = ins->guard_negated;
    const struct ptx_row *row = ptx_table_find(ins, m.type, &taken);
    if (!row && (!runs_here(ins->opcode) || is_left_out(ins))) {
        ptx_lower_unsupported(l, "the simulator does not support this instruction");
        return;
    }
    if (!row)
        no_row(l, taken);
    m.data = row->data;
    if (row->operands[0] != '*')
        take_operands(l, row->operands, &m);
    row->handler(l, &m);
}
