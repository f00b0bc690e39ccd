/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of these programs for a GPU: each thread goes over the words in steps of the grid; sum is one thread's. */
#include "program.h"

#define HEAD(name, parameters) ".visible .entry " name "(" parameters ")\n{\n"
#define REGISTERS ".reg .pred %p; .reg .b32 %r<6>; .reg .b64 %i, %n, %s, %p0, %p1, %o, %a, %b;\n"
#define INDEX                                                                                        \
    "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r3, %r0, %r1, %r2;\n" \
    "cvt.u64.u32 %i, %r3; mov.u32 %r0, %nctaid.x; mul.lo.u32 %r3, %r0, %r1; cvt.u64.u32 %s, %r3;\n"
#define LOOP "again: setp.ge.u64 %p, %i, %n; @%p bra done; shl.b64 %o, %i, 2; add.u64 %a, %p0, %o;\n"
#define NEXT "add.u64 %i, %i, %s; bra again; done:\n"

const char kernels_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    HEAD("fill", ".param .u64 p, .param .u64 n, .param .u32 v") REGISTERS
    "ld.param.u64 %p0, [p]; ld.param.u64 %n, [n]; ld.param.u32 %r4, [v];\n" INDEX LOOP
    "st.global.u32 [%a], %r4;\n" NEXT "ret;\n}\n"
    HEAD("add", ".param .u64 p, .param .u64 n, .param .u32 v") REGISTERS
    "ld.param.u64 %p0, [p]; ld.param.u64 %n, [n]; ld.param.u32 %r4, [v];\n" INDEX LOOP
    "ld.global.u32 %r5, [%a]; add.u32 %r5, %r5, %r4; st.global.u32 [%a], %r5;\n" NEXT "ret;\n}\n"
    HEAD("copy", ".param .u64 p, .param .u64 q, .param .u64 n") REGISTERS
    "ld.param.u64 %p0, [p]; ld.param.u64 %p1, [q]; ld.param.u64 %n, [n];\n" INDEX LOOP
    "add.u64 %b, %p1, %o; ld.global.u32 %r5, [%b]; st.global.u32 [%a], %r5;\n" NEXT "ret;\n}\n"
    HEAD("sum", ".param .u64 p, .param .u64 n, .param .u64 q") REGISTERS
    "ld.param.u64 %p0, [p]; ld.param.u64 %n, [n]; ld.param.u64 %p1, [q];\n" INDEX
    "setp.ne.u64 %p, %i, 0; @%p bra end; mov.u64 %s, 1; mov.u32 %r4, 0;\n" LOOP
    "ld.global.u32 %r5, [%a]; add.u32 %r4, %r4, %r5;\n" NEXT "st.global.u32 [%p1], %r4; end: ret;\n}\n";
