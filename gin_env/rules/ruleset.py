"""The rules a hand is played by, as data: every field settable, five named presets (rules section 5).

A `Rules` value is turned into one small structured record (`RULES`) that the compiled engine reads; no rule set has code
of its own.
"""

from __future__ import annotations

import dataclasses
from difflib import get_close_matches
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gin_env.rules.melds import meld_limit

# What the engine reads of the rules. It stands in every game record, so games of unlike rules can share a batch.
RULES = np.dtype(
    [
        ("observed", np.uint64),  # the rules as the observation's block of 64 bits, see `observed_rules`
        ("turn_limit", np.int32),
        ("gin_bonus", np.int32),
        ("big_gin_bonus", np.int16),
        ("big_gin", np.int8),
        ("meld_limit", np.int8),  # row of the meld tables
        ("opening_offer", np.int8),
        ("may_return_upcard", np.int8),
        ("last_discard_option", np.int8),
        ("gin_discard_face_down", np.int8),
    ],
    align=True,
)

MOST_BONUS = 1_000
MOST_TURNS = 10_000


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rules:
    """The rules of a hand; frozen, comparable, every field settable on its own (rules section 5).

    Args:
        knock_limit: most deadwood a player may knock with, 0 to 10; None: no knocking, gin alone ends a hand.
        oklahoma: the first upcard sets the knock limit; `knock_limit` is then 10, the cap.
        gin_bonus: points for gin, on top of the opponent's deadwood.
        big_gin_bonus: points for big gin (all eleven cards melded); None: there is no big gin.
        undercut_bonus: points for an undercut, on top of the difference; None: none.
        max_run: longest run that counts as one meld, 4; None: any.
        stock_end: "dead": the last two cards are never drawn; "reshuffle": the pile becomes a new stock.
        opening_offer: the first upcard is offered to the non-dealer, then to the dealer, before any draw.
        may_return_upcard: the card just taken from the pile may be discarded on the same turn.
        last_discard_option: the discard that leaves two in the stock may be taken by who can go out with it.
        gin_discard_face_down: the discard a player goes gin with is never shown.
        turn_limit: completed turns of both players after which the hand ends without a score, 1 to 10,000.

    Raises:
        ValueError: a field out of its bounds, or fields that contradict each other; the message names them.

    >>> Rules.preset("big_gin").replace(turn_limit=100).turn_limit
    100
    """

    knock_limit: int | None = None
    oklahoma: bool = False
    gin_bonus: int = 25
    big_gin_bonus: int | None = None
    undercut_bonus: int | None = None
    max_run: Literal[4] | None = None
    stock_end: Literal["dead", "reshuffle"] = "dead"
    opening_offer: bool = False
    may_return_upcard: bool = False
    last_discard_option: bool = False
    gin_discard_face_down: bool = False
    turn_limit: int = 200

    def __post_init__(self) -> None:
        for name in _FLAGS:
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name}={getattr(self, name)!r}: expected True or False")
        for name, (low, high, optional) in _BOUNDS.items():
            value = getattr(self, name)
            if value is not None or not optional:
                check_integer(name, value, low, high, " or None" if optional else "")
        meld_limit(self.max_run)
        if self.stock_end not in ("dead", "reshuffle"):
            raise ValueError(f"stock_end={self.stock_end!r}: expected 'dead' or 'reshuffle'")
        if self.knock_limit is None and (self.oklahoma or self.undercut_bonus is not None):
            raise ValueError(
                f"oklahoma={self.oklahoma}, undercut_bonus={self.undercut_bonus} with knock_limit=None: "
                "both need knocking; set knock_limit, or leave them off"
            )
        if self.oklahoma and self.knock_limit != 10:
            raise ValueError(f"oklahoma=True with knock_limit={self.knock_limit}: expected knock_limit=10, the cap")
        if self.last_discard_option and self.stock_end != "dead":
            raise ValueError("last_discard_option=True with stock_end='reshuffle': it needs stock_end='dead'")

    @staticmethod
    def preset(name: str) -> Rules:
        """The rule set of that name: "straight", "gin_only", "big_gin", "standard" or "oklahoma".

        Raises:
            ValueError: there is no preset of that name.
        """
        if not isinstance(name, str) or name not in PRESETS:
            near = get_close_matches(str(name), PRESETS, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"{name!r} is no rule preset: expected one of {', '.join(PRESETS)}{hint}")
        return PRESETS[name]

    @staticmethod
    def of(rules: str | Rules | dict[str, Any]) -> Rules:
        """The rules named by a preset's name, given as a `Rules`, or as a mapping of its fields."""
        if isinstance(rules, Rules):
            return rules
        if isinstance(rules, str):
            return Rules.preset(rules)
        if isinstance(rules, dict):
            names = [field.name for field in dataclasses.fields(Rules)]
            for name in rules:
                if name not in names:
                    near = get_close_matches(str(name), names, n=1)
                    hint = f"; did you mean {near[0]!r}?" if near else ""
                    raise ValueError(f"{name!r} is no field of the rules: expected one of {', '.join(names)}{hint}")
            return Rules(**rules)
        raise TypeError(f"rules={rules!r}: expected a preset's name, a Rules, or a mapping of its fields")

    def replace(self, **fields: Any) -> Rules:
        """These rules with some fields set anew, checked again."""
        return Rules.of(self.as_dict() | fields)

    def as_dict(self) -> dict[str, Any]:
        """Every field by name, for a JSON record."""
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        return next((name for name, rules in PRESETS.items() if rules == self), repr(self))


