"""The configuration of a training run: what stands in configs/*.yaml, validated, with `key=value` overrides."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from gin_env.policies.registry import policy
from gin_env.rules.ruleset import Rules, compiled_rules


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class NetworkConfig(_Section):
    """Actor and critic, each a multilayer perceptron of its own."""

    hidden: tuple[Annotated[int, Field(ge=1)], ...] = Field((256, 256), min_length=1, description="widths of the hidden layers")
    activation: Literal["relu", "tanh"] = "relu"


class CloneConfig(_Section):
    """The warm start: learning a bot's choices before learning from results."""

    teacher: str = Field("greedy", description="a policy's name or path")
    decisions: int = Field(0, ge=0, description="the teacher's decisions to learn from; 0: no warm start")
    learning_rate: float = Field(1e-3, gt=0)
    batch_size: int = Field(1024, ge=1, le=65_536)
    random_share: float = Field(1 / 16, ge=0, le=1, description="share of practice discards played at random")

    @field_validator("teacher")
    @classmethod
    def _known(cls, name: str) -> str:
        policy(name)
        return name


class PPOConfig(_Section):
    """MaskablePPO of sb3-contrib."""

    steps: int = Field(1_000_000, ge=1, description="learner decisions in all")
    critic_first: float = Field(
        0.0, ge=0, lt=1, description="share of the steps, at the start, in which the critic alone learns"
    )
    rollout: int = Field(64, ge=2, description="decisions a lane between updates")
    batch_size: int = Field(2048, ge=2)
    epochs: int = Field(3, ge=1)
    learning_rate: float = Field(3e-4, gt=0)
    final_learning_rate: float = Field(0.0, ge=0, description="reached linearly at the last step")
    gamma: float = Field(1.0, gt=0, le=1)
    gae_lambda: float = Field(0.95, ge=0, le=1)
    entropy: float = Field(0.01, ge=0)
    clip_range: float = Field(0.2, gt=0)
    value_coefficient: float = Field(0.5, ge=0)
    max_gradient_norm: float = Field(0.5, gt=0)


class CurveConfig(_Section):
    """The learning curve: short matches during training."""

    opponents: tuple[str, ...] = Field(("novice", "greedy"), min_length=1, description="names or paths of policies")
    every: int = Field(200_000, ge=1, description="learner decisions between two points")
    deals: int = Field(300, ge=2)
    seed: int = Field(1_000_001, ge=0)

    @field_validator("opponents")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            policy(name)
        return names


class EvaluationConfig(_Section):
    """The table at the end of the run; deals apart from the curve's."""

    opponents: tuple[str, ...] = ("random", "novice", "simple", "greedy")
    deals: int = Field(2_000, ge=2)
    seed: int = Field(2_000_002, ge=0)

    @field_validator("opponents")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            policy(name)
        return names


class RunConfig(_Section):
    """A training run."""

    name: str = Field("run", pattern=r"^[A-Za-z0-9_][A-Za-z0-9._-]*$", description="the run's folder below runs/")
    seed: int = Field(0, ge=0, lt=2**31)
    threads: int = Field(2, ge=1, description="of torch")
    rules: str | dict[str, Any] = "straight"
    reward: Literal["points", "win"] = "points"
    reward_scale: float = Field(0.02, gt=0)
    lanes: int = Field(256, ge=1, description="games in parallel")
    opponents: dict[str, float] = Field({"greedy": 1.0}, min_length=1, description="policy: weight; each hand draws one")
    checkpoint_every: int = Field(200_000, ge=1, description="learner decisions between two checkpoints")
    network: NetworkConfig = NetworkConfig()
    clone: CloneConfig = CloneConfig()
    ppo: PPOConfig = PPOConfig()
    curve: CurveConfig = CurveConfig()
    evaluation: EvaluationConfig = EvaluationConfig()

    @field_validator("rules")
    @classmethod
    def _playable(cls, rules: str | dict[str, Any]) -> str | dict[str, Any]:
        try:
            compiled_rules(Rules.of(rules))
        except NotImplementedError as error:
            raise ValueError(str(error)) from None
        return rules

    @field_validator("opponents")
    @classmethod
    def _opponents_known(cls, opponents: dict[str, float]) -> dict[str, float]:
        for name, weight in opponents.items():
            policy(name)
            if not 0 < weight < float("inf"):
                raise ValueError(f"weight {weight} of {name!r}: expected a number above 0")
        return opponents

    @model_validator(mode="after")
    def _no_batch_of_one(self) -> RunConfig:
        decisions = self.lanes * self.ppo.rollout
        if decisions % self.ppo.batch_size == 1:
            raise ValueError(
                f"ppo.batch_size={self.ppo.batch_size}: of lanes * ppo.rollout = {decisions} decisions one is left over, "
                "and a batch of one can't be normalized; expected another size"
            )
        return self

    def as_yaml(self) -> str:
        """Every field, as configs/*.yaml writes it."""
        return yaml.safe_dump(self.model_dump(mode="json"), sort_keys=False)


