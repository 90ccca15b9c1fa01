"""The score of a match, kept hand by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from gin_env.round import checked_seat
from gin_env.rules import match as keeping
from gin_env.rules.match import HOLLYWOOD, MOST_POINTS, NOBODY, OPEN, TRUNCATED, MatchRules, compiled_match


class Match:
    """A match as a score keeper: enter each hand's scores, read how it stands (rules section 4).

    Args:
        first_dealer: the seat that deals the first hand.
        kind, target, rounds, next_dealer, box_bonus, game_bonus, shutout_bonus, deal_limit: as for
            :class:`gin_env.rules.match.MatchRules`.

    Raises:
        ValueError: a field out of its bounds.

    >>> match = Match(target=100, game_bonus=100, box_bonus=20)
    >>> for scores in ((31, 0), (47, 0), (0, 40), (38, 0)):
    ...     match.add(scores)
    >>> match.scores, match.winner
    ((276, 60), 0)
    """

    def __init__(
        self,
        kind: Literal["hand", "target", "hollywood", "series"] = "target",
        target: int = 250,
        rounds: int | None = None,
        *,
        first_dealer: int = 0,
        next_dealer: Literal["alternate", "winner", "loser"] = "alternate",
        box_bonus: int = 0,
        game_bonus: int = 0,
        shutout_bonus: int = 0,
        deal_limit: int = 200,
    ) -> None:
        dealer = checked_seat(first_dealer, "first_dealer")
        self.rules = MatchRules(
            kind=kind,
            target=target,
            rounds=rounds,
            next_dealer=next_dealer,
            box_bonus=box_bonus,
            game_bonus=game_bonus,
            shutout_bonus=shutout_bonus,
            deal_limit=deal_limit,
        )
        self._match = compiled_match(self.rules)
        keeping.begin_first(self._match, dealer)

    def add(self, scores: tuple[int, int] | None) -> None:
        """Enter a hand.

        Args:
            scores: the points of seats 0 and 1, of which one has none; None or (0, 0) for a dead hand.

        Raises:
            ValueError: the match is over, or no such pair; nothing is entered.
        """
        if self.over:
            raise ValueError(f"add({scores!r}): the match is over; begin another")
        pair = (0, 0) if scores is None else scores
        if not isinstance(pair, (Sequence, np.ndarray)) or len(pair) != 2:
            raise ValueError(f"scores={scores!r}: expected a pair of points, or None for a dead hand")
        first, second = pair
        for points in (first, second):
            if isinstance(points, bool) or not isinstance(points, (int, np.integer)) or not 0 <= points <= MOST_POINTS:
                raise ValueError(f"scores={scores!r}: expected two integers 0 to {MOST_POINTS}")
        if first and second:
            raise ValueError(f"scores={scores!r}: expected points for one seat only")
        keeping.enter_first(self._match, int(first), int(second))

    @property
    def over(self) -> bool:
        """Whether the match has ended, at its deal limit too."""
        return bool(self._match["state"][0] != OPEN)

    @property
    def truncated(self) -> bool:
        """Whether the match was cut off at its deal limit (rule 4.6)."""
        return bool(self._match["state"][0] == TRUNCATED)

    @property
    def games(self) -> tuple[tuple[int, int, int | None], ...]:
        """Each game's points of seats 0 and 1, with bonuses once it is over, and its winner: None if open or shared."""
        count = 3 if self._match["kind"][0] == HOLLYWOOD else 1
        points, winners = self._match["points"][0].tolist(), self._match["winners"][0].tolist()
        return tuple((*points[game], None if winners[game] == NOBODY else winners[game]) for game in range(count))

    @property
    def scores(self) -> tuple[int, int]:
        """The points of seats 0 and 1, summed over the games."""
        first, second = self._match["points"][0].sum(axis=0).tolist()
        return first, second

    @property
    def winner(self) -> int | None:
        """The seat that won; None while the match is open, when it is shared, and when it was cut off."""
        winner = keeping.winner_of_first(self._match)
        return None if winner == NOBODY else winner

    @property
    def dealer(self) -> int:
        """The seat that deals the hand that is due."""
        return int(self._match["dealer"][0])

    @property
    def deals(self) -> int:
        """Hands entered, dead ones included."""
        return int(self._match["deals"][0])
