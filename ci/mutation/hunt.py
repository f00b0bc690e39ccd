# SPDX-License-Identifier: Apache-2.0
"""From mutants to verdicts: selection, order, and execution on several benches at once."""
import os
import threading
import time

import bench as benches
import mutants as kinds
import reach as reaches


class Queue:
    """Candidates in the order in which they are tried, and how many verdicts each group of them still wants."""

    def __init__(self, made, chosen):
        self.lock, self.groups, self.wanted = threading.Lock(), {}, {}
        self.until = chosen.until
        wanted = kinds.shares(made, chosen.count) if chosen.count else {}
        for file, of_file in made.items():
            # Only the first of the lines with one text: the others change their names when a line with it comes or goes.
            of_file = [m for m in of_file if m.nth == 0] if chosen.sample else of_file
            taken = sorted((kinds.rank(chosen.seed, m), m) for m in of_file if not chosen.only or m.id in chosen.only)
            self.groups.setdefault("" if chosen.sample else file, []).extend(taken[::chosen.every or 1])
        for group, of_group in self.groups.items():
            of_group.sort()
            self.wanted[group] = chosen.sample or wanted.get(group, len(of_group))
        self.all = dict(self.wanted)

    def take(self):
        """Takes one from the group that is furthest behind, so that an interrupted run has covered all files."""
        with self.lock:
            left = [group for group, of_group in self.groups.items() if self.wanted[group] > 0 and of_group]
            if not left or (self.until and time.monotonic() > self.until):
                return None, None
            group = max(left, key=lambda g: self.wanted[g] / self.all[g])
            self.wanted[group] -= 1
            return group, self.groups[group].pop(0)[1]

    def give_back(self, group):
        """It could not be judged, so another one is drawn."""
        with self.lock:
            self.wanted[group] += 1


class InTurn:
    """Rows in the order of their list."""

    def __init__(self, rows):
        self.lock, self.rows = threading.Lock(), list(rows)

    def take(self):
        with self.lock:
            return None, self.rows.pop(0) if self.rows else None


class Hunt:
    """Mistakes by hand from the queue to the report, on several benches at once. sources: {file: lines}."""

    def __init__(self, queue, report, judge, sources, second):
        self.queue, self.report, self.judge, self.sources, self.sanitized = queue, report, judge, sources, second

    def change(self, mutant, made=()):
        return benches.Change(mutant.file, mutant.apply(self.sources[mutant.file]), made)

    def second_look(self, bench, mutant):
        """(verdict, test, output) with sanitizers for one that no test has noticed."""
        way = self.sanitized.way(bench) if self.sanitized else None
        verdict = self.judge.try_on(bench, mutant, self.change(mutant), way) if way else (None,)
        return verdict if verdict[0] == "killed" else ("survived", None, None)

    def one(self, bench, group, mutant):
        started = time.monotonic()
        verdict, test, said = self.judge.try_on(bench, mutant, self.change(mutant))
        if verdict == "survived" and self.sanitized:
            verdict, test, said = self.second_look(bench, mutant)
        self.report.verdict(mutant, verdict, time.monotonic() - started, test, said)

    def work(self, bench):
        while True:
            group, mutant = self.queue.take()
            if not mutant:
                return
            self.one(bench, group, mutant)


class MadeHunt(Hunt):
    """The same of mutants that a program makes, of which many are none: they do not compile, compile to what another one does,
    or stand in the list of `entries`."""

    def __init__(self, queue, report, judge, sources, second, entries):
        super().__init__(queue, report, judge, sources, second)
        self.listed, self.lock, self.codes = {}, threading.Lock(), {}
        for entry in entries:
            self.listed.setdefault(entry["file"], set()).add((entry["old"], entry["new"]))

    @staticmethod
    def code(bench, file, text):
        """(digest of the object that a text of a file makes, {object: its place}), None where it does not compile; warnings are
        errors, as in CI."""
        name, made = bench.commands.object_of(file), os.path.join(bench.folder, "mutant.o")
        compiled = bench.compile_changed(benches.Change(file, text), name, made, ("-Werror",))
        return (reaches.digest(made), {name: made}) if compiled else (None, None)

    def fresh(self, bench, mutant):
        """The object of a mutant, if it differs from the original's and from earlier ones; otherwise the reason."""
        lines = self.sources[mutant.file]
        with self.lock:
            known = self.codes.setdefault(mutant.file, {})
        if "original" not in known:
            known["original"] = self.code(bench, mutant.file, "".join(lines))[0]
        digest, made = self.code(bench, mutant.file, mutant.apply(lines))
        with self.lock:
            if not digest:
                return None, "invalid"
            if digest in known.values():
                return None, "same"
            known[mutant.id] = digest
        return made, digest

    def like_listed(self, bench, mutant, digest):
        """Is its code that of one that is listed, which says it in other words?"""
        lines = self.sources[mutant.file]
        for number, line in enumerate(lines, 1):
            for old, new in self.listed.get(mutant.file, ()):
                if line.strip() == old:
                    other = kinds.Mutant(mutant.file, number, 0, "", old, new)
                    if self.code(bench, mutant.file, other.apply(lines))[0] == digest:
                        return True
        return False

    def one(self, bench, group, mutant):
        if (mutant.old, mutant.new) in self.listed.get(mutant.file, ()):
            self.report.verdict(mutant, "listed", 0)
            return
        started = time.monotonic()
        bench.load({})
        made, digest = self.fresh(bench, mutant)
        verdict, test, said = (digest, None, None)
        if made:
            verdict, test, said = self.judge.try_on(bench, mutant, self.change(mutant, made))
        if verdict == "survived" and self.like_listed(bench, mutant, digest):
            verdict = "listed"
        if verdict == "survived":
            verdict, test, said = self.second_look(bench, mutant)
        if verdict in ("killed", "survived", "listed"):
            self.report.verdict(mutant, verdict, time.monotonic() - started, test, said)
            return
        self.report.same += verdict == "same"
        self.queue.give_back(group)


def all_of(benches_, work):
    """Runs work(bench) on each bench at once; what goes wrong in one of them goes wrong here."""
    wrong = []

    def guarded(bench):
        try:
            work(bench)
        except Exception as error:  # noqa: BLE001 - reported below, with its place
            wrong.append(error)

    threads = [threading.Thread(target=guarded, args=(bench,)) for bench in benches_]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if wrong:
        raise wrong[0]
