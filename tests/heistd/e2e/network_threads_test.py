"""Several network threads, and clients that leave or are many while these are busy (rule SEC-2)."""

import os
import resource
import socket
import struct
import tempfile
import threading

import heistd_server
from heistd_server import MIB, ServerTest, until

THREADS = 3
# So many that each thread has some.
MANY = 4 * THREADS


def request(target, method="POST", body=b"", more=""):
    head = f"{method} {target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n{more}\r\n"
    return head.encode() + body


class NetworkThreads(ServerTest):
    OPTIONS = ("--network-threads", str(THREADS), "--operator", "anonymous")

    def assert_nothing_is_left(self):
        """Of clients that have gone: neither jobs nor places."""
        until(lambda: self.server.get("/stats").json["jobs_held"] == 0, "all jobs to end")
        for _ in range(MANY):
            self.assertEqual(self.server.post("/jobs/digest?wait=1").status, 200)

    def vanish(self, data):
        """Sends that, and resets the connection."""
        with socket.create_connection(("127.0.0.1", self.server.port)) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.sendall(data)


class Together(NetworkThreads):
    def test_requests_when_from_many_connections_then_each_gets_its_own_answer(self):
        bodies = [os.urandom(size) for size in (0, 1, 4096, 3 * MIB) for _ in range(MANY)]
        raws = [self.server.raw() for _ in bodies]
        sent = [threading.Thread(target=raw.send, args=(request("/jobs/compress?wait=1", body=body),))
                for raw, body in zip(raws, bodies)]  # fmt: skip
        for thread in sent:
            thread.start()
        self.assertEqual(self.server.get("/healthz").status, 200)
        replies = [raw.reply() for raw in raws]
        for thread in sent:
            thread.join()
        self.assertEqual([reply.status for reply in replies], [200] * len(bodies))
        jobs = [reply.headers["location"] for reply in replies]
        self.assertEqual([self.server.get(job).json["bytes"] for job in jobs], [len(body) for body in bodies])

    def test_job_when_another_connection_ends_it_then_all_who_wait_are_answered(self):
        job = self.server.accepted("/jobs/digest?delay=3600000")
        waiting = [self.server.raw().head("GET", job + "?wait=1") for _ in range(MANY)]
        raws = [self.server.raw() for _ in range(MANY)]
        self.assertEqual(raws[0].head("DELETE", job).reply().status, 200)
        self.assertEqual({raw.reply().json["state"] for raw in waiting}, {"aborted"})

    def test_connections_when_too_many_then_those_of_all_threads_make_room(self):
        server = self.start(*self.OPTIONS, "--max-connections", "8")
        first = [server.raw() for _ in range(8)]
        second = [server.raw() for _ in range(8)]
        self.assertTrue(all(raw.is_closed() for raw in first))
        self.assertEqual(second[-1].head("GET", "/healthz").reply().status, 200)


class Vanishing(NetworkThreads):
    def test_client_when_it_leaves_at_any_byte_then_nothing_is_left_of_it(self):
        whole = request("/jobs/digest?wait=1&delay=60000", body=b"x" * 20)
        for end in range(0, len(whole) + 1):
            self.vanish(whole[:end])
        self.assert_nothing_is_left()

    def test_client_when_it_leaves_while_the_server_works_for_it_then_nothing_is_left(self):
        large = request("/jobs/compress?wait=1", body=os.urandom(2 * MIB))
        targets = ["/events", "/jobs?limit=100", "/debug/trace?duration=60000", "/stats", "/metrics"]
        for _ in range(MANY):
            self.vanish(large)
            self.vanish(large[:MIB])
            self.vanish(request("/jobs/search?pattern=a[ab]{20}c&wait=1", body=b"ab" * 1000))
            for target in targets:
                self.vanish(request(target, method="GET"))
        self.assert_nothing_is_left()
        self.assertEqual(self.server.get("/debug/trace?duration=1").status, 200)


class Ending(NetworkThreads):
    def test_drain_when_connections_of_all_threads_are_busy_then_all_are_answered(self):
        waiting = [self.server.raw().send(request("/jobs/digest?wait=1&delay=60000")) for _ in range(MANY)]
        listening = [self.server.raw().send(request("/events", "GET")) for _ in range(THREADS)]
        idle = [self.server.raw() for _ in range(MANY)]
        until(lambda: self.server.get("/stats").json["jobs_held"] == MANY, "all jobs to be there")
        self.server.signal()
        self.assertEqual({raw.reply().status for raw in waiting}, {503})
        for raw in listening:
            raw.reply(has_body=False)
            while raw._more():
                pass
            self.assertIn(b"event: end", raw.received)
        self.assertTrue(all(raw.is_closed() for raw in idle))
        self.assertEqual(self.server.ended(), 0)

    def test_end_when_clients_do_not_read_or_go_on_then_it_is_not_held_up(self):
        with tempfile.TemporaryDirectory() as data:
            server = self.start(*self.OPTIONS, "--data", data)
            job = server.post("/jobs/compress?wait=1", os.urandom(8 * MIB)).headers["location"]
            for _ in range(MANY):
                server.raw(receive_buffer=4096).send(request(job + "/result", "GET"))
                server.raw().send(request("/jobs/compress", body=os.urandom(MIB))[: MIB // 2])
            server.signal()
            self.assertEqual(server.ended(), 0)


class FewFiles(ServerTest):
    def test_connections_when_no_more_files_can_be_opened_then_served_as_others_end(self):
        def few():
            resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))

        server = self.start("--network-threads", str(THREADS), preexec=few)
        self.assertTrue(server.said("leaves room for"), server.lines)
        for _ in range(3):
            raws = [server.raw() for _ in range(150)]
            self.assertEqual(raws[-1].head("GET", "/healthz").reply().status, 200)
            for raw in raws:
                raw.close()
        self.assertEqual(server.post("/jobs/digest?wait=1").status, 200)


if __name__ == "__main__":
    heistd_server.main()
