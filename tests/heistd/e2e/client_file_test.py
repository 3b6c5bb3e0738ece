"""Clients of a file, whose tokens are changed while the server runs."""

import os
import signal
import subprocess
import tempfile

import heistd_server
from heistd_server import PATIENCE, RereadFile, until


class ClientFile(RereadFile):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "clients")
        self.write("# The first token.", "", "alice:one:background")
        self.server = self.start(
            "--client-file", self.path, "--client", "bob:listed:background", "--operator", "alice"
        )

    def ask(self, token, method="GET", target="/stats", body=None):
        headers = {"Authorization": f"Bearer {token}"}
        return self.server.request(method, target, body=body, headers=headers)

    def statuses(self, *tokens):
        return [self.ask(token).status for token in tokens]

    def test_sighup_when_tokens_change_then_their_client_keeps_its_jobs(self):
        job = self.ask("one", "POST", "/jobs/digest?delay=3600000", b"x").headers["location"]
        self.renew("alice:one:background", "alice:two:background")
        self.assertEqual(self.statuses("one", "two", "listed"), [200, 200, 200])
        self.renew("alice:two:background", "carol:three:background")
        self.assertEqual(self.statuses("one", "two", "three"), [401, 200, 200])
        self.assertEqual(self.ask("two", target=job).status, 200)
        self.assertEqual(self.ask("three", target=job).status, 404)
        self.assertEqual(self.ask("two", target="/debug/dump").status, 200)

    def test_sighup_when_the_ceiling_changes_then_it_holds_from_now_on(self):
        urgent = ("POST", "/jobs/digest?priority=user-blocking", b"x")
        self.assert_refused(self.ask("one", *urgent), 403, "above_ceiling", "priority")
        self.renew("alice:one:user-blocking")
        self.assertEqual(self.ask("one", *urgent).status, 202)

    def test_sighup_when_limits_change_then_they_hold_from_now_on(self):
        post = ("POST", "/jobs/digest", b"x")
        self.renew("alice:one:background rate=1/h burst=2 running=3 weight=2")
        self.assertEqual([self.ask("one", *post).status for _ in range(2)], [202, 202])
        refused = self.ask("one", *post)
        self.assert_refused(refused, 429, "rate_limited")
        self.assertGreater(int(refused.headers["retry-after"]), 3000)
        self.assertEqual(self.ask("listed", *post).status, 202)
        metrics = self.ask("one", target="/metrics").body.decode()
        self.assertIn('heistd_client_limit{client="alice",limit="weight"} 2', metrics)
        self.assertIn('heistd_rate_limited_total{client="alice"} 1', metrics)
        self.renew("alice:one:background", "anonymous rate=1/h")
        self.assertEqual(self.ask("one", *post).status, 202)
        self.assertEqual(self.server.request("POST", "/jobs/digest", body=b"x").status, 202)
        self.assert_refused(
            self.server.request("POST", "/jobs/digest", body=b"x"), 429, "rate_limited"
        )

    def test_sighup_when_the_file_is_wrong_then_says_so_and_nothing_changes(self):
        for lines, what in (
            (["alice:secret"], self.path + " line 1: must be NAME:TOKEN:CEILING"),
            (["carol:two:background", "carol:three:user-visible"], "client carol has two ceilings"),
            (["alice:listed:background"], "a TOKEN is there twice"),
            (["anonymous:two:background"], "NAME is taken: anonymous"),
            (["alice:two:background weight=x"], "weight must be a whole number"),
        ):
            with self.subTest(lines=lines):
                said = self.renew(*lines)
                self.assertIn(what, said)
                self.assertIn("stay as they were", said)
                self.assertNotIn("secret", said)
                self.assertEqual(self.statuses("one", "two"), [200, 401])
        os.unlink(self.path)
        self.server.signal(signal.SIGHUP)
        until(lambda: self.server.said("No such file"), "the server to say so")
        self.assertEqual(self.statuses("one"), [200])

    def test_start_when_the_file_is_wrong_then_says_where(self):
        self.write("alice:one:background", "alice:one")
        done = subprocess.run(
            [heistd_server.HEISTD, "--client-file", self.path],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("--client-file: " + self.path + " line 2", done.stderr)


if __name__ == "__main__":
    heistd_server.main()
