"""What became of each job, in a line of JSON: --job-log."""

import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import tempfile
import threading

import heistd_server
from heistd_server import ServerTest, until


class JobLog(ServerTest):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="heistd-log-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = os.path.join(self.folder, "jobs.log")
        self.server = self.start("--job-log", self.path, "--command", "fail=/bin/false")

    def lines(self, path=None):
        with open(path or self.path) as file:
            return [json.loads(line) for line in file if line.endswith("\n")]

    def line_of(self, job, path=None):
        """The line of a job, once it is there."""
        id = job.rsplit("/", 1)[1]
        return until(lambda: [line for line in self.lines(path) if line.get("id") == id], f"the line of {job}")[0]

    def durable(self):
        return self.start("--job-log", self.path, "--data", os.path.join(self.folder, "data"))

    def test_job_that_ends_has_a_line_that_names_its_request(self):
        reply = self.server.post("/jobs/digest?priority=background", b"abc", headers={"X-Request-Id": "order-17"})
        self.assertEqual(reply.headers["x-request-id"], "order-17")
        line = self.line_of(reply.headers["location"])
        self.assertEqual(
            {name: line[name] for name in ("client", "kind", "state", "priority", "bytes", "request_id")},
            {
                "client": "anonymous",
                "kind": "digest",
                "state": "done",
                "priority": "background",
                "bytes": 3,
                "request_id": "order-17",
            },
        )
        self.assertRegex(line["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        self.assertGreater(line["run_time_us"], 0)
        self.assertEqual(self.server.get(reply.headers["location"]).json["request_id"], "order-17")

    def test_request_without_a_name_that_can_be_one_gets_its_own(self):
        names = set()
        for given in ({}, {"X-Request-Id": "two words"}, {"X-Request-Id": "x" * 65}, {"X-Request-Id": ""}):
            reply = self.server.get("/healthz", headers=given)
            self.assertRegex(reply.headers["x-request-id"], "^[0-9a-f]{16}-1$")
            names.add(reply.headers["x-request-id"])
        self.assertEqual(len(names), 4)
        kept = self.server.raw()
        numbers = [kept.head("GET", "/healthz").reply().headers["x-request-id"].split("-") for _ in range(2)]
        self.assertEqual([numbers[0][0], "1", "2"], [numbers[1][0], numbers[0][1], numbers[1][1]])
        self.assertIn("x-request-id", self.server.raw().send(b"GET nonsense\r\n\r\n").reply().headers)

    def test_jobs_that_fail_or_are_aborted_say_why(self):
        failed = self.server.accepted("/jobs/fail")
        deleted = self.server.accepted("/jobs/digest?delay=3600000")
        dropped = self.server.accepted("/jobs/digest?delay=3600000&signal=night")
        self.server.request("DELETE", deleted)
        self.server.request("DELETE", "/signals/night")
        self.assertEqual(self.line_of(failed)["error"]["code"], "command_failed")
        self.assertEqual(self.line_of(deleted)["error"], {"code": "aborted", "message": "the job was deleted"})
        self.assertEqual(self.line_of(dropped)["error"], {"code": "aborted", "message": "the signal was deleted"})
        self.assertEqual(self.line_of(dropped)["signal"], "night")

    def test_jobs_of_a_journal_have_one_line_each_also_those_that_never_started(self):
        server = self.durable()
        named = {"X-Request-Id": "from-before"}
        server.post("/signals/held/pause", b"")
        jobs = {
            "deleted": server.accepted("/jobs/digest?delay=3600000", headers=named),
            "expired": server.accepted("/jobs/digest?ttl=1&signal=held", headers=named),
            "kept": server.accepted("/jobs/digest?delay=3600000&signal=late", headers=named),
        }
        dropped = [server.accepted("/jobs/digest?delay=3600000&signal=night", headers=named) for _ in range(100)]
        server.request("DELETE", jobs["deleted"])
        server.request("DELETE", "/signals/night")
        self.assertEqual(self.line_of(jobs["deleted"])["request_id"], "from-before")
        self.assertEqual(self.line_of(jobs["expired"])["error"]["code"], "expired")
        self.assertEqual(self.line_of(jobs["expired"])["request_id"], "from-before")
        for job in dropped:
            line = self.line_of(job)
            self.assertEqual((line["state"], line["request_id"], line["bytes"]), ("aborted", "from-before", 5))
        self.stop(server)
        server = self.durable()
        server.request("PUT", jobs["kept"] + "?priority=background")
        server.request("DELETE", jobs["kept"])
        self.assertEqual(self.line_of(jobs["kept"])["request_id"], "from-before")
        ids = [line["id"] for line in self.lines()]
        self.assertEqual(len(ids), len(set(ids)))

    def test_lines_of_a_bulk_request_have_its_name(self):
        body = b'{"kind": "digest", "text": "a"}\n{"kind": "digest", "text": "b"}\n'
        reply = self.server.post("/jobs", body, headers={"X-Request-Id": "many"})
        self.assertEqual(reply.status, 202, reply.body)
        ended = until(lambda: len(self.lines()) == 2 and self.lines(), "both lines")
        self.assertEqual([line["request_id"] for line in ended], ["many", "many"])

    def test_sighup_goes_on_in_a_new_file_of_that_name(self):
        self.line_of(self.server.accepted("/jobs/digest"))
        moved = self.path + ".1"
        os.rename(self.path, moved)
        self.server.signal(signal.SIGHUP)
        until(lambda: os.path.exists(self.path), "a new file")
        self.line_of(self.server.accepted("/jobs/digest"))
        self.assertEqual((len(self.lines(moved)), len(self.lines())), (1, 1))

    def test_sighup_when_there_can_be_no_new_file_says_so_and_keeps_the_old_one(self):
        inner = os.path.join(self.folder, "inner")
        os.mkdir(inner)
        path = os.path.join(inner, "jobs.log")
        server = self.start("--job-log", path)
        moved = os.path.join(self.folder, "moved")
        os.rename(inner, moved)
        with open(inner, "w"):
            pass
        server.signal(signal.SIGHUP)
        until(lambda: server.said("the file that was open is written on"), "a word of that")
        self.line_of(server.accepted("/jobs/digest"), os.path.join(moved, "jobs.log"))

    def test_sighup_when_nobody_reads_the_pipe_any_more_says_so_and_goes_on(self):
        pipe = os.path.join(self.folder, "pipe")
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        server = self.start("--job-log", pipe)
        os.close(reader)
        server.signal(signal.SIGHUP)
        until(lambda: server.said("the file that was open is written on"), "a word of that")
        self.assertEqual(server.post("/jobs/digest?wait=1").status, 200)

    def test_sighup_while_the_journal_is_opened_is_heard_afterwards(self):
        data = os.path.join(self.folder, "data")
        process = os.path.join(self.folder, "process")

        def note_process():
            with open(process, "w") as file:
                file.write(str(os.getpid()))

        def hang_up():
            until(lambda: os.path.exists(os.path.join(data, "lock")), "the journal to be opened", pause=0)
            with open(process) as file:
                os.kill(int(file.read()), signal.SIGHUP)

        hanging_up = threading.Thread(target=hang_up)
        hanging_up.start()
        server = self.start("--job-log", self.path, "--data", data, preexec=note_process)
        hanging_up.join()
        until(lambda: server.said("SIGHUP: clients"), "a word of the signal")

    def disk_full_server(self):
        """One that hears of a full disk by the error alone."""
        return self.start("--job-log", self.path, preexec=lambda: signal.signal(signal.SIGXFSZ, signal.SIG_IGN))

    def cut_next_line(self, server):
        """Leaves room for ten bytes of it; how long the file is then."""
        room = os.path.getsize(self.path) + 10
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
        return room

    def give_room(self, server):
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)

    def test_line_that_was_cut_and_whose_file_is_moved_away_is_counted(self):
        server = self.disk_full_server()
        self.line_of(server.accepted("/jobs/digest"))
        room = self.cut_next_line(server)
        server.accepted("/jobs/digest")
        until(lambda: os.path.getsize(self.path) == room, "a full disk")
        os.rename(self.path, self.path + ".1")
        server.signal(signal.SIGHUP)
        until(lambda: os.path.exists(self.path), "a new file")
        self.give_room(server)
        self.line_of(server.accepted("/jobs/digest"))
        self.assertEqual([line.get("lost_lines") for line in self.lines()], [1, None])

    def test_disk_that_is_full_for_a_while_loses_lines_only_which_are_counted(self):
        server = self.disk_full_server()
        done = lambda: server.post("/jobs/digest?wait=1").headers["location"].rsplit("/")[-1]  # noqa: E731
        first = done()
        self.line_of("/" + first)
        room = self.cut_next_line(server)
        cut = done()
        others = [done() for _ in range(4)]
        until(lambda: os.path.getsize(self.path) == room and server.said("a line is lost"), "a full disk")
        self.give_room(server)
        last = done()
        self.line_of("/" + last)
        lines = self.lines()
        # The thread that writes may come to the latest of the others when there is room again.
        lost = lines[2]["lost_lines"]
        self.assertGreater(lost, 0)
        self.assertEqual([line.get("id") for line in lines], [first, cut, None, *others[lost:], last])

    def test_start_when_the_last_line_was_cut_off_begins_another_one(self):
        log = pathlib.Path(self.folder, "cut.log")
        log.write_text('{"time":"20')
        server = self.start("--job-log", str(log))
        job = server.accepted("/jobs/digest").rsplit("/")[-1]
        until(lambda: job in log.read_text(), "the line of the job")
        self.assertEqual(json.loads(log.read_text().splitlines()[1])["id"], job)

    def test_start_when_the_file_cannot_be_written_says_so(self):
        done = subprocess.run(
            [heistd_server.HEISTD, "--port", "0", "--job-log", self.folder],
            capture_output=True,
            text=True,
            timeout=heistd_server.PATIENCE,
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("--job-log: cannot write " + self.folder, done.stderr)

    def test_a_reader_that_stands_still_holds_up_neither_requests_nor_the_end_and_loses_lines_only(self):
        """A pipe takes 64 KiB; what does not fit into the queue behind it is counted."""
        pipe = os.path.join(self.folder, "pipe")
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        server = self.start("--job-log", pipe)
        line = b'{"kind": "digest"}\n'
        for _ in range(2):
            self.assertEqual(server.post("/jobs", line * 10000).status, 202)
        until(lambda: sum(level["done"] for level in server.stats()["levels"]) == 20000, "all jobs")
        os.set_blocking(reader, True)
        text = b""
        while b"lost_lines" not in text:
            server.accepted("/jobs/digest")
            text += os.read(reader, 1 << 16)
        self.assertEqual(server.post("/jobs", line * 10000).status, 202)
        parsed = [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith(b"\n")]
        lost = sum(line.get("lost_lines", 0) for line in parsed)
        self.assertGreater(lost, 0)
        self.assertLess(lost, 20000)
        server.signal()
        self.assertEqual(server.ended(), 0)
        self.assertTrue(server.said("nobody takes its last lines"), server.lines)


if __name__ == "__main__":
    heistd_server.main()
