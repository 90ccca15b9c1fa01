"""A training run: warm start, MaskablePPO against a list of opponents, checkpoints, learning curve, the saved policy.

A run's folder holds config.yaml, command.txt, start.npz (the policy that PPO began from), checkpoint.zip, progress.csv (and
progress-from-STEPS.csv of each time it was resumed), TensorBoard events, curve.csv, and at the end policy.npz.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger, make_output_format

from gin_env.arena.duplicate import play_pairs
from gin_env.files import whole_file, write_text
from gin_env.policies.learned import FILE_NAME, LearnedPolicy, load_policy
from gin_env.policies.registry import policy
from gin_env.rules.ruleset import Rules
from training.clone import clone
from training.config import RunConfig
from training.networks import ACTIVATIONS, actor_parameters, exported
from training.sb3_vec_env import GinVecEnv

CHECKPOINT = "checkpoint.zip"
START = "start.npz"
CURVE = "curve.csv"

# Called with a stage ("clone" or "ppo"), what was done since the last call, and a short text of how it goes.
Progress = Callable[[str, int, str], None]


def train(config: RunConfig, folder: Path, command: str, progress: Progress) -> LearnedPolicy:
    """Train from the beginning in a new folder.

    Args:
        config: the run.
        folder: made here; must not exist yet, or be empty.
        command: the command line, kept with the run.
        progress: see `Progress`.

    Returns:
        The trained policy, which is saved in the folder too.

    Raises:
        ValueError: the folder is not empty.
    """
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file: expected the folder of a new run")
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(f"{folder} is not empty: take another folder, or --resume {folder}")
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / "config.yaml", config.as_yaml())
    write_text(folder / "command.txt", command + "\n")
    prepare_torch(config)
    model = new_model(config)
    if config.clone.decisions:
        teacher = config.clone.teacher
        clone(
            model,
            policy(teacher),
            Rules.of(config.rules),
            config.clone,
            config.seed,
            lambda done, agreement: progress("clone", done, f"agrees with {teacher}: {agreement:.0%}"),
        )
    exported(model, "its start", Rules.of(config.rules)).save(folder / START)
    return _learn(model, config, folder, progress)


def resume(config: RunConfig, folder: Path, progress: Progress) -> LearnedPolicy:
    """Go on with an interrupted run from its last checkpoint.

    Raises:
        ValueError: the folder holds no sound checkpoint.
    """
    file = folder / CHECKPOINT
    if not file.is_file():
        raise ValueError(f"{folder} holds no {CHECKPOINT}: the run was stopped before its first checkpoint; start it anew")
    prepare_torch(config)
    model = new_model(config)
    try:
        loaded = MaskablePPO.load(file, env=model.get_env(), device="cpu")
    except Exception as error:  # SB3, pickle, torch and zipfile each have their own
        raise ValueError(f"{file} is no sound checkpoint: {error}") from None
    environment = loaded.get_env()
    assert environment is not None
    environment.seed(_lane_seed(config, loaded.num_timesteps))
    _keep_curve_up_to(folder / CURVE, loaded.num_timesteps)
    progress("clone", config.clone.decisions, "done before")
    progress("ppo", loaded.num_timesteps, "resumed")
    return _learn(loaded, config, folder, progress)


def prepare_torch(config: RunConfig) -> None:
    """Give torch the run's number of threads, and take from it what only costs time."""
    torch.set_num_threads(config.threads)
    # The checks of every distribution's arguments cost a tenth of the time.
    torch.distributions.Distribution.set_default_validate_args(False)


def _lane_seed(config: RunConfig, steps: int) -> int:
    """The first lane's seed; a resumed run goes on with deals that it has not seen."""
    return (config.seed << 32) + steps


def new_model(config: RunConfig) -> MaskablePPO:
    """The untrained model of a run, with its environment."""
    environment = GinVecEnv(
        config.lanes,
        rules=config.rules,
        opponent=list(config.opponents.items()),
        reward=config.reward,
        seed=_lane_seed(config, 0),
        reward_scale=config.reward_scale,
    )
    ppo = config.ppo
    hidden = list(config.network.hidden)

    def learning_rate(remaining: float) -> float:
        return ppo.final_learning_rate + remaining * (ppo.learning_rate - ppo.final_learning_rate)

    model = MaskablePPO(
        "MlpPolicy",
        environment,
        learning_rate=learning_rate,
        n_steps=ppo.rollout,
        batch_size=min(ppo.batch_size, ppo.rollout * config.lanes),
        n_epochs=ppo.epochs,
        gamma=ppo.gamma,
        gae_lambda=ppo.gae_lambda,
        clip_range=ppo.clip_range,
        ent_coef=ppo.entropy,
        vf_coef=ppo.value_coefficient,
        max_grad_norm=ppo.max_gradient_norm,
        policy_kwargs={
            "net_arch": {"pi": hidden, "vf": hidden},
            "activation_fn": ACTIVATIONS[config.network.activation],
        },
        seed=config.seed,
        device="cpu",
    )
    # SB3 has given its own seed to the environment: run 2's lanes would play nearly all deals of run 1's.
    environment.seed(_lane_seed(config, 0))
    return model


