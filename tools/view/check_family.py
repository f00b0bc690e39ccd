# SPDX-License-Identifier: Apache-2.0
"""The page of several processes in a real browser: check_family.py PAGE DRIVER PARENT EXECUTES LATE. Fails with the reason.

tools/view/view_family_test.sh makes the pages.
"""
import sys

sys.dont_write_bytecode = True
import browser

from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

PAGE, DRIVER, PARENT, EXECUTES, LATE = sys.argv[1:6]
b = browser.Browser()
d = b.driver


def expect(good, what):
    if not good:
        raise AssertionError(what)


def text(name):
    return d.find_element(By.ID, name).text


def shown():
    """The process that the page shows, by its button."""
    return d.find_element(By.CSS_SELECTOR, "#processes button[aria-current]").text.split()[0]


def until(condition, what):
    WebDriverWait(d, 60, .02, ignored_exceptions=[Exception]).until(lambda _: condition(), what)


def choose(process):
    [button] = [e for e in d.find_elements(By.CSS_SELECTOR, "#processes button") if e.text.split()[0] == process]
    button.click()
    until(lambda: shown() == process, "the page shows " + process)


try:
    b.open(PAGE)
    names = [e.text.split()[0] for e in d.find_elements(By.CSS_SELECTOR, "#processes button")]
    expect(len(names) == 4 and {PARENT, EXECUTES, LATE} <= set(names), f"four processes are listed: {names}")
    expect("family" in text("process") and "3 imports" in text("links-title"), "program and links: " + text("family"))
    choose(PARENT)
    lanes = d.find_elements(By.CSS_SELECTOR, "#lanes rect")
    expect(len(lanes) == 4 and len(d.find_elements(By.CSS_SELECTOR, "#lanes .link")) == 3, "lanes and links are drawn")
    d.find_element(By.ID, "links-title").click()
    items = [e.text for e in d.find_elements(By.CSS_SELECTOR, "#link-list li")]
    expect(len(items) == 3 and any(f"process {PARENT} call" in i and f"process {EXECUTES} call" in i and "H1, 2 MiB" in i for i in items),
           f"who exported to whom: {items}")
    [item] = [e for e in d.find_elements(By.CSS_SELECTOR, "#link-list li") if "exported A1" in e.text]
    [to] = [e for e in item.find_elements(By.TAG_NAME, "button") if EXECUTES in e.text]
    to.click()
    until(lambda: shown() == EXECUTES and "cuIpcOpenMemHandle" in text("words"), "a link leads to the other process's call: " + text("words"))
    expect(f"process {PARENT} call" in text("passed") and "after the trace began" in text("moment") and "family+0x" in text("frames"),
           "the call has its export, time and place: " + text("call"))
    at = d.current_url
    d.refresh()
    until(lambda: shown() == EXECUTES and d.current_url == at and "cuIpcOpenMemHandle" in text("words"), "a page that is loaded again is there still")
    choose(LATE)
    expect(f"a fork of {PARENT}" in text("process"), "a fork is named as one: " + text("process"))
    b.open(DRIVER)
    d.find_element(By.ID, "links-title").click()
    expect(text("link-list").count("a guess") == 2 and len(d.find_elements(By.CSS_SELECTOR, "#lanes .guess")) == 2, "guesses are marked: " + text("link-list"))
    for width in (390, 320):
        b.size(width, 800, True)
        wide = b.run("return document.scrollingElement.scrollWidth")
        expect(wide <= width, f"no sideways scrolling at {width} pixels: {wide}")
    expect(b.log() == [], "the console is empty")
finally:
    b.quit()
