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

FRAMES = ("frame_ptr", "__coro_frame")  # the frame's name in functions of g++ and of clang
INDICES = ("_Coro_resume_index", "__coro_index")
LINES_AHEAD = 3
STORE = re.compile(r"mov[bwl]\s+\$0x([0-9a-f]+),0x([0-9a-f]+)\(")


def place(frame):
    """"file:line" of the co_await; else of the function, and says so; "" without debug information."""
    resume = program.read_word(frame)
    block = _function_block(resume)
    if block is None:
        return ""
    function = block.function
    line = _line_of_await(frame, block)
    if line is not None:
        return f"at {_file(function)}:{line}"
    return f"in the function at {_file(function)}:{function.line}"


def _file(function):
    return os.path.basename(function.symtab.filename)


def _function_block(pc):
    block = gdb.block_for_pc(pc)
    while block is not None and block.function is None:
        block = block.superblock
    return block if block is not None and block.function.symtab is not None else None


def frame_type(block):
    """The type of the frame of a coroutine's function, or None."""
    for symbol in block:
        if symbol.name in FRAMES:
            kind = symbol.type.strip_typedefs()
            return kind.target() if kind.code == gdb.TYPE_CODE_PTR else kind
    return None


def frame_size(frame):
    """How many bytes the frame has, or None."""
    block = _function_block(program.read_word(frame))
    kind = frame_type(block) if block is not None else None
    return kind.sizeof if kind is not None else None


def _line_of_await(frame, block):
    kind = frame_type(block)
    if kind is None:
        return None
    index = next((field for field in kind.fields() if field.name in INDICES), None)
    if index is None:
        return None
    offset = index.bitpos // 8
    number = int.from_bytes(program.read_bytes(frame + offset, index.type.sizeof), "little")
    for start in (program.read_word(frame), _ramp(block)):
        part = _function_block(start) if start else None
        pc = _store_of(number, offset, start, part.end) if part is not None else None
        if pc is not None:
            return _line_at(pc, start, part)
    return None


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


def _store_of(number, offset, start, end):
    """The instruction that stores the number at this offset of the frame, or None."""
    if not gdb.selected_inferior().architecture().name().startswith("i386:x86-64"):
        return None
    flavour = gdb.parameter("disassembly-flavor")
    gdb.execute("set disassembly-flavor att")
    try:
        code = gdb.selected_inferior().architecture().disassemble(start, end - 1)
    finally:
        gdb.execute(f"set disassembly-flavor {flavour}")
    for instruction in code:
        match = STORE.match(instruction["asm"])
        if match and int(match[1], 16) == number and int(match[2], 16) == offset:
            return instruction["addr"]
    return None
