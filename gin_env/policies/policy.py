"""The Policy interface: what decides for a seat, one batch of decisions at a time. A policy sees Views and nothing else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache, cached_property
from typing import Any

import numpy as np
from numba.core.ccallback import CFunc
from numpy.typing import NDArray

from gin_env.advance import DECIDE, OUTSIDE
from gin_env.compiled import PackageCache, cache_directory, jit
from gin_env.observation import action_masks_of, observations_of
from gin_env.rules.phases import is_legal


class Batch:
    """Decisions that are due, one row each.

    Attributes:
        views: (n,) structured array of `VIEW`, each of the seat to act.
        lanes: (n,) int64, which game of the caller's each row is.
        keys: (n,) uint64 of randomness, one for each decision: the same decision of the same hand gets the same key whatever
            the batch.
    """

    def __init__(self, views: NDArray[np.void], lanes: NDArray[np.int64], keys: NDArray[np.uint64]) -> None:
        self.views = views
        self.lanes = lanes
        self.keys = keys

    def __len__(self) -> int:
        return len(self.views)

    @cached_property
    def observations(self) -> NDArray[np.int8]:
        """(n, 960) int8 of 0 and 1, made when asked for."""
        return observations_of(self.views)

    @cached_property
    def action_masks(self) -> NDArray[np.int8]:
        """(n, 108) int8, 1 where legal, made when asked for."""
        return action_masks_of(self.views)


class Policy(ABC):
    """What decides for a seat.

    Attributes:
        name: how results are labelled; a subclass that gives none is named after its class.
        compiled: a compiled `(view, key) -> action` (see :func:`compiled_decision`) that decides exactly as `act` does, so
            that whole hands can be played inside compiled code; None where there is none.
    """

    name: str
    compiled: Any = None

    def __init_subclass__(cls) -> None:
        if not hasattr(cls, "name"):
            cls.name = cls.__name__

    def start(self, lanes: NDArray[np.int64]) -> None:  # noqa: B027  # most policies keep nothing between decisions
        """New hands begin in these lanes; a policy with a memory forgets what it kept of them."""

    @abstractmethod
    def act(self, batch: Batch) -> NDArray[np.int64]:
        """One legal action for each row of the batch: (n,) int64."""

    @property
    def address(self) -> int:
        """Where compiled code finds `compiled`; `OUTSIDE` where there is none."""
        return OUTSIDE if self.compiled is None else int(self.compiled.address)


class CompiledPolicy(Policy):
    """A policy of one compiled decision function."""

    def __init__(self, name: str, decide: Callable[[Any, Any], int]) -> None:
        self.name = name
        self._decide = decide

    @property
    def compiled(self) -> Any:
        """The function as a compiled callback; made, or read from the cache, when first asked for."""
        return compiled_decision(self._decide)

    def act(self, batch: Batch) -> NDArray[np.int64]:
        """The function's action for each view and key."""
        actions = np.empty(len(batch), np.int64)
        _decide_all(batch.views, batch.keys, self.compiled, actions)
        return actions

    def __reduce__(self) -> tuple[Any, ...]:
        return CompiledPolicy, (self.name, self._decide)

    def __repr__(self) -> str:
        return f"CompiledPolicy({self.name!r})"


@cache
def compiled_decision(decide: Callable[[Any, Any], int]) -> Any:
    """Compile a decision function to a callback that compiled code can be handed: `(view, key) -> action`.

    Args:
        decide: a plain function of numba's subset; `view` is a `VIEW` record, `key` 64 random bits, the result an action id.
    """
    callback = CFunc(decide, (DECIDE.args, DECIDE.return_type), locals={}, options={"error_model": "numpy"})
    if cache_directory() is not None:
        callback._cache = PackageCache(decide)
    callback.compile()
    return callback


@jit
def _decide_all(views: NDArray[np.void], keys: NDArray[np.uint64], decide: Any, actions: NDArray[np.int64]) -> None:
    for i in range(len(views)):
        actions[i] = decide(views[i], keys[i])


@jit
def _first_illegal(views: NDArray[np.void], actions: NDArray[np.int64]) -> int:
    for i in range(len(views)):
        if not is_legal(views[i].legal, actions[i]):
            return i
    return -1


def checked_actions(policy: Policy, batch: Batch) -> NDArray[np.int64]:
    """The policy's actions, or an error that names the policy if they are not one legal action a row.

    Raises:
        ValueError: the policy answered with another shape or type, or with an illegal action.
    """
    answer = np.asarray(policy.act(batch))
    if answer.shape != (len(batch),) or answer.dtype.kind not in "iu":
        raise ValueError(
            f"policy {policy.name!r} answered with shape {answer.shape} of {answer.dtype}: expected ({len(batch)},) integers"
        )
    actions = answer.astype(np.int64)
    i = _first_illegal(batch.views, actions)
    if i >= 0:
        from gin_env.rules.view import View

        view = View(batch.views[i : i + 1])
        raise ValueError(f"policy {policy.name!r} chose action {actions[i]} in {view!r}: legal are {view.legal}")
    return actions
