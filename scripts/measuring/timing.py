"""Rates of workloads measured in turn, round by round, so that whatever slows the machine for a while slows all of them.

What is compared is compared within a round: the medians of ratios say more than ratios of medians.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

# Does some work, a millisecond or more of it, and says how many units that were.
Play = Callable[[], int]


@dataclass(frozen=True)
class Workload:
    """Something to be measured.

    Attributes:
        key: its name in JSON.
        text: its name on screen.
        begin: makes what it needs, and gives the function that is timed.
        unit: what that function counts.
    """

    key: str
    text: str
    begin: Callable[[], Play]
    unit: str = "decisions"


@dataclass(frozen=True)
class Figure:
    """The median of a measured quantity over the rounds, and the quartiles around it."""

    median: float
    low: float
    high: float

    @staticmethod
    def of(values: ArrayLike) -> Figure:
        low, median, high = np.percentile(np.asarray(values, np.float64), (25, 50, 75))
        return Figure(float(median), float(low), float(high))

    @property
    def spread(self) -> float:
        """Half the distance between the quartiles, as a share of the median."""
        return (self.high - self.low) / 2 / self.median

    def as_dict(self) -> dict[str, float]:
        """For JSON, with the digits that mean something."""
        return {name: float(f"{getattr(self, name):.4g}") for name in ("median", "low", "high")}


@dataclass(frozen=True)
class Rates:
    """Units a second of several workloads: each (rounds, workloads), columns in the order of `keys`."""

    keys: tuple[str, ...]
    per_cpu_second: np.ndarray[Any, np.dtype[np.float64]]
    per_wall_second: np.ndarray[Any, np.dtype[np.float64]]

    def cpu(self, key: str) -> Figure:
        """Units a CPU-second."""
        return Figure.of(self.per_cpu_second[:, self.keys.index(key)])

    def wall(self, key: str) -> Figure:
        """Units a wall second."""
        return Figure.of(self.per_wall_second[:, self.keys.index(key)])

    def ratio(self, key: str, to: str) -> Figure:
        """How many times as many units a CPU-second as another workload."""
        return Figure.of(self.per_cpu_second[:, self.keys.index(key)] / self.per_cpu_second[:, self.keys.index(to)])


def rates(workloads: Sequence[Workload], rounds: int, seconds: float, progress: Callable[[str], None]) -> Rates:
    """Measure workloads in turn.

    Args:
        workloads: each is warmed up first, for as long as a measurement.
        rounds: how often each is measured.
        seconds: how long, each time.
        progress: called with a workload's text before it is run.
    """
    plays = []
    for workload in workloads:
        progress(workload.text)
        plays.append(workload.begin())
        _rate(plays[-1], seconds)
    gc.collect()
    gc.freeze()  # what all of them hold is not looked through again during any of them
    try:
        measured = np.empty((rounds, len(plays), 2))
        for i in range(rounds):
            for j, play in enumerate(plays):
                progress(workloads[j].text)
                measured[i, j] = _rate(play, seconds)
    finally:
        gc.unfreeze()
    return Rates(tuple(workload.key for workload in workloads), measured[:, :, 0], measured[:, :, 1])


def _rate(play: Play, seconds: float) -> tuple[float, float]:
    """Units per CPU-second of this process and per wall second."""
    done = 0
    cpu, wall = time.process_time(), time.perf_counter()
    while not done or time.perf_counter() - wall < seconds or time.process_time() == cpu:  # a CPU clock may tick slowly
        done += play()
    return done / (time.process_time() - cpu), done / (time.perf_counter() - wall)
