# SPDX-License-Identifier: Apache-2.0
"""Frames of Python as the library reads them, against those of the interpreter: TAP for one interpreter.

    stacks_probe.py LIBRARY
"""
import asyncio
import ctypes
import os
import sys
import threading

FULL, SHORT = 2, 1
released = ctypes.CDLL(sys.argv[1])  # gives the interpreter's lock back around its calls, as bindings do
held = ctypes.PyDLL(sys.argv[1])
released.probe_note.restype = ctypes.c_char_p
points = failures = 0


def ok(good, name, *told):
    global points, failures
    points += 1
    failures += not good
    print("%s %d - %d.%d: %s" % ("ok" if good else "not ok", points, *sys.version_info[:2], name))
    if not good:
        for text in told:
            for line in str(text).splitlines():
                print("#   " + line)


def frames_now():
    """The frames of the caller, as the interpreter has them, nearest first."""
    frame, found = sys._getframe(1), []
    while frame:
        code = frame.f_code
        found.append((code.co_filename, frame.f_lineno, getattr(code, "co_qualname", code.co_name)))
        frame = frame.f_back
    return found


def both(mode=FULL, library=released):
    text = ctypes.create_string_buffer(1 << 16)
    want = [(f, n, q) for f, n, q in frames_now()]; library.probe_stack(text, len(text), mode)  # one line for both
    lines = [line.split("\t") for line in text.value.decode().splitlines()]
    return want, [(line[0], int(line[1]), line[2]) for line in lines if len(line) == 3], len(lines)


class Made:
    def __init__(self, code):
        self.got = code()


def generator():
    for _ in range(2):
        yield both()


async def inner():
    return both()


async def coroutine():
    await asyncio.sleep(0)
    return await inner()


def deep(levels):
    return deep(levels - 1) if levels else both()


def in_sort():
    got = []

    def key(value):
        got.append(both())
        return value

    sorted([3, 1, 2], key=key)
    return got[1]


def in_callback():
    got = []
    function = ctypes.CFUNCTYPE(None)(lambda: got.append(both()))
    function()
    return got[0]


def in_thread(library=released):
    got = []
    thread = threading.Thread(target=lambda: got.append(both(library=library)))
    thread.start()
    thread.join()
    return got[0]


def in_handler():
    got = []
    try:
        raise KeyError("x")
    except KeyError:
        try:
            got.append(both())
        finally:
            pass
    return got[0]


def with_many_lines():
    return (

        both(

        )

    )


class Descriptor:
    @property
    def value(self):
        return both()

    def __getattr__(self, name):
        return both()

    def __add__(self, other):
        return both()


names = {}
exec(compile("\n" * 300 + "def grün(both):\n    return [both() for _ in range(1)][0]\n", "/tmp/数据.py", "exec"), names)

shapes = {
    "a function": lambda: both(),
    "with the lock held": lambda: both(library=held),
    "a class is made": lambda: Made(both).got,
    "a generator": lambda: next(generator()),
    "the second time of a generator": lambda: list(generator())[1],
    "coroutines": lambda: asyncio.run(coroutine()),
    "recursion": lambda: deep(20),
    "called by the C library's callback": in_callback,
    "called in a sort": in_sort,
    "a thread": in_thread,
    "a thread that holds the lock": lambda: in_thread(held),
    "in a handler of exceptions": in_handler,
    "a call of many lines": with_many_lines,
    "a property": lambda: Descriptor().value,
    "an attribute that is made": lambda: Descriptor().other,
    "an operator": lambda: Descriptor() + 1,
    "names and a file in other scripts": lambda: names["grün"](both),
    "map and a lambda": lambda: list(map(lambda _: both(), [0]))[0],
}

for name, shape in shapes.items():
    good, told = True, ("", "")
    for _ in range(60):  # until the interpreter has specialised the code, and the reader has left off checking
        want, got, _ = shape()
        if want != got and good:
            good, told = False, ("want %s" % want, "got  %s" % got)
    ok(good, name, *told)

want, got, count = deep(30)
want, got, count = (lambda: both(mode=SHORT))()
ok(count <= 8 and len(got) >= 2 and got == want[: len(got)], "a short stack has the nearest", want, got, count)
want, got, count = deep(200)
ok(count == 64 and got == want[: len(got)], "a full one ends at 64", count)

# Many at once, while others run Python: nothing is mixed up, and nothing crashes.
wrong = []


def worker(number):
    def run(levels):
        if levels:
            return run(levels - 1)
        return both()

    for i in range(100):
        want, got, _ = run(i % 12)
        if want != got:
            wrong.append((want, got))


threads = [threading.Thread(target=worker, args=(i,)) for i in range(60)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
ok(not wrong, "60 threads", *wrong[:1])

# Code objects come and go, and their memory is used again.
bad = 0
for i in range(2000):
    space = {}
    exec(compile("\n" * (i % 50) + "def made(both): return both()", "made%d.py" % (i % 7), "exec"), space)
    want, got, _ = space["made"](both)
    bad += want != got
ok(bad == 0, "code that is made anew", bad)

child = os.fork()
if child == 0:
    want, got, _ = deep(3)
    os._exit(0 if want == got else 1)
ok(os.waitpid(child, 0)[1] == 0, "in a forked child")
ok(released.probe_note() is None, "there is nothing to note", released.probe_note())

released.probe_cost.restype = ctypes.c_double
print("# a capture takes %.0f ns (short), %.0f ns (full)" % (released.probe_cost(20000, SHORT), released.probe_cost(20000, FULL)))
print("1..%d" % points)
sys.exit(failures > 0)
