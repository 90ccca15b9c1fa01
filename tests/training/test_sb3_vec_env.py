"""The adapter to Stable-Baselines3: what SB3 expects, the learner's own rewards, and the same games as elsewhere."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv, VecMonitor

from gin_env import Batch, IllegalAction, Round, VectorEnv, policy
from gin_env.observation import WIDTH
from gin_env.rules.actions import ACTIONS, GO_OUT
from gin_env.rules.ruleset import Rules
from tests.envs.player import Player, decide, decide_one, same
from tests.hands import RULE_SETS
from training.sb3_vec_env import GinVecEnv

Learner = Callable[[NDArray[np.int8], NDArray[np.int8]], NDArray[np.int64]]


def steps_of(environment: GinVecEnv, learner: Learner = decide) -> Iterator[tuple[Any, Any, Any, Any]]:
    """What each step returns, from a reset on, without end."""
    observations: Any = environment.reset()
    while True:
        observations, rewards, dones, infos = environment.step(learner(observations, environment.action_masks()))
        yield observations, rewards, dones, infos


def never_out(observations: NDArray[np.int8], masks: NDArray[np.int8]) -> NDArray[np.int64]:
    """The test's player, who never goes out where anything else is legal: the opponent wins what is won."""
    stay = masks.copy()
    stay[:, GO_OUT:] = 0
    return decide(observations, np.where(stay.any(axis=1, keepdims=True), stay, masks))


def endings(environment: GinVecEnv, hands: int, learner: Learner = decide) -> list[tuple[int, float, bool, dict[str, Any]]]:
    """Lane, sum of rewards, and the last step's `done` and info of some hands."""
    found: list[tuple[int, float, bool, dict[str, Any]]] = []
    sums = np.zeros(environment.num_envs)
    for _, rewards, dones, infos in steps_of(environment, learner):
        sums += rewards
        for lane in np.flatnonzero(dones):
            found.append((int(lane), float(sums[lane]), bool(dones[lane]), infos[lane]))
            sums[lane] = 0
        if len(found) >= hands:
            return found
    raise AssertionError


# What SB3 expects


def test_spaces_are_the_flat_observation_and_the_actions() -> None:
    environment = GinVecEnv(3)
    assert isinstance(environment, VecEnv)
    assert environment.num_envs == 3
    single = VectorEnv(num_envs=1)
    assert environment.observation_space == single.single_observation_space
    assert environment.action_space == single.single_action_space


def test_shapes_and_types() -> None:
    environment = GinVecEnv(5, seed=0)
    for observations, rewards, dones, infos in islice(steps_of(environment), 60):
        assert observations.shape == (5, WIDTH)
        assert observations.dtype == np.int8
        assert all(environment.observation_space.contains(row) for row in observations)
        assert (rewards.shape, rewards.dtype, dones.shape, dones.dtype) == ((5,), np.float32, (5,), np.bool_)
        assert (type(infos), [type(info) for info in infos]) == (list, [dict] * 5)
        masks = environment.action_masks()
        assert masks.shape == (5, ACTIONS)
        assert masks.dtype == np.int8
        assert (masks.sum(axis=1) > 0).all()


def test_reset_returns_observations_alone_and_gives_reset_infos() -> None:
    environment = GinVecEnv(2, seed=0)
    observations = environment.reset()
    assert isinstance(observations, np.ndarray)
    assert (observations.shape, str(observations.dtype)) == ((2, WIDTH), "int8")
    assert environment.reset_infos == [{}, {}]


def test_masks_in_the_way_that_sb3_contrib_asks_for_them() -> None:
    environment = GinVecEnv(4, seed=0)
    environment.reset()
    assert environment.has_attr("action_masks")
    assert is_masking_supported(environment)
    for masks in (environment.env_method("action_masks"), get_action_masks(environment)):
        assert same(np.asarray(masks), environment.action_masks())
    assert same(np.asarray(environment.env_method("action_masks", indices=[2, 0])), environment.action_masks()[[2, 0]])
    assert same(np.asarray(environment.env_method("action_masks", indices=1)), environment.action_masks()[[1]])


def test_the_rest_of_the_vec_env_interface() -> None:
    environment = GinVecEnv(3, seed=0)
    assert environment.get_attr("render_mode") == [None, None, None]
    assert environment.get_attr("num_envs", indices=[0, 2]) == [3, 3]
    assert not environment.has_attr("knocking")
    with pytest.raises(AttributeError, match="knocking"):
        environment.get_attr("knocking")
    assert environment.env_is_wrapped(Monitor) == [False, False, False]
    assert list(environment.get_images()) == [None, None, None]
    assert environment.env_method("has_attr", "lanes", indices=0) == [True]
    with pytest.raises(NotImplementedError, match="reward_scale"):
        environment.set_attr("reward_scale", 2.0)
    environment.close()


