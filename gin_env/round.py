"""One hand, played from outside: the plain way into the engine. Sits on the rules and the observation."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gin_env.observation import action_masks_of, observations_of
from gin_env.rules import determinize, phases
from gin_env.rules.actions import illegal
from gin_env.rules.cards import card_text, cards_of
from gin_env.rules.ruleset import Rules, compiled_rules
from gin_env.rules.state import NO_CARD, OUTCOMES, PHASES, RECORD
from gin_env.rules.view import VIEW, View, legal_actions, write_views


def checked_seed(seed: object, name: str = "seed") -> int:
    """The seed as an int, fresh from the system for None.

    Raises:
        ValueError: no integer from 0 to 2**64 - 1.
    """
    if seed is None:
        return secrets.randbits(63)
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**64:
        raise ValueError(f"{name}={seed!r}: expected None or an integer 0 .. 2**64 - 1")
    return int(seed)


def checked_seat(seat: object, name: str = "seat") -> int:
    """The seat as an int, or a ValueError."""
    if isinstance(seat, bool) or not isinstance(seat, (int, np.integer)) or seat not in (0, 1):
        raise ValueError(f"{name}={seat!r}: expected 0 or 1")
    return int(seat)


def checked_deck(deck: Iterable[int]) -> list[int]:
    """The deck as a list of card ids, or a ValueError that says what is wrong with it."""
    try:
        cards = list(deck)
    except TypeError:
        raise ValueError(f"deck={deck!r}: expected a permutation of the card ids 0..51") from None
    for card in cards:
        if isinstance(card, bool) or not isinstance(card, (int, np.integer)) or not 0 <= card < 52:
            raise ValueError(f"deck holds {card!r}: expected a permutation of the card ids 0..51")
    ids = [int(card) for card in cards]
    if len(ids) != 52 or len(set(ids)) != 52:
        twice = [card for card in dict.fromkeys(ids) if ids.count(card) > 1]
        why = f"{card_text(twice[0])} ({twice[0]}) stands twice" if twice else f"it has {len(ids)} cards"
        raise ValueError(f"deck is no permutation of the card ids 0..51: {why}")
    return ids


class Round:
    """One hand of gin.

    Args:
        rules: a preset's name, a `Rules`, or a mapping of rule fields.
        deck: a permutation of 0..51: ten cards of seat 0, ten of seat 1, the upcard, the stock from its top; None: from
            the seed.
        seed: 0 .. 2**64 - 1, used directly; None: from the system.
        first_player: the seat that has the first turn, the non-dealer; None: from the seed (rule 2.2).
        deal: which hand of the seed, counted from 0: an environment of the same seed deals these one after another.

    Raises:
        ValueError: an argument out of its bounds.

    >>> hand = Round(seed=7)
    >>> hand.legal_actions()
    [0, 1]
    >>> hand.apply(0)
    >>> hand.stock, hand.turns, hand.over
    (30, 0, False)
    """

    def __init__(
        self,
        rules: str | Rules | dict[str, Any] = "straight",
        deck: Sequence[int] | None = None,
        seed: int | None = None,
        first_player: int | None = None,
        *,
        deal: int = 0,
    ) -> None:
        self.rules = Rules.of(rules)
        seed = checked_seed(seed)
        if isinstance(deal, bool) or not isinstance(deal, (int, np.integer)) or not 0 <= deal < 2**32:
            raise ValueError(f"deal={deal!r}: expected an integer 0 .. 2**32 - 1")
        cards = None if deck is None else checked_deck(deck)
        first = None if first_player is None else checked_seat(first_player, "first_player")
        self._records = np.zeros(1, RECORD)
        self._records["public"]["rules"] = compiled_rules(self.rules)
        self._records["hidden"]["seed"] = seed
        self._records["hidden"]["deal"] = deal
        phases.start_all(self._records)
        if cards is not None:
            self._records["hidden"]["deck"] = cards
        if cards is not None or first is not None:
            phases.lay_out_first(self._records, self.first_player if first is None else first)
        self._deck: tuple[int, ...] | None = tuple(int(card) for card in self._records["hidden"]["deck"][0])
        self._actions: list[int] = []

    @property
    def player(self) -> int | None:
        """The seat to act; None when the hand is over."""
        player = int(self._records["public"]["player"][0])
        return None if player < 0 else player

    @property
    def first_player(self) -> int:
        """The seat that had the first turn."""
        return int(self._records["public"]["first_player"][0])

    @property
    def phase(self) -> str:
        """What is being decided: one of offer, stock, draw, discard, last, last_out, over."""
        return PHASES[self._records["public"]["phase"][0]]

    @property
    def over(self) -> bool:
        """Whether the hand has ended."""
        return self.player is None

    @property
    def outcome(self) -> str | None:
        """How the hand ended: "gin", "big_gin", "dead" or "turn_limit"; None while it is open."""
        return OUTCOMES[self._records["public"]["outcome"][0]]

    @property
    def scores(self) -> tuple[int, int]:
        """Points of the hand, by seat."""
        first, second = self._records["public"]["scores"][0]
        return int(first), int(second)

    @property
    def winner(self) -> int | None:
        """The seat that scored the hand; None while it is open and when nobody did."""
        winner = int(self._records["public"]["winner"][0])
        return None if winner < 0 else winner

    @property
    def turns(self) -> int:
        """Completed turns of both players."""
        return int(self._records["public"]["turns"][0])

    @property
    def stock(self) -> int:
        """Cards left in the stock."""
        return int(self._records["public"]["stock_left"][0])

    @property
    def upcard(self) -> int | None:
        """The top of the discard pile, None if it is empty."""
        card = int(self._records["public"]["upcard"][0])
        return None if card == NO_CARD else card

    @property
    def hands(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Both hands as sorted card ids, by seat; hidden from the players."""
        first, second = self._records["hidden"]["hands"][0]
        return cards_of(first), cards_of(second)

    @property
    def deck(self) -> tuple[int, ...] | None:
        """The deck as dealt; hidden from the players. None after :meth:`determinize`."""
        return self._deck

    @property
    def actions(self) -> tuple[int, ...]:
        """The actions so far."""
        return tuple(self._actions)

    @property
    def seed(self) -> int:
        """The seed that the hand was dealt from."""
        return int(self._records["hidden"]["seed"][0])

    def legal_actions(self) -> list[int]:
        """Legal actions of the seat to act, rising; empty when the hand is over."""
        return legal_actions(self._records["hidden"]["legal"][0])

    def apply(self, action: int) -> None:
        """Do an action of the seat to act.

        Raises:
            IllegalAction: the action is not legal now; nothing is changed.
        """
        number = isinstance(action, (int, np.integer)) and not isinstance(action, bool) and 0 <= action < 2**31
        if not number or not phases.apply_first(self._records, int(action)):
            raise illegal(action, self.phase, self.legal_actions())
        self._actions.append(int(action))

    def clone(self) -> Round:
        """A copy that goes its own way."""
        twin = Round.__new__(Round)
        twin.rules = self.rules
        twin._records = self._records.copy()
        twin._deck = self._deck
        twin._actions = self._actions.copy()
        return twin

    __copy__ = clone

    def view(self, seat: int) -> View:
        """What a seat may know."""
        return View(self._views(seat))

    def observation(self, seat: int) -> NDArray[np.int8]:
        """What a seat may know as the flat observation: (960,) int8 of 0 and 1."""
        return observations_of(self._views(seat))[0]

    def action_mask(self, seat: int) -> NDArray[np.int8]:
        """A seat's legal actions: (108,) int8, 1 where legal; all zeros when it is not to act."""
        return action_masks_of(self._views(seat))[0]

    def determinize(self, seat: int, seed: int) -> Round:
        """A copy in which all that a seat can't know is dealt anew: the opponent's unknown cards and the stock.

        Args:
            seat: whose knowledge is kept.
            seed: 0 .. 2**64 - 1; the same seed gives the same copy.

        Returns:
            A Round in which the seat's view is the same to the byte. It has no `deck`, as none was dealt.
        """
        seat, seed = checked_seat(seat), checked_seed(seed)
        twin = self.clone()
        twin._deck = None
        determinize.redeal_first(twin._records, seat, np.uint64(seed))
        return twin

    def _views(self, seat: int) -> NDArray[np.void]:
        views = np.zeros(1, VIEW)
        write_views(self._records, np.array([checked_seat(seat)], np.int8), views)
        return views

    def __repr__(self) -> str:
        return f"Round(rules={str(self.rules)!r}, seed={self.seed}, phase={self.phase!r}, player={self.player})"
