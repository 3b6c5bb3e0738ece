"""What is known of a run: what clients asked and were told, which programs were started, and what the journal held.

All times are seconds since the machine was started, as /proc/uptime has them: programs can read that, too.
"""

import dataclasses
import json
import time

# A job's states in the journal, by their numbers.
STORED = ("queued", "running", "done", "failed", "aborted", "dead")
ENDS = ("done", "failed", "aborted", "dead")


def now():
    return time.clock_gettime(time.CLOCK_BOOTTIME)


@dataclasses.dataclass
class Job:
    """A job that a client wants, under a name that no other has. It may be asked for more than once."""

    name: str
    client: str
    kind: str
    result: str  # what it must give: a digest's SHA-256, the name of a program's job
    does: str = ""  # what its program does besides
    key: str | None = None
    signal: str | None = None
    priority: str | None = None
    delay: int = 0
    after: str | None = None  # the id of the job that this one comes after
    max_attempts: int = 3


@dataclasses.dataclass
class Request:
    """What a client asked. Without an end it was never answered, and may have been done or not."""

    what: str  # "submit", "get", "result", "delete", "put signal" or "delete signal"
    about: str  # the job's name, its id, or the signal's name
    client: str
    begin: float
    end: float | None = None
    status: int | None = None
    code: str | None = None  # of a refusal
    id: str | None = None  # of the job
    state: str | None = None
    value: str | None = None  # its result
    server: int = 0

    @property
    def refused(self):
        return self.end is not None and self.id is None and self.status >= 400


@dataclasses.dataclass
class Start:
    """A program was started for a job."""

    name: str
    server: int
    time: float


@dataclasses.dataclass(frozen=True)
class Row:
    """What the journal held of a job."""

    state: str
    attempt: int = 0
    forgiven: int = 0
    max_attempts: int = 3
    name: str | None = None  # where the journal has it: the job's, from its parameters
    key: str | None = None
    has_payload: bool = False
    needs_payload: bool = False  # it had an upload, and may need it again
    has_result: bool = False
    needs_result: bool = False
    value: str | None = None
    after: str | None = None
    follows: bool = False  # it still waits for that job


@dataclasses.dataclass
class View:
    """What a server had left behind."""

    time: float
    server: int  # the number of the latest one
    orphans: int = 0  # results of no job


@dataclasses.dataclass
class Server:
    """A server's life."""

    number: int
    begin: float
    end: float | None = None
    how: str = ""  # it ended: "killed", "lost power", "told to"


@dataclasses.dataclass
class History:
    jobs: dict = dataclasses.field(default_factory=dict)  # by name
    requests: list = dataclasses.field(default_factory=list)
    starts: list = dataclasses.field(default_factory=list)
    servers: list = dataclasses.field(default_factory=list)
    views: list = dataclasses.field(default_factory=list)
    rows: dict = dataclasses.field(default_factory=dict)  # by id: (number of the view, row or None), where it changed
    troubles: list = dataclasses.field(default_factory=list)  # (begin, end): writes failed, or the server stood still

    def add_view(self, view, rows):
        number = len(self.views)
        self.views.append(view)
        for id in rows.keys() | self.rows.keys():
            row, seen = rows.get(id), self.rows.setdefault(id, [])
            if (seen[-1][1] if seen else None) != row:
                seen.append((number, row))

    def save(self, folder):
        """One file of lines of JSON for each of its lists."""
        folder.mkdir(parents=True, exist_ok=True)
        lists = {
            "jobs": self.jobs.values(),
            "requests": sorted(self.requests, key=lambda request: request.begin),
            "starts": self.starts,
            "servers": self.servers,
            "views": self.views,
        }
        lines = {name: [json.dumps(dataclasses.asdict(each)) for each in all] for name, all in lists.items()}
        lines["rows"] = [
            json.dumps({"id": id, "view": view, "row": row and dataclasses.asdict(row)})
            for id, seen in self.rows.items()
            for view, row in seen
        ]
        for name, texts in lines.items():
            (folder / f"{name}.jsonl").write_text("".join(f"{text}\n" for text in texts))