def test_infos_are_empty_but_at_the_end_of_a_hand() -> None:
    ended = 0
    for _, _, dones, infos in islice(steps_of(GinVecEnv(8, seed=1)), 80):
        ended += int(dones.sum())
        for done, info in zip(dones, infos, strict=True):
            assert bool(info) == done
            if done:
                expected = {"terminal_observation", "TimeLimit.truncated", "episode"}
                assert set(info) == expected | {"outcome", "scores", "turns", "deadwood", "seat", "opponent"}
    assert ended > 20


def test_vec_monitor_wraps_it() -> None:
    environment = VecMonitor(GinVecEnv(4, seed=5, reward_scale=0.5))
    assert is_masking_supported(environment)
    observations: Any = environment.reset()
    lengths = np.zeros(4, np.int64)
    ended = 0
    while ended < 8:
        observations, rewards, dones, infos = environment.step(decide(observations, get_action_masks(environment)))
        lengths += 1
        for lane in np.flatnonzero(dones):
            assert infos[lane]["episode"]["r"] == rewards[lane]
            assert infos[lane]["episode"]["l"] == lengths[lane]
            lengths[lane] = 0
            ended += 1


@pytest.mark.parametrize("wrap", [False, True], ids=["plain", "in VecMonitor"])
def test_maskable_ppo_learns_on_it(wrap: bool) -> None:
    """And each hand's reward, lost hands' too, stands in the rollout at the step that ended it."""
    environment = GinVecEnv(4, opponent="greedy", seed=2, reward_scale=0.5)
    model = MaskablePPO(
        "MlpPolicy",
        VecMonitor(environment) if wrap else environment,
        n_steps=64,
        batch_size=64,
        n_epochs=1,
        policy_kwargs={"net_arch": [8]},
        device="cpu",
        seed=0,
    )
    watcher = _Watcher()
    model.learn(512, callback=watcher)
    assert model.num_timesteps == 512
    assert watcher.paid == watcher.due
    assert len(watcher.due) > 10
    assert {reward for _, _, reward in watcher.due if reward < 0}
    assert model.ep_info_buffer is not None
    gains = {reward if wrap else reward / 0.5 for _, _, reward in watcher.due}
    assert {episode["r"] for episode in model.ep_info_buffer} <= gains | {0.0}


class _Watcher(BaseCallback):
    """What each ended hand was worth to the learner, and what the rollouts hold: (step, lane, reward)."""

    def __init__(self) -> None:
        super().__init__()
        self.due: list[tuple[int, int, float]] = []
        self.paid: list[tuple[int, int, float]] = []
        self._first = 0

    def _on_step(self) -> bool:
        for lane, info in enumerate(self.locals["infos"]):
            if info:
                gain = info["scores"][info["seat"]] - info["scores"][1 - info["seat"]]
                if gain:
                    self.due.append((self._first + self.locals["n_steps"], lane, 0.5 * gain))
        return True

    def _on_rollout_end(self) -> None:
        rewards = self.locals["rollout_buffer"].rewards
        self.paid += [(self._first + int(step), int(lane), float(rewards[step, lane])) for step, lane in np.argwhere(rewards)]
        self._first += len(rewards)


# Rewards


@pytest.mark.parametrize("learner_seat", [0, 1, "random"])
@pytest.mark.parametrize("scale", [1.0, 0.25])
def test_the_rewards_of_a_hand_sum_to_its_scores_from_the_learners_seat(learner_seat: str | int, scale: float) -> None:
    environment = GinVecEnv(8, opponent="simple", learner_seat=learner_seat, seed=0, reward_scale=scale)
    gains = []
    for _, total, _, info in endings(environment, 60):
        seat = info["seat"]
        gain = info["scores"][seat] - info["scores"][1 - seat]
        assert total == scale * gain
        assert info["episode"]["r"] == gain
        assert learner_seat in (seat, "random")
        gains.append(gain)
    assert min(gains) < 0 < max(gains)


@pytest.mark.parametrize("learner_seat", [0, 1, "random"])
@pytest.mark.parametrize("opponent", [Player(), "greedy"], ids=["in python", "compiled"])
def test_the_learner_pays_when_the_opponent_goes_out(learner_seat: str | int, opponent: Any) -> None:
    environment = GinVecEnv(8, opponent=opponent, learner_seat=learner_seat, seed=3)
    won = [ending for ending in endings(environment, 30, never_out) if ending[3]["outcome"] == "gin"]
    assert len(won) > 10
    for _, total, done, info in won:
        seat = info["seat"]
        assert done
        assert (info["scores"][seat], total) == (0, -info["scores"][1 - seat])
        assert total <= -25  # the bonus at least


