# SPDX-License-Identifier: Apache-2.0
"""python -m cuvmm COMMAND ...: the command of this package, in place of this process."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

import cuvmm


def main() -> NoReturn:
    try:
        os.execv(cuvmm.command, ["cuvmm", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"cuvmm: {cuvmm.command}: {error.strerror}")


if __name__ == "__main__":
    main()
