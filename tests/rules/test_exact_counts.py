"""Exact counts over all hands: melded hands, gin hands, hands that can gin, and the whole distribution of deadwood."""

import hashlib
import json
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gin_env.bits import count
from gin_env.compiled import jit
from gin_env.rules.melds import gin_discard_mask, hand_deadwood, meld_limit
from tests.reference.melding import RUNS, SETS

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parents[1] / "golden" / "melds.json").read_text())["exact_counts"]
BOTH = pytest.mark.parametrize(("key", "max_run"), [("max_run_none", None), ("max_run_4", 4)], ids=["any run", "max 4"])
MOST_DEADWOOD = 98
DISTRIBUTION_HASH = "86d4129b102e6940d86dec339836ea6efce096b1d4816eb14e6bfc5f8b02dc97"  # from the golden file's note


@cache
def melded_hands(max_run: int | None) -> dict[int, set[int]]:
    """Every hand of up to eleven cards made of melds alone, as a mask, with the numbers of sets it can be made with."""
    melds = [(sum(1 << card for card in run), 0) for run in RUNS if max_run is None or len(run) <= max_run]
    melds += [(sum(1 << card for card in same), 1) for same in SETS]
    hands: dict[int, set[int]] = {}

    def build(hand: int, sets: int, first: int) -> None:
        for index in range(first, len(melds)):
            meld, is_set = melds[index]
            more = hand | meld
            if not hand & meld and more.bit_count() <= 11:
                hands.setdefault(more, set()).add(sets + is_set)
                if more.bit_count() <= 8:
                    build(more, sets + is_set, index + 1)

    build(0, 0, 0)
    return hands


def melded(max_run: int | None, size: int) -> NDArray[np.uint64]:
    """The hands of a size without deadwood, rising."""
    return np.array(sorted(hand for hand in melded_hands(max_run) if hand.bit_count() == size), np.uint64)


def can_gin(max_run: int | None) -> NDArray[np.uint64]:
    """The eleven-card hands that can gin: a gin hand and any other card."""
    gin = melded(max_run, 10)
    more = [gin[gin & one == 0] | one for one in (np.uint64(1 << card) for card in range(52))]
    hands: NDArray[np.uint64] = np.sort(np.concatenate(more))  # np.unique takes thirty times as long
    new: NDArray[np.bool_] = np.append(True, hands[1:] != hands[:-1])
    return hands[new]


@jit
def without_deadwood(hands: NDArray[np.uint64], limit: int) -> int:
    """How many of the hands have no deadwood."""
    found = 0
    for hand in hands:
        found += hand_deadwood(hand, limit) == 0
    return found


@jit
def gins(hands: NDArray[np.uint64], limit: int) -> tuple[int, int, int]:
    """How many hands can gin, by how many discards in all, and how many of those discards don't leave gin."""
    can = discards = wrong = 0
    for hand in hands:
        found = gin_discard_mask(hand, limit)
        can += found != np.uint64(0)
        discards += count(found)
        while found:
            card = found & (~found + np.uint64(1))
            wrong += hand_deadwood(hand & ~card, limit) != 0
            found &= ~card
    return can, discards, wrong


@BOTH
def test_1_5_gin_hands(key: str, max_run: int | None) -> None:
    gin = melded(max_run, 10)
    assert len(gin) == without_deadwood(gin, meld_limit(max_run)) == GOLDEN["gin_hands_10"][key]


@BOTH
def test_1_5_gin_hands_by_number_of_sets(key: str, max_run: int | None) -> None:
    by_sets = [0, 0, 0, 0]
    for hand, sets in melded_hands(max_run).items():
        if hand.bit_count() == 10:
            (number,) = sets
            by_sets[number] += 1
    assert by_sets == GOLDEN["gin_hands_by_number_of_sets_0_1_2_3"][key]


@BOTH
def test_1_4_hands_of_three_to_nine_cards_without_deadwood(key: str, max_run: int | None) -> None:
    hands = [melded(max_run, size) for size in range(3, 10)]
    assert [len(some) for some in hands] == GOLDEN["zero_deadwood_hands_of_3_to_9_cards"][key]
    assert [without_deadwood(some, meld_limit(max_run)) for some in hands] == [len(some) for some in hands]


@BOTH
def test_3_3_melded_hands_of_eleven(key: str, max_run: int | None) -> None:
    """Eleven melded cards always leave an ordinary gin too."""
    hands = melded(max_run, 11)
    assert len(hands) == without_deadwood(hands, meld_limit(max_run)) == GOLDEN["fully_melded_11"][key]
    assert gins(hands, meld_limit(max_run))[0] == len(hands)


@BOTH
def test_3_1_hands_of_eleven_that_can_gin(key: str, max_run: int | None) -> None:
    """Each gin hand is left by the discard of any of the 42 other cards: no discard is missed."""
    hands = can_gin(max_run)
    assert len(hands) == GOLDEN["eleven_card_hands_that_can_gin"][key]
    assert gins(hands, meld_limit(max_run)) == (len(hands), 42 * GOLDEN["gin_hands_10"][key], 0)


