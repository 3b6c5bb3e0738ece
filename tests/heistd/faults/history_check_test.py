"""history_check.py finds what it is to find, and nothing in a history that is right."""

import sys
import unittest

import history_check
import journal_view
from history import History, Job, Request, Row, Server, Start, View


class HistoryCheck(unittest.TestCase):
    """A history of one job, which is right until a test changes it. Server 1 is killed at 10, and server 2 ends at 20."""

    def setUp(self):
        self.history = History()
        self.history.servers = [Server(1, 0, 10, "killed"), Server(2, 11, 20, "told to")]
        self.history.jobs["a"] = Job("a", "one", "work", "a", key="key", signal="s")
        self.request("submit", "a", 1, status=202, id="1", state="queued")
        self.start("a", 1, 2)
        self.view(10, 1, self.row("running"))
        self.start("a", 2, 12)
        self.request("get", "1", 14, status=200, id="1", state="done", server=2)
        self.request("result", "1", 15, status=200, id="1", state="done", value="a 2", server=2)
        self.end = self.row("done", attempt=2, has_result=True, needs_result=True, value="a 2")

    def request(self, what, about, begin, server=1, **more):
        took = {} if more.get("lost") else {"end": begin + 0.5}
        more.pop("lost", None)
        self.history.requests.append(Request(what, about, "one", begin, server=server, **took, **more))

    def start(self, name, server, time):
        self.history.starts.append(Start(name, server, time))

    @staticmethod
    def row(state, **more):
        needs = state in ("queued", "running")
        return Row(state, **{"attempt": 1, "name": "a", "key": "key", "has_payload": needs, "needs_payload": needs, **more})

    def view(self, time, server, *rows, orphans=0):
        self.history.add_view(View(time, server, orphans), {str(number): row for number, row in enumerate(rows, 1) if row})

    def found(self, *rows, orphans=0):
        """The rules that are broken when the last server leaves these rows."""
        self.view(20, 2, *(rows or [self.end]), orphans=orphans)
        return {problem.rule for problem in history_check.problems(self.history)}

    def test_history_when_right_then_nothing_is_found(self):
        self.assertEqual(self.found(), set())

    def test_accepted_job_when_the_journal_has_lost_it_then_lost(self):
        self.history.rows.clear()
        self.assertIn("lost", self.found(None, None))

    def test_accepted_job_when_the_server_does_not_know_it_then_lost(self):
        self.request("get", "1", 16, status=404, code="not_found")
        self.assertEqual(self.found(), {"lost", "came back"})

    def test_deleted_job_when_it_is_gone_then_nothing_is_found(self):
        self.request("delete", "1", 16, status=200, id="1", state="done")
        self.request("get", "1", 17, status=404, code="not_found")
        self.assertEqual(self.found(None), set())

    def test_deletion_when_it_was_never_answered_then_the_job_may_be_gone(self):
        self.request("delete", "1", 16, lost=True)
        self.assertEqual(self.found(None), set())

    def test_deleted_job_when_it_is_there_again_then_found(self):
        self.request("delete", "1", 16, status=200, id="1", state="done")
        self.assertEqual(self.found(), {"came back"})

    def test_deleted_follower_when_it_is_there_again_then_what_happened_to_the_other_job_is_told(self):
        self.history.jobs["a"].after = "0"
        self.request("delete", "1", 16, status=200, id="1", state="done")
        self.assertIn("came back", self.found())

    def test_job_when_it_ended_before_it_could_be_aborted_then_it_may_stay(self):
        self.history.requests[1:] = []
        self.request("delete", "1", 16, status=200, id="1", state="done", server=2)
        self.request("get", "1", 17, status=200, id="1", state="done", server=2)
        self.assertEqual(self.found(), set())

    def test_job_when_it_was_not_found_and_then_it_is_there_then_came_back(self):
        self.request("delete", "1", 3, lost=True)
        self.request("get", "1", 4, status=404, code="not_found")
        self.assertEqual(self.found(), {"came back"})

    def test_repeated_request_when_it_gave_two_jobs_then_twice(self):
        self.request("submit", "a", 16, status=202, id="2", state="queued")
        self.assertEqual(self.found(self.end, self.end), {"twice"})

    def test_repeated_request_when_the_first_job_was_aborted_then_nothing_is_found(self):
        self.history.requests[1:] = []
        self.request("delete", "1", 3, lost=True)
        self.request("submit", "a", 16, status=202, id="2", state="queued")
        self.assertEqual(self.found(self.row("aborted"), self.end), set())

    def test_request_without_a_key_when_it_gave_two_jobs_then_twice(self):
        self.history.jobs["a"].key = None
        self.history.requests[1:] = []
        self.request("delete", "1", 3, lost=True)
        self.assertEqual(self.found(self.row("aborted"), self.end), {"twice"})

    def test_end_when_a_client_was_told_another_one_then_changed(self):
        self.request("delete", "1", 15, lost=True)
        self.request("get", "1", 16, status=200, id="1", state="aborted")
        self.assertEqual(self.found(), {"changed"})

    def test_end_when_the_journal_has_another_one_then_changed(self):
        self.history.jobs["a"].does = "fail"
        self.assertEqual(self.found(self.row("failed", attempt=2)), {"changed"})

    def test_end_when_it_was_told_and_the_job_goes_on_then_changed(self):
        self.request("delete", "1", 3, status=200, id="1", state="aborted")
        self.assertIn("changed", self.found())

    def test_dead_job_when_whoever_waits_is_told_that_it_failed_then_nothing_is_found(self):
        self.history.requests[1:] = []
        self.request("submit", "a", 16, status=422, id="1", state="failed", server=2)
        dead = self.row("dead", attempt=3, has_payload=True, needs_payload=True)
        self.assertEqual(self.found(dead), set())

    def test_result_when_it_is_another_uploads_then_wrong(self):
        self.request("result", "1", 16, status=200, id="1", state="done", value="b 2", server=2)
        self.assertEqual(self.found(), {"wrong result", "two results"})

    def test_result_when_the_job_is_not_done_then_found(self):
        self.history.requests[1:] = []
        self.request("delete", "1", 3, lost=True)
        self.assertEqual(self.found(self.row("aborted", attempt=2, has_result=True)), {"result without its state"})

    def test_result_when_there_is_no_such_job_then_found(self):
        self.assertEqual(self.found(orphans=1), {"result without its state"})

    def test_done_job_when_it_has_no_result_then_found(self):
        self.assertEqual(self.found(self.row("done", attempt=2, needs_result=True)), {"no result"})

    def test_upload_when_it_is_gone_before_the_end_then_found(self):
        self.view(13, 2, self.row("queued", attempt=2, has_payload=False))
        self.assertEqual(self.found(), {"no upload"})

    def test_result_when_it_is_anything_then_wrong_result(self):
        for written in (b"", b" \n", b"\xf9\x80 2"):
            with self.subTest(written):
                self.setUp()
                self.history.requests[-1].value = journal_view.value_of("work", written)
                self.assertIn("wrong result", self.found())

    def test_starts_when_one_was_not_counted_then_found(self):
        self.start("a", 2, 13)
        self.assertEqual(self.found(), {"attempts"})

    def test_starts_when_a_loss_of_power_took_the_count_then_nothing_is_found(self):
        self.history.servers[0].how = "lost power"
        self.start("a", 1, 3)
        self.assertEqual(self.found(), set())

    def test_starts_when_one_came_as_its_job_was_aborted_then_nothing_is_found(self):
        self.history.requests[1:], self.history.starts[1:] = [], []
        self.history.rows.clear()
        self.request("delete", "1", 2, status=200, id="1", state="aborted")
        self.assertEqual(self.found(self.row("aborted", attempt=0)), set())

    def test_attempts_when_one_is_forgiven_and_no_server_was_told_to_end_then_found(self):
        self.view(13, 2, self.row("running", attempt=2, forgiven=1))
        self.assertEqual(self.found(), {"attempts"})

    def test_attempts_when_one_is_forgiven_and_a_server_was_told_to_end_then_nothing_is_found(self):
        self.history.servers[0].how = "told to"
        self.view(13, 2, self.row("done", attempt=2, forgiven=1))
        self.assertEqual(self.found(), set())

    def test_attempts_when_only_a_server_before_the_job_was_told_to_end_then_found(self):
        self.history.servers.append(Server(0, 0, 0.5, "told to"))
        self.view(13, 2, self.row("running", attempt=2, forgiven=1))
        self.assertEqual(self.found(), {"attempts"})

    def test_attempts_when_their_number_goes_back_then_found(self):
        self.view(13, 2, self.row("running", attempt=3))
        self.assertEqual(self.found(), {"attempts"})

    def test_attempts_when_there_are_more_than_the_job_may_have_then_found(self):
        self.view(13, 2, self.row("running", attempt=2, max_attempts=1))
        self.assertEqual(self.found(), {"attempts"})

    def test_job_when_it_is_dead_with_attempts_left_then_found(self):
        self.history.requests[1:] = []
        dead = self.row("dead", attempt=2, has_payload=True, needs_payload=True)
        self.assertEqual(self.found(dead), {"attempts"})

    def test_result_when_it_is_an_earlier_attempts_then_late_end(self):
        self.history.requests[2:] = []
        self.end = self.row("done", attempt=2, has_result=True, needs_result=True, value="a 1")
        self.assertEqual(self.found(), {"late end"})

    def test_job_when_it_is_started_after_its_end_then_found(self):
        self.start("a", 3, 21)
        self.assertIn("started after its end", self.found())

    def test_job_when_it_is_aborted_and_nobody_asked_for_that_then_found(self):
        self.history.requests[1:] = []
        self.request("delete signal", "s", 0, status=200)
        self.request("delete signal", "another", 3, status=200)
        self.assertEqual(self.found(self.row("aborted", attempt=2)), {"no reason"})

    def test_job_when_it_is_aborted_as_its_signal_may_have_been_deleted_then_nothing_is_found(self):
        self.history.requests[1:] = []
        self.request("delete signal", "s", 3, lost=True)
        self.assertEqual(self.found(self.row("aborted", attempt=2)), set())

    def test_job_when_it_has_failed_without_a_reason_then_found(self):
        self.history.requests[1:] = []
        self.assertEqual(self.found(self.row("failed", attempt=2)), {"no reason"})

    def test_job_of_a_deleted_signal_when_it_goes_on_then_found(self):
        self.request("delete signal", "s", 3, status=200)
        self.assertEqual(self.found(), {"signal"})

    DONE = {"attempt": 1, "has_result": True, "needs_result": True, "value": "b 2"}

    def follower_ended(self, state, before, **more):
        """Job 2, which comes after job 1."""
        self.history.jobs["b"] = Job("b", "one", "work", "b", after="1")
        self.request("submit", "b", 9.8, status=202, id="2", state="delayed")
        return self.found(before, Row(state, name="b", after="1", **more))

    def test_follower_when_it_was_started_after_the_other_one_was_done_then_nothing_is_found(self):
        self.view(11, 1, self.row("running"), Row("queued", name="b", after="1", follows=True))
        self.start("b", 2, 15)
        self.assertEqual(self.follower_ended("done", self.end, **self.DONE), set())

    def test_follower_when_the_other_one_was_running_later_than_its_start_then_found(self):
        self.start("b", 2, 12.4)
        self.request("get", "1", 12.5, status=200, id="1", state="running", server=2)
        self.assertEqual(self.follower_ended("done", self.end, **self.DONE), {"too early"})

    def test_follower_when_the_other_one_was_started_later_than_it_then_found(self):
        self.start("b", 2, 11.9)
        self.assertEqual(self.follower_ended("done", self.end, **self.DONE), {"too early"})

    def test_follower_when_it_was_started_and_the_other_one_was_aborted_then_found(self):
        self.history.requests[1:] = []
        self.request("delete", "1", 3, lost=True)
        self.assertEqual(self.follower_ended("done", self.row("aborted", attempt=2), **self.DONE), {"too early"})

    def test_follower_when_it_is_aborted_as_the_other_one_was_then_nothing_is_found(self):
        self.history.requests[1:] = []
        self.request("delete", "1", 3, lost=True)
        self.assertEqual(self.follower_ended("aborted", self.row("aborted", attempt=2)), set())

    def test_follower_when_it_is_aborted_and_the_other_one_is_done_then_found(self):
        self.assertEqual(self.follower_ended("aborted", self.end), {"no reason"})

    def test_follower_when_the_journal_releases_it_before_the_other_ones_end_then_found(self):
        self.assertIn("follower", self.follower_ended("queued", self.row("running", attempt=2)))

    def test_follower_when_the_journal_does_not_release_it_then_found(self):
        self.assertIn("follower", self.follower_ended("queued", self.end, follows=True))

    def test_follower_when_it_is_refused_and_the_other_one_is_done_then_found(self):
        self.history.jobs["b"] = Job("b", "one", "work", "b", after="1")
        self.request("submit", "b", 16, status=409, code="predecessor_failed")
        self.assertEqual(self.found(), {"refused follower"})

    def test_follower_when_it_is_refused_and_the_other_one_has_not_ended_then_found(self):
        self.history.requests[1:] = []
        self.request("get", "1", 14, status=200, id="1", state="running")
        self.history.jobs["b"] = Job("b", "one", "work", "b", after="1")
        self.request("submit", "b", 16, status=409, code="predecessor_failed")
        self.assertIn("refused follower", self.found(self.row("running")))

    def test_follower_when_it_is_refused_and_nobody_has_deleted_the_other_one_then_found(self):
        self.history.jobs["b"] = Job("b", "one", "work", "b", after="1")
        self.request("submit", "b", 16, status=404, code="no_predecessor")
        self.assertEqual(self.found(), {"refused follower"})

    def test_follower_when_it_is_refused_and_the_other_one_may_be_gone_then_nothing_is_found(self):
        self.history.requests[1:] = []
        self.history.jobs["b"] = Job("b", "one", "work", "b", after="1")
        self.request("delete", "1", 3, lost=True)
        self.request("submit", "b", 16, status=404, code="no_predecessor")
        self.assertEqual(self.found(self.row("aborted", attempt=2)), set())

    def test_refused_request_when_a_job_came_of_it_then_found(self):
        self.history.requests[:] = []
        self.request("submit", "a", 1, status=503, code="journal_failed")
        self.assertEqual(self.found(), {"refused"})

    def test_refused_request_when_its_job_was_aborted_at_once_then_nothing_is_found(self):
        self.history = History()
        self.history.jobs["a"] = Job("a", "one", "work", "a")
        self.request("submit", "a", 1, status=503, code="shutting_down")
        self.assertEqual(self.found(self.row("aborted", attempt=0)), set())

    def urgent_job_starts_at(self, time):
        for name, priority, begin in (("u", "user-blocking", 1), ("b", "background", 2)):
            self.history.jobs[name] = Job(name, "one", "work", name, priority=priority)
            self.request("submit", name, begin, status=202, id=name, state="queued")
        self.start("b", 1, 3)
        self.start("u", 1, time)

    def test_urgent_job_when_a_later_background_job_starts_first_then_order(self):
        self.urgent_job_starts_at(5)
        self.view(10, 1, self.row("running"))
        self.history.views[-1].time = 0  # these jobs are in no view
        self.assertIn("order", self.found())

    def test_urgent_job_when_it_starts_about_as_early_then_nothing_is_said_of_its_order(self):
        self.urgent_job_starts_at(4.4)
        self.assertNotIn("order", self.found())

    def test_urgent_job_when_the_disk_failed_meanwhile_then_nothing_is_said_of_its_order(self):
        self.urgent_job_starts_at(9)
        self.history.troubles.append((2, 4))
        self.assertNotIn("order", self.found())

    def test_job_when_it_has_not_ended_at_the_end_then_found(self):
        self.history.requests[1:] = []
        self.assertEqual(self.found(self.row("running", attempt=2)), {"never ends"})

    def test_answer_when_the_request_gives_no_reason_for_it_then_found(self):
        self.request("get", "1", 16, status=500)
        self.assertEqual(self.found(), {"answer"})

    def test_problem_when_shown_then_it_names_the_job_and_what_happened_to_it(self):
        self.history.jobs["a"].does = "fail"
        self.view(20, 2, self.row("failed", attempt=2))
        (problem,) = history_check.problems(self.history)
        text = str(problem)
        self.assertIn("changed: job 1 (a): was done, and then failed (journal)", text)
        self.assertIn("start by server 2", text)
        self.assertLess(text.index("submit: 202"), text.index("get: done"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
