# SPDX-License-Identifier: Apache-2.0
"""What is printed of a run: a point of TAP for each mutant, then the figures; each verdict is also a line of a file."""
import sys
import threading


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
            by = f" by {test}: {said}" if test else ""
            print(f"{'not ok' if verdict == 'survived' else 'ok'} {self.points} - {verdict} "
                  f"{mutant.file}:{mutant.line} {mutant.id}{by}".replace("#", "")[:200])
            if verdict == "survived":
                self.show(mutant)
            sys.stdout.flush()
            row = (mutant.id, verdict, mutant.file, str(mutant.line), f"{seconds:.1f}", test or "", mutant.old,
                   mutant.new.replace("\n", "\\n"))
            self.results.write("\t".join(row) + "\n")
            self.results.flush()

    @staticmethod
    def show(mutant):
        print(f"#   - {mutant.old}")
        print("".join(f"#   + {line}\n" for line in mutant.new.split("\n")), end="")
        print(f"#   again: make mutate FILES={mutant.file} ONLY={mutant.id}")

    def finish(self):
        """The sums; true when none survived."""
        print(f"1..{self.points}")
        print(f"# {'file':32} {'killed':>8} {'listed':>8} {'survived':>8} {'rate':>8}")
        for file, of_file in sorted(self.sums.items()):
            print(f"# {file:32} {self.row(of_file)}")
        total = {verdict: sum(f.get(verdict, 0) for f in self.sums.values()) for verdict in ("killed", "listed", "survived")}
        print(f"# {'all':32} {self.row(total)}")
        print(f"# {self.points + self.same} mutants: {total['killed']} killed, {self.same} equivalent by the compiler, "
              f"{total['listed']} listed as equivalent, {total['survived']} survived")
        return not total["survived"]

    @staticmethod
    def row(sums):
        killed, survived = sums.get("killed", 0), sums.get("survived", 0)
        rate = f"{100 * killed / (killed + survived):.1f}%" if killed + survived else "-"
        return f"{killed:8} {sums.get('listed', 0):8} {survived:8} {rate:>8}"
