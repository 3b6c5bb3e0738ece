#!/usr/bin/env python3
"""Says what servers with one queue have done wrong, by the history of a run (cluster_history.py).

usage: check_history.py HISTORY

It prints each problem with what happened to the job. The exit status is 0 when there is none.
"""

import collections
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "heistd" / "faults"))
import cluster_history  # noqa: E402
import cluster_rules  # noqa: E402


def main(path):
    history = cluster_history.load(path)
    problems = cluster_rules.problems(history)
    for problem in problems:
        print(problem)
    rules = collections.Counter(problem.rule for problem in problems)
    print(f"check_history: {size_of(history)}: "
          + (", ".join(f"{number} {rule}" for rule, number in rules.items()) or "nothing is wrong"))
    return 1 if problems else 0


def size_of(history):
    unanswered = sum(request.end is None for request in history.requests)
    asked_for = collections.Counter(run.id for run in history.runs if run.will_retry)
    runs = collections.Counter(run.id for run in history.runs)
    repeated = sum(max(number - 1 - asked_for[id], 0) for id, number in runs.items())
    lost = sum(max(row.attempt - row.forgiven - 1 - asked_for[id], 0) for id, row in history.last.items())
    return (f"{len(history.jobs)} jobs, {unanswered} requests without an answer, {len(history.faults)} faults, {lost} "
            f"attempts lost, {len(history.runs)} runs of programs, {repeated} of them repeated")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
