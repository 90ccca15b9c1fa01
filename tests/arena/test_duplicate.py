"""Duplicate deals: seats swapped, pairs as the unit, intervals that mean what they say."""

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gin_env import Batch, Policy, Round, Rules, policy
from gin_env.arena.duplicate import PairResult, _ratio, play_pairs
from gin_env.policies.policy import CompiledPolicy
from gin_env.policies.registry import LADDER
from tests.envs.player import Player


class Slow(Policy):
    """A bot of the ladder that is only to be asked from outside."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._bot = policy(name)
        self.started: list[list[int]] = []

    def start(self, lanes: NDArray[np.int64]) -> None:
        self.started.append(lanes.tolist())

    def act(self, batch: Batch) -> NDArray[np.int64]:
        return self._bot.act(batch)


class Stubborn(Policy):
    """Answers any so many decisions with the same."""

    name = "stubborn"

    def __init__(self, answer: Callable[[int], Any]) -> None:
        self._answer = answer

    def act(self, batch: Batch) -> Any:
        return self._answer(len(batch))


def cheat_action(view: Any, key: Any) -> int:
    return 107


# Symmetry


@pytest.mark.parametrize("rules", ["straight", "big_gin"])
@pytest.mark.parametrize("name", LADDER)
def test_a_policy_against_itself_is_even_to_the_last_digit(name: str, rules: str) -> None:
    """Whatever is random in a bot comes from the deal, seat and decision alone."""
    result = play_pairs(policy(name), policy(name), 200, 3, rules)
    assert (result.points, result.points_ci95) == (0, (0, 0))
    assert (result.share, result.share_ci95) == (0.5, (0.5, 0.5))
    assert (result.a, result.b) == (name, name)


def test_a_policy_of_python_against_itself_is_even() -> None:
    result = play_pairs(Player(), Player(), 60, 3)
    assert (result.share, result.share_ci95, result.points, result.points_ci95) == (0.5, (0.5, 0.5), 0, (0, 0))


def figures(result: PairResult) -> list[float]:
    return [number for value in asdict(result).values() if not isinstance(value, str) for number in np.ravel(value).tolist()]


@pytest.mark.parametrize(("a", "b"), [("simple", "greedy"), ("novice", "greedy")])
def test_swapping_the_two_mirrors_every_figure(a: str, b: str) -> None:
    result = play_pairs(policy(a), policy(b), 300, 5, "big_gin")
    swapped = play_pairs(policy(b), policy(a), 300, 5, "big_gin")
    mirrored = result.mirrored()
    assert (swapped.a, swapped.b) == (mirrored.a, mirrored.b) == (b, a)
    assert figures(swapped) == pytest.approx(figures(mirrored), abs=1e-12)
    assert swapped.share != 0.5
    assert swapped.points == -result.points
    assert swapped.points_ci95[0] == -result.points_ci95[1]
    assert figures(mirrored.mirrored()) == pytest.approx(figures(result), abs=1e-12)


# The same whatever the way


@pytest.mark.parametrize("chunk", [1, 7, 40])
@pytest.mark.parametrize("opponent", [Player(), policy("simple")], ids=lambda opponent: opponent.name)
def test_the_result_does_not_depend_on_the_chunk(chunk: int, opponent: Policy) -> None:
    """Neither for compiled policies nor for others, random ones included."""
    for a in (policy("novice"), Slow("novice")):
        assert play_pairs(a, opponent, 40, 8, chunk=chunk) == play_pairs(a, opponent, 40, 8)


@pytest.mark.parametrize("name", LADDER)
def test_a_policy_asked_from_outside_plays_as_it_does_compiled(name: str) -> None:
    opponent = "simple" if name != "simple" else "greedy"
    expected = play_pairs(policy(name), policy(opponent), 40, 2, "big_gin")
    assert play_pairs(Slow(name), policy(opponent), 40, 2, "big_gin") == expected
    assert play_pairs(policy(name), Slow(opponent), 40, 2, "big_gin") == expected
    assert play_pairs(Slow(name), Slow(opponent), 40, 2, "big_gin") == expected


def test_policies_with_a_memory_are_told_of_new_hands() -> None:
    slow = Slow("greedy")
    play_pairs(slow, policy("simple"), 5, 0, chunk=3)
    assert slow.started == [[0, 1, 2], [3, 4, 5], [0, 1], [2, 3]]  # each chunk in both orders, lanes apart by seat


def test_other_seeds_are_other_deals() -> None:
    results = [play_pairs(policy("greedy"), policy("simple"), 50, seed) for seed in (0, 1, 2)]
    assert len({result.points for result in results}) == 3


def test_progress_adds_up() -> None:
    done: list[int] = []
    play_pairs(policy("greedy"), policy("simple"), 50, 0, progress=done.append, chunk=20)
    assert done == [20, 20, 10]


# What is counted


def played(seat0: Policy, seat1: Policy, seed: int, deal: int, rules: Rules) -> Round:
    hand = Round(rules, seed=seed, deal=deal)
    while (player := hand.player) is not None:
        batch = Batch(hand.view(player).data, np.zeros(1, np.int64), np.zeros(1, np.uint64))
        hand.apply(int((seat0, seat1)[player].act(batch)[0]))
    return hand


@pytest.mark.parametrize("rules", [Rules(), Rules.preset("big_gin").replace(turn_limit=18)], ids=["straight", "big gin, short"])
def test_the_figures_are_those_of_the_hands_played_one_by_one(rules: Rules) -> None:
    """By policies that use no chance; the intervals are worked out plainly from the pairs."""
    a, b, deals = policy("greedy"), Player(), 60
    pairs = [
        [(hand, seat) for seat, hand in ((0, played(a, b, 9, deal, rules)), (1, played(b, a, 9, deal, rules)))]
        for deal in range(deals)
    ]
    hands = [side for pair in pairs for side in pair]
    won = np.array([sum(hand.winner == seat for hand, seat in pair) for pair in pairs])
    decided = np.array([sum(hand.winner is not None for hand, _ in pair) for pair in pairs])
    points = np.array([np.mean([hand.scores[seat] - hand.scores[1 - seat] for hand, seat in pair]) for pair in pairs])

    result = play_pairs(a, b, deals, 9, rules)

    assert result.share == won.sum() / decided.sum()
    assert result.points == pytest.approx(points.mean())
    half = 1.96 * points.std(ddof=1) / np.sqrt(deals)
    assert result.points_ci95 == pytest.approx((points.mean() - half, points.mean() + half), abs=1e-3)
    residuals = won - result.share * decided
    half = 1.96 * residuals.std(ddof=1) / np.sqrt(deals) / decided.mean()
    assert result.share_ci95 == pytest.approx((result.share - half, result.share + half), abs=1e-4)
    assert result.dead == pytest.approx(sum(hand.winner is None for hand, _ in hands) / (2 * deals))
    assert result.turns == pytest.approx(np.mean([hand.turns for hand, _ in hands]))
    assert result.big_gins == np.mean([hand.outcome == "big_gin" for hand, _ in hands])
    assert (result.a, result.b, result.deals) == ("greedy", "player", deals)
    assert 0 < result.dead < 1
    assert result.share_ci95[0] < result.share < result.share_ci95[1]


def test_big_gins_are_counted() -> None:
    assert play_pairs(policy("greedy"), policy("simple"), 400, 1, "big_gin").big_gins > 0
    assert play_pairs(policy("greedy"), policy("simple"), 400, 1, "straight").big_gins == 0


# Intervals


def some_pairs(rng: np.random.Generator, count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Wins and decided hands of pairs, hands of a pair alike, some dead; the true share is `SHARE`."""
    kinds = np.array([(0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)], np.float64)
    # In tenths: wins 1 + 2 + 3 * 2 = 9 of decided 1 + 1 + 2 * (2 + 2 + 3) = 16.
    drawn = kinds[rng.choice(6, count, p=[0.1, 0.1, 0.1, 0.2, 0.2, 0.3])]
    return drawn[:, 0], drawn[:, 1]


