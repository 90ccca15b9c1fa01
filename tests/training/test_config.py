"""Configuration files: what is read, what overrides change, and what every mistake is answered with."""

from pathlib import Path
from typing import Any

import pytest

from gin_env.policies.registry import LADDER
from training.config import RunConfig, load_config

CONFIGS = sorted((Path(__file__).parents[2] / "configs").glob("*.yaml"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "some.yaml"


def load(file: Path, text: str, *overrides: str) -> RunConfig:
    file.write_text(text, encoding="utf-8")
    return load_config(file, overrides)


def complaint(file: Path, text: str, *overrides: str) -> str:
    """The one line that a bad configuration is answered with."""
    with pytest.raises(ValueError, match=r"\S") as raised:
        load(file, text, *overrides)
    assert "\n" not in str(raised.value)
    return str(raised.value)


# What is there


def test_there_is_a_quickstart() -> None:
    assert "quickstart" in [path.stem for path in CONFIGS]


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_every_configuration_loads_and_is_named_as_its_file(path: Path) -> None:
    assert load_config(path).name == path.stem


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_what_a_run_saves_loads_back_the_same(path: Path, file: Path) -> None:
    config = load_config(path, ["rules={max_run: 4, gin_bonus: 30}", "network.hidden=[7]", "clone.random_share=0.125"])
    assert load(file, config.as_yaml()) == config


def test_what_is_not_said_has_its_default(file: Path) -> None:
    assert load(file, "name: run") == RunConfig()


def test_a_configuration_can_not_be_changed() -> None:
    config: Any = RunConfig()
    with pytest.raises(ValueError, match="frozen"):
        config.seed = 3


# Overrides


def test_overrides_set_fields_anew(file: Path) -> None:
    config = load(
        file,
        "seed: 1\nlanes: 4\nppo: {rollout: 8}",
        "seed=2",
        "ppo.steps=1_000",
        "ppo.learning_rate=3e-4",
        "network.hidden=[64, 32]",
        "network.activation=tanh",
        "opponents={greedy: 3, simple: 1}",
    )
    assert (config.seed, config.lanes, config.ppo.rollout, config.ppo.steps) == (2, 4, 8, 1000)
    assert config.ppo.learning_rate == 3e-4
    assert config.network.hidden == (64, 32)
    assert config.network.activation == "tanh"
    assert config.opponents == {"greedy": 3, "simple": 1}


@pytest.mark.parametrize("text", ["3e-4", "3.0e-4", "0.0003", "3E-4"])
def test_a_small_number_may_be_written_in_any_form(file: Path, text: str) -> None:
    """YAML 1.1 takes 3e-4 for a string."""
    assert load(file, f"ppo: {{learning_rate: {text}}}").ppo.learning_rate == 3e-4
    assert load(file, "seed: 0", f"ppo.learning_rate={text}").ppo.learning_rate == 3e-4


def test_the_last_override_of_a_key_holds(file: Path) -> None:
    assert load(file, "seed: 1", "seed=2", "seed=3").seed == 3


def test_an_override_leaves_the_rest_of_its_section(file: Path) -> None:
    config = load(file, "ppo: {rollout: 8, epochs: 1}", "ppo.epochs=2")
    assert (config.ppo.rollout, config.ppo.epochs) == (8, 2)
    assert load(file, "opponents: {greedy: 1}", "opponents.simple=2").opponents == {"greedy": 1, "simple": 2}


@pytest.mark.parametrize("override", ["steps", "", "=3", "ppo.steps"])
def test_an_override_needs_key_and_value(file: Path, override: str) -> None:
    assert complaint(file, "seed: 1", override) == f"override {override!r}: expected key=value, such as ppo.steps=1000"


@pytest.mark.parametrize("text", ["[1,", "{a", "@", "a: b: c"])
def test_an_override_must_be_yaml(file: Path, text: str) -> None:
    assert complaint(file, "seed: 1", f"seed={text}").startswith(f"override 'seed={text}': ")


def test_an_override_below_a_plain_field(file: Path) -> None:
    assert complaint(file, "seed: 1", "seed.x=2") == "override 'seed.x=2': 'seed' is no section"


def test_an_override_without_a_value(file: Path) -> None:
    assert "seed=None: Input should be a valid integer" in complaint(file, "seed: 1", "seed=")


# Unknown keys


@pytest.mark.parametrize(
    ("key", "near"),
    [
        ("lane", "lanes"),
        ("pppo", "ppo"),
        ("ppo.step", "ppo.steps"),
        ("ppo.learning_rat", "ppo.learning_rate"),
        ("clone.techer", "clone.teacher"),
        ("evaluation.deal", "evaluation.deals"),
    ],
)
def test_an_unknown_key_is_named_with_the_nearest_known_one(file: Path, key: str, near: str) -> None:
    section, _, name = key.rpartition(".")
    text = f"{section}: {{{name}: 1}}" if section else f"{name}: 1"
    expected = f"{file}: unknown key {key!r}: the nearest known one is {near!r}"
    assert complaint(file, text) == expected
    assert complaint(file, "seed: 1", f"{key}=1") == expected


def test_all_unknown_keys_are_named_at_once(file: Path) -> None:
    said = complaint(file, "sed: 1\nppo: {step: 1}")
    assert "'sed'" in said
    assert "'ppo.step'" in said


# Bad values: the key, the value, what was expected


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("seed: -1", "seed=-1: Input should be greater than or equal to 0"),
        ("seed: 2147483648", "seed=2147483648: Input should be less than 2147483648"),
        ("seed: 1.5", "seed=1.5: Input should be a valid integer"),
        ("lanes: 0", "lanes=0: Input should be greater than or equal to 1"),
        ("threads: many", "threads='many': Input should be a valid integer"),
        ("reward: pts", "reward='pts': Input should be 'points' or 'win'"),
        ("reward_scale: .nan", "reward_scale=nan: Input should be "),
        ("name: a/b", "name='a/b': String should match"),
        ("name: ..", "name='..': String should match"),
        ("ppo: {learning_rate: fast}", "ppo.learning_rate='fast': Input should be a valid number"),
        ("ppo: {learning_rate: .inf}", "ppo.learning_rate=inf: Input should be a finite number"),
        ("ppo: {gamma: 1.5}", "ppo.gamma=1.5: Input should be less than or equal to 1"),
        ("ppo: 3", "ppo=3: Input should be a valid dictionary"),
        ("network: {hidden: []}", "network.hidden=[]: Tuple should have at least 1 item"),
        ("network: {hidden: [8, 0]}", "network.hidden.1=0: Input should be greater than or equal to 1"),
        ("network: {activation: gelu}", "network.activation='gelu': Input should be 'relu' or 'tanh'"),
        ("clone: {random_share: 2}", "clone.random_share=2: Input should be less than or equal to 1"),
        ("curve: {deals: 1}", "curve.deals=1: Input should be greater than or equal to 2"),
        ("opponents: {}", "opponents={}: Dictionary should have at least 1 item"),
        ("opponents: greedy", "opponents='greedy': Input should be a valid dictionary"),
        ("opponents: {greedy: much}", "opponents.greedy='much': Input should be a valid number"),
        ("opponents: {greedy: 0}", "weight 0.0 of 'greedy': expected a number above 0"),
        ("opponents: {greedy: -1}", "weight -1.0 of 'greedy': expected a number above 0"),
    ],
)
def test_a_bad_value_is_named_with_what_was_expected(file: Path, text: str, named: str) -> None:
    said = complaint(file, text)
    assert said.startswith(f"{file}: ")
    assert named in said


