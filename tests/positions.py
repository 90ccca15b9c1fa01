"""Positions for tests: decisions of bots and hands played on to some point."""

import random

import numpy as np

from gin_env.policies.policy import Batch, Policy, checked_actions
from gin_env.round import Round
from gin_env.rules.state import PHASES


def batch_of(hand: Round, key: int) -> Batch:
    """The decision that is due in a hand, as a batch of one."""
    assert hand.player is not None, PHASES
    return Batch(hand.view(hand.player).data, np.zeros(1, np.int64), np.array([key], np.uint64))


def bot_action(hand: Round, bot: Policy, chance: random.Random) -> int:
    """A bot's action in the position, its randomness from `chance`."""
    return int(checked_actions(bot, batch_of(hand, chance.getrandbits(64)))[0])
