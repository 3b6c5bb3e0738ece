"""heist signals."""

from . import cluster_queues, homes, program, queues, signals
from .nodes import Nodes


def lines(expression):
    """heist signals [EXPRESSION]

Shows signals: their priority, whether they are aborted, and how many tasks, listeners and dependent signals are
registered with them. EXPRESSION is a signal or its controller. Without it all signals are shown of tasks that are
queued or run; a signal of which there is none of these is found only by an expression."""
    if expression:
        yield _line(signals.signal_of(program.evaluate(expression)))
        return
    found = _signals_of_all_tasks()
    if not found:
        yield "No task that is queued or runs has a signal."
    for address in sorted(found):
        yield _line(signals.Signal(program.at(program.type_of("detail::SignalCore"), address)))


def _signals_of_all_tasks():
    loops, clusters = homes.loops_and_clusters()
    nodes = Nodes()
    found = set()
    for cluster in clusters:
        found |= _signals_in(cluster_queues.places_of_cluster(cluster, nodes), nodes)
        found |= _signals_in(queues.places_of_keeper(cluster, nodes), nodes)
    for loop in loops:
        found |= _signals_in(queues.places_of_loop(loop, nodes), nodes)
        if loop.state is not None:
            current = program.member(loop.state, "current")
            found |= {int(program.member(current, name)) for name in ("abort_source", "priority_source")}
    return found - {0}


def _signals_in(places, nodes):
    return {nodes.signal(address) for place in places for address in place.nodes
            if nodes.kind(address) in ("task", "microtask")}


def _line(signal):
    words = [f"signal {signal.address:#x}", f"of {signal.kind()}"]
    if signal.priority() is not None:
        words.append(signal.priority())
    words.append("aborted" if signal.aborted() else "not aborted")
    counts = [f"{count} {kind}{'' if count == 1 else 's'}"
              for kind, count in signal.counts().items() if count]
    return ", ".join([" ".join(words[:2]), *words[2:], *(counts or ["nothing is registered"])])
