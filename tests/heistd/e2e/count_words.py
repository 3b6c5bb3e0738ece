"""The example examples/jobs/count_words.cpp: a kind of a program's own, asked for over a real socket."""

import unittest

import heistd_server
from heistd_server import ServerTest


class CountWords(ServerTest):
    def test_job_when_waited_for_then_the_reply_is_what_the_handler_gave(self):
        reply = self.server.post("/jobs/words?at_least=4&wait=1", b"one three seven\nnine a " + b"word " * 100_000)
        self.assertEqual((reply.status, reply.body), (200, b"100003"))
        self.assertEqual(reply.headers["content-type"], "text/plain; charset=utf-8")

    def test_words_when_not_in_ascii_then_they_are_words_all_the_same(self):
        self.assertEqual(self.server.post("/jobs/words?wait=1", "naïve café".encode()).body, b"2")

    def test_job_when_done_then_its_description_has_the_progress(self):
        job = self.server.finished(self.server.accepted("/jobs/words", b"two words"))
        self.assertEqual((job["kind"], job["state"], job["progress"]), ("words", "done", 1))
        self.assertEqual(self.server.get(job["links"]["result"]).body, b"2")

    def test_request_when_a_parameter_is_wrong_then_refused_before_the_upload_is_read(self):
        raw = self.server.raw().head("POST", "/jobs/words?at_least=0", Content_Length=1000, Expect="100-continue")
        self.assert_refused(raw.reply(), 400, "bad_parameter", "at_least")

    def test_job_when_its_handler_throws_then_it_fails_and_the_server_goes_on(self):
        self.assert_refused(self.server.post("/jobs/words?wait=1", b" \n"), 422, "no_words")
        self.assertEqual(self.server.post("/jobs/words?wait=1", b"word").body, b"1")

    def test_kinds_when_not_registered_then_404(self):
        self.assert_refused(self.server.post("/jobs/digest"), 404, "not_found")


if __name__ == "__main__":
    heistd_server.main()
