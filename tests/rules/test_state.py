"""The game record: its bytes, the 52 cards in it, what is legal in it, and illegal actions."""

import random
from typing import Any

import numpy as np
import pytest

from gin_env.round import Round
from gin_env.rules.actions import ACTIONS, IllegalAction, action_text
from gin_env.rules.phases import is_legal
from gin_env.rules.ruleset import RULES
from gin_env.rules.state import HIDDEN, LEGAL, PHASES, PUBLIC, RECORD
from gin_env.rules.view import VIEW
from tests.hands import ALMOST, LOSER, PLAYERS, RULE_SETS, WINNER, conserved, dealt, decisions, play, positions

EVERY_RULE_SET = pytest.mark.parametrize("name", RULE_SETS)


def size_of_fields(dtype: np.dtype[Any]) -> int:
    """Bytes that the fields take, without any between them."""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return size_of_fields(base) * int(np.prod(shape))
    if dtype.fields is None:
        return dtype.itemsize
    return sum(size_of_fields(field[0]) for field in dtype.fields.values())


@pytest.mark.parametrize("dtype", [RULES, PUBLIC, LEGAL, HIDDEN, RECORD, VIEW], ids=lambda dtype: str(dtype.itemsize))
def test_no_padding(dtype: np.dtype[Any]) -> None:
    """Bytes of padding are undefined, and views and records are compared by their bytes."""
    assert size_of_fields(dtype) == dtype.itemsize


@pytest.mark.parametrize("player", PLAYERS)
@EVERY_RULE_SET
def test_the_52_cards_stay(name: str, player: str) -> None:
    for seed in range(3):
        for hand in decisions(RULE_SETS[name], seed, player):
            assert conserved(hand), hand.actions
            sizes = [len(cards) for cards in hand.hands]
            drawn = hand.phase in ("discard", "last_out") or hand.outcome == "big_gin"
            who = hand.winner if hand.over else hand.player
            assert sizes == [10 + (drawn and seat == who) for seat in (0, 1)]
        assert hand.over


@EVERY_RULE_SET
def test_legal_is_what_apply_accepts(name: str) -> None:
    """At some decisions of random hands, all 108 actions are tried: the legal ones and no others are done."""
    chance = random.Random(name)
    phases = set()
    for hand in positions(RULE_SETS[name], 5 * len(PLAYERS)):
        if chance.random() < 0.93 and hand.phase in ("draw", "discard"):
            continue
        phases.add(hand.phase)
        before = hand._records.tobytes()
        accepted = []
        for action in range(ACTIONS):
            twin = hand.clone()
            try:
                twin.apply(action)
            except IllegalAction:
                assert twin._records.tobytes() == before
                assert twin.actions == hand.actions
            else:
                assert twin._records.tobytes() != before
                accepted.append(action)
        assert accepted == hand.legal_actions()
        assert hand._records.tobytes() == before
        assert (accepted == []) == hand.over
        for seat in (0, 1):
            assert hand.action_mask(seat).nonzero()[0].tolist() == (accepted if seat == hand.player else [])
    assert {"draw", "discard", "over"} <= phases
    assert ({"last", "last_out"} <= phases) == RULE_SETS[name].last_discard_option


def test_is_legal_takes_any_integer() -> None:
    """Also where a card's bit would wrap round."""
    hand = play(dealt("big_gin", WINNER, LOSER, stock="4S"), 0)
    legal = [action for action in range(-200, 300) if is_legal(hand._records[0]["hidden"]["legal"], action)]
    assert legal == hand.legal_actions()


@pytest.mark.parametrize("action", [-1, 108, 2**31, 2**64, True, False, 0.0, "0", None, np.float64(1), np.bool_(True)])
def test_what_is_no_action_is_illegal(action: Any) -> None:
    hand = Round(seed=1)
    before = hand._records.tobytes()
    with pytest.raises(IllegalAction) as error:
        hand.apply(action)
    assert repr(action) in str(error.value)
    assert "expected an integer 0..107" in str(error.value)
    assert (hand._records.tobytes(), hand.actions) == (before, ())


def test_numpy_integers_are_actions() -> None:
    for kind in (np.int8, np.int64, np.uint8):
        hand = Round(seed=1)
        hand.apply(kind(0))  # type: ignore[arg-type]  # an environment's space samples these
        assert hand.actions == (0,)
        assert type(hand.actions[0]) is int


@pytest.mark.parametrize(
    ("actions", "illegal", "phase"),
    [((), 2, "draw"), ((), 4, "draw"), ((0,), 0, "discard"), ((0,), 3, "discard"), ((0,), 56, "discard")],
)
def test_illegal_action_names_value_phase_and_what_is_legal(actions: tuple[int, ...], illegal: int, phase: str) -> None:
    hand = play(dealt("straight", ALMOST, "KH KC QC QD JH JD TH TC 9C 9D"), *actions)
    with pytest.raises(IllegalAction) as error:
        hand.apply(illegal)
    message = str(error.value)
    assert f"{illegal} ({action_text(illegal)})" in message
    assert phase in PHASES
    assert repr(phase) in message
    assert all(f"{action} {action_text(action)}" in message for action in hand.legal_actions())
    assert isinstance(error.value, ValueError)


def test_nothing_is_legal_when_the_hand_is_over() -> None:
    hand = play(dealt("straight", WINNER, LOSER, stock="4S"), 0, 56 + 3)
    assert hand.over
    assert hand.legal_actions() == []
    with pytest.raises(IllegalAction, match="phase 'over'; legal: nothing: the hand is over"):
        hand.apply(0)


@pytest.mark.parametrize("action", [-1, 108, 3.0, True, "0", None])
def test_action_text_of_what_is_none(action: Any) -> None:
    with pytest.raises(ValueError, match=r"is no action: expected an integer 0\.\.107") as error:
        action_text(action)
    assert repr(action) in str(error.value)


def test_action_text() -> None:
    assert [action_text(action) for action in range(4)] == ["draw the stock", "take the upcard", "pass", "big gin"]
    assert (action_text(4), action_text(55), action_text(56), action_text(107)) == (
        "discard AS",
        "discard KC",
        "discard AS and go out",
        "discard KC and go out",
    )
