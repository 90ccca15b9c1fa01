"""The batched environment: every lane is a single environment, whatever the batch."""

import copy
import pickle
from collections import Counter
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics
from numpy.typing import NDArray

from gin_env import Batch, IllegalAction, Policy, Round, VectorEnv, policy
from gin_env.advance import write_decisions
from gin_env.envs.single_agent import StraightGinEnv
from gin_env.observation import OFFSETS, WIDTH
from gin_env.rules.actions import ACTIONS
from gin_env.rules.view import VIEW
from tests.envs.player import Player, Uncompiled, decide, decide_one, same
from tests.hands import LOSER, RULE_SETS, WINNER, deck_of

ID = "gin_env/StraightGin-v0"
LAST = ("outcome", "scores", "turns", "deadwood", "seat", "opponent")
EVERY_RULE_SET = pytest.mark.parametrize("name", RULE_SETS)
EVERY_COPY = pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda environment: pickle.loads(pickle.dumps(environment))], ids=["deepcopy", "pickle"]
)

MIXED: list[tuple[str | Policy, float]] = [("greedy", 2), (Player(), 1), ("novice", 1), (Uncompiled("random"), 1)]
Learner = Callable[[NDArray[np.int8], NDArray[np.int8]], NDArray[np.int64]]


def at_random(observations: NDArray[np.int8], masks: NDArray[np.int8]) -> NDArray[np.int64]:
    """A legal action that the observation determines, with no sense in it."""
    dice = observations.astype(np.int64) @ (np.arange(WIDTH) * 2654435761 % 65537)
    return np.array([np.flatnonzero(mask)[die % mask.sum()] for mask, die in zip(masks, dice, strict=True)])


def play(environment: VectorEnv, steps: int, learner: Learner = decide, seed: Any = None) -> list[Any]:
    """Everything that a reset and some steps return, copied."""
    returned = copy.deepcopy(environment.reset(seed=seed))
    return [returned, *play_on(environment, returned, steps, learner)]


def play_on(environment: VectorEnv, returned: Any, steps: int, learner: Learner = decide) -> list[Any]:
    """Everything that some steps return after what was returned last, copied."""
    steps_returned = []
    for _ in range(steps):
        returned = copy.deepcopy(environment.step(learner(returned[0], returned[-1]["action_mask"])))
        steps_returned.append(returned)
    return steps_returned


def last_of(info: dict[str, Any], lane: int) -> dict[str, Any]:
    """The final info of a lane as the single environment gives it."""
    final = {name: info["final_info"][name][lane] for name in LAST}
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in final.items()}


def bytes_of(environment: VectorEnv) -> bytes:
    return environment._lanes.records.tobytes()


# Each lane is a single environment


def singles_agree(environment: VectorEnv, singles: list[StraightGinEnv], seeds: list[int], steps: int, learner: Learner) -> int:
    """Step batch and single environments side by side and compare every byte; returns how many hands ended."""
    observations, infos = environment.reset()
    alone = [single.reset(seed=seed) for single, seed in zip(singles, seeds, strict=True)]
    hands = 0
    for step in range(steps + 1):
        for lane, (observation, info) in enumerate(alone):
            assert same(observations[lane], observation), (step, lane)
            assert same(infos["action_mask"][lane], info["action_mask"])
            assert infos["seat"][lane] == info["seat"]
        if step == steps:
            break
        actions = learner(observations, infos["action_mask"])
        observations, rewards, terminated, truncated, infos = environment.step(actions)
        alone = []
        for lane, single in enumerate(singles):
            observation, reward, ended, cut, info = single.step(actions[lane])
            assert (rewards[lane], terminated[lane], truncated[lane]) == (reward, ended, cut), (step, lane)
            if ended or cut:
                hands += 1
                assert infos["_final_obs"][lane]
                assert infos["_final_info"][lane]
                assert same(infos["final_obs"][lane], observation)
                final = last_of(infos, lane)
                assert {**final, "scores": tuple(final["scores"]), "deadwood": tuple(final["deadwood"])} == {
                    name: info[name] for name in LAST
                }
                alone.append(single.reset())
            else:
                assert not infos.get("_final_obs", np.zeros(len(singles)))[lane]
                alone.append((observation, info))
    return hands


