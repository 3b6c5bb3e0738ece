"""Servers that share a queue in PostgreSQL: --journal."""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(ROOT / "tests/heistd/e2e"), str(ROOT / "scripts/support")]
import heistd_server  # noqa: E402
import postgresql  # noqa: E402
from heistd_server import ServerTest, until  # noqa: E402

LEASE = 12  # seconds
SLOW = ("--command", "nap=/bin/sleep 0.3", "--command", "sleep=/bin/sleep 120")


def run(*words, **environment):
    """The exit code of heistd, and all that it says."""
    done = subprocess.run([heistd_server.HEISTD, *words], capture_output=True, text=True,
                          env={**os.environ, **environment}, timeout=heistd_server.PATIENCE, check=False)
    return done.returncode, done.stdout + done.stderr


class Cluster(ServerTest):
    """Two servers on one database, which is new for each test."""

    DATABASES = 0

    @classmethod
    def setUpClass(cls):
        cls.running = postgresql.server(tcp=True)
        cls.database = cls.running.__enter__()
        cls.addClassCleanup(cls.running.__exit__, None, None, None)

    def setUp(self):
        Cluster.DATABASES += 1
        self.name = f"queue_{Cluster.DATABASES}"
        self.sql(f"CREATE DATABASE {self.name}", database="postgres")
        self.journal = f"postgresql://{postgresql.USER}@127.0.0.1:{self.database.port}/{self.name}"
        self.set_up_servers()

    def set_up_servers(self):
        self.assertEqual(run("migrate", "--journal", self.journal)[0], 0)
        self.one, self.other = self.begin(), self.begin()

    def begin(self, *options):
        return self.start("--journal", self.journal, *SLOW, *options)

    def stop(self, server):
        if server.process.poll() != -signal.SIGKILL:
            super().stop(server)
        elif not server.process.stdout.closed:
            server.ended()

    def sql(self, statement, database=None):
        return self.psql("-c", statement, database=database)

    def psql(self, *words, database=None):
        psql = [postgresql.PROGRAMS / "psql", "-XtA", "-v", "ON_ERROR_STOP=1", *words]
        environment = {**os.environ, **self.database.environment(), "PGDATABASE": database or self.name}
        return subprocess.run(psql, env=environment, capture_output=True, text=True, check=True).stdout.strip()

    def count(self, what):
        return int(self.sql(f"SELECT count(*) FROM heistd.{what}"))

    def owner_of(self, job):
        """Which of the two servers runs it."""
        return until(lambda: next((server for server in (self.one, self.other) if self.runs(server)), None),
                     f"{job} to run")

    @staticmethod
    def runs(server):
        return sum(level["running"] for level in server.stats()["levels"])

    def the_other(self, server):
        return self.other if server is self.one else self.one


