/* SPDX-License-Identifier: Apache-2.0 */
/* abi_rows.h - copies and fills of rows, which the API has no calls for: what a driver looks at, and what it does then.
 *
 *     base + y * pitch + x        [ row 0 .. width .. ]
 *     ... + pitch                 [ row 1             ]
 *
 *     looked at    [base, + (height - 1) * pitch + width): one range, gaps and all, without x and y, and modulo 2^64
 *     touched      the rows, where they are
 *
 * So rows that leave their memory by x, y or a wrap are let pass and fault at their turn, as recorded (conformance/recorded/facts,
 * copies). Nothing of such a call is written, and strict refuses it. For the fault to be found beforehand every row is looked
 * at before the first one moves. Shared by both default streams.
 */
#ifndef SIM_ABI_ROWS_H
#define SIM_ABI_ROWS_H

#include "abi.h"

/* waits: the call returns when it is done. */
CUresult abi_copy_rows(vmm_system *sys, const CUDA_MEMCPY2D *copy, vmm_stream stream, bool waits);

/* width in elements of 1, 2 or 4 bytes. */
struct abi_fill {
    CUdeviceptr start;
    size_t pitch, width, height;
    unsigned element, value;
};

CUresult abi_fill_rows(vmm_system *sys, const struct abi_fill *fill, vmm_stream stream, bool waits);

#endif
