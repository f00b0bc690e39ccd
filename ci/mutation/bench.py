# SPDX-License-Identifier: Apache-2.0
"""A workspace for trying mutants: a copy of the tree, and products that are linked when a test needs them."""
import concurrent.futures
import os
import re
import shutil
import subprocess

import runs

# Products that scripts start, and those that load others at run time.
MENTIONED = re.compile(r"\b((?:bin|lib|fuzz|test|examples)/[\w./-]*[\w-])")
SHELL_PRODUCTS = ("bin/cuvmm", "lib/libcuda.so.1", "lib/libcuvmm-check.so", "lib/libcuvmm-device-files.so", "lib/libcudart.so.12",
                  "lib/libcudart.so.13", "lib/libnvidia-ml.so.1")
MIRRORED = ("bin", "lib", "test", "check", "fuzz", "fake", "examples", "share", "include", "doc")
LEAST_WALL, TIMES = 10, 10
# A setting of the GNU C library: unset and freed memory is not zero, so that reading it changes the result.
PERTURBED = {"MALLOC_PERTURB_": "165"}


def read(path):
    with open(path) as file:
        return file.read()


def copy_tree(top, into, build):
    def left_out(folder, names):
        return [n for n in names if n == ".git" or os.path.join(folder, n) == build or n in ("build", "__pycache__")]
    shutil.copytree(top, into, symlinks=True, ignore=left_out)


def is_fresh(made, *sources):
    return os.path.exists(made) and all(os.path.getmtime(made) >= os.path.getmtime(source) for source in sources)


