"""The command lines as a person types them: what they print and leave behind, bad input, Ctrl-C."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import gin_env
from gin_env.arena.duplicate import play_pairs
from gin_env.policies.learned import LearnedPolicy
from scripts import benchmark, check_speed, evaluate, regenerate_golden, train
from scripts.command_line import run_command

ROOT = Path(__file__).parents[2]
QUICKSTART = ROOT / "configs" / "quickstart.yaml"
KEYS = {"a", "b", "share", "share_ci95", "points", "points_ci95", "dead", "turns", "big_gins", "deals"}
SMALL = (
    *("name=small", "threads=1", "lanes=8", "network.hidden=[16]", "clone.decisions=2048", "clone.batch_size=1024"),
    *(
        "ppo.steps=256",
        "ppo.rollout=16",
        "ppo.batch_size=64",
        "curve.deals=4",
        "curve.opponents=[greedy]",
        "evaluation.deals=20",
    ),
)

Answer = tuple[int, str, str]


def command(script: str, *arguments: str | Path) -> list[str]:
    return [sys.executable, str(ROOT / "scripts" / f"{script}.py"), *map(str, arguments)]


def environment() -> dict[str, str]:
    """Wide enough for tables and paths; one torch thread, as the test processes share the cores."""
    return os.environ | {"COLUMNS": "200", "OMP_NUM_THREADS": "1"}


def run(folder: Path, script: str, *arguments: str | Path) -> Answer:
    """A real process's exit code, output and error output."""
    ran = subprocess.run(
        command(script, *arguments), cwd=folder, env=environment(), capture_output=True, text=True, check=False, timeout=120
    )
    return ran.returncode, ran.stdout, ran.stderr


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """The same without a process of its own, in an empty folder, for what ends early."""
    monkeypatch.chdir(tmp_path)

    def answer(script: ModuleType, *arguments: str | Path) -> Answer:
        monkeypatch.setattr(sys, "argv", ["script.py", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            run_command(script.main)
        printed = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, printed.out, printed.err

    return answer


def rows_of(table: str) -> list[list[str]]:
    """The words of each row of a table on screen."""
    return [[cell.strip() for cell in line.strip("│").split("│")] for line in table.splitlines() if line.startswith("│")]


def script_name(value: ModuleType | str) -> str:
    """For tests' ids."""
    return value if isinstance(value, str) else value.__name__.removeprefix("scripts.")


# Training, then playing what was trained


def test_train_shows_what_was_learned_and_where_it_lies(tmp_path: Path) -> None:
    code, out, err = run(tmp_path, "train", "--config", QUICKSTART, *SMALL)
    assert code == 0, err
    assert "Traceback" not in err
    assert "training small in runs/small" in out
    assert [row[:2] for row in rows_of(out)] == [["small", it] for it in ("its start", "random", "novice", "simple", "greedy")]
    assert "20 deals, each played twice with seats swapped; 95% intervals" in out
    assert "Its start was a clone of greedy." in out

    listed = [line.split()[0] for line in out.splitlines() if line.startswith("  runs/small/")]
    assert {Path(path).name for path in listed} == {
        "policy.npz",
        "curve.png",
        "table.json",
        "progress.csv",
        "config.yaml",
        "checkpoint.zip",
    }
    for path in listed:
        assert (tmp_path / path).stat().st_size > 0
    folder = tmp_path / "runs" / "small"
    assert (folder / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert "scripts/train.py --config" in (folder / "command.txt").read_text()
    table = json.loads((folder / "table.json").read_text())
    assert (table["deals"], table["seed"], table["rules"]["gin_bonus"]) == (20, 2_000_002, 25)
    assert [(pair["a"], pair["b"]) for pair in table["pairs"][:2]] == [("small", "its start"), ("its start", "small")]

    code, out, err = run(
        tmp_path,
        "evaluate",
        "--agents",
        "runs/small",
        "greedy",
        "simple",
        "--deals",
        "30",
        "--seed",
        "5",
        "--json",
        "out/a.json",
    )
    assert (code, err) == (0, "")
    assert [row[:2] for row in rows_of(out)] == [["small", "greedy"], ["small", "simple"], ["greedy", "simple"]]
    written = json.loads((tmp_path / "out" / "a.json").read_text())
    assert (written["deals"], written["seed"], written["rules"]) == (30, 5, gin_env.Rules().as_dict())
    assert all(set(pair) == KEYS for pair in written["pairs"])
    expected = []
    for a, b in (("runs/small", "greedy"), ("runs/small", "simple"), ("greedy", "simple")):
        agents = [gin_env.policy(tmp_path / name if "/" in name else name) for name in (a, b)]
        result = play_pairs(agents[0], agents[1], 30, 5)
        expected += [result.as_dict(), result.mirrored().as_dict()]
    assert written["pairs"] == expected


def ready(process: subprocess.Popen[str], log: Path) -> None:
    """Wait until PPO has begun: two rows in its log."""
    give_up = time.monotonic() + 100
    while not log.exists() or log.read_text().count("\n") < 3:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < give_up
        time.sleep(0.02)


def test_an_interrupted_training_run_is_resumed(tmp_path: Path) -> None:
    folder = tmp_path / "my run"
    overrides = [text for text in SMALL if not text.startswith(("ppo.steps", "clone", "evaluation"))]
    process = subprocess.Popen(
        command(
            *("train", "--config", QUICKSTART, "--out", folder),
            *(*overrides, "ppo.steps=8_000", "clone.decisions=0", "evaluation={deals: 2, opponents: [novice]}"),
        ),
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell's background job has SIGINT ignored, and so would what it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        ready(process, folder / "progress.csv")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, err.splitlines()[-1:]) == (130, ["interrupted"])
    assert "Traceback" not in err
    assert f"training small in {folder}" in out
    assert (folder / "checkpoint.zip").exists()
    assert not (folder / "policy.npz").exists()

    code, out, err = run(tmp_path, "train", "--resume", folder)
    assert code == 0, err
    assert [row[:2] for row in rows_of(out)] == [["small", "its start"], ["small", "novice"]]
    assert "Its start was an untrained network." in out
    with (folder / "curve.csv").open(newline="") as file:
        steps = [int(row["steps"]) for row in csv.DictReader(file)]
    assert steps == sorted(set(steps))
    assert steps[-1] >= 8_000
    logs = list(folder.glob("progress-from-*.csv"))
    assert len(logs) == 1
    assert int(logs[0].stem.removeprefix("progress-from-")) >= 256
    assert gin_env.policy(folder).name == "small"


def test_a_taken_name_is_numbered(tmp_path: Path) -> None:
    assert train._free_folder(tmp_path / "it") == tmp_path / "it"
    (tmp_path / "it").mkdir()
    (tmp_path / "it-2").mkdir()
    assert train._free_folder(tmp_path / "it") == tmp_path / "it-3"


# Help


@pytest.mark.parametrize("script", [train, evaluate, benchmark, check_speed, regenerate_golden], ids=script_name)
def test_help_has_examples(here: Callable[..., Answer], script: ModuleType) -> None:
    code, out, err = here(script, "--help")
    assert (code, err) == (0, "")
    examples = [line for line in out.splitlines() if line.startswith(f"  python scripts/{script_name(script)}.py")]
    assert len(examples) >= 2
    assert "Examples:" in out


def test_every_option_is_explained(here: Callable[..., Answer]) -> None:
    for script, options in (
        (train, "--config --resume --out"),
        (evaluate, "--agents --deals --seed --rules --json"),
        (benchmark, "--json --parts --rounds --seconds"),
        (check_speed, "--rounds"),
    ):
        _, out, _ = here(script, "--help")
        for option in options.split():
            assert option in out


# Bad input


@pytest.fixture
def folders(tmp_path: Path) -> None:
    """A good file and some bad ones, in the folder the commands are run in."""
    layers = [(np.zeros((960, 108), np.float32), np.zeros(108, np.float32))]
    LearnedPolicy("flat", layers, "relu", gin_env.Rules()).save(tmp_path / "good.npz")
    (tmp_path / "cut.npz").write_bytes((tmp_path / "good.npz").read_bytes()[:1000])
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "notes.txt").write_text("mine")
    (tmp_path / "stopped").mkdir()
    (tmp_path / "stopped" / "config.yaml").write_text("name: stopped")
    (tmp_path / "list.yaml").write_text("- seed")


# What is typed after `train.py`, FILE being the quickstart's configuration, and what the answer says.
TRAIN = {
    "": "give either --config FILE or --resume FOLDER",
    "--config FILE --resume taken": "give either --config FILE or --resume FOLDER",
    "--confg x": "unrecognized arguments: --confg",
    "--config": "argument --config: expected one argument",
    "--config missing.yaml": "missing.yaml can't be read: No such file or directory",
    "--config list.yaml": "list.yaml holds list: expected a mapping",
    "--config FILE ppo.step=3": "unknown key 'ppo.step': the nearest known one is 'ppo.steps'",
    "--config FILE pppo.steps=3": "unknown key 'pppo': the nearest known one is 'ppo'",
    "--config FILE steps": "override 'steps': expected key=value",
    "--config FILE seed=[1": "override 'seed=[1'",
    "--config FILE seed=-1": "seed=-1: Input should be greater than or equal to 0",
    "--config FILE seed=now": "seed='now': Input should be a valid integer",
    "--config FILE rules=strait": "'strait' is no rule preset",
    "--config FILE rules=standard": "this version plays the games without knocking only",
    "--config FILE opponents.gredy=1": "'gredy' is no policy",
    "--config FILE --out taken": "taken is not empty",
    "--config FILE --out list.yaml": "list.yaml is a file",
    "--resume missing": "config.yaml can't be read: No such file or directory",
    "--resume taken": "config.yaml can't be read: No such file or directory",
    "--resume stopped": "stopped holds no checkpoint.zip",
    "--resume stopped seed=3": "no overrides, no --out",
    "--resume stopped --out x": "no overrides, no --out",
}
EVALUATE = {
    "": "the following arguments are required: --agents",
    "--agents greedy": "--agents greedy: expected at least two",
    "--agents greedy gredy": "'gredy' is no policy: expected one of random, novice, simple, greedy",
    "--agents greedy stopped": "stopped holds no policy.npz",
    "--agents greedy cut.npz": "cut.npz is no sound policy file",
    "--agents greedy simple --deals 1": "--deals 1: expected at least 2",
    "--agents greedy simple --deals many": "argument --deals: invalid int value: 'many'",
    "--agents greedy simple --deals 2.5": "argument --deals: invalid int value: '2.5'",
    "--agents greedy simple --seed now": "argument --seed: invalid int value: 'now'",
    "--agents greedy simple --seed -1": "--seed -1: expected",
    f"--agents greedy simple --seed {2**64}": f"--seed {2**64}: expected",
    "--agents greedy simple --rules strait": "'strait' is no rule preset",
    "--agents greedy simple --rules standard": "this version plays the games without knocking only",
    "--agents greedy simple --json taken": "--json taken: expected a file",
    "--agents greedy simple --deals 2 --json list.yaml/table.json": "list.yaml",
    "--agents greedy simple --sed 1": "unrecognized arguments: --sed 1",
}


BENCHMARK = {
    "--rounds 0": "--rounds 0: expected at least 1",
    "--rounds many": "invalid int value: 'many'",
    "--seconds 0": "--seconds 0.0: expected more than 0 and at most 60",
    "--seconds nan": "--seconds nan: expected more than 0 and at most 60",
    "--parts speed": "invalid choice: 'speed'",
    "--json no/where.json": "--json no/where.json: expected a file in a folder that exists",
    "--json taken": "--json taken: expected a file in a folder that exists",
}
CHECK_SPEED = {"--rounds -1": "--rounds -1: expected at least 1"}
BAD_LINES = [
    (script, line, said)
    for script, lines in ((train, TRAIN), (evaluate, EVALUATE), (benchmark, BENCHMARK), (check_speed, CHECK_SPEED))
    for line, said in lines.items()
]


@pytest.mark.usefixtures("folders")
@pytest.mark.parametrize(("script", "line", "said"), BAD_LINES, ids=script_name)
def test_bad_input_is_answered_with_one_line(here: Callable[..., Answer], script: ModuleType, line: str, said: str) -> None:
    """And nothing is written, and nothing lost."""
    before = {path: path.is_file() and path.read_bytes() for path in Path().rglob("*")}
    code, _, err = here(script, *(QUICKSTART if word == "FILE" else word for word in line.split()))
    assert code == 2
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert said in err
    assert {path: path.is_file() and path.read_bytes() for path in Path().rglob("*")} == before


def test_bad_input_in_a_process_of_its_own(tmp_path: Path) -> None:
    code, out, err = run(tmp_path, "evaluate", "--agents", "greedy", "gredy")
    assert (code, out) == (2, "")
    assert err.startswith("error: 'gredy' is no policy")
    assert err.count("\n") == 1


# Around a script's work


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (ValueError("two\nlines"), 2, "error: two lines\n"),
        (OSError(28, "No space left on device", "table.json"), 2, "error: [Errno 28] No space left on device: 'table.json'\n"),
        (NotImplementedError("not yet"), 2, "error: not yet\n"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
    ],
    ids=["bad value", "disk", "not yet", "Ctrl-C"],
)
def test_ends_of_a_script(capsys: pytest.CaptureFixture[str], raised: BaseException, code: int, said: str) -> None:
    def main() -> None:
        raise raised

    with pytest.raises(SystemExit) as ended:
        run_command(main)
    assert ended.value.code == code
    assert capsys.readouterr().err == said


def test_a_fault_of_the_program_is_not_hidden() -> None:
    def main() -> None:
        raise IndexError("a bug")

    with pytest.raises(IndexError, match="a bug"):
        run_command(main)


def test_ctrl_c_while_the_table_is_played(here: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(evaluate, "play_pairs", stopped)
    code, _, err = here(evaluate, "--agents", "greedy", "simple", "--json", "table.json")
    assert (code, err) == (130, "interrupted\n")
    assert not Path("table.json").exists()
