"""Starts heistd and talks to it over real sockets."""

import http.client
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

import certificates

PATIENCE = 240  # seconds: far more than anything takes, sanitizers included
MIB = 1024 * 1024


def until(condition, what, pause=0.005):
    """Waits for a condition, which is looked at once in so many seconds, and returns its value."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(pause)
    raise AssertionError(f"waited {PATIENCE} s in vain for {what}")


def noise(size):
    """Letters a and b in any order."""
    return os.urandom(size).translate(bytes(b"ab"[byte & 1] for byte in range(256)))


def costly_text(size):
    """Lines that cost the pattern COSTLY some 0.4 µs a byte: 2.5 MiB are a second of work."""
    line = 999
    return b"".join(noise(line) + b"\n" for _ in range(size // (line + 1)))


COSTLY = "[ab]*a[ab]{20}c"


class Reply:
    """A reply: status, headers (names in lower case), body."""

    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def error(self):
        return self.json["error"]["code"]

    @property
    def field(self):
        return self.json["error"].get("field")


class Raw:
    """A connection that sends exactly what it is told."""

    def __init__(self, port, receive_buffer=None, source=None, tls=None):
        self.socket = socket.socket()
        if source:
            self.socket.bind((source, 0))
        self.socket.settimeout(PATIENCE)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.connect(("127.0.0.1", port))
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_hostname="localhost")
        self.received = b""

    def send(self, data):
        self.socket.sendall(data)
        return self

    def end_sending(self):
        # The one of ssl would read without TLS from then on.
        socket.socket.shutdown(self.socket, socket.SHUT_WR)
        return self

    def close(self):
        self.socket.close()

    def _more(self):
        try:
            data = self.socket.recv(65536)
        except ConnectionResetError:
            data = b""
        self.received += data
        return data

    def reply(self, has_body=True):
        """The next reply."""
        while b"\r\n\r\n" not in self.received:
            if not self._more():
                raise AssertionError(f"closed without a reply, after {self.received!r}")
        head, self.received = self.received.split(b"\r\n\r\n", 1)
        first, *fields = head.decode("latin-1").split("\r\n")
        headers = {}
        for field in fields:
            name, value = field.split(":", 1)
            headers[name.lower()] = value.strip()
        size = int(headers.get("content-length", 0)) if has_body else 0
        while len(self.received) < size and self._more():
            pass
        body, self.received = self.received[:size], self.received[size:]
        return Reply(int(first.split()[1]), headers, body)

    def head(self, method, target, **headers):
        """Sends the head of a request; `Content_Length=3` is a header."""
        fields = {"Host": "localhost", **headers}
        lines = [f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items()]
        return self.send(f"{method} {target} HTTP/1.1\r\n{''.join(lines)}\r\n".encode())

    def kernel_state(self):
        """Of the server's end of it: the line of /proc/net/tcp, in fields."""
        ends = [f"0100007F:{name[1]:04X}" for name in (self.socket.getpeername(), self.socket.getsockname())]
        with open("/proc/net/tcp") as table:
            return next(line.split() for line in table if line.split()[1:3] == ends)

    def unread(self):
        """How many bytes the server's system keeps for us."""
        return int(self.kernel_state()[4].split(":")[0], 16)

    def dripped(self, seconds=0.02):
        """Sends a byte and waits a moment; true when the server has said something."""
        self.send(b"x")
        return bool(select.select([self.socket], [], [], seconds)[0])

    def is_closed(self):
        """Waits for the server to close; true when it sent nothing more."""
        while self._more():
            pass
        return self.received == b""


def network_threads(options):
    """As the environment says, so that each test can run with several, unless it has its own."""
    threads = os.environ.get("HEIST_NETWORK_THREADS")
    return ("--network-threads", threads) if threads and "--network-threads" not in options else ()


def shared_tls(where):
    """The options of TLS and the context of clients, if the environment asks for TLS."""
    if not os.environ.get("HEIST_TLS") or where[0] != "--port":
        return (), None
    authority, identity = certificates.shared()
    return identity.options, authority.context()