def test_a_minibatch_of_one_decision_is_refused(file: Path) -> None:
    """PPO normalizes each minibatch: the spread of a single number is NaN, and so would be the network."""
    said = complaint(file, "lanes: 1\nppo: {rollout: 5, batch_size: 2}")
    assert "ppo.batch_size=2" in said
    assert "lanes * ppo.rollout = 5" in said
    load(file, "lanes: 1\nppo: {rollout: 6, batch_size: 2}")
    load(file, "lanes: 1\nppo: {rollout: 5, batch_size: 64}")


@pytest.mark.parametrize(
    "text",
    ["opponents: {gredy: 1}", "clone: {teacher: gredy}", "curve: {opponents: [gredy]}", "evaluation: {opponents: [gredy]}"],
)
def test_an_unknown_policy_is_named_with_those_there_are(file: Path, text: str) -> None:
    said = complaint(file, text)
    assert text.split(":")[0] in said
    assert f"'gredy' is no policy: expected one of {', '.join(LADDER)}" in said
    assert "did you mean 'greedy'?" in said


def test_the_folder_of_an_unfinished_run_is_no_policy(file: Path) -> None:
    assert f"clone.teacher='{file.parent}'" in complaint(file, "seed: 1", f"clone.teacher={file.parent}")
    assert str(file.parent) in complaint(file, "seed: 1", f"curve.opponents=[{file.parent}]")


# Rules


def test_rules_are_a_preset_or_fields(file: Path) -> None:
    assert load(file, "rules: big_gin").rules == "big_gin"
    assert load(file, "rules: {max_run: 4, turn_limit: 50}").rules == {"max_run": 4, "turn_limit": 50}


@pytest.mark.parametrize(
    ("rules", "named"),
    [
        ("strait", "'strait' is no rule preset: expected one of straight"),
        ("{gin_bonuss: 2}", "'gin_bonuss' is no field of the rules"),
        ("{turn_limit: 0}", "turn_limit=0: expected an integer 1 to 10000"),
        ("5", "5: Input should be a valid string"),
    ],
)
def test_bad_rules_are_named(file: Path, rules: str, named: str) -> None:
    said = complaint(file, f"rules: {rules}")
    assert "rules" in said
    assert named in said


@pytest.mark.parametrize("rules", ["standard", "oklahoma", "{knock_limit: 10}", "{stock_end: reshuffle}"])
def test_rules_that_are_not_played_yet_are_refused(file: Path, rules: str) -> None:
    said = complaint(file, f"rules: {rules}")
    assert "this version plays the games without knocking only" in said
    assert "straight, gin_only, big_gin" in said


# Files


def test_a_missing_file(file: Path) -> None:
    with pytest.raises(ValueError, match="some.yaml can't be read: No such file or directory"):
        load_config(file)


def test_a_folder_instead_of_a_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="can't be read: Is a directory"):
        load_config(tmp_path)


@pytest.mark.parametrize("text", ["seed: [1", "\tseed: 1", "seed: 1: 2", "seed: !!python/object:os.system x"])
def test_a_file_that_is_no_yaml(file: Path, text: str) -> None:
    assert complaint(file, text).startswith(f"{file} is no YAML: ")


def test_a_file_that_is_no_text(file: Path) -> None:
    file.write_bytes(b"seed: \xff\xfe")
    with pytest.raises(ValueError, match="some.yaml is no YAML: "):
        load_config(file)


@pytest.mark.parametrize(("text", "kind"), [("", "NoneType"), ("- seed", "list"), ("seed", "str"), ("5", "int")])
def test_a_file_that_is_no_mapping(file: Path, text: str, kind: str) -> None:
    assert complaint(file, text, "seed=1") == f"{file} holds {kind}: expected a mapping of configuration keys"


def test_keys_that_are_no_text(file: Path) -> None:
    assert "Keys should be strings" in complaint(file, "1: 2")
