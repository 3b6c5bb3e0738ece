"""A run: servers with one queue while their clients use it and each second something befalls them."""

import time

import clients
import postgresql
from cluster import Cluster
from cluster_history import ClusterHistory
from history import now
from load import Load
from troubles import Troubles

CALM = 8  # seconds without faults while there is still work
STUCK = 40  # seconds after which jobs of which none ends will never end: a lease, and pauses between attempts
SETTINGS = (
    "recovery_init_sync_method=syncfs",  # else it syncs a thousand files, one by one, when it starts again
    "wal_writer_delay=10s",  # so that a restart loses what was acknowledged and nobody has synced
)
LOOKS = 1000  # jobs that servers are asked for at the end


class ClusterRun:
    def __init__(self, folder, seed, jobs=0, seconds=1, broken=(), favoured=None, say=lambda text: None):
        self.folder, self.seed, self.jobs, self.seconds = folder, seed, jobs, seconds
        self.broken, self.favoured, self.say = broken, favoured, say
        self.history = ClusterHistory(head={"seed": seed, "jobs": jobs, "seconds": seconds})

    def go(self):
        """All of it; the history."""
        with postgresql.server(SETTINGS, tcp=True) as database:
            self.cluster = Cluster(self.folder, database, self.history, self.seed)
            self.troubles = Troubles(self.cluster, self.seed, self.favoured)
            try:
                self._go()
            finally:
                self.troubles.join()
                self.cluster.kill_all()
        return self.history

    def _go(self):
        self.cluster.migrate(self.broken)
        for node in self.cluster.nodes:
            node.start()
        self.load = Load(self.cluster, self.seed, self.jobs, self.seconds)
        self.act()
        self._finish()

    def act(self):
        self.load.start()
        try:
            self._hurt()
        except BaseException:
            self.load.give_up()
            raise
        self.load.end()

    def _hurt(self):
        begin = now()
        for second in range(self.seconds):
            self._wait_until(begin + second + 1)
            self.troubles.add_one()
            self._tell(f"{second + 1} of {self.seconds} s")
        self.troubles.join()
        for second in range(CALM):
            self._wait_until(now() + 1)
            self._tell(f"{second + 1} of {CALM} s without faults")

    def _wait_until(self, time_of):
        self._look()
        time.sleep(max(0, time_of - now()))

    def _look(self):
        self.load.check()
        self.troubles.check()
        for node in self.cluster.nodes:
            node.check()
        try:
            self.load.unfinished = self.cluster.unfinished()
        except AssertionError:
            pass  # the database starts again

    def _tell(self, what):
        faults = ", ".join(f"{number} {name}" for name, number in self.troubles.counts.items() if number)
        self.say(f"{what}: {self.load.taken} of {self.jobs} jobs, {self.load.unfinished} unfinished; {faults}")

    def _finish(self):
        """Nothing fails any more, so all jobs end. Some are looked at, the servers end, and the database is read."""
        self._wait_for_ends()
        looker = clients.Client(0, self.load)
        jobs = [pair for client in self.load.clients for pair in client.mine]
        for id, kind in self.load.servers.random.sample(jobs, min(LOOKS, len(jobs))):
            looker.look_at(id, kind)
        looker.connection.close()
        for node in self.cluster.nodes:
            node.drain()
        self.cluster.read_all()


    def _wait_for_ends(self):
        least, deadline = float("inf"), 0
        while True:
            self._look()
            if self.load.unfinished < least:
                least, deadline = self.load.unfinished, now() + STUCK
            if least == 0 or now() > deadline:
                return
            self._tell("the last jobs are to end")
            time.sleep(0.5)
