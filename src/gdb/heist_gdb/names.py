"""Names of tasks, reactions and coroutines, taken from the symbols of their tables and functions."""

import re

from . import program

NO_NAME = "something without a symbol"
CLONE = re.compile(r" \[clone [^\]]*\]$")
# What a coroutine's function is called once it is split: by g++, by clang.
RESUME = re.compile(r" \[clone \.(actor|resume)\]$")
DESTROY = re.compile(r" \[clone \.destroy\]$")


def split_template(name):
    """("A::B", ["X", "Y"]) of "A::B<X, Y>"."""
    begin = name.find("<")
    if begin < 0 or not name.endswith(">"):
        return name, []
    parts, depth, start = [], 0, begin + 1
    for i in range(begin + 1, len(name) - 1):
        if name[i] in "<({[":
            depth += 1
        elif name[i] in "])}" or (name[i] == ">" and name[i - 1] != "-"):
            depth -= 1
        elif name[i] == "," and depth == 0:
            parts.append(name[start:i].strip())
            start = i + 1
    return name[:begin], [*parts, name[start:-1].strip()]


def without_parameters(function):
    """The name of a function without the types of its parameters, and without the clone that a compiler made."""
    function = CLONE.sub("", function)
    function = re.sub(r" const$", "", function)
    if not function.endswith(")"):
        return function
    depth = 0
    for i in range(len(function) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(function[i], 0)
        if depth == 0:
            return function[:i]
    return function


def coroutine_name(frame):
    """The function whose coroutine has its frame at this address."""
    symbol = program.symbol_at(program.read_word(frame))
    return program.short(without_parameters(symbol)) if symbol else NO_NAME


class Tables:
    """Which type of node has a table of operations, and what callback it has. Looks up each table once."""

    def __init__(self):
        self._seen = {}

    def owner(self, table):
        """(type, template arguments) of the node that has the table at this address; the type is without its
        namespace. (None, []) if there is no symbol."""
        if table not in self._seen:
            self._seen[table] = self._look_up(table)
        return self._seen[table]

    @staticmethod
    def _look_up(table):
        symbol = program.symbol_at(table) if table else None
        match = re.match(r"(.*)::(?:\w+_)?table$", symbol or "")
        if not match:
            return None, []
        name, arguments = split_template(match[1])
        return name.rsplit("::", 1)[-1], arguments
