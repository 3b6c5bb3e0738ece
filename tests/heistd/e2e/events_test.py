"""GET /events: what is told to those who listen, and what becomes of those who read slowly."""

import json
import os
import signal
import tempfile
import unittest

import heistd_server
from heistd_server import MIB, ServerTest, until

TOKEN = {"Authorization": "Bearer secret"}


class Stream:
    """One who listens."""

    def __init__(self, server, **headers):
        self.raw = server.raw().head("GET", "/events", **headers)
        self.head = self.raw.reply(has_body=False)

    def next(self):
        """The next event, as (type, data); a comment is (None, its text); nothing at the end."""
        while b"\n\n" not in self.raw.received:
            if not self.raw._more():
                return None
        event, self.raw.received = self.raw.received.split(b"\n\n", 1)
        if event.startswith(b":"):
            return None, event.decode()
        fields = dict(line.split(": ", 1) for line in event.decode().split("\n"))
        self.id = fields["id"]
        return fields["event"], json.loads(fields["data"])

    def until(self, wanted, **values):
        """Reads on to an event of that type whose data has these values; the data."""
        while True:
            kind, data = self.next()
            if kind == wanted and values.items() <= data.items():
                return data


class Events(ServerTest):
    OPTIONS = ("--client", "alice:secret:user-blocking", "--idle-timeout", "2000")

    def test_stream_then_it_is_one_of_server_sent_events_without_a_length(self):
        stream = Stream(self.server)
        self.assertEqual(stream.head.status, 200)
        self.assertEqual(stream.head.headers["content-type"], "text/event-stream")
        self.assertEqual(stream.head.headers["cache-control"], "no-store")
        self.assertNotIn("content-length", stream.head.headers)
        self.assertEqual(self.server.request("HEAD", "/events").headers["content-type"], "text/event-stream")
        self.assert_refused(self.server.get("/events?x=1"), 400, "bad_parameter", "x")
        self.assert_refused(self.server.get("/events", headers={"Authorization": "Bearer no"}), 401,
                            "unauthorized", "Authorization")

    def test_job_then_its_states_are_told_as_they_come(self):
        stream = Stream(self.server)
        self.assertEqual(stream.next()[0], "levels")
        job = self.server.accepted("/jobs/search?pattern=" + heistd_server.COSTLY + "&signal=night",
                                   heistd_server.costly_text(2 * MIB))
        id = job.rsplit("/", 1)[1]
        stream.until("job", id=id, state="running")
        self.server.request("PUT", "/signals/night?priority=background")
        self.assertEqual(stream.until("signal")["priority"], "background")
        self.server.request("DELETE", job)
        self.assertEqual(stream.until("job", id=id)["state"], "aborted")

    def test_job_when_it_is_another_clients_then_not_told(self):
        mine, others = Stream(self.server, **TOKEN), Stream(self.server)
        self.server.accepted("/jobs/digest")
        mine_too = self.server.accepted("/jobs/digest", headers=TOKEN)
        self.assertEqual(mine.until("job")["links"]["self"], mine_too)
        self.assertNotEqual(others.until("job")["links"]["self"], mine_too)

    def test_stream_when_nothing_happens_then_it_lives(self):
        stream = Stream(self.server)
        self.assertEqual([stream.next()[0] for _ in range(4)], ["levels", None, None, None])
        self.server.accepted("/jobs/digest")
        stream.until("job", state="done")

    def test_listener_when_it_comes_again_then_it_misses_nothing(self):
        stream = Stream(self.server)
        stream.next()
        stream.raw.close()
        job = self.server.accepted("/jobs/digest")
        again = Stream(self.server, Last_Event_ID=stream.id)
        self.assertEqual(again.next()[1]["links"]["self"], job)
        unknown = Stream(self.server, Last_Event_ID="x")
        self.assertEqual(unknown.next()[0], "missed")

    def test_server_when_it_drains_then_the_last_ends_are_told_and_the_stream_ends(self):
        stream = Stream(self.server)
        late = self.server.accepted("/jobs/digest?delay=3600000")
        stream.until("job", state="delayed")
        self.server.signal()
        self.assertEqual(stream.until("job")["state"], "aborted")
        self.assertIn("shutting down", stream.until("end")["reason"])
        self.assertIsNone(stream.next())


class Slow(ServerTest):
    OPTIONS = ("--idle-timeout", "2000")

    def flood(self, signals=10_000):
        raw = self.server.raw()
        for first in range(0, signals, 500):
            raw.send(b"PUT /signals/s?priority=background HTTP/1.1\r\nHost: localhost\r\n\r\n" * 500)
            for _ in range(500):
                raw.reply()

    def memory(self):
        with open(f"/proc/{self.server.process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def is_open(self, raw):
        try:
            return bool(raw.kernel_state())
        except (OSError, StopIteration):
            return False

    @unittest.skipIf(os.environ.get("HEIST_SANITIZE"), "a sanitizer keeps memory that was given back")
    def test_reader_when_it_reads_nothing_then_it_costs_little_and_is_closed(self):
        streams = [self.server.raw(receive_buffer=4096).head("GET", "/events") for _ in range(20)]
        for raw in streams:
            raw.reply(has_body=False)
        self.flood(1000)
        before = self.memory()
        self.flood()
        self.assertLess(self.memory() - before, 16 * MIB)
        self.assertEqual(self.server.get("/healthz").status, 200)
        # How much is written depends on how many changes the server tells at once.
        are_closed = lambda: not any(self.is_open(raw) for raw in streams)
        until(lambda: self.flood() or are_closed(), "the connections to be closed")
        self.assertEqual(self.server.post("/jobs/digest?wait=1").status, 200)


class Tokens(ServerTest):
    def test_tokens_when_read_again_then_streams_end_so_that_no_old_token_hears_more(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("alice:secret:background")
            file.flush()
            server = self.start("--client-file", file.name)
            stream = Stream(server, **TOKEN)
            stream.next()
            file.seek(0)
            file.write("alice:changed:background")
            file.truncate()
            file.flush()
            server.signal(signal.SIGHUP)
            self.assertIn("tokens", stream.until("end")["reason"])
            self.assertIsNone(stream.next())
            self.assertEqual(Stream(server, Last_Event_ID=stream.id, **TOKEN).head.status, 401)


class Overview(ServerTest):
    def test_kinds_then_their_parameters_are_told(self):
        kinds = {kind["kind"]: kind for kind in self.server.get("/kinds").json["kinds"]}
        self.assertEqual(set(kinds), {"compress", "digest", "search"})
        pattern = kinds["search"]["parameters"][0]
        self.assertEqual((pattern["name"], pattern["type"], pattern["required"]), ("pattern", "text", True))

    def test_signals_then_those_that_live_are_told(self):
        self.assertEqual(self.server.get("/signals").json, {"signals": []})
        self.server.request("PUT", "/signals/a?priority=background")
        self.server.accepted("/jobs/digest?signal=b&delay=3600000")
        self.assertEqual(
            self.server.get("/signals").json["signals"],
            [{"signal": "a", "priority": "background", "unfinished_jobs": 0, "paused": False},
             {"signal": "b", "priority": "user-visible", "unfinished_jobs": 1, "paused": False}],
        )


if __name__ == "__main__":
    heistd_server.main()
