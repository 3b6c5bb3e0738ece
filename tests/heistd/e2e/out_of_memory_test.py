"""Without memory whoever waits is answered, who wants more is refused, and with memory all goes on."""

import os
import resource
import unittest

import heistd_server
from heistd_server import MIB, ServerTest, until

WAITS = 40


@unittest.skipIf(os.environ.get("HEIST_SANITIZE"), "a sanitizer ends a program without memory")
class OutOfMemory(ServerTest):
    OPTIONS = ("--client", "waiter:token:user-blocking")

    def setUp(self):
        super().setUp()
        for kind in ("digest", "compress", "search?pattern=a"):
            self.server.post(kind_with(kind, "wait=1"))  # what is made once is there

    def leave_memory(self, amount):
        pid = self.server.process.pid
        with open(f"/proc/{pid}/statm") as sizes:
            taken = int(sizes.read().split()[0]) * resource.getpagesize()
        resource.prlimit(pid, resource.RLIMIT_AS, (taken + amount, resource.RLIM_INFINITY))

    def wait_for(self, kind):
        raw = self.server.raw()
        raw.head("POST", kind_with(kind, "wait=1&delay=2500"), Authorization="Bearer token", Content_Length=5)
        return raw.send(b"bytes")

    def use_up_memory(self):
        """Keeps uploads there, of which the last byte never comes."""
        for size in [16 * MIB] * 3 + [MIB] * 4 + [MIB // 8] * 12 + [20000] * 8 + [1000] * 8:
            raw = self.server.raw()
            raw.socket.settimeout(0.05)
            try:
                raw.head("POST", "/jobs/digest?delay=3600000", Content_Length=size).send(bytes(size - 1))
            except OSError:  # it takes no more
                pass

    def assert_takes_no_upload(self):
        raw = self.server.raw().head("POST", "/jobs/digest", Content_Length=16 * MIB)
        self.assert_refused(raw.send(bytes(16 * MIB)).reply(), 503, "out_of_memory")

    def test_waits_when_memory_runs_out_then_each_is_answered(self):
        kinds = ("digest", "compress", "search?pattern=a", "digest?signal=s")
        waiting = [self.wait_for(kind) for kind in kinds * (WAITS // len(kinds))]
        until(lambda: self.delayed() == WAITS, "all jobs")
        self.leave_memory(30 * MIB)
        self.use_up_memory()
        self.assert_takes_no_upload()
        self.assertEqual(self.server.get("/healthz").status, 200)
        for raw in waiting:
            reply = raw.reply()
            self.assertIn(reply.status, (200, 503))
            if reply.status == 503:
                self.assertEqual(reply.error, "out_of_memory")

    def delayed(self):
        stats = self.server.get("/stats", headers={"Authorization": "Bearer token"}).json
        return sum(level["delayed"] for level in stats["levels"])

    def test_server_when_memory_was_gone_and_is_back_then_it_takes_connections_and_jobs(self):
        self.leave_memory(4 * MIB)
        self.use_up_memory()
        for _ in range(60):
            self.server.raw().send(b"GET /healthz HTTP/1.1\r\nHo")
        self.assertEqual(self.server.get("/healthz").status, 200)
        for raw in self.server.raws:
            raw.close()
        until(lambda: self.server.post("/jobs/digest?wait=1").status == 200, "memory")

    def test_upload_when_there_is_no_memory_for_it_then_503(self):
        self.leave_memory(6 * MIB)
        self.assert_takes_no_upload()


def kind_with(kind, query):
    return f"/jobs/{kind}{'&' if '?' in kind else '?'}{query}"


if __name__ == "__main__":
    heistd_server.main()
