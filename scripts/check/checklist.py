"""The rows of docs/wpt-checklist.md, and the tests that name them; for `conformance` here and in scripts/.

A gtest test shows a row when its name holds it: WPT_ABT_07_ stands for the row ABT-07, WPT_ABT_07_to_09_ for
three of them; one name may hold several. tests/conformance/rows.txt names what no gtest test shows.
"""

import dataclasses
import re

from source_text import ROOT, code_of, line_of, sources

CHECKLIST = ROOT / "docs" / "wpt-checklist.md"
TABLE = ROOT / "tests" / "conformance" / "rows.txt"
DOCUMENT = ROOT / "docs" / "evidence" / "conformance.md"
SECTION = re.compile(r"^## (.*)")
RANGE = re.compile(r"([A-Z]+-[A-Z]?)(\d+)(?:\.\.[A-Z]*|/[A-Z]*)(\d+)")
TEST = re.compile(r"^(TEST|TEST_F|TEST_P|TYPED_TEST)\(\s*(\w+),\s*(\w+)\)", re.M)
IN_NAME = re.compile(r"WPT_([A-Z]+)_([A-Z]?)(\d+)_(?:to_[A-Z]?(\d+)_)?")
BEHAVIOUR = ("behaviour asserted", "behaviour", "rule (spec)", "obligation")


@dataclasses.dataclass
class Row:
    name: str
    line: int
    section: str
    behaviour: str
    applies: str

    @property
    def needs_types(self):
        """Its section is run once for each kind of signal."""
        return "**three** times" in self.section


@dataclasses.dataclass
class Test:
    path: object
    line: int
    macro: str
    suite: str
    name: str

    @property
    def rows(self):
        return [f"{area}-{letter}{number:0{len(first)}}" for area, letter, first, last in IN_NAME.findall(self.name)
                for number in range(int(first), int(last or first) + 1)]

    @property
    def shown(self):
        return f"{self.suite}.{self.name}"


def cells_of(line):
    """A `|` between backticks separates nothing."""
    whole = re.sub(r"`[^`]*`", lambda code: code[0].replace("|", "\0"), line.strip().strip("|"))
    return [cell.strip().replace("\0", "|") for cell in whole.split("|")]


def expanded(name):
    found = RANGE.fullmatch(name)
    if not found:
        return [name]
    prefix, first, last = found.groups()
    return [f"{prefix}{number:0{len(first)}}" for number in range(int(first), int(last) + 1)]


def rows():
    """All rows of the checklist, ranges expanded, in its order."""
    section, header, result = "", None, []
    for number, line in enumerate(CHECKLIST.read_text(encoding="utf-8").split("\n"), start=1):
        if found := SECTION.match(line):
            section = found[1]
        if not line.startswith("|"):
            header = None
        elif header is None:
            header = cells_of(line)
        elif set(line) - set("|- "):
            cells = dict(zip(header, cells_of(line)))
            behaviour = next((cells[title] for title in BEHAVIOUR if title in cells), "")
            for name in expanded(cells["id"]):
                result.append(Row(name, number, section, behaviour or cells.get("source", ""),
                                  cells.get("applies", "yes")))
    return result


def named_tests():
    """Every gtest test whose name holds a row."""
    for path in sources("tests", suffixes=(".cpp",)):
        code = code_of(path.read_text(encoding="utf-8"))
        for macro in TEST.finditer(code):
            test = Test(path, line_of(code, macro.start()), *macro.groups())
            if test.rows:
                yield test


def table():
    """tests/conformance/rows.txt: (line, row, "ctest" or "none", names of ctest entries or the reason)."""
    for number, line in enumerate(TABLE.read_text(encoding="utf-8").split("\n"), start=1):
        if line and not line.startswith("#"):
            row, kind, rest = line.split(maxsplit=2)
            yield number, row, kind, rest


def shown_by(row, tests, entries):
    """What shows a row, as docs/evidence/conformance.md names it."""
    names = [test.shown for test in tests if row.name in test.rows]
    for _number, name, kind, rest in entries:
        if name == row.name and kind == "ctest":
            names += rest.split()
    return names
