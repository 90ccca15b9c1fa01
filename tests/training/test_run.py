"""Training runs: what they leave behind, that they repeat, and that nothing is lost when they are interrupted."""

import csv
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from sb3_contrib import MaskablePPO
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from gin_env import Batch, Round, Rules
from gin_env.policies.learned import FILE_NAME, LearnedPolicy, load_policy
from tests.envs.player import same
from training import clone as cloning
from training import run
from training.config import RunConfig, load_config
from training.run import CHECKPOINT, CURVE, START, resume, start_of, train
from training.sb3_vec_env import GinVecEnv

# Four rollouts of 128 decisions; a checkpoint at the start of each second one, a point of the curve likewise.
TINY: dict[str, Any] = {
    "name": "tiny",
    "seed": 3,
    "threads": 1,
    "lanes": 8,
    "network": {"hidden": [16]},
    "ppo": {"steps": 512, "rollout": 16, "batch_size": 64, "epochs": 1},
    "curve": {"every": 256, "deals": 4, "opponents": ["greedy"]},
    "checkpoint_every": 256,
}


def tiny(**changes: Any) -> RunConfig:
    return RunConfig.model_validate(TINY | changes)


def quiet(stage: str, done: int, text: str) -> None:
    pass


def stop_at(steps: int, error: BaseException) -> Callable[[str, int, str], None]:
    """A progress callback that raises when so many decisions of PPO are done."""
    total = 0

    def progress(stage: str, done: int, text: str) -> None:
        nonlocal total
        total += done if stage == "ppo" else 0
        if total >= steps:
            raise error

    return progress


def interrupted(folder: Path, steps: int, error: type[BaseException] = KeyboardInterrupt, **changes: Any) -> RunConfig:
    """A run stopped after so many steps."""
    config = tiny(**changes)
    with pytest.raises(error):
        train(config, folder, "command", stop_at(steps, error()))
    return config


def steps_in(folder: Path) -> int:
    """How many decisions the checkpoint has behind it."""
    steps: int = MaskablePPO.load(folder / CHECKPOINT, device="cpu").num_timesteps
    return steps


def curve_of(folder: Path) -> list[int]:
    with (folder / CURVE).open(newline="") as file:
        return [int(row["steps"]) for row in csv.DictReader(file)]


def log_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def some_decisions(hands: int = 40) -> Batch:
    """Decisions of random hands."""
    chance, views = np.random.default_rng(0), []
    for seed in range(hands):
        hand = Round(seed=seed)
        while (player := hand.player) is not None:
            views.append(hand.view(player).data.copy())
            hand.apply(int(chance.choice(hand.legal_actions())))
    return Batch(np.concatenate(views), np.arange(len(views)), np.zeros(len(views), np.uint64))


# What a run leaves behind