class Server:
    """A heistd process, on a port of its own unless told otherwise. `tls` is the context of a client, with TLS."""

    def __init__(
        self,
        *options,
        where=("--port", "0"),
        environment=None,
        preexec=None,
        starter=(),
        descriptors=(),
        tls=None,
        agents=2,
    ):
        self.is_signalled = False
        of_tls, self.tls = ((), tls) if tls else shared_tls(where)
        self.process = subprocess.Popen(
            [*starter, HEISTD, *where, "--agents", str(agents), *network_threads(options), *of_tls, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
            text=True,
            preexec_fn=preexec,
            pass_fds=descriptors,
        )
        self.lines = []
        self.raws = []
        self.address = self._listening()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _listening(self):
        """The address, from the first line but for notes."""
        for line in self.process.stdout:
            if "heistd listening on " in line:
                return line.split(" on ", 1)[1].strip()
            self.lines.append(line.rstrip())
        raise AssertionError(f"heistd did not start: {self.lines}")

    @property
    def port(self):
        return int(self.address.rsplit(":", 1)[1])

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip())

    def raw(self, **more):
        self.raws.append(Raw(self.port, **{"tls": self.tls, **more}))
        return self.raws[-1]

    def connection(self, source=None):
        """One that may be kept alive."""
        where = ("127.0.0.1", self.port)
        more = {"timeout": PATIENCE, "source_address": source and (source, 0)}
        if self.tls:
            return http.client.HTTPSConnection(*where, context=self.tls, **more)
        return http.client.HTTPConnection(*where, **more)

    def request(self, method, target, body=None, headers=None, source=None):
        connection = self.connection(source)
        try:
            connection.request(method, target, body=body, headers=headers or {})
            response = connection.getresponse()
            names = {name.lower(): value for name, value in response.getheaders()}
            return Reply(response.status, names, response.read())
        finally:
            connection.close()

    def get(self, target, **more):
        return self.request("GET", target, **more)

    def post(self, target, body=b"bytes", **more):
        return self.request("POST", target, body=body, **more)

    def accepted(self, target, body=b"bytes", **more):
        """Posts a job; its path."""
        reply = self.post(target, body, **more)
        if reply.status != 202:
            raise AssertionError(f"{reply.status} {reply.body}")
        return reply.headers["location"]

    def state(self, job):
        return self.get(job).json["state"]

    def finished(self, job):
        """Waits for the job's end; its description."""
        until(lambda: self.state(job) in ("done", "failed", "aborted", "dead"), f"{job} to finish")
        return self.get(job).json

    def stats(self):
        return self.get("/stats").json

    def level(self, priority):
        return next(level for level in self.stats()["levels"] if level["priority"] == priority)

    def signal(self, number=signal.SIGTERM):
        self.is_signalled |= number in (signal.SIGTERM, signal.SIGINT)
        self.process.send_signal(number)

    def ended(self):
        """Waits for the process to end; its exit code."""
        try:
            return self._ended()
        finally:
            self.process.stdout.close()
            for raw in self.raws:
                raw.close()

    def _ended(self):
        try:
            code = self.process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()  # or the thread that reads from it would keep the tests from ending
            raise
        self.reader.join(timeout=PATIENCE)
        return code

    def said(self, text):
        return any(text in line for line in self.lines)


class ServerTest(unittest.TestCase):
    """A test with a server of its own, which must end well."""

    OPTIONS = ()

    def setUp(self):
        self.server = self.start(*self.OPTIONS)

    def start(self, *options, **more):
        server = Server(*options, **more)
        self.addCleanup(self.stop, server)
        return server

    def stop(self, server):
        # A second signal would end it at once, whatever it is at.
        if server.process.poll() is None and not server.is_signalled:
            server.signal()
        code = server.ended()
        self.assertEqual(code, 0, server.lines)

    def assert_refused(self, reply, status, code, field=None):
        self.assertEqual((reply.status, reply.error, reply.field), (status, code, field), reply.body)
        self.assertEqual(reply.headers["content-type"], "application/json")
        self.assertTrue(reply.json["error"]["message"])


class RereadFile(ServerTest):
    """Tests of a file, `self.path`, that the server reads again while it runs."""

    def write(self, *lines):
        with open(self.path, "w") as file:
            file.write("\n".join(lines))

    def renew(self, *lines):
        """Writes the file and has the server read it; what it says of that."""
        self.write(*lines)
        before = len(self.server.lines)
        self.server.signal(signal.SIGHUP)
        said = lambda: [line for line in self.server.lines[before:] if "SIGHUP" in line]  # noqa: E731
        return until(said, "the server to have read it")[0]


def main():
    """Runs the tests of the calling file; its first argument is the program to test."""
    global HEISTD
    HEISTD = sys.argv.pop(1)
    sys.modules["heistd_server"].HEISTD = HEISTD
    unittest.main(module="__main__", verbosity=2)
