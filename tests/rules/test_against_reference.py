"""The compiled engine is held to the slow reference engine, decision by decision to the end of the hand."""

import random
from typing import Any

import pytest

from gin_env.policies.registry import policy
from gin_env.round import Round
from gin_env.rules.ruleset import Rules
from tests.positions import bot_action
from tests.reference.engine import Game

RULE_SETS = {
    "straight": Rules.preset("straight"),
    "gin_only": Rules.preset("gin_only"),
    "big_gin": Rules.preset("big_gin"),
    "offer": Rules(opening_offer=True),
    "offer, return, last discard": Rules(opening_offer=True, may_return_upcard=True, last_discard_option=True),
    "last discard": Rules(last_discard_option=True),
    "last discard, big gin": Rules.preset("big_gin").replace(last_discard_option=True, opening_offer=True),
    "big gin face up": Rules(big_gin_bonus=50, turn_limit=25),
    "face down, return": Rules(gin_discard_face_down=True, may_return_upcard=True, turn_limit=12),
}


def check_hand(name: str, seed: int, player: str) -> None:
    """Play one hand in both engines and compare everything a caller can see."""
    rules = RULE_SETS[name]
    fast = Round(rules, seed=seed)
    assert fast.deck is not None
    slow = Game(rules, list(fast.deck), fast.first_player)
    chance = random.Random(seed)
    bot = None if player == "random" else policy(player)
    while not slow.over:
        where = f"{name}, seed {seed}, {player}, after {fast.actions}"
        assert fast.player == slow.player, where
        assert fast.legal_actions() == slow.legal_actions(), where
        for seat in (0, 1):
            assert as_dict(fast, seat) == slow.view(seat), where
        illegal = chance.randrange(108)
        if illegal not in slow.legal_actions():
            with pytest.raises(ValueError, match="illegal action"):
                fast.apply(illegal)
        action = chance.choice(slow.legal_actions()) if bot is None else bot_action(fast, bot, chance)
        fast.apply(action)
        slow.apply(action)
    where = f"{name}, seed {seed}, {player}, after {fast.actions}"
    assert (fast.over, fast.player, fast.legal_actions()) == (True, None, []), where
    assert (fast.outcome, fast.scores, fast.turns) == (slow.outcome, slow.scores, slow.turns), where
    assert fast.hands == tuple(tuple(sorted(hand)) for hand in slow.hands), where
    assert (fast.stock, fast.upcard) == (len(slow.stock), slow.pile[-1] if slow.pile else None), where
    for seat in (0, 1):
        assert as_dict(fast, seat) == slow.view(seat), where
    slow.check_conservation()


def as_dict(hand: Round, seat: int) -> dict[str, Any]:
    """A View in the reference's form."""
    view = hand.view(seat)
    names = "hand upcard buried known shed refused recent taken phase to_act first stock turns outcome scores legal"
    return {name: getattr(view, name) for name in names.split()}


def check_hands(first: int, last: int) -> None:
    """Compare hands of every rule set, played at random and by every bot."""
    players = ("random", "novice", "simple", "greedy")
    for seed in range(first, last):
        for i, name in enumerate(RULE_SETS):
            check_hand(name, seed, players[(seed + i) % len(players)])


@pytest.mark.parametrize("part", range(4))
def test_engines_agree(part: int) -> None:
    """2,000 hands and more, over all rule sets."""
    check_hands(56 * part, 56 * (part + 1))


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_engines_agree_long(part: int) -> None:
    """20,000 hands and more, over all rule sets."""
    check_hands(1_000 + 560 * part, 1_000 + 560 * (part + 1))
