/* SPDX-License-Identifier: Apache-2.0 */
/* What stands before main of a written program: how its answers are checked, and the helpers that it needs. */
#include <string.h>

#include "program_state.h"

static void write_about(FILE *out, enum program_api api)
{
    fprintf(out, "/* Calls of a session of `cuvmm shell`, made again with every answer checked. Build it with:\n"
                 " *\n *     %s\n */\n",
            api == PROGRAM_DRIVER ? "cc -std=c11 THIS.c -lcuda         (cuda.h and libcuda.so are the driver's, or cuvmm's own)"
                                  : "cc -std=c11 THIS.c $(pkg-config --cflags --libs cuvmm)");
}

static void write_includes(FILE *out, const struct program *program, enum program_api api)
{
    fputs(api == PROGRAM_DRIVER ? "#include <cuda.h>\n" : "#include <cuvmm/vmm.h>\n", out);
    fputs("#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n", out);
    if (program->uses[api] & PROGRAM_USES_CLOSE)
        fputs("#include <unistd.h>\n", out);
    fputs("\n#define KiB (UINT64_C(1) << 10)\n#define MiB (UINT64_C(1) << 20)\n#define GiB (UINT64_C(1) << 30)\n"
          "#define TiB (UINT64_C(1) << 40)\n\n", out);
}

/* What the program has of its own, whatever it calls. */
static void write_state(FILE *out, enum program_api api)
{
    if (api == PROGRAM_VMM)
        fputs("static vmm_system *sys;\n", out);
    fputs("static int calls;\n\n", out);
    if (api == PROGRAM_VMM)
        fputs("static void quiet(void *user, const vmm_detail *detail)\n{\n    (void)user;\n    (void)detail;\n}\n\n", out);
}

static void write_must(FILE *out, enum program_api api)
{
    const char *type = api == PROGRAM_VMM ? "vmm_result" : "CUresult";
    fprintf(out, "static void must(%s got, %s wanted, const char *call, int line)\n{\n", type, type);
    fputs(api == PROGRAM_VMM ? "    char text[2048] = \"\";\n" : "    const char *name = NULL;\n", out);
    fputs("    calls++;\n    if (got == wanted)\n        return;\n", out);
    fputs(api == PROGRAM_VMM ? "    vmm_detail_text(vmm_last_detail(), text, sizeof text);\n"
                               "    fprintf(stderr, \"line %d: %s answered %s, not %s\\n%s\", line, call, vmm_result_name(got),\n"
                               "            vmm_result_name(wanted), text);\n"
                             : "    cuGetErrorName(got, &name);\n"
                               "    fprintf(stderr, \"line %d: %s answered %s (%d), not %d\\n\", line, call,\n"
                               "            name ? name : \"?\", (int)got, (int)wanted);\n", out);
    fputs("    exit(1);\n}\n\n", out);
    fprintf(out, "#define OK(call) must(call, %s, #call, __LINE__)\n"
                 "#define REFUSED(result, call) must(call, result, #call, __LINE__)\n\n",
            api == PROGRAM_VMM ? "VMM_SUCCESS" : "CUDA_SUCCESS");
}

static void write_granularity(FILE *out, enum program_api api)
{
    fputs(api == PROGRAM_DRIVER
              ? "static uint64_t granularity(CUmemLocationType type)\n{\n"
                "    size_t unit = 0;\n"
                "    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {.type = type}};\n"
                "    OK(cuMemGetAllocationGranularity(&unit, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));\n"
              : "static uint64_t granularity(vmm_mem_location_type type)\n{\n"
                "    uint64_t unit = 0;\n"
                "    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {.type = type}};\n"
                "    OK(vmm_mem_get_allocation_granularity(sys, &unit, &prop, VMM_MEM_ALLOC_GRANULARITY_MINIMUM));\n",
          out);
    fputs("    return unit;\n}\n\n", out);
}

static const char round_up[] =
    "static uint64_t round_up(uint64_t value, uint64_t unit)\n{\n    return (value + unit - 1) / unit * unit;\n}\n\n";

static const char host[] =
    "/* Host memory is kept to the end of the process: copies in flight may use it. */\n"
    "static void *block[%zu];\nstatic size_t blocks;\n\n"
    "static void *host(uint64_t size)\n{\n"
    "    void *memory = calloc(1, size ? size : 1);\n"
    "    if (!memory) {\n        fputs(\"no memory\\n\", stderr);\n        exit(2);\n    }\n"
    "    return block[blocks++] = memory;\n}\n\n";

static const char filled[] =
    "static void *filled(uint64_t value, uint64_t size)\n{\n    return memset(host(size), (int)value, size);\n}\n\n";

