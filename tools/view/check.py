# SPDX-License-Identifier: Apache-2.0
"""The pages of `cuvmm view` in a real browser, as TAP: check.py PAGE INJECTED CUT EMPTY DRIVER FOLDED.

tools/view/view_browser_test.sh makes them.
"""
import sys

sys.dont_write_bytecode = True
import browser

if browser.why():
    print("1..0 # SKIP " + browser.why())
    sys.exit(0)

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait
from selenium.common.exceptions import TimeoutException

PAGE, INJECTED, CUT, EMPTY, DRIVER, FOLDED = sys.argv[1:7]
points = failed = 0
b = browser.Browser()
d = b.driver


def ok(good, what, shown=""):
    global points, failed
    points += 1
    failed += not good
    print(("ok" if good else "not ok") + f" {points} - {what}")
    if not good and shown != "":
        print("# " + str(shown).replace("\n", " ")[:400])


def text(name):
    return d.find_element(By.ID, name).text


def keys(*all_keys):
    ActionChains(d).send_keys(*all_keys).perform()


def call():
    return int(b.run("return document.getElementById('slider').value"))


def pixels(canvas="canvas"):
    return b.run("return document.getElementById(arguments[0]).toDataURL()", canvas)


def until(condition):
    """Waits for the page, not for a time."""
    try:
        WebDriverWait(d, 20, .02).until(lambda _: condition())
        return True
    except TimeoutException:
        return False


def click(name):
    d.find_element(By.ID, name).click()


def playing():
    return d.find_element(By.ID, "play").get_attribute("aria-label") == "Pause"


def moment(number):
    """Goes to a call as a link does."""
    until(lambda: d.current_url.endswith("#" + str(call())))
    b.run("location.hash = '#' + arguments[0]", number)
    until(lambda: call() == number)


def moving():
    before, listed = pixels(), text("now-list")
    b.run("const s = document.getElementById('slider'); s.value = 9; s.dispatchEvent(new Event('input'))")
    ok(call() == 9 and "Call 9" in text("call-title"), "the slider goes to a call", text("call-title"))
    ok(text("now-list") != listed and "M2" in text("now-list"), "the list of what exists follows it", text("now-list"))
    ok(pixels() != before, "the picture follows it")
    at = pixels()
    click("forward")
    ok(call() == 10 and pixels() != at, "a button goes one call on")
    ok("dev0 rw" in text("now-list") and "dev1 r-" in text("now-list"), "rights are shown as letters", text("now-list"))
    click("back")
    ok(pixels() == at, "one back shows what was there before")
    until(lambda: d.current_url.endswith("#9"))
    d.refresh()
    ok(call() == 9, "a page that is loaded again is at the same call")


def keyboard():
    last = int(b.run("return document.getElementById('slider').max"))
    b.run("document.activeElement.blur()")
    seen = []
    for key in (Keys.HOME, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_LEFT, Keys.PAGE_DOWN, Keys.PAGE_UP, Keys.END):
        keys(key)
        seen.append(call())
    ok(seen == [1, 2, 3, 2, 12, 2, last], "arrows, Page Up and Down, Home and End", seen)
    keys(Keys.HOME, "n")
    first = call()
    keys("n", "p")
    ok(call() == first and "Refused" in text("why"), "n and p go from problem to problem", text("why"))
    b.run("document.getElementById('speed').value = '1000'")
    keys(Keys.HOME, " ")
    ok(until(lambda: call() == last and not playing()), "space plays to the end")
    b.run("document.getElementById('speed').value = '1'")  # the end is far: behind it, space begins anew
    keys(Keys.HOME, " ")
    until(lambda: call() > 1)
    keys(" ")
    at = call()
    ok(1 < at < last and not playing(), "and stops in between", f"{at} of {last}")
    b.run("document.getElementById('slider').focus()")
    keys(Keys.HOME, Keys.ARROW_RIGHT)
    ok(call() == 2, "the slider has the keys as well, once", call())
    keys("/")
    ok(b.run("return document.activeElement.id") == "query", "/ goes to the search")


