"""What is queued in a loop, and in what loops and clusters have in common."""

import collections

from . import program

Place = collections.namedtuple("Place", "where nodes level", defaults=(None,))
Place.__doc__ = """Nodes that stand in one place, oldest first. `where` says which, as in `3 in bins`. All of them stand
at one level if it is known."""


def places_of_loop(loop, nodes):
    """All places of a loop that hold something."""
    places = [*_inbox(loop.core, nodes)]
    state = loop.state
    if state is not None:
        places += _queued(program.member(state, "queues"), nodes)
        places += _waiting(program.member(state, "waiting"), nodes)
        places.append(Place("as microtasks", list(nodes.each(int(program.members(state, "microtasks.head_"))))))
    places += _held(loop.schedulers(), nodes) + _aborted(loop.core, nodes)
    return [place for place in places if place.nodes]


def places_of_keeper(cluster, nodes):
    """What a cluster has beside the queues that its agents pick from."""
    places = [*_inbox(cluster.core, nodes)]
    kept = program.pointer_in(program.member(cluster.core, "kept_"), program.type_of("detail::WaitingTasks"))
    if kept is not None:
        places += _waiting(kept, nodes)
    places += _held(cluster.schedulers(), nodes) + _aborted(cluster.core, nodes)
    return [place for place in places if place.nodes]


def _inbox(home, nodes):
    arrived = []
    for inbox in (program.member(home, "inbox_"), program.members(home, "limits_to_arm_.inbox_")):
        head = int(program.loaded(program.member(inbox, "head_")))
        newest = head if head > 2 else 0  # smaller words are states: empty, asleep, closed
        left = [int(program.loaded(program.member(inbox, name))) for name in ("left_oldest_", "left_newest_")]
        arrived += [*nodes.each(left[0]), *nodes.newest_first(left[1]), *nodes.newest_first(newest)]
    kinds = {address: nodes.kind(address) for address in arrived}
    yield Place("in the inbox", [address for address in arrived if kinds[address] != "message"])
    yield Place("in the inbox (messages)", [address for address in arrived if kinds[address] == "message"])


def _queued(queues, nodes):
    places = []
    for number, level in reversed(list(enumerate(program.elements(program.member(queues, "levels_"))))):
        places.append(Place("in line", list(nodes.each(int(program.members(level, "fifo.head_")))), number))
        for queue in _dynamic_queues(program.members(level, "dynamic.root_")):
            of_signal = list(nodes.each(int(program.members(queue, "tasks.head_"))))
            places.append(Place("in a signal's queue", of_signal, number))
    return places


def _dynamic_queues(root):
    """The queues of a pairing heap."""
    left = [root]
    while left:
        queue = left.pop()
        if int(queue):
            yield queue.dereference()
            left += [program.member(queue.dereference(), "sibling"), program.member(queue.dereference(), "child")]


def _waiting(waiting, nodes):
    delays = program.member(waiting, "delays_")
    yield Place("delayed", _armed(program.member(delays, "tasks_"), nodes))
    yield Place("armed as time limits of signals", _armed(program.member(delays, "limits_"), nodes))
    yield Place("ended as time limits of signals",
                list(nodes.each(int(program.members(waiting, "limits_.line_.head_")))))


def _armed(wheel, nodes):
    if program.counted(program.member(wheel, "size_")) == 0:
        return []
    lists = [program.member(wheel, "collected_"), program.member(wheel, "cascading_")]
    lists += [program.member(slot, "list") for slot in program.elements(program.member(wheel, "slots_"))]
    return [address for some in lists for address in nodes.each(int(program.member(some, "head")))]


def _held(schedulers, nodes):
    """What suspended schedulers hold back: runnable tasks, and delays of their own."""
    places = []
    for scheduler in schedulers:
        held = list(nodes.each(int(program.members(scheduler, "held.head_"))))
        stealable = program.member(scheduler, "held_stealable")
        left = program.member(stealable, "nodes_")
        held += nodes.each(int(program.member(left, "oldest_")))
        held += nodes.each(int(program.member(left, "turned_")))
        held += nodes.newest_first(int(program.member(left, "unturned_")))
        held += nodes.newest_first(int(program.loaded(program.member(stealable, "newest_"))))
        where = f"held back by the suspended scheduler {program.address_of(scheduler):#x}"
        places.append(Place(where, held))
        delays = program.pointer_in(program.member(scheduler, "delays"),
                                    program.type_of("detail::SchedulerDelays"))
        if delays is not None:
            places.append(Place(f"delayed by the scheduler {program.address_of(scheduler):#x}",
                                [*nodes.each(int(program.members(delays, "early_.head_"))),
                                 *_armed(program.member(delays, "wheel_"), nodes)]))
    return places


def _aborted(home, nodes):
    return [Place("to be cleared away", list(nodes.each(int(program.members(home, "aborted_.discarded_.head_")))))]
