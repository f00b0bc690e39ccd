/* SPDX-License-Identifier: Apache-2.0 */
/* abi_capture_copy.h - copies in captured streams: what a driver checks when it captures them.
 *
 *     cuMemcpyDtoDAsync(d, s, n, S)    S is captured: both ranges are checked as for a copy that runs, and the copy is a node
 *     cuMemsetD8Async(d, v, n, S)      a fill's address is not checked until the graph is instantiated, as measured
 */
#ifndef SIM_ABI_CAPTURE_COPY_H
#define SIM_ABI_CAPTURE_COPY_H

#include "abi_capture.h"

CUresult abi_capture_rows(const char *function, vmm_stream stream, const CUDA_MEMCPY2D *copy);

CUresult abi_capture_box(const char *function, vmm_stream stream, const CUDA_MEMCPY3D *copy);

/* A copy of adjacent bytes, between memory of these types. */
struct abi_line {
    CUmemorytype to;
    CUdeviceptr dst;
    CUmemorytype from;
    CUdeviceptr src;
    size_t size;
};
CUresult abi_capture_line(const char *function, vmm_stream stream, const struct abi_line *line);

#endif
