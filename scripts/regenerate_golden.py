"""Write tests/golden/hands.txt anew: whole hands as text, so that a change of behaviour is a diff to read.

Examples:
  python scripts/regenerate_golden.py           write the file
  python scripts/regenerate_golden.py --check   write nothing; exit 2 if the file is not what would be written
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gin_env.files import write_text
from gin_env.policies.policy import Batch
from gin_env.policies.registry import policy
from gin_env.round import Round
from gin_env.rules.actions import DRAW, action_text
from gin_env.rules.cards import card_text
from gin_env.rules.melds import best_melds, deadwood
from gin_env.rules.ruleset import Rules
from scripts.command_line import Parser, run_command

FILE = Path(__file__).resolve().parent.parent / "tests" / "golden" / "hands.txt"

HEAD = """\
Whole hands, played by greedy on both sides. scripts/regenerate_golden.py writes this file; a test holds the code to it.
One line a decision: number, seat, phase, action (in brackets the card that was drawn); then, after it, the upcard, the stock
left, and the deadwood of the seat that decided (of all eleven cards after a draw).
"""


@dataclass(frozen=True)
class Golden:
    """A hand of the file: `preset` with `changes`, dealt from `seed`."""

    title: str
    preset: str
    seed: int
    changes: tuple[tuple[str, Any], ...] = ()

    @property
    def rules(self) -> Rules:
        """The rules it is played by."""
        return Rules.preset(self.preset).replace(**dict(self.changes))


# The seeds were looked for: each hand shows what its title says, and is short for it.
HANDS = (
    Golden("gin", "straight", 149),
    Golden("a dead hand", "straight", 2265),
    Golden("gin", "gin_only", 50),
    Golden("big gin", "big_gin", 1123),
    Golden("gin with a face-down discard", "big_gin", 50),
    Golden("the opening offer passed by both", "straight", 8, (("opening_offer", True),)),
    Golden("the opening offer taken by the second", "straight", 427, (("opening_offer", True),)),
    Golden("gin with the last discard", "straight", 845, (("last_discard_option", True), ("may_return_upcard", True))),
    Golden("the turn limit", "straight", 0, (("turn_limit", 8),)),
)


def hand_text(golden: Golden) -> str:
    """One hand as text."""
    hand = Round(golden.rules, seed=golden.seed)
    changes = "".join(f", {name}={value}" for name, value in golden.changes)
    lines = [f"== {golden.preset}: {golden.title}", f"seed {golden.seed}, rules {golden.preset}{changes}"]
    lines += [f"seat {seat}: {melded(hand.hands[seat], hand.rules)}" for seat in (0, 1)]
    lines += [f"upcard {card(hand.upcard)}, stock {hand.stock}, seat {hand.first_player} goes first", ""]
    while (seat := hand.player) is not None:
        phase, before = hand.phase, set(hand.hands[seat])
        batch = Batch(hand.view(seat).data, np.zeros(1, np.int64), np.zeros(1, np.uint64))
        action = int(policy("greedy").act(batch)[0])
        hand.apply(action)
        drawn = "" if action != DRAW else f" ({card_text((set(hand.hands[seat]) - before).pop())})"
        lines.append(
            f"{len(hand.actions):3} seat {seat} {phase:8} {action_text(action) + drawn:24} "
            f"upcard {card(hand.upcard)}   stock {hand.stock:2}   deadwood {deadwood(hand.hands[seat], hand.rules.max_run)}"
        )
    lines += ["", f"{hand.outcome} after {hand.turns} turns, points {hand.scores[0]} and {hand.scores[1]}"]
    lines += [f"seat {seat}: {melded(hand.hands[seat], hand.rules)}" for seat in (0, 1)]
    return "\n".join(lines) + "\n"


def melded(cards: tuple[int, ...], rules: Rules) -> str:
    """A hand with its melds in brackets."""
    melds, leftover = best_melds(cards, rules.max_run)
    return " ".join([*(f"[{card_text(meld)}]" for meld in melds), *map(card_text, leftover)])


def card(upcard: int | None) -> str:
    """The upcard's text, or dashes."""
    return "--" if upcard is None else card_text(upcard)


def golden_text() -> str:
    """What the file should hold."""
    return "\n\n".join([HEAD, *map(hand_text, HANDS)])


def main() -> None:
    """Parse the command line, write or compare."""
    parser = Parser(__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, only compare")
    arguments = parser.parse_args()
    text = golden_text()
    if not arguments.check:
        write_text(FILE, text)
        print(f"wrote {FILE}: {len(HANDS)} hands")
    elif not FILE.exists() or FILE.read_text(encoding="utf-8") != text:
        raise ValueError(f"{FILE} is not what the code plays now: run scripts/regenerate_golden.py and read the diff")
    else:
        print(f"{FILE} is up to date: {len(HANDS)} hands")


if __name__ == "__main__":
    run_command(main)
