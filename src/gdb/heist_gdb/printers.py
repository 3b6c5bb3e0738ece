"""Pretty printers of the public handles: what `print` and `info locals` show of them."""

import gdb
import gdb.printing

from . import homes, names, program, signals
from .nodes import priority_name

ANY_MANAGER = "std::any::_Manager_"  # a function of libstdc++ whose name has the type that a std::any holds


class Printer:
    """Shows a handle by one line. An error becomes a part of that line, as a printer must not fail."""

    def __init__(self, describe, value):
        self._describe = describe
        self._value = value

    def to_string(self):
        try:
            return self._describe(self._value)
        except (gdb.error, gdb.GdbError, gdb.MemoryError) as error:
            return f"<{str(error).removeprefix('heist: ')}>"


class PromisePrinter:
    """Shows the status of a Promise; its value or its reason is a child."""

    def __init__(self, value):
        self._value = value

    def _state(self):
        target = program.member(program.member(self._value, "state_"), "target_")
        return target.dereference() if int(target) else None

    def to_string(self):
        kind = program.short(str(self._value.type.strip_typedefs().unqualified()))
        try:
            state = self._state()
            return f"{kind} (moved from)" if state is None else f"{kind} ({_status(state)})"
        except (gdb.error, gdb.GdbError, gdb.MemoryError) as error:
            return f"{kind} <{str(error).removeprefix('heist: ')}>"

    def children(self):
        try:
            state = self._state()
            if state is not None and _status(state) == "rejected":
                return [("reason", program.member(state, "reason_"))]
            if state is not None and bool(program.member(state, "has_value_")):
                return _value_of(self._value.type, program.member(state, "value_"))
        except (gdb.error, gdb.GdbError, gdb.MemoryError):
            pass
        return []


def _status(state):
    return str(program.loaded(program.member(state, "status_"))).rsplit("::", 1)[-1]


def _value_of(promise, stored):
    """The value as the promise's type has it: a reference is stored as a pointer, and void as an empty struct."""
    kind = promise.strip_typedefs().template_argument(0)
    if kind.code == gdb.TYPE_CODE_VOID:
        return []
    is_reference = kind.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF)
    return [("value", stored.dereference() if is_reference else stored)]


def _signal(value):
    name = str(value.type.strip_typedefs().unqualified()).rsplit("::", 1)[-1]
    if program.target_of(program.member(value, "core_")) is None:
        return f"{name} (moved from)"
    signal = signals.signal_of(value)
    words = [signal.priority(), "aborted" if signal.aborted() else "not aborted"]
    return f"{name} ({', '.join(word for word in words if word)}, signal {signal.address:#x})"


def _scheduler(value):
    if program.target_of(program.member(value, "home_")) is None:
        return "Scheduler (moved from)"
    core = program.member(value, "core_").dereference()
    words = [f"of {homes.home_of(value).title()}"]
    ceiling = priority_name(program.member(core, "ceiling"))
    if ceiling != "user-blocking":
        words.append(f"up to {ceiling}")
    # The last change's number is even once it was resumed (SuspendedTasks); a loop's agent has a flag.
    changes = int(program.loaded(program.members(core, "held_stealable.changes_")))
    if bool(program.member(core, "suspended")) or changes % 2 == 1:
        words.append("suspended")
    return f"Scheduler ({', '.join(words)})"


def _event_loop(value):
    loop = homes.home_of(value)
    return f"EventLoop ({loop.title()}{', closed' if loop.is_closed() else ''}, {homes.tasks_run(loop)})"


def _agent(value):
    loop = homes.home_of(value)
    does = "closed" if loop.is_closed() else "sleeps" if loop.sleeps() else "awake"
    return f"Agent ({loop.title()}, {does}, {homes.tasks_run(loop)})"


def _agent_cluster(value):
    home = homes.home_of(value)
    agents = home.agents() if isinstance(home, homes.Cluster) else 1
    return f"AgentCluster ({home.title()}, {agents} {'agent' if agents == 1 else 'agents'})"


def _reason(value):
    box = program.target_of(program.member(value, "box_"))
    return "no reason" if box is None else _in_box(box)


def _in_box(box):
    if bool(program.member(box, "is_abort_")):
        return "AbortError, of an abort without a reason"
    thrown = program.read_word(program.address_of(program.member(box, "exception_")))
    if thrown:
        return _exception(thrown)
    manager = program.symbol_at(int(program.member(program.member(box, "value_"), "_M_manager"))) or ""
    kind = names.split_template(manager.rpartition("::_S_manage")[0])[1] if ANY_MANAGER in manager else []
    return f"a value of type {kind[0]}" if kind else "a value"


def _exception(thrown):
    """The type of an exception that has virtual functions: its table of them has a symbol."""
    table = gdb.execute(f"info symbol {program.read_word(thrown):#x}", to_string=True)
    if not table.startswith("vtable for "):
        return f"an exception at {thrown:#x}"
    return f"exception {program.short(table.removeprefix('vtable for ').split(' + ', 1)[0])} at {thrown:#x}"


def register():
    collection = gdb.printing.RegexpCollectionPrettyPrinter("heist")
    collection.add_printer("Promise", f"^{program.NAMESPACE}Promise<.*>$", PromisePrinter)
    described = {"AbortSignal": _signal, "TaskSignal": _signal, "AbortController": _signal, "TaskController": _signal,
                 "Scheduler": _scheduler, "EventLoop": _event_loop, "Agent": _agent, "AgentCluster": _agent_cluster,
                 "Reason": _reason, "TaskPriority": priority_name}
    for name, describe in described.items():
        collection.add_printer(name, f"^{program.NAMESPACE}{name}$",
                               lambda value, describe=describe: Printer(describe, value))
    gdb.printing.register_pretty_printer(None, collection, replace=True)
