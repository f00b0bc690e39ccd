#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pictures of docs/web.md: pictures.py PAGE FOLDER. Needs what the test of the page needs (ci/setup --all)."""
import os
import sys
from urllib.parse import quote

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "view"))
import browser

from selenium.webdriver.support.ui import WebDriverWait

LINES = ["init", "c = context dev0", "v = reserve 64GiB", "h = create 4MiB dev0", "map v 4MiB h", "map v+32GiB 4MiB h", "access v 4MiB dev0:rw",
         "fill v 4MiB 7", "access v+32GiB 4MiB dev0:r", "fill v+32GiB 4MiB 8"]


def ready(b):
    WebDriverWait(b.driver, 20, .02).until(lambda _: b.run("return !!document.documentElement.dataset.ready"))


def settled(b):
    """After two frames the page is drawn completely."""
    b.driver.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))")


def main():
    page, folder = sys.argv[1:3]
    if browser.why():
        raise SystemExit(browser.why())
    os.makedirs(folder, exist_ok=True)
    b = browser.Browser(1180, 780)
    try:
        b.open(page, "lesson=1")
        ready(b)
        for line in LINES:
            b.run("cuvmm.runLine(arguments[0])", line)
        settled(b)
        b.picture(os.path.join(folder, "desktop.png"))
        b.dark(True)
        b.size(390, 844, True)
        b.open(page, "script=" + quote("\n".join(LINES)))
        ready(b)
        WebDriverWait(b.driver, 20, .02).until(lambda _: b.run("return !!document.querySelector('#why-text .error')"))
        settled(b)
        b.picture(os.path.join(folder, "phone.png"))
    finally:
        b.quit()


main()