def load_config(path: str | Path, overrides: Sequence[str] = ()) -> RunConfig:
    """A configuration file with some fields set anew.

    Args:
        path: a YAML file of `RunConfig`'s fields.
        overrides: `key=value`, a dotted key for a field of a section: `ppo.steps=1000`.

    Raises:
        ValueError: no such file, no YAML, an unknown key (the nearest known one is named) or a bad value.
    """
    path = Path(path)
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"{path} can't be read: {error.strerror}") from None
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise ValueError(f"{path} is no YAML: {' '.join(str(error).split())}") from None
    if not isinstance(values, dict):
        raise ValueError(f"{path} holds {type(values).__name__}: expected a mapping of configuration keys")
    for override in overrides:
        key, equals, text = override.partition("=")
        if not equals or not key:
            raise ValueError(f"override {override!r}: expected key=value, such as ppo.steps=1000")
        try:
            value = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise ValueError(f"override {override!r}: {' '.join(str(error).split())}") from None
        _set(values, key.split("."), value, override)
    try:
        return RunConfig.model_validate(values)
    except ValidationError as error:
        raise ValueError(f"{path}: {'; '.join(_explained(problem) for problem in error.errors())}") from None


def _set(values: dict[str, Any], keys: list[str], value: Any, override: str) -> None:
    for key in keys[:-1]:
        values = values.setdefault(key, {})
        if not isinstance(values, dict):
            raise ValueError(f"override {override!r}: {key!r} is no section")
    values[keys[-1]] = value


def _explained(problem: Any) -> str:
    """A pydantic error in one line: the key, the value, what was expected."""
    place = [str(part) for part in problem["loc"]]
    key = ".".join(place)
    if not place:
        return str(problem["msg"]).removeprefix("Value error, ")
    if problem["type"] != "extra_forbidden":
        return f"{key}={problem['input']!r}: {problem['msg'].removeprefix('Value error, ')}"
    return f"unknown key {key!r}: the nearest known one is {_nearest(place)!r}"


def _nearest(place: list[str]) -> str:
    """The known key most like an unknown one: of the same section if one is alike, else of any, by its last part."""
    keys = _known_keys(RunConfig)
    beside = [key for key in keys if key.split(".")[:-1] == place[:-1]]
    for candidates, cutoff in ((beside, 0.6), (keys, 0.6), (beside, 0.0)):
        by_name = {key.split(".")[-1]: key for key in reversed(candidates)}
        near = get_close_matches(place[-1], by_name, n=1, cutoff=cutoff)
        if near:
            return by_name[near[0]]
    return keys[0]


def _known_keys(section: type[BaseModel], prefix: str = "") -> list[str]:
    keys = []
    for name, field in section.model_fields.items():
        keys.append(prefix + name)
        if isinstance(field.default, BaseModel):
            keys += _known_keys(type(field.default), f"{prefix}{name}.")
    return keys
