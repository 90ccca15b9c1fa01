"""From `import` to the first step, in a process of its own: the first ever, which compiles, and later ones, which load that."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from scripts.measuring.timing import Figure

ROOT = Path(__file__).resolve().parents[2]

DOORS = {
    "round": """
import gin_env
hand = gin_env.Round(seed=0)
hand.apply(hand.legal_actions()[0])
""",
    "env": """
from gin_env import straight_gin_v0
env = straight_gin_v0.env()
env.reset(seed=0)
env.step(int(env.last()[0]["action_mask"].argmax()))
""",
    "vector_env": """
import gin_env
envs = gin_env.VectorEnv(64, opponent="greedy", seed=0)
_, infos = envs.reset()
envs.step(infos["action_mask"].argmax(axis=1))
""",
}


def seconds_to_first_step(door: str, cache: str) -> float:
    """One start, with the machine code kept in `cache`."""
    program = f"import time\nbegan = time.perf_counter()\n{DOORS[door]}\nprint(time.perf_counter() - began)"
    environment = os.environ | {"NUMBA_CACHE_DIR": cache, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout))


def starts(rounds: int, progress: Callable[[str], None]) -> dict[str, dict[str, Figure]]:
    """Seconds to the first step through each door: the first one ever, and later ones."""
    found = {}
    for door in DOORS:
        with TemporaryDirectory() as cache:
            progress(f"first start of {door}")
            first = seconds_to_first_step(door, cache)
            progress(f"later starts of {door}")
            later = [seconds_to_first_step(door, cache) for _ in range(rounds)]
        found[door] = {"first": Figure.of([first]), "later": Figure.of(later)}
    return found
