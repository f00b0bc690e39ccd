# SPDX-License-Identifier: Apache-2.0
"""A suite of PyTorch: its allocator, copies and streams. Each planted mistake has the comment "planted: RULE" on its line."""

import ctypes

import pytest
import torch

SIZE = 8 << 20
KEPT = []


@pytest.fixture(scope="module")
def pinned():
    return torch.full((SIZE,), 7, dtype=torch.uint8).pin_memory()


def test_right(pinned):
    on_device = pinned.to("cuda", non_blocking=True)
    assert torch.equal(on_device.cpu(), pinned)


def test_leaks(pinned):
    KEPT.append(torch.empty(3 * SIZE, dtype=torch.uint8, device="cuda"))  # planted: VMM-LEAK-


def test_orders_nothing(pinned):
    source = torch.empty(SIZE, dtype=torch.uint8, device="cuda")
    target = torch.empty(SIZE, dtype=torch.uint8, device="cuda")
    side = torch.cuda.Stream()
    source.copy_(pinned, non_blocking=True)
    with torch.cuda.stream(side):
        target.copy_(source)  # planted: VMM-ORDER
    torch.cuda.synchronize()


def test_waits(pinned):
    source = torch.empty(SIZE, dtype=torch.uint8, device="cuda")
    target = torch.empty(SIZE, dtype=torch.uint8, device="cuda")
    side = torch.cuda.Stream()
    source.copy_(pinned, non_blocking=True)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        target.copy_(source)
    torch.cuda.synchronize()


def test_uses_what_is_freed():
    """As an extension does that keeps a pointer."""
    runtime = ctypes.CDLL("libcudart.so.13")
    tensor = torch.empty(4 * SIZE, dtype=torch.uint8, device="cuda")
    at = tensor.data_ptr()
    del tensor
    torch.cuda.empty_cache()
    assert runtime.cudaMemset(ctypes.c_void_p(at), 0, ctypes.c_size_t(SIZE)) != 0  # planted: VMM-
    runtime.cudaGetLastError()


@pytest.mark.cuvmm_expect("VMM-LEAK-*")
def test_keeps():
    KEPT.append(torch.empty(3 * SIZE, dtype=torch.uint8, device="cuda"))
