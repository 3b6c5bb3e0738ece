"""Jobs from end to end: what is uploaded, and what comes back."""

import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import subprocess
import tempfile
import urllib.parse

import heistd_server
from heistd_server import MIB, ServerTest, until


class Digest(ServerTest):
    def test_digest_when_polled_then_the_digest(self):
        body = os.urandom(3 * MIB)
        job = self.server.finished(self.server.accepted("/jobs/digest?priority=background", body))
        self.assertEqual(job["state"], "done")
        self.assertEqual(job["result"]["sha256"], hashlib.sha256(body).hexdigest())
        self.assertGreater(job["chunks"], 1)
        self.assertGreaterEqual(job["queue_delay_us"], 0)
        self.assertGreaterEqual(job["run_time_us"], job["longest_chunk_us"])

    def test_digest_when_waited_for_then_in_the_reply(self):
        reply = self.server.post("/jobs/digest?wait=1", b"abc")
        self.assertEqual(reply.status, 200)
        self.assertEqual(reply.json["result"]["sha256"], hashlib.sha256(b"abc").hexdigest())

    def test_digest_when_empty_then_of_nothing(self):
        reply = self.server.post("/jobs/digest?wait=1", b"")
        self.assertEqual(reply.json["result"]["sha256"], hashlib.sha256(b"").hexdigest())

    def test_digest_when_chunked_then_as_if_not(self):
        pieces = [os.urandom(size) for size in (1, 100_000, 7, 200_000, 131_072)]
        reply = self.server.post("/jobs/digest?wait=1", iter(pieces))
        self.assertEqual(reply.json["result"]["sha256"], hashlib.sha256(b"".join(pieces)).hexdigest())
        self.assertEqual(reply.json["bytes"], sum(map(len, pieces)))


