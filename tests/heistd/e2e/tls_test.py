"""heistd with TLS: who gets a connection, with which certificate, and what becomes of it (rule SEC-3)."""

import hashlib
import os
import re
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import tempfile
import threading
import warnings

import certificates
import heistd_server
from heistd_server import MIB, PATIENCE, ServerTest, until
from service_manager_test import starter


class TlsTest(ServerTest):
    MORE = ()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.authority = certificates.Authority(self.folder)
        self.first = self.authority.identity("first")
        self.used = certificates.Identity(self.folder, "used")
        self.use(self.first)
        self.context = self.authority.context()
        self.server = self.start(*self.used.options, *self.MORE, tls=self.context)

    def use(self, identity):
        """Has the server's files be these."""
        shutil.copy(identity.certificate, self.used.certificate)
        shutil.copy(identity.key, self.used.key)

    def name_shown(self, raw):
        return dict(field[0] for field in raw.socket.getpeercert()["subject"])["commonName"]

    def files_open_at_rest(self):
        """Each thread opens some with its first connection."""
        for _ in range(8):
            self.server.get("/healthz")
        return self.files_open()

    def files_open(self):
        return len(os.listdir(f"/proc/{self.server.process.pid}/fd"))

    def reread(self):
        """What the server says of SIGHUP."""
        before = len(self.server.lines)
        self.server.signal(signal.SIGHUP)
        return until(lambda: [line for line in self.server.lines[before:] if "SIGHUP" in line], "an answer")[0]


class Requests(TlsTest):
    def test_request_when_by_tls_1_2_or_1_3_then_served(self):
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            with self.subTest(version=version):
                self.context.minimum_version = self.context.maximum_version = version
                self.assertEqual(self.server.post("/jobs/digest?wait=1", b"abc").status, 200)
                raw = self.server.raw()
                for _ in range(3):
                    self.assertEqual(raw.head("GET", "/healthz").reply().status, 200)
        self.assertTrue(self.server.said("its page is at https://"))

    def test_request_when_pieces_come_one_by_one_then_served(self):
        raw = self.server.raw()
        for byte in b"POST /jobs/digest?wait=1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc":
            raw.send(bytes([byte]))
        self.assertEqual(raw.reply().status, 200)

    def test_requests_when_sent_at_once_then_each_is_answered(self):
        one = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        raw = self.server.raw().send(one * 100)
        self.assertEqual({raw.reply().status for _ in range(100)}, {200})

    def test_bodies_when_large_then_whole_both_ways(self):
        body = os.urandom(15 * MIB)
        digest = self.server.post("/jobs/digest?wait=1", body).json
        self.assertEqual(digest["result"]["sha256"], hashlib.sha256(body).hexdigest())
        compressed = self.server.post("/jobs/compress?wait=1", body)
        self.assertGreater(len(compressed.body), 15 * MIB)
        job = compressed.headers["location"]
        self.assertEqual(self.server.get(job + "/result").body, compressed.body)

    def test_reply_when_read_slowly_then_whole(self):
        job = self.server.accepted("/jobs/compress", os.urandom(4 * MIB))
        self.server.finished(job)
        whole = self.server.get(job + "/result").body
        slow = self.server.raw(receive_buffer=4096).head("GET", job + "/result")
        until(lambda: slow.unread() > 100_000, "the server to have sent what its system takes")
        self.assertEqual(slow.reply().body, whole)

    def test_events_when_listened_to_then_they_come_at_once(self):
        raw = self.server.raw().head("GET", "/events")
        self.assertEqual(raw.reply(has_body=False).headers["content-type"], "text/event-stream")
        self.server.accepted("/jobs/digest")
        until(lambda: raw._more() and b'"digest"' in raw.received, "an event")

    def test_origin_when_it_is_the_servers_own_then_it_begins_with_https(self):
        own = f"127.0.0.1:{self.server.port}"
        self.assertEqual(self.server.get("/stats", headers={"Origin": f"https://{own}"}).status, 200)
        refused = self.server.get("/stats", headers={"Origin": f"http://{own}"})
        self.assert_refused(refused, 403, "foreign_origin", "Origin")


