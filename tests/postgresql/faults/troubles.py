"""A fault each second: processes that are killed, told to end or stopped, networks that are cut, and a database that
starts again."""

import random
import signal
import threading
import time

from cluster_history import Fault
from history import now

# How often each of them comes, among the others.
WEIGHTS = {"kill": 8, "drain": 3, "stop": 8, "stop for long": 1, "cut": 5, "close": 5, "close for long": 1, "slow": 8,
           "freeze": 5, "freeze for long": 1, "restart": 2}
FAVOURED = 16
LONG = (5, 18)  # seconds: a lease is 12, and a server gives its work up after half of that
SHORT = (0.1, 3)
SLOWEST = 0.1  # seconds that each piece takes
RATE = 100_000  # bytes a second


class Troubles:
    """What befalls a cluster."""

    def __init__(self, cluster, seed, favoured=None):
        self.cluster, self.history = cluster, cluster.history
        self.random = random.Random(f"{seed}/faults")
        self.threads, self.error = [], None
        self.weights = {what: FAVOURED if what == favoured else weight for what, weight in WEIGHTS.items()}
        self.counts = dict.fromkeys(WEIGHTS, 0)

    def add_one(self):
        """Begins a fault, which ends by itself. One server is left well, but for cuts, so that something gets done."""
        what = self.random.choices(list(self.weights), list(self.weights.values()))[0]
        place, seconds = self.random.random(), self._seconds(what)
        well = [node for node in self.cluster.nodes if node.link not in self.cluster.hurt]
        if len(well) == 1 and what != "restart":
            what = "cut"
        self.counts[what] += 1
        if what == "restart":
            return self._run(what, None, 0)  # a server of postgresql.py ends with the thread that has started it
        node = well[int(place * len(well))]
        if what != "cut":
            self.cluster.hurt.add(node.link)
        self.threads.append(threading.Thread(target=self._run, args=(what, node, seconds), daemon=True))
        self.threads[-1].start()

    def _seconds(self, what):
        return self.random.uniform(*(LONG if what.endswith("for long") else SHORT))

    def join(self):
        """Waits until all of them have ended."""
        for thread in self.threads:
            thread.join()

    def check(self):
        if self.error:
            raise self.error

    def _run(self, what, node, seconds):
        fault = Fault(what, now(), link=node.link if node else None)
        self.history.faults.append(fault)
        try:
            self._act(what, node, seconds)
        except Exception as error:  # noqa: BLE001: the run tells it
            self.error = error
        fault.end = now()
        if node and what != "cut":
            self.cluster.hurt.discard(node.link)

    def _act(self, what, node, seconds):
        if what == "restart":
            return self._restart()
        if what in ("kill", "drain"):
            node.kill() if what == "kill" else node.drain()
            time.sleep(seconds / 2)
            return node.start()
        if what.startswith("stop"):
            node.server.signal(signal.SIGSTOP)
            time.sleep(seconds)
            return node.server.signal(signal.SIGCONT)
        return self._hurt_network(what.split()[0], node.link, seconds)

    def _restart(self):
        """At once: what it has acknowledged is on the disk."""
        self.cluster.database.stop()
        self.cluster.database.start()
        self.cluster.database.await_start()

    def _hurt_network(self, what, link, seconds):
        numbers = (seconds / SHORT[1] * SLOWEST, RATE) if what == "slow" else ()
        self.cluster.links.order(link, what, *numbers)
        if what != "cut":
            time.sleep(seconds)
            self.cluster.links.order(link, "heal")
