"""The page at `/` in a real browser (headless Chromium), clicked and typed into. All of it stays on this machine."""

import json
import os
import re
import sys
import tempfile

import heistd_server
from heistd_server import MIB, ServerTest, until

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../scripts/support"))
import browser as chromium

READABLE = 4.5  # the contrast that WCAG's level AA wants of texts

# Of each visible element that has a text of its own, or is a field: what it stands on, and by how much it stands out.
CONTRASTS = """(() => {
  const parts = (color) => color.match(/[0-9.]+/g).map(Number);
  const light = (color) => parts(color).slice(0, 3).map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
  const groundOf = (one) => {
    const ground = getComputedStyle(one).backgroundColor;
    return parts(ground)[3] === 0 ? groundOf(one.parentElement) : ground;
  };
  const hasText = (one) => one.matches("input, select") || Array.from(one.childNodes).some(
    (node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
  return Array.from(document.body.querySelectorAll("*"))
    .filter((one) => one.checkVisibility() && hasText(one) && !one.disabled && !one.matches("option")).map((one) => {
      const ground = groundOf(one);
      const [less, more] = [light(getComputedStyle(one).color), light(ground)].sort((a, b) => a - b);
      return {text: one.outerHTML.slice(0, 80), ground, contrast: (more + 0.05) / (less + 0.05)};
    });
})()"""

# What can be used, in the order in which it stands there.
CONTROLS = """Array.from(document.querySelectorAll("a[href], button, input, select, textarea, [tabindex]"))
  .filter((one) => one.checkVisibility() && !one.disabled)"""

KEYS = {"Enter": ("\r", 13), "Tab": ("", 9), "ArrowRight": ("", 39), "ArrowLeft": ("", 37), "Escape": ("", 27)}


