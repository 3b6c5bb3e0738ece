"""Options of a file, which the server reads again while it runs."""

import os
import subprocess
import tempfile

import heistd_server
from heistd_server import PATIENCE, RereadFile


class ConfigFile(RereadFile):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "heistd.conf")

    def start_with(self, *lines, options=()):
        self.write(*lines)
        self.server = self.start("--config", self.path, *options)

    def status(self, token, target="/jobs/digest", body=b"bytes"):
        return self.server.post(target, body, headers={"Authorization": f"Bearer {token}"}).status

    def test_start_when_options_stand_in_the_file_then_they_hold_unless_given(self):
        self.start_with(
            "# A comment.",
            'client = ["alice:a:background rate=1/h", "bob:b:user-visible"]',
            "max-body = 3",
            "max-queued = 5",
            "limit-loopback = true",
            options=("--max-body", "10"),
        )
        self.assertEqual(self.status("a"), 202)
        self.assertEqual(self.status("a"), 429)
        self.assertEqual(self.status("b"), 202)
        self.assertEqual(self.status("b", body=b"x" * 11), 413)

    def test_start_when_the_file_is_wrong_then_says_why(self):
        for lines, what in (
            (["prot = 80"], "prot"),
            (["max-body = many"], "max-body"),
            (["client = alice"], "NAME:TOKEN:CEILING"),
            (["max-stored-bytes = 0"], "max-stored-bytes"),
            (["max-stored-age = 999"], "max-stored-age"),
        ):
            with self.subTest(lines=lines):
                self.write(*lines)
                self.assert_refused_start(what)
        os.unlink(self.path)
        self.assert_refused_start(self.path)

    def assert_refused_start(self, what):
        done = subprocess.run(
            [heistd_server.HEISTD, "--port", "0", "--config", self.path],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(what, done.stderr)

    def test_sighup_when_the_file_has_changed_then_what_can_does_and_it_says_what_cannot(self):
        self.start_with("client = alice:a:background", "max-queued = 5")
        said = self.renew("client = alice:b:background", "max-queued = 6", "max-body = 4MiB")
        self.assertIn("a new start is needed for --max-body, --max-queued", said)
        self.assertEqual((self.status("a"), self.status("b")), (401, 202))
        said = self.renew("client = alice:c:background", "max-queued = 5", "drain-deadline = 1234")
        self.assertNotIn("new start", said)
        self.assertEqual(self.status("c"), 202)
        self.server.signal()
        self.assertEqual(self.server.ended(), 0)
        self.assertTrue(self.server.said("draining for at most 1234 ms"), self.server.lines)

    def test_sighup_when_the_file_is_wrong_then_all_stays_as_it_was(self):
        self.start_with("client = alice:a:background")
        for lines in (["client = alice:secret"], ["oops = 1"], ["max-body = -1"]):
            with self.subTest(lines=lines):
                said = self.renew(*lines)
                self.assertIn("stay as they were", said)
                self.assertNotIn("secret", said)
                self.assertEqual(self.status("a"), 202)


if __name__ == "__main__":
    heistd_server.main()
