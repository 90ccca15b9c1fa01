"""straight_gin_v0 under PettingZoo's AEC and parallel APIs."""

import copy
import pickle
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, parallel_api_test, render_test, seed_test

from gin_env import IllegalAction, Round, Rules, deadwood, straight_gin_v0
from gin_env.envs.aec import STATE_WIDTH, STOCK_COLUMNS
from gin_env.observation import WIDTH
from gin_env.rules.actions import ACTIONS, DISCARD, GO_OUT
from gin_env.rules.cards import card_text, cards_of, parse_cards
from gin_env.rules.determinize import redeal_first
from tests.envs.player import decide_one, same
from tests.hands import LOSER, RULE_SETS, WINNER, deck_of

AGENTS = ["player_0", "player_1"]
PRESETS = ("straight", "gin_only", "big_gin")
BOTH = pytest.mark.parametrize("make", [straight_gin_v0.raw_env, straight_gin_v0.env], ids=["raw_env", "env"])
EVERY_RULE_SET = pytest.mark.parametrize("name", RULE_SETS)
EVERY_COPY = pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda environment: pickle.loads(pickle.dumps(environment))], ids=["deepcopy", "pickle"]
)

Make = Callable[..., Any]


def act(environment: Any) -> int:
    """The player's action for the agent to act, done."""
    seen = environment.observe(environment.agent_selection)
    action = decide_one(seen["observation"], seen["action_mask"])
    environment.step(action)
    return action


def played_out(hand: Round) -> Round:
    while hand.player is not None:
        hand.apply(decide_one(hand.observation(hand.player), hand.action_mask(hand.player)))
    return hand


def over(environment: Any) -> bool:
    return any(environment.terminations.values()) or any(environment.truncations.values())


def started(make: Make, seed: int, decisions: int = 0, **settings: Any) -> Any:
    """An environment some decisions into a hand."""
    environment = make(**settings)
    environment.reset(seed=seed)
    for _ in range(decisions):
        act(environment)
    return environment


def course(environment: Any) -> Iterator[Any]:
    """All that both agents are shown and given, from now to the end of the hand."""
    while True:
        yield (
            environment.agent_selection,
            [environment.observe(agent) for agent in AGENTS],
            dict(environment.rewards),
            dict(environment.terminations),
            dict(environment.truncations),
            copy.deepcopy(environment.infos),
            environment.state(),
        )
        if over(environment):
            return
        act(environment)


def shown(environment: Any) -> Any:
    """What both agents are shown now."""
    return [environment.observe(agent) for agent in AGENTS]


@cache
def dead_seed() -> int:
    """A seed of whose hand the player makes nothing."""
    return next(seed for seed in range(1000) if played_out(Round(seed=seed)).outcome == "dead")


# PettingZoo's own tests


@pytest.mark.filterwarnings("ignore::UserWarning")  # it warns of every dict observation and of every mask of zeros
@BOTH
def test_pettingzoos_api_test(make: Make) -> None:
    api_test(make(), num_cycles=300)


@BOTH
def test_pettingzoos_seed_test(make: Make) -> None:
    seed_test(make, num_cycles=300)


@BOTH
def test_pettingzoos_render_test(make: Make) -> None:
    render_test(make, custom_tests={"ansi": lambda text: isinstance(text, str) and "to act" in text})


@pytest.mark.filterwarnings("ignore::UserWarning")  # the reset option it sends
def test_pettingzoos_parallel_api_test() -> None:
    parallel_api_test(straight_gin_v0.parallel_env(), num_cycles=300)


@pytest.mark.skipif(not hasattr(pettingzoo, "make"), reason="this PettingZoo has no registry")
def test_made_by_pettingzoos_registry() -> None:
    made = pettingzoo.make("aec", "gin_env/straight_gin-v0", rules="big_gin")
    assert made.unwrapped.rules == Rules.preset("big_gin")
    made.reset(seed=5)
    assert same(shown(made), shown(started(straight_gin_v0.env, 5, rules="big_gin")))
    parallel = pettingzoo.make("parallel", "gin_env/straight_gin-v0", rules="big_gin")
    observations, _ = parallel.reset(seed=5)
    assert same([observations[agent] for agent in AGENTS], shown(made))


