"""The observation, column by column, against a slow re-encoding of the View's own fields."""

import random
from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import pytest

from gin_env.observation import (
    BLOCKS,
    OBSERVATION_VERSION,
    OFFSETS,
    WIDTH,
    action_masks_of,
    column_names,
    index_page,
    observations_of,
)
from gin_env.round import Round
from gin_env.rules.actions import PASS, TAKE
from gin_env.rules.cards import card_text
from gin_env.rules.ruleset import Rules
from gin_env.rules.state import PHASES
from gin_env.rules.view import VIEW, View
from tests.hands import PLAYERS, RULE_SETS, play, positions

TURN_STEPS = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 160, 200]
BONUS_STEPS = [1, 10, 20, 25, 30, 50, 100]
# Zeros in a single hand.
MATCH_BLOCKS = {
    "own_score": 25,
    "opponent_score": 25,
    **{f"game_{game}_{who}": 16 for game in (1, 2, 3) for who in ("own_need", "opponent_need")},
    "games_open": 3,
    "rounds_left": 12,
    "deals_left": 3,
    "match": 3,
    "next_dealer": 2,
    "target": 7,
}


def one_hot(cards: Iterable[int | None]) -> list[bool]:
    held = set(cards)
    return [card in held for card in range(52)]


def thermometer(amount: int, steps: Iterable[int]) -> list[bool]:
    return [amount >= step for step in steps]


