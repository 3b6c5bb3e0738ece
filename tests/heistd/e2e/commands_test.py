"""Kinds of jobs that programs do."""

import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import heistd_server
from heistd_server import MIB, ServerTest, until

WORKER = pathlib.Path(__file__).resolve().parents[3] / "examples" / "jobs" / "worker.py"


def is_gone(process):
    """Whether there is no such process, or only what its parent has not waited for."""
    try:
        state = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True
    return state == "Z"


def children_of(process):
    """The processes that a process has started."""
    tasks = pathlib.Path(f"/proc/{process}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


def failures(server, kind):
    """What the metrics say of a kind's programs, by why."""
    series = rf'^heistd_command_failures_total{{kind="{kind}",why="(\w+)"}} (\d+)$'
    return {why: int(count) for why, count in re.findall(series, server.get("/metrics").body.decode(), re.MULTILINE)}


def may_lower_niceness():
    """Whether a process of this user may become less nice again, which most users' may not."""
    script = "import os; os.nice(1); os.nice(-1)"
    return subprocess.run([sys.executable, "-c", script], stderr=subprocess.DEVNULL).returncode == 0


class CommandsTest(ServerTest):
    """A server with a few programs, each a script that lies in a folder of its own."""

    SCRIPTS = {
        "echo": "cat",
        "env": "env",
        "three": "echo before >&2; echo the reason >&2; exit 3",
        "crash": "kill -SEGV $$",
        "flood": "yes",
        "deaf": "exec <&-; echo heard nothing",
        "family": 'sleep 600 & echo $! >"$HEISTD_PARAM_file"; echo done',
        "sleeper": 'sleep 600 & echo $$ $! >"$HEISTD_PARAM_file"; wait',
        "escape": """echo said before
setsid sh -c 'echo $$ >"$HEISTD_PARAM_file"; exec sleep 600' &
while ! [ -s "$HEISTD_PARAM_file" ]; do sleep 0.01; done""",
        "patient": 'while ! [ -e "$HEISTD_PARAM_file" ]; do sleep 0.01; done',
        "big": 'exec /usr/bin/env python3 -c "len(bytearray(1 << 30))"',
    }
    LIMITS = ("--command-output", "1MB", "--max-commands", "4", "--operator", "anonymous")

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.server = self.start(*self.options(), *self.LIMITS, environment={"HEISTD_SECRET": "s3cret"})

    def options(self):
        words = ["--command", f"count={WORKER}"]
        for name, script in self.SCRIPTS.items():
            path = self.folder / name
            path.write_text(f"#!/bin/sh\n{script}\n")
            path.chmod(0o755)
            words += ["--command", f"{name}={path}"]
        return words

    def failed(self, target, body=b""):
        """Posts a job that is to fail, and waits for it; its error."""
        reply = self.server.post(f"{target}{'&' if '?' in target else '?'}wait=1", body)
        self.assertEqual(reply.status, 422, reply.body)
        return reply.json["error"]

    def processes(self, file):
        until(lambda: file.exists() and file.read_text().endswith("\n"), "the program to write its process ids")
        return [int(word) for word in file.read_text().split()]


class Commands(CommandsTest):
    def test_worker_when_it_succeeds_then_its_output_is_the_result(self):
        reply = self.server.post("/jobs/count?word=heist&wait=1", b"Heist is heist, a heist")
        self.assertEqual((reply.status, reply.body), (200, b"2\n"))
        self.assertEqual(reply.headers["content-type"], "application/octet-stream")
        self.assertIn("the parameter word is missing", self.failed("/jobs/count")["message"])

    def test_upload_when_large_then_it_goes_through_the_program(self):
        bytes_in = os.urandom(MIB)
        self.assertEqual(self.server.post("/jobs/echo?wait=1", bytes_in).body, bytes_in)

    def test_parameters_when_given_then_they_are_prefixed_and_tokens_are_not_passed_on(self):
        said = self.server.post("/jobs/env?wait=1&PATH=/evil&LD_PRELOAD=x.so&a_1=b%20c", b"").body.decode()
        lines = said.splitlines()
        self.assertIn("HEISTD_PARAM_PATH=/evil", lines)
        self.assertIn("HEISTD_PARAM_LD_PRELOAD=x.so", lines)
        self.assertIn("HEISTD_PARAM_a_1=b c", lines)
        self.assertFalse([line for line in lines if line.startswith(("LD_PRELOAD=", "PATH=/evil"))])
        self.assertNotIn("s3cret", said)

    def test_parameters_when_they_cannot_be_variables_then_400(self):
        self.assert_refused(self.server.post("/jobs/env?a-b=1"), 400, "bad_parameter", "a-b")
        self.assert_refused(self.server.post("/jobs/env?a=x%00y"), 400, "bad_parameter", "a")

    def test_parameters_when_there_are_too_many_then_400(self):
        query = "&".join(f"p{number}={number}" for number in range(64))
        self.assertEqual(self.server.post(f"/jobs/env?wait=1&{query}").status, 200)
        self.assert_refused(self.server.post(f"/jobs/env?{query}&one=more"), 400, "bad_parameter", "one")

    def test_program_when_its_status_is_not_0_then_the_error_has_the_end_of_its_stderr(self):
        error = self.failed("/jobs/three")
        self.assertEqual(error["code"], "command_failed")
        self.assertEqual(error["message"], "the program ended with status 3: before\nthe reason\n")

    def test_program_when_killed_by_a_signal_then_the_error_names_it(self):
        error = self.failed("/jobs/crash")
        self.assertEqual(error["code"], "command_failed")
        self.assertIn("killed by signal 11 (SEGV)", error["message"])

    def test_program_when_its_output_is_too_large_then_it_is_killed(self):
        self.assertEqual(self.failed("/jobs/flood")["code"], "result_too_large")
        self.assertEqual(failures(self.server, "flood"), {"not_started": 0, "timeout": 0, "output": 1})

    def test_program_when_it_is_gone_then_the_job_fails_and_the_metrics_say_why(self):
        (self.folder / "echo").unlink()
        self.assertEqual(self.failed("/jobs/echo")["code"], "command_not_started")
        self.assertEqual(failures(self.server, "echo"), {"not_started": 1, "timeout": 0, "output": 0})

    def test_program_when_it_does_not_read_its_input_then_its_output_counts(self):
        self.assertEqual(self.server.post("/jobs/deaf?wait=1", bytes(2 * MIB)).body, b"heard nothing\n")

    def test_program_when_it_leaves_children_behind_then_they_are_killed(self):
        file = self.folder / "left"
        self.assertEqual(self.server.post(f"/jobs/family?wait=1&file={file}").body, b"done\n")
        (left,) = self.processes(file)
        until(lambda: is_gone(left), "the child to be killed")

    def test_job_when_aborted_then_the_program_and_its_children_are_killed(self):
        file = self.folder / "started"
        job = self.server.accepted(f"/jobs/sleeper?file={file}")
        processes = self.processes(file)
        self.assertEqual(self.server.state(job), "running")
        self.assertEqual(self.server.request("DELETE", job).json["state"], "aborted")
        until(lambda: all(map(is_gone, processes)), "the program to be killed")

    def test_job_when_its_priority_changes_then_the_programs_niceness_does(self):
        file = self.folder / "started"
        job = self.server.accepted(f"/jobs/sleeper?signal=g&file={file}")
        program, child = self.processes(file)
        self.await_niceness(5, program)
        self.server.request("PUT", "/signals/g?priority=background")
        self.await_niceness(10, program, child)
        self.server.request("DELETE", job)

    def test_job_when_it_becomes_more_urgent_then_its_programs_niceness_is_lowered(self):
        if not may_lower_niceness():
            self.skipTest("this user may not lower the niceness of its processes: it takes CAP_SYS_NICE, or ulimit -e")
        file = self.folder / "started"
        self.server.request("PUT", "/signals/g?priority=background")
        job = self.server.accepted(f"/jobs/sleeper?signal=g&file={file}")
        processes = self.processes(file)
        self.await_niceness(10, *processes)
        for priority, more in (("user-visible", 5), ("user-blocking", 0)):
            self.server.request("PUT", f"/signals/g?priority={priority}")
            self.await_niceness(more, *processes)
        self.server.request("DELETE", job)

    def test_job_when_it_is_user_blocking_then_its_program_is_as_nice_as_the_server(self):
        file = self.folder / "started"
        job = self.server.accepted(f"/jobs/sleeper?priority=user-blocking&file={file}")
        processes = self.processes(file)
        self.await_niceness(0, *processes)
        self.assertEqual(self.server.request("PUT", f"{job}?priority=background").status, 200)
        self.await_niceness(10, *processes)
        self.server.request("DELETE", job)

    def await_niceness(self, more, *processes):
        """Waits until the processes have so much more of it than the server."""
        wanted = os.getpriority(os.PRIO_PROCESS, self.server.process.pid) + more
        for process in processes:
            until(lambda: os.getpriority(os.PRIO_PROCESS, process) == wanted, f"{process} to have niceness {wanted}")

    def test_agents_when_programs_run_then_other_jobs_go_on(self):
        jobs = [self.server.accepted(f"/jobs/sleeper?file={self.folder}/run{number}") for number in range(6)]
        started = lambda: len(list(self.folder.glob("run*")))  # which ones, two agents do not promise
        until(lambda: started() == 4, "four programs to start")
        self.assertEqual(self.server.post("/jobs/digest?wait=1").status, 200)
        self.assertEqual(started(), 4)
        for job in jobs:
            self.server.request("DELETE", job)

    def test_program_when_what_has_left_its_group_keeps_its_pipe_then_its_output_counts_all_the_same(self):
        file = self.folder / "escaped"
        self.assertEqual(self.server.post(f"/jobs/escape?wait=1&file={file}").body, b"said before\n")
        (escaped,) = self.processes(file)
        os.kill(escaped, signal.SIGKILL)

    def test_server_when_it_ends_then_what_programs_do_is_done_within_the_deadline(self):
        file = self.folder / "go"
        server = self.start(*self.options(), "--drain-deadline", "200000")
        job = server.accepted(f"/jobs/patient?file={file}")
        until(lambda: server.state(job) == "running", "the program to start")
        server.signal(signal.SIGTERM)
        until(lambda: server.said("draining"), "the drain to begin")
        file.write_text("go")
        self.assertEqual(server.ended(), 0)
        self.assertTrue(server.said("1 jobs finished, 0 aborted"), server.lines)

    def test_server_when_it_ends_then_it_waits_for_programs_and_then_kills_them(self):
        file = self.folder / "started"
        server = self.start(*self.options(), "--drain-deadline", "300")
        server.accepted(f"/jobs/sleeper?file={file}")
        processes = self.processes(file)
        server.signal(signal.SIGTERM)
        self.assertEqual(server.ended(), 0)
        self.assertTrue(all(map(is_gone, processes)))
        self.assertTrue(server.said("0 jobs finished, 1 aborted"), server.lines)


class Retries(CommandsTest):
    SCRIPTS = {
        "second": 'cat; echo "$HEISTD_JOB_ID" "$HEISTD_ATTEMPT"; [ "$HEISTD_ATTEMPT" = 2 ] || exit 75',
        "busy": "echo busy >&2; exit 75",
        "patient": CommandsTest.SCRIPTS["patient"],
    }

    def options(self):
        data = tempfile.TemporaryDirectory()
        self.addCleanup(data.cleanup)
        return [*super().options(), "--data", data.name]

    def test_program_when_its_status_is_75_then_it_is_tried_again_with_the_same_input(self):
        reply = self.server.post("/jobs/second?wait=1", b"upload ")
        job = reply.headers["location"]
        self.assertEqual((reply.status, reply.body.decode()), (200, f"upload {job.removeprefix('/jobs/')} 2\n"))
        self.assertEqual(self.server.get(job).json["attempts"], 2)

    def test_program_when_its_last_attempt_ends_with_75_then_the_job_is_dead(self):
        reply = self.server.post("/jobs/busy?wait=1&max_attempts=1")
        self.assert_refused(reply, 422, "command_failed")
        dead = self.server.get(reply.headers["location"]).json
        self.assertEqual((dead["state"], dead["attempts"]), ("dead", 1))
        self.assertEqual(dead["error"]["message"], "the program ended with status 75: busy\n")

    def test_jobs_when_the_server_is_killed_while_they_wait_for_their_turn_then_they_lose_no_attempt(self):
        options, file = self.options(), self.folder / "go"
        killed = heistd_server.Server(*options, "--max-commands", "1")
        jobs = [killed.accepted(f"/jobs/patient?max_attempts=1&file={file}") for _ in range(3)]
        until(lambda: "running" in map(killed.state, jobs), "a program to start")
        self.assertEqual(killed.post("/jobs/digest?wait=1&priority=background").status, 200)
        killed.signal(signal.SIGKILL)
        self.assertEqual(killed.ended(), -signal.SIGKILL)
        file.touch()
        server = self.start(*options)
        self.assertEqual(sorted(server.finished(job)["state"] for job in jobs), ["dead", "done", "done"])


class Memory(CommandsTest):
    LIMITS = ("--command-memory", "256MB")

    def test_program_when_it_takes_too_much_memory_then_it_fails(self):
        error = self.failed("/jobs/big")
        self.assertEqual(error["code"], "command_failed")
        self.assertIn("MemoryError", error["message"])


class Timeout(ServerTest):
    OPTIONS = ("--command", "sleep=/bin/sleep 600", "--command-timeout", "50", "--operator", "anonymous")

    def test_program_when_it_takes_too_long_then_it_is_killed(self):
        reply = self.server.post("/jobs/sleep?wait=1")
        self.assert_refused(reply, 422, "command_timeout")
        self.assertEqual(failures(self.server, "sleep"), {"not_started": 0, "timeout": 1, "output": 0})


class Environments(ServerTest):
    """What the server was started with."""

    def test_program_when_the_server_was_started_with_sigchld_ignored_then_its_end_is_known(self):
        ignore = lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # noqa: E731
        server = self.start("--command", "cat=/bin/cat", preexec=ignore)
        self.assertEqual(server.post("/jobs/cat?wait=1", b"in and out").body, b"in and out")

    def test_programs_when_they_take_many_descriptors_then_the_server_makes_room_for_them(self):
        few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 4096))  # noqa: E731
        server = self.start("--command", "sleep=/bin/sleep 600", "--max-commands", "30",
                            "--max-connections", "16", "--drain-deadline", "0", preexec=few)
        jobs = [server.accepted("/jobs/sleep") for _ in range(30)]
        failed = lambda: [job for job in jobs if server.state(job) == "failed"]  # noqa: E731
        until(lambda: len(children_of(server.process.pid)) + len(failed()) == 30, "the programs to start")
        self.assertEqual(failed(), [])

    @unittest.skipUnless(os.geteuid() == 0, "only root can make a program whose memory others cannot limit")
    def test_program_when_its_memory_cannot_be_limited_then_it_does_not_run(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            program = shutil.copy("/usr/bin/prlimit", folder)
            os.chmod(program, 0o4755)
            nobody = ("setpriv", "--reuid", "65534", "--clear-groups")
            command = f"limits={program} --as --noheadings --raw --output HARD"
            server = self.start("--command", command, "--command-memory", "1GiB", starter=nobody)
            reply = server.post("/jobs/limits?wait=1")
        # For a moment the program runs already and is not root's yet: then it could be limited.
        if reply.status == 200:
            self.assertEqual(int(reply.body), 2**30)
        else:
            self.assert_refused(reply, 422, "command_not_started")
            self.assertIn("the memory of the program could not be limited", reply.json["error"]["message"])


class Start(unittest.TestCase):
    def test_command_when_it_cannot_be_run_then_the_server_says_so_and_ends(self):
        for command, word in (
            ("gone=/no/such/program", "cannot run /no/such/program: No such file or directory"),
            ("text=/etc/passwd", "cannot run /etc/passwd: Permission denied"),
            ("folder=/tmp", "/tmp is no program"),
            ("relative=cat", "must be a path from the root: cat"),
            ("nothing", "must be NAME=/path/to/program"),
            ("empty=", "must be NAME=/path/to/program"),
            ("digest=/bin/cat", "two kinds of the name digest"),
            ("a/b=/bin/cat", '"a/b"'),
        ):
            with self.subTest(command=command):
                done = subprocess.run([heistd_server.HEISTD, "--port", "0", "--command", command],
                                      capture_output=True, text=True, timeout=heistd_server.PATIENCE)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(word, done.stdout + done.stderr)


if __name__ == "__main__":
    heistd_server.main()
