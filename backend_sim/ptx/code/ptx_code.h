/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_code.h - a program in executable form: routines made of steps that work on slots.
 *
 *     add.s32 %r3, %r1, 7;      STEP_ADD32  d = slot of %r3   a = slot of %r1   b = slot of the constant 7
 *
 *     frame of a routine [ constants | registers, several to a slot if they are never live at the same time ]      predicates
 *
 * A slot holds a register of all 32 lanes of a warp: 32 times 2, 4 or 8 bytes, in units of PTX_UNIT bytes. A predicate is one word
 * with a bit for each lane. Everything is allocated in the program's context and immutable.
 */
#ifndef PTX_CODE_H
#define PTX_CODE_H

#include "ptx_context.h"

enum { PTX_LANES = 32, PTX_UNIT = 64, PTX_WIDEST = 32 /* bytes of a vector */ };

/* How a step uses its four fields d a b c: r read, w written, - unused. After them: L it has a list
 * of values, in which PTX_WRITTEN marks the written ones; ! its results must not share slots with
 * its operands. */
enum ptx_step {
#define PTX_STEP(NAME, fields) STEP_##NAME,
#include "ptx_steps.def"
    PTX_STEPS
};

#define PTX_WRITTEN (UINT32_C(1) << 31)

/* Functions on the values of one lane, called by STEP_SCALAR. */
enum ptx_scalar {
#define PTX_SCALAR(NAME) SCALAR_##NAME,
#include "ptx_scalars.def"
    PTX_SCALARS
};

struct ptx_op {
    uint16_t step;
    uint8_t count;     /* elements of the list */
    bool guard_not;
    uint32_t guard;    /* 1 + a predicate; 0: none */
    uint16_t more;     /* PTX_MEM_..., PTX_FLOAT_..., or as the step's comment says */
    uint8_t bytes[4];  /* of d, a, b, c in a lane; 0: a predicate */
    uint16_t what;     /* of atomics PTX_FOLD_... and PTX_OF_... << 8; of calls how many of the list are arguments */
    uint32_t d, a, b, c; /* slots in units, predicates by number */
    uint32_t list;     /* the first of the routine's list entries */
    int64_t imm;
};

/* of `more` for steps that use memory */
enum {
    PTX_MEM_SPACE = 7,        /* enum ptx_memory */
    PTX_MEM_SIZE_SHIFT = 3,   /* log2 of an element's bytes, 3 bits */
    PTX_MEM_SIGNED = 1 << 6,  /* a narrow element is extended by its sign */
    PTX_MEM_SHOWS = 1 << 7,   /* volatile or ordered: other threads may wait for it */
    PTX_MEM_ACQUIRE = 1 << 8,
    PTX_MEM_RELEASE = 1 << 9,
    PTX_MEM_NO_BASE = 1 << 10, /* the address is just imm */
    PTX_MEM_FLUSH = 1 << 11,   /* of atomics on floats: not .noftz */
};

/* PTX_M_GRID: a few words of the launch, on which the blocks of a cooperative launch wait for each other. */
enum ptx_memory { PTX_M_GENERIC, PTX_M_GLOBAL, PTX_M_SHARED, PTX_M_LOCAL, PTX_M_FRAME, PTX_M_KERNEL_PARAM, PTX_M_GRID };

/* of `more` for arithmetic on floats */
enum {
    PTX_FLOAT_ROUND = 7,      /* enum ptx_round */
    PTX_FLOAT_FLUSH = 1 << 3,
    PTX_FLOAT_SATURATE = 1 << 4, /* to [0, 1] */
    PTX_FLOAT_RELU = 1 << 5,
    PTX_FLOAT_NAN = 1 << 6,   /* of min and max */
    PTX_FLOAT_XORSIGN = 1 << 7,
    PTX_FLOAT_FINITE = 1 << 8, /* .satfinite */
    PTX_FLOAT_FORMAT_MASK = 1 << 9, /* the values below it are rounding modes */
    PTX_FLOAT_FORMAT_SHIFT = 9, /* enum ptx_number of the operands, 3 bits; of a conversion the source's */
    PTX_FLOAT_TO_SHIFT = 12,    /* of a conversion: the result's */
    PTX_FLOAT_PACKED = 1 << 15  /* two numbers in each operand */
};

enum ptx_number { PTX_N_F16, PTX_N_BF16, PTX_N_TF32, PTX_N_F32, PTX_N_F64, PTX_N_E4M3, PTX_N_E5M2 };

/* imm of STEP_CARRY; the size is that of d */
enum ptx_carry { PTX_CARRY_ADD, PTX_CARRY_SUB, PTX_CARRY_MAD, PTX_CARRY_MADHI_U, PTX_CARRY_MADHI_S };
enum { PTX_CARRY_IN = 1, PTX_CARRY_OUT = 2 };

enum ptx_shuffle { PTX_SHUFFLE_UP, PTX_SHUFFLE_DOWN, PTX_SHUFFLE_BFLY, PTX_SHUFFLE_IDX };
enum ptx_vote { PTX_VOTE_ALL, PTX_VOTE_ANY, PTX_VOTE_UNI, PTX_VOTE_BALLOT, PTX_VOTE_POPC };
enum ptx_fold { PTX_FOLD_ADD, PTX_FOLD_MIN, PTX_FOLD_MAX, PTX_FOLD_AND, PTX_FOLD_OR, PTX_FOLD_XOR, PTX_FOLD_INC, PTX_FOLD_DEC,
                PTX_FOLD_EXCH, PTX_FOLD_CAS };
