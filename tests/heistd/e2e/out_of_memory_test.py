"""Without memory whoever waits is answered, who wants more is refused, and with memory all goes on."""

import hashlib
import os
import resource
import shutil
import tempfile
import unittest

import heistd_server
from heistd_server import MIB, ServerTest, until

WAITS = 40
# So that no thread keeps address space to itself, which would be enough.
ONE_HEAP = {"MALLOC_ARENA_MAX": "1"}


@unittest.skipIf(os.environ.get("HEIST_SANITIZE"), "a sanitizer ends a program without memory")
class OutOfMemory(ServerTest):
    OPTIONS = ("--client", "waiter:token:user-blocking")

    def setUp(self):
        # The one network thread has the main heap anyway.
        several = os.environ.get("HEIST_NETWORK_THREADS")
        self.server = self.start(*self.OPTIONS, environment=ONE_HEAP if several else {})
        for kind in ("digest", "compress", "search?pattern=a"):
            self.server.post(kind_with(kind, "wait=1"))  # what is made once is there

    def leave_memory(self, amount):
        leave_memory(self.server, amount)

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


@unittest.skipIf(os.environ.get("HEIST_SANITIZE"), "a sanitizer ends a program without memory")
class KeptWithoutMemory(ServerTest):
    """With a journal: what is accepted is done, as soon as memory is free, and of that there must come to be some."""

    def setUp(self):
        pass  # each test starts its own server

    def begin(self, environment=None):
        data = tempfile.mkdtemp(prefix="heistd-data-")
        self.addCleanup(shutil.rmtree, data)
        self.server = self.start("--data", data, environment=environment)
        self.server.post("/jobs/digest?wait=1")

    def read(self, path):
        """Asks again where the uploads that are being read left no memory for the reply."""
        return until(lambda: (reply := self.server.get(path)).status == 200 and reply, "memory").json

    def test_jobs_when_their_uploads_do_not_fit_together_then_one_after_the_other_is_done(self):
        self.begin()
        uploads = [os.urandom(16 * MIB) for _ in range(10)]
        jobs = [self.server.accepted("/jobs/digest?delay=3000", upload) for upload in uploads]
        leave_memory(self.server, 20 * MIB)
        for job, upload in zip(jobs, uploads):
            until(lambda: self.read(job)["state"] in ("done", "failed"), f"{job} to finish")
            done = self.read(job)
            # One for which an agent found no memory has failed.
            if done["state"] == "done":
                result = self.read(f"{job}/result")
                self.assertEqual(result["sha256"], hashlib.sha256(upload).hexdigest())
            else:
                self.assertEqual(done["error"]["code"], "out_of_memory")

    def test_jobs_when_old_results_have_taken_all_memory_then_these_make_room(self):
        self.begin(ONE_HEAP)
        leave_memory(self.server, 40 * MIB)
        upload = os.urandom(MIB)
        first = self.server.accepted("/jobs/compress", upload)
        for _ in range(60):
            until(lambda: self.server.post("/jobs/compress?wait=30s", upload).status == 200, "memory")
        until(lambda: self.server.get(f"{first}/result").status == 200, "memory for the journal's result")


def leave_memory(server, amount):
    """From now on the server may take so much more."""
    with open(f"/proc/{server.process.pid}/statm") as sizes:
        taken = int(sizes.read().split()[0]) * resource.getpagesize()
    resource.prlimit(server.process.pid, resource.RLIMIT_AS, (taken + amount, resource.RLIM_INFINITY))


def kind_with(kind, query):
    return f"/jobs/{kind}{'&' if '?' in kind else '?'}{query}"


if __name__ == "__main__":
    heistd_server.main()
