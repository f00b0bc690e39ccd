/* SPDX-License-Identifier: Apache-2.0 */
/* What a driver answers to PTX: texts that it refuses, attributes of functions, how kernels end that do what they must not, special
 * registers, numbers that are no numbers, printf. Each fact is a line "name<TAB>result"; kernels that end with an
 * error run in separate processes. */
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "crew.h"
#include "driver.h"
#include "facts.h"

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
#define KERNEL(body) HEAD ".visible .entry k(.param .u64 out)\n{\n.reg .b16 %h<8>; .reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .f32 %f<8>;" \
                          " .reg .f64 %fd<8>; .reg .pred %p<4>;\nld.param.u64 %rd0, [out];\n" body "\nret;\n}\n"

static FILE *to;

/* ---- loads ---- */

static const struct {
    const char *name, *text;
} loads[] = {
    {"empty", ""},
    {"no version", ".target sm_90\n"},
    {"head alone", HEAD},
    {"version 3.0", ".version 3.0\n.target sm_30\n.address_size 64\n.visible .entry k() { ret; }"},
    {"version 9.9", ".version 9.9\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }"},
    {"target sm_100", ".version 8.7\n.target sm_100\n.address_size 64\n.visible .entry k() { ret; }"},
    {"target sm_90a", ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret; }"},
    {"target sm_80", ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }"},
    {"no address size", ".version 8.0\n.target sm_90\n.visible .entry k() { ret; }"},
    {"address size 32", ".version 8.0\n.target sm_90\n.address_size 32\n.visible .entry k() { ret; }"},
    {"syntax", HEAD ".visible .entry k() { ret }"},
    {"unknown instruction", KERNEL("frobnicate.u32 %r1, %r2;")},
    {"unknown modifier", KERNEL("add.frob.u32 %r1, %r2, %r3;")},
    {"wrong type", KERNEL("add.f32 %f1, %fd1, %f2;")},
    {"undeclared", KERNEL("add.u32 %r1, %x, %r2;")},
    {"newer than the version",
     ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry k(.param .u64 out) { .reg .b32 %r<4>; "
                               "redux.sync.add.s32 %r1, %r2, -1; ret; }"},
    {"undefined function", HEAD ".extern .func f();\n.visible .entry k() { call f; ret; }"},
    {"undefined variable", HEAD ".extern .global .u32 v;\n.visible .entry k() { .reg .b32 %r; ld.global.u32 %r, [v]; ret; }"},
    {"too much shared memory",
     HEAD ".shared .b8 s[60000];\n.visible .entry k() { .reg .b32 %r; ld.shared.u32 %r, [s]; st.shared.u32 [s+4], %r; ret; }"},
    {"too much constant memory", HEAD ".const .b8 c[65540];\n.visible .entry k() { .reg .b32 %r; ld.const.u32 %r, [c]; ret; }"},
    {"two of a name", HEAD ".visible .entry k() { ret; }\n.visible .entry k() { ret; }"},
    {"no body", HEAD ".visible .entry k();"},
    {"malloc",
     HEAD ".extern .func (.param .b64 r) malloc(.param .b64 a);\n.visible .entry k() { .param .b64 a; .param .b64 r; call (r), malloc, (a); ret; }"},
};

static void fact_loads(void)
{
    char log[4096];
    for (size_t i = 0; i < sizeof loads / sizeof loads[0]; i++) {
        CUmodule module;
        CUfunction function;
        CUresult result = driver_load(loads[i].text, &module, log, sizeof log);
        fprintf(to, "load %s\t%d", loads[i].name, (int)result);
        if (result == CUDA_SUCCESS) {
            fprintf(to, " function %d", (int)d_cuModuleGetFunction(&function, module, "k"));
            d_cuModuleUnload(module);
        }
        for (char *at = log; *at; at++)
            if (*at == '\n' || *at == '\t')
                *at = ' ';
        fprintf(to, "\t%.300s\n", log);
        fflush(to);
    }
}

/* ---- attributes ---- */

static const struct {
    const char *name, *text;
} functions[] = {
    {"empty", KERNEL("")},
    {"shared 100",
     HEAD ".visible .entry k() { .shared .align 4 .b8 s[100]; .reg .b32 %r; mov.u32 %r, %tid.x; st.shared.u32 [s], %r; "
                        "st.volatile.shared.u32 [s+96], %r; ret; }"},
    {"shared dynamic",
     HEAD ".extern .shared .align 16 .b8 d[];\n.visible .entry k() { .reg .b32 %r; mov.u32 %r, 1; st.volatile.shared.u32 [d], %r; ret; }"},
    {"constant 64",
     HEAD ".const .align 4 .b8 c[64];\n.visible .entry k(.param .u64 out) { .reg .b64 %a; .reg .b32 %r; ld.param.u64 %a, [out]; "
                         "ld.const.u32 %r, [c+60]; st.global.u32 [%a], %r; ret; }"},
    {"local 4096",
     HEAD ".visible .entry k(.param .u64 out) { .local .align 8 .b8 l[4096]; .reg .b64 %a, %b; .reg .b32 %r; ld.param.u64 %a, [out]; "
                        "ld.volatile.global.u32 %r, [%a]; cvt.u64.u32 %b, %r; mov.u64 %a, l; cvta.local.u64 %a, %a; add.u64 %a, %a, %b; st.volatile.u32 [%a], %r; ret; }"},
    {"maxntid 128", HEAD ".visible .entry k() .maxntid 128, 2, 1 { ret; }"},
    {"reqntid 64", HEAD ".visible .entry k() .reqntid 64, 1, 1 { ret; }"},
    {"target sm_80", ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }"},
};

static void fact_functions(void)
{
    char log[512];
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        CUmodule module;
        CUfunction function;
        if (driver_load(functions[i].text, &module, log, sizeof log) != CUDA_SUCCESS ||
            d_cuModuleGetFunction(&function, module, "k") != CUDA_SUCCESS) {
            fprintf(to, "function %s\trefused\n", functions[i].name);
            continue;
        }
        fprintf(to, "function %s\t", functions[i].name);
        for (int attribute = 0; attribute < 16; attribute++) {
            int value = -1;
            CUresult result = d_cuFuncGetAttribute(&value, (CUfunction_attribute)attribute, function);
            fprintf(to, "%s%d:%d", attribute ? " " : "", attribute, result == CUDA_SUCCESS ? value : -(int)result);
        }
        CUresult wrong = d_cuLaunchKernel(function, 1, 1, 1, 96, 1, 1, 0, NULL, NULL, NULL);
        fprintf(to, "\tblock of 96: %d", (int)wrong);
        fprintf(to, ", of 512: %d\n", (int)d_cuLaunchKernel(function, 1, 1, 1, 512, 1, 1, 0, NULL, NULL, NULL));
        fflush(to);
        d_cuCtxSynchronize();
        d_cuModuleUnload(module);
    }
}