# Spaces, masks and observations


def test_spaces_are_the_same_for_both_seats_and_keep_their_order() -> None:
    environment = straight_gin_v0.env()
    assert environment.possible_agents == AGENTS
    first, second = (environment.observation_space(agent) for agent in AGENTS)
    assert first == second
    assert list(first) == ["observation", "action_mask"]
    assert (first["observation"].shape, first["observation"].dtype) == ((WIDTH,), np.int8)
    assert (first["action_mask"].shape, first["action_mask"].dtype) == ((ACTIONS,), np.int8)
    assert [environment.action_space(agent).n for agent in AGENTS] == [ACTIONS, ACTIONS]
    environment.reset(seed=1)
    assert list(environment.observe("player_0")) == ["observation", "action_mask"]


@EVERY_RULE_SET
@BOTH
def test_spaces_contain_what_is_observed(make: Make, name: str) -> None:
    environment = make(rules=RULE_SETS[name])
    for seed in range(3):
        environment.reset(seed=seed)
        while True:
            for agent in AGENTS:
                assert environment.observation_space(agent).contains(environment.observe(agent))
            if over(environment):
                break
            act(environment)


@EVERY_RULE_SET
def test_mask_is_what_the_engine_accepts(name: str) -> None:
    """All 108 actions are tried at the decisions of a hand; the mask stands in the observation and in the infos."""
    environment = straight_gin_v0.raw_env(rules=RULE_SETS[name])
    environment.reset(seed=len(name))
    while not over(environment):
        agent = environment.agent_selection
        mask = environment.observe(agent)["action_mask"]
        accepted = np.zeros(ACTIONS, np.int8)
        twin = copy.deepcopy(environment)
        for action in range(ACTIONS):
            try:
                twin.step(action)
            except IllegalAction:
                continue
            accepted[action] = 1
            twin = copy.deepcopy(environment)
        assert same(mask, accepted)
        assert same(environment.infos[agent]["action_mask"], accepted)
        act(environment)


@BOTH
def test_mask_is_zero_off_turn_and_when_over(make: Make) -> None:
    environment = started(make, 3)
    ended = False
    while environment.agents:
        for agent in environment.agents:
            to_act = agent == environment.agent_selection and not over(environment)
            for mask in (environment.observe(agent)["action_mask"], environment.infos[agent]["action_mask"]):
                assert (mask.dtype, mask.shape) == (np.int8, (ACTIONS,))
                assert mask.any() == to_act
        ended = over(environment)
        environment.step(None) if ended else act(environment)
    assert ended
    assert not any(environment.observe(agent)["action_mask"].any() for agent in AGENTS)


def test_mask_is_zero_after_an_illegal_end() -> None:
    environment = started(straight_gin_v0.env, 3, decisions=4)
    environment.step(2)
    for agent in AGENTS:
        assert not environment.observe(agent)["action_mask"].any()
        assert not environment.infos[agent]["action_mask"].any()


@EVERY_RULE_SET
@BOTH
def test_observe_gives_each_agent_its_own_view(make: Make, name: str) -> None:
    """Whoever is to act, an agent is shown what its seat may know, as a Round tells it."""
    environment = started(make, 8, rules=RULE_SETS[name])
    hand = Round(RULE_SETS[name], seed=8)
    while True:
        for seat, agent in enumerate(AGENTS):
            seen = environment.observe(agent)
            assert same(seen["observation"], hand.observation(seat))
            assert same(seen["action_mask"], hand.action_mask(seat))
        assert (hand.player is None) == over(environment)
        if hand.player is None:
            break
        assert environment.agent_selection == AGENTS[hand.player]
        hand.apply(act(environment))


def test_last_is_the_observation_of_the_agent_to_act() -> None:
    environment = started(straight_gin_v0.env, 8, decisions=6)
    observation, reward, terminated, truncated, info = environment.last()
    assert same(observation, environment.observe(environment.agent_selection))
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert same(info["action_mask"], observation["action_mask"])


