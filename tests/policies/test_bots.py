"""The bots' rules, restated slowly over the reference's melding, and the Policy interface around them."""

import pickle
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gin_env.advance import OUTSIDE, advance, write_decisions
from gin_env.observation import action_masks_of, observations_of
from gin_env.policies.policy import Batch, CompiledPolicy, Policy, checked_actions
from gin_env.policies.registry import LADDER, policy
from gin_env.round import Round
from gin_env.rules.actions import BIG_GIN, DISCARD, DRAW, GO_OUT, PASS, TAKE
from gin_env.rules.cards import parse_cards
from gin_env.rules.phases import apply_first, start_all
from gin_env.rules.ruleset import Rules, compiled_rules
from gin_env.rules.state import RECORD
from gin_env.rules.view import VIEW, View
from tests.hands import ALMOST, LOSER, NOTHING, PLAYERS, RULE_SETS, WINNER, G, asked_last, dealt, play, positions
from tests.positions import batch_of
from tests.reference import melding

EVERY_RULE_SET = pytest.mark.parametrize("name", RULE_SETS)
EVERY_BOT = pytest.mark.parametrize("bot", LADDER)
OTHER = "KC KD QC QD JC JD TC TD 9C 9D"  # beside G
KEYS = np.random.default_rng(0).integers(0, 2**64, 40, np.uint64).tolist()


def choices(bot: str, hand: Round, keys: list[int] = KEYS) -> list[int]:
    """What a bot does in a position, for each key."""
    views = np.repeat(batch_of(hand, 0).views, len(keys))
    batch = Batch(views, np.arange(len(keys)), np.array(keys, np.uint64))
    return [int(action) for action in checked_actions(policy(bot), batch)]


# The rules of the bots, restated


def by_rank(card: int) -> tuple[int, int]:
    return card % 13, card


def going_out(view: View, rules: Rules) -> int | None:
    """Big gin where it pays at least as much, else the gin that discards the highest card."""
    outs = [action - GO_OUT for action in view.legal if action >= GO_OUT]
    if BIG_GIN in view.legal:
        assert rules.big_gin_bonus is not None
        if rules.big_gin_bonus >= rules.gin_bonus or not outs:
            return BIG_GIN
    return GO_OUT + max(outs, key=by_rank) if outs else None


def best_discards(view: View, rules: Rules, kept: set[int | None]) -> list[int]:
    """The discards that leave least deadwood, of the cards not kept."""
    cards = [action - DISCARD for action in view.legal if DISCARD <= action < GO_OUT and action - DISCARD not in kept]
    left = {card: melding.deadwood(set(view.hand) - {card}, rules.max_run) for card in cards}
    return [card for card in cards if left[card] == min(left.values())]


def least_after_taking(view: View, rules: Rules) -> int:
    """Deadwood after taking the upcard and the best legal discard."""
    assert view.upcard is not None
    hand = {*view.hand, view.upcard}
    may_go = hand if rules.may_return_upcard else set(view.hand)
    return min(melding.deadwood(hand - {card}, rules.max_run) for card in may_go)


def in_a_meld(view: View, rules: Rules) -> bool:
    """Whether the upcard is in some meld of hand and upcard."""
    assert view.upcard is not None
    hand = frozenset({*view.hand, view.upcard})
    return any(view.upcard in meld for meld in melding.all_melds(hand, rules.max_run))


def allowed(bot: str, view: View, rules: Rules) -> set[int]:
    """All that a bot may do; where it is more than one action, the key decides."""
    if view.phase in ("discard", "last_out"):
        out = going_out(view, rules)
        if out is not None:
            return {out}
        if bot == "random":
            return set(view.legal)
        best = best_discards(view, rules, {view.taken} if bot == "simple" else set())
        return {DISCARD + (max(best, key=by_rank))} if bot == "greedy" else {DISCARD + card for card in best}
    if bot == "random" or len(view.legal) == 1:
        return set(view.legal)
    if view.phase == "last":
        return {TAKE}
    other = DRAW if DRAW in view.legal else PASS
    if bot == "novice":
        return {TAKE, other}
    if bot == "simple":
        return {TAKE if in_a_meld(view, rules) else other}
    return {TAKE if least_after_taking(view, rules) < melding.deadwood(view.hand, rules.max_run) else other}


