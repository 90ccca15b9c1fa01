"""A random legal action in each game of a batch, as cheap as it gets: what a benchmark's player costs beside the engine."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from gin_env.bits import count
from gin_env.compiled import jit
from gin_env.rules import chance
from gin_env.rules.actions import ACTIONS

_SECOND = ACTIONS - 64  # where a mask's second word of 64 columns begins; it overlaps the first
_OVERLAP = np.uint64(64 - _SECOND)
# For words of 64, 32, .. 1 bits, the lower half.
_HALVES = ((32, 0xFFFFFFFF), (16, 0xFFFF), (8, 0xFF), (4, 0xF), (2, 0x3), (1, 0x1))


@intrinsic  # type: ignore[untyped-decorator]  # numba ships no types
def _bits(typing_context: Any, rows: Any, row: Any, column: Any) -> Any:
    """64 bytes of 0 or 1 as bits: _bits(rows: int8[:, ::1], row: int64, column: int64) -> uint64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        first = builder.mul(arguments[1], ir.Constant(ir.IntType(64), ACTIONS))
        at = builder.gep(array.data, [builder.add(first, arguments[2])])
        wide = ir.VectorType(ir.IntType(8), 64)
        values = builder.load(builder.bitcast(at, wide.as_pointer()), align=1)
        return builder.bitcast(builder.trunc(values, ir.VectorType(ir.IntType(1), 64)), ir.IntType(64))

    return types.uint64(rows, types.int64, types.int64), generate


@jit
def _nth(mask: np.uint64, n: int) -> int:
    """The place of a mask's n-th lowest bit, by halving: without a branch, as the place is random."""
    place = 0
    for width, lower in _HALVES:
        below = count(mask & np.uint64(lower))
        above = n >= below
        n -= below * above
        mask >>= np.uint64(width * above)
        place += width * above
    return place


@jit
def choose(masks: NDArray[np.int8], seed: int, actions: NDArray[np.int64]) -> None:
    """Fill `actions` (n,) with a random legal action for each of `masks` (n, 108), all equally likely."""
    for i in range(len(masks)):
        low = _bits(masks, i, 0)
        high = _bits(masks, i, _SECOND) >> _OVERLAP
        in_low = count(low)
        random = chance.draw(np.uint64(seed), np.uint64(i))
        n = chance.below(random, in_low + count(high))
        second = n >= in_low
        actions[i] = 64 * second + _nth(high if second else low, n - in_low * second)