def discard_bits(view: View, back: int) -> list[bool]:
    if back >= len(view.recent):
        return [False] * 18
    card, by = view.recent[back]
    return [
        *(card % 13 == rank for rank in range(13)),
        *(card // 13 == suit for suit in range(4)),
        by == 1,
    ]


def rule_bits(rules: Rules) -> list[bool]:
    flags = [
        rules.knock_limit is not None,
        rules.oklahoma,
        rules.big_gin_bonus is not None,
        rules.max_run is not None,
        rules.stock_end == "reshuffle",
        rules.opening_offer,
        rules.may_return_upcard,
        rules.last_discard_option,
        rules.gin_discard_face_down,
    ]
    return [
        *flags,
        *thermometer(rules.knock_limit or 0, range(1, 11)),
        *thermometer(rules.gin_bonus, BONUS_STEPS),
        *thermometer(rules.big_gin_bonus or 0, BONUS_STEPS),
        *thermometer(rules.undercut_bonus or 0, BONUS_STEPS),
    ]


def expected_blocks(view: View, rules: Rules) -> dict[str, list[bool]]:
    """Every block, from what the View says; columns left out are zero."""
    return {
        "hand": one_hot(view.hand),
        "upcard": one_hot([view.upcard]),
        "buried": one_hot(view.buried),
        "opponent_known": one_hot(view.known[1]),
        "own_known": one_hot(view.known[0]),
        "taken": one_hot([view.taken]),
        "own_shed": one_hot(view.shed[0]),
        "opponent_shed": one_hot(view.shed[1]),
        "own_refused": one_hot(view.refused[0]),
        "opponent_refused": one_hot(view.refused[1]),
        **{f"discard_{back}": discard_bits(view, back) for back in range(8)},
        "phase": [view.phase == phase for phase in ("offer", "stock", "draw", "discard", "last", "last_out", "over")],
        "my_turn": [view.to_act == 0],
        "went_first": [view.first == 0],
        "stock": thermometer(view.stock, range(1, 32)),
        "turns_left": thermometer(rules.turn_limit - view.turns, TURN_STEPS),
        "rules": rule_bits(rules),
    }


@pytest.mark.parametrize("name", RULE_SETS)
def test_every_column(name: str) -> None:
    """For both seats at random positions of every kind."""
    chance = random.Random(name)
    rules = RULE_SETS[name]
    ever = np.zeros(WIDTH, bool)
    for hand in positions(rules, 5 * len(PLAYERS)):
        if chance.random() < 0.8 and hand.phase in ("draw", "discard"):
            continue
        for seat in (0, 1):
            view, row = hand.view(seat), hand.observation(seat)
            expected = np.zeros(WIDTH, np.int8)
            for block, bits in expected_blocks(view, rules).items():
                expected[OFFSETS[block] : OFFSETS[block] + len(bits)] = bits
            wrong = [column_names()[column] for column in np.flatnonzero(row != expected)]
            assert not wrong, (seat, hand.actions)
            ever |= row > 0
    for block, _, columns in BLOCKS:  # nothing went unseen
        if len(columns) == 52:
            assert ever[OFFSETS[block] : OFFSETS[block] + 52].sum() > 35, block


def test_shape() -> None:
    assert WIDTH == len(column_names()) == 960
    assert OBSERVATION_VERSION == 1
    row = Round(seed=0).observation(0)
    assert row.shape == (960,)
    assert row.dtype == np.int8
    assert row.flags.c_contiguous


def test_blocks_follow_one_another() -> None:
    names = [name for name, _, _ in BLOCKS]
    assert list(OFFSETS) == names
    assert len(set(names)) == len(names)
    assert OFFSETS["hand"] == 0
    for (name, _, columns), (following, _, _) in pairwise(BLOCKS):
        assert OFFSETS[following] == OFFSETS[name] + len(columns)
    assert OFFSETS[names[-1]] + len(BLOCKS[-1][2]) == WIDTH


def test_column_names() -> None:
    names = column_names()
    assert len(set(names)) == 960
    assert names[:52] == [f"hand: {card_text(card)}" for card in range(52)]
    assert names[OFFSETS["discard_3"] + 17] == "discard_3: by the opponent"
    assert names[OFFSETS["phase"] : OFFSETS["phase"] + 7] == [f"phase: {phase}" for phase in PHASES]
    assert names[OFFSETS["stock"] + 30] == "stock: >= 31"


def test_the_page_has_every_block_and_column_range() -> None:
    rows = [line for line in index_page().splitlines() if line.startswith("|")][2:]
    assert len(rows) == len(BLOCKS)
    for row, (name, meaning, columns) in zip(rows, BLOCKS, strict=True):
        first, last = OFFSETS[name], OFFSETS[name] + len(columns) - 1
        assert row.startswith(f"| {first} |" if len(columns) == 1 else f"| {first}-{last} |")
        assert f"| `{name}` | {meaning} |" in row


@pytest.mark.parametrize("block", [*MATCH_BLOCKS, "spare"])
def test_match_and_spare_blocks_are_zero_in_a_single_hand(block: str) -> None:
    width = {name: len(columns) for name, _, columns in BLOCKS}[block]
    assert width == MATCH_BLOCKS.get(block, width)
    for name in RULE_SETS:
        for hand in positions(RULE_SETS[name], 1):
            for seat in (0, 1):
                assert not hand.observation(seat)[OFFSETS[block] : OFFSETS[block] + width].any()


def test_rules_block_is_64_wide_with_what_is_spare() -> None:
    widths = {name: len(columns) for name, _, columns in BLOCKS}
    assert widths["rules"] + widths["spare"] == 64


@pytest.mark.parametrize("name", RULE_SETS)
def test_action_mask_is_the_legal_actions(name: str) -> None:
    chance = random.Random(name)
    for hand in positions(RULE_SETS[name], 3 * len(PLAYERS)):
        if chance.random() < 0.5:
            continue
        for seat in (0, 1):
            mask = hand.action_mask(seat)
            assert mask.shape == (108,)
            assert mask.dtype == np.int8
            legal = hand.legal_actions() if seat == hand.player else []
            assert mask.tolist() == [int(action in legal) for action in range(108)]
            assert hand.view(seat).legal == legal


def test_action_mask_of_any_legal_actions() -> None:
    chance = random.Random(0)
    views = np.zeros(500, VIEW)
    legal = [sorted(chance.sample(range(108), chance.randrange(109))) for _ in views]
    for view, actions in zip(views["legal"], legal, strict=True):
        view["others"] = sum(1 << action for action in actions if action < 4)
        view["discards"] = sum(1 << action - 4 for action in actions if 4 <= action < 56)
        view["goes_out"] = sum(1 << action - 56 for action in actions if action >= 56)
    assert [mask.nonzero()[0].tolist() for mask in action_masks_of(views)] == legal


def test_batches_are_rows_of_single_ones() -> None:
    """The rows of a batch don't depend on each other, whatever stood in the memory before."""
    hands = [hand.clone() for hand in positions(RULE_SETS["all"], 3)][::7]
    views = np.concatenate([hand.view(seat).data for hand in hands for seat in (0, 1)])
    rows = observations_of(views)
    masks = action_masks_of(views)
    assert rows.tobytes() == b"".join(hand.observation(seat).tobytes() for hand in hands for seat in (0, 1))
    assert masks.tobytes() == b"".join(hand.action_mask(seat).tobytes() for hand in hands for seat in (0, 1))
    assert set(np.unique(rows)) == set(np.unique(masks)) == {0, 1}
    assert observations_of(views[:0]).shape == (0, 960)


def test_turns_left_falls_with_the_turns() -> None:
    hand = Round(Rules(turn_limit=5, opening_offer=True), seed=1)
    left = []
    play(hand, PASS)
    while not hand.over:
        left.append(int(hand.observation(0)[OFFSETS["turns_left"] : OFFSETS["turns_left"] + 16].sum()))
        play(hand, TAKE)
        play(hand, hand.legal_actions()[0])
    left.append(int(hand.observation(0)[OFFSETS["turns_left"] : OFFSETS["turns_left"] + 16].sum()))
    assert left == [4, 4, 3, 2, 1, 0]
