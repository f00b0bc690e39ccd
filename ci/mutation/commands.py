# SPDX-License-Identifier: Apache-2.0
"""How make builds each object and each product, read from what it would do, so that it stands in the Makefile alone."""
import os
import re
import shlex
import subprocess


class Commands:
    """objects: {source: command}; products: {path below BUILD: command}; tests: paths as `make check` runs them."""

    def __init__(self, build):
        self.build = build
        self.objects, self.products = {}, {}
        said = subprocess.run(["make", "-n", "-B", f"BUILD={build}", "check-build"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
        for line in said.replace("\\\n", " ").splitlines():
            if " -o " in line and not re.search(r"[;|>]", line):
                self.learn(shlex.split(line))
        listed = subprocess.run(["make", "-s", f"BUILD={build}", "check-list-few"], stdout=subprocess.PIPE, text=True, check=True)
        self.tests = listed.stdout.split()

    def learn(self, words):
        made = words[words.index("-o") + 1]
        if "-c" in words:
            self.objects.setdefault(words[-1], words)
        elif made.startswith(self.build + "/"):
            self.products[os.path.relpath(made, self.build)] = words

    def object_of(self, source):
        words = self.objects[source]
        return os.path.relpath(words[words.index("-o") + 1], self.build)

    def compile(self, source, made, extra=()):
        """The command without what does not change code: debug information, dependencies. Warnings are errors, as in CI."""
        words = [w for w in self.objects[source] if not re.match(r"-(g|MMD$|MP$)", w)]
        words[words.index("-o") + 1] = made
        return words + ["-Werror", *extra]

    def link(self, product, out, base, mutated, extra=()):
        """The link of a product into `out`, of what lies in `base`, with `mutated` ({object: its place}) instead."""
        words, result, placed = self.products[product], [], set()
        for at, word in enumerate(words):
            path = os.path.relpath(word, self.build) if word.startswith(self.build + "/") else None
            if at and words[at - 1] == "-o":
                result.append(os.path.join(out, product))
            elif path in mutated:
                result.append(mutated[path])
                placed.add(path)
            elif path and path.endswith((".o", ".a")):
                # Before the archive, so that the linker has these names already when it comes to the one with the originals.
                if path.startswith("lib/libcuvmm") and path.endswith(".a"):
                    result += [place for name, place in mutated.items() if name not in placed]
                    placed.update(mutated)
                result.append(os.path.join(base, path))
            elif not re.match(r"-g|-ffile-prefix-map=", word):
                result.append(word.replace(self.build + "/", out + "/"))
        return result + list(extra)
