# SPDX-License-Identifier: Apache-2.0
"""A served page of `cuvmm view` as TAP: check_serve.py CUVMM TRACE CALLS. What a stranger asks is refused; in a browser, where there is
one, the page goes anywhere in a trace that is larger than what it holds. tools/view/view_serve_test.sh makes the trace: every fifth
call from the third on makes memory, H1, H2, ..., and one in a thousand of those is refused.
"""
import http.client
import json
import subprocess
import sys
import urllib.parse

sys.dont_write_bytecode = True
import browser

CUVMM, TRACE, CALLS = sys.argv[1], sys.argv[2], int(sys.argv[3])
points = failed = 0


def ok(good, what, shown=""):
    global points, failed
    points += 1
    failed += not good
    print(("ok" if good else "not ok") + f" {points} - {what}", flush=True)
    if not good and shown != "":
        print("# " + str(shown).replace("\n", " ")[:400])


def ask(host, path, method="GET", headers=None):
    """Status, headers and body."""
    connection = http.client.HTTPConnection(host, timeout=60)
    connection.request(method, path, headers=headers or {})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, answer.headers, body


def strangers(host, key):
    status, headers, body = ask(host, f"/{key}/")
    ok(status == 200 and b"<title>cuvmm view" in body and "no-store" in headers["Cache-Control"], "the address that it prints has the page",
       (status, body[:80]))
    ok(body.count(b"connect-src 'self'") == 1, "which may ask for more where it came from, and nowhere else")
    for path, what in (("/", "no number"), (f"/{'0' * len(key)}/", "another number"), (f"/{key[:-1]}/", "a part of the number"),
                       (f"/{key}", "the number without an end"), ("/../etc/passwd", "a path of files")):
        ok(ask(host, path)[0] == 403, f"{what}: refused")
    for name in ("evil.example", "evil.example:" + host.split(":")[1], host + ".evil.example", "127.0.0.1"):
        ok(ask(host, f"/{key}/", headers={"Host": name})[0] == 403, f"a page of the web that comes as {name}: refused")
    ok(ask(host, f"/{key}/", headers={"Host": "localhost:" + host.split(":")[1]})[0] == 200, "localhost is the same host")
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        ok(ask(host, f"/{key}/", method)[0] == 405, f"{method}: it changes nothing, and answers GET alone")
    ok(ask(host, f"/{key}/nothing?trace=0")[0] == 404, "a part that there is not")
    ok(ask(host, f"/{key}/window?trace=7&first=0")[0] == 404, "a trace that there is not")
    ok(ask(host, f"/{key}/" + "a" * 3000)[0] == 400, "a request that is too long")


def parts(host, key):
    def part(what, **values):
        status, _, body = ask(host, f"/{key}/{what}?" + urllib.parse.urlencode({"trace": 0, **values}))
        return json.loads(body) if status == 200 else {}
    window = part("window", first=CALLS // 2)
    ok(window["first"] == CALLS // 2 and len(window["calls"]["n"]) == 4096 and window["calls"]["n"][0] == CALLS // 2 + 1,
       "a window from any call on", str(window)[:200])
    window = part("window", first=CALLS - 10)
    ok(len(window["calls"]["n"]) == 10, "the last one is shorter")
    window = part("window", first=10 ** 15)
    ok(window["calls"]["n"] == [], "behind the end there is nothing", str(window)[:200])
    found = part("search", q="h1000")
    ok(len(found["found"]) == 1 and found["objects"]["number"] == [1000], "a search for a name finds the object", found)
    life = part("object", object=found["found"][0]["object"], near=0)
    ok(life["all"] == 4 and life["words"][0].startswith("cuMemCreate(&H1000"), "whose life has four calls", life)
    ok(part("search", q="VMM-CREATE-SIZE-ZERO")["found"], "a rule is found", part("search", q="VMM-CREATE-SIZE-ZERO"))
    ok(part("search", q="<script>")["found"] == [], "and what is not there is not")
    ok(part("object", object=10 ** 12, near=0)["all"] == 0, "an object that there is not has no calls")


def steps(address):
    b = browser.Browser()
    try:
        b.address(address)

        def call():
            return int(b.run("return document.getElementById('slider').value"))

        def until(condition, what):
            b.driver.set_script_timeout(60)
            good = b.driver.execute_async_script("""
                const done = arguments[0], from = performance.now();
                const look = () => { if (%s) done(true); else if (performance.now() - from > 30000) done(false); else setTimeout(look, 10); };
                look();""" % condition)
            ok(good, what, b.run("return document.body.innerText"))

        def press(keys):
            b.run("for (const key of arguments[0]) document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))", keys)

        shows = "document.getElementById('slider').getAttribute('aria-valuetext').startsWith('call %d of')"
        explains = "document.getElementById('call').textContent.includes('VMM-CREATE-SIZE-ZERO')"
        until(shows % 2001 + " && " + explains, "the page opens at the first problem")
        press(["Home"])
        until(shows % 1, "the first call")
        press(["End"])
        until(shows % CALLS, "the last call")
        middle = CALLS // 2 + 2040
        b.run("location.hash = '#' + arguments[0]", middle)
        until(shows % middle, "a call in the middle, by a link")
        for i in range(1, 101):
            press(["ArrowRight"])
            until(shows % (middle + i), "a step on") if i % 20 == 0 else None
        ok(call() == middle + 100, "a hundred steps, over the end of a window", call())
        press(["n"])
        until("Number(document.getElementById('slider').value) > %d && %s" % (middle + 100, explains), "the next problem is explained")
        press(["p"])
        until("Number(document.getElementById('slider').value) < %d && %s" % (middle, explains), "and the one before")
        b.run("const q = document.getElementById('query'); q.value = 'H17'; q.dispatchEvent(new Event('input'))")
        until("document.querySelector('#found-list button')", "an object far away is found")
        b.run("document.querySelector('#found-list button').click()")
        until("document.getElementById('object-title').textContent.startsWith('H17,') && document.querySelectorAll('#object-calls li').length == 4",
              "and shown with its calls")
        press(["End"])
        until(shows % CALLS + " && document.getElementById('object-title').textContent.includes('(gone)')", "it stays, where it is gone")
        ok(b.run("return document.getElementById('object-facts').textContent").find("Made by") >= 0, "with what is known of it")
        press(["Home"])
        until(shows % 1 + " && document.getElementById('object-title').textContent.includes('(not made yet)')", "and where it is not made yet")
        log = b.log()
        ok(not log, "the console is empty", log)
    finally:
        b.quit()


with subprocess.Popen([CUVMM, "view", TRACE, "--serve"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
    try:
        line = server.stdout.readline().strip()
        address = urllib.parse.urlsplit(line)
        secret = address.path.strip("/")
        ok(address.hostname == "127.0.0.1" and len(secret) == 32, "it prints its address, of this machine alone", line)
        strangers(address.netloc, secret)
        parts(address.netloc, secret)
        if browser.why():
            print(f"ok {points + 1} - in a browser # SKIP {browser.why()}")
            points += 1
        else:
            steps(line)
        ok(server.poll() is None, "it still runs")
    finally:
        server.terminate()
print(f"1..{points}")
sys.exit(failed > 0)
