#!/usr/bin/env python3
"""What each call of heistd costs PostgreSQL: processor time of all its processes, and how long the caller waits.

usage: postgresql_costs.py [CALLS]   (on a quiet machine; by default 1500 calls for each row)
It starts a PostgreSQL 15 of its own in a temporary folder (scripts/setup installs it), and makes one call after another
from one connection, each a transaction that the disk has. Prints what bench/simulation reads, with tabs between: the
call, its jobs, how many lanes there are, microseconds of processor time, microseconds until the answer. Of a hint the
jobs are the connections that hear it.
"""

import contextlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "postgresql_queue"), str(HERE.parent / "scripts" / "support")]
import postgresql  # noqa: E402
import queue_database  # noqa: E402

CALLS = 1500
TICK = 1e6 / os.sysconf("SC_CLK_TCK")  # microseconds
WARM = 100  # calls before those that count

CONNECT = (HERE / "postgresql_queue" / "connect.sql").read_text()
HELD = "BEGIN;\nSELECT hold_session();\n%s\nCOMMIT;\n"
SUBMIT = HELD % """SELECT insert_jobs(array_agg(gen_random_uuid()), array_agg('alice'::bytea), array_agg('digest'::bytea),
  array_agg(''::bytea), array_agg(NULL::bytea), array_agg((random() * 2)::smallint), array_agg(1::smallint),
  array_agg(0::bigint), array_agg(NULL::bigint), array_agg(NULL::bigint), array_agg(NULL::uuid),
  array_agg(NULL::bigint), array_agg(1), array_agg('request'::bytea), array_agg(NULL::bytea), array_agg(NULL::bytea),
  array_agg(repeat('x', 500)::bytea), clock_timestamp()) FROM generate_series(1, :jobs);"""
CLAIM = HELD % r"""WITH c AS MATERIALIZED (
  SELECT * FROM claim(:jobs, '{}', (SELECT array_agg(DISTINCT client) FROM lane), '{digest}', '{}', '{}', '{}', 0, '{}',
                      '{}', '{}', 131072, '{0}', :lanes::int[], :cursors::bigint[], :mark, :until, NULL)),
claimed AS (SELECT array_agg((it).place) AS places, array_agg((it).day) AS days, array_agg((it).attempt) AS attempts
            FROM c WHERE its_lane IS NOT NULL)
SELECT cursor_lanes::text AS lanes, c.cursors::text AS cursors, mark, until, coalesce(places, '{}')::text AS places,
  coalesce(days, '{}')::text AS days, coalesce(attempts, '{}')::text AS attempts,
  coalesce(cardinality(places), 0) AS claimed
FROM c, claimed WHERE its_lane IS NULL \gset"""
COMPLETE = HELD % """SELECT complete(:days::date[], :places::bigint[], :attempts::int[],
  array_fill('done'::bytea, ARRAY[:claimed::int]), array_fill('a result'::bytea, ARRAY[:claimed::int]), false, NULL);"""
LOOK = """SELECT o.place, o.attempt, coalesce(l.priority, s.priority), o.lane FROM open o JOIN lane l USING (lane)
  LEFT JOIN signal s USING (signal)
  WHERE o.place = ANY(ARRAY(SELECT * FROM generate_series(1, :jobs::bigint))) AND o.node IS NOT NULL;"""
RENEW = "SELECT renew(this_node(), 1000000000);"
HINT = "SELECT pg_notify('heistd', '');"
MORE_LANES = """INSERT INTO heistd.lane(client, kind, priority)
  SELECT ('client ' || number / 3)::bytea, 'digest', number %% 3 FROM generate_series(3, %d - 1) number
  ON CONFLICT DO NOTHING;"""


def ticks_of(process):
    """Its own and those of its children that have ended; nothing if it has ended, too."""
    try:
        fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0
    return sum(int(field) for field in fields[11:15])


