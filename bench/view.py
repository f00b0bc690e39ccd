#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long the page of `cuvmm view` takes to make, to open and to step, for a long trace.

    bench/view.py [BUILD [CALLS]]        build, 100000; of more than 500000 the page is served

The trace is of a pool (bench/pool.c): 3000 mappings on two devices live at a time, one is made and one ended in turn, every 470th
call is a mistake. A step is a key pressed until the picture stands: the page's own work, layout, painting, and, where it is served,
the answer of cuvmm. Needs what the test of the page needs (ci/setup --all).
"""
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools", "view"))
sys.dont_write_bytecode = True
import browser

PAGE_MOST = 500000

# From the key until the call that it leads to is shown, and to the frame after it.
STEP = """
const done = arguments[arguments.length - 1], keys = arguments[0], times = [];
const shown = () => document.getElementById('call-title').textContent;
const step = i => {
  if (i === keys.length) return done(times);
  requestAnimationFrame(() => {
    const from = performance.now(), before = shown();
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key: keys[i], bubbles: true }));
    const wait = () => {
      if (shown() === before && performance.now() - from < 5000) return setTimeout(wait);
      document.body.getBoundingClientRect();
      const drawn = performance.now() - from;
      requestAnimationFrame(() => { times.push([drawn, performance.now() - from]); step(i + 1); });
    };
    wait();
  });
};
step(0);
"""


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else "build"
    calls = int(sys.argv[2]) if len(sys.argv) > 2 else 100000
    cuvmm, pool = (os.path.abspath(os.path.join(build, "bin", name)) for name in ("cuvmm", "bench-pool"))
    with tempfile.TemporaryDirectory() as work:
        trace = os.path.join(work, "pool.vtrace")
        subprocess.run([pool, trace, str(calls)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        print(f"a trace of {calls} calls, {os.path.getsize(trace) / 1e6:.1f} MB")
        (serve if calls > PAGE_MOST else make)(cuvmm, trace, calls, work)


def make(cuvmm, trace, calls, work):
    page, from_time = os.path.join(work, "pool.html"), time.monotonic()
    subprocess.run([cuvmm, "view", trace, "-o", page], check=True, stdout=subprocess.DEVNULL)
    print(f"page made in        {time.monotonic() - from_time:8.2f} s, {os.path.getsize(page) / 1e6:.1f} MB")
    open_and_step("file://" + page, calls, from_time)


def serve(cuvmm, trace, calls, _):
    from_time = time.monotonic()
    with subprocess.Popen([cuvmm, "view", trace, "--serve"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            address = server.stdout.readline().strip()
            print(f"read in             {time.monotonic() - from_time:8.2f} s")
            open_and_step(address, calls, from_time)
        finally:
            server.terminate()


def open_and_step(address, calls, began):
    if browser.why():
        print("not opened: " + browser.why())
        return
    b = browser.Browser()
    try:
        from_time = time.monotonic()
        b.address(address)
        loaded = b.run("const t = performance.getEntriesByType('navigation')[0]; return t.domComplete")
        print(f"opened in           {time.monotonic() - from_time:8.2f} s ({loaded / 1000:.2f} s in the page), "
              f"{time.monotonic() - began:.2f} s with all before it and the browser's own start")
        b.driver.set_script_timeout(300)
        middle = f"location.hash = '#{calls // 2}'"
        for what, where, keys in (("steps in the middle", middle, ["ArrowRight"] * 40),
                                  ("steps at the end", "", ["End"] + ["ArrowLeft"] * 40),
                                  ("jumps of a twentieth", "", ["Home"] + ["PageDown"] * 20),
                                  ("to the next problem", "", ["Home"] + ["n"] * 40)):
            if where:
                b.run(where)
                time.sleep(1)
            before = b.run("return document.getElementById('slider').value")
            times = b.driver.execute_async_script(STEP, keys)
            if before == b.run("return document.getElementById('slider').value"):
                raise SystemExit(f"{what}: the page did not move")
            drawn, whole = sorted(t[0] for t in times), sorted(t[1] for t in times)
            print(f"{what:20}{drawn[len(drawn) // 2]:8.1f} ms in the middle, {drawn[-1]:.1f} at most; "
                  f"to the next frame {whole[len(whole) // 2]:.1f}, {whole[-1]:.1f} at most")
        search(b)
        print("console: " + (str(b.log()[:3])))
        if os.environ.get("VIEW_PICTURE"):
            b.run("window.scrollTo(0, 0)")
            b.picture(os.environ["VIEW_PICTURE"])
    finally:
        b.quit()


def search(b):
    """The last handle's life."""
    took = b.driver.execute_async_script("""
        const done = arguments[0], q = document.getElementById('query'), from = performance.now();
        q.value = 'H19999';
        q.dispatchEvent(new Event('input'));
        const until = (ready, then) => ready() ? then() : setTimeout(() => until(ready, then));
        until(() => document.querySelector('#found-list button'), () => {
          const found = performance.now() - from;
          document.querySelector('#found-list button').click();
          until(() => document.querySelector('#object-calls button'), () => done([found, performance.now() - from - found]));
        });""")
    print(f"search              {took[0]:8.1f} ms, an object's life {took[1]:.1f} ms")


main()
