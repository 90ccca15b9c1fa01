"""The fields of a rule set (5) and the reference's own presets."""

from dataclasses import dataclass
from typing import Protocol


class RulesLike(Protocol):
    """Any object with the fields of section 5; they are only read."""

    @property
    def knock_limit(self) -> int | None: ...
    @property
    def oklahoma(self) -> bool: ...
    @property
    def gin_bonus(self) -> int: ...
    @property
    def big_gin_bonus(self) -> int | None: ...
    @property
    def undercut_bonus(self) -> int | None: ...
    @property
    def max_run(self) -> int | None: ...
    @property
    def stock_end(self) -> str: ...
    @property
    def opening_offer(self) -> bool: ...
    @property
    def may_return_upcard(self) -> bool: ...
    @property
    def last_discard_option(self) -> bool: ...
    @property
    def gin_discard_face_down(self) -> bool: ...
    @property
    def turn_limit(self) -> int: ...


@dataclass(frozen=True)
class ReferenceRules:
    """A plain rule set; the defaults are the preset `straight`."""

    knock_limit: int | None = None
    oklahoma: bool = False
    gin_bonus: int = 25
    big_gin_bonus: int | None = None
    undercut_bonus: int | None = None
    max_run: int | None = None
    stock_end: str = "dead"
    opening_offer: bool = False
    may_return_upcard: bool = False
    last_discard_option: bool = False
    gin_discard_face_down: bool = False
    turn_limit: int = 200


PRESETS = {
    "straight": ReferenceRules(),
    "gin_only": ReferenceRules(),
    "big_gin": ReferenceRules(gin_bonus=20, big_gin_bonus=30, max_run=4, gin_discard_face_down=True),
}
