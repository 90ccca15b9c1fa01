"""Learned policies: a network of plain layers in one safe file, played in numpy.

The file is a numpy archive of arrays and one JSON text, read without unpickling. It states the observation version, the
network's shape and the rules it was trained under, all checked on load.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gin_env.files import whole_file
from gin_env.observation import OBSERVATION_VERSION, WIDTH
from gin_env.policies.policy import Batch, Policy
from gin_env.rules import chance
from gin_env.rules.actions import ACTIONS
from gin_env.rules.ruleset import Rules

FORMAT = "gin_env policy 1"
FILE_NAME = "policy.npz"
ACTIVATIONS = ("relu", "tanh")

Layers = list[tuple[NDArray[np.float32], NDArray[np.float32]]]


class LearnedPolicy(Policy):
    """A multilayer perceptron from observations to action logits; illegal actions are masked out.

    Args:
        name: how results are labelled.
        layers: (weights, bias) of each layer, weights (inputs, outputs), from 960 inputs to 108 logits.
        activation: "relu" or "tanh", between the layers.
        rules: what it was trained under, kept for the record; it plays under any.
        sample: draw actions from the policy's distribution instead of taking the most likely one.
    """

    def __init__(self, name: str, layers: Layers, activation: str, rules: Rules, sample: bool = False) -> None:
        _check_layers(layers, activation)
        self.name = name
        self.layers = layers
        self.activation = activation
        self.rules = rules
        self.sample = sample

    def logits(self, observations: NDArray[np.int8]) -> NDArray[np.float32]:
        """Action logits, unmasked: (n, 108) float32."""
        x = observations.astype(np.float32)
        for weights, bias in self.layers[:-1]:
            x = x @ weights + bias
            x = np.maximum(x, 0, out=x) if self.activation == "relu" else np.tanh(x, out=x)
        weights, bias = self.layers[-1]
        return x @ weights + bias

    def act(self, batch: Batch) -> NDArray[np.int64]:
        """The most likely legal action of each row, or with `sample` one drawn by the row's key."""
        logits = np.where(batch.action_masks == 1, self.logits(batch.observations), -np.inf)
        if self.sample:
            # The Gumbel trick: the largest of logits plus noise is a draw from their softmax.
            logits = logits + _gumbel(batch.keys)
        return np.argmax(logits, axis=1).astype(np.int64)

    def save(self, path: str | Path) -> None:
        """Write the policy to a file, whole or not at all."""
        about = {
            "format": FORMAT,
            "name": self.name,
            "observation_version": OBSERVATION_VERSION,
            "sizes": [WIDTH, *(weights.shape[1] for weights, _ in self.layers)],
            "activation": self.activation,
            "rules": self.rules.as_dict(),
        }
        arrays: dict[str, Any] = {"about": np.array(json.dumps(about))}
        for i, (weights, bias) in enumerate(self.layers):
            arrays |= {f"weights_{i}": weights, f"bias_{i}": bias}
        with whole_file(path) as file:
            np.savez(file, **arrays)


def load_policy(path: str | Path, sample: bool = False) -> LearnedPolicy:
    """A saved policy.

    Args:
        path: a policy file, or a run's folder that holds one.
        sample: as in :class:`LearnedPolicy`.

    Raises:
        ValueError: no file there, a damaged one, or one for another version of observation or format.
    """
    path = Path(path)
    file = path / FILE_NAME if path.is_dir() else path
    if not file.is_file():
        raise ValueError(f"{path} holds no {FILE_NAME}: expected a saved policy or the folder of a finished run")
    try:
        return _read(file, sample)
    except _UNSOUND as error:
        raise ValueError(f"{file} is no sound policy file: {error}") from None


# What numpy, zipfile and json raise for files that are not what they claim to be.
_UNSOUND = (
    OSError,
    EOFError,
    AttributeError,
    KeyError,
    IndexError,
    TypeError,
    ValueError,
    RuntimeError,
    NotImplementedError,
    zipfile.BadZipFile,
    zlib.error,
)


def _read(file: Path, sample: bool) -> LearnedPolicy:
    """The policy of a file; any of `_UNSOUND` if it is none."""
    if not zipfile.is_zipfile(file):
        raise ValueError("it is no numpy archive (.npz)")
    with file.open("rb") as opened, np.load(opened, allow_pickle=False) as archive:
        about = json.loads(str(archive["about"]))
        if not isinstance(about, dict) or about.get("format") != FORMAT:
            raise ValueError(f"it states format {about!r:.60}, expected {FORMAT!r}")
        for name in ("name", "observation_version", "sizes", "activation", "rules"):
            if name not in about:
                raise ValueError(f"it has no {name!r}")
        if about["observation_version"] != OBSERVATION_VERSION:
            raise ValueError(
                f"it was trained on observation version {about['observation_version']!r}, this is version {OBSERVATION_VERSION}"
            )
        sizes = about["sizes"]
        if not isinstance(sizes, list) or len(sizes) < 2:
            raise ValueError(f"sizes={sizes!r}: expected a list of layer widths")
        layers = [(archive[f"weights_{i}"], archive[f"bias_{i}"]) for i in range(len(sizes) - 1)]
    policy = LearnedPolicy(str(about["name"]), layers, about["activation"], Rules.of(about["rules"]), sample)
    if [WIDTH, *(weights.shape[1] for weights, _ in layers)] != sizes:
        raise ValueError(f"its layers are not of the sizes it states, {sizes!r}")
    return policy


def _check_layers(layers: Layers, activation: str) -> None:
    if activation not in ACTIVATIONS:
        raise ValueError(f"activation={activation!r}: expected one of {', '.join(ACTIVATIONS)}")
    inputs = WIDTH
    for i, (weights, bias) in enumerate(layers):
        if weights.ndim != 2 or bias.ndim != 1 or weights.shape[0] != inputs or bias.shape != (weights.shape[1],):
            raise ValueError(f"layer {i} has weights {weights.shape} and bias {bias.shape}: expected {inputs} inputs")
        if weights.dtype != np.float32 or bias.dtype != np.float32:
            raise ValueError(f"layer {i} is of {weights.dtype} and {bias.dtype}: expected float32")
        if not (np.isfinite(weights).all() and np.isfinite(bias).all()):
            raise ValueError(f"layer {i} holds numbers that are not finite")
        inputs = weights.shape[1]
    if inputs != ACTIONS:
        raise ValueError(f"the network ends in {inputs} outputs: expected {ACTIONS} logits")


def _gumbel(keys: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Gumbel noise for each key and action, from the key alone: (n, 108)."""
    numbers = np.empty((len(keys), ACTIONS), np.uint64)
    chance.draw_rows(keys, numbers)
    uniform = (numbers >> np.uint64(11)).astype(np.float64) * 2.0**-53
    noise: NDArray[np.float64] = -np.log(-np.log(np.clip(uniform, 1e-300, 1.0 - 1e-16)))
    return noise
