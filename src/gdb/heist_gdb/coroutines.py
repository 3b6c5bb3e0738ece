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

    def __init__(self, frame, state):
        self.frame = frame
        self.state = state
        self.name = names.coroutine_name(frame)
        self.awaited = 0  # the state of the pending promise that it awaits
        self.thread = None  # on which it runs

    def place(self):
        return suspension.place(self.frame)


class States:
    """Reads the states of promises (PromiseStateBase)."""

    def __init__(self, nodes):
        self._nodes = nodes
        self._type = program.type_of("detail::PromiseStateBase")
        self._destroy = program.offset_of(self._type, "destroy_")
        self._reactions = program.offset_of(self._type, "reactions_")

    def what(self, state):
        """The type whose part the state is, and its template arguments; ("", []) if it is none."""
        try:
            symbol = program.symbol_at(program.read_word(state + self._destroy)) or ""
        except program.Trouble:
            return "", []
        match = re.match(rf"{program.NAMESPACE}detail::(.*)::destroy\(", symbol)
        return names.split_template(match[1]) if match else ("", [])

    def status(self, state):
        value = program.loaded(program.member(program.at(self._type, state), "status_"))
        return str(value).rsplit("::", 1)[-1]

    def reactions(self, state):
        """The addresses of what waits for a pending promise, oldest first."""
        if self.status(state) != "pending":
            return []
        return self._nodes.newest_first(program.read_word(state + self._reactions))


class Coroutines:
    """All coroutines that are found in the memory. Making it looks through the memory."""

    def __init__(self):
        self.nodes = Nodes()
        self.states = States(self.nodes)
        # Where the nodes by which a coroutine awaits a promise have its handle.
        self._handles = {kind: self.nodes.offset_of_handle(kind) for kind in ("PromiseAwaiter", "ContinuationReaction")}
        self.all = {}
        for frame in memory.Frames().find_all():
            state = self._state_of(frame)
            if state:
                self.all[frame] = Coroutine(frame, state)
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
        size = suspension.frame_size(frame) or MOST_BYTES
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
    found = re.match(r"(.*?)(?: \+ (\d+))? in section ", gdb.execute(f"info symbol {pc:#x}", to_string=True))
    return pc - int(found[2] or 0) if found and names.RESUME.search(found[1]) else 0


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