/* ---- ends ---- */

static const struct {
    const char *name, *text;
    unsigned shared;
} ends[] = {
    {"nothing", KERNEL(""), 0},
    {"read at 0", KERNEL("mov.u64 %rd1, 0; ld.volatile.global.u32 %r1, [%rd1];"), 0},
    {"generic read at 0", KERNEL("mov.u64 %rd1, 0; ld.volatile.u32 %r1, [%rd1];"), 0},
    {"write at 16", KERNEL("mov.u64 %rd1, 16; st.volatile.global.u32 [%rd1], %r1;"), 0},
    {"read misaligned", KERNEL("ld.volatile.global.u32 %r1, [%rd0+2];"), 0},
    {"write misaligned", KERNEL("st.volatile.global.u64 [%rd0+4], %rd1;"), 0},
    {"vector misaligned", KERNEL("st.global.v4.u32 [%rd0+8], {%r1, %r1, %r1, %r1};"), 0},
    {"atomic misaligned", KERNEL("atom.global.add.u32 %r1, [%rd0+2], 1;"), 0},
    {"misaligned where nothing is", KERNEL("mov.u64 %rd1, 2; ld.volatile.global.u32 %r1, [%rd1];"), 0},
    {"shared misaligned", KERNEL(".shared .align 8 .b8 s[64]; st.volatile.shared.u32 [s+2], %r1;"), 0},
    {"shared behind the block's",
     KERNEL(".shared .align 8 .b8 s[64]; mov.u32 %r1, s; add.u32 %r1, %r1, 65536; st.volatile.shared.u32 [%r1], %r1;"), 0},
    {"shared far behind", KERNEL(".shared .align 8 .b8 s[64]; mov.u32 %r1, 0x1000000; st.volatile.shared.u32 [%r1], %r1;"), 0},
    {"shared just behind", KERNEL(".shared .align 8 .b8 s[64]; mov.u32 %r1, s; st.volatile.shared.u32 [%r1+64], %r1;"), 0},
    {"shared atomic behind", KERNEL(".shared .align 8 .b8 s[64]; mov.u32 %r1, 0x1000000; atom.shared.add.u32 %r2, [%r1], 1;"), 0},
    {"local far behind",
     KERNEL(".local .align 8 .b8 l[64]; mov.u64 %rd1, l; cvta.local.u64 %rd1, %rd1; add.u64 %rd1, %rd1, 0x1000000; st.volatile.u32 [%rd1], %r1;"), 0},
    {"local atomic",
     KERNEL(".local .align 8 .b8 l[64]; mov.u64 %rd1, l; cvta.local.u64 %rd1, %rd1; atom.add.u32 %r1, [%rd1], 1;"), 0},
    {"parameter written", KERNEL("mov.b64 %rd1, out; cvta.param.u64 %rd1, %rd1; st.u32 [%rd1], %r1;"), 0},
    {"trap", KERNEL("trap;"), 0},
    {"brkpt", KERNEL("brkpt;"), 0},
    {"trap of one lane", KERNEL("mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 3; @%p1 trap;"), 0},
    {"call of 0",
     HEAD ".visible .entry k(.param .u64 out) { .reg .b64 %rd<4>; mov.u64 %rd1, 0; p: .callprototype ()_(); call %rd1, p; ret; }", 0},
    {"call of an address",
     HEAD ".visible .entry k(.param .u64 out) { .reg .b64 %rd<4>; ld.param.u64 %rd1, [out]; p: .callprototype ()_(); call %rd1, p; ret; }", 0},
    {"recursion without end",
     HEAD ".func (.param .b32 r) f(.param .b32 a) { .local .align 8 .b8 l[1024]; .reg .b32 %r<4>; .reg .b64 %a; ld.param.b32 %r1, [a]; "
                              "mov.u64 %a, l; cvta.local.u64 %a, %a; st.volatile.u32 [%a], %r1; { .param .b32 x; .param .b32 y; add.u32 %r1, %r1, 1; st.param.b32 [x], %r1; "
                              "call (y), f, (x); ld.param.b32 %r2, [y]; } ld.volatile.u32 %r3, [%a]; add.u32 %r2, %r2, %r3; st.param.b32 [r], %r2; ret; }\n"
                              ".visible .entry k(.param .u64 out) { .reg .b32 %r<4>; .reg .b64 %a; ld.param.u64 %a, [out]; { .param .b32 x; .param .b32 y; "
                              "mov.u32 %r1, 1; st.param.b32 [x], %r1; call (y), f, (x); ld.param.b32 %r2, [y]; } st.global.u32 [%a], %r2; ret; }", 0},
    {"assert", HEAD ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n"
               ".global .align 1 .b8 m[4] = {120, 61, 49, 0};\n.visible .entry k(.param .u64 out) { .param .b64 a; .param .b64 b; .param .b32 c; "
               ".param .b64 d; .param .b64 e; .reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .pred %p; mov.u32 %r1, %tid.x; setp.ne.u32 %p, %r1, 5; @%p bra L; "
               "mov.u64 %rd1, m; cvta.global.u64 %rd1, %rd1; st.param.b64 [a], %rd1; st.param.b64 [b], %rd1; mov.u32 %r2, 77; st.param.b32 [c], %r2; "
               "st.param.b64 [d], %rd1; mov.u64 %rd2, 1; st.param.b64 [e], %rd2; call __assertfail, (a, b, c, d, e); L: ret; }", 0},
    {"write of constant memory",
     HEAD ".const .align 4 .b8 c[64];\n.visible .entry k(.param .u64 out) { .reg .b64 %rd<4>; .reg .b32 %r; mov.u64 %rd1, c; "
                                 "cvta.const.u64 %rd1, %rd1; mov.u32 %r, 5; st.u32 [%rd1], %r; ret; }", 0},
    {"division by zero",
     KERNEL("mov.u32 %r1, %ntid.y; sub.u32 %r1, %r1, 1; mov.u32 %r2, 7; div.u32 %r3, %r2, %r1; st.global.u32 [%rd0], %r3;"), 0},
};

