"""Match play as data: what a match is played for, and the compiled keeping of its score (rules section 4).

A `MatchRules` value is turned into one small structured record (`MATCH`) that holds settings and score. It is all public: every
field is on the table. Pairs are indexed by seat.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gin_env.compiled import jit
from gin_env.rules.melds import MOST_DEADWOOD
from gin_env.rules.ruleset import MOST_BONUS, check_integer

HAND = 0
TARGET = 1
HOLLYWOOD = 2
SERIES = 3
KINDS = ("hand", "target", "hollywood", "series")

NEXT_DEALERS = ("alternate", "winner", "loser")
WINNER, LOSER = 1, 2  # places among them

# How a match stands.
OPEN = 0
FINISHED = 1
TRUNCATED = 2  # at the deal limit

NOBODY = -1  # the winner of a game that is open or shared

# Settings and score of a match. Field sizes are chosen so that there is no padding, whose bytes would be undefined.
MATCH = np.dtype(
    [
        ("points", np.int32, (3, 2)),  # by game and seat; a series and a target game have the first game only
        ("hands_won", np.int16, (3, 2)),  # entries of each game
        ("target", np.int16),
        ("rounds", np.int16),
        ("deal_limit", np.int16),
        ("deals", np.int16),  # hands that were played, dead ones included
        ("box_bonus", np.int16),
        ("game_bonus", np.int16),
        ("shutout_bonus", np.int16),
        ("winners", np.int8, (3,)),
        ("closed", np.int8, (3,)),
        ("kind", np.int8),
        ("next_dealer", np.int8),
        ("dealer", np.int8),  # of the hand that is due
        ("state", np.int8),
    ],
    align=True,
)

MOST_POINTS = MOST_DEADWOOD + MOST_BONUS  # of a hand
MOST_TARGET = 10_000
MOST_DEALS = 10_000

_BOUNDS = {
    "target": (1, MOST_TARGET),
    "box_bonus": (0, MOST_BONUS),
    "game_bonus": (0, MOST_BONUS),
    "shutout_bonus": (0, MOST_BONUS),
    "deal_limit": (1, MOST_DEALS),
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class MatchRules:
    """What a match is played for; frozen, comparable (rules section 4).

    Args:
        kind: "hand", one hand; "target", hand scores add up to a target; "hollywood", three such games at once; "series", a
            fixed number of rounds.
        target: points that win a game of a target or Hollywood match, 1 to 10,000.
        rounds: hands of a series, 1 to 10,000; None for the other kinds.
        next_dealer: who deals after a scored hand: "alternate", the hand's "winner" or its "loser".
        box_bonus: points for each hand won, added when a game is over (rule 4.5); a single hand has no bonuses.
        game_bonus: points for winning a game, likewise.
        shutout_bonus: points for winning a game in which the other player won no hand, likewise.
        deal_limit: hands after which a target or Hollywood match is cut off without a winner (rule 4.6), 1 to 10,000.

    Raises:
        ValueError: a field out of its bounds, or fields that contradict each other; the message names them.

    >>> MatchRules(kind="series", rounds=6).rounds
    6
    """

    kind: Literal["hand", "target", "hollywood", "series"] = "target"
    target: int = 250
    rounds: int | None = None
    next_dealer: Literal["alternate", "winner", "loser"] = "alternate"
    box_bonus: int = 0
    game_bonus: int = 0
    shutout_bonus: int = 0
    deal_limit: int = 200

    def __post_init__(self) -> None:
        for name, choices in (("kind", KINDS), ("next_dealer", NEXT_DEALERS)):
            value = getattr(self, name)
            if not isinstance(value, str) or value not in choices:
                raise ValueError(f"{name}={value!r}: expected one of {', '.join(map(repr, choices))}")
        for name, (low, high) in _BOUNDS.items():
            check_integer(name, getattr(self, name), low, high)
        if self.kind == "series":
            check_integer("rounds", self.rounds, 1, MOST_DEALS, " for kind='series'")
        elif self.rounds is not None:
            raise ValueError(f"rounds={self.rounds!r} with kind={self.kind!r}: only a series has rounds; leave them None")


def compiled_match(rules: MatchRules) -> NDArray[np.void]:
    """A match that is to begin: a `MATCH` array of one."""
    match = np.zeros(1, MATCH)
    match["kind"] = KINDS.index(rules.kind)
    match["next_dealer"] = NEXT_DEALERS.index(rules.next_dealer)
    match["rounds"] = rules.rounds or 0
    for name in _BOUNDS:
        match[name] = getattr(rules, name)
    return match


@jit
def begin(match: Any, dealer: int) -> None:
    """Clear the score; `dealer` deals the first hand."""
    for game in range(3):
        for seat in range(2):
            match.points[game, seat] = 0
            match.hands_won[game, seat] = 0
        match.winners[game] = NOBODY
        match.closed[game] = 0
    match.deals = 0
    match.dealer = dealer
    match.state = OPEN


@jit
def enter(match: Any, score0: int, score1: int) -> None:
    """Enter a hand's points, of which one seat has none; 0, 0 is a dead hand (rules 4.1 to 4.6)."""
    match.deals += 1
    winner = NOBODY
    if score0 > score1:
        winner = 0
    elif score1 > score0:
        winner = 1
    if winner != NOBODY:
        _enter_points(match, winner, max(score0, score1))
    if winner != NOBODY or match.kind == SERIES:
        _turn_deal(match, winner)
    if match.kind == HAND or (match.kind == SERIES and match.deals >= match.rounds):
        _close(match, 0, _ahead(match))
        match.state = FINISHED
    elif match.kind != SERIES:
        if match.closed[0] and (match.kind == TARGET or (match.closed[1] and match.closed[2])):
            match.state = FINISHED
        elif match.deals >= match.deal_limit:
            match.state = TRUNCATED


