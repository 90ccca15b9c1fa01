"""Match play, by clause of the rules page: targets, Hollywood, series, dealers, bonuses, limits."""

import json
import random
from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Any

import pytest

from gin_env.match import Match
from gin_env.rules.match import MatchRules

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parents[1] / "golden" / "melds.json").read_text())
WORKED = "A31 A47 B40 A38"  # rule 4.5


def hands(text: str) -> list[tuple[int, int] | None]:
    """Hands as A31 (seat 0 scores), B40 (seat 1 scores) and - (dead)."""
    found: list[tuple[int, int] | None] = []
    for word in text.split():
        points = int(word[1:] or 0)
        found.append(None if word == "-" else (points, 0) if word[0] == "A" else (0, points))
    return found


def played(text: str, **settings: Any) -> Match:
    match = Match(**settings)
    for scores in hands(text):
        match.add(scores)
    return match


def dealers(text: str, **settings: Any) -> list[int]:
    """Who deals each hand, and the one after the last."""
    match = Match(**settings)
    found = [match.dealer]
    for scores in hands(text):
        match.add(scores)
        found.append(match.dealer)
    return found


# One hand


@pytest.mark.parametrize(("hand", "scores", "winner"), [("A31", (31, 0), 0), ("B98", (0, 98), 1), ("-", (0, 0), None)])
def test_4_1_one_hand(hand: str, scores: tuple[int, int], winner: int | None) -> None:
    match = played(hand, kind="hand", box_bonus=20, game_bonus=100)
    assert match.over
    assert not match.truncated
    assert (match.scores, match.winner, match.games) == (scores, winner, ((*scores, winner),))


# Target


def test_4_2_the_first_to_reach_the_target_wins() -> None:
    match = played("A31 A47 B99", kind="target", target=100)
    assert (match.over, match.winner, match.scores) == (False, None, (78, 99))
    match.add((22, 0))
    assert (match.over, match.winner, match.scores) == (True, 0, (100, 99))  # exact equality included


def test_4_2_the_default_target_is_250() -> None:
    match = played("B125 B124", kind="target")
    assert not match.over
    match.add((0, 1))
    assert (match.winner, match.games) == (1, ((0, 250, 1),))


def test_4_2_a_dead_hand_enters_nothing_and_its_dealer_deals_again() -> None:
    assert dealers("- - A10 - B10", target=100) == [0, 0, 0, 1, 1, 0]
    assert played("- A10 -", target=100).scores == (10, 0)
    match = Match(target=100)
    match.add((0, 0))
    assert (match.dealer, match.deals) == (0, 1)


@pytest.mark.parametrize(
    ("next_dealer", "expected"),
    [("alternate", [1, 0, 1, 1, 0]), ("winner", [1, 0, 0, 0, 1]), ("loser", [1, 1, 1, 1, 0])],
)
def test_4_2_next_dealer(next_dealer: str, expected: list[int]) -> None:
    assert dealers("A10 A10 - B10", first_dealer=1, next_dealer=next_dealer) == expected


# Hollywood


@pytest.mark.parametrize("trace", GOLDEN["hollywood"], ids=["closes one by one", "shutout columns", "open"])
def test_4_3_golden_traces(trace: dict[str, Any]) -> None:
    match = Match(kind="hollywood", target=trace["target"])
    seats = {"A": 0, "B": 1, None: None}
    closed: list[int | None] = [None, None, None]
    for number, (who, points) in enumerate(trace["hands"], 1):
        match.add({"A": (points, 0), "B": (0, points), None: None}[who])
        for game in range(3):
            if closed[game] is None and match.games[game][2] is not None:
                closed[game] = number
    assert match.games == tuple((a, b, seats[who]) for a, b, who in trace["games"])
    assert closed == trace["closed_after_hand"]
    assert match.winner == seats[trace["match"]]
    assert match.over == (trace["match"] is not None)
    assert match.scores == tuple(sum(game[seat] for game in trace["games"]) for seat in (0, 1))


def test_4_3_no_point_is_lost_after_a_shutout_column() -> None:
    """If the k-th win went to games 1 to k, game 2 would lack B's 30 and game 3 B's 40, as game 1 is closed."""
    match = played("A50 A50 B30 B40", kind="hollywood", target=100)
    assert match.games == ((100, 0, 0), (50, 70, None), (0, 40, None))


def followed_alone(sequence: Sequence[tuple[int, int]], target: int) -> list[tuple[int, int, int, int]]:
    """Points, winner and closing hand of each game, from where a seat's entries begin in it and where it closes.

    A seat's entries begin with its first win after every earlier game was closed or had one of its entries; from there on all
    its wins count until the game closes.
    """
    begins: list[list[float]] = []
    games: list[tuple[int, int, int, int]] = []
    for number in range(3):
        begin: list[float] = []
        for seat in (0, 1):
            after = max((min(begins[game][seat], games[game][3]) for game in range(number)), default=0)
            begin.append(min((at for at, (who, _) in enumerate(sequence, 1) if who == seat and at > after), default=inf))
        points = [0, 0]
        for at, (seat, score) in enumerate(sequence, 1):
            points[seat] += score if at >= begin[seat] else 0
            if points[seat] >= target:
                begins.append(begin)
                games.append((points[0], points[1], seat, at))
                break
    return games


