"""Opens traces in Chrome's trace viewer, in headless Chromium, and takes pictures of them.

The viewer is the one that Debian's package of Go's sources has, as `go tool trace` shows it, too. All stays on this
machine.
"""

import base64
import contextlib
import http.server
import os
import tempfile
import threading
import time

import browser as chromium
from browser import PATIENCE, Unusable

VIEWER = "/usr/share/go-1.19/src/cmd/trace/static"
PAGE = """<!doctype html><meta charset="utf-8">
<script src="webcomponents.min.js"></script><link rel="import" href="trace_viewer_full.html">
<style>html, body, #viewer { margin: 0; width: 100%; height: 100%; overflow: hidden; }</style>
<script>
document.addEventListener("WebComponentsReady", async () => {
  const viewer = document.createElement("tr-ui-timeline-view");
  const container = document.createElement("track-view-container");
  container.id = "track_view_container";
  viewer.track_view_container = container;
  Polymer.dom(viewer).appendChild(container);
  Object.assign(viewer, {id: "viewer", globalMode: true});
  Polymer.dom(document.body).appendChild(viewer);
  const model = new tr.Model();
  const text = await (await fetch("trace.json")).text();
  await new tr.importer.Import(model, new tr.importer.ImportOptions()).importTraces([text]);
  Object.assign(viewer, {model, viewTitle: ""});
  Object.assign(window, {viewer, model});
});
const style_all = (kind, style) => {
  for (const one of Array.from(document.querySelectorAll(kind))) Object.assign(one.style, style);
};
// The milliseconds of the trace that fill the view, without what nobody needs in a picture.
const show = (from, to) => {
  style_all("tr-ui-b-info-bar-group", {display: "none"});
  style_all("tr-ui-b-mouse-mode-selector", {display: "none"});
  style_all("tr-ui-a-analysis-view", {height: "200px"});
  const view = viewer.trackView.viewport;
  const part = new tr.ui.TimelineDisplayTransform();
  part.xSetWorldBounds(from, to, view.modelTrackContainer_.canvas.offsetWidth);
  view.setDisplayTransformImmediately(part);
};
// Writes the title of a slice that has no room for it on its left or right, or of a selected one inside.
const write_title = (slice, side) => {
  const view = viewer.trackView.viewport;
  const row = view.trackForEvent(slice).getBoundingClientRect();
  const left = view.modelTrackContainer_.canvas.getBoundingClientRect().left;
  const place = (time) => left + view.currentDisplayTransform.xWorldToView(time) / window.devicePixelRatio;
  const title = document.createElement("div");
  title.textContent = slice.title;
  title.style.cssText = `position: fixed; z-index: 9; top: ${row.top + 2}px; font: bold 12px sans-serif;` + {
    left: `right: ${window.innerWidth - place(slice.start) + 4}px`,
    right: `left: ${place(slice.end) + 4}px`,
    inside: `left: ${place((slice.start + slice.end) / 2)}px; transform: translateX(-50%); color: white; background: blue`,
  }[side];
  Polymer.dom(document.body).appendChild(title);
};
</script>"""


class _Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, trace, *arguments):
        self.trace = trace
        super().__init__(*arguments, directory=VIEWER)

    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.path not in ("/", "/trace.json"):
            super().do_GET()
            return
        body = PAGE.encode() if self.path == "/" else self.trace
        self.send_response(200)
        self.send_header("Content-Type", "text/html" if self.path == "/" else "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Viewer:
    """A page with the viewer and the trace in it."""

    def __init__(self, browser, url):
        self.browser = browser
        target = browser.call("Target.createTarget", url=url)["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        deadline = time.monotonic() + PATIENCE
        # Once it has shown all, whatever is set is not undone.
        while not self.value("Boolean(window.model && !viewer.trackView.pollIfViewportAttachedInterval_)"):
            if time.monotonic() > deadline:
                raise Unusable(f"the viewer has not opened the trace within {PATIENCE} s")
            time.sleep(0.1)

    def value(self, script):
        """What the script's last expression is in the page, where `viewer` and `model` are the viewer's."""
        done = self.browser.call("Runtime.evaluate", session=self.session, expression=script, returnByValue=True,
                                 awaitPromise=True)
        if "exceptionDetails" in done:
            raise Unusable(f"in the viewer: {done['exceptionDetails']['exception'].get('description')}")
        return done["result"].get("value")

    def complaints(self):
        """What the viewer could not make sense of."""
        return self.value("model.importWarnings.map((warning) => warning.message)")

    def picture(self):
        """A PNG, once all is drawn."""
        self.value("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
        return base64.b64decode(self.browser.call("Page.captureScreenshot", session=self.session)["data"])


def missing():
    """What is not installed; nothing when all is there."""
    if not os.path.exists(VIEWER):
        return f"{VIEWER} is missing (scripts/setup installs Debian's golang-1.19-src)"
    return chromium.missing()


@contextlib.contextmanager
def opened(trace, width=1400, height=600):
    """A Viewer of the trace, which is JSON in bytes.   Errors: Unusable."""
    if missing():
        raise Unusable(missing())
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *call: _Handler(trace, *call))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        browser = chromium.Browser(home, width, height)
        try:
            yield Viewer(browser, f"http://127.0.0.1:{server.server_port}/")
        finally:
            browser.end()
            server.shutdown()
            server.server_close()
