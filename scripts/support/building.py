"""Builds for the scripts of scripts/verification. What the tools say goes to the standard output, as a sign of life."""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def build(preset, *targets):
    """Configures and builds a preset, or only these targets of it. Ends the script if that fails."""
    wanted = ["--target", *targets] if targets else []
    run(["cmake", "--preset", preset], ["cmake", "--build", "--preset", preset, "-j", str(os.cpu_count()), *wanted])


def run(*commands):
    for command in commands:
        print(*command, flush=True)
        if subprocess.run(command, cwd=ROOT, check=False).returncode != 0:
            sys.exit(f"{' '.join(map(str, command))} failed")
