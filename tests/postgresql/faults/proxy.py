"""A network between servers and their database, which can be cut, slow, frozen or closed.

usage: proxy.py PORT NUMBER

It listens on NUMBER ports of 127.0.0.1, which it prints, and passes what comes on each of them to PORT of 127.0.0.1,
and back. A line on its input says what is to become of one of these links, by its number from 0 on:

  LINK cut               its connections end at once, and nothing else changes
  LINK close             the same, and new ones are refused until `heal`
  LINK freeze            nothing passes until `heal`; then all of it does that was under way, also of connections that
                         one of the ends has given up meanwhile
  LINK slow SECONDS RATE each piece takes so long, and so many bytes a second pass
  LINK heal
"""

import asyncio
import socket
import struct
import sys

PIECE = 65536
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: what is not sent yet is dropped


class Link:
    """What is between one server and the database."""

    def __init__(self, target):
        self.target, self.writers = target, set()
        self.delay, self.rate = 0, None
        self.is_closed, self.may_pass = False, asyncio.Event()
        self.may_pass.set()

    async def take(self, reader, writer):
        if self.is_closed:
            return reset(writer)
        try:
            other_reader, other_writer = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            return reset(writer)
        self.writers |= {writer, other_writer}
        await asyncio.gather(self._pass(reader, other_writer), self._pass(other_reader, writer))
        for each in (writer, other_writer):
            self.writers.discard(each)
            each.close()
        return None

    async def _pass(self, reader, writer):
        """Until there is no more of it; then the other end hears so."""
        try:
            while piece := await reader.read(PIECE):
                await self._take_time_for(piece)
                writer.write(piece)
                await writer.drain()
            await self.may_pass.wait()
            writer.write_eof()
        except OSError:
            writer.close()

    async def _take_time_for(self, piece):
        await self.may_pass.wait()
        if self.rate:
            await asyncio.sleep(self.delay + len(piece) / self.rate)
            await self.may_pass.wait()

    def obey(self, what, *numbers):
        if what in ("cut", "close"):
            for writer in self.writers:
                reset(writer)
        if what == "cut":
            return
        self.is_closed = what == "close"
        self.delay, self.rate = map(float, numbers) if what == "slow" else (0, None)
        self.may_pass.clear() if what == "freeze" else self.may_pass.set()


def reset(writer):
    socket_of = writer.get_extra_info("socket")
    if socket_of and socket_of.fileno() >= 0:
        socket_of.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    writer.transport.abort()


async def orders():
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        yield line.decode().split()


async def main(target, number):
    links = [Link(target) for _ in range(number)]
    listening = [await asyncio.start_server(link.take, "127.0.0.1", 0) for link in links]
    print(*(each.sockets[0].getsockname()[1] for each in listening), flush=True)
    async for link, *order in orders():
        links[int(link)].obey(*order)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
