"""A history by the jobs' ids, as the rules of history_check.py look at it."""

import dataclasses

from history import ENDS

# A program that was started earlier may note its start a little later: 0.01 s in 70 urgent jobs, where ten programs
# wanted each of two processors. A disk that stalls, or a processor that others have, may take a second.
TOLERANCE = 1.5  # seconds
GRAIN = 0.02  # seconds: the times of starts are cut off at hundredths
RAN = ("running", "done", "failed", "dead")  # a job in one of these states has been started


@dataclasses.dataclass
class Problem:
    rule: str
    job: str  # its name or id
    text: str
    events: list

    def __str__(self):
        return "\n    ".join([f"{self.rule}: job {self.job}: {self.text}", *self.events])


@dataclasses.dataclass
class Seen:
    """A job was in this state at some time between the two."""

    begin: float
    end: float
    state: str
    source: str
    value: str | None = None
    server: int = 0


class Lists(dict):
    """Lists by a key. Whoever looks at one that is not there adds none, so that a rule may ask for a key as it goes."""

    def add(self, key, item):
        self.setdefault(key, []).append(item)

    def __missing__(self, _key):
        return []


class Facts:
    """A history by the jobs' ids."""

    def __init__(self, history):
        self.history = history
        self.names = {}  # of the jobs, by their ids
        self.accepted = {}  # the request that was told so first, by id
        self.deletions = Lists()
        self.signal_deletions = Lists()  # by client and name
        self.gone = Lists()  # requests that did not find it
        self.seen = Lists()
        self.starts = Lists()  # by name
        for start in history.starts:
            self.starts.add(start.name, start)
        for request in history.requests:
            self._add(request)
        self._add_rows()
        self.ids = {}  # by name
        for id, name in self.names.items():
            self.ids.setdefault(name, set()).add(id)
        for seen in self.seen.values():
            seen.sort(key=lambda each: each.end)

    def _add(self, request):
        if request.what == "submit" and request.id:
            self.names[request.id] = request.about
            first = self.accepted.setdefault(request.id, request)
            self.accepted[request.id] = min(first, request, key=lambda each: each.end)
        if request.what == "delete":
            self.deletions.add(request.about, request)
        if request.what == "delete signal":
            self.signal_deletions.add((request.client, request.about), request)
        if request.what in ("get", "result", "delete") and request.status == 404:
            self.gone.add(request.about, request)
        if request.id and request.state:
            told = Seen(request.begin, request.end, request.state, request.what, request.value, request.server)
            self.seen.add(request.id, told)

    def _add_rows(self):
        keys = {job.key: name for name, job in self.history.jobs.items() if job.key}
        for id, rows in self.history.rows.items():
            for number, row in rows:
                view = self.history.views[number]
                if row is None:
                    continue
                name = row.name or keys.get(row.key)
                if name:
                    self.names.setdefault(id, name)
                self.seen.add(id, Seen(view.time, view.time, row.state, "journal", row.value, view.server))

    def job(self, id):
        return self.history.jobs.get(self.names.get(id))

    def starts_of(self, id):
        """None are known when other jobs came of the same request, as one was aborted."""
        name = self.names.get(id)
        return self.starts[name] if self.ids.get(name) == {id} else []

    def was_asked_to_delete(self, id, time):
        return any(request.begin < time for request in self.deletions[id])

    def was_asked_to_abort(self, id, acceptance, time):
        """Also by a deletion of its signal, unless that was over before the accepted request began."""
        job = self.job(id)
        deletions = self.signal_deletions[job.client, job.signal]
        by_signal = any(each.begin < time and (each.end is None or each.end > acceptance.begin) for each in deletions)
        return by_signal or self.was_asked_to_delete(id, time)

    def came_as_it_was_aborted(self, id, start):
        """Whether the job was being aborted when this start may have been counted, which is a while before its time."""
        job = self.job(id)
        aborts = self.deletions[id] + self.signal_deletions[job.client, job.signal]
        return any(each.begin <= start.time + GRAIN and (each.end is None or start.time <= each.end + TOLERANCE)
                   for each in aborts)

    def may_have_ended_badly(self, id):
        """Whether it may have ended without being done."""
        ended = self.ended(id) if id else None
        return ended.state != "done" if ended else id in self.deletions

    def ran_by(self, id):
        """A time at which it had been started, or None."""
        times = [start.time for start in self.starts_of(id)]
        times += [seen.end for seen in self.seen[id] if seen.state in RAN]
        return min(times, default=None)

    def was_trouble(self, prompt):
        """Whether writes failed, or its server stood still, while it waited for its start."""
        return any(begin < prompt.start and end > prompt.accepted for begin, end in self.history.troubles)

    def row_at(self, id, view):
        """The row in the view of this number, or None."""
        found = None
        for number, row in self.history.rows.get(id, []):
            if number <= view:
                found = row
        return found

    def last_row(self, id):
        return self.row_at(id, len(self.history.views))

    def ended(self, id):
        """When it was first seen at its end."""
        return next((seen for seen in self.seen[id] if seen.state in ENDS), None)

    def problem(self, rule, id, text):
        """With what happened to the job, and to the one before it."""
        events, job = self.events(id), self.job(id)
        if job and job.after:
            events += [f"and to {job.after}, before it:", *self.events(job.after)]
        return Problem(rule, f"{id} ({self.names.get(id, 'nameless')})", text, events)

    def events(self, id):
        lines = [(seen.begin, f"{seen.source}: {seen.state} {seen.value or ''}") for seen in self.seen[id]
                 if seen.source != "journal"]
        lines += [(start.time, f"start by server {start.server}") for start in self.starts_of(id)]
        lines += [(each.begin, f"delete: {each.status or 'no answer'} {each.code or ''}") for each in self.deletions[id]]
        lines += [(each.begin, f"{each.what}: 404") for each in self.gone[id]]
        for number, row in self.history.rows.get(id, []):
            lines.append((self.history.views[number].time, f"journal: {row or 'nothing'}"))
        name = self.names.get(id)
        for request in self.history.requests:
            if request.what == "submit" and request.about == name:
                lines.append((request.begin, f"submit: {request.status or 'no answer'} {request.code or ''} {request.id}"))
        lines.sort()
        first = lines[0][0] if lines else 0
        return [f"{time - first:9.3f} s  {text}" for time, text in lines]