@jit
def _enter_points(match: Any, winner: int, points: int) -> None:
    """Enter a won hand in each open game where the winner has an entry, and in the first where he has none (rule 4.3)."""
    opened = False
    for game in range(3 if match.kind == HOLLYWOOD else 1):
        if match.closed[game] or (match.hands_won[game, winner] == 0 and opened):
            continue
        opened = opened or match.hands_won[game, winner] == 0
        match.points[game, winner] += points
        match.hands_won[game, winner] += 1
        if (match.kind == TARGET or match.kind == HOLLYWOOD) and match.points[game, winner] >= match.target:
            _close(match, game, winner)


@jit
def _turn_deal(match: Any, winner: int) -> None:
    """Who deals next (rules 4.2, 4.4)."""
    if winner != NOBODY and match.next_dealer == WINNER:
        match.dealer = winner
    elif winner != NOBODY and match.next_dealer == LOSER:
        match.dealer = 1 - winner
    else:
        match.dealer = 1 - match.dealer


@jit
def _ahead(match: Any) -> int:
    """Who is ahead in the first game, boxes included (rules 4.4, 4.5)."""
    margin = match.points[0, 0] - match.points[0, 1] + match.box_bonus * (match.hands_won[0, 0] - match.hands_won[0, 1])
    return 0 if margin > 0 else 1 if margin < 0 else NOBODY


@jit
def _close(match: Any, game: int, winner: int) -> None:
    """A game is over: its bonuses are added (rule 4.5)."""
    match.closed[game] = 1
    match.winners[game] = winner
    if match.kind == HAND:
        return
    for seat in range(2):
        match.points[game, seat] += match.box_bonus * match.hands_won[game, seat]
    if winner != NOBODY:
        match.points[game, winner] += match.game_bonus
        if match.hands_won[game, 1 - winner] == 0:
            match.points[game, winner] += match.shutout_bonus


@jit
def match_winner(match: Any) -> int:
    """The seat that won more games; NOBODY while the match is open, when it is shared and when it was cut off."""
    if match.state != FINISHED:
        return NOBODY
    won = 0
    for game in range(3):
        if match.winners[game] != NOBODY:
            won += 1 - 2 * match.winners[game]
    return 0 if won > 0 else 1 if won < 0 else NOBODY


# Entries from Python: one array of a match, so that a call costs little


@jit
def begin_first(matches: NDArray[np.void], dealer: int) -> None:
    """Begin the first match."""
    begin(matches[0], dealer)


@jit
def enter_first(matches: NDArray[np.void], score0: int, score1: int) -> None:
    """Enter a hand in the first match."""
    enter(matches[0], score0, score1)


@jit
def winner_of_first(matches: NDArray[np.void]) -> int:
    """Who has won the first match."""
    return match_winner(matches[0])
