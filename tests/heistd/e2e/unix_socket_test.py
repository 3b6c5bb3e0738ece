"""heistd at a Unix socket, and what becomes of its file."""

import http.client
import os
import signal
import socket
import subprocess
import tempfile

import heistd_server
from heistd_server import PATIENCE, ServerTest


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=PATIENCE)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(self.path)


class UnixSocket(ServerTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "heistd.sock")

    def start_here(self, *options):
        return self.start(*options, where=("--unix-socket", self.path))

    def ask(self, method, target, body=None, headers=None):
        connection = Connection(self.path)
        self.addCleanup(connection.close)
        connection.request(method, target, body=body, headers=headers or {})
        reply = connection.getresponse()
        return heistd_server.Reply(reply.status, dict(reply.getheaders()), reply.read())

    def refused(self, *options):
        """What heistd says when it does not start with these."""
        done = subprocess.run(
            [heistd_server.HEISTD, *options], capture_output=True, text=True, timeout=PATIENCE
        )
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def test_start_when_there_is_a_path_then_says_so_and_serves_there(self):
        server = self.start_here("--limit-loopback")
        self.assertEqual(server.address, "unix:" + self.path)
        self.assertEqual(self.ask("POST", "/jobs/digest?wait=1", b"bytes").status, 200)
        self.assertEqual(self.ask("GET", "/healthz", headers={"Host": "other"}).status, 421)

    def test_end_then_the_file_is_gone(self):
        server = self.start_here()
        server.signal()
        self.assertEqual(server.ended(), 0)
        self.assertFalse(os.path.exists(self.path))
        self.assertFalse(server.said("page"), "no browser gets there")

    def test_start_when_a_killed_server_has_left_its_file_then_it_makes_room(self):
        killed = heistd_server.Server(where=("--unix-socket", self.path))
        killed.signal(signal.SIGKILL)
        self.assertEqual(killed.ended(), -signal.SIGKILL)
        self.assertTrue(os.path.exists(self.path))
        self.start_here()
        self.assertEqual(self.ask("GET", "/healthz").status, 200)

    def test_start_when_another_server_listens_there_then_refuses_and_leaves_it(self):
        self.start_here()
        self.assertIn("cannot listen on " + self.path, self.refused("--unix-socket", self.path))
        self.assertEqual(self.ask("GET", "/healthz").status, 200)

    def test_start_when_a_server_that_stands_still_has_no_room_for_connections_then_refuses(self):
        with socket.socket(socket.AF_UNIX) as other, socket.socket(socket.AF_UNIX) as waits:
            other.bind(self.path)
            other.listen(0)
            waits.connect(self.path)
            self.assertIn("cannot listen on " + self.path, self.refused("--unix-socket", self.path))
            self.assertTrue(os.path.exists(self.path))

    def test_end_when_the_path_is_another_server_s_by_now_then_leaves_it(self):
        first = self.start_here()
        os.rename(self.path, self.path + ".old")
        self.start_here()
        first.signal()
        self.assertEqual(first.ended(), 0)
        self.assertEqual(self.ask("GET", "/healthz").status, 200)

    def test_start_when_the_path_is_another_file_then_refuses_and_leaves_it(self):
        with open(self.path, "w") as file:
            file.write("text")
        self.assertIn("cannot listen on " + self.path, self.refused("--unix-socket", self.path))
        self.assertTrue(os.path.exists(self.path))

    def test_start_when_options_contradict_each_other_then_refuses(self):
        self.assertIn("--port", self.refused("--unix-socket", self.path, "--port", "8080"))
        self.assertIn("must not be empty", self.refused("--unix-socket", ""))
        self.assertIn("File name too long", self.refused("--unix-socket", "/tmp/" + 200 * "x"))


if __name__ == "__main__":
    heistd_server.main()
