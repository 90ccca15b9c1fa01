"""Section 5: the presets and the fields of `Rules`, their bounds and contradictions."""

import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from gin_env.round import Round
from gin_env.rules.ruleset import PRESETS, RULE_FLAGS, RULE_STEPS, Rules, compiled_rules, observed_rules, rule_columns

COMMON: dict[str, Any] = {
    "knock_limit": None,
    "oklahoma": False,
    "gin_bonus": 25,
    "big_gin_bonus": None,
    "undercut_bonus": None,
    "max_run": None,
    "stock_end": "dead",
    "opening_offer": False,
    "may_return_upcard": False,
    "last_discard_option": False,
    "gin_discard_face_down": False,
    "turn_limit": 200,
}
STANDARD: dict[str, Any] = {"knock_limit": 10, "undercut_bonus": 25, "stock_end": "reshuffle", "opening_offer": True}
TABLE = {
    "straight": COMMON,
    "gin_only": COMMON,
    "big_gin": COMMON | {"gin_bonus": 20, "big_gin_bonus": 30, "max_run": 4, "gin_discard_face_down": True},
    "standard": COMMON | STANDARD,
    "oklahoma": COMMON | STANDARD | {"oklahoma": True},
}
FLAGS = ["oklahoma", "opening_offer", "may_return_upcard", "last_discard_option", "gin_discard_face_down"]


@pytest.mark.parametrize("name", TABLE)
def test_5_presets(name: str) -> None:
    rules = Rules.preset(name)
    assert rules.as_dict() == TABLE[name]
    assert {field: getattr(rules, field) for field in TABLE[name]} == TABLE[name]
    assert Rules.of(name) == Rules.of(rules) == Rules.of(rules.as_dict()) == rules
    assert hash(Rules.of(rules.as_dict())) == hash(rules)


def test_5_there_are_no_other_presets_and_straight_is_the_default() -> None:
    assert list(PRESETS) == list(TABLE)
    assert Rules() == Rules.preset("straight") == Round(seed=0).rules
    assert (str(Rules()), str(Rules.preset("big_gin"))) == ("straight", "big_gin")


# Every field can be set on its own, within its bounds

GOOD: list[tuple[str, Any]] = [
    *((flag, value) for flag in FLAGS[1:] for value in (False, True)),
    *(("knock_limit", value) for value in (None, 0, 10)),
    *(("gin_bonus", value) for value in (0, 1000)),
    *(("big_gin_bonus", value) for value in (None, 0, 1000)),
    *(("max_run", value) for value in (None, 4)),
    *(("stock_end", value) for value in ("dead", "reshuffle")),
    *(("turn_limit", value) for value in (1, 10_000)),
    ("undercut_bonus", None),
]
BAD: list[tuple[str, Any]] = [
    *((flag, value) for flag in FLAGS for value in (0, 1, None, "on")),
    *(("knock_limit", value) for value in (-1, 11, 5.0, True, "10")),
    *(("gin_bonus", value) for value in (-1, 1001, 25.0, True, None, "25")),
    *(("big_gin_bonus", value) for value in (-1, 1001, 25.0, True, "25")),
    *(("max_run", value) for value in (0, 3, 5, True, False, "4", 4.5)),
    *(("stock_end", value) for value in ("Dead", "", None, 2)),
    *(("turn_limit", value) for value in (0, 10_001, 200.0, True, None, "200")),
]


@pytest.mark.parametrize(("field", "value"), GOOD)
def test_5_bounds(field: str, value: Any) -> None:
    rules = Rules(**{field: value})
    assert getattr(rules, field) == value
    assert rules.as_dict() == COMMON | {field: value}
    assert Rules().replace(**{field: value}) == rules


@pytest.mark.parametrize(("field", "value"), BAD)
def test_5_out_of_bounds(field: str, value: Any) -> None:
    """The error names the field, the value and what was expected, whichever way the rules are made."""
    for make in (lambda fields: Rules(**fields), Rules.of, lambda fields: Rules().replace(**fields), Round):
        with pytest.raises(ValueError, match=f"{field}=.*: expected") as error:
            make({field: value})
        assert repr(value) in str(error.value)


@pytest.mark.parametrize("value", [-1, 1001, 25.0, True, "25"])
def test_5_undercut_bonus_out_of_bounds(value: Any) -> None:
    with pytest.raises(ValueError, match="undercut_bonus=.*: expected an integer 0 to 1000 or None"):
        Rules(knock_limit=10, undercut_bonus=value)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"oklahoma": True}, ("oklahoma", "knock_limit")),
        ({"undercut_bonus": 25}, ("undercut_bonus", "knock_limit")),
        ({"undercut_bonus": 0}, ("undercut_bonus", "knock_limit")),
        ({"oklahoma": True, "knock_limit": 9}, ("oklahoma", "knock_limit", "9", "10")),
        ({"last_discard_option": True, "stock_end": "reshuffle"}, ("last_discard_option", "stock_end", "reshuffle")),
    ],
)
def test_5_contradictions_name_the_fields(fields: dict[str, Any], named: tuple[str, ...]) -> None:
    for make in (lambda fields: Rules(**fields), Rules.of, lambda fields: Rules().replace(**fields)):
        with pytest.raises(ValueError, match="expected|need") as error:
            make(fields)
        assert all(name in str(error.value) for name in named)


