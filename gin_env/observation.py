"""The observation: a View as a row of 0/1 bytes, the same width for every rule set and match.

Blocks stay words of bits until all are written at once, 64 columns a store. The index table of the docs is generated from
`BLOCKS`.
"""

from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gin_env.bits import bit, bit_writer
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

# Where the words that `write_observation` makes begin. The match's blocks are zeros in a single hand.
_WRITTEN = [*(name for name, _, _ in BLOCKS[:10]), *(f"discard_{i}" for i in range(0, RECENT, 2)), "phase", "rules"]
_write_row = bit_writer(tuple(OFFSETS[name] for name in _WRITTEN), WIDTH)
_write_mask = bit_writer((0, DISCARD, GO_OUT), ACTIONS)

# The rank, suit and discarder bits of each byte of `recent`.
_DISCARD_BITS = np.zeros(256, np.uint64)
for _card in range(52):
    for _by in (0, 1):
        _DISCARD_BITS[_card + BY_ONE * _by] = 1 << _card % 13 | 1 << 13 + _card // 13 | _by << 17
_DISCARD_BITS[NO_DISCARD] = 0

# The bits of `turns_left` for 0 turns, 1, and so on up to the last step.
_TURNS_LEFT = np.array(
    [sum((n >= step) << i for i, step in enumerate(TURN_STEPS)) for n in range(TURN_STEPS[-1] + 1)], np.uint64
)


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
    left = max(0, min(public.rules.turn_limit - public.turns, len(_TURNS_LEFT) - 1))
    return word | _TURNS_LEFT[left] << np.uint64(40)


@jit
def _two_discards(recent: Any, first: int) -> np.uint64:
    return _DISCARD_BITS[recent[first]] | _DISCARD_BITS[recent[first + 1]] << np.uint64(18)


@jit
def write_observation(view: Any, row: NDArray[np.int8]) -> None:
    """Write a view as an observation: `row` is WIDTH contiguous bytes."""
    public = view.public
    _write_row(
        row,
        (
            view.hand,
            _card_bit(public.upcard),
            public.buried,
            public.known[1],
            public.known[0],
            _card_bit(public.taken),
            public.shed[0],
            public.shed[1],
            public.refused[0],
            public.refused[1],
            _two_discards(public.recent, 0),
            _two_discards(public.recent, 2),
            _two_discards(public.recent, 4),
            _two_discards(public.recent, 6),
            _table_bits(public),
            public.rules.observed,
        ),
    )


@jit
def write_action_mask(legal: Any, row: NDArray[np.int8]) -> None:
    """Write legal actions as a mask: `row` is 108 contiguous bytes."""
    _write_mask(row, (np.uint64(legal.others), legal.discards, legal.goes_out))


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
