# SPDX-License-Identifier: Apache-2.0
"""The page of `make web` in a real browser, as TAP: check.py PAGE FOLDER.

tools/web/web_browser_test.sh makes the files of FOLDER. web_test and web_corpus_test check the results of lines; this test
checks that the page shows them, with the keyboard only, and at a width of 390 pixels.
"""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "view"))
import browser

if browser.why():
    print("1..0 # SKIP " + browser.why())
    sys.exit(0)

from urllib.parse import quote

from selenium.common.exceptions import TimeoutException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

PAGE, FOLDER = sys.argv[1:3]
points = failed = 0
b = browser.Browser(1280, 900)
d = b.driver


def ok(good, what, shown=""):
    global points, failed
    points += 1
    failed += not good
    print(("ok" if good else "not ok") + f" {points} - {what}")
    if not good and shown != "":
        print("# " + str(shown).replace("\n", " ")[:600])


def text(name):
    return b.run("return document.getElementById(arguments[0]).textContent", name)


def keys(*all_keys):
    ActionChains(d).send_keys(*all_keys).perform()


def until(condition):
    """Waits for the page, not for a time."""
    try:
        WebDriverWait(d, 20, .02).until(lambda _: condition())
        return True
    except TimeoutException:
        return False


def click(name):
    d.find_element(By.ID, name).click()


def focus():
    return b.run("return document.activeElement.id")


def objects():
    return b.run("return [...document.querySelectorAll('#drawing [data-object]')].map(e => e.dataset.object)")


def load(fragment=None):
    b.open(PAGE, fragment)
    return until(lambda: b.run("return document.documentElement.dataset.ready"))


def ran(words):
    """The terminal holds the words."""
    return until(lambda: words in text("log"))