def spent(server):
    """Microseconds of processor time."""
    first = server.process.pid
    children = pathlib.Path(f"/proc/{first}/task/{first}/children").read_text().split()
    return sum(map(ticks_of, [first, *children])) * TICK


class Calls:
    def __init__(self, server, database, folder):
        self.server = server
        self.database = database
        self.script = folder / "call.sql"

    def run(self, text, jobs, calls):
        """Microseconds of a call until its answer."""
        self.script.write_text(CONNECT + text)
        defined = {"mark": 0, "until": 0, "begun": 0, "lanes": "{}", "cursors": "{}", "jobs": jobs}
        options = [word for name, value in defined.items() for word in ("-D", f"{name}={value}")]
        said = self.database.run("pgbench", "-n", "-M", "prepared", "-c", "1", "-t", str(calls), *options, "-f", self.script)
        return float(re.search(r"latency average = ([\d.]+) ms", said).group(1)) * 1000

    def measure(self, text, jobs, calls):
        """What a call costs, and how long it takes; without the connection and the first calls."""
        start = spent(self.server)
        self.run(text, jobs, WARM)
        warm = spent(self.server)
        took = self.run(text, jobs, WARM + calls)
        return (spent(self.server) - warm - (warm - start)) / calls, took


def print_row(call, jobs, lanes, figures):
    print(call, jobs, lanes, *[f"{figure:.0f}" for figure in figures], sep="\t", flush=True)


def measure_jobs(calls, count):
    """Jobs are accepted, claimed, and claimed and completed, by so many."""
    for jobs in (1, 10, 30):
        print_row("submit", jobs, 3, calls.measure(SUBMIT, jobs, count))
        for _ in range(2):  # as many again, so that no claim comes short
            calls.run(SUBMIT, jobs, count + 2 * WARM)
        claim = calls.measure(CLAIM, jobs, count)
        print_row("claim", jobs, 3, claim)
        both = calls.measure(CLAIM + COMPLETE, jobs, count)
        print_row("complete", jobs, 3, [two - one for two, one in zip(both, claim)])


@contextlib.contextmanager
def listeners(database, count):
    """Connections that hear hints."""
    sessions = []
    try:
        for _ in range(count):
            sessions.append(database.start("psql", "-q", "-At", stdin=subprocess.PIPE, stdout=subprocess.PIPE))
            sessions[-1].stdin.write("LISTEN heistd; SELECT 1;\n")
            sessions[-1].stdin.flush()
            sessions[-1].stdout.readline()
        yield
    finally:
        for session in sessions:
            session.communicate()


def measure_small_calls(calls, count):
    print_row("look", 8, 3, calls.measure(LOOK, 8, count))
    print_row("renew", 0, 3, calls.measure(RENEW, 8, count))
    for hearing in (0, 50):
        with listeners(calls.database, hearing):
            print_row("hint", hearing, 3, calls.measure(HINT, 8, count))


def measure_lanes(calls, count):
    """Claims that find nothing, by the number of lanes."""
    for lanes in (3, 30, 300, 3000):
        calls.database.run("psql", "-q", "-c", MORE_LANES % lanes)
        print_row("claim", 0, lanes, calls.measure(CLAIM, 4, count if lanes < 1000 else max(count // 10, 1)))


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else CALLS
    try:
        with postgresql.server(queue_database.SETTINGS) as server, tempfile.TemporaryDirectory() as folder:
            database = queue_database.Database(server)
            calls = Calls(server, database, pathlib.Path(folder))
            print("call\tjobs\tlanes\tprocessor\tanswer")
            database.make_queue()
            measure_jobs(calls, count)
            measure_small_calls(calls, count)
            database.make_queue()
            calls.run(SUBMIT, 1, 1)  # a client's lanes
            calls.run(CLAIM, 1, 1)
            measure_lanes(calls, count)
    except (postgresql.Failed, queue_database.Failed) as error:
        raise SystemExit(f"postgresql_costs: {error}") from None


main()