class Shared(Cluster):
    def fill(self):
        """Both have as many jobs of the usual priority as they claim; those jobs."""
        jobs = [self.one.accepted("/jobs/sleep") for _ in range(4)]
        until(lambda: self.runs(self.one) == self.runs(self.other) == 2, "all to run")
        return jobs

    def test_job_of_one_is_answered_for_by_both(self):
        job = self.one.accepted("/jobs/digest?delay=300", b"abc")
        self.assertEqual(self.other.finished(job)["result"]["sha256"][:8], "ba7816bf")
        self.assertEqual(self.one.get(job).json, self.other.get(job).json)
        self.assertEqual(self.one.get(job + "/result").body, self.other.get(job + "/result").body)
        self.assertEqual(sum(server.level("user-visible")["done"] for server in (self.one, self.other)), 1)

    def test_who_waits_at_full_server_hears_of_end_at_other(self):
        jobs = self.fill()
        elsewhere = next(job for job in jobs if self.other.get(job).json["queue_delay_us"] is not None)
        self.other.request("DELETE", elsewhere)
        until(lambda: self.runs(self.other) == 1, "a place to be free")
        reply = self.one.post("/jobs/digest?wait=1", b"abc")
        self.assertEqual((reply.status, reply.json["result"]["sha256"][:8]), (200, "ba7816bf"))
        self.assertEqual(self.other.level("user-visible")["done"], 1)

    def test_urgent_job_starts_though_all_servers_are_full(self):
        self.fill()
        self.assertEqual(self.one.post("/jobs/digest?wait=1&priority=user-blocking").status, 200)

    def test_key_stands_for_job_of_other_server(self):
        key = {"Idempotency-Key": "k"}
        first = self.one.post("/jobs/digest?wait=1", b"abc", headers=key)
        again = self.other.post("/jobs/digest?wait=1", b"abc", headers=key)
        self.assertEqual((first.status, again.status), (200, 200))
        self.assertEqual(first.json["id"], again.json["id"])
        self.assertEqual(first.json["result"], again.json["result"])

    def test_job_waits_for_one_of_other_server(self):
        first = self.one.accepted("/jobs/nap")
        second = self.other.accepted(f"/jobs/digest?after={first.rsplit('/')[-1]}", b"abc")
        self.assertEqual(self.one.finished(second)["state"], "done")
        self.assertEqual(self.other.state(first), "done")

    def test_follower_asked_for_at_full_server_runs_elsewhere(self):
        jobs = self.fill()
        first = self.one.accepted("/jobs/digest?priority=background", b"abc")
        second = self.one.accepted(f"/jobs/digest?priority=background&after={first.rsplit('/')[-1]}", b"abc")
        self.assertEqual(self.one.state(second), "delayed")
        for job in jobs:
            if self.other.get(job).json["queue_delay_us"] is not None:
                self.other.request("DELETE", job)
        self.assertEqual(self.one.finished(second)["state"], "done")
        self.assertEqual(self.other.level("background")["done"], 2)
        left = self.one.level("background")
        self.assertEqual((left["depth"], left["delayed"]), (0, 0))

    def test_claimed_job_is_not_late_for_the_server_that_took_it_in(self):
        jobs = self.fill()
        job = self.one.accepted("/jobs/sleep?ttl=3000")
        elsewhere = next(job for job in jobs if self.other.get(job).json["queue_delay_us"] is not None)
        self.other.request("DELETE", elsewhere)
        until(lambda: self.other.state(job) == "running", "the job to run elsewhere")
        later = self.one.accepted("/jobs/sleep?ttl=3000")
        self.assertEqual(self.other.finished(later)["error"]["code"], "expired")
        self.assertEqual(self.one.state(job), "running")

    def test_job_fails_when_its_time_to_start_is_over(self):
        self.fill()
        job = self.one.accepted("/jobs/digest?ttl=100")
        self.assertEqual(self.other.finished(job)["error"]["code"], "expired")


class Changes(Cluster):
    def test_abort_reaches_server_that_runs_the_job(self):
        job = self.one.accepted("/jobs/sleep")
        owner = self.owner_of(job)
        self.assertEqual(self.the_other(owner).request("DELETE", job).json["state"], "aborted")
        begin = time.monotonic()
        until(lambda: self.runs(owner) == 0, "the program to be ended")
        self.assertLess(time.monotonic() - begin, 5)
        self.assertEqual(owner.state(job), "aborted")
        # Its place is free again.
        self.assertEqual(self.one.post("/jobs/digest?wait=1").status, 200)

    def test_signal_has_its_priority_and_end_at_all_servers(self):
        self.one.request("PUT", "/signals/night?priority=background")
        job = self.one.accepted("/jobs/sleep?signal=night")
        owner = self.owner_of(job)
        reply = self.the_other(owner).request("PUT", "/signals/night?priority=user-blocking")
        self.assertIn(reply.status, (200, 201))
        until(lambda: owner.level("user-blocking")["running"] == 1, "the job to be urgent")
        self.assertEqual(self.the_other(owner).request("DELETE", "/signals/night").status, 200)
        until(lambda: self.runs(owner) == 0, "the job to be aborted")
        self.assertEqual(owner.state(job), "aborted")

    def test_priority_of_one_job_reaches_its_server(self):
        job = self.one.accepted("/jobs/sleep?priority=background")
        owner = self.owner_of(job)
        self.assertEqual(self.the_other(owner).request("PUT", job + "?priority=user-blocking").status, 200)
        until(lambda: owner.level("user-blocking")["running"] == 1, "the job to be urgent")


