"""The single-agent Gymnasium environment."""

import copy
import pickle
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from numpy.typing import NDArray

from gin_env import Batch, IllegalAction, Policy, Round, Rules, card_text, deadwood, policy
from gin_env.envs.lanes import Lanes
from gin_env.envs.single_agent import StraightGinEnv
from gin_env.observation import OFFSETS, WIDTH
from gin_env.rules.actions import ACTIONS, DISCARD, GO_OUT
from gin_env.rules.cards import parse_cards
from tests.envs.player import Player, Uncompiled, decide_one, same
from tests.hands import LOSER, RULE_SETS, WINNER, deck_of

ID = "gin_env/StraightGin-v0"
EVERY_RULE_SET = pytest.mark.parametrize("name", RULE_SETS)
EVERY_COPY = pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda environment: pickle.loads(pickle.dumps(environment))], ids=["deepcopy", "pickle"]
)

Step = tuple[NDArray[np.int8], float, bool, bool, dict[str, Any]]


class Attentive(Policy):
    """Remembers when it was told of new hands and how often it then decided."""

    name = "attentive"

    def __init__(self) -> None:
        self.hands: list[int] = []

    def start(self, lanes: NDArray[np.int64]) -> None:
        if len(lanes):
            assert lanes.tolist() == [0]
            self.hands.append(0)

    def act(self, batch: Batch) -> NDArray[np.int64]:
        self.hands[-1] += len(batch)
        return policy("greedy").act(batch)


class Cheat(Policy):
    """Always answers the same, whatever is legal."""

    name = "cheat"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def act(self, batch: Batch) -> NDArray[np.int64]:
        answer: NDArray[np.int64] = self.answer
        return answer


def hand_of(environment: Any, seed: int | None = None, options: dict[str, Any] | None = None) -> Iterator[Step]:
    """A hand from its reset to its end, the learner's actions by the player."""
    observation, info = environment.reset(seed=seed, options=options)
    yield observation, 0.0, False, False, info
    yield from rest_of(environment, observation, info)


def rest_of(environment: Any, observation: NDArray[np.int8], info: dict[str, Any]) -> Iterator[Step]:
    ended = False
    while not ended:
        observation, reward, terminated, truncated, info = environment.step(decide_one(observation, info["action_mask"]))
        ended = terminated or truncated
        yield observation, reward, terminated, truncated, info


def begun(environment: Any, seed: int, decisions: int) -> tuple[NDArray[np.int8], dict[str, Any]]:
    """Play some decisions of a hand: the observation and info after them."""
    observation, info = environment.reset(seed=seed)
    for _ in range(decisions):
        observation, _, terminated, truncated, info = environment.step(decide_one(observation, info["action_mask"]))
        assert not terminated
        assert not truncated
    return observation, info


def bytes_of(environment: StraightGinEnv) -> bytes:
    return environment._lanes.records.tobytes()


# Gymnasium's own test


@pytest.mark.filterwarnings("error")
def test_gymnasiums_check_env() -> None:
    """It plays unmasked actions."""
    check_env(gymnasium.make(ID, illegal_action="forfeit").unwrapped)


@pytest.mark.filterwarnings("ignore:.*different from the unwrapped version")
def test_gymnasiums_check_env_on_the_wrapped_environment() -> None:
    check_env(gymnasium.make(ID, illegal_action="forfeit", reward="win", rules="big_gin"))


def test_made_by_gymnasiums_registry() -> None:
    made = gymnasium.make(ID, rules="big_gin", opponent="simple", learner_seat=1)
    assert isinstance(made.unwrapped, StraightGinEnv)
    assert same(list(hand_of(made, 4)), list(hand_of(StraightGinEnv("big_gin", opponent="simple", learner_seat=1), 4)))


# Observations and masks


def test_spaces() -> None:
    environment = StraightGinEnv()
    assert environment.observation_space == gymnasium.spaces.Box(0, 1, (WIDTH,), np.int8)
    assert environment.action_space == gymnasium.spaces.Discrete(ACTIONS)