@pytest.mark.parametrize("learner", [decide, at_random])
@pytest.mark.parametrize("reward", ["points", "win"])
@EVERY_RULE_SET
def test_lane_i_plays_what_the_single_environment_of_its_seed_plays(name: str, reward: str, learner: Learner) -> None:
    lanes, seed = 5, 40
    environment = VectorEnv(lanes, RULE_SETS[name], reward=reward, seed=seed)
    singles = [StraightGinEnv(RULE_SETS[name], reward=reward) for _ in range(lanes)]
    seeds = [seed + lane for lane in range(lanes)]
    assert singles_agree(environment, singles, seeds, 150, learner) > 10


@pytest.mark.parametrize("opponent", ["random", "greedy", Player(), MIXED], ids=["random", "greedy", "plain", "list"])
@pytest.mark.parametrize("seat", [0, 1, "random"])
def test_lanes_are_single_environments_against_every_opponent(opponent: Any, seat: Any) -> None:
    settings: dict[str, Any] = {"rules": "big_gin", "opponent": opponent, "learner_seat": seat, "illegal_action": "forfeit"}
    environment = VectorEnv(4, seed=[3, 2**64 - 1, 3, 12], **settings)
    singles = [StraightGinEnv(**settings) for _ in range(4)]

    def mostly_legal(observations: NDArray[np.int8], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        actions = decide(observations, masks)
        return np.where(at_random(observations, np.ones_like(masks)) < 2, 3, actions)

    assert singles_agree(environment, singles, [3, 2**64 - 1, 3, 12], 120, mostly_legal) > 10


def test_seeds_of_an_integer_and_of_a_sequence() -> None:
    by_integer = play(VectorEnv(3, seed=2**64 - 2), 30)
    assert same(play(VectorEnv(3, seed=[2**64 - 2, 2**64 - 1, 0]), 30), by_integer)
    assert same(play(VectorEnv(3), 30, seed=2**64 - 2), by_integer)
    assert same(play(VectorEnv(3, seed=5), 30, seed=(2**64 - 2, 2**64 - 1, 0)), by_integer)
    assert not same(play(VectorEnv(3, seed=5), 30)[0], by_integer[0])


def lane_of(returned: Any, lane: int) -> Any:
    """One lane's part of what a step or reset returned."""
    if isinstance(returned, dict):
        return {name: lane_of(value, lane) for name, value in returned.items()}
    if isinstance(returned, tuple):
        return tuple(lane_of(value, lane) for value in returned)
    return returned[lane]


def without_finals(stepped: tuple[Any, ...]) -> tuple[Any, ...]:
    """A step's return without what is there only when some lane's hand has ended."""
    *rest, infos = stepped
    return *rest, {name: infos[name] for name in ("action_mask", "seat")}


def test_results_do_not_depend_on_the_number_of_lanes() -> None:
    many = play(VectorEnv(64, opponent=MIXED, seed=100), 120)
    for lanes, first in ((1, 100), (7, 100), (7, 150)):
        few = play(VectorEnv(lanes, opponent=MIXED, seed=first), 120)
        for step_of_few, step_of_many in zip(few, many, strict=True):
            for lane in range(lanes):
                other = first - 100 + lane
                part, whole = lane_of(step_of_few, lane), lane_of(step_of_many, other)
                assert same(without_finals(part), without_finals(whole))
                if "final_info" in part[-1] and part[-1]["_final_info"]:
                    assert same(part[-1], whole[-1])


# Both seats from outside


@pytest.mark.parametrize("reward", ["points", "win"])
@EVERY_RULE_SET
def test_without_an_opponent_both_seats_are_played_from_outside(name: str, reward: str) -> None:
    """Observation, mask and reward are those of the seat to act, as a Round tells them."""
    lanes = 4
    environment = VectorEnv(lanes, RULE_SETS[name], opponent=None, reward=reward, seed=60)
    deals = [0] * lanes
    hands = [Round(RULE_SETS[name], seed=60 + lane) for lane in range(lanes)]
    observations, infos = environment.reset()
    ended = 0
    for _ in range(150):
        for lane, hand in enumerate(hands):
            assert hand.player is not None
            assert infos["seat"][lane] == hand.player
            assert same(observations[lane], hand.observation(hand.player))
            assert same(infos["action_mask"][lane], hand.action_mask(hand.player))
        actions = decide(observations, infos["action_mask"])
        actors = [hand.player or 0 for hand in hands]
        observations, rewards, terminated, truncated, infos = environment.step(actions)
        for lane, hand in enumerate(hands):
            hand.apply(int(actions[lane]))
            margin = hand.scores[actors[lane]] - hand.scores[1 - actors[lane]]
            assert rewards[lane] == (margin if reward == "points" else np.sign(margin))
            assert truncated[lane] == (hand.outcome == "turn_limit")
            assert terminated[lane] == (hand.over and not truncated[lane])
            if hand.over:
                ended += 1
                assert infos["_scores"][lane]
                assert tuple(infos["scores"][lane]) == hand.scores
                assert same(infos["final_obs"][lane], hand.observation(actors[lane]))
                assert last_of(infos, lane)["seat"] == actors[lane]
                assert last_of(infos, lane)["opponent"] is None
                deals[lane] += 1
                hands[lane] = Round(RULE_SETS[name], seed=60 + lane, deal=deals[lane])
    assert ended > 8


def test_without_an_opponent_a_forfeit_costs_the_seat_that_acted() -> None:
    environment = VectorEnv(3, opponent=None, illegal_action="forfeit", illegal_reward=-4, seed=1)
    observations, infos = environment.reset()
    seats = infos["seat"]
    actions = decide(observations, infos["action_mask"])
    actions[1] = 3
    _, rewards, terminated, _, infos = environment.step(actions)
    assert rewards.tolist() == [0, -4, 0]
    assert terminated.tolist() == [False, True, False]
    assert last_of(infos, 1)["outcome"] == "forfeit"
    assert last_of(infos, 1)["seat"] == seats[1]
    assert infos["scores"].tolist() == [[0, 0]] * 3


# Autoreset


def test_autoreset_is_declared_and_true() -> None:
    """SAME_STEP: the step that ends a hand returns the next hand's first observation, and the last of the old in infos."""
    environment = VectorEnv(16, opponent=None, seed=5)
    assert environment.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    observations, infos = environment.reset()
    deals = np.zeros(16, np.int64)
    ends = 0
    for _ in range(100):
        observations, rewards, terminated, truncated, infos = environment.step(decide(observations, infos["action_mask"]))
        ended = terminated | truncated
        assert ("final_obs" in infos) == ended.any()
        assert (rewards[~ended] == 0).all()
        if not ended.any():
            assert sorted(infos) == ["action_mask", "seat"]
            continue
        for name in ("_final_obs", "_final_info", "_scores"):
            assert same(infos[name], ended)
        for name in LAST:
            assert same(infos["final_info"]["_" + name], ended)
        for lane in range(16):
            if not ended[lane]:
                assert infos["final_obs"][lane] is None
                continue
            ends += 1
            deals[lane] += 1
            assert infos["final_obs"][lane][OFFSETS["phase"] + 6]  # over
            hand = Round(seed=5 + lane, deal=int(deals[lane]))
            assert hand.player is not None
            assert same(observations[lane], hand.observation(hand.player))
            assert infos["action_mask"][lane].any()
    assert ends > 20


def test_hands_that_the_opponent_ends_are_paid_to_the_learner() -> None:
    """Some hands end while the opponent is to act; none of the losses is lost."""
    environment = VectorEnv(64, opponent="greedy", seed=9)
    paid = Counter[float]()
    observations, infos = environment.reset()
    for _ in range(150):
        observations, rewards, terminated, _, infos = environment.step(decide(observations, infos["action_mask"]))
        for lane in np.flatnonzero(terminated).tolist():
            final = last_of(infos, lane)
            seat = final["seat"]
            assert rewards[lane] == final["scores"][seat] - final["scores"][1 - seat]
            paid[np.sign(rewards[lane])] += 1
    assert paid[-1] > 50
    assert paid[1] > 50


# Arrays


def arrays_in(returned: Any) -> list[NDArray[Any]]:
    """All arrays of what a step or reset returned."""
    if isinstance(returned, np.ndarray):
        return [returned]
    if isinstance(returned, dict):
        returned = tuple(returned.values())
    return [array for value in returned for array in arrays_in(value)] if isinstance(returned, tuple) else []


@pytest.mark.parametrize("opponent", ["greedy", None])
def test_with_copy_no_later_call_changes_what_was_returned(opponent: Any) -> None:
    environment = VectorEnv(8, opponent=opponent, seed=3)
    returned: list[Any] = [environment.reset(), environment.action_masks()]
    for _ in range(60):
        observations, infos = returned[-2][0], returned[-2][-1]
        returned += [environment.step(decide(observations, infos["action_mask"])), environment.action_masks()]
    assert any("final_obs" in step[4] for step in returned[2::2])
    kept = copy.deepcopy(returned)
    play(environment, 60)
    assert same(returned, kept)
    ids = Counter(id(array) for step in returned for array in arrays_in((step[0], *step[1:4]) if len(step) == 5 else step))
    assert max(ids.values()) == 1


def test_with_copy_writing_into_what_was_returned_does_no_harm() -> None:
    environment, untouched = VectorEnv(4, seed=3), VectorEnv(4, seed=3)
    written: Any = environment.reset()
    expected: Any = untouched.reset()
    for _ in range(60):
        assert same(written, expected)
        actions = decide(expected[0], expected[-1]["action_mask"])
        for array in (*arrays_in(written), environment.action_masks()):
            if array.dtype != object:
                array[:] = 1
        written, expected = environment.step(actions), untouched.step(actions)


def test_without_copy_the_same_arrays_are_returned_each_time() -> None:
    environment, copying = VectorEnv(8, seed=3, copy=False), VectorEnv(8, seed=3)
    observations, infos = environment.reset()
    copying.reset()
    masks = infos["action_mask"]
    first: tuple[Any, ...] | None = None
    for _ in range(60):
        actions = decide(observations, masks)
        stepped, expected = environment.step(actions), copying.step(actions)
        assert same(stepped, expected)
        assert stepped[0] is observations
        assert stepped[4]["action_mask"] is masks
        assert environment.action_masks() is masks
        first = first or stepped[1:4]
        assert all(array is one for array, one in zip(stepped[1:4], first, strict=True))


def form(array: NDArray[Any]) -> tuple[tuple[int, ...], str]:
    return array.shape, array.dtype.name


def test_shapes_and_types() -> None:
    lanes = 6
    environment = VectorEnv(lanes, seed=4)
    assert environment.num_envs == lanes
    assert environment.single_action_space == gymnasium.spaces.Discrete(ACTIONS)
    assert environment.single_observation_space == gymnasium.spaces.Box(0, 1, (WIDTH,), np.int8)
    observations, infos = environment.reset()
    for _ in range(40):
        assert environment.observation_space.contains(observations)
        assert form(observations) == ((lanes, WIDTH), "int8")
        assert form(infos["action_mask"]) == ((lanes, ACTIONS), "int8")
        assert same(environment.action_masks(), infos["action_mask"])
        assert infos["action_mask"].any(axis=1).all()
        actions = decide(observations, infos["action_mask"])
        assert environment.action_space.contains(actions)
        observations, rewards, terminated, truncated, infos = environment.step(actions)
        assert form(rewards) == ((lanes,), "float64")
        assert form(terminated) == form(truncated) == ((lanes,), "bool")


# Misuse


@pytest.mark.parametrize("lane", [0, 3, 6])
@pytest.mark.parametrize("action", [3, 108, -1])
def test_an_illegal_action_names_the_game_and_changes_nothing(lane: int, action: int) -> None:
    environment, untouched = VectorEnv(7, seed=4), VectorEnv(7, seed=4)
    observations, *_, infos = play(environment, 9)[-1]
    play(untouched, 9)
    before = bytes_of(environment)
    actions = decide(observations, infos["action_mask"])
    wrong = actions.copy()
    wrong[lane] = action
    with pytest.raises(IllegalAction, match=rf"illegal action {action} .*in game {lane} in phase .*; legal: "):
        environment.step(wrong)
    assert bytes_of(environment) == before
    assert same(environment.step(actions), untouched.step(actions))


def test_forfeits_leave_the_other_games_alone() -> None:
    environment, untouched = VectorEnv(5, seed=4, illegal_action="forfeit"), VectorEnv(5, seed=4)
    observations, *_, infos = play(environment, 9)[-1]
    play(untouched, 9)
    actions = decide(observations, infos["action_mask"])
    stepped = untouched.step(actions)
    actions[2] = 3
    forfeited = environment.step(actions)
    assert forfeited[1][2] == -123
    assert forfeited[2].tolist() == [False, False, True, False, False]
    assert last_of(forfeited[4], 2)["outcome"] == "forfeit"
    for lane in (0, 1, 3, 4):
        assert same(lane_of(forfeited[:4], lane), lane_of(stepped[:4], lane))


@pytest.mark.parametrize(
    "actions",
    [0, [0], [0, 0, 0, 0], [[0], [0], [0]], [0.0, 0.0, 0.0], [True] * 3, ["0"] * 3, [0, 0, None], np.zeros((3, 1), np.int64)],
    ids=str,
)
def test_actions_of_another_shape_or_type_are_refused(actions: Any) -> None:
    environment = VectorEnv(3, seed=4)
    environment.reset()
    before = bytes_of(environment)
    with pytest.raises(ValueError, match=r"actions of shape .* and type .*: expected \(3,\) integers"):
        environment.step(actions)
    assert bytes_of(environment) == before


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64])
def test_every_integer_type_is_an_action(dtype: Any) -> None:
    environment = VectorEnv(3, seed=4)
    environment.reset()
    assert environment.step(np.zeros(3, dtype))[4]["action_mask"][:, 4:].any(axis=1).all()
    with pytest.raises(IllegalAction):
        environment.step(np.full(3, 2, dtype))