class Refused(TlsTest):
    def plain(self):
        return self.server.raw(tls=None)

    def test_request_when_without_tls_then_told_to_use_it(self):
        for method in ("GET", "POST", "HEAD", "PUT"):
            with self.subTest(method=method):
                reply = self.plain().head(method, "/jobs", Content_Length=3).send(b"abc").reply()
                self.assert_refused(reply, 400, "tls_required")
                self.assertEqual(reply.headers["connection"], "close")
        self.assertEqual(self.server.get("/healthz").status, 200)

    def test_bytes_when_they_are_no_tls_then_the_connection_ends(self):
        for data in (b"DELETE /jobs/1 HTTP/1.1\r\n\r\n", b"\0" * 100, b"\x16\x03\x01\xff\xff" + b"x" * 70_000):
            with self.subTest(data=data[:8]):
                raw = self.plain()
                try:
                    raw.send(data)
                except ConnectionError:
                    pass  # it was closed before all had been sent
                while raw._more():
                    pass
                self.assertNotIn(b"HTTP", raw.received)
        self.assertEqual(self.server.get("/healthz").status, 200)

    def test_client_when_it_knows_tls_1_1_only_then_told_so(self):
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.load_verify_locations(self.authority.certificate)
        old.set_ciphers("DEFAULT:@SECLEVEL=0")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it is old indeed
            old.minimum_version = ssl.TLSVersion.TLSv1
            old.maximum_version = ssl.TLSVersion.TLSv1_1
        with self.assertRaisesRegex(ssl.SSLError, "alert protocol version"):
            self.server.raw(tls=old)
        old.maximum_version = ssl.TLSVersion.TLSv1_2
        self.assertEqual(self.server.raw(tls=old).head("GET", "/healthz").reply().status, 200)

    def test_client_when_it_does_not_trust_the_certificate_then_others_are_served(self):
        with self.assertRaises(ssl.SSLCertVerificationError):
            self.server.raw(tls=ssl.create_default_context())
        self.assertEqual(self.server.get("/healthz").status, 200)


class Leaving(TlsTest):
    def vanish(self, raw):
        raw.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raw.close()

    def assert_nothing_is_left(self, before):
        until(lambda: self.server.get("/stats").json["jobs_held"] == 0, "all jobs to end")
        until(lambda: self.files_open() <= before, "all connections to be closed")

    def test_client_when_it_goes_in_the_middle_then_nothing_is_left(self):
        before = self.files_open_at_rest()
        wait = ("POST", "/jobs/digest?wait=1&delay=3600000")
        for end in (self.vanish, lambda raw: raw.close(), lambda raw: raw.end_sending()):
            end(self.server.raw(tls=None).send(b"\x16\x03\x01"))
            end(self.server.raw())
            end(self.server.raw().send(b"GET /heal"))
            end(self.server.raw().head("POST", "/jobs/digest", Content_Length=2 * MIB).send(bytes(MIB)))
            waiting = self.server.raw().head(*wait, Content_Length=0)
            until(lambda: self.server.get("/stats").json["jobs_held"] > 0, "the job")
            end(waiting)
            until(lambda: self.server.get("/stats").json["jobs_held"] == 0, "the job to end")
        self.assert_nothing_is_left(before)

    def test_client_when_it_goes_during_a_reply_then_nothing_is_left(self):
        before = self.files_open_at_rest()
        job = self.server.accepted("/jobs/compress", os.urandom(8 * MIB))
        self.server.finished(job)
        for _ in range(3):
            raw = self.server.raw(receive_buffer=4096).head("GET", job + "/result")
            until(lambda: raw.unread() > 100_000, "the reply to stand still")  # noqa: B023
            self.vanish(raw)
        self.server.request("DELETE", job)
        self.assert_nothing_is_left(before)

    def test_server_when_it_ends_then_says_so_on_each_connection(self):
        raw = self.server.raw()
        raw.socket.suppress_ragged_eofs = False
        self.assertEqual(raw.head("GET", "/healthz").reply().status, 200)
        handshaking = self.server.raw(tls=None)
        self.server.signal()
        self.assertEqual(raw.socket.recv(1), b"")
        self.assertTrue(handshaking.is_closed())
        self.assertEqual(self.server.ended(), 0)

    def test_connection_when_the_client_asks_for_its_end_then_ended_as_tls_does(self):
        raw = self.server.raw()
        raw.socket.suppress_ragged_eofs = False
        self.assertEqual(raw.head("GET", "/healthz", Connection="close").reply().status, 200)
        self.assertEqual(raw.socket.recv(1), b"")