class Tab:
    """The page in a tab of its own, which reports what went wrong in it."""

    def __init__(self, browser, url, before=""):
        """`before`: a script that runs before the page's own."""
        self.browser = browser
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        self.call("Page.enable")
        self.call(
            "Page.addScriptToEvaluateOnNewDocument",
            source="""window.wrong = [];
            for (const type of ["error", "unhandledrejection", "securitypolicyviolation"]) {
              addEventListener(type, (event) => wrong.push(type + ": " +
                (event.message ?? event.reason ?? event.violatedDirective)));
            }"""
            + before,
        )
        self.call("Page.navigate", url=url)
        self.until("document.readyState === 'complete' && document.querySelector('h1')")

    def call(self, method, **parameters):
        return self.browser.call(method, session=self.session, **parameters)

    def value(self, script):
        done = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise AssertionError(f"{script}: {done['exceptionDetails']}")
        return done["result"].get("value")

    def until(self, script):
        return until(lambda: self.value(f"Boolean({script})"), f"{script} in the page")

    def text(self, selector):
        return self.value(f"document.querySelector({selector!r}).textContent")

    def until_text(self, selector, text):
        """Waits for an element that has this text in it."""
        self.until(f"[...document.querySelectorAll({selector!r})].some((one) => one.textContent.includes({text!r}))")

    def click(self, selector):
        where = self.value(
            f"""(() => {{ const one = document.querySelector({selector!r}); one.scrollIntoView({{block: "center"}});
            const box = one.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()"""
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=where[0], y=where[1], button="left", clickCount=1)

    def press(self, key):
        text, code = KEYS[key]
        more = {"text": text} if text else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=code, **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)

    def type(self, selector, text):
        self.click(selector)
        self.call("Input.insertText", text=text)

    def choose(self, selector, value):
        """As a user of the keyboard does in a list: by its first letters."""
        self.value(f"document.querySelector({selector!r}).focus()")
        for letter in value:
            self.call("Input.dispatchKeyEvent", type="keyDown", key=letter, text=letter)
            self.call("Input.dispatchKeyEvent", type="keyUp", key=letter)
        self.until(f"document.querySelector({selector!r}).value === {value!r}")

    def choose_files(self, selector, *paths):
        """As if they had been chosen in the dialog, which belongs to the system."""
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=paths)

    def row(self, table, head):
        """The texts of the row that begins with this one."""
        rows = self.value(f"[...document.querySelectorAll('{table} tr')].map((row) => [...row.children].map((cell) => cell.textContent))")
        return next((row for row in rows if row[0] == head), None)

    def prefer(self, scheme):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def drop(self, selector, path):
        where = self.value(
            f"""(() => {{ const one = document.querySelector({selector!r}); one.scrollIntoView({{block: "center"}});
            const box = one.getBoundingClientRect(); return [box.x + 5, box.y + 5]; }})()"""
        )
        for kind in ("dragEnter", "dragOver", "drop"):
            self.call("Input.dispatchDragEvent", type=kind, x=where[0], y=where[1],
                      data={"items": [], "files": [path], "dragOperationsMask": 1})

    def names(self, role):
        """What assistive technology is told that there is of a role."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return [node["name"]["value"] for node in nodes if node.get("role", {}).get("value") == role and not node["ignored"]]

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)


class Page(ServerTest):
    OPTIONS = ("--operator", "anonymous")

    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        cls.browser = chromium.Browser(cls.home.name, 1200, 1400)

    @classmethod
    def tearDownClass(cls):
        cls.browser.end()
        cls.home.cleanup()

    def open(self, server=None, before=""):
        tab = Tab(self.browser, f"http://127.0.0.1:{(server or self.server).port}/", before)
        self.addCleanup(tab.close)
        self.addCleanup(lambda: self.assertEqual(tab.value("wrong"), []))
        return tab

    def test_page_then_nothing_but_its_own_files_is_allowed(self):
        for path in ("/", "/page.css", "/page.js"):
            reply = self.server.get(path)
            self.assertEqual(reply.status, 200)
            self.assertIn("require-trusted-types-for 'script'", reply.headers["content-security-policy"])
            self.assertNotIn("unsafe", reply.headers["content-security-policy"])
            self.assertEqual(reply.headers["x-content-type-options"], "nosniff")
            self.assertNotIn(b"://", reply.body.replace(b"http://www.w3.org/2000/svg", b""))

    def test_job_when_submitted_by_typing_then_its_row_shows_its_end_and_it_can_be_opened(self):
        tab = self.open()
        tab.until_text("#kind option", "search")
        tab.choose("#kind", "search")
        tab.type("#parameters input", "no.such")
        tab.type("#signal", "night")
        tab.click("#submit button")
        tab.until_text("#jobs td", "done")
        tab.until_text("#said", "Submit 1 search: done.")
        tab.click("#jobs button")
        tab.until_text("#job-facts dd", "done")
        tab.until_text("#job-result", '"truncated"')
        self.assertTrue(tab.value("document.querySelector('#job-abort').disabled"))
        tab.press("Escape")
        tab.until("!document.querySelector('#job').open")

    def test_job_when_it_is_to_follow_another_one_then_it_does(self):
        first = self.server.accepted("/jobs/digest?delay=3600000").removeprefix("/jobs/")
        tab = self.open()
        tab.until_text("#kind option", "compress")
        tab.until_text("#levels th", "user-blocking")
        tab.until_text("#jobs td", "delayed")
        tab.type("#after", first[:1])
        tab.click("#submit button")
        self.assertFalse(tab.value("document.querySelector('#after').checkValidity()"))
        tab.type("#after", first[1:])
        tab.click("#submit button")
        tab.until_text("#said", "Submit 1 compress: done.")
        jobs = self.server.get("/jobs").json["jobs"]
        self.assertEqual([job.get("after") for job in jobs], [None, first])
        tab.until_text("#jobs td", "compress")
        tab.click("#jobs button")
        tab.until_text("#job-facts dt", "After job")

    def test_jobs_when_there_are_more_than_the_page_keeps_then_it_says_which_it_has(self):
        server = self.start("--max-queued", "3000")
        line = b'{"kind": "digest", "delay": 3600000}\n'
        self.assertEqual(server.post("/jobs", line * 2001).status, 202)
        server.accepted("/jobs/compress?delay=3600000")
        tab = self.open(server)
        tab.until_text("#jobs-caption", "200 of 2000. There are more: these are the oldest 2000")
        tab.choose("#filter-kind", "compress")
        tab.until_text("#jobs-caption", "1 of 1")
        self.assertNotIn("more", tab.value("document.querySelector('#jobs-caption').textContent"))

    def test_files_when_dropped_then_each_is_a_job(self):
        tab = self.open()
        tab.until_text("#kind option", "digest")
        tab.choose("#kind", "digest")
        tab.drop("#drop", self.file(b"x" * 1234))
        tab.until_text("#jobs td", "done")
        self.assertEqual(self.sizes(), [1234])

    def test_files_when_chosen_then_each_is_a_job_and_none_is_sent_twice(self):
        tab = self.open()
        tab.until_text("#kind option", "digest")
        tab.choose_files("#file", self.file(b"x" * 10), self.file(b"x" * 20))
        tab.click("#submit button")
        tab.until_text("#said", "Submit 2 compress: done.")
        self.assertEqual(self.sizes(), [10, 20])
        tab.until("document.querySelector('#file').files.length === 0")

    def sizes(self):
        return [job["bytes"] for job in self.server.get("/jobs").json["jobs"]]

    def file(self, content):
        path = os.path.join(self.folder(), "file")
        with open(path, "wb") as file:
            file.write(content)
        return path

    def test_kind_when_it_is_paused_by_its_button_then_its_jobs_wait_until_it_is_resumed(self):
        tab = self.open()
        tab.until_text("#kinds tr:nth-child(2) button", "Pause")
        self.assertIn("Pause jobs of kind digest", tab.names("button"))
        tab.click("#kinds tr:nth-child(2) button")
        tab.until_text("#kinds tr:nth-child(2) button", "Resume")
        job = self.server.accepted("/jobs/digest?priority=background")
        self.assertEqual(self.server.state(job), "queued")
        until(lambda: tab.row("#levels", "background")[1:7] == ["1", "0", "0", "–", "–", "0"], "the job to be counted")
        # Of the depth a line is drawn, which ends above its ground then.
        tab.until("document.querySelector('#levels .background polyline').getAttribute('points').endsWith(',1.0')")
        tab.click("#kinds tr:nth-child(2) button")
        self.assertEqual(self.server.finished(job)["state"], "done")
        delay = re.compile(r"[0-9.]+ (µs|ms|s)")
        until(lambda: all(map(delay.fullmatch, tab.row("#levels", "background")[4:6])), "the delay to be shown")
        self.assertEqual(tab.row("#levels", "background")[6], "1")

    def test_level_when_a_job_is_dead_then_it_counts_as_that(self):
        server = self.start("--data", self.folder(), "--command", "bad=/bin/sh " + self.script("exit 75"))
        tab = self.open(server)
        tab.until_text("#levels th", "background")
        server.accepted("/jobs/bad?max_attempts=1&priority=background")
        ends = ["0", "0", "1", "0"]  # done, failed, dead, aborted
        until(lambda: tab.row("#levels", "background")[6:10] == ends, "the dead job to be counted")
        heads = tab.value("[...document.querySelectorAll('#levels-title ~ * th[scope=col]')].map((one) => one.textContent)")
        self.assertEqual(heads[6:10], ["Done", "Failed", "Dead", "Aborted"])

    def test_signal_when_its_slider_is_moved_by_keys_then_all_that_follow_it_move(self):
        number = 10_000
        lines = b'{"kind": "digest", "delay": 3600000, "signal": "night"}\n' * number
        jobs = [f"/jobs/{job['id']}" for job in self.server.post("/jobs", lines).json["jobs"]]
        tab = self.open()
        tab.until_text("#signals td", str(number))
        tab.value("document.querySelector('#signals input').focus()")
        tab.press("ArrowRight")
        tab.until_text("#said", "Signal night to user-blocking: done.")
        self.assertEqual(self.server.get(jobs[-1]).json["priority"], "user-blocking")
        until(lambda: self.server.level("user-blocking")["delayed"] == number, "the jobs to have moved")
        self.assertIn("Priority of signal night", tab.names("slider"))
        pause = "#signals td:nth-child(5) button"
        for before, after in (("Pause", "Resume"), ("Resume", "Pause")):
            self.assertIn(f"{before} jobs of signal night", tab.names("button"))
            tab.click(pause)
            tab.until_text(pause, after)
            self.assertEqual(self.server.get("/signals").json["signals"][0]["paused"], after == "Resume")
        tab.click("#signals button")
        tab.until("document.querySelectorAll('#signals tr').length === 0")
        until(lambda: self.server.state(jobs[-1]) == "aborted", "the jobs to be aborted")

    def test_job_when_it_runs_then_its_state_comes_by_itself_and_a_click_aborts_it(self):
        tab = self.open()
        tab.until_text("#connection", "Live.")
        job = self.server.accepted("/jobs/search?pattern=" + heistd_server.COSTLY, heistd_server.costly_text(12 * MIB))
        tab.until_text("#jobs td", "running")
        tab.click("#jobs button")
        tab.until_text("#job-facts dd", "running")
        tab.click("#job-abort")
        tab.until_text("#job-facts dd", "aborted")
        self.assertEqual(self.server.state(job), "aborted")
        tab.click("#job-forget")
        tab.until("document.querySelectorAll('#jobs tr').length === 0")

    def test_jobs_when_filtered_then_only_those_stay(self):
        self.server.accepted("/jobs/digest?delay=3600000&signal=b")
        for signal in "ab":
            self.server.accepted(f"/jobs/compress?delay=3600000&signal={signal}")
        self.server.finished(self.server.accepted("/jobs/digest"))
        tab = self.open()
        rows = lambda number: tab.until(f"document.querySelectorAll('#jobs tr').length === {number}")  # noqa: E731
        rows(4)
        tab.choose("#filter-state", "delayed")
        rows(3)
        self.assertNotIn("done", tab.text("#jobs"))
        tab.type("#filter-signal", "b")
        tab.press("Enter")
        rows(2)
        tab.choose("#filter-kind", "compress")
        rows(1)
        self.assertIn("compressdelayeduser-visibleb", tab.text("#jobs"))

    def test_job_when_it_reports_progress_then_a_bar_shows_it_until_the_end(self):
        # No kind of heistd's own reports any, so that it is put in the server's mouth.
        job = {"id": 32 * "a", "kind": "words", "state": "running", "priority": "background", "progress": 0.25}
        tab = self.open(before=f"""window.job = {json.dumps(job)}; const real = window.fetch;
            window.fetch = (path, options) => path.startsWith("/jobs?") ?
              Promise.resolve(new Response(JSON.stringify({{jobs: [job]}}))) : real(path, options);""")
        tab.until("document.querySelector('#jobs progress')?.checkVisibility()")
        self.assertEqual(tab.value("document.querySelector('#jobs progress').position"), 0.25)
        self.assertEqual(tab.names("progressbar"), [f"Progress of job {job['id']}"])
        again = "document.querySelector('#filter').dispatchEvent(new Event('change'))"
        tab.value(f"job.progress = 0.75; {again}")
        tab.until("document.querySelector('#jobs progress').position === 0.75")
        tab.value(f"job.state = 'done'; {again}")
        tab.until("!document.querySelector('#jobs progress').checkVisibility()")

    def test_clients_when_the_reader_is_the_operator_then_their_jobs_are_counted(self):
        server = self.start("--client", "alice:secret:user-visible", *self.OPTIONS)
        for _ in range(2):
            server.accepted("/jobs/digest?delay=3600000", headers={"Authorization": "Bearer secret"})
        tab = self.open(server)
        tab.until("document.querySelector('#clients-section').checkVisibility()")
        rows = tab.value("""[...document.querySelectorAll('#clients tr')].map(
            (row) => [...row.children].map((cell) => cell.textContent).join(' '))""")
        self.assertEqual(len(rows), 6)
        self.assertIn("alice user-visible 0 0 2", rows)
        self.assertIn("anonymous user-visible 0 0 0", rows)

    def test_failure_when_its_text_is_markup_then_it_is_shown_as_text(self):
        markup = "<img src=x onerror=wrong.push('ran')><script>wrong.push('ran')</script>"
        server = self.start("--data", self.folder(), "--command", "bad=/bin/sh " + self.script(f'echo "{markup}" >&2; exit 75'))
        server.accepted("/jobs/bad?max_attempts=1")
        tab = self.open(server)
        tab.until_text("#jobs td", "dead")
        tab.until_text("#jobs td", markup)
        tab.click("#jobs button")
        tab.until_text("#job-facts dd", markup)
        self.assertEqual(tab.value("document.querySelectorAll('td img, dd img, td script, dd script').length"), 0)
        tab.click("#job-retry")
        tab.until_text("#said", "Retry job")
        tab.until_text("#said", "done")

    def test_signal_when_its_name_is_markup_then_it_is_shown_as_text(self):
        # The server refuses such a name, so it is put in its mouth.
        name = "<script>wrong.push('ran')</script>"
        signals = {"signals": [{"signal": name, "priority": "background", "unfinished_jobs": 1}]}
        tab = self.open(before=f"""const real = window.fetch; window.fetch = (path, options) =>
            path === "/signals" ? Promise.resolve(new Response({json.dumps(json.dumps(signals))})) : real(path, options);""")
        tab.until_text("#signals th", name)
        self.assertIn(f"Priority of signal {name}", tab.names("slider"))
        self.assertEqual(tab.value("document.querySelectorAll('#signals script').length"), 0)

    def folder(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return folder.name

    def script(self, text):
        path = os.path.join(self.folder(), "script")
        with open(path, "w") as file:
            file.write(text)
        return path

    def test_token_when_needed_then_typed_in_and_not_kept(self):
        server = self.start("--client", "alice:secret:user-visible", "--anonymous-ceiling", "none")
        tab = self.open(server)
        tab.until("document.querySelector('#login').checkVisibility()")
        self.assertEqual(tab.value("document.activeElement.id"), "token")
        tab.call("Input.insertText", text="wrong")
        tab.press("Enter")
        tab.until("document.querySelector('#token').value === '' && document.querySelector('#login').checkVisibility()")
        tab.type("#token", "secret")
        tab.press("Enter")
        tab.until_text("#client", "Client alice")
        self.assertFalse(tab.value("document.querySelector('#login').checkVisibility()"))
        tab.until_text("#connection", "Live.")
        tab.until("document.querySelector('#content').ariaBusy === 'false'")
        self.assertFalse(tab.value("document.querySelector('#clients-section').checkVisibility()"))  # no operator
        self.assertEqual(tab.value("document.cookie + localStorage.length + sessionStorage.length"), "00")
        server.request("PUT", "/signals/mine?priority=background", headers={"Authorization": "Bearer secret"})
        tab.until_text("#signals th", "mine")

    def test_page_then_all_of_it_has_names_for_assistive_technology(self):
        self.server.request("PUT", "/signals/a?priority=background")
        tab = self.open()
        tab.until_text("#signals th", "a")
        tab.until_text("#levels th", "user-blocking")
        for role in ("slider", "button", "combobox", "textbox", "spinbutton", "table", "heading"):
            names = tab.names(role)
            self.assertTrue(names, role)
            self.assertNotIn("", names, role)
        self.assertTrue(tab.value("document.querySelector('#said').getAttribute('aria-live') === 'polite'"))

    def page_with_all(self):
        """One with jobs in several states, signals of each priority, and a message."""
        for priority in ("background", "user-visible", "user-blocking"):
            self.server.request("PUT", f"/signals/{priority}?priority={priority}")
            self.server.accepted(f"/jobs/digest?delay=3600000&signal={priority}")
        self.server.finished(self.server.accepted("/jobs/digest"))
        self.server.finished(self.server.accepted("/jobs/search?pattern=b", b"b" * 70_000))
        self.server.request("DELETE", self.server.accepted("/jobs/digest?delay=3600000"))
        tab = self.open()
        tab.until("document.querySelectorAll('#jobs tr').length === 6 && document.querySelectorAll('#signals tr').length === 3")
        tab.until("document.querySelector('#content').ariaBusy === 'false' && document.querySelectorAll('#clients tr').length === 3")
        return tab

    def test_page_when_dark_is_wanted_then_all_of_it_is_and_can_be_read(self):
        tab = self.page_with_all()
        grounds = {}
        for scheme in ("light", "dark"):
            tab.prefer(scheme)
            texts = tab.value(CONTRASTS)
            self.assertGreater(len(texts), 100)
            self.assertEqual([text for text in texts if text["contrast"] < READABLE], [], scheme)
            grounds[scheme] = {text["ground"] for text in texts}
            is_dark = tab.value("getComputedStyle(document.body).backgroundColor") == "rgb(13, 17, 23)"
            self.assertEqual(is_dark, scheme == "dark")
        self.assertEqual(grounds["light"] & grounds["dark"], set())  # inputs and tables, too

    def test_page_when_walked_through_by_tab_then_each_control_is_reached_and_seen(self):
        tab = self.page_with_all()
        tab.value(f"window.controls = {CONTROLS}; document.activeElement.blur()")
        for number in range(tab.value("controls.length")):
            tab.press("Tab")
            what = f"{number}: " + tab.value("controls[%d].outerHTML.slice(0, 80)" % number)
            self.assertEqual(tab.value("controls.indexOf(document.activeElement)"), number, what)
            self.assertEqual(tab.value("getComputedStyle(document.activeElement).outlineWidth"), "3px", what)
        self.assertGreater(number, 25)
        tab.value("document.querySelector('#jobs tr:nth-child(3) button').focus()")  # the newest is the first
        tab.press("Enter")
        tab.until("document.querySelector('#job-result').checkVisibility()")
        reached = set()
        for _ in range(8):
            tab.press("Tab")
            reached.add(tab.value("document.activeElement.id"))
        self.assertLessEqual({"job-result", "job-forget", "job-close"}, reached)
        self.assertLessEqual(reached, {"job-result", "job-forget", "job-close", ""})  # the last is the browser's own

    def test_page_when_the_server_comes_again_then_it_goes_on(self):
        tab = self.open()
        tab.until("document.querySelector('#content').ariaBusy === 'false'")
        port = str(self.server.port)
        self.server.signal()
        tab.until_text("#said", "shutting down")
        self.server.ended()
        again = self.start(where=("--port", port))
        tab.until_text("#connection", "Live.")
        again.accepted("/jobs/digest?delay=3600000")
        tab.until_text("#jobs td", "delayed")


if __name__ == "__main__":
    if os.environ.get("HEIST_WITHOUT_BROWSER") and chromium.missing():
        print(f"SKIPPED: {chromium.missing()}; HEIST_WITHOUT_BROWSER says that this is meant.")
        sys.exit(77)  # for ctest
    heistd_server.main()
