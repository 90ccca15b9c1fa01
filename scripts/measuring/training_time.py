"""Where the time of a training run goes: the model, settings and environment are those of `scripts/train.py`."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import gin_env
from gin_env.arena.duplicate import deal_records, play_out
from gin_env.policies.registry import policy
from scripts.measuring.games import OPPONENT
from scripts.measuring.machine import cores
from scripts.measuring.timing import Figure
from training.config import PPOConfig, RunConfig
from training.run import new_model, prepare_torch

LANES = (64, 256, 1_024)
DECISIONS = 16_384  # a measurement, or one rollout if that is more

PARTS = ("environment", "opponent", "inference", "optimisation", "SB3")


@dataclass(frozen=True)
class TrainingTime:
    """A run's learner decisions a wall second, and the share of wall time of each of `PARTS`."""

    decisions_per_second: Figure
    shares: dict[str, Figure]


def training_time(lanes: int, rounds: int, progress: Callable[[str], None]) -> TrainingTime:
    """Train against one bot with a 2 x 256 network for each of actor and critic, on all cores.

    Args:
        lanes: how many games.
        rounds: how many measurements, after a rollout and update to warm up.
        progress: called with what is done.
    """
    progress(f"training, {lanes:,} games")
    config = RunConfig(lanes=lanes, threads=cores(), opponents={OPPONENT: 1.0}, ppo=PPOConfig(steps=1))
    prepare_torch(config)
    model: Any = new_model(config)
    rollout = lanes * config.ppo.rollout
    spent: defaultdict[str, float] = defaultdict(float)
    environment = model.get_env()
    for owner, method, part in (
        (environment, "step", "environment"),
        (environment, "action_masks", "environment"),
        (model.policy, "forward", "inference"),
        (model.policy, "predict_values", "inference"),
        (model, "train", "optimisation"),
    ):
        setattr(owner, method, _timed(getattr(owner, method), spent, part))
    model.learn(rollout)
    a_reply = _seconds_a_reply()
    speeds, shares = [], []
    for _ in range(rounds):
        spent.clear()
        decisions = max(1, DECISIONS // rollout) * rollout
        began = time.perf_counter()
        model.learn(decisions, reset_num_timesteps=False)
        whole = time.perf_counter() - began
        # The opponent plays inside the environment's step; it answers about once for each of the learner's decisions.
        spent["opponent"] = decisions * a_reply
        spent["environment"] -= spent["opponent"]
        spent["SB3"] = whole - sum(spent.values())
        speeds.append(decisions / whole)
        shares.append([spent[part] / whole for part in PARTS])
    columns = np.array(shares).T
    return TrainingTime(Figure.of(speeds), {part: Figure.of(column) for part, column in zip(PARTS, columns, strict=True)})


def _timed(method: Callable[..., Any], spent: defaultdict[str, float], part: str) -> Callable[..., Any]:
    """The method, adding the time that it takes to `spent[part]`."""

    def timed(*arguments: Any, **named: Any) -> Any:
        began = time.perf_counter()
        try:
            return method(*arguments, **named)
        finally:
            spent[part] += time.perf_counter() - began

    return timed


def _seconds_a_reply() -> float:
    """What one decision of the opponent takes in compiled code, doing it included."""
    player = policy(OPPONENT)
    for deals in (10, 5_000):  # the first few to warm up
        records = deal_records(gin_env.Rules(), 0, 0, deals)
        began = time.perf_counter()
        play_out(records, player, player)
        taken = time.perf_counter() - began
    return taken / int(records["hidden"]["decisions"].sum())