class Slow(TlsTest):
    MORE = ("--header-timeout", "300", "--max-connections", "16")

    def test_handshake_when_it_is_slow_then_the_connection_is_closed(self):
        silent = self.server.raw(tls=None)
        record_of_16_kib = bytes.fromhex("1603013fff")
        dripping = self.server.raw(tls=None).send(record_of_16_kib)
        until(dripping.dripped, "it to be closed")
        self.assertTrue(silent.is_closed())

    def test_request_when_all_connections_stand_in_their_handshake_then_served(self):
        self.held_open = [self.server.raw(tls=None) for _ in range(40)]
        self.assertEqual(self.server.get("/healthz").status, 200)
        self.assertEqual(self.server.post("/jobs/digest?wait=1").status, 200)


class Reload(TlsTest):
    MORE = ("--operator", "anonymous")

    def test_sighup_when_there_is_a_new_certificate_then_new_connections_get_it(self):
        old = self.server.raw()
        self.assertEqual(self.name_shown(old), "first")
        self.use(self.authority.identity("second"))
        self.assertIn("new connections get the certificate in " + self.used.certificate, self.reread())
        self.assertEqual(self.name_shown(self.server.raw()), "second")
        self.assertEqual(old.head("GET", "/healthz").reply().status, 200)
        body = os.urandom(MIB)
        old.head("POST", "/jobs/digest?wait=1", Content_Length=len(body)).send(body)
        self.assertEqual(old.reply().json["result"]["sha256"], hashlib.sha256(body).hexdigest())

    def test_metrics_then_until_when_the_certificate_of_new_connections_is_valid(self):
        series = re.compile(r"^heistd_tls_certificate_expiry_timestamp_seconds (\S+)$", re.MULTILINE)
        ends = []
        for days in (3, 9):
            self.use(self.authority.identity(f"for-{days}-days", days=days))
            self.reread()
            told = series.search(self.server.get("/metrics").body.decode()).group(1)
            ends.append(ssl.cert_time_to_seconds(self.server.raw().socket.getpeercert()["notAfter"]))
            self.assertEqual(float(told), ends[-1])
        self.assertGreater(ends[1], ends[0])

    def test_sighup_when_connections_come_meanwhile_then_each_is_served(self):
        statuses = []
        ask = lambda: statuses.extend(self.server.get("/healthz").status for _ in range(25))  # noqa: E731
        askers = [threading.Thread(target=ask) for _ in range(4)]
        for asker in askers:
            asker.start()
        while any(asker.is_alive() for asker in askers):
            self.reread()
        self.assertEqual(statuses, [200] * 100)

    def test_session_when_it_is_of_the_old_certificate_then_begun_anew(self):
        self.context.maximum_version = ssl.TLSVersion.TLSv1_2
        session = self.server.raw().socket.session
        self.assertTrue(self.resumes(session))
        self.use(self.authority.identity("second"))
        self.reread()
        self.assertFalse(self.resumes(session))

    def resumes(self, session):
        with socket.create_connection(("127.0.0.1", self.server.port)) as plain:
            with self.context.wrap_socket(plain, server_hostname="localhost", session=session) as client:
                return client.session_reused

    def test_sighup_when_a_file_is_wrong_then_says_so_and_the_old_certificate_goes_on(self):
        second = self.authority.identity("second")
        shutil.copy(second.certificate, self.used.certificate)
        for spoil, what in (
            (lambda: None, "this is not the key of the certificate in " + self.used.certificate),
            (lambda: self.spoil(self.used.certificate), "there is no certificate in PEM format"),
            (lambda: os.unlink(self.used.certificate), "No such file or directory"),
        ):
            with self.subTest(what=what):
                spoil()
                said = self.reread()
                self.assertIn(what, said)
                self.assertIn("certificate stay as they were", said)
                self.assertEqual(self.name_shown(self.server.raw()), "first")
        self.use(second)
        self.reread()
        self.assertEqual(self.name_shown(self.server.raw()), "second")

    def spoil(self, path):
        with open(path, "w") as file:
            file.write("no certificate")


