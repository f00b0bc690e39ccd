#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long the page of `cuvmm view` takes to make, to open and to step, for a long trace.

    bench/view.py [BUILD [CALLS]]        build, 100000

The trace is of a pool: 3000 mappings on two devices live at a time, one is made and one ended in turn, every 470th call is
a mistake. A step is a key pressed until the picture stands: the page's own work, layout and painting. Needs what the test of
the page needs (ci/setup --all).
"""
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools", "view"))
sys.dont_write_bytecode = True
import browser

LIVE, SLOTS, PER_RANGE = 3000, 3200, 64


def script(calls):
    """Lines of a script that makes about so many calls."""
    lines = ["backend sim:h200x2", "init", "c = context dev0"]
    lines += [f"r{i} = reserve {PER_RANGE}gran" for i in range(SLOTS // PER_RANGE)]
    cycle = 0
    while len(lines) < calls:
        slot = cycle % SLOTS
        lines += [f"h{slot} = create 1gran dev{cycle % 2}", f"map r{slot // PER_RANGE}+{slot % PER_RANGE}gran 1gran h{slot}",
                  f"access r{slot // PER_RANGE}+{slot % PER_RANGE}gran 1gran dev0:rw dev1:{'r' if cycle % 3 else 'rw'}"]
        if cycle % 100 == 7:
            lines.append(f"expect INVALID_VALUE: map r{slot // PER_RANGE}+{slot % PER_RANGE}gran 1gran h{slot}")
        if cycle >= LIVE:
            old = (cycle - LIVE) % SLOTS
            lines += [f"unmap r{old // PER_RANGE}+{old % PER_RANGE}gran 1gran", f"release h{old}"]
        cycle += 1
    return "\n".join(lines) + "\n"


# From the key to the frame after it: the page's work, layout and paint.
STEP = """
const done = arguments[arguments.length - 1], keys = arguments[0], times = [];
const step = i => {
  if (i === keys.length) return done(times);
  requestAnimationFrame(() => {
    const from = performance.now();
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key: keys[i], bubbles: true }));
    document.body.getBoundingClientRect();
    const drawn = performance.now() - from;
    requestAnimationFrame(() => { times.push([drawn, performance.now() - from]); step(i + 1); });
  });
};
step(0);
"""


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else "build"
    calls = int(sys.argv[2]) if len(sys.argv) > 2 else 100000
    cuvmm = os.path.abspath(os.path.join(build, "bin", "cuvmm"))
    with tempfile.TemporaryDirectory() as work:
        trace, page, source = (os.path.join(work, name) for name in ("pool.jsonl", "pool.html", "pool.vmm"))
        with open(source, "w", encoding="ascii") as out:
            out.write(script(calls))
        subprocess.run([cuvmm, "run", source, "--quiet"], env={**os.environ, "CUVMM_LAYERS": "trace=" + trace}, check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        from_time = time.monotonic()
        said = subprocess.run([cuvmm, "view", trace, "-o", page], check=True, stdout=subprocess.PIPE, text=True).stdout
        print(said.strip())
        print(f"page made in        {time.monotonic() - from_time:8.2f} s, {os.path.getsize(page) / 1e6:.1f} MB "
              f"of {os.path.getsize(trace) / 1e6:.1f} MB")
        if browser.why():
            print("not opened: " + browser.why())
            return
        measure(page)


def measure(page):
    b = browser.Browser()
    try:
        from_time = time.monotonic()
        b.open(page)
        loaded = b.run("const t = performance.getEntriesByType('navigation')[0]; return t.domComplete")
        print(f"opened in           {time.monotonic() - from_time:8.2f} s ({loaded / 1000:.2f} s in the page)")
        b.driver.set_script_timeout(300)
        for what, where, keys in (("steps in the middle", "location.hash = '#50000'", ["ArrowRight"] * 40),
                                  ("steps at the end", "", ["End"] + ["ArrowLeft"] * 40),
                                  ("jumps of a twentieth", "", ["Home"] + ["PageDown"] * 20),
                                  ("to the next problem", "", ["Home"] + ["n"] * 40)):
            if where:
                b.run(where)
            before = b.run("return document.getElementById('slider').value")
            times = sorted(b.driver.execute_async_script(STEP, keys), key=lambda t: t[0])
            if before == b.run("return document.getElementById('slider').value"):
                raise SystemExit(f"{what}: the page did not move")
            drawn, whole = [t[0] for t in times], sorted(t[1] for t in times)
            print(f"{what:20}{drawn[len(drawn) // 2]:8.1f} ms in the middle, {drawn[-1]:.1f} at most; "
                  f"to the next frame {whole[len(whole) // 2]:.1f}, {whole[-1]:.1f} at most")
        b.run("document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'End', bubbles: true }))")
        took = b.run("""const q = document.getElementById('query'), from = performance.now(); q.value = 'H19999';
                        q.dispatchEvent(new Event('input')); const found = performance.now() - from;
                        document.querySelector('#found-list button').click();
                        return [found, performance.now() - from - found];""")
        print(f"search              {took[0]:8.1f} ms, an object's life {took[1]:.1f} ms")
        print("console: " + (str(b.log()[:3])))
        if os.environ.get("VIEW_PICTURE"):
            b.run("window.scrollTo(0, 0)")
            b.picture(os.environ["VIEW_PICTURE"])
    finally:
        b.quit()


main()
