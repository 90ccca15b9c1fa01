"""Warm start: teach a network to choose as a ladder bot does, and to value positions by how those hands end.

Random play almost never goes gin, so a fresh network would learn nothing from the result of a hand. The bot's hands are played with
a share of random discards, so that the network sees positions that the bot itself would not get into.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from torch.nn import functional

from gin_env.advance import write_decisions
from gin_env.envs.lanes import Lanes
from gin_env.policies.policy import Batch, Policy, checked_actions
from gin_env.rules.ruleset import Rules
from gin_env.rules.view import VIEW
from training.networks import logits_and_values

LANES = 512
STEPS = 128


@dataclass
class Lesson:
    """Decisions of hands that have ended: observations, masks, the bot's actions, and the returns of the seat to act."""

    observations: NDArray[np.int8]
    masks: NDArray[np.int8]
    actions: NDArray[np.int64]
    returns: NDArray[np.float32]


def lessons(teacher: Policy, rules: Rules, reward: str, seed: int, random_share: float) -> Iterator[Lesson]:
    """Endless lessons from hands that the teacher plays against itself, some discards at random."""
    lanes = Lanes(LANES, rules, opponent=None, reward=reward)
    lanes.seed(range(seed, seed + LANES))
    lanes.begin()
    lanes.observe()
    rng = np.random.default_rng(seed)
    every = np.arange(LANES)
    views, keys = np.zeros(LANES, VIEW), np.empty(LANES, np.uint64)
    while True:
        observations = np.empty((STEPS, LANES, lanes.observations.shape[1]), np.int8)
        masks = np.empty((STEPS, LANES, lanes.masks.shape[1]), np.int8)
        actions = np.empty((STEPS, LANES), np.int64)
        seats = np.empty((STEPS, LANES), np.int8)
        results = np.full((STEPS, LANES), np.nan, np.float32)  # of seat 0, on the step that ends the hand
        for step in range(STEPS):
            observations[step], masks[step], seats[step] = lanes.observations, lanes.masks, lanes.seats_to_act()
            write_decisions(lanes.records, every, views, keys)
            actions[step] = checked_actions(teacher, Batch(views, every, keys))
            ended = lanes.step(_with_random_discards(actions[step], lanes.masks, rng, random_share))
            results[step, ended] = np.where(lanes.acting == 0, lanes.rewards, -lanes.rewards)[ended]
            lanes.next_deal(ended)
            lanes.begin(ended)
            lanes.observe()
        # Carry each hand's result back to its decisions; the last, open hands have none yet.
        for step in range(STEPS - 2, -1, -1):
            open_here = np.isnan(results[step])
            results[step, open_here] = results[step + 1, open_here]
        known = ~np.isnan(results)
        returns = np.where(seats == 0, results, -results)
        yield Lesson(observations[known], masks[known], actions[known], returns[known])


def _with_random_discards(
    actions: NDArray[np.int64], masks: NDArray[np.int8], rng: np.random.Generator, share: float
) -> NDArray[np.int64]:
    """The actions with a share of the plain discards replaced by random legal ones."""
    chosen = np.flatnonzero((actions >= 4) & (actions < 56) & (rng.random(len(actions)) < share))
    noise = rng.random((len(chosen), 52)) * masks[chosen, 4:56]
    mixed = actions.copy()
    mixed[chosen] = 4 + noise.argmax(axis=1)
    return mixed


def clone(
    model: MaskablePPO,
    teacher: Policy,
    rules: Rules,
    reward: str,
    reward_scale: float,
    decisions: int,
    learning_rate: float,
    batch_size: int,
    random_share: float,
    seed: int,
    progress: Callable[[int, float], None],
) -> float:
    """Fit the model's actor to the teacher's choices and its critic to the returns.

    Args:
        model: fitted in place.
        decisions: how many decisions of the teacher to learn from, each seen once.
        progress: called with the decisions learned from since the last call and the agreement there.

    Returns:
        Agreement with the teacher over the last lesson, before learning from it.
    """
    optimizer = torch.optim.Adam(model.policy.parameters(), lr=learning_rate)
    batches_left = max(1, decisions // batch_size)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, total_iters=batches_left)
    rng = np.random.default_rng(seed)
    agreement = 0.0
    for lesson in lessons(teacher, rules, reward, seed, random_share):
        order = rng.permutation(len(lesson.actions))
        agreed = []
        for start in range(0, len(order) - batch_size + 1, batch_size):
            rows = order[start : start + batch_size]
            logits, values = logits_and_values(
                model, torch.from_numpy(lesson.observations[rows]), torch.from_numpy(lesson.masks[rows])
            )
            target = torch.from_numpy(lesson.actions[rows])
            returns = torch.from_numpy(lesson.returns[rows]) * reward_scale
            loss = functional.cross_entropy(logits, target) + 0.5 * functional.mse_loss(values, returns)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]  # torch's own
            torch.nn.utils.clip_grad_norm_(model.policy.parameters(), 0.5)
            optimizer.step()
            schedule.step()
            agreed.append(float((logits.argmax(dim=1) == target).float().mean()))
            progress(batch_size, agreed[-1])
            batches_left -= 1
            if batches_left == 0:
                return float(np.mean(agreed))
        agreement = float(np.mean(agreed)) if agreed else agreement
    return agreement
