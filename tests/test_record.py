"""Hands as lines of JSON: they replay, and nothing damaged is read as sound."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gin_env.record import FORMAT, read_records, record_line, replay, write_records
from gin_env.round import Round
from gin_env.rules.ruleset import Rules
from tests.hands import PLAYERS, RULE_SETS, asked_last, decisions

EVERY_RULE_SET = pytest.mark.parametrize("name", RULE_SETS)


def a_hand(seed: int = 1, rules: str | Rules = "straight") -> Round:
    """A finished hand."""
    *_, hand = decisions(Rules.of(rules), seed, "greedy", noise=0)
    return hand


def equal(one: Round, other: Round) -> bool:
    """The same hand, whatever seed it was dealt from."""
    names = (
        "rules",
        "deck",
        "first_player",
        "actions",
        "outcome",
        "scores",
        "turns",
        "hands",
        "stock",
        "upcard",
        "player",
        "phase",
    )
    return all(getattr(one, name) == getattr(other, name) for name in names) and all(
        one.view(seat) == other.view(seat) for seat in (0, 1)
    )


# Sound records


@pytest.mark.parametrize("player", PLAYERS)
@EVERY_RULE_SET
def test_a_record_replays_to_an_equal_hand(name: str, player: str) -> None:
    *_, hand = decisions(RULE_SETS[name], 5, player)
    assert hand.over
    assert equal(replay(record_line(hand)), hand)


@EVERY_RULE_SET
def test_an_open_hand_replays_and_goes_on(name: str) -> None:
    for hand in decisions(RULE_SETS[name], 2, "greedy"):
        again = replay(record_line(hand))
        assert equal(again, hand)
        assert again.legal_actions() == hand.legal_actions()


def test_every_outcome_replays() -> None:
    seen = set()
    for rule_set in (Rules(), Rules.preset("big_gin"), Rules(turn_limit=3)):
        for seed in range(60):
            hand = a_hand(seed, rule_set)
            assert equal(replay(record_line(hand)), hand)
            seen.add(hand.outcome)
    hand = asked_last(RULE_SETS["OpenSpiel's"])
    for action in (2, 1):  # pass: dead; take, then out
        asked = hand.clone()
        asked.apply(action)
        if not asked.over:
            asked.apply(asked.legal_actions()[0])
        assert equal(replay(record_line(asked)), asked)
        seen.add(asked.outcome)
    assert seen == {"gin", "big_gin", "turn_limit", "dead"}


def test_the_fields_of_a_record() -> None:
    hand = a_hand()
    record = json.loads(record_line(hand))
    assert list(record) == ["format", "rules", "deck", "first_player", "actions", "reshuffles", "outcome", "scores"]
    assert record["format"] == FORMAT
    assert record["rules"] == Rules().as_dict()
    assert record["deck"] == list(hand.deck or ())
    assert record["actions"] == list(hand.actions)
    assert record["reshuffles"] == []
    assert (record["first_player"], record["outcome"], record["scores"]) == (hand.first_player, "gin", list(hand.scores))
    assert "\n" not in record_line(hand)


def test_a_redealt_hand_has_no_record() -> None:
    with pytest.raises(ValueError, match="no deck"):
        record_line(a_hand().determinize(0, 1))


def test_files_hold_hands_in_order(tmp_path: Path) -> None:
    hands = [a_hand(seed, rules) for seed in range(4) for rules in RULE_SETS.values()]
    write_records(tmp_path / "new" / "hands.jsonl", hands)
    again = list(read_records(tmp_path / "new" / "hands.jsonl"))
    assert len(again) == len(hands)
    assert all(equal(one, other) for one, other in zip(again, hands, strict=True))
    write_records(tmp_path / "none.jsonl", [])
    assert list(read_records(tmp_path / "none.jsonl")) == []


# Damage


def changed(**fields: Any) -> Callable[[dict[str, Any]], str]:
    """A record with some fields set anew."""
    return lambda record: json.dumps(record | fields)


def without(name: str) -> Callable[[dict[str, Any]], str]:
    return lambda record: json.dumps({key: value for key, value in record.items() if key != name})


def with_rules(**fields: Any) -> Callable[[dict[str, Any]], str]:
    return lambda record: json.dumps(record | {"rules": record["rules"] | fields})


def with_action(place: int, action: Any) -> Callable[[dict[str, Any]], str]:
    def change(record: dict[str, Any]) -> str:
        record["actions"][place] = action
        return json.dumps(record)

    return change


# What is done to the record of `a_hand()`, and what the error must say.
DAMAGE: dict[str, tuple[Callable[[dict[str, Any]], str], str]] = {
    "cut line": (lambda record: json.dumps(record)[:300], "no JSON .*expected one record a line"),
    "empty line": (lambda record: "", "no JSON"),
    "no JSON": (lambda record: "gin!", "no JSON .*'gin!"),
    "no object": (lambda record: "[1, 2]", r"no record of a hand: '\[1, 2\].*; expected a JSON object"),
    "other format": (
        changed(format="gin_env hand 9"),
        "no record of a hand: .*expected a JSON object with format 'gin_env hand 1'",
    ),
    "no format": (without("format"), "expected a JSON object with format 'gin_env hand 1'"),
    **{
        f"no {name}": (without(name), f"the record has no '{name}'")
        for name in ("rules", "deck", "first_player", "actions", "reshuffles", "outcome", "scores")
    },
    "unknown field": (changed(player="Ann"), "the record has a field 'player': expected the fields format, "),
    "deck cut": (changed(deck=list(range(51))), "it has 51 cards"),
    "deck with a card twice": (changed(deck=[*range(51), 0]), r"AS \(0\) stands twice"),
    "deck with no card": (changed(deck=[*range(51), 52]), "deck holds 52"),
    "deck of texts": (changed(deck=["AS"] * 52), "deck holds 'AS'"),
    "deck of fractions": (changed(deck=[0.5, *range(1, 52)]), "deck holds 0.5"),
    "deck no list": (changed(deck="AS 2S"), "deck='AS 2S': expected a list"),
    "deck none": (changed(deck=None), "deck=None: expected a list"),
    "other deck": (changed(deck=list(range(52))), "action [0-9]+ of the record does not replay"),
    "first player none": (changed(first_player=None), "first_player=None: expected 0 or 1"),
    "first player 2": (changed(first_player=2), "first_player=2: expected 0 or 1"),
    "first player text": (changed(first_player="0"), "first_player='0': expected 0 or 1"),
    "illegal action": (with_action(2, 3), r"action 2 of the record does not replay: illegal action 3 \(big gin\).*legal: "),
    "action out of range": (with_action(2, 108), "action 2 of the record does not replay: illegal action 108"),
    "action text": (with_action(2, "draw"), "action 2 of the record does not replay: illegal action 'draw'"),
    "action fraction": (with_action(2, 0.0), "action 2 of the record does not replay: illegal action 0.0"),
    "action none": (with_action(2, None), "action 2 of the record does not replay: illegal action None"),
    "action true": (with_action(2, True), "action 2 of the record does not replay: illegal action True"),
    "action list": (with_action(2, [0]), r"action 2 of the record does not replay: illegal action \[0\]"),
    "actions no list": (changed(actions="0 4"), "actions='0 4': expected a list"),
    "actions none": (changed(actions=None), "actions=None: expected a list"),
    "action after the end": (
        lambda record: json.dumps(record | {"actions": [*record["actions"], 0]}),
        "does not replay: .*the hand is over",
    ),
    "actions cut": (
        lambda record: json.dumps(record | {"actions": record["actions"][:-1]}),
        "the record states outcome='gin', its actions come to None",
    ),
    "other outcome": (changed(outcome="dead"), "the record states outcome='dead', its actions come to 'gin'"),
    "outcome none": (changed(outcome=None), "the record states outcome=None, its actions come to 'gin'"),
    "other scores": (changed(scores=[1, 2]), r"the record states scores=\[1, 2\], its actions come to \["),
    "scores none": (changed(scores=None), "the record states scores=None"),
    "a reshuffle": (changed(reshuffles=[[1, 2]]), r"reshuffles=\[\[1, 2\]\]: expected \[\]"),
    "rules by name": (changed(rules="straight"), "rules='straight': expected an object"),
    "rules none": (changed(rules=None), "rules=None: expected an object"),
    "rules out of bounds": (with_rules(gin_bonus=-1), "gin_bonus=-1: expected an integer 0 to 1000"),
    "rules of a bad type": (with_rules(opening_offer=1), "opening_offer=1: expected True or False"),
    "rules contradictory": (with_rules(oklahoma=True), "oklahoma=True.*knock_limit=None"),
    "rules with an unknown field": (with_rules(jokers=2), "'jokers' is no field of the rules"),
    "rules of a game not played yet": (with_rules(knock_limit=10), "knock_limit=10"),
    "rules that change the hand": (with_rules(opening_offer=True), "does not replay|the record states"),
    "rules with a field missing": (
        lambda record: json.dumps(record | {"rules": {k: v for k, v in record["rules"].items() if k != "max_run"}}),
        "rules have no 'max_run'",
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_record_is_refused(damage: str, tmp_path: Path) -> None:
    """One ValueError that names the file, the line and what is wrong; the sound lines before it are read."""
    change, message = DAMAGE[damage]
    line = change(json.loads(record_line(a_hand())))
    path = tmp_path / "hands.jsonl"
    path.write_text(f"{record_line(a_hand(2))}\n{line}\n{record_line(a_hand(3))}\n")
    hands = read_records(path)
    assert equal(next(hands), a_hand(2))
    with pytest.raises(ValueError, match=rf"hands\.jsonl, line 2: .*{message}"):
        next(hands)


def test_a_line_of_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "hands.jsonl"
    path.write_bytes(record_line(a_hand()).encode() + b"\n\xff\xfe\n")
    with pytest.raises(ValueError, match=r"hands\.jsonl"):
        list(read_records(path))


def test_every_cut_of_a_line_is_refused() -> None:
    line = record_line(a_hand())
    for length in range(len(line)):
        with pytest.raises(ValueError, match="no JSON"):
            replay(line[:length])


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.jsonl"):
        list(read_records(tmp_path / "none.jsonl"))


# Writing


def test_a_failure_on_the_way_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "hands.jsonl"
    write_records(path, [a_hand()])
    before = path.read_bytes()

    def hands() -> Iterator[Round]:
        yield a_hand(2)
        yield a_hand(3)
        raise RuntimeError("the table fell over")

    with pytest.raises(RuntimeError, match="the table fell over"):
        write_records(path, hands())
    with pytest.raises(ValueError, match="no deck"):
        write_records(path, [a_hand(2), a_hand().determinize(0, 1)])
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_while_writing_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk fails after the bytes are written, before the file takes its place."""
    path = tmp_path / "hands.jsonl"
    write_records(path, [a_hand()])
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gin_env.files.os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_records(path, [a_hand(2)])
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_written_file_can_be_read_by_others(tmp_path: Path) -> None:
    """It has the rights of any new file, not those of a private temporary one."""
    path = tmp_path / "hands.jsonl"
    write_records(path, [a_hand()])
    (tmp_path / "plain").write_text("")
    assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode
