"""heistctl when the server is busy, gone, elsewhere, or does not know the client."""

import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading

import heistctl_case
from heistctl_case import HeistctlTest
from heistd_server import MIB, PATIENCE, until


class CuttingProxy:
    """Hands requests on to a server, and closes each of the first connections after so many bytes of the reply."""

    def __init__(self, port, cuts, after=0):
        self.port = port
        self.cuts = cuts
        self.after = after
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.hand_both_ways, args=(client,), daemon=True).start()

    def hand_both_ways(self, client):
        with client, socket.create_connection(("127.0.0.1", self.port)) as server:
            back = threading.Thread(target=self.hand_back, args=(server, client))
            back.start()
            self.hand_on(client, server)
            back.join()

    def hand_on(self, client, server):
        try:
            while data := client.recv(65536):
                self.note(data)
                server.sendall(data)
            server.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # the reply has been cut

    def note(self, data):
        """A request is handed on."""

    def hand_back(self, server, client):
        count = 0
        try:
            while data := server.recv(65536):
                count += len(data)
                if self.cuts and count > self.after:
                    self.cuts -= 1
                    client.shutdown(socket.SHUT_RDWR)
                    return
                client.sendall(data)
        except OSError:
            pass  # the client has gone

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


class RemovalCutter(CuttingProxy):
    """Hands requests on, and closes the connection instead of the reply to the first DELETE."""

    def __init__(self, port):
        self.removals = 0
        super().__init__(port, 0)

    def note(self, data):
        if data.startswith(b"DELETE"):
            self.removals += 1
            self.cuts = 1 if self.removals == 1 else 0


class Connections(HeistctlTest):
    OPTIONS = ("--client", "alice:secret:user-blocking")

    def cut(self, cuts=1, after=0):
        proxy = CuttingProxy(self.server.port, cuts, after)
        self.addCleanup(proxy.close)
        return proxy.url

    def test_request_when_the_connection_is_lost_then_it_is_made_again(self):
        job = self.waiting_job()
        ended = self.done("show", job, server=self.cut())
        self.assertIn("Trying again", ended.errors)

    def test_result_when_it_is_lost_in_the_middle_then_a_file_has_it_from_the_beginning(self):
        job = self.submitted("compress", data=os.urandom(3 * MIB))
        self.server.finished(f"/jobs/{job}")
        self.done("result", job, "-o", self.path("frame"), server=self.cut(2, MIB))
        self.assertEqual(self.read("frame"), self.server.get(f"/jobs/{job}/result").body)
        self.failed(4, "in the middle", "result", job, server=self.cut(1, MIB))

    def test_removal_when_its_answer_is_lost_then_it_is_not_made_again(self):
        job = self.waiting_job("--signal", "night")
        for words in (["abort", job], ["signal", "night", "abort"]):
            proxy = RemovalCutter(self.server.port)
            self.addCleanup(proxy.close)
            self.failed(4, "It may have been done", *words, server=proxy.url)
            self.assertEqual(proxy.removals, 1)
            self.assertEqual(self.state(job), "aborted")
            self.waiting_job("--signal", "night")

    def test_result_when_the_answer_has_none_then_there_is_no_file(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            process = self.begin("result", "x", "-o", self.path("none"), server=url)
            client, _ = listener.accept()
            with client:
                client.recv(65536)
                client.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
                _, errors = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, os.listdir(self.folder)), (4, []), errors)

    def test_request_when_there_shall_be_no_retry_then_a_lost_connection_is_the_end(self):
        self.failed(4, "lost http", "list", "--retry-for", "0s", server=self.cut())

    def test_submit_when_the_server_has_no_journal_then_a_lost_answer_is_the_end(self):
        # The first connection has the refusal of the key, the second one the answer that is lost.
        self.failed(4, "It may have been done", "submit", "digest", data=b"x", server=self.cut_second())
        self.assertEqual(len(self.done("list").lines), 1)

    def cut_second(self):
        proxy = CuttingProxy(self.server.port, 0)
        self.addCleanup(proxy.close)
        hand_back = proxy.hand_back

        def cut_next(server, client):
            hand_back(server, client)
            proxy.cuts = 1

        proxy.hand_back = cut_next
        return proxy.url

    def test_request_when_no_server_is_there_then_it_ends_at_once(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        for words in (["list"], ["health"], ["submit", "digest"]):
            self.failed(4, f"cannot reach {url}", *words, server=url)
        self.failed(2, "HEIST_SERVER", "list", server="localhost:8080")

    def test_request_when_no_server_is_there_yet_then_retry_for_waits_for_it(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "heistd.sock")
            process = self.begin("health", "--retry-for", "1h", server=f"unix:{path}")
            self.assertIn(b"Trying again", process.stderr.readline())
            self.start(where=("--unix-socket", path))
            output, errors = process.communicate(timeout=PATIENCE)
            self.assertEqual((process.returncode, output), (0, f"unix:{path} takes jobs\n".encode()), errors)

    def test_requests_at_a_unix_socket(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "heistd.sock")
            self.start(where=("--unix-socket", path))
            ended = self.done("submit", "digest", "--wait", data=b"x", server=f"unix:{path}")
            self.assertIn("sha256", ended.text)

    def test_token_when_it_is_right_then_the_client_is_known(self):
        job = self.waiting_job()
        with open(self.path("token"), "w") as file:
            file.write("secret\n")
        self.assertEqual(self.done("list", "--token-file", self.path("token")).text, "")
        self.assertEqual(self.done("list", environment={"HEIST_TOKEN": "secret"}).text, "")
        self.assertIn(job, self.done("list").text)

    def test_token_when_it_is_wrong_then_the_server_refuses(self):
        self.failed(3, "unauthorized", "list", environment={"HEIST_TOKEN": "guessed"})
        self.failed(2, "HEIST_TOKEN has no token", "list", environment={"HEIST_TOKEN": "a\r\nb: c"})
        self.failed(5, "/nowhere/token", "list", "--token-file", "/nowhere/token")

    def test_health_when_the_server_takes_jobs_then_says_so(self):
        self.assertEqual(self.done("health").text, f"{self.url} takes jobs\n")


class Drain(HeistctlTest):
    def test_drain_when_it_is_the_operator_then_waits_until_the_server_has_ended(self):
        server = self.start("--operator", "anonymous", "--data", self.path("data"))
        url = f"http://127.0.0.1:{server.port}"
        server.accepted("/jobs/digest?delay=3600000")
        server.is_signalled = True
        self.assertEqual(self.done("drain", server=url).text, f"{url} has ended\n")
        self.assertEqual(server.ended(), 0)
        self.failed(4, "cannot reach", "drain", server=url)

    def test_drain_when_it_is_not_the_operator_then_refused(self):
        self.failed(3, "not_operator", "drain")


class FullServer(HeistctlTest):
    OPTIONS = ("--max-queued", "1")

    def test_submit_when_the_queue_is_full_then_it_waits_for_room(self):
        first = self.waiting_job()
        process = self.begin("submit", "digest", self.write("upload", b"x"), "--retry-for", "1h")
        said = process.stderr.readline().decode()
        self.assertIn("queue_full", said)
        self.done("abort", first)
        output, errors = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0, errors)
        self.server.finished(f"/jobs/{output.decode().strip()}")

    def test_submit_when_the_queue_stays_full_then_the_server_has_refused(self):
        self.waiting_job()
        self.failed(3, "queue_full", "submit", "digest", "--retry-for", "0s", data=b"x")


