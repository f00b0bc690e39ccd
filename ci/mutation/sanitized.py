"""The engine with AddressSanitizer and UndefinedBehaviorSanitizer, for a second look at what no test has noticed."""
import glob
import os
import shutil
import threading

import judge as judges
import reach as reaches

KINDS = "-fsanitize=address,undefined"
CODE = ("-w", "-O1", "-U_FORTIFY_SOURCE", KINDS, "-fno-sanitize-recover=all", "-fno-omit-frame-pointer")
WAY = judges.Way("with sanitizers", (KINDS,),
                 {"CUVMM_SAN": KINDS, "CUVMM_BOX_DATA": "unlimited", "ASAN_OPTIONS": "hard_rss_limit_mb=4096"}, part=1 / 6)


class Engine:
    """Its objects are made when the first mutant wants them, and kept while no source changes."""

    def __init__(self, work, commands, sources):
        self.folder, self.commands, self.sources = os.path.join(work, "sanitized"), commands, sources
        self.lock, self.asked = threading.Lock(), False

    def way(self, bench):
        """The way to try mutants with sanitizers; None where the compiler has none."""
        with self.lock:
            if not self.asked:
                self.asked = True
                WAY.objects = self.objects(bench)
            return WAY if WAY.objects else None

    def objects(self, bench):
        stamp = os.path.join(self.folder, "of")
        texts = sorted(glob.glob("backend_sim/*.[ch]") + glob.glob("api/*.h"))
        of = " ".join(CODE) + reaches.digest(*texts)
        made = {self.commands.object_of(source): os.path.join(self.folder, os.path.basename(source)[:-2] + ".o")
                for source in self.sources}
        if os.path.exists(stamp):
            with open(stamp) as kept:
                if kept.read() == of:
                    return made
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        for source in self.sources:
            if not bench.compile(source, made[self.commands.object_of(source)], extra=CODE):
                return {}
        bench.write(stamp, of)
        return made