@EVERY_RULE_SET
def test_the_learner_is_to_act_until_the_hand_is_over(name: str) -> None:
    """After every reset and step the mask has a legal action, and none when the hand is over; observations fit the space."""
    environment = StraightGinEnv(RULE_SETS[name])
    for seed in range(6):
        for observation, _, terminated, truncated, info in hand_of(environment, seed):
            assert environment.observation_space.contains(observation)
            mask = info["action_mask"]
            assert (mask.dtype, mask.shape) == (np.int8, (ACTIONS,))
            assert same(mask, environment.action_masks())
            assert mask.any() == (not terminated and not truncated)
            assert observation[OFFSETS["my_turn"]] == mask.any()
            assert info["seat"] in (0, 1)


@EVERY_RULE_SET
def test_mask_is_what_the_engine_accepts(name: str) -> None:
    environment = StraightGinEnv(RULE_SETS[name])
    observation, info = environment.reset(seed=len(name))
    ended = False
    while not ended:
        accepted = np.zeros(ACTIONS, np.int8)
        twin = copy.deepcopy(environment)
        for action in range(ACTIONS):
            try:
                twin.step(action)
            except IllegalAction:
                continue
            accepted[action] = 1
            twin = copy.deepcopy(environment)
        assert same(info["action_mask"], accepted)
        observation, _, terminated, truncated, info = environment.step(decide_one(observation, info["action_mask"]))
        ended = terminated or truncated


def test_what_is_returned_is_the_callers() -> None:
    """Writing into what was returned does no harm, and no later step changes it."""
    environment, untouched = StraightGinEnv(), StraightGinEnv()
    kept = []
    for step, expected in zip(hand_of(environment, 5), hand_of(untouched, 5), strict=False):
        assert same(step, expected)
        kept.append((step[0], step[4]["action_mask"], copy.deepcopy(expected)))
        environment.action_masks()[:] = 1
    for observation, mask, expected in kept:
        assert same(observation, expected[0])
        assert same(mask, expected[4]["action_mask"])
    observation, info = environment.reset(seed=5)
    action = decide_one(observation, info["action_mask"])
    observation[:] = 1
    info["action_mask"][:] = 1
    assert same(environment.step(action)[0], kept[1][2][0])


# Opponents


@pytest.mark.parametrize("name", ["random", "novice", "simple", "greedy"])
def test_an_uncompiled_opponent_plays_as_the_compiled_one(name: str) -> None:
    compiled, uncompiled = StraightGinEnv("big_gin", opponent=name), StraightGinEnv("big_gin", opponent=Uncompiled(name))
    compiled.reset(seed=3)
    uncompiled.reset(seed=3)
    for _ in range(8):
        assert same(list(hand_of(uncompiled)), list(hand_of(compiled)))
        assert bytes_of(uncompiled) == bytes_of(compiled)


def test_opponent_by_name_by_object_and_as_a_list_of_one() -> None:
    by_name = list(hand_of(StraightGinEnv(opponent="simple"), 6))
    assert by_name[-1][4]["opponent"] == "simple"
    assert same(list(hand_of(StraightGinEnv(opponent=policy("simple")), 6)), by_name)
    assert same(list(hand_of(StraightGinEnv(opponent=[("simple", 0.3)]), 6)), by_name)


def test_opponents_play_differently() -> None:
    hands = [list(hand_of(StraightGinEnv(opponent=name), 6)) for name in ("random", "novice", "greedy")]
    assert not same(hands[0][:-1], hands[1][:-1])
    assert not same(hands[1][:-1], hands[2][:-1])


def drawn_opponents(seed: int, hands: int) -> list[str]:
    """Who the opponent was, hand after hand; each hand is given up at once."""
    opponents: list[tuple[str | Policy, float]] = [("greedy", 3.0), (Player(), 2), ("novice", 1)]
    environment = StraightGinEnv(opponent=opponents, illegal_action="forfeit")
    environment.reset(seed=seed)
    drawn = []
    for _ in range(hands):
        drawn.append(environment.step(3)[4]["opponent"])
        environment.reset()
    return drawn


