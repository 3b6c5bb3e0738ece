"""heist agents."""

import re

from . import cluster_queues, homes, queues
from .nodes import Nodes

OF_AGENT = re.compile(r"(in the ring of|forked by) agent (\d+)")
OWN = {"in the ring of": "in its ring", "forked by": "forked by it"}


def lines(expression):
    """heist agents [EXPRESSION]

Shows each agent: its thread, what it runs or that it sleeps, how many tasks it has run, and what waits for it.
EXPRESSION is an EventLoop, an Agent, an AgentCluster or a Scheduler; without it all loops are shown that threads drive
now, and all agents of their clusters."""
    loops, clusters = homes.loops_and_clusters(expression)
    if not loops:
        yield f"No thread drives a loop of Heist now. {homes.FIND}"
    nodes = Nodes()
    in_clusters = {loop.address for cluster in clusters for loop in cluster.loops()}
    threads = {loop.address: loop.thread for loop in loops}
    for loop in loops:
        if loop.address not in in_clusters:
            yield from _of_loop(loop, loop.title(), {}, nodes)
    for cluster in clusters:
        yield from _of_cluster(cluster, threads, nodes)


def _of_cluster(cluster, threads, nodes):
    members, agents = cluster.loops(), cluster.agents()
    reserves = f" and {len(members) - agents} reserves" if len(members) > agents else ""
    yield f"{cluster.title()} of {agents} agents{reserves}"
    of_agents = _in_hands(cluster, nodes)
    for index, loop in enumerate(members):
        loop.thread = threads.get(loop.address)
        if index >= agents and loop.thread is None:
            continue  # a reserve that is not needed
        name = f"agent {index}" if index < agents else f"reserve {index - agents}"
        yield from (f"  {line}" for line in _of_loop(loop, name, of_agents.get(index, {}), nodes))


def _in_hands(cluster, nodes):
    """What each agent has of the cluster's tasks: {agent: {"in its ring": 3}}."""
    held = {}
    for place in cluster_queues.places_of_cluster(cluster, nodes):
        match = OF_AGENT.match(place.where)
        if match:
            of_agent = held.setdefault(int(match[2]), {})
            where = OWN[match[1]]
            of_agent[where] = of_agent.get(where, 0) + len(place.nodes)
    return held


def _of_loop(loop, name, of_cluster, nodes):
    thread = "no thread" if loop.thread is None else f"thread {loop.thread.num}"
    if loop.thread is not None and loop.thread.name:
        thread += f' "{loop.thread.name}"'
    yield f"{name}, {thread}: {_what_it_does(loop, nodes)}"
    counts = dict(of_cluster)
    for place in queues.places_of_loop(loop, nodes):
        counts[place.where] = counts.get(place.where, 0) + len(place.nodes)
    waiting = ", ".join(f"{count} {where}" for where, count in counts.items()) or "nothing waits for it"
    yield f"  {homes.tasks_run(loop)}; {waiting}"


def _what_it_does(loop, nodes):
    if loop.is_closed():
        return "closed"
    if loop.sleeps():
        return "sleeps"
    address, is_task = loop.runs()
    if not address:
        return "looks for work"
    return f"runs {'' if is_task else 'the continuation '}{nodes.name(address)}"
