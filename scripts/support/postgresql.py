"""A PostgreSQL server of one's own in a temporary folder, for tests and benchmarks."""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

PROGRAMS = pathlib.Path("/usr/lib/postgresql/15/bin")
USER = "heist"
DATABASE = "postgres"
PATIENCE = 60  # seconds, for a server to start or to stop


class Failed(Exception):
    """Its text says what was wrong and what to do."""


def as_server(command):
    """PostgreSQL refuses to run as root: then it runs as the user postgres. It ends when this process is killed."""
    become = ["--reuid", "postgres", "--regid", "postgres", "--clear-groups"] if os.getuid() == 0 else []
    return ["setpriv", *become, "--pdeathsig", "QUIT", *command]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """What it acknowledges is on the disk, unless the settings say otherwise."""

    def __init__(self, folder, settings, tcp):
        self.folder = folder
        self.port = free_port() if tcp else 5432  # without TCP, only a part of the socket's name
        if not (PROGRAMS / "initdb").exists():
            raise Failed(f"there is no {PROGRAMS}/initdb: run scripts/setup, or apt-get install postgresql-15")
        if os.getuid() == 0:
            shutil.chown(folder, "postgres")
        made = subprocess.run(
            as_server([PROGRAMS / "initdb", "-D", folder / "data", "-A", "trust", "-U", USER, "-E", "UTF8",
                       "--locale=C.UTF-8", "--no-sync"]), capture_output=True, text=True, cwd=folder, check=False)
        if made.returncode != 0:
            raise Failed(f"initdb failed:\n{made.stdout}{made.stderr}")
        listen = "127.0.0.1" if tcp else ""
        own = [f"listen_addresses={listen}", f"port={self.port}", f"unix_socket_directories={folder}"]
        self.settings = [word for setting in [*own, *settings] for word in ("-c", setting)]
        self.log = folder / "log"
        self.start()

    def start(self):
        """Also again, after stop()."""
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                as_server([PROGRAMS / "postgres", "-D", self.folder / "data", *self.settings]),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder, start_new_session=True)

    def environment(self):
        """What tells programs that use libpq where the server is."""
        return {"PGHOST": str(self.folder), "PGPORT": str(self.port), "PGUSER": USER, "PGDATABASE": DATABASE}

    def await_start(self):
        end = time.monotonic() + PATIENCE
        while subprocess.run([PROGRAMS / "pg_isready", "--quiet"], env={**os.environ, **self.environment()},
                             check=False).returncode != 0:
            if self.process.poll() is not None or time.monotonic() > end:
                raise Failed(f"PostgreSQL does not start:\n{self.log.read_text(errors='replace')}")
            time.sleep(0.05)

    def stop(self):
        self.process.send_signal(signal.SIGQUIT)  # at once: what it has acknowledged is on the disk
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextlib.contextmanager
def server(settings=(), tcp=False):
    """Runs a server, and removes all that it had. Settings are those of postgresql.conf, as name=value."""
    # Not below $TMPDIR, whose name may be too long for a Unix socket's.
    with tempfile.TemporaryDirectory(prefix="heist_postgresql_", dir="/tmp") as name:
        running = Server(pathlib.Path(name), settings, tcp)
        try:
            running.await_start()
            yield running
        finally:
            running.stop()