def test_a_step_needs_a_reset() -> None:
    with pytest.raises(ValueError, match="reset the environment first"):
        VectorEnv(2).step([0, 0])


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"num_envs": 0}, ValueError, "num_envs=0: expected an integer of at least 1"),
        ({"num_envs": 2.0}, ValueError, "num_envs=2.0: expected an integer"),
        ({"rules": "strait"}, ValueError, "'strait' is no rule preset"),
        ({"rules": "standard"}, NotImplementedError, "knock_limit=10"),
        ({"match": "target"}, ValueError, "match='target': expected one of 'hand'"),
        ({"opponent": "gredy"}, ValueError, "'gredy' is no policy.*did you mean 'greedy'"),
        ({"learner_seat": 2}, ValueError, "learner_seat=2: expected one of 'random', 0, 1"),
        ({"reward": "score"}, ValueError, "reward='score': expected one of 'points', 'win'"),
        ({"illegal_action": "ignore"}, ValueError, "illegal_action='ignore': expected one of 'raise', 'forfeit'"),
        ({"num_threads": 0}, ValueError, "num_threads=0"),
        ({"seed": -1}, ValueError, "seed=-1: expected None or an integer"),
        ({"seed": [1, 2, 3]}, ValueError, "3 seeds for 2 games"),
        ({"seed": [1, -1]}, ValueError, "seed=-1: expected None or an integer"),
        ({"seed": 1.5}, ValueError, "seed=1.5: expected"),
    ],
    ids=str,
)
def test_bad_arguments(settings: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        VectorEnv(**{"num_envs": 2} | settings)


# Resets


def test_a_reset_without_a_seed_goes_on_to_the_next_deals() -> None:
    environment = VectorEnv(4, opponent=None, seed=30)
    for deal in range(5):
        observations, infos = environment.reset()
        for lane in range(4):
            hand = Round(seed=30 + lane, deal=deal)
            assert infos["seat"][lane] == hand.player
            assert same(observations[lane], hand.observation(infos["seat"][lane]))
        environment.step(decide(observations, infos["action_mask"]))
    observations, infos = environment.reset(seed=30)
    assert same(observations[0], Round(seed=30).observation(infos["seat"][0]))


def test_a_reset_keeps_the_settings() -> None:
    settings: dict[str, Any] = {"rules": "big_gin", "opponent": "simple", "learner_seat": 1, "reward": "win"}
    environment = VectorEnv(4, seed=3, **settings)
    first = play(environment, 60)
    environment.reset()
    assert same(play(environment, 60, seed=3), first)
    finals = [step[4]["final_info"] for step in first[1:] if "final_info" in step[4]]
    assert {name for final in finals for name in final["opponent"] if name} == {"simple"}
    assert {abs(reward) for step in first[1:] for reward in step[1]} == {0, 1}


def test_without_a_seed_hands_differ() -> None:
    assert not same(VectorEnv(3).reset()[0], VectorEnv(3).reset()[0])
    assert len({observation.tobytes() for observation in VectorEnv(500).reset()[0]}) == 500


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "1", [1, 2], [1, 2, -3], [1, 2, 3.5]], ids=str)
def test_a_bad_seed_is_an_error_and_the_hands_go_on(seed: Any) -> None:
    environment, untouched = VectorEnv(3, seed=4), VectorEnv(3, seed=4)
    observations, *_, infos = play(environment, 5)[-1]
    play(untouched, 5)
    with pytest.raises(ValueError, match="seed"):
        environment.reset(seed=seed)
    actions = decide(observations, infos["action_mask"])
    assert same(environment.step(actions), untouched.step(actions))