class Hints(Cluster):
    def set_up_servers(self):
        self.assertEqual(run("migrate", "--journal", self.journal)[0], 0)
        self.one = self.begin()

    def test_job_that_a_full_server_gets_starts_elsewhere_at_once(self):
        for _ in range(2):
            self.one.accepted("/jobs/sleep")
        until(lambda: self.runs(self.one) == 2, "it to be full")
        other = self.begin()
        begin = time.monotonic()
        for _ in range(10):
            self.assertEqual(self.one.finished(self.one.accepted("/jobs/digest"))["state"], "done")
        self.assertLess(time.monotonic() - begin, 5)  # and ten looks take ten seconds, on an average
        self.assertEqual(other.level("user-visible")["done"], 10)


class LimitHints(Cluster):
    """Of alice's jobs each server runs one at a time."""

    ALICE = {"Authorization": "Bearer secret"}

    def set_up_servers(self):
        self.assertEqual(run("migrate", "--journal", self.journal)[0], 0)
        self.one = self.begin()

    def begin(self, *options):
        return super().begin("--client", "alice:secret:user-blocking running=1", *options)

    def test_job_that_a_limit_keeps_from_starting_starts_elsewhere_at_once(self):
        self.one.accepted("/jobs/sleep", headers=self.ALICE)
        until(lambda: self.count("open WHERE node IS NOT NULL") == 1, "it to have as many as it may")
        other = self.begin()
        begin = time.monotonic()
        for _ in range(10):
            job = self.one.accepted("/jobs/digest", headers=self.ALICE)
            until(lambda: self.one.request("GET", job, headers=self.ALICE).json["state"] == "done", "the job's end")
        self.assertLess(time.monotonic() - begin, 5)
        statistics = other.request("GET", "/stats", headers=self.ALICE).json
        self.assertEqual(sum(level["done"] for level in statistics["levels"]), 10)


class Clients(Cluster):
    """Only one of the servers has this client, of which one job runs at a time."""

    ALICE = {"Authorization": "Bearer secret"}

    def set_up_servers(self):
        self.assertEqual(run("migrate", "--journal", self.journal)[0], 0)
        self.one = self.begin("--client", "alice:secret:user-blocking running=1", "--anonymous-ceiling", "user-blocking")
        self.other = self.begin()

    def test_jobs_that_a_server_may_not_run_take_no_place_of_others(self):
        for _ in range(6):
            self.one.accepted("/jobs/sleep", headers=self.ALICE)
        until(lambda: self.count("open WHERE node IS NOT NULL") > 0, "one of them to run")
        for server in (self.one, self.other):
            self.assertEqual(server.post("/jobs/digest?wait=1").status, 200)
        self.assertEqual(self.count("open WHERE attempt > 0"), 1)


class Strangers(Cluster):
    """Jobs whose parameters no server takes any more."""

    NUMBER = 1100

    def set_up_servers(self):
        self.assertEqual(run("migrate", "--journal", self.journal)[0], 0)
        self.one = self.begin()

    def test_jobs_behind_any_number_of_refused_ones_come(self):
        self.assertEqual(self.one.request("POST", "/kinds/search/pause").status, 200)
        line = b'{"kind": "search", "parameters": {"pattern": "a"}}\n'
        self.assertEqual(self.one.post("/jobs", line * self.NUMBER).status, 202)
        self.sql("UPDATE heistd.job SET parameters = ''")
        last = self.one.accepted("/jobs/search?pattern=a", b"abc")
        self.assertEqual(self.one.request("POST", "/kinds/search/resume").status, 200)
        self.assertEqual(self.one.finished(last)["state"], "done")
        self.assertEqual(self.count("open"), self.NUMBER)


class Programs(Cluster):
    def set_up_servers(self):
        super().set_up_servers()
        self.jobs = [self.one.accepted("/jobs/sleep") for _ in range(4)]
        until(lambda: self.runs(self.one) == self.runs(self.other) == 1, "one to run at each")

    def begin(self, *options):
        return super().begin("--max-commands", "1", *options)

    def test_programs_that_would_wait_for_others_take_no_place(self):
        self.assertEqual(self.one.post("/jobs/digest?wait=1").status, 200)


