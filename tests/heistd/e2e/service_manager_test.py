"""heistd as a service: with a socket that its manager has opened, and telling it what it does."""

import configparser
import contextlib
import ctypes
import os
import pathlib
import socket
import subprocess
import tempfile
import unittest

import heistd_server
from heistd_server import MIB, PATIENCE, ServerTest, until

WALL = 0x40000000  # threads, too


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


@contextlib.contextmanager
def stopped(thread):
    """Has a thread of another process stand still, as a debugger does; the others go on."""
    attach, detach = 16, 17
    ptrace = ctypes.CDLL(None, use_errno=True).ptrace
    if ptrace(attach, thread, None, None) != 0:
        raise unittest.SkipTest(f"this system has no ptrace: {os.strerror(ctypes.get_errno())}")
    os.waitpid(thread, WALL)
    try:
        yield
    finally:
        ptrace(detach, thread, None, None)


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
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
            self.assertIn("no listening TCP or Unix socket", self.refused(datagrams))

    def test_socket_when_it_is_a_unix_socket_then_requests_that_came_before_are_served(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "socket")
            with listener(socket.AF_UNIX, path) as passed, socket.socket(socket.AF_UNIX) as early:
                early.connect(path)
                early.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                server = self.start(starter=starter(passed), descriptors=(passed.fileno(),))
                self.assertEqual(server.address, "unix:" + path)
                early.settimeout(PATIENCE)
                self.assertTrue(early.recv(64).startswith(b"HTTP/1.1 200"))
                server.signal()
                self.assertEqual(server.ended(), 0)
                self.assertTrue(os.path.exists(path), "it is the manager's")

    def test_drain_when_the_manager_has_the_socket_then_connections_wait_for_the_next_server(self):
        with listener() as passed:
            options = {"starter": starter(passed), "descriptors": (passed.fileno(),)}
            server = self.start("--drain-deadline", "600000", **options)
            server.accepted(f"/jobs/search?pattern={heistd_server.COSTLY}", heistd_server.costly_text(15 * MIB))
            server.signal()
            until(lambda: server.said("draining"), "the drain to begin")
            with socket.create_connection(passed.getsockname()) as early:
                early.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                server.signal()
                self.assertEqual(server.ended(), 0)
                self.start(**options)
                early.settimeout(PATIENCE)
                self.assertIn(b'"ok"', early.recv(4096))


class Notes(ServerTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.manager.close)
        self.manager.settimeout(PATIENCE)
        self.manager.bind(os.path.join(folder.name, "notes"))

    def start_told(self, *options, **environment):
        server = self.start(*options, environment={"NOTIFY_SOCKET": self.manager.getsockname(), **environment})
        self.assertEqual(self.manager.recv(64), b"READY=1")
        return server

    def test_manager_when_its_watchdog_listens_then_it_hears_again_and_again(self):
        self.start_told(WATCHDOG_USEC="20000")
        for _ in range(3):
            self.assertEqual(self.manager.recv(64), b"WATCHDOG=1")

    def hears_more_of_it(self):
        """Whether it goes on telling, beside what the system has kept of it and a round that has begun."""
        self.manager.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while self.manager.recv(64):
                pass
        self.manager.settimeout(2)
        try:
            return all(self.manager.recv(64) for _ in range(3))
        except TimeoutError:
            return False

    def test_manager_when_a_thread_of_the_network_stands_still_then_it_hears_nothing(self):
        with tempfile.TemporaryDirectory() as data:
            server = self.start_told("--network-threads", "2", "--data", data, WATCHDOG_USEC="20000")
            pid = server.process.pid
            watched = 0
            for thread in sorted(map(int, os.listdir(f"/proc/{pid}/task"))):
                with stopped(thread):
                    watched += not self.hears_more_of_it()
                self.assertTrue(self.hears_more_of_it())
            # Those that have the jobs, and two of connections; the journal's wait for a slow disk.
            self.assertEqual(watched, 3)

    def test_manager_when_there_is_one_then_it_is_told_of_start_and_end(self):
        self.start_told().signal()
        self.assertEqual(self.manager.recv(64), b"STOPPING=1")


class Unit(unittest.TestCase):
    FOLDER = pathlib.Path(__file__).resolve().parents[3] / "debian"

    def unit(self):
        unit = configparser.ConfigParser(strict=False, interpolation=None)
        unit.optionxform = str
        unit.read(self.FOLDER / "heistd.service")
        return unit

    def service(self):
        return self.unit()["Service"]

    def test_unit_then_the_server_is_waited_for_and_watched_and_it_alone_is_told_to_end(self):
        service = self.service()
        self.assertEqual(service["Type"], "notify")
        self.assertEqual(service["TimeoutStartSec"], "infinity")  # a journal may take long to read
        # The server feeds the watchdog twice in that time, and a step of its network thread takes far less.
        self.assertEqual(service["WatchdogSec"], "30")
        self.assertEqual(service["KillMode"], "mixed")  # programs go on while the server drains

    def test_unit_when_jobs_end_the_server_again_and_again_then_it_comes_back_each_time(self):
        self.assertEqual(self.unit()["Unit"]["StartLimitIntervalSec"], "0")  # by default 5 starts in 10 s are enough
        self.assertEqual((self.service()["Restart"], self.service()["RestartSec"]), ("on-failure", "1"))

    def test_unit_when_the_options_cannot_be_read_then_it_is_not_started_again(self):
        final = self.service()["RestartPreventExitStatus"].split()
        for wrong in (("--nonsense",), ("--port", "no"), ("--config", "/no/such/file"), ("--client", "no")):
            done = subprocess.run([heistd_server.HEISTD, *wrong], capture_output=True, check=False)
            self.assertIn(str(done.returncode), final)

    def test_unit_when_reloaded_then_the_server_gets_the_signal_that_has_it_read_its_files(self):
        self.assertEqual(self.service()["ExecReload"], "/bin/kill -HUP $MAINPID")

    def test_unit_then_programs_may_become_as_urgent_as_the_server_and_not_more(self):
        service = self.service()
        self.assertEqual((service["LimitNICE"], service["CapabilityBoundingSet"]), ("+0", ""))

    def test_unit_when_systemd_reads_it_then_it_finds_no_mistake(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("heistd.service", "heistd.socket"):
                text = (self.FOLDER / name).read_text(encoding="utf-8")
                text = text.replace("/usr/bin/heistd", heistd_server.HEISTD)
                pathlib.Path(folder, name).write_text(text, encoding="utf-8")
            done = subprocess.run(
                ["systemd-analyze", "verify", "--man=no", os.path.join(folder, "heistd.service")],
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
        # Of units of the system it finds what it will.
        found = [line for line in (done.stdout + done.stderr).splitlines() if "heistd" in line]
        self.assertEqual((done.returncode, found), (0, []))


if __name__ == "__main__":
    heistd_server.main()
