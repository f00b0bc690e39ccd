#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pictures of docs/view.md: pictures.py CUVMM FOLDER. Needs what the test of the page needs (ci/setup --all)."""
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import browser

HERE = os.path.dirname(os.path.abspath(__file__))


def page(cuvmm, script, work, name):
    """The page of a script's trace."""
    trace, made = os.path.join(work, name + ".jsonl"), os.path.join(work, name + ".html")
    subprocess.run([cuvmm, "run", script, "--quiet"], env={**os.environ, "CUVMM_LAYERS": "trace=" + trace}, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    subprocess.run([cuvmm, "view", trace, "-o", made], check=True, stdout=subprocess.DEVNULL)
    return made


def main():
    cuvmm, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
    if browser.why():
        raise SystemExit(browser.why())
    with tempfile.TemporaryDirectory() as work:
        alias = page(cuvmm, os.path.join(HERE, "view.vmm"), work, "alias")
        b = browser.Browser(1120, 700)
        try:
            b.open(alias, 14)
            b.run("document.querySelector('#problem-list details').focus()")
            b.picture(os.path.join(folder, "desktop.png"))
            b.dark(True)
            b.open(alias, 21)
            b.run("document.querySelector('#now-list .name').click(); window.scrollTo(0, 0)")
            b.picture(os.path.join(folder, "dark.png"))
            b.dark(False)
            b.size(390, 844, True)
            b.open(alias, 12)
            b.picture(os.path.join(folder, "phone.png"))
        finally:
            b.quit()


main()
