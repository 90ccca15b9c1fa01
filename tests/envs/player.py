"""A player for tests that sees observation and action mask alone, so that it plays alike in every environment.

All is integers, so that an action depends on its own row only, whatever the batch. It plays well enough to go out often.
"""

from typing import Any

import numpy as np
from gymnasium.utils.env_checker import data_equivalence
from numpy.typing import NDArray

from gin_env.observation import OFFSETS
from gin_env.policies.policy import Batch, Policy
from gin_env.policies.registry import policy
from gin_env.rules.actions import ACTIONS, BIG_GIN, DISCARD, DRAW, GO_OUT, TAKE
from gin_env.rules.cards import VALUES


def _kinship(one: int, other: int) -> int:
    """How much two cards help each other towards a meld."""
    if one == other:
        return 0
    if one % 13 == other % 13:
        return 3
    apart = abs(one % 13 - other % 13)
    return 3 - apart if one // 13 == other // 13 and apart < 3 else 0


KINSHIP = np.array([[_kinship(one, other) for other in range(52)] for one in range(52)])
CARD_VALUES = np.array([VALUES[card % 13] for card in range(52)])


def decide(observations: NDArray[np.int8], masks: NDArray[np.int8]) -> NDArray[np.int64]:
    """One legal action for each row."""
    hands = observations[:, OFFSETS["hand"] :][:, :52].astype(np.int64)
    upcards = observations[:, OFFSETS["upcard"] :][:, :52].astype(np.int64)
    kin = hands @ KINSHIP
    worth = np.ones((len(hands), ACTIONS), np.int64)
    worth[:, DRAW] = 4
    worth[:, TAKE] = (upcards * kin).sum(axis=1)
    worth[:, DISCARD:GO_OUT] = 100 + CARD_VALUES - 4 * kin
    worth[:, GO_OUT:] = 1000
    worth[:, BIG_GIN] = 2000
    actions: NDArray[np.int64] = np.argmax(np.where(masks == 1, worth, -1000), axis=1)
    return actions


def decide_one(observation: NDArray[np.int8], mask: NDArray[np.int8]) -> int:
    """One legal action."""
    return int(decide(observation[None], mask[None])[0])


class Player(Policy):
    """The same player as a Policy without a compiled function."""

    name = "player"

    def act(self, batch: Batch) -> NDArray[np.int64]:
        return decide(batch.observations, batch.action_masks)


class Uncompiled(Policy):
    """A bot as a policy of plain Python: it has `act` and no compiled function."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.bot = policy(name)

    def act(self, batch: Batch) -> NDArray[np.int64]:
        return self.bot.act(batch)


def same(one: Any, other: Any) -> bool:
    """Equal in values, types and keys, arrays exactly."""
    return data_equivalence(one, other, exact=True)
