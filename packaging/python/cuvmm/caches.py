# SPDX-License-Identifier: Apache-2.0
"""Memory that frameworks keep on purpose after the program has freed it: a cache is no leak."""

from __future__ import annotations

import gc
import sys
from typing import Any


def _torch(torch: Any) -> None:
    if torch.cuda.is_initialized():
        torch.cuda.empty_cache()
        empty_host = getattr(torch._C, "_host_emptyCache", None)
        if empty_host:
            empty_host()


def _cupy(cupy: Any) -> None:
    cupy.get_default_memory_pool().free_all_blocks()
    cupy.get_default_pinned_memory_pool().free_all_blocks()


def _numba(cuda: Any) -> None:
    """It frees in batches."""
    module = sys.modules.get("numba.cuda.cudadrv.driver")
    if not module or not module.driver.is_initialized:
        return
    context = cuda.current_context()
    for owner in (context, getattr(context, "memory_manager", None)):
        pending = getattr(owner, "deallocations", None)
        if pending:
            pending.clear()


def release() -> None:
    """Frees what is kept by Python's garbage and by those frameworks that are loaded."""
    gc.collect()
    for name, free in (("torch", _torch), ("cupy", _cupy), ("numba.cuda", _numba)):
        if name in sys.modules:
            free(sys.modules[name])
