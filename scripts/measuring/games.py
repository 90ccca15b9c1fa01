"""What this project plays in the benchmark: random legal actions through each of its doors, and bots against bots."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import gymnasium
import numpy as np

import gin_env
from gin_env import straight_gin_v0
from gin_env.arena.duplicate import deal_records, play_out
from gin_env.observation import WIDTH
from gin_env.policies.registry import LADDER, policy
from gin_env.rules.actions import ACTIONS
from scripts.measuring.choice import choose
from scripts.measuring.timing import Play, Workload

# What is written for one decision: the observation and the action mask, int8 each.
BYTES = WIDTH + ACTIONS

GAMES = (1, 64, 1_024, 16_384)
OPPONENT = "greedy"
HANDS = 500  # of two bots, at a time
STEPS = 500  # of a single game, at a time


def batched(games: int, opponent: str | None = None, copy: bool = False, threads: int = 1) -> Play:
    """A `VectorEnv` fed with random legal actions; counts the decisions made from outside."""
    envs = gin_env.VectorEnv(games, opponent=opponent, seed=0, copy=copy, num_threads=threads)
    _, infos = envs.reset()
    actions = np.zeros(games, np.int64)
    times = max(1, STEPS // games)
    seed = 0

    def play() -> int:
        nonlocal infos, seed
        for _ in range(times):
            seed += 1
            choose(infos["action_mask"], seed, actions)
            *_, infos = envs.step(actions)
        return times * games

    return play


def choice(games: int) -> Play:
    """The random legal action alone, which all the others contain."""
    envs = gin_env.VectorEnv(games, opponent=None, seed=0)
    masks = envs.reset()[1]["action_mask"]
    actions = np.zeros(games, np.int64)
    seed = 0

    def play() -> int:
        nonlocal seed
        seed += 1
        choose(masks, seed, actions)
        return games

    return play


def turn_by_turn(raw: bool) -> Play:
    """PettingZoo's loop, `last()` and `step()`; its dead steps, two a hand, are not counted."""
    env = straight_gin_v0.raw_env() if raw else straight_gin_v0.env()
    env.reset(seed=0)
    actions = np.zeros(1, np.int64)
    seed = 0

    def play() -> int:
        nonlocal seed
        done = 0
        while done < STEPS:
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                if not env.agents:
                    env.reset()
                continue
            seed += 1
            choose(observation["action_mask"].reshape(1, -1), seed, actions)
            env.step(int(actions[0]))
            done += 1
        return done

    return play


def single_agent() -> Play:
    """The registered Gymnasium environment with its wrappers, against an opponent inside."""
    env: gymnasium.Env[Any, Any] = gymnasium.make("gin_env/StraightGin-v0", opponent=OPPONENT)
    info = env.reset(seed=0)[1]
    actions = np.zeros(1, np.int64)
    seed = 0

    def play() -> int:
        nonlocal info, seed
        for _ in range(STEPS):
            seed += 1
            choose(info["action_mask"].reshape(1, -1), seed, actions)
            _, _, terminated, truncated, info = env.step(int(actions[0]))
            if terminated or truncated:
                info = env.reset()[1]
        return STEPS

    return play


def round_alone() -> Play:
    """`Round` without observations: the list of legal actions, and one of them done."""
    rng = random.Random(0)
    hand = gin_env.Round(seed=0)
    deal = 0

    def play() -> int:
        nonlocal hand, deal
        for _ in range(STEPS):
            if hand.over:
                deal += 1
                hand = gin_env.Round(seed=deal)
            legal = hand.legal_actions()
            hand.apply(legal[int(rng.random() * len(legal))])
        return STEPS

    return play


def sb3(games: int) -> Play:
    """Stable-Baselines3's VecEnv as a trainer drives it, fed with random legal actions."""
    from training.sb3_vec_env import GinVecEnv

    envs = GinVecEnv(games, opponent=OPPONENT, seed=0)
    envs.reset()
    actions = np.zeros(games, np.int64)
    seed = 0

    def play() -> int:
        nonlocal seed
        seed += 1
        choose(np.asarray(envs.env_method("action_masks")), seed, actions)
        envs.step(actions)
        return games

    return play


def bots(name: str) -> Play:
    """A bot against itself inside the kernel; counts hands."""
    player = policy(name)
    first = 0

    def play() -> int:
        nonlocal first
        play_out(deal_records(gin_env.Rules(), 0, first, HANDS), player, player)
        first += HANDS
        return HANDS

    return play


def workloads(with_sb3: bool) -> list[Workload]:
    """All of them; SB3's where that is installed."""
    found = [
        Workload(f"batched_{games}", f"VectorEnv(copy=False), both seats, games: {games:,}", partial(batched, games))
        for games in GAMES
    ]
    found += [
        Workload(
            f"batched_{games}_v_{OPPONENT}",
            f"VectorEnv(copy=False) v {OPPONENT}, games: {games:,}",
            partial(batched, games, OPPONENT),
        )
        for games in GAMES
    ]
    found += [
        Workload("vector_env_1024", "VectorEnv, both seats, games: 1,024", partial(batched, 1_024, copy=True)),
        Workload(
            f"vector_env_1024_v_{OPPONENT}", f"VectorEnv v {OPPONENT}, games: 1,024", partial(batched, 1_024, OPPONENT, True)
        ),
    ]
    if with_sb3:
        found.append(Workload(f"sb3_1024_v_{OPPONENT}", f"SB3 VecEnv v {OPPONENT}, games: 1,024", partial(sb3, 1_024)))
    found += [
        Workload(f"gymnasium_v_{OPPONENT}", f"Gymnasium environment v {OPPONENT}", single_agent),
        Workload("raw_env", "PettingZoo raw_env(), last() + step()", partial(turn_by_turn, True)),
        Workload("env", "PettingZoo env(), last() + step()", partial(turn_by_turn, False)),
        Workload("round", "Round, no observation", round_alone),
        Workload("choice_1024", "the random choice in these, alone", partial(choice, 1_024)),
    ]
    return found + [Workload(f"bots_{name}", f"{name} v {name}", partial(bots, name), "hands") for name in LADDER]