class KeptJobs(HeistctlTest):
    """With a journal."""

    def setUp(self):
        self.data = tempfile.mkdtemp(prefix="heistctl-data-")
        self.addCleanup(shutil.rmtree, self.data)
        super().setUp()

    @property
    def OPTIONS(self):
        return ("--data", self.data, "--command", "fails=/bin/false", "--command", "later=/bin/sh " + self.later)

    @property
    def later(self):
        """A program that asks to be tried again."""
        return self.write("later.sh", b"exit 75\n")

    def test_submit_when_the_answer_is_lost_then_it_is_one_job_all_the_same(self):
        proxy = CuttingProxy(self.server.port, 3)
        self.addCleanup(proxy.close)
        ended = self.done("submit", "digest", "--delay", "1h", data=b"x", server=proxy.url)
        self.assertEqual(proxy.cuts, 0)
        self.assertEqual([line.split("\t")[0] for line in self.done("list").lines], [ended.text.strip()])

    def test_submit_when_it_gives_up_then_the_key_that_it_names_makes_it_one_job(self):
        proxy = CuttingProxy(self.server.port, 1)
        self.addCleanup(proxy.close)
        words = ("submit", "digest", "--delay", "1h")
        ended = self.failed(4, "may have been accepted", *words, "--retry-for", "0s", data=b"x", server=proxy.url)
        key = re.search(r"--idempotency-key (\S+),", ended.errors)[1]
        again = self.done(*words, "--idempotency-key", key, data=b"x").text.strip()
        self.assertEqual([line.split("\t")[0] for line in self.done("list").lines], [again])

    def test_submit_when_the_key_is_given_then_it_is_the_same_job(self):
        words = ("digest", "--idempotency-key", "mine", "--delay", "1h")
        first = self.submitted(*words, data=b"x")
        self.assertEqual(self.submitted(*words, data=b"x"), first)
        self.failed(3, "idempotency_conflict", "submit", *words, data=b"y")

    def test_retry_when_a_job_is_dead_then_it_is_queued_again(self):
        job = self.submitted("later", "--param", "max_attempts=1", data=b"x")
        self.assertEqual(self.server.finished(f"/jobs/{job}")["state"], "dead")
        self.assertEqual([line.split("\t")[0] for line in self.done("list", "--state", "dead").lines], [job])
        self.assertEqual(self.done("retry", job).lines[0].split()[1], "queued,")
        until(lambda: self.state(job) == "dead", "the job to be dead once more")
        done = self.submitted("digest", data=b"x")
        self.server.finished(f"/jobs/{done}")
        self.failed(3, "not_dead", "retry", done)


if __name__ == "__main__":
    heistctl_case.main()
