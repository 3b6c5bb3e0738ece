"""Builds programs of a build folder with single units broken."""

import pathlib
import shlex
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "check"))
from rule_mutant_texts import Broken, broken_files  # noqa: E402
from source_text import ROOT  # noqa: E402


class Build:
    """A build folder: how its units are compiled, and its programs (those of tests/, or with their folders) linked."""

    def __init__(self, folder, programs):
        self.folder, self._programs = folder, programs
        self._compile, self._link = {}, {}
        for program in programs:
            target = program if "/" in program else f"tests/{program}"
            listed = subprocess.run(["ninja", "-C", folder, "-t", "commands", target],
                                    check=False, capture_output=True, text=True)
            if listed.returncode == 0:
                self._read(program, [shlex.split(line) for line in listed.stdout.splitlines()])

    def _read(self, program, commands):
        self._link[program] = [word for word in commands[-1] if word not in (":", "&&")]
        for words in commands:
            if "-c" in words:
                place = words.index("-MD")  # -MD -MT x -MF x: what ninja reads is not ours to write
                words = words[:place] + words[place + 5:]
                while "-include" in words:  # precompiled headers are those of the intact library
                    place = words.index("-include")
                    words = words[:place] + words[place + 2:]
                self._compile[pathlib.Path(words[words.index("-c") + 1])] = words

    def compile(self, tree, source):
        """(the object's path in the build, the object of the broken source)"""
        unit = self._unit_of(source)
        words = [word.replace(f"{ROOT}/src", f"{tree}/src").replace(f"{ROOT}/include", f"{tree}/include")
                 for word in self._compile[unit]]
        if unit != source:
            together = tree / unit.name
            together.write_text(unit.read_text(encoding="utf-8").replace(f"{ROOT}/src", f"{tree}/src"), encoding="utf-8")
            words[words.index("-c") + 1] = str(together)
        place = words.index("-o") + 1
        intact, broken = words[place], str(tree / words[place].replace("/", "_"))
        words[place] = broken
        # A broken rule may leave a parameter unused. What is compiled anew runs for a second only.
        self._call([*words, "-w", "-O1"])
        return intact, broken

    def _unit_of(self, source):
        """The source itself, or the file that CMake has written to compile it together with others."""
        for unit in self._compile:
            if unit == source or (unit.parent.name == "Unity" and f'"{source}"' in unit.read_text(encoding="utf-8")):
                return unit
        raise Broken(f"{source} is in none of {', '.join(self._programs)}")

    def link(self, tree, program, objects):
        """The broken objects stand in the intact ones' places, or before the archives these are in."""
        words = list(self._link[program])
        linked = tree / pathlib.Path(program).name
        words[words.index("-o") + 1] = str(linked)
        words = [objects.get(word, word) for word in words]
        added = [broken for broken in objects.values() if broken not in words]
        self._call([words[0], *added, *words[1:]])
        return linked

    def _call(self, words):
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Broken(f"does not build: {shlex.join(words)}\n{done.stderr[-3000:]}")


def copy_of_sources(mutant, folder):
    """A folder with the sources, in which the rule is broken."""
    tree = folder / mutant.name
    shutil.rmtree(tree, ignore_errors=True)
    for part in ("src", "include"):
        shutil.copytree(ROOT / part, tree / part)
    for file, text in broken_files(mutant).items():
        (tree / file).write_text(text, encoding="utf-8")
    return tree
