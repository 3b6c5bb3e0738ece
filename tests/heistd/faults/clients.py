"""Clients that ask a server for jobs, however often it dies meanwhile, and remember what they were told."""

import hashlib
import http.client
import json
import random
import threading
import time

from history import Job, Request, now
from journal_view import value_of

PRIORITIES = ("background", "user-visible", "user-blocking")
SIGNALS = 6
KILLERS = 250  # of so many jobs one kills its server
FOLLOWERS = 0.3  # of the jobs come after one that their client has asked for lately
PATIENCE = 240  # seconds: far more than anything takes


class Wish:
    """A job that a client wants, and the request for it."""

    def __init__(self, client, name, number, random, earlier=()):
        kind = random.choices(("digest", "work"), (55, 45))[0]
        does = random.choices(("", "pause", "fail"), (60, 30, 10))[0] if kind == "work" else ""
        if number % KILLERS == KILLERS // 4:
            kind, does = "work", "kill"
        size = 300_000 if random.random() < 0.02 else random.randrange(4000)
        self.body = f"{name}\n".encode() + random.randbytes(size)
        self.job = Job(name, client, kind, name if kind == "work" else hashlib.sha256(self.body).hexdigest(), does)
        self.job.key = f"key-of-{name}" if random.random() < 0.6 else None
        self.job.max_attempts = random.choice((1, 2, 3, 3, 3, 4))
        self._choose_place(random, earlier)
        self.target = self._target(random)

    def _choose_place(self, random, earlier):
        if random.random() < 0.3:
            self.job.signal = f"s{random.randrange(SIGNALS)}"
        elif random.random() < 0.6:
            self.job.priority = random.choice(PRIORITIES)
        if random.random() < 0.1:
            self.job.delay = random.randrange(1, 800)
        if random.random() < FOLLOWERS and earlier:
            self.job.after = random.choice(earlier)

    def _target(self, random):
        job, query = self.job, {}
        if job.kind == "work":
            query = {"name": job.name, "does": job.does, "hundredths": f"{random.randrange(30):02}"}
        query["max_attempts"] = job.max_attempts
        query.update({name: getattr(job, name) for name in ("signal", "priority", "delay", "after") if getattr(job, name)})
        if random.random() < 0.15:
            query["wait"] = 1
        return f"/jobs/{job.kind}?" + "&".join(f"{name}={value}" for name, value in query.items())


class Connection:
    """One client's connection, kept alive as long as its server lives."""

    def __init__(self, client, token, servers, history):
        self.client, self.token, self.servers, self.history = client, token, servers, history
        self.http, self.server = None, None

    def close(self):
        if self.http:
            self.http.close()

    def _connect(self):
        server = self.servers.wait_for_one()
        if self.http is None or server is not self.server:
            self.close()
            self.server = server
            self.http = server.connection()
        if self.http.sock is None:
            self.http.connect()

    def ask(self, what, about, method, target, body=None, key=None, kind=None):
        """The request, or None if it was never sent."""
        request = Request(what, about, self.client, now())
        response, data = self.exchange([request], method, target, body, key)
        if response:
            hear(request, response, data, kind)
        return request if request.server else None

    def exchange(self, requests, method, target, body=None, key=None):
        """Sends a request, which is all of these, and notes them; the response and its body, or None and None."""
        try:
            self._connect()
        except OSError:
            time.sleep(0.01)  # the server has just died
            return None, None
        headers = {"Authorization": f"Bearer {self.token}", **({"Idempotency-Key": key} if key else {})}
        begin = now()
        for request in requests:
            request.begin, request.server = begin, self.server.number
        self.history.requests += requests
        try:
            self.http.request(method, target, body=body, headers=headers)
            response = self.http.getresponse()
            return response, response.read()
        except (OSError, http.client.HTTPException):
            self.close()
            return None, None


def hear(request, response, data, kind):
    """Notes what was answered."""
    location = response.getheader("Location")
    is_json = response.getheader("Content-Type") == "application/json"
    said = json.loads(data) if is_json else {}
    request.status, request.code = response.status, said.get("error", {}).get("code")
    if "state" in said:
        request.code = None  # it is the job's
    request.id = location.rpartition("/")[2] if location else said.get("id")
    if request.status in (200, 202):
        request.state = said.get("state")
        if request.state == "done" and kind == "digest":
            request.value = said["result"]["sha256"]
        if not is_json:
            request.state, request.value = "done", value_of(kind, data)
    elif request.what == "submit" and request.id:
        request.state = {409: "aborted", 422: "failed"}.get(request.status)
    request.end = now()


class Client:
    """Asks for jobs until there are enough of them, and does this and that with those it has."""

    def __init__(self, number, run):
        self.number, self.run = number, run
        self.name = run.client_names[number % len(run.client_names)]
        self.random = random.Random(f"{run.seed}/{number}")
        self.connection = Connection(self.name, run.tokens[self.name], run.servers, run.history)
        self.mine = []  # (id, kind)
        self.error = None
        self.thread = threading.Thread(target=self._work, daemon=True)

    def _work(self):
        try:
            while (number := self.run.next_number()) is not None:
                name, earlier = f"{self.name}-{self.number}-{number}", [id for id, _ in self.mine[-2:]]
                self.submit(Wish(self.name, name, number, self.random, earlier))
                for _ in range(self.random.randrange(3)):
                    self.do_something()
                time.sleep(self.random.choice((0, 0, 0.02, 0.1, 0.3)))
        except Exception as error:  # noqa: BLE001: the test tells it
            self.error = error
        finally:
            self.connection.close()

    def submit(self, wish):
        """Asks again for a job that has a key until it is answered; others are asked for once."""
        job = wish.job
        self.run.history.jobs[job.name] = job
        while True:
            asked = self.connection.ask("submit", job.name, "POST", wish.target, wish.body, job.key, job.kind)
            if asked and asked.id:
                self.mine.append((asked.id, job.kind))
            is_answered = asked and asked.end is not None and asked.status not in (408, 503)
            if is_answered or (asked and not job.key) or self.run.is_over:
                return
            time.sleep(self.random.random() * 0.05)

    def do_something(self):
        what = self.random.choices(("get", "delete", "put signal", "delete signal"), (70, 15, 11, 4))[0]
        signal = f"s{self.random.randrange(SIGNALS)}"
        if what == "put signal":
            self.connection.ask(what, signal, "PUT", f"/signals/{signal}?priority={self.random.choice(PRIORITIES)}")
        elif what == "delete signal":
            self.connection.ask(what, signal, "DELETE", f"/signals/{signal}")
        elif self.mine:
            id, kind = self.random.choice(self.mine[-20:])
            self.look_at(id, kind) if what == "get" else self.connection.ask(what, id, "DELETE", f"/jobs/{id}")

    def look_at(self, id, kind):
        """What a program wrote is no part of its job's description."""
        asked = self.connection.ask("get", id, "GET", f"/jobs/{id}", kind=kind)
        if asked and asked.state == "done" and kind == "work":
            result = self.connection.ask("result", id, "GET", f"/jobs/{id}/result", kind=kind)
            if result and result.status == 200:
                result.id = id
