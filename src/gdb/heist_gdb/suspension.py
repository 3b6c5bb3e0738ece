"""Where a coroutine is suspended: the file and line of its co_await, from what compilers note of it.

Before a coroutine is suspended its code stores the number of that place into its frame. So the instruction that stores
the number which the frame holds belongs to the line of the co_await. That is read from the machine code of x86-64. On
other machines, and in optimised code, which keeps neither such instructions nor their lines, only the function is
known.
"""

import os
import re

import gdb

from . import program
from .names import coroutine_name

FRAMES = ("frame_ptr", "__coro_frame")  # the frame's name in functions of g++ and of clang
INDICES = ("_Coro_resume_index", "__coro_index")
LINES_AHEAD = 3
STORE = re.compile(r"mov[bwl]\s+\$0x([0-9a-f]+),0x([0-9a-f]+)\(")


class Functions:
    """The functions of coroutines, each looked at once."""

    def __init__(self):
        self._known = {}

    def of(self, frame):
        resume = program.read_word(frame)
        if resume not in self._known:
            self._known[resume] = Function(frame, resume)
        return self._known[resume]


class Function:
    """A coroutine's function. `frame_size` is None if no debug information says it."""

    def __init__(self, frame, resume):
        self.name = coroutine_name(frame)
        self._resume = resume
        self._block = _function_block(resume)
        kind = _frame_type(self._block) if self._block is not None else None
        self.frame_size = kind.sizeof if kind is not None else None
        self._index = _index_field(kind) if kind is not None else None
        self._lines = None

    def place(self, frame):
        """"at file:line" of the co_await; else of the function, and says so; "" without debug information."""
        if self._block is None:
            return ""
        file = os.path.basename(self._block.function.symtab.filename)
        line = self._lines_of_awaits().get(self._number(frame)) if self._index is not None else None
        if line is not None:
            return f"at {file}:{line}"
        begin = self._block.function.line or gdb.find_pc_line(self._resume).line
        return f"in the function at {file}:{begin}"

    def _number(self, frame):
        offset = self._index.bitpos // 8
        return int.from_bytes(program.read_bytes(frame + offset, self._index.type.sizeof), "little")

    def _lines_of_awaits(self):
        """{number of the place: line}."""
        if self._lines is None:
            self._lines = {}
            for start in (self._resume, _ramp(self._block)):
                part = _function_block(start) if start else None
                stores = _stores(self._index.bitpos // 8, start, part.end) if part is not None else []
                for number, pc in stores:
                    self._lines.setdefault(number, _line_at(pc, start, part))
        return self._lines


def _function_block(pc):
    block = gdb.block_for_pc(pc)
    while block is not None and block.function is None:
        block = block.superblock
    return block if block is not None and block.function.symtab is not None else None


def _frame_type(block):
    """The type of the frame of a coroutine's function, or None."""
    for symbol in block:
        if symbol.name in FRAMES:
            kind = symbol.type.strip_typedefs()
            return kind.target() if kind.code == gdb.TYPE_CODE_PTR else kind
    return None


def _index_field(frame_type):
    return next((field for field in frame_type.fields() if field.name in INDICES), None)


def _ramp(block):
    """The function that begins the coroutine, or 0: clang runs it there up to its first suspension."""
    try:
        return int(gdb.parse_and_eval(f"(unsigned long)&'{block.function.linkage_name}'"))
    except gdb.error:
        return 0


def _line_at(pc, start, block):
    """The line of a store. g++ gives some the line where the function ends: then the next one is meant."""
    table = sorted((entry.pc, entry.line) for entry in block.function.symtab.linetable()
                   if start <= entry.pc < block.end and entry.line > 0)
    if not table:
        return gdb.find_pc_line(pc).line
    end = max(line for _pc, line in table)
    covering = [line for at, line in table if at <= pc][-1:]
    following = [line for at, line in table if at > pc][:LINES_AHEAD]
    return next((line for line in covering + following if line != end), end)


def _stores(offset, start, end):
    """(number, instruction) of those that store a number at this offset of the frame."""
    if not gdb.selected_inferior().architecture().name().startswith("i386:x86-64"):
        return []
    flavour = gdb.parameter("disassembly-flavor")
    gdb.execute("set disassembly-flavor att")
    try:
        code = gdb.selected_inferior().architecture().disassemble(start, end - 1)
    finally:
        gdb.execute(f"set disassembly-flavor {flavour}")
    matches = ((STORE.match(instruction["asm"]), instruction["addr"]) for instruction in code)
    return [(int(match[1], 16), pc) for match, pc in matches if match and int(match[2], 16) == offset]
