"""heist bt."""

import re

import gdb

from . import program
from .chains import Chains
from .memory import MEBIBYTE

ADDRESS = re.compile(r"0x[0-9a-f]+")
CHOICE = "Name a Promise, a std::coroutine_handle, or the address of a coroutine's frame or of a promise's state."


def lines(expression):
    """heist bt [EXPRESSION] [-all]

Shows asynchronous backtraces: a coroutine that waits or runs, the coroutine that awaits it, and so on. EXPRESSION is a
Promise, a std::coroutine_handle, or the address of a frame; then the chain is shown that leads through it. Without it
that is the chain of the coroutine that runs in the selected thread, or with -all, or if none runs there, all chains;
of those that differ in addresses only the first. Coroutines are found by a look through the memory that the program
may write."""
    words = expression.split()
    shows_all = "-all" in words
    expression = " ".join(word for word in words if word != "-all")
    wanted = program.evaluate(expression) if expression else None
    chains = Chains()
    if wanted is not None:
        yield from _through(chains, *_meaning(wanted, chains))
        return
    here = [] if shows_all else [coroutine for coroutine in chains.all.values()
                                 if coroutine.thread is not None
                                 and coroutine.thread.num == gdb.selected_thread().num]
    innermost = here or chains.innermost()
    if not innermost:
        yield (f"No coroutine of Heist that is suspended or runs was found in {chains.bytes_read // MEBIBYTE} MiB, all"
               " the memory that can be written and that gdb can read.")
    yield from _grouped(chains, innermost)


def _meaning(value, chains):
    """(state, frame) of what the expression means; one of them is 0."""
    kind = value.type.strip_typedefs()
    if kind.code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_INT):
        address = int(value)
        if address in chains.all:
            return 0, address
        if chains.states.what(address)[0]:
            return address, 0
    if kind.code != gdb.TYPE_CODE_INT:
        value = program.plain_object(value)
        name = str(value.type.strip_typedefs().unqualified())
        if "::Promise<" in name:
            target = program.target_of(program.member(value, "state_"))
            if target is None:
                raise program.Trouble("heist: that promise was moved from.")
            return program.address_of(target), 0
        if "coroutine_handle<" in name:
            return 0, program.read_word(program.address_of(value))
    raise program.Trouble(f"heist: that is no promise, and no coroutine of Heist. {CHOICE}")


def _through(chains, state, frame):
    """The chains that lead through this coroutine, or through what settles or awaits this promise."""
    found = False
    for coroutine in chains.innermost():
        links = [link for link, _others in chains.outwards(coroutine)]
        if (frame and any(link.coroutine and link.coroutine.frame == frame for link in links)) or (
                state and (coroutine.awaited == state or any(link.state == state for link in links))):
            found = True
            yield from _chain(chains, coroutine)
    if not found and state:
        yield f"No coroutine settles this promise, and none awaits it: it is {chains.states.status(state)}."
    elif not found:
        raise program.Trouble("heist: no coroutine of Heist that has not ended has this frame.")


def _grouped(chains, innermost):
    """Chains that differ in addresses only are shown once."""
    groups = {}
    for coroutine in innermost:
        text = "\n".join(_chain(chains, coroutine))
        masked = ADDRESS.sub("", text)
        first, count = groups.get(masked, (text, 0))
        groups[masked] = (first, count + 1)
    for _masked, (text, count) in sorted(groups.items()):
        yield text
        if count > 1:
            yield f"       ... and {count - 1} more chains that differ in addresses only"


def _chain(chains, innermost):
    yield f"{innermost.name} {chains.waits_for(innermost)}"
    for number, (link, others) in enumerate(chains.outwards(innermost)):
        if link.coroutine is not None:
            place = link.coroutine.place()
            text = f"{link.coroutine.name} {place}{' ' if place else ''}(frame {link.coroutine.frame:#x})"
        else:
            text = link.text
        yield f"  #{number:<3} {text}"
        if others:
            yield f"       ... awaited by {others} more"
