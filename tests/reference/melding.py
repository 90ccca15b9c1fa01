"""Melds and deadwood by exhaustive search. Numbers in comments are clauses of the rules page.

1.1 Card id = 13 * suit + rank; suits S, H, D, C = 0..3; ranks A, 2 .. 10, J, Q, K = 0..12.
"""

from collections.abc import Iterable
from functools import lru_cache
from itertools import combinations

SETS = [  # 1.3: three or four cards of one rank
    frozenset(13 * suit + rank for suit in suits)
    for rank in range(13)
    for size in (3, 4)
    for suits in combinations(range(4), size)
]
RUNS = [  # 1.3: three or more consecutive cards of one suit; 1.2: the ace is low only
    frozenset(range(13 * suit + low, 13 * suit + high + 1))
    for suit in range(4)
    for low in range(13)
    for high in range(low + 2, 13)
]


def value(card: int) -> int:
    """1.2: ace 1, 2-10 their face value, J Q K 10."""
    return min(card % 13 + 1, 10)


def all_melds(cards: frozenset[int], max_run: int | None) -> list[frozenset[int]]:
    """Every meld that lies within `cards`; no run is longer than `max_run` (1.3)."""
    runs = [run for run in RUNS if max_run is None or len(run) <= max_run]
    return [meld for meld in SETS + runs if meld <= cards]


def deadwood(cards: Iterable[int], max_run: int | None = None) -> int:
    """1.4: the least total value left outside melds, over all ways to meld the cards."""
    return _deadwood(frozenset(cards), max_run)


@lru_cache(maxsize=10_000)  # the engine asks for the same hands again and again
def _deadwood(hand: frozenset[int], max_run: int | None) -> int:
    melds = all_melds(hand, max_run)

    def least(left: frozenset[int]) -> int:
        """The lowest card left is either deadwood or in one of the melds that hold it: try all of these."""
        if not left:
            return 0
        card = min(left)
        unmelded = value(card) + least(left - {card})
        return min([unmelded] + [least(left - meld) for meld in melds if card in meld and meld <= left])

    return least(hand)


def is_melded(cards: Iterable[int], max_run: int | None) -> bool:
    """1.5 for ten cards, 3.3 for eleven: every card is in a meld."""
    return deadwood(cards, max_run) == 0


def gin_discards(cards11: Iterable[int], max_run: int | None) -> list[int]:
    """3.1: the cards, sorted, whose discard leaves ten with deadwood 0."""
    hand = frozenset(cards11)
    return [card for card in sorted(hand) if is_melded(hand - {card}, max_run)]
