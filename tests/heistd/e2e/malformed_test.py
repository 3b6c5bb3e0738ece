"""Requests that are wrong, cut short, slow or piled up."""

import re

import heistd_server
from heistd_server import MIB, ServerTest, until


class Malformed(ServerTest):
    def refused(self, data, status, code, field=None):
        """Sends bytes; the connection must be answered so and closed."""
        raw = self.server.raw().send(data)
        self.assert_refused(raw.reply(), status, code, field)
        self.assertTrue(raw.is_closed())
        raw.close()

    def test_request_when_malformed_then_400_names_what(self):
        for data, field in (
            (b"GET/ HTTP/1.1\r\nHost: localhost\r\n\r\n", "method"),
            (b"G\x01T / HTTP/1.1\r\nHost: localhost\r\n\r\n", "method"),
            (b"GET /a\x01b HTTP/1.1\r\nHost: localhost\r\n\r\n", "target"),
            (b"GET / HTTP/x.1\r\nHost: localhost\r\n\r\n", "version"),
            (b"GET / FTP/1.1\r\nHost: localhost\r\n\r\n", "version"),
            (b"GET / HTTP/1.1\r\nHo st: x\r\n\r\n", "header"),
            (b"GET / HTTP/1.1\r\nHost: localhost\r\nno colon\r\n\r\n", "header"),
            (b"POST /jobs/digest HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n", "Content-Length"),
            (b"POST /jobs/digest HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", "Content-Length"),
            (
                b"POST /jobs/digest HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
                "Content-Length",
            ),
            (
                b"POST /jobs/digest HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n"
                b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                "Transfer-Encoding",
            ),
            (
                b"POST /jobs/digest HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                "body",
            ),
            (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 a TLS hello\r\n\r\n", "method"),
        ):
            with self.subTest(data=data):
                self.refused(data, 400, "malformed_request", field)

    def test_request_when_host_missing_or_twice_then_400(self):
        self.refused(b"GET /healthz HTTP/1.1\r\n\r\n", 400, "malformed_request", "Host")
        self.refused(
            b"GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, "malformed_request", "Host"
        )

    def test_request_when_transfer_encoding_unknown_then_501(self):
        head = b"POST /jobs/digest HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
        for encoding in (b"gzip", b"gzip, chunked", b"identity"):
            self.refused(
                head + encoding + b"\r\n\r\n", 501, "unsupported_encoding", "Transfer-Encoding"
            )

    def test_request_when_expectation_unknown_then_417(self):
        self.refused(
            b"POST /jobs/digest HTTP/1.1\r\nHost: localhost\r\nExpect: tea\r\nContent-Length: 1\r\n\r\nx",
            417,
            "expectation_failed",
            "Expect",
        )

    def test_request_when_version_unknown_then_refused(self):
        for version in (b"0.9", b"1.2", b"2.0"):
            request = b"GET /healthz HTTP/" + version + b"\r\nHost: localhost\r\n\r\n"
            self.refused(request, 400, "malformed_request", "version")

    def test_query_when_a_parameter_is_empty_then_as_if_it_was_not_there(self):
        for target in ("/healthz?", "/stats?&"):
            self.assertEqual(self.server.get(target).status, 200)

    def test_request_when_cut_short_then_400_and_no_job(self):
        for data in (
            b"GET /healthz HTT",
            b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n",
            b"POST /jobs/digest HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc",
            b"POST /jobs/digest HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        ):
            with self.subTest(data=data):
                raw = self.server.raw().send(data).end_sending()
                self.assert_refused(raw.reply(), 400, "truncated_request")
                self.assertTrue(raw.is_closed())
        until(lambda: self.server.stats()["jobs_held"] == 0, "the uploads to be given up")

    def test_connection_when_nothing_is_sent_then_closed_in_silence(self):
        self.assertTrue(self.server.raw().end_sending().is_closed())

    def test_path_when_unknown_then_404(self):
        for path in ("/page.html", "/jobs/other", "/favicon.ico", "/jobs/" + 32 * "0", "/kinds/digest"):
            self.assert_refused(self.server.get(path), 404, "not_found")

    def test_target_when_wrong_then_400(self):
        for target in ("/jobs/digest?delay=%zz", "*"):
            self.assert_refused(self.server.get(target), 400, "bad_target")

    def test_method_when_wrong_then_405_with_allow(self):
        for method, path, allow in (
            ("GET", "/jobs/digest", "POST"),
            ("POST", "/jobs/" + 32 * "0", "GET, HEAD, PUT, DELETE"),
            ("POST", "/signals/x", "PUT, DELETE"),
            ("PATCH", "/stats", "GET, HEAD"),
            ("BREW", "/healthz", "GET, HEAD"),
        ):
            reply = self.server.request(method, path)
            self.assert_refused(reply, 405, "method_not_allowed")
            self.assertEqual(reply.headers["allow"], allow)

    def test_query_when_wrong_then_400_names_the_parameter(self):
        for query, field in (
            ("priority=urgent", "priority"),
            ("priority=background&priority=background", "priority"),
            ("delay=soon", "delay"),
            ("delay=-1", "delay"),
            ("delay=99999999999999999999", "delay"),
            ("wait=maybe", "wait"),
            ("signal=", "signal"),
            ("signal=a%2Fb", "signal"),
            ("colour=red", "colour"),
            ("%FF=1", "\ufffd"),
        ):
            with self.subTest(query=query):
                self.assert_refused(
                    self.server.post("/jobs/digest?" + query), 400, "bad_parameter", field
                )

    def test_head_when_refused_then_no_body(self):
        raw = self.server.raw().send(b"HEAD /nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        self.assertEqual(raw.reply(has_body=False).status, 404)
        self.assertTrue(raw.is_closed())

    def test_http_1_0_when_asked_then_answered_and_closed(self):
        raw = self.server.raw().send(b"GET /healthz HTTP/1.0\r\n\r\n")
        self.assertEqual(raw.reply().status, 200)
        self.assertTrue(raw.is_closed())


class Pipelining(ServerTest):
    def test_requests_when_sent_at_once_then_answered_in_order(self):
        request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        post = b"POST /jobs/digest?wait=1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s"
        raw = self.server.raw()
        raw.send(request + post % (3, b"abc") + b"GET /no HTTP/1.1\r\nHost: localhost\r\n\r\n" + request)
        self.assertEqual([raw.reply().status for _ in range(4)], [200, 200, 404, 200])

    def test_requests_when_read_ahead_while_waiting_then_not_lost(self):
        post = b"POST /jobs/digest?wait=1&delay=100 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50000\r\n\r\n"
        raw = self.server.raw()
        raw.send((post + 50000 * b"x") * 5)
        replies = [raw.reply() for _ in range(5)]
        self.assertEqual([reply.status for reply in replies], [200] * 5)
        self.assertEqual(len({reply.json["result"]["sha256"] for reply in replies}), 1)

    def test_request_after_a_refusal_then_served(self):
        raw = self.server.raw()
        raw.send(b"GET /no HTTP/1.1\r\nHost: localhost\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertEqual([raw.reply().status for _ in range(2)], [404, 200])

    def test_continue_when_expected_then_sent_first(self):
        raw = self.server.raw()
        raw.send(
            b"POST /jobs/digest?wait=1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n"
            b"Expect: 100-continue\r\n\r\n"
        )
        self.assertEqual(raw.reply().status, 100)
        self.assertEqual(raw.send(b"abc").reply().status, 200)

    def test_continue_when_body_would_be_refused_then_not_sent(self):
        raw = self.server.raw()
        raw.send(
            b"POST /jobs/digest?priority=no HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n"
            b"Expect: 100-continue\r\n\r\n"
        )
        self.assert_refused(raw.reply(), 400, "bad_parameter", "priority")


class Slow(ServerTest):
    OPTIONS = ("--header-timeout", "500", "--idle-timeout", "1500")

    def test_header_when_slow_then_408(self):
        raw = self.server.raw().send(b"GET /healthz HTTP/1.1\r\nHost:")
        self.assert_refused(raw.reply(), 408, "timeout")
        self.assertTrue(raw.is_closed())

    def test_header_when_dripping_then_408_all_the_same(self):
        raw = self.server.raw()
        until(raw.dripped, "the reply to a header that never ends")
        self.assert_refused(raw.reply(), 408, "timeout")

    def test_body_when_it_stops_then_408_and_the_upload_is_given_up(self):
        raw = self.server.raw().send(
            b"POST /jobs/digest HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nabc"
        )
        self.assert_refused(raw.reply(), 408, "timeout")
        until(lambda: self.server.stats()["jobs_held"] == 0, "the upload to be given up")

    def test_connection_when_idle_then_closed_in_silence(self):
        raw = self.server.raw().send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertEqual(raw.reply().status, 200)
        self.assertTrue(raw.is_closed())

    def test_wait_when_longer_than_every_timeout_then_answered(self):
        self.assertEqual(self.server.post("/jobs/digest?wait=1&delay=2000").status, 200)

    def test_reply_when_nobody_reads_it_then_the_connection_is_given_up(self):
        noise = heistd_server.os.urandom(12 * MIB)
        path = self.server.accepted("/jobs/compress", noise)
        self.server.finished(path)
        raw = self.server.raw()
        raw.send(b"GET %s/result HTTP/1.1\r\nHost: localhost\r\n\r\n" % path.encode() * 3)
        # Nothing is read before the server has closed; then what was sent ends too early.
        poll = heistd_server.select.poll()
        poll.register(raw.socket, heistd_server.select.POLLRDHUP)
        self.assertTrue(poll.poll(heistd_server.PATIENCE * 1000))


class Disconnect(ServerTest):
    def waiting(self, target="/jobs/digest?wait=1&delay=3600000", body=b"abc"):
        raw = self.server.raw()
        raw.send(
            b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % (target.encode(), len(body))
        )
        raw.send(body)
        # An upload counts as held before all of it is read, and there is no job yet.
        until(lambda: any(level["depth"] + level["delayed"] for level in self.server.stats()["levels"]), "the job")
        return raw

    def aborted(self):
        return self.server.level("user-visible")["aborted"] == 1

    def test_disconnect_when_waiting_then_the_job_is_aborted(self):
        self.waiting().close()
        until(self.aborted, "the abort")
        until(lambda: self.server.stats()["jobs_held"] == 0, "its memory to go")

    def test_disconnect_when_running_then_the_job_is_aborted(self):
        text = heistd_server.costly_text(8 * MIB)
        raw = self.waiting(f"/jobs/search?wait=1&pattern={heistd_server.COSTLY}", text)
        until(lambda: self.server.level("user-visible")["running"] == 1, "the job to run")
        raw.close()
        until(self.aborted, "the abort")

    def test_disconnect_when_requests_were_read_ahead_then_the_job_is_aborted(self):
        raw = self.waiting()
        raw.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        raw.close()
        until(self.aborted, "the abort")

    def test_disconnect_when_more_was_sent_than_is_read_ahead_then_the_job_is_aborted(self):
        raw = self.waiting()
        raw.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" * 4000)
        raw.close()
        until(self.aborted, "the abort")

    def test_disconnect_when_not_waiting_then_the_job_goes_on(self):
        raw = self.server.raw()
        raw.send(b"POST /jobs/digest HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc")
        path = raw.reply().headers["location"]
        self.assertTrue(re.fullmatch("/jobs/[0-9a-f]{32}", path))
        raw.close()
        self.assertEqual(self.server.finished(path)["state"], "done")


if __name__ == "__main__":
    heistd_server.main()