def test_5_oklahoma_has_the_cap() -> None:
    assert Rules(oklahoma=True, knock_limit=10).oklahoma
    assert Rules(knock_limit=0, undercut_bonus=0).undercut_bonus == 0


def test_replace_checks_again_and_leaves_the_old_alone() -> None:
    rules = Rules.preset("big_gin")
    other = rules.replace(turn_limit=100, max_run=None)
    assert other.as_dict() == TABLE["big_gin"] | {"turn_limit": 100, "max_run": None}
    assert rules.as_dict() == TABLE["big_gin"]
    with pytest.raises(ValueError, match="oklahoma"):
        rules.replace(oklahoma=True)


def test_frozen() -> None:
    rules = Rules()
    with pytest.raises(dataclasses.FrozenInstanceError):
        rules.gin_bonus = 30  # type: ignore[misc]  # what is tested
    assert rules == Rules()
    assert pickle.loads(pickle.dumps(Rules.preset("big_gin"))) == Rules.preset("big_gin")


@pytest.mark.parametrize(
    ("name", "near"),
    [("strait", "straight"), ("biggin", "big_gin"), ("Gin_only", "gin_only"), ("oklahama", "oklahoma")],
)
def test_unknown_preset_names_the_nearest(name: str, near: str) -> None:
    for make in (Rules.preset, Rules.of, Round):
        with pytest.raises(ValueError, match=f"did you mean '{near}'") as error:
            make(name)
        assert repr(name) in str(error.value)
        assert all(preset in str(error.value) for preset in TABLE)


def test_unknown_preset_without_a_near_one() -> None:
    with pytest.raises(ValueError, match="'zzz' is no rule preset: expected one of straight, [^;]*$"):
        Rules.preset("zzz")


@pytest.mark.parametrize(("name", "near"), [("gin_bonos", "gin_bonus"), ("maxrun", "max_run"), ("turns_limit", "turn_limit")])
def test_unknown_field_names_the_nearest(name: str, near: str) -> None:
    for make in (Rules.of, lambda fields: Rules().replace(**fields), Round):
        with pytest.raises(ValueError, match=f"did you mean '{near}'") as error:
            make({name: 4})
        assert repr(name) in str(error.value)
        assert all(field in str(error.value) for field in COMMON)


@pytest.mark.parametrize("rules", [None, 5, ("straight",), ["straight"]])
def test_rules_of_another_type(rules: Any) -> None:
    with pytest.raises(TypeError, match="expected a preset's name, a Rules, or a mapping") as error:
        Rules.of(rules)
    assert repr(rules) in str(error.value)


@pytest.mark.parametrize("rules", ["standard", "oklahoma", {"knock_limit": 0}, {"stock_end": "reshuffle"}])
def test_6_is_not_played_yet(rules: Any) -> None:
    with pytest.raises(NotImplementedError, match="knock_limit.*stock_end"):
        Round(rules)


# What the engine and the observation read


def test_compiled_rules_hold_every_field_that_is_played() -> None:
    rules = Rules.preset("big_gin").replace(turn_limit=77, last_discard_option=True)
    (compiled,) = compiled_rules(rules)
    names = "turn_limit gin_bonus big_gin_bonus big_gin meld_limit opening_offer may_return_upcard last_discard_option"
    expected = (77, 20, 30, 1, 1, 0, 0, 1)
    assert tuple(int(compiled[name]) for name in names.split()) == expected
    assert int(compiled["gin_discard_face_down"]) == 1
    (compiled,) = compiled_rules(Rules(opening_offer=True, may_return_upcard=True, big_gin_bonus=0))
    assert tuple(int(compiled[name]) for name in names.split()) == (200, 25, 0, 1, 0, 1, 1, 0)


def test_observed_rules() -> None:
    """Flags and thermometers, restated from the table of presets."""
    flags: dict[str, Callable[[dict[str, Any]], bool]] = {
        "knocking": lambda rules: rules["knock_limit"] is not None,
        "big_gin": lambda rules: rules["big_gin_bonus"] is not None,
        "max_run_4": lambda rules: rules["max_run"] == 4,
        "reshuffle": lambda rules: rules["stock_end"] == "reshuffle",
    }
    columns = rule_columns()
    assert len(columns) == len(set(columns)) == len(RULE_FLAGS) + sum(len(steps) for steps in RULE_STEPS.values()) <= 64
    for name, fields in TABLE.items():
        observed = observed_rules(Rules.preset(name))
        for place, column in enumerate(columns):
            if ">=" in column:
                field, step = column.split(" >= ")
                expected = (fields.get(field) or 0) >= int(step)
            else:
                expected = flags[column](fields) if column in flags else fields[column]
            assert observed >> place & 1 == expected, (name, column)
        assert observed >> len(columns) == 0
