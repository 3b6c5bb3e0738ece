"""What is known of a run of several servers with one queue, as one file of lines of JSON.

Each line is an object with one member: the name of the list that it belongs to, and what stands there. The first line
is the `head`. All times are those of history.py.
"""

import dataclasses
import json

from history import History, Job, Request, Row, View


@dataclasses.dataclass
class Run:
    """A program of an attempt. Without an end it was killed."""

    id: str
    attempt: int
    process: int
    begin: float
    end: float | None = None
    will_retry: bool = False  # it has said that its failure may go away


@dataclasses.dataclass
class Process:
    """The life of a server's process. The link is the number of its connection to the database."""

    number: int
    link: int
    begin: float  # it takes requests
    end: float | None = None


@dataclasses.dataclass
class Fault:
    """Where it has no link, it was the database's."""

    what: str
    begin: float
    end: float | None = None
    link: int | None = None


@dataclasses.dataclass(frozen=True)
class LastRow(Row):
    """What the database held of a job at the end."""

    ended: float | None = None


@dataclasses.dataclass
class ClusterHistory(History):
    runs: list = dataclasses.field(default_factory=list)
    processes: list = dataclasses.field(default_factory=list)
    faults: list = dataclasses.field(default_factory=list)
    urgent: set = dataclasses.field(default_factory=set)  # names of jobs that are to start at once
    head: dict = dataclasses.field(default_factory=dict)  # seed and so on
    last: dict = dataclasses.field(default_factory=dict)  # rows at the end, by id

    def add_last(self, time, rows):
        self.last = rows
        self.add_view(View(time, 0), rows)

    def save(self, path):
        with open(path, "w", encoding="utf-8") as file:
            for kind, each in self._lines():
                file.write(json.dumps({kind: each}) + "\n")

    def _lines(self):
        time = self.views[0].time if self.views else None
        yield "head", {**self.head, "urgent": sorted(self.urgent), "looked_at": time}
        lists = {"job": self.jobs.values(), "request": self.requests, "run": self.runs, "process": self.processes,
                 "fault": self.faults}
        for kind, all in lists.items():
            for each in all:
                yield kind, dataclasses.asdict(each)
        for id, row in self.last.items():
            yield "row", {"id": id, "row": dataclasses.asdict(row)}


def load(path):
    history, rows = ClusterHistory(), {}
    lists = {"request": (Request, history.requests), "run": (Run, history.runs), "process": (Process, history.processes),
             "fault": (Fault, history.faults)}
    with open(path, encoding="utf-8") as file:
        for line in file:
            ((kind, each),) = json.loads(line).items()
            if kind == "head":
                history.head, history.urgent = each, set(each.pop("urgent"))
            elif kind == "job":
                history.jobs[each["name"]] = Job(**each)
            elif kind == "row":
                rows[each["id"]] = LastRow(**each["row"])
            else:
                type, all = lists[kind]
                all.append(type(**each))
    time = history.head.pop("looked_at")
    if time is not None:
        history.add_last(time, rows)
    return history
