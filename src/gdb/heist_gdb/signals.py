"""Signals: their priority, whether they are aborted, and what is registered with them."""

import gdb

from . import program
from .nodes import MOST_NODES, priority_name

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
        counts = {"task": 0, "listener": 0, "dependent": 0}
        registries = [program.member(self.core, "abort_registry_")]
        if self.priority_part() is not None:
            registries.append(program.member(self.priority_part(), "registry_"))
        for registry in registries:
            for registration in _registrations(registry):
                kind = str(program.members(registration, "ops.kind")).rsplit("::", 1)[-1]
                counts[kind] += _is_live(registration, kind)
        return counts


def _registrations(registry):
    closed = program.symbol_of_static("detail::Registry::closed_mark")
    current = program.loaded(program.member(registry, "head_"))
    for _ in range(MOST_NODES):
        if int(current) in (0, closed):
            return
        yield current.dereference()
        current = program.loaded(program.member(current.dereference(), "older"))


def _is_live(registration, kind):
    address = program.address_of(registration)
    if kind == "task":
        links = program.at(program.type_of("detail::SignalLinks"), address)
        phase = program.loaded(program.member(program.member(links, "task").referenced_value(), "phase_"))
        return str(phase).rsplit("::", 1)[-1] in ("posted", "started", "aborted", "aborted_running")
    if kind == "listener":
        listener = program.at(program.type_of("detail::Listener"), address)
        phase = str(program.loaded(program.member(listener, "phase_"))).rsplit("::", 1)[-1]
        return phase in ("idle", "running")
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
