"""The same seed gives the same hand through every door: Round, AEC, parallel, Gymnasium, VectorEnv, SB3's VecEnv.

Both seats are played by one player that sees observation and mask alone. A course tells the deck, every decision (seat, what
was shown, the action) and the result.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
import pytest
from numpy.typing import NDArray

from gin_env import Round, Rules, VectorEnv, straight_gin_v0
from tests.envs.player import Player, decide, decide_one

RULES = {"straight": Rules(), "big_gin": Rules.preset("big_gin"), "opening offer": Rules(opening_offer=True)}
AGENTS = ("player_0", "player_1")


@dataclass
class Course:
    """A hand from one door; where an opponent plays inside, the decisions are the learner's alone."""

    deck: list[int]
    first_player: int
    decisions: list[tuple[int, bytes, bytes, int]] = field(default_factory=list)
    outcome: str | None = None
    scores: tuple[int, int] = (0, 0)
    rewards: tuple[float, float] = (0, 0)

    def decide(self, seat: int, observation: NDArray[np.int8], mask: NDArray[np.int8]) -> int:
        """The player's action, and a note of it."""
        action = decide_one(observation, mask)
        self.decisions.append((int(seat), observation.tobytes(), mask.tobytes(), action))
        return action

    def end(self, info: Any, reward: float, seat: int) -> None:
        """Note the result as the last info of a game tells it, and the reward of one seat."""
        self.outcome = info["outcome"]
        self.scores = (int(info["scores"][0]), int(info["scores"][1]))
        self.rewards = (reward, -reward) if seat == 0 else (-reward, reward)

    def of_seat(self, seat: int) -> "Course":
        """The course as the door of one learner's seat tells it."""
        decisions = [decision for decision in self.decisions if decision[0] == seat]
        return Course(self.deck, self.first_player, decisions, self.outcome, self.scores, self.rewards)


def course_of(records: Any) -> Course:
    """A course that begins with the deck that stands in a game record."""
    return Course(records["hidden"]["deck"][0].tolist(), int(records["public"]["first_player"][0]))


def through_round(rules: Rules, seed: int) -> Course:
    hand = Round(rules, seed=seed)
    assert hand.deck is not None
    course = Course(list(hand.deck), hand.first_player)
    while hand.player is not None:
        hand.apply(course.decide(hand.player, hand.observation(hand.player), hand.action_mask(hand.player)))
    first, second = hand.scores
    course.outcome, course.scores, course.rewards = hand.outcome, hand.scores, (first - second, second - first)
    return course


def through_aec(rules: Rules, seed: int, make: Callable[..., Any] = straight_gin_v0.env) -> Course:
    environment = make(rules=rules)
    environment.reset(seed=seed)
    course = course_of(environment.unwrapped._records)
    for agent in environment.agent_iter():
        shown, reward, terminated, truncated, info = environment.last()
        seat = AGENTS.index(agent)
        if terminated or truncated:
            course.end(info, reward, seat)
            environment.step(None)
        else:
            environment.step(course.decide(seat, shown["observation"], shown["action_mask"]))
    return course


def through_raw_env(rules: Rules, seed: int) -> Course:
    return through_aec(rules, seed, straight_gin_v0.raw_env)


def through_parallel(rules: Rules, seed: int) -> Course:
    environment = straight_gin_v0.parallel_env(rules=rules)
    shown, _ = environment.reset(seed=seed)
    course = course_of(environment.unwrapped._records)
    while environment.agents:
        (seat,) = (seat for seat in (0, 1) if shown[AGENTS[seat]]["action_mask"].any())
        observation, mask = shown[AGENTS[seat]]["observation"], shown[AGENTS[seat]]["action_mask"]
        actions = {AGENTS[seat]: course.decide(seat, observation, mask), AGENTS[1 - seat]: 0}
        shown, rewards, _, _, infos = environment.step(actions)
    for seat in (0, 1):
        course.end(infos[AGENTS[seat]], rewards[AGENTS[seat]], seat)
    return course


