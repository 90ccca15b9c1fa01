"""The rule-based players of levels 0 to 2: `random`, `novice`, `simple`, `greedy`. Each is one function (view, key) -> action.

All go out when they can, with big gin where it pays at least as much. Every choice is judged by what the best legal
discard would leave. Ties go to the highest rank, then the highest card id, unless the level says random.
"""

from typing import Any

import numpy as np

from gin_env.bits import bit, lowest
from gin_env.compiled import jit
from gin_env.rules import chance
from gin_env.rules.actions import BIG_GIN, DISCARD, DRAW, GO_OUT, PASS, TAKE
from gin_env.rules.melds import SUIT, hand_deadwood, set_ranks
from gin_env.rules.state import DISCARD_PHASE, LAST, LAST_OUT, NO_CARD, STOCK

_NOTHING = np.uint64(0)


def random_action(view: Any, key: np.uint64) -> int:
    """Level 0: draws and discards at random, all legal choices equally likely; goes out when it can."""
    if discarding(view):
        return discard_or_go_out(view, chance.random_place(discardable(view), key))
    return chance.random_place(np.uint64(view.legal.others), key)


def novice_action(view: Any, key: np.uint64) -> int:
    """Level 1: draws by the flip of a coin; discards for least deadwood, ties at random."""
    if discarding(view):
        return discard_or_go_out(view, chance.random_place(least_deadwood_discards(view, discardable(view)), key))
    if view.public.phase == STOCK:
        return DRAW
    return draw_action(view, chance.below(key, 2) == 1)


def simple_action(view: Any, key: np.uint64) -> int:
    """Level 2a: takes the upcard if some meld of hand and upcard holds it; discards for least deadwood, ties at random.

    It never throws back the card just taken, where the rules would allow that.
    """
    if discarding(view):
        cards = discardable(view)
        if view.public.taken != NO_CARD and cards != bit(view.public.taken):
            cards &= ~bit(view.public.taken)
        return discard_or_go_out(view, chance.random_place(least_deadwood_discards(view, cards), key))
    if view.public.phase == STOCK:
        return DRAW
    return draw_action(view, in_some_meld(view.hand, view.public.upcard))


def greedy_action(view: Any, key: np.uint64) -> int:
    """Level 2b: takes the upcard if that lowers deadwood; discards for least deadwood, ties to the highest card."""
    if discarding(view):
        return discard_or_go_out(view, highest(least_deadwood_discards(view, discardable(view))))
    if view.public.phase == STOCK:
        return DRAW
    limit = view.public.rules.meld_limit
    taken = view.hand | bit(view.public.upcard)
    return draw_action(view, least_deadwood(taken, view.hand, limit) < hand_deadwood(view.hand, limit))


@jit
def discarding(view: Any) -> bool:
    """Whether a card is to be discarded now."""
    return view.public.phase == DISCARD_PHASE or view.public.phase == LAST_OUT


@jit
def draw_action(view: Any, take: bool) -> int:
    """Take the upcard, or what else the phase allows: the stock, or a pass. The last discard is offered only to go out with."""
    if take or view.public.phase == LAST:
        return TAKE
    return DRAW if view.legal.others & 1 else PASS


@jit
def discard_or_go_out(view: Any, card: int) -> int:
    """Go out if that is legal, by big gin where it pays at least as much; else discard the card."""
    rules = view.public.rules
    big = view.legal.others == 1 << BIG_GIN
    if big and (rules.big_gin_bonus >= rules.gin_bonus or view.legal.goes_out == _NOTHING):
        return BIG_GIN
    if view.legal.goes_out != _NOTHING:
        return GO_OUT + highest(view.legal.goes_out)
    return DISCARD + card


@jit
def least_deadwood(hand: np.uint64, may_go: np.uint64, limit: int) -> int:
    """Deadwood of an eleven-card hand after the best discard among some of its cards."""
    least = 1000
    while may_go:
        card = may_go & (~may_go + np.uint64(1))
        least = min(least, hand_deadwood(hand & ~card, limit))
        may_go &= ~card
    return least


@jit
def discardable(view: Any) -> np.uint64:
    """The cards that may be discarded; where only going out is legal, those that may be so."""
    return view.legal.discards if view.legal.discards else view.legal.goes_out


@jit
def least_deadwood_discards(view: Any, cards: np.uint64) -> np.uint64:
    """Those of some cards of the hand whose discard leaves least deadwood."""
    least = 1000
    best = _NOTHING
    left = cards
    while left:
        card = left & (~left + np.uint64(1))
        deadwood = hand_deadwood(view.hand & ~card, view.public.rules.meld_limit)
        if deadwood < least:
            least = deadwood
            best = _NOTHING
        if deadwood == least:
            best |= card
        left &= ~card
    return best


@jit
def in_some_meld(hand: np.uint64, card: int) -> bool:
    """Whether some meld of the hand and the card holds the card."""
    cards = hand | bit(card)
    if set_ranks(cards) >> np.uint64(card % 13) & np.uint64(1):
        return True
    suit = (cards >> np.uint64(13 * (card // 13))) & SUIT
    starts = suit & (suit >> np.uint64(1)) & (suit >> np.uint64(2))
    # A run of three that starts at most two ranks below holds the card's rank.
    return ((starts | (starts << np.uint64(1)) | (starts << np.uint64(2))) >> np.uint64(card % 13)) & np.uint64(1) != 0


@jit
def highest(cards: np.uint64) -> int:
    """The card of highest rank, then of highest id."""
    best = -1
    best_rank = -1
    while cards:
        card = lowest(cards)
        if card % 13 >= best_rank:
            best, best_rank = card, card % 13
        cards &= cards - np.uint64(1)
    return best
