"""What an operator sees of a running server: dumps, traces, and reports of long chunks."""

import json
import select

import heistd_server
from heistd_server import COSTLY, MIB, ServerTest, costly_text, noise, until


class Observation(ServerTest):
    OPTIONS = ("--operator", "anonymous")
    LONG = "/debug/trace?duration=600000&format=json"

    def begin_trace(self):
        """A connection that waits for a long trace, which runs."""
        raw = self.server.raw().head("GET", self.LONG)
        while self.server.get("/debug/trace?duration=1").status != 409:
            if select.select([raw.socket], [], [], 0)[0]:  # another network thread was the first
                self.assert_refused(raw.reply(), 409, "trace_running")
                raw.head("GET", self.LONG)
        return raw

    def traced(self, raw):
        """The names of the slices of the trace that the connection has asked for."""
        reply = raw.reply()
        self.assertEqual(reply.status, 200, reply.body)
        return {event["name"] for event in json.loads(reply.body)["traceEvents"] if event["ph"] == "B"}

    def test_dump_when_jobs_wait_then_it_says_how_many_and_what_runs(self):
        for _ in range(20):
            self.server.accepted("/jobs/compress?priority=background", noise(4 * MIB))
        reply = self.server.get("/debug/dump")
        self.assertEqual(reply.headers["content-type"], "text/plain; charset=utf-8")
        text = reply.body.decode()
        self.assertRegex(text, r"cluster of 2 agents")
        self.assertRegex(text, r"background: [0-9]+ wait")
        self.assertRegex(text, r"agent heistd-agent-1 runs")

    def test_trace_when_its_time_is_over_then_both_formats_come(self):
        json_reply = self.server.get("/debug/trace?duration=1&format=json")
        self.assertEqual(json_reply.headers["content-type"], "application/json")
        self.assertIn("traceEvents", json_reply.json)
        reply = self.server.get("/debug/trace?duration=1")
        self.assertEqual((reply.status, reply.headers["content-type"]), (200, "application/octet-stream"))
        self.assertIn(b"heistd", reply.body)

    def test_trace_when_the_server_ends_then_it_comes_with_what_it_has(self):
        raw = self.begin_trace()
        self.server.finished(self.server.accepted("/jobs/digest"))
        self.server.signal()
        self.assertIn("digest", self.traced(raw))
        self.assertEqual(self.server.ended(), 0)

    def test_trace_when_its_client_goes_then_another_may_run(self):
        raw = self.begin_trace()
        raw.close()
        until(lambda: self.server.get("/debug/trace?duration=1").status == 200, "the trace to end")


class Others(ServerTest):
    def test_observation_when_there_is_no_operator_then_403(self):
        for path in ("/debug/dump", "/debug/trace?duration=1"):
            self.assert_refused(self.server.get(path), 403, "not_operator")

    def test_chunk_when_it_takes_longer_than_allowed_then_a_line_says_which(self):
        server = self.start("--report-tasks-over", "1")
        text = costly_text(64 * 1024)

        def is_reported():
            server.finished(server.accepted(f"/jobs/search?pattern={COSTLY}", text))
            return server.said('has run task "search" (search_work.cpp:')

        until(is_reported, "a report")


if __name__ == "__main__":
    heistd_server.main()
