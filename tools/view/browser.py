# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium for the pages of `cuvmm view` and of `make web`: what the test, the benchmark and the screenshots share.

Needs Debian's python3-selenium and chromium-driver (ci/setup --all). SELENIUM is false where they are missing, and why() returns the reason.
"""
import os
import shutil

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    SELENIUM = True
except ImportError:
    SELENIUM = False


# Texts that do not stand out from what is behind them.
CONTRAST = """
const parse = c => (c.match(/[\\d.]+/g) || []).map(Number);
const light = c => { const [r, g, b] = c.map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
                     return .2126 * r + .7152 * g + .0722 * b; };
const behind = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor);
                      if (c.length === 3 || c[3] > .9) return c.slice(0, 3); } return [255, 255, 255]; };
const poor = [];
for (const e of document.querySelectorAll('body *')) {
  const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
  if (!own || !e.offsetParent || e.disabled || e.closest('[hidden], .hidden, option')) continue;
  const a = light(parse(getComputedStyle(e).color).slice(0, 3)), c = light(behind(e));
  const ratio = (Math.max(a, c) + .05) / (Math.min(a, c) + .05);
  if (ratio < 4.5) poor.push(`${e.tagName}#${e.id}.${e.className} ${e.textContent.trim().slice(0, 20)} ${ratio.toFixed(2)}`);
}
return poor;
"""


def why():
    """What is missing for a browser, "" when nothing is."""
    if not SELENIUM:
        return "python3-selenium is not installed"
    if not shutil.which("chromedriver"):
        return "chromedriver is not installed (chromium-driver)"
    if not (shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")):
        return "no Chromium is installed"
    return ""


class Browser:
    """One browser with one page."""

    def __init__(self, width=1280, height=1000):
        options = Options()
        # Root has no sandbox, and small containers little shared memory.
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                 "--disable-extensions", "--no-first-run", "--disable-background-networking", "--lang=en"]
        for flag in flags:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
        self.size(width, height)

    def size(self, width, height, phone=False):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone})

    def dark(self, on):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": "dark" if on else "light"}]})
        # The page hears of it, and draws again, with a later frame.
        self.driver.execute_async_script("const done = arguments[0];"
                                         "requestAnimationFrame(() => requestAnimationFrame(() => done()))")

    def open(self, page, call=None):
        self.driver.get("about:blank")
        self.driver.get("file://" + os.path.abspath(page) + (f"#{call}" if call else ""))

    def address(self, address):
        self.driver.get(address)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def log(self):
        """What the console holds since it was asked last."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def picture(self, path):
        self.driver.save_screenshot(path)

    def quit(self):
        self.driver.quit()
