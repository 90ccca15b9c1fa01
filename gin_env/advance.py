"""The one primitive of play: let compiled policies decide until an outside decision is due or the hand is over."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import from_dtype
from numba.core import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from gin_env.compiled import jit
from gin_env.rules import chance
from gin_env.rules.phases import apply, is_legal
from gin_env.rules.view import VIEW, write_view

# What a compiled policy is: action = decide(view, key).
DECIDE = types.int64(from_dtype(VIEW), types.uint64)
OUTSIDE = 0  # in place of a compiled policy's address: the seat is decided outside


@intrinsic  # type: ignore[untyped-decorator]  # numba ships no types
def decide_at(typing_context: Any, address: Any, view: Any, key: Any) -> Any:
    """Ask the compiled policy at an address (int64) for its action (int64), given a `VIEW` and a key.

    An address is a number to compiled code, so that policies can change without compiling anything anew.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte, word = ir.IntType(8), ir.IntType(64)
        function = ir.FunctionType(word, [byte.as_pointer(), word]).as_pointer()
        view_at = builder.bitcast(arguments[1], byte.as_pointer())
        return builder.call(builder.inttoptr(arguments[0], function), [view_at, arguments[2]])

    return types.int64(types.int64, DECIDE.args[0], types.uint64), generate


@jit
def decision_key(record: Any, seat: int) -> np.uint64:
    """The randomness of the decision that is due: from seed, deal, seat and decision number alone."""
    stream = chance.stream_of(record.hidden.seed, np.uint64(record.hidden.deal), chance.POLICIES)
    return chance.draw(stream, np.uint64(record.hidden.decisions) * np.uint64(2) + np.uint64(seat))


@jit
def play_on(record: Any, seat0: int, seat1: int, view: Any) -> bool:
    """Play a record on until a seat that is decided outside is to act, or the hand is over.

    Args:
        record: one of `RECORD`.
        seat0: address of seat 0's compiled policy, or `OUTSIDE`.
        seat1: the same for seat 1.
        view: a `VIEW` to work in.

    Returns:
        False if a policy chose an illegal action; the record stands before that action.
    """
    while record.public.player >= 0:
        seat = record.public.player
        address = seat1 if seat else seat0
        if address == OUTSIDE:
            return True
        write_view(record, seat, view)
        action = decide_at(address, view, decision_key(record, seat))
        if not is_legal(record.hidden.legal, action):
            return False
        apply(record, action)
    return True


@jit
def advance(records: NDArray[np.void], seat0: int, seat1: int, scratch: NDArray[np.void]) -> int:
    """Play every record on as :func:`play_on` does.

    Returns:
        -1, or the index of a record whose policy chose an illegal action; that record stands before that action, the later
        ones were not played.
    """
    for i in range(len(records)):
        if not play_on(records[i], seat0, seat1, scratch[0]):
            return i
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
