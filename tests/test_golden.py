"""Whole hands as text in tests/golden/hands.txt: a change of behaviour is a diff to read."""

import re

import pytest

from gin_env.rules.ruleset import PRESETS, Rules, compiled_rules
from scripts.regenerate_golden import FILE, HANDS, Golden, golden_text, hand_text

ANEW = "if the change is meant: python scripts/regenerate_golden.py, and read the diff"


@pytest.mark.parametrize("golden", HANDS, ids=lambda golden: f"{golden.preset}: {golden.title}")
def test_a_golden_hand_is_still_played_so(golden: Golden) -> None:
    assert hand_text(golden) in FILE.read_text(encoding="utf-8"), ANEW


def test_the_file_holds_the_golden_hands_and_nothing_else() -> None:
    assert FILE.read_text(encoding="utf-8") == golden_text(), ANEW


def can_be_played(rules: Rules) -> bool:
    try:
        compiled_rules(rules)
    except NotImplementedError:
        return False
    return True


def test_no_preset_lacks_a_golden_hand() -> None:
    assert {golden.preset for golden in HANDS} == {name for name, rules in PRESETS.items() if can_be_played(rules)}


def test_the_golden_hands_show_what_their_titles_say() -> None:
    """Read from the file: ends, phases and options are there, so that the hands guard something."""
    text = FILE.read_text(encoding="utf-8")
    hands: dict[str, str] = dict(re.findall(r"^== (.*?)\n(.*?)(?=^== |\Z)", text, re.MULTILINE | re.DOTALL))
    assert len(hands) == len(HANDS)
    ends = {title: re.findall(r"^(\w+) after \d+ turns, points", body, re.MULTILINE) for title, body in hands.items()}
    assert {end for (end,) in ends.values()} == {"gin", "big_gin", "dead", "turn_limit"}
    assert {phase for body in hands.values() for phase in re.findall(r"^ *\d+ seat [01] (\w+)", body, re.MULTILINE)} == {
        "offer",
        "stock",
        "draw",
        "discard",
        "last",
        "last_out",
    }
    face_down = hands["big_gin: gin with a face-down discard"].splitlines()
    last = next(line for line in face_down if "and go out" in line)
    card = re.findall(r"discard (\w\w) and go out", last)[0]
    assert f"upcard {card}" not in last