def check_hollywood(seed: int, count: int) -> None:
    chance = random.Random(seed)
    for _ in range(count):
        target = chance.choice((100, 250))
        bias, most = chance.random(), chance.choice((30, 60, 123))
        match = Match(kind="hollywood", target=target, deal_limit=10_000)
        sequence = []
        while not match.over:
            seat, score = int(chance.random() < bias), chance.randint(1, most)
            sequence.append((seat, score))
            match.add((0, score) if seat else (score, 0))
        games = followed_alone(sequence, target)
        assert match.games == tuple(game[:3] for game in games)
        assert max(game[3] for game in games) == len(sequence)
        won = [game[2] for game in match.games]
        assert match.winner == max((0, 1), key=won.count)


def test_4_3_each_game_followed_alone() -> None:
    check_hollywood(1, 1_000)


@pytest.mark.long
def test_4_3_each_game_followed_alone_100_000_times() -> None:
    check_hollywood(2, 100_000)


# Series


@pytest.mark.parametrize("rounds", [1, 3, 6, 12])
def test_4_4_a_fixed_number_of_rounds(rounds: int) -> None:
    match = Match(kind="series", rounds=rounds)
    for n in range(rounds):
        assert not match.over
        match.add((0, 20 + n))
    assert match.over
    assert match.winner == 1
    assert match.scores == (0, sum(20 + n for n in range(rounds)))


def test_4_4_equal_totals_are_a_shared_victory() -> None:
    match = played("A30 B10 B20", kind="series", rounds=3, game_bonus=100)
    assert (match.over, match.winner, match.scores, match.truncated) == (True, None, (30, 30), False)


@pytest.mark.parametrize("next_dealer", ["alternate", "winner", "loser"])
def test_4_4_a_dead_hand_is_a_round_and_the_deal_alternates(next_dealer: str) -> None:
    assert dealers("- - -", kind="series", rounds=3, next_dealer=next_dealer) == [0, 1, 0, 1]


# Bonuses and limits


@pytest.mark.parametrize(
    ("text", "bonuses", "scores"),
    [
        (WORKED, {}, (116, 40)),
        (WORKED, {"game_bonus": 100, "box_bonus": 20}, (276, 60)),
        (WORKED, {"game_bonus": 100, "box_bonus": 20, "shutout_bonus": 100}, (276, 60)),
        ("A60 A45", {}, (105, 0)),
        ("A60 A45", {"game_bonus": 100, "box_bonus": 20, "shutout_bonus": 100}, (345, 0)),
    ],
)
def test_4_5_worked_examples(text: str, bonuses: dict[str, int], scores: tuple[int, int]) -> None:
    match = played(text, target=100, **bonuses)
    assert (match.scores, match.winner) == (scores, 0)


def test_4_5_bonuses_never_count_toward_the_target() -> None:
    match = played("A40 A40", target=100, box_bonus=20)
    assert (match.over, match.scores) == (False, (80, 0))


def test_4_5_a_target_winner_stays_the_winner_below_the_loser() -> None:
    match = played("B10 B10 B10 B10 A100", target=100, box_bonus=50)
    assert (match.winner, match.scores) == (0, (150, 240))


def test_4_5_a_series_is_decided_with_them() -> None:
    match = played("A45 B20 B20", kind="series", rounds=3, box_bonus=10, game_bonus=100)
    assert (match.winner, match.scores) == (1, (55, 160))


def test_4_5_each_hollywood_game_has_its_own() -> None:
    match = played("A60 A60 A60 A60", kind="hollywood", target=100, box_bonus=20, game_bonus=100, shutout_bonus=50)
    assert match.games == ((120 + 190, 0, 0), (120 + 190, 0, 0), (120 + 190, 0, 0))


@pytest.mark.parametrize("kind", ["target", "hollywood"])
def test_4_6_the_deal_limit_cuts_a_match_off(kind: str) -> None:
    match = played("A40 - -", kind=kind, target=100, deal_limit=3, box_bonus=20)
    assert (match.over, match.truncated, match.winner, match.scores) == (True, True, None, (40, 0))
    assert not played("A40 - A60", kind="target", target=100, deal_limit=3).truncated


# Errors


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({"kind": "best of three"}, "kind='best of three'"),
        ({"target": 0}, "target=0"),
        ({"target": True}, "target=True"),
        ({"kind": "series"}, "rounds=None"),
        ({"kind": "series", "rounds": 0}, "rounds=0"),
        ({"rounds": 3}, "rounds=3 with kind='target'"),
        ({"next_dealer": "me"}, "next_dealer='me'"),
        ({"deal_limit": 2.0}, "deal_limit=2.0"),
        ({"box_bonus": -1}, "box_bonus=-1"),
        ({"first_dealer": 2}, "first_dealer=2"),
    ],
)
def test_bad_settings_are_named(settings: dict[str, Any], names: str) -> None:
    with pytest.raises(ValueError, match=names):
        Match(**settings)


@pytest.mark.parametrize("scores", [(1, 1), (-1, 0), (1099, 0), (1.0, 0), (True, 0), 3, (1, 2, 3), "12", {5, 0}])
def test_bad_scores_are_named_and_nothing_is_entered(scores: Any) -> None:
    match = played("A40")
    with pytest.raises(ValueError, match="scores="):
        match.add(scores)
    assert (match.scores, match.deals) == ((40, 0), 1)


def test_nothing_is_entered_after_the_end() -> None:
    match = played("A100", target=100)
    with pytest.raises(ValueError, match="the match is over"):
        match.add((10, 0))
    assert match.scores == (100, 0)


def test_match_rules_are_comparable() -> None:
    assert MatchRules() == MatchRules(kind="target", target=250)
    assert hash(MatchRules(target=100)) != hash(MatchRules())
