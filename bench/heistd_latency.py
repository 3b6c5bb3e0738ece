#!/usr/bin/env python3
"""The queue delay of urgent jobs while 10 000 background jobs wait: heistd under wrk, in memory and with a journal,
beside a FIFO pool.

usage: heistd_latency.py BUILD_DIRECTORY   (a release build, on a quiet machine)
Prints a table in Markdown. It ends with 1 when the p99 exceeds twice the longest chunk, or when with a journal it
exceeds that in memory by more than a fifth.
"""

import json
import os
import platform
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
from heistd_request import request  # noqa: E402

JOBS = 10_000
BODY_BYTES = 128 * 1024
URGENT_BYTES = 4096
CONNECTIONS = 8
SECONDS = 3
LUA = f"""
wrk.method = "POST"
wrk.body = string.rep("x", {URGENT_BYTES})
"""


def make_text(size):
    """Text that compresses about as well as logs do."""
    words = ["GET", "POST", "/jobs/", "digest", "compress", "error", "200", "404", "took", "ms"]
    pick = random.Random(1)
    text = ""
    while len(text) < size:
        text += f"{pick.choice(words)} {pick.randrange(100_000)}{pick.choice('       ' + chr(10))}"
    return text[:size].encode()


class Heistd:
    """The server, and what is asked of it."""

    def __init__(self, program, *more):
        options = ["--port", "0", "--agents", "1", "--max-queued-bytes", "2GB", "--max-queued", str(2 * JOBS), *more]
        self.process = subprocess.Popen(
            [program, *options, "--drain-deadline", "0"], stdout=subprocess.PIPE, text=True
        )
        said = next(line for line in self.process.stdout if "listening" in line)
        self.port = int(said.rsplit(":", 1)[1])

    def request(self, method, target, body=None):
        return request(self.port, method, target, body)

    def level(self, priority):
        levels = self.request("GET", "/stats")["levels"]
        return next(level for level in levels if level["priority"] == priority)

    def queue_the_backlog(self, body):
        """Posts all of it through one connection, without waiting for each reply."""
        head = "POST /jobs/compress?priority=background HTTP/1.1\r\nHost: localhost\r\n"
        message = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
        connection = socket.create_connection(("127.0.0.1", self.port))
        sender = threading.Thread(target=lambda: [connection.sendall(message) for _ in range(JOBS)])
        sender.start()
        replies = connection.makefile("rb")
        for _ in range(JOBS):
            status = replies.readline()
            if b" 202 " not in status:
                raise SystemExit(f"heistd_latency: a background job was refused: {status}")
            length = 0
            while (line := replies.readline()) != b"\r\n":
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            replies.read(length)
        sender.join()
        connection.close()

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=60)


def run_wrk(port):
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(LUA)
        script.flush()
        url = f"http://127.0.0.1:{port}/jobs/digest?priority=user-blocking&wait=1"
        command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", "-s", script.name, url]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in said:
        raise SystemExit(f"heistd_latency: wrk saw refusals:\n{said}")
    return float(re.search(r"Requests/sec: *([\d.]+)", said).group(1))


def measure_heistd(program, *options):
    server = Heistd(program, *options)
    try:
        server.request("POST", "/kinds/compress/pause")
        server.queue_the_backlog(make_text(BODY_BYTES))
        depth = server.level("background")["queued"]
        server.request("POST", "/kinds/compress/resume")
        rate = run_wrk(server.port)
        urgent, background = server.level("user-blocking"), server.level("background")
    finally:
        server.stop()
    figures = dict(urgent["queue_delay_us"])
    figures["longest_chunk"] = max(urgent["longest_chunk_us"], background["longest_chunk_us"])
    print(f"{depth} background jobs queued at the start, {background['depth']} at the end; "
          f"wrk: {CONNECTIONS} connections, {rate:.0f} jobs/s for {SECONDS} s\n")
    if depth < JOBS or background["depth"] == 0:
        raise SystemExit("heistd_latency: the backlog did not last; the figures mean nothing")
    return figures


def measure_queue(program, executor):
    command = [program, executor, str(JOBS), str(BODY_BYTES)]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


def text_of(microseconds):
    return f"{microseconds / 1000:.0f} ms" if microseconds >= 10_000 else f"{microseconds:.0f} µs"


def main():
    build = sys.argv[1]
    print(f"{platform.machine()}, {os.cpu_count()} CPUs; backlog: {JOBS} jobs compressing "
          f"{BODY_BYTES // 1024} KiB each; urgent: digests of {URGENT_BYTES // 1024} KiB\n")
    program = f"{build}/src/heistd/heistd"
    heistd = measure_heistd(program)
    with tempfile.TemporaryDirectory() as data:
        durable = measure_heistd(program, "--data", data)
    queues = f"{build}/src/heistd/heistd_queues"
    rows = (
        ("heistd, under `wrk`", heistd),
        ("heistd with `--data`, under `wrk`", durable),
        ("the same work on a heist agent, no HTTP", measure_queue(queues, "agent")),
        ("the same work on a FIFO pool (`boost::asio::thread_pool(1)`)", measure_queue(queues, "fifo")),
    )
    print("| queue delay of urgent jobs | jobs | p50 | p99 | max | longest chunk |")
    print("|---|---|---|---|---|---|")
    for name, figures in rows:
        cells = (text_of(figures[key]) for key in ("p50", "p99", "max", "longest_chunk"))
        print(f"| {name} | {figures['count']} | {' | '.join(cells)} |")
    return 0 if heistd["p99"] <= 2 * heistd["longest_chunk"] and durable["p99"] <= 1.2 * heistd["p99"] else 1


if __name__ == "__main__":
    sys.exit(main())
