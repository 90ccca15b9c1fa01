"""The one primitive of play: let compiled policies decide until an outside decision is due or the hand is over."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gin_env.compiled import jit
from gin_env.rules import chance
from gin_env.rules.phases import apply, is_legal
from gin_env.rules.view import write_view


@jit
def decision_key(record: Any, seat: int) -> np.uint64:
    """The randomness of the decision that is due: from seed, deal, seat and decision number alone."""
    stream = chance.stream_of(record.hidden.seed, np.uint64(record.hidden.deal), chance.POLICIES)
    return chance.draw(stream, np.uint64(record.hidden.decisions) * np.uint64(2) + np.uint64(seat))


@jit
def advance(records: NDArray[np.void], outside: NDArray[np.int8], seat0: Any, seat1: Any, scratch: NDArray[np.void]) -> int:
    """Play every record on until a seat that is decided outside is to act, or the hand is over.

    Args:
        records: (n,) of `RECORD`.
        outside: (n,) int8; bit 0 and bit 1 say which seats are decided outside.
        seat0: compiled policy of seat 0.
        seat1: compiled policy of seat 1.
        scratch: one `VIEW` to work in.

    Returns:
        -1, or the index of a record whose policy chose an illegal action; that record stands before that action.
    """
    view = scratch[0]
    for i in range(len(records)):
        record = records[i]
        while record.public.player >= 0:
            seat = record.public.player
            if (outside[i] >> seat) & 1:
                break
            write_view(record, seat, view)
            key = decision_key(record, seat)
            action = seat0(view, key) if seat == 0 else seat1(view, key)
            if not is_legal(record.hidden.legal, action):
                return i
            apply(record, action)
    return -1


@jit
def write_decisions(
    records: NDArray[np.void], lanes: NDArray[np.int64], views: NDArray[np.void], keys: NDArray[np.uint64]
) -> None:
    """Write the view of the seat to act and the key of its decision, for some of the records."""
    for row in range(len(lanes)):
        record = records[lanes[row]]
        write_view(record, record.public.player, views[row])
        keys[row] = decision_key(record, record.public.player)


@jit
def apply_some(records: NDArray[np.void], lanes: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
    """Do one legal action in each of some of the records."""
    for row in range(len(lanes)):
        apply(records[lanes[row]], actions[row])
