"""Asynchronous backtraces: which coroutine awaits which, from the one that waits for something else outwards."""

import collections

from . import cluster_queues, homes, names, program, queues
from .coroutines import Coroutines
from .nodes import LEVELS

MOST_LINKS = 1000  # of one chain

Link = collections.namedtuple("Link", "state coroutine text")
Link.__doc__ = """One line of a backtrace: a coroutine, or in its place a text, for a task or a callback of then().
`state` is that of the promise that it settles, or 0."""


class Chains:
    """The chains of all coroutines that are found."""

    def __init__(self):
        self._coroutines = Coroutines()
        self._nodes = self._coroutines.nodes
        self.states = self._coroutines.states
        self.all = self._coroutines.all
        self.bytes_read = self._coroutines.bytes_read
        self._turns = _turns(self._nodes)
        self._behind_reaction = program.type_of("detail::Reaction").sizeof
        self._known = {}

    def innermost(self):
        """The coroutines that await no other one, and so begin a chain."""
        further = {self._next(coroutine) for coroutine in self.all.values()}
        return [coroutine for coroutine in self.all.values() if coroutine not in further]

    def _next(self, coroutine):
        """The next coroutine outwards, or None."""
        links = (link.coroutine for link, _others in self.outwards(coroutine))
        next(links)  # the coroutine itself
        return next((other for other in links if other is not None), None)

    def outwards(self, coroutine):
        """The links from a coroutine on: who awaits it, who awaits that one, and so on. With each the number of
        further ones that await the same."""
        link, seen = Link(coroutine.state, coroutine, ""), set()
        while link is not None and len(seen) < MOST_LINKS:
            seen.add(link.state)
            waiters = self._waiters(link.state) if link.state else []
            yield link, max(len(waiters) - 1, 0)
            link = waiters[0] if waiters and waiters[0].state not in seen else None

    def _waiters(self, state):
        """What waits for a promise, oldest first."""
        if state not in self._known:
            self._known[state] = [self._waiter(node) for node in self.states.reactions(state)]
        return self._known[state]

    def _waiter(self, node):
        kind, arguments = self._nodes.type_name(node)
        behind = node + self._behind_reaction
        if kind == "PromiseAwaiter":
            frame = self._nodes.coroutine_of(node, kind)
            coroutine = self.all.get(frame)
            if coroutine is not None:
                return Link(coroutine.state, coroutine, "")
            return Link(0, None, f"coroutine {names.coroutine_name(frame)}, which returns no Promise")
        if kind == "ThenNode":  # the state of its promise stands behind the reaction
            return Link(behind, None, f"then({program.short(arguments[2])})")
        if kind == "CombinedInput":
            input_type = program.type_of("detail::CombinedInput")
            combiner = program.member(program.at(input_type, node), "combiner").dereference()
            return Link(int(program.member(combiner, "promise_")), None, "when_all or the like, of several promises")
        if kind == "Adoption":
            # Behind the reaction: an optional promise, then the state that follows it, a flag, and a function of the
            # task that owns that state.
            target, _decides, discard = program.read_words(behind + 2 * program.WORD, 3)
            owner = program.symbol_at(discard) or ""
            task = names.split_template(owner.rpartition("::discard_")[0])[1]
            text = f"the task {program.short(task[0])}, which returned it" if task else "what returned it"
            return Link(target, None, text)
        return Link(0, None, kind or names.NO_NAME)

    def waits_for(self, coroutine):
        """What an innermost coroutine waits for, in words."""
        if coroutine.thread is not None:
            return f"runs on thread {coroutine.thread.num}"
        if coroutine.awaited and not self._is_turn(coroutine.awaited):
            return f"awaits {self._promise(coroutine.awaited)}"
        turn = self._turns.get(coroutine.frame)
        if turn or coroutine.awaited:
            return f"waits for its turn{': ' if turn else ''}{turn or ''}"
        return "runs, or awaits what is not of Heist"

    def _is_turn(self, state):
        kind, arguments = self.states.what(state)
        return kind == "PromiseTask" and arguments[0].endswith("::Turn")

    def _promise(self, state):
        kind, arguments = self.states.what(state)
        what = {"PromiseTask": f"the task {program.short(arguments[0]) if arguments else ''}",
                "ThenNode": f"then({program.short(arguments[2]) if len(arguments) > 2 else ''})",
                "StandaloneState": "a promise", "CombinedNode": "several promises (when_all or the like)",
                "LockState": "a lock", "WaitState": "a permit, an event or a channel"}.get(kind, "a promise")
        return f"{what} ({self.states.status(state)}, {state:#x})"


def _turns(nodes):
    """{frame: where it waits} of coroutines that are queued to go on."""
    try:
        loops, clusters = homes.loops_and_clusters()
    except program.Trouble:
        return {}
    found = {}
    for cluster in clusters:
        for place in cluster_queues.places_of_cluster(cluster, nodes):
            found.update((address, _where(place)) for address in place.nodes)
    for home in loops:
        for place in queues.places_of_loop(home, nodes):
            found.update((address, _where(place)) for address in place.nodes)
    frames = ((nodes.coroutine_of(address), where) for address, where in found.items())
    return {frame: where for frame, where in frames if frame}


def _where(place):
    return place.where if place.level is None else f"{LEVELS[place.level]}, {place.where}"
