"""Teaches gdb to show what a program does with Heist: `source` this file in gdb, or in ~/.gdbinit.

docs/debugging.md has the commands. gdb reads this file by itself for a shared library that was installed where gdb
looks (share/gdb/auto-load).
"""

import os
import sys

import gdb

writes_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # no files beside installed ones
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
try:
    import heist_gdb
except ImportError as error:
    raise gdb.GdbError(f"heist: the commands are not beside {__file__}: {error}. Install Heist again.") from None
finally:
    sys.path.pop(0)
    sys.dont_write_bytecode = writes_bytecode

heist_gdb.register()
