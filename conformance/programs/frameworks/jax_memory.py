# SPDX-License-Identifier: Apache-2.0
"""JAX's allocator at work: arrays of many sizes made, used and dropped. XLA_PYTHON_CLIENT_ALLOCATOR says which allocator."""
import os
import random
import sys

import jax
import jax.numpy as jnp

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 7
STEPS = 60


def main():
    draw, kept = random.Random(SEED), []
    assert jax.devices()[0].platform in ("gpu", "cuda"), "JAX has found no GPU"
    for _ in range(STEPS):
        if kept and draw.random() < 0.4:
            value, array = kept.pop(draw.randrange(len(kept)))
            assert int(array[0]) == value and int(array[-1]) == value, "an array has lost its bytes"
            array.delete()
        else:
            value = draw.randrange(1, 1000)
            kept.append((value, jnp.full((draw.choice([1, 1 << 12, 1 << 20, 1 << 24]),), value, dtype=jnp.int32)))
    a = jnp.ones((1024, 1024))
    assert float((a @ a)[5, 5]) == 1024
    print("ok: jax", jax.__version__, "seed", SEED, os.environ.get("XLA_PYTHON_CLIENT_ALLOCATOR", "default allocator"))


main()
