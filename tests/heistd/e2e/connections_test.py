"""Connections that are idle, slow or many, and that nobody is locked out by them."""

import os

import heistd_server
from heistd_server import MIB, ServerTest, until

TOKEN = {"Authorization": "Bearer secret"}
CLIENT = ("--client", "alice:secret:user-blocking")


class ConnectionsTest(ServerTest):
    def assert_all_are_served(self):
        """Those that ask for health, that have a token, and that have none."""
        self.assertEqual(self.server.get("/healthz").status, 200)
        self.assertEqual(self.server.get("/stats", headers=TOKEN).status, 200)
        self.assertEqual(self.server.get("/stats").status, 200)

    def assert_known_clients_are_served(self):
        self.assertEqual(self.server.get("/healthz").status, 200)
        self.assertEqual(self.server.get("/stats", headers=TOKEN).status, 200)
        self.assertEqual(self.server.post("/jobs/digest?wait=1", headers=TOKEN).status, 200)

    def held(self, headers=None):
        return self.server.get("/stats", headers=headers).json["jobs_held"]


class Idle(ConnectionsTest):
    OPTIONS = (*CLIENT, "--header-timeout", "600000", "--idle-timeout", "600000")
    MANY = 300  # the server has 256

    def test_request_when_all_connections_are_idle_then_served(self):
        self.held_open = [self.server.raw() for _ in range(self.MANY)]
        self.assert_all_are_served()

    def test_request_when_all_connections_send_half_a_header_then_served(self):
        half = b"POST /jobs/digest HTTP/1.1\r\nHost: localhost\r\n"
        self.held_open = [self.server.raw().send(half) for _ in range(self.MANY)]
        self.assert_all_are_served()

    def test_request_when_all_connections_were_refused_and_stay_then_served(self):
        for _ in range(self.MANY):
            self.assertEqual(self.server.raw().head("GET", "/", Host="elsewhere").reply().status, 421)
        self.assert_all_are_served()

    def test_connection_when_it_makes_room_then_closed_in_silence_and_the_oldest_first(self):
        first, second = self.server.raw(), self.server.raw()
        second.head("GET", "/stats", **TOKEN)
        self.assertEqual(second.reply().status, 200)
        self.held_open = [self.server.raw() for _ in range(self.MANY)]
        self.assertTrue(first.is_closed())
        self.assertEqual(second.head("GET", "/healthz").reply().status, 200)


class Busy(ConnectionsTest):
    # Of 16: 14 requests at a time, 12 of one client, of which 8 wait.
    OPTIONS = (*CLIENT, "--max-connections", "16", "--min-rate", "1")

    def test_waits_when_too_many_then_503_and_others_are_served(self):
        target = "/jobs/digest?wait=1&delay=3600000"
        waiting = [self.server.raw().head("POST", target, Content_Length=0) for _ in range(8)]
        until(lambda: self.held() == 8, "the jobs")
        self.assert_refused(self.server.post(target), 503, "too_many_waits")
        self.assert_all_are_served()
        self.assertEqual(self.server.post("/jobs/digest").status, 202)
        waiting[0].close()
        until(lambda: self.server.post("/jobs/digest?wait=1").status == 200, "a wait to end")

    def begin_uploads(self, **headers):
        """As many as one client may have; the server has begun to receive each of them."""
        expecting = {"Content_Length": 9, "Expect": "100-continue", **headers}
        uploads = [self.server.raw().head("POST", "/jobs/digest", **expecting) for _ in range(12)]
        self.assertEqual({upload.reply().status for upload in uploads}, {100})
        return uploads

    def test_requests_when_too_many_of_no_token_then_503_and_others_are_served(self):
        uploads = self.begin_uploads()
        self.assertEqual(self.server.get("/stats").status, 503)
        self.assert_refused(self.server.post("/jobs/digest"), 503, "too_many_connections")
        self.assert_known_clients_are_served()
        # However many come and stay:
        self.held_open = [self.server.raw() for _ in range(30)]
        self.assert_known_clients_are_served()
        self.assertEqual(uploads[0].send(b"123456789").reply().status, 202)
        self.assertEqual(self.server.get("/stats").status, 200)

    def test_requests_when_too_many_of_one_token_then_503_and_others_are_served(self):
        uploads = self.begin_uploads(**TOKEN)
        self.assertEqual(self.server.get("/stats", headers=TOKEN).status, 503)
        self.assertEqual(self.server.get("/healthz").status, 200)
        self.assertEqual(self.server.post("/jobs/digest?wait=1").status, 200)
        uploads[0].close()
        until(lambda: self.server.get("/stats", headers=TOKEN).status == 200, "one to be gone")


