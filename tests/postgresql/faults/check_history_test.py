"""check_history.py finds what it is to find, and nothing in a history that is right."""

import contextlib
import dataclasses
import io
import pathlib
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(ROOT / "tests/heistd/faults"), str(ROOT / "scripts/check")]
import check_history  # noqa: E402
import cluster_history  # noqa: E402
import cluster_rules  # noqa: E402
import rule_mutant_texts  # noqa: E402
from cluster_history import ClusterHistory, Fault, LastRow, Process, Run  # noqa: E402
from history import Job, Request  # noqa: E402


class CheckHistory(unittest.TestCase):
    """A history of one job, which is right until a test changes it. Process 1 is killed at 20, and process 2 does its
    job. Process 3 stands still for long at 60."""

    def setUp(self):
        self.history = ClusterHistory(head={"seed": 1})
        self.history.processes = [Process(1, 0, 0, 20), Process(2, 1, 0), Process(3, 2, 0)]
        self.history.faults = [Fault("kill", 20, 21, 0), Fault("stop", 60, 75, 2)]
        self.history.jobs["a"] = Job("a", "one", "work", "a", key="key")
        self.request("submit", "a", 10, status=202, id="1", state="queued")
        self.runs = self.history.runs
        self.run_of("1", 1, 1, 19.9, None)
        self.run_of("1", 2, 2, 32, 33)
        self.request("result", "1", 40, status=200, id="1", state="done", value="a 2")
        self.end = self.row(ended=33)

    def request(self, what, about, begin, lost=False, **more):
        took = {} if lost else {"end": begin + 0.5}
        self.history.requests.append(Request(what, about, "one", begin, server=2, **took, **more))

    def run_of(self, id, attempt, process, begin, end, **more):
        self.runs.append(Run(id, attempt, process, begin, end, **more))

    @staticmethod
    def row(state="done", **more):
        is_done = state == "done"
        usual = {"attempt": 2, "key": "key", "has_result": is_done, "needs_result": is_done,
                 "value": "a 2" if is_done else None}
        return LastRow(state, **{**usual, **more})

    def found(self, *rows):
        """The rules that are broken when the database has these rows at the end."""
        self.history.add_last(100, {str(number): row for number, row in enumerate(rows or [self.end], 1) if row})
        return {problem.rule for problem in cluster_rules.problems(self.history)}

    def test_history_when_right_then_nothing_is_found(self):
        self.assertEqual(self.found(), set())

    def test_accepted_job_when_the_database_does_not_have_it_then_lost(self):
        self.assertEqual(self.found(None), {"lost"})

    def test_job_when_it_has_not_ended_then_never_ends(self):
        self.history.requests.pop()
        self.assertEqual(self.found(self.row("running")), {"never ends"})

    def test_job_when_told_to_be_aborted_and_it_is_done_then_changed(self):
        self.request("delete", "1", 30, status=200, id="1", state="aborted")
        self.assertEqual(self.found(), {"changed"})

    def aborted(self, seen):
        """It is aborted at 31, and then a client looks at it."""
        self.history.requests.pop()
        self.request("delete", "1", 31, status=200, id="1", state="aborted")
        self.request("get", "1", seen, status=200, id="1", state="running")
        return self.found(self.row("aborted", attempt=2, ended=31))

    def test_aborted_job_when_its_server_may_not_have_heard_of_that_then_it_may_say_that_it_runs(self):
        self.assertEqual(self.aborted(33), set())

    def test_aborted_job_when_its_server_has_had_time_to_hear_of_that_then_changed(self):
        self.assertEqual(self.aborted(40), {"changed"})

    def test_job_when_two_results_were_seen_then_found(self):
        self.request("result", "1", 41, status=200, id="1", state="done", value="a 1")
        self.assertEqual(self.found(), {"two results"})

    def test_repeated_request_when_another_job_came_of_it_then_twice(self):
        self.history.requests.insert(0, Request("submit", "a", "one", 9, server=1))
        other = self.row(attempt=1, value="a 1", ended=12)
        self.assertEqual(self.found(self.end, other), {"twice"})

    def test_attempt_when_its_number_comes_twice_then_found(self):
        self.runs[1].attempt = 1
        self.end = self.row(attempt=1, value="a 1", ended=33)
        self.history.requests.pop()
        self.assertEqual(self.found(), {"attempt twice", "attempts"})

    def test_attempt_when_an_earlier_one_begins_after_it_then_found(self):
        self.runs[0].attempt, self.runs[1].attempt = 2, 1
        self.assertIn("attempt back", self.found())

    def test_end_when_a_later_attempt_had_begun_then_old_end(self):
        self.end = self.row(attempt=1, value="a 1", ended=35)
        self.history.requests.pop()
        self.assertEqual(self.found(), {"old end", "attempts"})

    def test_result_when_it_is_an_earlier_attempts_then_old_end(self):
        self.history.requests.pop()
        self.assertEqual(self.found(self.row(value="a 1", ended=33)), {"old end"})

    def test_program_when_it_begins_after_the_end_then_found(self):
        self.assertEqual(self.found(self.row(ended=30)), {"after its end"})

    def test_program_when_a_server_that_stood_still_begins_it_late_then_nothing_is_found(self):
        self.run_of("1", 1, 3, 75.2, None)
        self.runs.pop(0)
        self.assertNotIn("after its end", self.found())

    def test_program_when_it_begins_long_after_an_abort_then_found(self):
        self.history.requests.pop()
        self.request("delete", "1", 22, status=200, id="1", state="aborted")
        self.assertEqual(self.found(self.row("aborted", attempt=2, ended=22)), {"after its end"})

    def test_program_when_it_begins_before_its_server_can_know_of_the_abort_then_nothing_is_found(self):
        self.history.requests.pop()
        self.request("delete", "1", 31, status=200, id="1", state="aborted")
        self.assertEqual(self.found(self.row("aborted", attempt=2, ended=31)), set())

    def test_programs_when_two_run_at_a_time_then_found(self):
        self.runs[0].end = 32.5
        self.assertEqual(self.found(), {"at the same time"})

    def test_program_when_it_runs_again_and_nothing_had_befallen_its_server_then_repeated(self):
        self.runs[0].process = 2
        self.assertEqual(self.found(), {"repeated"})

    def test_program_when_it_runs_again_after_a_moment_without_a_network_then_repeated(self):
        self.runs[0].process = 2
        self.history.faults.append(Fault("cut", 21, 21, 1))
        self.assertEqual(self.found(), {"repeated"})

    def test_program_when_it_runs_again_as_its_server_stood_still_for_long_then_nothing_is_found(self):
        self.runs[0].process = 2
        self.history.faults.append(Fault("stop", 20, 31, 1))
        self.assertEqual(self.found(), set())

    def test_program_when_it_runs_again_as_its_server_was_told_to_end_then_nothing_is_found(self):
        self.history.faults[0] = Fault("drain", 19.8, 20, 0)
        self.history.processes[0].end = 40
        self.assertEqual(self.found(), set())

    def test_program_when_it_asked_for_another_attempt_then_nothing_is_found(self):
        self.runs[0] = Run("1", 1, 2, 19.9, 20, will_retry=True)
        self.assertEqual(self.found(), set())

    def digest(self, lost, ended):
        self.history.jobs["d"] = Job("d", "one", "digest", "sum")
        self.request("submit", "d", 22, status=202, id="2", state="queued")
        return self.row(key=None, attempt=1 + lost, value="sum", ended=ended)

    def test_digest_when_it_has_lost_an_attempt_without_a_fault_then_repeated(self):
        self.assertEqual(self.found(self.end, self.digest(1, 23)), {"repeated"})

    def test_digest_when_it_has_lost_an_attempt_with_a_server_then_nothing_is_found(self):
        self.assertEqual(self.found(self.end, self.digest(1, 80)), set())

    def test_digest_when_it_has_lost_more_attempts_than_there_were_faults_then_repeated(self):
        self.assertEqual(self.found(self.end, dataclasses.replace(self.digest(9, 80), max_attempts=100)), {"repeated"})

    def test_attempts_when_there_are_more_than_the_job_may_have_then_found(self):
        self.assertEqual(self.found(dataclasses.replace(self.end, max_attempts=1)), {"attempts"})

    def test_job_when_it_is_dead_with_attempts_left_then_found(self):
        self.history.requests.pop()
        self.assertEqual(self.found(self.row("dead", ended=33)), {"attempts"})

    def urgent(self, process, begin):
        self.history.jobs["u"] = Job("u", "one", "work", "u", priority="user-blocking")
        self.history.urgent.add("u")
        self.request("submit", "u", 59, status=202, id="2", state="queued")
        self.run_of("2", 1, process, begin, begin + 0.1)
        return self.found(self.end, self.row(key=None, attempt=1, value="u 1", ended=begin + 0.1))

    def test_urgent_job_when_a_server_that_is_well_leaves_it_waiting_then_found(self):
        self.assertEqual(self.urgent(2, 66), {"urgent"})

    def test_urgent_job_when_it_starts_soon_then_nothing_is_found(self):
        self.assertEqual(self.urgent(2, 62), set())

    def test_urgent_job_when_its_server_stood_still_then_nothing_is_found(self):
        self.assertEqual(self.urgent(3, 78), set())

    def test_urgent_job_when_the_database_was_away_then_nothing_is_found(self):
        self.history.faults.append(Fault("restart", 60, 61))
        self.assertEqual(self.urgent(2, 66), set())

    def follower(self, begin, **more):
        self.history.jobs["f"] = Job("f", "one", "work", "f", after="1")
        self.request("submit", "f", 11, status=202, id="2", state="delayed")
        self.run_of("2", 1, 2, begin, begin + 0.1)
        self.runs.sort(key=lambda run: run.begin)
        row = self.row(key=None, attempt=1, value="f 1", ended=begin + 0.1, after="1")
        return self.found(dataclasses.replace(self.end, **more), row)

    def test_follower_when_it_begins_after_the_other_ones_end_then_nothing_is_found(self):
        self.assertEqual(self.follower(33.2), set())

    def test_follower_when_it_begins_before_the_other_ones_end_then_found(self):
        self.assertEqual(self.follower(32.5), {"too early"})

    def test_answer_when_no_request_gives_a_reason_for_it_then_found(self):
        self.request("get", "1", 50, status=500)
        self.assertEqual(self.found(), {"answer"})

    def said_of(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as said:
            path = pathlib.Path(folder, "history.jsonl")
            self.history.save(path)
            return check_history.main(path), said.getvalue(), cluster_history.load(path)

    def test_history_when_kept_then_it_is_read_as_it_was(self):
        self.history.urgent.add("u")
        self.history.add_last(100, {"1": self.end})
        code, said, loaded = self.said_of()
        self.assertEqual((code, "nothing is wrong" in said), (0, True), said)
        self.assertEqual(dataclasses.asdict(loaded), dataclasses.asdict(self.history))

    def test_program_when_something_is_wrong_then_it_fails_and_tells_the_jobs_story(self):
        self.history.requests.pop()
        self.history.add_last(100, {"1": self.row(value="a 1", ended=33)})
        code, said, _ = self.said_of()
        self.assertEqual(code, 1)
        self.assertIn("old end: job 1 (a): is done by attempt 2", said)
        self.assertIn("19.900 to no end: attempt 1 by process 1", said)
        self.assertIn("process 1: kill from 20.000 to 21.000", said)

    def test_seeded_bugs_when_the_functions_change_then_their_texts_are_still_there(self):
        for mutant in rule_mutant_texts.read_file(HERE / "queue.mutants"):
            mutant.check()
            self.assertTrue(rule_mutant_texts.broken_files(mutant))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]], verbosity=2)
