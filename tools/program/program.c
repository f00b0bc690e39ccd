/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "program_state.h"

const char *const program_types[PROGRAM_TYPES][PROGRAM_APIS] = {
    [PROGRAM_ADDRESS] = {"vmm_deviceptr", "CUdeviceptr"},
    [PROGRAM_HANDLE] = {"vmm_mem_generic_allocation_handle", "CUmemGenericAllocationHandle"},
    [PROGRAM_CONTEXT] = {"vmm_context", "CUcontext"},
    [PROGRAM_STREAM] = {"vmm_stream", "CUstream"},
    [PROGRAM_EVENT] = {"vmm_event", "CUevent"},
    [PROGRAM_POOL] = {"vmm_memory_pool", "CUmemoryPool"},
    [PROGRAM_ARRAY] = {"vmm_array", "CUarray"},
    [PROGRAM_MIPMAPPED] = {"vmm_mipmapped_array", "CUmipmappedArray"},
    [PROGRAM_GRAPH] = {"vmm_graph", "CUgraph"},
    [PROGRAM_NODE] = {"vmm_graph_node", "CUgraphNode"},
    [PROGRAM_EXEC] = {"vmm_graph_exec", "CUgraphExec"},
    [PROGRAM_OBJECT] = {"vmm_user_object", "CUuserObject"},
    [PROGRAM_FD] = {"int", "int"},
    [PROGRAM_FABRIC] = {"fabric_handle", "fabric_handle"},
    [PROGRAM_IPC] = {"vmm_ipc_mem_handle", "CUipcMemHandle"},
    [PROGRAM_IPC_EVENT] = {"vmm_ipc_event_handle", "CUipcEventHandle"},
    [PROGRAM_INT] = {"int", "int"},
    [PROGRAM_SIZE] = {"uint64_t", "size_t"},
    [PROGRAM_FLAGS] = {"uint64_t", "unsigned long long"},
    [PROGRAM_WORD] = {"uint64_t", "uint64_t"},
};

struct program *program_new(void)
{
    struct program *program = text_grow(NULL, sizeof *program);
    *program = (struct program){0};
    return program;
}

void program_forget_words(struct program *program)
{
    for (size_t i = 0; i < program->words; i++) {
        free(program->word[i].text);
        free(program->word[i].key);
    }
    program->words = 0;
}

static void drop_pieces(struct program *program, size_t keep)
{
    while (program->pieces > keep) {
        struct program_piece *piece = &program->piece[--program->pieces];
        for (int api = 0; api < PROGRAM_APIS; api++)
            text_free(&piece->code[api]);
    }
}

void program_free(struct program *program)
{
    if (!program)
        return;
    program_forget_words(program);
    drop_pieces(program, 0);
    for (int api = 0; api < PROGRAM_APIS; api++) {
        free(program->refusal[api]);
        for (size_t i = 0; i < STEP_PARAMS; i++)
            text_free(&program->argument[i][api]);
    }
    free(program->word);
    free(program->piece);
    free(program->variable);
    free(program->text);
    free(program);
}

struct program_piece *program_piece(struct program *program)
{
    program->piece = text_grow(program->piece, (program->pieces + 1) * sizeof *program->piece);
    struct program_piece *piece = &program->piece[program->pieces++];
    *piece = (struct program_piece){.sets = -1, .from = -1};
    return piece;
}

void program_add(struct program *program, const char *format, ...)
{
    struct program_piece *piece = program_piece(program);
    for (int api = 0; api < PROGRAM_APIS; api++) {
        char *memory = NULL;
        size_t size;
        FILE *out = open_memstream(&memory, &size);
        if (!out)
            continue;
        va_list args;
        va_start(args, format);
        vfprintf(out, format, args);
        va_end(args);
        fclose(out);
        text_add(&piece->code[api], "%s", memory);
        free(memory);
    }
}

void program_use(struct program *program, unsigned helpers)
{
    for (int api = 0; api < PROGRAM_APIS; api++)
        program->uses[api] |= helpers;
}

void program_refuse(struct program *program, enum program_api api, const char *reason)
{
    struct text text = {0};
    if (program->refusal[api])
        return;
    text_add(&text, "line %d, \"%.100s\": %s", program->number, program->text, reason);
    program->refusal[api] = text.data;
}

const char *program_refusal(const struct program *program, enum program_api api)
{
    return program->refusal[api];
}

/* ---- names */

/* Words that a name of the script cannot be in the written program: C's own, and what the program uses. */
static bool is_taken(const char *name)
{
    static const char *const taken[] = {
        "alignas", "alignof", "asm", "auto", "bool", "break", "case", "char", "const", "continue", "default", "do", "double",
        "else", "enum", "extern", "false", "float", "for", "goto", "if", "inline", "int", "long", "nullptr", "register",
        "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch", "true", "typedef", "typeof", "union",
        "unsigned", "void", "volatile", "while", "linux", "unix", "i386", "stdin", "stdout", "stderr", "errno", "assert",
        "main", "argc", "argv", "sys", "spec", "calls", "must", "holds", "same", "nothing", "granularity", "round_up", "filled",
        "pattern", "read", "flags", "host", "blocks", "block", "answer", "fabric_handle", "memcmp", "memcpy", "memset", "strcmp",
        "printf", "fprintf", "puts", "malloc", "free", "exit", "close", "uint64_t", "size_t", "uintptr_t", "int64_t",
        "KiB", "MiB", "GiB", "TiB"};
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        if (strcmp(taken[i], name) == 0)
            return true;
    bool upper = true; /* as macros are */
    for (const char *c = name; *c; c++)
        upper &= !(*c >= 'a' && *c <= 'z');
    return upper || name[0] == '_' || strncmp(name, "cu", 2) == 0 || strncmp(name, "CU", 2) == 0 || strncmp(name, "vmm_", 4) == 0;
}

