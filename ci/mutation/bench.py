# SPDX-License-Identifier: Apache-2.0
"""A place to try mutants in: a copy of the tree, and products that are linked when a test needs them."""
import os
import re
import shutil
import subprocess

import runs

# Products that scripts start, and those that load others at run time.
MENTIONED = re.compile(r"\b((?:bin|lib|fuzz|test|examples)/[\w./-]*[\w-])")
SHELL_PRODUCTS = ("bin/cuvmm", "lib/libcuda.so.1", "lib/libcuvmm-check.so")
MIRRORED = ("bin", "lib", "test", "check", "fuzz", "fake", "examples", "share", "include", "doc")
LEAST_WALL, TIMES = 10, 10
# Of the GNU C library: memory that nobody has set, or that is freed, is not nought, so that what reads it differs.
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


def strip_base(commands, base):
    """Copies of what links take, without debug information, so that they are quick."""
    wanted = {os.path.relpath(w, commands.build) for words in commands.products.values() for w in words
              if w.startswith(commands.build + "/") and w.endswith((".o", ".a"))}
    for path in sorted(wanted):
        made, source = os.path.join(base, path), os.path.join(commands.build, path)
        if is_fresh(made, source):
            continue
        os.makedirs(os.path.dirname(made), exist_ok=True)
        subprocess.run(["objcopy", "-g", source, made], check=True)


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
        self.mirror()
        self.mutated, self.linked = {}, set()
        self.environment = {key: value for key, value in os.environ.items()
                            if not key.startswith(("CUVMM_", "MAKE", "MFLAGS"))}
        self.environment.update(CUVMM_BUILD=self.out, CUVMM_SAN="", CUVMM_TEST_SCALE="20", CUVMM_SOURCE=self.tree,
                                CUVMM_BOX_KEEP=self.kept, **PERTURBED)
        if runs.box_is_open():
            self.environment["CUVMM_BOX"] = "open"

    def mirror(self):
        """out is the build as it is, by links; only scripts that name it are copied."""
        build = self.commands.build
        for folder, folders, files in os.walk(build):
            inside = os.path.relpath(folder, build)
            if inside == ".":
                folders[:] = [f for f in folders if f in MIRRORED]
            os.makedirs(os.path.join(self.out, inside), exist_ok=True)
            for name in files + [f for f in folders if os.path.islink(os.path.join(folder, f))]:
                source, made = os.path.join(folder, name), os.path.join(self.out, inside, name)
                if inside == "check":
                    self.write(made, self.named.sub(self.out, read(source)), mode=0o755)
                else:
                    os.symlink(source, made)
        os.symlink(os.path.join(build, "obj"), os.path.join(self.out, "obj"))

    @staticmethod
    def write(path, text, mode=0o644):
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, mode)

    def products_of(self, test):
        """What a test runs of what is built: itself, or what its script names."""
        inside = os.path.relpath(test, self.commands.build) if test.startswith(self.commands.build + "/") else test
        if inside in self.commands.products:
            needed = [inside] + (["lib/libcuda.so.1"] if "-lcuda" in self.commands.products[inside] else [])
        elif inside.startswith("check/"):
            text = read(os.path.join(self.out, inside)).replace(self.out + "/", " ")
            for script in re.findall(r"(?<![\w/.-])ci/[\w-]+", text):  # not a folder ci of where this lies
                text += read(os.path.join(self.tree, script))
            needed = MENTIONED.findall(text)
        else:
            needed = list(SHELL_PRODUCTS) + MENTIONED.findall(read(os.path.join(self.tree, inside)))
        return [p for p in dict.fromkeys(needed) if p in self.commands.products]

    def link(self, product, compiler=None, extra=()):
        """False when it cannot be linked. compiler: another one than the build's."""
        if product in self.linked:
            return True
        made = os.path.join(self.out, product)
        if os.path.lexists(made):
            os.unlink(made)
        self.linked.add(product)
        command = self.commands.link(product, self.out, self.base, self.mutated, [*self.linker, *extra])
        command[:1] = [compiler or command[0]]
        return subprocess.run(command, cwd=self.tree, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    def load(self, mutated):
        """From now on products are linked with these objects; what was linked with others is taken away."""
        for product in self.linked:
            made = os.path.join(self.out, product)
            if os.path.lexists(made):
                os.unlink(made)
            os.symlink(os.path.join(self.commands.build, product), made)
        self.linked, self.mutated = set(), mutated

    def run(self, test, limit, environment=()):
        if test.startswith(self.commands.build + "/"):
            command = [os.path.join(self.out, os.path.relpath(test, self.commands.build))]
        else:
            command = [os.path.join(self.tree, test)]
        return runs.run(command, self.tree, self.tmp, limit, {**self.environment, **dict(environment)})

    def compile(self, source, made, compiler=None, extra=()):
        words = self.commands.compile(source, made, extra)
        words[:1] = [compiler or words[0]]
        return subprocess.run(words, cwd=self.tree, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def limits(normal):
    """(seconds of processor time for a process, seconds in all) for a test that takes so many seconds."""
    return (int(TIMES * normal) + 1, max(LEAST_WALL, TIMES * normal))