@EVERY_BOT
@EVERY_RULE_SET
def test_bots_play_by_their_rules(name: str, bot: str) -> None:
    """Over 40 keys the choices are all allowed, and all that is allowed is chosen where it is two things."""
    rules = RULE_SETS[name]
    chance = random.Random(f"{name} {bot}")
    seen: Counter[str] = Counter()
    for hand in positions(rules, 4 * len(PLAYERS)):
        keep = {"draw": 0.05, "discard": 0.08, "last_out": 1, "last": 1}.get(hand.phase, 0.3)
        if hand.over or (chance.random() > keep and not any(action >= GO_OUT for action in hand.legal_actions())):
            continue
        assert hand.player is not None
        view = hand.view(hand.player)
        right = allowed(bot, view, rules)
        chosen = set(choices(bot, hand))
        assert chosen <= right, (bot, view, hand.actions)
        assert len(chosen) >= min(2, len(right))
        seen[hand.phase] += 1
        seen["out"] += min(right) >= GO_OUT or right == {BIG_GIN}
        seen["take"] += right == {TAKE}
    assert seen["draw"] > 10
    assert seen["discard"] > 20
    assert seen["out"] > 5
    assert seen["take"] > 0 or bot in ("random", "novice")


@EVERY_BOT
def test_random_choices_are_even(bot: str) -> None:
    """Where the key decides, each choice is about equally often made: 600 keys, four standard deviations."""
    keys = np.random.default_rng(0).integers(0, 2**64, 600, np.uint64).tolist()
    draw = dealt("straight", NOTHING, LOSER, upcard="4C", stock="KH")
    discard = play(draw.clone(), DRAW)  # the king goes, or any card
    tie = play(dealt("straight", LOSER, NOTHING, stock="KS"), DRAW)  # eleven cards, nine worth ten
    for hand in (draw, discard, tie):
        assert hand.player is not None
        right = allowed(bot, hand.view(hand.player), Rules())
        counts = Counter(choices(bot, hand, keys))
        assert set(counts) == right
        share = 1 / len(right)
        assert all(abs(counts[action] - 600 * share) <= 4 * (600 * share * (1 - share)) ** 0.5 for action in right)


# Cases by hand


@EVERY_BOT
def test_big_gin_where_it_pays_at_least_as_much(bot: str) -> None:
    for gin_bonus, big_gin_bonus, big in ((20, 30, True), (25, 25, True), (30, 20, False)):
        rules = Rules(gin_bonus=gin_bonus, big_gin_bonus=big_gin_bonus)
        hand = play(dealt(rules, WINNER, LOSER, stock="4S"), DRAW)
        best = BIG_GIN if big else GO_OUT + parse_cards("7C")[0]
        assert set(choices(bot, hand)) == {best}
    assert set(choices(bot, play(dealt("straight", WINNER, LOSER, stock="4S"), DRAW))) == {GO_OUT + parse_cards("7C")[0]}


@EVERY_BOT
def test_goes_out_when_it_can(bot: str) -> None:
    hand = play(dealt("straight", G, OTHER, upcard="9S"), TAKE)
    assert set(choices(bot, hand)) == {GO_OUT + parse_cards("KS")[0]}
    last = asked_last(Rules(last_discard_option=True))
    assert set(choices(bot, last)) == ({TAKE, PASS} if bot == "random" else {TAKE})
    assert set(choices(bot, play(last, TAKE))) == {GO_OUT + parse_cards("AH")[0]}


@pytest.mark.parametrize("bot", ["novice", "simple", "greedy"])
def test_never_gives_a_meld_away(bot: str) -> None:
    hand = play(dealt("straight", ALMOST, OTHER, stock="KH"), DRAW)
    assert set(choices(bot, hand)) == {DISCARD + parse_cards("KH")[0]}


def test_greedy_breaks_ties_by_rank_then_id() -> None:
    hand = play(dealt("straight", LOSER, NOTHING, stock="KS"), DRAW)  # KS KD KC is a set: a queen goes, of highest id
    assert set(choices("greedy", hand)) == {DISCARD + parse_cards("QH")[0]}
    hand = play(dealt("straight", LOSER.replace("KC", "8S"), NOTHING, stock="KH"), DRAW)
    assert set(choices("greedy", hand)) == {DISCARD + parse_cards("KD")[0]}


@pytest.mark.parametrize(
    ("upcard", "simple", "greedy"), [("KH", TAKE, TAKE), ("QC", TAKE, DRAW), ("4D", DRAW, TAKE), ("KC", DRAW, DRAW)]
)
def test_the_draw_of_simple_and_greedy(upcard: str, simple: int, greedy: int) -> None:
    """Simple takes what is in some meld, even one that costs another; greedy what lowers deadwood, in a meld or not."""
    hand = dealt("straight", "TH JH QH 3C 4C 5C AS 2D 2H QS", "KS KD QD JC JD TS TD 9C 9D 9S", upcard=upcard)
    assert set(choices("simple", hand)) == {simple}
    assert set(choices("greedy", hand)) == {greedy}


@EVERY_BOT
def test_draws_the_stock_after_two_passes(bot: str) -> None:
    hand = play(dealt(Rules(opening_offer=True), NOTHING, LOSER), PASS, PASS)
    assert set(choices(bot, hand)) == {DRAW}


