# SPDX-License-Identifier: Apache-2.0
"""JAX: 200 steps of training of a few layers, with momentum. Prints their seconds. XLA_PYTHON_CLIENT_ALLOCATOR says which allocator."""
import os
import time

import jax
import jax.numpy as jnp
import numpy

STEPS = int(os.environ.get("STEPS", "200"))
SIZES = [784, 4096, 4096, 1000]


def made(key):
    return [(0.02 * jax.random.normal(k, (a, b)), jnp.zeros((b,))) for k, a, b in zip(jax.random.split(key, 3), SIZES, SIZES[1:])]


def loss(params, x, y):
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = params[-1]
    return -jnp.take_along_axis(jax.nn.log_softmax(x @ w + b), y[:, None], axis=1).mean()


@jax.jit
def step(params, speed, x, y):
    value, slope = jax.value_and_grad(loss)(params, x, y)
    speed = jax.tree.map(lambda v, g: 0.9 * v + g, speed, slope)
    return jax.tree.map(lambda p, v: p - 1e-3 * v, params, speed), speed, value


def main():
    random = numpy.random.default_rng(1)
    params = made(jax.random.key(0))
    speed = jax.tree.map(jnp.zeros_like, params)
    host = random.standard_normal((2048, 784), dtype=numpy.float32)
    for i in range(10 + STEPS):
        x, y = jnp.asarray(host), jnp.asarray(random.integers(0, 1000, 2048))
        params, speed, value = step(params, speed, x, y)
        if i == 9:
            value.block_until_ready()
            began = time.perf_counter()
        if i % 20 == 0:
            assert float(value) == float(value), "the loss is not a number"
    value.block_until_ready()
    print("SECONDS %.4f" % (time.perf_counter() - began))
    print("ok: jax", jax.__version__, os.environ.get("XLA_PYTHON_CLIENT_ALLOCATOR", "default allocator"))


main()
