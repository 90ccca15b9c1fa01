"""The PettingZoo AEC environment over one game record."""

from __future__ import annotations

from typing import Any, TypeGuard

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv

from gin_env.compiled import jit
from gin_env.envs.episode import (
    MATCHES,
    OBSERVATIONS,
    RENDER_MODES,
    REWARDS,
    checked_choice,
    checked_options,
    ending,
    observation_dict,
)
from gin_env.observation import WIDTH, write_action_mask, write_observation
from gin_env.render import ansi
from gin_env.round import checked_seed
from gin_env.rules import phases
from gin_env.rules.actions import ACTIONS, illegal
from gin_env.rules.cards import cards_of
from gin_env.rules.ruleset import Rules, compiled_rules
from gin_env.rules.state import FORFEIT, LIMIT, OUTCOMES, PHASES, RECORD
from gin_env.rules.view import VIEW, View, legal_actions, write_view, write_views

AGENTS = ("player_0", "player_1")
STOCK_COLUMNS = 17  # a stock card of the state: rank (13), suit (4)
STATE_WIDTH = 2 * WIDTH + 31 * STOCK_COLUMNS
REFUSED = -2


@jit
def _observe(records: NDArray[np.void], seat: int, scratch: NDArray[np.void], row: NDArray[np.int8]) -> None:
    """Write a seat's observation and, behind it, its action mask."""
    write_view(records[0], seat, scratch[0])
    write_observation(scratch[0], row[:WIDTH])
    write_action_mask(scratch[0].legal, row[WIDTH:])


@jit
def _mask(records: NDArray[np.void], mask: NDArray[np.int8]) -> int:
    """Write the action mask of the seat to act; returns that seat, -1 (and an empty mask) when the hand is over."""
    write_action_mask(records[0].hidden.legal, mask)
    return records[0].public.player


@jit
def _act(records: NDArray[np.void], action: int, mask: NDArray[np.int8]) -> int:
    """Do an action and write the next mask; returns the seat to act then, -1 when the hand is over, REFUSED when illegal."""
    return _mask(records, mask) if phases.apply_first(records, action) else REFUSED


@jit
def _forfeit(records: NDArray[np.void]) -> None:
    phases.end_hand(records[0], FORFEIT)
    phases.find_legal(records[0])