/* The operations of atomics and reductions. */
enum ptx_folded { PTX_OF_U32, PTX_OF_S32, PTX_OF_U64, PTX_OF_S64, PTX_OF_F32, PTX_OF_F64, PTX_OF_F16, PTX_OF_BF16, PTX_OF_F16X2,
                  PTX_OF_BF16X2, PTX_OF_B16, PTX_OF_B128 };

/* which of SCALAR_FCOMPARE: 1 less, 2 equal, 4 greater, 8 unordered make the answer true */
enum { PTX_COMPARE_LESS = 1, PTX_COMPARE_EQUAL = 2, PTX_COMPARE_GREATER = 4, PTX_COMPARE_UNORDERED = 8 };
enum ptx_test { PTX_TEST_FINITE, PTX_TEST_INFINITE, PTX_TEST_NUMBER, PTX_TEST_NOTANUMBER, PTX_TEST_NORMAL, PTX_TEST_SUBNORMAL };

/* A constant that is unknown before the launch: the address of a variable in its space. */
enum ptx_reference_kind { PTX_R_VARIABLE, PTX_R_SHARED, PTX_R_SHARED_END, PTX_R_ROUTINE };

struct ptx_reference {
    uint32_t at;       /* the constant's slot */
    uint8_t bytes;     /* 4 or 8 */
    uint8_t kind;
    uint32_t number;   /* of the program's variable, shared variable or routine */
    int64_t offset;
};

struct ptx_constant {
    uint32_t at;
    uint8_t bytes;
    uint64_t value;
};

/* The offset of a routine's parameter in a lane's local memory; of a kernel's parameter in the parameters. */
struct ptx_param {
    uint32_t offset, size;
};

struct ptx_line {
    uint32_t line, column; /* in the PTX */
    uint32_t source;       /* of the program's sources */
    uint8_t opcode;        /* enum ptx_opcode */
    bool begins;           /* the first step made from the instruction */
};

struct ptx_routine {
    const char *name;
    struct ptx_op *ops;
    struct ptx_line *lines; /* one for each */
    uint32_t op_count;
    uint32_t *list;
    uint32_t list_count;
    struct ptx_constant *constants;
    struct ptx_reference *references;
    uint32_t constant_count, reference_count;
    uint32_t units;         /* of the frame; constants come first */
    uint32_t constant_units;
    uint32_t predicates;
    uint32_t frame;         /* bytes of memory of a lane: its parameters, results and .local variables */
    struct ptx_param *params, *results;
    uint32_t param_count, result_count;
    bool defined;           /* false: it is only declared */
    uint8_t builtin;        /* enum ptx_builtin */
    uint32_t *calls;        /* the routines it calls by name */
    uint32_t call_count;
    bool calls_pointers;
    bool multimem;          /* it uses multicast addresses */
};

/* The size of malloc's heap, unless its own memory says otherwise (ptx_heap.h): CU_LIMIT_MALLOC_HEAP_SIZE as measured. */
enum { PTX_HEAP_BYTES = 8 << 20 };

/* Functions that a program declares and the driver provides. */
enum ptx_builtin { PTX_B_NONE, PTX_B_VPRINTF, PTX_B_ASSERTFAIL, PTX_B_MALLOC, PTX_B_FREE };

struct ptx_kernel {
    const char *name;
    uint32_t routine;
    struct ptx_param *params;
    uint32_t param_count, param_bytes;
    uint32_t *shared;       /* the offset of each of the program's shared variables; UINT32_MAX: unused by this kernel */
    uint32_t shared_bytes;  /* static */
    uint32_t local_bytes;   /* of a lane, without recursion */
    uint32_t max_threads, required[3], cluster[3];
    uint32_t max_registers; /* of a thread; 0: not said */
    bool recursive;
    bool multimem;          /* it, or a function that it calls, uses multicast addresses */
    const char *refused;    /* an unsupported instruction; NULL: none */
};

/* A piece of a variable's initial value that is an address. */
struct ptx_fixup {
    uint64_t at;
    uint8_t bytes, shift;
    bool generic;
    bool of_routine;
    uint32_t number;        /* of the program's variable or routine */
    int64_t offset;
};

struct ptx_global {
    const char *name;
    uint64_t size;
    uint32_t align;
    bool constant, managed, is_extern;
    const unsigned char *initial; /* NULL: zeros */
    struct ptx_fixup *fixups;
    uint32_t fixup_count;
};

struct ptx_shared {
    const char *name;
    uint64_t size;          /* 0: the launch sets the size */
    uint32_t align;
};

struct ptx_program {
    struct ptx_context context; /* its memory */
    uint32_t version, capability;
    bool reserves; /* it reads the offset of the system's part of shared memory, and so uses that part */
    struct ptx_routine *routines;
    struct ptx_kernel *kernels;
    struct ptx_global *globals;
    struct ptx_shared *shareds;
    uint32_t routine_count, kernel_count, global_count, shared_count;
    uint32_t heap; /* 1 + the number of the variable that malloc takes from, which is the last one; 0: nothing calls malloc or free */
    const char **files;
    uint32_t file_count;
    struct ptx_place_of_source {
        uint32_t file, line, column;
    } *sources;
    uint32_t source_count;
};

#endif