@pytest.fixture
def small_lessons(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clone of 4,096 decisions needs no more of them."""
    monkeypatch.setattr(cloning, "LANES", 64)
    monkeypatch.setattr(cloning, "STEPS", 64)


@pytest.mark.usefixtures("small_lessons")
def test_a_run_from_a_clone_leaves_all_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "tiny"
    config = tiny(clone={"decisions": 4096, "batch_size": 1024})
    done: Counter[str] = Counter()
    trained = train(config, folder, "python scripts/train.py", lambda stage, n, text: done.update({stage: n}))

    assert done == {"clone": 4096, "ppo": 512}
    events = [path.name for path in folder.glob("events.out.tfevents.*")]
    assert len(events) == 1
    names = {"config.yaml", "command.txt", START, CHECKPOINT, "progress.csv", CURVE, FILE_NAME, *events}
    assert {path.name for path in folder.iterdir()} == names
    assert load_config(folder / "config.yaml") == config
    assert (folder / "command.txt").read_text() == "python scripts/train.py\n"

    assert curve_of(folder) == [0, 256, 512]
    assert [row["time/total_timesteps"] for row in log_of(folder / "progress.csv")] == ["128", "256", "384", "512"]
    scalars = EventAccumulator(str(folder)).Reload().Tags()["scalars"]
    assert {"curve greedy/share", "curve greedy/points", "rollout/ep_rew_mean", "train/learning_rate"} <= set(scalars)

    assert steps_in(folder) == 512
    saved, start = load_policy(folder), start_of(folder)
    assert same(saved.layers, trained.layers)
    assert (saved.name, saved.rules) == ("tiny", Rules())
    assert not same(start.layers, trained.layers)
    assert [weights.shape for weights, _ in start.layers] == [(960, 16), (16, 108)]


def test_the_curve_holds_numbers_and_intervals(tmp_path: Path) -> None:
    train(
        tiny(rules="big_gin", opponents={"novice": 1}, curve={"opponents": ["random", "novice"], "every": 512, "deals": 6}),
        tmp_path,
        "",
        quiet,
    )
    rows = log_of(tmp_path / CURVE)
    assert [row["opponent"] for row in rows] == ["random", "novice"] * 2
    for row in rows:
        assert list(row) == "steps opponent share share_low share_high points points_low points_high dead turns".split()
        assert float(row["points_low"]) <= float(row["points"]) <= float(row["points_high"])
        assert 0 <= float(row["dead"]) <= 1
        assert float(row["turns"]) > 0


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_the_saved_policy_chooses_what_sb3s_model_chooses(tmp_path: Path, activation: str) -> None:
    train(tiny(network={"hidden": [32, 16], "activation": activation}), tmp_path, "", quiet)
    model = MaskablePPO.load(tmp_path / CHECKPOINT, device="cpu")
    batch = some_decisions()
    theirs, _ = model.predict(batch.observations, action_masks=batch.action_masks, deterministic=True)
    saved = load_policy(tmp_path)
    ours = saved.act(batch)
    assert len(batch) > 1000
    assert (ours == theirs).mean() > 0.998
    # SB3 compares probabilities, in which logits this close are the same number.
    logits, rows = saved.logits(batch.observations), np.arange(len(batch))
    assert (logits[rows, ours] - logits[rows, theirs]).max() < 1e-6


@pytest.mark.usefixtures("small_lessons")
def test_the_same_configuration_gives_the_same_policy(tmp_path: Path) -> None:
    def layers(name: str, **changes: Any) -> list[Any]:
        config = tiny(
            clone={"decisions": 1024, "batch_size": 512}, ppo={"steps": 256, "rollout": 16, "batch_size": 64}, **changes
        )
        return train(config, tmp_path / name, "", quiet).layers

    first = layers("first")
    assert same(layers("second"), first)
    assert not same(layers("other", seed=4), first)


# The run is what its configuration says


def test_the_configuration_reaches_environment_and_model() -> None:
    config = tiny(
        rules={"max_run": 4},
        reward="win",
        reward_scale=0.5,
        opponents={"simple": 3, "random": 1},
        network={"hidden": [24, 12], "activation": "tanh"},
        ppo={
            "rollout": 4,
            "batch_size": 8192,
            "epochs": 7,
            "learning_rate": 1e-3,
            "final_learning_rate": 1e-4,
            "gamma": 0.9,
            "gae_lambda": 0.8,
            "entropy": 0.03,
            "clip_range": 0.3,
            "value_coefficient": 0.7,
            "max_gradient_norm": 0.6,
        },
    )
    model = run.new_model(config)
    environment = model.get_env()
    assert isinstance(environment, GinVecEnv)
    assert (environment.num_envs, environment.lanes.rules) == (8, Rules(max_run=4))
    assert environment.lanes._settings["win"].tolist() == [True]
    assert environment._reward_scale == 0.5
    assert [policy.name for policy in environment.lanes._policies] == ["simple", "random"]
    assert environment.lanes._opponents["share"].tolist() == [0.75, 1.0]
    assert (model.n_steps, model.batch_size, model.n_epochs) == (4, 32, 7)
    assert (model.gamma, model.gae_lambda, model.ent_coef, model.vf_coef, model.max_grad_norm) == (0.9, 0.8, 0.03, 0.7, 0.6)
    assert model.clip_range(1.0) == 0.3  # type: ignore[operator]  # a schedule once the model is set up
    assert [model.lr_schedule(left) for left in (1.0, 0.5, 0.0)] == pytest.approx([1e-3, 5.5e-4, 1e-4])
    assert [tuple(parameter.shape) for parameter in model.policy.mlp_extractor.policy_net.parameters()] == [
        (24, 960),
        (24,),
        (12, 24),
        (12,),
    ]


def test_runs_of_different_seeds_share_no_deals() -> None:
    def seeds(config: RunConfig) -> set[int]:
        environment = run.new_model(config).get_env()
        assert isinstance(environment, GinVecEnv)
        return {int(seed) for seed in environment.lanes.records["hidden"]["seed"]}

    assert len(seeds(tiny(seed=1)) | seeds(tiny(seed=2))) == 16


class _Watched(GinVecEnv):
    """Notes each hand's opponent and each first deal's seed."""

    opponents: ClassVar[Counter[str]] = Counter()
    seeds: ClassVar[list[int]] = []

    def reset(self) -> Any:
        self.seeds.append(int(self.lanes.records["hidden"]["seed"][0]))
        return super().reset()

    def step_wait(self) -> Any:
        returned = super().step_wait()
        self.opponents.update(info["opponent"] for info in returned[3] if info)
        return returned


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> type[_Watched]:
    monkeypatch.setattr(run, "GinVecEnv", _Watched)
    _Watched.opponents.clear()
    _Watched.seeds.clear()
    return _Watched


def test_opponents_are_drawn_by_weight_and_may_be_saved_runs(tmp_path: Path, watched: type[_Watched]) -> None:
    saved = LearnedPolicy("an old run", [(np.zeros((960, 108), np.float32), np.zeros(108, np.float32))], "relu", Rules())
    saved.save(tmp_path / "old" / FILE_NAME)
    opponents = {"greedy": 6, "simple": 2, str(tmp_path / "old"): 2}
    train(tiny(opponents=opponents, ppo={"steps": 4096, "rollout": 64, "epochs": 1}), tmp_path / "new", "", quiet)
    drawn = watched.opponents
    assert set(drawn) == {"greedy", "simple", "an old run"}
    assert drawn["greedy"] > drawn["simple"] + drawn["an old run"] > 0
    assert load_config(tmp_path / "new" / "config.yaml").opponents == opponents


# Interruptions


@pytest.mark.parametrize("steps", [0, 128, 384])
def test_an_interrupted_run_is_resumed_to_the_end(tmp_path: Path, steps: int) -> None:
    config = interrupted(tmp_path, steps)
    assert steps_in(tmp_path) == steps
    assert not (tmp_path / FILE_NAME).exists()
    before = contents(tmp_path)

    done: Counter[str] = Counter()
    trained = resume(config, tmp_path, lambda stage, n, text: done.update({stage: n}))

    assert steps_in(tmp_path) == 512
    assert done["ppo"] == 512
    assert same(load_policy(tmp_path).layers, trained.layers)
    points = curve_of(tmp_path)
    assert points == [0, 256, 512]
    for name in ("config.yaml", "command.txt", START):
        assert (tmp_path / name).read_bytes() == before[name]


def test_a_resumed_run_goes_on_where_it_was(tmp_path: Path, watched: type[_Watched]) -> None:
    """The training log is kept, the learning rate falls on, and the deals are new ones."""
    config = interrupted(tmp_path, 256)
    before = (tmp_path / "progress.csv").read_bytes()
    resume(config, tmp_path, quiet)
    assert (tmp_path / "progress.csv").read_bytes() == before
    log = log_of(tmp_path / "progress-from-256.csv")
    assert [row["time/total_timesteps"] for row in log] == ["384", "512"]
    assert float(log[1]["train/learning_rate"]) == pytest.approx(3e-4 / 4)  # at 384 of 512
    first, second = watched.seeds
    assert not set(range(first, first + 8)) & set(range(second, second + 8))


def test_an_interruption_between_checkpoints_loses_nothing(tmp_path: Path) -> None:
    interrupted(tmp_path, 128)
    assert steps_in(tmp_path) == 128  # the checkpoints in between are at 0 and 256


def test_a_run_may_be_interrupted_again(tmp_path: Path) -> None:
    config = interrupted(tmp_path, 128)
    with pytest.raises(KeyboardInterrupt):
        resume(config, tmp_path, stop_at(384, KeyboardInterrupt()))
    assert steps_in(tmp_path) == 384
    resume(config, tmp_path, quiet)
    assert steps_in(tmp_path) == 512
    assert curve_of(tmp_path) == sorted(set(curve_of(tmp_path)))


def test_a_killed_run_goes_on_from_its_last_checkpoint(tmp_path: Path) -> None:
    """And points of the curve after that checkpoint are taken anew, not twice."""
    often = {"every": 128, "deals": 4, "opponents": ["greedy"]}
    config = interrupted(tmp_path, 384, MemoryError, curve=often)
    assert steps_in(tmp_path) == 256
    assert curve_of(tmp_path) == [0, 128, 256, 384]
    text = (tmp_path / CURVE).read_text().replace("\n384,", "\n384,old")
    (tmp_path / CURVE).write_text(text)
    resume(config, tmp_path, quiet)
    assert steps_in(tmp_path) == 512
    assert curve_of(tmp_path) == [0, 128, 256, 384, 512]
    assert "old" not in (tmp_path / CURVE).read_text()


def test_resuming_a_finished_run_changes_nothing(tmp_path: Path) -> None:
    config = tiny()
    trained = train(config, tmp_path, "", quiet)
    before = contents(tmp_path)
    done: Counter[str] = Counter()
    assert same(resume(config, tmp_path, lambda stage, n, text: done.update({stage: n})).layers, trained.layers)
    after = contents(tmp_path)
    assert set(after) == set(before)
    assert {name for name in after if after[name] != before[name]} <= {CHECKPOINT, FILE_NAME}  # written anew, with the time
    assert done["ppo"] == 512


# Bad input loses nothing


@pytest.mark.parametrize("damage", ["cut early", "cut late", "a byte", "empty", "no zip", "another zip"])
def test_a_damaged_checkpoint_is_refused(tmp_path: Path, damage: str) -> None:
    config = interrupted(tmp_path, 128)
    file = tmp_path / CHECKPOINT
    good = file.read_bytes()
    middle = len(good) // 2
    damaged = {
        "cut early": good[: len(good) // 10],
        "cut late": good[:-1],
        "a byte": good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1 :],
        "empty": b"",
        "no zip": b"checkpoint",
        "another zip": (tmp_path / START).read_bytes(),
    }
    file.write_bytes(damaged[damage])
    before = contents(tmp_path)
    with pytest.raises(ValueError, match=r"checkpoint\.zip is no sound checkpoint: \S"):
        resume(config, tmp_path, quiet)
    assert contents(tmp_path) == before
    file.write_bytes(good)
    resume(config, tmp_path, quiet)
    assert steps_in(tmp_path) == 512


@pytest.mark.usefixtures("small_lessons")
def test_a_run_stopped_before_its_first_checkpoint(tmp_path: Path) -> None:
    def stop(stage: str, done: int, text: str) -> None:
        raise KeyboardInterrupt

    config = tiny(clone={"decisions": 1024, "batch_size": 512})
    with pytest.raises(KeyboardInterrupt):
        train(config, tmp_path, "", stop)
    with pytest.raises(ValueError, match=r"holds no checkpoint\.zip: .* start it anew"):
        resume(config, tmp_path, quiet)


def test_a_folder_that_is_in_use(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match=f"{tmp_path} is not empty: take another folder, or --resume"):
        train(tiny(), tmp_path, "", quiet)
    assert contents(tmp_path) == {"notes.txt": b"mine"}


def test_a_file_in_the_folders_place(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("mine")
    with pytest.raises(ValueError, match="notes.txt is a file"):
        train(tiny(), file, "", quiet)
    assert file.read_text() == "mine"


@pytest.mark.parametrize("failing", ["save", "fsync"])
def test_a_failed_write_keeps_the_checkpoint_there_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str) -> None:
    config = interrupted(tmp_path, 256)
    good, names = (tmp_path / CHECKPOINT).read_bytes(), set(contents(tmp_path))

    def save(model: MaskablePPO, file: Any) -> None:
        file.write(b"half a check")
        raise OSError("disk full")

    def fsync(descriptor: int) -> None:
        raise OSError("disk full")

    model = MaskablePPO.load(tmp_path / CHECKPOINT, device="cpu")
    with monkeypatch.context() as broken:
        if failing == "save":
            broken.setattr(MaskablePPO, "save", save)
        else:
            broken.setattr(os, "fsync", fsync)
        with pytest.raises(OSError, match="disk full"):
            run.save_checkpoint(model, tmp_path)
    assert (tmp_path / CHECKPOINT).read_bytes() == good
    assert set(contents(tmp_path)) == names
    resume(config, tmp_path, quiet)
    assert steps_in(tmp_path) == 512
