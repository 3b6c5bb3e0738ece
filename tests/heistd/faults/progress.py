"""How far a long test is."""

import time


class Progress:
    """A line every few seconds."""

    def __init__(self):
        self.next = time.monotonic()

    def __call__(self, text):
        if time.monotonic() > self.next:
            self.next = time.monotonic() + 5
            print(f"faults: {text}", flush=True)