@BOTH
def test_what_is_shown_can_be_written_to_without_harm(make: Make) -> None:
    """A learner may write into what it was given; a mask that can't be written to is as good."""
    environment = started(make, 4, decisions=2)
    untouched = started(make, 4, decisions=2)
    while not over(environment):
        for agent in AGENTS:
            seen = environment.observe(agent)
            for array in (seen["observation"], seen["action_mask"], environment.infos[agent]["action_mask"]):
                if array.flags.writeable:
                    array[:] = 1 - array
        assert same(shown(environment), shown(untouched))
        action = act(untouched)
        for agent in AGENTS:
            mask = environment.observe(agent)["action_mask"]
            mask[:] = 1 - mask
        environment.step(action)
    assert same(environment.rewards, untouched.rewards)
    assert environment.terminations == untouched.terminations == dict.fromkeys(AGENTS, True)


# Rewards and endings


def last_steps(environment: Any) -> dict[str, tuple[float, bool, bool, dict[str, Any]]]:
    """Play with `agent_iter` to the end: for each agent what `last` told it on its dead step."""
    told = {}
    for agent in environment.agent_iter():
        observation, reward, terminated, truncated, info = environment.last()
        if terminated or truncated:
            told[agent] = (reward, terminated, truncated, info)
            environment.step(None)
        else:
            assert reward == 0
            environment.step(decide_one(observation["observation"], observation["action_mask"]))
    return told


@pytest.mark.parametrize("reward", ["points", "win"])
@BOTH
def test_rewards_are_zero_sum_and_told_to_winner_and_loser(make: Make, reward: str) -> None:
    environment = make(reward=reward)
    winners = set()
    for seed in range(12):
        environment.reset(seed=seed)
        told = last_steps(environment)
        assert environment.agents == []
        assert sorted(told) == AGENTS
        scores = told["player_0"][3]["scores"]
        margin = scores[0] - scores[1]
        expected = float(margin) if reward == "points" else float(np.sign(margin))
        assert (told["player_0"][0], told["player_1"][0]) == (expected, -expected)
        winners.add(np.sign(margin))
    assert winners >= {-1, 1}


def test_a_dead_hand_gives_nothing_and_terminates() -> None:
    environment = started(straight_gin_v0.env, dead_seed())
    told = last_steps(environment)
    assert {agent: step[:3] for agent, step in told.items()} == dict.fromkeys(AGENTS, (0.0, True, False))
    assert {step[3]["outcome"] for step in told.values()} == {"dead"}


@EVERY_RULE_SET
@BOTH
def test_both_seats_end_on_the_same_step(make: Make, name: str) -> None:
    """Rewards, terminations and the last infos are there for both agents on the step that ends the hand."""
    rules = RULE_SETS[name]
    for seed in range(10):
        environment = started(make, seed, rules=rules)
        hand = played_out(Round(rules, seed=seed))
        while not over(environment):
            assert environment.rewards == dict.fromkeys(AGENTS, 0.0)
            act(environment)
        assert environment.agents == AGENTS
        limited = hand.outcome == "turn_limit"
        assert environment.terminations == dict.fromkeys(AGENTS, not limited)
        assert environment.truncations == dict.fromkeys(AGENTS, limited)
        first, second = hand.scores
        assert environment.rewards == {"player_0": first - second, "player_1": second - first}
        for info in environment.infos.values():
            assert {key: value for key, value in info.items() if key != "action_mask"} == {
                "outcome": hand.outcome,
                "scores": hand.scores,
                "turns": hand.turns,
                "deadwood": tuple(deadwood(cards, rules.max_run) for cards in hand.hands),
            }


