# SPDX-License-Identifier: Apache-2.0
"""CuPy's memory pool at work: arrays of many sizes, pinned memory and a stream."""
import random
import sys

import cupy

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 7
STEPS = 200


def main():
    draw, kept = random.Random(SEED), []
    stream = cupy.cuda.Stream(non_blocking=True)
    for _ in range(STEPS):
        if kept and draw.random() < 0.4:
            value, array = kept.pop(draw.randrange(len(kept)))
            assert int(array[0]) == value and int(array[-1]) == value, "an array has lost its bytes"
        else:
            value = draw.randrange(1, 1000)
            with stream:
                kept.append((value, cupy.full(draw.choice([1, 1000, 1 << 18, 1 << 22]), value, dtype=cupy.int32)))
            stream.synchronize()
        if draw.random() < 0.05:
            cupy.get_default_memory_pool().free_all_blocks()
    host = cupy.asnumpy(cupy.arange(1 << 20).sum())
    assert int(host) == ((1 << 20) - 1) * (1 << 19)
    kept.clear()
    cupy.get_default_memory_pool().free_all_blocks()
    cupy.get_default_pinned_memory_pool().free_all_blocks()
    print("ok: cupy", cupy.__version__, "seed", SEED)


main()