def each(jobs, work, items):
    """work(item) of all items, `jobs` at a time; what goes wrong in one of them goes wrong here."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(work, items))


def strip_base(commands, base, jobs):
    """Copies of linked objects without debug information, so that linking is fast; archives refer to them."""
    wanted = {part for product in [*commands.products, *commands.archives] for part in commands.parts(product)}

    def strip(path):
        made, source = os.path.join(base, path), os.path.join(commands.build, path)
        if not is_fresh(made, source):
            os.makedirs(os.path.dirname(made), exist_ok=True)
            subprocess.run(["objcopy", "-g", source, made], check=True)

    each(jobs, strip, sorted(wanted - set(commands.archives)))
    for path in commands.archives:
        archive(os.path.join(base, path), [os.path.join(base, part) for part in commands.parts(path)])


def archive(made, members):
    os.makedirs(os.path.dirname(made), exist_ok=True)
    if os.path.exists(made):
        os.unlink(made)
    subprocess.run(["ar", "rcs", "--thin", made, *members], check=True)


class Change:
    """A file with changed text; made: objects already compiled from it, {object or archive: its path}."""

    def __init__(self, file, text, made=()):
        self.file, self.text, self.made = file, text, dict(made)


class NotMade(Exception):
    """An object does not compile."""


class Bench:
    def __init__(self, number, top, work, commands):
        self.commands = commands
        self.linker = ["-fuse-ld=lld"] if shutil.which("ld.lld") else []
        self.base = os.path.join(work, "base")
        self.folder = os.path.join(work, f"bench{number}")
        self.tree, self.out = os.path.join(self.folder, "tree"), os.path.join(self.folder, "out")
        self.tmp = os.path.join(self.folder, "tmp")
        # Scripts name the build as it was given to make.
        names = "|".join(map(re.escape, (commands.build, os.path.relpath(commands.build, top))))
        self.named = re.compile(rf"(?<![\w/.-])({names})(?=[/\s]|$)")
        self.kept = self.folder
        shutil.rmtree(self.folder, ignore_errors=True)
        copy_tree(top, self.tree, commands.build)
        os.makedirs(self.tmp)
        self.mirror(top)
        self.linked, self.placed, self.stale, self.code, self.change, self.shown = set(), {}, set(), (), None, None
        self.environment = {key: value for key, value in os.environ.items()
                            if not key.startswith(("CUVMM_", "MAKE", "MFLAGS"))}
        self.environment.update(CUVMM_BUILD=self.out, CUVMM_SAN="", CUVMM_TEST_SCALE="20", CUVMM_SOURCE=self.tree,
                                CUVMM_BOX_KEEP=self.kept, **PERTURBED)
        if runs.box_is_open():
            self.environment["CUVMM_BOX"] = "open"

    def mirror(self, top):
        """out is the build as it is, by links; only scripts that name it are copied, and links to the tree lead to this one."""
        build = self.commands.build
        for folder, folders, files in os.walk(build):
            inside = os.path.relpath(folder, build)
            if inside == ".":
                folders[:] = [f for f in folders if f in MIRRORED]
            os.makedirs(os.path.join(self.out, inside), exist_ok=True)
            for name in files + [f for f in folders if os.path.islink(os.path.join(folder, f))]:
                source, made = os.path.join(folder, name), os.path.join(self.out, inside, name)
                target = os.readlink(source) if os.path.islink(source) else source
                if inside == "check":
                    self.write(made, self.named.sub(self.out, read(source)), mode=0o755)
                elif target.startswith(top + "/") and not target.startswith(build + "/"):
                    os.symlink(os.path.join(self.tree, os.path.relpath(target, top)), made)
                else:
                    os.symlink(source, made)
        os.symlink(os.path.join(build, "obj"), os.path.join(self.out, "obj"))

    @staticmethod
    def write(path, text, mode=0o644):
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, mode)

    def libraries_of(self, product):
        """The shared libraries of the build that a program is linked with, by -lNAME or by path."""
        words = self.commands.products[product]
        return [f"lib/lib{word[2:]}.so.1" for word in words if word.startswith("-l")] + \
            [self.commands.inside(word) for word in words if re.search(r"/lib/lib[\w.-]*\.so[.\d]*$", word)]

    def products_of(self, test):
        """The built programs that a test runs: itself, or those that its script names."""
        inside = os.path.relpath(test, self.commands.build) if test.startswith(self.commands.build + "/") else test
        if inside in self.commands.products:
            needed = [inside] + self.libraries_of(inside)
        elif inside.startswith("check/"):
            text = read(os.path.join(self.out, inside)).replace(self.out + "/", " ")
            for script in re.findall(r"(?<![\w/.-])ci/[\w-]+", text):  # not a folder ci of where this lies
                text += read(os.path.join(self.tree, script))
            needed = MENTIONED.findall(text)
        else:
            needed = list(SHELL_PRODUCTS) + MENTIONED.findall(read(os.path.join(self.tree, inside)))
        return [p for p in dict.fromkeys(needed) if p in self.commands.products]

    def place(self, path):
        """The path of an object or archive for linking: the changed one, if it is made from the changed file."""
        if path in self.commands.archives:
            if path not in self.placed:
                parts = {part: self.place(part) for part in self.commands.parts(path)}
                self.placed[path] = os.path.join(self.base, path)
                if any(place != os.path.join(self.base, part) for part, place in parts.items()):
                    self.placed[path] = os.path.join(self.folder, "changed", path)
                    archive(self.placed[path], list(parts.values()))
                    self.keep(path)
        elif path not in self.placed and path in self.stale:
            self.placed[path] = os.path.join(self.folder, "changed", path)
            os.makedirs(os.path.dirname(self.placed[path]), exist_ok=True)
            if not self.compile_changed(self.change, path, self.placed[path], self.code):
                raise NotMade(path)
            self.keep(path)
        return self.placed.get(path) or os.path.join(self.base, path)

    def keep(self, path):
        """It is made once for a change, which may be loaded several times."""
        if self.change:
            self.change.made[path] = self.placed[path]

    def link(self, product, compiler=None, extra=()):
        """False when it cannot be compiled or linked. compiler: another one than the build's."""
        if product in self.linked:
            return True
        made = os.path.join(self.out, product)
        if os.path.lexists(made):
            os.unlink(made)
        self.linked.add(product)
        try:
            command = self.commands.link(product, self.out, self.place) + [*self.linker, *extra]
        except NotMade:
            return False
        command[:1] = [compiler or command[0]]
        return subprocess.run(command, cwd=self.tree, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    def load(self, objects, change=None, code=()):
        """From now on products are linked with these objects and, compiled with the flags `code`, with those that are made of the
        changed file. A file that only scripts compile is changed in the tree. Earlier linked products are removed."""
        for product in self.linked:
            made = os.path.join(self.out, product)
            if os.path.lexists(made):
                os.unlink(made)
            os.symlink(os.path.join(self.commands.build, product), made)
        if self.shown:
            self.put(*self.shown)
        self.linked, self.placed, self.stale, self.code, self.change = set(), dict(objects), set(), code, change
        self.shown = None
        if change:
            self.stale = self.commands.made_of.get(change.file, set())
            if not self.stale:
                self.shown = (change.file, self.put(change.file, change.text))
            for name in self.stale:
                self.placed.pop(name, None)
            self.placed.update(change.made)

    def put(self, file, text):
        """The text that it had; the time stays: what scripts have make build is up to date as it was."""
        path = os.path.join(self.tree, file)
        was, times = read(path), os.stat(path)
        with open(path, "w") as opened:
            opened.write(text)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        return was

    def run(self, test, limit, environment=()):
        if test.startswith(self.commands.build + "/"):
            command = [os.path.join(self.out, os.path.relpath(test, self.commands.build))]
        else:
            command = [os.path.join(self.tree, test)]
        return runs.run(command, self.tree, self.tmp, limit, {**self.environment, **dict(environment)})

    def compile(self, name, made, compiler=None, extra=()):
        words = self.commands.compile(name, made, extra)
        words[:1] = [compiler or words[0]]
        return subprocess.run(words, cwd=self.tree, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    def compile_changed(self, change, name, made, extra=()):
        was = self.put(change.file, change.text)
        compiled = self.compile(name, made, extra=extra)
        self.put(change.file, was)
        return compiled


def limits(normal):
    """(seconds of processor time for a process, seconds in all) for a test that takes so many seconds."""
    return (int(TIMES * normal) + 1, max(LEAST_WALL, TIMES * normal))
