#!/usr/bin/env python3
"""What a heistd with a journal takes for a million jobs that wait: memory of each, the start, a new priority.

usage: heistd_waiting.py BUILD_DIRECTORY [JOBS]   (a release build, on a quiet machine)
Prints a table in Markdown, for a tenth of them and for all, and then for all with uploads of 4 KiB beside as many
finished jobs, which takes 5 GB in the folder for temporary files. It ends with 1 when a job takes more than 200 bytes,
a start more than 10 s, or a new priority more than 50 ms, as it takes the same time for any number of jobs.
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
SECONDS_TO_MOVE_BAR = 0.05
# Copies of one delayed job that was posted. Without its time to start they are queued ones.
# A time to start, or an end, is that many microseconds later for each.
FILL = """
WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < :jobs)
INSERT INTO job(id, client, kind, parameters, signal, priority, may_start, attempt, forgiven,
                max_attempts, state, payload_bytes, ended_at, kept)
SELECT CASE typeof(id) WHEN 'blob' THEN randomblob(16) ELSE lower(hex(randomblob(16))) END,
       client, kind, parameters, signal, priority, may_start * :delayed + n, attempt, forgiven, max_attempts,
       iif(:finished, 2, state), :upload, iif(:finished, 1000000 * unixepoch() + n, NULL), iif(:finished, 512, NULL)
FROM job, number WHERE seq = (SELECT min(seq) FROM job)
"""
FILL_UPLOADS = """
INSERT INTO payload SELECT seq << 20, randomblob(payload_bytes) FROM job WHERE payload_bytes > 0 AND ended_at ISNULL
"""
UPLOAD = 4096
EARLIER_PRIORITY, OTHER_PRIORITY = "user-visible", "user-blocking"


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

    def depth(self, priority):
        """How many jobs there are with this priority."""
        levels = self.request("GET", "/stats")["levels"]
        return next(level["depth"] + level["delayed"] for level in levels if level["priority"] == priority)

    def resident(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmRSS"))

    def end(self):
        self.process.kill()
        self.process.wait()


def fill(data, jobs, are_delayed, upload, finished):
    with sqlite3.connect(pathlib.Path(data) / "journal.sqlite") as database:
        copies = {"jobs": jobs, "delayed": int(are_delayed), "upload": upload, "finished": 0}
        database.execute(FILL, copies)
        database.execute(FILL_UPLOADS)
        if finished:
            database.execute(FILL, {**copies, "jobs": finished, "finished": 1})
    database.close()


def measure(program, data):
    server = Heistd(program, data)
    resident = server.resident()
    server.go_on()
    start = time.monotonic()
    unfinished = server.request("PUT", f"/signals/night?priority={OTHER_PRIORITY}")["unfinished_jobs"]
    seconds = time.monotonic() - start
    moved = unfinished - server.depth(EARLIER_PRIORITY)
    server.end()
    return server.seconds, resident, moved, seconds


def measure_waiting(program, jobs, what, upload=0, finished=0):
    """What so many jobs take: seconds of the start, bytes of all, seconds of a new priority."""
    with tempfile.TemporaryDirectory() as data:
        server = Heistd(program, data)
        server.go_on()
        server.request("POST", "/jobs/digest?delay=3600000&signal=night", b"")
        server.end()
        _, resident_of_few, _, _ = measure(program, data)
        fill(data, jobs, what == "delayed", upload, finished)
        seconds, resident, moved, to_move = measure(program, data)
    may_have_run = 0 if what == "delayed" else max(1000, jobs // 100)
    if moved < jobs - may_have_run:
        raise SystemExit(f"heistd_waiting: only {moved} of {jobs} jobs got the new priority")
    return seconds, resident - resident_of_few, to_move


def print_rows(program, jobs, what):
    """True when all bars hold. A job's bytes are those of the nine tenths that come to the first one."""
    few, many = (measure_waiting(program, number, what) for number in (jobs // 10, jobs))
    each = (many[1] - few[1]) / (jobs - jobs // 10)
    for number, (seconds, resident, to_move) in ((jobs // 10, few), (jobs, many)):
        print(f"| {number:,} {what} | {seconds:.1f} | {resident / 2**20:.0f} | {each:.0f} | {to_move * 1000:.1f} |")
    return each <= BYTES_BAR and many[0] <= SECONDS_BAR and max(few[2], many[2]) <= SECONDS_TO_MOVE_BAR


def print_row_of_uploads(program, jobs):
    """True when the bars hold that it has."""
    seconds, resident, to_move = measure_waiting(program, jobs, "delayed", UPLOAD, finished=jobs)
    what = f"delayed, of {UPLOAD // 1024} KiB each, beside as many finished ones"
    print(f"| {jobs:,} {what} | {seconds:.1f} | {resident / 2**20:.0f} | | {to_move * 1000:.1f} |")
    return seconds <= SECONDS_BAR and to_move <= SECONDS_TO_MOVE_BAR


def main():
    program = pathlib.Path(sys.argv[1]) / "src" / "heistd" / "heistd"
    jobs = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    print("| jobs that wait | start, s | their memory, MiB | bytes of one more | a new priority for all, ms |")
    print("|---|---|---|---|---|")
    hold = [print_rows(program, jobs, what) for what in ("delayed", "queued")]
    return 0 if all([*hold, print_row_of_uploads(program, jobs)]) else 1


sys.exit(main())
