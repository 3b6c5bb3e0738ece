"""What the benchmarks ask of a heistd."""

import http.client
import json


def request(port, method, target, body=None):
    """The reply's JSON; ends the program when it is a refusal."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, target, body=body)
    response = connection.getresponse()
    reply = json.loads(response.read())
    if response.status >= 300:
        raise SystemExit(f"{method} {target}: {reply}")
    return reply
