# SPDX-License-Identifier: Apache-2.0
"""The engine with AddressSanitizer and UndefinedBehaviorSanitizer, for a second look at what no test has noticed."""
import os
import threading

import bench as benches
import judge as judges

KINDS = "-fsanitize=address,undefined"
CODE = ("-w", "-O1", "-U_FORTIFY_SOURCE", KINDS, "-fno-sanitize-recover=all", "-fno-omit-frame-pointer")
# The limits of a mutant. (hard_rss_limit_mb would start a thread that opens a file ten times a second, and tests that count
# descriptors failed of it.)
LIMIT = "mmap_limit_mb=4096"
WAY = judges.Way("with sanitizers", (KINDS,), {"CUVMM_SAN": KINDS, "CUVMM_BOX_DATA": "unlimited", "ASAN_OPTIONS": LIMIT},
                 part=1 / 6, code=CODE)


class Engine:
    """Its objects are made when the first mutant wants them, and kept while the build's are."""

    def __init__(self, work, commands, sources, jobs):
        self.folder, self.commands, self.sources, self.jobs = os.path.join(work, "sanitized"), commands, sources, jobs
        self.lock, self.asked = threading.Lock(), False

    def way(self, bench):
        """The way to try mutants with sanitizers; None where the compiler has none."""
        with self.lock:
            if not self.asked:
                self.asked = True
                WAY.objects = self.objects(bench)
            return WAY if WAY.objects else None

    def objects(self, bench):
        """{object: its place}; as fresh as the build's own, which make keeps up with every header."""
        os.makedirs(self.folder, exist_ok=True)

        def sanitize(source):
            name = self.commands.object_of(source)
            made, built = os.path.join(self.folder, name.replace("/", "-")), os.path.join(self.commands.build, name)
            good = benches.is_fresh(made, built, __file__) or bench.compile(name, made, extra=CODE)
            return name, made if good else None

        objects = dict(benches.each(self.jobs, sanitize, self.sources))
        return objects if all(objects.values()) else {}
