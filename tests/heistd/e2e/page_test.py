"""The page at `/` in a real browser (headless Chromium), clicked and typed into. All of it stays on this machine."""

import json
import os
import sys
import tempfile

import heistd_server
from heistd_server import MIB, ServerTest, until

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../scripts/support"))
import browser as chromium

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
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"x" * 1234)
            file.flush()
            tab.drop("#drop", file.name)
            tab.until_text("#jobs td", "done")
        self.assertEqual(self.server.get("/jobs").json["jobs"][0]["bytes"], 1234)

    def test_kind_when_it_is_paused_by_its_button_then_its_jobs_wait_until_it_is_resumed(self):
        tab = self.open()
        tab.until_text("#kinds tr:nth-child(2) button", "Pause")
        self.assertIn("Pause jobs of kind digest", tab.names("button"))
        tab.click("#kinds tr:nth-child(2) button")
        tab.until_text("#kinds tr:nth-child(2) button", "Resume")
        job = self.server.accepted("/jobs/digest")
        self.assertEqual(self.server.state(job), "queued")
        tab.click("#kinds tr:nth-child(2) button")
        self.assertEqual(self.server.finished(job)["state"], "done")

    def test_signal_when_its_slider_is_moved_by_keys_then_all_that_follow_it_move(self):
        jobs = [self.server.accepted("/jobs/digest?delay=3600000&signal=night") for _ in range(70)]
        tab = self.open()
        tab.until_text("#signals td", "70")
        tab.value("document.querySelector('#signals input').focus()")
        tab.press("ArrowRight")
        tab.until_text("#said", "Signal night to user-blocking: done.")
        self.assertEqual(self.server.get(jobs[-1]).json["priority"], "user-blocking")
        until(lambda: self.server.level("user-blocking")["delayed"] == 70, "the jobs to have moved")
        self.assertIn("Priority of signal night", tab.names("slider"))
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
        self.server.accepted("/jobs/digest?delay=3600000")
        self.server.accepted("/jobs/compress?delay=3600000&signal=a")
        tab = self.open()
        tab.until("document.querySelectorAll('#jobs tr').length === 2")
        tab.choose("#filter-kind", "compress")
        tab.until("document.querySelectorAll('#jobs tr').length === 1")
        self.assertIn("compress", tab.text("#jobs"))

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

    def test_page_when_dark_is_wanted_then_dark(self):
        tab = self.open()
        grounds = []
        for scheme in ("light", "dark"):
            tab.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            grounds.append(tab.value("getComputedStyle(document.body).backgroundColor"))
        self.assertEqual(grounds, ["rgb(255, 255, 255)", "rgb(13, 17, 23)"])

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
