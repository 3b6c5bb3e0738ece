"""The manual page of heistd, which the build makes of its help, has all that the help has, and is well formed."""

import pathlib
import re
import subprocess
import unittest

import heistd_server
from heistd_server import PATIENCE


class ManualPage(unittest.TestCase):
    def setUp(self):
        self.page = pathlib.Path(heistd_server.HEISTD).with_name("heistd.8")
        if not self.page.exists():
            self.skipTest("the build has made no page, as help2man is missing, or the program has sanitizers")

    def test_page_then_it_has_the_options_of_the_help(self):
        words = [heistd_server.HEISTD, "--help"]
        text = subprocess.run(words, capture_output=True, check=True, text=True, timeout=PATIENCE).stdout
        options = set(re.findall(r"^ +(?:-\w,)?(--[a-z][a-z-]*)", text, re.MULTILINE))
        self.assertLessEqual({"--data", "--command", "--help"}, options)
        page = self.page.read_text().replace("\\-", "-")
        described = re.findall(r"^\.TP\n\\fB(?:-\w\\fR,)?(--[a-z][a-z-]*)", page, re.MULTILINE)
        self.assertEqual(sorted(described), sorted(options))

    def test_page_then_it_is_formatted_without_a_warning_and_has_its_sections(self):
        words = ["man", "--warnings", "--local-file", self.page]
        done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        sections = re.findall(r"^([A-Z]+(?: [A-Z]+)*)$", done.stdout, re.MULTILINE)
        self.assertLessEqual({"NAME", "SYNOPSIS", "ENVIRONMENT", "SIGNALS", "EXIT STATUS", "SEE ALSO"}, set(sections))


if __name__ == "__main__":
    heistd_server.main()
