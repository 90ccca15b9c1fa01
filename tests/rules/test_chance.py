"""Randomness: the same on every platform, named by seed, deal and purpose, and as even as chance."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gin_env.advance import write_decisions
from gin_env.round import Round
from gin_env.rules import chance
from gin_env.rules.phases import start_all
from gin_env.rules.ruleset import Rules, compiled_rules
from gin_env.rules.state import RECORD
from gin_env.rules.view import VIEW

MASK = 2**64 - 1


def deals(seeds: range | list[int], deal: int = 0) -> Any:
    """The records of the hands of some seeds."""
    records = np.zeros(len(seeds), RECORD)
    records["public"]["rules"] = compiled_rules(Rules())
    records["hidden"]["seed"] = np.array(seeds, np.uint64)
    records["hidden"]["deal"] = deal
    start_all(records)
    return records


def decks(seeds: range, deal: int = 0) -> NDArray[np.int64]:
    return np.asarray(deals(seeds, deal)["hidden"]["deck"]).astype(np.int64)


def chi_square(counts: NDArray[np.int64], free: int) -> float:
    """How many standard deviations a chi-square of even counts is above or below what chance gives."""
    expected = counts.sum() / counts.size
    return float((((counts - expected) ** 2).sum() / expected - free) / (2 * free) ** 0.5)


# The generator

# The first numbers of SplitMix64 from a state, as other implementations give them.
SPLITMIX64 = {
    0: [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F],
    1234567: [6457827717110365317, 3203168211198807973, 9817491932198370423],
}


@pytest.mark.parametrize("state", SPLITMIX64)
def test_splitmix64(state: int) -> None:
    drawn = [int(chance.draw(np.uint64(state), np.uint64(n))) for n in range(3)]
    assert drawn == SPLITMIX64[state] == [python_draw(state, n) for n in range(3)]


def python_draw(stream: int, n: int) -> int:
    """`chance.draw` with Python's integers."""
    x = (stream + (n + 1) * 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def python_deal(seed: int, deal: int) -> tuple[tuple[int, ...], int]:
    """The deck and the first player of a hand, with Python's integers."""
    stream = python_draw(python_draw(python_draw(0, seed), deal), 0)
    deck = list(range(52))
    for n in range(51):
        other = n + ((python_draw(stream, n) >> 32) * (52 - n) >> 32)
        deck[n], deck[other] = deck[other], deck[n]
    return tuple(deck), python_draw(stream, 51) >> 63


# The deal. These hands stand for good: another platform, version or generator that deals others breaks every saved seed.

PINNED = {
    0: "6 3 35 36 18 39 20 30 19 11 1 48 34 46 7 45 43 4 12 27 42 50 9 29 2 21 32 41 10 51 5 17 47 37 22 0 16 40 38 49 "
    "15 44 13 26 24 23 33 28 31 8 14 25",
    1: "40 35 42 33 1 17 28 20 5 37 0 44 36 32 48 18 51 10 38 8 9 39 12 41 49 30 24 19 46 4 11 27 15 29 14 7 43 25 2 34 "
    "13 22 3 50 16 31 21 23 45 47 26 6",
    2**64 - 1: "7 50 15 47 35 19 46 14 16 36 38 5 17 12 34 48 8 26 39 21 28 40 43 33 2 18 11 22 23 1 51 41 20 24 30 45 "
    "31 0 10 27 13 9 44 32 25 37 29 6 42 3 49 4",
}
FIRST = {0: 1, 1: 0, 2**64 - 1: 0}


@pytest.mark.parametrize("seed", PINNED)
def test_pinned_decks(seed: int) -> None:
    hand = Round(seed=seed)
    assert hand.deck == tuple(int(card) for card in PINNED[seed].split())
    assert hand.first_player == FIRST[seed]
    assert hand.seed == seed


@pytest.mark.parametrize(("seed", "deal"), list(product([0, 5, 2**32, 2**63, 2**64 - 1], [0, 1, 2**32 - 1])))
def test_deals_are_those_of_plain_python(seed: int, deal: int) -> None:
    hand = Round(seed=seed, deal=deal)
    assert (hand.deck, hand.first_player) == python_deal(seed, deal)


def test_same_seed_same_deal_whatever_the_rules() -> None:
    hands = [Round(rules, seed=9) for rules in ("straight", "big_gin", Rules(opening_offer=True))]
    assert len({(hand.deck, hand.first_player) for hand in hands}) == 1


def test_other_seeds_and_deals_give_other_decks() -> None:
    every = [tuple(deck) for deal in range(20) for deck in decks(range(1000), deal)]
    assert len(set(every)) == len(every) == 20_000
    assert all(sorted(deck) == list(range(52)) for deck in every[:200])


def test_2_2_first_player_is_random() -> None:
    first = np.concatenate([deals(range(5000), deal)["public"]["first_player"] for deal in range(4)]).astype(int)
    assert abs(first.sum() - 10_000) < 4 * 70.7
    assert abs((first[1:] != first[:-1]).sum() - 10_000) < 4 * 70.7


@pytest.mark.parametrize("deal", [0, 1])
def test_2_1_shuffles_are_uniform(deal: int) -> None:
    """Over 20,000 decks every card is about equally often in each place, and before each other card."""
    shuffled = decks(range(20_000), deal)
    places = np.zeros((52, 52), np.int64)
    for place in range(52):
        places[place] = np.bincount(shuffled[:, place], minlength=52)
    assert abs(chi_square(places, 51 * 51)) < 5
    pairs = np.bincount((shuffled[:, :-1] * 52 + shuffled[:, 1:]).ravel(), minlength=52 * 52).reshape(52, 52)
    assert not pairs.diagonal().any()
    assert abs(chi_square(pairs[~np.eye(52, dtype=bool)], 51 * 51)) < 5
    assert abs(chi_square(np.bincount(shuffled[:, 20] * 2 + deals(range(20_000), deal)["public"]["first_player"]), 103)) < 5


def test_consecutive_seeds_are_not_alike() -> None:
    """Of the deck of the next seed, about one card is in the same place."""
    shuffled = decks(range(5000))
    same = (shuffled[1:] == shuffled[:-1]).sum(axis=1)
    assert abs(same.mean() - 1) < 0.06
    assert same.max() < 10


def test_below_and_random_place() -> None:
    """Both ends are reached, and every place of a mask equally often."""
    assert [int(chance.below(np.uint64(x), 7)) for x in (0, MASK)] == [0, 6]
    mask = np.uint64(1 | 1 << 20 | 1 << 51)
    randoms = [np.uint64(chance.draw(np.uint64(0), np.uint64(n))) for n in range(3000)]
    places = [int(chance.random_place(mask, random)) for random in randoms]
    counts = [places.count(place) for place in (0, 20, 51)]
    assert sum(counts) == 3000
    assert max(counts) - min(counts) < 150


# The keys of decisions


def key_of(seed: int, deal: int, seat: int, decision: int) -> int:
    """The key that a policy gets for a decision."""
    records = deals([seed], deal)
    records["public"]["player"] = seat
    records["hidden"]["decisions"] = decision
    keys = np.zeros(1, np.uint64)
    write_decisions(records, np.zeros(1, np.int64), np.zeros(1, VIEW), keys)
    return int(keys[0])


def test_keys_differ_by_seed_deal_seat_and_decision() -> None:
    names = list(product([0, 1, 2**64 - 1], [0, 1, 7], [0, 1], [0, 1, 2, 50]))
    keys = [key_of(*name) for name in names]
    assert len(set(keys)) == len(names)
    assert keys == [key_of(*name) for name in names]


def test_every_decision_of_a_hand_has_its_own_key() -> None:
    """As the hand is played: not the numbers set by hand of the test above."""
    hand = Round(seed=3)
    keys = np.zeros(1, np.uint64)
    seen = []
    while not hand.over:
        write_decisions(hand._records, np.zeros(1, np.int64), np.zeros(1, VIEW), keys)
        assert hand.player is not None
        assert int(keys[0]) == key_of(3, 0, hand.player, len(hand.actions))
        seen.append(int(keys[0]))
        hand.apply(hand.legal_actions()[0])
    assert len(set(seen)) == len(seen) > 50


def test_keys_are_apart_from_the_deal() -> None:
    """No key of a hand is a number that its shuffle used: purposes have streams of their own."""
    for seed in range(20):
        stream = python_draw(python_draw(python_draw(0, seed), 0), 0)
        shuffle = {python_draw(stream, n) for n in range(52)}
        keys = {key_of(seed, 0, seat, decision) for seat in (0, 1) for decision in range(30)}
        assert len(keys) == 60
        assert not keys & shuffle


def test_keys_look_random() -> None:
    keys = np.array([key_of(seed, 0, seat, 0) for seed in range(1000) for seat in (0, 1)], np.uint64)
    bits = (keys[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    assert np.abs(bits.sum(axis=0).astype(int) - 1000).max() < 5 * 22.4
    assert abs(int((bits[::2] != bits[1::2]).sum()) - 32_000) < 5 * 126
