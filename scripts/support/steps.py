"""Runs the steps of scripts/test and scripts/verify: each with its output in a log, a sign of life now and
then, and a closing table of what each took. A failing step does not stop the others."""

import os
import pathlib
import re
import resource
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOGS = ROOT / "build" / "logs"
JOBS = str(os.cpu_count())
TEST_JOBS = str(os.cpu_count() + 1)  # tests often wait, and would leave a processor idle
HEARTBEAT = 20  # seconds
SHOWN = 110  # lines of what a step has said that fails: room for a sanitizer's report
SKIPPED = 77  # the exit status of a step that is not possible on this machine, and says why in its last line
# Else ctest keeps 1024 bytes, and the count of tests is in the last line.
WHOLE_OUTPUT = ("--test-output-size-passed", "100000", "--test-output-truncation", "head")
PROGRESS = re.compile(r"^ *\[?(\d+/\d+)", re.M)


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def how_far(log):
    """"12/80" of a build or of tests, else the last line."""
    with open(log, "rb") as file:
        file.seek(max(0, log.stat().st_size - 4000))
        text = file.read().decode(errors="replace")
    found = PROGRESS.findall(text)
    return found[-1] if found else (text.strip().splitlines() or ["nothing yet"])[-1][:100]


class Steps:
    """What one run of a script does.   Thread: one."""

    def __init__(self, title):
        self._title = title
        self._start = time.monotonic()
        self._rows = []  # (name, seconds, processor seconds, what went wrong or "")
        self._skipped = {}  # the names of steps that were not possible here, and why
        self.tests = 0
        LOGS.mkdir(parents=True, exist_ok=True)

    def say(self, text):
        print(f"[{clock(time.monotonic() - self._start)}] {text}", flush=True)

    def log_of(self, name):
        return LOGS / (re.sub(r"[^\w.]+", "-", name) + ".log")

    def run(self, name, command, **environment):
        """Runs one command as a step; whether it succeeded."""
        log, began, used = self.log_of(name), time.monotonic(), processor_seconds()
        self.say(name)
        ended = threading.Event()
        beat = threading.Thread(target=self._beat, args=(name, log, ended))
        with open(log, "wb") as output:
            beat.start()
            try:
                code = subprocess.run([str(word) for word in command], cwd=ROOT, stdin=subprocess.DEVNULL,
                                      stdout=output, stderr=subprocess.STDOUT, check=False,
                                      env=dict(os.environ, **environment)).returncode
            except OSError as error:
                output.write(f"{error}\n".encode())
                code = 1
        ended.set()
        beat.join()
        if code == SKIPPED:
            self._skipped[name] = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1]
        self._note(name, began, used, "" if code in (0, SKIPPED) else f"exit status {code}", log)
        return code == 0

    def _beat(self, name, log, ended):
        while not ended.wait(HEARTBEAT):
            self.say(f"{name}: {how_far(log)} ...")

    def _note(self, name, began, used, wrong, log):
        took = time.monotonic() - began
        self._rows.append((name, took, processor_seconds() - used, wrong))
        if not wrong:
            self.say(f"{name}: {self._skipped.get(name, 'ok')}, took {clock(took)}")
            return
        self.say(f"{name}: FAILED ({wrong}), took {clock(took)}; the end of {log.relative_to(ROOT)}:")
        for line in log.read_text(encoding="utf-8", errors="replace").splitlines()[-SHOWN:]:
            print(f"    {line}")

    def ctest(self, name, preset, *options, prefix=()):
        """Runs tests of a preset; adds up what the programs say they ran."""
        junit = ROOT / "build" / preset / "ctest.xml"
        passed = self.run(name, [*prefix, "ctest", "--preset", preset, "-j", TEST_JOBS,
                                 "--output-junit", junit, *WHOLE_OUTPUT, *options])
        try:
            self.tests += tests_in(junit.read_text(encoding="utf-8", errors="replace"))
        except FileNotFoundError:
            pass
        return passed

    @property
    def seconds(self):
        return time.monotonic() - self._start

    @property
    def processor_seconds(self):
        return sum(used for _name, _took, used, _wrong in self._rows)

    @property
    def skipped(self):
        return list(self._skipped)

    @property
    def failures(self):
        return [name for name, _took, _used, wrong in self._rows if wrong]

    def table(self):
        """Markdown: what each step took."""
        lines = ["| part | took | processor time | verdict |", "|---|---|---|---|"]
        lines += [f"| {name} | {clock(took)} | {clock(used)} | "
                  f"{wrong or self._skipped.get(name, 'ok')} |" for name, took, used, wrong in self._rows]
        return "\n".join([*lines, f"| all | {clock(self.seconds)} | {clock(self.processor_seconds)} | "
                                  f"{'FAILED' if self.failures else 'ok'} |"])

    def finish(self):
        """Prints the table and the verdict; the exit status."""
        print(f"\n{self.table()}\n")
        passed = len(self._rows) - len(self.failures) - len(self.skipped)
        if self.failures:
            print(f"FAIL: {', '.join(self.failures)}")
        else:
            print(f"PASS: {self._title}, {self.tests} tests, "
                  f"in {clock(time.monotonic() - self._start)}")
        skipped = f", {len(self.skipped)} skipped" if self.skipped else ""
        print(f"{passed} passed, {len(self.failures)} failed{skipped}")
        return 1 if self.failures or not self._rows else 0


def tests_in(junit):
    """What GoogleTest's programs say they ran; any other entry of ctest is one test."""
    ran = [int(count) for count in re.findall(r"\] (\d+) tests? from \d+ test suites? ran", junit)]
    others = len(re.findall(r'<testcase .*?status="run"', junit)) - len(ran)
    return sum(ran) + max(others, 0)


def layout_for_tsan_of_gcc():
    """What stands before a program of g++ 12's thread sanitizer, which aborts where the kernel randomises addresses
    by more than 28 bits: nothing, or setarch. Ends the script if neither lets it start."""
    LOGS.mkdir(parents=True, exist_ok=True)
    probe = LOGS / "tsan_probe"
    subprocess.run(["g++", "-fsanitize=thread", "-x", "c++", "-o", probe, "-"], input=b"int main() {}",
                   check=True)
    for prefix in ([], ["setarch", "-R"]):
        if all(subprocess.run([*prefix, probe], capture_output=True, check=False).returncode == 0
               for _ in range(20)):
            return prefix
    sys.exit("The thread sanitizer of g++ 12 cannot map its memory here: the kernel randomises addresses by too "
             "many bits (vm.mmap_rnd_bits above 28). As root, run: sysctl vm.mmap_rnd_bits=28")
