"""heistctl and servers with TLS, which have to prove their names (rule SEC-3)."""

import os

import certificates
import heistctl_case
from heistctl_case import HeistctlTest


class TlsTest(HeistctlTest):
    NAMES = certificates.NAMES

    def setUp(self):
        super().setUp()
        self.authority = certificates.Authority(self.folder)
        self.identity = self.authority.identity("server", self.NAMES)
        self.trusting = ("--ca", self.authority.certificate)
        self.server = self.start(*self.identity.options, tls=self.authority.context())

    @property
    def url(self):
        scheme = "https" if self.server.tls else "http"
        return f"{scheme}://127.0.0.1:{self.server.port}"


class Trusted(TlsTest):
    def test_server_when_its_authority_is_given_then_jobs_go_there_and_results_come_back(self):
        data = os.urandom(3_000_000)
        self.done("health", *self.trusting)
        self.done("submit", "compress", "--output", self.path("out"), *self.trusting, data=data)
        self.assertGreater(len(self.read("out")), 2_900_000)
        by_name = self.url.replace("127.0.0.1", "localhost")
        self.done("submit", "digest", "--wait", *self.trusting, data=data, server=by_name)

    def test_server_when_nobody_vouches_for_it_then_nothing_is_sent(self):
        other = certificates.Authority(self.folder, "other")
        for words in ((), ("--ca", other.certificate), ("--retry-for", "1h")):
            with self.subTest(words=words):
                what = "does not prove that it is the server of this name"
                self.failed(4, what, "submit", "digest", *words, data=b"secret")
        self.assertEqual(self.server.stats()["jobs_held"], 0)

    def test_ca_when_the_file_cannot_be_used_then_it_is_named(self):
        self.failed(5, "--ca /nowhere: ", "health", "--ca", "/nowhere")

    def test_server_when_asked_without_tls_then_says_how(self):
        plain = self.url.replace("https", "http")
        self.failed(3, "ask it by https://", "health", server=plain)
        self.failed(2, "--ca is for a server with https://", "health", *self.trusting, server=plain)

    def test_server_when_it_has_no_tls_then_it_cannot_be_reached(self):
        plain = self.start()
        server = f"https://127.0.0.1:{plain.port}"
        self.failed(4, "cannot reach " + server, "health", *self.trusting, server=server)


class OtherName(TlsTest):
    NAMES = "DNS:other.example"

    def test_server_when_its_certificate_has_another_name_then_nothing_is_sent(self):
        self.server.tls.check_hostname = False  # for our own questions
        self.failed(4, "no alternative certificate subject name matches", "submit", "digest", *self.trusting, data=b"secret")
        self.assertEqual(self.server.stats()["jobs_held"], 0)


if __name__ == "__main__":
    heistctl_case.main()
