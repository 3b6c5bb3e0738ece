"""What was accepted outlives the server: --data."""

import contextlib
import hashlib
import os
import pathlib
import resource
import select
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time

import heistd_server
from heistd_server import COSTLY, ServerTest, costly_text, until


class Journal(ServerTest):
    """A server with a journal that is killed and started again."""

    def setUp(self):
        self.data = tempfile.mkdtemp(prefix="heistd-data-")
        self.addCleanup(shutil.rmtree, self.data)
        self.server = self.begin()

    def begin(self, *options):
        return self.start("--data", self.data, *options)

    def stop(self, server):
        if server.process.poll() != -signal.SIGKILL:
            super().stop(server)
        elif not server.process.stdout.closed:
            server.ended()

    def kill(self):
        self.server.process.kill()
        self.server.ended()

    def restart(self):
        self.kill()
        self.server = self.begin()

    def refused_start(self):
        done = subprocess.run(
            [heistd_server.HEISTD, "--port", "0", "--data", self.data],
            capture_output=True,
            text=True,
            timeout=heistd_server.PATIENCE,
        )
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stderr

    def test_delayed_job_comes_back_with_what_it_had(self):
        job = self.server.accepted("/jobs/digest?delay=3600000&signal=night&priority=background", b"abc")
        before = self.server.get(job).json
        self.restart()
        after = self.server.get(job).json
        self.assertEqual(after, before)
        self.assertEqual(after["state"], "delayed")
        self.assertEqual(self.server.level("background")["delayed"], 1)

    def test_jobs_of_a_signal_come_back_with_its_priority(self):
        job = self.server.accepted("/jobs/digest?delay=3600000&signal=night")
        self.server.request("PUT", "/signals/night?priority=background")
        self.restart()
        self.assertEqual(self.server.get(job).json["priority"], "background")
        self.server.request("PUT", "/signals/night?priority=user-blocking")
        self.assertEqual(self.server.get(job).json["priority"], "user-blocking")
        self.assertEqual(self.server.request("DELETE", "/signals/night").json["aborted_jobs"], 1)

    def test_job_comes_back_with_the_priority_that_was_put(self):
        job = self.server.accepted("/jobs/digest?delay=3600000&priority=background")
        self.assertEqual(self.server.request("PUT", f"{job}?priority=user-blocking").status, 200)
        self.assertEqual(self.server.level("user-blocking")["delayed"], 1)
        self.restart()
        self.assertEqual(self.server.get(job).json["priority"], "user-blocking")
        self.assertEqual(self.server.level("user-blocking")["delayed"], 1)

    def test_jobs_that_follow_one_whose_time_is_over_at_the_start_are_aborted(self):
        """Many finished jobs take a while to come back; meanwhile no other one is to end."""
        line = b'{"kind": "digest"}\n'
        self.assertEqual(self.server.post("/jobs", line * 3000).status, 202)
        until(lambda: self.server.level("user-visible")["done"] == 3000, "all jobs")
        late = self.server.accepted("/jobs/digest?delay=900&ttl=1000")
        followers = [self.server.accepted(f"/jobs/digest?after={late.rpartition('/')[2]}") for _ in range(3)]
        self.kill()
        ends = time.monotonic() + 1.2
        until(lambda: time.monotonic() > ends, "the end of its time")
        self.server = self.begin()
        for follower in followers:
            until(lambda: self.server.state(follower) == "aborted", "the end of a follower")
            self.assertEqual(self.server.get(follower).json["error"]["code"], "predecessor_failed")

    def test_chain_goes_on_after_a_kill(self):
        jobs = [self.server.accepted("/jobs/digest?delay=300", b"abc")]
        for _ in range(3):
            jobs.append(self.server.accepted(f"/jobs/digest?after={jobs[-1].rpartition('/')[2]}", b"abc"))
        self.assertEqual(self.server.state(jobs[-1]), "delayed")
        for job in jobs:  # the next one may run when the server is killed, and runs again then
            self.restart()
            self.assertEqual(self.server.finished(job)["state"], "done")

    def test_repeated_request_is_the_same_job_though_the_one_before_is_forgotten(self):
        job = self.server.accepted("/jobs/digest", b"abc")
        target, key = f"/jobs/digest?after={job.rpartition('/')[2]}", {"Idempotency-Key": "key"}
        first = self.server.post(target, headers=key)
        self.assertEqual(first.status, 202)
        self.server.finished(first.headers["location"])
        self.server.request("DELETE", job)
        self.restart()
        again = self.server.post(target, headers=key)
        self.assertEqual((again.status, again.json["id"]), (202, first.json["id"]))
        self.assert_refused(self.server.post(target), 404, "no_predecessor", "after")

    def test_followers_of_a_failed_job_are_aborted_after_a_kill(self):
        job = self.server.accepted("/jobs/digest?delay=3600000")
        other = self.server.accepted(f"/jobs/digest?after={job.rpartition('/')[2]}")
        self.restart()
        self.server.request("DELETE", job)
        self.restart()
        self.assertEqual(self.server.state(other), "aborted")
        self.assertEqual(self.server.get(other).json["error"]["code"], "predecessor_failed")

    def test_remaining_delay_goes_on(self):
        job = self.server.accepted("/jobs/digest?delay=500", b"abc")
        self.restart()
        self.assertEqual(self.server.finished(job)["result"]["sha256"], hashlib.sha256(b"abc").hexdigest())

    def test_results_are_there_after_a_kill(self):
        body = os.urandom(300_000)
        digest = self.server.post("/jobs/digest?wait=1", body).json
        search = self.server.post("/jobs/search?pattern=b&wait=1", b"abc\nx\n\xff b\n").json
        frame = self.server.post("/jobs/compress?wait=1", body)
        failed = self.server.post("/jobs/search?pattern=b&wait=1", b"b" * 70_000)
        self.restart()
        for job in (digest, search):
            self.assertEqual(self.server.get(f"/jobs/{job['id']}").json["result"], job["result"])
        self.assertEqual(self.server.get(frame.headers["location"] + "/result").body, frame.body)
        self.assertEqual(self.server.get(failed.headers["location"]).json["error"]["code"], failed.error)

    def test_deleted_jobs_do_not_come_back(self):
        aborted = self.server.accepted("/jobs/digest?delay=3600000")
        dropped = self.server.accepted("/jobs/digest?delay=3600000&signal=night")
        done = self.server.accepted("/jobs/digest")
        self.server.finished(done)
        self.server.request("DELETE", aborted)
        self.server.request("DELETE", done)
        self.server.request("DELETE", "/signals/night")
        self.restart()
        self.assertEqual(self.server.state(aborted), "aborted")
        self.assertEqual(self.server.state(dropped), "aborted")
        self.assertEqual(self.server.get(done).status, 404)
        self.assertEqual(self.server.request("PUT", "/signals/night?priority=background").status, 201)

    def test_what_is_paused_stays_so(self):
        self.assertEqual(self.server.post("/kinds/digest/pause", b"").json["paused"], True)
        job = self.server.accepted("/jobs/digest", b"abc")
        self.restart()
        self.assertEqual(self.server.post("/jobs/compress?wait=1", b"abc").status, 200)
        self.assertEqual(self.server.get(job).json["state"], "queued")
        self.server.post("/kinds/digest/resume", b"")
        self.assertEqual(self.server.finished(job)["state"], "done")

    def test_ttl_and_timeout_come_back(self):
        job = self.server.accepted("/jobs/digest?delay=3600000&ttl=7200000&timeout=500", b"abc")
        self.restart()
        after = self.server.get(job).json
        self.assertEqual(after["timeout_ms"], 500)
        self.assertTrue(3_600_000 < after["expires_in_ms"] < 7_200_000, after)

    def test_why_a_job_has_expired_is_known_after_a_kill(self):
        for _ in range(2):  # agents, none of which is free then
            self.running(f"/jobs/search?pattern={COSTLY}")
        job = self.server.accepted("/jobs/digest?ttl=1", b"abc")
        self.assertEqual(self.server.finished(job)["error"]["code"], "expired")
        until(lambda: self.server.get("/jobs?state=aborted").json["jobs"], "the journal to have it")
        self.restart()
        self.assertEqual(self.server.get(job).json["error"]["code"], "expired")

    def running(self, target):
        """A job that runs for long."""
        job = self.server.accepted(target, costly_text(5 * heistd_server.MIB))
        until(lambda: self.server.state(job) == "running", f"{job} to run")
        return job

    def test_running_job_runs_again(self):
        job = self.running(f"/jobs/search?pattern={COSTLY}&max_attempts=2")
        self.restart()
        self.assertEqual(self.server.finished(job)["state"], "done")

    def test_job_that_has_had_its_attempts_is_not_started_again(self):
        job = self.running(f"/jobs/search?pattern={COSTLY}&max_attempts=1")
        self.restart()
        self.assertTrue(self.server.said("1 have had their last attempt"))
        ended = self.server.get(job).json
        self.assertEqual((ended["state"], ended["error"]["code"]), ("dead", "attempt_lost"))
        self.assertEqual((ended["attempts"], ended["max_attempts"]), (1, 1))

    def test_dead_job_is_listed_after_a_kill_and_can_be_queued_again(self):
        dead = self.running(f"/jobs/search?pattern={COSTLY}&max_attempts=1")
        self.server.accepted("/jobs/digest?delay=3600000")
        self.restart()
        listed = self.server.get("/jobs?state=dead").json
        self.assertEqual([job["links"]["self"] for job in listed["jobs"]], [dead])
        self.assertNotIn("cursor", listed)
        self.assertEqual(self.server.request("POST", f"{dead}/requeue").status, 202)
        done = self.server.finished(dead)
        self.assertEqual((done["state"], done["attempts"]), ("done", 1))
        self.assertEqual(self.server.get("/jobs?state=dead").json["jobs"], [])
        self.assert_refused(self.server.request("POST", f"{dead}/requeue"), 409, "not_dead")

    def test_all_dead_jobs_are_queued_again_and_what_is_forgotten_does_not_come_back(self):
        dead = self.running(f"/jobs/search?pattern={COSTLY}&max_attempts=1")
        self.restart()
        done = [self.server.accepted("/jobs/digest") for _ in range(3)]
        for job in done:
            self.server.finished(job)
        forgotten = self.server.request("DELETE", "/jobs?state=done")
        self.assertEqual((forgotten.status, forgotten.json), (200, {"forgotten": 3}))
        self.server.request("POST", "/kinds/search/pause")  # or the kill might take its one attempt
        requeued = self.server.request("POST", "/jobs/requeue?kind=search")
        self.assertEqual((requeued.status, requeued.json), (200, {"requeued": 1, "refused": 0}))
        self.restart()
        self.assertEqual(self.server.state(dead), "queued")
        self.server.request("POST", "/kinds/search/resume")
        self.assertEqual(self.server.finished(dead)["state"], "done")
        self.assertEqual([self.server.get(job).status for job in done], 3 * [404])

    def test_dead_job_that_cannot_have_its_signal_keeps_no_others_dead(self):
        self.stop(self.server)
        with tempfile.NamedTemporaryFile("w", delete=False) as program:
            program.write("#!/bin/sh\nexit 75\n")
        self.addCleanup(os.remove, program.name)
        os.chmod(program.name, 0o700)
        self.server = self.begin("--command", f"busy={program.name}")
        for more in ("&signal=night", ""):
            job = self.server.accepted("/jobs/busy?max_attempts=1" + more)
            until(lambda: self.server.state(job) == "dead", "the death of a job")
        for number in range(1024):
            self.server.request("PUT", f"/signals/s{number}?priority=background")
        requeued = self.server.request("POST", "/jobs/requeue").json
        self.assertEqual((requeued["requeued"], requeued["refused"]), (1, 1))
        self.assertEqual(requeued["error"]["code"], "too_many_signals")

    def test_part_of_a_result_is_read_from_the_disk(self):
        job, whole = self.result_on_the_disk(400_000)
        part = self.server.request("GET", f"{job}/result", headers={"Range": "bytes=131000-263000"})
        self.assertEqual((part.status, part.body), (206, whole[131000:263001]))
        self.assertEqual(part.headers["content-range"], f"bytes 131000-263000/{len(whole)}")

    def result_on_the_disk(self, size):
        """A server whose memory does not have it; the job's path, and all of its result."""
        self.stop(self.server)
        self.server = self.begin("--max-results", "1")
        job = self.server.accepted("/jobs/compress", os.urandom(size))
        self.server.finished(job)
        whole = self.server.get(f"{job}/result").body
        self.server.finished(self.server.accepted("/jobs/digest"))
        return job, whole

    def resident(self):
        with open(f"/proc/{self.server.process.pid}/status") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))

    def test_large_result_on_the_disk_takes_little_memory_for_each_who_reads_it(self):
        size = 12_000_000
        job, whole = self.result_on_the_disk(size)
        self.assertEqual(self.server.get(f"{job}/result").body, whole)
        before = self.resident()
        readers = [self.server.raw(receive_buffer=4096) for _ in range(12)]
        for reader in readers:
            reader.head("GET", f"{job}/result")
        until(lambda: all(select.select([reader.socket], [], [], 0)[0] for reader in readers), "replies")
        self.assertLess(self.resident() - before, 4 * size)
        reply = readers[0].reply()
        self.assertEqual((reply.status, reply.body == whole), (200, True))

    def test_result_that_is_forgotten_while_it_is_sent_ends_early(self):
        job, whole = self.result_on_the_disk(8_000_000)
        reader = self.server.raw(receive_buffer=4096).head("GET", f"{job}/result")
        until(lambda: select.select([reader.socket], [], [], 0)[0], "a reply")
        self.server.request("DELETE", job)
        part = reader.reply().body
        self.assertLess(len(part), len(whole))
        self.assertEqual(part, whole[: len(part)])

    def test_list_goes_on_behind_its_cursor_and_not_behind_that_of_another_server(self):
        jobs = [self.server.accepted("/jobs/digest?delay=3600000") for _ in range(3)]
        part = self.server.get("/jobs?limit=2").json
        rest = self.server.get(f"/jobs?limit=2&cursor={part['cursor']}").json
        self.assertEqual([job["links"]["self"] for job in part["jobs"] + rest["jobs"]], jobs)
        self.restart()
        self.assert_refused(self.server.get(f"/jobs?cursor={part['cursor']}"), 400, "bad_parameter", "cursor")

    def test_deleted_job_that_had_lost_an_attempt_stays_aborted(self):
        job = self.running(f"/jobs/search?pattern={COSTLY}")
        self.restart()
        self.assertEqual(self.server.request("DELETE", job).json["state"], "aborted")
        self.restart()
        self.assertEqual(self.server.state(job), "aborted")

    def test_end_of_the_server_keeps_jobs_and_takes_no_attempt(self):
        delayed = self.server.accepted("/jobs/digest?delay=3600000")
        self.kill()
        self.server = self.begin("--drain-deadline", "0")
        job = self.running(f"/jobs/search?pattern={COSTLY}&max_attempts=1")
        self.stop(self.server)
        self.assertTrue(self.server.said(" 2 kept "))
        self.assertFalse(self.server.said("nobody observed"))
        self.server = self.begin()
        self.assertEqual(self.server.state(delayed), "delayed")
        self.assertEqual(self.server.finished(job)["state"], "done")

    def test_end_of_the_server_does_what_is_runnable_within_the_deadline(self):
        self.kill()
        self.server = self.begin("--drain-deadline", "200000")
        jobs = [self.server.accepted(f"/jobs/search?pattern={COSTLY}", costly_text(200_000)) for _ in range(20)]
        self.stop(self.server)
        self.assertTrue(self.server.said(" 0 kept "), self.server.lines)
        self.server = self.begin()
        self.assertEqual({self.server.state(job) for job in jobs}, {"done"})

    def keyed(self, key, target="/jobs/digest?delay=3600000", body=b"abc"):
        return self.server.post(target, body, headers={"Idempotency-Key": key})

    def test_repeated_request_is_the_same_job(self):
        first = self.keyed("key")
        self.assertEqual(first.status, 202)
        again = self.keyed("key")
        self.assertEqual((again.status, again.headers["location"]), (202, first.headers["location"]))
        self.restart()
        again = self.keyed("key", "/jobs/digest?delay=3600000")
        self.assertEqual(again.headers["location"], first.headers["location"])
        self.assertEqual(self.server.level("user-visible")["delayed"], 1)

    def test_repeated_request_whose_job_is_done_has_its_result(self):
        first = self.keyed("key", "/jobs/digest?wait=1")
        again = self.keyed("key", "/jobs/digest?wait=1")
        self.assertEqual((again.status, again.json), (200, first.json))

    def test_other_request_with_the_same_key_is_refused(self):
        self.keyed("key")
        for other in (self.keyed("key", body=b"abd"), self.keyed("key", "/jobs/digest?delay=3600001")):
            self.assert_refused(other, 422, "idempotency_conflict", "Idempotency-Key")

    def test_key_of_a_deleted_job_is_free(self):
        first = self.keyed("key").headers["location"]
        self.server.request("DELETE", first)
        self.assertNotEqual(self.keyed("key").headers["location"], first)

    def test_bad_key_is_refused(self):
        for key in ("", "two words", "x" * 256):
            self.assert_refused(self.keyed(key), 400, "bad_parameter", "Idempotency-Key")

    def test_key_without_a_journal_is_refused(self):
        server = self.start()
        reply = server.post("/jobs/digest", headers={"Idempotency-Key": "key"})
        self.assert_refused(reply, 400, "no_journal", "Idempotency-Key")

    def test_bad_number_of_attempts_is_refused(self):
        for number in ("0", "101", "x"):
            reply = self.server.post(f"/jobs/digest?max_attempts={number}")
            self.assert_refused(reply, 400, "bad_parameter", "max_attempts")

    def test_second_server_is_refused(self):
        self.assertIn("another server uses it", self.refused_start())

    def test_damaged_journal_is_refused(self):
        self.stop(self.server)  # after a kill the log would have made up for it
        pathlib.Path(self.data, "journal.sqlite").write_bytes(b"x" * 10_000)
        said = self.refused_start()
        self.assertIn(self.data, said)
        self.assertIn("restore it from a backup", said)

    def test_database_that_is_locked_refuses_what_would_have_to_be_kept_and_says_why(self):
        delayed = self.server.accepted("/jobs/digest?delay=3600000")
        other = sqlite3.connect(pathlib.Path(self.data, "journal.sqlite"), isolation_level=None)
        self.addCleanup(other.close)
        other.execute("BEGIN IMMEDIATE")
        for reply in (self.server.post("/jobs/digest"), self.server.request("DELETE", delayed)):
            self.assert_refused(reply, 503, "journal_failed")
            said = reply.json["error"]["message"]
            self.assertIn("another program holds a lock on the database", said)
            self.assertIn("end that program's transaction", said)
        self.assertEqual(self.server.state(delayed), "delayed")
        other.execute("ROLLBACK")
        self.assertEqual(self.server.finished(self.server.accepted("/jobs/digest"))["state"], "done")
        self.assertEqual(self.server.request("DELETE", delayed).json["state"], "aborted")

    def begin_with_one_result_in_memory(self, *options):
        self.stop(self.server)
        self.server = self.begin("--max-results", "1", *options)

    def done(self):
        job = self.server.accepted("/jobs/digest")
        self.assertEqual(self.server.finished(job)["state"], "done")
        return job

    def test_finished_jobs_beyond_the_bytes_that_may_be_stored_are_forgotten(self):
        first = self.done()
        self.begin_with_one_result_in_memory("--max-stored-bytes", "1KiB")
        second, third = self.done(), self.done()  # each counts 512 bytes and its result
        self.assertEqual([self.server.get(job).status for job in (first, second, third)], [404, 404, 200])

    def stored_jobs(self):
        """What the disk has, without asking the server, which may be idle."""
        file = pathlib.Path(self.data) / "journal.sqlite"
        with contextlib.closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as database:
            return database.execute("SELECT count(*) FROM job").fetchone()[0]

    def test_finished_jobs_beyond_the_age_that_may_be_stored_are_forgotten_while_nobody_comes(self):
        self.begin_with_one_result_in_memory("--max-stored-age", "3000")
        first, second = self.done(), self.done()
        until(lambda: self.stored_jobs() == 0, "both to be forgotten", pause=0.1)
        self.assertEqual(self.server.get(first).status, 404)
        self.assertEqual(self.server.get(second).status, 200, "memory has it")

    def test_uploads_beyond_what_a_client_may_have_stored_are_refused_until_there_is_room(self):
        self.stop(self.server)
        bounds = ("--max-body", "1000", "--max-stored-uploads", "1500")
        self.server = self.begin(*bounds)
        job = self.server.accepted("/jobs/digest?delay=3600000", 1000 * b"x")
        refused = self.server.post("/jobs/digest", 501 * b"x")
        self.assert_refused(refused, 503, "queue_full")
        self.assertEqual(refused.headers["retry-after"], "1")
        self.kill()
        self.server = self.begin(*bounds)
        self.assert_refused(self.server.post("/jobs/digest", 501 * b"x"), 503, "queue_full")
        for _ in range(3):  # the end of each makes room for the next
            self.assertEqual(self.server.post("/jobs/digest?wait=1", 500 * b"x").status, 200)
        self.server.request("DELETE", job)
        self.assertEqual(self.server.post("/jobs/digest?delay=3600000", 1000 * b"x").status, 202)

    def test_bound_of_uploads_that_no_upload_may_fill_is_refused(self):
        self.stop(self.server)
        done = subprocess.run(
            [heistd_server.HEISTD, "--port", "0", "--data", self.data, "--max-stored-uploads", "1MiB"],
            capture_output=True,
            text=True,
            timeout=heistd_server.PATIENCE,
        )
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("--max-stored-uploads: must be at least --max-body", done.stderr)

    def limit_files(self, size):
        """From now on the server's system refuses to write beyond so many bytes of a file."""
        resource.prlimit(self.server.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    def test_failing_disk_refuses_new_jobs_and_loses_none(self):
        self.kill()
        ignore = lambda: signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # noqa: E731
        self.server = self.start("--data", self.data, preexec=ignore)
        delayed = self.server.accepted("/jobs/digest?delay=3600000")
        job = self.running(f"/jobs/search?pattern={COSTLY}")
        self.limit_files(1)
        self.assert_refused(self.server.post("/jobs/digest"), 503, "journal_failed")
        self.assert_refused(self.server.request("DELETE", delayed), 503, "journal_failed")
        self.assertEqual(self.server.state(delayed), "delayed")
        self.assertEqual(self.server.get("/healthz").status, 200)
        self.limit_files(resource.RLIM_INFINITY)
        self.assertEqual(self.server.finished(job)["state"], "done")
        self.restart()
        self.assertEqual(self.server.state(job), "done")
        self.assertEqual(self.server.state(delayed), "delayed")


if __name__ == "__main__":
    heistd_server.main()
