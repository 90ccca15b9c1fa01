"""Environments: PettingZoo AEC, Gymnasium single-agent, and the batched VectorEnv. Thin users of the engine."""
