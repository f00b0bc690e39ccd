/* SPDX-License-Identifier: Apache-2.0 */
/* The device code of ../small.c; small/kernels.c is the same for libcuda.so.1 on the simulator. */

#define PTX_HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
#define PTX_READS                                                                                               \
    ".visible .entry reads(.param .u64 p)\n{\n .reg .u64 %a;\n .reg .u32 %v;\n .reg .pred %q;\n"                \
    " ld.param.u64 %a, [p];\n cvta.to.global.u64 %a, %a;\n ld.volatile.global.u32 %v, [%a];\n"                  \
    " setp.eq.u32 %q, %v, 123456789;\n @%q st.volatile.global.u32 [%a], 0;\n ret;\n}\n"

static const char ptx_plain[] = PTX_HEAD PTX_READS;

/* Variables of every kind; `tells` writes the values of three of them, `adds` adds one to the word. */
static const char ptx_variables[] = PTX_HEAD
    ".visible .global .align 4 .u32 word = 42;\n"
    ".visible .global .align 1 .b8 byte;\n"
    ".visible .global .align 8 .b8 sixteen[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};\n"
    ".visible .global .align 1 .b8 thirteen[13];\n"
    ".visible .global .align 256 .b8 big[1048576];\n"
    ".visible .global .align 4 .b8 huge[67108864];\n"
    ".visible .const .align 4 .u32 fixed = 7;\n"
    ".global .align 4 .u32 hidden = 9;\n"
    ".visible .entry tells(.param .u64 p)\n{\n .reg .u64 %a, %g;\n .reg .u32 %v;\n"
    " ld.param.u64 %a, [p];\n cvta.to.global.u64 %a, %a;\n"
    " ld.volatile.global.u32 %v, [word];\n st.volatile.global.u32 [%a], %v;\n"
    " ld.volatile.global.u32 %v, [hidden];\n st.volatile.global.u32 [%a+4], %v;\n"
    " ld.const.u32 %v, [fixed];\n st.volatile.global.u32 [%a+8], %v;\n"
    " mov.u64 %g, word;\n cvta.global.u64 %g, %g;\n st.volatile.global.u64 [%a+16], %g;\n ret;\n}\n"
    ".visible .entry adds(.param .u64 p)\n{\n .reg .u32 %v;\n"
    " ld.volatile.global.u32 %v, [word];\n add.u32 %v, %v, 1;\n st.volatile.global.u32 [word], %v;\n"
    " st.volatile.global.u32 [hidden], %v;\n ret;\n}\n";

static const char ptx_managed[] = PTX_HEAD
    ".visible .global .attribute(.managed) .align 4 .u32 managed = 5;\n"
    ".visible .global .align 4 .u32 word = 42;\n";
