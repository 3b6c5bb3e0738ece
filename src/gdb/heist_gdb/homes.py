"""Loops and clusters: how commands find them, and what an agent does.

The roots are the loops that threads drive, which a thread-local variable names. A loop that no thread drives at the
moment is found only by an expression.
"""

import contextlib

import gdb

from . import program

ASLEEP, CLOSED = 1, 2  # of an inbox's word
UNCOUNTED, MOVING = 1, 2  # marks of AgentActivity's word
FIND = ("Name what you look for, for example: heist agents scheduler, where scheduler is an EventLoop, an Agent, an"
        " AgentCluster or a Scheduler of the program.")


@contextlib.contextmanager
def kept_selection():
    """Comes back to the selected thread and frame."""
    thread = gdb.selected_thread()
    frame = gdb.selected_frame() if thread and thread.is_valid() else None
    try:
        yield
    finally:
        if thread and thread.is_valid():
            thread.switch()
        if frame and frame.is_valid():
            frame.select()


def threads():
    return sorted(gdb.selected_inferior().threads(), key=lambda thread: thread.num)


class Loop:
    """An event loop (LoopCore)."""

    def __init__(self, core, thread=None):
        self.core = core
        self.address = program.address_of(core)
        self.thread = thread

    @property
    def member(self):
        """Its side of its cluster, or None."""
        return program.pointer_in(program.member(self.core, "membership_"), program.type_of("detail::Member"))

    @property
    def state(self):
        """What only its agent touches, or None once the loop is closed."""
        return program.pointer_in(program.member(self.core, "agent_"), program.type_of("detail::AgentState"))

    def cluster(self):
        member = self.member
        return Cluster(program.member(member, "cluster_").referenced_value()) if member is not None else None

    def index(self):
        member = self.member
        return int(program.member(member, "index_")) if member is not None else None

    def inbox_word(self):
        return int(program.loaded(program.members(self.core, "inbox_.head_")))

    def activity(self):
        return int(program.loaded(program.members(self.core, "counts_.activity_.word_")))

    def sleeps(self):
        return self.activity() == 0 and self.inbox_word() == ASLEEP

    def is_closed(self):
        return self.inbox_word() == CLOSED

    def runs(self):
        """(address of the node that it runs, whether it is a task); (0, False) when it looks for work."""
        word = self.activity()
        address = word & ~(UNCOUNTED | MOVING)
        return (0, False) if address == self.address else (address, word & UNCOUNTED == 0)

    def tasks_run(self):
        return program.counted(program.members(self.core, "counts_.run_"))

    def schedulers(self):
        return _with_lower([program.member(self.core, "first_scheduler_"), *(
            program.pointer_in(holder, program.type_of("detail::SchedulerCore"))
            for holder in program.entries(program.member(self.core, "more_schedulers_")))])

    def title(self):
        return f"loop {self.address:#x}"


class Cluster:
    """A cluster (ClusterCore)."""

    def __init__(self, core):
        self.core = core
        self.address = program.address_of(core)

    def loops(self):
        """Of its agents, then of its reserves."""
        return [Loop(program.target_of(ref))
                for ref in program.entries(program.members(self.core, "sleepers_.loops_"))]

    def agents(self):
        agents = len(self.loops()) - int(program.members(self.core, "reserve_setup_.count"))
        if agents < 0:
            raise program.Trouble(f"heist: {self.title()} has more reserves than threads. Something has overwritten its"
                                  " memory.")
        return agents

    def schedulers(self):
        return _with_lower([program.member(self.core, "first_scheduler_")])

    def title(self):
        return f"cluster {self.address:#x}"


def _with_lower(schedulers):
    """These schedulers, and those of lower ceilings that were made of them."""
    result = []
    for scheduler in schedulers:
        lower = [program.loaded(place) for place in program.elements(program.member(scheduler, "lower_"))]
        result += [scheduler, *(place.dereference() for place in lower if int(place))]
    return result


def tasks_run(loop):
    count = loop.tasks_run()
    return f"{count} {'task' if count == 1 else 'tasks'} run"


def driven_loops():
    """The loops that threads drive: of each thread the innermost first."""
    program.type_of("detail::LoopCore")  # says what is missing, before anything else fails
    name = f"'{program.NAMESPACE}detail::loop_of_this_thread'"
    result, failures = [], []
    with kept_selection():
        for thread in threads():
            thread.switch()
            try:
                core = gdb.parse_and_eval(name)
            except gdb.error as error:
                failures.append(str(error))
                continue
            while int(core):
                result.append(Loop(core.dereference(), thread))
                core = program.member(core.dereference(), "outer_loop_")
    if failures and not result:
        raise _trouble_of_threads(failures[0])
    return result


def _trouble_of_threads(message):
    if "No symbol" in message:
        return program.Trouble(f"heist: the variable that names a thread's loop is missing: {message} {FIND}")
    return program.Trouble(f"heist: gdb cannot read thread-local variables here: {message} It needs libthread_db of"
                           f" the program's C library (info auto-load libthread-db). {FIND}")


def loops_and_clusters(expression=""):
    """All loops that can be found, each once and with its thread if that is known, and their clusters."""
    try:
        driven = driven_loops()
    except program.Trouble:
        if not expression:
            raise
        driven = []
    if expression:
        home = home_of(program.evaluate(expression))
        found = [home] if isinstance(home, Loop) else home.loops()
        clusters = [] if isinstance(home, Loop) else [home]
    else:
        clusters = list({cluster.address: cluster
                         for cluster in (loop.cluster() for loop in driven) if cluster}.values())
        found = driven + [loop for cluster in clusters for loop in cluster.loops()]
    of_threads = {loop.address: loop.thread for loop in driven}
    loops = {}
    for loop in found:
        loop.thread = of_threads.get(loop.address)
        loops.setdefault(loop.address, loop)
    return list(loops.values()), clusters


def home_of(value):
    """The Loop or Cluster that a handle, or a pointer to what stands behind it, means."""
    value = program.plain_object(value)
    name = program.short(str(value.type.strip_typedefs().unqualified())).rsplit("::", 1)[-1]
    if name in ("LoopCore", "ClusterCore", "TaskHome"):
        return _home(value)
    if name == "Scheduler":
        return _home(_alive(program.member(value, "home_")))
    if name == "EventLoop":
        return _home(_alive(program.member(value, "core_")))
    if name in ("AgentCluster", "Agent"):
        impl = program.pointer_in(program.member(value, "impl_"), program.type_of(f"{name}::Impl"))
        if impl is None:
            raise program.Trouble(f"heist: that {name} was moved from.")
        return _home(_alive(program.member(impl, "home"))) if name == "AgentCluster" else home_of(
            program.member(impl, "loop"))
    raise program.Trouble(f"heist: {value.type} is no loop and no cluster. {FIND}")


def _alive(ref):
    target = program.target_of(ref)
    if target is None:
        raise program.Trouble("heist: that handle was moved from.")
    return target


def _home(value):
    program.type_of("detail::LoopCore")  # says what is missing; without it everything is a TaskHome
    try:
        value = value.cast(value.dynamic_type)
    except gdb.error:
        raise program.Trouble("heist: that memory holds no loop and no cluster any more.") from None
    name = str(value.type).rsplit("::", 1)[-1]
    return {"LoopCore": Loop, "ClusterCore": Cluster}.get(name, _no_home)(value)


def _no_home(value):
    raise program.Trouble(f"heist: {value.type} is no loop and no cluster. {FIND}")
