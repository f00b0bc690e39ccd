# SPDX-License-Identifier: Apache-2.0
"""judge.py JUNIT SUITE...: TAP: is each planted mistake found in its test, at its line, and nothing else?

A comment "# planted: RULE" stands on the line; RULE may be the beginning of one. Tests whose name begins with test_behind may be skipped,
those with test_fails fail without a finding.
"""

from __future__ import annotations

import ast
import re
import sys
import xml.etree.ElementTree as tree
from pathlib import Path


def planted(suite: Path) -> dict[str, tuple[str, int] | None]:
    """By the name of a test: what is to be found, and where."""
    text = suite.read_text()
    lines = {number: found.group(1) for number, line in enumerate(text.splitlines(), 1)
             if (found := re.search(r"# planted: (\S+)", line))}
    return {node.name: next(((rule, line) for line, rule in lines.items() if node.lineno <= line <= (node.end_lineno or 0)), None)
            for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def right(cases: list[tree.Element], suite: Path, wanted: tuple[str, int] | None) -> bool:
    """A test that failed and whose teardown failed, too, is two cases."""
    name = cases[0].get("name", "")
    bad = [f"{element.get('message')}\n{element.text}" for case in cases for element in case if element.tag in ("failure", "error")]
    found = [element.get("value", "") for case in cases for element in case.iter("property") if element.get("name") == "cuvmm"]
    if name.startswith("test_behind"):
        return not bad and not found
    if name.startswith("test_fails"):
        return bool(bad) and not found
    if not wanted:
        return not bad and not found and all(case.find("skipped") is None for case in cases)
    rule, line = wanted
    return bool(found) and found[0].split(" ")[1].startswith(rule) and \
        any(text.removeprefix('failed on teardown with "').startswith(f"Failed: {rule}")
            for text in bad if f"{suite.name}:{line}: in {name}" in text)


def main() -> int:
    cases: dict[tuple[str, str], list[tree.Element]] = {}
    for case in tree.parse(sys.argv[1]).iter("testcase"):
        cases.setdefault((case.get("classname", "").split(".")[-1], case.get("name", "")), []).append(case)
    failed = number = 0
    for suite in map(Path, sys.argv[2:]):
        for name, wanted in planted(suite).items():
            number += 1
            these = cases.get((suite.stem, name), [])
            good = bool(these) and right(these, suite, wanted)
            failed += not good
            what = f"{wanted[0]} at line {wanted[1]}" if wanted else "nothing to be found"
            print("ok" if good else "not ok", number, "-", f"{suite.stem}, {name}: {what}")
            for case in these if not good else []:
                print("# " + tree.tostring(case, encoding="unicode")[:3000].replace("\n", "\n# "))
    print(f"1..{number}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
