"""What the compiler and the linker were told: read from the program itself."""

import subprocess
import unittest

import heistd_server


class Hardening(unittest.TestCase):
    def readelf(self, what):
        command = ["readelf", "--wide", what, heistd_server.HEISTD]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def test_program_then_at_no_fixed_address(self):
        self.assertRegex(self.readelf("--file-header"), r"Type:\s+DYN")
        self.assertRegex(self.readelf("--dynamic"), r"FLAGS_1.*\bPIE\b")

    def test_program_then_its_functions_are_bound_at_the_start_and_read_only(self):
        self.assertRegex(self.readelf("--dynamic"), r"FLAGS_1.*\bNOW\b")
        self.assertIn("GNU_RELRO", self.readelf("--program-headers"))

    def test_program_then_its_stack_cannot_be_run(self):
        self.assertRegex(self.readelf("--program-headers"), r"GNU_STACK.* RW ")

    def test_program_then_it_checks_its_stack_and_the_sizes_of_its_buffers(self):
        symbols = self.readelf("--dyn-syms")
        self.assertIn("__stack_chk_fail", symbols)
        self.assertRegex(symbols, r"__\w+_chk@")


if __name__ == "__main__":
    heistd_server.main()
