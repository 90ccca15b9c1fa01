"""Cards: ids, text, values, and hands as 52-bit masks (rules 1.1, 1.2).

Card id = 13 * suit + rank; suits S, H, D, C = 0..3; ranks A, 2 .. 10, J, Q, K = 0..12. A mask has bit `id` set for each
card it holds.
"""

from collections.abc import Iterable

import numpy as np

RANKS = "A23456789TJQK"
SUITS = "SHDC"
VALUES = tuple(min(rank + 1, 10) for rank in range(13))

_IDS = {rank + suit: 13 * s + r for s, suit in enumerate(SUITS) for r, rank in enumerate(RANKS)}
_IDS |= {"10" + suit: _IDS["T" + suit] for suit in SUITS}
_TEXTS = tuple(rank + suit for suit in SUITS for rank in RANKS)


def parse_cards(text: str) -> tuple[int, ...]:
    """Card ids of a text of cards, in the order of the text (rule 1.1).

    Args:
        text: cards as rank then suit, apart by spaces or commas, upper or lower case; `10H` and `TH` are the same card.

    Returns:
        Card ids, 0..51.

    Raises:
        ValueError: a card does not parse or stands twice.

    >>> parse_cards("AS TH 10D kc")
    (0, 22, 35, 51)
    """
    if not isinstance(text, str):
        raise TypeError(f"cards must be text such as 'AS TH QC', got {text!r}")
    words = text.upper().replace(",", " ").split()
    for word in words:
        if word not in _IDS:
            raise ValueError(f"{word!r} is no card: expected a rank of {RANKS} (or 10), then a suit of {SUITS}")
    return checked_cards(_IDS[word] for word in words)


def card_text(cards: int | Iterable[int]) -> str:
    """Text of a card id or of several, apart by spaces.

    >>> card_text(22), card_text([0, 51])
    ('TH', 'AS KC')
    """
    if isinstance(cards, (int, np.integer)):
        cards = (cards,)
    return " ".join(_TEXTS[card] for card in checked_cards(cards))


def checked_cards(cards: Iterable[int]) -> tuple[int, ...]:
    """The card ids as a tuple of ints, or a ValueError that names the one which is no card or stands twice."""
    if not isinstance(cards, Iterable):
        raise TypeError(f"{cards!r} is no hand: expected card ids, or text such as 'AS TH QC'")
    ids: list[int] = []
    for card in cards:
        if isinstance(card, bool) or not isinstance(card, (int, np.integer)) or not 0 <= card < 52:
            raise ValueError(f"{card!r} is no card id: expected an integer 0..51")
        if card in ids:
            raise ValueError(f"card {_TEXTS[card]} stands twice: expected each card at most once")
        ids.append(int(card))
    return tuple(ids)


def as_cards(cards: str | Iterable[int]) -> tuple[int, ...]:
    """Card ids of text or of ids; see :func:`parse_cards` for the errors."""
    return parse_cards(cards) if isinstance(cards, str) else checked_cards(cards)


def mask_of(cards: Iterable[int]) -> int:
    """The mask of some card ids."""
    mask = 0
    for card in cards:
        mask |= 1 << card
    return mask


def cards_of(mask: int) -> tuple[int, ...]:
    """The card ids of a mask, rising."""
    return tuple(card for card in range(52) if int(mask) >> card & 1)
