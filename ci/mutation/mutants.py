# SPDX-License-Identifier: Apache-2.0
"""Mutants: one line of a file in another form. Generation, naming and selection."""
import hashlib
import json
import re
import subprocess

TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', re.S)


def without_comments(text):
    """The same lines without comments, so that no mutant changes prose; a line with a trailing comment stays code."""
    def blank(match):
        return match[0] if match[0][0] in "\"'" else "\n" * match[0].count("\n")
    return [line.rstrip() + "\n" for line in TOKEN.sub(blank, text).split("\n")][:-1]


class Mutant:
    """old and new are texts without the space around them; nth tells lines with one text apart, and survives edits."""

    def __init__(self, file, line, nth, indent, old, new):
        self.file, self.line, self.nth, self.indent, self.old, self.new = file, line, nth, indent, old, new
        name = "\0".join((file, str(nth), old, new))
        self.id = hashlib.sha256(name.encode()).hexdigest()[:10]

    @property
    def lines(self):
        return [self.line]

    def title(self):
        return f"{self.file}:{self.line} {self.id}"

    def again(self):
        return f"make mutate FILES={self.file} ONLY={self.id}"

    def shown(self):
        return [self.old], self.new.split("\n")

    def apply(self, lines):
        text = "".join(self.indent + part + "\n" for part in self.new.split("\n"))
        return "".join(lines[:self.line - 1]) + text + "".join(lines[self.line:])


def rank(seed, mutant):
    return hashlib.sha256(f"{seed}:{mutant.id}".encode()).hexdigest()


def plain(text):
    return "\n".join(part.strip() for part in text.strip().split("\n"))


def ordinals(lines):
    """For each line, the number of earlier lines with the same text."""
    seen, of_line = {}, []
    for line in map(str.strip, lines):
        of_line.append(seen.get(line, 0))
        seen[line] = of_line[-1] + 1
    return of_line


def make(tool, sources):
    """{file: [Mutant]} of {file: lines}, as the command `tool` makes them."""
    asked = "".join(json.dumps({"file": file, "lines": lines}) + "\n" for file, lines in sources.items())
    said = subprocess.run(tool, input=asked, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
    made = {}
    for answer in map(json.loads, said.splitlines()):
        lines, found = sources[answer["file"]], {}
        nth = ordinals(lines)
        for number, text in answer["mutants"]:
            old = lines[number - 1]
            indent = old[:len(old) - len(old.lstrip())]
            mutant = Mutant(answer["file"], number, nth[number - 1], indent, plain(old), plain(text))
            if mutant.old != mutant.new:
                found[mutant.id] = mutant
        made[answer["file"]] = list(found.values())
    return made


def shares(made, count):
    """Each file's share of `count`: proportional to its number of mutants, at least two."""
    total = sum(len(of_file) for of_file in made.values()) or 1
    return {file: min(len(of_file), max(2, round(count * len(of_file) / total))) for file, of_file in made.items()}
