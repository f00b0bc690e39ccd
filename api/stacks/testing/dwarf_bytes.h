/* SPDX-License-Identifier: Apache-2.0 */
/* dwarf_bytes.h - for tests that make tables of unwinding rules: registers and the instructions that name them, as bytes of a string.
 * Not defined on other processors.
 */
#ifndef CUVMM_STACKS_DWARF_BYTES_H
#define CUVMM_STACKS_DWARF_BYTES_H

#if defined(__x86_64__)
#define SP "\x07"
#define FP "\x06"
#define RA "\x10"
#define BREG_SP "\x77"
#define BREG_FP "\x76"
#define OFFSET_FP "\x86"
#define OFFSET_RA "\x90"
#define RESTORE_FP "\xc6"
#elif defined(__aarch64__)
#define SP "\x1f"
#define FP "\x1d"
#define RA "\x1e"
#define BREG_SP "\x8f"
#define BREG_FP "\x8d"
#define OFFSET_FP "\x9d"
#define OFFSET_RA "\x9e"
#define RESTORE_FP "\xdd"
#endif

#endif
