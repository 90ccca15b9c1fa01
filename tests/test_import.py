"""Importing the package: what it loads, what it offers, which way its imports point."""

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import pettingzoo
import pytest

import gin_env
from gin_env import straight_gin_v0

PACKAGE = Path(gin_env.__file__).parent

# A module imports modules of lower rank, and modules of its own package. Folders stand for all that is in them.
RANKS = {
    "files": 0,
    "compiled": 0,
    "atomic": 1,
    "bits": 1,
    "rules": 2,
    "observation": 3,
    "advance": 3,
    "render": 3,
    "round": 4,
    "policies": 4,
    "match": 5,
    "record": 5,
    "envs": 6,
    "arena": 6,
    "straight_gin_v0": 7,
    "": 8,  # the package's own __init__
}


def run_fresh(code: str) -> str:
    """What a fresh process prints."""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PACKAGE.parent)
    return ran.stdout.strip()


EVERY_MODULE = (
    "import gin_env, importlib, pkgutil;"
    "[importlib.import_module(module.name) for module in pkgutil.walk_packages(gin_env.__path__, 'gin_env.')]"
)


@pytest.mark.parametrize("statement", ["import gin_env", EVERY_MODULE], ids=["package", "every module"])
def test_import_loads_nothing_heavy(statement: str) -> None:
    heavy = ["torch", "stable_baselines3", "sb3_contrib", "pygame", "matplotlib", "training", "rich", "pydantic"]
    assert run_fresh(f"{statement}; import sys; print([name for name in {heavy} if name in sys.modules])") == "[]"


def test_import_prints_and_warns_of_nothing() -> None:
    ran = subprocess.run(
        [sys.executable, "-W", "error:::gin_env", "-c", "import gin_env"],
        capture_output=True,
        text=True,
        check=True,
        cwd=PACKAGE.parent,
    )
    assert (ran.stdout, ran.stderr) == ("", "")


def test_public_names() -> None:
    """Those of the design for this stage."""
    names = {
        "Round",
        "Rules",
        "VectorEnv",
        "View",
        "Policy",
        "Batch",
        "IllegalAction",
        "policy",
        "deadwood",
        "best_melds",
        "gin_discards",
        "parse_cards",
        "card_text",
        "action_text",
        "straight_gin_v0",
    }
    assert names <= set(gin_env.__all__)
    assert all(hasattr(gin_env, name) for name in gin_env.__all__)
    assert {"env", "raw_env", "parallel_env"} <= set(straight_gin_v0.__all__)
    assert issubclass(gin_env.IllegalAction, ValueError)


def test_public_arguments() -> None:
    """As the design writes the calls."""
    hand = gin_env.Round(rules="straight", deck=None, seed=None, first_player=None)
    for name in ("player", "legal_actions", "apply", "over", "scores", "outcome", "turns", "hands", "stock", "upcard"):
        assert hasattr(hand, name)
    for name in ("clone", "view", "observation", "determinize"):
        assert callable(getattr(hand, name))
    settings: dict[str, Any] = {
        "rules": "straight",
        "match": "hand",
        "observation": "bits",
        "reward": "points",
        "render_mode": None,
    }
    for make in (straight_gin_v0.env, straight_gin_v0.raw_env, straight_gin_v0.parallel_env):
        assert make(**settings).possible_agents == ["player_0", "player_1"]
    vector = gin_env.VectorEnv(
        num_envs=2,
        rules="straight",
        match="hand",
        opponent="greedy",
        learner_seat="random",
        reward="points",
        seed=0,
        num_threads=1,
        copy=True,
    )
    assert vector.num_envs == 2
    assert gymnasium.make("gin_env/StraightGin-v0", opponent="greedy", learner_seat="random").spec is not None


def test_environment_ids_are_registered() -> None:
    spec = gymnasium.spec("gin_env/StraightGin-v0")
    assert spec.entry_point == "gin_env.envs.single_agent:StraightGinEnv"
    assert spec.vector_entry_point == "gin_env.envs.vector:VectorEnv"


@pytest.mark.skipif(not hasattr(pettingzoo, "spec"), reason="this PettingZoo has no registry")
@pytest.mark.parametrize("api", ["aec", "parallel"])
def test_pettingzoo_ids_are_registered(api: str) -> None:
    assert pettingzoo.spec(api, "gin_env/straight_gin-v0") is not None


# Which way imports point


def modules() -> list[str]:
    """Dotted names of the package's modules, below `gin_env`."""
    names = [".".join(path.relative_to(PACKAGE).with_suffix("").parts) for path in PACKAGE.rglob("*.py")]
    return sorted("" if name == "__init__" else name.removesuffix(".__init__") for name in names)


def imports_of(module: str) -> set[str]:
    """What a module imports of the package, anywhere in its code: dotted names below `gin_env`."""
    folder = PACKAGE.joinpath(*module.split("."))
    tree = ast.parse((folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")).read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} has a relative import"
            # `from gin_env import x` and `from gin_env.rules import x`: x may be a module.
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name.removeprefix("gin_env").removeprefix(".") for name in found if name.split(".")[0] == "gin_env"}


def part_of(module: str) -> str:
    """The file or folder of the package that a module is or lies in; "" for the package itself."""
    first = module.split(".")[0]
    return first if first in {name.split(".")[0] for name in modules()} else ""


@pytest.mark.parametrize("module", modules(), ids=lambda module: module or "gin_env")
def test_imports_point_one_way(module: str) -> None:
    """Rules, then observation, policies and render, then the environments, then the package."""
    part = part_of(module)
    assert part in RANKS, f"{part} is new: give it a rank"
    for imported in imports_of(module):
        other = part_of(imported)
        assert other == part or RANKS[other] < RANKS[part], f"{module} imports {imported}"


@pytest.mark.parametrize(
    ("folder", "libraries"),
    [("rules", {"numpy", "numba", "llvmlite"}), ("", {"numpy", "numba", "llvmlite", "gymnasium", "pettingzoo"})],
    ids=["rules", "package"],
)
def test_nothing_but_the_core_dependencies_is_imported(folder: str, libraries: set[str]) -> None:
    allowed = set(sys.stdlib_module_names) | libraries | {"gin_env"}
    for path in (PACKAGE / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            assert {name.split(".")[0] for name in names} <= allowed, path
