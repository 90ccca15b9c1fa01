"""The batched Gymnasium environment: thousands of games in one call."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from gin_env.envs.episode import checked_mapping, checked_options, observation_box
from gin_env.envs.lanes import Lanes, Opponent, lane_seeds
from gin_env.rules.actions import ACTIONS
from gin_env.rules.ruleset import Rules
from gin_env.rules.state import OUTCOMES

_OUTCOMES = np.array(OUTCOMES, object)


class VectorEnv(gymnasium.vector.VectorEnv[NDArray[np.int8], NDArray[np.int64], NDArray[Any]]):
    """A batch of hands; when one ends, the next is dealt on the same step (SAME_STEP autoreset).

    Args:
        num_envs: how many games.
        rules: a preset's name, a `Rules`, or a mapping of rule fields.
        match: "hand".
        opponent: a policy's name, path or object, or a list of (policy, weight) of which each hand draws one; None: both seats
            are played from outside, and observation, mask and reward are those of the seat to act (`info["seat"]`).
        learner_seat: 0, 1 or "random": drawn anew each hand from the game's seed.
        reward: "points" (zero-sum) or "win" (+1, 0, -1).
        seed: game i has seed `seed + i`, or the i-th of a sequence, and plays what a single environment of that seed plays;
            None: from the system.
        num_threads: how many threads share the games; what is played does not depend on it.
        copy: give fresh arrays on every call; False: the same arrays each time, overwritten by the next call.
        illegal_action: "raise" an `IllegalAction`, or "forfeit" the hand for `illegal_reward`.
        illegal_reward: the reward of a forfeit; None: no better than the worst loss.

    Infos hold `action_mask` (n, 108) and `seat` (n,), the seat whose observation it is. On a step that ends hands they hold
    too: `final_obs`, `final_info` (outcome, scores, turns, deadwood, seat, opponent), each with Gymnasium's mask `_final_obs`,
    `_final_info`, and `scores` (n, 2), zero where no hand ended.
    """

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": []}  # noqa: RUF012  # Gymnasium's own form

    def __init__(
        self,
        num_envs: int = 1,
        rules: str | Rules | dict[str, Any] = "straight",
        match: str = "hand",
        opponent: Opponent = "greedy",
        learner_seat: str | int = "random",
        reward: str = "points",
        seed: int | Sequence[int] | None = None,
        num_threads: int = 1,
        copy: bool = True,
        illegal_action: str = "raise",
        illegal_reward: float | None = None,
    ) -> None:
        self._lanes = Lanes(
            num_envs,
            rules,
            match,
            opponent,
            learner_seat,
            reward,
            illegal_action,
            illegal_reward,
            num_threads=num_threads,
            fresh=copy,
        )
        self.num_envs = self._lanes.num_lanes
        self.single_observation_space = observation_box()
        self.single_action_space = spaces.Discrete(ACTIONS)
        self.render_mode = None
        self._copy = copy
        self._begun = False  # hands are open
        self._dealt = False  # the first hands of the seeds have been dealt
        self._objects = np.empty((3, self.num_envs), object)
        self._with_objects = np.zeros(0, np.int64)
        self._lanes.seed(lane_seeds(seed, self.num_envs))

    @cached_property
    def observation_space(self) -> spaces.Space[NDArray[np.int8]]:  # type: ignore[override]  # Gymnasium's is a plain attribute
        """Box(0, 1, (n, 960), int8): made when first asked for, as it is larger than the games."""
        return batch_space(self.single_observation_space, self.num_envs)

    @cached_property
    def action_space(self) -> spaces.Space[NDArray[np.int64]]:  # type: ignore[override]
        """MultiDiscrete of 108 for each game."""
        return batch_space(self.single_action_space, self.num_envs)

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.int8], dict[str, Any]]:
        """Deal a hand in every game: the first of the seeds, or without a seed the next one.

        Args:
            seed: as for the class; None: go on with the seeds in use.
            options: `deck` and `first_player`, as in :class:`gin_env.Round`; `reset_mask`, (n,) bool: deal anew in these games
                only (not with a seed).

        Raises:
            ValueError: a bad seed or a bad value of a known option.
        """
        options = dict(checked_mapping(options))
        lanes = self._reset_lanes(options.pop("reset_mask", None))
        deck, first_player = checked_options(options)
        if seed is not None:
            if len(lanes) < self.num_envs:
                raise ValueError(f"reset_mask with seed={seed!r}: a seed deals anew in every game; leave one of them out")
            self._lanes.seed(lane_seeds(seed, self.num_envs))
        elif self._dealt:
            self._lanes.next_deal(lanes)
        self._begun, self._dealt = False, True
        self._lanes.begin(lanes, deck, first_player)
        self._begun = True
        return self._observed()

    def step(
        self, actions: ArrayLike
    ) -> tuple[NDArray[np.int8], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Do one action in each game; hands that end are dealt anew at once.

        Args:
            actions: (num_envs,) integers, each legal by the game's action mask.

        Returns:
            Observations (n, 960) int8, rewards (n,) float64, terminations and truncations (n,) bool, infos.

        Raises:
            IllegalAction: it names the game, the value and what is legal; no game was changed.
            ValueError: another shape or type, or the environment was not reset.
        """
        if not self._begun:
            raise ValueError("step() before reset(): reset the environment first")
        lanes = self._lanes
        ended = lanes.step(self._checked(actions))
        observations, infos = self._observed()
        if len(ended):
            infos |= self._final(ended)
        return observations, lanes.rewards, lanes.terminated, lanes.truncated, infos

    def action_masks(self) -> NDArray[np.int8]:
        """The action mask of every game: (n, 108) int8."""
        return self._lanes.masks.copy() if self._copy else self._lanes.masks

    def set_opponent(self, opponent: Opponent) -> None:
        """Change the opponent, from each game's next hand on.

        Raises:
            ValueError: an unknown policy, a weight that is not above 0, or a change between an opponent and none.
        """
        self._lanes.set_opponent(opponent)

    def close_extras(self, **kwargs: Any) -> None:
        """Nothing to release."""

    def _reset_lanes(self, mask: Any) -> NDArray[np.int64]:
        """The games that a reset deals anew: those of Gymnasium's reset mask, or all."""
        if mask is None:
            return np.arange(self.num_envs)
        if not isinstance(mask, np.ndarray) or mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
            raise ValueError(f"reset_mask={mask!r}: expected a bool array of shape ({self.num_envs},) with a True in it")
        if not self._begun:
            raise ValueError("reset_mask before the first reset: deal in every game first")
        return np.flatnonzero(mask)

    def _checked(self, actions: ArrayLike) -> NDArray[np.int64]:
        array = np.asarray(actions)
        if array.shape != (self.num_envs,) or array.dtype.kind not in "iu":
            raise ValueError(f"actions of shape {array.shape} and type {array.dtype}: expected ({self.num_envs},) integers")
        return np.ascontiguousarray(array, np.int64)

    def _observed(self) -> tuple[NDArray[np.int8], dict[str, Any]]:
        seats = self._lanes.seen.copy() if self._copy else self._lanes.seen
        return self._lanes.observations, {"action_mask": self._lanes.masks, "seat": seats}

    def _final(self, ended: NDArray[np.int64]) -> dict[str, Any]:
        """The infos of hands that have ended, in Gymnasium's form: arrays over all games, and masks where they hold."""
        lanes = self._lanes
        here = lanes.terminated | lanes.truncated
        final_observations, outcomes, opponents = self._objects_of(ended)
        final_observations[ended] = np.fromiter(lanes.final_observations, object, len(ended))
        outcomes[ended] = _OUTCOMES[lanes.endings["outcome"][ended]]
        opponents[ended] = np.array(lanes.opponent_names, object)[lanes.endings["opponent"][ended]]
        endings = lanes.endings
        info = {
            "outcome": outcomes,
            "_outcome": here,
            "scores": endings["scores"],
            "_scores": here,
            "turns": endings["turns"],
            "_turns": here,
            "deadwood": endings["deadwood"],
            "_deadwood": here,
            "seat": endings["seat"],
            "_seat": here,
            "opponent": opponents,
            "_opponent": here,
        }
        return {
            "final_obs": final_observations,
            "_final_obs": here,
            "final_info": info,
            "_final_info": here,
            "scores": info["scores"],
            "_scores": here,
        }

    def _objects_of(self, ended: NDArray[np.int64]) -> NDArray[Any]:
        """Three arrays of objects over all games, to be filled where hands have ended: None elsewhere."""
        if self._copy:
            return np.empty((3, self.num_envs), object)
        self._objects[:, self._with_objects] = None
        self._with_objects = ended.copy()
        return self._objects