def check_integer(name: str, value: object, low: int, high: int, more: str = "") -> None:
    """Raise a ValueError that names the field unless the value is an int within its bounds."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ValueError(f"{name}={value!r}: expected an integer {low} to {high}{more}")


_FLAGS = ("oklahoma", "opening_offer", "may_return_upcard", "last_discard_option", "gin_discard_face_down")
_BOUNDS = {
    "knock_limit": (0, 10, True),
    "gin_bonus": (0, MOST_BONUS, False),
    "big_gin_bonus": (0, MOST_BONUS, True),
    "undercut_bonus": (0, MOST_BONUS, True),
    "turn_limit": (1, MOST_TURNS, False),
}

_STANDARD = Rules(knock_limit=10, undercut_bonus=25, stock_end="reshuffle", opening_offer=True)
PRESETS = {
    "straight": Rules(),
    "gin_only": Rules(),
    "big_gin": Rules(gin_bonus=20, big_gin_bonus=30, max_run=4, gin_discard_face_down=True),
    "standard": _STANDARD,
    "oklahoma": _STANDARD.replace(oklahoma=True),
}

# The observation's rules block: names and, for amounts, the steps of a thermometer (a bit is on at or above its step).
RULE_FLAGS = (
    "knocking",
    "oklahoma",
    "big_gin",
    "max_run_4",
    "reshuffle",
    "opening_offer",
    "may_return_upcard",
    "last_discard_option",
    "gin_discard_face_down",
)
RULE_STEPS = {
    "knock_limit": tuple(range(1, 11)),
    "gin_bonus": (1, 10, 20, 25, 30, 50, 100),
    "big_gin_bonus": (1, 10, 20, 25, 30, 50, 100),
    "undercut_bonus": (1, 10, 20, 25, 30, 50, 100),
    "box_bonus": (1, 10, 20, 25, 50, 100),
    "game_bonus": (1, 50, 100, 200, 500),
    "shutout_bonus": (1, 50, 100, 200, 500),
}


def rule_columns() -> list[str]:
    """Names of the bits of the observation's rules block, in order."""
    return [*RULE_FLAGS, *(f"{name} >= {step}" for name, steps in RULE_STEPS.items() for step in steps)]


def observed_rules(rules: Rules) -> int:
    """The observation's rules block as an integer, bit i for `rule_columns()[i]`."""
    flags = (
        rules.knock_limit is not None,
        rules.oklahoma,
        rules.big_gin_bonus is not None,
        rules.max_run == 4,
        rules.stock_end == "reshuffle",
        rules.opening_offer,
        rules.may_return_upcard,
        rules.last_discard_option,
        rules.gin_discard_face_down,
    )
    amounts = [(getattr(rules, name, None) or 0) >= step for name, steps in RULE_STEPS.items() for step in steps]
    return sum(1 << place for place, on in enumerate([*flags, *amounts]) if on)


def compiled_rules(rules: Rules) -> NDArray[np.void]:
    """The rules as the engine reads them: a `RULES` array of one.

    Raises:
        NotImplementedError: rules with knocking or a reshuffled stock, which this version does not play.
    """
    if rules.knock_limit is not None or rules.stock_end == "reshuffle":
        raise NotImplementedError(
            f"knock_limit={rules.knock_limit}, stock_end={rules.stock_end!r}: this version plays the games without "
            "knocking only; expected knock_limit=None and stock_end='dead' (presets straight, gin_only, big_gin)"
        )
    compiled = np.zeros(1, RULES)
    compiled["observed"] = observed_rules(rules)
    compiled["turn_limit"] = rules.turn_limit
    compiled["gin_bonus"] = rules.gin_bonus
    compiled["big_gin_bonus"] = rules.big_gin_bonus or 0
    compiled["big_gin"] = rules.big_gin_bonus is not None
    compiled["meld_limit"] = meld_limit(rules.max_run)
    for name in ("opening_offer", "may_return_upcard", "last_discard_option", "gin_discard_face_down"):
        compiled[name] = getattr(rules, name)
    return compiled
