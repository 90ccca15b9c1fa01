"""Non-interference: what a seat can't know changes nothing that an environment shows it, to the byte.

At every position of some hands all that the seat can't know is dealt anew inside a copy of the environment, which is then asked
again for all it shows.
"""

import copy
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gin_env import VectorEnv, straight_gin_v0
from gin_env.envs import aec
from gin_env.envs.lanes import Lanes
from gin_env.envs.single_agent import StraightGinEnv
from gin_env.envs.stepping import ACT, OBSERVE, SETTLE
from gin_env.rules.actions import ACTIONS, DISCARD, GO_OUT, TAKE
from gin_env.rules.determinize import redeal_first
from tests.envs.player import Player, decide, decide_one, same

PRESET = pytest.mark.parametrize("rules", ["straight", "gin_only", "big_gin"])
AGENTS = ("player_0", "player_1")
HANDS = 6


def action_for(observation: Any, mask: Any, chance: random.Random) -> int:
    """Sense, with some chance in it, so that positions are of all kinds and hands still end."""
    if chance.random() < 0.15:
        legal: list[int] = mask.nonzero()[0].tolist()
        return chance.choice(legal)
    return decide_one(observation, mask)


def redeal(records: Any, seat: int, seed: int) -> None:
    """Deal anew what the seat can't know of the first of some records, and see that cards have moved."""
    before = records["hidden"]["hands"][0].tobytes(), records["hidden"]["deck"][0].tobytes()
    redeal_first(records, seat, np.uint64(seed))
    assert (records["hidden"]["hands"][0].tobytes(), records["hidden"]["deck"][0].tobytes()) != before


# AEC


def aec_positions(make: Any, rules: str) -> Iterator[Any]:
    """The environment before each decision of some hands, and when they are over."""
    environment = make(rules=rules, render_mode="ansi")
    for seed in range(HANDS):
        chance = random.Random(seed)
        environment.reset(seed=seed)
        while not any(environment.terminations.values()):
            yield environment
            shown = environment.observe(environment.agent_selection)
            environment.step(action_for(shown["observation"], shown["action_mask"], chance))
        yield environment


def shown_by_aec(environment: Any, seat: int) -> Any:
    """All that the environment shows an agent in a hand, its infos worked out anew."""
    raw = environment.unwrapped
    is_open = not any(environment.terminations.values())
    to_act = environment.agent_selection if is_open else None
    if to_act is not None:
        mask = np.empty(ACTIONS, np.int8)
        raw._select(aec._mask(raw._records, mask), mask)
    agent = AGENTS[seat]
    drawn = environment.render() if to_act == agent else None
    infos = environment.infos[agent] if is_open else None
    return environment.observe(agent), infos, drawn, environment.agent_selection, dict(environment.rewards)


@PRESET
@pytest.mark.parametrize("make", [straight_gin_v0.raw_env, straight_gin_v0.env], ids=["raw_env", "env"])
def test_aec_shows_an_agent_nothing_it_cannot_know(make: Any, rules: str) -> None:
    """Neither the one to act nor the other; nor when the hand is over, a face-down gin discard included."""
    for at, environment in enumerate(aec_positions(make, rules)):
        for seat in (0, 1):
            twin = copy.deepcopy(environment)
            redeal(twin.unwrapped._records, seat, at)
            assert same(shown_by_aec(twin, seat), shown_by_aec(environment, seat))


