/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_lower.h - turns a function's instructions into steps.
 *
 *     mad.wide.s32 %rd3, %r1, %r2, %rd1;     MULWIDE_S32 t, %r1, %r2     ADD64 %rd3, t, %rd1
 *
 * Each register, constant and intermediate result is a value, identified by a number and with a
 * size; slots are assigned once all steps exist (ptx_slots.h). A handler of the table receives the
 * operands of a regular instruction as values and makes steps from them.
 */
#ifndef PTX_LOWER_H
#define PTX_LOWER_H

#include "ptx_code.h"
#include "ptx_module.h"
#include "ptx_program.h"

/* A constant is a value that is set before the routine runs. */
struct ptx_lower_constant {
    uint32_t value, next; /* in the same bucket: 1 + the index; 0: the last */
    uint64_t bits;
    uint8_t bytes;
    bool is_reference;
    struct ptx_reference reference;
};

enum { PTX_CONSTANT_BUCKETS = 256 };

struct ptx_lower {
    struct ptx_context *context; /* of the work */
    struct ptx_context *lasting; /* of the program */
    const struct ptx_module *module;
    const struct ptx_function *function;
    const struct ptx_options *options;
    struct ptx_program *program;
    struct ptx_routine *routine;
    const struct ptx_instruction *ins; /* the current one */
    uint32_t guard; /* 1 + the value of the current guard; 0: none */
    bool guard_not;
    uint32_t *register_value; /* the value of each register */
    uint8_t *bytes;           /* of each value; 0: a predicate */
    uint32_t value_count, value_room;
    struct ptx_op *ops;
    uint32_t *from; /* the instruction that each op was made from */
    uint32_t op_count, op_room, from_room;
    uint32_t *op_of; /* the first op of each instruction */
    uint32_t *list;
    uint32_t list_count, list_room;
    struct ptx_lower_constant *constants;
    uint32_t constant_count, constant_room, bucket[PTX_CONSTANT_BUCKETS];
    uint32_t *local_offset; /* in the frame, of each of the function's own variables */
    uint32_t *param_offset, *result_offset; /* in the frame, or of a kernel in its parameters */
    const char *refused;   /* the function's first unsupported instruction */
    const char **refusals; /* of each function */
    uint32_t *need;        /* of each: bytes of local memory, including its callees */
    uint32_t *called; /* for each function its last known caller: 1 + the caller's number */
    bool *loops, *is_kernel; /* of each: it is directly or indirectly recursive */
};

/* The operands of an instruction, as its row describes them. */
struct ptx_match {
    unsigned type[4]; /* of the modifiers, in their order */
    uint32_t value[PTX_OPERANDS_MOST];
    uint32_t data; /* the row's */
};

typedef void (*ptx_handler)(struct ptx_lower *l, const struct ptx_match *m);

