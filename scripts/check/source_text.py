"""Reading C++ sources for the checks beside this file."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

_TOKEN = re.compile(
    r'(?P<comment>//[^\n]*|/\*.*?\*/)|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'",
    re.DOTALL,
)


def sources(*folders, suffixes=(".hpp", ".cpp")):
    """The files below the folders of the repository that end so, in a stable order."""
    found = (p for folder in folders for p in (ROOT / folder).rglob("*") if p.suffix in suffixes)
    return sorted(p for p in found if p.is_file())


def code_of(text):
    """The text with comments blanked out; offsets and lines stay."""

    def blank(match):
        comment = match.group("comment")
        return re.sub(r"[^\n]", " ", comment) if comment else match.group(0)

    return _TOKEN.sub(blank, text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


class Report:
    """Collects findings as file:line messages."""

    def __init__(self, name):
        self._name = name
        self._count = 0

    def error(self, path, line, message):
        self._count += 1
        print(f"{path.relative_to(ROOT)}:{line}: {message}", file=sys.stderr)

    def finish(self, summary):
        """The exit code; says what was looked at, so that a check of nothing is seen."""
        print(f"{self._name}: {summary}, {self._count} findings")
        return 1 if self._count else 0
