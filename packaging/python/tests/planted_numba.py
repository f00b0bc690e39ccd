# SPDX-License-Identifier: Apache-2.0
"""A suite of numba-cuda: device arrays and streams. Each planted mistake has the comment "planted: RULE" on its line."""

import numpy
import pytest
from numba import cuda
from numba.cuda.cudadrv import driver

COUNT = 1 << 18
KEPT = []


@pytest.fixture(scope="module")
def ones():
    return numpy.ones(COUNT, dtype=numpy.float32)


def test_right(ones):
    on_device = cuda.to_device(ones)
    assert (on_device.copy_to_host() == ones).all()


def test_leaks(ones):
    KEPT.append(cuda.to_device(ones))  # planted: VMM-LEAK-


def test_writes_past_the_end(ones):
    on_device = cuda.device_array(COUNT, dtype=numpy.float32)
    with pytest.raises(Exception):
        driver.device_memset(on_device, 0, 1 << 40)  # planted: VMM-


def test_orders_nothing():
    first, second = cuda.stream(), cuda.stream()
    source = cuda.device_array(COUNT, dtype=numpy.float32)
    target = cuda.device_array(COUNT, dtype=numpy.float32)
    cuda.synchronize()
    driver.device_memset(source, 0, 4 * COUNT, first)
    target.copy_to_device(source, stream=second)  # planted: VMM-ORDER
    first.synchronize()
    second.synchronize()


@pytest.mark.cuvmm_expect("VMM-LEAK-*")
def test_keeps(ones):
    KEPT.append(cuda.to_device(ones))