def problems():
    items = d.find_elements(By.CSS_SELECTOR, "#problem-list details")
    ok(len(items) == 4 and "3 refused, 1 warned of" in text("problems-title"), "problems are listed", text("problems"))
    items[0].find_element(By.TAG_NAME, "summary").click()
    ok(until(lambda: "VMM-MAP-OVERLAP" in items[0].text), "an error's explanation opens", items[0].text)
    told = items[0].text
    ok(all(word in told for word in ("What", "Argument", "Nearest", "Why", "Fix", "cuMemUnmap")),
       "it says why, and the fix", told)
    ok(call() == 12 and "\u2715" in text("result"), "and the page is at its call", call())
    items[2].find_element(By.TAG_NAME, "summary").click()
    ok(until(lambda: "VMM-UNMAP-NOTHING" in items[2].text and "Warning" in items[2].text), "a warning's, too", items[2].text)
    b.run("arguments[0].querySelector('.why .name').click()", items[0])
    ok("M3, mapping" in text("object-title"), "the object in the way can be looked at", text("object-title"))


def searching():
    query = d.find_element(By.ID, "query")

    def look(words):
        query.clear()
        query.send_keys(words)
        return text("found")
    ok("handle H1, 4 MiB" in look("h1"), "an object is found by its name", text("found"))
    query.send_keys(Keys.ENTER)
    ok("H1, handle" in text("object-title") and "cuMemCreate" in text("object-calls") and "cuMemRelease" in text("object-calls"),
       "and its whole life", text("object"))
    start = b.run("return document.querySelector('#now-list li').textContent.match(/0x[0-9a-f]+/)[0]")
    ok("reservation R1" in look(start), "by an address", text("found"))
    ok("call 12" in look("VMM-MAP-OV"), "a call by its rule", text("found"))
    ok("cuMemMap" in look("cumemmap"), "a call by its name", text("found"))
    ok("nothing found" in look("xyzzy"), "what is not there is reported")
    query.send_keys(Keys.ESCAPE)
    ok(not d.find_element(By.ID, "found").is_displayed(), "Escape closes the list")


def pointing():
    moment(10)
    b.run("window.scrollTo(0, 0)")
    canvas = d.find_element(By.ID, "canvas")
    width = canvas.size["width"]
    move = ActionChains(d).move_to_element_with_offset(canvas, int(-width / 2 + 66), int(42 - canvas.size["height"] / 2))
    move.perform()
    ok("mapping M1" in text("tip"), "pointing at a mapping names it", text("tip"))
    move.click().perform()
    ok("M1, mapping" in text("object-title"), "a click shows all of it", text("object-title"))
    moment(25)
    seen = b.run("""const c = document.getElementById('canvas'), at = c.getBoundingClientRect(), told = new Set();
                    for (let x = 0; x < at.width; x += 8) {
                      c.dispatchEvent(new PointerEvent('pointermove', { clientX: at.left + x, clientY: at.top + 45 }));
                      told.add(document.getElementById('tip').textContent);
                    }
                    return [...told].join('; ');""")
    ok("mapping M1" in seen and "mapping M2" in seen and "ended by call 25" in seen, "what a call ended is shown once more", seen)
    moment(10)
    before = pixels()
    click("zoom-in")
    ok(pixels() != before, "zooming in draws it larger")
    click("zoom-all")
    ok(pixels() == before, "and out again as it was")


def narrow():
    for width in (390, 320):
        b.size(width, 800, True)
        wide = b.run("return document.scrollingElement.scrollWidth")
        ok(wide <= width, f"no sideways scrolling at {width} pixels", wide)
    small = b.run("""return [...document.querySelectorAll('#controls button')]
                       .filter(e => e.getBoundingClientRect().height < 40).length""")
    ok(small == 0, "the controls are large enough for a finger", small)
    b.size(1280, 1000)


