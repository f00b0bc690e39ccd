# SPDX-License-Identifier: Apache-2.0
"""PyTorch: an allocator of one's own in place of PyTorch's, over cudaMalloc."""
# framework: torch

import ctypes
import os
import subprocess
import tempfile

import torch

from framework import equal, point

SOURCE = """
#include <cuda_runtime_api.h>
#include <sys/types.h>
static long allocated, freed;
void *my_malloc(ssize_t size, int device, cudaStream_t stream)
{
    void *memory = 0;
    (void)device, (void)stream;
    if (cudaMalloc(&memory, (size_t)size) != cudaSuccess)
        return 0;
    allocated++;
    return memory;
}
void my_free(void *memory, ssize_t size, int device, cudaStream_t stream)
{
    (void)size, (void)device, (void)stream;
    cudaFree(memory);
    freed++;
}
long counted(int what) { return what ? freed : allocated; }
"""
with tempfile.TemporaryDirectory() as folder:
    library = os.path.join(folder, "allocator.so")
    subprocess.run([os.environ.get("CC", "cc"), "-x", "c", "-", "-w", "-shared", "-fPIC", "-isystem", os.environ["CUVMM_ABI_HEADERS"], "-o", library],
                   input=SOURCE, text=True, check=True)
    torch.cuda.memory.change_current_allocator(torch.cuda.memory.CUDAPluggableAllocator(library, "my_malloc", "my_free"))
    host = torch.arange(100000)
    there = [host.cuda() for _ in range(10)]
    point(all(torch.equal(each.cpu(), host) for each in there), "bytes through an allocator of one's own")
    counted = ctypes.CDLL(library).counted
    counted.restype = ctypes.c_long
    point(counted(0) >= 10, "it was asked for each tensor")
    there.clear()
    torch.cuda.synchronize()
    equal(counted(1), counted(0), "and freed each of them")
