"""The cache of compiled code: fresh processes, changed sources, no place to write, damaged files."""

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import gin_env

PACKAGE = Path(gin_env.__file__).parent
NOWHERE = "/dev/null/nowhere"  # below a regular file: not even root can write there

# Plays through every way into compiled code, and lists the compiled functions of the package that were not reached.
EVERYTHING = """
import hashlib, importlib, json, pkgutil, sys
import numpy as np
import gin_env
from numba.core.dispatcher import Dispatcher
from gin_env.arena.duplicate import play_pairs
from gin_env.match import Match
from gin_env.observation import WIDTH
from gin_env.policies.learned import LearnedPolicy
from gin_env.policies.registry import LADDER

digest = hashlib.sha256()
hand = gin_env.Round("big_gin", seed=1)
while not hand.over:
    legal = hand.legal_actions()
    hand.apply(legal[hand.turns * 7 % len(legal)])
    for seat in (0, 1):
        for seen in (hand.view(seat), hand.observation(seat), hand.action_mask(seat), hand.determinize(seat, 5).view(seat)):
            digest.update(seen.tobytes())
digest.update(repr((hand.outcome, hand.hands, gin_env.deadwood("AS 2S 3S KC"), gin_env.gin_discards(range(11)))).encode())
gin_env.Round(deck=range(52), first_player=1)
match = Match("hollywood", first_dealer=1)
match.add((30, 0))
digest.update(repr((match.games, match.winner)).encode())

rng = np.random.default_rng(0)
layers = [(rng.normal(size=(WIDTH, 108)).astype(np.float32), np.zeros(108, np.float32))]
learned = LearnedPolicy("learned", layers, "relu", gin_env.Rules(), sample=True)
for a, b in (("random", "novice"), ("simple", "greedy"), (learned, "greedy")):
    digest.update(repr(play_pairs(gin_env.policy(a), gin_env.policy(b), 3, 0)).encode())
batch = gin_env.Batch(hand.view(0).data[:0], np.zeros(0, np.int64), np.zeros(0, np.uint64))
for name in LADDER:
    gin_env.policy(name).act(batch)

for opponent in ("greedy", learned, None):
    environment = gin_env.VectorEnv(num_envs=2, opponent=opponent, seed=3, illegal_action="forfeit")
    observations, infos = environment.reset()
    for step in range(200):
        masks = infos["action_mask"]
        actions = masks.argmax(axis=1) if step % 90 else np.array([107, 107])
        observations, rewards, *_, infos = environment.step(actions)
        digest.update(observations.tobytes() + rewards.tobytes())
try:
    environment = gin_env.VectorEnv(num_envs=1, seed=0)
    environment.reset(options={"first_player": 1})
    environment.step([107])
except gin_env.IllegalAction:
    pass

table = gin_env.straight_gin_v0.env()
for illegal in (False, True):
    table.reset(seed=0)
    for agent in table.agent_iter():
        observation, reward, terminated, truncated, _ = table.last()
        digest.update(observation["observation"].tobytes() + repr(float(reward)).encode())
        action = 107 if illegal else int(observation["action_mask"].argmax())
        table.step(None if terminated or truncated else action)

unreached = []
for module in pkgutil.walk_packages(gin_env.__path__, "gin_env."):
    for name, value in vars(importlib.import_module(module.name)).items():
        if isinstance(value, Dispatcher) and value.py_func.__module__ == module.name and not value.signatures:
            unreached.append(f"{module.name}.{name}")
print(json.dumps({"digest": digest.hexdigest(), "unreached": unreached}))
"""

# Plays a few hands in `advance.py` by the rules of `phases.py`, and says what stock dead hands leave.
SOME = """
import json
import numpy as np
from gin_env.advance import advance
from gin_env.compiled import cache_directory
from gin_env.policies.registry import policy
from gin_env.rules.phases import start_all
from gin_env.rules.ruleset import Rules, compiled_rules
from gin_env.rules.state import DEAD, RECORD
from gin_env.rules.view import VIEW

records = np.zeros(20, RECORD)
records["public"]["rules"] = compiled_rules(Rules())
records["hidden"]["seed"] = np.arange(20)
start_all(records)
bot = policy("random").address
assert advance(records, bot, bot, np.zeros(1, VIEW)) == -1
public = records["public"]
left = sorted(set(public["stock_left"][public["outcome"] == DEAD].tolist()))
print(json.dumps({"left": left, "directory": str(cache_directory())}))
"""


