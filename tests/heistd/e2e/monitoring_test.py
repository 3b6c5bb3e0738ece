"""What Prometheus and Grafana are given for heistd fits what heistd says."""

import json
import pathlib
import re
import subprocess
import tempfile
import time
import unittest

import certificates
import heistd_server
from heistd_server import PATIENCE, ServerTest, until

FILES = pathlib.Path(__file__).parents[3] / "docs" / "monitoring"
# A name that may be in PromQL: of a family, perhaps with the ending of one of its series.
NAME = re.compile(r"\bheistd?_[a-z_]+")
ENDINGS = re.compile(r"_(bucket|sum|count)$")
# A series: its name, and its labels.
SERIES = re.compile(r"\b(heistd?_[a-z_]+)\{([^}]*)\}")
SAMPLE = re.compile(r"^(heistd?_[a-z_]+)(?:\{([^}]*)\})? ", re.MULTILINE)  # of the server, perhaps without labels
LABEL = re.compile(r'(\w+)="')


def promtool(*arguments, text=None):
    done = subprocess.run(
        ["promtool", *arguments], input=text, capture_output=True, text=True, timeout=PATIENCE
    )
    return done.returncode, done.stdout + done.stderr


class Monitoring(ServerTest):
    def setUp(self):
        data = tempfile.TemporaryDirectory()
        self.addCleanup(data.cleanup)
        authority, identity = certificates.shared()
        self.server = self.start("--operator", "anonymous", "--data", data.name, "--command", "nap=/bin/sleep 600",
                                 "--max-commands", "1", "--command-timeout", "600000", *identity.options,
                                 tls=authority.context())

    def metrics(self):
        self.server.post("/jobs/digest?wait=1")
        return self.server.get("/metrics").body.decode()

    def test_metrics_when_linted_then_nothing_is_found(self):
        self.assertEqual(promtool("check", "metrics", text=self.metrics()), (0, ""))

    def test_names_when_alerts_and_dashboard_use_them_then_the_server_has_them(self):
        families = set(re.findall(r"^# TYPE (\S+)", self.metrics(), re.MULTILINE))
        for file in ("heistd-alerts.yml", "heistd-dashboard.json"):
            used = {ENDINGS.sub("", name) for name in NAME.findall((FILES / file).read_text())}
            with self.subTest(file=file):
                self.assertGreater(len(used), 3)
                self.assertEqual(used - families, set())

    def test_labels_when_alerts_are_tested_then_with_those_that_the_server_gives(self):
        given = {name: set(LABEL.findall(labels)) for name, labels in SAMPLE.findall(self.metrics())}
        tested = SERIES.findall((FILES / "heistd-alerts-test.yml").read_text())
        self.assertGreater(len(tested), 10)
        for name, labels in tested:
            with self.subTest(series=name):  # Prometheus adds the instance
                self.assertEqual(set(LABEL.findall(labels)), given[name] | {"instance"})

    def longest_wait(self):
        """In seconds, of background jobs."""
        series = 'heistd_oldest_job_wait_seconds{client="anonymous",priority="background"} '
        return float(re.search("^" + re.escape(series) + r"(\S+)$", self.metrics(), re.MULTILINE).group(1))

    def test_wait_when_a_job_waits_for_its_turn_then_it_is_told_until_that_has_come(self):
        runs = self.server.accepted("/jobs/nap?priority=background")
        until(lambda: self.server.get(runs).json["state"] == "running", "the program to run")
        self.assertEqual(self.longest_wait(), 0)
        self.server.accepted("/jobs/nap?priority=background&delay=3600000")
        self.assertEqual(self.longest_wait(), 0)
        waits = self.server.accepted("/jobs/nap?priority=background&signal=night")
        begin = time.monotonic()
        before = self.longest_wait()
        self.assertGreater(before, 0)
        until(lambda: self.longest_wait() > before + 0.2, "the wait to grow")
        self.assertLess(self.longest_wait(), time.monotonic() - begin + 2)
        self.server.request("DELETE", runs)
        until(lambda: self.server.get(waits).json["state"] == "running", "the other program to run")
        self.assertEqual(self.longest_wait(), 0)
        self.server.request("DELETE", waits)


class Alerts(unittest.TestCase):
    def test_alerts_when_figures_are_wrong_then_they_say_so(self):
        code, said = promtool("test", "rules", str(FILES / "heistd-alerts-test.yml"))
        self.assertEqual(code, 0, said)
        alerts = re.findall(r"- alert: (\w+)", (FILES / "heistd-alerts.yml").read_text())
        tried = re.findall(r"alertname: (\w+)", (FILES / "heistd-alerts-test.yml").read_text())
        self.assertEqual(set(alerts), set(tried))


class Dashboard(unittest.TestCase):
    def test_expressions_when_variables_are_filled_in_then_promql_understands_them(self):
        dashboard = json.loads((FILES / "heistd-dashboard.json").read_text())
        expressions = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
        self.assertGreater(len(expressions), 5)
        rules = {"groups": [{"name": "all", "rules": []}]}
        for number, expression in enumerate(expressions):
            filled = expression.replace("$__rate_interval", "1m").replace("$", "")
            rules["groups"][0]["rules"].append({"record": f"rule{number}", "expr": filled})
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            json.dump(rules, file)  # which is YAML, too
            file.flush()
            code, said = promtool("check", "rules", file.name)
        self.assertEqual(code, 0, said)


if __name__ == "__main__":
    heistd_server.main()
