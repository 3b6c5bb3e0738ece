"""The operator has the server finish its jobs and end."""

import os
import tempfile

import heistd_server
from heistd_server import ServerTest, until


class DrainByRequest(ServerTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.gate = os.path.join(folder.name, "gate")
        os.mkfifo(self.gate)
        self.server = self.start(
            "--operator", "alice", "--client", "alice:a:user-visible", "--drain-deadline", "600000",
            "--command", f"gated=/bin/cat {self.gate}",
        )  # fmt: skip

    def ask(self, method, token="a"):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return self.server.request(method, "/drain", headers=headers)

    def open_gate(self):
        """Lets the program that reads from it end."""
        with open(self.gate, "w") as gate:
            gate.write("done")

    def test_drain_when_a_job_runs_then_it_is_finished_first_and_the_server_ends(self):
        job = self.server.accepted("/jobs/gated")
        until(lambda: self.server.state(job) == "running", "the job to run")
        self.assertEqual(self.ask("GET").json, {"status": "serving", "unfinished_jobs": 1})
        self.server.is_signalled = True
        answer = self.ask("POST")
        self.assertEqual((answer.status, answer.json["status"]), (202, "draining"))
        self.assertEqual(answer.json["unfinished_jobs"], 1)
        self.assert_refused(self.server.post("/jobs/digest"), 503, "shutting_down")
        self.assertEqual(self.server.get("/readyz").status, 503)
        self.assertEqual(self.ask("POST").json["status"], "draining")
        self.assertLessEqual(self.ask("GET").json["left_ms"], 600000)
        self.assertEqual(self.server.state(job), "running")
        self.open_gate()
        self.assertEqual(self.server.ended(), 0)
        self.assertTrue(self.server.said("POST /drain: draining for at most"), self.server.lines)
        self.assertTrue(self.server.said("1 jobs finished, 0 aborted"), self.server.lines)

    def test_drain_when_jobs_follow_each_other_then_all_of_them_are_finished(self):
        job = self.server.accepted("/jobs/gated")
        for _ in range(3000):
            job = self.server.accepted(f"/jobs/digest?after={job.rpartition('/')[2]}")
        self.server.is_signalled = True
        self.ask("POST")
        self.open_gate()
        self.assertEqual(self.server.ended(), 0)
        self.assertTrue(self.server.said("3001 jobs finished, 0 aborted"), self.server.lines)

    def test_drain_when_it_is_not_the_operator_then_403_and_nothing_ends(self):
        for method in ("GET", "POST"):
            self.assert_refused(self.ask(method, token=None), 403, "not_operator")
        self.assertEqual(self.server.get("/readyz").status, 200)

    def test_sigterm_when_it_drains_by_request_then_what_is_left_is_aborted(self):
        job = self.server.accepted("/jobs/gated")
        until(lambda: self.server.state(job) == "running", "the job to run")
        self.ask("POST")
        self.server.signal()
        self.assertEqual(self.server.ended(), 0)
        self.assertTrue(self.server.said("a second signal: aborting 1 jobs"), self.server.lines)


if __name__ == "__main__":
    heistd_server.main()