static void fact_end(size_t i)
{
    CUmodule module;
    CUfunction function;
    CUdeviceptr out;
    char log[512];
    driver_begin();
    CUresult result = driver_load(ends[i].text, &module, log, sizeof log);
    if (result != CUDA_SUCCESS || d_cuModuleGetFunction(&function, module, "k") != CUDA_SUCCESS) {
        fprintf(to, "end %s\tload %d\n", ends[i].name, (int)result);
        return;
    }
    d_cuMemAlloc_v2(&out, 65536);
    void *params[] = {&out};
    CUresult launch = d_cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, ends[i].shared, NULL, params, NULL);
    CUresult first = d_cuCtxSynchronize(), second = d_cuCtxSynchronize(), third = d_cuMemsetD8_v2(out, 0, 16);
    fprintf(to, "end %s\tlaunch %d synchronize %d %d then %d\n", ends[i].name, (int)launch, (int)first, (int)second, (int)third);
}

/* ---- links ---- */

#define TWICE(linking) HEAD linking " .func (.param .b32 r) twice(.param .b32 p) { .reg .b32 %r<3>; ld.param.b32 %r1, [p]; add.u32 %r2, %r1, %r1; " \
                                    "st.param.b32 [r], %r2; ret; }\n"
#define CALLER HEAD ".extern .func (.param .b32 r) twice(.param .b32 p);\n.visible .entry k(.param .u64 out) { .reg .b32 %r; .reg .b64 %rd; .param .b32 a, b; " \
                    "ld.param.u64 %rd, [out]; mov.u32 %r, 21; st.param.b32 [a], %r; call (b), twice, (a); ld.param.b32 %r, [b]; st.global.u32 [%rd], %r; ret; }\n"

static const struct {
    const char *name, *first, *second; /* NULL: no second one */
} links[] = {
    {"two modules", CALLER, TWICE(".visible")},
    {"undefined function", CALLER, NULL},
    {"undefined variable",
     HEAD ".extern .global .u32 v;\n.visible .entry k() { .reg .b32 %r; ld.global.u32 %r, [v]; st.global.u32 [v], %r; ret; }", NULL},
    {"two of a name", TWICE(".visible"), TWICE(".visible")},
    {"two weak ones of a name", TWICE(".weak"), TWICE(".weak")},
    {"a weak one and one that is not", TWICE(".weak"), TWICE(".visible")},
    {"names of their own",
     HEAD ".global .u32 v = 1;\n.visible .entry k(.param .u64 out) { .reg .b32 %r; .reg .b64 %rd; ld.param.u64 %rd, [out]; "
                                "ld.global.u32 %r, [v]; st.global.u32 [%rd], %r; ret; }", HEAD ".global .u32 v = 2;\n.visible .entry k2() { ret; }"},
    {"not visible", CALLER, TWICE("")},
    {"other parameters", CALLER, HEAD ".visible .func twice() { ret; }"},
    {"syntax", HEAD ".visible .entry k() { ret }", NULL},
    {"version 9.9", ".version 9.9\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }", NULL},
    {"target sm_100", ".version 8.7\n.target sm_100\n.address_size 64\n.visible .entry k() { ret; }", NULL},
    {"empty", "", NULL},
};