class Compress(ServerTest):
    def test_compress_when_downloaded_then_one_frame(self):
        body = os.urandom(100_000) * 5
        path = self.server.accepted("/jobs/compress", body)
        job = self.server.finished(path)
        frame = self.server.get(job["links"]["result"])
        self.assertEqual(frame.headers["content-type"], "application/zstd")
        self.assertEqual(len(frame.body), job["result"]["bytes"])
        self.assertLess(len(frame.body), len(body) // 2)
        self.assertEqual(frame.body[:4], bytes.fromhex("28b52ffd"))

    def test_wait_when_the_job_does_not_end_in_time_then_the_reply_is_its_state_and_it_goes_on(self):
        reply = self.server.post("/jobs/digest?delay=3600000&wait=50ms")
        self.assertEqual((reply.status, reply.json["state"]), (202, "delayed"))
        job = reply.headers["location"]
        later = self.server.get(f"{job}?wait=50ms")
        self.assertEqual((later.status, later.json["state"]), (200, "delayed"))
        self.server.request("DELETE", job)

    def test_wait_when_the_job_ends_in_time_then_all_who_wait_hear_of_it(self):
        server = self.start("--max-waiting", "2")
        job = server.accepted("/jobs/digest?delay=3600000")

        def waited(time):
            """Asks again while the question below, whether there is room, takes the room."""
            reply = server.get(f"{job}?wait={time}")
            return reply if reply.status != 503 else None

        with concurrent.futures.ThreadPoolExecutor() as threads:
            waits = [
                threads.submit(until, functools.partial(waited, time), "room to wait")
                for time in ("1", "10m")
            ]
            until(lambda: server.get(f"{job}?wait=1ms").status == 503, "both to wait")
            server.request("DELETE", job)
            self.assertEqual([wait.result().json["state"] for wait in waits], 2 * ["aborted"])

    def test_compress_when_waited_for_then_the_frame_is_the_reply(self):
        reply = self.server.post("/jobs/compress?wait=1", b"x" * MIB)
        self.assertEqual(reply.status, 200)
        self.assertEqual(reply.headers["content-type"], "application/zstd")
        self.assertEqual(reply.body[:4], bytes.fromhex("28b52ffd"))
        self.assertGreater(int(reply.headers["heistd-run-time-us"]), 0)
        self.assertEqual(self.server.get(reply.headers["location"] + "/result").body, reply.body)


class Parts(ServerTest):
    def test_result_when_a_part_is_asked_for_then_just_that(self):
        job = self.server.accepted("/jobs/compress", os.urandom(MIB))
        self.server.finished(job)
        target = job + "/result"
        whole = self.server.get(target)
        size = len(whole.body)
        self.assertEqual((whole.status, whole.headers["accept-ranges"]), (200, "bytes"))

        def part(wanted, **more):
            return self.server.request("GET", target, headers={"Range": f"bytes={wanted}", **more})

        # The blocks of a result have 128 KiB.
        for first, last in ((0, 0), (131_071, 131_072), (100, 500_000), (size - 1, size - 1)):
            reply = part(f"{first}-{last}")
            self.assertEqual((reply.status, reply.body), (206, whole.body[first:last + 1]))
            self.assertEqual(reply.headers["content-range"], f"bytes {first}-{last}/{size}")
        self.assertEqual(part("-10").body, whole.body[-10:])
        self.assertEqual(part("5-", **{"If-Range": whole.headers["etag"]}).body, whole.body[5:])
        self.assertEqual(part("5-", **{"If-Range": '"other"'}).body, whole.body)
        beyond = part(f"{size}-")
        self.assert_refused(beyond, 416, "range_not_satisfiable", "Range")
        self.assertEqual(beyond.headers["content-range"], f"bytes */{size}")
        head = self.server.request("HEAD", target, headers={"Range": "bytes=0-4"})
        self.assertEqual((head.status, head.headers["content-length"], head.body), (200, str(size), b""))

    def test_download_when_it_was_cut_short_then_curl_goes_on_with_it(self):
        job = self.server.accepted("/jobs/compress", os.urandom(300_000))
        self.server.finished(job)
        whole = self.server.get(job + "/result").body
        with tempfile.NamedTemporaryFile() as file:
            file.write(whole[:200_000])
            file.flush()
            url = f"http://127.0.0.1:{self.server.port}{job}/result"
            subprocess.run(["curl", "-sS", "--continue-at", "-", "--output", file.name, url], check=True)
            self.assertEqual(pathlib.Path(file.name).read_bytes(), whole)


class Search(ServerTest):
    def search(self, pattern, body):
        target = "/jobs/search?" + urllib.parse.urlencode({"pattern": pattern, "wait": 1})
        return self.server.post(target, body).json

    def test_search_when_text_is_large_then_the_lines_that_grep_finds(self):
        lines = [f"line {number} of {number % 97}" for number in range(1, 60_000)]
        expected = [number for number, line in enumerate(lines, 1) if line.endswith(" of 13")]
        result = self.search(" of 13$", "\n".join(lines).encode())["result"]
        self.assertEqual(result["searched"], len(lines))
        self.assertEqual([line["number"] for line in result["lines"]], expected)
        self.assertEqual(result["lines"][0]["text"], "line 13 of 13")
        self.assertFalse(result["truncated"])

    def test_search_when_too_much_matches_then_says_truncated(self):
        result = self.search("x", b"x\n" * 5000)["result"]
        self.assertEqual((result["matched"], len(result["lines"])), (5000, 1000))
        self.assertTrue(result["truncated"])

    def test_search_when_line_too_long_then_the_job_fails(self):
        path = self.server.accepted("/jobs/search?pattern=x", b"x" * 70_000)
        job = self.server.finished(path)
        self.assertEqual((job["state"], job["error"]["code"]), ("failed", "line_too_long"))
        self.assert_refused(self.server.get(path + "/result"), 409, "no_result")
        reply = self.server.post("/jobs/search?pattern=x&wait=1", b"x" * 70_000)
        self.assert_refused(reply, 422, "line_too_long")

    def test_search_when_pattern_wrong_then_says_why(self):
        reply = self.server.post("/jobs/search?pattern=a(b", b"text")
        self.assert_refused(reply, 400, "bad_pattern", "pattern")


class Attacks(ServerTest):
    """Patterns and lines that RE2 builds a large state for with each byte."""

    LINE = heistd_server.noise(65536)

    def test_search_when_a_program_is_large_then_refused_at_once(self):
        pattern = "|".join(f"a[ab]{{{count}}}c" for count in range(900, 906))
        reply = self.server.post(f"/jobs/search?pattern={pattern}&wait=1", self.LINE)
        self.assert_refused(reply, 400, "bad_pattern", "pattern")

    def test_search_when_a_long_line_needs_too_many_states_then_the_job_fails_after_several_chunks(self):
        reply = self.server.post("/jobs/search?pattern=a[ab]{900}c&wait=1", self.LINE)
        self.assert_refused(reply, 422, "pattern_too_costly")
        self.assertGreater(reply.json["job"]["chunks"], 1)

    def test_delete_when_a_long_line_is_being_matched_then_it_stops_midway(self):
        lines = b"\n".join(heistd_server.noise(60000) for _ in range(270))
        # As many states as there is memory for, so that it goes on for long.
        job = self.server.accepted("/jobs/search?pattern=a[ab]{10}c", lines)
        heistd_server.until(lambda: self.server.state(job) == "running", "the job to run")
        self.assertEqual(self.server.request("DELETE", job).json["state"], "aborted")
        heistd_server.until(lambda: self.server.stats()["jobs_held"] == 0, "its memory to go")


class Order(ServerTest):
    def test_priority_when_a_backlog_waits_then_the_urgent_job_goes_first(self):
        text = heistd_server.costly_text(MIB // 4)
        target = f"/jobs/search?pattern={heistd_server.COSTLY}&priority=background"
        backlog = [self.server.accepted(target, text) for _ in range(12)]
        urgent = self.server.post("/jobs/digest?priority=user-blocking&wait=1", b"now")
        self.assertEqual(urgent.status, 200)
        self.assertNotEqual(self.server.state(backlog[-1]), "done")

    def test_signal_when_put_then_its_jobs_overtake(self):
        text = heistd_server.costly_text(MIB // 4)
        target = f"/jobs/search?pattern={heistd_server.COSTLY}&priority=background"
        backlog = [self.server.accepted(target, text) for _ in range(12)]
        self.server.request("PUT", "/signals/batch?priority=background")
        member = self.server.accepted("/jobs/digest?signal=batch", b"x" * MIB)
        self.assertEqual(self.server.get(member).json["priority"], "background")
        self.assertEqual(self.server.request("PUT", "/signals/batch?priority=user-blocking").status, 200)
        self.assertEqual(self.server.finished(member)["state"], "done")
        self.assertNotEqual(self.server.state(backlog[-1]), "done")

    def test_signal_when_deleted_then_its_jobs_abort_and_the_name_is_free(self):
        jobs = [self.server.accepted("/jobs/digest?signal=g&delay=60000") for _ in range(5)]
        reply = self.server.request("DELETE", "/signals/g")
        self.assertEqual((reply.status, reply.json["aborted_jobs"]), (200, 5))
        self.assertEqual({self.server.state(job) for job in jobs}, {"aborted"})
        self.assertEqual(self.server.request("DELETE", "/signals/g").status, 404)
        again = self.server.finished(self.server.accepted("/jobs/digest?signal=g"))
        self.assertEqual(again["state"], "done")

    def test_delay_when_over_then_the_job_runs_and_not_before(self):
        reply = self.server.post("/jobs/digest?delay=200&wait=1")
        self.assertEqual(reply.json["state"], "done")
        early = self.server.accepted("/jobs/digest?delay=60000")
        self.assertEqual(self.server.state(early), "delayed")

    def test_delete_when_running_then_it_stops(self):
        text = heistd_server.costly_text(8 * MIB)
        job = self.server.accepted(f"/jobs/search?pattern={heistd_server.COSTLY}", text)
        heistd_server.until(lambda: self.server.state(job) == "running", "the job to run")
        self.assertEqual(self.server.request("DELETE", job).json["state"], "aborted")
        heistd_server.until(lambda: self.server.stats()["jobs_held"] == 0, "its memory to go")
        self.assertEqual(self.server.state(job), "aborted")
        self.assertEqual(self.server.request("DELETE", job).status, 200)
        self.assertEqual(self.server.get(job).status, 404)

    def test_delete_when_jobs_of_a_name_run_on_several_agents_then_each_stops_alone(self):
        text = heistd_server.costly_text(MIB)
        target = f"/jobs/search?pattern={heistd_server.COSTLY}&signal=several"
        jobs = [self.server.accepted(target, text) for _ in range(6)]
        running = lambda: [job for job in jobs if self.server.state(job) == "running"]
        heistd_server.until(lambda: len(running()) >= 2, "two jobs to run at a time")
        for job in jobs[:-1]:
            self.server.request("DELETE", job)
        self.assertEqual(self.server.finished(jobs[-1])["state"], "done")
        heistd_server.until(lambda: self.server.stats()["jobs_held"] == 0, "their memory to go")


class MaxWait(ServerTest):
    OPTIONS = ("--max-wait", "background=1ms")

    def test_background_job_when_more_urgent_ones_keep_all_agents_busy_then_runs_all_the_same(self):
        text = heistd_server.costly_text(4 * MIB)
        target = f"/jobs/search?pattern={heistd_server.COSTLY}&priority=user-blocking"
        urgent = [self.server.accepted(target, text) for _ in range(4)]
        reply = self.server.post("/jobs/digest?priority=background&wait=1", 300_000 * b"x")
        self.assertEqual(reply.json["state"], "done")
        unfinished = [job for job in urgent if self.server.state(job) in ("queued", "running")]
        self.assertGreaterEqual(len(unfinished), 2, "an agent was free")
        for job in urgent:
            self.server.request("DELETE", job)


class Curl(ServerTest):
    """What a user types."""

    def curl(self, *arguments):
        done = subprocess.run(
            ["curl", "--silent", "--show-error", "--max-time", "60", *arguments],
            capture_output=True,
            check=True,
        )
        return done.stdout

    def test_curl_when_file_is_large_then_100_continue_and_the_result(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(os.urandom(5 * MIB))
            file.flush()
            file.seek(0)
            url = f"http://127.0.0.1:{self.server.port}/jobs/digest?wait=1"
            said = self.curl("--data-binary", f"@{file.name}", "-H", "Expect: 100-continue", url)
            expected = hashlib.sha256(file.read()).hexdigest()
        self.assertEqual(json.loads(said)["result"]["sha256"], expected)

    def test_curl_when_head_then_no_body(self):
        said = self.curl("--head", f"http://127.0.0.1:{self.server.port}/healthz")
        self.assertTrue(said.startswith(b"HTTP/1.1 200 OK"))
        self.assertTrue(said.endswith(b"\r\n\r\n"))

    def test_curl_when_body_refused_then_the_refusal_is_seen(self):
        url = f"http://127.0.0.1:{self.server.port}/jobs/digest"
        with tempfile.NamedTemporaryFile() as file:
            file.truncate(40 * MIB)
            said = self.curl("-H", "Expect:", "--data-binary", f"@{file.name}", url)
        self.assertEqual(json.loads(said)["error"]["code"], "body_too_large")


if __name__ == "__main__":
    heistd_server.main()
