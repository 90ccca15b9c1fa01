"""The benchmark measures what it says it measures, in the form its readers rely on; how fast anything is is not asserted."""

import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import gin_env
from gin_env.observation import WIDTH
from gin_env.rules.actions import ACTIONS
from scripts import benchmark, check_speed
from scripts.measuring import games, growth, limits, peers, starts, training_time
from scripts.measuring.choice import choose
from scripts.measuring.page import performance_page
from scripts.measuring.timing import Figure, Play, Rates, Workload, rates

FIGURE = {"median", "low", "high"}


def silent(text: str) -> None:
    """Progress that nobody watches."""


def measured(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    """The benchmark as the command line runs it."""
    monkeypatch.setattr(sys, "argv", ["benchmark.py", *arguments])
    benchmark.main()


# Figures


def test_figure_is_the_median_and_the_quartiles() -> None:
    figure = Figure.of([5.0, 1.0, 2.0, 4.0, 3.0])
    assert (figure.median, figure.low, figure.high) == (3.0, 2.0, 4.0)
    assert figure.spread == pytest.approx(1 / 3)
    assert Figure.of([123_456.0]).as_dict() == {"median": 123_500.0, "low": 123_500.0, "high": 123_500.0}


def test_ratios_are_taken_within_a_round() -> None:
    """A machine twice as slow in one round leaves the ratio as it is."""
    per_second = np.array([[10.0, 5.0], [20.0, 10.0], [40.0, 20.0]])
    found = Rates(("fast", "slow"), per_second, per_second * 0.5)
    assert found.ratio("fast", "slow") == Figure(2.0, 2.0, 2.0)
    assert found.cpu("fast").median == 20.0
    assert found.wall("slow").median == 5.0


def test_workloads_take_turns() -> None:
    """Each is begun once, warmed up, and then all are measured before any is measured again."""
    calls: list[str] = []

    def workload(key: str) -> Workload:
        def play() -> int:
            calls.append(key)
            return 1

        def begin() -> Play:
            calls.append(f"begin {key}")
            return play

        return Workload(key, key, begin)

    found = rates([workload("a"), workload("b")], rounds=3, seconds=1e-9, progress=silent)
    turns = [key for key, before in zip(calls, [None, *calls], strict=False) if key != before]
    assert turns == ["begin a", "a", "begin b", "b", *["a", "b"] * 3]
    assert found.per_cpu_second.shape == (3, 2)


# What is played


@pytest.mark.parametrize("opponent", [None, "greedy"])
def test_choice_is_legal_and_takes_every_legal_action_alike(opponent: str | None) -> None:
    envs = gin_env.VectorEnv(200, opponent=opponent, seed=1)
    _, infos = envs.reset()
    actions = np.zeros(200, np.int64)
    for seed in range(60):
        choose(infos["action_mask"], seed, actions)
        assert infos["action_mask"][np.arange(200), actions].all()
        *_, infos = envs.step(actions)
    mask = np.zeros((1, ACTIONS), np.int8)
    mask[0, [0, 3, 5, 43, 44, 63, 64, 65, 107]] = 1
    times: Counter[int] = Counter()
    for seed in range(9_000):
        choose(mask, seed, actions[:1])
        times[int(actions[0])] += 1
    assert set(times) == set(mask[0].nonzero()[0].tolist())
    assert all(850 < n < 1_150 for n in times.values())  # 5 standard deviations


def workloads() -> list[Workload]:
    return [*games.workloads(with_sb3=True), *peers.workloads(), *limits.workloads(), *limits.yardsticks()]


@pytest.mark.parametrize("workload", workloads(), ids=lambda workload: workload.key)
def test_every_workload_counts_what_it_plays(workload: Workload) -> None:
    play = workload.begin()
    assert play() > 0
    assert play() > 0


def test_keys_are_unique() -> None:
    keys = [workload.key for workload in workloads()]
    assert len(keys) == len(set(keys))
    assert set(check_speed.BOUNDS) <= set(keys)


# The command lines


def test_rates_are_shown_and_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.json"
    measured(monkeypatch, "--parts", "rates", "--rounds", "1", "--seconds", "0.001", "--json", str(out))
    result = json.loads(out.read_text())
    assert list(result) == ["machine", "versions", "settings", "bytes_per_decision", "rates"]
    assert result["settings"] == {"rounds": 1, "seconds": 0.001}
    assert result["bytes_per_decision"] == {"observation": WIDTH, "action_mask": ACTIONS, "sum": WIDTH + ACTIONS}
    assert result["versions"]["numba"]
    found = result["rates"]
    assert list(found) == [workload.key for workload in workloads()]
    for rate in found.values():
        assert set(rate) == {"text", "unit", "per_cpu_second", "per_wall_second", "times"}
        assert set(rate["per_cpu_second"]) == set(rate["per_wall_second"]) == FIGURE
    assert {"memset_1024", "memcpy_1024"} <= set(found["batched_1024"]["times"])
    assert not found["bots_greedy"]["times"]
    printed = capsys.readouterr().out
    assert all(key in printed for key in found)
    assert "…" not in printed


def test_growth_and_threads(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(growth, "GAMES", (1, 64))
    monkeypatch.setattr(growth, "THREADED", (1_024,))
    monkeypatch.setattr(benchmark, "cores", lambda: 2)
    out = tmp_path / "out.json"
    measured(monkeypatch, "--parts", "growth", "threads", "--rounds", "1", "--seconds", "0.001", "--json", str(out))
    result = json.loads(out.read_text())
    assert list(result["growth"]) == ["1", "64"]
    assert set(result["growth"]["64"]) == {"per_cpu_second", "bytes_per_game"}
    assert list(result["threads"]) == ["1024", "1024_v_greedy"]
    assert set(result["threads"]["1024"]["2"]) == FIGURE


def test_training_time_is_shared_out_among_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_time, "DECISIONS", 1)
    monkeypatch.setattr(training_time, "cores", lambda: 1)
    found = training_time.training_time(4, 1, silent)
    assert tuple(found.shares) == training_time.PARTS
    assert sum(share.median for share in found.shares.values()) == pytest.approx(1)
    assert all(0 < share.median < 1 for share in found.shares.values())
    assert found.decisions_per_second.median > 0


@pytest.mark.long
def test_the_first_start_through_each_door_compiles_and_the_next_does_not() -> None:
    found = starts.starts(1, silent)
    assert list(found) == list(starts.DOORS)
    for figures in found.values():
        assert figures["first"].median > figures["later"].median


def test_the_speed_check_fails_what_is_over_its_bound(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """After as many tries as it has, naming what is too slow; what is within its bounds passes at once."""
    tried: list[list[str]] = []

    def turns(keys: list[str], rounds: int) -> dict[str, Figure]:
        tried.append(list(keys))
        return {key: Figure.of([1e6 if key == "env" else 0.1]) for key in keys}

    monkeypatch.setattr(check_speed, "measured", turns)
    monkeypatch.setattr(sys, "argv", ["check_speed.py"])
    with pytest.raises(SystemExit) as ended:
        check_speed.main()
    assert ended.value.code == 1
    assert capsys.readouterr().err == "slower than their bounds in 3 tries: env\n"
    assert tried == [list(check_speed.BOUNDS), ["env"], ["env"]]

    tried.clear()
    monkeypatch.setitem(check_speed.BOUNDS, "env", ("calls", 1e7))
    check_speed.main()
    assert len(tried) == 1


def test_the_speed_check_measures_turns_of_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_speed, "SECONDS", 0.001)
    found = check_speed.measured(["batched_1024", "raw_env"], 1)
    assert list(found) == ["batched_1024", "raw_env"]
    assert all(figure.median > 0 for figure in found.values())


def test_the_page_has_all_tables() -> None:
    page = performance_page()
    headings = [line for line in page.splitlines() if line.startswith("## ")]
    assert len(headings) == 6
    assert page.count("\n| ---") == 5
    assert "`batched_1024`" in page