class Addresses(ConnectionsTest):
    # Of 16: 4 of one remote address without a token; loopback has many addresses.
    OPTIONS = (*CLIENT, "--limit-loopback", "--max-connections", "16", "--min-rate", "1")
    MOST = 4
    ONE, OTHER = "127.0.0.2", "127.0.0.3"

    def test_requests_when_too_many_of_one_address_then_503_and_others_are_served(self):
        uploads = [
            self.server.raw(source=self.ONE).head("POST", "/jobs/digest", Content_Length=9)
            for _ in range(self.MOST)
        ]
        until(lambda: self.held() == self.MOST, "the uploads to begin")
        refused = self.server.get("/stats", source=self.ONE)
        self.assert_refused(refused, 503, "too_many_connections")
        for source in (self.OTHER, None):
            self.assertEqual(self.server.get("/stats", source=source).status, 200)
            self.assertEqual(self.server.post("/jobs/digest?wait=1", source=source).status, 200)
        # Also from there: who shows a token, or asks for health.
        self.assertEqual(self.server.get("/stats", headers=TOKEN, source=self.ONE).status, 200)
        self.assertEqual(self.server.get("/healthz", source=self.ONE).status, 200)
        self.assertEqual(uploads[0].send(b"123456789").reply().status, 202)
        self.assertEqual(self.server.get("/stats", source=self.ONE).status, 200)

    def test_connections_when_too_many_of_one_address_then_its_oldest_idle_one_makes_room(self):
        other = self.server.raw(source=self.OTHER)
        known = self.server.raw(source=self.ONE).head("GET", "/stats", **TOKEN)
        self.assertEqual(known.reply().status, 200)
        ones = [self.server.raw(source=self.ONE) for _ in range(self.MOST + 2)]
        for one in ones[:2]:
            self.assertTrue(one.is_closed())
        for left in (other, known, *ones[2:]):
            self.assertEqual(left.head("GET", "/healthz").reply().status, 200)

    def test_loopback_when_not_told_otherwise_then_it_has_no_such_limit(self):
        server = self.start("--max-connections", "16", "--min-rate", "1")
        for _ in range(2 * self.MOST):
            server.raw(source=self.ONE).head("POST", "/jobs/digest", Content_Length=9)
        until(lambda: server.stats()["jobs_held"] == 2 * self.MOST, "the uploads to begin")


class Uploads(ConnectionsTest):
    OPTIONS = (
        *("--max-body", "1MB", "--max-queued-bytes", "8MB", "--max-unsent-bytes", "1MB"),
        *("--idle-timeout", "1500", "--min-rate", "1MB"),
    )

    def test_upload_when_slower_than_the_minimum_then_408(self):
        raw = self.server.raw().head("POST", "/jobs/digest", Content_Length=MIB)
        until(raw.dripped, "the end of its patience")
        self.assert_refused(raw.reply(), 408, "timeout")
        until(lambda: self.held() == 0, "the upload to be given up")

    def test_upload_when_too_much_is_announced_and_unsent_then_503_until_it_comes(self):
        raw = self.server.raw().head("POST", "/jobs/digest", Content_Length=MIB)
        until(lambda: self.held() == 1, "the upload to begin")
        large = self.server.raw().head("POST", "/jobs/digest", Content_Length=MIB)
        self.assert_refused(large.reply(), 503, "too_much_unsent")
        self.assertEqual(self.server.post("/jobs/digest", b"small").status, 202)
        raw.send(MIB * b"x")
        self.assertEqual(raw.reply().status, 202)
        self.assertEqual(self.server.post("/jobs/digest", MIB * b"x").status, 202)


