"""Non-interference: what a seat cannot know has no way into its view, observation, mask or any bot's choice."""

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from gin_env.policies.policy import checked_actions
from gin_env.policies.registry import LADDER, policy
from gin_env.round import Round
from gin_env.rules.actions import DISCARD, DRAW, GO_OUT, PASS, TAKE
from gin_env.rules.cards import parse_cards
from gin_env.rules.ruleset import Rules
from tests.hands import (
    LOSER,
    NOTHING,
    PLAYERS,
    RULE_SETS,
    G,
    asked_last,
    cards_in,
    choice,
    conserved,
    dealt,
    play,
    positions,
    run_down,
)
from tests.positions import batch_of

EVERY_RULE_SET = pytest.mark.parametrize("name", RULE_SETS)
BIG = Rules.preset("big_gin")


def known_places(hand: Round, seat: int) -> set[int]:
    """The cards whose place a seat knows, from what it sees: its own, the pile, what the opponent took from the pile."""
    view = hand.view(seat)
    known = {*view.hand, *view.buried, *view.known[1]}
    if view.upcard is not None:
        known.add(view.upcard)
    face_down = cards_in(hand)["face down"]
    if face_down and view.winner == 0:
        known.add(face_down[0])
    if face_down and view.winner == 1:
        known -= set(view.known[1]) - set(view.shed[1])  # one of them may be the card that went
    return known


@EVERY_RULE_SET
def test_hidden_cards_change_nothing_that_a_seat_gets(name: str) -> None:
    """For both seats at random positions: view, observation and mask to the byte; on turn, every bot's choice too."""
    chance = random.Random(name)
    compared: Counter[str] = Counter()
    for hand in positions(RULE_SETS[name], 8 * len(PLAYERS)):
        if chance.random() < 0.8 and hand.phase in ("draw", "discard"):
            continue
        compared[hand.phase] += 1
        before = hand._records.tobytes()
        for seat in (0, 1):
            twin = hand.determinize(seat, chance.getrandbits(64))
            assert hand._records.tobytes() == before
            assert conserved(twin)
            assert twin.view(seat).tobytes() == hand.view(seat).tobytes()
            assert twin.observation(seat).tobytes() == hand.observation(seat).tobytes()
            assert twin.action_mask(seat).tobytes() == hand.action_mask(seat).tobytes()
            for place in ("buried", "upcard"):
                assert cards_in(twin)[place] == cards_in(hand)[place]
            if seat == hand.player:
                assert twin.legal_actions() == hand.legal_actions()
                key = chance.getrandbits(64)
                for bot in LADDER:
                    choices = [checked_actions(policy(bot), batch_of(each, key))[0] for each in (hand, twin)]
                    assert choices[0] == choices[1], bot
    rules = RULE_SETS[name]
    phases = {"draw", "discard", "over"}
    phases |= {"offer", "stock"} if rules.opening_offer else set()
    phases |= {"last", "last_out"} if rules.last_discard_option else set()
    assert set(compared) == phases
    assert compared.total() > 200


@EVERY_RULE_SET
def test_determinize_changes_all_that_is_hidden_and_nothing_else(name: str) -> None:
    """Only cards that the seat can't place move, over some seeds into other hands and other orders of the stock."""
    chance = random.Random(name)
    for hand in positions(RULE_SETS[name], len(PLAYERS)):
        if chance.random() < 0.9:
            continue
        for seat in (0, 1):
            unknown = set(range(52)) - known_places(hand, seat)
            theirs = set(hand.hands[1 - seat]) & unknown
            waits = hand.phase in ("last", "last_out") and hand.player == 1 - seat
            twins = [hand.determinize(seat, seed) for seed in range(6)]
            for twin in twins:
                places, old = cards_in(twin), cards_in(hand)
                assert set(twin.hands[1 - seat]) - unknown == set(hand.hands[1 - seat]) - unknown
                assert twin.hands[seat] == hand.hands[seat]
                assert {*twin.hands[1 - seat], *places["stock"], *places["face down"]} >= unknown
                assert {key: len(cards) for key, cards in places.items()} == {key: len(old[key]) for key in old}
            if not waits:  # then most deals are ruled out, see below
                assert len({twin.hands for twin in twins}) > 1 or not theirs
                assert len({tuple(cards_in(twin)["stock"]) for twin in twins}) > 3


def test_determinize_is_named_by_its_seed() -> None:
    hand = play(Round(seed=5), DRAW)
    twins = [hand.determinize(1, seed) for seed in (7, 7, 8, 2**64 - 1)]
    assert twins[0]._records.tobytes() == twins[1]._records.tobytes()
    assert len({twin.hands for twin in twins}) == 3
    assert [twin.deck for twin in twins] == [None] * 4
    assert [twin.actions for twin in twins] == [(DRAW,)] * 4
    assert hand.deck is not None


