# SPDX-License-Identifier: Apache-2.0
"""The checker of `cuvmm check`, seen from inside the program that it checks.

    first = phase("test_pool")          a test begins
    ...                                 calls of the driver; findings go to the parent, which writes them to its --live file
    held(first, calls())                what the test made and still holds is reported as leaks
    findings(live)                      all that was reported so far
"""

from __future__ import annotations

import ctypes
import functools
import json
import os
import socket
from collections.abc import Callable
from typing import IO, Any


@functools.cache
def _function(name: str, result: Any, *arguments: Any) -> Callable[..., int] | None:
    """A function of the preloaded checker, or of the simulator's libcuda.so.1."""
    for library in (None, "libcuda.so.1"):
        try:
            found = getattr(ctypes.CDLL(library), name)
        except (OSError, AttributeError):
            continue
        found.restype, found.argtypes = result, arguments
        return found  # type: ignore[no-any-return]
    return None


def mark(text: str | None) -> bool:
    """Names a phase of the program: at marks of one text `cuvmm check` compares what the program holds. True: it listens."""
    function = _function("cuvmm_mark", ctypes.c_int, ctypes.c_char_p)
    return bool(function and function(text.encode() if text else None))


def phase(text: str | None) -> int:
    """A test of that name begins. Returns the number of the latest call."""
    function = _function("cuvmm_phase", ctypes.c_ulonglong, ctypes.c_char_p)
    return function(text.encode()[:200] if text else None) if function else 0


def calls() -> int:
    """The number of the latest call; what is made from now on has a greater one."""
    return phase(None)


def held(after: int, upto: int) -> int:
    """Reports what calls in (after, upto] made and is still held. Returns how many objects."""
    function = _function("cuvmm_held", ctypes.c_longlong, ctypes.c_ulonglong, ctypes.c_ulonglong)
    return max(0, function(after, upto)) if function else 0


def _synchronise() -> None:
    """Until the parent has read everything that was sent before: it closes connections in their order."""
    path = os.environ.get("CUVMM_CHECK_STREAM")
    if not path:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        try:
            connection.connect(path)
            connection.shutdown(socket.SHUT_WR)
            connection.recv(1)
        except OSError:
            pass  # the parent is gone; what it wrote is in the file


def findings(live: IO[str]) -> list[dict[str, Any]]:
    """What was found since the last call, by check-report.schema.json's "finding"."""
    _synchronise()
    return [json.loads(line) for line in live]


def wait_for_devices() -> None:
    """Lets all issued work end, so that a fault in it belongs to the test that issued it."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return
    count, active, flags, context = ctypes.c_int(), ctypes.c_int(), ctypes.c_uint(), ctypes.c_void_p()
    if driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return
    if driver.cuCtxGetCurrent(ctypes.byref(context)) == 0 and context and driver.cuCtxSynchronize() != 0:
        return  # a device that is lost once stays so
    for device in range(count.value):
        if driver.cuDevicePrimaryCtxGetState(device, ctypes.byref(flags), ctypes.byref(active)) != 0 or not active.value:
            continue
        if driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) != 0:
            continue
        if driver.cuCtxPushCurrent_v2(context) == 0:
            driver.cuCtxSynchronize()
            driver.cuCtxPopCurrent_v2(ctypes.byref(context))
        driver.cuDevicePrimaryCtxRelease_v2(device)