def test_deck_and_first_player_are_obeyed_in_every_game() -> None:
    deck = deck_of(WINNER, LOSER, stock="4S")
    environment = VectorEnv(3, opponent=None, seed=8)
    observations, infos = environment.reset(options={"deck": deck, "first_player": 1})
    hand = Round(deck=deck, first_player=1)
    for lane in range(3):
        assert infos["seat"][lane] == 1
        assert same(observations[lane], hand.observation(1))
    observations, infos = environment.reset()
    assert same(observations[2], Round(seed=10, deal=1).observation(infos["seat"][2]))


@pytest.mark.parametrize("options", [{"deck": [0, *range(51)]}, {"first_player": 2}], ids=["deck", "first_player"])
def test_a_bad_option_is_an_error_and_the_hands_go_on(options: dict[str, Any]) -> None:
    environment, untouched = VectorEnv(3, seed=4), VectorEnv(3, seed=4)
    observations, *_, infos = play(environment, 5)[-1]
    play(untouched, 5)
    with pytest.raises(ValueError, match="deck is no permutation|first_player=2"):
        environment.reset(seed=9, options=options)
    actions = decide(observations, infos["action_mask"])
    assert same(environment.step(actions), untouched.step(actions))


def test_an_unknown_option_is_a_warning() -> None:
    with pytest.warns(UserWarning, match="reset option 'lanes' is unknown and ignored"):
        observations, _ = VectorEnv(3).reset(seed=5, options={"lanes": 3})
    assert same(observations, VectorEnv(3).reset(seed=5)[0])


