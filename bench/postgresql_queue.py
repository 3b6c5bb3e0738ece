#!/usr/bin/env python3
"""How many jobs a second queues on PostgreSQL accept, claim and complete, free and while somebody holds a snapshot.

usage: postgresql_queue.py [ROUNDS [SECONDS]]   (on a quiet machine; by default 3 rounds, 10 s for each measurement)
It needs PostgreSQL 15, as Debian packages it (apt-get install postgresql-15), and starts one of its own in a
temporary folder; as root, that runs as the user postgres. A client accepts 10 jobs, claims 10 and completes them, in
three transactions that the disk has, and so on; there are six clients and 10 000 older jobs. The rows of a round
follow each other. docs/adr/0081 says what the layouts are for.
"""

import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

PROGRAMS = pathlib.Path("/usr/lib/postgresql/15/bin")
HERE = pathlib.Path(__file__).resolve().parent / "postgresql_queue"
DESIGNS = ("plain", "plain_with_cursor", "ready_with_cursor")
JOBS = 10  # of a client's turn
HELD_PARTS = 3  # the last of them is compared
SETTINGS = "listen_addresses = ''\nshared_buffers = 512MB\nmax_wal_size = 4GB\n"


def as_server(command):
    become = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"]
    return [*become, *command] if os.getuid() == 0 else command


class Database:
    def __init__(self, folder):
        self.folder = folder
        if os.getuid() == 0:
            shutil.chown(folder, "postgres")
        data = folder / "data"
        subprocess.run(as_server([PROGRAMS / "initdb", "-D", data, "-A", "trust", "-U", "queue"]), check=True,
                       stdout=subprocess.DEVNULL, cwd=folder)
        (data / "postgresql.conf").write_text(SETTINGS + f"unix_socket_directories = '{folder}'\n", encoding="ascii")
        self.control("start", "-l", folder / "log")

    def control(self, *words):
        subprocess.run(as_server([PROGRAMS / "pg_ctl", "-D", self.folder / "data", "-w", *words]), check=True,
                       stdout=subprocess.DEVNULL, cwd=self.folder)

    def command(self, program, *options):
        return [PROGRAMS / program, "-h", self.folder, "-U", "queue", *options, "postgres"]

    def jobs_a_second(self, design, seconds):
        starts = [word for name in ("c0", "c1", "c2", "mark", "until") for word in ("-D", f"{name}=0")]
        said = subprocess.run(
            self.command("pgbench", "-n", "-M", "prepared", "-c", "6", "-j", "1", "-T", str(seconds), *starts,
                         "-f", HERE / f"{design}.sql"),
            capture_output=True, text=True, check=False)
        rate = re.search(r"^tps = ([\d.]+)", said.stdout, re.MULTILINE)
        if said.returncode != 0 or not rate:
            raise SystemExit(f"postgresql_queue: {design} failed:\n{said.stdout}{said.stderr}")
        return JOBS * float(rate.group(1))


def hold_snapshot(database):
    """A session that sees everything as it is now until its input ends."""
    session = subprocess.Popen(database.command("psql", "-q", "-At"), stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    session.stdin.write("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1;\n")
    session.stdin.flush()
    session.stdout.readline()
    return session


def measure(database, design, seconds):
    """Free, and with a snapshot that has been held for a while."""
    made = subprocess.run(database.command("psql", "-q", "-v", "ON_ERROR_STOP=1", "-f", HERE / "tables.sql"),
                          capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise SystemExit(f"postgresql_queue: tables.sql failed:\n{made.stderr}")
    free = database.jobs_a_second(design, seconds)
    holder = hold_snapshot(database)
    held = [database.jobs_a_second(design, seconds) for _ in range(HELD_PARTS)][-1]
    holder.communicate("COMMIT;\n")
    return free, held


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    if not (PROGRAMS / "initdb").exists():
        raise SystemExit(f"postgresql_queue: there is no {PROGRAMS}/initdb: apt-get install postgresql-15")
    found = {design: [] for design in DESIGNS}
    with tempfile.TemporaryDirectory() as name:
        database = Database(pathlib.Path(name))
        try:
            for number in range(rounds):
                for design in DESIGNS:
                    print(f"postgresql_queue: round {number + 1} of {rounds}: {design}", file=sys.stderr)
                    found[design].append(measure(database, design, seconds))
        finally:
            database.control("stop", "-m", "immediate")
    print(f"jobs a second, medians of {rounds} rounds\n")
    print(f"| | free | held for {(HELD_PARTS - 1) * seconds} s | ratio |\n|---|---|---|---|")
    for design, pairs in found.items():
        free, held = (statistics.median(values) for values in zip(*pairs))
        print(f"| {design} | {free:.0f} | {held:.0f} | {statistics.median(h / f for f, h in pairs):.2f} |")


main()
