"""The View: what one seat may know, and the only way from a record to anything that decides, observes or draws.

A view is the seat's own hand and legal actions beside the public part in relative order: 0 is me, 1 the opponent.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gin_env.compiled import jit
from gin_env.rules.actions import DISCARD, GO_OUT
from gin_env.rules.cards import card_text, cards_of
from gin_env.rules.state import BY_ONE, LEGAL, NO_CARD, NO_DISCARD, OUTCOMES, PHASES, PUBLIC, RECENT, clear_legal

VIEW = np.dtype([("public", PUBLIC), ("legal", LEGAL), ("hand", np.uint64)], align=True)


@jit
def write_view(record: Any, seat: int, view: Any) -> None:
    """Write what a seat may know of a record."""
    view.public = record.public
    view.hand = record.hidden.hands[seat]
    view.legal = record.hidden.legal
    public, seen = record.public, view.public
    # Without branches on the seat, which no processor could foretell.
    if public.player != seat:
        clear_legal(view.legal)
    for i in range(2):
        seen.known[i] = public.known[i ^ seat]
        seen.shed[i] = public.shed[i ^ seat]
        seen.refused[i] = public.refused[i ^ seat]
        seen.scores[i] = public.scores[i ^ seat]
    seen.first_player = public.first_player ^ seat
    seen.player = public.player if public.player < 0 else public.player ^ seat
    seen.winner = public.winner if public.winner < 0 else public.winner ^ seat
    for i in range(RECENT):
        seen.recent[i] = public.recent[i] ^ (BY_ONE * seat if public.recent[i] != NO_DISCARD else 0)


@jit
def write_views(records: NDArray[np.void], seats: NDArray[np.int8], views: NDArray[np.void]) -> None:
    """Write the view of `seats[i]` of each record."""
    for i in range(len(records)):
        write_view(records[i], seats[i], views[i])


class View:
    """What one seat may know of a hand, to read: its own cards and everything on the table, 0 me and 1 the opponent.

    Attributes are card ids, tuples of them in rising order, or plain numbers; None stands for no card. Two views are equal
    when they are the same to the byte.
    """

    __slots__ = ("data",)

    def __init__(self, data: NDArray[np.void]) -> None:
        self.data = data

    @property
    def hand(self) -> tuple[int, ...]:
        """My cards."""
        return cards_of(self.data["hand"][0])

    @property
    def upcard(self) -> int | None:
        """The top of the discard pile."""
        return self._card("upcard")

    @property
    def taken(self) -> int | None:
        """The card that the player to act took from the pile this turn."""
        return self._card("taken")

    @property
    def buried(self) -> tuple[int, ...]:
        """The discard pile but its top."""
        return cards_of(self._public("buried"))

    @property
    def known(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Cards taken from the pile and still held: mine that the opponent knows of, the opponent's that I know of."""
        return self._pair("known")

    @property
    def shed(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Cards ever discarded face up, by me and by the opponent."""
        return self._pair("shed")

    @property
    def refused(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Upcards let lie, by me and by the opponent."""
        return self._pair("refused")

    @property
    def recent(self) -> tuple[tuple[int, int], ...]:
        """The last eight face-up discards, newest first: (card, 0 if by me, 1 if by the opponent)."""
        return tuple((int(x) % BY_ONE, int(x) // BY_ONE) for x in self._public("recent") if x != NO_DISCARD)

    @property
    def phase(self) -> str:
        """What is being decided: one of offer, stock, draw, discard, last, last_out, over."""
        return PHASES[self._public("phase")]

    @property
    def to_act(self) -> int | None:
        """Who decides: 0 me, 1 the opponent, None when the hand is over."""
        player = int(self._public("player"))
        return None if player < 0 else player

    @property
    def first(self) -> int:
        """Who had the first turn: 0 me, 1 the opponent."""
        return int(self._public("first_player"))

    @property
    def stock(self) -> int:
        """Cards left in the stock."""
        return int(self._public("stock_left"))

    @property
    def turns(self) -> int:
        """Completed turns of both players."""
        return int(self._public("turns"))

    @property
    def scores(self) -> tuple[int, int]:
        """Points of the hand, mine and the opponent's."""
        mine, others = self._public("scores")
        return int(mine), int(others)

    @property
    def outcome(self) -> str | None:
        """How the hand ended, None while it is open."""
        return OUTCOMES[self._public("outcome")]

    @property
    def winner(self) -> int | None:
        """Who scored the hand: 0 me, 1 the opponent, None while it is open and when nobody did."""
        winner = int(self._public("winner"))
        return None if winner < 0 else winner

    @property
    def legal(self) -> list[int]:
        """My legal actions, rising; empty when it is not my turn."""
        return legal_actions(self.data["legal"][0])

    def tobytes(self) -> bytes:
        """All that the view holds."""
        return self.data.tobytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, View) and self.tobytes() == other.tobytes()

    def __hash__(self) -> int:
        return hash(self.tobytes())

    def __repr__(self) -> str:
        upcard = "none" if self.upcard is None else card_text(self.upcard)
        return f"View(hand={card_text(self.hand)!r}, upcard={upcard!r}, phase={self.phase!r}, stock={self.stock})"

    def _public(self, field: str) -> Any:
        return self.data["public"][field][0]

    def _card(self, field: str) -> int | None:
        card = int(self._public(field))
        return None if card == NO_CARD else card

    def _pair(self, field: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        mine, others = self._public(field)
        return cards_of(mine), cards_of(others)


def legal_actions(legal: Any) -> list[int]:
    """The action ids of a `LEGAL` record, rising."""
    discards, goes_out, others = legal.item()
    mask = others | discards << DISCARD | goes_out << GO_OUT
    actions = []
    while mask:
        actions.append((mask & -mask).bit_length() - 1)
        mask &= mask - 1
    return actions
