# SPDX-License-Identifier: Apache-2.0
"""The fate of a mutant: killed, survived, or not judged because the compiled code is the same."""
import os
import re

import bench as benches
import runs

# The overhead of a test in seconds: linking and its box.
AROUND = 0.15
# The prior probability that a test notices a mutant: highest for those that cover most of the engine.
LIKELY = ((r"/rule_report_test$", 0.5), (r"/check/(conformance-(h100|odd|as-driver-h200x2)|lockstep|world)$", 0.5),
          (r"/check/", 0.2), (r"/backend_sim/abi/", 0.05), (r"/backend_sim/", 0.1), (r"", 0.01))
NEAR = 0.5
# Those that go through all calls, and take too long to be among the likeliest for their time: they come last of what is run.
THROUGH = re.compile(r"/(rule_report_test|rule_pairs_test|check/(conformance-(h100|odd|as-driver-h200x2)|abi-suite-h200x2|lockstep))$")
# Scripts that do not test compiled code, and measurements without assertions.
ELSEWHERE = ("ci/abi_symbols_", "ci/analyze_", "ci/client_", "ci/exclusions_", "ci/fuzz_", "ci/gpu_", "ci/hardening_", "ci/install_",
             "ci/junit_", "ci/mutate_", "ci/sim_only_", "ci/slowest_", "ci/spdx_", "ci/symbols_list_", "ci/tally_", "ci/threaded_",
             "conformance/corpus/exercises_", "conformance/programs/fabric_mpi_", "docs/", "tools/cli/completion_",
             "tools/view/view_browser_", "test/bench/", "test/backend_cuda/")


class Order:
    """Cheap tests that killed often come first; those next to the mutated file before all others."""

    def __init__(self, most):
        self.kills, self.seconds, self.most = {}, {}, most

    def killed(self, file, test):
        for key in (test, (file, test)):
            self.kills[key] = self.kills.get(key, 0) + 1

    def score(self, file, test):
        likely = next(value for pattern, value in LIKELY if re.search(pattern, test))
        likely += NEAR if near(file, test) else 0
        return (likely + self.kills.get(test, 0) + 20 * self.kills.get((file, test), 0)) / (self.seconds.get(test, 1) + AROUND)

    def sort(self, file, tests, part):
        """The tests to run, in order: those with its name, of the others as many as part, up to 1, of the most, and for the whole
        of it those that go through all calls."""
        own = {test for test in tests if beside(file, test)}
        ranked = sorted(tests, key=lambda test: (test not in own, -self.score(file, test)))
        count = len(own) + int(part * self.most)
        return ranked[:count] + [test for test in ranked[count:] if part == 1 and THROUGH.search(test)]


def of_folder(file, test):
    """A script that is named after a folder of the file: exercises_test.sh of exercises/grader/grade.c."""
    return test.endswith("_test.sh") and file.startswith(test[:-len("_test.sh")] + "/")


def near(file, test):
    """In the same folder as the file, or with a word of its own in the name, or that of its innermost folder: test/tools/typed_test
    of tools/lines.c, and abi_capture_test of graph/call_capture.c."""
    folder = os.path.dirname(file)
    words = {os.path.basename(folder), *os.path.basename(file)[:-2].split("_")} - {"call", "share", "abi", "posix", "check"}
    return os.path.dirname(test).endswith("/" + folder) or bool(words & set(re.split(r"[._-]", os.path.basename(test))))


def beside(file, test):
    """Tests with the file's name in theirs, or what it begins with: share_test of share_state.c, profile_test of profile_keys.c."""
    if of_folder(file, test):
        return True
    words = os.path.basename(file)[:-2].split("_")
    stems = "|".join("_".join(words[:count]) for count in range(1, len(words) + 1))
    return bool(re.search(rf"(^|[_-])({stems})([._-]|$)", os.path.basename(test)))


def of_code(tests, build):
    """Those of them that are about what compiled code does."""
    return [test for test in tests if not test.removeprefix(build + "/").startswith(ELSEWHERE)]


class Way:
    """How tests are compiled, linked and run, and the objects that stand for the engine's own: what a test does so on the engine as it is
    is found out once. part: of the tests that are not the file's own, as they take their time."""

    def __init__(self, name="", link=(), environment=(), part=1.0, code=()):
        self.name, self.link, self.environment, self.part, self.code = name, link, environment, part, code
        self.objects, self.normal, self.red = {}, {}, set()


PLAIN = Way()


class Judge:
    """tests: as `make check` runs them. trusted: mutants do nothing that could hurt, so that tests which need more than a box
    allows, another user's files for instance, run without."""

    def __init__(self, tests, build, reach, order, trusted=False):
        self.tests, self.reach, self.order, self.trusted, self.unboxed = tests, reach, order, trusted, set()
        self.elsewhere = set(tests) - set(of_code(tests, build))

    def tests_for(self, mutant, way):
        chosen = [test for test in self.tests if test not in self.elsewhere or of_folder(mutant.file, test)]
        if self.reach:
            at = set().union(*(self.reach.tests_at(mutant.file, line) for line in mutant.lines))
            if self.trusted:  # where a test goes that fails in the box was not measured
                at |= {test for test, entry in self.reach.tests.items() if not entry["good"]}
            chosen = [test for test in chosen if test in at or beside(mutant.file, test)]
        return self.order.sort(mutant.file, [test for test in chosen if test not in way.red], way.part)

    def environment(self, test, way):
        return {**dict(way.environment), **({"CUVMM_BOX": "open"} if test in self.unboxed else {})}

    def normal_seconds(self, bench, test, way):
        """The duration of a test on the unchanged engine; None if it fails there and so proves nothing: that is
        printed at once, because later mutants are judged without it. Not of tests that do not work with sanitizers:
        without, they did."""
        if test not in way.normal:
            bench.load(way.objects)
            linked = all(bench.link(product, extra=way.link) for product in bench.products_of(test))
            result = bench.run(test, (600, 300), self.environment(test, way)) if linked else None
            if result and self.trusted and not result.good and way is PLAIN:
                self.unboxed.add(test)
                result = bench.run(test, (600, 300), self.environment(test, way))
            if not result or not result.good or result.skipped:
                way.red.add(test)
                why = "cannot be linked" if not result else "skips" if result.good else f"fails ({result.text})"
                if way is PLAIN:
                    print(f"# {why} on the engine as it is, and is left out: {test}".replace("\n", " ")[:300], flush=True)
            way.normal[test] = result.wall if result else 0
            if way is PLAIN:
                self.order.seconds[test] = way.normal[test]
        return None if test in way.red else way.normal[test]

    def try_on(self, bench, mutant, change, way=PLAIN):
        """(verdict, the test that noticed, its output): "killed", "survived", or "invalid" if it cannot be built."""
        for test in self.tests_for(mutant, way):
            normal = self.normal_seconds(bench, test, way)
            if normal is None:
                continue
            if bench.change is not change:
                bench.load(way.objects, change, way.code)
            if not all(bench.link(product, extra=way.link) for product in bench.products_of(test)):
                return "invalid", test, "does not compile, or cannot be linked"
            result = bench.run(test, benches.limits(normal), self.environment(test, way))
            # Where all is slower and otherwise placed, what fails once may be chance, and so may a want of memory, which
            # other processes have used up.
            if not result.good and (way is not PLAIN or result.why == "memory"):
                runs.wait_for_memory()
                if bench.run(test, benches.limits(normal), self.environment(test, way)).good:
                    continue
            if not result.good:
                self.order.killed(mutant.file, test)
                return "killed", test, f"{way.name}: {result.text}" if way.name else result.text
        return "survived", None, None
