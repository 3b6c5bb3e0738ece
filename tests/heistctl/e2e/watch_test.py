"""heistctl watches jobs and levels, on a terminal and elsewhere."""

import os
import pty
import signal
import subprocess

import heistctl_case
from heistctl_case import HeistctlTest
from heistd_server import MIB, PATIENCE, until


class Watch(HeistctlTest):
    OPTIONS = ("--command", "echo=/bin/cat", "--command-output", "100MiB", "--max-body", "100MiB")

    def interrupted(self, process):
        """Presses Ctrl-C; what heistctl says."""
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 130, errors)
        return errors.decode()

    def test_watch_when_the_output_is_no_terminal_then_it_has_a_line_for_each_change(self):
        job = self.waiting_job("--signal", "night")
        process = self.begin("watch", job)
        self.assertEqual(process.stdout.readline().decode(), f"{job} delayed\n")
        self.server.request("DELETE", "/signals/night")
        output, errors = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, errors), (1, b""))
        self.assertTrue(output.decode().startswith(f"{job} aborted, "), output)

    def test_watch_when_the_job_is_done_then_so_is_the_watch(self):
        job = self.submitted("digest", data=b"x")
        self.server.finished(f"/jobs/{job}")
        self.assertIn(f"{job} done, waited ", self.done("watch", job).text)

    def test_watch_when_ctrl_c_is_pressed_then_the_job_goes_on(self):
        job = self.waiting_job()
        process = self.begin("watch", job)
        process.stdout.readline()
        self.assertIn("the job goes on", self.interrupted(process))
        self.assertEqual(self.state(job), "delayed")

    def test_watch_when_ctrl_c_shall_abort_then_the_job_is_aborted(self):
        job = self.waiting_job()
        process = self.begin("watch", job, "--abort")
        process.stdout.readline()
        self.assertIn(f"the job {job} is aborted", self.interrupted(process))
        self.assertEqual(self.state(job), "aborted")

    def test_watch_when_ctrl_c_is_pressed_while_the_server_is_silent_then_it_ends(self):
        process = self.begin("watch", self.waiting_job())
        process.stdout.readline()
        self.server.signal(signal.SIGSTOP)
        try:
            self.assertIn("the job goes on", self.interrupted(process))
        finally:
            self.server.signal(signal.SIGCONT)

    def test_submit_when_it_waits_and_ctrl_c_is_pressed_then_the_job_goes_on(self):
        process = self.begin("submit", "digest", self.write("upload", b"x"), "--delay", "1h", "--wait")
        job = process.stderr.readline().decode().split()[0]
        self.assertIn(f"heistctl watch {job}", self.interrupted(process))
        self.assertEqual(self.state(job), "delayed")

    def open_file(self, process, number):
        """The path of a file that a process has open; none has such a number as it begins."""
        try:
            return os.readlink(f"/proc/{process.pid}/fd/{number}")
        except FileNotFoundError:
            return ""

    def test_submit_when_ctrl_c_is_pressed_then_no_file_is_left(self):
        words = ("submit", "digest", "--delay", "1h", "--output", self.path("result"))
        process = self.begin(*words, stdin=subprocess.PIPE)
        process.stdin.write(b"x")
        process.stdin.flush()
        until(lambda: "heistctl-" in self.open_file(process, 4), "heistctl to copy its input")
        self.assertIn("interrupted", self.interrupted(process))
        process = self.begin(*words, self.write("upload", b"x"))
        process.stderr.readline()
        self.assertIn("interrupted", self.interrupted(process))
        self.assertEqual(os.listdir(self.folder), ["upload"])

    def on_a_terminal(self, *words):
        """A heistctl whose output is a terminal, and the other end of that."""
        ours, its = pty.openpty()
        known = {**os.environ, "HEIST_SERVER": self.url}
        process = subprocess.Popen([heistctl_case.HEISTCTL, *words], stdout=its, env=known)
        os.close(its)
        self.addCleanup(os.close, ours)
        return process, ours

    def shown(self, terminal, what):
        """Reads the terminal until it has shown that; all of it."""
        text = b""

        def more():
            nonlocal text
            text += os.read(terminal, 65536)
            return what in text

        until(more, f"{what} on the terminal")
        return text

    def test_watch_when_the_output_is_a_terminal_then_a_line_is_written_again(self):
        job = self.waiting_job()
        process, terminal = self.on_a_terminal("watch", job)
        line = f"\r{job} delayed ".encode()
        self.shown(terminal, line)
        self.shown(terminal, line)  # once more
        self.server.request("DELETE", f"/jobs/{job}")
        self.shown(terminal, f"\r\x1b[K{job} aborted".encode())
        self.assertEqual(process.wait(timeout=PATIENCE), 1)

    def test_result_when_the_output_is_a_terminal_then_only_text_is_printed(self):
        frame, digest = self.submitted("compress", data=b"x"), self.submitted("digest", data=b"x")
        for job in (frame, digest):
            self.server.finished(f"/jobs/{job}")
        refused, _ = self.on_a_terminal("result", frame)
        self.assertEqual(refused.wait(timeout=PATIENCE), 2)
        printed, terminal = self.on_a_terminal("result", digest)
        self.shown(terminal, b"sha256")
        self.assertEqual(printed.wait(timeout=PATIENCE), 0)

    def test_top_when_the_output_is_a_terminal_then_it_is_shown_until_ctrl_c(self):
        process, terminal = self.on_a_terminal("top", "--interval", "100ms")
        self.shown(terminal, b" -  ")  # there is no rate yet
        self.waiting_job("--priority", "background")
        text = self.shown(terminal, b" 0.0 ")
        self.assertIn(b"\x1b[2J", text)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=PATIENCE), 0)

    def test_top_when_the_output_is_no_terminal_then_it_is_shown_once(self):
        self.waiting_job("--priority", "background")
        heads, *levels = [line.split() for line in self.done("top").lines[1:]]
        figures = {line[0]: dict(zip(heads, line)) for line in levels}
        self.assertEqual(figures["background"]["DELAYED"], "1")
        self.assertEqual(figures["user-blocking"]["DELAYED"], "0")

    def most_memory(self, size):
        """Of a heistctl that gets so many bytes from a pipe, and back as a file. None of them are here,
        as what a process has before it becomes heistctl would count."""
        source = subprocess.Popen(["head", "--bytes", str(size), "/dev/zero"], stdout=subprocess.PIPE)
        process = self.begin("submit", "echo", "-o", self.path("echo"), stdin=source.stdout)
        for pipe in (source.stdout, process.stdout, process.stderr):
            self.addCleanup(pipe.close)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual((process.returncode, source.wait(timeout=PATIENCE)), (0, 0))
        self.assertEqual(os.path.getsize(self.path("echo")), size)
        return usage.ru_maxrss * 1024

    def test_submit_when_upload_and_result_are_large_then_they_are_not_in_memory(self):
        self.assertLess(self.most_memory(64 * MIB), self.most_memory(1) + 32 * MIB)


if __name__ == "__main__":
    heistctl_case.main()
