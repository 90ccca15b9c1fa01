"""Operations on 64-bit masks that compile to an instruction or two; numba has no names for them."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.cgutils import unpack_tuple
from numba.extending import intrinsic

from gin_env.compiled import jit

_BYTE = ir.IntType(8)
_BIT = ir.IntType(1)
_WORD = ir.IntType(64)
_INTEGER = ir.IntType(32)

# Arguments of LLVM's prefetch: to be written, kept in all caches, data.
_TO_WRITE = [ir.Constant(_INTEGER, 1), ir.Constant(_INTEGER, 3), ir.Constant(_INTEGER, 1)]


def _prefetch(builder: Any) -> Any:
    pointer = _BYTE.as_pointer()
    function = ir.FunctionType(ir.VoidType(), [pointer, _INTEGER, _INTEGER, _INTEGER])
    return builder.module.declare_intrinsic("llvm.prefetch", [pointer], function)


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


def bit_writer(starts: tuple[int, ...], width: int) -> Any:
    """Make the compiled function that writes blocks of bits as a row of bytes of 0 or 1.

    Args:
        starts: the column where each block begins; columns of no block are written 0.
        width: columns of the row, 64 at least.

    Returns:
        write(row: int8[::1], blocks: n-tuple of uint64). A block's bit i goes to column `start + i`; bits beyond the next block
        or the row must be 0. The row must have `width` columns; nothing checks it.

    The blocks are shifted together into 64-bit words. Each word becomes a vector of booleans that is widened to bytes and
    stored at once, which is what makes a wide row cheap. The row two further down is fetched meanwhile, as rows mostly follow
    one another and a batch of them is larger than the nearer caches; a fetch beyond the last row does nothing.
    """
    columns = [*range(0, width - 63, 64), *([width - 64] if width % 64 else [])]

    @intrinsic  # type: ignore[untyped-decorator]  # numba ships no types
    def write(typing_context: Any, row: Any, blocks: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, arguments[0])
            data = builder.bitcast(array.data, _BYTE.as_pointer())
            values = unpack_tuple(builder, arguments[1], len(starts))
            for column in columns:
                word = ir.Constant(_WORD, 0)
                for start, value in zip(starts, values, strict=True):
                    if 0 <= start - column < 64:
                        word = builder.or_(word, builder.shl(value, ir.Constant(_WORD, start - column)))
                    elif 0 < column - start < 64:
                        word = builder.or_(word, builder.lshr(value, ir.Constant(_WORD, column - start)))
                wide = builder.zext(builder.bitcast(word, ir.VectorType(_BIT, 64)), ir.VectorType(_BYTE, 64))
                at = builder.gep(data, [ir.Constant(_WORD, column)])
                ahead = builder.gep(data, [ir.Constant(_WORD, column + 2 * width)])
                builder.call(_prefetch(builder), [ahead, *_TO_WRITE])
                builder.store(wide, builder.bitcast(at, wide.type.as_pointer()), align=1)
            return context.get_dummy_value()

        return types.void(row, types.UniTuple(types.uint64, len(starts))), generate

    return write


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
