"""Policies by name or path."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from gin_env.policies import bots
from gin_env.policies.policy import CompiledPolicy, Policy

# The ladder, weakest first.
LADDER: dict[str, Callable[[Any, Any], int]] = {
    "random": bots.random_action,
    "novice": bots.novice_action,
    "simple": bots.simple_action,
    "greedy": bots.greedy_action,
}


def policy(name: str | Path | Policy) -> Policy:
    """A policy by its name, or a trained run by its path.

    Args:
        name: a level of the ladder (`LADDER`), a saved policy's file or its folder, or a Policy, which is given back.

    Raises:
        ValueError: no such policy or file, or a file that holds no sound policy for this version.

    >>> policy("greedy").name
    'greedy'
    """
    if isinstance(name, Policy):
        return name
    if isinstance(name, str) and name in LADDER:
        return CompiledPolicy(name, LADDER[name])
    if isinstance(name, (str, Path)) and str(name) and _exists(Path(name)):
        from gin_env.policies.learned import load_policy

        return load_policy(name)
    near = get_close_matches(str(name), LADDER, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"{name!r} is no policy: expected one of {', '.join(LADDER)}, or the path of a saved run{hint}")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # no path at all, as it is too long
        return False
