/* SPDX-License-Identifier: Apache-2.0 */
/* program_state.h - the inside of program.h, for the files that write C.
 *
 *     before the call    words of the line -> argument[i][api]      names still mean what the line says
 *     after the call     outputs, variables -> a piece of code for each api
 */
#ifndef CUVMM_TOOLS_PROGRAM_STATE_H
#define CUVMM_TOOLS_PROGRAM_STATE_H

#include "program.h"
#include "script_state.h"

/* What C type a name has. The types of both interfaces stand in program_types. */
enum program_type {
    PROGRAM_ADDRESS,
    PROGRAM_HANDLE,
    PROGRAM_CONTEXT,
    PROGRAM_STREAM,
    PROGRAM_EVENT,
    PROGRAM_POOL,
    PROGRAM_ARRAY,
    PROGRAM_MIPMAPPED,
    PROGRAM_GRAPH,
    PROGRAM_NODE,
    PROGRAM_EXEC,
    PROGRAM_OBJECT,
    PROGRAM_FD,
    PROGRAM_FABRIC,
    PROGRAM_IPC,
    PROGRAM_IPC_EVENT,
    PROGRAM_INT,
    PROGRAM_SIZE,
    PROGRAM_FLAGS,
    PROGRAM_WORD, /* a pointer attribute, taken as 64 bits */
    PROGRAM_TYPES
};
extern const char *const program_types[PROGRAM_TYPES][PROGRAM_APIS];

/* An opaque pointer of the driver's? */
static inline bool program_is_pointer(enum program_type type)
{
    return type >= PROGRAM_CONTEXT && type <= PROGRAM_OBJECT;
}

#define PROGRAM_NAME (SYMBOL_NAME_MAX + 16)

/* A name of the script. A name that comes back with another type is another variable. */
struct program_variable {
    char script[SYMBOL_NAME_MAX + 1];
    char name[PROGRAM_NAME], size[PROGRAM_NAME], total[PROGRAM_NAME];
    enum program_type type;
    bool size_used, has_total;
};

/* Code of one line. sets is the variable whose size it sets, left out where it is not used; from, the one whose size it
 * takes for that; -1: none. */
struct program_piece {
    struct text code[PROGRAM_APIS];
    int sets, from;
};

/* A word of the line that is a number, to be found again as an argument of the call. */
struct program_word {
    char *text, *key; /* key is NULL where it is not an option's */
    uint64_t value;
    bool used;
};

/* Helpers that the written program needs. */
enum {
    PROGRAM_USES_GRANULARITY = 1,
    PROGRAM_USES_ROUND_UP = 2,
    PROGRAM_USES_HOST = 4,
    PROGRAM_USES_FILLED = 8,
    PROGRAM_USES_PATTERN = 16,
    PROGRAM_USES_NOTHING = 32,
    PROGRAM_USES_FABRIC = 64,
    PROGRAM_USES_ANSWER = 128,
    PROGRAM_USES_HOLDS = 256,
    PROGRAM_USES_SAME = 512,
    PROGRAM_USES_CLOSE = 1024,
    PROGRAM_USES_CONTEXT = 2048,
    PROGRAM_USES_KERNEL = 4096
};

struct program {
    struct program_piece *piece;
    size_t pieces;
    struct program_variable *variable;
    size_t variables;
    struct program_word *word;
    size_t words;
    struct text argument[STEP_PARAMS][PROGRAM_APIS];
    char *text;            /* of the current line */
    int number;
    size_t begun;          /* pieces before it */
    size_t calls;
    unsigned uses[PROGRAM_APIS];
    bool granule[2];       /* asked for by now */
    char *refusal[PROGRAM_APIS];
};

/* The variable that a name stands for now; NULL: none. */
struct program_variable *program_find(struct program *program, const char *name, size_t length);

/* The variable of a name and type, made where there is none yet. Its index. */
size_t program_variable(struct program *program, const char *name, enum program_type type);

/* A value of the script's language in C, "r0+2gran" -> "r0 + 2 * gran". False: not one that can be said; out is as before. */
bool program_expression(struct program *program, const char *text, struct text *out);

/* Bytes to write or compare with: word is what the line says, or NULL; bytes are what they were. */
void program_bytes(struct program *program, const struct word *word, const unsigned char *bytes, uint64_t size, struct text *out);

/* A C string literal. */
void program_quote(struct text *out, const char *text, size_t length);

/* A new piece of the current line. Valid until the next one. */
struct program_piece *program_piece(struct program *program);

/* The same code for both. */
void program_add(struct program *program, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The program needs that helper. */
void program_use(struct program *program, unsigned helpers);

/* This line cannot be said with that interface. */
void program_refuse(struct program *program, enum program_api api, const char *reason);

/* The word of a line that stands for bytes, or NULL. */
const struct word *program_bytes_word(const struct script *script);

/* Literals for what a call's pointers point to. */
extern const char *const program_prefix[PROGRAM_APIS]; /* of enumerators */
void program_location(struct text *out, enum program_api api, vmm_mem_location location);
void program_handle_types(struct text *out, enum program_api api, int types);
void program_prop(struct text *out, enum program_api api, const vmm_mem_allocation_prop *prop);
void program_pool_props(struct text *out, enum program_api api, const vmm_mem_pool_props *props);
void program_grants(struct text *out, enum program_api api, const vmm_mem_access_desc *grants, uint64_t count);
/* arrays: the variables of the sides that are arrays, source first; NULL: a number. */
void program_box(struct text *out, enum program_api api, const vmm_memcpy3d *box, bool peer, const char *const arrays[2]);
void program_copy_attributes(struct text *out, enum program_api api, const struct step *step);
void program_boxes(struct text *out, enum program_api api, const struct step *step);
void program_mem_ops(struct text *out, enum program_api api, const struct step *step);
void program_attribute(struct text *out, enum program_api api, const char *kind, const char *name, int value);
void program_attributes(struct text *out, enum program_api api, const struct step *step);
void program_kernel(struct program *program, const struct script *script, struct text *out, int kernel);

/* Structures of a call: what a parameter points to, its type, and room for one that is written. */
void program_structs(struct program *program, struct script *script, const struct vmm_param *param, struct text out[PROGRAM_APIS]);
const char *program_shape_type(unsigned shape, enum program_api api);
void program_shape_room(struct text *out, unsigned shape, enum program_api api);

/* An argument of the line: a number by the line's word for it, an object by its name. */
void program_number(struct program *program, struct script *script, const struct vmm_param *param, uint64_t value, struct text *out);
void program_object(struct program *program, const struct vmm_param *param, enum program_type type, uint64_t value,
                    struct text out[PROGRAM_APIS]);

void program_forget_words(struct program *program);

/* What stands before and after the lines. */
void program_write_head(FILE *out, const struct program *program, enum program_api api);

#endif