def test_rewards_of_wins_alone() -> None:
    totals = [total for _, total, _, _ in endings(GinVecEnv(8, reward="win", seed=0, reward_scale=0.5), 40)]
    assert set(totals) == {-0.5, 0.5} or set(totals) == {-0.5, 0.0, 0.5}


def test_a_hand_cut_by_the_turn_limit_is_truncated_and_others_are_not() -> None:
    environment = GinVecEnv(16, rules={"turn_limit": 16}, seed=0)
    outcomes = set()
    for _, total, done, info in endings(environment, 80):
        assert done
        assert info["TimeLimit.truncated"] is (info["outcome"] == "turn_limit")
        assert (total == 0) is (info["outcome"] == "turn_limit")
        outcomes.add(info["outcome"])
    assert outcomes == {"turn_limit", "gin"}


# The same games as elsewhere


@pytest.mark.parametrize("name", RULE_SETS)
def test_each_lane_plays_what_the_vector_environments_lane_plays(name: str) -> None:
    settings: dict[str, Any] = {"rules": RULE_SETS[name], "opponent": [("greedy", 2), ("novice", 1), (Player(), 1)], "seed": 11}
    ours, theirs = GinVecEnv(6, **settings), VectorEnv(num_envs=6, **settings)
    observations: Any = ours.reset()
    others, other_infos = theirs.reset()
    hands = 0
    for _ in range(150):
        assert same(observations, others)
        assert same(ours.action_masks(), other_infos["action_mask"])
        actions = decide(observations, ours.action_masks())
        observations, rewards, dones, infos = ours.step(actions)
        others, other_rewards, terminated, truncated, other_infos = theirs.step(actions)
        assert rewards.tolist() == other_rewards.tolist()
        assert dones.tolist() == (terminated | truncated).tolist()
        for lane in np.flatnonzero(dones):
            final = other_infos["final_info"]
            assert same(infos[lane]["terminal_observation"], other_infos["final_obs"][lane])
            assert infos[lane]["TimeLimit.truncated"] == truncated[lane]
            for key in ("outcome", "turns", "seat", "opponent"):
                assert infos[lane][key] == final[key][lane]
            for key in ("scores", "deadwood"):
                assert infos[lane][key] == tuple(final[key][lane])
            hands += 1
    assert hands > 12


def replayed(seed: int, deal: int, seat: int, rules: Rules) -> tuple[list[NDArray[np.int8]], Round]:
    """The observations that a learner in that seat has of a hand of Round's against greedy, and the hand when it is over."""
    hand = Round(rules, seed=seed, deal=deal)
    greedy, seen = policy("greedy"), []
    while (player := hand.player) is not None:
        if player == seat:
            seen.append(hand.observation(seat))
            hand.apply(decide_one(hand.observation(seat), hand.action_mask(seat)))
        else:
            batch = Batch(hand.view(player).data, np.zeros(1, np.int64), np.zeros(1, np.uint64))
            hand.apply(int(greedy.act(batch)[0]))
    return [*seen, hand.observation(seat)], hand


@pytest.mark.parametrize("name", RULE_SETS)
def test_each_lane_plays_its_seeds_hands_as_round_does(name: str) -> None:
    environment = GinVecEnv(3, rules=RULE_SETS[name], seed=[40, 7, 2**64 - 1])
    observations: Any = environment.reset()
    seen: list[list[NDArray[np.int8]]] = [[row.copy()] for row in observations]
    deals = [0, 0, 0]
    while sum(deals) < 12:
        observations, _, dones, infos = environment.step(decide(observations, environment.action_masks()))
        for lane, seed in enumerate((40, 7, 2**64 - 1)):
            if dones[lane]:
                info = infos[lane]
                expected, hand = replayed(seed, deals[lane], info["seat"], RULE_SETS[name])
                assert same(seen[lane], expected[:-1])
                assert same(info["terminal_observation"], expected[-1])
                assert (info["outcome"], info["scores"], info["turns"]) == (hand.outcome, hand.scores, hand.turns)
                assert info["episode"]["l"] == len(expected) - 1
                seen[lane] = []
                deals[lane] += 1
            seen[lane].append(observations[lane].copy())


# Seeds and resets


def first_observations(seed: int, deal: int = 0) -> NDArray[np.int8]:
    return replayed(seed, deal, 0, Rules())[0][0]


def test_seeds() -> None:
    environment = GinVecEnv(3, seed=20, learner_seat=0)
    expected = np.array([first_observations(20 + lane) for lane in range(3)])
    assert same(environment.reset(), expected)
    assert list(environment.seed(20)) == [20, 21, 22]
    assert same(environment.reset(), expected)
    environment.seed(21)
    assert same(np.asarray(environment.reset())[:2], expected[1:])


