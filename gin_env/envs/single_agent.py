"""The single-agent Gymnasium environment: one learner seat, the opponent is any Policy."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from gin_env.envs.episode import RENDER_MODES, checked_choice, checked_options, observation_box
from gin_env.envs.lanes import Lanes, Opponent
from gin_env.render import ansi
from gin_env.round import checked_seed
from gin_env.rules.actions import ACTIONS
from gin_env.rules.cards import cards_of
from gin_env.rules.ruleset import Rules
from gin_env.rules.state import OUTCOMES
from gin_env.rules.view import VIEW, View, write_views


class StraightGinEnv(gymnasium.Env[NDArray[np.int8], np.int64]):
    """One hand an episode, from the learner's seat; the opponent's decisions happen inside `step`.

    The observation is the flat Box of 960 bits; the action mask stands in `info["action_mask"]` and comes from
    :meth:`action_masks`. The last info of an episode has outcome, scores, turns, both deadwoods, seat and opponent.

    Args:
        rules, match, opponent, learner_seat, reward, illegal_action, illegal_reward: as for :class:`gin_env.VectorEnv`;
            `opponent=None` is no choice here.
        render_mode: None, "ansi" (`render` returns the table as text) or "human" (prints it).
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 1}  # noqa: RUF012  # Gymnasium's own form

    def __init__(
        self,
        rules: str | Rules | dict[str, Any] = "straight",
        match: str = "hand",
        opponent: Opponent = "greedy",
        learner_seat: str | int = "random",
        reward: str = "points",
        illegal_action: str = "raise",
        illegal_reward: float | None = None,
        render_mode: str | None = None,
    ) -> None:
        if opponent is None:
            raise ValueError("opponent=None: this environment needs one; VectorEnv and straight_gin_v0 play both seats")
        checked_choice("render_mode", render_mode, (None, *RENDER_MODES))
        self._lanes = Lanes(1, rules, match, opponent, learner_seat, reward, illegal_action, illegal_reward, redeal=False)
        self.observation_space = observation_box()
        self.action_space = spaces.Discrete(ACTIONS)
        self.render_mode = render_mode
        self._seeded = False
        self._open = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.int8], dict[str, Any]]:
        """Deal a hand: the first of the seed, or without a seed the next one.

        Args:
            seed: 0 .. 2**64 - 1; None: go on with the seed in use (from the system, the first time).
            options: `deck` and `first_player`, as in :class:`gin_env.Round`.

        Raises:
            ValueError: a bad seed or a bad value of a known option.
        """
        deck, first_player = checked_options(options)
        if seed is not None or not self._seeded:
            seed = checked_seed(seed)
            self._lanes.seed([seed])
            self._np_random, self._np_random_seed = gymnasium.utils.seeding.np_random(seed)
            self._seeded = True
        else:
            self._lanes.next_deal(np.zeros(1, np.int64))
        self._open = False
        self._lanes.begin(deck=deck, first_player=first_player)
        self._open = True
        if self.render_mode == "human":
            self.render()
        return self._observed()

    def step(self, action: int | np.int64) -> tuple[NDArray[np.int8], float, bool, bool, dict[str, Any]]:
        """Do the learner's action and let the opponent answer.

        Raises:
            IllegalAction: with `illegal_action="raise"`; nothing is changed.
            ValueError: the hand is over, or the environment was not reset.
        """
        if not self._open:
            raise ValueError("step() without an open hand: reset the environment first")
        actions = np.asarray(action)
        if actions.shape not in ((), (1,)) or actions.dtype.kind not in "iu":
            raise ValueError(f"action {action!r}: expected an integer 0..{ACTIONS - 1}")
        ended = self._lanes.step(actions.reshape(1).astype(np.int64))
        self._open = len(ended) == 0
        observation, info = self._observed()
        if not self._open:
            info |= self._lanes.ending_info(0)
        if self.render_mode == "human":
            self.render()
        lanes = self._lanes
        return observation, float(lanes.rewards[0]), bool(lanes.terminated[0]), bool(lanes.truncated[0]), info

    def action_masks(self) -> NDArray[np.int8]:
        """The learner's legal actions: (108,) int8."""
        return self._lanes.masks[0].copy()

    def set_opponent(self, opponent: Opponent) -> None:
        """Change the opponent, from the next hand on."""
        self._lanes.set_opponent(opponent)

    def render(self) -> str | None:
        """The table as text from the learner's seat; see `render_mode`."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() without a render_mode draws nothing: make the environment with render_mode='ansi'")
            return None
        record, seat = self._lanes.records, int(self._lanes.seats[0])
        view = np.zeros(1, VIEW)
        write_views(record, self._lanes.seats, view)
        laid_down = None
        if OUTCOMES[record["public"]["outcome"][0]] in ("gin", "big_gin"):
            laid_down = cards_of(record["hidden"]["hands"][0][1 - seat])
        text = ansi.table(View(view), ("learner", "opponent"), laid_down)
        if self.render_mode == "ansi":
            return text
        print(text)
        return None

    def _observed(self) -> tuple[NDArray[np.int8], dict[str, Any]]:
        return self._lanes.observations[0], {
            "action_mask": self.action_masks(),
            "seat": int(self._lanes.seats[0]),
        }
