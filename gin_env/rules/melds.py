"""Melds: exact deadwood, one best arrangement, and the discards that leave gin (rules 1.3 to 1.5).

A hand's sets are tried in all combinations (with eleven cards at most three ranks can make one, each in at most six
ways); what a suit's remaining cards come to when melded in runs is looked up in a table by their 13-bit pattern. That is
exhaustive, not greedy. Compiled functions take the meld limit as a table row: 0 no limit, 1 `max_run=4`.
"""

from collections.abc import Iterable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from gin_env.bits import count, lowest
from gin_env.compiled import jit
from gin_env.rules.cards import VALUES, as_cards, card_text, cards_of, mask_of

MOST_DEADWOOD = 98  # of ten cards: K K Q Q J J T T 9 9 without a meld

SUIT = np.uint64(0x1FFF)
_PATTERNS = np.arange(1 << 13)


def _held(first: int, last: int) -> NDArray[np.bool_]:
    """Of all suit patterns, which hold every rank from `first` to `last`."""
    ranks = mask_of(range(first, last + 1))
    return (_PATTERNS & ranks) == ranks


def _run_deadwood(longest: int) -> NDArray[np.uint8]:
    """For every suit pattern, the least value left outside runs of 3 to `longest` cards."""
    # least[r]: the answer for the ranks below r alone.
    least = [np.zeros(1 << 13, np.int64)]
    for rank in range(13):
        best = least[rank] + np.where(_held(rank, rank), VALUES[rank], 0)
        for length in range(3, min(longest, rank + 1) + 1):
            melded = _held(rank - length + 1, rank)
            best = np.where(melded, np.minimum(best, least[rank - length + 1]), best)
        least.append(best)
    return least[13].astype(np.uint8)