SHARE = 9 / 16


def test_the_interval_is_that_of_a_bootstrap_over_pairs() -> None:
    rng = np.random.default_rng(0)
    won, decided = some_pairs(rng, 800)
    share, half = _ratio(won, decided)
    rows = rng.integers(0, 800, (4_000, 800))
    resampled = won[rows].sum(axis=1) / decided[rows].sum(axis=1)
    assert share == won.sum() / decided.sum()
    assert half == pytest.approx(1.96 * resampled.std(), rel=0.05)
    assert (share - half, share + half) == pytest.approx(np.quantile(resampled, [0.025, 0.975]), abs=0.15 * half)


def test_the_interval_holds_the_truth_in_95_of_100_samples() -> None:
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(2_000):
        share, half = _ratio(*some_pairs(rng, 150))
        held += abs(share - SHARE) <= half
    assert 0.93 < held / 2_000 < 0.97


def test_hands_of_a_pair_are_not_counted_as_independent() -> None:
    """Pairs that are always one win each leave nothing to chance; pairs of two wins or none leave twice as much."""
    one_each = _ratio(np.full(100, 1.0), np.full(100, 2.0))
    assert one_each == (0.5, 0.0)
    share, half = _ratio(np.tile([0.0, 2.0], 50), np.full(100, 2.0))
    assert share == 0.5
    assert half == pytest.approx(1.96 * 0.5 / np.sqrt(100), rel=0.01)  # 100 pairs, not 200 hands