def readable():
    tree = d.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    needs = {"button", "slider", "searchbox", "textbox", "combobox", "heading", "image", "img", "region", "DisclosureTriangle"}
    nameless = [n["role"]["value"] for n in tree if not n.get("ignored") and n.get("role", {}).get("value") in needs
                and not n.get("name", {}).get("value", "").strip()]
    roles = {n["role"]["value"] for n in tree if not n.get("ignored") and "role" in n}
    ok(not nameless, "everything to read or use has a name for a screen reader", nameless)
    ok({"slider", "button", "heading", "main", "banner", "search"} <= roles, "landmarks and roles", sorted(roles))
    spoken = d.find_element(By.ID, "slider").get_attribute("aria-valuetext")
    ok(spoken.startswith("call 10 of 27: cuMemMap("), "the slider says in words where it is", spoken)
    say = d.find_element(By.ID, "say")
    ok(say.get_attribute("aria-live") == "polite" and "Call 10" in say.get_attribute("textContent"), "a step is announced")
    for dark in (False, True):
        b.dark(dark)
        poor = b.run(browser.CONTRAST)
        ok(not poor, f"text stands out from what is behind it, {'dark' if dark else 'light'}", poor)
        if not dark:
            light_pixels = pixels()
    ok(pixels() != light_pixels, "the picture is dark in the dark, too")
    b.dark(False)


def harmless():
    b.open(INJECTED, 12)
    ok(b.run("return typeof harmed") == "undefined" and not d.find_elements(By.CSS_SELECTOR, "body img"),
       "markup in a trace does nothing")
    ok("</script><img src=x onerror" in text("why"), "it is shown as it is", text("why"))
    ok("<b>&lt;.jsonl" in d.title, "in the title, too", d.title)
    ok(b.log() == [], "the console is empty")


def partial():
    b.open(CUT, 3)
    ok("cannot be read further" in text("complaint") and "an incomplete line" in text("complaint"), "a trace that was cut off is reported",
       text("complaint"))
    ok("What exists after call 3" in text("now-title"), "what could be read is shown")
    b.open(EMPTY)
    keys(Keys.ARROW_RIGHT, Keys.END, " ", "n", "+")
    for name in ("forward", "play", "next-problem", "zoom-in"):
        click(name)
    ok("no calls" in text("position"), "a trace without calls is a page, too", text("position"))
    ok(b.log() == [], "the console is empty for both")


def driven():
    b.open(DRIVER, 12)
    why = text("why")
    ok("a CUDA driver" in text("about") and "3 refused, 0 warned of" in text("problems-title"), "a driver's trace", text("about"))
    ok("the result alone" in why and "VMM-MAP-OVERLAP: part of the range is already mapped" in why,
       "what may be why is listed", why)
    ok("VMM-MAP-PAST-RESERVATION" not in why and "VMM-UNMAP" not in why, "and nothing that cannot be", why)


def folded():
    """A reservation of 1 TiB with two mappings of 4 MiB: both are wide enough to be clicked at."""
    b.open(FOLDED, 7)
    found = set(b.run("""
        const canvas = document.getElementById('canvas'), frame = canvas.getBoundingClientRect(), found = [];
        for (let x = 60; x < frame.width; x += 6) {
          canvas.dispatchEvent(new MouseEvent('click', { clientX: frame.left + x, clientY: frame.top + 46, bubbles: true }));
          found.push(document.getElementById('object-title').textContent.split(',')[0]);
        }
        return found"""))
    ok({"R1", "M1", "M2", "M3"} <= found, "long empty parts of reservations are shortened", found)


try:
    b.open(PAGE)
    ok(call() == 12 and "Refused" in text("why"), "a page opens at the first problem", call())
    ok("view.jsonl" in d.title and "27 calls and 12 objects" in text("about"), "the page loads", text("about"))
    ok(b.run("return performance.getEntriesByType('resource').length") == 0, "it asks for nothing else")
    moving()
    keyboard()
    problems()
    searching()
    pointing()
    readable()
    narrow()
    ok(b.log() == [], "the console is empty", b.log())
    harmless()
    partial()
    driven()
    folded()
finally:
    b.quit()
print(f"1..{points}")
sys.exit(1 if failed else 0)
