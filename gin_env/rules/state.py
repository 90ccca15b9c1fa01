"""The game record: everything about one hand, split into what is public and what is hidden.

A batch of games is a numpy array of `RECORD`. Compiled functions take one record of such an array. Fields that hold a pair
are indexed by seat; in a View the same `PUBLIC` part is in relative order, 0 me and 1 the opponent. Field sizes are chosen so
that no record has padding, whose bytes would be undefined.
"""

from typing import Any

import numpy as np

from gin_env.compiled import jit
from gin_env.rules.ruleset import RULES

# Phases: what the seat to act decides.
OFFER = 0  # take the first upcard or pass (rule 2.4)
STOCK = 1  # both passed: draw the stock (rule 2.4)
PLAY = 2  # draw the stock or take the upcard (rule 2.3)
DISCARD_PHASE = 3  # discard, go out, or big gin (rules 2.3, 3.1, 3.3)
LAST = 4  # take the last discard to go out with it, or pass (rule 3.5)
LAST_OUT = 5  # go out with the last discard just taken (rule 3.5)
OVER = 6
PHASES = ("offer", "stock", "draw", "discard", "last", "last_out", "over")

# Outcomes; 0 while the hand is open.
GIN = 1
BIG = 2
KNOCK = 3
UNDERCUT = 4
DEAD = 5
LIMIT = 6
FORFEIT = 7  # an environment ended the hand after an illegal action
OUTCOMES = (None, "gin", "big_gin", "knock", "undercut", "dead", "turn_limit", "forfeit")

NO_CARD = -1
RECENT = 8
# One byte of `recent`: the card, plus 64 if seat 1 (in a View: the opponent) discarded it; 255: no discard yet.
BY_ONE = 64
NO_DISCARD = 255

PUBLIC = np.dtype(
    [
        ("known", np.uint64, (2,)),  # cards taken from the pile and still held, as far as the table knows
        ("shed", np.uint64, (2,)),  # cards ever discarded face up
        ("refused", np.uint64, (2,)),  # upcards passed over
        ("buried", np.uint64),  # the pile but its top
        ("recent", np.uint8, (RECENT,)),  # the last face-up discards, newest first
        ("rules", RULES),
        ("turns", np.int16),  # completed turns of both players
        ("scores", np.int16, (2,)),  # points of the hand
        ("stock_left", np.int16),
        ("phase", np.int8),
        ("player", np.int8),  # who is to act, -1 when over
        ("first_player", np.int8),
        ("upcard", np.int8),  # top of the pile, -1 if it is empty
        ("under", np.int8),  # the card below it, where it is needed: after a discard
        ("taken", np.int8),  # the card taken from the pile this turn, -1 if none
        ("outcome", np.int8),
        ("winner", np.int8),  # who scored the hand, -1 while it is open and when nobody did
    ],
    align=True,
)

# The legal actions of the seat to act.
LEGAL = np.dtype(
    [
        ("discards", np.uint64),  # cards that may be discarded
        ("goes_out", np.uint64),  # cards that may be discarded going out
        ("others", np.int64),  # bits 0 to 3: actions 0 to 3
    ],
    align=True,
)

HIDDEN = np.dtype(
    [
        ("hands", np.uint64, (2,)),
        ("legal", LEGAL),
        ("seed", np.uint64),
        ("deal", np.uint32),  # how many hands this seed has dealt before this one
        ("decisions", np.uint32),  # how many actions the hand has had
        ("face_down", np.int32),  # the face-down gin discard
        ("deck", np.int8, (52,)),  # as dealt; the stock is its last `stock_left` cards, the first of them on top
    ],
    align=True,
)

RECORD = np.dtype([("public", PUBLIC), ("hidden", HIDDEN)], align=True)


@jit
def clear_legal(legal: Any) -> None:
    """Nothing is legal."""
    legal.discards = np.uint64(0)
    legal.goes_out = np.uint64(0)
    legal.others = 0
