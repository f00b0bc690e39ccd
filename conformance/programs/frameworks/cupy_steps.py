# SPDX-License-Identifier: Apache-2.0
"""CuPy: 200 steps of products of random sizes. Prints their seconds. CUPY_POOL=async takes the pool of cudaMallocAsync."""
import os
import random
import time

import cupy

STEPS = int(os.environ.get("STEPS", "200"))


def step(draw, w):
    x = cupy.random.standard_normal((draw.randrange(64, 8192), 2048), dtype=cupy.float32)
    for _ in range(4):
        x = cupy.tanh(x @ w)
    return (x * x).sum()


def main():
    if os.environ.get("CUPY_POOL") == "async":
        cupy.cuda.set_allocator(cupy.cuda.MemoryAsyncPool().malloc)
    draw = random.Random(3)
    w = cupy.random.standard_normal((2048, 2048), dtype=cupy.float32)
    for i in range(10 + STEPS):
        value = step(draw, w)
        if i == 9:
            cupy.cuda.Device().synchronize()
            began = time.perf_counter()
        if i % 20 == 0:
            assert float(value) == float(value), "the sum is not a number"
    cupy.cuda.Device().synchronize()
    print("SECONDS %.4f" % (time.perf_counter() - began))
    print("ok: cupy", cupy.__version__, os.environ.get("CUPY_POOL", "default pool"))


main()