static bool is_used(const struct program *program, const char *name)
{
    for (size_t i = 0; i < program->variables; i++) {
        const struct program_variable *v = &program->variable[i];
        if (strcmp(v->name, name) == 0 || strcmp(v->size, name) == 0 || strcmp(v->total, name) == 0)
            return true;
    }
    return is_taken(name);
}

/* A C name like this one that nothing else has. */
static void name_new(const struct program *program, const char *wanted, const char *tail, char name[PROGRAM_NAME])
{
    snprintf(name, PROGRAM_NAME, "%s%s", wanted, tail);
    if (is_used(program, name))
        snprintf(name, PROGRAM_NAME, "my_%s%s", wanted, tail);
    for (unsigned n = 2; is_used(program, name); n++)
        snprintf(name, PROGRAM_NAME, "my_%s%s_%u", wanted, tail, n);
}

struct program_variable *program_find(struct program *program, const char *name, size_t length)
{
    for (size_t i = program->variables; i-- > 0;) {
        struct program_variable *v = &program->variable[i];
        if (strlen(v->script) == length && memcmp(v->script, name, length) == 0)
            return v;
    }
    return NULL;
}

size_t program_variable(struct program *program, const char *name, enum program_type type)
{
    struct program_variable *old = program_find(program, name, strlen(name)), made = {.type = type};
    if (old && old->type == type)
        return (size_t)(old - program->variable);
    strcpy(made.script, name);
    name_new(program, name, "", made.name);
    name_new(program, made.name, "_size", made.size);
    name_new(program, made.name, "_total", made.total);
    program->variable = text_grow(program->variable, (program->variables + 1) * sizeof *program->variable);
    program->variable[program->variables] = made;
    return program->variables++;
}

/* ---- lines */

void program_begin(struct program *program, int number, const char *text)
{
    program->number = number;
    program->begun = program->pieces;
    free(program->text);
    program->text = strcpy(text_grow(NULL, strlen(text) + 1), text);
    struct text comment = {0};
    for (const char *c = text; *c; c++) { /* nothing in it may end the comment, begin another one or look like a trigraph */
        bool bad = (*c == '*' && c[1] == '/') || (*c == '/' && c[1] == '*') || (*c == '?' && c[1] == '?');
        text_add(&comment, "%c", bad ? '.' : *c);
    }
    program_add(program, "\n    /* %d: %s */\n", number, comment.data ? comment.data : "");
    text_free(&comment);
}

static bool is_command(const struct script *script, const char *name)
{
    return script->command && strcmp(script->command->name, name) == 0;
}

/* The last word that is not an option: what a check compares with. */
static const struct word *last_word(const struct script *script)
{
    const struct word *last = NULL;
    for (size_t i = 0; i < script->words.count; i++)
        if (!script->words.word[i].key)
            last = &script->words.word[i];
    return last;
}

/* check value A OP B */
static void add_comparison(struct program *program, const struct script *script)
{
    struct text a = {0}, b = {0};
    const struct word *word = script->words.word;
    if (script->words.count == 5 && program_expression(program, word[2].text, &a) &&
        program_expression(program, word[4].text, &b)) {
        program_add(program, "    holds(%s, \"%s\", %s, __LINE__);\n", a.data, word[3].text, b.data);
        program_use(program, PROGRAM_USES_HOLDS);
    }
    text_free(&a);
    text_free(&b);
}

static void add_leaks(struct program *program, const struct script *script)
{
    struct text wanted = {0};
    const struct word *word = last_word(script);
    if (word && program_expression(program, word->text, &wanted)) {
        struct program_piece *piece = program_piece(program);
        text_add(&piece->code[PROGRAM_VMM], "    holds(vmm_leaks(sys, NULL, NULL), \"==\", %s, __LINE__);\n", wanted.data);
        program->uses[PROGRAM_VMM] |= PROGRAM_USES_HOLDS;
    }
    text_free(&wanted);
}