static void say_log(const char *log)
{
    fprintf(to, "\t");
    for (const char *at = log; *at && at < log + 200; at++)
        fputc(*at == '\n' || *at == '\t' ? ' ' : *at, to);
}

static void fact_link(size_t i)
{
    char log[1024] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log}, *image = NULL;
    const char *texts[] = {links[i].first, links[i].second};
    unsigned value = 0;
    size_t size = 0;
    CUlinkState link;
    CUmodule module;
    CUfunction function;
    CUdeviceptr out;
    void *params[] = {&out};
    driver_begin();
    fprintf(to, "link %s\tcreate %d", links[i].name, (int)d_cuLinkCreate_v2(2, options, values, &link));
    for (int k = 0; k < 2 && texts[k]; k++)
        fprintf(to, " add %d", (int)d_cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, (void *)(size_t)texts[k], strlen(texts[k]) + 1, k ? "second" : "first", 0, NULL, NULL));
    CUresult result = d_cuLinkComplete(link, &image, &size);
    fprintf(to, " complete %d", (int)result);
    if (result == CUDA_SUCCESS) {
        fprintf(to, " add %d", (int)d_cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, (void *)(size_t)HEAD, sizeof HEAD, "late", 0, NULL, NULL));
        fprintf(to, " load %d", (int)(result = d_cuModuleLoadDataEx(&module, image, 0, NULL, NULL)));
        result = result ? result : d_cuModuleGetFunction(&function, module, "k");
        fprintf(to, " function %d", (int)result);
    }
    if (result == CUDA_SUCCESS && d_cuMemAlloc_v2(&out, 64) == CUDA_SUCCESS && d_cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL) == CUDA_SUCCESS) {
        d_cuMemcpyDtoH_v2(&value, out, sizeof value);
        fprintf(to, " value %u", value);
    }
    fprintf(to, " destroy %d", (int)d_cuLinkDestroy(link));
    say_log(log);
    fprintf(to, "\n");
}

/* ---- words that a kernel writes ---- */

