"""The manual page and the completions of heistctl know the commands and options that --help shows."""

import os
import pathlib
import pty
import re
import shutil
import subprocess
import tempfile
import unittest

import heistctl_case
from heistd_server import PATIENCE, until

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "src" / "heistctl"
OPTION = re.compile(r"--[a-z][a-z-]*")
EVERYWHERE = {"--help", "--server", "--ca", "--token-file", "--retry-for"}


def help_of(*command):
    words = [heistctl_case.HEISTCTL, *command, "--help"]
    return subprocess.run(words, capture_output=True, check=True, text=True, timeout=PATIENCE).stdout


def options_in_help(*command):
    return set(re.findall(r"^  (?:-\w,)?(--[a-z-]+)", help_of(*command), re.MULTILINE))


def commands_in_help():
    return set(re.findall(r"^  ([a-z]+) ", help_of().partition("Subcommands:")[2], re.MULTILINE))


class ManualPage(unittest.TestCase):
    def setUp(self):
        general, *commands = (FOLDER / "heistctl.1").read_text().split("\n.Ss ")
        self.sections = {"": general, **{section.split()[0]: section for section in commands}}

    def options(self, command):
        found = re.findall(r"^\.It Fl (?:\w , Fl )?-([a-z-]+)", self.sections[command], re.MULTILINE)
        return {"--" + name for name in found}

    def test_page_then_it_has_the_commands_of_the_help(self):
        self.assertEqual(set(self.sections) - {""}, commands_in_help())

    def test_page_then_it_has_the_options_of_the_help(self):
        self.assertEqual(self.options(""), options_in_help())
        for command in commands_in_help():
            self.assertEqual(self.options(command), options_in_help(command) - EVERYWHERE, command)

    def test_page_then_it_is_formatted_without_a_warning(self):
        done = subprocess.run(["man", "--warnings", "--local-file", FOLDER / "heistctl.1"],
                              capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Completions:
    """What a shell offers: `offered` is a function of the words before the cursor."""

    SHELL = ""

    def setUp(self):
        self.assertTrue(shutil.which(self.SHELL), f"{self.SHELL} is missing: scripts/setup installs it")
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        self.environment = {**os.environ, "HOME": home.name, "XDG_CONFIG_HOME": home.name, "XDG_DATA_HOME": home.name}

    def options(self, *words):
        return set(OPTION.findall(self.offered(*words, "--")))

    def test_completion_then_it_has_the_commands_of_the_help(self):
        self.assertLessEqual(commands_in_help(), set(re.findall(r"[a-z]+", self.offered(""))))

    def test_completion_then_it_has_the_options_of_the_help(self):
        self.assertEqual(self.options(), options_in_help())
        for command in sorted(commands_in_help()):
            self.assertEqual(self.options(command), options_in_help(command) | EVERYWHERE, command)

    def test_completion_when_an_option_has_a_choice_then_it_is_offered(self):
        self.assertIn("user-blocking", self.offered("submit", "--priority", ""))
        self.assertIn("aborted", self.offered("list", "--state", ""))
        self.assertIn("background", self.offered("priority", "ID", ""))
        self.assertIn("submit", self.offered("--server", "http://localhost", "s"))

    def run_shell(self, script, *arguments):
        done = subprocess.run([self.SHELL, "-c", script, *arguments], capture_output=True, check=True, text=True,
                              env=self.environment, timeout=PATIENCE)
        self.assertEqual(done.stderr, "")
        return done.stdout


class Bash(Completions, unittest.TestCase):
    SHELL = "bash"

    def offered(self, *words):
        script = ('source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _heistctl; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        return self.run_shell(script, str(FOLDER / "completion" / "heistctl.bash"), "heistctl", *words)


class Fish(Completions, unittest.TestCase):
    SHELL = "fish"

    def offered(self, *words):
        script = 'source $argv[1]; complete --do-complete "$argv[2]"'
        offers = self.run_shell(script, str(FOLDER / "completion" / "heistctl.fish"), " ".join(["heistctl", *words]))
        return "\n".join(line.split("\t")[0] for line in offers.splitlines())


class Zsh(Completions, unittest.TestCase):
    """An interactive one on a terminal: only there zsh completes."""

    SHELL = "zsh"
    BEGIN = "fpath=($FOLDER $fpath); autoload -U compinit; compinit -D -u; LISTMAX=0; PS1=; setopt no_beep"

    def setUp(self):
        super().setUp()
        process, self.terminal = pty.fork()
        if process == 0:
            known = {**self.environment, "TERM": "dumb", "COLUMNS": "200", "LINES": "100", "FOLDER": str(FOLDER / "completion")}
            os.execvpe("zsh", ["zsh", "-f", "-i"], known)
        self.addCleanup(os.waitpid, process, 0)
        self.addCleanup(os.close, self.terminal)
        self.count = 0
        self.shown(self.BEGIN + "\n")

    def text_until(self, is_whole, keys):
        """What the terminal shows of these keys, up to there."""
        os.write(self.terminal, keys.encode())
        text = ""

        def ended():
            nonlocal text
            text += os.read(self.terminal, 65536).decode(errors="replace")
            return is_whole(text)

        until(ended, f"zsh to answer {keys!r}")
        return text

    def shown(self, keys):
        """The same with all that follows: the line is deleted, and an answer to another one is the last."""
        self.count += 1
        last = f".{self.count + 1000}."
        return self.text_until(lambda text: last in text, keys + f"\x15echo .$(({self.count}+1000)).\n")

    def offered(self, *words):
        """Zsh shows no list while there are more keys to be read, so these wait until it has begun to."""
        typed = " ".join(["heistctl", *words])
        begun = self.text_until(lambda text: text.partition(typed)[2], typed + "\t")
        return (begun + self.shown("")).replace(typed, "", 1)



if __name__ == "__main__":
    heistctl_case.main()
