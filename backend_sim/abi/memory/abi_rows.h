/* SPDX-License-Identifier: Apache-2.0 */
/* abi_rows.h - copies of rows and boxes, and fills of rows, for which the API has no calls: checked as rows.h describes. Shared
 * by both default streams. */
#ifndef SIM_ABI_ROWS_H
#define SIM_ABI_ROWS_H

#include "abi.h"

/* waits: the call returns when the copy is done. */
CUresult abi_copy_rows(vmm_system *sys, const CUDA_MEMCPY2D *copy, vmm_stream stream, bool waits);

/* width counts elements of 1, 2 or 4 bytes. */
struct abi_fill {
    CUdeviceptr start;
    size_t pitch, width, height;
    unsigned element, value;
};

CUresult abi_fill_rows(vmm_system *sys, const struct abi_fill *fill, vmm_stream stream, bool waits);

/* Reports a refusal by the engine as one by that function. */
CUresult abi_rows_reported(CUresult result, const char *function);

#endif
