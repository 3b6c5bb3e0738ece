"""What is queued in a cluster, where all its agents pick: bins, rings, deques, and the queues of signals."""

from . import program
from .nodes import LEVELS, MOST_NODES
from .queues import Place

# Of a bin's word (InjectionQueue): 13 bits of round, a mark, 45 bits of address, 5 bits of count.
ROUND_SHIFT = 51
ROUNDS = 1 << 13
ADDRESS_MASK = ((1 << 48) - 1) & ~7
# Of a LinkedQueue's head: the address has 48 bits, the rest is a version.
CELL_MASK = (1 << 48) - 1


def places_of_cluster(cluster, nodes):
    """All places where agents pick, the highest level first."""
    queues = program.member(cluster.core, "queues_")
    bins = [program.elements(of_group) for of_group in program.entries(program.member(queues, "bins_"))]
    agents = program.entries(program.member(queues, "agents_"))
    tickets = program.elements(program.members(queues, "index_.tickets_"))
    seen = set()
    places = []
    for level in reversed(range(len(LEVELS))):
        for group, of_levels in enumerate(bins):
            where = "in bins" if len(bins) == 1 else f"in bins of group {group}"
            places.append(Place(where, _in_bins(of_levels[level], nodes), level))
        for agent, of_agent in enumerate(agents):
            ring = program.elements(program.member(of_agent, "rings_"))[level]
            places.append(Place(f"in the ring of agent {agent}", _in_array(ring, "head_", "tail_"), level))
            if level % 2 == 1:
                deque = program.elements(program.member(of_agent, "forks_"))[level // 2]
                places.append(Place(f"forked by agent {agent}", _in_array(deque, "top_", "bottom_"), level))
        for queue in _signal_queues(tickets[level]):
            if program.address_of(queue) not in seen and _level(queue) == level:
                seen.add(program.address_of(queue))
                places.append(Place("in a signal's queue", _items(program.member(queue, "tasks_")), level))
    return [place for place in places if place.nodes]


def _in_bins(queue, nodes):
    words = program.member(queue, "bins_")
    count = int(words.type.strip_typedefs().template_argument(1))
    begin, end = (int(program.loaded(program.member(queue, name))) for name in ("head_", "tail_"))
    result = []
    for number in range(begin, min(end, begin + count) + 1):
        word = program.read_word(program.address_of(words) + number % count * program.WORD)
        chain = (word >> 2) & ADDRESS_MASK
        if (word >> ROUND_SHIFT) == number // count % ROUNDS and chain:
            result += nodes.newest_first(chain)
    return result


def _in_array(ring, first, last):
    begin, end = (int(program.loaded(program.member(ring, name))) for name in (first, last))
    if end <= begin:
        return []
    places = program.member(ring, "places_")
    count = int(places.type.strip_typedefs().template_argument(1))
    words = program.read_words(program.address_of(places), count)
    return [words[at % count] for at in range(begin, min(end, begin + count))]


def _cells(linked):
    """The cells of a LinkedQueue, oldest first. It goes by the links to older ones, which are always there."""
    kind = program.type_of("detail::LinkedCell")
    older = program.offset_of(kind, "older")
    before = int(program.loaded(program.member(linked, "head_"))) & CELL_MASK
    cell = int(program.loaded(program.member(linked, "tail_")))
    result = []
    while cell not in (0, before) and len(result) < MOST_NODES:
        result.append(cell)
        cell = program.read_word(cell + older)
    return result[::-1]


def _items(linked):
    item = program.offset_of(program.type_of("detail::LinkedCell"), "item")
    held = [program.read_word(cell + item) for cell in _cells(linked)]
    return [address for address in held if address and address & 1 == 0]  # empty, or not posted yet


def _signal_queues(tickets):
    kind = program.type_of("detail::SignalQueue")
    return [program.at(kind, address) for address in _items(tickets)]


def _level(queue):
    return (int(program.loaded(program.member(queue, "place_"))) & 15) - 1
