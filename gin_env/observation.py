"""The observation: a View as a row of 0/1 bytes, the same width for every rule set and match.

Blocks are written one after another, each as one 64-byte store that the next block's store cuts to size, so that a row costs
about twenty stores. The index table of the docs is generated from `BLOCKS`.
"""

from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gin_env.bits import bit, write_bits
from gin_env.compiled import jit
from gin_env.rules.actions import ACTIONS, DISCARD, GO_OUT
from gin_env.rules.cards import RANKS, SUITS, card_text
from gin_env.rules.ruleset import rule_columns
from gin_env.rules.state import BY_ONE, NO_CARD, NO_DISCARD, PHASES, RECENT

OBSERVATION_VERSION = 1

TURN_STEPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 160, 200)
SCORE_STEPS = tuple(range(10, 251, 10))
NEED_STEPS = (1, 5, 10, 15, 20, 25, 30, 40, 50, 60, 75, 100, 125, 150, 200, 250)
TARGET_STEPS = (1, 50, 100, 150, 200, 250, 500)
DEAL_STEPS = (2, 10, 50)

_CARDS = [card_text(card) for card in range(52)]
_DISCARD_COLUMNS = [*(f"rank {rank}" for rank in RANKS), *(f"suit {suit}" for suit in SUITS), "by the opponent"]

# (block, what it says, names of its columns), in order.
BLOCKS: list[tuple[str, str, list[str]]] = [
    ("hand", "my cards", _CARDS),
    ("upcard", "the top of the discard pile", _CARDS),
    ("buried", "the discard pile but its top", _CARDS),
    ("opponent_known", "cards the opponent took from the pile and still holds", _CARDS),
    ("own_known", "cards I took from the pile and still hold: those the opponent knows", _CARDS),
    ("taken", "the card that the player to act took from the pile this turn", _CARDS),
    ("own_shed", "cards I ever discarded", _CARDS),
    ("opponent_shed", "cards the opponent ever discarded", _CARDS),
    ("own_refused", "upcards I let lie", _CARDS),
    ("opponent_refused", "upcards the opponent let lie", _CARDS),
    *((f"discard_{i}", f"discard {i + 1} back from now, zeros if there is none", _DISCARD_COLUMNS) for i in range(RECENT)),
    ("phase", "what is being decided", list(PHASES)),
    ("my_turn", "I am to act", ["my turn"]),
    ("went_first", "I had the first turn: the opponent dealt", ["went first"]),
    ("stock", "cards left in the stock, a thermometer", [f">= {n}" for n in range(1, 32)]),
    ("turns_left", "turns until the turn limit, a thermometer", [f">= {n}" for n in TURN_STEPS]),
    ("own_score", "my score in the match, a thermometer; zeros in a single hand", [f">= {n}" for n in SCORE_STEPS]),
    ("opponent_score", "the opponent's score in the match, likewise", [f">= {n}" for n in SCORE_STEPS]),
    *(
        (f"game_{g}_{who}", f"points {text} in game {g} of the match, likewise", [f">= {n}" for n in NEED_STEPS])
        for g in (1, 2, 3)
        for who, text in (("own_need", "I still need"), ("opponent_need", "the opponent still needs"))
    ),
    ("games_open", "which games of the match are open; zeros in a single hand", ["game 1", "game 2", "game 3"]),
    ("rounds_left", "rounds left of a series, a thermometer", [f">= {n}" for n in range(1, 13)]),
    ("deals_left", "deals until the deal limit of a match, a thermometer", [f">= {n}" for n in DEAL_STEPS]),
    ("match", "the kind of match; zeros for a single hand", ["target", "hollywood", "series"]),
    ("next_dealer", "who deals after a hand; zeros: alternately", ["winner", "loser"]),
    ("target", "the target of a match, a thermometer", [f">= {n}" for n in TARGET_STEPS]),
    ("rules", "the rules in force", rule_columns()),
    ("spare", "always zero", [f"spare {n}" for n in range(64 - len(rule_columns()))]),
]

_ENDS = list(accumulate(len(columns) for _, _, columns in BLOCKS))
OFFSETS = {name: end - len(columns) for (name, _, columns), end in zip(BLOCKS, _ENDS, strict=True)}
WIDTH = _ENDS[-1]

_HAND = OFFSETS["hand"]
_UPCARD = OFFSETS["upcard"]
_BURIED = OFFSETS["buried"]
_OPPONENT_KNOWN = OFFSETS["opponent_known"]
_OWN_KNOWN = OFFSETS["own_known"]
_TAKEN = OFFSETS["taken"]
_OWN_SHED = OFFSETS["own_shed"]
_OPPONENT_SHED = OFFSETS["opponent_shed"]
_OWN_REFUSED = OFFSETS["own_refused"]
_OPPONENT_REFUSED = OFFSETS["opponent_refused"]
_DISCARDS = OFFSETS["discard_0"]
_TABLE = OFFSETS["phase"]
_MATCH = OFFSETS["own_score"]
_RULES = OFFSETS["rules"]

# The rank, suit and discarder bits of each byte of `recent`.
_DISCARD_BITS = np.zeros(256, np.uint64)
for _card in range(52):
    for _by in (0, 1):
        _DISCARD_BITS[_card + BY_ONE * _by] = 1 << _card % 13 | 1 << 13 + _card // 13 | _by << 17
