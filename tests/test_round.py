"""Round: its arguments and their errors, copies, and the same hand from the same seed."""

import copy
import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gin_env.observation import WIDTH
from gin_env.round import Round
from gin_env.rules.ruleset import Rules
from tests.hands import RULE_SETS, choice, decisions

DECK = random.Random(0).sample(range(52), 52)


def clone(hand: Round) -> Round:
    return hand.clone()


def pickled(hand: Round) -> Round:
    return pickle.loads(pickle.dumps(hand))  # type: ignore[no-any-return]


COPIES: list[Callable[[Round], Round]] = [clone, copy.deepcopy, pickled]


@pytest.mark.parametrize(
    ("deck", "message"),
    [
        (DECK[:51], r"no permutation.*it has 51 cards"),
        ([], r"no permutation.*it has 0 cards"),
        ([*DECK[:51], DECK[0]], rf"no permutation.*\({DECK[0]}\) stands twice"),
        ([*DECK, DECK[0]], "stands twice"),
        ([*DECK[:51], 52], "deck holds 52"),
        ([*DECK[:51], -1], "deck holds -1"),
        ([float(card) for card in DECK], r"deck holds \d+\.0"),
        (np.array(DECK, np.float64), r"deck holds np\.float64"),
        ([True if card == 1 else card for card in DECK], "deck holds True"),
        (["AS", *DECK[1:]], "deck holds 'AS'"),
        ([None] * 52, "deck holds None"),
        ("AS 2S", "deck holds 'A'"),
        (7, "deck=7"),
    ],
)
def test_bad_deck(deck: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        Round(deck=deck)
    assert "permutation of the card ids 0..51" in str(error.value)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, True, False, "7", [7], np.float64(7)])
def test_bad_seed(seed: Any) -> None:
    asks: list[Callable[[], Any]] = [lambda: Round(seed=seed), lambda: Round(seed=0).determinize(0, seed)]
    for ask in asks:
        with pytest.raises(ValueError, match=r"seed=.*: expected None or an integer 0 \.\. 2\*\*64 - 1") as error:
            ask()
        assert repr(seed) in str(error.value)


@pytest.mark.parametrize("seat", [-1, 2, 1.0, True, False, "0", [0]])
def test_bad_seat(seat: Any) -> None:
    hand = Round(seed=0)
    asks: list[Callable[[], Any]] = [
        lambda: Round(seed=0, first_player=seat),
        lambda: hand.view(seat),
        lambda: hand.observation(seat),
        lambda: hand.action_mask(seat),
        lambda: hand.determinize(seat, 0),
    ]
    for ask in asks:
        with pytest.raises(ValueError, match="(seat|first_player)=.*: expected 0 or 1") as error:
            ask()
        assert repr(seat) in str(error.value)


@pytest.mark.parametrize("seat", [None, "seat"])
def test_bad_seat_where_none_stands_for_nothing(seat: Any) -> None:
    with pytest.raises(ValueError, match="expected 0 or 1"):
        Round(seed=0).view(seat)


@pytest.mark.parametrize("deal", [-1, 2**32, 1.0, True, None, "0"])
def test_bad_deal(deal: Any) -> None:
    with pytest.raises(ValueError, match=r"deal=.*: expected an integer 0 \.\. 2\*\*32 - 1") as error:
        Round(seed=0, deal=deal)
    assert repr(deal) in str(error.value)


def test_arguments_may_be_numpy_integers() -> None:
    hand = Round(deck=np.array(DECK, np.int8), seed=np.uint64(2**64 - 1), first_player=np.int8(1), deal=np.int64(3))  # type: ignore[arg-type]
    assert (hand.deck, hand.seed, hand.first_player) == (tuple(DECK), 2**64 - 1, 1)
    assert hand.deck is not None
    assert all(type(card) is int for card in hand.deck)


def test_arguments_are_left_alone() -> None:
    deck = DECK.copy()
    hand = Round(deck=deck, first_player=0)
    hand.apply(0)
    assert deck == DECK
    deck.reverse()
    assert hand.deck == tuple(DECK)


def test_rules_in_every_form() -> None:
    rules = Rules.preset("big_gin")
    for form in ("big_gin", rules, rules.as_dict()):
        assert Round(form, seed=0).rules == rules
    assert Round(seed=0).rules == Rules()


