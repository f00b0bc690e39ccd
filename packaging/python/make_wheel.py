# SPDX-License-Identifier: Apache-2.0
"""make_wheel.py VERSION ROOT LICENCES OUT: a wheel of this folder's package and of ROOT, which `make install` has filled.

The same bytes for the same files. Links become files by their own name (the soname) or texts for the linker, since a wheel has none.
"""

from __future__ import annotations

import base64
import hashlib
import os
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
TIME = (1980, 1, 1, 0, 0, 0)
METADATA = """Metadata-Version: 2.4
Name: cuvmm
Version: {version}
Summary: CUDA without a GPU: programs and tests on a simulated machine, checked for misuse and leaks of memory
License-Expression: Apache-2.0
{licences}Requires-Python: >=3.9
Provides-Extra: pytest
Requires-Dist: pytest>=8; extra == "pytest"
Classifier: Framework :: Pytest
Classifier: Operating System :: POSIX :: Linux
Description-Content-Type: text/markdown

"""
WHEEL = """Wheel-Version: 1.0
Generator: cuvmm
Root-Is-Purelib: false
Tag: py3-none-linux_{machine}
"""
ENTRY_POINTS = """[console_scripts]
cuvmm = cuvmm.__main__:main

[pytest11]
cuvmm = cuvmm.pytest_plugin
"""
#: Archives are for those who build from the tree; names without a number are for linkers.
LEFT_OUT = (".a",)


def native(root: Path) -> Iterator[tuple[str, bytes, bool]]:
    """(name, bytes, executable) of what is installed."""
    for path in sorted(root.rglob("*")):
        name = f"cuvmm/native/{path.relative_to(root)}"
        if path.is_dir() or path.suffix in LEFT_OUT:
            continue
        if not path.is_symlink():
            # the library of a version number is reached by its soname
            if not path.name.startswith("libcuvmm.so."):
                yield name, path.read_bytes(), os.access(path, os.X_OK)
        elif path.name.endswith(".so.0"):
            yield name, path.read_bytes(), True
        elif path.parent.name == "lib":
            yield name, f"INPUT({os.readlink(path)})\n".encode(), False


def package() -> Iterator[tuple[str, bytes, bool]]:
    for path in sorted((HERE / "cuvmm").iterdir()):
        if path.suffix == ".py" or path.name == "py.typed":
            yield f"cuvmm/{path.name}", path.read_bytes(), False


def make(version: str, root: Path, licences: Path, out: Path) -> Path:
    info = f"cuvmm-{version}.dist-info"
    texts = sorted(path for path in licences.iterdir() if path.is_file())
    listed = "".join(f"License-File: {path.name}\n" for path in texts)
    files = [*package(), *native(root)]
    files += [(f"{info}/licenses/{path.name}", path.read_bytes(), False) for path in texts]
    files += [(f"{info}/{name}", text.encode(), False) for name, text in (
        ("METADATA", METADATA.format(version=version, licences=listed) + (HERE / "README.md").read_text()),
        ("WHEEL", WHEEL.format(machine=os.uname().machine)), ("entry_points.txt", ENTRY_POINTS))]
    wheel = out / f"cuvmm-{version}-py3-none-linux_{os.uname().machine}.whl"
    record = ""
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data, executable in files:
            entry = zipfile.ZipInfo(name, TIME)
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += f"{name},sha256={digest},{len(data)}\n"
        archive.writestr(zipfile.ZipInfo(f"{info}/RECORD", TIME), f"{record}{info}/RECORD,,\n")
    return wheel


if __name__ == "__main__":
    print(make(sys.argv[1], *map(Path, sys.argv[2:])))
