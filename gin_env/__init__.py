"""Gin rummy without knocking, as reinforcement learning environments: exact rules, leak-free views, batched play.

Importing this package registers `gin_env/StraightGin-v0` with Gymnasium and `gin_env/straight_gin-v0` with PettingZoo.
"""

from typing import Any

import gymnasium
import pettingzoo

from gin_env import straight_gin_v0
from gin_env.envs.vector import VectorEnv
from gin_env.policies.policy import Batch, Policy
from gin_env.policies.registry import policy
from gin_env.round import Round
from gin_env.rules.actions import IllegalAction, action_text
from gin_env.rules.cards import card_text, parse_cards
from gin_env.rules.melds import best_melds, deadwood, gin_discards
from gin_env.rules.ruleset import Rules
from gin_env.rules.view import View

__all__ = [
    "Batch",
    "IllegalAction",
    "Policy",
    "Round",
    "Rules",
    "VectorEnv",
    "View",
    "action_text",
    "best_melds",
    "card_text",
    "deadwood",
    "gin_discards",
    "parse_cards",
    "policy",
    "straight_gin_v0",
]

__version__ = "0.1.0"

gymnasium.register(
    id="gin_env/StraightGin-v0",
    entry_point="gin_env.envs.single_agent:StraightGinEnv",
    vector_entry_point="gin_env.envs.vector:VectorEnv",
    # The environment checks its own arguments and order of calls; the checker would warn of what Gymnasium allows.
    disable_env_checker=True,
)

# PettingZoo has a registry since 1.27.
_register: Any = getattr(pettingzoo, "register", None)
if _register is not None:
    _register("aec", "gin_env/straight_gin-v0", entry_point="gin_env.straight_gin_v0:env")
    _register("parallel", "gin_env/straight_gin-v0", entry_point="gin_env.straight_gin_v0:parallel_env")
