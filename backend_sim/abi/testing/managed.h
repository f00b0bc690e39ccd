/* SPDX-License-Identifier: Apache-2.0 */
/* managed.h - a PTX text with managed variables, for tests of libcuda.so.1. */
#ifndef SIM_ABI_TESTING_MANAGED_H
#define SIM_ABI_TESTING_MANAGED_H

/* add(by): total += by, and the last element of list = by. */
static const char managed_text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .global .attribute(.managed) .align 4 .u32 total = 5;\n"
    ".visible .global .align 4 .u32 word = 1;\n"
    ".visible .global .attribute(.managed) .align 4 .b8 list[64];\n"
    ".visible .entry add(.param .u32 by)\n"
    "{\n"
    "    .reg .b32 %r<4>;\n"
    "    .reg .b64 %rd<4>;\n"
    "    ld.param.u32 %r1, [by];\n"
    "    mov.u64 %rd1, total;\n"
    "    atom.global.add.u32 %r2, [%rd1], %r1;\n"
    "    mov.u64 %rd2, list;\n"
    "    st.global.u32 [%rd2+60], %r1;\n"
    "    ret;\n"
    "}\n";

#endif
