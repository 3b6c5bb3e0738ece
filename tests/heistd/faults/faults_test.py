"""What was accepted is done once, whatever happens to heistd and its disk.

A server with a journal is killed, stopped, ended and started again, and its disk is full, fails, is slow and loses what
was not synced, at random moments, while clients ask for jobs, look at them, delete them and move their signals. Then
history_check.py compares what clients were told, which programs were started and what the journal held.

HEIST_FAULT_JOBS is how many jobs are asked for (300), HEIST_FAULT_SEED makes the same choices again; moments differ.
"""

import errno
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import heistd_server  # noqa: E402
from heistd_server import until  # noqa: E402

import history_check  # noqa: E402
from bad_disk import BadDisk  # noqa: E402
from clients import Client, Wish  # noqa: E402
from history import ENDS, Job  # noqa: E402
from progress import Progress  # noqa: E402
from run import Run  # noqa: E402

JOBS = int(os.environ.get("HEIST_FAULT_JOBS", "300"))
SEED = int(os.environ.get("HEIST_FAULT_SEED", time.time_ns() % 10**6))
SHOWN = 5  # problems


class FaultsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="heistd-faults-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def begin(self, **more):
        run = Run(self.folder, BAD_DISK, **more)
        self.addCleanup(run.kill_all)
        return run

    def assert_right(self, run):
        """Otherwise all that is known is kept, where somebody can look at it."""
        problems = history_check.problems(run.history)
        if not problems:
            return
        kept = pathlib.Path(tempfile.mkdtemp(prefix="heistd-history-"))
        run.keep(kept)
        (kept / "problems").write_text("".join(f"{problem}\n" for problem in problems))
        shown = "\n".join(map(str, problems[:SHOWN]))
        self.fail(f"{len(problems)} problems; {kept} has all of them, and the histories. Seed {run.seed}.\n{shown}")