class ConfigFile(TlsTest):
    def setUp(self):
        super().setUp()
        self.path = os.path.join(self.folder, "heistd.conf")
        self.write(self.used)
        self.server = self.start("--config", self.path, tls=self.context)

    def write(self, identity):
        with open(self.path, "w") as file:
            if identity:
                file.write(f'tls-certificate = "{identity.certificate}"\ntls-key = "{identity.key}"\n')

    def test_sighup_when_the_files_have_other_names_then_those_are_read(self):
        self.write(self.authority.identity("second"))
        self.assertNotIn("a new start is needed", self.reread())
        self.assertEqual(self.name_shown(self.server.raw()), "second")

    def test_sighup_when_there_is_to_be_no_tls_then_that_takes_a_new_start(self):
        self.write(None)
        self.assertIn("a new start is needed for --tls-certificate, --tls-key", self.reread())
        self.assertEqual(self.server.get("/healthz").status, 200)


class Start(TlsTest):
    def refused(self, *options, starter=(), descriptors=()):
        """What heistd says when it does not start with these options."""
        done = subprocess.run([*starter, heistd_server.HEISTD, "--port", "0", *options], text=True,
                              capture_output=True, timeout=PATIENCE, pass_fds=descriptors)  # fmt: skip
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def test_start_when_an_option_is_alone_then_names_the_other_one(self):
        self.assertIn("--tls-certificate requires --tls-key", self.refused(*self.first.options[:2]))
        self.assertIn("--tls-key requires --tls-certificate", self.refused(*self.first.options[2:]))

    def test_start_when_a_file_cannot_be_used_then_says_which_and_what_to_do(self):
        certificate, key = self.first.certificate, self.first.key
        other = self.authority.identity("other")
        locked = os.path.join(self.folder, "locked.key")
        certificates.openssl("pkey", "-in", key, "-aes256", "-passout", "pass:x", "-out", locked)
        empty = os.path.join(self.folder, "empty")
        open(empty, "w").close()
        for options, what in (
            ((certificate, other.key), "not the key of the certificate in " + certificate),
            ((certificate, "/nowhere"), "--tls-key: /nowhere: No such file or directory; name a file"),
            (("/nowhere", key), "--tls-certificate: /nowhere: No such file"),
            ((self.folder, key), "Is a directory"),
            ((empty, key), "the file is empty"),
            ((key, key), "there is no certificate in PEM format"),
            ((certificate, certificate), "there is no private key in PEM format"),
            ((certificate, locked), "the key has a passphrase"),
        ):
            with self.subTest(what=what):
                said = self.refused("--tls-certificate", options[0], "--tls-key", options[1])
                self.assertIn(what, said)
                self.assertEqual(said.count("\n"), 1, said)

    def test_start_when_the_socket_is_a_unix_socket_then_refused(self):
        path = os.path.join(self.folder, "socket")
        done = subprocess.run([heistd_server.HEISTD, "--unix-socket", path, *self.first.options],
                              capture_output=True, text=True, timeout=PATIENCE)  # fmt: skip
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("--unix-socket excludes --tls-certificate", done.stderr)
        with socket.socket(socket.AF_UNIX) as passed:
            passed.bind(path)
            passed.listen()
            said = self.refused(*self.first.options, starter=starter(passed), descriptors=(passed.fileno(),))
        self.assertIn("has passed a Unix socket", said)

    def test_start_when_the_manager_has_the_socket_then_it_speaks_tls(self):
        with socket.create_server(("127.0.0.1", 0)) as passed:
            server = self.start(*self.first.options, tls=self.context, starter=starter(passed),
                                descriptors=(passed.fileno(),))  # fmt: skip
            self.assertEqual(server.get("/healthz").status, 200)

    def test_start_when_the_certificate_is_valid_then_says_until_when(self):
        self.assertTrue(self.server.said(f"TLS with the certificate in {self.used.certificate}, valid until 20"))


if __name__ == "__main__":
    heistd_server.main()
