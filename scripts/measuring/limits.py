"""What no engine can beat, and what speed is compared with across machines: plain memory writes, and small fixed loops."""

from __future__ import annotations

import ctypes
from functools import partial

import numpy as np
from numpy.typing import NDArray

from gin_env.bits import lowest
from gin_env.compiled import jit
from scripts.measuring.games import BYTES
from scripts.measuring.timing import Play, Workload

GAMES = (1_024, 16_384)
LOOPS = 10_000  # of the fixed loop, at a time
CALLS = 2_000
WORDS = 4  # that a turn of it works on


def written(games: int) -> Play:
    """A batch's observations and masks written by memset."""
    memory = np.zeros(games * BYTES, np.int8)
    address, value = memory.ctypes.data, 0

    def play() -> int:
        nonlocal value
        value = 1 - value
        ctypes.memset(address, value, memory.nbytes)
        return games

    return play


def copied(games: int) -> Play:
    """The same bytes copied by memmove, from memory as large."""
    source, memory = np.zeros((2, games * BYTES), np.int8)
    source[:] = 1

    def play() -> int:
        ctypes.memmove(memory.ctypes.data, source.ctypes.data, memory.nbytes)
        return games

    return play


@jit
def _loop(words: NDArray[np.uint64], table: NDArray[np.uint64], times: int) -> None:
    """Hash, go through a word's bits, look up and store, as an engine does; what it computes means nothing."""
    for _ in range(times):
        for i in range(len(words)):
            word = words[i]
            word = (word ^ (word >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
            bits = word & (word >> np.uint64(32)) & np.uint64(0xFFFFFFFF)
            while bits:
                word += table[lowest(bits)]
                bits &= bits - np.uint64(1)
            words[i] = word


def loop(times: int) -> Play:
    """The fixed compiled loop: many turns in one call, or one turn a call."""
    words = np.arange(WORDS, dtype=np.uint64)
    table = np.arange(32, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    calls = CALLS if times == 1 else 1

    def play() -> int:
        for _ in range(calls):
            _loop(words, table, times)
        return calls * times

    return play


def workloads() -> list[Workload]:
    """The memory limit at the sizes where a call's own cost does not show."""
    found = []
    for games in GAMES:
        found += [
            Workload(f"memset_{games}", f"memset of {BYTES:,} bytes each, {games:,} at once", partial(written, games)),
            Workload(f"memcpy_{games}", f"memcpy of {BYTES:,} bytes each, {games:,} at once", partial(copied, games)),
        ]
    return found


def yardsticks() -> list[Workload]:
    """The fixed loop, for comparisons that hold on any machine: compiled work, and calls from Python into compiled code."""
    return [
        Workload("loop", "the fixed loop, in one call", partial(loop, LOOPS), "turns"),
        Workload("calls", "the fixed loop, a call each", partial(loop, 1), "turns"),
    ]
