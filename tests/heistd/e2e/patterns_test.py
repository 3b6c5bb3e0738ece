"""One client floods with bad patterns that take long to compile; another one's urgent jobs go on.

When the network thread compiled them, such a flood took urgent jobs from 0.3 ms to 9.9 s, at the
median.
"""

import http.client
import itertools
import statistics
import threading
import time
import urllib.parse

import heistd_server
from heistd_server import PATIENCE, ServerTest

FLOOD = {"Authorization": "Bearer secret-f"}
URGENT = {"Authorization": "Bearer secret-u"}
FLOODERS = 8
JOBS = 100
# Far above what a job takes beside the flood (some ms), far below what it took.
BOUND = 2.0


class Patterns(ServerTest):
    OPTIONS = (
        *("--client", "flood:secret-f:background", "--client", "urgent:secret-u:user-blocking"),
        *("--anonymous-ceiling", "none"),
    )

    def flood(self, stop, answers):
        """Sends bad patterns, each of them new, one after the other."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=PATIENCE)
        for number in self.numbers:
            if stop.is_set():
                break
            pattern = urllib.parse.quote(f"(-{{0,30}}){{127}}{number}")
            connection.request("POST", f"/jobs/search?wait=1&pattern={pattern}", b"x", FLOOD)
            response = connection.getresponse()
            answers.append((response.status, response.read()))
        connection.close()

    def test_urgent_jobs_when_another_client_floods_with_bad_patterns_then_they_go_on(self):
        self.numbers = itertools.count()
        stop, answers, took = threading.Event(), [], []
        flooders = [
            threading.Thread(target=self.flood, args=(stop, answers)) for _ in range(FLOODERS)
        ]
        for flooder in flooders:
            flooder.start()
        try:
            heistd_server.until(lambda: len(answers) >= FLOODERS, "the flood to begin")
            before = len(answers)
            for _ in range(JOBS):
                start = time.monotonic()
                reply = self.server.post("/jobs/digest?wait=1&priority=user-blocking", headers=URGENT)
                took.append(time.monotonic() - start)
                self.assertEqual(reply.status, 200)
            during = len(answers) - before
        finally:
            stop.set()
            for flooder in flooders:
                flooder.join()
        self.assertGreater(during, 0)
        for status, body in answers:
            self.assertIn(status, (400, 422), body)  # 422: no agent came to it within a second
            self.assertIn(b"bad_pattern", body)
        median = statistics.median(took)
        print(f"{during} patterns refused meanwhile; of {JOBS} jobs: median {1000 * median:.1f} ms,")
        print(f"longest {1000 * max(took):.1f} ms")
        self.assertLess(median, BOUND)


if __name__ == "__main__":
    heistd_server.main()
