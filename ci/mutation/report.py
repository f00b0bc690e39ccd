# SPDX-License-Identifier: Apache-2.0
"""What is printed of a run: a point of TAP for each mutant, made or by hand, then the figures; each verdict is also a line of a
file."""
import os
import sys
import threading


# A hand-made mistake that cannot be built cannot be noticed by a test.
BAD = ("survived", "invalid")


class Report:
    """results: the file, opened."""

    def __init__(self, results):
        self.lock, self.points, self.sums, self.results = threading.Lock(), 0, {}, results
        self.same = 0

    def verdict(self, mutant, verdict, seconds, test=None, said=None):
        with self.lock:
            self.points += 1
            of_file = self.sums.setdefault(mutant.file, {})
            of_file[verdict] = of_file.get(verdict, 0) + 1
            by = f" by {os.path.relpath(test)}: {said}" if test else ""
            bad = verdict in BAD
            print(f"{'not ok' if bad else 'ok'} {self.points} - {verdict} {mutant.title()}{by}".replace("#", "")[:240])
            if bad:
                self.show(mutant)
                print("".join(f"#   | {line}\n" for line in (said or "").splitlines() if not test), end="")
            sys.stdout.flush()
            row = (mutant.id, verdict, mutant.file, str(mutant.line), f"{seconds:.1f}", test or "",
                   *("\\n".join(text) for text in mutant.shown()))
            self.results.write("\t".join(row) + "\n")
            self.results.flush()

    @staticmethod
    def show(mutant):
        for sign, text in zip("-+", mutant.shown()):
            print("".join(f"#   {sign} {line}\n" for line in text), end="")
        print(f"#   again: {mutant.again()}")

    def finish(self):
        """The sums; true when all were noticed, or need not be."""
        print(f"1..{self.points}")
        print(f"# {'file':32} {'killed':>8} {'listed':>8} {'survived':>8} {'rate':>8}")
        for file, of_file in sorted(self.sums.items()):
            print(f"# {file:32} {self.row(of_file)}")
        total = {verdict: sum(f.get(verdict, 0) for f in self.sums.values()) for verdict in ("killed", "listed", "survived")}
        print(f"# {'all':32} {self.row(total)}")
        print(f"# {self.points + self.same} mutants: {total['killed']} killed, {self.same} equivalent by the compiler, "
              f"{total['listed']} listed as equivalent, {total['survived']} survived{self.not_built()}")
        return not any(f.get(verdict) for f in self.sums.values() for verdict in BAD)

    def not_built(self):
        count = sum(of_file.get("invalid", 0) for of_file in self.sums.values())
        return f", {count} cannot be built" if count else ""

    @staticmethod
    def row(sums):
        killed, survived = sums.get("killed", 0), sums.get("survived", 0)
        rate = f"{100 * killed / (killed + survived):.1f}%" if killed + survived else "-"
        return f"{killed:8} {sums.get('listed', 0):8} {survived:8} {rate:>8}"
