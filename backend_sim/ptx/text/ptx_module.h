/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_module.h - a PTX text as a tree.
 *
 *     module   variables [ .global table = {...} ] [ .shared buffer[1024] ]
 *              functions [ .entry kernel (params) { registers, variables, instructions } ] [ .func helper ... ]
 *
 *     instruction   @%p1 add.s32 %r1, %r2, 7;     guard, opcode, modifiers, operands; names are resolved
 *
 * Everything is allocated in the context passed to ptx_parse.
 */
#ifndef PTX_MODULE_H
#define PTX_MODULE_H

#include "ptx_words.h"

enum ptx_space { PTX_SPACE_GENERIC, PTX_SPACE_GLOBAL, PTX_SPACE_CONST, PTX_SPACE_SHARED, PTX_SPACE_LOCAL, PTX_SPACE_PARAM };

enum ptx_linking { PTX_LINK_NONE, PTX_LINK_EXTERN, PTX_LINK_VISIBLE, PTX_LINK_WEAK, PTX_LINK_COMMON };

struct ptx_function;

/* A part of an initial value: bytes at an offset, or the address of a variable or function, shifted right and cut to size bytes. */
struct ptx_initial {
    uint64_t at, value;
    const struct ptx_variable *variable;
    const struct ptx_function *function;
    uint8_t size, shift;
    bool generic; /* generic(name) */
    struct ptx_initial *next;
};

struct ptx_variable {
    struct ptx_text name;
    struct ptx_place place;
    enum ptx_space space;
    enum ptx_linking linking;
    uint8_t type, vector; /* of an element: 1, 2 or 4 of the type */
    bool is_array, unsized; /* unsized: x[] without a value */
    bool managed;
    uint32_t align;
    uint64_t size; /* bytes; 0: unsized */
    struct ptx_initial *initial;
    bool in_body;    /* declared between a function's braces */
    uint32_t number; /* among those of its list */
    uint32_t index;  /* for the translation: its number in the program */
    struct ptx_function *of; /* a function's own; NULL: the module's */
    struct ptx_variable *next;
};

struct ptx_register {
    uint8_t type;
};

enum ptx_operand_kind {
    PTX_O_NONE,
    PTX_O_REGISTER, /* value: its number in the function */
    PTX_O_INTEGER,  /* value */
    PTX_O_FLOAT,    /* value: the bits of a double, or single: of a float */
    PTX_O_VARIABLE, /* and offset */
    PTX_O_FUNCTION,
    PTX_O_LABEL,    /* value: the label's number */
    PTX_O_TARGETS,  /* of .branchtargets, .calltargets or .callprototype */
    PTX_O_SPECIAL,  /* value: enum ptx_special; part */
    PTX_O_LIST,     /* {a, b} or (a, b): list, count */
    PTX_O_ADDRESS,  /* [list[0] + offset] */
    PTX_O_SINK      /* _ */
};

struct ptx_operand {
    uint8_t kind;
    bool negated;     /* !p */
    bool joined;      /* behind a bar: p|q */
    bool single, is_unsigned;
    uint8_t part;     /* .x 0, .y 1, ...; of %envreg and %pm their number */
    uint8_t selector; /* .b0, .h1 of video instructions: the modifier; 0: none */
    uint32_t count;
    struct ptx_place place;
    uint64_t value;
    int64_t offset;
    struct ptx_operand *list;
    const struct ptx_variable *variable;
    const struct ptx_function *function;
    const struct ptx_targets *targets;
};

enum { PTX_MODIFIERS_MOST = 12, PTX_OPERANDS_MOST = 8 };

struct ptx_instruction {
    uint8_t opcode, modifiers, operands;
    bool guarded, guard_negated;
    uint32_t guard; /* a register */
    uint32_t source; /* of the module's list of source lines; 0: none */
    struct ptx_place place;
    uint16_t modifier[PTX_MODIFIERS_MOST];
    struct ptx_text text; /* of the opcode with its modifiers */
    struct ptx_operand *operand;
};

/* A list of labels or functions, or a prototype with only parameters. */
struct ptx_targets {
    struct ptx_text name;
    char kind; /* b, c or p */
    uint32_t count;
    struct ptx_operand *target;
    struct ptx_variable *result, *params;
    uint32_t results, param_count;
};

struct ptx_function {
    struct ptx_text name;
    struct ptx_place place;
    bool is_entry, has_body;
    enum ptx_linking linking;
    struct ptx_variable *params, *results, *locals; /* locals: .local, .shared and .param of the body */
    uint32_t param_count, result_count, local_count;
    struct ptx_register *registers;
    uint32_t register_count;
    struct ptx_instruction *instructions;
    uint32_t instruction_count;
    uint32_t *labels; /* for each label, the instruction after it */
    uint32_t label_count;
    uint32_t max_threads[3], required_threads[3], cluster[3], max_registers; /* 0: not said */
    const struct ptx_function *alias; /* what .alias makes it */
    uint32_t number;
    struct ptx_function *next;
};

/* A line of the source that the PTX was compiled from (.loc). */
struct ptx_source {
    uint32_t file, line, column;
};

struct ptx_module {
    uint32_t version, capability; /* 90 for 9.0; 90 for sm_90 */
    bool specific; /* sm_90a, sm_100f */
    uint32_t address_bits;
    uint32_t max_registers; /* of all kernels; 0: not specified */
    struct ptx_variable *variables;
    struct ptx_function *functions;
    uint32_t variable_count, function_count;
    struct ptx_text *files; /* by number */
    uint32_t file_count;
    struct ptx_source *sources; /* entry 0 is unused */
    uint32_t source_count;
};

#endif