@pytest.mark.parametrize("name", RULE_SETS)
def test_same_seed_same_hand(name: str) -> None:
    for seed in (0, 1, 2**64 - 1):
        one, two = Round(RULE_SETS[name], seed=seed), Round(RULE_SETS[name], seed=seed)
        chance = random.Random(seed)
        while not one.over:
            assert one._records.tobytes() == two._records.tobytes()
            action = chance.choice(one.legal_actions())
            one.apply(action)
            two.apply(action)
        assert (one.outcome, one.scores, one.actions) == (two.outcome, two.scores, two.actions)


def test_seed_is_fresh_where_none_is_given() -> None:
    hands = [Round() for _ in range(20)]
    assert len({hand.deck for hand in hands}) == 20
    for hand in hands:
        assert (Round(seed=hand.seed).deck, Round(seed=hand.seed).first_player) == (hand.deck, hand.first_player)


def test_deal_counts_the_hands_of_a_seed() -> None:
    hands = [Round(seed=7, deal=deal) for deal in range(50)]
    assert len({hand.deck for hand in hands}) == 50
    assert {hand.first_player for hand in hands} == {0, 1}
    assert Round(seed=7).deck == hands[0].deck


def test_deck_and_first_player_are_independent_of_each_other() -> None:
    seeded = Round(seed=4)
    other = Round(seed=4, first_player=1 - seeded.first_player)
    assert (other.deck, other.player) == (seeded.deck, 1 - seeded.first_player)
    given = Round(deck=DECK, seed=4)
    assert (given.deck, given.first_player) == (tuple(DECK), seeded.first_player)


@pytest.mark.parametrize("make", COPIES)
@pytest.mark.parametrize("name", RULE_SETS)
def test_copies_continue_identically_and_apart(name: str, make: Callable[[Round], Round]) -> None:
    chance = random.Random(name)
    for hand in decisions(RULE_SETS[name], 3, "greedy", noise=0.3):
        twin = make(hand)
        assert twin._records.tobytes() == hand._records.tobytes()
        assert (twin.rules, twin.deck, twin.actions, twin.seed) == (hand.rules, hand.deck, hand.actions, hand.seed)
        if hand.over or chance.random() < 0.8:
            continue
        before, actions, seed = hand._records.tobytes(), hand.actions, chance.getrandbits(32)
        again = make(twin)
        for each in (twin, again):
            player = random.Random(seed)
            while not each.over:
                each.apply(choice(each, "simple", player))
        assert (hand._records.tobytes(), hand.actions) == (before, actions)
        assert twin._records.tobytes() == again._records.tobytes()
        assert twin.actions == again.actions


@pytest.mark.parametrize("name", RULE_SETS)
def test_a_hand_replays_from_deck_and_actions(name: str) -> None:
    (*_, hand) = decisions(RULE_SETS[name], 5, "simple")
    assert hand.deck is not None
    again = Round(RULE_SETS[name], deck=hand.deck, first_player=hand.first_player)
    for action in hand.actions:
        again.apply(action)
    assert (again.over, again.outcome, again.scores) == (True, hand.outcome, hand.scores)
    assert (again.hands, again.turns, again.stock) == (hand.hands, hand.turns, hand.stock)
    assert [again.view(seat) for seat in (0, 1)] == [hand.view(seat) for seat in (0, 1)]


def test_what_a_round_gives_is_plain_python_or_fresh_arrays() -> None:
    hand = Round(seed=0, first_player=0)
    values = [hand.player, hand.turns, hand.stock, hand.upcard, *hand.scores, *hand.hands[0], *hand.legal_actions()]
    assert all(type(value) is int for value in values)
    assert type(hand.over) is bool
    for give, width in ((hand.observation, WIDTH), (hand.action_mask, 108)):
        array = give(0)
        assert array.shape == (width,)
        assert array.dtype == np.int8
        array[:] = 5
        assert give(0).max() == 1
    view = hand.view(0)
    hand.apply(0)
    assert view != hand.view(0)
    assert view == Round(seed=0, first_player=0).view(0)


def test_repr_names_rules_seed_and_phase() -> None:
    assert repr(Round("big_gin", seed=7, first_player=1)) == "Round(rules='big_gin', seed=7, phase='draw', player=1)"
