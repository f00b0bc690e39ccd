/* SPDX-License-Identifier: Apache-2.0 */
/* tensor.h - tensors at fixed addresses whose memory can be given up and taken again, and moved.
 *
 *     tensor_sleep     [address, memory A]  ->  [address, nothing], the bytes are on the host where they are kept
 *     tensor_wake                           ->  [address, memory B], the bytes are back where they were kept
 */
#ifndef CHECKER_TENSOR_H
#define CHECKER_TENSOR_H

#include "buffer.h"

struct tensor {
    CUdeviceptr at;
    size_t size;
    CUmemGenericAllocationHandle memory;
    void *kept; /* its bytes while it sleeps, or NULL */
};

void tensor_open(struct tensor *t, size_t size);
void tensor_close(struct tensor *t);
void tensor_sleep(struct tensor *t, bool keep);
void tensor_wake(struct tensor *t);
/* Moves to other addresses; with `same` the memory moves along, otherwise the tensor gets new memory. */
void tensor_move(struct tensor *t, bool same);

/* Rows of `width` bytes, each at a multiple of `pitch`, from the host's rows that follow each other; and back. */
void rows_upload(CUdeviceptr to, size_t pitch, const void *from, size_t width, size_t rows);
void rows_download(void *to, CUdeviceptr from, size_t pitch, size_t width, size_t rows);

#endif
