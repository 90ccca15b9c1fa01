"""What every environment shares: its arguments' checks, spaces, rewards, and the last info of an episode."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from gin_env.observation import WIDTH
from gin_env.round import checked_deck, checked_seat
from gin_env.rules.actions import ACTIONS
from gin_env.rules.melds import MOST_DEADWOOD, hand_deadwood
from gin_env.rules.ruleset import Rules
from gin_env.rules.state import OUTCOMES

MATCHES = ("hand",)
OBSERVATIONS = ("bits",)
REWARDS = ("points", "win")
RENDER_MODES = ("human", "ansi")


def checked_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    """Raise a ValueError that names the argument unless the value is one of the choices, of the same type."""
    if not any(type(value) is type(choice) and value == choice for choice in choices):
        raise ValueError(f"{name}={value!r}: expected one of {', '.join(map(repr, choices))}")


def checked_reward(name: str, value: object) -> float:
    """The reward as a float, or a ValueError that names the argument."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not np.isfinite(value):
        raise ValueError(f"{name}={value!r}: expected a finite number")
    return float(value)


def checked_mapping(options: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The options of a reset, or a ValueError if they are no mapping."""
    if options is not None and not isinstance(options, Mapping):
        raise ValueError(f"options={options!r}: expected None or a mapping such as {{'first_player': 0}}")
    return options or {}


def checked_options(options: Mapping[str, Any] | None) -> tuple[list[int] | None, int | None]:
    """The deck and first player that a reset asks for.

    Raises:
        ValueError: a known option with a bad value. An unknown option is a warning only: PettingZoo's own tests send one.
    """
    options = checked_mapping(options)
    for name in options:
        if name not in ("deck", "first_player"):
            warnings.warn(f"reset option {name!r} is unknown and ignored: known are deck, first_player", stacklevel=3)
    deck, first_player = options.get("deck"), options.get("first_player")
    return (
        None if deck is None else checked_deck(deck),
        None if first_player is None else checked_seat(first_player, "first_player"),
    )


def observation_box() -> spaces.Box[np.int8]:
    """The space of the flat observation."""
    return spaces.Box(0, 1, (WIDTH,), np.int8)


def observation_dict() -> spaces.Dict:
    """The space of observation and action mask together."""
    return spaces.Dict(observation=observation_box(), action_mask=spaces.Box(0, 1, (ACTIONS,), np.int8))


def default_illegal_reward(rules: Rules, reward: str) -> float:
    """The reward of an illegal action: no better than the worst loss."""
    if reward == "win":
        return -1.0
    return -float(MOST_DEADWOOD + max(rules.gin_bonus, rules.big_gin_bonus or 0, rules.undercut_bonus or 0))


def deadwoods(record: NDArray[np.void]) -> tuple[int, int]:
    """Both seats' deadwood at the end of a hand (an array of one record)."""
    limit = int(record["public"]["rules"]["meld_limit"][0])
    first, second = (int(hand_deadwood(hand, limit)) for hand in record["hidden"]["hands"][0])
    return first, second


def ending(record: NDArray[np.void]) -> dict[str, Any]:
    """What the last info of an episode says of the hand (an array of one record)."""
    public = record["public"]
    return {
        "outcome": OUTCOMES[public["outcome"][0]],
        "scores": tuple(int(score) for score in public["scores"][0]),
        "turns": int(public["turns"][0]),
        "deadwood": deadwoods(record),
    }
