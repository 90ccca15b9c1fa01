"""Straight Gin as a PettingZoo environment.

Gin rummy in which nobody knocks: a hand ends only when a player goes gin or the stock is down to two cards.

| | |
|---|---|
| Agents | `player_0`, `player_1` (seats 0 and 1) |
| Actions | `Discrete(108)` |
| Observation | `Dict(observation=Box(0, 1, (960,), int8), action_mask=Box(0, 1, (108,), int8))` |
| Import | `from gin_env import straight_gin_v0` |
| Parallel API | by PettingZoo's turn-based conversion |

Observation: what the seat may know and nothing else, see `docs/observation.md` for every column. The action mask stands in the
observation and in `infos[agent]["action_mask"]`; it is all zeros for the agent that is not to act and when the hand is over.

Actions: 0 draw the stock, 1 take the upcard, 2 pass (the opening offer, the last-discard option), 3 big gin, 4-55 discard card
`action - 4`, 56-107 discard card `action - 56` and go out. Card id = 13 * suit + rank; suits S, H, D, C; ranks A .. K.

Rewards: zero until the hand ends. `reward="points"`: the hand's points, zero-sum: gin is worth the opponent's deadwood plus
a bonus. `reward="win"`: +1, 0, -1.

Termination: gin, big gin, or a dead hand terminates both agents on the same step; the turn limit truncates both.

Illegal actions: `raw_env` raises `IllegalAction` and changes nothing; `env` ends the game, with `illegal_reward` for the
offender.

>>> environment = env()
>>> environment.reset(seed=7)
>>> observation, reward, termination, truncation, info = environment.last()
>>> [int(action) for action in observation["action_mask"].nonzero()[0]]
[0, 1]
"""

from __future__ import annotations

from typing import Any

from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from gin_env.envs.aec import StraightGinAEC as raw_env  # noqa: N813  # PettingZoo's name for it
from gin_env.envs.episode import checked_reward, default_illegal_reward
from gin_env.envs.guard import Guard
from gin_env.rules.ruleset import Rules

__all__ = ["env", "parallel_env", "raw_env"]


def env(
    rules: str | Rules | dict[str, Any] = "straight",
    match: str = "hand",
    observation: str = "bits",
    reward: str = "points",
    render_mode: str | None = None,
    *,
    illegal_reward: float | None = None,
) -> AECEnv[str, Any, int]:
    """The environment with the checks of PettingZoo's usual wrappers: an illegal action ends the game, misuse is an error.

    Args:
        rules: a preset's name, a `Rules`, or a mapping of rule fields.
        match: "hand".
        observation: "bits".
        reward: "points" (of the hand, zero-sum) or "win" (+1, 0, -1).
        render_mode: None, "ansi" or "human".
        illegal_reward: the reward of whoever acts illegally; None: no better than the worst loss.

    Raises:
        ValueError: an argument out of its bounds.
    """
    raw = raw_env(rules, match, observation, reward, render_mode)
    if illegal_reward is None:
        illegal_reward = default_illegal_reward(raw.rules, raw.reward)
    return Guard(raw, checked_reward("illegal_reward", illegal_reward))


def parallel_env(**settings: Any) -> ParallelEnv[str, Any, int]:
    """The environment under PettingZoo's parallel API: both agents act each step, the action of the one off turn is ignored."""
    return turn_based_aec_to_parallel(env(**settings))
