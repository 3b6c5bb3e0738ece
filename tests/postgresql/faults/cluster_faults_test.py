"""Each accepted job ends once, whatever befalls servers with one queue, their networks and their database.

HEIST_FAULT_SECONDS is how long there are faults (8), HEIST_FAULT_SEED makes the same choices again; moments differ.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
HEISTD = sys.argv.pop(1)
SECONDS = os.environ.get("HEIST_FAULT_SECONDS", "8")
SEED = os.environ.get("HEIST_FAULT_SEED")
PATIENCE = 240  # seconds beyond those with faults


class ClusterFaults(unittest.TestCase):
    def check(self, *options):
        """Runs the servers and then the checker; the history is kept when something is wrong."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix="heistd-history-"))
        history, seed = folder / "history.jsonl", ("--seed", SEED) if SEED else ()
        subprocess.run([sys.executable, "-B", HERE / "run_cluster.py", HEISTD, history, *seed, *options], check=True,
                       timeout=int(SECONDS) + PATIENCE)
        checked = subprocess.run([sys.executable, "-B", HERE / "check_history.py", history], capture_output=True,
                                 text=True, check=False)
        (folder / "problems").write_text(checked.stdout + checked.stderr)
        self.assertEqual(checked.returncode, 0, f"{folder} has the history, and all of this:\n{checked.stdout[-5000:]}")
        print(checked.stdout, end="", flush=True)
        shutil.rmtree(folder)

    # Rule: JRN-1
    # Rule: JRN-2
    # Rule: JRN-3
    # Rule: JRN-4
    # Rule: JRN-8
    def test_jobs_when_servers_networks_and_the_database_fail_then_each_accepted_one_ends_once(self):
        self.check("--seconds", SECONDS)

    # Rule: JRN-2
    # Rule: JRN-3
    def test_end_when_it_comes_after_another_server_has_the_job_then_it_changes_nothing(self):
        self.check("--late-end")


if __name__ == "__main__":
    unittest.main(verbosity=2)