def through_vector_of_both_seats(rules: Rules, seed: int) -> Course:
    """The hand is the middle one of three games."""
    environment = VectorEnv(3, rules=rules, opponent=None, seed=seed - 1 if seed else [7, 0, 1])
    observations, infos = environment.reset()
    course = course_of(environment._lanes.records[1:])
    while True:
        actions = decide(observations, infos["action_mask"])
        seat = infos["seat"][1]
        assert course.decide(seat, observations[1], infos["action_mask"][1]) == actions[1]
        observations, rewards, terminated, truncated, infos = environment.step(actions)
        if terminated[1] or truncated[1]:
            last = {name: infos["final_info"][name][1] for name in ("outcome", "scores")}
            course.end(last, rewards[1], seat)
            return course


def through_gymnasium(rules: Rules, seed: int, seat: int) -> Course:
    environment = gymnasium.make("gin_env/StraightGin-v0", rules=rules, opponent=Player(), learner_seat=seat)
    observation, info = environment.reset(seed=seed)
    single: Any = environment.unwrapped
    course = course_of(single._lanes.records)
    ended = False
    while not ended:
        action = course.decide(info["seat"], observation, info["action_mask"])
        observation, reward, terminated, truncated, info = environment.step(action)
        ended = terminated or truncated
    course.end(info, float(reward), seat)
    return course


def through_vector(rules: Rules, seed: int, seat: int) -> Course:
    """The hand is the last of two games."""
    environment = VectorEnv(2, rules=rules, opponent=Player(), learner_seat=seat, seed=[99, seed])
    observations, infos = environment.reset()
    course = course_of(environment._lanes.records[1:])
    while True:
        actions = decide(observations, infos["action_mask"])
        course.decide(infos["seat"][1], observations[1], infos["action_mask"][1])
        observations, rewards, terminated, truncated, infos = environment.step(actions)
        if terminated[1] or truncated[1]:
            last = {name: infos["final_info"][name][1] for name in ("outcome", "scores")}
            course.end(last, rewards[1], seat)
            return course


def through_sb3(rules: Rules, seed: int, seat: int) -> Course:
    """The hand is the last of two games."""
    pytest.importorskip("stable_baselines3")
    from training.sb3_vec_env import GinVecEnv

    environment = GinVecEnv(2, rules=rules, opponent=Player(), learner_seat=seat, seed=[99, seed])
    observations: Any = environment.reset()
    course = course_of(environment.lanes.records[1:])
    while True:
        masks: Any = environment.env_method("action_masks")
        actions = decide(observations, masks)
        course.decide(seat, observations[1], masks[1])
        observations, rewards, ended, infos = environment.step(actions)
        if ended[1]:
            course.end(infos[1], float(rewards[1]), seat)
            return course


OF_BOTH_SEATS = [through_raw_env, through_aec, through_parallel, through_vector_of_both_seats]
OF_A_LEARNER = [through_gymnasium, through_vector, through_sb3]
EVERY_RULE_SET = pytest.mark.parametrize("name", RULES)
SEEDS = range(21)


@EVERY_RULE_SET
@pytest.mark.parametrize("through", OF_BOTH_SEATS, ids=lambda through: through.__name__)
def test_the_same_seed_gives_the_same_hand(through: Callable[[Rules, int], Course], name: str) -> None:
    for seed in SEEDS:
        assert through(RULES[name], seed) == through_round(RULES[name], seed)


@EVERY_RULE_SET
@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("through", OF_A_LEARNER, ids=lambda through: through.__name__)
def test_the_same_seed_gives_the_learner_the_same_hand(
    through: Callable[[Rules, int, int], Course], seat: int, name: str
) -> None:
    for seed in SEEDS:
        assert through(RULES[name], seed, seat) == through_round(RULES[name], seed).of_seat(seat)


@EVERY_RULE_SET
def test_other_seeds_give_other_hands_and_results(name: str) -> None:
    """So the comparisons above compare something: both seats win, decks differ, every phase is met."""
    courses = [through_round(RULES[name], seed) for seed in SEEDS]
    assert len({tuple(course.deck) for course in courses}) == len(SEEDS)
    assert {course.first_player for course in courses} == {0, 1}
    assert {np.sign(course.rewards[0]) for course in courses} >= {-1, 1}
    assert {decision[0] for course in courses for decision in course.decisions} == {0, 1}
    assert any(decision[3] == 2 for course in courses for decision in course.decisions) == RULES[name].opening_offer
