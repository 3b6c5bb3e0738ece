"""Gives orders to bad_disk.cpp, and loses what a program with it had not synced."""

import os
import pathlib
import struct

HEAD = struct.Struct("qqq")  # UndoHead in bad_disk.cpp


class BadDisk:
    """The disk that one folder lies on. Without the library it is as good as the system's."""

    def __init__(self, preloaded, folder, data):
        self.preloaded, self.data = preloaded, pathlib.Path(data)
        self.undo = pathlib.Path(folder, "undo")
        self.orders = pathlib.Path(folder, "orders")
        self.undo.mkdir()
        self.heal()

    def environment(self):
        """Of a program that uses the disk."""
        if not self.preloaded:
            return {}
        return {
            "LD_PRELOAD": self.preloaded,
            "HEISTD_BAD_DISK_FOLDER": str(self.data),
            "HEISTD_BAD_DISK_UNDO": str(self.undo),
            "HEISTD_BAD_DISK_ORDERS": str(self.orders),
        }

    def order(self, writes=0, syncs=0, milliseconds=0, read_milliseconds=0):
        """From now on writes and syncs fail with these errors, and a sync and a read take so much longer."""
        file = os.open(self.orders, os.O_WRONLY | os.O_CREAT)
        os.pwrite(file, struct.pack("iiii", writes, syncs, milliseconds, read_milliseconds), 0)
        os.close(file)

    def heal(self):
        self.order()

    def keep_all(self):
        """What has been written stays, as it does when a process is killed and the machine goes on."""
        for file in self.undo.iterdir():
            file.unlink()

    def lose_power(self):
        """What no program has synced is gone. Returns how many writes that were."""
        lost = sum(self._undo(file) for file in self.undo.iterdir())
        self.keep_all()
        for shared in self.data.glob("*-shm"):  # memory of processes that are gone
            shared.unlink()
        return lost

    def _undo(self, file):
        records = list(self._records(file.read_bytes()))
        with open(self.data / file.name, "r+b") as target:
            for offset, old_size, old_bytes in reversed(records):
                target.seek(offset)
                target.write(old_bytes)
                target.truncate(old_size)
        return len(records)

    @staticmethod
    def _records(undo):
        """The last one may be cut short; then nothing was written after it."""
        place = 0
        while place + HEAD.size <= len(undo):
            offset, old_size, size = HEAD.unpack_from(undo, place)
            place += HEAD.size + size
            if place <= len(undo):
                yield offset, old_size, undo[place - size : place]
