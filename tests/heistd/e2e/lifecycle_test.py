"""How the server starts and ends."""

import signal
import subprocess
import threading

import heistd_server
from heistd_server import MIB, ServerTest, until


class Start(ServerTest):
    def run_heistd(self, *options):
        done = subprocess.run(
            [heistd_server.HEISTD, *options],
            capture_output=True,
            text=True,
            timeout=heistd_server.PATIENCE,
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
            (("--client", "a:t:background", "--client", "a:u:background"), "--client"),
            (("--client", "a:t:background", "--client", "b:t:background"), "--client"),
            (("--anonymous-ceiling", "urgent"), "--anonymous-ceiling"),
            (("--max-wait", "background"), "--max-wait"),
            (("--max-wait", "background=5s,urgent=1s"), '"urgent"'),
            (("--max-wait", "background=5s,background=1s"), "background has a maximum already"),
            (("--max-wait", "background=2h"), '"2h"'),
            (("--nonsense",), "nonsense"),
        ):
            with self.subTest(options=options):
                code, said = self.run_heistd(*options)
                self.assertNotEqual(code, 0)
                self.assertIn(word, said)

    def test_client_option_when_wrong_then_the_token_is_not_shown(self):
        _, said = self.run_heistd("--client", "alice:top-secret:urgent")
        self.assertNotIn("top-secret", said)


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

    def test_sigint_when_idle_then_as_sigterm(self):
        self.server.signal(signal.SIGINT)
        self.assertEqual(self.server.ended(), 0)
        self.assertTrue(self.server.said("SIGINT"), self.server.lines)

    def test_sigterm_when_connections_are_idle_then_they_are_closed(self):
        raw = self.server.raw().send(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
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
            b"POST /jobs/digest?wait=1&delay=3600000 HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx"
        )
        until(lambda: self.server.stats()["jobs_held"] == 1, "the job")
        self.server.signal()
        self.assert_refused(raw.reply(), 503, "aborted")
        self.assertEqual(self.server.ended(), 0)
        self.assertTrue(self.server.said("0 jobs finished, 1 aborted"), self.server.lines)

    def test_drain_when_it_takes_time_then_new_jobs_are_refused_and_old_ones_shown(self):
        held = [self.server.raw() for _ in range(2)]
        for raw in held:
            # Half a header: the connection is busy with a request, so it outlives the signal.
            raw.send(b"POST /jobs/digest HTTP/1.1\r\nHost: x\r\n")
        thread, _ = self.costly_job(15 * MIB)
        until(self.running, "the job to run")
        self.server.signal()
        until(lambda: self.server.said("SIGTERM"), "the drain to begin")
        self.assert_refused(
            held[0].send(b"Content-Length: 0\r\n\r\n").reply(), 503, "shutting_down"
        )
        self.server.signal()
        until(lambda: self.server.said("a second signal"), "the second signal to be heard")
        self.assertEqual(self.server.ended(), 0)
        self.assertTrue(self.server.said("0 jobs finished, 1 aborted"), self.server.lines)
        thread.join()


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
