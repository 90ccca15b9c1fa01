"""SB3's actor and critic: what they answer, and the actor as a policy of this package."""

from __future__ import annotations

import numpy as np
import torch
from sb3_contrib import MaskablePPO

from gin_env.policies.learned import LearnedPolicy
from gin_env.rules.ruleset import Rules

ACTIVATIONS = {"relu": torch.nn.ReLU, "tanh": torch.nn.Tanh}


def logits_and_values(model: MaskablePPO, observations: torch.Tensor, masks: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Action logits with illegal actions at -1e8, (n, 108), and values, (n,)."""
    policy = model.policy
    actor, critic = policy.mlp_extractor(observations.float())  # type: ignore[operator]  # SB3 types it a Tensor
    logits, values = policy.action_net(actor), policy.value_net(critic)
    return torch.where(masks == 1, logits, torch.tensor(-1e8)), values.flatten()


def exported(model: MaskablePPO, name: str, rules: Rules) -> LearnedPolicy:
    """The model's actor as a LearnedPolicy: arrays, no torch."""
    policy = model.policy
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
