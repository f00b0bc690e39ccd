#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""verdicts.py HEAD TABLE PTXAS CC [SEED [COUNT]]: instructions made of the simulator's table (ptx_table.def), right and wrong ones, each with
ptxas's word: "+<TAB>instruction" where it takes it, "-" where not. HEAD is a file with what stands before an instruction (verdicts.h).

ptxas names every line that is wrong, but stops at the first that it cannot parse: that one is taken out, and the rest asked again."""
import random
import re
import subprocess
import sys
import tempfile

SETS = {
    "i": "u16|u32|u64|s16|s32|s64", "b": "b16|b32|b64", "r": "rn|rz|rm|rp", "l": "and|or|xor", "s": "cta|cluster|gpu|sys",
    "c": "eq|ne|lt|le|gt|ge|lo|ls|hi|hs|equ|neu|ltu|leu|gtu|geu|num|nan", "n": "f16|f16x2|bf16|bf16x2", "p": "L2::64B|L2::128B|L2::256B",
    "k": "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate",
    "h": "L2::evict_normal|L2::evict_first|L2::evict_last", "t": "b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64",
}
BITS = {"f16x2": 32, "bf16x2": 32, "u16x2": 32, "s16x2": 32, "f32x2": 64, "e4m3x2": 16, "e5m2x2": 16, "bf16": 16, "tf32": 32, "pred": 1}
BITS.update({kind + size: int(size) for kind in "busf" for size in ("8", "16", "32", "64", "128")})
OTHERS = "%h{} %r{} %rd{} %f{} %fd{} %p{} %u32_{} %s32_{} %u64_{} %u16_{} %s16_{} %b8_{} %f16_{} %f16x2_{} %rq{}".split()
WIDER = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}
SPACES = {"shared": "shar", "shared::cta": "shar", "local": "loca", "const": "cons", "param": "par", "param::entry": "par"}
CHUNK = 40
rand = random.Random()


def rows(table, cc):
    text = '#define ROW(opcode, ...) ROW opcode __VA_ARGS__\n#include "%s"\n' % table
    made = subprocess.run([cc, "-E", "-P", "-x", "c", "-"], input=text, capture_output=True, text=True, check=True).stdout
    for row in re.findall(r"ROW (\w+) ((?:[^R]|R(?!OW))*)", made):
        strings = re.findall(r'"([^"]*)"', row[1])
        yield row[0], "".join(strings[:-1]), strings[-1]


def choices(element):
    for one in element.split("|"):
        yield from SETS[one[1]].split("|") if one.startswith("@") else [one]


def register(kind):
    number = rand.randrange(1, 4)
    if kind != "pred" and rand.random() < 0.12:
        return rand.choice(OTHERS).format(number)
    names = {"pred": "%p", "f32": "%f", "f64": "%fd"}
    bits = BITS[kind]
    by_bits = "%h" if bits <= 16 else "%r" if bits == 32 else "%rd" if bits == 64 else "%rq"
    return names.get(kind, by_bits) + str(number)


def source(kind):
    chance = rand.random()
    if chance < 0.12:
        return rand.choice(["1", "0x10", "-3", "7U"])
    if chance < 0.17:
        return rand.choice(["0f3F800000", "0d3FF0000000000000", "1.5"])
    if chance < 0.19:
        return "%tid.x"
    return ("!" if rand.random() < 0.03 else "") + register(kind)


def by_letters(letters, kinds):
    first, second = (kinds + ["b32", "b32"])[:2] if kinds else ("b32", "b32")
    out = []
    for letter in letters:
        if letter == "q":
            if rand.random() < 0.4:
                out[-1] += "|" + register("pred")
        elif letter == "P":
            out.append(rand.choice(["", "!"]) + register("pred"))
        elif letter == "i":
            out.append(str(rand.randrange(256)))
        else:
            kind = {"b": second, "U": "u32", "u": "u32", "p": "pred"}.get(letter, first)
            kind = WIDER.get(kind, kind) if letter in "DA" else kind
            out.append(register(kind) if letter in "dDUp" else source(kind))
    return out


def address(modifiers):
    chance, offset = rand.random(), rand.choice(["", "+4", "+16", "+-8"])
    if chance < 0.6:
        return ("[%rd1" if chance < 0.5 else "[%r1") + offset + "]"
    name = next((SPACES[m] for m in modifiers if m in SPACES), "glob")
    name = rand.choice(list(SPACES.values())) if rand.random() < 0.1 else name
    return "[" + name + rand.choice(["", "+4", "+8"]) + "]"


def vector(kind, modifiers, make):
    count = next((int(m[1]) for m in modifiers if m in ("v2", "v4", "v8")), 1)
    return make(kind) if count == 1 else "{" + ",".join(make(kind) for _ in range(count)) + "}"


def of_memory(opcode, modifiers, kind):
    to, value, at = vector(kind, modifiers, register), vector(kind, modifiers, source), address(modifiers)
    if opcode in ("ld", "ldu") or "ld_reduce" in modifiers:
        out = [to, at]
    elif opcode == "atom":
        out = [to, at, value] + ([source(kind)] if "cas" in modifiers else [])
    else:
        out = [at, value]
    return out + (["%rd5"] if "L2::cache_hint" in modifiers else [])


def of_move(kind):
    chance, half = rand.random(), "b%d" % (BITS[kind] // 2)
    if chance < 0.3 and kind[0] == "b" and BITS[kind] > 16:
        parts = "{%s,%s}" % (register(half), register(half) if chance < 0.2 else "_")
        return [register(kind), parts] if chance < 0.15 else [parts, register(kind)]
    special = ["%tid.x", "%laneid", "%clock64", "glob", "shar+4", "loca", "par", "callee", "%lanemask_lt", "%warpid", "WARP_SZ"]
    return [register(kind), rand.choice(special) if chance < 0.4 else source(kind)]


def of_threads(opcode, modifiers, kind):
    answer = register("b32")
    if opcode in ("bar", "barrier") and "red" in modifiers:
        return [answer if "popc" in modifiers else "%p1", "0"] + rand.choice([[], ["64"]]) + [rand.choice(["%p2", "!%p2"])]
    return {
        "bar": [rand.choice(["0", "%r1", "15"])] + rand.choice([[], ["64"], ["%r2"]]),
        "shfl": [answer + rand.choice(["", "|%p1"]), source("b32"), source("u32"), source("u32")] + (["%r1"] if "sync" in modifiers else []),
        "vote": [answer if "ballot" in modifiers else "%p1", rand.choice(["%p2", "!%p2"])] + (["%r1"] if "sync" in modifiers else []),
        "match": [answer + rand.choice(["", "|%p1"]), source(kind), "%r1"],
        "elect": ["%r1|%p1", "%r2"], "mapa": [register(kind), source(kind), "%r1"], "getctarank": ["%r1", source(kind)],
    }["bar" if opcode == "barrier" else opcode]


def by_opcode(opcode, modifiers, kinds):
    kind, other = (kinds or ["b32"])[0], (kinds or ["b32"])[-1]
    if opcode in ("ld", "ldu", "st", "atom", "red", "multimem"):
        return of_memory(opcode, modifiers, kind)
    if opcode in ("bar", "barrier", "shfl", "vote", "match", "elect", "mapa", "getctarank"):
        return of_threads(opcode, modifiers, kind)
    if opcode == "cvt" and "pack" in modifiers:
        return [register("b32"), source("s32"), source("s32")] + ([source("b32")] if "b32" in modifiers else [])
    if opcode == "cp":
        copy = ["[%r1]", "[%rd1]", rand.choice(["4", "8", "16"])] + rand.choice([[], ["%r2"]]) + (["%rd5"] if "L2::cache_hint" in modifiers else [])
        return ["2"] if "wait_group" in modifiers else copy
    policy = ["[%rd2]", "%r1", "%r2"] if "range" in modifiers else ["0f3F800000"] if "fractional" in modifiers else ["%rd2"]
    return {
        "cvt": lambda: [register(kind), source(other)], "mov": lambda: of_move(kind),
        "cvta": lambda: [register(kind), rand.choice([source(kind), "glob", "shar", "cons", "par", "loca"])],
        "isspacep": lambda: ["%p1", rand.choice(["%rd1", "%r1"])], "lop3": lambda: ["%r1|%p1", "%r2", "%r3", "%r4", "5", "%p2"],
        "prefetch": lambda: ["[%rd1]"], "prefetchu": lambda: ["[%rd1]"], "applypriority": lambda: ["[%rd1]", "128"],
        "discard": lambda: ["[%rd1]", "128"], "createpolicy": lambda: ["%rd1"] + policy, "pmevent": lambda: ["1"],
        "alloca": lambda: ["%rd1", "%rd2"] + rand.choice([[], ["8"], ["16"]]), "setmaxnreg": lambda: ["40"],
    }.get(opcode, lambda: None)()


def instruction(table):
    opcode, pattern, letters = rand.choice(table)
    modifiers = []
    for element in pattern.split():
        if element[0] != "?" or rand.random() > 0.6:
            modifiers += rand.choice(list(choices(element.lstrip("?")))).split("+")
    chance = rand.random()
    if chance < 0.06 and modifiers:
        modifiers.pop(rand.randrange(len(modifiers)))
    elif chance < 0.12:
        element = rand.choice((rand.choice(table)[1] or "rn").split()).lstrip("?")
        modifiers.insert(rand.randrange(len(modifiers) + 1), rand.choice(list(choices(element))).split("+")[0])
    kinds = [m for m in modifiers if m in BITS]
    operands = by_opcode(opcode, modifiers, kinds) if letters == "*" else by_letters(letters, kinds)
    if operands is None:
        return None
    chance = rand.random()
    if chance < 0.03 and operands:
        operands.pop()
    elif chance < 0.06:
        operands.append(source("b32"))
    return opcode + "".join("." + m for m in modifiers) + " " + ", ".join(operands) + ";"


def refused(head, lines, ptxas):
    """The indexes of those that it refuses."""
    wrong, left_out, before = set(), set(), head.count("\n") + 1
    while True:
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
            file.write(head + "\n".join("" if i in left_out else line for i, line in enumerate(lines)) + "\nret;\n}\n")
            file.flush()
            said = subprocess.run([ptxas, "-arch=sm_90a", file.name, "-o", "/dev/null"], capture_output=True, text=True, check=False)
        again = False
        for line, kind, text in re.findall(r"line (\d+); *(error|fatal) *: (.*)", said.stderr + said.stdout):
            i = min(max(int(line) - before, 0), len(lines) - 1)
            wrong.add(i)
            if i not in left_out and (kind == "fatal" or re.search("arsing|yntax|cp.async", text)):
                left_out.add(i)
                again = True
        if not again:
            return wrong


def main():
    head_file, table_file, ptxas, cc = sys.argv[1:5]
    rand.seed(int(sys.argv[5]) if len(sys.argv) > 5 else 7)
    count = int(sys.argv[6]) if len(sys.argv) > 6 else 3000
    table, lines = list(rows(table_file, cc)), {}
    while len(lines) < count:
        line = instruction(table)
        if line:
            lines[line] = True
    lines = list(lines)
    with open(head_file, encoding="ascii") as file:
        head = file.read()
    for at in range(0, count, CHUNK):
        wrong = refused(head, lines[at : at + CHUNK], ptxas)
        for i, line in enumerate(lines[at : at + CHUNK]):
            print(("-" if i in wrong else "+") + "\t" + line)


main()
