"""Measuring policies against each other: duplicate deals, pair-based intervals."""

from gin_env.arena.duplicate import PairResult, play_pairs

__all__ = ["PairResult", "play_pairs"]
