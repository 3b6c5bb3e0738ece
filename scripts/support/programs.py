"""Programs that several threads of a script run until one of them fails."""

import subprocess
import threading

SHOWN_FIRST, SHOWN_LAST = 80, 20


class Stopped(Exception):
    """A program has failed, this one or another."""


class Failure:
    """What a program that has failed said; most of what matters of a sanitizer's report stands at its beginning."""

    def __init__(self, message, output):
        self.message = message
        lines = output.strip().splitlines()
        left_out = len(lines) - SHOWN_FIRST - SHOWN_LAST
        if left_out > 0:
            lines[SHOWN_FIRST:-SHOWN_LAST] = [f"... ({left_out} lines are left out)"]
        self.output = "\n".join(lines)


class Programs:
    """After the first failure no program starts any more, and those that run are killed.

    Thread: any.
    """

    def __init__(self):
        self.failure = None
        self._lock = threading.Lock()
        self._running = set()

    def run(self, command, environment, timeout):
        """(exit code, output); the code is None when the timeout came first. Raises Stopped."""
        with self._lock:
            self._stop_if_failed()
            child = subprocess.Popen(command, env=environment, text=True, errors="replace",
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self._running.add(child)
        try:
            output, code = child.communicate(timeout=timeout)[0], child.returncode
        except subprocess.TimeoutExpired:
            child.kill()
            output, code = child.communicate()[0], None
        with self._lock:
            self._running.remove(child)
            self._stop_if_failed()
        return code, output

    def fail(self, message, output):
        """Notes the failure, if it is the first one, ends all others, and raises Stopped."""
        with self._lock:
            self.failure = self.failure or Failure(message, output)
            for child in self._running:
                child.kill()
        raise Stopped

    def _stop_if_failed(self):
        if self.failure:
            raise Stopped
