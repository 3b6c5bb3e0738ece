"""heist_conformance as it is called: what it says, and its exit status."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM, CORPUS, COOPERATIVE = sys.argv[1], *map(pathlib.Path, sys.argv[2:4])


def run(*arguments):
    done = subprocess.run(
        [PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=240
    )
    return done.returncode, done.stdout


def a_sensitive_scenario():
    """One of the corpus that an implementation may be allowed to fail."""
    lines = (CORPUS / "nesting.ndjson").read_text().splitlines()
    return next(s for s in map(json.loads, lines) if "sensitive" in s)


def a_cooperative_scenario(name):
    """That one of its corpus."""
    lines = (COOPERATIVE / f"{name.split('/')[0]}.ndjson").read_text().splitlines()
    return next(s for s in map(json.loads, lines) if s["id"] == name)


class ProgramTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = self.folder / "sample.ndjson"
        self.scenario = a_sensitive_scenario()

    def write(self, *scenarios):
        self.file.write_text("".join(json.dumps(s) + "\n" for s in scenarios))

    def corrupt(self):
        self.scenario["trace"][1] = ["log", "something else"]


class Passing(ProgramTest):
    def test_file_when_as_in_the_corpus_then_exactly_the_closing_line(self):
        self.write(self.scenario)
        self.assertEqual(run(self.file), (0, "1 passed, 0 failed\n"))

    def test_paths_when_several_then_all_are_replayed(self):
        self.write(self.scenario)
        count = sum(len(file.read_text().splitlines()) for file in CORPUS.glob("*.ndjson"))
        self.assertEqual(run(CORPUS, self.file), (0, f"{count + 1} passed, 0 failed\n"))


class Failing(ProgramTest):
    def assert_fails(self, said, *arguments, passed=0):
        code, output = run(*arguments)
        self.assertIn(said, output)
        self.assertEqual(output.splitlines()[-1], f"{passed} passed, 1 failed")
        self.assertEqual(code, 1)
        return output

    def test_trace_when_corrupted_then_the_first_difference_side_by_side(self):
        was = json.dumps(self.scenario["trace"][1], separators=(",", ":"))
        self.corrupt()
        self.write(self.scenario, a_sensitive_scenario())
        output = self.assert_fails(f"{self.file}:1", self.file, passed=1)
        marked = [line for line in output.splitlines() if line.startswith("> ")]
        self.assertEqual([line.split("  ", 1)[0] for line in marked], ["> 1"])
        self.assertIn('["log","something else"]', marked[0])
        self.assertTrue(marked[0].endswith(was))

    def test_trace_when_an_event_is_missing_then_the_end_is_shown(self):
        self.scenario["trace"].pop()
        self.write(self.scenario)
        self.assert_fails("  (end)", self.file)

    def test_line_when_malformed_then_file_and_line_and_what(self):
        for wrong, said in (
            ("{", "not JSON"),
            ("[]", "scenario: not an object"),
            (json.dumps(self.scenario | {"main": [{"op": "jump"}]}), "main[0]: unknown jump"),
        ):
            self.file.write_text(json.dumps(self.scenario) + "\n" + wrong + "\n")
            self.assert_fails(f"{self.file}:2: {said}", self.file, passed=1)

    def test_scenario_when_it_uses_what_is_not_there_yet_then_a_failure_that_nothing_allows(self):
        self.scenario["main"] = [{"op": "await", "id": "A"}, {"op": "post", "id": "A"}]
        self.write(self.scenario)
        kind = self.scenario["sensitive"][0]
        self.assert_fails(f"{self.file}:1: A is not posted yet", self.file, "--allow", kind)

    def test_path_when_missing_then_a_failure(self):
        self.assert_fails(f"{self.file}: no such file", self.file)

    def test_path_when_empty_then_a_failure(self):
        self.assert_fails("no .ndjson file in this folder", self.folder)
        self.file.write_text("")
        self.assert_fails("no scenario in this file", self.file)
        self.assert_fails("no scenario in this file", self.folder)


class Allowing(ProgramTest):
    def test_failure_when_its_kind_is_allowed_then_listed_and_not_counted(self):
        self.corrupt()
        self.write(self.scenario)
        kinds = self.scenario["sensitive"]
        code, output = run(self.file, "--allow", kinds[0])
        self.assertEqual(code, 0)
        self.assertIn("ALLOWED " + self.scenario["id"], output)
        self.assertEqual(output.splitlines()[-2:], ["1 allowed to fail", "0 passed, 0 failed"])

    def test_failure_when_another_kind_is_allowed_then_counted(self):
        self.corrupt()
        self.scenario["sensitive"] = ["adopt-fast"]
        self.write(self.scenario)
        allowed = ("--allow", "early-resolve", "--allow", "no-listener-checkpoint")
        self.assertEqual(run(*allowed, self.file)[0], 1)
        self.assertEqual(run(*allowed, "--allow", "adopt-fast", self.file)[0], 0)

    def test_success_when_its_kind_is_allowed_then_passed(self):
        self.write(self.scenario)
        kind = self.scenario["sensitive"][0]
        self.assertEqual(run("--allow", kind, self.file), (0, "1 passed, 0 failed\n"))


class CommandLine(ProgramTest):
    def test_command_line_when_wrong_then_2(self):
        self.write(self.scenario)
        for wrong in (
            [],
            ["--allow", "anything", self.file],
            ["--strange", self.file],
            ["--agents", "0", self.file],
            ["--agents", "1025", self.file],
        ):
            self.assertEqual(run(*wrong)[0], 2)


class ForeignMain(ProgramTest):
    def test_corpus_when_main_is_foreign_then_most_scenarios_are_determined(self):
        code, output = run("--foreign-main", CORPUS)
        self.assertEqual(code, 0)
        determined, closing = output.splitlines()
        count, _, all_of_them = determined.split()[:3]
        self.assertGreater(2 * int(count), int(all_of_them))
        self.assertEqual(closing, f"{count} passed, 0 failed")

    def test_scenario_when_not_determined_then_neither_passed_nor_failed(self):
        self.scenario["main"] = [{"op": "microtask", "label": "m"}]
        self.write(self.scenario)
        said = "0 of 1 scenarios are determined with main on a foreign thread\n"
        self.assertEqual(run("--foreign-main", self.file), (0, said + "0 passed, 0 failed\n"))


class Agents(ProgramTest):
    NOT_APPLICABLE = "not applicable: they depend on time, which no cluster stops"

    def test_corpus_when_in_a_cluster_of_any_size_then_most_scenarios_pass(self):
        for agents in ("1", "2", "8"):
            code, output = run("--agents", agents, CORPUS)
            self.assertEqual(code, 0, output)
            self.assertRegex(output, rf"\A\d+ passed, 0 failed, \d+ {self.NOT_APPLICABLE}\n\Z")
            passed, _, left_out = (int(word) for word in output.split() if word.isdigit())
            self.assertGreater(passed, 2 * left_out)

    def test_trace_when_corrupted_then_a_failure_in_a_cluster_of_any_size(self):
        self.corrupt()
        self.write(self.scenario, a_sensitive_scenario())
        for agents in ("1", "2", "8"):
            code, output = run("--agents", agents, self.file)
            self.assertEqual(code, 1)
            self.assertIn('["log","something else"]', output)
            self.assertIn(f"1 passed, 1 failed, 0 {self.NOT_APPLICABLE}", output)

    def test_scenario_when_it_depends_on_time_then_neither_passed_nor_failed(self):
        self.corrupt()
        self.scenario["main"].append({"op": "spin", "ms": 1})
        self.write(self.scenario)
        said = f"0 passed, 0 failed, 1 {self.NOT_APPLICABLE}\n"
        self.assertEqual(run("--agents", "2", self.file), (0, said))


class Cooperative(ProgramTest):
    SKIPPED = "1 skipped: they schedule with priorities that CooperativePriority does not have"

    def setUp(self):
        super().setUp()
        self.scenario = a_cooperative_scenario("timer/armed-at-drain")

    def replay(self, **changed):
        """What it says of the scenario with members changed, behind the same one as it is."""
        self.write(self.scenario, self.scenario | changed)
        return run(self.file)

    def assert_fails(self, said, **changed):
        code, output = self.replay(**changed)
        self.assertEqual((code, output.splitlines()[-1]), (1, "1 passed, 1 failed"), output)
        self.assertIn(said, output)
        return output

    def test_paths_when_of_both_corpora_then_both_are_replayed(self):
        self.write(self.scenario, a_sensitive_scenario())
        self.assertEqual(run(self.file), (0, "2 passed, 0 failed\n"))
        count = sum(len(file.read_text().splitlines()) for file in COOPERATIVE.glob("*.ndjson"))
        self.assertEqual(run(COOPERATIVE), (0, f"{count - 1} passed, 0 failed, {self.SKIPPED}\n"))

    def test_priority_when_there_is_no_such_level_then_skipped_and_said(self):
        self.write(a_cooperative_scenario("oddprio/unknown-level"))
        self.assertEqual(run(self.file), (0, f"0 passed, 0 failed, {self.SKIPPED}\n"))

    def test_level_when_run_with_one_that_there_is_not_then_replayed(self):
        self.write(a_cooperative_scenario("oddprio/run-with-unknown"))
        self.assertEqual(run(self.file), (0, "1 passed, 0 failed\n"))

    def test_main_trace_when_corrupted_then_the_first_difference_side_by_side(self):
        trace = [["log", "something else"], *self.scenario["trace"][1:]]
        output = self.assert_fails('> 0      ["log","something else"]', trace=trace)
        place = f"{self.file}:2): {self.scenario['note']}"
        self.assertIn(f"FAILED {self.scenario['id']} ({place}\n", output)

    def test_host_trace_when_corrupted_then_that_is_said(self):
        host = self.scenario["host"][:-1]
        self.assert_fails("level 1 is right; the host trace:\n", host=host)

    def test_numbers_when_written_otherwise_then_the_same(self):
        trace = [[float(part) if type(part) is int else part for part in event]
                 for event in self.scenario["trace"]]
        self.assertEqual(self.replay(trace=trace), (0, "2 passed, 0 failed\n"))

    def test_line_when_malformed_then_file_and_line_and_what(self):
        late = {"op": "continue", "body": []}
        nested = {"op": "try", "body": [{"op": "flushAll"}]}
        wrapped = {"op": "wrap", "id": "w", "body": [late]}
        task = {"op": "schedule", "id": "t", "priority": 3, "body": [late, {"op": "now"}]}
        for steps, said in (
            ([{"op": "jump"}], "steps[0]: unknown jump"),
            ([{"op": "now"}, 7], "steps[1]: not an object"),
            ([{"op": "throw", "message": "x"}], "steps[0]: throw does not stand at top level"),
            ([late], "steps[0]: the value of continue reaches no task"),
            ([nested], "steps[0].body[0]: flushAll stands at top level only"),
            ([wrapped], "steps[0].body[0]: the value of continue reaches no task"),
            ([task], "steps[0].body[0]: the value of continue reaches no task"),
            ([{"op": "block", "ms": -1}], "steps[0]: ms is not a duration: -1"),
            ([{"op": "now", "ms": 1}], "steps[0]: with an unknown member ms"),
        ):
            self.assert_fails(f"{self.file}:2: {said}", steps=steps)
        self.assert_fails(f"{self.file}:2: scenario: start is not a number", start="0")
        self.assert_fails(f"{self.file}:2: scenario: with an unknown member main", main=[])

    def test_scenario_when_replayed_in_a_cluster_or_with_a_foreign_main_then_left_out(self):
        self.write(self.scenario | {"trace": []})
        said = f"0 passed, 0 failed, 1 {Agents.NOT_APPLICABLE}\n"
        self.assertEqual(run("--agents", "2", self.file), (0, said))
        said = "0 of 1 scenarios are determined with main on a foreign thread\n"
        self.assertEqual(run("--foreign-main", self.file), (0, said + "0 passed, 0 failed\n"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
