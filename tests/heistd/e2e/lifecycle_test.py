"""How the server starts and ends."""

import os
import re
import resource
import signal
import subprocess
import threading
import unittest

import heistd_server
from heistd_server import MIB, ServerTest, until


class Start(ServerTest):
    def run_heistd(self, *options, preexec=None):
        done = subprocess.run(
            [heistd_server.HEISTD, *options],
            capture_output=True,
            text=True,
            timeout=heistd_server.PATIENCE,
            preexec_fn=preexec,
        )
        return done.returncode, done.stdout + done.stderr

    def test_port_when_taken_then_says_so_and_ends(self):
        code, said = self.run_heistd("--port", str(self.server.port))
        self.assertEqual(code, 1)
        self.assertIn(f"cannot listen on 127.0.0.1 port {self.server.port}", said)
        self.assertIn("in use", said)

    def test_address_when_not_ours_then_says_so_and_ends(self):
        for address in ("192.0.2.1", "nonsense"):
            code, said = self.run_heistd("--port", "0", "--address", address)
            self.assertEqual(code, 1)
            self.assertIn(f"cannot listen on {address}", said)

    def test_options_when_wrong_then_says_which(self):
        for options, word in (
            (("--port", "70000"), "--port"),
            (("--max-body", "-1"), "--max-body"),
            (("--max-queued", "0"), "--max-queued"),
            (("--max-body", "1GB", "--max-queued-bytes", "1MB"), "--max-queued-bytes"),
            (("--client", "alice:token"), "--client"),
            (("--client", "anonymous:token:background"), "--client"),
            (("--client", "a:t:background", "--client", "a:u:user-visible"), "--client"),
            (("--client", "a:t:background", "--client", "b:t:background"), "--client"),
            (("--anonymous-ceiling", "urgent"), "--anonymous-ceiling"),
            (("--max-wait", "background"), "--max-wait"),
            (("--max-wait", "background=5s,urgent=1s"), '"urgent"'),
            (("--max-wait", "background=5s,background=1s"), "background has a maximum already"),
            (("--max-wait", "background=2h"), '"2h"'),
            (("--host", "http://a"), "--host"),
            (("--max-body", "2MB", "--max-unsent-bytes", "1MB"), "--max-unsent-bytes"),
            (("--operator", "bob"), "--operator"),
            (("--operator", "anonymous", "--anonymous-ceiling", "none"), "--operator"),
            (("--report-tasks-over", "0"), "--report-tasks-over"),
            (("--nonsense",), "nonsense"),
        ):
            with self.subTest(options=options):
                code, said = self.run_heistd(*options)
                self.assertNotEqual(code, 0)
                self.assertIn(word, said)

    def test_client_option_when_wrong_then_the_token_is_not_shown(self):
        _, said = self.run_heistd("--client", "alice:top-secret:urgent")
        self.assertNotIn("top-secret", said)


    def test_number_when_out_of_range_then_refused_for_every_option(self):
        _, usage = self.run_heistd("--help")
        numbers = re.findall(r"^  (--[a-z-]+) U?INT", usage, re.MULTILINE)
        self.assertGreaterEqual(len(numbers), 18, usage)
        self.assertIn("--max-queued", numbers)
        for option in numbers:
            for number in ("-1", "9223372036854775807", "18446744073709551615", 30 * "9", "1.5", "x"):
                with self.subTest(option=option, number=number):
                    code, said = self.run_heistd("--port", "0", option, number)
                    self.assertNotEqual(code, 0)
                    self.assertIn(option, said)

    def test_version_when_asked_for_then_printed(self):
        code, said = self.run_heistd("--version")
        self.assertEqual(code, 0)
        self.assertRegex(said, r"^heistd \d+\.\d+\.\d+\n$")