class Faults(FaultsTest):
    # Rule: JRN-1
    # Rule: JRN-2
    # Rule: JRN-3
    # Rule: JRN-8
    def test_jobs_when_their_server_and_its_disk_fail_then_each_accepted_one_ends_once(self):
        print(f"faults: seed {SEED}", flush=True)
        run = self.begin(seed=SEED, jobs=JOBS)
        run.go(Progress())
        self.assert_right(run)
        text = f"{run.lost_writes} writes were lost; {run.waiting_followers()} jobs waited for another one"
        print(f"faults: {run.progress()}; {text}", flush=True)
        self.assertGreater(len(run.history.servers), 3)
        if BAD_DISK:
            self.assertGreater(run.lost_writes, 0)
        self.assertGreater(run.waiting_followers(), JOBS // 50)

    # Rule: JRN-1
    def test_request_when_refused_as_the_disk_does_not_confirm_it_then_a_kill_does_not_bring_it_about(self):
        if not BAD_DISK:
            self.skipTest("the disk cannot fail")
        run = self.begin()
        run.start()
        run.disk.order(syncs=errno.EIO)
        self.ask_for_waiting_job(run, key=None)
        self.assertEqual([request.code for request in run.history.requests], ["journal_failed"])
        run.end("killed")
        self.assert_right(run)
        self.assertEqual(run.history.rows, {})

    # Rule: JRN-1
    def test_request_when_the_disk_cannot_be_written_then_it_is_refused_with_the_reason_and_the_remedy(self):
        if not BAD_DISK:
            self.skipTest("the disk cannot fail")
        run = self.begin()
        server = run.start()
        kept = server.accepted("/jobs/digest?delay=3600000")
        for error, why, remedy in (
            (errno.ENOSPC, "the disk is full", "make room on it"),
            (errno.EROFS, "it may not be written", "mount the disk for writing"),
        ):
            run.disk.order(writes=error)
            for method, target in (("POST", "/jobs/digest"), ("DELETE", kept)):
                reply = server.request(method, target)
                self.assertEqual((reply.status, reply.error), (503, "journal_failed"))
                self.assertIn(why, reply.json["error"]["message"])
                self.assertIn(remedy, reply.json["error"]["message"])
            self.assertEqual(server.get(kept).json["state"], "delayed")
            run.disk.heal()
            server.finished(server.accepted("/jobs/digest"))
        run.end("killed")

    def test_result_when_the_disk_reads_it_slowly_then_its_reader_is_not_taken_for_a_slow_one(self):
        if not BAD_DISK:
            self.skipTest("the disk cannot be slow")
        data = self.folder / "data"
        disk = BadDisk(BAD_DISK, self.folder, data)
        server = heistd_server.Server(
            *("--data", str(data), "--max-result-bytes", "1", "--idle-timeout", "1000", "--min-rate", "1MB"),
            environment=disk.environment(),
        )
        self.addCleanup(server.ended)
        self.addCleanup(server.signal, signal.SIGKILL)
        upload = os.urandom(heistd_server.MIB)
        job = server.accepted("/jobs/compress", upload)
        server.finished(job)
        server.finished(server.accepted("/jobs/digest"))  # memory keeps the newest one
        disk.order(read_milliseconds=20)  # a page of 4 KiB
        raw = server.raw(receive_buffer=4096).head("GET", job + "/result", Connection="close")
        received = 0
        while data := raw.socket.recv(2048):
            received += len(data)
            if received > 600_000:  # from now on the server waits for the reader
                disk.heal()
        self.assertGreater(received, len(upload))

    # Rule: JRN-2
    # Rule: JRN-8
    def test_end_of_an_attempt_when_another_server_has_started_the_job_again_then_it_changes_nothing(self):
        """The first server stands still, and its lock is lost, as that of a machine that is taken for dead may be."""
        run = self.begin()
        first = run.start()
        job = self.ask_for_waiting_job(run)
        until(lambda: run.has_started(job.name, 1), "the first start")
        follower = self.ask_for_follower(run, job)
        first.signal(signal.SIGSTOP)
        self.lose_lock(run)
        second = run.start()
        until(lambda: run.has_started(job.name, 2), "the second start")
        run.let_go(1)
        first.signal(signal.SIGCONT)
        self.wait_for_end(run, first, job)
        run.look()
        run.let_go(2)
        for each in (job, follower):
            self.wait_for_end(run, second, each)
        first.process.kill()
        first.ended()
        run.end("told to")
        run.read_starts()
        self.assert_right(run)

    def ask_for_waiting_job(self, run, key="key"):
        return self.ask_for(run, Job("waiting", "one", "work", "waiting", does="wait", key=key))

    def ask_for_follower(self, run, job):
        return self.ask_for(run, Job("follower", "one", "work", "follower", key="other-key", after=self.id_of(run, job)))

    def ask_for(self, run, job):
        client = Client(0, run)
        self.addCleanup(client.connection.close)
        wish = Wish(client.name, job.name, 0, client.random)
        wish.job, wish.target = job, f"/jobs/work?name={job.name}&does={job.does}"
        if job.after:
            wish.target += f"&after={job.after}"
        client.submit(wish)
        return job

    @staticmethod
    def id_of(run, job):
        return next(request.id for request in run.history.requests if request.about == job.name)

    @staticmethod
    def lose_lock(run):
        shutil.copy(run.data / "lock", run.data / "other")
        (run.data / "other").rename(run.data / "lock")

    def wait_for_end(self, run, server, job):
        headers, id = {"Authorization": f"Bearer {run.tokens[job.client]}"}, self.id_of(run, job)
        until(lambda: server.get(f"/jobs/{id}", headers=headers).json["state"] in ENDS, "the job's end")


if __name__ == "__main__":
    BAD_DISK = sys.argv.pop(2) if len(sys.argv) > 2 and not sys.argv[2].startswith("-") else None
    heistd_server.main()
