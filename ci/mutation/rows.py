# SPDX-License-Identifier: Apache-2.0
"""Mistakes made by hand, which some test must notice: the rows of a list (docs/mutation.md).

    == name: what goes wrong
    file
    key text             (for the program that judges the rows of such a list)
    - text of the file, which must be there exactly once
    + what stands there instead (may be missing: the text is taken away)
"""
import re

import accepted


class Row:
    """A mutant by hand, of one or several lines; lines: those that it changes, known once `apply` has found them."""

    def __init__(self, name, what, at):
        self.id, self.what, self.at = name, what, at
        self.file, self.told, self.old, self.new, self.line = "", {}, [], [], 0

    @property
    def lines(self):
        return range(self.line, self.line + len(self.old))

    def apply(self, lines):
        text, old = "".join(lines), "\n".join(self.old)
        if text.count(old) != 1:
            raise accepted.Wrong(f"{self.at}: {self.id}: its text stands {text.count(old)} times in {self.file}, not once")
        self.line = text[:text.index(old)].count("\n") + 1
        return text.replace(old, "\n".join(self.new))

    def title(self):
        return f"{self.id}: {self.what} ({self.file}:{self.line})"

    def again(self):
        return f"make sabotage ONLY={self.id}" if not self.told else f"--only {self.id}"

    def shown(self):
        return self.old, self.new


def read(path):
    rows = []
    with open(path) as text:
        for number, line in enumerate(text, 1):
            take(rows, line.rstrip("\n"), f"{path}:{number}")
    names = [row.id for row in rows]
    for row in rows:
        if not row.file or not row.old:
            raise accepted.Wrong(f"{row.at}: {row.id}: no file, or no text of it")
        if names.count(row.id) > 1:
            raise accepted.Wrong(f"{row.at}: {row.id}: two rows have this name")
    return rows


def take(rows, line, at):
    row = rows[-1] if rows else None
    if head := re.match(r"== ([\w-]+): (.+)$", line):
        rows.append(Row(head[1], head[2], at))
    elif row and (text := re.match(r"([-+]) ?(.*)$", line)):
        (row.old if text[1] == "-" else row.new).append(text[2])
    elif row and re.match(r"[\w/.-]+\.([ch]|def)$", line):
        row.file = line
    elif row and (told := re.match(r"(\w+) (.+)$", line)):
        row.told[told[1]] = told[2]
    elif line and not line.startswith("#"):
        raise accepted.Wrong(f"{at}: expected '== name: what', a file, 'key text', '- text' or '+ text', got: {line}")


def sources_of(rows):
    """{file: lines} of the files of rows."""
    sources = {}
    for row in rows:
        if row.file not in sources:
            with open(row.file) as text:
                sources[row.file] = text.readlines()
    return sources


def stale(rows):
    """The errors of rows whose text does not occur exactly once in their file."""
    sources, found = sources_of(rows), []
    for row in rows:
        try:
            row.apply(sources[row.file])
        except accepted.Wrong as wrong:
            found.append(str(wrong))
    return found