@BOTH
def test_the_turn_limit_truncates_both(make: Make) -> None:
    environment = started(make, 3, rules={"turn_limit": 4})
    turns = 0
    while not over(environment):
        turns += act(environment) >= DISCARD
    assert turns == 4
    assert environment.truncations == dict.fromkeys(AGENTS, True)
    assert environment.terminations == dict.fromkeys(AGENTS, False)
    assert environment.rewards == dict.fromkeys(AGENTS, 0.0)
    assert {info["outcome"] for info in environment.infos.values()} == {"turn_limit"}


def test_the_worst_loss_and_the_penalty() -> None:
    """98 deadwood and the bonus is the most a hand can cost; an illegal action costs no less."""
    environment = straight_gin_v0.env()
    deck = deck_of(WINNER, LOSER, stock="4S")
    environment.reset(seed=0, options={"deck": deck, "first_player": 0})
    environment.step(0)
    environment.step(GO_OUT + parse_cards("4S")[0])
    assert environment.rewards == {"player_0": 123.0, "player_1": -123.0}


@pytest.mark.parametrize(("rules", "deadwoods"), [("straight", (0, 0)), ("big_gin", (0, 10))])
def test_deadwoods_are_told_under_the_rules_in_force(rules: str, deadwoods: tuple[int, int]) -> None:
    """Two runs of five are gin in straight, where a run may be of any length, and 10 in big gin (rule 1.5)."""
    winner, loser = "AC 2C 3C TD JD QD KC KD KH KS", "5H 6H 7H 8H 9H 5S 6S 7S 8S 9S"
    environment = straight_gin_v0.env(rules=rules)
    environment.reset(seed=0, options={"deck": deck_of(winner, loser, stock="AD"), "first_player": 0})
    environment.step(0)
    environment.step(GO_OUT + parse_cards("AD")[0])
    assert {info["deadwood"] for info in environment.infos.values()} == {deadwoods}


# Misuse


@pytest.mark.parametrize("action", [2, 3, 60, 107])
def test_raw_env_refuses_an_illegal_action_and_changes_nothing(action: int) -> None:
    environment = started(straight_gin_v0.raw_env, 6, decisions=4)
    before = pickle.dumps(environment)
    with pytest.raises(IllegalAction, match=rf"illegal action {action} .*of player_[01] in phase 'draw'; legal: 0 draw"):
        environment.step(action)
    assert pickle.dumps(environment) == before
    act(environment)


@pytest.mark.parametrize("action", [-1, ACTIONS, 3.0, None, "0", True])
def test_raw_env_refuses_what_is_no_action(action: Any) -> None:
    environment = started(straight_gin_v0.raw_env, 6, decisions=4)
    before = pickle.dumps(environment)
    with pytest.raises(IllegalAction, match="is no action: expected an integer 0..107"):
        environment.step(action)
    assert pickle.dumps(environment) == before


@BOTH
@pytest.mark.parametrize("number", [int, np.int64, np.int8, np.uint8, np.array], ids=lambda number: number.__name__)
def test_every_integer_type_is_an_action(make: Make, number: Callable[[int], Any]) -> None:
    """Whatever the action space contains is taken: a policy's `argmax` may be a numpy integer or an array of none."""
    environment = started(make, 6)
    assert environment.action_space(environment.agent_selection).contains(number(0))
    environment.step(number(0))
    assert not over(environment)
    assert environment.infos[environment.agent_selection]["action_mask"][DISCARD:].any()


@pytest.mark.parametrize("action", [-1, ACTIONS, 3.0, None, "0"])
def test_env_refuses_what_is_not_in_the_action_space(action: Any) -> None:
    environment = started(straight_gin_v0.env, 6, decisions=4)
    untouched = started(straight_gin_v0.env, 6, decisions=4)
    with pytest.raises(AssertionError, match="not in action space"):
        environment.step(action)
    assert same(list(course(environment)), list(course(untouched)))