def open_files(soft, hard):
    """What a shell's `ulimit -n` does before it starts a program."""
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class OpenFiles(ServerTest):
    REQUEST = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"

    def limit_of(self, server):
        return resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)[0]

    @unittest.skipIf(
        "undefined" in os.environ.get("HEIST_SANITIZE", ""), "the sanitizer opens a pipe to look at an object"
    )
    def test_limit_when_low_then_said_and_fewer_connections_are_kept(self):
        server = self.start(preexec=open_files(60, 60))
        note = next(line for line in server.lines if "ulimit -n" in line)
        possible = int(re.search(r"room for (\d+) connections instead of 256", note)[1])
        self.assertGreater(possible, 20)
        held = [server.raw().send(self.REQUEST) for _ in range(100)]
        for raw in held[-possible:]:
            self.assertEqual(raw.reply().status, 200)
        self.assertEqual(server.get("/healthz").status, 200)
        self.assertLess(len(os.listdir(f"/proc/{server.process.pid}/fd")), 60)

    def test_limit_when_only_the_soft_one_is_low_then_raised_in_silence(self):
        server = self.start(preexec=open_files(60, 1000))
        self.assertEqual([line for line in server.lines if "ulimit" in line], [])
        self.assertGreater(self.limit_of(server), 256)

    def test_limit_when_it_is_enough_then_left_alone(self):
        self.assertEqual(self.limit_of(self.start(preexec=open_files(900, 1000))), 900)

    def test_limit_when_no_connection_is_possible_then_says_so_and_ends(self):
        done = subprocess.run(
            [heistd_server.HEISTD, "--port", "0"],
            capture_output=True,
            text=True,
            timeout=heistd_server.PATIENCE,
            preexec_fn=open_files(16, 16),
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("ulimit -n", done.stderr)


class DrainTest(ServerTest):
    def in_background(self, target, body):
        """Sends a request in a thread; the list will hold the reply."""
        replies = []
        thread = threading.Thread(target=lambda: replies.append(self.server.post(target, body)))
        thread.start()
        self.addCleanup(thread.join)
        return thread, replies

    def costly_job(self, size):
        return self.in_background(
            f"/jobs/search?wait=1&pattern={heistd_server.COSTLY}",
            heistd_server.costly_text(size),
        )

    def running(self):
        return self.server.level("user-visible")["running"] > 0


class Drain(DrainTest):
    OPTIONS = ("--drain-deadline", "600000", "--header-timeout", "600000")

    def test_sigterm_when_idle_then_ends_at_once_and_says_so(self):
        self.server.signal()
        self.assertEqual(self.server.ended(), 0)
        self.assertTrue(self.server.said("SIGTERM"), self.server.lines)
        self.assertTrue(self.server.said("0 jobs finished, 0 aborted"), self.server.lines)

    def test_sighup_when_there_is_no_client_file_then_goes_on(self):
        self.server.signal(signal.SIGHUP)
        self.assertEqual(self.server.get("/healthz").status, 200)

    def test_output_when_nobody_reads_it_any_more_then_ends_well(self):
        server = subprocess.Popen([heistd_server.HEISTD, "--port", "0"], stdout=subprocess.PIPE)
        server.stdout.readline()
        server.stdout.close()
        server.terminate()
        self.assertEqual(server.wait(timeout=heistd_server.PATIENCE), 0)

    @unittest.skipIf(os.environ.get("HEIST_SANITIZE"), "a sanitizer ends a program without memory")
    def test_sigterm_when_there_is_no_thread_or_memory_left_then_ends_all_the_same(self):
        pid = self.server.process.pid
        with open(f"/proc/{pid}/statm") as sizes:
            taken = int(sizes.read().split()[0]) * resource.getpagesize()
        resource.prlimit(pid, resource.RLIMIT_AS, (taken, taken))
        self.server.signal()
        self.assertEqual(self.server.ended(), 0)
        self.assertTrue(self.server.said("0 jobs finished, 0 aborted"), self.server.lines)

    def test_sigint_when_idle_then_as_sigterm(self):
        self.server.signal(signal.SIGINT)
        self.assertEqual(self.server.ended(), 0)
        self.assertTrue(self.server.said("SIGINT"), self.server.lines)

    def test_sigterm_when_connections_are_idle_then_they_are_closed(self):
        raw = self.server.raw().send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertEqual(raw.reply().status, 200)
        self.server.signal()
        self.assertTrue(raw.is_closed())
        self.assertEqual(self.server.ended(), 0)

    def test_sigterm_when_a_job_runs_then_it_is_finished_and_answered(self):
        thread, replies = self.costly_job(MIB)
        until(self.running, "the job to run")
        self.server.signal()
        self.assertEqual(self.server.ended(), 0)
        thread.join()
        self.assertEqual(replies[0].status, 200, self.server.lines)
        self.assertEqual(replies[0].json["state"], "done")
        self.assertTrue(self.server.said("1 jobs finished, 0 aborted"), self.server.lines)

    def test_sigterm_when_jobs_are_delayed_then_they_are_aborted(self):
        raw = self.server.raw()
        raw.send(
            b"POST /jobs/digest?wait=1&delay=3600000 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx"
        )
        until(lambda: self.server.stats()["jobs_held"] == 1, "the job")
        self.server.signal()
        self.assert_refused(raw.reply(), 503, "aborted")
        self.assertEqual(self.server.ended(), 0)
        self.assertTrue(self.server.said("0 jobs finished, 1 aborted"), self.server.lines)

    def test_drain_when_it_takes_time_then_new_jobs_are_refused_and_old_ones_shown(self):
        held = self.server.raw().head("GET", "/healthz")
        self.assertEqual(held.reply().json["status"], "ok")
        self.assertEqual(self.server.get("/readyz").json["status"], "ok")
        job = self.server.accepted("/jobs/digest?priority=background&delay=3600000")
        thread, _ = self.costly_job(15 * MIB)
        until(self.running, "the job to run")
        self.server.signal()
        until(lambda: self.server.said("SIGTERM"), "the drain to begin")
        self.assertEqual(held.head("GET", "/healthz").reply().json["status"], "draining")
        self.assert_refused(self.server.get("/readyz"), 503, "shutting_down")
        self.assert_refused(self.server.post("/jobs/digest"), 503, "shutting_down")
        self.assertIn(self.server.state(job), ("delayed", "aborted"))
        self.server.signal()
        until(lambda: self.server.said("a second signal"), "the second signal to be heard")
        self.assertEqual(self.server.ended(), 0)
        self.assertTrue(self.server.said("0 jobs finished, 2 aborted"), self.server.lines)
        thread.join()

    def test_second_signal_when_there_are_many_jobs_then_all_are_aborted_step_by_step(self):
        waiting = 3 * 64 + 1  # more than three steps
        text = heistd_server.costly_text(15 * MIB)
        urgent = f"/jobs/search?pattern={heistd_server.COSTLY}&priority=user-blocking"
        for _ in range(2):  # one for each agent
            self.server.accepted(urgent, text)
        for number in range(waiting):
            self.server.accepted(f"/jobs/digest?priority=background&signal=s{number % 3}")
        self.server.signal()
        until(lambda: self.server.said("SIGTERM"), "the drain to begin")
        self.server.signal()
        self.assertEqual(self.server.ended(), 0)
        self.assertTrue(self.server.said(f"aborting {waiting + 2} jobs"), self.server.lines)
        # Between two steps the agents, which have lost their urgent jobs, may end one of the others.
        ends = re.search(r"(\d+) jobs finished, (\d+) aborted", "\n".join(self.server.lines))
        self.assertEqual(int(ends[1]) + int(ends[2]), waiting + 2)
        self.assertGreater(int(ends[2]), 2 * 64)


class Deadline(DrainTest):
    OPTIONS = ("--drain-deadline", "100")

    def test_sigterm_when_the_deadline_comes_then_the_rest_is_aborted(self):
        thread, replies = self.costly_job(15 * MIB)
        until(self.running, "the job to run")
        self.server.signal()
        self.assertEqual(self.server.ended(), 0)
        thread.join()
        self.assert_refused(replies[0], 503, "aborted")
        self.assertTrue(self.server.said("0 jobs finished, 1 aborted"), self.server.lines)


if __name__ == "__main__":
    heistd_server.main()