def test_nothing_decided_has_no_share() -> None:
    assert np.isnan(_ratio(np.zeros(5), np.zeros(5))).all()


# JSON


def test_a_result_as_json() -> None:
    result = play_pairs(policy("greedy"), policy("novice"), np.int64(50), 4)  # type: ignore[arg-type]  # any integer will do
    read = json.loads(json.dumps(result.as_dict(), allow_nan=False))
    assert set(read) == {"a", "b", "share", "share_ci95", "points", "points_ci95", "dead", "turns", "big_gins", "deals"}
    assert read == asdict(result) | {"share_ci95": list(result.share_ci95), "points_ci95": list(result.points_ci95)}


def test_a_share_of_nothing_is_null_in_json() -> None:
    result = play_pairs(policy("random"), policy("random"), 2, 0)
    assert result.dead == 1
    assert np.isnan(result.share)
    for side in (result, result.mirrored()):
        read = json.loads(json.dumps(side.as_dict(), allow_nan=False))
        assert (read["share"], read["share_ci95"]) == (None, None)
        assert (read["points"], read["points_ci95"], read["deals"]) == (0, [0, 0], 2)


def test_an_interval_with_one_open_end_is_null() -> None:
    result = replace(play_pairs(policy("greedy"), policy("novice"), 50, 4), share_ci95=(0.5, float("nan")))
    assert result.as_dict()["share_ci95"] is None


# Bad input


@pytest.mark.parametrize("deals", [1, 0, -5, 2.0, True, "10", None])
def test_a_bad_number_of_deals(deals: Any) -> None:
    with pytest.raises(ValueError, match="expected an integer of at least 2") as raised:
        play_pairs(policy("greedy"), policy("simple"), deals, 0)
    assert f"deals={deals!r}" in str(raised.value)


@pytest.mark.parametrize("seed", [-1, 2**64, 0.5, "1", True])
def test_a_bad_seed(seed: Any) -> None:
    with pytest.raises(ValueError, match="seed=.*: expected"):
        play_pairs(policy("greedy"), policy("simple"), 2, seed)


def test_rules_that_are_unknown_or_not_played_yet() -> None:
    with pytest.raises(ValueError, match="'strait' is no rule preset"):
        play_pairs(policy("greedy"), policy("simple"), 2, 0, "strait")
    with pytest.raises(NotImplementedError, match="this version plays the games without knocking only"):
        play_pairs(policy("greedy"), policy("simple"), 2, 0, "standard")


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        (lambda n: np.full(n, 107), "policy 'stubborn' chose action 107"),
        (lambda n: np.full(n, -1), "policy 'stubborn' chose action -1"),
        (lambda n: np.zeros(n + 1, np.int64), "policy 'stubborn' answered with shape"),
        (lambda n: np.zeros(n), "of float64: expected"),
        (lambda n: None, "policy 'stubborn' answered with shape () of object"),
    ],
    ids=["illegal", "negative", "too many", "no integers", "nothing"],
)
def test_a_bad_answer_names_its_policy(answer: Callable[[int], Any], named: str) -> None:
    with pytest.raises(ValueError, match=r"\S") as raised:
        play_pairs(Stubborn(answer), Stubborn(answer), 3, 0)
    assert named in str(raised.value)


def test_an_illegal_choice_of_a_compiled_policy_names_it() -> None:
    with pytest.raises(ValueError, match="policy 'cheat' chose an illegal action in deal 0"):
        play_pairs(policy("greedy"), CompiledPolicy("cheat", cheat_action), 3, 0)


# The ladder, as it was measured before; the margins are many standard errors wide


def test_the_ladders_known_figures() -> None:
    novice = play_pairs(policy("novice"), policy("simple"), 3_000, 2)
    assert 0.17 < novice.share < 0.27
    greedy = play_pairs(policy("greedy"), policy("simple"), 3_000, 2)
    assert 0.45 < greedy.share < 0.57
    mirror = play_pairs(policy("simple"), policy("simple"), 3_000, 2)
    assert 0.05 < mirror.dead < 0.10
    assert 21 < mirror.turns < 24.5
    assert play_pairs(policy("random"), policy("random"), 3_000, 2).dead > 0.985
