"""Headless Chromium, which is told what to do by a pipe in the words of its DevTools protocol. All stays on this machine."""

import fcntl
import json
import os
import shutil
import subprocess

BROWSER = "chromium"
PATIENCE = 120  # seconds


class Unusable(Exception):
    """What is missing, or what the browser or the page says."""


def missing():
    """What is not installed; nothing when all is there."""
    return "" if shutil.which(BROWSER) else f"{BROWSER} is missing (scripts/setup installs it)"


def _above_nine(descriptor):
    """The same file under another number."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(descriptor)
    return moved


class Browser:
    """One browser, whose profile is in the folder `home`."""

    def __init__(self, home, width, height):
        asks, self.out = os.pipe()
        self.answers, answers = os.pipe()
        # It takes 3 and 4. The shell gives it these from numbers that cannot be one of them; dash knows no such numbers.
        asks, answers = _above_nine(asks), _above_nine(answers)
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{asks} 4>&{answers}', "bash", BROWSER, "--headless", "--no-sandbox",
             "--disable-gpu", "--no-first-run", "--disable-background-networking", "--remote-debugging-pipe", "--hide-scrollbars",
             "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", f"--window-size={width},{height}",
             f"--user-data-dir={home}/profile", "about:blank"],
            env={**os.environ, "HOME": home}, pass_fds=(asks, answers), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(asks)
        os.close(answers)
        self.received = b""
        self.last = 0

    def call(self, method, **parameters):
        self.last += 1
        session = parameters.pop("session", None)
        asked = {"id": self.last, "method": method, "params": parameters}
        if session:
            asked["sessionId"] = session
        os.write(self.out, json.dumps(asked).encode() + b"\0")
        while True:
            answer = json.loads(self._next())
            if answer.get("id") == self.last:
                break
        if "error" in answer:
            raise Unusable(f"{BROWSER} refuses {method}: {answer['error']['message']}")
        return answer["result"]

    def _next(self):
        while b"\0" not in self.received:
            more = os.read(self.answers, 1 << 20)
            if not more:
                raise Unusable(f"{BROWSER} has ended")
            self.received += more
        answer, self.received = self.received.split(b"\0", 1)
        return answer

    def end(self):
        os.close(self.out)  # which ends it
        self.process.wait(timeout=PATIENCE)
        os.close(self.answers)
