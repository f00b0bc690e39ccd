# SPDX-License-Identifier: Apache-2.0
"""The commands with which make builds each object, archive and product, taken from its dry run, so that only the
Makefile defines them."""
import glob
import os
import re
import shlex
import subprocess


class Commands:
    """objects, archives, products: {path below BUILD: command}; tests: paths as `make check` runs them."""

    def __init__(self, build):
        self.build = build
        self.objects, self.archives, self.products, self.made_of = {}, {}, {}, {}
        # Without the module for browsers, which no test compares with a mutant.
        said = subprocess.run(["make", "-n", "-B", f"BUILD={build}", "CHECK_WEB=", "check-build"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
        for line in said.replace("\\\n", " ").splitlines():
            if not re.search(r"[;|>]", line) and re.search(r" -o |\.a ", line):
                self.learn(shlex.split(line))
        listed = subprocess.run(["make", "-s", f"BUILD={build}", "check-list-few"], stdout=subprocess.PIPE, text=True, check=True)
        self.tests = listed.stdout.split()
        self.read_dependencies()

    def inside(self, path):
        return os.path.relpath(path, self.build) if path.startswith(self.build + "/") else None

    def learn(self, words):
        if "-o" not in words:
            archive = next((word for word in words if word.endswith(".a")), "")
            if self.inside(archive):
                self.archives[self.inside(archive)] = [word for word in words if word.endswith(".o")]
        elif "-c" in words:
            made = self.inside(words[words.index("-o") + 1])
            self.objects[made] = words
            self.made_of.setdefault(words[-1], set()).add(made)
        elif self.inside(words[words.index("-o") + 1]):
            self.products[self.inside(words[words.index("-o") + 1])] = words

    def read_dependencies(self):
        """made_of: {source or header: the objects that are compiled from it}, including dependencies that the
        compiler wrote at the last build."""
        for path in glob.glob(os.path.join(self.build, "obj", "**", "*.d"), recursive=True):
            made = os.path.relpath(path, self.build)[:-2] + ".o"
            if made in self.objects:
                with open(path) as text:
                    first = text.read().replace("\\\n", " ").split("\n", 1)[0]
                for source in first.split(":", 1)[1].split():
                    self.made_of.setdefault(os.path.normpath(source), set()).add(made)

    def object_of(self, source):
        return min(made for made in self.made_of[source] if self.objects[made][-1] == source)

    def compiles(self, source):
        """Files of other systems are not part of this build."""
        return any(self.objects[made][-1] == source for made in self.made_of.get(source, ()))

    def sources(self):
        """Compiled files that are not tests."""
        return sorted({words[-1] for words in self.objects.values()
                       if words[-1].endswith(".c") and not words[-1].endswith("_test.c") and not os.path.isabs(words[-1])})

    def seconds(self):
        """{test: its duration} in the last `make check` of this build (ci/tap_run.c); unknown for others."""
        taken = {}
        for test in self.tests:
            kept = os.path.relpath(test).replace("/", "_")
            try:
                with open(os.path.join(self.build, "tap", kept + ".time")) as text:
                    began, ended = text.read().split()[-2:]
                taken[test] = float(ended) - float(began)
            except (OSError, ValueError):
                continue
        return taken

    def compile(self, name, made, extra=()):
        """The command for an object without what does not change code: debug information, dependencies, warnings as errors."""
        words = [w for w in self.objects[name] if not re.match(r"-(g|MMD$|MP$|Werror$)", w)]
        words[words.index("-o") + 1] = made
        return words + list(extra)

    def parts(self, product):
        """Of a product or an archive: the objects and archives that it is linked of."""
        words = self.products.get(product) or self.archives[product]
        return [self.inside(word) for word in words if word.endswith((".o", ".a")) and self.inside(word)]

    def link(self, product, out, place):
        """The link of a product into `out`, of what place(object or archive) says."""
        words, result = self.products[product], []
        for at, word in enumerate(words):
            if at and words[at - 1] == "-o":
                result.append(os.path.join(out, product))
            elif word.endswith((".o", ".a")) and self.inside(word):
                result.append(place(self.inside(word)))
            elif not re.match(r"-g|-ffile-prefix-map=", word):
                result.append(word.replace(self.build + "/", out + "/"))
        return result