# All hands. What a hand comes to does not change when suits change places, so only hands whose four suit patterns fall
# in value are looked at, each weighted by the number of different hands that it stands for.

PATTERNS = np.array(sorted(range(1 << 13), key=lambda pattern: (pattern.bit_count(), pattern)), np.int64)
STARTS = np.concatenate([[0], np.cumsum(np.bincount([int(pattern).bit_count() for pattern in PATTERNS]))])


def splits(total: int) -> NDArray[np.int64]:
    """All ways to share a number of cards out to four suits."""
    return np.array([split for split in product(range(total + 1), repeat=4) if sum(split) == total], np.int64)


@jit
def orders(p0: int, p1: int, p2: int, p3: int) -> int:
    """In how many different orders four suit patterns can stand, p0 >= p1 >= p2 >= p3."""
    first, second, third = p0 == p1, p1 == p2, p2 == p3
    if first and second and third:
        return 1
    if second and (first or third):
        return 4
    if first and third:
        return 6
    return 12 if first or second or third else 24


@jit
def deadwood_counts(
    patterns: NDArray[np.int64], starts: NDArray[np.int64], splits: NDArray[np.int64], limit: int, gin_only: bool
) -> NDArray[np.int64]:
    """How many of all hands have each deadwood; with `gin_only`, how many can gin (index 0) and cannot (index 1)."""
    counts = np.zeros(MOST_DEADWOOD + 11, np.int64)
    for s in range(len(splits)):
        n0, n1, n2, n3 = splits[s, 0], splits[s, 1], splits[s, 2], splits[s, 3]
        for p0 in patterns[starts[n0] : starts[n0 + 1]]:
            for p1 in patterns[starts[n1] : starts[n1 + 1]]:
                if p1 > p0:
                    break
                two = np.uint64(p0) | np.uint64(p1) << np.uint64(13)
                for p2 in patterns[starts[n2] : starts[n2 + 1]]:
                    if p2 > p1:
                        break
                    three = two | np.uint64(p2) << np.uint64(26)
                    for p3 in patterns[starts[n3] : starts[n3 + 1]]:
                        if p3 > p2:
                            break
                        hand = three | np.uint64(p3) << np.uint64(39)
                        at = int(gin_discard_mask(hand, limit) == 0) if gin_only else hand_deadwood(hand, limit)
                        counts[at] += orders(p0, p1, p2, p3)
    return counts


@pytest.mark.parametrize(("key", "max_run"), [("max_run_none", None), ("max_run_4", 4)])
def test_1_4_deadwood_of_all_hands_of_ten(key: str, max_run: int | None) -> None:
    counts = deadwood_counts(PATTERNS, STARTS, splits(10), meld_limit(max_run), False)
    total = GOLDEN["all_hands"]["10"]
    assert counts.sum() == total
    assert not counts[MOST_DEADWOOD + 1 :].any()
    assert counts[0] == GOLDEN["gin_hands_10"][key]
    assert counts @ np.arange(len(counts)) == GOLDEN["sum_of_deadwood_over_all_10_card_hands"][key]
    percentiles = [int(np.argmax(counts.cumsum() * 100 >= total * percent)) for percent in (5, 25, 50, 75, 95)]
    assert percentiles == GOLDEN["deadwood_percentiles_5_25_50_75_95"][key]
    if max_run is None:
        text = ",".join(str(number) for number in counts[: MOST_DEADWOOD + 1])
        assert hashlib.sha256(text.encode()).hexdigest() == DISTRIBUTION_HASH
        assert DISTRIBUTION_HASH in GOLDEN["note"]


@pytest.mark.long
@BOTH
def test_3_1_all_hands_of_eleven_that_can_gin(key: str, max_run: int | None) -> None:
    counts = deadwood_counts(PATTERNS, STARTS, splits(11), meld_limit(max_run), True)
    assert counts[0] == GOLDEN["eleven_card_hands_that_can_gin"][key]
    assert counts.sum() == GOLDEN["all_hands"]["11"]


@pytest.mark.long
@BOTH
def test_3_3_all_hands_of_eleven_without_deadwood(key: str, max_run: int | None) -> None:
    counts = deadwood_counts(PATTERNS, STARTS, splits(11), meld_limit(max_run), False)
    assert counts[0] == GOLDEN["fully_melded_11"][key]
    assert counts.sum() == GOLDEN["all_hands"]["11"]


def test_orders_of_suit_patterns() -> None:
    """The weights, against all permutations."""
    for patterns in product(range(3), repeat=4):
        p0, p1, p2, p3 = sorted(patterns, reverse=True)
        different = {order for order in product(range(3), repeat=4) if sorted(order) == sorted(patterns)}
        assert orders(p0, p1, p2, p3) == len(different)