@pytest.mark.parametrize(
    ("settings", "penalty"),
    [
        ({}, -123.0),
        ({"rules": "big_gin"}, -128.0),
        ({"rules": {"gin_bonus": 70}}, -168.0),
        ({"reward": "win"}, -1.0),
        ({"illegal_reward": -5}, -5.0),
        ({"illegal_reward": 0, "reward": "win"}, 0.0),
    ],
    ids=str,
)
@pytest.mark.parametrize("decisions", [4, 5, 6])
def test_env_ends_the_game_after_an_illegal_action(settings: dict[str, Any], penalty: float, decisions: int) -> None:
    environment = started(straight_gin_v0.env, 6, decisions, **settings)
    offender = environment.agent_selection
    environment.step(3)
    other = AGENTS[1 - AGENTS.index(offender)]
    assert environment.rewards == {offender: penalty, other: 0.0}
    assert environment.agents == AGENTS
    assert environment.terminations == dict.fromkeys(AGENTS, True)
    told = last_steps(environment)
    assert {agent: step[0] for agent, step in told.items()} == {offender: penalty, other: 0.0}
    assert environment.agents == []
    environment.reset()
    assert not over(environment)
    assert environment.rewards == dict.fromkeys(AGENTS, 0.0)


def test_env_asks_for_a_reset_first() -> None:
    environment = straight_gin_v0.env()
    for use in (lambda: environment.step(0), lambda: environment.observe("player_0"), environment.state):
        with pytest.raises(AssertionError, match=r"reset\(\) needs to be called before"):
            use()


def test_raw_env_asks_for_a_reset_first() -> None:
    with pytest.raises(Exception, match="reset"):
        straight_gin_v0.raw_env().step(0)


@BOTH
def test_a_dead_agent_may_only_do_nothing(make: Make) -> None:
    environment = started(make, 2)
    while not over(environment):
        act(environment)
    with pytest.raises((ValueError, AssertionError)):
        environment.step(0)
    environment.step(None)
    environment.step(None)
    assert environment.agents == []


def test_a_step_after_the_end_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """PettingZoo's wrapper warns in its own way, by its logger."""
    environment = started(straight_gin_v0.env, 2)
    last_steps(environment)
    before = pickle.dumps(environment.unwrapped)
    environment.step(0)
    assert pickle.dumps(environment.unwrapped) == before


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"rules": "strait"}, ValueError, "'strait' is no rule preset.*did you mean 'straight'"),
        ({"rules": {"gin_bonus": -1}}, ValueError, "gin_bonus=-1: expected an integer 0 to 1000"),
        ({"rules": {"gin": 1}}, ValueError, "'gin' is no field of the rules"),
        ({"rules": 5}, TypeError, "rules=5: expected"),
        ({"rules": "standard"}, NotImplementedError, "knock_limit=10"),
        ({"match": "best of three"}, ValueError, "match='best of three': expected one of 'hand'"),
        ({"observation": "pixels"}, ValueError, "observation='pixels': expected one of 'bits'"),
        ({"reward": "money"}, ValueError, "reward='money': expected one of 'points', 'win'"),
        ({"render_mode": "rgb_array"}, ValueError, "render_mode='rgb_array': expected one of None, 'human', 'ansi'"),
        ({"jokers": 2}, TypeError, "jokers"),
    ],
    ids=str,
)
@pytest.mark.parametrize("make", [straight_gin_v0.raw_env, straight_gin_v0.env, straight_gin_v0.parallel_env])
def test_bad_arguments(make: Make, settings: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make(**settings)


# Resets and seeds


@BOTH
def test_a_reset_keeps_the_settings(make: Make) -> None:
    settings: dict[str, Any] = {"rules": "big_gin", "reward": "win", "render_mode": "ansi"}
    environment = started(make, 3, **settings)
    first = list(course(environment))
    environment.reset()
    environment.reset(seed=3)
    assert environment.unwrapped.rules == Rules.preset("big_gin")
    assert (environment.unwrapped.reward, environment.unwrapped.render_mode) == ("win", "ansi")
    assert same(list(course(environment)), first)
    assert sorted(environment.rewards.values()) == [-1.0, 1.0]
    assert "over" in environment.render()


def test_env_keeps_its_penalty_over_a_reset() -> None:
    environment = straight_gin_v0.env(illegal_reward=-7.5)
    for _ in range(2):
        environment.reset(seed=3)
        offender = environment.agent_selection
        environment.step(3)
        assert environment.rewards[offender] == -7.5


@BOTH
@pytest.mark.parametrize("decisions", [0, 1, 9, 1000])
def test_the_same_seed_gives_the_same_hand_whatever_was_played(make: Make, decisions: int) -> None:
    environment = started(make, 5)
    first = list(course(environment))
    environment.reset(seed=99)
    for _ in range(decisions):
        if not over(environment):
            act(environment)
    environment.reset(seed=5)
    assert same(list(course(environment)), first)


@BOTH
def test_resets_without_a_seed_deal_the_seeds_next_hands(make: Make) -> None:
    environment = started(make, 5)
    decks = {Round(seed=5, deal=deal).deck for deal in range(6)}
    assert len(decks) == 6
    for deal in range(6):
        hand = Round(seed=5, deal=deal)
        assert AGENTS.index(environment.agent_selection) == hand.player
        assert same([seen["observation"] for seen in shown(environment)], [hand.observation(0), hand.observation(1)])
        assert environment.unwrapped.state()[2 * WIDTH :].sum() == 2 * 31
        for _ in range(deal):
            act(environment)
        environment.reset()


def test_other_seeds_give_other_hands() -> None:
    environment = straight_gin_v0.raw_env()
    decks = set()
    for seed in (*range(200), 2**32, 2**63, 2**64 - 1):
        environment.reset(seed=seed)
        decks.add(environment.state().tobytes())
    assert len(decks) == 203


def test_without_a_seed_hands_differ() -> None:
    environments = [straight_gin_v0.raw_env() for _ in range(2)]
    for environment in environments:
        environment.reset()
    assert environments[0].state().tobytes() != environments[1].state().tobytes()


@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, "1", True])
def test_a_bad_seed_is_an_error_and_the_hand_goes_on(seed: Any) -> None:
    environment = started(straight_gin_v0.env, 5, decisions=3)
    before = shown(environment)
    with pytest.raises(ValueError, match="seed=.*expected None or an integer"):
        environment.reset(seed=seed)
    assert same(shown(environment), before)


