"""Rules 1.3 to 1.5: melds, deadwood and gin discards, against golden values and the reference's exhaustive search."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gin_env.rules.cards import VALUES, card_text, cards_of, mask_of, parse_cards
from gin_env.rules.melds import best_melds, deadwood, gin_discard_mask, gin_discards, hand_deadwood
from tests.reference import melding

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parents[1] / "golden" / "melds.json").read_text())
CASES = pytest.mark.parametrize("case", GOLDEN["ten_cards"] + GOLDEN["eleven_cards"], ids=lambda case: str(case["name"]))
ELEVEN = pytest.mark.parametrize("case", GOLDEN["eleven_cards"], ids=lambda case: str(case["name"]))
BOTH = pytest.mark.parametrize("max_run", [None, 4])

# Cards of a few neighbouring ranks or of two suits, where melds are many and in each other's way, and any cards.
PACKS = [[13 * suit + low + rank for suit in range(4) for rank in range(4)] for low in range(10)]
PACKS += [list(range(low, low + 26)) for low in (0, 13, 26)]
PACKS += [list(range(52))]
HANDS = st.sampled_from(PACKS).flatmap(lambda pack: st.lists(st.sampled_from(pack), unique=True, max_size=11))
ELEVEN_CARDS = st.sampled_from(PACKS).flatmap(
    lambda pack: st.lists(st.sampled_from(pack), unique=True, min_size=11, max_size=11)
)


def golden(case: dict[str, Any], key: str, max_run: int | None) -> Any:
    return case[key if max_run is None else f"{key}_max_run_4"]


@BOTH
@CASES
def test_1_4_golden_deadwood(case: dict[str, Any], max_run: int | None) -> None:
    assert deadwood(case["cards"], max_run) == golden(case, "deadwood", max_run)
    assert deadwood(parse_cards(case["cards"]), max_run) == golden(case, "deadwood", max_run)


@BOTH
@pytest.mark.parametrize("case", GOLDEN["lay_off"], ids=lambda case: str(case["defender"]))
def test_1_4_golden_deadwood_of_defenders(case: dict[str, Any], max_run: int | None) -> None:
    assert deadwood(case["defender"], max_run) == case["deadwood_before"]


@BOTH
@ELEVEN
def test_3_1_golden_gin_discards(case: dict[str, Any], max_run: int | None) -> None:
    found = gin_discards(case["cards"], max_run)
    assert found == sorted(found)
    assert sorted(card_text(card) for card in found) == golden(case, "gin_discards", max_run)


@BOTH
@given(cards=HANDS)
@example(cards=list(range(11)))
@example(cards=list(range(20, 31)))  # king of hearts and ace of diamonds are neighbours by id
@settings(max_examples=500, deadline=None)
def test_1_4_deadwood_is_the_references(max_run: int | None, cards: list[int]) -> None:
    assert deadwood(cards, max_run) == melding.deadwood(cards, max_run)


@BOTH
@given(cards=ELEVEN_CARDS)
@settings(max_examples=150, deadline=None)
def test_3_1_gin_discards_are_the_references(max_run: int | None, cards: list[int]) -> None:
    assert gin_discards(cards, max_run) == melding.gin_discards(cards, max_run)


@BOTH
def test_3_1_gin_discards_of_hands_that_can_gin(max_run: int | None) -> None:
    """Three melds and a card more where they fill ten: random hands hardly ever can gin, most of these can."""
    chance = random.Random(0)
    melds = [mask_of(meld) for meld in melding.all_melds(frozenset(range(52)), max_run)]
    can_gin = tried = 0
    while tried < 400:
        one, two, three = chance.choices(melds, k=3)
        hand = one | two | three
        if hand.bit_count() == 10:
            hand |= 1 << chance.choice([card for card in range(52) if not hand >> card & 1])
        if hand.bit_count() == 11:
            tried += 1
            found = gin_discards(cards_of(hand), max_run)
            assert found == melding.gin_discards(cards_of(hand), max_run)
            can_gin += found != []
    assert 200 < can_gin < 400


@BOTH
@given(cards=HANDS)
@settings(max_examples=300, deadline=None)
def test_1_3_best_melds_is_an_arrangement_of_least_deadwood(max_run: int | None, cards: list[int]) -> None:
    melds, left = best_melds(cards, max_run)
    assert sorted([*left, *(card for meld in melds for card in meld)]) == sorted(cards)  # each card once
    allowed = melding.all_melds(frozenset(range(52)), max_run)
    assert all(frozenset(meld) in allowed and list(meld) == sorted(meld) for meld in melds)
    assert sum(VALUES[card % 13] for card in left) == melding.deadwood(cards, max_run)
    assert list(left) == sorted(left)


@CASES
def test_best_melds_of_golden_hands(case: dict[str, Any]) -> None:
    for max_run in (None, 4):
        _, left = best_melds(case["cards"], max_run)
        assert sum(VALUES[card % 13] for card in left) == golden(case, "deadwood", max_run)


def test_best_melds_keeps_a_long_run_whole() -> None:
    assert [len(meld) for meld in best_melds("4D 5D 6D 7D 8D 9D TD JD QD KD")[0]] == [10]
    assert [len(meld) for meld in best_melds("4D 5D 6D 7D 8D 9D TD JD QD KD", max_run=4)[0]] == [4, 3, 3]


def test_1_2_the_ace_is_low_only() -> None:
    assert deadwood("AH 2H 3H") == 0
    assert deadwood("QH KH AH") == 21
    assert deadwood("KH AH 2H") == 13
    assert deadwood("KS AH 2H") == 13  # ids 12, 13, 14


def test_1_3_a_run_of_five_cannot_be_split_under_max_run_4() -> None:
    assert deadwood("5H 6H 7H 8H 9H") == 0
    assert deadwood("5H 6H 7H 8H 9H", 4) == 5
    assert deadwood("5H 6H 7H 8H 9H TH", 4) == 0


@pytest.mark.parametrize("cards", ["", "AS", "KC KD QH QS JC JD TH TS 9C 9D 8H"])
def test_any_number_of_cards_up_to_eleven(cards: str) -> None:
    total = sum(VALUES[card % 13] for card in parse_cards(cards))
    assert deadwood(cards) == total
    assert best_melds(cards) == ([], tuple(sorted(parse_cards(cards))))


def test_compiled_functions_take_masks() -> None:
    hand = np.uint64(mask_of(parse_cards("5H 6H 7H 8H 9H KC KD KS 2C 2D 2S")))
    assert [int(hand_deadwood(hand, limit)) for limit in (0, 1)] == [0, 5]
    assert {int(gin_discard_mask(hand, limit)) for limit in (0, 1)} == {mask_of(parse_cards("5H 9H"))}


# Bad input


@pytest.mark.parametrize("function", [deadwood, best_melds])
def test_twelve_cards_are_refused(function: Any) -> None:
    with pytest.raises(ValueError, match=r"12 cards \(AS 2S .*\): expected at most 11"):
        function(range(12))


@pytest.mark.parametrize("number", [0, 10, 12])
def test_gin_discards_takes_eleven(number: int) -> None:
    with pytest.raises(ValueError, match=rf"{number} cards .*: expected 11"):
        gin_discards(range(number))


@pytest.mark.parametrize("function", [deadwood, best_melds, gin_discards])
@pytest.mark.parametrize("max_run", [3, 5, 0, 1, True, False, "4", -4, 4.5])
def test_max_run_is_none_or_4(function: Any, max_run: Any) -> None:
    with pytest.raises(ValueError, match=r"max_run=.*expected None .* or 4") as error:
        function(range(11), max_run)
    assert repr(max_run) in str(error.value)


@pytest.mark.parametrize("function", [deadwood, best_melds, gin_discards])
@pytest.mark.parametrize(
    ("cards", "message"),
    [
        ("AS 2S 3S 4S 5S 6S 7S 8S 9S TS XX", "'XX' is no card"),
        ("AS 2S 3S 4S 5S 6S 7S 8S 9S TS AS", "AS stands twice"),
        ([*range(10), 52], "52 is no card id"),
        ([*range(10), -1], "-1 is no card id"),
        ([*range(10), 9], "TS stands twice"),
        ([*range(10), True], "True is no card id"),
        ([*range(10), 10.0], r"10\.0 is no card id"),
    ],
)
def test_cards_that_are_none(function: Any, cards: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        function(cards)