static const struct {
    const char *name, *text;
    unsigned grid, block, shared;
} words[] = {
    {"addresses of shared variables",
     KERNEL(".shared .align 4 .b8 s[100]; .shared .align 16 .b8 t[32]; mov.u64 %rd1, s; st.global.u64 [%rd0], %rd1; "
                                             "mov.u64 %rd1, t; st.global.u64 [%rd0+8], %rd1; cvta.shared.u64 %rd2, %rd1; st.global.u64 [%rd0+16], %rd2; "
                                             "st.volatile.shared.u32 [s], %r1; st.volatile.shared.u32 [t], %r1;"), 1, 1, 0},
    {"sizes of shared memory",
     KERNEL(".shared .align 4 .b8 s[100]; mov.u32 %r1, %total_smem_size; mov.u32 %r2, %dynamic_smem_size; st.volatile.shared.u32 [s], %r1; "
                                      "st.global.u32 [%rd0], %r1; st.global.u32 [%rd0+4], %r2; "
                                      "mov.u32 %r1, %reserved_smem_offset_begin; st.global.u32 [%rd0+12], %r1; mov.u32 %r1, %reserved_smem_offset_end; "
                                      "st.global.u32 [%rd0+16], %r1; mov.u32 %r1, %reserved_smem_offset_cap; st.global.u32 [%rd0+20], %r1;"), 1, 32, 1000},
    {"reserved shared memory",
     KERNEL(".shared .align 4 .b8 s[100]; mov.u32 %r1, %reserved_smem_offset_0; st.global.u32 [%rd0], %r1; mov.u32 %r1, %reserved_smem_offset_1; "
                                      "st.global.u32 [%rd0+4], %r1; mov.u32 %r1, %reserved_smem_offset_begin; st.global.u32 [%rd0+8], %r1; mov.u32 %r1, %reserved_smem_offset_end; "
                                      "st.global.u32 [%rd0+12], %r1; mov.u32 %r1, %reserved_smem_offset_cap; st.global.u32 [%rd0+16], %r1; mov.u32 %r1, %total_smem_size; "
                                      "st.global.u32 [%rd0+20], %r1; mov.u32 %r2, %dynamic_smem_size; st.global.u32 [%rd0+24], %r2; mov.u64 %rd1, s; st.global.u64 [%rd0+32], %rd1; "
                                      "st.volatile.shared.u32 [s], %r1;"), 1, 32, 1000},
    {"reserved shared memory, the second word alone",
     KERNEL("mov.u32 %r1, %reserved_smem_offset_1; st.global.u32 [%rd0], %r1; mov.u32 %r1, %reserved_smem_offset_end; "
                                                             "st.global.u32 [%rd0+4], %r1; mov.u32 %r1, %total_smem_size; st.global.u32 [%rd0+8], %r1;"), 1, 32, 0},
    {"reserved shared memory holds what is written",
     KERNEL("mov.u32 %r1, %reserved_smem_offset_1; cvt.u64.u32 %rd1, %r1; mov.u32 %r2, 0x1234; ld.volatile.shared.u32 %r3, [%rd1]; "
                                                            "st.global.u32 [%rd0], %r3; st.volatile.shared.u32 [%rd1], %r2; ld.volatile.shared.u32 %r3, [%rd1]; st.global.u32 [%rd0+4], %r3; "
                                                            "st.volatile.shared.u32 [%rd1+284], %r2; ld.volatile.shared.u32 %r3, [%rd1+284]; st.global.u32 [%rd0+8], %r3;"), 1, 1, 0},
    {"special registers",
     KERNEL("mov.u32 %r1, %nsmid; st.global.u32 [%rd0], %r1; mov.u32 %r1, %nwarpid; st.global.u32 [%rd0+4], %r1; mov.u32 %r1, %warpid; "
                                 "st.global.u32 [%rd0+8], %r1; mov.u32 %r1, %clusterid.x; st.global.u32 [%rd0+12], %r1; mov.u32 %r1, %cluster_nctaid.x; "
                                 "st.global.u32 [%rd0+16], %r1; mov.u32 %r1, %cluster_nctarank; st.global.u32 [%rd0+20], %r1; mov.pred %p1, %is_explicit_cluster; "
                                 "selp.u32 %r1, 1, 0, %p1; st.global.u32 [%rd0+24], %r1; mov.u32 %r1, %nclusterid.x; st.global.u32 [%rd0+28], %r1; "
                                 "mov.u32 %r1, WARP_SZ; st.global.u32 [%rd0+32], %r1; mov.u32 %r1, %envreg1; st.global.u32 [%rd0+36], %r1; "
                                 "mov.u32 %r1, %pm0; st.global.u32 [%rd0+40], %r1; mov.u64 %rd1, %gridid; st.global.u64 [%rd0+48], %rd1;"), 3, 64, 0},
    {"tid.w and its kin",
     KERNEL("mov.u32 %r1, %tid.w; st.global.u32 [%rd0], %r1; mov.u32 %r1, %ntid.w; st.global.u32 [%rd0+4], %r1; mov.u32 %r1, %ctaid.w; "
                                 "st.global.u32 [%rd0+8], %r1; mov.u32 %r1, %nctaid.w; st.global.u32 [%rd0+12], %r1;"), 1, 1, 0},
    {"spaces of addresses",
     HEAD ".const .align 8 .b8 c[64];\n.global .align 8 .b8 g[64];\n.visible .entry k(.param .u64 out) { .shared .align 8 .b8 s[8]; .local .align 8 .b8 l[8]; "
                            ".reg .b64 %rd<9>; .reg .b32 %r<4>; .reg .pred %p; ld.param.u64 %rd0, [out]; mov.u64 %rd1, c; cvta.const.u64 %rd1, %rd1; mov.u64 %rd2, s; "
                            "cvta.shared.u64 %rd2, %rd2; mov.u64 %rd3, l; cvta.local.u64 %rd3, %rd3; mov.u64 %rd4, g; cvta.global.u64 %rd4, %rd4; mov.b64 %rd5, out; cvta.param.u64 %rd5, %rd5; "
                            "isspacep.const %p, %rd1; selp.u32 %r1, 1, 0, %p; st.global.u32 [%rd0], %r1; isspacep.global %p, %rd1; selp.u32 %r1, 1, 0, %p; st.global.u32 [%rd0+4], %r1; "
                            "isspacep.shared %p, %rd2; selp.u32 %r1, 1, 0, %p; st.global.u32 [%rd0+8], %r1; isspacep.local %p, %rd3; selp.u32 %r1, 1, 0, %p; st.global.u32 [%rd0+12], %r1; "
                            "isspacep.global %p, %rd4; selp.u32 %r1, 1, 0, %p; st.global.u32 [%rd0+16], %r1; isspacep.param %p, %rd5; selp.u32 %r1, 1, 0, %p; st.global.u32 [%rd0+20], %r1; "
                            "isspacep.global %p, %rd2; selp.u32 %r1, 1, 0, %p; st.global.u32 [%rd0+24], %r1; isspacep.global %p, %rd5; selp.u32 %r1, 1, 0, %p; st.global.u32 [%rd0+28], %r1; "
                            "isspacep.const %p, %rd5; selp.u32 %r1, 1, 0, %p; st.global.u32 [%rd0+32], %r1; mov.u64 %rd6, 0; isspacep.global %p, %rd6; selp.u32 %r1, 1, 0, %p; st.global.u32 [%rd0+36], %r1; ret; }", 1, 1, 0},
    {"NaN of f32",
     KERNEL("mov.b32 %f1, 0x7f812345; mov.b32 %f2, 0xffc54321; mov.b32 %f3, 0x3f800000; add.rn.f32 %f4, %f1, %f3; st.global.f32 [%rd0], %f4; mul.rn.f32 %f4, %f3, %f2; "
                          "st.global.f32 [%rd0+4], %f4; neg.f32 %f4, %f1; st.global.f32 [%rd0+8], %f4; abs.f32 %f4, %f2; st.global.f32 [%rd0+12], %f4; min.f32 %f4, %f1, %f2; "
                          "st.global.f32 [%rd0+16], %f4; fma.rn.f32 %f4, %f1, %f2, %f3; st.global.f32 [%rd0+20], %f4; copysign.f32 %f4, %f2, %f1; st.global.f32 [%rd0+24], %f4; "
                          "cvt.rni.f32.f32 %f4, %f2; st.global.f32 [%rd0+28], %f4; cvt.f64.f32 %fd1, %f1; st.global.f64 [%rd0+32], %fd1; cvt.f64.f32 %fd1, %f2; st.global.f64 [%rd0+40], %fd1; "
                          "sqrt.rn.f32 %f4, 0fBF800000; st.global.f32 [%rd0+48], %f4; cvt.rn.f16.f32 %h1, %f2; st.global.b16 [%rd0+52], %h1; cvt.rn.bf16.f32 %h1, %f2; st.global.b16 [%rd0+54], %h1;"), 1, 1, 0},
    {"NaN of f64",
     KERNEL("mov.b64 %fd1, 0x7ff0000012345678; mov.b64 %fd2, 0xfff8000087654321; mov.f64 %fd3, 0d3FF0000000000000; add.rn.f64 %fd4, %fd1, %fd3; st.global.f64 [%rd0], %fd4; "
                          "add.rn.f64 %fd4, %fd3, %fd2; st.global.f64 [%rd0+8], %fd4; add.rn.f64 %fd4, %fd1, %fd2; st.global.f64 [%rd0+16], %fd4; mul.rn.f64 %fd4, %fd2, %fd1; st.global.f64 [%rd0+24], %fd4; "
                          "fma.rn.f64 %fd4, %fd3, %fd3, %fd2; st.global.f64 [%rd0+32], %fd4; neg.f64 %fd4, %fd1; st.global.f64 [%rd0+40], %fd4; min.f64 %fd4, %fd1, %fd2; st.global.f64 [%rd0+48], %fd4; "
                          "sqrt.rn.f64 %fd4, 0dBFF0000000000000; st.global.f64 [%rd0+56], %fd4; sub.rn.f64 %fd4, 0d7FF0000000000000, 0d7FF0000000000000; st.global.f64 [%rd0+64], %fd4; "
                          "cvt.rn.f32.f64 %f4, %fd2; st.global.f32 [%rd0+72], %f4; div.rn.f64 %fd4, %fd2, %fd3; st.global.f64 [%rd0+80], %fd4;"), 1, 1, 0},
    {"division by zero",
     KERNEL("mov.u32 %r1, %tid.y; mov.u32 %r2, 7; mov.u32 %r4, -7; div.u32 %r3, %r2, %r1; st.global.u32 [%rd0], %r3; rem.u32 %r3, %r2, %r1; st.global.u32 [%rd0+4], %r3; "
                                "div.s32 %r3, %r4, %r1; st.global.u32 [%rd0+8], %r3; rem.s32 %r3, %r4, %r1; st.global.u32 [%rd0+12], %r3; cvt.u64.u32 %rd1, %r1; mov.u64 %rd2, 7; "
                                "div.u64 %rd3, %rd2, %rd1; st.global.u64 [%rd0+16], %rd3; rem.u64 %rd3, %rd2, %rd1; st.global.u64 [%rd0+24], %rd3; mov.s64 %rd2, -7; div.s64 %rd3, %rd2, %rd1; "
                                "st.global.u64 [%rd0+32], %rd3; rem.s64 %rd3, %rd2, %rd1; st.global.u64 [%rd0+40], %rd3; cvt.u16.u32 %h1, %r1; mov.u16 %h2, 7; div.u16 %h3, %h2, %h1; "
                                "st.global.u16 [%rd0+48], %h3; rem.u16 %h3, %h2, %h1; st.global.u16 [%rd0+50], %h3; mov.s16 %h2, -7; div.s16 %h3, %h2, %h1; st.global.u16 [%rd0+52], %h3; "
                                "rem.s16 %h3, %h2, %h1; st.global.u16 [%rd0+54], %h3;"), 1, 1, 0},
    {"shuffles beyond",
     KERNEL("mov.u32 %r1, %laneid; mul.lo.u32 %r2, %r1, 3; shfl.sync.idx.b32 %r3|%p1, %r1, %r2, 31, -1; selp.u32 %r4, 100, 0, %p1; add.u32 %r3, %r3, %r4; "
                               "mad.wide.u32 %rd1, %r1, 16, %rd0; st.global.u32 [%rd1], %r3; shfl.sync.up.b32 %r3|%p1, %r1, %r2, 0x1800, -1; selp.u32 %r4, 100, 0, %p1; add.u32 %r3, %r3, %r4; "
                               "st.global.u32 [%rd1+4], %r3; shfl.sync.down.b32 %r3|%p1, %r1, %r2, 0x0c07, -1; selp.u32 %r4, 100, 0, %p1; add.u32 %r3, %r3, %r4; st.global.u32 [%rd1+8], %r3; "
                               "shfl.sync.bfly.b32 %r3|%p1, %r1, 40, 0x1015, -1; selp.u32 %r4, 100, 0, %p1; add.u32 %r3, %r3, %r4; st.global.u32 [%rd1+12], %r3;"), 1, 32, 0},
    {"brx beyond",
     HEAD ".visible .entry k(.param .u64 out) { .reg .b32 %r<4>; .reg .b64 %rd<2>; ld.param.u64 %rd0, [out]; mov.u32 %r1, %laneid; t: .branchtargets A, B; "
                   "mad.wide.u32 %rd1, %r1, 4, %rd0; mov.u32 %r2, 7; brx.idx %r1, t; mov.u32 %r2, 9; bra C; A: mov.u32 %r2, 1; bra C; B: mov.u32 %r2, 2; C: st.global.u32 [%rd1], %r2; ret; }", 1, 2, 0},
    {"elect and activemask",
     KERNEL("mov.u32 %r1, %laneid; mad.wide.u32 %rd1, %r1, 16, %rd0; elect.sync %r2|%p1, -1; selp.u32 %r3, 1, 0, %p1; st.global.u32 [%rd1], %r2; st.global.u32 [%rd1+4], %r3; "
                                    "setp.lt.u32 %p2, %r1, 11; mov.u32 %r2, 0; @%p2 activemask.b32 %r2; st.global.u32 [%rd1+8], %r2;"), 1, 32, 0},
};

