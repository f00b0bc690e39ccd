# SPDX-License-Identifier: Apache-2.0
"""Pages of the site in a headless Chromium, as TAP: look.py SITE PICTURES AXE PAGE...

Each page at 1280 and at 390 pixels, light and dark: a picture in the folder PICTURES, nothing wider than the screen, an empty console,
no request to another server, and nothing that the script AXE (axe-core's) calls serious or critical. Needs what tools/view/browser.py
needs.
"""
import functools
import http.server
import os
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, "tools/view")
import browser

site, pictures, axe = sys.argv[1:4]
if browser.why():
    print("1..0 # SKIP " + browser.why())
    sys.exit(0)

points = failed = 0


def ok(good, what, shown=""):
    global points, failed
    points += 1
    failed += not good
    print(("ok" if good else "not ok") + f" {points} - {what}")
    if not good and shown:
        print("# " + str(shown).replace("\n", " ")[:1500])


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site))
threading.Thread(target=server.serve_forever, daemon=True).start()
here = f"http://127.0.0.1:{server.server_address[1]}/"
os.makedirs(pictures, exist_ok=True)
with open(axe, encoding="utf-8") as file:
    axe = file.read()
b = browser.Browser()
WIDE = """return [...document.querySelectorAll('article *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1 &&
    !e.closest('pre, .md-typeset__scrollwrap, .highlight, table')).map(e => e.tagName + ' ' + e.textContent.slice(0, 40)).slice(0, 5)"""
AXE = """const done = arguments[0];
    axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] }).then(r => done(r.violations
        .filter(v => v.impact === 'serious' || v.impact === 'critical')
        .map(v => v.id + ' (' + v.nodes.length + '): ' + v.nodes[0].html.slice(0, 160))))"""
try:
    for page in sys.argv[4:]:
        for width, dark in ((1280, False), (1280, True), (390, False), (390, True)):
            b.size(width, 900, phone=width < 500)
            b.dark(dark)
            b.driver.get(here + page)
            name = page.strip("/").replace("/", "-") or "home"
            how = f"{width}-dark" if dark else f"{width}"
            b.picture(os.path.join(pictures, f"{name}-{how}.png"))
            wide = b.run(WIDE)
            ok(not wide and b.run("return document.documentElement.scrollWidth <= innerWidth"), f"{name} fits into {how}", wide)
            b.run(axe)
            found = b.driver.execute_async_script(AXE)
            ok(not found, f"{name}: nothing serious for axe at {how}", "; ".join(found))
            others = b.run("return performance.getEntriesByType('resource').map(e => e.name).filter(n => !n.startsWith(arguments[0]))", here)
            ok(not others, f"{name} asks no other server at {how}", others)
            errors = [entry for entry in b.log() if "favicon" not in entry]
            ok(not errors, f"{name}: the console is empty at {how}", errors)
    b.dark(False)
    b.size(1280, 900)
    b.driver.get(here)
    b.driver.find_element("css selector", ".md-search__input").send_keys("overlap")
    from selenium.webdriver.support.ui import WebDriverWait
    found = WebDriverWait(b.driver, 20).until(lambda d: d.find_elements("css selector", ".md-search-result__link"))
    ok(any("rules" in link.get_attribute("href") for link in found), "the search finds a rule", [link.get_attribute("href") for link in found])
finally:
    b.quit()
print(f"1..{points}")
sys.exit(1 if failed else 0)
