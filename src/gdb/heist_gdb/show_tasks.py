"""heist tasks."""

import itertools

from . import cluster_queues, homes, program, queues
from .nodes import LEVELS, MOST_NODES, Nodes

MOST_SHOWN = 10


def lines(argument):
    """heist tasks [EXPRESSION] [-all]

Shows what is queued in each loop and cluster, the highest level first: where it stands, its callback's type, its
signal, and its scheduler if that is not the first one. Of each place the first 10 groups are shown, or with -all every
one. EXPRESSION is as for heist agents."""
    words = argument.split()
    most = None if "-all" in words else MOST_SHOWN
    loops, clusters = homes.loops_and_clusters(" ".join(word for word in words if word != "-all"))
    nodes = Nodes()
    for cluster in clusters:
        places = cluster_queues.places_of_cluster(cluster, nodes) + queues.places_of_keeper(cluster, nodes)
        yield from _of_home(cluster, places, nodes, most)
    for loop in loops:
        places = queues.places_of_loop(loop, nodes)
        if places or loop.thread is not None:
            yield from _of_home(loop, places, nodes, most)
    if nodes.was_cut:
        yield f"A list is longer than {MOST_NODES} nodes, or its end was not found. The rest is not counted."


def _of_home(home, places, nodes, most):
    name = home.title() if isinstance(home, homes.Cluster) or home.index() is None else (
        f"{home.title()} of agent {home.index()}, tasks bound to it")
    if not places:
        yield f"{name}: nothing is queued"
        return
    count = sum(len(place.nodes) for place in places)
    yield f"{name}: {count} queued"
    first = program.address_of(home.schedulers()[0])
    for place in places:
        yield from _of_place(place, nodes, first, most)


def _of_place(place, nodes, first_scheduler, most):
    level = "" if place.level is None else f"{LEVELS[place.level]}: "
    yield f"  {level}{len(place.nodes)} {place.where}"
    read = (nodes.read(address) for address in place.nodes)
    groups = itertools.groupby(read, key=lambda node: _line(node, place, first_scheduler))
    shown = 0
    for number, (line, group) in enumerate(groups):
        if number == most:
            yield f"    ... {len(place.nodes) - shown} more: heist tasks -all shows them"
            return
        count = len(list(group))
        shown += count
        yield f"    {line}" + (f" ({count} times)" if count > 1 else "")


def _line(node, place, first_scheduler):
    line = node.name
    if place.level is None and node.kind == "task":
        line += ", priority of its signal" if node.level is None else f", {LEVELS[node.level]}"
    if node.is_aborted:
        line += ", aborted"
    if node.signal:
        line += f", signal {node.signal:#x}"
    if node.scheduler not in (0, first_scheduler):
        line += f", scheduler {node.scheduler:#x}"
    return line