# Options


DECK = list(range(51, -1, -1))


@BOTH
@pytest.mark.parametrize("first_player", [0, 1, None])
@pytest.mark.parametrize("deck", [DECK, tuple(DECK), np.array(DECK), None], ids=["list", "tuple", "array", "none"])
def test_deck_and_first_player_are_obeyed(make: Make, deck: Any, first_player: int | None) -> None:
    environment = make()
    environment.reset(seed=2, options={"deck": deck, "first_player": first_player})
    hand = Round(seed=2, deck=None if deck is None else DECK, first_player=first_player)
    assert environment.agent_selection == f"player_{hand.player}"
    assert hand.first_player == (Round(seed=2).first_player if first_player is None else first_player)
    assert same([seen["observation"] for seen in shown(environment)], [hand.observation(0), hand.observation(1)])
    environment.reset()
    assert same(environment.observe("player_0")["observation"], Round(seed=2, deal=1).observation(0))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"deck": DECK[:51]}, "it has 51 cards"),
        ({"deck": [0, *range(51)]}, "AS .0. stands twice"),
        ({"deck": [*range(51), 52]}, "deck holds 52"),
        ({"deck": "AS KC"}, "deck holds 'A'"),
        ({"deck": 5}, "deck=5: expected a permutation"),
        ({"first_player": 2}, "first_player=2: expected 0 or 1"),
        ({"first_player": "player_0"}, "first_player='player_0': expected 0 or 1"),
        ({"first_player": True}, "first_player=True: expected 0 or 1"),
    ],
    ids=str,
)
@BOTH
def test_a_bad_option_is_an_error_and_the_hand_goes_on(make: Make, options: dict[str, Any], message: str) -> None:
    environment = started(make, 5, decisions=3)
    before = shown(environment)
    with pytest.raises(ValueError, match=message):
        environment.reset(seed=6, options=options)
    assert same(shown(environment), before)


