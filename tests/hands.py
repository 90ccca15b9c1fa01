"""Hands for tests: constructed ones, and random ones stepped through decision by decision."""

import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from gin_env.policies.registry import LADDER, policy
from gin_env.round import Round
from gin_env.rules.actions import BIG_GIN, DISCARD, DRAW, GO_OUT, PASS, TAKE
from gin_env.rules.cards import parse_cards
from gin_env.rules.ruleset import Rules
from tests.positions import bot_action

# The presets that are played, and mixtures that reach every field of the rules.
RULE_SETS = {
    "straight": Rules.preset("straight"),
    "gin_only": Rules.preset("gin_only"),
    "big_gin": Rules.preset("big_gin"),
    "OpenSpiel's": Rules(opening_offer=True, may_return_upcard=True, last_discard_option=True),
    "big gin, offer, last": Rules.preset("big_gin").replace(opening_offer=True, last_discard_option=True),
    "face down, return, last": Rules(gin_discard_face_down=True, may_return_upcard=True, last_discard_option=True),
    "all": Rules(
        gin_bonus=50,
        big_gin_bonus=40,
        max_run=4,
        opening_offer=True,
        may_return_upcard=True,
        last_discard_option=True,
        gin_discard_face_down=True,
        turn_limit=45,
    ),
}
# Who plays a random hand: chance alone, a bot, or "patient", who plays as greedy but keeps his gin to the last discard.
PLAYERS = ("uniform", *LADDER, "patient")

WINNER = "AS 2S 3S 4H 5H 6H 7C 7D 7H 7S"  # section 7: gin, and big gin with 4S
LOSER = "KC KD QH QS JC JD TH TS 9C 9D"  # 98, the most possible
G = "2C 3C 4C 7D 7H 7S TS JS QS KS"
NOTHING = "AS 3H 5D 8C 6S AD 3S 6H 8D 5H"  # no meld: 46
ALMOST = "2C 3C 4C 7D 7H 7S TS JS QS AH"  # gin with KS


def deck_of(seat0: str, seat1: str, upcard: str = "", stock: str = "", last: str = "") -> list[int]:
    """A deck with `stock` on top and `last` drawn 29th, the last card ever drawn; other cards fill it in order."""
    named = parse_cards(f"{seat0} {seat1} {upcard} {stock} {last}")
    rest = [card for card in range(52) if card not in named]
    deck = [*parse_cards(f"{seat0} {seat1}"), *(parse_cards(upcard) or [rest.pop(0)]), *parse_cards(stock), *rest]
    deck[21 + 28 : 21 + 28] = parse_cards(last)
    return deck


def dealt(rules: str | Rules, seat0: str, seat1: str, upcard: str = "", stock: str = "", last: str = "") -> Round:
    """A hand that seat 0 starts, from :func:`deck_of`."""
    return Round(rules, deck=deck_of(seat0, seat1, upcard, stock, last), first_player=0)


def play(hand: Round, *actions: int) -> Round:
    """Play some actions; the hand itself again."""
    for action in actions:
        hand.apply(action)
    return hand


def next_card(hand: Round) -> int:
    """The top of the stock."""
    deck: Any = hand._records["hidden"]["deck"][0]
    return int(deck[52 - hand.stock])


def run_down(hand: Round, left: int) -> Round:
    """Turns that change neither hand: the stock's top is drawn and discarded, until `left` cards are in it."""
    while hand.stock > left:
        if hand.phase == "offer":
            play(hand, PASS)
        else:
            play(hand, DRAW, DISCARD + next_card(hand))
    return hand


def asked_last(rules: Rules, seat1: str = ALMOST, last: str = "KS") -> Round:
    """Seat 0 draws `last` as the last card that is ever drawn and discards it; seat 1 may be asked for it (rule 3.5)."""
    return run_down(dealt(rules, NOTHING, seat1, last=last), 2)


def outs(hand: Round) -> list[int]:
    """The cards that may be discarded to go out now."""
    return [action - GO_OUT for action in hand.legal_actions() if action >= GO_OUT]


def decisions(rules: Rules, seed: int, player: str, noise: float = 0.05) -> Iterator[Round]:
    """One hand, before every decision and when it is over: the same Round each time, so clone what you keep.

    Args:
        rules: the rules.
        seed: of the deal and the play.
        player: one of `PLAYERS`, for both seats.
        noise: share of decisions made at random instead.
    """
    hand = Round(rules, seed=seed)
    chance = random.Random(seed)
    while not hand.over:
        yield hand
        hand.apply(choice(hand, "uniform" if chance.random() < noise else player, chance))
    yield hand


def positions(rules: Rules, hands: int) -> Iterator[Round]:
    """The decisions of some hands, one of each player after the other, and of the last discard where it is asked for."""
    for seed in range(hands):
        yield from decisions(rules, seed, PLAYERS[seed % len(PLAYERS)])
    if rules.last_discard_option:
        hand = asked_last(rules)
        yield hand
        yield play(hand, TAKE)
        yield play(hand, hand.legal_actions()[-1])


def choice(hand: Round, player: str, chance: random.Random) -> int:
    """The action of one of `PLAYERS`."""
    legal = hand.legal_actions()
    if player == "uniform" or (player == "patient" and hand.phase == "last"):
        return chance.choice(legal)
    action = bot_action(hand, policy("greedy" if player == "patient" else player), chance)
    if player == "patient" and action == BIG_GIN:
        action = legal[-1]
    if player == "patient" and action >= GO_OUT and action - GO_OUT + DISCARD in legal:
        return action - GO_OUT + DISCARD
    return action


def cards_in(hand: Round) -> dict[str, list[int]]:
    """Where every card of a record is: hands, pile, stock, face down."""
    record: Any = hand._records[0]
    public, hidden = record["public"], record["hidden"]
    mask_cards = {
        "hand 0": int(hidden["hands"][0]),
        "hand 1": int(hidden["hands"][1]),
        "buried": int(public["buried"]),
    }
    places = {name: [card for card in range(52) if mask >> card & 1] for name, mask in mask_cards.items()}
    places["upcard"] = [int(public["upcard"])] if public["upcard"] >= 0 else []
    places["face down"] = [int(hidden["face_down"])] if hidden["face_down"] >= 0 else []
    places["stock"] = [int(card) for card in np.asarray(hidden["deck"])[52 - int(public["stock_left"]) :]]
    return places


def conserved(hand: Round) -> bool:
    """Whether the 52 cards are all there, each in one place."""
    return sorted(card for cards in cards_in(hand).values() for card in cards) == list(range(52))
