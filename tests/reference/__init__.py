"""The slow, obvious engine, written from the rules page alone, that the compiled one is held to."""