def typing():
    ok(focus() == "line", "the cursor is in the line", focus())
    for line in ("init", "c = context dev0", "r = reserve 4gran", "h = create 2gran dev0", "map r 2gran h"):
        keys(line, Keys.ENTER)
    ok("cuMemMap(r, 4MiB, 0, h, 0) -> CUDA_SUCCESS" in text("log"), "lines are typed and answered", text("log")[-300:])
    ok({"r", "M1", "h"} <= set(objects()), "the picture follows", objects())
    ok("maps physical memory at reserved addresses" in text("why-text"), "and says what the last line did", text("why-text"))
    keys("fill r 1gran 7", Keys.ENTER)
    ok("VMM-COPY-NO-WRITE" in text("why-text") and "cuMemSetAccess" in text("why-text"), "a refusal is explained beside it", text("why-text"))
    ok(b.run("return document.querySelector('#drawing .culprit').dataset.object") == "M1", "what is in the way is marked")
    said = until(lambda: "no write access" in text("say"))
    ok(said and d.find_element(By.ID, "say").get_attribute("aria-live") == "polite", "a screen reader hears it", text("say"))
    keys(Keys.ARROW_UP)
    ok(b.run("return document.getElementById('line').value") == "fill r 1gran 7", "the arrow up has what was typed")
    keys(Keys.ARROW_UP, Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    ok(b.run("return document.getElementById('line').value") == "", "and the arrow down leads back")
    keys("acc", Keys.TAB, "r 2gran dev0:rw", Keys.ENTER)
    ok("cuMemSetAccess(r, 4MiB, {dev0:rw}, 1) -> CUDA_SUCCESS" in " ".join(text("log").split()), "the tabulator completes a word", text("log")[-200:])
    keys("m", Keys.TAB)
    ok("meminfo" in text("words") and "map" in text("words") and focus() == "line", "of several it shows all", text("words"))
    keys(Keys.ESCAPE, Keys.TAB)
    ok(focus() != "line", "after Escape it leaves the line", focus())
    b.run("document.getElementById('line').value = ''; document.activeElement.blur()")
    keys("<")
    ok(ran("undone: access r 2gran dev0:rw"), "< takes a step back")
    click("undo")
    click("undo")
    ok("M1" not in objects(), "and so does the button", objects())
    keys("/")
    ok(focus() == "line", "/ goes to the line")
    b.run("document.activeElement.blur()")
    keys("unmap")
    ok(focus() == "line" and b.run("return document.getElementById('line').value") == "unmap", "and so does what is typed, whatever its first letter")
    b.run("document.getElementById('line').value = ''")
    keys("mpa", Keys.ENTER)
    ok("did you mean map?" in text("why-text"), "a mistake is said beside the terminal, too", text("why-text"))


def rules():
    click("tab-rules")
    d.find_element(By.ID, "query").send_keys("map overlap")
    ok("VMM-MAP-OVERLAP" in text("rule-list"), "a rule is found by words", text("rule-list")[:200])
    b.run("[...document.querySelectorAll('#rule-list button')].find(e => e.textContent.startsWith('VMM-MAP-OVERLAP')).click()")
    ok("Each address can map one piece of memory" in text("rule-text") and d.current_url.endswith("#rule=VMM-MAP-OVERLAP"), "it has its article", d.current_url)
    d.find_elements(By.CSS_SELECTOR, "#rule-text .forms button")[0].click()
    ok(until(lambda: "error VMM-MAP-OVERLAP" in text("why-text")), "what breaks it can be tried", text("why-text"))
    d.find_elements(By.CSS_SELECTOR, "#rule-text .forms button")[1].click()
    ok(until(lambda: "cuMem" in text("log") and "error" not in text("log")), "and the correction", text("log")[-300:])
    b.run("cuvmm.runLine('reserve 0')")
    click("why-rule")
    ok("VMM-RESERVE-SIZE-ZERO" in text("rule-text"), "from an explanation it is a step to its rule", text("rule-text")[:100])


def answer(right):
    """Answers the question of the current step, if there is one."""
    for choice in d.find_elements(By.CSS_SELECTOR, ".step.now .choice"):
        before = b.run("return document.querySelectorAll('.choice.right').length")
        choice.click()
        if right or b.run("return document.querySelectorAll('.choice.right').length") > before:
            continue


def go_on(before, by_key=False):
    """Presses the button to continue, which may first scroll to unread text. True when there is another step."""
    if b.run("return document.querySelectorAll('.step').length") == before:
        if by_key:
            keys(">")
        else:
            for button in d.find_elements(By.CSS_SELECTOR, "#lesson-go .next:not([hidden])"):
                button.click()
    return b.run("return document.querySelectorAll('.step').length") > before


def lesson():
    load("lesson=1")
    ok("1. Address and memory are two things" in text("lesson-title"), "a link leads to a lesson", text("lesson-title"))
    steps = unseen = 0
    while steps < 60:
        at = b.run("return document.querySelectorAll('.step').length")
        answer(True)
        following = d.find_elements(By.CSS_SELECTOR, "#lesson-go .next")
        if not following or "Lesson 2" in following[0].text:
            break
        if steps == 0:
            b.run("document.activeElement.blur()")
        if not until(lambda: go_on(at, steps == 0)):
            break
        unseen += not b.run("const r = document.activeElement.getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight")
        steps += 1
    ok(steps and not unseen, "what has the focus is in sight after each step", unseen)
    ok("of 4 questions at the first try" in text("lesson-steps") and steps > 8, "it goes to its end", text("lesson-steps")[-300:])
    ok("ok: things still held: 0" in text("log") and "cuMemMap" in text("lesson-steps"), "its lines ran, and stand in it with their answers")
    ok("VMM-COPY-NOT-MAPPED" in text("lesson-steps") and "A reservation is only a range of addresses" in text("lesson-steps"), "so do explanations")
    b.run("document.getElementById('lesson-again').click()")
    until(lambda: b.run("return document.querySelectorAll('.step').length") == 1)
    for number in (1, 2):
        until(lambda: go_on(number))
    b.run("cuvmm.runLine('free r')")
    while not d.find_elements(By.CSS_SELECTOR, ".step .notice") and d.find_elements(By.CSS_SELECTOR, "#lesson-go .next"):
        at = b.run("return document.querySelectorAll('.step').length")
        answer(True)
        until(lambda: go_on(at) or d.find_elements(By.CSS_SELECTOR, ".step .notice"))
    ok("was changed in between" in text("lesson-steps"), "a lesson notices what was typed in between", text("lesson-steps")[-300:])
    d.find_element(By.CSS_SELECTOR, ".step .notice + p button").click()
    ok(until(lambda: d.find_elements(By.CSS_SELECTOR, "#lesson-go .next") and not d.find_elements(By.CSS_SELECTOR, ".step.now .notice")), "and can go on from there")


def lesson_typed():
    """The steps of a lesson, typed by the person who reads them."""
    load("lesson=1")
    d.find_element(By.ID, "line").click()
    keys("backend sim:h100", Keys.ENTER, "init", Keys.ENTER, "c0  =  context dev0", Keys.ENTER)
    ok("Now the first half" in d.find_element(By.CSS_SELECTOR, ".step.now").text and focus() == "line", "a lesson goes on when its lines are typed", text("lesson-steps")[-300:])
    keys("r = reserve 2gran", Keys.ENTER)
    ok("one byte for each address" in text("lesson-steps") and "All of it is free" not in text("lesson-steps"), "to its question")
    ok(not d.find_element(By.CSS_SELECTOR, ".step.now .calls").is_displayed(), "whose answer the next lines do not give away")
    b.run("document.activeElement.blur()")
    keys(">")
    ok(b.run("return document.activeElement.className") == "choice", "> leads to a question that waits")
    keys("a")
    ok(d.find_elements(By.CSS_SELECTOR, ".step.now .choice.wrong") and b.run("return document.getElementById('line').value") == "", "where a letter is an answer")
    answer(True)
    ok(d.find_element(By.CSS_SELECTOR, ".step.now .calls").is_displayed(), "then the lines are there")
    d.find_element(By.ID, "line").click()
    keys("meminfo", Keys.ENTER, "fill r 1gran 7", Keys.ENTER)
    ok("Now the other half" in d.find_element(By.CSS_SELECTOR, ".step.now").text, "a refusal that is typed without expect is the lesson's", text("lesson-steps")[-300:])
    keys("m = create 2MiB dev0", Keys.ENTER)
    step = d.find_element(By.CSS_SELECTOR, ".step.now")
    ok("At which address" in step.text and "Two halves" not in step.text, "what is said after a question waits for the answer", step.text)
    answer(True)
    ok("Two halves" in step.text and "Answer the question first" not in step.text, "and then is there", step.text)
    ok(b.run("return document.documentElement.scrollHeight <= innerHeight"), "the page fits its window")


def exercise():
    load("exercise=1")
    ok("A vector that grows" in text("exercise-title") and "v" in objects(), "an exercise begins with what is given", objects())
    solution = open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "conformance", "corpus", "exercises", "scripts", "1-vector.txt"),
                    encoding="ascii").read().split("#solution\n")[1].split("#")[0].strip().split("\n")
    d.find_element(By.ID, "line").click()
    for line in solution[:-1]:
        keys(line, Keys.ENTER)
    ok(b.run("return document.getElementById('exercise-lines').value").strip().split("\n") == solution[:-1], "typed lines are those of the exercise")
    click("exercise-grade")
    ok("expected rw" in text("exercise-output") and "not ok" in text("exercise-output"), "what is missing is named", text("exercise-output")[:300])
    keys("/")
    d.find_element(By.ID, "line").click()
    keys(solution[-1], Keys.ENTER)
    click("exercise-grade")
    ok("18 of 18 points: solved" in text("exercise-result"), "and what is solved", text("exercise-result"))