@BOTH
def test_an_unknown_option_is_a_warning(make: Make) -> None:
    environment = make()
    with pytest.warns(UserWarning, match="reset option 'decks' is unknown and ignored: known are deck, first_player"):
        environment.reset(seed=5, options={"decks": DECK})
    assert same(shown(environment), shown(started(make, 5)))


# Copies


@EVERY_COPY
@BOTH
def test_copies_continue_identically(make: Make, copied: Callable[[Any], Any]) -> None:
    for decisions in (0, 1, 8, 17):
        environment = started(make, 9, decisions, rules="big_gin", reward="win", render_mode="ansi")
        twin = copied(environment)
        before = copied(twin)
        rest = list(course(environment))
        assert same(shown(twin), shown(before))  # playing on has not moved the copy
        assert twin.render() == before.render()
        assert same(list(course(twin)), rest)
        environment.reset()
        twin.reset()
        assert same(list(course(twin)), list(course(environment)))  # nor do the seed's next hands differ


@EVERY_COPY
def test_a_copy_of_env_still_ends_the_game_after_an_illegal_action(copied: Callable[[Any], Any]) -> None:
    twin = copied(started(straight_gin_v0.env, 4, 5, illegal_reward=-9))
    offender = twin.agent_selection
    twin.step(3)
    assert twin.rewards[offender] == -9
    assert over(twin)


@BOTH
def test_two_environments_share_nothing(make: Make) -> None:
    one, other = started(make, 1), started(make, 2, rules="big_gin", reward="win")
    together = []
    for step in zip(course(one), course(other), strict=False):
        together.append(step)
    assert same([step[0] for step in together], list(course(started(make, 1)))[: len(together)])
    alone = list(course(started(make, 2, rules="big_gin", reward="win")))
    assert same([step[1] for step in together], alone[: len(together)])


# The whole state


@pytest.mark.parametrize("name", PRESETS)
def test_state_holds_everything(name: str) -> None:
    """Both seats' observations and the stock in order, so that the hand can be told from it."""
    environment = started(straight_gin_v0.env, 6, rules=name)
    hand = Round(name, seed=6)
    while True:
        state = environment.state()
        assert environment.unwrapped.state_space.contains(state)
        assert state.shape == (STATE_WIDTH,)
        assert same(state[:WIDTH], hand.observation(0))
        assert same(state[WIDTH : 2 * WIDTH], hand.observation(1))
        stock = state[2 * WIDTH :].reshape(31, STOCK_COLUMNS)
        cards = [int(row[:13].argmax() + 13 * row[13:].argmax()) for row in stock if row.any()]
        assert hand.deck is not None
        assert cards == list(hand.deck[52 - hand.stock :])
        assert stock.sum() == 2 * hand.stock
        if hand.over:
            break
        hand.apply(act(environment))


# Drawing


@pytest.mark.parametrize("name", PRESETS)
def test_ansi_never_shows_hidden_cards(name: str) -> None:
    """Whatever the acting seat can't know is dealt anew: its drawing stays the same."""
    environment = started(straight_gin_v0.env, 9, rules=name, render_mode="ansi")
    moved = 0
    while not over(environment):
        seat = AGENTS.index(environment.agent_selection)
        drawn = environment.render()
        twin = copy.deepcopy(environment)
        for again in range(3):
            redeal_first(twin.unwrapped._records, seat, np.uint64(again))
            moved += twin.state().tobytes() != environment.state().tobytes()
            assert twin.render() == drawn
        act(environment)
    assert moved > 50


def words(text: str) -> list[str]:
    return text.replace("[", " ").replace("]", " ").split()


def test_ansi_shows_the_own_cards_and_who_is_to_act() -> None:
    environment = started(straight_gin_v0.env, 9, render_mode="ansi")
    hand = Round(seed=9)
    while hand.player is not None:
        me, opponent = f"player_{hand.player}", f"player_{1 - hand.player}"
        theirs, pile, _, own, turn = environment.render().splitlines()
        assert {*words(own)} >= {me, "deadwood", *map(card_text, hand.hands[hand.player])}
        assert theirs.startswith(f"{opponent}   10 cards")
        upcard = "none" if hand.upcard is None else card_text(hand.upcard)
        assert words(pile)[:4] == ["upcard", upcard, "stock", str(hand.stock)]
        assert turn == f"{me} to act: {hand.phase}"
        hand.apply(act(environment))


