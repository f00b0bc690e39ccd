# SPDX-License-Identifier: Apache-2.0
"""The command line that runs pytest, or a worker of pytest-xdist, under `cuvmm check`.

A library that is preloaded has to be there when a process starts, so pytest is executed once more, in place of itself.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import tempfile
from dataclasses import dataclass

import cuvmm

#: The --live file of the process that is started, and the variables that `cuvmm check` changes as they were before.
LIVE = "CUVMM_PYTEST_LIVE"
BEFORE = "CUVMM_PYTEST_BEFORE"
_CHANGED = ("CUVMM_LAYERS", "CUVMM_MACHINE", "CUVMM_SIM", "LD_LIBRARY_PATH", "LD_PRELOAD")


@dataclass(frozen=True)
class Settings:
    """What the options of pytest say."""

    machine: str
    fault: str | None
    suppressions: tuple[str, ...]
    more: tuple[str, ...]

    def command(self, live: str) -> list[str]:
        """`cuvmm check` with its options, before the program."""
        on = "driver" if self.machine == "driver" else self.machine if self.machine.startswith("sim") else f"sim:{self.machine}"
        options = [f"--backend={on}", f"--live={live}", "--stacks=full"]
        options += [f"--fault={self.fault}"] if self.fault else []
        options += [f"--suppressions={os.path.abspath(file)}" for file in self.suppressions]
        return [str(cuvmm.command), "check", *options, *self.more]


def live_file() -> str:
    handle, path = tempfile.mkstemp(prefix="cuvmm-pytest-", suffix=".jsonl")
    os.close(handle)
    return path


def _command() -> list[str]:
    """This process's, with the options of the interpreter."""
    with open("/proc/self/cmdline", "rb") as line:
        return [os.fsdecode(word) for word in line.read().split(b"\0")[:-1]]


def again(settings: Settings) -> None:
    """Executes this very command under the checker. Returns only where that cannot be."""
    live = live_file()
    environment = dict(os.environ)
    environment[LIVE] = live
    environment[BEFORE] = json.dumps({name: os.environ.get(name) for name in _CHANGED})
    command = [*settings.command(live), sys.executable, *_command()[1:]]
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execve(command[0], command, environment)
    except OSError:
        os.unlink(live)
        raise


def worker(settings: Settings, python: str | None) -> str:
    """The command of a worker, for execnet: a checker and a machine of its own, in the environment that pytest had."""
    live = live_file()
    before = json.loads(os.environ.get(BEFORE, "{}"))
    unset = [word for name, value in before.items() if value is None for word in ("-u", name)]
    old = [f"{name}={value}" for name, value in before.items() if value is not None]
    program = shlex.split(python) if python else [sys.executable]
    return shlex.join(["/usr/bin/env", *unset, *old, f"{LIVE}={live}", *settings.command(live), *program])
