"""Reads tests/mutants/*.mutants (the format: tests/mutants/README.md) and breaks sources with them."""

import collections
import re

from source_text import ROOT

FOLDER = ROOT / "tests" / "mutants"
TABLE = ROOT / "docs" / "evidence" / "rule-mutants.md"
PROPERTY = re.compile(r"(rule|broken|file|units|unseen): *(\S.*)")
HEADER = re.compile(r"== ([a-z][a-z-]*)")

Edit = collections.namedtuple("Edit", "file text replacement place")


class Broken(Exception):
    """Something is wrong with a mutant; says where."""


class Mutant:
    def __init__(self, name, place):
        self.name, self.place = name, place
        self.rule = self.broken = self.file = self.unseen = ""
        self.units = []
        self.edits = []

    def set(self, key, value):
        setattr(self, key, value.split() if key == "units" else value)

    def check(self):
        missing = [key for key in ("rule", "broken", "edits") if not getattr(self, key)]
        if missing:
            raise Broken(f"{self.place}: {self.name} has no {', no '.join(missing)}")
        headers = [edit.file for edit in self.edits if edit.file.endswith(".hpp")]
        if headers and not self.units:
            raise Broken(f"{self.place}: which units use {headers[0]}?")

    def sources(self):
        """What is compiled again: the broken units, and those that use the broken headers."""
        found = {ROOT / edit.file for edit in self.edits if edit.file.endswith(".cpp")}
        for unit in self.units:
            path = ROOT / unit
            found.update(path.rglob("*.cpp") if path.is_dir() else [path])
        missing = [path for path in found if not path.is_file()]
        if missing:
            raise Broken(f"{self.place}: there is no {missing[0]}")
        return sorted(found)


def read_block(lines, end, place):
    block = []
    for _number, line in lines:
        if line == end:
            return "\n".join(block)
        block.append(line)
    raise Broken(f"{place}: no {end} follows")


def read_file(path):
    mutants = []
    lines = iter(enumerate(path.read_text(encoding="utf-8").split("\n"), start=1))
    for number, line in lines:
        place = f"{path.relative_to(ROOT)}:{number}"
        if header := HEADER.fullmatch(line):
            mutants.append(Mutant(header[1], place))
        elif mutants and (found := PROPERTY.fullmatch(line)):
            mutants[-1].set(found[1], found[2])
        elif mutants and line == "<<<<":
            text = read_block(lines, "====", place)
            mutants[-1].edits.append(Edit(mutants[-1].file, text, read_block(lines, ">>>>", place), place))
        elif line and not line.startswith("# "):
            raise Broken(f"{place}: not understood: {line}")
    return mutants


def read_mutants():
    mutants = [mutant for path in sorted(FOLDER.glob("*.mutants")) for mutant in read_file(path)]
    names = set()
    for mutant in mutants:
        mutant.check()
        if mutant.name in names:
            raise Broken(f"{mutant.place}: {mutant.name} is there twice")
        names.add(mutant.name)
    return mutants


def read_rows():
    """{mutant: [rule, broken, found by]}, as the table has them"""
    text = TABLE.read_text(encoding="utf-8") if TABLE.is_file() else ""
    rows = [[cell.strip() for cell in line.strip("|").split("|")]
            for line in text.splitlines() if line.startswith("| `")]
    return {row[0].strip("`"): row[1:] for row in rows}


def broken_files(mutant):
    """{file: its text with the rule broken}"""
    texts = {}
    for edit in mutant.edits:
        path = ROOT / edit.file
        if not path.is_file():
            raise Broken(f"{edit.place}: there is no {edit.file}")
        text = texts.setdefault(edit.file, path.read_text(encoding="utf-8"))
        if not edit.text.strip() or text.count(edit.text) != 1:
            raise Broken(f"{edit.place}: the text occurs {text.count(edit.text)} times in {edit.file}")
        texts[edit.file] = text.replace(edit.text, edit.replacement)
    return texts