def test_opponents_of_a_list_are_drawn_by_weight_from_the_seed() -> None:
    hands = 3000
    drawn = drawn_opponents(1, hands)
    shares = Counter(drawn)
    for name, share in (("greedy", 1 / 2), ("player", 1 / 3), ("novice", 1 / 6)):
        assert abs(shares[name] / hands - share) < 4 * (share * (1 - share) / hands) ** 0.5
    assert drawn_opponents(1, 50) == drawn[:50]
    assert drawn_opponents(2, 50) != drawn[:50]


def test_an_opponent_of_a_list_plays_as_it_does_alone() -> None:
    mixed = StraightGinEnv(opponent=[("greedy", 1), (Player(), 1), ("novice", 1)])
    alone: dict[str, str | Policy] = {"greedy": "greedy", "player": Player(), "novice": "novice"}
    met = set()
    for seed in range(12):
        hand = list(hand_of(mixed, seed))
        met.add(hand[-1][4]["opponent"])
        assert same(hand, list(hand_of(StraightGinEnv(opponent=alone[hand[-1][4]["opponent"]]), seed)))
    assert met == set(alone)


def test_set_opponent_takes_effect_from_the_next_hand() -> None:
    environment, unchanged = StraightGinEnv(opponent="greedy"), StraightGinEnv(opponent="greedy")
    for decisions in (0, 3):
        start = begun(environment, 4, decisions)
        begun(unchanged, 4, decisions)
        environment.set_opponent([("novice", 1)])
        rest = list(rest_of(environment, *start))
        assert same(rest, list(rest_of(unchanged, *start)))
        assert rest[-1][4]["opponent"] == "greedy"
        following = list(hand_of(environment))
        novice = StraightGinEnv(opponent="novice")
        novice.reset(seed=4)
        assert same(following, list(hand_of(novice)))
        assert following[-1][4]["opponent"] == "novice"
        environment.set_opponent("greedy")


def test_set_opponent_many_times() -> None:
    """Policies that no hand is begun with any more are let go."""
    environment = StraightGinEnv(illegal_action="forfeit")
    environment.reset(seed=1)
    for i in range(30):
        name = ("novice", "simple", "greedy")[i % 3]
        environment.set_opponent([(name, 1), ("random", 1e-9)])
        environment.reset()
        assert environment.step(3)[4]["opponent"] == name
    assert len(environment._lanes._policies) <= 3


def test_a_policy_with_a_memory_is_told_of_new_hands() -> None:
    attentive = Attentive()
    environment = StraightGinEnv(opponent=attentive)
    environment.reset(seed=2)
    for hands in range(2, 6):
        list(hand_of(environment))
        assert len(attentive.hands) == hands
    assert all(attentive.hands[1:])


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.array([107]), "policy 'cheat' chose action 107 .*legal are"),
        (np.array([-1]), "policy 'cheat' chose action -1"),
        (np.array([0.5]), r"policy 'cheat' answered with shape \(1,\) of float64"),
        (np.array([0, 0]), r"policy 'cheat' answered with shape \(2,\)"),
        (None, "policy 'cheat' answered with"),
    ],
    ids=str,
)
def test_an_opponent_that_plays_illegally_is_named(answer: Any, message: str) -> None:
    environment = StraightGinEnv(opponent=Cheat(answer))
    with pytest.raises(ValueError, match=message):
        list(hand_of(environment, 3))


class Interrupted(Policy):
    """Plays as greedy, but Ctrl-C comes in its third decision."""

    name = "interrupted"
    decisions = 0

    def act(self, batch: Batch) -> NDArray[np.int64]:
        self.decisions += 1
        if self.decisions == 3:
            raise KeyboardInterrupt
        return policy("greedy").act(batch)


def test_after_an_interrupted_step_the_learner_does_not_play_for_the_opponent() -> None:
    environment = StraightGinEnv(opponent=Interrupted(), learner_seat=0)
    with pytest.raises(KeyboardInterrupt):
        list(hand_of(environment, 3))
    with pytest.raises(ValueError, match="reset|opponent"):
        environment.step(0)
    list(hand_of(environment, 3))


