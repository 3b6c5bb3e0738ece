#!/usr/bin/env python3
"""How many requests a second heistd answers, beside nginx with a static file, and with a journal beside without.

usage: heistd_throughput.py BUILD_DIRECTORY [ROUNDS]   (a release build, on a quiet machine)
It needs nginx, which scripts/setup does not install, as Debian starts it then: apt-get install nginx-light.
All measurements of a round follow each other, so that a slow hour slows all of them. Prints a table in Markdown of
medians and of the medians of the rounds' ratios, and ends with 1 when a bar is missed.
"""

import os
import pathlib
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time

WEB_SERVER = "/usr/sbin/nginx"
BODY_BYTES = 4096
SECONDS = 2
WAITERS = 64  # connections at a time
SYNCS = 200
POST = f"""
wrk.method = "POST"
wrk.body = string.rep("x", {BODY_BYTES})
"""
NGINX = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{ listen 127.0.0.1:{port}; root {folder}; keepalive_requests 100000000; }}
}}
"""


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def wait_for(port):
    for _ in range(500):
        with socket.socket() as asked:
            if asked.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.01)
    raise SystemExit(f"heistd_throughput: nobody listens on port {port}")


class Program:
    """A server that wrk asks."""

    def __init__(self, command, port):
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        self.port = port
        wait_for(port)

    def wrk(self, target, *options):
        command = ["wrk", "-t1", f"-c{WAITERS}", f"-d{SECONDS}s", "--latency", *options]
        said = subprocess.run(
            [*command, f"http://127.0.0.1:{self.port}{target}"], capture_output=True, text=True, check=True
        ).stdout
        if "Non-2xx" in said or "Socket errors" in said:
            raise SystemExit(f"heistd_throughput: {target} was refused:\n{said}")
        return said

    def rate(self, target, *options):
        """Requests a second."""
        return float(re.search(r"Requests/sec: *([\d.]+)", self.wrk(target, *options)).group(1))

    def p99(self, target, *options):
        """Milliseconds."""
        number, unit = re.search(r"99% *([\d.]+)(us|ms|s)", self.wrk(target, *options)).groups()
        return float(number) * {"us": 0.001, "ms": 1, "s": 1000}[unit]

    def end(self):
        self.process.terminate()
        self.process.wait(timeout=60)


def start_heistd(program, *options):
    port = free_port()
    command = [program, "--port", str(port), "--agents", "1", "--max-queued", "1000000",
               "--max-queued-bytes", "8GiB", "--drain-deadline", "0", *options]
    return Program(command, port)


def start_nginx(folder):
    port = free_port()
    (folder / "static").write_bytes(b"x" * BODY_BYTES)
    configuration = folder / "nginx.conf"
    configuration.write_text(NGINX.format(folder=folder, port=port), encoding="ascii")
    return Program([WEB_SERVER, "-c", configuration], port)


def p99_of_syncs(folder):
    """Milliseconds in which the disk makes 4 KiB safe."""
    took = []
    with open(folder / "synced", "wb", buffering=0) as file:
        for _ in range(SYNCS):
            file.write(b"x" * BODY_BYTES)
            start = time.monotonic()
            os.fdatasync(file.fileno())
            took.append((time.monotonic() - start) * 1000)
    return statistics.quantiles(took, n=100)[98]


def measure(heistd, folder, post):
    """One round: figures by their names."""
    figures = {}
    web = start_nginx(folder)
    figures["nginx"] = web.rate("/static")
    web.end()
    threads = start_heistd(heistd, "--network-threads", "2")
    figures["healthz of two"] = threads.rate("/healthz")
    threads.end()
    memory = start_heistd(heistd)
    figures["healthz"] = memory.rate("/healthz")
    figures["digest"] = memory.rate("/jobs/digest?wait=1", "-s", post)
    figures["accept"] = memory.rate("/jobs/digest", "-s", post)
    memory.end()
    with tempfile.TemporaryDirectory(dir=folder) as data:
        durable = start_heistd(heistd, "--data", data)
        figures["durable"] = durable.rate("/jobs/digest", "-s", post)
        figures["durable p99"] = durable.p99("/jobs/digest", "-s", post)
        durable.end()
    figures["sync p99"] = p99_of_syncs(folder)
    return figures


# Before it had several network threads heistd made 1.09 times the requests of nginx (ADR 0077).
TWICE_THE_EARLIER_HEALTH = 2.18
ROWS = (
    ("`GET /healthz`, requests a second, beside nginx's static 4 KiB", "healthz", "nginx", TWICE_THE_EARLIER_HEALTH, None),
    ("`GET /healthz` with two network threads, beside nginx", "healthz of two", "nginx", None, None),
    ("digest of 4 KiB with its result, beside nginx", "digest", "nginx", 0.6, None),
    ("4 KiB accepted with `--data`, beside in memory", "durable", "accept", 0.5, None),
    ("p99 of that, ms, beside that of an fdatasync", "durable p99", "sync p99", None, 2.0),
)


def print_row(rounds, name, ours, theirs, least, most):
    """True when its bar holds."""
    ratio = statistics.median(figures[ours] / figures[theirs] for figures in rounds)
    values = [statistics.median(figures[key] for figures in rounds) for key in (ours, theirs)]
    bar = f">= {least}" if least else f"<= {most}" if most else ""
    print(f"| {name} | {values[0]:.4g} | {values[1]:.4g} | {ratio:.2f} | {bar} |")
    return (least is None or ratio >= least) and (most is None or ratio <= most)


def main():
    if not os.path.exists(WEB_SERVER):
        raise SystemExit(f"heistd_throughput: there is no {WEB_SERVER}: apt-get install nginx-light")
    heistd = pathlib.Path(sys.argv[1]) / "src" / "heistd" / "heistd"
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    rounds = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)  # nginx's workers are another user when root starts it
        post = folder / "post.lua"
        post.write_text(POST, encoding="ascii")
        for number in range(count):
            print(f"heistd_throughput: round {number + 1} of {count}", file=sys.stderr)
            rounds.append(measure(heistd, folder, post))
    print(f"{WAITERS} connections, {count} rounds\n\n| | heistd | other | ratio | bar |\n|---|---|---|---|---|")
    return 0 if all([print_row(rounds, *row) for row in ROWS]) else 1


sys.exit(main())