# Opponents


def test_set_opponent_takes_effect_from_each_games_next_hand() -> None:
    environment, unchanged = VectorEnv(8, opponent="greedy", seed=4), VectorEnv(8, opponent="greedy", seed=4)
    start = play(environment, 5)[-1]
    play(unchanged, 5)
    environment.set_opponent([(Player(), 1), ("simple", 1)])
    steps, expected = play_on(environment, start, 80), play_on(unchanged, start, 80)
    met = set()
    for lane in range(8):
        ends = [t for t, step in enumerate(steps) if step[2][lane]]
        for t in range(ends[0]):
            assert same(lane_of(without_finals(steps[t]), lane), lane_of(without_finals(expected[t]), lane))
        assert same(lane_of(steps[ends[0]][1:4], lane), lane_of(expected[ends[0]][1:4], lane))
        names = [last_of(steps[t][4], lane)["opponent"] for t in ends]
        assert names[0] == "greedy"
        assert len(names) > 1
        met.update(names[1:])
    assert met == {"player", "simple"}


@pytest.mark.parametrize("name", RULE_SETS)
def test_an_environment_with_an_opponent_keeps_having_one(name: str) -> None:
    """And one without, none: a lane's seats are either both outside or not."""
    environment = VectorEnv(2, RULE_SETS[name], seed=4)
    environment.reset()
    with pytest.raises(ValueError, match="keeps having one"):
        environment.set_opponent(None)
    environment = VectorEnv(2, RULE_SETS[name], opponent=None, seed=4)
    environment.reset()
    with pytest.raises(ValueError, match="keeps having one"):
        environment.set_opponent("greedy")


