"""Clients of a cluster: they ask any of its servers for jobs, and ask again wherever they are not answered."""

import hashlib
import json
import random
import threading
import time

import clients
from cluster import TOKEN
from history import Job, Request, now

CLIENTS = 24
BATCH = 20  # jobs of one request
MOST_UNFINISHED = 3000
WAVE = 15  # seconds: their share of the jobs is asked for at once, so that the servers are full, and then idle
WAVES = 4  # at least
SECONDS_BETWEEN_PROBES = 0.3
LEVELS = (("background", 57), ("user-visible", 40), ("user-blocking", 3))


class Wish:
    """A job that a client wants."""

    def __init__(self, name, choices, earlier=None):
        is_work = choices.random() < 0.08
        does = choices.choices(("", "pause", "fail", "flaky"), (45, 40, 5, 10))[0] if is_work else ""
        self.text = f"{name}\n"
        result = name if is_work else hashlib.sha256(self.text.encode()).hexdigest()
        self.job = Job(name, "one", "work" if is_work else "digest", result, does, key=f"key-of-{name}", after=earlier)
        self.parameters = {"does": does, "seconds": f"{choices.uniform(0.05, 1):.2f}"} if is_work else {}
        self.job.max_attempts = choices.choice((3, 3, 5, 100))
        if choices.random() < 0.15:
            self.job.signal = f"s{choices.randrange(clients.SIGNALS)}"
        else:
            names, weights = zip(*LEVELS)
            self.job.priority = choices.choices(names, weights)[0]
        if choices.random() < 0.03:
            self.job.delay = choices.randrange(1, 1500)

    @classmethod
    def urgent(cls, name):
        wish = cls(name, random.Random(0))
        wish.job = Job(name, "one", "work", name, key=f"key-of-{name}", priority="user-blocking", max_attempts=100)
        wish.parameters = {}
        return wish

    def _members(self):
        names = ("priority", "signal", "delay", "after", "max_attempts")
        return {name: getattr(self.job, name) for name in names if getattr(self.job, name)}

    @property
    def body(self):
        return self.text.encode()

    @property
    def target(self):
        query = {**self.parameters, **self._members()}
        return f"/jobs/{self.job.kind}?" + "&".join(f"{name}={value}" for name, value in query.items())

    @property
    def line(self):
        return json.dumps({"kind": self.job.kind, "text": self.text, "parameters": self.parameters, **self._members()})


class Load:
    """What the clients are to do, and share."""

    client_names, tokens = ("one",), {"one": TOKEN}
    is_over = False  # whoever has asked for a job asks until it is answered, or the run has failed

    def __init__(self, cluster, seed, jobs, seconds):
        self.servers, self.history, self.seed = cluster, cluster.history, seed
        self.jobs, self.rate, self.wave = jobs, jobs / seconds, min(WAVE, seconds / WAVES)
        self.unfinished, self.is_asking, self.taken = 0, True, 0
        self._begin, self._lock = now(), threading.Lock()
        self.clients = [Client(number, self) for number in range(CLIENTS)] + [Prober(CLIENTS, self)]

    def take(self, most):
        """The numbers of the next jobs that a client is to ask for: none while the servers are behind."""
        with self._lock:
            due = int(((now() - self._begin) // self.wave + 1) * self.wave * self.rate)
            number = min(most, due - self.taken, self.jobs - self.taken)
            if self.unfinished > MOST_UNFINISHED or number <= 0:
                return range(0)
            self.taken += number
            return range(self.taken - number, self.taken)

    def start(self):
        for client in self.clients:
            client.thread.start()

    def end(self):
        self.is_asking = False
        for client in self.clients:
            client.thread.join(clients.PATIENCE)
            if client.thread.is_alive():
                raise AssertionError(f"client {client.number} waited {clients.PATIENCE} s in vain for an answer")
        self.check()

    def give_up(self):
        """The run has failed: nobody answers any more."""
        self.is_asking, self.is_over = False, True

    def check(self):
        for client in self.clients:
            if client.error:
                raise client.error


class Client(clients.Client):
    """Asks for jobs, one or many at a time, and does this and that with those it has."""

    def _work(self):
        try:
            while self.run.is_asking:
                self.act()
        except Exception as error:  # noqa: BLE001: the run tells it
            self.error = error
        finally:
            self.connection.close()

    def act(self):
        numbers = self.run.take(self.random.choice((1, 1, BATCH, BATCH)))
        if not numbers:
            time.sleep(0.05)
        earlier = self.mine[-1][0] if self.mine and len(numbers) == 1 and self.random.random() < 0.3 else None
        wishes = [Wish(f"job-{number}", self.random, earlier) for number in numbers]
        if len(wishes) == 1:
            self.submit(wishes[0])
        elif wishes:
            self.submit_all(wishes)
        for _ in range(self.random.randrange(3)):
            self.do_something()

    def submit_all(self, wishes):
        """The same of many jobs, with one key, from which each has its own."""
        key = wishes[0].job.key
        for number, wish in enumerate(wishes):
            wish.job.key = f"{key}/{number}"
        body = "\n".join(wish.line for wish in wishes).encode()
        self.run.history.jobs.update((wish.job.name, wish.job) for wish in wishes)
        while not self.run.is_over:
            requests = [Request("submit", wish.job.name, self.name, now()) for wish in wishes]
            response, data = self.connection.exchange(requests, "POST", "/jobs", body, key)
            if response and response.status not in (408, 503):
                return self._hear_of_all(requests, response, data, wishes)
            time.sleep(self.random.random() * 0.05)

    def _hear_of_all(self, requests, response, data, wishes):
        said = json.loads(data)
        for request, wish, each in zip(requests, wishes, said.get("jobs", [said] * len(wishes))):
            request.status, request.code = response.status, each.get("error", {}).get("code")
            request.id, request.end = each.get("id"), now()
            if request.id:
                self.mine.append((request.id, wish.job.kind))

    def do_something(self):
        what = self.random.choices(("get", "delete", "put", "put signal", "delete signal"), (66, 6, 10, 17, 1))[0]
        if "signal" in what:
            signal, level = f"s{self.random.randrange(clients.SIGNALS)}", self.random.choice(LEVELS[:2])[0]
            target = f"/signals/{signal}" + (f"?priority={level}" if what == "put signal" else "")
            self.connection.ask(what, signal, what.split()[0].upper(), target)
        elif self.mine:
            id, kind = self.random.choice(self.mine[-100:])
            if what == "get":
                self.look_at(id, kind)
            elif what == "delete":
                self.connection.ask(what, id, "DELETE", f"/jobs/{id}")
            else:
                level = self.random.choice(LEVELS[:2])[0]
                self.connection.ask(what, id, "PUT", f"/jobs/{id}?priority={level}")


class Prober(Client):
    """Asks for urgent jobs, one by one."""

    def act(self):
        wish = Wish.urgent(f"urgent-{len(self.mine)}-{now()}")
        self.run.history.urgent.add(wish.job.name)
        self.submit(wish)
        time.sleep(SECONDS_BETWEEN_PROBES)
