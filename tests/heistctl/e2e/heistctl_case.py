"""Runs heistctl against a heistd of its own."""

import os
import subprocess
import sys
import tempfile

import heistd_server
from heistd_server import PATIENCE, ServerTest

HOUR = "3600000"


class Ended:
    """What became of a heistctl: exit code, output, errors."""

    def __init__(self, code, output, errors):
        self.code = code
        self.output = output
        self.errors = errors

    @property
    def text(self):
        return self.output.decode()

    @property
    def lines(self):
        return self.text.splitlines()


class HeistctlTest(ServerTest):
    """A server, and a folder for files."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        super().setUp()

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.port}"

    def begin(self, *words, server=None, environment=None, **more):
        """A heistctl that runs."""
        known = {**os.environ, "HEIST_SERVER": server or self.url, **(environment or {})}
        return subprocess.Popen(
            [HEISTCTL, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=known, **more
        )

    def ctl(self, *words, data=b"", server=None, environment=None):
        """Runs heistctl to its end."""
        process = self.begin(*words, server=server, environment=environment, stdin=subprocess.PIPE)
        output, errors = process.communicate(data, timeout=PATIENCE)
        return Ended(process.returncode, output, errors.decode())

    def done(self, *words, **more):
        """The same; it must do what it was told to."""
        ended = self.ctl(*words, **more)
        self.assertEqual(ended.code, 0, ended.errors)
        return ended

    def failed(self, code, what, *words, **more):
        """The same; it must fail so, and say why."""
        ended = self.ctl(*words, **more)
        self.assertEqual(ended.code, code, (ended.output, ended.errors))
        self.assertIn(what, ended.errors)
        self.assertEqual(ended.errors[:10], "heistctl: ")
        return ended

    def submitted(self, *words, **more):
        """The id of a job that was sent."""
        return self.done("submit", *words, **more).text.strip()

    def state(self, job):
        return self.server.state(f"/jobs/{job}")

    def waiting_job(self, *words):
        return self.submitted("digest", "--delay", "1h", *words, data=b"bytes")


def main():
    """Runs the tests of the calling file; its arguments are heistd and heistctl."""
    global HEISTCTL
    HEISTCTL = sys.argv.pop(2)
    sys.modules["heistctl_case"].HEISTCTL = HEISTCTL
    heistd_server.main()