@pytest.mark.parametrize(
    ("opponent", "message"),
    [
        (None, "opponent=None"),
        ("greddy", "'greddy' is no policy.*did you mean 'greedy'"),
        (5, "5 is no policy"),
        ([], "expected at least one pair"),
        (["greedy"], "entry 'greedy': expected a pair"),
        ([("greedy", 0)], "expected a weight above 0"),
        ([("greedy", -1)], "expected a weight above 0"),
        ([("greedy", float("inf"))], "expected a weight above 0"),
        ([("greedy", float("nan"))], "expected a weight above 0"),
        ([("greedy", "heavy")], "expected a weight above 0"),
        ([("greedy", 1), ("nobody", 1)], "'nobody' is no policy"),
    ],
    ids=str,
)
def test_a_bad_opponent_is_an_error_and_the_old_one_stays(opponent: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        StraightGinEnv(opponent=opponent)
    environment = StraightGinEnv(opponent="simple")
    with pytest.raises(ValueError, match=message):
        environment.set_opponent(opponent)
    assert same(list(hand_of(environment, 6)), list(hand_of(StraightGinEnv(opponent="simple"), 6)))


# Seats


@pytest.mark.parametrize("seat", [0, 1])
def test_the_learner_keeps_the_seat_it_was_given(seat: int) -> None:
    environment = StraightGinEnv(learner_seat=seat)
    for deal in range(10):
        observation, info = environment.reset(seed=7 if deal == 0 else None)
        assert info["seat"] == seat
        assert hand_in(observation) == Round(seed=7, deal=deal).hands[seat]


def hand_in(observation: NDArray[np.int8]) -> tuple[int, ...]:
    start = OFFSETS["hand"]
    return tuple(observation[start : start + 52].nonzero()[0].tolist())


def test_random_seats_are_balanced_and_come_from_the_seed() -> None:
    """Whatever the opponent; and the seat says nothing of who goes first."""
    hands = 2000
    seats, firsts = [], []
    environment = StraightGinEnv()
    for deal in range(hands):
        observation, info = environment.reset(seed=11 if deal == 0 else None)
        seats.append(info["seat"])
        firsts.append(int(observation[OFFSETS["went_first"]]))
    assert abs(sum(seats) - hands / 2) < 4 * (hands / 4) ** 0.5
    assert abs(sum(firsts) - hands / 2) < 4 * (hands / 4) ** 0.5
    assert abs(sum(seat == first for seat, first in zip(seats, firsts, strict=True)) - hands / 2) < 4 * (hands / 4) ** 0.5
    other = StraightGinEnv(opponent="novice")
    again = [other.reset(seed=11 if deal == 0 else None)[1]["seat"] for deal in range(100)]
    assert again == seats[:100]


def test_the_opponent_drawn_says_nothing_of_the_seat() -> None:
    environment = StraightGinEnv(opponent=[("greedy", 1), ("novice", 1)], illegal_action="forfeit")
    environment.reset(seed=1)
    hands = 1000
    pairs = Counter[tuple[int, str]]()
    for _ in range(hands):
        last = environment.step(3)[4]
        pairs[last["seat"], last["opponent"]] += 1
        environment.reset()
    for pair in ((0, "greedy"), (0, "novice"), (1, "greedy"), (1, "novice")):
        assert abs(pairs[pair] / hands - 1 / 4) < 4 * (3 / 16 / hands) ** 0.5


@pytest.mark.parametrize(("rules", "deadwoods"), [("straight", (0, 0)), ("big_gin", (0, 10))])
def test_deadwoods_are_told_under_the_rules_in_force(rules: str, deadwoods: tuple[int, int]) -> None:
    """Two runs of five are gin in straight, where a run may be of any length, and 10 in big gin (rule 1.5)."""
    winner, loser = "AC 2C 3C TD JD QD KC KD KH KS", "5H 6H 7H 8H 9H 5S 6S 7S 8S 9S"
    environment = StraightGinEnv(rules, learner_seat=0)
    environment.reset(seed=0, options={"deck": deck_of(winner, loser, stock="AD"), "first_player": 0})
    environment.step(0)
    assert environment.step(GO_OUT + parse_cards("AD")[0])[4]["deadwood"] == deadwoods


# Rewards and endings


@pytest.mark.parametrize("reward", ["points", "win"])
def test_the_learner_gets_the_hands_reward_whoever_goes_out(reward: str) -> None:
    environment = StraightGinEnv(reward=reward)
    signs = Counter[float]()
    for seed in range(40):
        hand = list(hand_of(environment, seed))
        for _, paid, terminated, truncated, info in hand[:-1]:
            assert (paid, terminated, truncated) == (0.0, False, False)
            assert sorted(info) == ["action_mask", "seat"]
        _, paid, terminated, truncated, info = hand[-1]
        seat = info["seat"]
        margin = info["scores"][seat] - info["scores"][1 - seat]
        assert paid == (margin if reward == "points" else np.sign(margin))
        assert isinstance(paid, float)
        assert (terminated, truncated) == (True, False)
        signs[np.sign(margin)] += 1
    assert signs[1] > 5
    assert signs[-1] > 5


@EVERY_RULE_SET
def test_the_last_info_tells_how_the_hand_ended(name: str) -> None:
    environment = StraightGinEnv(RULE_SETS[name], opponent=Player())
    seen = set()
    for seed in range(15):
        *_, (_, _, _, _, info) = hand_of(environment, seed)
        hand = Round(RULE_SETS[name], seed=seed)
        while hand.player is not None:
            hand.apply(decide_one(hand.observation(hand.player), hand.action_mask(hand.player)))
        assert {key: value for key, value in info.items() if key != "action_mask"} == {
            "outcome": hand.outcome,
            "scores": hand.scores,
            "turns": hand.turns,
            "deadwood": tuple(deadwood(cards, RULE_SETS[name].max_run) for cards in hand.hands),
            "seat": environment._lanes.seats[0],
            "opponent": "player",
        }
        seen.add(info["outcome"])
    assert "gin" in seen


def test_a_lost_hand_is_paid_when_the_opponent_goes_out() -> None:
    """The learner discards, the opponent draws 4S and goes gin: the loss comes with that step."""
    deck = deck_of(LOSER, WINNER, stock="2D 4S")
    environment = StraightGinEnv(learner_seat=0)
    observation, info = environment.reset(seed=0, options={"deck": deck, "first_player": 0})
    environment.step(0)
    observation, reward, terminated, truncated, info = environment.step(DISCARD + parse_cards("2D")[0])
    assert (reward, terminated, truncated) == (-123.0, True, False)
    assert (info["outcome"], info["scores"], info["seat"], info["turns"]) == ("gin", (0, 123), 0, 2)
    assert info["deadwood"] == (98, 0)
    assert not info["action_mask"].any()
    assert observation[OFFSETS["phase"] + 6]  # over
    assert hand_in(observation) == tuple(sorted(parse_cards(LOSER)))


def test_the_turn_limit_truncates() -> None:
    environment = StraightGinEnv({"turn_limit": 5})
    for seed in range(4):
        *_, (_, reward, terminated, truncated, info) = hand_of(environment, seed)
        assert (reward, terminated, truncated) == (0.0, False, True)
        assert (info["outcome"], info["turns"]) == ("turn_limit", 5)


def test_big_gin_by_the_learner() -> None:
    deck = deck_of(WINNER, LOSER, stock="4S")
    environment = StraightGinEnv("big_gin", learner_seat=0)
    environment.reset(seed=0, options={"deck": deck, "first_player": 0})
    environment.step(0)
    _, reward, terminated, _, info = environment.step(3)
    assert (reward, terminated, info["outcome"], info["scores"]) == (128.0, True, "big_gin", (128, 0))


# Misuse


@pytest.mark.parametrize("action", [2, 3, 107, 108, -1, np.int64(3), np.array([3])], ids=repr)
def test_an_illegal_action_raises_and_changes_nothing(action: Any) -> None:
    environment = StraightGinEnv()
    start = begun(environment, 6, 4)
    before = pickle.dumps(environment)
    with pytest.raises(IllegalAction, match="illegal action .* in phase 'draw'; legal: 0 draw the stock"):
        environment.step(action)
    assert pickle.dumps(environment) == before
    untouched = StraightGinEnv()
    assert same(list(rest_of(environment, *start)), list(rest_of(untouched, *begun(untouched, 6, 4))))


@pytest.mark.parametrize(
    ("settings", "penalty"),
    [
        ({}, -123.0),
        ({"rules": "big_gin"}, -128.0),
        ({"reward": "win"}, -1.0),
        ({"illegal_reward": -5}, -5.0),
        ({"illegal_reward": 0}, 0.0),
    ],
    ids=str,
)
@pytest.mark.parametrize("action", [2, 107, 108, -1])
def test_an_illegal_action_forfeits_the_hand(settings: dict[str, Any], penalty: float, action: int) -> None:
    environment = StraightGinEnv(illegal_action="forfeit", **settings)
    start = begun(environment, 6, 4)[1]
    _, reward, terminated, truncated, info = environment.step(action)
    assert (reward, terminated, truncated) == (penalty, True, False)
    assert (info["outcome"], info["scores"], info["seat"]) == ("forfeit", (0, 0), start["seat"])
    assert not info["action_mask"].any()
    _, info = environment.reset()
    assert info["action_mask"].any()


def test_legal_play_is_the_same_where_illegal_actions_forfeit() -> None:
    assert same(list(hand_of(StraightGinEnv(illegal_action="forfeit"), 6)), list(hand_of(StraightGinEnv(), 6)))


@pytest.mark.parametrize("action", [1.0, "0", None, [0, 1], np.array([0.0]), True], ids=repr)
@pytest.mark.parametrize("illegal_action", ["raise", "forfeit"])
def test_what_is_no_integer_is_refused(action: Any, illegal_action: str) -> None:
    environment = StraightGinEnv(illegal_action=illegal_action)
    begun(environment, 6, 4)
    before = pickle.dumps(environment)
    with pytest.raises(ValueError, match="expected an integer 0..107"):
        environment.step(action)
    assert pickle.dumps(environment) == before


@pytest.mark.parametrize("number", [int, np.int64, np.int8, np.uint8, np.array], ids=lambda number: number.__name__)
def test_every_integer_type_is_an_action(number: Callable[[int], Any]) -> None:
    environment = StraightGinEnv()
    environment.reset(seed=6)
    assert environment.step(number(0))[4]["action_mask"][DISCARD:].any()


def test_a_step_needs_an_open_hand() -> None:
    environment = StraightGinEnv()
    with pytest.raises(ValueError, match="reset the environment first"):
        environment.step(0)
    list(hand_of(environment, 3))
    before = bytes_of(environment)
    with pytest.raises(ValueError, match="reset the environment first"):
        environment.step(0)
    assert bytes_of(environment) == before


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"rules": "strait"}, ValueError, "'strait' is no rule preset"),
        ({"rules": {"turn_limit": 0}}, ValueError, "turn_limit=0: expected an integer 1 to 10000"),
        ({"rules": "oklahoma"}, NotImplementedError, "knock_limit=10"),
        ({"match": "target"}, ValueError, "match='target': expected one of 'hand'"),
        ({"learner_seat": 2}, ValueError, "learner_seat=2: expected one of 'random', 0, 1"),
        ({"reward": "score"}, ValueError, "reward='score': expected one of 'points', 'win'"),
        ({"illegal_action": "ignore"}, ValueError, "illegal_action='ignore': expected one of 'raise', 'forfeit'"),
        ({"render_mode": "rgb_array"}, ValueError, "render_mode='rgb_array': expected one of None, 'human', 'ansi'"),
    ],
    ids=str,
)
def test_bad_arguments(settings: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        StraightGinEnv(**settings)


# Resets


def test_a_reset_keeps_the_settings() -> None:
    settings: dict[str, Any] = {"rules": "big_gin", "opponent": "simple", "learner_seat": 1, "reward": "win"}
    environment = StraightGinEnv(**settings, render_mode="ansi")
    first = list(hand_of(environment, 3))
    environment.reset()
    assert same(list(hand_of(environment, 3)), first)
    assert (environment._lanes.rules, environment.render_mode) == (Rules.preset("big_gin"), "ansi")
    assert abs(first[-1][1]) == 1
    assert first[-1][4]["opponent"] == "simple"


@pytest.mark.parametrize("decisions", [0, 1, 5])
def test_the_same_seed_gives_the_same_hands_whatever_was_played(decisions: int) -> None:
    environment, fresh = StraightGinEnv(), StraightGinEnv()
    begun(environment, 99, decisions)
    for seed in (8, None, None):
        assert same(list(hand_of(environment, seed)), list(hand_of(fresh, seed)))


def test_resets_without_a_seed_deal_the_seeds_next_hands() -> None:
    environment = StraightGinEnv(opponent="novice")
    for deal in range(20):
        observation, info = environment.reset(seed=5 if deal == 0 else None)
        hand = Round(seed=5, deal=deal)
        assert hand_in(observation) == hand.hands[info["seat"]]
        assert observation[OFFSETS["went_first"]] == (hand.first_player == info["seat"])


def test_other_seeds_give_other_hands() -> None:
    environment = StraightGinEnv()
    assert len({environment.reset(seed=seed)[0].tobytes() for seed in range(200)}) == 200
    fresh = [StraightGinEnv().reset()[0].tobytes() for _ in range(2)]
    assert fresh[0] != fresh[1]


def test_a_hand_without_a_decision_of_the_learner_is_passed_over() -> None:
    """About one in ten thousand: the opponent goes out on the first turn. The seed's next hand is dealt."""
    lanes = Lanes(20_000, opponent="greedy")
    for first in range(0, 400_000, 20_000):
        lanes.seed(range(first, first + 20_000))
        lanes.begin()
        passed = lanes.records["hidden"]["deal"].nonzero()[0]
        if len(passed):
            break
    seed = int(first + passed[0])
    observation, info = StraightGinEnv(opponent="greedy").reset(seed=seed)
    assert info["action_mask"].any()
    assert hand_in(observation) == Round(seed=seed, deal=1).hands[info["seat"]]


@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, "1", True])
def test_a_bad_seed_is_an_error_and_the_hand_goes_on(seed: Any) -> None:
    environment, untouched = StraightGinEnv(), StraightGinEnv()
    start = begun(environment, 6, 4)
    begun(untouched, 6, 4)
    with pytest.raises(ValueError, match="seed=.*expected None or an integer"):
        environment.reset(seed=seed)
    assert same(list(rest_of(environment, *start)), list(rest_of(untouched, *start)))