class Faults(Cluster):
    def test_jobs_of_killed_server_are_done_by_others(self):
        third = self.begin()
        jobs = [server.accepted("/jobs/nap") for server in (self.one, self.other, third) for _ in range(10)]
        until(lambda: self.runs(third) == 2, "it to run something")
        third.process.kill()
        begin = time.monotonic()
        states = {self.one.finished(job)["state"] for job in jobs}
        self.assertEqual(states, {"done"})
        self.assertLess(time.monotonic() - begin, LEASE + 8)
        lost = [job for job in jobs if self.one.get(job).json["attempts"] > 1]
        self.assertIn(len(lost), (1, 2))

    def test_drain_hands_running_jobs_over_at_once(self):
        for _ in range(2):
            self.one.accepted("/jobs/sleep")
        until(lambda: self.runs(self.one) + self.runs(self.other) == 2, "both to run")
        owner = self.one if self.runs(self.one) else self.other
        owner.signal()
        self.assertEqual(owner.ended(), 0)
        begin = time.monotonic()
        until(lambda: self.runs(self.the_other(owner)) == 2, "the other one to have them")
        self.assertLess(time.monotonic() - begin, LEASE / 2)
        self.assertEqual(self.sql("SELECT max(attempt - forgiven) FROM heistd.open"), "1")

    def begin(self, *options):
        return super().begin("--drain-deadline", "100", *options)

    @staticmethod
    def programs_of(server):
        return subprocess.run(["pgrep", "-P", str(server.process.pid)], capture_output=True, check=False).stdout

    def start_database(self):
        self.database.start()
        self.database.await_start()

    def test_database_goes_away_and_comes_back(self):
        jobs = [self.one.accepted("/jobs/nap") for _ in range(10)]
        sleeping = self.one.accepted("/jobs/sleep?priority=background")
        until(lambda: self.sql("SELECT sum(attempt) FROM heistd.open") not in ("", "0"), "some to run")
        self.database.stop()
        self.addCleanup(lambda: self.database.process.poll() is None or self.start_database())
        refused = self.one.post("/jobs/digest?wait=1")
        self.assertEqual((refused.status, refused.error), (503, "journal_failed"))
        until(lambda: not self.programs_of(self.one) + self.programs_of(self.other), "the fence to end all")
        self.start_database()
        self.assertEqual({self.other.finished(job)["state"] for job in jobs}, {"done"})
        self.assertEqual(self.one.post("/jobs/digest?wait=1").status, 200)
        until(lambda: self.runs(self.one) + self.runs(self.other) == 1, "the long one to run again")
        self.assertEqual(self.one.request("DELETE", sleeping).status, 200)

    def test_server_without_database_ends_soon_after_its_drain(self):
        self.one.accepted("/jobs/sleep")
        self.owner_of("the job")
        self.database.stop()
        self.addCleanup(self.start_database)
        begin = time.monotonic()
        for server in (self.one, self.other):
            server.signal()
        self.assertEqual((self.one.ended(), self.other.ended()), (0, 0))
        self.assertLess(time.monotonic() - begin, 8)


class Idle(Cluster):
    def test_idle_server_asks_less_than_once_a_second(self):
        commits = lambda: int(self.sql(  # noqa: E731
            f"SELECT xact_commit FROM pg_stat_database WHERE datname = '{self.name}'", "postgres"))
        time.sleep(12)  # by then PostgreSQL has counted what came before
        before, begin = commits(), time.monotonic()
        time.sleep(20)
        asked = (commits() - before) / (time.monotonic() - begin) / 2
        self.assertLessEqual(asked, 1)
        self.assertGreater(asked, 0.5)


