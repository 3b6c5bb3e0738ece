"""Limits, and that clients have them each for itself."""

import unittest

import heistd_server
from heistd_server import ServerTest, until


class Limits(ServerTest):
    OPTIONS = (
        *("--max-body", "1000", "--max-header", "2000", "--max-queued", "3"),
        *("--max-results", "2"),
    )

    def test_body_when_announced_too_large_then_413(self):
        self.assert_refused(self.server.post("/jobs/digest", 1001 * b"x"), 413, "body_too_large")
        self.assertEqual(self.server.post("/jobs/digest?wait=1", 1000 * b"x").status, 200)

    def test_body_when_chunked_and_too_large_then_413(self):
        reply = self.server.post("/jobs/digest", iter([600 * b"x", 600 * b"x"]))
        self.assert_refused(reply, 413, "body_too_large")

    def test_body_when_refused_then_a_client_that_goes_on_sending_sees_why(self):
        raw = self.server.raw()
        raw.send(b"POST /jobs/digest HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000000\r\n\r\n")
        raw.send(500_000 * b"x")
        self.assert_refused(raw.reply(), 413, "body_too_large")

    def test_header_when_too_large_then_431(self):
        raw = self.server.raw()
        raw.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + 3000 * b"x" + b"\r\n\r\n")
        self.assert_refused(raw.reply(), 431, "header_too_large", "header")
        raw = self.server.raw()
        raw.send(b"GET /" + 300_000 * b"x")
        self.assert_refused(raw.reply(), 431, "header_too_large", "header")

    def test_queue_when_full_then_503_with_retry_after_until_there_is_room(self):
        jobs = [self.server.accepted("/jobs/digest?delay=3600000") for _ in range(3)]
        refused = self.server.post("/jobs/digest")
        self.assert_refused(refused, 503, "queue_full")
        self.assertEqual(refused.headers["retry-after"], "1")
        self.server.request("DELETE", jobs[0])
        until(lambda: self.server.post("/jobs/digest").status == 202, "room in the queue")

    def test_results_when_too_many_then_the_oldest_go(self):
        jobs = []
        for _ in range(4):
            jobs.append(self.server.accepted("/jobs/digest"))
            self.server.finished(jobs[-1])
        self.assertEqual([self.server.get(job).status for job in jobs], [404, 404, 200, 200])


class Sec1(ServerTest):
    """Rule: SEC-1"""

    OPTIONS = (
        *("--client", "alice:secret-a:background", "--client", "bob:secret-b:user-blocking"),
        *("--anonymous-ceiling", "user-visible"),
    )
    ALICE = {"Authorization": "Bearer secret-a"}
    BOB = {"Authorization": "Bearer secret-b"}

    def test_job_when_anothers_then_404_for_everything(self):
        job = self.server.accepted("/jobs/digest?delay=3600000", headers=self.BOB)
        for other in (self.ALICE, {}):
            for method, path in (("GET", job), ("DELETE", job), ("GET", job + "/result")):
                self.assert_refused(self.server.request(method, path, headers=other), 404, "not_found")
        self.assertEqual(self.server.get(job, headers=self.BOB).json["state"], "delayed")

    def test_signal_when_anothers_then_out_of_reach(self):
        job = self.server.accepted("/jobs/digest?signal=g&delay=3600000", headers=self.BOB)
        reply = self.server.request("DELETE", "/signals/g", headers=self.ALICE)
        self.assert_refused(reply, 404, "not_found")
        self.assertEqual(self.server.get(job, headers=self.BOB).json["state"], "delayed")

    def test_ceiling_when_passed_then_403(self):
        for headers, allowed, refused in (
            (self.ALICE, "background", "user-visible"),
            ({}, "user-visible", "user-blocking"),
        ):
            reply = self.server.post(f"/jobs/digest?priority={refused}", headers=headers)
            self.assert_refused(reply, 403, "above_ceiling", "priority")
            reply = self.server.request("PUT", f"/signals/g?priority={refused}", headers=headers)
            self.assert_refused(reply, 403, "above_ceiling", "priority")
            self.server.accepted(f"/jobs/digest?priority={allowed}", headers=headers)
        self.server.accepted("/jobs/digest?priority=user-blocking", headers=self.BOB)

    def test_priority_when_not_given_then_within_the_ceiling(self):
        job = self.server.accepted("/jobs/digest", headers=self.ALICE)
        self.assertEqual(self.server.get(job, headers=self.ALICE).json["priority"], "background")

    def test_token_when_wrong_then_401(self):
        for value in ("Bearer wrong", "Basic secret-a", "secret-a"):
            reply = self.server.get("/stats", headers={"Authorization": value})
            self.assert_refused(reply, 401, "unauthorized", "Authorization")
            self.assertEqual(reply.headers["www-authenticate"], "Bearer")

    def test_stats_when_others_work_then_only_ones_own(self):
        self.server.post("/jobs/digest?wait=1", headers=self.BOB)
        stats = self.server.get("/stats", headers=self.ALICE).json
        self.assertEqual(stats["client"], "alice")
        self.assertEqual(sum(level["done"] for level in stats["levels"]), 0)

    def test_ids_when_made_then_never_alike(self):
        jobs = {self.server.accepted("/jobs/digest?delay=3600000") for _ in range(50)}
        self.assertEqual(len(jobs), 50)


class Rates(ServerTest):
    OPTIONS = ("--client", "alice:secret-a:background rate=1/m")
    ALICE = {"Authorization": "Bearer secret-a"}

    def test_rate_when_one_request_brings_many_jobs_then_later_ones_wait_for_each_of_them(self):
        line = b'{"kind": "digest", "text": "a"}\n'
        self.assertEqual(self.server.post("/jobs", 3 * line, headers=self.ALICE).json["accepted"], 3)
        refused = self.server.post("/jobs/digest", headers=self.ALICE)
        self.assert_refused(refused, 429, "rate_limited")
        self.assertIn(int(refused.headers["retry-after"]), range(121, 181))
        self.server.accepted("/jobs/digest")  # of somebody else


class Tokens(unittest.TestCase):
    def setUp(self):
        self.server = heistd_server.Server(
            "--anonymous-ceiling",
            "none",
            environment={"HEISTD_CLIENTS": "alice:secret-a:background,bob:secret-b:user-blocking"},
        )

    def tearDown(self):
        self.server.signal()
        self.assertEqual(self.server.ended(), 0)

    def test_token_when_from_the_environment_then_known_and_needed(self):
        self.assertEqual(self.server.get("/stats").status, 401)
        for token, name in (("secret-a", "alice"), ("secret-b", "bob")):
            stats = self.server.get("/stats", headers={"Authorization": f"Bearer {token}"})
            self.assertEqual(stats.json["client"], name)
        self.assertEqual(self.server.get("/healthz").status, 200)


if __name__ == "__main__":
    heistd_server.main()