enum { WORDS = 128 };

static void fact_words(size_t i)
{
    CUmodule module;
    CUfunction function;
    CUdeviceptr out;
    char log[512];
    unsigned values[WORDS] = {0};
    driver_begin();
    CUresult result = driver_load(words[i].text, &module, log, sizeof log);
    if (result != CUDA_SUCCESS || d_cuModuleGetFunction(&function, module, "k") != CUDA_SUCCESS) {
        fprintf(to, "words %s\tload %d\t%.200s\n", words[i].name, (int)result, log);
        return;
    }
    d_cuMemAlloc_v2(&out, sizeof values);
    d_cuMemsetD8_v2(out, 0, sizeof values);
    void *params[] = {&out};
    CUresult launch = d_cuLaunchKernel(function, words[i].grid, 1, 1, words[i].block, 1, 1, words[i].shared, NULL, params, NULL);
    CUresult end = d_cuCtxSynchronize();
    d_cuMemcpyDtoH_v2(values, out, sizeof values);
    fprintf(to, "words %s\t%d %d\t", words[i].name, (int)launch, (int)end);
    unsigned last = WORDS;
    while (last > 1 && !values[last - 1])
        last--;
    for (unsigned k = 0; k < last; k++)
        fprintf(to, "%s%x", k ? " " : "", values[k]);
    fprintf(to, "\n");
}

