"""All randomness: counter-based, the same on every platform, nothing global.

A stream is named by (seed, deal, purpose): what one purpose draws never moves another's. The generator is SplitMix64
(Steele, Lea and Flood 2014), whose state is a counter, so a stream is a key and a count.
"""

import numpy as np
from numpy.typing import NDArray

from gin_env.bits import count, nth
from gin_env.compiled import jit

# Purposes.
DEALING = np.uint64(0)  # the shuffle and who goes first
POLICIES = np.uint64(1)  # the keys of policies' decisions
SEATING = np.uint64(2)  # the learner's seat and opponent
REDEALING = np.uint64(3)  # what a seat can't know, dealt anew

_STEP = np.uint64(0x9E3779B97F4A7C15)


@jit
def mixed(x: np.uint64) -> np.uint64:
    """SplitMix64's output function: a bijection of 64 bits without visible structure."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@jit
def draw(stream: np.uint64, n: np.uint64) -> np.uint64:
    """The n-th 64 random bits of a stream."""
    return mixed(stream + (n + np.uint64(1)) * _STEP)


@jit
def stream_of(seed: np.uint64, deal: np.uint64, purpose: np.uint64) -> np.uint64:
    """The stream of a purpose in a deal of a seed."""
    return draw(draw(draw(np.uint64(0), np.uint64(seed)), np.uint64(deal)), purpose)


@jit
def below(random: np.uint64, bound: int) -> int:
    """A number 0 <= x < bound, bound < 2**32, from 64 random bits; the bias is below bound / 2**32."""
    return np.int64(((random >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))  # type: ignore[return-value]  # an int to compiled code; int() would stay unsigned


@jit
def random_place(mask: np.uint64, random: np.uint64) -> int:
    """One place of a mask that is not empty, all equally likely."""
    return nth(mask, below(random, count(mask)))


@jit
def shuffle(cards: NDArray[np.int8], stream: np.uint64) -> None:
    """Shuffle an array in place (Fisher and Yates), by the first `len(cards) - 1` numbers of a stream."""
    for n in range(len(cards) - 1):
        other = n + below(draw(stream, np.uint64(n)), len(cards) - n)
        cards[n], cards[other] = cards[other], cards[n]


@jit
def draw_rows(streams: NDArray[np.uint64], numbers: NDArray[np.uint64]) -> None:
    """Fill each row with the first numbers of its stream."""
    for row in range(len(streams)):
        for n in range(numbers.shape[1]):
            numbers[row, n] = draw(streams[row], np.uint64(n))
