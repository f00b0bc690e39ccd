# SPDX-License-Identifier: Apache-2.0
"""Mistakes in the exercises' solutions, which no test of the project runs, judged by a separate program."""
import os
import re
import shutil

import runs

LIMIT = (120, 300)


class Place:
    """A folder where a judging program may write, and reuse what it wrote for earlier rows."""

    def __init__(self, number, work):
        self.folder = os.path.join(work, f"graded{number}")
        self.tmp = os.path.join(self.folder, "tmp")
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.tmp)


class Graded:
    """Judges by a program: PROGRAM FOLDER SOURCE FILE KEY=TEXT..., with the mistake in SOURCE, a copy of FILE. It prints TAP of one
    point, which fails as "caught ..." where the mistake is caught as the row says."""

    def __init__(self, program, build):
        self.program = os.path.abspath(program)
        self.environment = {**os.environ, "CUVMM_BUILD": build}
        if runs.box_is_open():
            self.environment["CUVMM_BOX"] = "open"

    def try_on(self, place, row, change):
        source = os.path.join(place.folder, os.path.basename(row.file))
        with open(source, "w") as text:
            text.write(change.text)
        words = [self.program, place.folder, source, row.file, *(f"{key}={text}" for key, text in row.told.items())]
        result = runs.run(words, os.getcwd(), place.tmp, LIMIT, {**self.environment, "CUVMM_BOX_KEEP": place.folder})
        caught = re.search(r"^not ok 1 - (caught as .*)$", result.said, re.M)
        if caught and not result.good and not result.why:
            return "killed", os.path.basename(self.program), caught[1]
        return "survived", None, result.said