/* ---- printf ---- */

/* Formats with the 64-bit and 32-bit words that follow them, as a compiler lays them out. */
static const struct {
    const char *format;
    const char *arguments; /* i: 32 bits, l: 64 bits, d: a double, s: the string "text" */
} formats[] = {
    {"int %d %i %5d|%-5d|%05d|%+d|% d", "iiiiiii"}, {"unsigned %u %x %X %o %#x %#o", "iiiiii"}, {"long %ld %lld %llu %llx",
     "llll"},
    {"char %c%c", "ii"}, {"string %s|%10s|%-10s|%.2s", "ssss"}, {"double %f %e %g %a %.2f %10.3e|%-12g|%+f",
     "dddddddd"}, {"pointer %p", "l"},
    {"percent %% and %d%%", "i"}, {"short %hd %hhd %hu", "iii"}, {"star %*d|", "ii"}, {"unknown %y %d", "i"}, {"trailing %", ""},
    {"size %zu %jd %td", "lll"}, {"mixed %d %lld %d %f %s", "ilids"}, {"%5.3d|%8.3u|%-8.3x|", "iii"}, {"upper %E %G %A %F",
     "dddd"},
    {"too few %d %d", "i"}, {"nothing", ""}, {"", ""},
};

static size_t put(char *text, size_t at, size_t size, const char *line)
{
    return at + (size_t)snprintf(text + at, size - at, "%s", line);
}