def run(script: str, package_at: Path, **environment: str) -> dict[str, Any]:
    """What a fresh process prints; the package lies in `package_at`, and only the cache directories given are set."""
    clean = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    clean |= {"PYTHONPATH": str(package_at), "PYTHONDONTWRITEBYTECODE": "1"} | environment
    done = subprocess.run(
        [sys.executable, "-c", script], env=clean, cwd=package_at, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    printed: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return printed


def copy_of_package(folder: Path) -> Path:
    """A copy of the package alone; its path is returned."""
    return Path(shutil.copytree(PACKAGE, folder / "gin_env", ignore=shutil.ignore_patterns("__pycache__")))


def code_files(cache: Path) -> dict[str, int]:
    """Files of machine code and when each was written."""
    return {path.name: path.stat().st_mtime_ns for path in cache.rglob("*.nbc")}


def test_every_entry_works_in_two_fresh_processes(tmp_path: Path) -> None:
    """The second reads what the first compiled, compiles nothing anew, and plays the same."""
    first = run(EVERYTHING, PACKAGE.parent, NUMBA_CACHE_DIR=str(tmp_path))
    assert first["unreached"] == []
    written = code_files(tmp_path / "gin_env")
    assert len(written) > 50
    second = run(EVERYTHING, PACKAGE.parent, NUMBA_CACHE_DIR=str(tmp_path))
    assert second["digest"] == first["digest"]
    assert code_files(tmp_path / "gin_env") == written


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that one process has filled."""
    cache = tmp_path_factory.mktemp("warm")
    assert run(SOME, PACKAGE.parent, NUMBA_CACHE_DIR=str(cache))["left"] == [2]
    return cache


def test_a_changed_source_is_not_played_from_the_cache(warm: Path, tmp_path: Path) -> None:
    """The function that is called stands in another file than the constant that changes."""
    cache = Path(shutil.copytree(warm, tmp_path / "cache"))
    package, written = copy_of_package(tmp_path), code_files(cache)
    assert run(SOME, tmp_path, NUMBA_CACHE_DIR=str(cache))["left"] == [2]
    assert code_files(cache) == written  # the same sources elsewhere: nothing is compiled
    phases = package / "rules" / "phases.py"
    source = phases.read_text()
    assert source.count("\nDEAD_STOCK = 2") == 1
    phases.write_text(source.replace("\nDEAD_STOCK = 2", "\nDEAD_STOCK = 5"))
    assert run(SOME, tmp_path, NUMBA_CACHE_DIR=str(cache))["left"] == [5]


WHERE = "import json; from gin_env.compiled import cache_directory; print(json.dumps(str(cache_directory())))"


@pytest.mark.parametrize("writable", ["NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME", "the package"])
def test_the_first_place_that_can_be_written_is_used(writable: str, tmp_path: Path) -> None:
    package = copy_of_package(tmp_path)
    places = dict.fromkeys(("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME"), NOWHERE)
    if writable in places:
        places[writable] = str(tmp_path / "cache")
    if writable == "HOME":
        del places["XDG_CACHE_HOME"]
    found = run(WHERE, tmp_path, **places)
    assert str(found).startswith(str(package / "__pycache__") if writable == "the package" else places[writable])


def test_without_a_place_to_write(tmp_path: Path) -> None:
    """Compiled anew in each process, and nothing is left behind."""
    package = copy_of_package(tmp_path)
    (package / "__pycache__").write_text("a file, so that no folder can be made here")
    before = set(tmp_path.rglob("*"))
    nowhere = dict.fromkeys(("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME"), NOWHERE)
    assert run(SOME, tmp_path, **nowhere) == {"left": [2], "directory": "None"}
    assert set(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("kind", ["*.nbc", "*.nbi"])
def test_damaged_files_are_compiled_anew(kind: str, warm: Path, tmp_path: Path) -> None:
    """Files of code or of the index, cut, emptied or overwritten; the next process writes them whole."""
    shutil.copytree(warm, tmp_path, dirs_exist_ok=True)
    files = sorted(tmp_path.rglob(kind))
    assert len(files) > 30
    damaged = {}
    for i, path in enumerate(files):
        whole = path.read_bytes()
        path.write_bytes((whole[: len(whole) // 2], b"", b"no code" * 20)[i % 3])
        damaged[path] = path.read_bytes()
    assert run(SOME, PACKAGE.parent, NUMBA_CACHE_DIR=str(tmp_path))["left"] == [2]
    assert sum(path.read_bytes() != damage for path, damage in damaged.items()) > 10
    mended = code_files(tmp_path)
    assert run(SOME, PACKAGE.parent, NUMBA_CACHE_DIR=str(tmp_path))["left"] == [2]
    assert code_files(tmp_path) == mended


def test_processes_that_start_at_once_on_an_empty_cache(tmp_path: Path) -> None:
    """All play the same; afterwards nothing is left to compile, nor half written."""
    with ThreadPoolExecutor() as starters:
        started = [starters.submit(run, SOME, PACKAGE.parent, NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(4)]
    assert [process.result()["left"] for process in started] == [[2]] * 4
    assert run(SOME, PACKAGE.parent, NUMBA_CACHE_DIR=str(tmp_path))["left"] == [2]
    written = code_files(tmp_path)
    assert run(SOME, PACKAGE.parent, NUMBA_CACHE_DIR=str(tmp_path))["left"] == [2]
    assert code_files(tmp_path) == written
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix not in (".nbc", ".nbi")]
