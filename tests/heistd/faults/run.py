"""A run: a server that is killed, stopped and robbed of its disk while clients use it, and what is known of it."""

import errno
import pathlib
import random
import shutil
import signal
import threading
import time

import certificates
import heistd_server
import journal_view
from bad_disk import BadDisk
from clients import PATIENCE, Client, Connection
from history import History, Server, Start, View, now

WORKER = pathlib.Path(__file__).resolve().parent / "worker"
CLIENTS = 8
QUIET = 60  # seconds in which all jobs end when nothing fails any more: four attempts with their pauses take 14


class Servers:
    """The server of the moment."""

    def __init__(self):
        self._current, self._changed = None, threading.Condition()

    def set(self, server):
        with self._changed:
            self._current = server
            self._changed.notify_all()

    def wait_for_one(self):
        with self._changed:
            if not self._changed.wait_for(lambda: self._current, PATIENCE):
                raise AssertionError(f"waited {PATIENCE} s in vain for a server")
            return self._current


class Run:
    """One data directory, its servers and its clients."""

    client_names = ("one", "two")

    def __init__(self, folder, library, seed=0, jobs=0):
        self.folder, self.data = pathlib.Path(folder), pathlib.Path(folder, "data")
        self.data.mkdir()
        self.disk = BadDisk(library, folder, self.data)
        self.seed, self.jobs = seed, jobs
        self.random = random.Random(f"{seed}")
        self.tokens = {name: f"token-of-{name}-{self.random.randrange(10**12)}" for name in self.client_names}
        self.history, self.servers, self.all = History(), Servers(), []
        self.lost_writes, self._bag = 0, []
        self._numbers, self._lock = 0, threading.Lock()
        self.is_over = False

    def next_number(self):
        """That of the next job that a client is to ask for, or None when there have been enough."""
        with self._lock:
            if self._numbers == self.jobs or self.is_over:
                return None
            self._numbers += 1
            return self._numbers - 1

    # Servers

    def start(self):
        """A server; every other one takes requests over TLS only."""
        number = len(self.history.servers) + 1
        authority, identity = certificates.shared()
        options, tls = (identity.options, authority.context()) if number % 2 == 0 else ((), None)
        clients = [word for name in self.client_names for word in ("--client", f"{name}:{self.tokens[name]}:user-blocking")]
        server = heistd_server.Server(
            "--data", str(self.data), "--command", f"work={WORKER}", "--max-commands", "4", "--drain-deadline", "100",
            "--max-results", "1000000", "--max-result-bytes", "1GB", *clients, *options, tls=tls,
            environment={**self.disk.environment(), "FAULTS_SERVER": str(number), "FAULTS_STARTS": str(self.starts_file)},
        )
        server.number = number
        self.history.servers.append(Server(number, now()))
        self.server = server
        self.all.append(server)
        self.servers.set(server)
        return server

    def kill_all(self):
        """What a test that failed has left, programs that wait included."""
        for server in self.all:
            self.let_go(server.number)
            server.process.kill()
            server.ended()

    def let_go(self, number):
        """The programs that this server has started and that wait."""
        pathlib.Path(f"{self.starts_file}.go.{number}").touch()

    @property
    def starts_file(self):
        return self.folder / "starts"

    def read_starts(self):
        if self.starts_file.exists():
            words = [line.split() for line in self.starts_file.read_text().splitlines()]
            self.history.starts = [Start(name, int(server), float(time)) for name, server, time in words]

    def has_started(self, name, server):
        self.read_starts()
        return any(start.name == name and start.server == server for start in self.history.starts)

    def end(self, how):
        """Ends the server of the moment in this way, and looks at what it has left."""
        self.servers.set(None)
        server, record = self.server, self.history.servers[-1]
        server.signal(signal.SIGTERM if how == "told to" else signal.SIGKILL)
        code = server.ended()
        if code not in (0, -signal.SIGKILL) or server.said("Sanitizer: "):
            raise AssertionError(f"server {server.number} ended with {code}: {server.lines[-20:]}")
        record.end, record.how = now(), how
        if how == "lost power":
            self.lost_writes += self.disk.lose_power()
        self.disk.keep_all()
        self.disk.heal()
        self.look()

    def look(self):
        """Adds what the journal holds to the history. No server may be writing."""
        rows, orphans = journal_view.read(self.data)
        self.history.add_view(View(now(), len(self.history.servers), orphans), rows)

    # Faults

    def revive(self):
        """After a job has killed the server."""
        if self.server.process.poll() is not None:
            self.kill()

    def hurt(self):
        """One fault of a bag that has each of them, or two of them at a time."""
        if not self._bag:
            self._bag = self._faults()
            self.random.shuffle(self._bag)
        self._bag.pop()()
        self.revive()

    def _faults(self):
        faults = [self.kill, self.kill, self.tell_to_end, self.stand_still, self.stand_still]
        if self.disk.preloaded:
            faults += [self.lose_power, self.lose_power, self.fail_writes, self.fail_syncs, self.slow_down]
        return faults

    def kill(self):
        self._replace("killed")

    def tell_to_end(self):
        self._replace("told to")

    def lose_power(self):
        """While syncs take so long that much is under way."""
        self.disk.order(milliseconds=self.random.randrange(20, 100))
        time.sleep(self.random.uniform(0.02, 0.2))
        self._replace("lost power")

    def stand_still(self):
        self._during(lambda: self.server.signal(signal.SIGSTOP), lambda: self.server.signal(signal.SIGCONT))

    def fail_writes(self):
        error = self.random.choice((errno.ENOSPC, errno.EIO))
        self._during(lambda: self.disk.order(writes=error), self.disk.heal)

    def fail_syncs(self):
        self._during(lambda: self.disk.order(syncs=errno.EIO), self.disk.heal)

    def slow_down(self):
        self._during(lambda: self.disk.order(milliseconds=self.random.randrange(10, 100)), self.disk.heal)

    def _during(self, begin, end):
        """In half of all cases the server is killed in the middle of it."""
        began = now()
        begin()
        time.sleep(self.random.uniform(0.02, 0.6))
        if self.random.random() < 0.5:
            self._replace(self.random.choice(("killed", "lost power") if self.disk.preloaded else ("killed",)))
        else:
            end()
        self.history.troubles.append((began, now()))

    def _replace(self, how):
        self.end(how)
        self.start()

    # The whole

    def go(self, say):
        """All jobs, with all that happens to their server; `say` is told how far it is."""
        self.start()
        clients = [Client(number, self) for number in range(CLIENTS)]
        try:
            for client in clients:
                client.thread.start()
            while any(client.thread.is_alive() for client in clients):
                time.sleep(self.random.uniform(0.05, 0.6))
                self.hurt()
                say(self.progress())
        finally:
            self.is_over = True
        for client in clients:
            client.thread.join(PATIENCE)
            if client.error:
                raise client.error
        self.finish(say)

    def progress(self):
        power = sum(server.how == "lost power" for server in self.history.servers)
        return f"{self._numbers} of {self.jobs} jobs, {len(self.history.servers)} servers, {power} losses of power"

    def waiting_followers(self):
        """How many jobs were seen to wait for the one before them."""
        delayed = {request.about for request in self.history.requests if request.state == "delayed"}
        return sum(job.after is not None and not job.delay for job in map(self.history.jobs.get, delayed) if job)

    def finish(self, say):
        """Nothing fails any more: all jobs are to end. Then each is looked at."""
        self.kill()
        deadline = time.monotonic() + QUIET
        while time.monotonic() < deadline and not self._is_quiet():
            say(f"{self.progress()}; the last of them are to end")
            time.sleep(0.05)
        self._look_at_all(say)
        self.end("told to")
        self.read_starts()

    def _is_quiet(self):
        self.revive()
        return all(self._unfinished(name) == 0 for name in self.client_names)

    def _unfinished(self, client):
        try:
            stats = self.server.get("/stats", headers={"Authorization": f"Bearer {self.tokens[client]}"}).json
        except OSError:
            return None  # a job has killed it
        return sum(level["depth"] + level["delayed"] for level in stats["levels"])

    def _look_at_all(self, say):
        by_client = {name: [] for name in self.client_names}
        for request in list(self.history.requests):
            if request.what == "submit" and request.id:
                by_client[request.client].append((request.id, self.history.jobs[request.about].kind))
        for name, jobs in by_client.items():
            looker = Client(self.client_names.index(name), self)
            for number, (id, kind) in enumerate(dict.fromkeys(jobs)):
                looker.look_at(id, kind)
                if number % 1000 == 0:
                    say(f"looking at job {number} of {len(jobs)} of client {name}")
            looker.connection.close()

    def keep(self, folder):
        """Saves all that is known."""
        self.history.save(folder)
        shutil.copytree(self.data, folder / "data", dirs_exist_ok=True)
