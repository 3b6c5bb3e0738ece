"""heistd as a service: with a socket that its manager has opened, and telling it what it does."""

import os
import socket
import subprocess
import tempfile

import heistd_server
from heistd_server import PATIENCE, ServerTest


def starter(*sockets):
    """Starts a program as a service manager does: the sockets are the descriptors from 3 on."""
    moves = " ".join(f"{number}<&{one.fileno()}" for number, one in enumerate(sockets, 20))
    final = " ".join(f"{number}<&{number + 17}" for number in range(3, 3 + len(sockets)))
    script = f'exec {moves}; LISTEN_PID=$$ LISTEN_FDS={len(sockets)} exec "$@" {final}'
    return ["bash", "-c", script, "starter"]


def listener(family=socket.AF_INET, address=("127.0.0.1", 0)):
    opened = socket.socket(family)
    opened.bind(address)
    opened.listen()
    return opened


class InheritedSocket(ServerTest):
    def setUp(self):
        """Each test starts the server itself."""

    def refused(self, *sockets):
        """What heistd says when it does not start with these."""
        done = subprocess.run(
            [*starter(*sockets), heistd_server.HEISTD],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            pass_fds=[one.fileno() for one in sockets],
        )
        self.assertEqual(done.returncode, 1)
        return done.stderr

    def test_socket_when_passed_then_requests_that_came_before_the_start_are_served(self):
        with listener() as passed, socket.create_connection(passed.getsockname()) as early:
            early.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            server = self.start(starter=starter(passed), descriptors=(passed.fileno(),))
            self.assertEqual(server.port, passed.getsockname()[1])
            early.settimeout(PATIENCE)
            self.assertTrue(early.recv(64).startswith(b"HTTP/1.1 200"))

    def test_socket_when_it_is_none_that_heistd_can_use_then_says_so_and_ends(self):
        with listener() as one, listener() as other:
            self.assertIn("has passed 2 sockets", self.refused(one, other))
        with tempfile.TemporaryDirectory() as folder:
            with listener(socket.AF_UNIX, os.path.join(folder, "socket")) as local:
                self.assertIn("no listening TCP socket", self.refused(local))


class Notes(ServerTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.manager.close)
        self.manager.settimeout(PATIENCE)
        self.manager.bind(os.path.join(folder.name, "notes"))
        self.server = self.start(environment={"NOTIFY_SOCKET": self.manager.getsockname()})

    def test_manager_when_there_is_one_then_it_is_told_of_start_and_end(self):
        self.assertEqual(self.manager.recv(64), b"READY=1")
        self.server.signal()
        self.assertEqual(self.manager.recv(64), b"STOPPING=1")


if __name__ == "__main__":
    heistd_server.main()
