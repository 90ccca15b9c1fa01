"""Operations on 64-bit masks that compile to an instruction or two; numba has no names for them."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from gin_env.compiled import jit

_BYTE = ir.IntType(8)
_BIT = ir.IntType(1)


@intrinsic  # type: ignore[untyped-decorator]  # numba ships no types
def count(typing_context: Any, mask: Any) -> Any:
    """How many bits a mask has: count(mask: uint64) -> int64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]  # numba ships no types
def lowest(typing_context: Any, mask: Any) -> Any:
    """The place of a mask's lowest bit, 64 for an empty mask: lowest(mask: uint64) -> int64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(_BIT, 0))

    return types.int64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]  # numba ships no types
def write_bits(typing_context: Any, row: Any, start: Any, word: Any) -> Any:
    """Write the 64 bits of a word as 64 bytes of 0 or 1: write_bits(row: int8[::1], start: int64, word: uint64).

    The row must reach to `start + 64`; nothing checks it. The bits become a vector of booleans that is widened to bytes and
    stored at once, which is what makes a wide observation cheap.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        first = builder.gep(builder.bitcast(array.data, _BYTE.as_pointer()), [arguments[1]])
        bits = builder.bitcast(arguments[2], ir.VectorType(_BIT, 64))
        wide = builder.zext(bits, ir.VectorType(_BYTE, 64))
        builder.store(wide, builder.bitcast(first, wide.type.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(row, types.int64, types.uint64), generate


@jit
def bit(place: int) -> np.uint64:
    """The mask of one bit."""
    return np.uint64(1) << np.uint64(place)


@jit
def nth(mask: np.uint64, n: int) -> int:
    """The place of a mask's n-th lowest bit, n from 0; the mask must have more than n bits."""
    for _ in range(n):
        mask &= mask - np.uint64(1)
    return int(lowest(mask))