def test_other_seeds_deal_other_hands() -> None:
    firsts = [np.asarray(GinVecEnv(50, seed=seed).reset()) for seed in (0, 50)]
    assert len({row.tobytes() for rows in firsts for row in rows}) == 100


def test_without_a_seed_hands_differ() -> None:
    assert not same(GinVecEnv(4).reset(), GinVecEnv(4).reset())
    environment = GinVecEnv(4, seed=0)
    first = environment.reset()
    environment.seed(None)
    assert not same(environment.reset(), first)


@pytest.mark.parametrize("steps", [0, 3])
def test_a_reset_goes_on_to_the_next_deal(steps: int) -> None:
    environment = GinVecEnv(3, seed=20, learner_seat=0)
    environment.reset()
    for _ in range(steps):
        environment.step(environment.action_masks().argmax(axis=1))
    expected = np.array([first_observations(20 + lane, deal=1) for lane in range(3)])
    assert same(environment.reset(), expected)


def test_a_reset_counts_episodes_anew() -> None:
    environment = GinVecEnv(1, seed=0)
    observations: Any = environment.reset()
    environment.step(decide(observations, environment.action_masks()))
    observations = environment.reset()
    for length in range(1, 100):
        observations, _, dones, infos = environment.step(decide(observations, environment.action_masks()))
        if dones[0]:
            assert infos[0]["episode"]["l"] == length
            return
    raise AssertionError


def test_what_is_returned_is_a_copy() -> None:
    """SB3 stores the last observation after the next step."""
    environment, untouched = GinVecEnv(4, seed=8), GinVecEnv(4, seed=8)
    returned: Any = environment.reset()
    expected: Any = untouched.reset()
    for _ in range(60):
        masks = environment.action_masks()
        before = returned.copy()
        following: Any
        following, *_, infos = environment.step(decide(returned, masks))
        assert same(returned, before)
        ends = [info["terminal_observation"] for info in infos if info]
        expected, *_, expected_infos = untouched.step(decide(expected, untouched.action_masks()))
        assert same(following, expected)
        assert same(ends, [info["terminal_observation"] for info in expected_infos if info])
        # What a caller scribbles on is not what the environment reads.
        for array in (returned, masks, *ends):
            array[:] = 7
        returned = following


def test_a_changed_opponent_plays_from_the_next_hand_on() -> None:
    environment = GinVecEnv(6, opponent="greedy", seed=0)
    opponents: list[list[str]] = [[] for _ in range(6)]
    for step, (_, _, _, infos) in enumerate(steps_of(environment)):
        if step == 0:
            environment.set_opponent([("simple", 1)])
        for names, info in zip(opponents, infos, strict=True):
            names += [info["opponent"]] if info else []
        if min(map(len, opponents)) >= 2:
            break
    assert all(names[:2] == ["greedy", "simple"] for names in opponents)


# Bad input


def test_an_opponent_is_needed() -> None:
    with pytest.raises(ValueError, match="opponent=None: one seat is the learner's"):
        GinVecEnv(2, opponent=None)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"num_envs": 0}, "num_envs=0: expected an integer of at least 1"),
        ({"opponent": "gredy"}, "'gredy' is no policy"),
        ({"opponent": [("greedy", 0)]}, "expected a weight above 0"),
        ({"learner_seat": 2}, "learner_seat=2: expected one of"),
        ({"reward": "pts"}, "reward='pts': expected one of"),
        ({"seed": -1}, "seed=-1: expected"),
        ({"seed": [1]}, "1 seeds for 2 games"),
    ],
)
def test_bad_arguments(settings: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=r"\S") as raised:
        GinVecEnv(**({"num_envs": 2} | settings))
    assert named in str(raised.value)


@pytest.mark.parametrize("actions", [[0], [0, 0, 0], [[0, 0]], [0.0, 0.0], 0], ids=str)
def test_actions_of_another_shape_or_type(actions: Any) -> None:
    environment = GinVecEnv(2, seed=0)
    environment.reset()
    with pytest.raises(ValueError, match=r"expected \(2,\) integers"):
        environment.step(np.array(actions))


def test_an_illegal_action_names_the_game_and_changes_nothing() -> None:
    environment = GinVecEnv(3, seed=0)
    environment.reset()
    legal = environment.action_masks().argmax(axis=1)
    before = environment.lanes.records.tobytes()
    with pytest.raises(IllegalAction, match="in game 1"):
        environment.step(np.array([legal[0], ACTIONS - 1, legal[2]]))
    assert environment.lanes.records.tobytes() == before
    environment.step(legal)


def test_a_step_before_a_reset() -> None:
    with pytest.raises(ValueError, match=r"\S"):
        GinVecEnv(2, seed=0).step(np.array([0, 0]))
