#!/usr/bin/env python3
"""Runs servers with one queue, their clients and a fault each second, and writes down what was seen.

usage: run_cluster.py HEISTD HISTORY [--seconds S] [--jobs N] [--seed S] [--broken NAME] [--favoured FAULT] [--late-end]
  HEISTD, HISTORY   the program, and the file that check_history.py reads
  --seconds S       with faults (25)
  --jobs N          that are asked for at the most (as many as three servers can do)
  --seed S          makes the same choices as a run that printed this seed; moments differ
  --broken NAME     with one of the bugs of queue.mutants
  --favoured FAULT  which comes more often than it does else (troubles.py)
  --late-end        instead of all that: one end that is under way while its job is given to another server

The exit status says whether the run came to its end, and nothing of what the servers did.
"""

import argparse
import pathlib
import signal
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
FOLDERS = ("tests/heistd/e2e", "tests/heistd/faults", "scripts/support", "scripts/check")
sys.path[:0] = [str(ROOT / folder) for folder in FOLDERS]
import heistd_server  # noqa: E402
import rule_mutant_texts  # noqa: E402
from cluster_run import ClusterRun  # noqa: E402
from late_end import LateEnd  # noqa: E402
from progress import Progress  # noqa: E402

JOBS_A_SECOND = 200  # two busy CPUs end so many, faults included


def broken_functions(name):
    mutants = {mutant.name: mutant for mutant in rule_mutant_texts.read_file(HERE / "queue.mutants")}
    if name not in mutants:
        sys.exit(f"run_cluster: queue.mutants has no '{name}'; it has {', '.join(mutants)}")
    return list(rule_mutant_texts.broken_files(mutants[name]).values())


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("heistd")
    parser.add_argument("history")
    parser.add_argument("--seconds", type=int, default=25)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**6)
    parser.add_argument("--broken")
    parser.add_argument("--favoured")
    parser.add_argument("--late-end", action="store_true")
    words = parser.parse_args()
    heistd_server.HEISTD = words.heistd
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))  # servers are to end with this
    jobs = words.jobs or words.seconds * JOBS_A_SECOND
    broken = broken_functions(words.broken) if words.broken else ()
    print(f"faults: seed {words.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="heistd-cluster-") as folder:
        kind = LateEnd if words.late_end else ClusterRun
        run = kind(pathlib.Path(folder), words.seed, jobs, words.seconds, broken, words.favoured, Progress())
        try:
            run.go()
        finally:
            run.history.save(words.history)


if __name__ == "__main__":
    main()