/* host-write ADDRESS BYTES, check host-bytes ADDRESS BYTES: the program does it as well, without a call. */
static void add_host(struct program *program, struct script *script, bool writes)
{
    struct words_error error;
    struct value_env env = script_env(script);
    const struct word *bytes = program_bytes_word(script);
    struct text address = {0}, what = {0};
    unsigned char *data = NULL;
    uint64_t size = 0;
    if (bytes && program_expression(program, bytes[-1].text, &address) && value_bytes(&env, bytes, &data, &size, &error)) {
        program_bytes(program, bytes, data, size, &what);
        program_add(program, writes ? "    memcpy((void *)(uintptr_t)(%s), %s, %" PRIu64 ");\n"
                                    : "    same((void *)(uintptr_t)(%s), %s, %" PRIu64 ", __LINE__);\n",
                    address.data, what.data, size);
        program_use(program, writes ? 0 : PROGRAM_USES_SAME);
    }
    free(data);
    text_free(&address);
    text_free(&what);
}

static void add_close(struct program *program, const struct script *script)
{
    const struct word *word = last_word(script);
    const struct program_variable *v = word ? program_find(program, word->text, strlen(word->text)) : NULL;
    if (v && v->type == PROGRAM_FD) {
        program_add(program, "    close(%s);\n", v->name);
        program_use(program, PROGRAM_USES_CLOSE);
    }
}

static void add_echo(struct program *program, const struct script *script)
{
    struct text quoted = {0};
    program_quote(&quoted, script->text + script->next, script->length - script->next);
    program_add(program, "    puts(%s);\n", quoted.data);
    text_free(&quoted);
}

void program_end(struct program *program, struct script *script, enum script_status status)
{
    if (status == SCRIPT_WRONG) {
        drop_pieces(program, program->begun);
        return;
    }
    bool ran = script->command != NULL;
    if (ran && status == SCRIPT_OK && is_command(script, "check value"))
        add_comparison(program, script);
    else if (ran && status == SCRIPT_OK && is_command(script, "check leaks"))
        add_leaks(program, script);
    else if (status == SCRIPT_OK && (is_command(script, "host-write") || is_command(script, "check host-bytes")))
        add_host(program, script, is_command(script, "host-write"));
    else if (is_command(script, "close"))
        add_close(program, script);
    else if (is_command(script, "echo"))
        add_echo(program, script);
    for (int api = 0; api < PROGRAM_APIS; api++) {
        if (is_command(script, "process"))
            program_refuse(program, (enum program_api)api,
                           "a C program is one process; save it as a script (.vmm), or undo the line");
        if (is_command(script, "backend") && program->calls)
            program_refuse(program, (enum program_api)api,
                           "a C program has one machine, and calls were made on another before; save it as a script (.vmm)");
    }
}

/* ---- the whole */

/* Sizes that are never used are not kept; a size that is taken from another one asks for that. */
static void find_sizes(struct program *program)
{
    for (size_t i = program->pieces; i-- > 0;) {
        const struct program_piece *piece = &program->piece[i];
        if (piece->sets >= 0 && piece->from >= 0 && program->variable[piece->sets].size_used)
            program->variable[piece->from].size_used = true;
    }
}

static void write_variables(FILE *out, const struct program *program, enum program_api api)
{
    for (size_t i = 0; i < program->variables; i++) {
        const struct program_variable *v = &program->variable[i];
        const char *type = program_types[v->type][api];
        bool pointer = program_is_pointer(v->type);
        fprintf(out, "    %s %s = %s;\n", type, v->name,
                v->type == PROGRAM_FABRIC || v->type == PROGRAM_IPC || v->type == PROGRAM_IPC_EVENT ? "{{0}}" : pointer ? "NULL" : v->type == PROGRAM_FD ? "-1" : "0");
        if (v->has_total)
            fprintf(out, "    %s %s = 0;\n", type, v->total);
        if (v->size_used)
            fprintf(out, "    uint64_t %s = 0;\n", v->size);
    }
    for (int host = 0; host < 2; host++)
        if (program->granule[host])
            fprintf(out, "    uint64_t %s = 0;\n", host ? "hgran" : "gran");
}

void program_write(FILE *out, struct program *program, enum program_api api, const char *spec)
{
    find_sizes(program);
    program_write_head(out, program, api);
    if (api == PROGRAM_DRIVER) {
        fputs("int main(void)\n{\n", out);
    } else {
        struct text quoted = {0};
        program_quote(&quoted, spec ? spec : "", spec ? strlen(spec) : 0);
        fprintf(out, "int main(int argc, char **argv)\n{\n    const char *spec = argc > 1 ? argv[1] : %s;\n",
                spec ? quoted.data : "NULL");
        text_free(&quoted);
    }
    write_variables(out, program, api);
    if (api == PROGRAM_VMM)
        fputs("    if (vmm_open(spec, &sys) != VMM_SUCCESS) {\n"
              "        fprintf(stderr, \"the machine cannot be opened: %s\\n\", vmm_last_detail()->note);\n"
              "        return 2;\n    }\n", out);
    for (size_t i = 0; i < program->pieces; i++) {
        const struct program_piece *piece = &program->piece[i];
        if (piece->code[api].data && (piece->sets < 0 || program->variable[piece->sets].size_used))
            fputs(piece->code[api].data, out);
    }
    fputs("\n    printf(\"%d calls answered as they did in the session\\n\", calls);\n", out);
    if (api == PROGRAM_VMM)
        fputs("    vmm_set_report(sys, quiet, NULL);\n    vmm_close(sys);\n", out);
    fputs("    return 0;\n}\n", out);
}
