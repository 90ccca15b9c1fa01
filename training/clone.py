"""Warm start: teach the actor to choose as a ladder bot does.

Random play almost never goes gin, so a fresh network would learn nothing from the result of a hand. The practice hands are the
teacher's, with a share of random discards, so that the student sees positions that the teacher would not get into.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from torch.nn import functional

from gin_env.advance import write_decisions
from gin_env.envs.lanes import Lanes
from gin_env.policies.policy import Batch, Policy, checked_actions
from gin_env.rules.actions import DISCARD, GO_OUT
from gin_env.rules.ruleset import Rules
from gin_env.rules.view import VIEW
from training.config import CloneConfig
from training.networks import actor_parameters, masked_logits

LANES = 512
STEPS = 128

Lesson = tuple[NDArray[np.int8], NDArray[np.int8], NDArray[np.int64]]


def clone(
    model: MaskablePPO,
    teacher: Policy,
    rules: Rules,
    config: CloneConfig,
    seed: int,
    progress: Callable[[int, float], None],
) -> None:
    """Fit the model's actor to the teacher's choices.

    Args:
        model: fitted in place; its critic is left as it is.
        teacher: any policy.
        rules: what the practice hands are played by.
        config: how much and how fast.
        seed: of the practice hands.
        progress: called with the decisions learned from since the last call and the agreement on them.
    """
    optimizer = torch.optim.Adam(actor_parameters(model), lr=config.learning_rate)
    batches = max(1, config.decisions // config.batch_size)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.02, total_iters=batches)
    rng = np.random.default_rng(seed)
    for observations, masks, actions in _lessons(teacher, rules, config, seed, rng):
        order = rng.permutation(len(actions))
        for start in range(0, len(order) - config.batch_size + 1, config.batch_size):
            rows = order[start : start + config.batch_size]
            logits = masked_logits(model, torch.from_numpy(observations[rows]), torch.from_numpy(masks[rows]))
            target = torch.from_numpy(actions[rows])
            loss = functional.cross_entropy(logits, target)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]  # torch's own
            optimizer.step()
            schedule.step()
            progress(config.batch_size, float((logits.argmax(dim=1) == target).float().mean()))
            batches -= 1
            if batches == 0:
                return


def _lessons(teacher: Policy, rules: Rules, config: CloneConfig, seed: int, rng: np.random.Generator) -> Iterator[Lesson]:
    """Endless lessons: observations, masks and the teacher's actions of `LANES * STEPS` decisions each."""
    lanes = Lanes(LANES, rules, opponent=None)
    lanes.seed(range(seed, seed + LANES))
    lanes.begin()
    every = np.arange(LANES)
    views, keys = np.zeros(LANES, VIEW), np.empty(LANES, np.uint64)
    while True:
        lesson: list[Lesson] = []
        for _ in range(STEPS):
            observations, masks = lanes.observations, lanes.masks
            write_decisions(lanes.records, every, views, keys)
            actions = checked_actions(teacher, Batch(views, every, keys))
            lesson.append((observations, masks, actions))
            lanes.step(_with_random_discards(actions, masks, rng, config.random_share))
        observations, masks, actions = (np.concatenate(parts) for parts in zip(*lesson, strict=True))
        yield observations, masks, actions


def _with_random_discards(
    actions: NDArray[np.int64], masks: NDArray[np.int8], rng: np.random.Generator, share: float
) -> NDArray[np.int64]:
    """The actions with a share of the plain discards replaced by random legal ones."""
    plain = (actions >= DISCARD) & (actions < GO_OUT)
    chosen = np.flatnonzero(plain & (rng.random(len(actions)) < share))
    noise = rng.random((len(chosen), GO_OUT - DISCARD)) * masks[chosen, DISCARD:GO_OUT]
    mixed = actions.copy()
    mixed[chosen] = DISCARD + noise.argmax(axis=1)
    return mixed
