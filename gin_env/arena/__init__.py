"""Measuring policies against each other: duplicate deals, pair-based intervals."""
