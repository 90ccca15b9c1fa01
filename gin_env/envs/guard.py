"""PettingZoo's usual wrappers in one: order of calls, actions out of bounds, and the end of the game at an illegal action."""

from __future__ import annotations

from typing import Any

from pettingzoo.utils.env_logger import EnvLogger
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from gin_env.envs.aec import StraightGinAEC
from gin_env.rules.actions import ACTIONS, IllegalAction


class Guard(OrderEnforcingWrapper):  # type: ignore[misc]  # PettingZoo ships no types
    """Does what OrderEnforcing, AssertOutOfBounds and TerminateIllegal do around each other, in one layer.

    Unlike the last of them it asks the engine what is legal, not a mask that the caller may have written into.

    Args:
        environment: the raw environment.
        illegal_reward: the reward of whoever acts illegally; the other gets 0, and the game ends for both.
    """

    def __init__(self, environment: StraightGinAEC, illegal_reward: float) -> None:
        super().__init__(environment)
        self._illegal_reward = illegal_reward

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Observation, reward since its last action, termination, truncation and info of the agent to act."""
        return self.env.last(observe) if self._has_reset else super().last(observe)

    def step(self, action: Any) -> None:
        """Do the action of the agent to act; None for an agent whose episode is over.

        Raises:
            AssertionError: before `reset`, or an action outside of the action space.
        """
        if not self._has_reset:
            EnvLogger.error_step_before_reset()
        raw = self.env
        self._has_updated = True
        if not raw.agents:
            EnvLogger.warn_step_after_terminated_truncated()
            return
        agent = raw.agent_selection
        if action is not None or not (raw.terminations[agent] or raw.truncations[agent]):
            if type(action) is int:
                inside = 0 <= action < ACTIONS
            else:
                inside = not isinstance(action, bool) and raw.action_space(agent).contains(action)
            assert inside, f"action {action!r} is not in action space: expected 0..107"
        try:
            raw.step(action)
        except IllegalAction:
            EnvLogger.warn_on_illegal_move()
            raw.forfeit(self._illegal_reward)

    def __str__(self) -> str:
        return str(self.env)
