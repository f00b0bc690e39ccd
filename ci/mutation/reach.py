# SPDX-License-Identifier: Apache-2.0
"""The lines of the engine that each test reaches: one run of each test with gcc's counters, cached while nothing changes."""
import hashlib
import json
import os
import shutil
import subprocess
import sys

from bench import each

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT = (60, 90)
# A few rounds suffice to measure a test's coverage.
ROUNDS = "5"


def digest(*paths):
    hashed = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            hashed.update(file.read())
    return hashed.hexdigest()


def gcov(folder, what, names):
    """What gcov says of them, read by another process, so that several of them are read at once."""
    command = [sys.executable, os.path.join(HERE, "gcov.py"), what, *names]
    return json.loads(subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=True).stdout)


class Reach:
    """tests: {test: {"key", "good", "seconds", "lines": {file: [line]}}}; code: {file: {"lines", "functions"}}."""

    def __init__(self, work, commands, sources):
        self.path, self.folder = os.path.join(work, "reach.json"), os.path.join(work, "reach")
        self.commands, self.sources = commands, set(sources)
        self.engine = digest(*sources)
        self.tests, self.code, self.counted, self.leave = {}, {}, {}, os.path.join(self.folder, "obj", "leave.o")
        if os.path.exists(self.path):
            with open(self.path) as file:
                kept = json.load(file)
            self.tests = kept["tests"]
            self.code = kept["code"] if kept["engine"] == self.engine else {}

    def save(self):
        with open(self.path + ".new", "w") as file:
            json.dump({"engine": self.engine, "tests": self.tests, "code": self.code}, file)
        os.replace(self.path + ".new", self.path)

    def key(self, test):
        return self.engine + digest(test)

    def missing(self, tests):
        return [test for test in tests if not self.code or self.tests.get(test, {}).get("key") != self.key(test)]

    def prepare(self, bench, jobs):
        """The engine with counters, and what has them written where a process leaves by _exit."""
        objects = os.path.join(self.folder, "obj")
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(objects)

        def count(source):
            name = self.commands.object_of(source)
            made = os.path.join(objects, name.replace("/", "-"))
            if not bench.compile(name, made, "gcc", ["-w", "-O0", "-U_FORTIFY_SOURCE", "--coverage"]):
                raise RuntimeError(f"{source} does not compile with --coverage")
            return name, made

        self.counted.update(each(jobs, count, sorted(self.sources)))
        notes = [name for name in os.listdir(objects) if name.endswith(".gcno")]
        self.code = self.known(gcov(objects, "lines", notes))
        leave = os.path.join(os.path.dirname(HERE), "coverage_exit.c")
        subprocess.run(["gcc", "-c", "-fPIC", "-O1", "-o", self.leave, leave], check=True)

    def measure(self, bench, test):
        kept = os.path.join(bench.kept, "reach")
        shutil.rmtree(kept, ignore_errors=True)
        os.makedirs(kept)
        bench.load(self.counted)
        lines, good, seconds = {}, False, 0
        if all(bench.link(product, "gcc", self.counting(product)) for product in bench.products_of(test)):
            result = bench.run(test, LIMIT, {"GCOV_PREFIX": kept, "CUVMM_TEST_SCALE": ROUNDS})
            good, seconds = result.good and not result.skipped, result.wall
            lines = self.lines_of(kept)
        self.tests[test] = {"key": self.key(test), "good": good, "seconds": seconds, "lines": lines}

    def counting(self, product):
        """What a link needs beside: counters, and for what holds the engine the leaving that writes them."""
        holds = any(part.endswith(".a") for part in self.commands.parts(product))
        return ["--coverage"] + ([self.leave] if holds else [])

    def lines_of(self, kept):
        """{file: lines with a count} of the counters below a folder."""
        objects = os.path.join(self.folder, "obj")
        inside = kept + objects
        if not os.path.isdir(inside):
            return {}
        counters = [name for name in os.listdir(inside) if name.endswith(".gcda")]
        for name in counters:
            os.symlink(os.path.join(objects, name[:-5] + ".gcno"), os.path.join(inside, name[:-5] + ".gcno"))
        return self.known(gcov(inside, "counts", counters))

    def known(self, of_files):
        """Without the files of the system."""
        return {name: found for name, found in of_files.items() if name in self.sources or name in self.commands.made_of}

    def tests_at(self, file, line):
        """The good tests that reach a line; those that reach anything of its file for data, and where none was seen to come
        to the line, since what a process counts that dies is lost; all for a file without code, or that none was seen to
        come to."""
        good = {test: entry for test, entry in self.tests.items() if entry["good"]}
        code = self.code.get(file)
        if not code or not code["lines"]:
            return set(good)
        near = {test for test, entry in good.items() if entry["lines"].get(file)} or set(good)
        inside = next((f for f in code["functions"] if f[0] <= line <= f[1]), None)
        if not inside:
            return near
        before = max((n for n in code["lines"] if inside[0] <= n <= line), default=inside[0])
        return {test for test in near if before in good[test]["lines"].get(file, ())} or near
