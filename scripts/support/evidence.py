"""What each document of docs/evidence says about its run: the commit, the machine, and when."""

import datetime
import os
import pathlib
import platform
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What the verification itself writes is no change of what it judges.
WRITTEN = (":!docs/evidence", ":!docs/progress.md")


def _commit():
    named = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, check=False, capture_output=True, text=True)
    if named.returncode != 0:
        return "unknown"
    changed = subprocess.run(["git", "diff", "--quiet", "HEAD", "--", ".", *WRITTEN], cwd=ROOT,
                             check=False).returncode != 0
    return named.stdout.strip()[:10] + (" and changes" if changed else "")


# What is judged, as the run begins: the commit, and whether the files differ from it.
COMMIT = _commit()
# In general words, without the name of a host.
MACHINE = f"{os.cpu_count()} cores, {platform.machine()}"


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def run_of_today():
    """"2026-11-24, commit 0123456789, 2 cores, x86_64"."""
    return f"{now():%Y-%m-%d}, commit {COMMIT}, {MACHINE}"