# Copies


@EVERY_COPY
def test_copies_continue_identically(copied: Callable[[Any], Any]) -> None:
    environment = VectorEnv(6, "big_gin", opponent=[("greedy", 1), (Player(), 1)], seed=4)
    observations, *_, infos = play(environment, 23)[-1]
    twin = copied(environment)
    before = bytes_of(twin)
    actions = decide(observations, infos["action_mask"])
    stepped = environment.step(actions)
    assert bytes_of(twin) == before
    assert same(twin.step(actions), stepped)
    assert same(play(twin, 60), play(environment, 60))


def test_two_environments_share_nothing() -> None:
    one, other = VectorEnv(3, seed=1), VectorEnv(3, "big_gin", opponent="novice", seed=2)
    alone = play(VectorEnv(3, seed=1), 30)
    first = one.reset()
    assert same(first, alone[0])
    observations, infos = first
    play(other, 1)
    for step in alone[1:]:
        other.step(decide(*_seen(other)))
        stepped = one.step(decide(observations, infos["action_mask"]))
        assert same(stepped, step)
        observations, infos = stepped[0], stepped[4]


def _seen(environment: VectorEnv) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    return environment._lanes.observations, environment.action_masks()


# With Gymnasium


def test_made_by_gymnasiums_registry() -> None:
    made = gymnasium.make_vec(ID, num_envs=3, rules="big_gin", opponent="simple", seed=6)
    assert isinstance(made, VectorEnv)
    assert same(play(made, 40), play(VectorEnv(3, "big_gin", opponent="simple", seed=6), 40))
    made.close()


