"""The guard against PettingZoo's three wrappers around the same environment: any calls in any order have the same effect."""

import warnings
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from pettingzoo.utils.env_logger import EnvLogger
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

from gin_env import Round, straight_gin_v0
from gin_env.rules.actions import ACTIONS
from tests.envs.player import decide_one, same

PENALTY = -99.0

calls = st.one_of(
    st.tuples(st.just("reset"), st.integers(0, 3)),
    st.tuples(st.just("play on"), st.integers(1, 200)),
    st.tuples(st.just("step legally"), st.integers(0, 10)),
    st.tuples(st.just("step"), st.integers(0, ACTIONS - 1)),
    st.tuples(st.just("step"), st.sampled_from([None, -1, ACTIONS, 10**30, 3.5, np.nan, "0", np.int8(0), np.array(1), [0]])),
    st.tuples(st.just("last"), st.booleans()),
    st.tuples(st.just("observe"), st.sampled_from(["player_0", "player_1", "player_2"])),
    st.tuples(st.just("iterate"), st.integers(1, 4)),
    st.tuples(
        st.just("look at"),
        st.sampled_from(
            [
                "rewards",
                "terminations",
                "truncations",
                "infos",
                "agent_selection",
                "num_agents",
                "agents",
                "_nothing",
                "nothing",
            ]
        ),
    ),
    st.tuples(st.just("call"), st.sampled_from(["state", "render", "__str__", "close"])),
)


def stock() -> Any:
    """PettingZoo's wrappers in PettingZoo's order."""
    return OrderEnforcingWrapper(
        AssertOutOfBoundsWrapper(TerminateIllegalWrapper(straight_gin_v0.raw_env(), illegal_reward=PENALTY))
    )


def done(environment: Any, name: str, value: Any) -> Any:
    """What a call returns, or the error it raises."""
    try:
        match name:
            case "reset":
                return environment.reset(seed=value)
            case "play on":
                for _ in range(value):
                    observation, _, terminated, truncated, _ = environment.last()
                    if terminated or truncated:
                        break
                    environment.step(decide_one(observation["observation"], observation["action_mask"]))
            case "step legally":
                agent = environment.agent_selection
                if environment.terminations[agent] or environment.truncations[agent]:
                    environment.step(None)
                else:
                    legal = np.flatnonzero(environment.infos[agent]["action_mask"])
                    environment.step(int(legal[value % len(legal)]))
            case "step":
                environment.step(value)
            case "last":
                return environment.last(value)
            case "observe":
                return environment.observe(value)
            case "iterate":
                agents = environment.agent_iter(value)
                return [agent for agent, _ in zip(agents, range(value), strict=False)]
            case "look at":
                return getattr(environment, value)
            case "call":
                return getattr(environment, value)()
    except Exception as error:
        return type(error)
    return None


def position(environment: Any) -> Any:
    """Where the environment stands, by PettingZoo's names."""
    raw = environment.unwrapped
    names = ("agents", "agent_selection", "rewards", "_cumulative_rewards", "terminations", "truncations")
    return {name: raw.__dict__.get(name) for name in names}


@settings(max_examples=300, deadline=None)
@given(st.lists(calls, max_size=30))
def test_the_guard_does_what_the_three_stock_wrappers_do(script: list[tuple[str, Any]]) -> None:
    guarded, wrapped = straight_gin_v0.env(illegal_reward=PENALTY), stock()
    ended_illegally = False
    for name, value in [*script, ("last", True)]:
        results, said = [], []
        for environment in (guarded, wrapped):
            EnvLogger.flush()
            with warnings.catch_warnings(record=True):
                results.append(done(environment, name, value))
            said.append(list(EnvLogger.mqueue))
        assert said[0] == said[1], (name, value)
        assert position(guarded) == position(wrapped), (name, value)
        if name == "reset":
            ended_illegally = False
        ended_illegally |= any("Illegal move" in line for line in said[0])
        # Ours is over then, the wrapped environment goes on underneath: what is seen of it differs.
        if not ended_illegally:
            assert same(results[0], results[1]), (name, value, results)


def test_a_hand_that_ends_illegally_is_over_for_the_guard_only() -> None:
    """The one difference, on purpose: no action is offered once the hand is over."""
    guarded, wrapped = straight_gin_v0.env(illegal_reward=PENALTY), stock()
    for environment in (guarded, wrapped):
        environment.reset(seed=0)
        environment.step(ACTIONS - 1)
        assert sorted(environment.rewards.values()) == [PENALTY, 0.0]
    assert not any(guarded.observe(agent)["action_mask"].any() for agent in guarded.agents)
    assert any(wrapped.observe(agent)["action_mask"].any() for agent in wrapped.agents)
    assert Round(seed=0).player is not None
