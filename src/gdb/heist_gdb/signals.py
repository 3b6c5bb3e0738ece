"""Signals: their priority, whether they are aborted, and what is registered with them."""

import gdb

from . import program
from .nodes import MOST_NODES, Tasks, priority_name

PRIORITY_MASK = 3  # of SignalPriority's word
NOT_DELIVERED = 3  # in a follower that no value has reached yet


class Signal:
    """A signal (SignalCore)."""

    def __init__(self, core):
        self.core = core
        self.address = program.address_of(core)

    def aborted(self):
        return int(program.loaded(program.member(self.core, "reason_"))) != 0

    def kind(self):
        """What made it: a controller, any(), a timeout, a stop token, a lock."""
        form = str(program.member(self.core, "form_")).rsplit("::", 1)[-1]
        return {"plain": "AbortController", "controller": "TaskController", "dependent": "any()",
                "timeout": "timeout()", "stop": "stop token", "lent": "lent to a lock"}.get(form, form)

    def priority_part(self):
        """What only a TaskSignal has, or None."""
        if self._priority_kind() == "none":
            return None
        behind = int(program.member(self.core, "priority_at_"))
        return program.at(program.type_of("detail::SignalPriority"), self.address + behind)

    def _priority_kind(self):
        return str(program.member(self.core, "kind_")).rsplit("::", 1)[-1]

    def priority(self):
        """The priority that picks use, in words; None if the signal has none."""
        part = self.priority_part()
        if part is None:
            return None
        if self._priority_kind() == "own":
            return priority_name(int(program.loaded(program.member(part, "change_word_"))) & PRIORITY_MASK)
        delivered = int(program.loaded(program.member(part, "delivered_")))
        if self._priority_kind() == "fixed":
            return priority_name(delivered) + " (fixed)"
        return "follows another signal" if delivered == NOT_DELIVERED else priority_name(delivered) + " (followed)"

    def counts(self):
        """{"task": n, "listener": n, "dependent": n} of what is registered and has not ended."""
        registries = [program.member(self.core, "abort_registry_")]
        if self.priority_part() is not None:
            registries.append(program.member(self.priority_part(), "registry_"))
        return _Registrations().count(registries)


class _Registrations:
    """Counts what registries hold. Those are lists that only grow, until dead nodes are pruned."""

    def __init__(self):
        node, ops = program.type_of("detail::Registration"), program.type_of("detail::Registration::Ops")
        self._older, self._ops = (program.offset_of(node, name) for name in ("older", "ops"))
        self._kind = program.offset_of(ops, "kind")
        self._kinds = program.names_of_enum("detail::Registration::Kind")
        self._task = program.offset_of(program.type_of("detail::SignalLinks"), "task")
        self._tasks = Tasks()
        self._phase = program.offset_of(program.type_of("detail::Listener"), "phase_")
        self._phases = program.names_of_enum("detail::Listener::Phase")
        self._closed = program.symbol_of_static("detail::Registry::closed_mark")
        self._kind_of_table = {}

    def count(self, registries):
        counts = {"task": 0, "listener": 0, "dependent": 0}
        for registry in registries:
            node = int(program.loaded(program.member(registry, "head_")))
            for _ in range(MOST_NODES):
                if node in (0, self._closed):
                    break
                kind = self._kind_at(program.read_word(node + self._ops))
                counts[kind] += self._is_live(node, kind)
                node = program.read_word(node + self._older)
        return counts

    def _kind_at(self, table):
        if table not in self._kind_of_table:
            self._kind_of_table[table] = self._kinds[program.read_bytes(table + self._kind, 1)[0]]
        return self._kind_of_table[table]

    def _is_live(self, node, kind):
        if kind == "task":
            phase = self._tasks.phase(program.read_word(node + self._task))
            return phase in ("posted", "started", "aborted", "aborted_running")
        if kind == "listener":
            return self._phases.get(program.read_bytes(node + self._phase, 1)[0]) in ("idle", "running")
        return True


def signal_of(value):
    """The Signal that a handle or a controller, or a pointer to the state behind it, means."""
    value = program.plain_object(value)
    kind = value.type.strip_typedefs().unqualified()
    name = str(kind).rsplit("::", 1)[-1]
    if name == "SignalCore" or _is_derived(kind, "SignalCore"):
        return Signal(value.cast(program.type_of("detail::SignalCore")))
    if name in ("AbortSignal", "TaskSignal", "AbortController", "TaskController"):
        core = program.target_of(program.member(value, "core_"))
        if core is None:
            raise program.Trouble("heist: that handle was moved from.")
        return Signal(core)
    raise program.Trouble(f"heist: {value.type} is no signal. Name an AbortSignal, a TaskSignal or their controller.")


def _is_derived(kind, base):
    return kind.code == gdb.TYPE_CODE_STRUCT and any(
        field.is_base_class and (str(field.type).endswith(f"::{base}") or _is_derived(field.type, base))
        for field in kind.fields())