static void make_printf(size_t i, char *text, size_t size)
{
    char line[400];
    size_t at = put(text, 0, size, HEAD ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n.global .align 1 .b8 t[5] = {116, 101, 120, 116, 0};\n");
    size_t length = strlen(formats[i].format), offset = 0;
    snprintf(line, sizeof line, ".global .align 1 .b8 f[%zu] = {", length + 2);
    at = put(text, at, size, line);
    for (size_t k = 0; k < length; k++) {
        snprintf(line, sizeof line, "%d, ", formats[i].format[k]);
        at = put(text, at, size, line);
    }
    at = put(text, at, size, "10, 0};\n.visible .entry k(.param .u64 out) { .local .align 8 .b8 l[256]; .reg .b64 %a, %b, %c; .reg .b32 %r; .param .b64 f0; .param .b64 a0; .param .b32 r0;\n"
                             "mov.u64 %a, l; cvta.local.u64 %b, %a; mov.u64 %c, t; cvta.global.u64 %c, %c;\n");
    for (const char *kind = formats[i].arguments; *kind; kind++) {
        size_t bytes = *kind == 'i' ? 4 : 8, index = (size_t)(kind - formats[i].arguments);
        offset = (offset + bytes - 1) / bytes * bytes;
        if (*kind == 'i')
            snprintf(line, sizeof line, "mov.u32 %%r, %d; st.local.u32 [%%a+%zu], %%r;\n", index == 0 && formats[i].format[0] == 's' && formats[i].format[1] == 't' && formats[i].format[2] == 'a' ? 7 : (int)(index % 2 ? -3 : 70) + (int)index, offset);
        else if (*kind == 'l')
            snprintf(line, sizeof line, "{ .reg .b64 %%x; mov.u64 %%x, %lld; st.local.u64 [%%a+%zu], %%x; }\n", 123456789012LL * (index % 2 ? -1 : 1), offset);
        else if (*kind == 'd')
            snprintf(line, sizeof line, "{ .reg .f64 %%x; mov.f64 %%x, %s; st.local.f64 [%%a+%zu], %%x; }\n", index % 2 ? "0dC0091EB851EB851F" : "0d3F50624DD2F1A9FC", offset);
        else
            snprintf(line, sizeof line, "st.local.u64 [%%a+%zu], %%c;\n", offset);
        at = put(text, at, size, line);
        offset += bytes;
    }
    put(text, at, size, "mov.u64 %c, f; cvta.global.u64 %c, %c; st.param.b64 [f0], %c; st.param.b64 [a0], %b; call (r0), vprintf, (f0, a0); ld.param.b32 %r, [r0];\n"
                        "{ .reg .b64 %o; ld.param.u64 %o, [out]; st.global.u32 [%o], %r; } ret; }\n");
}

/* Standard output goes to the file of formats meanwhile. */
static void fact_printf(const char *path)
{
    static char text[1 << 14];
    int values[sizeof formats / sizeof formats[0]] = {0};
    char log[512];
    fflush(stdout);
    int kept = dup(1);
    if (!freopen(path, "w", stdout))
        return;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        CUmodule module;
        CUfunction function;
        CUdeviceptr out;
        make_printf(i, text, sizeof text);
        if (driver_load(text, &module, log, sizeof log) != CUDA_SUCCESS || d_cuModuleGetFunction(&function, module, "k") != CUDA_SUCCESS) {
            printf("refused: %s\n", log);
            continue;
        }
        d_cuMemAlloc_v2(&out, 64);
        void *params[] = {&out};
        printf("[%zu]", i);
        fflush(stdout);
        d_cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL);
        d_cuCtxSynchronize();
        d_cuMemcpyDtoH_v2(&values[i], out, 4);
        fflush(stdout);
        d_cuModuleUnload(module);
    }
    fflush(stdout);
    dup2(kept, 1);
    close(kept);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        fprintf(to, "printf %s\t%d\n", formats[i].format, values[i]);
}

static void printf_child(size_t i)
{
    char path[400];
    (void)i;
    snprintf(path, sizeof path, "%s/printf.txt", getenv("PTX_OUT"));
    driver_begin();
    fact_printf(path);
}

static void loads_child(size_t i)
{
    (void)i;
    driver_begin();
    fact_loads();
}

static void functions_child(size_t i)
{
    (void)i;
    driver_begin();
    fact_functions();
}

static void device_child(size_t i)
{
    char name[100] = "";
    int driver = 0;
    CUdevice device = 0;
    (void)i;
    driver_begin();
    d_cuDriverGetVersion(&driver);
    d_cuDeviceGet(&device, 0);
    d_cuDeviceGetName(name, sizeof name, device);
    fprintf(to, "device\t%s\tdriver %d\n", name, driver);
}

/* ---- all of them, each in a separate process ---- */

enum { ENDS = sizeof ends / sizeof ends[0], WORDS_OF = sizeof words / sizeof words[0], LINKS = sizeof links / sizeof links[0], SECONDS = 20 };

static const char *name_of_end(size_t i)
{
    return ends[i].name;
}

static const char *name_of_words(size_t i)
{
    return words[i].name;
}

static const char *name_of_link(size_t i)
{
    return links[i].name;
}

static const struct {
    const char *name;
    void (*what)(size_t i);
} singles[] = {{"device", device_child}, {"loads", loads_child}, {"functions", functions_child}, {"printf", printf_child}};

static const char *name_of_single(size_t i)
{
    return singles[i].name;
}

enum { SINGLES = sizeof singles / sizeof singles[0] };

static void fact_single(size_t i)
{
    singles[i].what(i);
}

static const struct {
    const char *kind;
    unsigned count;
    void (*what)(size_t i);
    const char *(*name)(size_t i);
} kinds[] = {
    {"", SINGLES, fact_single, name_of_single},
    {"end ", ENDS, fact_end, name_of_end},
    {"words ", WORDS_OF, fact_words, name_of_words},
    {"link ", LINKS, fact_link, name_of_link},
};

unsigned facts_count(void)
{
    return SINGLES + ENDS + WORDS_OF + LINKS;
}

void facts_begin(void)
{
    to = crew_file("facts.tsv");
}

void facts_record(unsigned fact)
{
    unsigned kind = 0;
    for (; fact >= kinds[kind].count; kind++)
        fact -= kinds[kind].count;
    int status = crew_child(kinds[kind].what, fact, SECONDS);
    if (status)
        fprintf(to, "%s%s\tchild %d\n", kinds[kind].kind, kinds[kind].name(fact), status);
}
