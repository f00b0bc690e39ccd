/* SPDX-License-Identifier: Apache-2.0 */
/* abi_rows.h - copies and fills of rows, for which the API has no calls: what a driver checks, and what it then does.
 *
 *     base + y * pitch + x        [ row 0 .. width .. ]
 *     ... + pitch                 [ row 1             ]
 *
 *     checked      [base, + (height - 1) * pitch + width): one range, gaps included, without x and y, and modulo 2^64
 *     accessed     the rows, where they are
 *
 * So rows that leave their memory through x, y or a wrap are accepted and fault at their turn, as recorded
 * (conformance/recorded/facts, copies). Such a call writes nothing, and strict mode refuses it. To find the fault beforehand,
 * every row is checked before the first one moves. Shared by both default streams.
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
