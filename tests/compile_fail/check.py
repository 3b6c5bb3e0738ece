"""Checks that one file does not compile, and that it fails for the reason it states.

usage: check.py FILE COMPILER COMPILER_ID FLAGS...

The file holds a line `// EXPECT: <regex>`, which must match the compiler's output, and compiles when
HEIST_EXPECT_OK is defined (so nothing else is wrong with it). A line `// ONLY: <COMPILER_ID>` limits
it to one compiler (`Clang` for thread-safety analysis): others must compile it.
"""

import pathlib
import re
import subprocess
import sys


def line_after(tag, text):
    found = re.search(rf"^// {tag}: (.+)$", text, re.MULTILINE)
    return found.group(1).strip() if found else None


def main():
    source, compiler, compiler_id, *flags = sys.argv[1:]
    text = pathlib.Path(source).read_text(encoding="utf-8")
    expected = line_after("EXPECT", text)
    if not expected:
        sys.exit(f"{source}: no line '// EXPECT: <regex>'")
    only = line_after("ONLY", text)
    def compile_with(*more):
        command = [compiler, *flags, *more, "-S", "-o", "/dev/null", source]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    code, output = compile_with("-DHEIST_EXPECT_OK")
    if code != 0:
        sys.exit(f"{source}: does not even compile with HEIST_EXPECT_OK\n{output}")
    code, output = compile_with()
    if only and only != compiler_id:
        sys.exit(f"{source}: fails, though not {only}\n{output}" if code != 0 else 0)
    if code == 0:
        sys.exit(f"{source}: compiles, but must not")
    if not re.search(expected, output):
        sys.exit(f"{source}: fails, but not with /{expected}/\n{output}")


main()
