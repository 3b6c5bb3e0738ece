"""The memory of the program that may hold objects, and what looks like a coroutine's frame there.

A frame begins with the addresses of two functions: the one that resumes the coroutine, and the one that destroys it.
Compilers give these two names that nothing else has, so a pair of such addresses is a frame.
"""

import array
import re

import gdb

from . import names, program

MEBIBYTE = 1 << 20
CHUNK = 16 * MEBIBYTE
TELL_EVERY = 256 * MEBIBYTE
NEAR = 64 * MEBIBYTE  # code that is no further apart is one range for the first look


def writable_ranges():
    """(begin, end) of each part of the memory that the program may write."""
    connection = gdb.selected_inferior().connection
    if connection is not None and connection.type == "core":
        text = gdb.execute("maint info sections", to_string=True)
        found = re.findall(r"0x([0-9a-f]+)->0x([0-9a-f]+) at \S+ load\S* (.*)", text)
        return [(int(begin, 16), int(end, 16)) for begin, end, flags in found if "READONLY" not in flags]
    text = gdb.execute("info proc mappings", to_string=True)
    found = re.findall(r"^\s*0x([0-9a-f]+)\s+0x([0-9a-f]+)\s+\S+\s+\S+\s+rw\S*", text, re.M)
    return [(int(begin, 16), int(end, 16)) for begin, end in found]


def _code_ranges():
    """Ranges that hold all code, and something between it."""
    text = gdb.execute("info files", to_string=True)
    ranges = sorted((int(begin, 16), int(end, 16)) for begin, end in
                    re.findall(r"0x([0-9a-f]+) - 0x([0-9a-f]+) is \.text", text))
    merged = []
    for begin, end in ranges:
        if merged and begin - merged[-1][1] < NEAR:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return merged


class Frames:
    """Knows which pairs of functions are those of a coroutine."""

    def __init__(self):
        self._code = _code_ranges()
        self._pairs = {}
        self.bytes_read = 0

    def find_all(self):
        """The addresses of all frames in the memory, those included that have ended and whose memory is free."""
        ranges = writable_ranges()
        size = sum(end - begin for begin, end in ranges)
        seen, told, found = 0, 0, []
        for begin, end in ranges:
            for start in range(begin, end, CHUNK):
                stop = min(end, start + CHUNK)
                found += self._in(start, stop)
                seen += stop - start
                if seen - told >= TELL_EVERY:
                    told = seen
                    gdb.write(f"heist: looked for coroutines in {seen // MEBIBYTE} of {size // MEBIBYTE} MiB ...\n")
                    gdb.flush()
        return found

    def _in(self, begin, end):
        try:
            data = bytes(gdb.selected_inferior().read_memory(begin, end - begin))
        except gdb.error:
            return []  # a core file may leave parts out
        self.bytes_read += len(data)
        words = array.array("Q", data[:len(data) // program.WORD * program.WORD])
        found = []
        for low, high in self._code:
            at = [i for i, word in enumerate(words) if low <= word < high]
            found += [i for i, following in zip(at, at[1:])
                      if following == i + 1 and self._is_pair(words[i], words[i + 1])]
        return [begin + i * program.WORD for i in found]

    def _is_pair(self, resume, destroy):
        pair = (resume, destroy)
        if pair not in self._pairs:
            self._pairs[pair] = resume != destroy and self._has_code(resume) and self._has_code(destroy) and (
                bool(names.RESUME.search(program.symbol_at(resume) or ""))
                and bool(names.DESTROY.search(program.symbol_at(destroy) or "")))
        return self._pairs[pair]

    def _has_code(self, address):
        return any(low <= address < high for low, high in self._code)
