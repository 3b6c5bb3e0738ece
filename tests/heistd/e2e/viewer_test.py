"""Traces in the viewer that people open them in (Chrome's, in headless Chromium)."""

import json
import os
import sys

import heistd_server
from heistd_server import ServerTest, until

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../scripts/support"))
import trace_viewer


class Traces(ServerTest):
    OPTIONS = ("--operator", "anonymous")

    def trace(self):
        """One in which all kinds of jobs run, and others are aborted and moved up."""
        raw = self.server.raw().head("GET", "/debug/trace?duration=600000&format=json")
        until(lambda: self.server.get("/debug/trace?duration=1").status == 409, "the trace to run")
        for job in ("digest", "compress", "search?pattern=x"):
            self.server.accepted(f"/jobs/{job}")
        for name in ("moved", "aborted"):
            self.server.request("PUT", f"/signals/{name}?priority=background")
            self.server.accepted(f"/jobs/digest?delay=3600000&signal={name}")
        self.server.request("DELETE", "/signals/aborted")
        self.server.request("PUT", "/signals/moved?priority=user-blocking")
        self.server.signal()
        return raw.reply().body

    def test_trace_when_opened_then_the_viewer_shows_all_of_it(self):
        body = self.trace()
        events = json.loads(body)["traceEvents"]
        with trace_viewer.opened(body) as viewer:
            self.assertEqual(viewer.complaints(), [])
            rows = viewer.value("model.getAllThreads().map((thread) => thread.name)")
            self.assertIn("heistd", rows)
            self.assertTrue({"heistd-agent-0", "heistd-agent-1"} & set(rows), rows)
            shown = viewer.value("model.flowEvents.map((arrow) => arrow.title)")
            self.assertEqual(len(shown), sum(event["ph"] == "f" for event in events))
            titles = viewer.value("model.getAllThreads().flatMap((row) => row.sliceGroup.slices.map((one) => one.title))")
            self.assertLessEqual({"digest", "compress", "search"}, set(titles))


if __name__ == "__main__":
    if os.environ.get("HEIST_WITHOUT_BROWSER") and trace_viewer.missing():
        print(f"SKIPPED: {trace_viewer.missing()}; HEIST_WITHOUT_BROWSER says that this is meant.")
        sys.exit(77)  # for ctest
    heistd_server.main()