@pytest.mark.parametrize("first_player", [0, 1])
@pytest.mark.parametrize("seat", [0, 1])
def test_deck_and_first_player_are_obeyed(seat: int, first_player: int) -> None:
    deck = Round(seed=77).deck
    environment = StraightGinEnv(learner_seat=seat, opponent=Player())
    observation, info = environment.reset(seed=1, options={"deck": deck, "first_player": first_player})
    hand = Round(deck=deck, first_player=first_player)
    while hand.player != seat:
        assert hand.player is not None
        hand.apply(decide_one(hand.observation(hand.player), hand.action_mask(hand.player)))
    assert same(observation, hand.observation(seat))
    assert same(info["action_mask"], hand.action_mask(seat))
    observation, info = environment.reset()
    assert hand_in(observation) == Round(seed=1, deal=1).hands[seat]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"deck": list(range(51))}, "it has 51 cards"),
        ({"deck": [0, *range(51)]}, "AS .0. stands twice"),
        ({"deck": [*range(51), 52]}, "deck holds 52"),
        ({"deck": 5}, "deck=5: expected a permutation"),
        ({"first_player": 2}, "first_player=2: expected 0 or 1"),
        ({"first_player": "learner"}, "first_player='learner': expected 0 or 1"),
    ],
    ids=str,
)
def test_a_bad_option_is_an_error_and_the_hand_goes_on(options: dict[str, Any], message: str) -> None:
    environment, untouched = StraightGinEnv(), StraightGinEnv()
    start = begun(environment, 6, 4)
    begun(untouched, 6, 4)
    with pytest.raises(ValueError, match=message):
        environment.reset(seed=7, options=options)
    assert same(list(rest_of(environment, *start)), list(rest_of(untouched, *start)))


