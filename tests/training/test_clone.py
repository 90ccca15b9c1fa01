"""The warm start: whose choices are learned, on whose hands, and that they are learned."""

from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO

from gin_env import Batch, Policy, Round, Rules, policy
from gin_env.rules.actions import DISCARD, GO_OUT
from tests.envs.player import Player, decide, decide_one, same
from training import clone as cloning
from training.clone import clone
from training.config import CloneConfig
from training.networks import exported
from training.sb3_vec_env import GinVecEnv

Lessons = Callable[..., list[cloning.Lesson]]


def a_model(hidden: int = 64) -> MaskablePPO:
    return MaskablePPO(
        "MlpPolicy",
        GinVecEnv(2, seed=0),
        n_steps=16,
        batch_size=32,
        policy_kwargs={"net_arch": {"pi": [hidden], "vf": [hidden]}, "activation_fn": torch.nn.ReLU},
        device="cpu",
        seed=0,
    )


def greedy_decisions(hands: int) -> tuple[Batch, NDArray[np.int64]]:
    """All decisions of some hands of greedy's, and what it chose."""
    greedy, views, actions = policy("greedy"), [], []
    for seed in range(hands):
        hand = Round(seed=5_000_000 + seed)
        while (player := hand.player) is not None:
            views.append(hand.view(player).data.copy())
            actions.append(int(greedy.act(Batch(views[-1], np.zeros(1, np.int64), np.zeros(1, np.uint64)))[0]))
            hand.apply(actions[-1])
    return Batch(np.concatenate(views), np.arange(len(views)), np.zeros(len(views), np.uint64)), np.array(actions)


@pytest.fixture
def small_lessons(monkeypatch: pytest.MonkeyPatch) -> Lessons:
    """Lessons of 6 lanes and 40 steps."""
    monkeypatch.setattr(cloning, "LANES", 6)
    monkeypatch.setattr(cloning, "STEPS", 40)

    def lessons(count: int = 1, rules: Rules | None = None, random_share: float = 0.0) -> list[cloning.Lesson]:
        config = CloneConfig(random_share=random_share)
        endless = cloning._lessons(Player(), rules or Rules(), config, seed=30, rng=np.random.default_rng(0))
        return list(islice(endless, count))

    return lessons


def hands_played(lane: int, steps: int, choose: Callable[[NDArray[np.int8], NDArray[np.int8]], int]) -> list[NDArray[np.int8]]:
    """The observations of a lane's decisions where both seats choose alike, hand after hand."""
    seen: list[NDArray[np.int8]] = []
    for deal in range(steps):
        hand = Round(seed=30 + lane, deal=deal)
        while (player := hand.player) is not None:
            seen.append(hand.observation(player))
            hand.apply(choose(hand.observation(player), hand.action_mask(player)))
    return seen[:steps]


# Lessons


@pytest.mark.parametrize("random_share", [0.0, 0.3], ids=["the teacher's hands", "mixed hands"])
@pytest.mark.parametrize("rules", ["straight", "big_gin"])
def test_a_lesson_is_what_the_teacher_would_do(small_lessons: Lessons, random_share: float, rules: str) -> None:
    for observations, masks, actions in small_lessons(2, Rules.preset(rules), random_share):
        assert len(actions) == 6 * 40
        assert (masks[np.arange(len(actions)), actions] == 1).all()
        assert same(actions, decide(observations, masks))


def test_lessons_of_the_teachers_own_hands(small_lessons: Lessons) -> None:
    (observations, _, _), (following, _, _) = small_lessons(2)
    for lane in range(6):
        assert same(np.concatenate([observations[lane::6], following[lane::6]]), np.array(hands_played(lane, 80, decide_one)))


def test_random_discards_are_legal_and_only_discards_change() -> None:
    batch, actions = greedy_decisions(40)
    mixed = cloning._with_random_discards(actions, batch.action_masks, np.random.default_rng(0), 0.5)
    assert (batch.action_masks[np.arange(len(mixed)), mixed] == 1).all()
    changed = mixed != actions
    plain = (actions >= DISCARD) & (actions < GO_OUT)
    assert not changed[~plain].any()
    assert 0.3 < changed[plain].mean() < 0.6  # half, less those drawn alike
    assert (mixed[plain] < GO_OUT).all()
    assert same(cloning._with_random_discards(actions, batch.action_masks, np.random.default_rng(0), 0.0), actions)


def test_a_teacher_that_errs_is_named() -> None:
    class Wrong(Policy):
        name = "wrong"

        def act(self, batch: Batch) -> NDArray[np.int64]:
            return np.full(len(batch), 107)

    with pytest.raises(ValueError, match="policy 'wrong' chose action 107"):
        clone(a_model(8), Wrong(), Rules(), CloneConfig(decisions=1), 0, lambda *_: None)


# Learning


def test_a_clone_agrees_with_its_teacher_and_its_critic_is_as_it_was() -> None:
    torch.set_num_threads(1)
    model = a_model()
    before = {name: values.clone() for name, values in model.policy.state_dict().items()}
    batch, actions = greedy_decisions(60)
    untrained = float((exported(model, "untrained", Rules()).act(batch) == actions).mean())
    reported: list[tuple[int, float]] = []

    clone(model, policy("greedy"), Rules(), CloneConfig(decisions=60_000, batch_size=128), 1, lambda *now: reported.append(now))

    trained = float((exported(model, "clone", Rules()).act(batch) == actions).mean())
    assert trained > untrained + 0.2
    # Every batch is reported, with the agreement before it was learned from.
    assert [done for done, _ in reported] == [128] * (60_000 // 128)
    assert reported[0][1] < 0.5 < 0.6 < np.mean([agreement for _, agreement in reported[-10:]])
    changed = {name for name, values in model.policy.state_dict().items() if not torch.equal(values, before[name])}
    assert changed == {f"{part}.{kind}" for part in ("mlp_extractor.policy_net.0", "action_net") for kind in ("weight", "bias")}


def test_the_same_seed_gives_the_same_clone(small_lessons: Lessons) -> None:
    """Small lessons, so that many are gone through."""

    def cloned(seed: int) -> list[Any]:
        model = a_model(8)
        config = CloneConfig(decisions=1_000, batch_size=100)
        clone(model, policy("greedy"), Rules(), config, seed, lambda *_: None)
        return [parameter.detach().numpy() for parameter in model.policy.parameters()]

    torch.set_num_threads(1)
    assert same(cloned(1), cloned(1))
    assert not same(cloned(1), cloned(2))
