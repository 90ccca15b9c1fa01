"""Learned policies: saved whole, loaded safely, played in numpy."""

import json
import random
import zipfile
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import gin_env
from gin_env import Batch, Round, Rules, VectorEnv
from gin_env.observation import OBSERVATION_VERSION, WIDTH
from gin_env.policies.learned import FILE_NAME, FORMAT, Layers, LearnedPolicy, load_policy
from gin_env.rules.actions import ACTIONS
from tests.hands import decisions

HIDDEN = 7


def layers(*sizes: int, seed: int = 0) -> Layers:
    """Random layers from observation to logits, with hidden layers of these sizes."""
    chance = np.random.default_rng(seed)
    widths = [WIDTH, *sizes, ACTIONS]
    return [
        (chance.normal(0, 0.3, (inputs, outputs)).astype(np.float32), chance.normal(0, 0.3, outputs).astype(np.float32))
        for inputs, outputs in pairwise(widths)
    ]


def a_policy(activation: str = "relu", sample: bool = False, sizes: tuple[int, ...] = (HIDDEN,)) -> LearnedPolicy:
    return LearnedPolicy("apprentice", layers(*sizes), activation, Rules.preset("big_gin"), sample)


def positions(hands: int = 8) -> Batch:
    """Decisions of some hands, as one batch."""
    views = []
    for seed in range(hands):
        for hand in decisions(Rules(), seed, "greedy", noise=0.3):
            if hand.player is not None:
                views.append(hand.view(hand.player).data.copy())
    keys = np.random.default_rng(1).integers(0, 2**64, len(views), np.uint64)
    return Batch(np.concatenate(views), np.arange(len(views)), keys)


def one_position(keys: NDArray[np.uint64]) -> Batch:
    """The same decision, of eleven discards, once for each key."""
    hand = Round(seed=3)
    hand.apply(0)
    assert hand.player is not None
    return Batch(np.repeat(hand.view(hand.player).data, len(keys)), np.arange(len(keys)), keys)


# Playing


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("sizes", [(), (HIDDEN,), (HIDDEN, 5)], ids=str)
def test_the_most_likely_legal_action_is_played(activation: str, sizes: tuple[int, ...]) -> None:
    """The network's sums worked out plainly."""
    policy = a_policy(activation, sizes=sizes)
    batch = positions(3)
    bend: Callable[[Any], Any] = np.tanh if activation == "tanh" else (lambda x: np.maximum(x, 0))
    for observation, mask, action in zip(batch.observations, batch.action_masks, policy.act(batch), strict=True):
        x: Any = observation.astype(float)
        for i, (weights, bias) in enumerate(policy.layers):
            x = x @ weights.astype(float) + bias
            x = x if i == len(policy.layers) - 1 else bend(x)
        legal = mask.nonzero()[0]
        assert x[action] == pytest.approx(max(x[legal]), abs=1e-4)
        assert mask[action] == 1


def test_an_action_is_legal_even_where_all_logits_are_low() -> None:
    weights, bias = layers()[0]
    policy = LearnedPolicy("gloomy", [(weights * 0, bias * 0 - np.float32(3e38))], "relu", Rules())
    batch = positions(2)
    assert batch.action_masks[np.arange(len(batch)), policy.act(batch)].all()


def test_sampling_draws_in_the_right_proportions() -> None:
    draws = 20_000
    keys = np.random.default_rng(5).integers(0, 2**64, draws, np.uint64)
    batch = one_position(keys)
    policy = a_policy(sample=True)
    legal = batch.action_masks[0].nonzero()[0]
    logits = policy.logits(batch.observations[:1])[0][legal].astype(float)
    shares = np.exp(logits - logits.max())
    shares /= shares.sum()
    assert shares.max() < 0.9
    drawn = np.bincount(policy.act(batch), minlength=ACTIONS)
    assert drawn.sum() == drawn[legal].sum() == draws
    assert (abs(drawn[legal] / draws - shares) < 4.5 * np.sqrt(shares * (1 - shares) / draws) + 1e-4).all()


def test_sampling_depends_on_the_key_alone() -> None:
    """Neither on the batch nor on what was drawn before."""
    batch = positions()
    policy = a_policy(sample=True)
    drawn = policy.act(batch)
    assert (policy.act(batch) == drawn).all()
    order = np.array(random.Random(1).sample(range(len(batch)), len(batch)))
    again = Batch(batch.views[order], batch.lanes[order], batch.keys[order])
    assert (policy.act(again) == drawn[order]).all()
    other = Batch(batch.views, batch.lanes, batch.keys + np.uint64(1))
    assert (policy.act(other) != drawn).any()


