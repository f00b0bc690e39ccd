# SPDX-License-Identifier: Apache-2.0
"""A finding as people read it: the rule, the lines of Python, the object in the way, the fix."""

from __future__ import annotations

import linecache
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Frames of these, and those outside of them, are the runner's.
_RUNNERS = (f"{os.sep}_pytest{os.sep}", f"{os.sep}pluggy{os.sep}", f"{os.sep}xdist{os.sep}")
_OWN = str(Path(__file__).parent) + os.sep
_LOSING = ("CUDA_ERROR_ILLEGAL_ADDRESS", "CUDA_ERROR_LAUNCH_FAILED", "CUDA_ERROR_HARDWARE_STACK_ERROR",
           "CUDA_ERROR_ILLEGAL_INSTRUCTION", "CUDA_ERROR_MISALIGNED_ADDRESS", "CUDA_ERROR_INVALID_ADDRESS_SPACE", "CUDA_ERROR_INVALID_PC")
_LABELS = ("what", "why", "fix", "more")


@dataclass(frozen=True)
class Frame:
    """A place in a stack: of Python with file and line, or of a library."""

    function: str
    file: str
    line: int
    module: str
    python: bool

    @classmethod
    def of(cls, frame: dict[str, Any]) -> Frame:
        return cls(frame["function"], frame.get("file", ""), frame.get("line", 0), frame.get("module", ""),
                   frame["language"] == "python")

    @property
    def runs_tests(self) -> bool:
        return self.python and any(part in self.file for part in _RUNNERS)

    @property
    def own(self) -> bool:
        return self.python and self.file.startswith(_OWN)

    @property
    def installed(self) -> bool:
        return f"{os.sep}site-packages{os.sep}" in self.file or self.file.startswith("<")

    @property
    def tells(self) -> bool:
        """Has it a name, and is it not how ctypes comes to the driver?"""
        return bool(self.function) and os.path.basename(self.module).partition(".")[0] not in ("libffi", "_ctypes") \
            and os.path.basename(self.file) not in ("callproc.c", "_ctypes.c")

    def place(self) -> str:
        """As editors and pytest's reports write it, relative to the current folder."""
        near = os.path.relpath(self.file) if self.file and os.path.exists(self.file) else self.file
        return f"{self.file if near.startswith('..') else near}:{self.line}"

    @property
    def package(self) -> str:
        """The installed package that it is in."""
        return self.file.rpartition(f"{os.sep}site-packages{os.sep}")[2].partition(os.sep)[0]

    def lines(self) -> list[str]:
        if not self.python:
            return [f"  ({os.path.basename(self.file or self.module)}: {self.function})"]
        source = linecache.getline(self.file, self.line).strip()
        return [f"  {self.place()}: in {self.function}"] + ([f"      {source}"] if source else [])


def _frames(stack: list[dict[str, Any]]) -> list[Frame]:
    """From the call outwards, as far as the test's own function."""
    frames: list[Frame] = []
    for frame in map(Frame.of, stack):
        if frame.runs_tests or frame.own:
            break
        if frame.python or frame.tells:
            frames.append(frame)
    while frames and not frames[-1].python and any(frame.python for frame in frames):
        frames.pop()
    return frames


def _lines(stack: list[dict[str, Any]]) -> list[str]:
    """The frames as text, those in installed packages as one line for each package."""
    lines: list[str] = []
    for frame in _frames(stack):
        more = [f"  ... in {frame.package}"] if frame.python and frame.installed else frame.lines()
        lines += [] if lines and more == lines[-1:] else more
    return lines


@dataclass(frozen=True)
class Finding:
    """One finding of the checker, from a line of its --live file."""

    record: dict[str, Any]

    @property
    def rule(self) -> str:
        return str(self.record.get("rule") or self.record.get("result") or self.record["function"])

    @property
    def kind(self) -> str:
        """error, hazard, leak or note."""
        return str(self.record["class"])

    @property
    def counts(self) -> bool:
        """Notes do not, nor what a suppression covers, nor what is refused to us but for a fault of the test's work."""
        return self.kind != "note" and "suppressed" not in self.record and (not self.noticed or self.loses_device)

    @property
    def noticed(self) -> bool:
        """By a call of ours, which waited for the test's work."""
        return not self.frames and any(Frame.of(frame).own for frame in self.record["stack"])

    @property
    def loses_device(self) -> bool:
        """No later test of this process can use it."""
        return self.record.get("result") in _LOSING

    @property
    def frames(self) -> list[Frame]:
        return _frames(self.record["stack"])

    def python_place(self) -> str:
        """The innermost line of Python that is no installed package's; where the work was issued, if it only came to light later."""
        others = sorted(self.record["others"], key=lambda other: other["role"] != "issued by")
        for stack in (self.record["stack"], *(other["stack"] for other in others)):
            frames = [frame for frame in _frames(stack) if frame.python]
            for frame in [frame for frame in frames if not frame.installed] or frames:
                return frame.place()
        return ""

    def title(self) -> str:
        place = self.python_place()
        return f"{self.rule}{' at ' + place if place else ''}: {self.record['what']}"

    def text(self) -> str:
        record = self.record
        result = f" -> {record['result']}" if "result" in record else ""
        lines = [self.title(), f"  {self.kind} in {record['function']}{result}"]
        lines += _lines(record["stack"])
        if self.noticed:
            lines.append("  noticed when the test had ended, and its work was waited for")
        texts = {item["label"]: item["text"] for item in record["text"]}
        lines += [f"  {label:<9} {text}" for label, text in texts.items() if label not in _LABELS]
        for other in record["others"]:
            lines.append(f"  {other['role']:<9} {other.get('function', '')}")
            lines += ["  " + line for line in _lines(other["stack"])]
        lines += [f"  {label:<9} {record[label]}" for label in ("why", "fix") if record.get(label)]
        if record.get("rule"):
            lines.append(f"  more      python -m cuvmm explain {record['rule']}")
        return "\n".join(lines)
