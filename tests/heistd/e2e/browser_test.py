"""Rule SEC-1: what a web page can do to a server on its reader's machine, in a real browser (headless Chromium).

All of it stays on this machine. The page's requests go through a relay, which notes what becomes of them.
"""

import http.client
import http.server
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

import heistd_server
from heistd_server import ServerTest, until

BROWSER = shutil.which("chromium")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    # No name but these leads anywhere.
    "--host-resolver-rules=MAP evil.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
)
# Tries everything that a page may do without asking its reader, and reports what it has seen.
PAGE = """<!doctype html><iframe name="frame"></iframe><script>
const target = "TARGET", seen = {};
const tried = async (name, attempt) => {
  try { seen[name] = String(await attempt()); } catch (error) { seen[name] = "failed: " + error; }
};
const text = async (path, options) => (await fetch(target + path, options)).text();
const form = (type) => new Promise((done) => {
  const form = document.createElement("form");
  Object.assign(form, {method: "post", action: target + "/jobs/digest", enctype: type, target: "frame"});
  form.innerHTML = '<input name="a" value="b">';
  document.body.append(form);
  document.querySelector("iframe").onload = done;
  form.submit();
});
const element = (kind) => new Promise((done, failed) => {
  const element = document.createElement(kind);
  Object.assign(element, {src: target + "/stats", onload: done, onerror: failed});
  document.body.append(element);
});
(async () => {
  await tried("read", () => text("/stats"));
  await tried("post", () => text("/jobs/digest?wait=1", {method: "POST", body: "x"}));
  await tried("blind post", () => text("/jobs/digest", {method: "POST", body: "x", mode: "no-cors"}));
  await tried("put", () => text("/signals/x?priority=background", {method: "PUT"}));
  await tried("plain form", () => form("text/plain"));
  await tried("form", () => form("multipart/form-data"));
  await tried("image", () => element("img"));
  await tried("script", () => element("script"));
  await fetch("/report", {method: "POST", body: JSON.stringify(seen)});
})();
</script>"""


class Relay(http.server.ThreadingHTTPServer):
    """Gives out the page and takes its report; hands everything else to heistd as it came."""

    daemon_threads = True

    def __init__(self, heistd_port):
        super().__init__(("127.0.0.1", 0), Handler)
        self.heistd_port = heistd_port
        self.target = ""
        self.report = None
        self.relayed = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def asked(self):
        return {(method, path.split("?")[0]) for method, path, _ in self.relayed}

    def statuses(self):
        return {status for _, _, status in self.relayed}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, headers, body):
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in ("content-length", "connection"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/page":
            page = PAGE.replace("TARGET", self.server.target)
            self.reply(200, [("Content-Type", "text/html")], page.encode())
        elif self.path == "/report":
            self.server.report = json.loads(body)
            self.reply(200, [], b"")
        else:
            self.relay(body)

    def relay(self, body):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.heistd_port)
        connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        response = connection.getresponse()
        self.server.relayed.append((self.command, self.path, response.status))
        self.reply(response.status, response.getheaders(), response.read())
        connection.close()

    do_GET = do_POST = do_PUT = do_OPTIONS = answer


class Pages(ServerTest):
    def relay(self, server):
        relay = Relay(server.port)
        self.addCleanup(relay.server_close)
        self.addCleanup(relay.shutdown)
        return relay

    def open(self, host, relay):
        """Opens the page under that name; returns what it reports."""
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            url = f"http://{host}:{relay.server_port}/page"
            with open(os.path.join(folder, "log"), "w+") as log:
                browser = subprocess.Popen(
                    [BROWSER, *FLAGS, f"--user-data-dir={folder}/profile", url],
                    env={**os.environ, "HOME": folder},
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
                try:
                    until(lambda: relay.report or browser.poll() is not None, "the page's report")
                finally:
                    os.killpg(browser.pid, signal.SIGKILL)
                    browser.wait()
                if not relay.report:
                    log.seek(0)
                    self.fail(f"the browser ended early:\n{log.read()}")
        return relay.report

    def assert_nothing_arrived(self, server, report):
        stats = server.stats()
        self.assertEqual(stats["jobs_held"], 0)
        for level in stats["levels"]:
            self.assertEqual([level[what] for what in ("depth", "done", "failed", "aborted")], 4 * [0])
        self.assertEqual(server.request("DELETE", "/signals/x").status, 404)
        for name in ("read", "post", "put"):
            self.assertNotRegex(report[name], "levels|sha256|signal")

    def test_page_when_of_another_port_then_it_neither_posts_nor_reads(self):
        page, relay = self.relay(self.server), self.relay(self.server)
        page.target = f"http://localhost:{relay.server_port}"
        report = self.open("localhost", page)
        self.assert_nothing_arrived(self.server, report)
        self.assertEqual(relay.statuses(), {403})
        self.assertLessEqual(
            {("GET", "/stats"), ("POST", "/jobs/digest"), ("OPTIONS", "/signals/x")}, relay.asked()
        )
        for name in ("read", "post", "put", "image", "script"):
            self.assertIn("failed", report[name])

    def test_page_when_its_name_comes_to_lead_here_then_it_neither_posts_nor_reads(self):
        relay = self.relay(self.server)
        report = self.open("evil.test", relay)
        self.assert_nothing_arrived(self.server, report)
        self.assertEqual(relay.statuses(), {421})
        self.assertIn("bad_host", report["read"])

    def test_page_when_of_a_name_that_is_served_then_it_posts_and_reads(self):
        # Without this the others could pass because the page does nothing.
        server = self.start("--host", "evil.test")
        relay = self.relay(server)
        report = self.open("evil.test", relay)
        self.assertIn("levels", report["read"])
        self.assertIn("sha256", report["post"])
        self.assertIn("unfinished_jobs", report["put"])
        posts = [path for method, path, status in relay.relayed if method == "POST" and status < 300]
        self.assertEqual(len(posts), 4, relay.relayed)


if __name__ == "__main__":
    if not BROWSER and os.environ.get("HEIST_WITHOUT_BROWSER"):
        print("SKIPPED: there is no chromium here, and HEIST_WITHOUT_BROWSER says that this is meant.")
        sys.exit(77)  # for ctest
    if not BROWSER:
        sys.exit(
            "FAILED: there is no chromium here, so nothing was tested. scripts/setup installs it; "
            "with HEIST_WITHOUT_BROWSER=1 in the environment this test is skipped."
        )
    heistd_server.main()
