#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a change costs or saves: two builds, measured in turn in one run.

    bench/compare.py [--build BUILD] [--rounds N] [--only NAME,..] OLD NEW       make bench-compare OLD=main NEW=HEAD

OLD and NEW are commits, or build folders that `make bench` has run in. A commit is built below BUILD/compare with the bench folder
of this tree, so that the rows are the same; with its own where that does not compile. Each round runs each program of both, in
changing order, and the table shows the medians of each ratio. A line is marked where all rounds of one were better than all of the
other; anything else may be chance.
"""
import argparse
import glob
import os
import re
import shutil
import statistics
import subprocess
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
LEFT_OUT = ("pool", "gpu")  # they print no ratios
FEWEST = 3  # rounds that can show more than chance
LIBRARIES = ("lib/libcuda.so.1", "lib/libcudart.so.12", "lib/libcudart.so.13", "lib/libcuvmm-check.so", "lib/libcuvmm-device-files.so", "bin/cuvmm",
             "test/abi_kernels.so")


def fail(text):
    sys.exit(f"compare: {text}")


def names_of(tree):
    found = sorted(os.path.basename(path)[:-2] for path in glob.glob(os.path.join(tree, "bench", "*.c")))
    return [name for name in found if name not in LEFT_OUT]


def commit_of(name):
    got = subprocess.run(["git", "-C", TOP, "rev-parse", "--verify", "--quiet", name + "^{commit}"], capture_output=True, text=True)
    return got.stdout.strip()


def unpack(commit, tree):
    archive = subprocess.Popen(["git", "-C", TOP, "archive", commit], stdout=subprocess.PIPE)
    subprocess.run(["tar", "-x", "-C", tree], stdin=archive.stdout, check=True)
    if archive.wait() != 0:
        fail(f"git archive {commit} failed")


def make(tree, jobs):
    targets = [f"build/bin/bench-{name}" for name in names_of(tree)] + [f"build/{path}" for path in LIBRARIES]
    return subprocess.run(["make", "-s", f"-j{jobs}", "-C", tree, "BUILD=build"] + targets, capture_output=True, text=True)


def build(commit, folder, jobs):
    """The build folder of a commit, made where it is not there yet."""
    tree = os.path.join(folder, commit[:12])
    os.makedirs(tree, exist_ok=True)
    if not os.path.exists(os.path.join(tree, "Makefile")):
        unpack(commit, tree)
    own = os.path.join(tree, "bench-own")
    if not os.path.exists(own):
        os.rename(os.path.join(tree, "bench"), own)
    for programs in (os.path.join(TOP, "bench"), own):
        shutil.rmtree(os.path.join(tree, "bench"), ignore_errors=True)
        shutil.copytree(programs, os.path.join(tree, "bench"))
        made = make(tree, jobs)
        if made.returncode == 0:
            return os.path.join(tree, "build")
        print(f"# {commit[:12]} does not build with {os.path.relpath(programs, TOP)}", flush=True)
    sys.stderr.write(made.stderr[-2000:])
    return fail(f"{commit[:12]} cannot be built")


def side(name, folder, jobs):
    if os.path.isdir(os.path.join(name, "bin")):
        return os.path.abspath(name)
    commit = commit_of(name)
    if not commit:
        fail(f"{name} is neither a commit nor a build folder with programs in bin")
    return build(commit, folder, jobs)


def read(path):
    """The ratios in a file of results, each with what is better of it; files before those had no such column."""
    rows = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            found = re.fullmatch(r"([^#\t][^\t]*)\t([-0-9.]+)(?:\t(more|less))?\n", line)
            if found:
                rows[found[1]] = (float(found[2]), found[3])
    return rows


def measure(program, path):
    """The ratios of one run; None where the program keeps none."""
    if os.path.exists(path):
        os.remove(path)
    run = subprocess.run([program, "--result", path], capture_output=True, text=True)
    return read(path) if run.returncode == 0 and os.path.exists(path) else None


class Row:
    def __init__(self, name):
        self.name = name
        self.better = None
        self.values = ([], [])

    def add(self, which, value, better):
        self.values[which].append(value)
        self.better = better or self.better

    def verdict(self):
        old, new = self.values
        if len(old) < FEWEST:
            return ""
        if min(new) > max(old):
            return {"more": "better", "less": "worse"}.get(self.better, "more")
        if max(new) < min(old):
            return {"more": "worse", "less": "better"}.get(self.better, "less")
        return ""

    def line(self):
        old, new = (statistics.median(values) for values in self.values)
        change = f"{new / old:8.2f}" if old else " " * 8
        return f"  {self.name:<46} {old:9.2f} {new:9.2f} {change}  {self.verdict()}".rstrip()


def compare(name, sides, rounds, folder):
    """The rows of one program, in the order in which it has them."""
    rows = {}
    for turn in range(rounds):
        for which in ((0, 1), (1, 0))[turn % 2]:
            program = os.path.join(sides[which], "bin", f"bench-{name}")
            got = measure(program, os.path.join(folder, "result.tsv"))
            if got is None:
                print(f"  {program} keeps no results, and is left out")
                return []
            for row, (value, better) in got.items():
                rows.setdefault(row, Row(row)).add(which, value, better)
    return [row for row in rows.values() if all(row.values)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(TOP, "build"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("old")
    parser.add_argument("new")
    chosen = parser.parse_args()
    if chosen.rounds < 1:
        fail("--rounds must be at least 1")
    folder = os.path.abspath(os.path.join(chosen.build, "compare"))
    os.makedirs(folder, exist_ok=True)
    sides = [side(name, folder, chosen.jobs) for name in (chosen.old, chosen.new)]
    programs = [{os.path.basename(path)[6:] for path in glob.glob(os.path.join(s, "bin", "bench-*")) if os.access(path, os.X_OK)}
                for s in sides]
    both = sorted(programs[0] & programs[1] - set(LEFT_OUT))
    both = [name for name in both if not chosen.only or name in chosen.only.split(",")]
    if not both:
        fail("the two have no measurement in common")
    print(f"medians of {chosen.rounds} rounds in turn; old: {chosen.old}, new: {chosen.new}")
    for name in both:
        print(f"{name:<48} {'old':>9} {'new':>9} {'new/old':>8}", flush=True)
        for row in compare(name, sides, chosen.rounds, folder):
            print(row.line())


if __name__ == "__main__":
    main()