def test_without_sampling_keys_do_not_matter() -> None:
    batch = positions()
    other = Batch(batch.views, batch.lanes, batch.keys + np.uint64(1))
    assert (a_policy().act(other) == a_policy().act(batch)).all()


# Saving and loading


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("sizes", [(), (HIDDEN,), (HIDDEN, 5)], ids=str)
def test_a_saved_policy_plays_the_same(activation: str, sizes: tuple[int, ...], tmp_path: Path) -> None:
    policy = a_policy(activation, sizes=sizes)
    policy.save(tmp_path / "new" / FILE_NAME)
    again = load_policy(tmp_path / "new" / FILE_NAME)
    assert (again.name, again.activation, again.rules, again.sample) == ("apprentice", activation, policy.rules, False)
    for (weights, bias), (other_weights, other_bias) in zip(policy.layers, again.layers, strict=True):
        assert weights.tobytes() == other_weights.tobytes()
        assert bias.tobytes() == other_bias.tobytes()
    batch = positions()
    assert (again.act(batch) == policy.act(batch)).all()
    sampling = load_policy(tmp_path / "new" / FILE_NAME, sample=True)
    assert (sampling.act(batch) == a_policy(activation, sample=True, sizes=sizes).act(batch)).all()


@pytest.mark.parametrize("as_text", [True, False])
def test_a_policy_by_the_path_of_its_file_or_folder(as_text: bool, tmp_path: Path) -> None:
    a_policy().save(tmp_path / FILE_NAME)
    a_policy().save(tmp_path / "renamed.npz")
    batch = positions(2)
    for path in (tmp_path, tmp_path / FILE_NAME, tmp_path / "renamed.npz"):
        policy = gin_env.policy(str(path) if as_text else path)
        assert policy.name == "apprentice"
        assert (policy.act(batch) == a_policy().act(batch)).all()


def test_a_saved_policy_is_an_opponent_by_its_path(tmp_path: Path) -> None:
    a_policy().save(tmp_path / FILE_NAME)
    by_path, by_object = VectorEnv(4, opponent=str(tmp_path), seed=1), VectorEnv(4, opponent=a_policy(), seed=1)
    assert by_path.reset()[0].tobytes() == by_object.reset()[0].tobytes()
    for _ in range(40):
        actions = by_path.action_masks().argmax(axis=1)
        assert by_path.step(actions)[0].tobytes() == by_object.step(actions)[0].tobytes()


def test_the_file_says_what_it_is(tmp_path: Path) -> None:
    a_policy().save(tmp_path / FILE_NAME)
    with np.load(tmp_path / FILE_NAME, allow_pickle=False) as archive:
        assert sorted(archive) == ["about", "bias_0", "bias_1", "weights_0", "weights_1"]
        about = json.loads(str(archive["about"]))
    assert about == {
        "format": FORMAT,
        "name": "apprentice",
        "observation_version": OBSERVATION_VERSION,
        "sizes": [WIDTH, HIDDEN, ACTIONS],
        "activation": "relu",
        "rules": Rules.preset("big_gin").as_dict(),
    }


# Damage

Contents = dict[str, Any]


def about(**fields: Any) -> Callable[[Contents], None]:
    """Set fields of the file's description anew; None takes one away."""

    def change(contents: Contents) -> None:
        described = json.loads(str(contents["about"])) | fields
        contents["about"] = np.array(json.dumps({key: value for key, value in described.items() if value is not None}))

    return change


def array(name: str, make: Callable[[Any], Any]) -> Callable[[Contents], None]:
    """Make one of the file's arrays anew from what it was; None takes it away."""

    def change(contents: Contents) -> None:
        contents[name] = make(contents[name])
        if contents[name] is None:
            del contents[name]

    return change


def with_one(value: float) -> Callable[[Any], Any]:
    def change(values: Any) -> Any:
        values.flat[3] = value
        return values

    return change