_DISCARD_BITS[NO_DISCARD] = 0

_TURN_STEPS = np.array(TURN_STEPS)


@jit
def _card_bit(card: int) -> np.uint64:
    return np.uint64(0) if card == NO_CARD else bit(card)


@jit
def _table_bits(public: Any) -> np.uint64:
    """Phase, whose turn, who went first, stock and turns left: 56 bits."""
    word = bit(public.phase)
    if public.player == 0:
        word |= bit(7)
    if public.first_player == 0:
        word |= bit(8)
    word |= (bit(public.stock_left) - np.uint64(1)) << np.uint64(9)
    left = public.rules.turn_limit - public.turns
    for i in range(len(_TURN_STEPS)):
        if left >= _TURN_STEPS[i]:
            word |= bit(40 + i)
    return word


@jit
def write_observation(view: Any, row: NDArray[np.int8]) -> None:
    """Write a view as an observation: `row` is WIDTH contiguous bytes."""
    public = view.public
    write_bits(row, _HAND, view.hand)
    write_bits(row, _UPCARD, _card_bit(public.upcard))
    write_bits(row, _BURIED, public.buried)
    write_bits(row, _OPPONENT_KNOWN, public.known[1])
    write_bits(row, _OWN_KNOWN, public.known[0])
    write_bits(row, _TAKEN, _card_bit(public.taken))
    write_bits(row, _OWN_SHED, public.shed[0])
    write_bits(row, _OPPONENT_SHED, public.shed[1])
    write_bits(row, _OWN_REFUSED, public.refused[0])
    write_bits(row, _OPPONENT_REFUSED, public.refused[1])
    for i in range(0, RECENT, 2):
        pair = _DISCARD_BITS[public.recent[i]] | (_DISCARD_BITS[public.recent[i + 1]] << np.uint64(18))
        write_bits(row, _DISCARDS + 18 * i, pair)
    write_bits(row, _TABLE, _table_bits(public))
    for start in range(_MATCH, _RULES, 64):
        write_bits(row, start, np.uint64(0))
    write_bits(row, _RULES, public.rules.observed)


@jit
def write_action_mask(legal: Any, row: NDArray[np.int8]) -> None:
    """Write legal actions as a mask: `row` is 108 contiguous bytes. Two overlapping stores cover it."""
    low = np.uint64(legal.others) | (legal.discards << np.uint64(DISCARD)) | (legal.goes_out << np.uint64(GO_OUT))
    high = (legal.discards >> np.uint64(ACTIONS - 64 - DISCARD)) | (legal.goes_out << np.uint64(GO_OUT - ACTIONS + 64))
    write_bits(row, 0, low)
    write_bits(row, ACTIONS - 64, high)


@jit
def write_observations(views: NDArray[np.void], observations: NDArray[np.int8]) -> None:
    """Write the observation of each view."""
    for i in range(len(views)):
        write_observation(views[i], observations[i])


@jit
def write_action_masks(views: NDArray[np.void], masks: NDArray[np.int8]) -> None:
    """Write the action mask of each view."""
    for i in range(len(views)):
        write_action_mask(views[i].legal, masks[i])


def observations_of(views: NDArray[np.void]) -> NDArray[np.int8]:
    """Observations of a batch of views: (n, WIDTH) int8 of 0 and 1."""
    observations = np.empty((len(views), WIDTH), np.int8)
    write_observations(views, observations)
    return observations


def action_masks_of(views: NDArray[np.void]) -> NDArray[np.int8]:
    """Action masks of a batch of views: (n, 108) int8, 1 where legal; all zeros for a seat that is not to act."""
    masks = np.empty((len(views), ACTIONS), np.int8)
    write_action_masks(views, masks)
    return masks


def column_names() -> list[str]:
    """The name of each column, as "block: column".

    >>> column_names()[OFFSETS["hand"] + 9]
    'hand: TS'
    """
    return [f"{block}: {column}" for block, _, columns in BLOCKS for column in columns]


def index_page() -> str:
    """The docs page of the observation: every block with its columns, in Markdown."""
    lines = [
        "# The observation",
        "",
        f"Version {OBSERVATION_VERSION}: {WIDTH} columns of 0 or 1 (int8), the same for every rule set and match, made from",
        "what the seat may know and nothing else. A thermometer's bit is on when the number is at or above its step. Card",
        "columns go by card id = 13 * suit + rank: AS 2S .. KS AH .. KH AD .. KD AC .. KC.",
        "",
        "`gin_env.observation.column_names()` names each column, `OFFSETS` says where each block begins. This page is written",
        "by `python scripts/write_docs.py`.",
        "",
        "| columns | block | meaning | column by column |",
        "|---|---|---|---|",
    ]
    for block, meaning, columns in BLOCKS:
        start = OFFSETS[block]
        cells = f"{columns[0]} ... {columns[-1]}" if len(columns) > 13 else ", ".join(columns)
        place = f"{start}" if len(columns) == 1 else f"{start}-{start + len(columns) - 1}"
        lines.append(f"| {place} | `{block}` | {meaning} | {cells} |")
    return "\n".join(lines) + "\n"