/* As value_bytes makes them. */
static const char pattern[] =
    "static void *pattern(uint64_t seed, uint64_t size)\n{\n"
    "    unsigned char *bytes = host(size);\n"
    "    for (uint64_t i = 0; i < size; i++) {\n"
    "        uint64_t x = (i / 8 + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ seed * UINT64_C(0xbf58476d1ce4e5b9);\n"
    "        x ^= x >> 31;\n        x *= UINT64_C(0x94d049bb133111eb);\n"
    "        bytes[i] = (unsigned char)((x ^ x >> 29) >> (i % 8 * 8));\n    }\n"
    "    return bytes;\n}\n\n";

static const char holds[] =
    "static void holds(uint64_t a, const char *is, uint64_t b, int line)\n{\n"
    "    int less = strcmp(is, \"<=\") == 0 || strcmp(is, \"<\") == 0;\n"
    "    int more = strcmp(is, \">=\") == 0 || strcmp(is, \">\") == 0;\n"
    "    int equal = strcmp(is, \"==\") == 0 || strcmp(is, \"<=\") == 0 || strcmp(is, \">=\") == 0;\n"
    "    if (strcmp(is, \"!=\") == 0 ? a != b : (equal && a == b) || (less && a < b) || (more && a > b))\n        return;\n"
    "    fprintf(stderr, \"line %d: %llu %s %llu does not hold\\n\", line, (unsigned long long)a, is, (unsigned long long)b);\n"
    "    exit(1);\n}\n\n";

static const char same[] =
    "static void same(const void *a, const void *b, uint64_t size, int line)\n{\n"
    "    if (memcmp(a, b, size) == 0)\n        return;\n"
    "    fprintf(stderr, \"line %d: other bytes than in the session\\n\", line);\n    exit(1);\n}\n\n";

static const char create_context[] =
    "#if CUDA_VERSION >= 13000\n#define CREATE_CONTEXT(context, flags, device) cuCtxCreate(context, NULL, flags, device)\n"
    "#else\n#define CREATE_CONTEXT(context, flags, device) cuCtxCreate(context, flags, device)\n#endif\n\n";

/* A kernel of a file of PTX, which is looked for where the session found it. */
static const char loaded[] =
    "static vmm_kernel loaded(const char *file, vmm_ptx_kernel what)\n{\n"
    "    static char text[1 << 20];\n    vmm_kernel kernel = -1;\n"
    "    FILE *in = fopen(file, \"rb\");\n"
    "    if (!in) {\n        perror(file);\n        exit(2);\n    }\n"
    "    what.ptx = text;\n    what.size = fread(text, 1, sizeof text, in);\n    fclose(in);\n"
    "    OK(vmm_kernel_load(&what, &kernel));\n    return kernel;\n}\n\n";

/* How often the program takes host memory: as often as its pieces do. */
static size_t count_blocks(const struct program *program, enum program_api api)
{
    size_t count = 0;
    for (size_t i = 0; i < program->pieces; i++) {
        const char *code = program->piece[i].code[api].data;
        for (; code && *code; code++)
            count += strncmp(code, "host(", 5) == 0 || strncmp(code, "filled(", 7) == 0 || strncmp(code, "pattern(", 8) == 0;
    }
    return count ? count : 1;
}

void program_write_head(FILE *out, const struct program *program, enum program_api api)
{
    unsigned uses = program->uses[api];
    write_about(out, api);
    write_includes(out, program, api);
    write_state(out, api);
    if (program->calls)
        write_must(out, api);
    if (uses & PROGRAM_USES_GRANULARITY)
        write_granularity(out, api);
    if (uses & PROGRAM_USES_ROUND_UP)
        fputs(round_up, out);
    if (uses & PROGRAM_USES_HOST)
        fprintf(out, host, count_blocks(program, api));
    if (uses & PROGRAM_USES_FILLED)
        fputs(filled, out);
    if (uses & PROGRAM_USES_PATTERN)
        fputs(pattern, out);
    if (uses & PROGRAM_USES_HOLDS)
        fputs(holds, out);
    if (uses & PROGRAM_USES_SAME)
        fputs(same, out);
    if (uses & PROGRAM_USES_KERNEL && api == PROGRAM_VMM)
        fputs(loaded, out);
    if (uses & PROGRAM_USES_NOTHING)
        fputs("static void nothing(void *user_data)\n{\n    (void)user_data;\n}\n\n", out);
    if (uses & PROGRAM_USES_FABRIC)
        fputs("typedef struct {\n    unsigned char data[64];\n} fabric_handle;\n\n", out);
    if (uses & PROGRAM_USES_ANSWER)
        fputs("union answer {\n    uint64_t word;\n    unsigned char bytes[64];\n};\n\n", out);
    if (uses & PROGRAM_USES_CONTEXT && api == PROGRAM_DRIVER)
        fputs(create_context, out);
}
