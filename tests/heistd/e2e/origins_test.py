"""Rule SEC-1: web pages of others can neither use the server nor read from it. As browsers ask, but without one."""

import heistd_server
from heistd_server import ServerTest


class Origins(ServerTest):
    OPTIONS = ("--host", "build.example")

    def asked(self, method="GET", target="/stats", **headers):
        return self.server.raw().head(method, target, **headers).reply()

    def test_host_when_not_ours_then_421(self):
        for host in ("evil.test", f"evil.test:{self.server.port}", "127.0.0.2", ""):
            self.assert_refused(self.asked(Host=host), 421, "bad_host", "Host")
            self.assert_refused(self.asked("GET", "/healthz", Host=host), 421, "bad_host", "Host")
        self.assert_refused(self.asked("GET", "http://evil.test/stats"), 421, "bad_host", "Host")

    def test_host_when_ours_then_served(self):
        for host in ("localhost", "127.0.0.1:1", "[::1]", "BUILD.example:443"):
            self.assertEqual(self.asked(Host=host).status, 200)
        self.assertEqual(self.asked("GET", "http://localhost/stats").status, 200)

    def test_origin_when_foreign_then_403_and_no_job(self):
        for headers in (
            {"Origin": "http://evil.test"},
            {"Origin": "null"},
            {"Origin": "http://localhost:1"},
            {"Sec_Fetch_Site": "cross-site"},
            {"Sec_Fetch_Site": "same-site"},
        ):
            with self.subTest(headers=headers):
                reply = self.asked("POST", "/jobs/digest", Content_Length=0, **headers)
                self.assert_refused(reply, 403, "foreign_origin", "Origin")
                reply = self.asked("OPTIONS", "/jobs/digest", **headers)
                self.assert_refused(reply, 403, "foreign_origin", "Origin")
        self.assertEqual(self.server.stats()["jobs_held"], 0)

    def test_origin_when_ours_then_served(self):
        host = f"localhost:{self.server.port}"
        reply = self.asked(Host=host, Origin=f"http://{host}", Sec_Fetch_Site="same-origin")
        self.assertEqual(reply.status, 200)

    def test_reply_then_it_tells_browsers_to_keep_it_from_pages(self):
        for reply in (self.server.get("/stats"), self.server.get("/nothing"), self.asked(Host="x")):
            self.assertEqual(reply.headers["x-content-type-options"], "nosniff")
            self.assertEqual(reply.headers["cross-origin-resource-policy"], "same-origin")
            self.assertIn("default-src 'none'", reply.headers["content-security-policy"])
            self.assertEqual(reply.headers["cache-control"], "no-store")
            self.assertNotIn("access-control-allow-origin", reply.headers)


if __name__ == "__main__":
    heistd_server.main()
