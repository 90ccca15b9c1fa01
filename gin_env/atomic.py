"""What threads share counters with, compiled: operations on a number of an int64 array that no other thread comes between."""

from typing import Any

from numba.core import types
from numba.extending import intrinsic


def _operation(name: str) -> Any:
    """Make fetch(counters: int64[::1], place: int64, value: int64) -> int64: the number before LLVM's operation was done."""

    @intrinsic  # type: ignore[untyped-decorator]  # numba ships no types
    def fetch(typing_context: Any, counters: Any, place: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, arguments[0])
            return builder.atomic_rmw(name, builder.gep(array.data, [arguments[1]]), arguments[2], "seq_cst")

        return types.int64(counters, types.int64, types.int64), generate

    return fetch


fetch_add = _operation("add")
fetch_min = _operation("min")
fetch_or = _operation("or")