def test_the_final_position_is_rendered() -> None:
    environment = started(straight_gin_v0.env, 1, render_mode="ansi")
    hand = played_out(Round(seed=1))
    while not over(environment):
        act(environment)
    text = environment.render()
    assert hand.outcome == "gin"
    assert f"over: gin, player_0 {hand.scores[0]}, player_1 {hand.scores[1]}" in text
    for cards in hand.hands:  # both hands have been laid down
        assert {*words(text)} >= {*map(card_text, cards)}


def test_a_dead_hand_is_not_laid_down() -> None:
    environment = started(straight_gin_v0.env, dead_seed(), render_mode="ansi")
    while not over(environment):
        act(environment)
    first = environment.render().splitlines()[0]
    assert first.startswith("player_1")
    assert "10 cards" in first
    assert "deadwood" not in first


@BOTH
def test_human_prints_every_step_and_returns_nothing(make: Make, capsys: pytest.CaptureFixture[str]) -> None:
    environment = started(make, 1, render_mode="human")
    capsys.readouterr()
    act(environment)
    assert capsys.readouterr().out.count("to act") == 1
    assert environment.render() is None
    assert capsys.readouterr().out.count("to act") == 1
    while not over(environment):
        act(environment)
    assert "over: gin" in capsys.readouterr().out


@BOTH
def test_render_without_a_mode_says_so(make: Make) -> None:
    environment = started(make, 1)
    with pytest.warns(UserWarning, match="render_mode='ansi'"):
        assert environment.render() is None


# The parallel API


def test_parallel_ignores_the_action_off_turn() -> None:
    environment = straight_gin_v0.parallel_env()
    observations, infos = environment.reset(seed=4)
    hand = Round(seed=4)
    while environment.agents:
        assert hand.player is not None
        for seat, agent in enumerate(AGENTS):
            assert same(observations[agent]["action_mask"], hand.action_mask(seat))
            assert same(infos[agent]["action_mask"], hand.action_mask(seat))
        seen = observations[AGENTS[hand.player]]
        action = decide_one(seen["observation"], seen["action_mask"])
        actions = {AGENTS[hand.player]: action, AGENTS[1 - hand.player]: 107 - action}
        hand.apply(action)
        observations, rewards, terminations, truncations, infos = environment.step(actions)
        for seat, agent in enumerate(AGENTS):
            assert same(observations[agent]["observation"], hand.observation(seat))
    assert terminations == dict.fromkeys(AGENTS, True)
    assert truncations == dict.fromkeys(AGENTS, False)
    first, second = hand.scores
    assert rewards == {"player_0": first - second, "player_1": second - first}
    assert {info["outcome"] for info in infos.values()} == {hand.outcome}


def test_parallel_ends_for_both_after_an_illegal_action() -> None:
    environment = straight_gin_v0.parallel_env(illegal_reward=-6)
    environment.reset(seed=4)
    player = Round(seed=4).player
    assert player is not None
    _, rewards, terminations, _, _ = environment.step(dict.fromkeys(AGENTS, 3))
    assert rewards == {AGENTS[player]: -6.0, AGENTS[1 - player]: 0.0}
    assert terminations == dict.fromkeys(AGENTS, True)
    assert environment.agents == []


def test_cards_of_a_hand_stay_those_of_the_record() -> None:
    """The Round and the environment hold the same hidden cards at every step (not only what is shown)."""
    environment = started(straight_gin_v0.raw_env, 12)
    hand = Round(seed=12)
    while not hand.over:
        hand.apply(act(environment))
        hands = environment._records["hidden"]["hands"][0]
        assert (cards_of(hands[0]), cards_of(hands[1])) == hand.hands
