"""A hand as one line of JSON that replays: rules, deck, first player, actions, result. Read only after it has been replayed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from gin_env.files import write_text
from gin_env.round import Round
from gin_env.rules.actions import IllegalAction
from gin_env.rules.ruleset import Rules, compiled_rules

FORMAT = "gin_env hand 1"
_FIELDS = ("format", "rules", "deck", "first_player", "actions", "reshuffles", "outcome", "scores")


def record_line(hand: Round) -> str:
    """A hand, ended or not, as one line of JSON without a line break.

    Fields: `format`, `rules` (every field), `deck` (52 card ids), `first_player`, `actions`, `reshuffles` (the orders of new
    stocks; none in the games without knocking), `outcome` (null while the hand is open), `scores`.

    Raises:
        ValueError: the hand came from `determinize` and has no deck.
    """
    if hand.deck is None:
        raise ValueError("this hand has no deck, as it came from determinize(): only a hand dealt from a deck has a record")
    values: tuple[Any, ...] = (
        FORMAT,
        hand.rules.as_dict(),
        list(hand.deck),
        hand.first_player,
        list(hand.actions),
        [],
        hand.outcome,
        list(hand.scores),
    )
    return json.dumps(dict(zip(_FIELDS, values, strict=True)))


def replay(line: str) -> Round:
    """The hand of a record, replayed action by action and held to the result that the record states.

    Raises:
        ValueError: the line is no record, or does not replay to its result; the message names the field and the value.
    """
    try:
        record: Any = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"no JSON ({error}): {_shortened(line)}; expected one record a line") from None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise ValueError(f"no record of a hand: {_shortened(line)}; expected a JSON object with format {FORMAT!r}")
    for name in _FIELDS:
        if name not in record:
            raise ValueError(f"the record has no {name!r}: expected the fields {', '.join(_FIELDS)}")
    for name in record:
        if name not in _FIELDS:
            raise ValueError(f"the record has a field {name!r}: expected the fields {', '.join(_FIELDS)}")
    if record["reshuffles"] != []:
        raise ValueError(f"reshuffles={record['reshuffles']!r}: expected [] in a game without a reshuffle")
    if not isinstance(record["rules"], dict):
        raise ValueError(f"rules={record['rules']!r}: expected an object with every field of the rules")
    for name in ("deck", "actions"):
        if not isinstance(record[name], list):
            raise ValueError(f"{name}={record[name]!r}: expected a list of integers")
    rules = Rules.of(record["rules"])
    for name in rules.as_dict():
        if name not in record["rules"]:
            raise ValueError(f"the record's rules have no {name!r}: expected every field of the rules")
    if record["first_player"] is None:
        raise ValueError("first_player=None: expected 0 or 1")
    try:
        compiled_rules(rules)
    except NotImplementedError as error:
        raise ValueError(str(error)) from None
    hand = Round(rules, deck=record["deck"], seed=0, first_player=record["first_player"])
    for place, action in enumerate(record["actions"]):
        try:
            hand.apply(action)
        except IllegalAction as error:
            raise ValueError(f"action {place} of the record does not replay: {error}") from None
    for name, played in (("outcome", hand.outcome), ("scores", list(hand.scores))):
        if record[name] != played:
            raise ValueError(f"the record states {name}={record[name]!r}, its actions come to {played!r}")
    return hand


def write_records(path: str | Path, hands: Iterable[Round]) -> None:
    """Write hands as JSON Lines, the whole file or nothing."""
    write_text(path, "".join(record_line(hand) + "\n" for hand in hands))


def read_records(path: str | Path) -> Iterator[Round]:
    """The hands of a JSON Lines file, each replayed and checked.

    Raises:
        ValueError: a line is no sound record; the message names the file and the line.
    """
    with Path(path).open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                yield replay(line.decode().rstrip("\n"))
            except (ValueError, TypeError) as error:
                raise ValueError(f"{path}, line {number}: {error}") from None


def _shortened(line: str) -> str:
    return repr(line if len(line) <= 60 else line[:57] + "...")
