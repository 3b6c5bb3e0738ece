"""Several heistd that share a queue in a PostgreSQL of their own, each behind a network of its own (proxy.py)."""

import http.client
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time

import heistd_server
import postgresql
from cluster_history import LastRow, Process, Run
from history import STORED, now
from journal_view import value_of

HERE = pathlib.Path(__file__).resolve().parent
NODES = 3
AGENTS = 8
TOKEN = "token"
ANSWER = 4  # seconds in which a server answers a client that asks another one otherwise
START = 60  # seconds in which a server starts that may
HURT_ARE_ASKED = 0.1  # of the requests, as somebody has yet to find out that something has befallen a server

DUMP = """
SELECT json_build_object('id', replace(id::text, '-', ''), 'kind', convert_from(kind, 'UTF8'), 'state', state,
  'attempt', attempt, 'forgiven', forgiven, 'max_attempts', max_attempts, 'after', replace(predecessor::text, '-', ''),
  'key', convert_from(idempotency_key, 'UTF8'), 'follows', is_follower, 'ended', extract(epoch FROM ended_at),
  'result', (SELECT convert_from(result, 'UTF8') FROM heistd.job j WHERE j.day = s.day AND j.place = s.place))
FROM heistd.stored s
"""


class Links:
    """The program of proxy.py."""

    def __init__(self, port):
        self.process = subprocess.Popen([sys.executable, "-B", HERE / "proxy.py", str(port), str(NODES)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.ports = self.process.stdout.readline().split()

    def order(self, link, *words):
        print(link, *words, file=self.process.stdin, flush=True)

    def end(self):
        self.process.communicate()


class Address:
    """Where clients find one process."""

    def __init__(self, number, port):
        self.number, self.port = number, port

    def connection(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER)


class Node:
    """One place of the cluster, where one process runs after the other."""

    def __init__(self, cluster, link):
        self.cluster, self.link = cluster, link
        self.server, self.address, self.record = None, None, None

    def start(self):
        """Tries until the database can be reached."""
        number, end = self.cluster.next_process(), time.monotonic() + START
        while not self.server:
            try:
                self.server = self._server(number)
            except AssertionError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)
        self.record = Process(number, self.link, now())
        self.cluster.history.processes.append(self.record)
        self.address = Address(number, self.server.port)

    def _server(self, number):
        port = self.cluster.links.ports[self.link]
        return heistd_server.Server(
            "--journal", f"postgresql://{postgresql.USER}@127.0.0.1:{port}/{postgresql.DATABASE}",
            "--client", f"one:{TOKEN}:user-blocking", "--command", f"work={HERE / 'worker'}", "--max-commands", "16",
            "--drain-deadline", "100", agents=AGENTS,
            environment={"FAULTS_PROCESS": str(number), "FAULTS_RUNS": str(self.cluster.runs_file)})

    def end(self, number, expected):
        """Ends the process by a signal."""
        self.address = None
        self.server.signal(number)
        code = self.server.ended()
        self.record.end = now()
        self.server, lines = None, self.server.lines
        if code != expected:
            raise AssertionError(f"server {self.record.number} ended with {code}: {lines[-20:]}")

    def kill(self):
        self.end(signal.SIGKILL, -signal.SIGKILL)

    def drain(self):
        self.end(signal.SIGTERM, 0)

    def check(self):
        """Fails when the process has ended by itself."""
        server = self.server
        code = server.process.poll() if server else None
        if code is not None and self.address:  # which it has lost before it is told to end
            raise AssertionError(f"server {self.record.number} ended by itself: {code} {server.lines[-20:]}")


class Cluster:
    """The database, the links and the nodes. Clients ask it for a server (as clients.py does)."""

    def __init__(self, folder, database, history, seed):
        self.folder, self.database, self.history = folder, database, history
        self.random = random.Random(f"{seed}/servers")
        self.links = Links(database.port)
        self.nodes = [Node(self, link) for link in range(NODES)]
        self.hurt = set()  # links of nodes that something befalls
        self._processes, self._lock = 0, threading.Lock()

    @property
    def runs_file(self):
        return self.folder / "runs"

    def next_process(self):
        with self._lock:
            self._processes += 1
            return self._processes

    def wait_for_one(self):
        """The address of a server, mostly of one that nothing has befallen."""
        takes_any = self.random.random() < HURT_ARE_ASKED
        while True:
            found = [node.address for node in self.nodes if node.address and (takes_any or node.link not in self.hurt)]
            if found:
                return self.random.choice(found)
            time.sleep(0.02)

    def migrate(self, broken=()):
        """Makes the schema; `broken` are texts of functions that replace those of heistd."""
        target = f"postgresql://{postgresql.USER}@127.0.0.1:{self.database.port}/{postgresql.DATABASE}"
        subprocess.run([heistd_server.HEISTD, "migrate", "--journal", target], check=True, capture_output=True)
        for text in broken:
            self.psql("-q", "-c", "SET search_path = heistd", "-f", "-", input=text)

    def psql(self, *words, **how):
        psql = [postgresql.PROGRAMS / "psql", "-XtA", "-v", "ON_ERROR_STOP=1", *words]
        done = subprocess.run(psql, env={**os.environ, **self.database.environment()}, capture_output=True, text=True,
                              check=False, **how)
        if done.returncode != 0:
            raise AssertionError(f"psql: {done.stderr}")
        return done.stdout.strip()

    def unfinished(self):
        return int(self.psql("-c", "SELECT count(*) FROM heistd.open"))

    def kill_all(self):
        """What a run that failed has left."""
        for node in self.nodes:
            if node.server:
                self.let_go(node.record.number)
                node.server.process.kill()
                node.server.ended()
        self.links.end()

    def let_go(self, process):
        """The programs of this process that wait."""
        pathlib.Path(f"{self.runs_file}.go.{process}").touch()

    def read_all(self):
        self.history.runs = list(self.runs())
        since = time.time() - now()
        rows = map(json.loads, self.psql("-c", DUMP).splitlines())
        self.history.add_last(now(), {each["id"]: row_of(each, since) for each in rows})

    def runs(self):
        """Each begins, and it may end. Lines of several programs do not mix: each is one small write."""
        runs = {}
        text = self.runs_file.read_text() if self.runs_file.exists() else ""
        for id, attempt, process, what, time_of in map(str.split, text.splitlines()):
            key = (id, attempt, process)
            if what == "begin":
                if key in runs:
                    yield runs.pop(key)
                runs[key] = Run(id, int(attempt), int(process), float(time_of))
            else:
                runs[key].end, runs[key].will_retry = float(time_of), what == "again"
        yield from runs.values()


def row_of(each, since):
    """`since` is when the clock of the history was 0."""
    state, text = STORED[each["state"]], each["result"]
    same = {name: each[name] for name in ("attempt", "forgiven", "max_attempts", "key", "after", "follows")}
    return LastRow(state=state, has_result=text is not None, needs_result=state == "done",
                   value=None if text is None else value_of(each["kind"], text.encode()),
                   ended=each["ended"] and each["ended"] - since, **same)
