"""heistctl sends jobs, shows them, and ends them."""

import hashlib
import json
import os

import heistctl_case
from heistctl_case import HeistctlTest
from heistd_server import MIB


class Jobs(HeistctlTest):
    def test_submit_when_it_waits_then_the_result_is_the_output(self):
        ended = self.done("submit", "search", "--param", "pattern=b+", "--wait", data=b"abb\nx\n")
        self.assertEqual(json.loads(ended.text)["matched"], 1)
        self.assertIn(" done", ended.errors)

    def test_submit_when_it_does_not_wait_then_the_id_is_the_output(self):
        file = self.write("upload", b"abc")
        job = self.submitted("digest", file, "--signal", "night", "--priority", "background", "--delay", "1h")
        seen = self.server.get(f"/jobs/{job}").json
        self.assertEqual((seen["state"], seen["signal"], seen["priority"]), ("delayed", "night", "background"))
        self.assertEqual(seen["bytes"], 3)

    def test_submit_when_the_upload_is_large_then_all_of_it_arrives(self):
        data = os.urandom(3 * MIB)
        result = self.done("submit", "digest", self.write("upload", data), "--wait").text
        self.assertEqual(json.loads(result)["sha256"], hashlib.sha256(data).hexdigest())

    def test_submit_when_there_is_an_output_then_only_the_whole_result_has_that_name(self):
        data = os.urandom(300_000)
        self.done("submit", "compress", self.write("upload", data), "-o", self.path("frame"))
        self.assertEqual(self.read("frame")[:4], b"\x28\xb5\x2f\xfd")
        self.assertEqual(sorted(os.listdir(self.folder)), ["frame", "upload"])

    def test_submit_when_the_job_fails_then_the_code_is_1_and_no_file_is_made(self):
        ended = self.ctl("submit", "search", "--param", "pattern=b", "-o", self.path("r"), data=b"b" * 70_000)
        self.assertEqual(ended.code, 1)
        self.assertIn("line_too_long", ended.errors)
        self.assertEqual(os.listdir(self.folder), [])

    def test_submit_when_it_cannot_be_done_then_it_says_why(self):
        self.failed(3, "bad_parameter (pattern)", "submit", "search", data=b"x")
        self.failed(3, "not_found", "submit", "nothing", data=b"x")
        self.failed(5, "cannot read /nowhere/file", "submit", "digest", "/nowhere/file")
        self.failed(5, "/nowhere/result", "submit", "digest", "--output", "/nowhere/result", data=b"x")
        self.assertEqual(self.done("list").text, "")

    def test_result_when_the_job_has_one_then_it_is_written(self):
        data = os.urandom(5 * MIB)
        job = self.submitted("compress", data=data)
        self.server.finished(f"/jobs/{job}")
        frame = self.server.get(f"/jobs/{job}/result").body
        self.assertEqual(self.done("result", job).output, frame)
        self.write("frame", b"an older one")
        self.done("result", job, "-o", self.path("frame"))
        self.assertEqual(self.read("frame"), frame)
        mask = os.umask(0)
        os.umask(mask)
        self.assertEqual(os.stat(self.path("frame")).st_mode & 0o777, 0o666 & ~mask)

    def test_result_when_there_is_none_then_an_older_file_stays(self):
        self.write("frame", b"an older one")
        self.failed(3, "not_finished", "result", self.waiting_job(), "-o", self.path("frame"))
        self.assertEqual(self.read("frame"), b"an older one")
        self.assertEqual(os.listdir(self.folder), ["frame"])

    def test_result_when_the_file_cannot_be_made_then_it_says_so(self):
        job = self.submitted("digest", data=b"x")
        self.failed(5, "/nowhere/file", "result", job, "-o", "/nowhere/file")
        self.failed(2, "no plain file", "result", job, "-o", "/dev/null")

    def test_show_then_says_what_the_job_is_at(self):
        job = self.waiting_job("--signal", "night")
        lines = [line.split(None, 1) for line in self.done("show", job).lines]
        self.assertIn(["state", "delayed"], lines)
        self.assertIn(["signal", "night"], lines)
        self.assertEqual(json.loads(self.done("show", job, "--json").text)["id"], job)
        self.failed(3, "not_found", "show", "0" * 32)
        self.failed(3, "not_found", "show", "../signals/x?y")

    def test_abort_when_jobs_have_not_ended_then_they_are_aborted_and_others_stay(self):
        waiting, done = self.waiting_job(), self.submitted("digest", data=b"x")
        self.server.finished(f"/jobs/{done}")
        ended = self.failed(3, "has ended", "abort", done, waiting)
        self.assertEqual(ended.lines[0].split()[:2], [waiting, "aborted,"])
        self.assertEqual((self.state(done), self.state(waiting)), ("done", "aborted"))

    def test_delete_when_jobs_have_ended_then_they_are_forgotten_and_others_stay(self):
        waiting, done = self.waiting_job(), self.submitted("digest", data=b"x")
        self.server.finished(f"/jobs/{done}")
        self.failed(3, "heistctl abort", "delete", waiting, done)
        self.assertEqual(self.server.get(f"/jobs/{done}").status, 404)
        self.assertEqual(self.state(waiting), "delayed")

    def test_delete_when_it_is_of_all_then_those_that_have_ended_so_are_forgotten(self):
        waiting, done = self.waiting_job(), self.submitted("digest", data=b"x")
        self.server.finished(f"/jobs/{done}")
        self.assertEqual(self.done("delete", "--all", "--state", "done", "--kind", "search").text, "forgotten: 0 jobs\n")
        self.assertEqual(self.done("delete", "--all", "--state", "done").text, "forgotten: 1 jobs\n")
        self.assertEqual(self.server.get(f"/jobs/{done}").status, 404)
        self.assertEqual(self.state(waiting), "delayed")

    def test_retry_when_it_is_of_all_then_dead_jobs_are_queued_as_far_as_there_is_room(self):
        script = self.write("busy", b"#!/bin/sh\ntest -e $0.free || exit 75\n")
        os.chmod(script, 0o755)
        self.server = self.start("--data", self.path("data"), "--command", f"busy={script}", "--max-queued", "3")
        for _ in range(2):
            job = self.submitted("busy", "--param", "max_attempts=1")
            self.assertEqual(self.server.finished(f"/jobs/{job}")["state"], "dead")
        self.write("busy.free", b"")
        self.assertEqual(self.done("retry", "--all", "--signal", "night").text, "queued again: 0 jobs\n")
        self.waiting_job()
        self.waiting_job()
        ended = self.failed(3, "1 or more stay dead, the first one as queue_full", "retry", "--all")
        self.assertEqual(ended.text, "queued again: 1 jobs\n")

    def test_priority_then_the_job_has_it(self):
        job = self.waiting_job()
        self.done("priority", job, "user-blocking")
        self.assertEqual(self.server.get(f"/jobs/{job}").json["priority"], "user-blocking")

    def test_bulk_then_each_line_is_a_job_and_wrong_ones_are_told(self):
        lines = b'{"kind":"digest","text":"abc"}\n{"kind":"digest","base64":"YWJj"}\n'
        ids = self.done("bulk", data=lines).text.split()
        self.assertEqual(len(ids), 2)
        for job in ids:
            self.done("watch", job)
        refused = self.failed(3, "bad_line", "bulk", data=b"x\n" + lines)
        self.assertEqual(len(refused.text.split()), 2)
        self.failed(3, "no_good_job", "bulk", data=b"x\n")

    def test_pause_then_no_job_of_the_kind_starts_until_it_is_resumed(self):
        self.assertEqual(self.done("pause", "kind", "digest").text, "digest: paused\n")
        job = self.submitted("digest", data=b"abc")
        self.assertEqual(json.loads(self.done("show", job, "--json").text)["state"], "queued")
        self.done("resume", "kind", "digest")
        self.done("watch", job)
        self.failed(3, "not_found", "pause", "kind", "other")
        self.done("pause", "signal", "night")

    def test_signal_when_it_gets_a_priority_then_its_jobs_have_it(self):
        job = self.waiting_job("--signal", "night")
        self.assertIn("1 unfinished", self.done("signal", "night", "priority", "background").text)
        self.assertEqual(self.server.get(f"/jobs/{job}").json["priority"], "background")
        self.assertIn("aborted 1", self.done("signal", "night", "abort").text)
        self.assertEqual(self.server.finished(f"/jobs/{job}")["state"], "aborted")
        self.failed(3, "not_found", "signal", "night", "abort")

    def test_list_when_there_are_several_pages_then_it_has_all_of_them(self):
        jobs = [self.server.accepted("/jobs/digest?signal=many").rpartition("/")[2] for _ in range(230)]
        self.waiting_job()
        self.assertEqual([line.split("\t")[0] for line in self.done("list", "--signal", "many").lines], jobs)
        self.assertEqual(len(self.done("list").lines), 231)
        listed = [json.loads(line) for line in self.done("list", "--state", "delayed", "--json").lines]
        self.assertEqual([job["state"] for job in listed], ["delayed"])
        self.assertEqual(self.done("list", "--kind", "search").text, "")


if __name__ == "__main__":
    heistctl_case.main()
