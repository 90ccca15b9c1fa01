"""How time and memory grow with the number of games, and what a second thread brings."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from functools import partial

import numpy as np

import gin_env
from scripts.measuring.choice import choose
from scripts.measuring.games import OPPONENT, batched
from scripts.measuring.timing import Figure, Workload

GAMES = (1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536)
THREADED = (1_024, 4_096, 16_384, 65_536)
STEPS_A_TURN = 20
STEPS_BEFORE = 100  # hands are in all their phases by then


def sizes() -> list[Workload]:
    """A batch of each size, both seats played from outside."""
    return [Workload(f"games_{games}", f"{games:,} games", partial(batched, games)) for games in GAMES]


def memory_a_game(games: int) -> float:
    """Bytes that a `VectorEnv` of so many games holds for each, its arrays included."""
    tracemalloc.start()
    try:
        envs = gin_env.VectorEnv(games, opponent=None, seed=0, copy=False)
        _, infos = envs.reset()
        actions = np.zeros(games, np.int64)
        for seed in range(STEPS_BEFORE):
            choose(infos["action_mask"], seed, actions)
            *_, infos = envs.step(actions)
        return tracemalloc.get_traced_memory()[0] / games
    finally:
        tracemalloc.stop()


def threads(
    games: int, opponent: str | None, most: int, rounds: int, seconds: float, progress: Callable[[str], None]
) -> dict[int, Figure]:
    """How many times as fast as with one thread a batch is stepped, for 2 threads and twice as many each time, up to `most`.

    Only `step` is timed, by the wall clock: the random choice before it has one thread. The batches take turns of some steps
    each, so that a batch finds the caches as it would alone.
    """
    counts = [2**i for i in range(most.bit_length()) if 2**i <= most]
    batches = [gin_env.VectorEnv(games, opponent=opponent, seed=0, copy=False, num_threads=count) for count in counts]
    masks = [envs.reset()[1]["action_mask"] for envs in batches]
    actions = np.zeros(games, np.int64)
    seed = 0

    def stepped() -> list[float]:
        nonlocal seed
        taken = np.zeros(len(batches))
        began = time.perf_counter()
        while time.perf_counter() - began < seconds * len(batches):
            for i, envs in enumerate(batches):
                for step in range(STEPS_A_TURN):
                    choose(masks[i], seed + step, actions)
                    start = time.perf_counter()
                    envs.step(actions)
                    taken[i] += time.perf_counter() - start
            seed += STEPS_A_TURN
        return [float(taken[0] / other) for other in taken]

    progress(f"{games:,} games{f' v {OPPONENT}' if opponent else ''}, {counts} threads")
    stepped()
    ratios = np.array([stepped() for _ in range(rounds)])
    return {count: Figure.of(ratios[:, i]) for i, count in enumerate(counts) if count > 1}
