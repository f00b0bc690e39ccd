# SPDX-License-Identifier: Apache-2.0
"""Runs one test in isolation."""
import os
import re
import select
import signal
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BOX = os.path.join(HERE, "box")
MOST_SAID = 4 << 20
LEAST_FREE = 1 << 30


def box_is_open():
    return subprocess.run([BOX, "--closed"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0


def memory_free():
    with open("/proc/meminfo") as info:
        return int(re.search(r"MemAvailable: *(\d+)", info.read())[1]) << 10


def wait_for_memory():
    """Waits until other processes have freed enough for another try, or for a minute."""
    until = time.monotonic() + 60
    while memory_free() < 2 * LEAST_FREE and time.monotonic() < until:
        time.sleep(1)


def follow(process, until):
    """Its output, and the reason if it was killed."""
    said, poll, pipe = b"", select.poll(), process.stdout.fileno()
    os.set_blocking(pipe, False)
    ended = os.pidfd_open(process.pid)
    poll.register(pipe, select.POLLIN)
    poll.register(ended, select.POLLIN)
    why = None
    try:
        while why is None:
            ready = [handle for handle, _ in poll.poll(250)]
            part = os.read(pipe, 1 << 16) if pipe in ready else b""
            said += part
            if pipe in ready and not part:
                poll.unregister(pipe)
            if ended in ready and not part:
                return said, None
            if len(said) > MOST_SAID:
                why = "says without end"
            elif time.monotonic() > until:
                why = "time"
            elif memory_free() < LEAST_FREE:
                why = "memory"
    finally:
        os.close(ended)
    return said, why


class Result:
    def __init__(self, status, said, why, wall):
        self.wall, self.why = wall, why
        text = self.said = said.decode(errors="replace")
        points = re.findall(r"^(ok|not ok)\b(.*)$", text, re.M)
        plan = re.search(r"^1\.\.(\d+)( *# *SKIP)?", text, re.M | re.I)
        bad = sum(kind == "not ok" and "# TODO" not in rest for kind, rest in points)
        whole = bool(plan) and int(plan[1]) == len(points)
        self.good = not why and status == 0 and not bad and whole
        self.skipped = self.good and all("# SKIP" in rest for _, rest in points)
        first = next((rest for kind, rest in points if kind == "not ok" and "# TODO" not in rest), "")
        self.text = why or first.strip(" -") or f"status {status}"


def run(command, folder, tmp, limit, environment):
    """limit: (seconds of processor time for a process, seconds in all)."""
    started = time.monotonic()
    process = subprocess.Popen([BOX, tmp, str(limit[0]), *command], cwd=folder, env=environment, start_new_session=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said, why = follow(process, started + limit[1])
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    status = process.wait()
    process.stdout.close()
    return Result(status, said, why, time.monotonic() - started)
