"""SB3's actor: what it answers, and how it becomes a policy of this package."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO

from gin_env.policies.learned import LearnedPolicy
from gin_env.rules.ruleset import Rules

ACTIVATIONS = {"relu": torch.nn.ReLU, "tanh": torch.nn.Tanh}


def masked_logits(model: MaskablePPO, observations: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    """The actor's logits with illegal actions at -1e8: (n, 108)."""
    policy: Any = model.policy  # SB3 types its parts as Tensors
    logits = policy.action_net(policy.mlp_extractor.forward_actor(observations.float()))
    return torch.where(masks == 1, logits, torch.tensor(-1e8))


def actor_parameters(model: MaskablePPO) -> list[torch.nn.Parameter]:
    """What the actor learns; the critic's parameters are all the others."""
    policy: Any = model.policy
    return [*policy.mlp_extractor.policy_net.parameters(), *policy.action_net.parameters()]


def exported(model: MaskablePPO, name: str, rules: Rules) -> LearnedPolicy:
    """The model's actor as a LearnedPolicy: arrays, no torch."""
    policy: Any = model.policy
    linear = [layer for layer in policy.mlp_extractor.policy_net if isinstance(layer, torch.nn.Linear)]
    layers = [
        (
            np.ascontiguousarray(layer.weight.detach().cpu().numpy().T, np.float32),
            layer.bias.detach().cpu().numpy().astype(np.float32),
        )
        for layer in [*linear, policy.action_net]
    ]
    activation = next(name for name, kind in ACTIVATIONS.items() if kind is policy.activation_fn)
    return LearnedPolicy(name, layers, activation, rules)