class StraightGinAEC(AECEnv[str, dict[str, NDArray[np.int8]], int]):  # type: ignore[misc]  # PettingZoo ships no types
    """One hand of gin, turn by turn. See :mod:`gin_env.straight_gin_v0`.

    An illegal action raises `IllegalAction` and changes nothing.
    """

    metadata = {  # noqa: RUF012  # PettingZoo's own form
        "name": "straight_gin_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": True,
        "render_fps": 1,
    }

    def __init__(
        self,
        rules: str | Rules | dict[str, Any] = "straight",
        match: str = "hand",
        observation: str = "bits",
        reward: str = "points",
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        self.rules = Rules.of(rules)
        checked_choice("match", match, MATCHES)
        checked_choice("observation", observation, OBSERVATIONS)
        checked_choice("reward", reward, REWARDS)
        checked_choice("render_mode", render_mode, (None, *RENDER_MODES))
        self.match, self.observation, self.reward = match, observation, reward
        self.render_mode = render_mode

        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        self.observation_spaces = {agent: observation_dict() for agent in AGENTS}
        self.action_spaces = {agent: spaces.Discrete(ACTIONS) for agent in AGENTS}
        self.state_space = spaces.Box(0, 1, (STATE_WIDTH,), np.int8)

        self._records = np.zeros(1, RECORD)
        self._records["public"]["rules"] = compiled_rules(self.rules)
        self._scratch = np.zeros(1, VIEW)
        self._seeded = False

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an agent's observations: a Dict of `observation` and `action_mask`."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an agent's actions: Discrete(108)."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a hand: the first of the seed, or without a seed the next one.

        Args:
            seed: 0 .. 2**64 - 1; None: go on with the seed in use (from the system, the first time).
            options: `deck` and `first_player`, as in :class:`gin_env.Round`.

        Raises:
            ValueError: a bad seed or a bad value of a known option.
        """
        deck, first_player = checked_options(options)
        hidden = self._records["hidden"]
        if seed is not None or not self._seeded:
            hidden["seed"] = checked_seed(seed)
            hidden["deal"] = 0
            self._seeded = True
        else:
            hidden["deal"] += 1
        phases.start_all(self._records)
        if deck is not None:
            hidden["deck"] = deck
        if deck is not None or first_player is not None:
            first = int(self._records["public"]["first_player"][0]) if first_player is None else first_player
            phases.lay_out_first(self._records, first)
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self._skip_agent_selection = None
        mask = np.empty(ACTIONS, np.int8)
        self._select(_mask(self._records, mask), mask)
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> dict[str, NDArray[np.int8]]:
        """What an agent may know now: `observation` (960,) and `action_mask` (108,), int8; the mask is zero off turn."""
        self._check_begun("observe()")
        if agent not in AGENTS:
            raise ValueError(f"agent {agent!r}: expected one of {', '.join(AGENTS)}")
        row = np.empty(WIDTH + ACTIONS, np.int8)
        _observe(self._records, AGENTS.index(agent), self._scratch, row)
        return {"observation": row[:WIDTH], "action_mask": row[WIDTH:]}

    def step(self, action: int | None) -> None:
        """Do the action of the agent to act; None for an agent whose episode is over.

        Raises:
            IllegalAction: the action is not legal now; nothing is changed.
        """
        self._check_begun("step()")
        if not self.agents:
            raise ValueError("step() after the end of the hand: reset the environment first")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        mask = np.empty(ACTIONS, np.int8)
        player = REFUSED
        if (type(action) is int or _is_integer(action)) and 0 <= action < ACTIONS:
            player = _act(self._records, int(action), mask)
        if player == REFUSED:
            public = self._records["public"]
            legal = legal_actions(self._records["hidden"]["legal"][0])
            raise illegal(action, PHASES[public["phase"][0]], legal, f" of {agent}")
        self._cumulative_rewards[agent] = 0.0
        self._select(player if player >= 0 else 1 - AGENTS.index(agent), mask)
        if player < 0:
            self._finish()
        if self.render_mode == "human":
            self.render()

    def _select(self, seat: int, mask: NDArray[np.int8]) -> None:
        """Make a seat the one to act and put its action mask and the other's, empty, in the infos."""
        self.agent_selection = AGENTS[seat]
        none = np.zeros(ACTIONS, np.int8)
        first, second = (none, mask) if seat else (mask, none)
        self.infos = {AGENTS[0]: {"action_mask": first}, AGENTS[1]: {"action_mask": second}}

    def _finish(self) -> None:
        """End the episode for both agents."""
        public = self._records["public"]
        limited = public["outcome"][0] == LIMIT
        (self.truncations if limited else self.terminations).update(dict.fromkeys(AGENTS, True))
        first, second = (int(score) for score in public["scores"][0])
        winner = int(public["winner"][0])
        won = 0.0 if winner < 0 else 1.0 - 2.0 * winner
        gained = float(first - second) if self.reward == "points" else won
        self.rewards = {AGENTS[0]: gained, AGENTS[1]: 0.0 - gained}
        self._accumulate_rewards()
        self._tell_ending()

    def forfeit(self, illegal_reward: float) -> None:
        """End the hand after an illegal action of the agent to act, as PettingZoo's TerminateIllegal does.

        Args:
            illegal_reward: that agent's reward; the other's is 0. Both agents are terminated and truncated.
        """
        offender = self.agent_selection
        _forfeit(self._records)
        self._select(AGENTS.index(offender), np.zeros(ACTIONS, np.int8))
        self.terminations = dict.fromkeys(AGENTS, True)
        self.truncations = dict.fromkeys(AGENTS, True)
        self._cumulative_rewards[offender] = 0.0
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self.rewards[offender] = illegal_reward
        self._accumulate_rewards()
        self._tell_ending()
        self._deads_step_first()

    def _tell_ending(self) -> None:
        last = ending(self._records)
        for info in self.infos.values():
            info.update(last)

    def _check_begun(self, call: str) -> None:
        if not self._seeded:
            raise ValueError(f"{call} before reset(): reset the environment first")

    def state(self) -> NDArray[np.int8]:
        """Everything, hidden cards included, for a critic in training: never for a player.

        Returns:
            (2447,) int8 of 0 and 1: the observations of seats 0 and 1, then the cards of the stock from its top, each as rank
            (13) and suit (4).
        """
        self._check_begun("state()")
        state = np.zeros(STATE_WIDTH, np.int8)
        for seat, agent in enumerate(AGENTS):
            state[seat * WIDTH : (seat + 1) * WIDTH] = self.observe(agent)["observation"]
        left = int(self._records["public"]["stock_left"][0])
        for place, card in enumerate(self._records["hidden"]["deck"][0][52 - left :].tolist()):
            start = 2 * WIDTH + STOCK_COLUMNS * place
            state[[start + card % 13, start + 13 + card // 13]] = 1
        return state

    def render(self) -> str | None:
        """The table as text, from the seat of the agent to act; at the end of the hand with what both have laid down.

        Returns:
            The text with `render_mode="ansi"`; None with "human", which prints it (after each step of its own accord).
        """
        if self.render_mode is None:
            gymnasium.logger.warn("render() without a render_mode draws nothing: make the environment with render_mode='ansi'")
            return None
        self._check_begun("render()")
        seat = max(0, int(self._records["public"]["player"][0]))
        view = np.zeros(1, VIEW)
        write_views(self._records, np.array([seat], np.int8), view)
        laid_down = None
        if OUTCOMES[self._records["public"]["outcome"][0]] in ("gin", "big_gin"):
            laid_down = cards_of(self._records["hidden"]["hands"][0][1 - seat])
        text = ansi.table(View(view), (AGENTS[seat], AGENTS[1 - seat]), laid_down)
        if self.render_mode == "ansi":
            return text
        print(text)
        return None

    def close(self) -> None:
        """Nothing to release."""


def _is_integer(action: Any) -> TypeGuard[int]:
    """Whether an action that is no plain int is an integer of numpy's."""
    if isinstance(action, np.ndarray):
        return action.shape == () and action.dtype.kind in "iu"
    return isinstance(action, np.integer) or (isinstance(action, int) and not isinstance(action, bool))
