"""Reads the journal that a server has left behind."""

import json
import pathlib
import re
import shutil
import sqlite3
import tempfile

from history import ENDS, STORED, Row

PIECES = 20  # bits of a piece's number, in sqlite_schema.hpp
NOTE = re.compile(rb"(([0-9a-f]{16})[0-9a-f]{16}) (\d+) *\2\n")  # in start_notes.cpp
JOBS = """
    SELECT seq, id, kind, parameters, idempotency_key, state, attempt, forgiven, max_attempts, payload_bytes,
        predecessor, follows
    FROM job"""


def read(data):
    """The rows by the jobs' ids, and how many results belong to no job. A copy is read: reading changes the journal."""
    with tempfile.TemporaryDirectory(prefix="heistd-view-") as folder:
        for file in pathlib.Path(data).glob("journal.sqlite*"):
            if not file.name.endswith("-shm"):
                shutil.copy(file, folder)
        database = sqlite3.connect(pathlib.Path(folder, "journal.sqlite"))
        try:
            return _rows(database, _noted_starts(data))
        finally:
            database.close()


def _noted_starts(data):
    """The latest attempts by the jobs' ids: who reads the file knows by the rows which of them have ended."""
    latest = {}
    for id, _, attempt in NOTE.findall(pathlib.Path(data, "starts").read_bytes()):
        latest[id.decode()] = max(int(attempt), latest.get(id.decode(), 0))
    return latest


def _rows(database, noted):
    payloads = {order for (order,) in database.execute(f"SELECT DISTINCT place >> {PIECES} FROM payload")}
    first = f"place & {(1 << PIECES) - 1} = 0"
    results = dict(database.execute(f"SELECT place >> {PIECES}, bytes FROM result WHERE {first}"))
    rows, orders = {}, set()
    for order, id, *rest in database.execute(JOBS):
        orders.add(order)
        rows[id.decode()] = _row(noted.get(id.decode(), 0), *rest, order in payloads, results.get(order))
    return rows, len(results.keys() - orders)


def _row(
    noted, kind, parameters, key, state, attempt, forgiven, most, payload_bytes, after, follows, has_payload, result
):
    state = STORED[state]
    if noted > attempt and state not in ENDS:
        state, attempt = "running", noted
    return Row(
        state=state,
        attempt=attempt,
        forgiven=forgiven,
        max_attempts=most,
        name=_name_in(parameters),
        key=key and key.decode(),
        has_payload=has_payload,
        needs_payload=payload_bytes > 0 and (state not in ENDS or state == "dead"),
        has_result=result is not None,
        needs_result=state == "done",  # none of the tests' results is empty
        value=None if result is None else value_of(kind.decode(), result),
        after=after and after.decode(),
        follows=follows is not None,
    )


def _name_in(parameters):
    """Names and values stand there one after the other, each behind its size."""
    found = re.search(rb"4:name(\d+):", parameters)
    return found and parameters[found.end() :][: int(found[1])].decode()


def value_of(kind, result):
    """What is compared of a result: a digest's SHA-256, and what a program wrote, be it anything."""
    return json.loads(result)["sha256"] if kind == "digest" else result.decode(errors="replace").strip()