@PRESET
def test_aec_steps_that_show_nothing_new_show_nothing_new(rules: str) -> None:
    """After taking the upcard or discarding, the agent knows as much of the rest as before."""
    compared = 0
    for at, environment in enumerate(aec_positions(straight_gin_v0.env, rules)):
        if any(environment.terminations.values()):
            continue
        agent = environment.agent_selection
        seat = AGENTS.index(agent)
        for action in environment.observe(agent)["action_mask"].nonzero()[0].tolist():
            if action != TAKE and not DISCARD <= action < GO_OUT:
                continue
            one, other = copy.deepcopy(environment), copy.deepcopy(environment)
            redeal(other.unwrapped._records, seat, at)
            one.step(action)
            other.step(action)
            if any(one.terminations.values()):  # dead: both deadwoods are told
                assert same(one.observe(agent), other.observe(agent))
                continue
            compared += 1
            for env in (one, other):
                assert not any(env.terminations.values())
            assert same(one.observe(agent), other.observe(agent))
            assert same(one.infos[agent], other.infos[agent])
            assert same((one.agent_selection, one.rewards), (other.agent_selection, other.rewards))
    assert compared > 500


# Gymnasium


def observe_anew(lanes: Lanes) -> None:
    """Write all that is observed from the records as they now stand."""
    for shown in (lanes.observations, lanes.masks):
        shown[:] = -1
    lanes._lanes["seen"] = -1
    lanes._run(OBSERVE, lanes._no_actions)


@PRESET
@pytest.mark.parametrize("opponent", ["greedy", Player()], ids=["compiled", "plain"])
def test_gymnasium_shows_the_learner_nothing_it_cannot_know(rules: str, opponent: Any) -> None:
    environment = StraightGinEnv(rules, opponent=opponent, render_mode="ansi")
    compared = 0
    for seed in range(3 * HANDS):
        chance = random.Random(seed)
        observation, info = environment.reset(seed=seed)
        ended = False
        while True:
            twin = copy.deepcopy(environment)
            redeal(twin._lanes.records, int(twin._lanes.seats[0]), seed)
            observe_anew(twin._lanes)
            again, again_info = twin._observed()
            assert same(again, observation)
            compared += 1
            if ended:
                break
            assert same(again_info, info)
            assert twin.render() == environment.render()
            assert same(twin.action_masks(), environment.action_masks())
            observation, _, terminated, truncated, info = environment.step(action_for(observation, info["action_mask"], chance))
            ended = terminated or truncated
    assert compared > 150


# VectorEnv


@PRESET
@pytest.mark.parametrize("opponent", [None, "greedy", Player()], ids=["both seats", "compiled", "plain"])
def test_vector_shows_the_acting_seat_nothing_it_cannot_know(rules: str, opponent: Any) -> None:
    lanes = 5
    environment = VectorEnv(lanes, rules, opponent=opponent, seed=3)
    observations, infos = environment.reset()
    for step in range(80):
        twin = copy.deepcopy(environment)
        for lane in range(lanes):
            redeal(twin._lanes.records[lane:], int(infos["seat"][lane]), step)
        observe_anew(twin._lanes)
        again, again_infos = twin._observed()
        assert same(again, observations)
        assert same(again_infos, {name: infos[name] for name in ("action_mask", "seat")})
        assert same(twin.action_masks(), environment.action_masks())
        observations, _, _, _, infos = environment.step(decide(observations, infos["action_mask"]))


@PRESET
@pytest.mark.parametrize("opponent", [None, "greedy"], ids=["both seats", "opponent"])
def test_vector_final_observations_show_no_more_than_the_table(rules: str, opponent: Any) -> None:
    """The last observation of a hand is the same whatever the opponent holds, a face-down gin discard included."""
    lanes = 16
    environment = VectorEnv(lanes, rules, opponent=opponent, seed=3)
    observations, infos = environment.reset()
    ends = 0
    for step in range(60):
        twin = copy.deepcopy(environment)._lanes
        actions = decide(observations, infos["action_mask"])
        observations, _, terminated, truncated, infos = environment.step(actions)
        ended = np.flatnonzero(terminated | truncated)
        twin._run(ACT, actions)
        for lane in ended.tolist():
            ends += 1
            redeal(twin.records[lane:], int(infos["final_info"]["seat"][lane]), step)
        assert twin._run(SETTLE, actions).tolist() == ended.tolist()
        assert same(list(twin.final_observations), list(infos["final_obs"][ended]) if len(ended) else [])
    assert ends > 15
