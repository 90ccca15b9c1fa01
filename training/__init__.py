"""Fitting agents: the SB3 adapter, cloning, the training run, its configuration and reports."""
