/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_scalar.h - functions of the values of one lane (ptx_scalars.def). */
#ifndef PTX_SCALAR_H
#define PTX_SCALAR_H

#include <stdbool.h>
#include <stdint.h>

/* The arguments of a function: up to four values, each in the low bits, zero-extended. */
struct ptx_scalar_call {
    uint64_t a, b, c, e;
    unsigned more;  /* PTX_FLOAT_... */
    uint32_t which;
};

typedef uint64_t (*ptx_scalar_function)(const struct ptx_scalar_call *call);

#define PTX_SCALAR(NAME) uint64_t ptx_scalar_##NAME(const struct ptx_scalar_call *call);
#include "ptx_scalars.def"

#endif