def machines():
    load()
    b.run("for (const line of ['init', 'c = context dev0', 'r = reserve 2gran']) cuvmm.runLine(line)")
    b.run("const m = document.getElementById('machine'); m.value = 'odd'; m.dispatchEvent(new Event('change'))")
    ok(until(lambda: "128KiB" in text("drawing")), "the same lines run on another machine", text("drawing"))
    b.run("const m = document.getElementById('mode'); m.value = ',strict'; m.dispatchEvent(new Event('change'))")
    ok(until(lambda: "sim:odd,strict" in b.run("return cuvmm.module().web_text(0)")), "and in another mode")
    script = "init\nc = context dev0\nr = reserve 3gran # 100% & more\n"
    load("script=" + quote(script))
    ok(until(lambda: "r" in objects()) and until(lambda: not d.find_element(By.ID, "script-theirs").is_displayed()) and b.run("return document.getElementById('script-lines').value") == script, "a link holds a script",
       b.run("return document.getElementById('script-lines').value"))
    b.run("window.prompt = (what, link) => { window.shared = link; }; Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    click("share")
    ok(until(lambda: b.run("return window.shared || ''").endswith("#script=" + quote(script.rstrip(), safe="!~*'()"))), "and is made of one",
       b.run("return window.shared"))
    load("script=%")
    ok("The link is damaged" in text("log"), "a damaged one says so", text("log"))
    for what in ("lesson=99", "exercise=99", "rule=VMM-NONE"):
        load(what)
        ok(f"The link names a {what.split('=')[0]} that does not exist: {what.split('=')[1]}." in text("log") and b.run("return document.getElementById('tab-start').ariaSelected") == "true",
           f"so does one to what is not there: {what}", text("log"))


def files():
    load()
    chooser = d.find_element(By.ID, "file")
    chooser.send_keys(os.path.join(FOLDER, "dropped.vmm"))
    ok(until(lambda: "r" in objects()), "a script that is dropped runs")
    ok(b.run("return typeof harmed") == "undefined" and not d.find_elements(By.CSS_SELECTOR, "body img"), "markup in it does nothing")
    chooser.send_keys(os.path.join(FOLDER, "mine.profile"))
    ok(until(lambda: b.run("return document.getElementById('machine').value") == "mine.profile"), "a profile is a machine",
       b.run("return document.getElementById('machine').value"))
    b.run("cuvmm.runLine('backend \"trace=t.jsonl|sim:h100\"'); cuvmm.runLine('init'); cuvmm.runLine('reserve 0'); cuvmm.runLine('backend sim:h100')")
    trace = b.run("return new TextDecoder().decode(cuvmm.module().file('t.jsonl'))")
    with open(os.path.join(FOLDER, "t.jsonl"), "w", encoding="utf-8") as out:
        out.write(trace)
    chooser.send_keys(os.path.join(FOLDER, "t.jsonl"))
    until(lambda: d.find_element(By.ID, "trace").is_displayed())
    d.switch_to.frame(d.find_element(By.ID, "trace-frame"))
    ok(until(lambda: "2 calls" in d.find_element(By.ID, "about").text), "a trace is shown as by cuvmm view")
    d.switch_to.default_content()
    click("trace-close")
    chooser.send_keys(os.path.join(FOLDER, "t.vtrace"))
    until(lambda: d.find_element(By.ID, "trace").is_displayed())
    d.switch_to.frame(d.find_element(By.ID, "trace-frame"))
    ok(until(lambda: "6 calls" in d.find_element(By.ID, "about").text and "VMM-MAP-OVERLAP" in d.find_element(By.ID, "call").text),
       "and one of the binary form, at its first problem")
    d.switch_to.default_content()
    click("trace-close")
    b.run("cuvmm.runLine('backend \"trace=t.vtrace|sim:h100\"')")
    ok(until(lambda: "use another file name to write lines" in " ".join(text("log").split())), "which cannot be written here: why", text("log"))
    b.run("cuvmm.runLine('save mine.vmm')")
    ok("mine.vmm" in text("files"), "what save has written can be kept", text("files"))
    click("tab-start")
    b.run("document.querySelectorAll('#examples button')[1].click()")
    ok(until(lambda: focus() == "script-step") and "Next: title" in text("script-said"), "an example waits to be run line by line", text("script-said"))
    keys(Keys.ENTER, Keys.ENTER)
    b.run("document.activeElement.blur()")
    keys(">")
    ok("Next: " in text("script-said") and len(b.run("return cuvmm.module().web_text(0)").split("\n")) == 4, "and goes on by key", text("script-said"))
    before = b.run("return cuvmm.module().web_text(0)")
    with open(os.path.join(FOLDER, "hw.c"), "w", encoding="ascii") as out:
        out.write("#include <stdio.h>\nint main(void) { return 0; }\n")
    with open(os.path.join(FOLDER, "x.png"), "wb") as out:
        out.write(b"\x89PNG\r\n\x1a\n\0\0")
    chooser.send_keys(os.path.join(FOLDER, "hw.c") + "\n" + os.path.join(FOLDER, "x.png"))
    ok(ran("hw.c is not a script: line 2") and ran("x.png is neither") and b.run("return cuvmm.module().web_text(0)") == before, "what is no script is not run", text("log")[-300:])
    click("tab-script")
    b.run("document.getElementById('script-lines').value = 'init\\nmpa\\ndevices\\n'")
    click("script-run")
    ok(ran("cuDeviceGetCount"), "the session's lines can be changed, and run anew", text("log"))


def many():
    load()
    done = d.execute_async_script("""
        const done = arguments[arguments.length - 1], lines = ['init', 'c = context dev0', 'r = reserve 1000gran'];
        for (let i = 0; i < 1000; i++) lines.push(`h${i} = create 1gran dev0`, `map r+${i}gran 1gran h${i}`);
        cuvmm.runLines(lines).then(() => done([document.querySelectorAll('#drawing *').length, cuvmm.module().web_text(0).split('\\n').length - 1]));""")
    ok(done[1] == 2003 and done[0] < 6000 and "mappings and pieces are drawn with others" in text("drawing"),
       "two thousand calls are drawn by what can be seen", done)


def lines():
    return b.run("return cuvmm.module().web_text(0)").split("\n")[:-1]


def value(name):
    return b.run("return document.getElementById(arguments[0]).value", name)


def kept():
    """Nothing that a user typed is lost without a confirmation."""
    load()
    script = "init\nc = context dev0\n\nr = reserve 4gran\nh = creat 2gran dev0\nmap r 2gran h"
    click("tab-script")
    b.run("const e = document.getElementById('script-lines'); e.value = arguments[0]; e.dispatchEvent(new Event('input'))", script)
    click("script-run")
    ok(until(lambda: "Line 6 was not run" in text("script-said")) and value("script-lines") == script, "lines that are mistakes stay in the editor", value("script-lines"))
    ok("Line 5 was not run: h = creat 2gran dev0" in text("script-said") and "line 6, column 13" in text("log"), "they are numbered as there", text("script-said"))
    ok(b.run("const e = document.getElementById('script-lines'); return e.value.slice(e.selectionStart, e.selectionEnd)") == "h = creat 2gran dev0", "and the first is marked")
    click("line")
    keys("devices", Keys.ENTER)
    ok(value("script-lines") == script and d.find_element(By.ID, "script-theirs").is_displayed(), "a line that is typed leaves the editor alone")
    click("script-fill")
    typed = ["init", "c = context dev0", "r = reserve 4gran", "devices"]
    ok(value("script-lines").split("\n")[:-1] == typed, "which shows the session's when it is asked to", value("script-lines"))
    click("line")
    keys("exit", Keys.ENTER)
    ok(lines() == typed and "The session stays" in text("log"), "exit ends nothing", text("log")[-100:])
    b.run("cuvmm.runLine('reserve 0')")
    click("why-rule")
    d.find_elements(By.CSS_SELECTOR, "#rule-text .forms button")[0].click()
    ok(until(lambda: "5 lines were replaced" in text("replaced")), "what takes the place of typed lines says so", text("replaced"))
    until(lambda: "error VMM-RESERVE-SIZE-ZERO" in text("why-text"))
    click("replaced-back")
    ok(until(lambda: lines() == typed + ["reserve 0"]), "and they can be brought back", lines())
    d.back()
    ok(until(lambda: not d.find_element(By.ID, "rule").is_displayed()) and lines() == typed + ["reserve 0"], "Back returns from a rule, and the session stays", d.current_url)
    d.refresh()
    ok(until(lambda: b.run("return !!window.cuvmm") and "loaded again" in text("log")) and lines() == typed + ["reserve 0"], "the session outlives a reload", lines())
    b.run("""const data = new DataTransfer();
        data.setData('text/plain', '> undo\\ncuvmm> h = create 1gran dev0\\nmap r 1gran h\\n');
        document.getElementById('line').dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }))""")
    ok(lines() == typed + ["h = create 1gran dev0", "map r 1gran h"], "lines that are pasted run one by one, without their prompts", lines())
    click("line")
    keys("undo 2", Keys.ENTER, "# a remark", Keys.ENTER)
    ok("Nothing has run" not in text("why-text"), "a remark is not nothing", text("why-text"))
    keys("undo", Keys.ENTER)
    ok("undone: devices" in text("why-text"), "and undo is explained", text("why-text"))


NAMELESS = {"button", "textbox", "searchbox", "combobox", "heading", "image", "img", "region", "tab", "tabpanel", "DisclosureTriangle", "log"}


def readable():
    load("lesson=1")
    b.run("cuvmm.runLine('init'); cuvmm.runLine('c = context dev0'); cuvmm.runLine('r = reserve 2gran'); cuvmm.runLine('fill r 1gran 7')")
    tree = d.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    seen = [n for n in tree if not n.get("ignored") and "role" in n]
    nameless = [n["role"]["value"] for n in seen if n["role"]["value"] in NAMELESS and not n.get("name", {}).get("value", "").strip()]
    ok(not nameless, "everything to read or use has a name for a screen reader", nameless)
    roles = {n["role"]["value"] for n in seen}
    ok({"main", "banner", "region", "tab", "tabpanel", "log", "textbox", "heading"} <= roles, "landmarks and roles", sorted(roles))
    drawing = [n["name"]["value"] for n in seen if n["role"]["value"] in ("img", "image")]
    ok(any("1 reservation" in name for name in drawing) and "r (R1), 4MiB reserved" in text("letters-text"), "the picture has a name, and is there in letters", drawing)
    doubled = b.run("const ids = [...document.querySelectorAll('[id]')].map(e => e.id); return ids.filter((id, i) => ids.indexOf(id) !== i)")
    ok(not doubled, "no two elements have one id", doubled)
    for tab in ("start", "lessons", "exercises", "rules", "script"):
        click("tab-" + tab)
        for dark in (False, True):
            b.dark(dark)
            poor = b.run(browser.CONTRAST)
            ok(not poor, f"text stands out from what is behind it: {tab}, {'dark' if dark else 'light'}", poor)
    b.dark(False)
    b.run("document.getElementById('tab-start').focus()")
    click("tab-start")
    keys(Keys.ARROW_RIGHT)
    ok(focus() == "tab-lessons" and d.find_element(By.ID, "lessons").is_displayed(), "arrows walk through the tabs", focus())
    reached = set()
    b.run("document.activeElement.blur(); window.scrollTo(0, 0)")
    for _ in range(80):
        keys(Keys.TAB)
        reached.add(focus())
    wanted = {"machine", "mode", "undo", "restart", "share", "tab-lessons", "drawing", "zoom-in", "log", "line", "complete", "why-rule"}
    ok(wanted <= reached, "the keyboard reaches everything", sorted(wanted - reached))


def phone():
    """A line's result is visible above it."""
    b.size(390, 844, True)
    load()
    b.run("document.getElementById('line').focus()")
    for line in ("init", "c = context dev0", "r = reserve 4gran", "fill r 1gran 7"):
        keys(line, Keys.ENTER)
    seen = b.run("""return ['line', 'why-text', 'log'].map(id => document.getElementById(id).getBoundingClientRect()).every(r => r.top >= 0 && r.top < innerHeight - 40)
        && document.getElementById('log').lastElementChild.lastElementChild.getBoundingClientRect().bottom < document.getElementById('line').getBoundingClientRect().top""")
    ok(seen, "on a phone the answer and its explanation are above the line")
    keys("m", Keys.TAB)
    ok(b.run("const r = document.getElementById('words').getBoundingClientRect(); return r.bottom <= document.getElementById('line').getBoundingClientRect().top + 8 && r.top >= 0"),
       "and so are the words that can follow")
    click("tab-rules")
    ok(d.find_element(By.ID, "query").is_displayed(), "a tab opens the guide again")


def narrow():
    for fragment in (None, "lesson=1", "exercise=1", "rule=VMM-MAP-OVERLAP"):
        b.size(390, 844, True)
        load(fragment)
        b.run("for (const line of ['init', 'c = context dev0', 'r = reserve 2gran', 'fill r 1gran 7', 'help']) cuvmm.runLine(line)")
        for width in (390, 320):
            b.size(width, 800, True)
            wide = b.run("return document.scrollingElement.scrollWidth")
            ok(wide <= width, f"no sideways scrolling at {width} pixels: {fragment or 'start'}", wide)
    small = b.run("return [...document.querySelectorAll('header button, header select, #form button, #line')].filter(e => e.getBoundingClientRect().height < 40).map(e => e.id)")
    ok(not small, "the controls are large enough for a finger", small)
    b.size(1280, 900)


try:
    ok(load(), "the page loads from a file", b.log())
    ok(b.run("return performance.getEntriesByType('resource').length") == 0, "it asks for nothing else")
    typing()
    rules()
    lesson()
    lesson_typed()
    exercise()
    machines()
    files()
    kept()
    many()
    readable()
    phone()
    narrow()
    messages = b.log()
    ok(not messages, "the console is empty", json.dumps(messages))
finally:
    b.quit()
print(f"1..{points}")
sys.exit(1 if failed else 0)
