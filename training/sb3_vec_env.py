"""Stable-Baselines3's VecEnv over the batched engine: one learner seat a lane, opponents stepped inside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvObs, VecEnvStepReturn

from gin_env.envs.episode import observation_box
from gin_env.envs.lanes import Lanes, Opponent, lane_seeds
from gin_env.rules.actions import ACTIONS
from gin_env.rules.ruleset import Rules


class GinVecEnv(VecEnv):
    """A batch of hands for SB3: the flat observation, `action_masks()`, terminal rewards always the learner's.

    Args:
        num_envs: how many games.
        rules, match, opponent, learner_seat, reward: as for :class:`gin_env.VectorEnv`; `opponent=None` is no choice here.
        seed: game i has seed `seed + i` and plays what a single environment of that seed plays.
        reward_scale: rewards are multiplied by it.

    The info of a hand's last step has `terminal_observation`, `TimeLimit.truncated`, `episode` (unscaled reward `r`, length
    `l`) and what the Gymnasium environment's last info has.
    """

    def __init__(
        self,
        num_envs: int,
        rules: str | Rules | dict[str, Any] = "straight",
        match: str = "hand",
        opponent: Opponent = "greedy",
        learner_seat: str | int = "random",
        reward: str = "points",
        seed: int | Sequence[int] | None = None,
        reward_scale: float = 1.0,
    ) -> None:
        if opponent is None:
            raise ValueError("opponent=None: one seat is the learner's, the other needs an opponent")
        self.lanes = Lanes(num_envs, rules, match, opponent, learner_seat, reward)
        self.render_mode = None
        super().__init__(num_envs, observation_box(), spaces.Discrete(ACTIONS))
        self._reward_scale = reward_scale
        self._begun = False
        self._lengths = np.zeros(num_envs, np.int64)
        self._actions: NDArray[np.int64] = np.zeros(num_envs, np.int64)
        self.lanes.seed(lane_seeds(seed, num_envs))

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Give game i the seed `seed + i`, from the next reset on."""
        seeds = lane_seeds(seed, self.num_envs)
        self.lanes.seed(seeds)
        self._begun = False
        return list(seeds)

    def reset(self) -> VecEnvObs:
        if self._begun:
            self.lanes.next_deal(np.arange(self.num_envs))
        self._begun = True
        self._lengths[:] = 0
        self.lanes.begin()
        self.reset_infos = [{} for _ in range(self.num_envs)]
        return self.lanes.observations

    def step_async(self, actions: NDArray[Any]) -> None:
        array = np.asarray(actions)
        if array.shape != (self.num_envs,) or array.dtype.kind not in "iu":
            raise ValueError(f"actions of shape {array.shape} and type {array.dtype}: expected ({self.num_envs},) integers")
        self._actions = array.astype(np.int64)

    def step_wait(self) -> VecEnvStepReturn:
        lanes = self.lanes
        ended = lanes.step(self._actions)
        self._lengths += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        rewards = (lanes.rewards * self._reward_scale).astype(np.float32)
        dones = lanes.terminated | lanes.truncated
        for lane, observation in zip(ended.tolist(), lanes.final_observations, strict=True):
            infos[lane] = lanes.ending_info(lane) | {
                "terminal_observation": observation,
                "TimeLimit.truncated": bool(lanes.truncated[lane]),
                "episode": {"r": float(lanes.rewards[lane]), "l": int(self._lengths[lane]), "t": 0.0},
            }
        self._lengths[ended] = 0
        return lanes.observations, rewards, dones, infos

    def action_masks(self) -> NDArray[np.int8]:
        """The action mask of every game: (n, 108) int8."""
        return self.lanes.masks.copy()

    def set_opponent(self, opponent: Opponent) -> None:
        """Change the opponent, from each game's next hand on."""
        self.lanes.set_opponent(opponent)

    def has_attr(self, attr_name: str) -> bool:
        return hasattr(self, attr_name)

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        return [getattr(self, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        raise NotImplementedError(f"set_attr({attr_name!r}): all games share one engine; make a new environment instead")

    def env_method(self, method_name: str, *args: Any, indices: VecEnvIndices = None, **kwargs: Any) -> list[Any]:
        """The method's result for each game; for `action_masks` the (n, 108) array itself, as MaskablePPO takes it."""
        result = getattr(self, method_name)(*args, **kwargs)
        if method_name == "action_masks":
            rows: list[Any] = result if indices is None else result[list(self._get_indices(indices))]
            return rows
        return [result] * len(list(self._get_indices(indices)))

    def env_is_wrapped(self, wrapper_class: type[Any], indices: VecEnvIndices = None) -> list[bool]:
        return [False] * len(list(self._get_indices(indices)))

    def get_images(self) -> Sequence[NDArray[Any] | None]:
        return [None] * self.num_envs

    def close(self) -> None:
        """Nothing to release."""

    def _get_indices(self, indices: VecEnvIndices) -> Iterable[int]:
        return super()._get_indices(indices)