def _spare_cards(deadwood: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """For every suit pattern, its cards without which the rest is all in runs."""
    spare = np.zeros(1 << 13, np.uint16)
    for rank in range(13):
        held = _held(rank, rank)
        melded = deadwood[_PATTERNS & ~(1 << rank)] == 0
        spare |= np.where(held & melded, 1 << rank, 0).astype(np.uint16)
    return spare


RUN_DEADWOOD = np.stack([_run_deadwood(13), _run_deadwood(4)])
SPARE_CARDS = np.stack([_spare_cards(table) for table in RUN_DEADWOOD])

# The sets to be made of the four cards of a rank, by which suits are held (4 bits): none, three, four. As masks of the aces.
_SETS_BY_HOLDING = [
    [0] + [mask_of(13 * s for s in suits) for n in (3, 4) for suits in combinations(cards_of(holding), n)]
    for holding in range(16)
]
SET_COUNT = np.array([len(sets) for sets in _SETS_BY_HOLDING], np.int64)
RUN_STARTS = np.uint64(mask_of(13 * suit + rank for suit in range(4) for rank in range(11)))  # no run wraps from a king
SETS = np.array([sets + [0] * (6 - len(sets)) for sets in _SETS_BY_HOLDING], np.uint64)


@jit
def run_deadwood(cards: np.uint64, limit: int) -> int:
    """Least value left when the cards are melded in runs alone."""
    table = RUN_DEADWOOD[limit]
    return (
        np.int64(table[cards & SUIT])  # type: ignore[return-value]  # an int to compiled code; int() would stay unsigned
        + np.int64(table[(cards >> np.uint64(13)) & SUIT])
        + np.int64(table[(cards >> np.uint64(26)) & SUIT])
        + np.int64(table[(cards >> np.uint64(39)) & SUIT])
    )


@jit
def set_ranks(cards: np.uint64) -> np.uint64:
    """The ranks (13 bits) of which three or four cards are held."""
    s = cards & SUIT
    h = (cards >> np.uint64(13)) & SUIT
    d = (cards >> np.uint64(26)) & SUIT
    c = cards >> np.uint64(39)
    return (s & h & (d | c)) | (d & c & (s | h))


@jit
def holding(cards: np.uint64, rank: int) -> int:
    """Which suits of a rank are held, as 4 bits."""
    x = cards >> np.uint64(rank)
    return np.int64(  # type: ignore[return-value]  # likewise
        (x & np.uint64(1))
        | ((x >> np.uint64(12)) & np.uint64(2))
        | ((x >> np.uint64(24)) & np.uint64(4))
        | ((x >> np.uint64(36)) & np.uint64(8))
    )


@jit
def set_choices(cards: np.uint64) -> tuple[int, int, int, int, int, int]:
    """For up to three ranks that can make a set: each one's rank and holding; 0, 0 where there are fewer."""
    ranks = set_ranks(cards)
    rank0 = rank1 = rank2 = 0
    holding0 = holding1 = holding2 = 0
    if ranks:
        rank0 = lowest(ranks)
        holding0 = holding(cards, rank0)
        ranks &= ranks - np.uint64(1)
    if ranks:
        rank1 = lowest(ranks)
        holding1 = holding(cards, rank1)
        ranks &= ranks - np.uint64(1)
    if ranks:
        rank2 = lowest(ranks)
        holding2 = holding(cards, rank2)
    return rank0, holding0, rank1, holding1, rank2, holding2


@jit
def hand_deadwood(cards: np.uint64, limit: int) -> int:
    """Deadwood of at most eleven cards (rule 1.4)."""
    least = run_deadwood(cards, limit)
    if set_ranks(cards) == 0:
        return least
    rank0, holding0, rank1, holding1, rank2, holding2 = set_choices(cards)
    for i in range(SET_COUNT[holding0]):
        without0 = cards & ~(SETS[holding0, i] << np.uint64(rank0))
        for j in range(SET_COUNT[holding1]):
            without1 = without0 & ~(SETS[holding1, j] << np.uint64(rank1))
            for k in range(SET_COUNT[holding2]):
                without2 = without1 & ~(SETS[holding2, k] << np.uint64(rank2))
                least = min(least, run_deadwood(without2, limit))
    return least


@jit
def may_gin(cards: np.uint64) -> bool:
    """Whether ten of the cards at least are in some meld: a quick and necessary condition for gin."""
    middle = cards & (cards >> np.uint64(1)) & (cards >> np.uint64(2)) & RUN_STARTS
    in_runs = middle | (middle << np.uint64(1)) | (middle << np.uint64(2))
    ranks = set_ranks(cards)
    in_sets = cards & (ranks | (ranks << np.uint64(13)) | (ranks << np.uint64(26)) | (ranks << np.uint64(39)))
    return count(in_runs | in_sets) >= 10


@jit
def leaves_runs(cards: np.uint64, limit: int) -> np.uint64:
    """The cards without which all the others are in runs."""
    spare = np.uint64(0)
    broken = 0
    for s in range(4):
        shift = np.uint64(13 * s)
        pattern = (cards >> shift) & SUIT
        here = np.uint64(SPARE_CARDS[limit, pattern]) << shift
        if RUN_DEADWOOD[limit, pattern] != 0:
            broken += 1
            spare = here
        elif broken == 0:
            spare |= here
    return spare if broken <= 1 else np.uint64(0)


@jit
def gin_discard_mask(cards: np.uint64, limit: int) -> np.uint64:
    """The cards of an eleven-card hand whose discard leaves gin (rule 3.1)."""
    found = np.uint64(0)
    if not may_gin(cards):
        return found
    rank0, holding0, rank1, holding1, rank2, holding2 = set_choices(cards)
    for i in range(SET_COUNT[holding0]):
        without0 = cards & ~(SETS[holding0, i] << np.uint64(rank0))
        for j in range(SET_COUNT[holding1]):
            without1 = without0 & ~(SETS[holding1, j] << np.uint64(rank1))
            for k in range(SET_COUNT[holding2]):
                without2 = without1 & ~(SETS[holding2, k] << np.uint64(rank2))
                found |= leaves_runs(without2, limit)
    return found


def meld_limit(max_run: int | None) -> int:
    """The row of the meld tables for a `max_run`.

    Raises:
        ValueError: `max_run` is neither None nor 4.
    """
    if max_run is None:
        return 0
    if type(max_run) is not int or max_run != 4:
        raise ValueError(f"max_run={max_run!r}: expected None (runs of any length) or 4")
    return 1


def _checked_hand(cards: str | Iterable[int], sizes: range) -> tuple[int, ...]:
    hand = as_cards(cards)
    if len(hand) not in sizes:
        wanted = f"{sizes[0]}" if len(sizes) == 1 else f"at most {sizes[-1]}"
        raise ValueError(f"{len(hand)} cards ({card_text(hand)}): expected {wanted}")
    return hand


def deadwood(cards: str | Iterable[int], max_run: int | None = None) -> int:
    """Deadwood of a hand: the least value left outside melds, over all ways to meld it (rule 1.4).

    Args:
        cards: at most eleven cards, as text or as card ids.
        max_run: None for runs of any length, 4 for melds of three and four only.

    Returns:
        Points.

    Raises:
        ValueError: a card does not parse or stands twice, more than eleven cards, or another `max_run`.

    >>> deadwood("5H 6H 7H 7S 7D 7C JC QC KC 2D")
    2
    """
    limit = meld_limit(max_run)
    return int(hand_deadwood(np.uint64(mask_of(_checked_hand(cards, range(12)))), limit))


def gin_discards(cards: str | Iterable[int], max_run: int | None = None) -> list[int]:
    """The cards of an eleven-card hand whose discard leaves gin (rules 1.5, 3.1).

    Args:
        cards: eleven cards, as text or as card ids.
        max_run: as in :func:`deadwood`.

    Returns:
        Card ids, rising; empty where no discard leaves gin.

    Raises:
        ValueError: as in :func:`deadwood`, or another number of cards than eleven.

    >>> card_text(gin_discards("AS AC AH 2S 2C 2D 2H 3H KS KC KD"))
    '3H'
    """
    limit = meld_limit(max_run)
    mask = np.uint64(mask_of(_checked_hand(cards, range(11, 12))))
    return list(cards_of(int(gin_discard_mask(mask, limit))))


def best_melds(cards: str | Iterable[int], max_run: int | None = None) -> tuple[list[tuple[int, ...]], tuple[int, ...]]:
    """One arrangement of a hand that leaves the least deadwood (rules 1.3, 1.4).

    Args:
        cards: at most eleven cards, as text or as card ids.
        max_run: as in :func:`deadwood`.

    Returns:
        The melds, each a rising tuple of card ids, and the cards left over. Of several best arrangements, the one that
        takes the melds of most cards first, then those of the lowest.

    Raises:
        ValueError: as in :func:`deadwood`.

    >>> melds, leftover = best_melds("AH 2H 3H 9H 9D 9C 4D KS")
    >>> [card_text(meld) for meld in melds], card_text(leftover)
    (['AH 2H 3H', '9H 9D 9C'], 'KS 4D')
    """
    limit = meld_limit(max_run)
    left = mask_of(_checked_hand(cards, range(12)))
    target = int(hand_deadwood(np.uint64(left), limit))
    melds: list[tuple[int, ...]] = []
    # A meld is in a best arrangement exactly when the other cards can still come to the same deadwood without it.
    for meld in _melds_of(left, longest=4 if max_run else 13):
        mask = mask_of(meld)
        if mask & left == mask and int(hand_deadwood(np.uint64(left & ~mask), limit)) == target:
            melds.append(meld)
            left &= ~mask
    return melds, cards_of(left)


def _melds_of(hand: int, longest: int) -> list[tuple[int, ...]]:
    """All melds that can be made of a hand, longest first so that no run is cut into two, then by lowest card."""
    runs = [
        tuple(range(13 * suit + rank, 13 * suit + rank + length))
        for suit in range(4)
        for length in range(3, longest + 1)
        for rank in range(14 - length)
    ]
    sets = [
        tuple(13 * suit + rank for suit in suits)
        for rank in range(13)
        for size in (3, 4)
        for suits in combinations(range(4), size)
    ]
    possible = (meld for meld in runs + sets if mask_of(meld) & hand == mask_of(meld))
    return sorted(possible, key=lambda meld: (-len(meld), meld))
