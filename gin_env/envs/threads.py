"""Threads that work beside their caller: started once a process, asleep while there is nothing to do."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from threading import Lock, Thread


class _Threads:
    """A queue and the threads that wait for it."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._count = 0
        self._lock = Lock()

    def start(self, works: list[Callable[[], None]]) -> None:
        with self._lock:
            while self._count < len(works):
                self._count += 1
                Thread(target=self._serve, name=f"gin_env {self._count}", daemon=True).start()
        for work in works:
            self._queue.put(work)

    def _serve(self) -> None:
        while True:
            self._queue.get()()


_threads = _Threads()


def _forget() -> None:
    """A forked process has none of its parent's threads."""
    global _threads  # the one place where it changes
    _threads = _Threads()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def work_together(work: Callable[[int], None], threads: int) -> None:
    """Call work(0) here and work(1) .. work(threads - 1) in threads beside; return when work(0) has.

    Args:
        work: whoever of the threads begins first does what is to be done, and those that come late find nothing left. It may
            so be called again: if the call here is interrupted, a second one sees to the end of the work.
        threads: how many, with this one.
    """
    if threads > 1:
        _threads.start([partial(work, thread) for thread in range(1, threads)])
    try:
        work(0)
    except BaseException:
        work(0)
        raise
