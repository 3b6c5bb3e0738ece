#!/usr/bin/env python3
"""How many jobs a second queues on PostgreSQL accept, claim and complete, free and while somebody holds a snapshot.

usage: postgresql_queue.py [ROUNDS [SECONDS]]   (on a quiet machine; by default 3 rounds, 10 s for each measurement)
It starts a PostgreSQL 15 of its own in a temporary folder (scripts/setup installs it). A client accepts 10 jobs,
claims 10 and completes them, in three transactions that the disk has, and so on; there are six clients. `heistd` are
heistd's own functions; in `heistd_by_30` it are 30 jobs instead of 10. The rows of a round follow each other.
docs/adr/0081 says what the layouts are for.
"""

import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent / "postgresql_queue"
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "scripts" / "support")]
import postgresql  # noqa: E402
import queue_database  # noqa: E402

DESIGNS = ("plain", "heistd", "heistd_by_30")
JOBS = 10  # of a client's turn
HELD_PARTS = 3  # the last of them is compared


def jobs_a_second(database, design, seconds):
    script, _, number = design.partition("_by_")
    jobs = int(number or JOBS)
    starts = {"mark": 0, "until": 0, "begun": 0, "lanes": "{}", "cursors": "{}"}
    defined = [word for name, value in {**starts, "jobs": jobs}.items() for word in ("-D", f"{name}={value}")]
    first = ("connect",) if script == "heistd" else ()
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
        file.write("".join((HERE / f"{part}.sql").read_text() for part in (*first, script)))
        file.flush()
        said = database.run("pgbench", "-n", "-M", "prepared", "-c", "6", "-j", "1", "-T", str(seconds), *defined,
                            "-f", file.name)
    return jobs * float(re.search(r"^tps = ([\d.]+)", said, re.MULTILINE).group(1))


def hold_snapshot(database):
    """A session that sees everything as it is now until its input ends."""
    session = database.start("psql", "-q", "-At", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    session.stdin.write("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1;\n")
    session.stdin.flush()
    session.stdout.readline()
    return session


def measure(database, design, seconds):
    """Free, and with a snapshot that has been held for a while."""
    database.run_files(HERE / "tables.sql")
    database.make_queue()
    free = jobs_a_second(database, design, seconds)
    holder = hold_snapshot(database)
    held = [jobs_a_second(database, design, seconds) for _ in range(HELD_PARTS)][-1]
    holder.communicate("COMMIT;\n")
    return free, held


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    found = {design: [] for design in DESIGNS}
    try:
        with postgresql.server(queue_database.SETTINGS) as server:
            database = queue_database.Database(server)
            for number in range(rounds):
                for design in DESIGNS:
                    print(f"postgresql_queue: round {number + 1} of {rounds}: {design}", file=sys.stderr)
                    found[design].append(measure(database, design, seconds))
    except (postgresql.Failed, queue_database.Failed) as error:
        raise SystemExit(f"postgresql_queue: {error}") from None
    print(f"jobs a second, medians of {rounds} rounds\n")
    print(f"| | free | held for {(HELD_PARTS - 1) * seconds} s | ratio |\n|---|---|---|---|")
    for design, pairs in found.items():
        free, held = (statistics.median(values) for values in zip(*pairs))
        print(f"| {design} | {free:.0f} | {held:.0f} | {statistics.median(h / f for f, h in pairs):.2f} |")


main()