@pytest.mark.parametrize(("bot", "upcard"), [("simple", "9H"), ("greedy", "9H"), ("greedy", "5C")])
def test_takes_the_last_discard_even_with_gin_in_hand(bot: str, upcard: str) -> None:
    """Every bot goes out when it can: here taking loses nothing, and passing makes the hand dead."""
    hand = asked_last(Rules(last_discard_option=True, may_return_upcard=True), G, upcard)
    assert hand.phase == "last"
    assert set(choices(bot, hand)) == {TAKE}


# The interface


class Answers(Policy):
    """A policy of one answer."""

    name = "answers"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def act(self, batch: Batch) -> NDArray[np.int64]:
        return self.answer  # type: ignore[no-any-return]  # what is tested


@pytest.mark.parametrize(
    ("answer", "shape"),
    [
        (np.zeros(2, np.int64), r"\(2,\)"),
        (np.zeros((1, 1), np.int64), r"\(1, 1\)"),
        (0, r"\(\)"),
        (np.zeros(1), "float64"),
        (np.zeros(1, bool), "bool"),
        ([None], "object"),
        (["0"], "<U1"),
    ],
)
def test_an_answer_of_another_shape_or_type(answer: Any, shape: str) -> None:
    with pytest.raises(ValueError, match=rf"policy 'answers' .*{shape}.*: expected \(1,\) integers"):
        checked_actions(Answers(answer), batch_of(Round(seed=0), 0))


@pytest.mark.parametrize("action", [2, 3, 4, 107, -1, 108, 2**40, -(2**63)])
def test_an_illegal_answer(action: int) -> None:
    with pytest.raises(ValueError, match=rf"policy 'answers' chose action {action} in View\(.*legal are \[0, 1\]"):
        checked_actions(Answers(np.array([action])), batch_of(Round(seed=0), 0))


def test_an_illegal_answer_names_its_own_view() -> None:
    hands = [Round(seed=seed) for seed in range(5)]
    views = np.concatenate([batch_of(hand, 0).views for hand in hands])
    batch = Batch(views, np.arange(5), np.zeros(5, np.uint64))
    with pytest.raises(ValueError, match="chose action 7") as error:
        checked_actions(Answers([0, 1, 0, 7, 9]), batch)
    player = hands[3].player
    assert player is not None
    assert repr(hands[3].view(player)) in str(error.value)
    assert checked_actions(Answers([0, 1, 0, 1, 0]), batch).tolist() == [0, 1, 0, 1, 0]
    assert checked_actions(Answers(np.ones(5, np.uint8)), batch).dtype == np.int64


def random_batch(name: str, number: int) -> Batch:
    """Decisions of random hands, with a key each."""
    chance = random.Random(number)
    hands = [hand.clone() for hand in positions(RULE_SETS[name], len(PLAYERS)) if not hand.over]
    picked = chance.sample(hands, number)
    views = np.concatenate([batch_of(hand, 0).views for hand in picked])
    return Batch(views, np.arange(number), np.array([chance.getrandbits(64) for _ in picked], np.uint64))


@EVERY_BOT
def test_choices_do_not_depend_on_the_batch(bot: str) -> None:
    batch = random_batch("all", 100)
    together = policy(bot).act(batch)
    assert together.dtype == np.int64
    alone = [int(policy(bot).act(Batch(batch.views[i : i + 1], batch.lanes[:1], batch.keys[i : i + 1]))[0]) for i in range(100)]
    assert together.tolist() == alone
    backwards = Batch(batch.views[::-1].copy(), batch.lanes[::-1].copy(), batch.keys[::-1].copy())
    assert policy(bot).act(backwards)[::-1].tolist() == alone
    assert policy(bot).act(Batch(batch.views[:0], batch.lanes[:0], batch.keys[:0])).shape == (0,)


def test_a_batch_makes_observations_and_masks_when_asked_for() -> None:
    batch = random_batch("straight", 20)
    assert len(batch) == 20
    assert batch.observations.tobytes() == observations_of(batch.views).tobytes()
    assert batch.action_masks.tobytes() == action_masks_of(batch.views).tobytes()


# Play inside compiled code


def deal(rules: Rules, seeds: range) -> Any:
    records = np.zeros(len(seeds), RECORD)
    records["public"]["rules"] = compiled_rules(rules)
    records["hidden"]["seed"] = list(seeds)
    start_all(records)
    return records


def play_by_act(records: Any, bots: list[Policy]) -> None:
    """Play the records to the end through `act`, all lanes at once."""
    while (lanes := np.flatnonzero(records["public"]["player"] >= 0)).size:
        for seat in (0, 1):
            due = lanes[records["public"]["player"][lanes] == seat]
            views, keys = np.zeros(len(due), VIEW), np.zeros(len(due), np.uint64)
            write_decisions(records, due, views, keys)
            actions = checked_actions(bots[seat], Batch(views, due, keys))
            for lane, action in zip(due, actions, strict=True):
                assert apply_first(records[lane : lane + 1], int(action))