DAMAGE: dict[str, tuple[Callable[[Contents], None], str]] = {
    "other format": (about(format="gin_env policy 9"), "it states format .*expected 'gin_env policy 1'"),
    "no format": (about(format=None), "it states format .*expected 'gin_env policy 1'"),
    "other observation version": (
        about(observation_version=OBSERVATION_VERSION + 1),
        f"observation version {OBSERVATION_VERSION + 1}, this is version {OBSERVATION_VERSION}",
    ),
    "no observation version": (about(observation_version=None), "has no 'observation_version'"),
    "other sizes": (about(sizes=[WIDTH, HIDDEN + 1, ACTIONS]), r"not of the sizes it states, \[960, 8, 108\]"),
    "fewer sizes": (about(sizes=[WIDTH, HIDDEN]), "108 logits|sizes it states"),
    "more sizes": (about(sizes=[WIDTH, HIDDEN, HIDDEN, ACTIONS]), "weights_2"),
    "sizes of another kind": (about(sizes=5), "sizes.*5"),
    "no sizes": (about(sizes=None), "has no 'sizes'"),
    "other activation": (about(activation="gelu"), "activation='gelu': expected one of relu, tanh"),
    "no activation": (about(activation=None), "has no 'activation'"),
    "no name": (about(name=None), "has no 'name'"),
    "no rules": (about(rules=None), "has no 'rules'"),
    "bad rules": (about(rules={"gin_bonus": -1}), "gin_bonus=-1: expected"),
    "unknown rule": (about(rules={"jokers": 2}), "'jokers' is no field of the rules"),
    "description of a list": (array("about", lambda _: np.array("[1]")), "it states format"),
    "description of no JSON": (array("about", lambda _: np.array("{")), "Expecting"),
    "description of numbers": (array("about", lambda _: np.zeros(3)), "Expecting"),
    "no description": (array("about", lambda _: None), "about"),
    "no weights": (array("weights_1", lambda _: None), "weights_1"),
    "no bias": (array("bias_0", lambda _: None), "bias_0"),
    "weights not a number": (array("weights_0", with_one(float("nan"))), "layer 0 holds numbers that are not finite"),
    "weights infinite": (array("weights_1", with_one(float("inf"))), "layer 1 holds numbers that are not finite"),
    "bias infinite": (array("bias_1", with_one(float("-inf"))), "layer 1 holds numbers that are not finite"),
    "weights for other observations": (array("weights_0", lambda values: values[:-1]), "expected 960 inputs"),
    "weights for other actions": (array("weights_1", lambda values: values[:, :-1]), "108|sizes it states"),
    "bias of another size": (array("bias_0", lambda values: values[:-1]), "layer 0 has weights .* and bias"),
    "weights of one dimension": (array("weights_0", lambda values: values[0]), r"weights \(7,\)"),
    "weights of none": (array("weights_0", lambda values: values[0, 0]), r"weights \(\)"),
    "doubles": (array("weights_0", lambda values: values.astype(np.float64)), "layer 0 is of float64"),
    "integers": (array("weights_0", lambda values: values.astype(np.int32)), "layer 0 is of int32"),
    "texts": (array("weights_0", lambda values: values.astype("U4")), "layer 0 is of <U4"),
    "pickled objects": (array("weights_0", lambda values: values.astype(object)), "allow_pickle"),
    "pickled description": (array("about", lambda text: np.array([str(text)], object)), "allow_pickle"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_policy_is_refused(damage: str, tmp_path: Path) -> None:
    """One ValueError that names the file and what is wrong."""
    change, message = DAMAGE[damage]
    path = tmp_path / FILE_NAME
    a_policy().save(path)
    with np.load(path) as archive:
        contents: Contents = {name: archive[name].copy() for name in archive}
    change(contents)
    np.savez(path, **contents)
    for given in (path, tmp_path):
        with pytest.raises(ValueError, match=rf"{FILE_NAME} is no sound policy file: .*{message}"):
            gin_env.policy(given)


def test_every_cut_of_a_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    a_policy().save(path)
    whole = path.read_bytes()
    for length in [*range(0, len(whole), 997), len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=f"{FILE_NAME} is no sound policy file"):
            load_policy(path)


def changed_files(whole: bytes) -> Iterator[bytes]:
    """The file with one byte changed: each byte of the archive's own records, and some hundred others."""
    records = [start for start in range(len(whole)) if whole[start : start + 2] == b"PK"]
    places = {start + offset for start in records for offset in range(60) if start + offset < len(whole)}
    for place in sorted(places | set(random.Random(1).sample(range(len(whole)), 200))):
        yield whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :]


def load_or_refuse(path: Path) -> LearnedPolicy | None:
    """The policy, or None for a file that is refused in the proper way."""
    try:
        return load_policy(path)
    except ValueError as error:
        return None if FILE_NAME in str(error) else pytest.fail(f"the error does not name the file: {error}")


def test_a_changed_byte_is_refused_or_harmless(tmp_path: Path) -> None:
    """Whatever byte is changed there is no other error, and no other weights."""
    path = tmp_path / FILE_NAME
    a_policy().save(path)
    policies = []
    for changed in changed_files(path.read_bytes()):
        path.write_bytes(changed)
        policies.append(load_or_refuse(path))
    assert policies.count(None) > len(policies) / 2
    for policy in filter(None, policies):
        for layer, other in zip(a_policy().layers, policy.layers, strict=True):
            assert [part.tobytes() for part in layer] == [part.tobytes() for part in other]


@pytest.mark.parametrize(
    "content",
    [b"", b"gin", b"\x80\x04N.", b"\x93NUMPY\x01\x00", b"PK\x05\x06" + bytes(18)],
    ids=["empty", "text", "pickle", "npy", "zip"],
)
def test_what_is_no_policy_file_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "policy.npz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"policy\.npz is no sound policy file"):
        load_policy(path)


def test_one_array_is_no_policy_file(tmp_path: Path) -> None:
    np.save(tmp_path / "array.npy", np.zeros(3))
    with pytest.raises(ValueError, match=r"array\.npy is no sound policy file"):
        load_policy(tmp_path / "array.npy")


@pytest.mark.parametrize("member", ["weights_0", "weights_0.npy", "about.npy"])
def test_members_that_are_no_arrays_are_refused(member: str, tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    a_policy().save(path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members.pop(f"{member.removesuffix('.npy')}.npy")
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (members | {member: b"bytes of no array"}).items():
            archive.writestr(name, content)
    with pytest.raises(ValueError, match=f"{FILE_NAME} is no sound policy file"):
        load_policy(path)


def test_a_damaged_compressed_file_is_refused(tmp_path: Path) -> None:
    """Someone may have repacked the file."""
    path = tmp_path / FILE_NAME
    a_policy().save(path)
    with np.load(path) as archive:
        np.savez_compressed(path, **{name: archive[name] for name in archive})
    assert load_policy(path).name == "apprentice"
    whole = path.read_bytes()
    middle = len(whole) // 2
    path.write_bytes(whole[:middle] + bytes(byte ^ 0xFF for byte in whole[middle : middle + 64]) + whole[middle + 64 :])
    with pytest.raises(ValueError, match=f"{FILE_NAME} is no sound policy file"):
        load_policy(path)


class _Trap:
    def __reduce__(self) -> tuple[Any, ...]:
        return pytest.fail, ("the file was unpickled",)


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    a_policy().save(path)
    with np.load(path) as archive:
        contents: Contents = {name: archive[name] for name in archive}
    trap = np.empty(1, object)
    trap[0] = _Trap()
    np.savez(path, **(contents | {"weights_0": trap}))
    with pytest.raises(ValueError, match="allow_pickle"):
        load_policy(path)


def test_a_folder_without_a_policy_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=rf"holds no {FILE_NAME}: expected a saved policy or the folder of a finished run"):
        gin_env.policy(tmp_path)
    with pytest.raises(ValueError, match="holds no"):
        load_policy(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("greddy", "'greddy' is no policy: expected one of random, novice, simple, greedy.*; did you mean 'greedy'"),
        ("Simple", "did you mean 'simple'"),
        ("runs/nowhere", "'runs/nowhere' is no policy: expected one of random, .*or the path of a saved run$"),
        (7, "7 is no policy"),
        (None, "None is no policy"),
    ],
    ids=str,
)
def test_an_unknown_policy_names_the_nearest(name: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gin_env.policy(name)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ([], "960 outputs: expected 108"),
        (layers(HIDDEN)[:1], "7 outputs: expected 108"),
        (layers(HIDDEN)[1:], "expected 960 inputs"),
        ([(weights.astype(np.float64), bias) for weights, bias in layers()], "float64"),
        ([(weights, bias * np.float32("nan")) for weights, bias in layers()], "not finite"),
    ],
    ids=["none", "no end", "no start", "doubles", "nan"],
)
def test_layers_that_do_not_fit_are_refused(changed: Layers, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LearnedPolicy("apprentice", changed, "relu", Rules())


# Writing whole or not at all


def test_a_failure_while_saving_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / FILE_NAME
    a_policy().save(path)
    before = path.read_bytes()

    def half(file: Any, **arrays: Any) -> None:
        file.write(b"half of it")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gin_env.policies.learned.np.savez", half)
    with pytest.raises(OSError, match="No space left"):
        a_policy("tanh").save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_saving_twice_writes_the_newer(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    a_policy("relu").save(path)
    a_policy("tanh").save(path)
    assert load_policy(path).activation == "tanh"
    assert list(tmp_path.iterdir()) == [path]
