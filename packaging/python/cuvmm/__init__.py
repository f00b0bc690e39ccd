# SPDX-License-Identifier: Apache-2.0
"""CUDA without a GPU: where cuvmm's command, libraries and headers are, and marks for the checker.

    python -m cuvmm exec --machine=sim:h100 program      as the command `cuvmm`
    pytest --cuvmm=h100                                  cuvmm.pytest_plugin
"""

from __future__ import annotations

import os
from pathlib import Path

from .checker import mark

__all__ = ["command", "include", "libraries", "mark", "prefix"]

#: Where the command, the libraries and the headers are: a folder as `make install` fills one.
prefix: Path = Path(os.environ.get("CUVMM_PREFIX") or Path(__file__).parent / "native")

#: The command.
command: Path = prefix / "bin" / "cuvmm"

#: The folder of libcuda.so.1, libcudart.so.12 and .13, libnvidia-ml.so.1: for LD_LIBRARY_PATH.
libraries: Path = prefix / "lib" / "cuvmm"

#: The folder of the headers: <cuvmm/vmm.h>; <cuda.h> is below it in cuvmm/abi.
include: Path = prefix / "include"
