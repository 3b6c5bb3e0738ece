"""Nodes: tasks, reactions and messages, as they stand in the lists of loops, clusters and promises."""

import collections

import gdb

from . import program
from .names import NO_NAME, Tables, coroutine_name

RESUMING = ("PromiseAwaiter", "FrameContinuation", "ContinuationReaction")
MOST_NODES = 1_000_000  # of one list, which may be a ring if a thread was changing it when it stopped
TELL_EVERY = 100_000

LEVELS = ("background", "background continuation", "user-visible", "user-visible continuation", "user-blocking",
          "user-blocking continuation")
PRIORITIES = ("background", "user-visible", "user-blocking")

Node = collections.namedtuple("Node", "address kind name level is_aborted signal scheduler")
Node.__doc__ = """A node as commands show it. `level` is that of a task with a priority of its own; None for those that
follow their signal's. `signal` is the address of its abort source, or 0; so is `scheduler`."""


Task = collections.namedtuple("Task", "level phase scheduler")


class Tasks:
    """Reads what all tasks have (SchedulerTask)."""

    def __init__(self):
        kind = program.type_of("detail::SchedulerTask")
        self._size = kind.sizeof
        names = ("priority", "is_continuation", "is_dynamic", "has_control", "phase_", "scheduler")
        self._at = {name: program.offset_of(kind, name) for name in names}
        self._phases = program.names_of_enum("detail::TaskPhase")
        self._links = program.offset_of(program.type_of("detail::ControlledTask"), "links")
        self._signal = program.offset_of(program.type_of("detail::SignalLinks"), "signal")

    def read(self, address):
        data = program.read_bytes(address, self._size)
        level = None
        if not data[self._at["is_dynamic"]]:
            level = 2 * data[self._at["priority"]] + data[self._at["is_continuation"]]
        return Task(level, self._phases.get(data[self._at["phase_"]], ""),
                    program.read_word(address + self._at["scheduler"]))

    def phase(self, address):
        return self._phases.get(program.read_bytes(address + self._at["phase_"], 1)[0], "")

    def signal(self, address):
        if not program.read_bytes(address + self._at["has_control"], 1)[0]:
            return 0
        links = program.read_word(address + self._links)
        return program.read_word(links + self._signal) if links else 0


class Nodes:
    """Reads nodes. One object serves one command: what it has looked up may change when the program runs."""

    def __init__(self):
        self.tables = Tables()
        node, state = program.type_of("detail::LoopNode"), program.type_of("detail::SchedulingState")
        self._next, self._ops = (program.offset_of(node, name) for name in ("next", "ops"))
        self._reaction = program.type_of("detail::Reaction")
        self._captured = program.offset_of(self._reaction, "captured") + program.offset_of(
            program.type_of("detail::CapturedState"), "state_")
        self._abort_source, self._state_scheduler = (
            program.offset_of(state, name) for name in ("abort_source", "scheduler"))
        self._ops_type = program.type_of("detail::LoopNodeOps")
        self._text = program.offset_of(program.type_of("TaskLabel"), "text_")
        self._tasks = Tasks()
        self._kinds, self._labels = {}, {}
        self.was_cut = False  # whether a list was too long
        self._count = 0

    def each(self, address):
        """The addresses of a list of nodes, in its order. Ends after MOST_NODES."""
        for _ in range(MOST_NODES):
            if address == 0:
                return
            self._count += 1
            if self._count % TELL_EVERY == 0:
                gdb.write(f"heist: looked at {self._count} nodes ...\n")
                gdb.flush()
            yield address
            address = program.read_word(address + self._next)
        self.was_cut = True

    def newest_first(self, address):
        """The same for a list that is linked newest first: oldest first."""
        return list(self.each(address))[::-1]

    def type_name(self, address):
        """The type of the node without namespaces, and its template arguments."""
        return self.tables.owner(program.read_word(address + self._ops))

    def name(self, address):
        """What a user knows of the node: its label, and the type of the callback, or the coroutine that goes on."""
        label = self._label(address)
        return f'{self._name_of_type(address)} "{label}"' if label else self._name_of_type(address)

    def _label(self, address):
        """The text of the task's TaskLabel, or None."""
        table = program.read_word(address + self._ops)
        if table not in self._labels:  # how far behind the node its label stands, or 0
            self._labels[table] = int(program.member(program.at(self._ops_type, table), "label_at"))
        at = self._labels[table]
        return program.read_text(program.read_word(address + at + self._text)) if at else None

    def _name_of_type(self, address):
        kind, arguments = self.type_name(address)
        if kind is None:
            return NO_NAME
        frame = self.coroutine_of(address, kind)
        if frame:
            return f"coroutine {coroutine_name(frame)}"
        if kind == "ThenNode":
            return f"then({program.short(arguments[2])})"
        if kind == "PromiseTask" and arguments[0].endswith("::Turn"):
            return "a yield"
        return program.short(arguments[0]) if arguments else kind

    def coroutine_of(self, address, kind=None):
        """The frame of the coroutine that the node resumes, or 0."""
        kind = kind or self.type_name(address)[0]
        if kind == "SignalledContinuation":
            waiting = program.offset_of(program.type_of("detail::SignalledContinuation"), "waiting_")
            address, kind = program.read_word(address + waiting), "ContinuationReaction"  # a reference is a pointer
        if kind in RESUMING:
            return program.read_word(address + self.offset_of_handle(kind))
        return 0

    def offset_of_handle(self, kind):
        """Where a node of this type has the coroutine's handle, which is one pointer."""
        if kind == "PromiseAwaiter":  # it stands behind the reaction and the promise, whatever type that has
            return self._reaction.sizeof + program.WORD
        known = program.type_of(f"detail::{kind}")
        return program.offset_of(known, "coroutine_") + program.offset_of(
            program.type_of("detail::SuspendedCoroutine"), "handle_")

    def awaited_by(self, address, kind):
        """The state of the promise by which a PromiseAwaiter or a ContinuationReaction is resumed, or 0."""
        if kind == "PromiseAwaiter":
            return program.read_word(address + self._reaction.sizeof)
        return program.read_word(address + program.offset_of(program.type_of(f"detail::{kind}"), "continuation_"))

    def read(self, address):
        """The Node at an address."""
        kind = self.kind(address)
        if kind == "task":
            return self._read_task(address)
        return Node(address, kind, self.name(address), None, False, self.signal(address),
                    program.read_word(address + self._captured + self._state_scheduler))

    def _read_task(self, address):
        task = self._tasks.read(address)
        return Node(address, "task", self.name(address), task.level, task.phase == "aborted", self.signal(address),
                    task.scheduler)

    def signal(self, address):
        """The address of the abort source of a task or a reaction, or 0."""
        if self.kind(address) == "task":
            return self._tasks.signal(address)
        return program.read_word(address + self._captured + self._abort_source)

    def kind(self, address):
        """task, microtask, message or forked."""
        table = program.read_word(address + self._ops)
        if table not in self._kinds:
            ops = program.at(self._ops_type, table)
            self._kinds[table] = str(program.member(ops, "kind")).rsplit("::", 1)[-1]
        return self._kinds[table]


def priority_name(value):
    """The name of a TaskPriority, as the specification has it."""
    number = int(value)
    return PRIORITIES[number] if 0 <= number < len(PRIORITIES) else f"invalid ({number})"
