# SPDX-License-Identifier: Apache-2.0
# source: VLLM_SOURCE csrc/cumem_allocator.cpp
# explain: 1 error VMM-COPY-NOT-MAPPED
# explain: 1 error VMM-UNMAP-PARTIAL
"""vLLM's cumem_allocator, its extension for models that sleep: memory goes and comes back at the same addresses.

Compiled from the source that VLLM_SOURCE names. The script is what vLLM is in Python: it keeps what my_malloc passes, and
unmaps and maps again. PyTorch, whose allocator would call my_malloc, is not needed for that: ctypes calls it.
"""

import ctypes

import cumem_allocator

from cuda.bindings import driver

from client import equal, in_use, ok, point, primary, read, write

MIB = 1 << 20
primary()
before = in_use()
pieces = {}


def allocated(piece):
    pieces[piece[2]] = piece  # device, aligned size, address, where the handle is kept


def freed(address):
    return pieces.pop(address)


cumem_allocator.init_module(allocated, freed)
library = ctypes.PyDLL(cumem_allocator.__file__)
library.my_malloc.restype = ctypes.c_void_p
library.my_malloc.argtypes = [ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p]
library.my_free.argtypes = [ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p]

weights = library.my_malloc(3 * MIB, 0, None)
cache = library.my_malloc(8 * MIB, 0, None)
equal(sorted(piece[1] for piece in pieces.values()), [4 * MIB, 8 * MIB], "sizes are rounded up to the granularity")
equal(in_use() - before, 12 * MIB, "and taken from the device")
write(weights, b"weights")
backup = read(weights, 7)

for piece in pieces.values():
    cumem_allocator.python_unmap_and_release(*piece)
equal(in_use() - before, 0, "asleep it takes no memory")
point(driver.cuMemsetD8(weights, 1, 1)[0] != driver.CUresult.CUDA_SUCCESS, "and its addresses lead nowhere")
for piece in pieces.values():
    cumem_allocator.python_create_and_map(*piece)
equal(in_use() - before, 12 * MIB, "awake it has all again")
write(weights, backup)
equal(read(weights, 7), b"weights", "at the addresses it had")
ok(driver.cuMemsetD8(cache, 0, 8 * MIB))

try:
    cumem_allocator.python_unmap_and_release(0, 4 * MIB, weights + 4096, pieces[weights][3])
    point(False, "a refusal of the driver is an exception")
except RuntimeError as error:
    point("CUDA Error" in str(error), "a refusal of the driver is an exception")

library.my_free(weights, 4 * MIB, 0, None)
library.my_free(cache, 8 * MIB, 0, None)
equal(in_use() - before, 0, "freed, all of it is back")
ok(driver.cuDevicePrimaryCtxRelease(0))
