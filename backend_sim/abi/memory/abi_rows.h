/* SPDX-License-Identifier: Apache-2.0 */
/* abi_rows.h - copies of rows and boxes, and fills of rows, for which the API has no calls: what a driver checks, and what it then does.
 *
 *     base + y * pitch + x        [ row 0 .. width .. ]
 *     ... + pitch                 [ row 1             ]
 *
 *     checked      [base, + (height - 1) * pitch + width): a single range, including gaps, without x and y, modulo 2^64
 *     accessed     the rows themselves
 *
 * So the driver accepts rows that leave their memory through x, y or a wrap, and they fault at their turn, as recorded
 * (conformance/recorded/facts, copies). Such a call writes nothing, and strict mode refuses it. To find the fault beforehand, the
 * call checks every row before it moves the first. Shared by both default streams.
 */
#ifndef SIM_ABI_ROWS_H
#define SIM_ABI_ROWS_H

#include "abi.h"

/* What is copied of one side of a box: from (x, y, z) on, in rows that are pitch bytes apart and layers of that many rows; 0:
 * adjacent. */
struct abi_box_side {
    CUmemorytype type;
    CUdeviceptr device;
    const void *host;
    size_t x, y, z, pitch, rows;
};

struct abi_box {
    const char *function;
    size_t width, height, depth;
    struct abi_box_side from, to;
};

/* waits: the call returns when the copy is done. */
CUresult abi_copy_box(vmm_system *sys, const struct abi_box *box, vmm_stream stream, bool waits);
CUresult abi_copy_rows(vmm_system *sys, const CUDA_MEMCPY2D *copy, vmm_stream stream, bool waits);

/* width counts elements of 1, 2 or 4 bytes. */
struct abi_fill {
    CUdeviceptr start;
    size_t pitch, width, height;
    unsigned element, value;
};

/* The checks alone, for work of that device: of a fill whose element is valid, and of a copy of boxes. Neither is empty. */
CUresult abi_rows_check_fill(const vmm_system *sys, const char *function, int device, const struct abi_fill *fill);
CUresult abi_rows_check_copy(const vmm_system *sys, const char *function, int device, const CUDA_MEMCPY3D *copy);

CUresult abi_fill_rows(vmm_system *sys, const struct abi_fill *fill, vmm_stream stream, bool waits);

#endif