class LongUpload(ConnectionsTest):
    OPTIONS = ("--body-timeout", "1000", "--min-rate", "1")

    def test_upload_when_it_takes_too_long_in_all_then_408(self):
        raw = self.server.raw().head("POST", "/jobs/digest", Content_Length=MIB)
        until(raw.dripped, "the end of its time")
        self.assert_refused(raw.reply(), 408, "timeout")


class Readers(ConnectionsTest):
    OPTIONS = ("--idle-timeout", "3000")
    SIZE = 8 * MIB

    def result(self):
        """The path of a result of some SIZE."""
        path = self.server.accepted("/jobs/compress", os.urandom(self.SIZE))
        self.assertEqual(self.server.finished(path)["state"], "done")
        return path + "/result"

    def test_reader_when_slow_but_steady_then_gets_it_all(self):
        raw = self.server.raw(receive_buffer=65536).head("GET", self.result(), Connection="close")
        pause = heistd_server.threading.Event()
        received = 0
        while data := raw.socket.recv(32768):
            received += len(data)
            if received < 2 * MIB:  # for longer than twice the idle timeout
                pause.wait(len(data) / 250_000)
        self.assertGreater(received, self.SIZE)

    def test_reader_when_the_servers_buffer_takes_it_longer_than_the_idle_timeout_then_it_lives(self):
        raw = self.server.raw(receive_buffer=4096).head("GET", self.result())
        pause = heistd_server.threading.Event()
        for _ in range(70):
            self.assertGreater(len(raw.socket.recv(500)), 0)
            pause.wait(0.1)

    def test_reply_when_nobody_reads_it_then_the_system_holds_little_of_it(self):
        raw = self.server.raw(receive_buffer=65536).head("GET", self.result())
        until(raw.unread, "the reply")
        sizes = [raw.unread()]
        while len(sizes) < 2 or sizes[-1] > sizes[-2]:
            heistd_server.threading.Event().wait(0.3)
            sizes.append(raw.unread())
        self.assertLess(sizes[-1], MIB)


class UnreadReplies(ConnectionsTest):
    OPTIONS = ("--max-body", "1MB", "--max-queued-bytes", "4MB")

    def test_results_when_too_many_are_not_read_then_503_until_one_is(self):
        jobs = []
        for _ in range(4):
            jobs.append(self.server.accepted("/jobs/compress", os.urandom(MIB)))
            until(lambda: self.held() == 0, "the job's end")
        raws = []
        for job in jobs[:3]:
            raws.append(self.server.raw(receive_buffer=4096).head("GET", job + "/result"))
            until(raws[-1].unread, "the reply to begin")
        last = jobs[3] + "/result"
        self.assert_refused(self.server.get(last), 503, "too_much_unread")
        self.assertEqual(self.server.get(jobs[0] + "/result").status, 200)
        self.assertEqual(raws[0].reply().status, 200)
        until(lambda: self.server.get(last).status == 200, "room for another one")


class Wires(ConnectionsTest):
    def test_wait_when_the_peer_may_be_gone_without_a_word_then_it_is_asked_now_and_then(self):
        raw = self.server.raw().head("POST", "/jobs/digest?wait=1&delay=3600000", Content_Length=0)
        until(lambda: self.held() == 1, "the job")
        timer = raw.kernel_state()[5].split(":")[0]
        self.assertEqual(timer, "02")  # keepalive

    def test_requests_when_many_are_piled_up_unread_then_others_are_served(self):
        raw = self.server.raw(receive_buffer=4096)
        raw.socket.settimeout(0.3)
        try:
            for _ in range(1000):
                raw.send(b"GET /stats HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1000)
        except TimeoutError:
            pass  # the server reads no more
        else:
            self.fail("the server took 40 MB of requests whose replies nobody reads")
        self.assertEqual(self.server.get("/healthz").status, 200)


if __name__ == "__main__":
    heistd_server.main()