def test_determinize_deals_each_unknown_card_alike() -> None:
    """2,000 deals: each of 31 unknown cards in the opponent's nine unknown places, and on top of the stock, about evenly."""
    hand = dealt("straight", NOTHING, LOSER, upcard="4C", stock="KH AH")
    play(hand, DRAW, DISCARD + parse_cards("KH")[0], TAKE, DISCARD + parse_cards("KC")[0])
    held: Counter[int] = Counter()
    tops: Counter[int] = Counter()
    for seed in range(2000):
        twin = hand.determinize(0, seed)
        held.update(twin.hands[1])
        tops[cards_in(twin)["stock"][0]] += 1
    assert held[parse_cards("KH")[0]] == 2000  # seen taken
    unknown = set(range(52)) - known_places(hand, 0)
    assert len(unknown) == 9 + 30
    for cards, share in ((held, 9 / 39), (tops, 1 / 39)):
        counts = np.array([cards[card] for card in unknown])
        assert counts.sum() == 2000 * round(share * 39)
        spread = (2000 * share * (1 - share)) ** 0.5
        assert np.abs(counts - 2000 * share).max() < 4 * spread
        assert counts.std() > spread / 2  # random, not dealt round


@EVERY_RULE_SET
def test_determinized_hands_play_on_to_the_end(name: str) -> None:
    chance = random.Random(name)
    outcomes = set()
    for hand in positions(RULE_SETS[name], len(PLAYERS)):
        if hand.over or (chance.random() < 0.9 and hand.phase in ("draw", "discard")):
            continue
        twin = hand.determinize(chance.randrange(2), chance.getrandbits(64))
        while not twin.over:
            twin.apply(choice(twin, "greedy", chance))
            assert conserved(twin)
        outcomes.add(twin.outcome)
    assert outcomes >= {"gin", "dead"}


# What the last-discard question tells (rule 3.5), and what a face-down discard doesn't (rule 3.7)


def test_3_5_who_waits_for_the_last_discard_is_dealt_an_opponent_who_can_go_out() -> None:
    asked = asked_last(Rules(last_discard_option=True))
    hands = set()
    for seed in range(10):
        twin = asked.determinize(0, seed)
        assert twin.legal_actions() == [TAKE, PASS]
        hands.add(twin.hands[1])
        play(twin, TAKE)
        assert min(twin.legal_actions()) >= GO_OUT
        assert play(twin, twin.legal_actions()[0]).outcome == "gin"
        taken = play(asked.clone(), TAKE).determinize(0, seed)
        assert taken.legal_actions()
        assert parse_cards("KS")[0] in taken.hands[1]
    assert len(hands) > 1


def test_3_5_who_is_asked_may_be_dealt_any_opponent() -> None:
    asked = asked_last(Rules(last_discard_option=True))
    for seed in range(10):
        twin = asked.determinize(1, seed)
        assert twin.view(1) == asked.view(1)
        assert play(twin, PASS).outcome == "dead"


@pytest.mark.parametrize("name", ["big_gin", "face down, return, last", "all"])
def test_3_7_the_loser_never_learns_the_face_down_discard(name: str) -> None:
    """Whichever card goes: a view, an observation, and where redealt cards go do not tell."""
    rules = RULE_SETS[name].replace(opening_offer=False)
    ends = []
    for gone in ("2C", "TS", "KS"):
        hand = play(dealt(rules, G.replace("KS", "KH"), NOTHING, upcard="KS", stock="AH 5C"), TAKE)
        play(hand, DISCARD + parse_cards("KH")[0])
        play(hand, DRAW, DISCARD + parse_cards("AH")[0], DRAW)
        ends.append(play(hand, GO_OUT + parse_cards(gone)[0]))
    assert len({hand.view(1).tobytes() for hand in ends}) == 1
    assert len({hand.observation(1).tobytes() for hand in ends}) == 1
    for hand in ends:
        twins = [hand.determinize(1, seed) for seed in range(300)]
        assert {twin.view(1) for twin in twins} == {hand.view(1)}
        gone_cards = Counter(cards_in(twin)["face down"][0] for twin in twins)
        assert set(gone_cards) == set(range(52)) - known_places(hand, 1)
        assert parse_cards("KS")[0] in gone_cards  # even a card seen taken may have gone
        for seed in range(10):  # the winner knows it
            assert cards_in(hand.determinize(0, seed))["face down"] == cards_in(hand)["face down"]


def test_3_7_face_down_redeals_do_not_depend_on_the_card() -> None:
    """The same seed deals the same after any discard, so that not even a search on copies could tell."""
    twins = []
    for gone in ("2C", "TS", "KS"):
        hand = play(dealt(BIG, G, NOTHING, stock="5C"), DRAW, GO_OUT + parse_cards(gone)[0])
        twins.append(hand.determinize(1, 3))
    assert len({(twin.hands, *map(tuple, cards_in(twin).values())) for twin in twins}) == 1


def test_a_view_has_no_way_to_what_is_hidden() -> None:
    """The view's fields are the public ones, the seat's own hand and its own legal actions."""
    hand = Round(seed=3)
    assert hand.player is not None
    data: Any = hand.view(0).data
    assert data.dtype.names == ("public", "legal", "hand")
    for seat in (0, 1):
        other = hand.view(seat).data
        assert int(other["hand"][0]) == sum(1 << card for card in hand.hands[seat])
    off_turn = hand.view(1 - hand.player)
    assert off_turn.legal == []
    assert off_turn.data["legal"].tobytes() == bytes(off_turn.data["legal"].nbytes)
    assert run_down(hand, 20).view(0).stock == 20
