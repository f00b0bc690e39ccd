# SPDX-License-Identifier: Apache-2.0
"""ci/mutants.list: mutants that no test can tell from the original, with the reason.

    == backend_sim/base/pool.c
    - text of the line
    + text of the mutant (may be missing, or several lines)
      why no test can notice
"""


class Wrong(Exception):
    pass


def read(path):
    """The entries, with texts without the space around them."""
    entries, file = [], None
    with open(path) as text:
        for number, line in enumerate(text, 1):
            line = line.rstrip("\n")
            last = entries[-1] if entries else None
            if line.startswith("== "):
                file = line[3:].strip()
            elif line.startswith("- ") and file:
                entries.append({"file": file, "old": line[2:].strip(), "new": [], "reason": [], "at": f"{path}:{number}"})
            elif line.startswith("+") and last:
                last["new"].append(line[1:].strip())
            elif line.startswith("  ") and last:
                last["reason"].append(line.strip())
            elif line and not line.startswith("#"):
                raise Wrong(f"{path}:{number}: expected '== file', '- text', '+ text' or '  reason', got: {line}")
    for entry in entries:
        entry["new"] = "\n".join(entry["new"])
        if not entry["reason"]:
            raise Wrong(f"{entry['at']}: no reason")
    return entries


def check(entries, sources):
    """An entry whose line no longer exists in its file is invalid."""
    for entry in entries:
        lines = sources.get(entry["file"])
        if lines is not None and entry["old"] not in (line.strip() for line in lines):
            raise Wrong(f"{entry['at']}: {entry['file']} has no line: {entry['old']}")
