"""The 108 actions of the game, their text, and the error for an illegal one.

0 draw the stock, 1 take the upcard, 2 pass (the opening offer, the last-discard option), 3 big gin, 4-55 discard card
`action - 4`, 56-107 discard card `action - 56` and go out.
"""

from collections.abc import Iterable

import numpy as np

from gin_env.rules.cards import card_text

ACTIONS = 108
DRAW = 0
TAKE = 1
PASS = 2
BIG_GIN = 3
DISCARD = 4
GO_OUT = 56


class IllegalAction(ValueError):
    """An action that the rules do not allow now; nothing was changed.

    Attributes:
        action: what was asked for.
        phase: what is being decided.
        legal: the actions that are legal.
    """

    def __init__(self, message: str, action: object = None, phase: str = "", legal: tuple[int, ...] = ()) -> None:
        super().__init__(message, action, phase, legal)
        self.action, self.phase, self.legal = action, phase, legal

    def __str__(self) -> str:
        return str(self.args[0])


def action_text(action: int) -> str:
    """What an action does, in words.

    Raises:
        ValueError: no integer 0..107.

    >>> action_text(0), action_text(4 + 51), action_text(56 + 9)
    ('draw the stock', 'discard KC', 'discard TS and go out')
    """
    if isinstance(action, bool) or not isinstance(action, (int, np.integer)) or not 0 <= action < ACTIONS:
        raise ValueError(f"{action!r} is no action: expected an integer 0..{ACTIONS - 1}")
    if action >= GO_OUT:
        return f"discard {card_text(action - GO_OUT)} and go out"
    if action >= DISCARD:
        return f"discard {card_text(action - DISCARD)}"
    return ("draw the stock", "take the upcard", "pass", "big gin")[action]


def illegal(action: object, phase: str, legal: Iterable[int], where: str = "") -> IllegalAction:
    """The error for an illegal action: its value, the phase, what is legal."""
    try:
        text = f"{action!r} ({action_text(action)})"  # type: ignore[arg-type]  # any value may come from outside
    except ValueError as error:
        text = str(error)
    legal = tuple(legal)
    choices = ", ".join(f"{choice} {action_text(choice)}" for choice in legal) or "nothing: the hand is over"
    return IllegalAction(f"illegal action {text}{where} in phase {phase!r}; legal: {choices}", action, phase, legal)