class Refusals(Cluster):
    def set_up_servers(self):
        pass

    def start_fails(self, *words, code, **environment):
        actual, text = run("--port", "0", *words, **environment)
        self.assertEqual(actual, code, text)
        self.assertNotIn("s3cret", text)
        return text

    def test_migrate_says_what_it_did(self):
        code, text = run("migrate", "--journal", self.journal)
        self.assertEqual((code, "has the schema" in text), (0, True), text)
        code, text = run("migrate", HEISTD_JOURNAL=self.journal)
        self.assertEqual((code, "nothing was changed" in text), (0, True), text)
        self.sql("UPDATE heistd.version SET number = 1000000")
        code, text = run("migrate", "--journal", self.journal)
        self.assertEqual((code, "use that version" in text), (1, True), text)
        self.assertIn("use that version", self.start_fails("--journal", self.journal, code=1))

    def test_migrate_upgrades_version_1(self):
        self.psql("-f", HERE / "version_1.sql")
        self.assertIn("of version 1, and this program needs", self.start_fails("--journal", self.journal, code=1))
        code, text = run("migrate", "--journal", self.journal)
        self.assertEqual((code, "from version 1 to" in text), (0, True), text)
        self.assertEqual(self.count("lane"), 1)
        self.assertEqual(self.sql("SELECT count(*) FROM pg_proc WHERE proname = 'release'"), "1")
        server = self.start("--journal", self.journal)
        job = server.finished("/jobs/0123456789abcdef0123456789abcdef")
        self.assertEqual(job["result"]["sha256"][:8], "ba7816bf")

    def test_migrate_refuses_tables_of_an_earlier_trial(self):
        self.psql("-f", HERE / "version_1.sql")
        self.sql("DROP INDEX heistd.open_waiting")
        code, text = run("migrate", "--journal", self.journal)
        self.assertEqual((code, "DROP SCHEMA heistd CASCADE" in text), (1, True), text)
        self.assertEqual(self.sql("SELECT number FROM heistd.version"), "1")

    def test_migrate_does_not_wait_for_long_for_other_transactions(self):
        self.psql("-f", HERE / "version_1.sql")
        with self.reader():
            code, text = run("migrate", "--journal", self.journal)
            self.assertEqual((code, "end it" in text), (1, True), text)
        self.assertEqual(run("migrate", "--journal", self.journal)[0], 0)

    @contextlib.contextmanager
    def reader(self):
        """A transaction that has read jobs, and stays open."""
        psql = subprocess.Popen(
            [postgresql.PROGRAMS / "psql", "-Xq"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
            env={**os.environ, **self.database.environment(), "PGDATABASE": self.name})
        try:
            psql.stdin.write("BEGIN; SELECT count(*) FROM heistd.stored;\n")
            psql.stdin.flush()
            until(lambda: int(self.sql("SELECT count(*) FROM pg_locks WHERE relation = 'heistd.stored'::regclass")),
                  "the reader to read")
            yield
        finally:
            psql.communicate()

    def test_migrate_without_rights(self):
        self.sql("CREATE ROLE guest LOGIN")
        self.addCleanup(self.sql, "DROP ROLE guest")
        code, text = run("migrate", "--journal", self.journal.replace(postgresql.USER, "guest", 1))
        self.assertEqual((code, "GRANT CREATE ON DATABASE" in text), (1, True), text)
        self.assertEqual(self.sql("SELECT to_regclass('heistd.version')"), "")

    def test_unreachable_database(self):
        nowhere = "postgresql://guest:s3cret@127.0.0.1:1/jobs"
        code, text = run("migrate", "--journal", nowhere)
        self.assertEqual((code, "cannot be reached" in text, "s3cret" in text), (1, True, False), text)
        self.assertIn("cannot be reached", self.start_fails("--journal", nowhere, code=1))

    def test_database_without_schema(self):
        self.assertIn("run heistd migrate", self.start_fails("--journal", self.journal, code=1))

    def test_journal_beside_data(self):
        text = self.start_fails("--journal", "postgresql://guest:s3cret@h/jobs", "--data", "/nowhere", code=105)
        self.assertIn("leave one of them out", text)

    def test_string_that_cannot_be_read(self):
        self.assertIn("%40", self.start_fails("--journal", "postgresql://guest:s3cret@x@h/jobs", code=105))

    def test_journal_in_config_file(self):
        self.assertEqual(run("migrate", "--journal", self.journal)[0], 0)
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(f'journal = "{self.journal}"\n')
            file.flush()
            server = self.start("--config", file.name)
            self.assertEqual(server.post("/jobs/digest?wait=1").status, 200)


if __name__ == "__main__":
    heistd_server.main()
