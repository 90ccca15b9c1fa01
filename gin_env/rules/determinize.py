"""Dealing anew what a seat can't know: the opponent's unknown cards and the stock. For search and for tests of secrecy."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gin_env.bits import bit, count, lowest
from gin_env.compiled import jit
from gin_env.rules import chance
from gin_env.rules.phases import could_go_out, find_legal
from gin_env.rules.state import LAST, LAST_OUT, NO_CARD

ALL_CARDS = np.uint64((1 << 52) - 1)


@jit
def unknown_cards(record: Any, seat: int) -> np.uint64:
    """The cards whose place a seat can't know."""
    public, hidden = record.public, record.hidden
    seen = hidden.hands[seat] | public.buried | known_held(record, seat)
    if public.upcard != NO_CARD:
        seen |= bit(public.upcard)
    if hidden.face_down != NO_CARD and public.winner == seat:
        seen |= bit(hidden.face_down)
    return ALL_CARDS & ~seen


@jit
def known_held(record: Any, seat: int) -> np.uint64:
    """The cards that a seat knows in the opponent's hand.

    After a face-down gin discard even a card taken from the pile may be the one that was discarded.
    """
    if record.hidden.face_down != NO_CARD and record.public.winner != seat:
        return np.uint64(0)
    return record.public.known[1 - seat]


@jit
def deal_out(record: Any, seat: int, stream: np.uint64) -> None:
    """Deal the cards that a seat can't know at random to the places that it can't see."""
    public, hidden = record.public, record.hidden
    unknown = unknown_cards(record, seat)
    known = known_held(record, seat)
    # The stock's part of the deck is at its end; the opponent's cards (and a face-down discard) are put just before it.
    total = count(unknown)
    places = hidden.deck[52 - total :]
    for i in range(total):
        places[i] = lowest(unknown)
        unknown &= unknown - np.uint64(1)
    chance.shuffle(places, stream)
    drawn = count(hidden.hands[1 - seat]) - count(known)
    hand = known
    for i in range(drawn):
        hand |= bit(places[i])
    hidden.hands[1 - seat] = hand
    if hidden.face_down != NO_CARD and public.winner != seat:
        hidden.face_down = places[drawn]


@jit
def redeal(record: Any, seat: int, seed: np.uint64) -> None:
    """Deal anew what a seat can't know, so that what the seat has seen could have happened.

    Being asked for the last discard shows that the opponent can go out with it (rule 3.5): deals are drawn until he can. So
    late in a hand few cards are unknown, and a few hundred draws are the most it takes.
    """
    public, hidden = record.public, record.hidden
    stream = chance.stream_of(seed, np.uint64(0), chance.REDEALING)
    waits_for_last = public.player == 1 - seat and (public.phase == LAST or public.phase == LAST_OUT)
    attempt = np.uint64(0)
    while True:
        deal_out(record, seat, chance.draw(stream, attempt))
        attempt += np.uint64(1)
        if public.phase == LAST and waits_for_last and not could_go_out(record):
            continue
        find_legal(record)
        if public.phase == LAST_OUT and hidden.legal.goes_out == np.uint64(0) and hidden.legal.others == 0:
            continue
        break
    hidden.seed = seed


@jit
def redeal_first(records: NDArray[np.void], seat: int, seed: np.uint64) -> None:
    """Deal anew what a seat can't know of the first record."""
    redeal(records[0], seat, seed)