def test_an_unknown_option_is_a_warning() -> None:
    environment = StraightGinEnv()
    with pytest.warns(UserWarning, match="reset option 'opponent' is unknown and ignored"):
        observation, _ = environment.reset(seed=5, options={"opponent": "novice"})
    assert same(observation, StraightGinEnv().reset(seed=5)[0])


@pytest.mark.parametrize("illegal_action", ["raise", "forfeit"])
def test_a_deck_that_leaves_the_learner_nothing_to_decide_is_refused(illegal_action: str) -> None:
    """The opponent has the first turn and goes gin; no step is taken before the next reset."""
    environment = StraightGinEnv(learner_seat=1, illegal_action=illegal_action)
    environment.reset(seed=4)
    with pytest.raises(ValueError, match="the opponent goes out before the learner decides anything"):
        environment.reset(seed=5, options={"deck": deck_of(WINNER, LOSER), "first_player": 0})
    with pytest.raises(ValueError, match=r"over|reset"):
        environment.step(0)
    assert same(environment.reset(seed=5), StraightGinEnv(learner_seat=1).reset(seed=5))


# Copies


@EVERY_COPY
@pytest.mark.parametrize("opponent", ["greedy", Player(), [("novice", 1), (Player(), 1)]], ids=["compiled", "plain", "list"])
def test_copies_continue_identically(copied: Callable[[Any], Any], opponent: Any) -> None:
    for decisions in (0, 1, 4):
        environment = gymnasium.make(ID, opponent=opponent, rules="big_gin", render_mode="ansi")
        observation, info = begun(environment, 6, decisions)
        twin = copied(environment)
        before = bytes_of(twin.unwrapped)
        rest = list(rest_of(environment, observation, info))
        assert bytes_of(twin.unwrapped) == before  # playing on has not moved the copy
        assert same(list(rest_of(twin, observation, info)), rest)
        assert twin.render() == environment.render()
        assert same(list(hand_of(twin)), list(hand_of(environment)))  # nor do the seed's next hands differ