@pytest.mark.parametrize("mode", ["sync", "vector_entry_point"])
def test_gymnasiums_own_vector_of_single_environments_plays_the_same(mode: str) -> None:
    """`make_vec` with Gymnasium's own batching, in SAME_STEP mode, gives the same hands and finals."""
    kwargs: dict[str, Any] = {"vector_kwargs": {"autoreset_mode": AutoresetMode.SAME_STEP}} if mode == "sync" else {}
    made = gymnasium.make_vec(ID, num_envs=3, vectorization_mode=mode, **kwargs)
    observations, infos = made.reset(seed=6)
    own = VectorEnv(3, seed=6)
    own_observations, own_infos = own.reset()
    hands = 0
    for _ in range(60):
        assert same(observations, own_observations)
        assert same(infos["action_mask"], own_infos["action_mask"])
        actions = decide(own_observations, own_infos["action_mask"])
        observations, rewards, terminated, truncated, infos = made.step(actions)
        own_observations, own_rewards, own_terminated, own_truncated, own_infos = own.step(actions)
        assert same((rewards, terminated, truncated), (own_rewards, own_terminated, own_truncated))
        for lane in np.flatnonzero(terminated | truncated):
            hands += 1
            assert same(infos["final_obs"][lane], own_infos["final_obs"][lane])
            for name in LAST:
                assert np.array_equal(infos["final_info"][name][lane], own_infos["final_info"][name][lane])
    assert hands > 2


