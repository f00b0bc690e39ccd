#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of `make web` in a headless Chromium: its size, how long it takes to open, what a line and a drawn step cost, and 10,000 lines.

    bench/web.py [BUILD]        build

A step is a line that is typed until the picture stands: the module's work, layout and painting. Needs what the test of the page needs
(ci/setup --all).
"""
import gzip
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools", "view"))
sys.dont_write_bytecode = True
import browser

# Lines of a pool that grows and shrinks: 300 mappings at a time.
LINES = """
const lines = ['init', 'c = context dev0', 'r = reserve 512gran'];
for (let i = 0; lines.length < arguments[0]; i++) {
  const at = i % 400;
  if (i >= 300) { const old = (i - 300) % 400; lines.push(`unmap r+${old}gran 1gran`, `release h${old}`); }
  lines.push(`h${at} = create 1gran dev0`, `map r+${at}gran 1gran h${at}`, `access r+${at}gran 1gran dev0:rw`);
}
"""

CALLS = LINES + """
const api = cuvmm.module(), times = [];
api.web_open('', 80);
for (const line of lines) { const from = performance.now(); api.web_line(line); times.push(performance.now() - from); }
return times;
"""

STEPS = LINES + """
const done = arguments[arguments.length - 1], times = [];
cuvmm.module().web_open('', 80);
const step = i => {
  if (i === lines.length) return done(times);
  requestAnimationFrame(() => {
    const from = performance.now();
    cuvmm.runLine(lines[i]);
    document.body.getBoundingClientRect();
    const drawn = performance.now() - from;
    requestAnimationFrame(() => { times.push([drawn, performance.now() - from]); step(i + 1); });
  });
};
step(0);
"""

TYPED = LINES + """
const done = arguments[arguments.length - 1], from = performance.now();
cuvmm.runLines(lines).then(() => { document.body.getBoundingClientRect(); done([lines.length, performance.now() - from]); });
"""


# Lines typed one by one behind so many others: each is drawn.
LONG = """
const times = [];
cuvmm.runLine('long = create 1gran dev0');
for (let i = 0; i < 100; i++) {
  const from = performance.now();
  cuvmm.runLine(i % 2 ? 'unmap r+500gran 1gran' : 'map r+500gran 1gran long');
  document.body.getBoundingClientRect();
  times.push(performance.now() - from);
}
const from = performance.now();
cuvmm.runLine('undo');
return [times, performance.now() - from];
"""


def spread(name, times):
    times = sorted(times)
    print(f"{name:34}{statistics.median(times):8.2f} ms in the middle, {times[len(times) * 99 // 100]:.2f} for 99 of 100, {times[-1]:.2f} at most")


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else "build"
    page = os.path.abspath(os.path.join(build, "web", "index.html"))
    with open(page, "rb") as data:
        whole = data.read()
    print(f"{'page':34}{len(whole) / 1e6:8.2f} MB, {len(gzip.compress(whole, 9)) / 1e6:.2f} MB as a server sends it")
    if browser.why():
        print("not opened: " + browser.why())
        return
    b = browser.Browser(1280, 900)
    try:
        b.driver.set_script_timeout(300)
        opened = []
        for _ in range(5):
            from_time = time.monotonic()
            b.open(page)
            while not b.run("return document.documentElement.dataset.ready"):
                time.sleep(.005)
            opened.append((time.monotonic() - from_time) * 1000)
        spread("opened, ready to type", opened)
        print(f"{'memory of the module':34}{b.run('return cuvmm.module().memory()') / 1e6:8.1f} MB")
        spread("a line, without drawing", b.run(CALLS, 3000))
        steps = b.driver.execute_async_script(STEPS, 600)
        spread("a drawn step", [s[0] for s in steps])
        spread("a drawn step, to the next frame", [s[1] for s in steps])
        for length in (1000, 10000):
            b.open(page)
            while not b.run("return document.documentElement.dataset.ready"):
                time.sleep(.005)
            lines, took = b.driver.execute_async_script(TYPED, length)
            print(f"{'typed by a script':34}{lines} lines in {took / 1000:.2f} s")
            times, undone = b.run(LONG)
            spread(f"a drawn step behind {length} lines", times)
            print(f"{'undo there':34}{undone / 1000:8.2f} s")
        print("console: " + str(b.log()[:3]))
    finally:
        b.quit()


main()