def test_two_environments_share_nothing() -> None:
    one, other = StraightGinEnv(), StraightGinEnv("big_gin", opponent="novice")
    together = list(zip(hand_of(one, 1), hand_of(other, 2), strict=False))
    alone = list(hand_of(StraightGinEnv(), 1)), list(hand_of(StraightGinEnv("big_gin", opponent="novice"), 2))
    for side in (0, 1):
        assert same([step[side] for step in together], alone[side][: len(together)])


# Drawing


def test_ansi_is_drawn_from_the_learners_seat() -> None:
    environment = StraightGinEnv(render_mode="ansi", opponent=Player())
    for seed in range(4):
        for observation, _, terminated, truncated, _ in hand_of(environment, seed):
            text = environment.render() or ""
            own = text.splitlines()[3].replace("[", " ").replace("]", " ").split()
            assert own[0] == "learner"
            assert sorted(own[1:-2]) == sorted(card_text(card) for card in hand_in(observation))
            if not terminated and not truncated:
                assert "opponent   10 cards" in text
                assert "learner to act" in text
        assert "over: " in text


def test_human_prints_every_step_and_returns_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    environment = StraightGinEnv(render_mode="human")
    steps = len(list(hand_of(environment, 3)))
    printed = capsys.readouterr().out
    assert printed.count("learner to act") == steps - 1
    assert printed.count("over: ") == 1
    assert environment.render() is None


def test_render_without_a_mode_says_so() -> None:
    environment = StraightGinEnv()
    environment.reset(seed=1)
    with pytest.warns(UserWarning, match="render_mode='ansi'"):
        assert environment.render() is None


def test_going_out_is_the_learners_choice() -> None:
    """A learner who could go gin may play on (rule 2.6)."""
    environment = StraightGinEnv(learner_seat=0, opponent="random")
    environment.reset(seed=0, options={"deck": deck_of(WINNER, LOSER, stock="4S"), "first_player": 0})
    mask = environment.step(0)[4]["action_mask"]
    card = parse_cards("4S")[0]
    assert mask[GO_OUT + card]
    assert mask[DISCARD + card]
    _, _, terminated, truncated, info = environment.step(DISCARD + card)
    assert not terminated
    assert not truncated
    assert info["action_mask"].any()
