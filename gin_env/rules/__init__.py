"""The game itself: cards, melds, rule sets, the phases of a hand, views and records. Knows nothing of learning."""
