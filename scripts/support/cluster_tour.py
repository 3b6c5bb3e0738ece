"""The tour of `scripts/run --cluster`: three servers share a queue, and one of them is killed."""

import collections
import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.request

import postgresql

PATIENCE = 60  # seconds
JOBS = 60


def say(text):
    print(f"\n== {text}", flush=True)


def until(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise postgresql.Failed(f"waited {PATIENCE} s in vain for {what}")
        time.sleep(0.1)


class Server:
    def __init__(self, heistd, journal, log):
        self.log = log
        with open(log, "wb") as output:
            self.process = subprocess.Popen(
                [heistd, "--journal", journal, "--port", "0", "--agents", "2", "--command", "nap=/bin/sleep 0.5"],
                stdout=output, stderr=output)
        until(self.address, "a server to listen")

    def address(self):
        said = self.log.read_text().split("heistd listening on ")
        if self.process.poll() is not None:
            raise postgresql.Failed(f"heistd ended:\n{self.log.read_text()}")
        return said[1].split()[0] if len(said) > 1 else None

    def request(self, method, path, body=None):
        request = urllib.request.Request(f"http://{self.address()}{path}", data=body, method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
            return json.load(reply)

    def done(self):
        return sum(level["done"] for level in self.request("GET", "/stats")["levels"])

    def end(self):
        self.process.terminate()
        self.process.wait(PATIENCE)


def states(server):
    jobs = server.request("GET", "/jobs?kind=nap&limit=100")["jobs"]
    return collections.Counter(job["state"] for job in jobs)


def tour(servers):
    for server in servers:
        print(f"  process {server.process.pid} serves http://{server.address()}")
    one, two, three = servers

    say("A job by way of the first server; the second one answers for it")
    job = one.request("POST", "/jobs/digest?wait=1", b"heist")
    print(f"  {two.request('GET', job['links']['self'])['result']}")

    say(f"{JOBS} jobs of half a second by way of the first server; in the middle of them kill -9 of the third")
    lines = b'{"kind": "nap"}\n' * JOBS
    print(f"  accepted: {one.request('POST', '/jobs', lines)['accepted']}")
    until(lambda: three.done() >= 5, "the third server to do some")
    print(f"  the third server has done {three.done()}, and is killed now")
    three.process.kill()
    three.process.wait()

    say("An urgent job goes before all that wait")
    begin = time.monotonic()
    two.request("POST", "/jobs/digest?wait=1&priority=user-blocking", b"urgent")
    print(f"  done after {time.monotonic() - begin:.2f} s, with {states(one)['queued']} jobs queued")

    say("The others do all the rest; what the third one had runs again when its lease is over")
    until(lambda: states(one)["done"] == JOBS, "all jobs to be done")
    print(f"  {JOBS} jobs are done: by the first server {one.done()}, by the second {two.done()}")


def main():
    heistd = sys.argv[1]
    with contextlib.ExitStack() as stack:
        database = stack.enter_context(postgresql.server(tcp=True))
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        journal = f"postgresql://{postgresql.USER}@127.0.0.1:{database.port}/{postgresql.DATABASE}"
        say("PostgreSQL runs in a temporary folder; heistd migrate makes the tables")
        subprocess.run([heistd, "migrate", "--journal", journal], check=True)
        say("Three servers with that queue")
        servers = []
        for number in range(3):
            servers.append(Server(heistd, journal, folder / f"log{number}"))
            stack.callback(servers[-1].end)
        tour(servers)
    print("\nrun: the tour is over, everything answered as expected")


try:
    main()
except (postgresql.Failed, OSError, subprocess.SubprocessError) as error:
    sys.exit(f"run: {error}")
