"""Coroutines of Heist: which are suspended, what each awaits, and which run on a thread."""

import re

import gdb

from . import homes, memory, names, program, suspension
from .nodes import Nodes

PROMISE = 2 * program.WORD  # where a frame has the coroutine's promise object, by the ABI of g++ and clang
MOST_BYTES = 4096  # of a frame whose size is not known
MOST_NATIVE_FRAMES = 200


class Coroutine:
    """A coroutine that returned a Promise and has not ended."""

    def __init__(self, frame, state, function):
        self.frame = frame
        self.state = state
        self.name = function.name
        self._function = function
        self.awaited = 0  # the state of the pending promise that it awaits
        self.thread = None  # on which it runs

    def place(self):
        return self._function.place(self.frame)


class States:
    """Reads the states of promises (PromiseStateBase), each once."""

    def __init__(self, nodes):
        self._nodes = nodes
        kind = program.type_of("detail::PromiseStateBase")
        self._size = kind.sizeof
        self._offsets = [program.offset_of(kind, name) for name in ("destroy_", "status_", "reactions_")]
        self._statuses = program.names_of_enum("PromiseStatus")
        self._status_size = program.type_of("PromiseStatus").sizeof
        self._kinds, self._known = {}, {}

    def what(self, state):
        """The type whose part the state is, and its template arguments; ("", []) if it is none."""
        return self._read(state)[0]

    def status(self, state):
        return self._read(state)[1]

    def reactions(self, state):
        """The addresses of what waits for a pending promise, oldest first."""
        return self._read(state)[2]

    def _read(self, state):
        if state not in self._known:
            self._known[state] = self._read_now(state)
        return self._known[state]

    def _read_now(self, state):
        try:
            data = program.read_bytes(state, self._size)
        except program.Trouble:
            return ("", []), "", []
        destroy, status, reactions = (
            int.from_bytes(data[offset:offset + size], "little")
            for offset, size in zip(self._offsets, (program.WORD, self._status_size, program.WORD)))
        what = self._kind(destroy)
        is_pending = what[0] and self._statuses.get(status) == "pending"
        return what, self._statuses.get(status, ""), self._nodes.newest_first(reactions) if is_pending else []

    def _kind(self, destroy):
        if destroy not in self._kinds:
            symbol = program.symbol_at(destroy) or ""
            match = re.match(rf"{program.NAMESPACE}detail::(.*)::destroy\w*\(", symbol)
            self._kinds[destroy] = names.split_template(match[1]) if match else ("", [])
        return self._kinds[destroy]


class Coroutines:
    """All coroutines that are found in the memory. Making it looks through the memory."""

    def __init__(self):
        self.nodes = Nodes()
        self.states = States(self.nodes)
        # Where the nodes by which a coroutine awaits a promise have its handle.
        self._handles = {kind: self.nodes.offset_of_handle(kind) for kind in ("PromiseAwaiter", "ContinuationReaction")}
        self._functions = suspension.Functions()
        self.all = {}
        frames = memory.Frames()
        found = frames.find_all()
        self.bytes_read = frames.bytes_read
        for frame in found:
            state = self._state_of(frame)
            if state:
                self.all[frame] = Coroutine(frame, state, self._functions.of(frame))
        self._find_awaiters()
        self._find_running()

    def _state_of(self, frame):
        """The state of the promise that the coroutine settles; 0 if it is not one of Heist, or has ended."""
        state = program.read_word(frame + PROMISE)
        return state if state and self.states.what(state)[0] == "StandaloneState" else 0

    def _find_awaiters(self):
        for coroutine in self.all.values():
            for node, state in self._awaiters_in(coroutine.frame):
                if self.states.what(state)[0] and node in self.states.reactions(state):
                    coroutine.awaited = state

    def _awaiters_in(self, frame):
        """(node, state) of nodes in the frame that resume it, and the promises that they await. Some may be left over
        from a co_await that is over."""
        size = self._functions.of(frame).frame_size or MOST_BYTES
        try:
            words = program.read_words(frame, size // program.WORD)
        except program.Trouble:
            return
        for i in (i for i in range(2, len(words)) if words[i] == frame):
            for kind, offset in self._handles.items():
                node = frame + i * program.WORD - offset
                if node > frame and self.nodes.type_name(node)[0] == kind:
                    state = self.nodes.awaited_by(node, kind)
                    if state:
                        yield node, state

    def _find_running(self):
        """Which coroutines stand on the stacks of threads."""
        with homes.kept_selection():
            for thread in homes.threads():
                thread.switch()
                for frame, resume in _coroutines_on_stack():
                    coroutine = self.all.get(frame) or self._only_one_that_may_run(resume)
                    if coroutine is not None:
                        coroutine.thread = thread

    def _only_one_that_may_run(self, resume):
        """For optimised code, which does not say where the frame is: the coroutine of this function that does not
        wait, if there is only one."""
        may = [one for one in self.all.values() if not one.awaited and program.read_word(one.frame) == resume]
        return may[0] if len(may) == 1 else None


def _coroutines_on_stack():
    """(frame or 0, function or 0) of each coroutine that the selected thread runs, innermost first."""
    native = gdb.newest_frame()
    for _ in range(MOST_NATIVE_FRAMES):
        if native is None:
            return
        try:
            frame, resume = _coroutine_of(native), _resume_function(native.pc())
            if frame or resume:
                yield frame, resume
            native = native.older()
        except gdb.error:
            return


def _resume_function(pc):
    """Where the function begins that has this instruction, if it is one that resumes a coroutine; else 0."""
    name, offset = program.symbol_around(pc)
    return pc - offset if name and names.RESUME.search(name) else 0


def _coroutine_of(native):
    """The coroutine's frame of a function on the stack, or 0."""
    for name, offset in (("frame_ptr", 0), ("__coro_frame", 0), ("__promise", PROMISE)):
        try:
            value = native.read_var(name)
            is_pointer = value.type.strip_typedefs().code == gdb.TYPE_CODE_PTR
            return (int(value) if is_pointer else int(value.address)) - offset
        except (ValueError, TypeError, gdb.error):
            continue
    return 0