_Noreturn void ptx_lower_fail(const struct ptx_lower *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The instruction is unsupported: an error, or a step that stands for it. */
void ptx_lower_unsupported(struct ptx_lower *l, const char *why);

/* A value of so many bytes in a lane; 0: a predicate. */
uint32_t ptx_value(struct ptx_lower *l, unsigned bytes);
uint32_t ptx_constant(struct ptx_lower *l, uint64_t bits, unsigned bytes);
uint32_t ptx_reference(struct ptx_lower *l, enum ptx_reference_kind kind, uint32_t number, int64_t offset, unsigned bytes);

/* A step with the current guard. */
struct ptx_op *ptx_emit(struct ptx_lower *l, unsigned step, uint32_t d, uint32_t a, uint32_t b, uint32_t c);
struct ptx_op *ptx_emit_scalar(struct ptx_lower *l, unsigned scalar, uint32_t which, unsigned more, uint32_t d, uint32_t a, uint32_t b,
                               uint32_t c);
/* Redirects the newest op's result from the value `from` to the value `to`, or adds a move. */
void ptx_deliver(struct ptx_lower *l, uint32_t from, uint32_t to);
/* Adds to the list of the newest op, at most UINT8_MAX times; only one list is built at a time. */
void ptx_list(struct ptx_lower *l, struct ptx_op *op, uint32_t entry);

#define PTX_UNUSED UINT32_MAX

/* 0, 1, 2 for 2, 4 and 8 bytes: which of STEP_ADD16, STEP_ADD32, STEP_ADD64. */
static inline unsigned ptx_size_index(unsigned bytes)
{
    return bytes == 8 ? 2 : bytes == 4 ? 1 : 0;
}

/* The size of the register that a type lives in. */
unsigned ptx_register_bytes(unsigned type);

/* Operand i as a source or a destination of that type; fails if it cannot be one. wide: a register
 * may be wider than the type, as for ld, st and cvt. */
uint32_t ptx_source(struct ptx_lower *l, unsigned i, unsigned type, bool wide);
uint32_t ptx_destination(struct ptx_lower *l, unsigned i, unsigned type, bool wide);
uint32_t ptx_source_of(struct ptx_lower *l, const struct ptx_operand *o, unsigned type, bool wide);
uint32_t ptx_destination_of(struct ptx_lower *l, const struct ptx_operand *o, unsigned type, bool wide);
/* A predicate; a negated one as the value of its negation. */
uint32_t ptx_predicate(struct ptx_lower *l, unsigned i);
/* The declared type of the register; PTX_NONE: the operand is not a register. */
unsigned ptx_declared(const struct ptx_lower *l, const struct ptx_operand *o);

/* The offset of a function's variable in a lane's local memory. */
uint32_t ptx_frame_offset(const struct ptx_lower *l, const struct ptx_variable *v);
/* Is it a parameter of a kernel, which is not in a frame? */
bool ptx_is_kernel_param(const struct ptx_lower *l, const struct ptx_variable *v);

/* Reserves unnamed space in the frame. */
uint32_t ptx_frame_more(struct ptx_lower *l, uint64_t size, uint64_t align);

/* PTX_MEM_... of the instruction. */
struct ptx_place_in_memory;
unsigned ptx_memory_more(const struct ptx_lower *l, const struct ptx_place_in_memory *at, unsigned type);
/* The number of elements of .v2, .v4, .v8; otherwise 1. */
unsigned ptx_elements(const struct ptx_lower *l);

/* The operand of a memory step: space and address. */
struct ptx_place_in_memory {
    unsigned space; /* enum ptx_memory */
    uint32_t base;  /* a value; PTX_UNUSED: none */
    int64_t offset;
};
struct ptx_place_in_memory ptx_memory_at(struct ptx_lower *l, unsigned i);

bool ptx_has(const struct ptx_lower *l, unsigned modifier);
/* Integers, floats... */
bool ptx_is_float(unsigned type);
bool ptx_is_signed(unsigned type);
enum ptx_number ptx_number_of(unsigned type);
bool ptx_is_pair(unsigned type);
/* PTX_FLOAT_... of the current instruction's modifiers and of the type. */
unsigned ptx_float_more(const struct ptx_lower *l, unsigned type);

/* data of the rows of float_op */
enum { PTX_FADD, PTX_FSUB, PTX_FMUL, PTX_FDIV, PTX_FFMA, PTX_FSQRT, PTX_FNEG, PTX_FABS, PTX_FMIN, PTX_FMAX };

/* All functions of the program, and their shared state. */
void ptx_lower_module(struct ptx_lower *l);
void ptx_lower_function(struct ptx_lower *l, const struct ptx_function *f, struct ptx_routine *routine);
/* Of the current instruction. */
void ptx_lower_instruction(struct ptx_lower *l);

/* Handlers of the table. */
#define PTX_HANDLER(name) void ptx_lower_##name(struct ptx_lower *l, const struct ptx_match *m);
#include "ptx_handlers.def"

#endif
