"""Nodes: tasks, reactions and messages, as they stand in the lists of loops, clusters and promises."""

import collections

from . import program
from .names import NO_NAME, Tables, coroutine_name

RESUMING = ("PromiseAwaiter", "FrameContinuation", "ContinuationReaction")
MOST_NODES = 100_000  # of one list; a longer one is counted so far only

LEVELS = ("background", "background continuation", "user-visible", "user-visible continuation", "user-blocking",
          "user-blocking continuation")
PRIORITIES = ("background", "user-visible", "user-blocking")

Node = collections.namedtuple("Node", "address kind name level is_aborted signal scheduler")
Node.__doc__ = """A node as commands show it. `level` is that of a task with a priority of its own; None for those that
follow their signal's. `signal` is the address of its abort source, or 0; so is `scheduler`."""


class Nodes:
    """Reads nodes. One object serves one command: what it has looked up may change when the program runs."""

    def __init__(self):
        self.tables = Tables()
        node, task = program.type_of("detail::LoopNode"), program.type_of("detail::SchedulerTask")
        self._next = program.offset_of(node, "next")
        self._ops = program.offset_of(node, "ops")
        self._scheduler = program.offset_of(task, "scheduler")
        self._reaction = program.type_of("detail::Reaction")
        self._task = task
        self._kinds = {}

    def each(self, address):
        """The addresses of a list of nodes, in its order. Ends after MOST_NODES."""
        for _ in range(MOST_NODES):
            if address == 0:
                return
            yield address
            address = program.read_word(address + self._next)

    def newest_first(self, address):
        """The same for a list that is linked newest first: oldest first."""
        return list(self.each(address))[::-1]

    def type_name(self, address):
        """The type of the node without namespaces, and its template arguments."""
        return self.tables.owner(program.read_word(address + self._ops))

    def name(self, address):
        """What a user knows of the node: the type of the callback, or the coroutine that goes on."""
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
        state = program.members(program.at(self._reaction, address), "captured.state_")
        return Node(address, kind, self.name(address), None, False,
                    int(program.member(state, "abort_source")), int(program.member(state, "scheduler")))

    def _read_task(self, address):
        task = program.at(self._task, address)
        level = None
        if not int(program.member(task, "is_dynamic")):
            level = 2 * int(program.member(task, "priority")) + int(program.member(task, "is_continuation"))
        phase = str(program.loaded(program.member(task, "phase_"))).rsplit("::", 1)[-1]
        signal = 0
        if int(program.member(task, "has_control")):
            links = program.member(program.at(program.type_of("detail::ControlledTask"), address), "links")
            signal = int(program.member(links.dereference(), "signal")) if int(links) else 0
        return Node(address, "task", self.name(address), level, phase == "aborted", signal,
                    program.read_word(address + self._scheduler))

    def kind(self, address):
        """task, microtask, message or forked."""
        table = program.read_word(address + self._ops)
        if table not in self._kinds:
            ops = program.at(program.type_of("detail::LoopNodeOps"), table)
            self._kinds[table] = str(program.member(ops, "kind")).rsplit("::", 1)[-1]
        return self._kinds[table]


def priority_name(value):
    """The name of a TaskPriority, as the specification has it."""
    number = int(value)
    return PRIORITIES[number] if 0 <= number < len(PRIORITIES) else f"invalid ({number})"