def test_record_episode_statistics_counts_right() -> None:
    lanes = 8
    environment = RecordEpisodeStatistics(VectorEnv(lanes, seed=6))
    plain = VectorEnv(lanes, seed=6)
    observations, infos = environment.reset()
    plain.reset()
    lengths = np.zeros(lanes, np.int64)
    returns: list[float] = []
    lengths_of_hands: list[int] = []
    for _ in range(80):
        actions = decide(observations, infos["action_mask"])
        observations, _, terminated, truncated, infos = environment.step(actions)
        _, rewards, *_ = plain.step(actions)
        lengths += 1
        ended = np.flatnonzero(terminated | truncated)
        for lane in ended:
            assert infos["episode"]["r"][lane] == rewards[lane]
            assert infos["episode"]["l"][lane] == lengths[lane]
        returns += rewards[ended].tolist()
        lengths_of_hands += lengths[ended].tolist()
        lengths[ended] = 0
    assert environment.episode_count == len(returns) > 20
    assert list(environment.return_queue) == returns[-100:]
    assert list(environment.length_queue) == lengths_of_hands[-100:]


def test_infos_turn_into_lists() -> None:
    """Gymnasium's wrapper reads the masks `_name` beside the arrays."""
    environment = DictInfoToList(VectorEnv(4, seed=6))
    observations, infos = environment.reset()
    for _ in range(60):
        masks = np.stack([info["action_mask"] for info in infos])
        observations, _, terminated, truncated, infos = environment.step(decide(observations, masks))
        for lane in range(4):
            assert ("final_info" in infos[lane]) == (terminated[lane] or truncated[lane])
            if terminated[lane]:
                assert sorted(infos[lane]["final_info"]) == sorted(LAST)


# The speed of a batch comes with no other results


def test_a_batch_of_one_is_the_single_environment() -> None:
    environment, single = VectorEnv(1, seed=9), StraightGinEnv()
    observations, infos = environment.reset()
    observation, info = single.reset(seed=9)
    assert same(observations[0], observation)
    assert same(infos["action_mask"][0], info["action_mask"])
    action = decide_one(observation, info["action_mask"])
    assert same(environment.step([action])[0][0], single.step(action)[0])


def test_greedy_against_itself_wins_half() -> None:
    """A sanity check of seats and rewards: the learner's actions are greedy's, from the same views."""
    environment = VectorEnv(400, opponent="greedy", seed=70)
    environment.reset()
    wins = Counter[float]()
    greedy = policy("greedy")
    lanes = np.arange(400)
    for _ in range(60):
        views, keys = np.zeros(400, VIEW), np.zeros(400, np.uint64)
        write_decisions(environment._lanes.records, lanes, views, keys)
        _, rewards, terminated, _, _ = environment.step(greedy.act(Batch(views, lanes, keys)))
        wins.update(np.sign(rewards[terminated]).tolist())
    decided = wins[1] + wins[-1]
    assert decided > 500
    assert abs(wins[1] / decided - 1 / 2) < 4 * (1 / 4 / decided) ** 0.5
