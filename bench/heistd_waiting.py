#!/usr/bin/env python3
"""What a heistd with a journal takes for a million jobs that wait: memory of each, the start, a new priority.

usage: heistd_waiting.py BUILD_DIRECTORY [JOBS]   (a release build, on a quiet machine)
Prints a table in Markdown. It ends with 1 when a job takes more than 200 bytes, or a start more than 10 s.
"""

import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from heistd_request import request  # noqa: E402

BYTES_BAR = 200
SECONDS_BAR = 10
# Copies of one delayed job that was posted. Without its time to start they are queued ones.
FILL = """
WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?)
INSERT INTO job(id, client, kind, parameters, signal, priority, may_start, attempt, forgiven,
                max_attempts, state, payload_bytes)
SELECT CASE typeof(id) WHEN 'blob' THEN randomblob(16) ELSE lower(hex(randomblob(16))) END,
       client, kind, parameters, signal, priority, may_start * ? + n, attempt, forgiven, max_attempts, state, 0
FROM job, number WHERE seq = (SELECT min(seq) FROM job)
"""


class Heistd:
    """A server that is stopped as soon as it listens, before it runs any job."""

    def __init__(self, program, data):
        start = time.monotonic()
        self.process = subprocess.Popen(
            [program, "--port", "0", "--agents", "1", "--data", data, "--max-queued", "10000000",
             "--drain-deadline", "0"], stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if "listening" in line:
                break
        self.process.send_signal(signal.SIGSTOP)
        self.seconds = time.monotonic() - start
        self.port = int(line.rsplit(":", 1)[1])

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def request(self, method, target, body=None):
        return request(self.port, method, target, body)

    def resident(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmRSS"))

    def end(self):
        self.process.kill()
        self.process.wait()


def fill(data, jobs, are_delayed):
    with sqlite3.connect(pathlib.Path(data) / "journal.sqlite") as database:
        database.execute(FILL, [jobs, int(are_delayed)])
    database.close()


def measure(program, data):
    server = Heistd(program, data)
    resident = server.resident()
    server.go_on()
    start = time.monotonic()
    moved = server.request("PUT", "/signals/night?priority=user-visible")["unfinished_jobs"]
    seconds = time.monotonic() - start
    server.end()
    return server.seconds, resident, moved, seconds


def main():
    program = pathlib.Path(sys.argv[1]) / "src" / "heistd" / "heistd"
    jobs = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    failed = False
    print("| jobs that wait | start, s | resident, MiB | bytes of a job | a new priority for all, ms |")
    print("|---|---|---|---|---|")
    for what in ("delayed", "queued"):
        with tempfile.TemporaryDirectory() as data:
            server = Heistd(program, data)
            server.go_on()
            server.request("POST", "/jobs/digest?delay=3600000&signal=night", b"")
            server.end()
            _, resident_of_few, _, _ = measure(program, data)
            fill(data, jobs, what == "delayed")
            seconds, resident, moved, to_move = measure(program, data)
            each = (resident - resident_of_few) / jobs
            failed |= each > BYTES_BAR or seconds > SECONDS_BAR
            print(f"| {moved:,} {what} | {seconds:.1f} | {resident / 2**20:.0f} | {each:.0f} | {to_move * 1000:.1f} |")
    return 1 if failed else 0


sys.exit(main())
