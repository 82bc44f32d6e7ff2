"""Ends a connection whose client does not read what it was answered, and would hold it for ever."""

from __future__ import annotations

import asyncio
import fcntl
import struct
import termios
from collections.abc import Callable
from contextlib import suppress


class UnreadAnswer:
    """Looks at what waits for the client of one connection, while it is more than the transport takes, or the
    transport closes behind it.
    """

    def __init__(self, transport: asyncio.Transport, rate: float, seconds: float, end: Callable[[], None]) -> None:
        """`end` is called when fewer than `rate` bytes a second were read, on average over `seconds`."""
        self._transport = transport
        self._least = rate * seconds
        self._seconds = seconds
        self._end = end
        self._unread = 0
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """Look from now on."""
        if self._timer is None:
            self._unread = self._bytes()
            self._timer = asyncio.get_running_loop().call_later(self._seconds, self._look)

    def stop(self) -> None:
        """Look no more: the client reads, or is gone."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def forget(self) -> None:
        """Look never again. Whoever made it is freed at once then, not when the collector finds both."""
        self.stop()
        self._end = _nothing

    def _look(self) -> None:
        self._timer = None
        unread = self._bytes()
        if unread > max(0.0, self._unread - self._least):
            self._end()
        else:
            self.begin()

    def _bytes(self) -> int:
        """Those in the transport and, of what the system took, those that the client did not take yet: the system asks
        for more only when a third of its buffer is free, which takes a slow client minutes.
        """
        sent = bytes(4)
        with suppress(OSError):
            sent = fcntl.ioctl(self._transport.get_extra_info("socket").fileno(), termios.TIOCOUTQ, sent)
        return self._transport.get_write_buffer_size() + struct.unpack("i", sent)[0]


def _nothing() -> None:
    return