@pytest.mark.parametrize("bots", [("random", "greedy"), ("novice", "simple"), ("simple", "random"), ("greedy", "novice")])
@pytest.mark.parametrize("name", ["straight", "big gin, offer, last", "all"])
def test_advance_plays_what_act_plays(name: str, bots: tuple[str, str]) -> None:
    """Whole hands, to the byte of the record."""
    seats = [policy(bot) for bot in bots]
    ours, theirs = deal(RULE_SETS[name], range(100, 120)), deal(RULE_SETS[name], range(100, 120))
    assert advance(ours, seats[0].address, seats[1].address, np.zeros(1, VIEW)) == -1
    assert (ours["public"]["player"] == -1).all()
    play_by_act(theirs, seats)
    assert ours.tobytes() == theirs.tobytes()


def test_advance_does_not_depend_on_the_batch() -> None:
    seats = (policy("novice").address, policy("random").address)
    together = deal(Rules(), range(10))
    advance(together, *seats, np.zeros(1, VIEW))
    for seed in range(10):
        alone = deal(Rules(), range(seed, seed + 1))
        advance(alone, *seats, np.zeros(1, VIEW))
        assert alone.tobytes() == together[seed : seed + 1].tobytes()


def test_advance_stops_for_seats_decided_outside() -> None:
    greedy = policy("greedy").address
    for outside in ({0}, {1}, {0, 1}):
        records = deal(Rules(), range(8))
        before = deal(Rules(), range(8))
        seat0, seat1 = (OUTSIDE if seat in outside else greedy for seat in (0, 1))
        assert advance(records, seat0, seat1, np.zeros(1, VIEW)) == -1
        assert set(records["public"]["player"].tolist()) <= {-1, *outside}
        for record, start in zip(records, before, strict=True):
            stood_still = record.tobytes() == start.tobytes()
            assert stood_still == (int(start["public"]["player"]) in outside)


def always_pass(view: Any, key: np.uint64) -> int:
    """A decision that the straight game does not know."""
    return PASS


def test_advance_tells_of_an_illegal_choice_and_stands_before_it() -> None:
    bad = CompiledPolicy("always_pass", always_pass)
    records = deal(Rules(), range(6))
    first = records["public"]["first_player"].tolist()
    lane = advance(records, policy("greedy").address, bad.address, np.zeros(1, VIEW))
    assert lane == 0
    assert int(records["public"]["player"][0]) == 1
    assert int(records["public"]["turns"][0]) == (0 if first[0] == 1 else 1)
    assert records[1:].tobytes() == deal(Rules(), range(6))[1:].tobytes()
    with pytest.raises(ValueError, match="policy 'always_pass' chose action 2"):
        checked_actions(bad, batch_of(Round(seed=0), 0))


# By name


@EVERY_BOT
def test_policy_by_name(bot: str) -> None:
    found = policy(bot)
    assert (found.name, repr(found)) == (bot, f"CompiledPolicy({bot!r})")
    assert policy(found) is found
    twin = pickle.loads(pickle.dumps(found))
    batch = random_batch("straight", 30)
    assert twin.act(batch).tolist() == found.act(batch).tolist()


def test_the_ladder_is_in_order() -> None:
    assert list(LADDER)[:4] == ["random", "novice", "simple", "greedy"]


@pytest.mark.parametrize(("name", "near"), [("gredy", "greedy"), ("Simple", "simple"), ("novise", "novice")])
def test_unknown_policy_names_the_nearest(name: str, near: str) -> None:
    with pytest.raises(ValueError, match=f"{name!r} is no policy: expected one of random, .*did you mean {near!r}"):
        policy(name)


@pytest.mark.parametrize("name", ["zzzz", 5, None, Path("no/such/run")])
def test_unknown_policy(name: Any) -> None:
    with pytest.raises(ValueError, match="is no policy: expected one of random, novice, simple, greedy") as error:
        policy(name)
    assert repr(name) in str(error.value)


@pytest.mark.parametrize(
    ("weak", "strong", "least"), [("random", "novice", 8), ("novice", "simple", 6), ("random", "greedy", 20)]
)
def test_a_higher_level_wins(weak: str, strong: str, least: float) -> None:
    """Points a hand over 200 deals, each played in both seats."""
    points = 0
    for seat in (0, 1):
        records = deal(Rules(), range(1000, 1200))
        bots = [policy(strong if who == seat else weak).address for who in (0, 1)]
        assert advance(records, bots[0], bots[1], np.zeros(1, VIEW)) == -1
        scores = records["public"]["scores"].astype(int)
        points += int((scores[:, seat] - scores[:, 1 - seat]).sum())
    assert points / 400 > least
