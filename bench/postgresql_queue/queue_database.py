"""A database with heistd's tables and functions, for measurements of what they cost."""

import os
import pathlib
import subprocess

import postgresql

HERE = pathlib.Path(__file__).resolve().parent
SCHEMA = HERE.parents[1] / "src" / "heistd" / "postgresql" / "sql"
PARTS = ("tables", "nodes", "submit", "reads", "end", "names", "forget", "claim")  # in the order in which they can be made
SETTINGS = ("shared_buffers=512MB", "max_wal_size=4GB")


class Failed(Exception):
    """Its text is what a program has said."""


class Database:
    def __init__(self, server):
        self.environment = {**os.environ, **server.environment()}

    def start(self, program, *options, **how):
        return subprocess.Popen([postgresql.PROGRAMS / program, *options], env=self.environment, text=True, **how)

    def run(self, program, *options):
        """What it has said.   Errors: Failed."""
        process = self.start(program, *options, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said = process.communicate()[0]
        if process.returncode != 0:
            raise Failed(f"{program} failed:\n{said}")
        return said

    def run_files(self, *files):
        self.run("psql", "-q", "-v", "ON_ERROR_STOP=1", *[word for file in files for word in ("-f", file)])

    def make_queue(self):
        """heistd's tables, without a job, and its functions."""
        self.run_files(HERE / "schema.sql", *[SCHEMA / f"{part}.sql" for part in PARTS])