def _learn(model: MaskablePPO, config: RunConfig, folder: Path, progress: Progress) -> LearnedPolicy:
    recorder = _Recorder(config, folder, progress)
    # SB3 adds the steps already done to the total it is given.
    left = max(0, config.ppo.steps - model.num_timesteps)
    try:
        if left:
            model.set_logger(_logger(folder, model.num_timesteps))
            model.learn(left, callback=recorder, reset_num_timesteps=model.num_timesteps == 0)
    except KeyboardInterrupt:
        save_checkpoint(model, folder)
        raise
    save_checkpoint(model, folder)
    trained = exported(model, config.name, Rules.of(config.rules))
    trained.save(folder / FILE_NAME)
    return trained


def _logger(folder: Path, steps: int) -> Logger:
    """SB3's logger, which begins its CSV anew: a resumed run gets one of its own, progress-from-STEPS.csv."""
    suffix = f"-from-{steps}" if steps else ""
    return Logger(str(folder), [make_output_format("csv", str(folder), suffix), make_output_format("tensorboard", str(folder))])


def save_checkpoint(model: MaskablePPO, folder: Path) -> None:
    """Write SB3's own zip, whole or not at all; it is for resuming only."""
    buffer = io.BytesIO()
    model.save(buffer)
    with whole_file(folder / CHECKPOINT) as file:
        file.write(buffer.getvalue())


class _Recorder(BaseCallback):
    """Progress, learning curve and checkpoints, between updates."""

    def __init__(self, config: RunConfig, folder: Path, progress: Progress) -> None:
        super().__init__()
        self._config = config
        self._folder = folder
        self._report = progress
        self._curve = folder / CURVE
        self._reported = 0
        self._next_point = 0
        self._next_checkpoint = 0
        self._text = ""

    def _on_training_start(self) -> None:
        self._reported = self.num_timesteps
        points = _curve_rows(self._curve)
        self._next_point = int(points[-1]["steps"]) + self._config.curve.every if points else 0
        self._next_checkpoint = self.num_timesteps

    def _on_rollout_start(self) -> None:
        steps = self.num_timesteps
        # A critic that knows nothing yet would undo what the actor has learned from its teacher.
        for parameter in actor_parameters(self.model):  # type: ignore[arg-type]  # SB3 types any algorithm
            parameter.requires_grad_(steps >= self._config.ppo.critic_first * self._config.ppo.steps)
        if steps >= self._next_checkpoint:
            save_checkpoint(self.model, self._folder)  # type: ignore[arg-type]  # SB3 types any algorithm
            self._next_checkpoint = steps + self._config.checkpoint_every
        if steps >= self._next_point:
            self._add_point()
            self._next_point = steps + self._config.curve.every
        self._report("ppo", steps - self._reported, self._text)
        self._reported = steps

    def _on_step(self) -> bool:
        return True

    def _on_training_end(self) -> None:
        self._report("ppo", self.num_timesteps - self._reported, self._text)
        self._add_point()

    def _add_point(self) -> None:
        settings = self._config.curve
        rules = Rules.of(self._config.rules)
        now = exported(self.model, self._config.name, rules)  # type: ignore[arg-type]  # SB3 types any algorithm
        rows = _curve_rows(self._curve)
        told = []
        for name in settings.opponents:
            result = play_pairs(now, policy(name), settings.deals, settings.seed, rules)
            figures: dict[str, float] = {
                "share": result.share,
                "share_low": result.share_ci95[0],
                "share_high": result.share_ci95[1],
                "points": result.points,
                "points_low": result.points_ci95[0],
                "points_high": result.points_ci95[1],
                "dead": result.dead,
                "turns": result.turns,
            }
            for figure in ("share", "points", "dead", "turns"):
                self.logger.record(f"curve {result.b}/{figure}", figures[figure])
            told.append(f"{100 * result.share:.0f}% v {result.b}")
            rows.append({"steps": self.num_timesteps, "opponent": result.b, **figures})
        self._text = ", ".join(told)
        _write_curve(self._curve, rows)


def _curve_rows(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def _write_curve(path: Path, rows: list[dict[str, Any]]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else ["steps"])
    writer.writeheader()
    writer.writerows(rows)
    write_text(path, text.getvalue())


def _keep_curve_up_to(path: Path, steps: int) -> None:
    """Drop points of the curve that lie after the checkpoint a run goes on from."""
    rows = _curve_rows(path)
    if rows:
        _write_curve(path, [row for row in rows if int(row["steps"]) <= steps])


def start_of(folder: Path) -> LearnedPolicy:
    """The policy that a run's PPO began from."""
    return load_policy(folder / START)
