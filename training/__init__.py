"""Fitting agents: the SB3 adapter, cloning, the training run, its configuration and reports."""

import os

# Threads that wait for each other should sleep, not spin: a spinning one holds the core that another needs, which on a busy
# machine made small networks ten times slower. Read when PyTorch is loaded, so it stands here.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
