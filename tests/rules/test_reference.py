"""The reference engine itself, against golden/melds.json and the cases of the rules page, by clause."""

import gzip
import json
import random
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from tests.reference.engine import BIG_GIN, DISCARD, DRAW, OUT, PASS, PRESETS, TAKE, Game, ReferenceRules
from tests.reference.melding import RUNS, SETS, all_melds, deadwood, gin_discards, is_melded, value

GOLDEN_FOLDER = Path(__file__).parents[1] / "golden"
GOLDEN: dict[str, Any] = json.loads((GOLDEN_FOLDER / "melds.json").read_text())
STRAIGHT, BIG = PRESETS["straight"], PRESETS["big_gin"]
BOTH = pytest.mark.parametrize("preset", ["straight", "big_gin"])

WINNER = "AS 2S 3S 4H 5H 6H 7C 7D 7H 7S"  # section 7
LOSER = "KC KD QH QS JC JD TH TS 9C 9D"
LOSER_AT_GIN = "8C 9C TC JC JD QD KD 2C 2D 2H"
G = "2C 3C 4C 7D 7H 7S TS JS QS KS"
G_LOSER = "KH KC QC QD JH JD TH TC 9C 9D"  # 98 too
NOTHING = "AS 3H 5D 8C 6S AD 3S 6H 8D 5H"  # no meld: 46
ALMOST = "2C 3C 4C 7D 7H 7S TS JS QS AH"  # gin with KS


def card(text: str) -> int:
    return 13 * "SHDC".index(text[1]) + "A23456789TJQK".index(text[0])


def cards(text: str) -> list[int]:
    return [card(word) for word in text.split()]


def texts(ids: Sequence[int]) -> list[str]:
    return sorted("A23456789TJQK"[i % 13] + "SHDC"[i // 13] for i in ids)


def deal(rules: ReferenceRules, seat0: str, seat1: str, upcard: str = "", stock: str = "", last: str = "") -> Game:
    """A hand that seat 0 starts; `stock` lies on top, `last` is drawn 29th, unnamed cards fill the rest in order."""
    named = cards(f"{seat0} {seat1} {upcard} {stock} {last}")
    rest = [i for i in range(52) if i not in named]
    deck = cards(seat0) + cards(seat1) + (cards(upcard) or [rest.pop(0)]) + cards(stock) + rest
    if last:
        deck.insert(21 + 28, card(last))
    return Game(rules, deck, first_player=0)


def play(game: Game, *actions: int) -> None:
    for action in actions:
        game.apply(action)
        game.check_conservation()


def draw_and_throw(game: Game) -> None:
    """A turn that changes no hand: draw from the stock and discard the card drawn."""
    play(game, DRAW, DISCARD + game.stock[0])


def run_down(game: Game, left: int) -> None:
    while len(game.stock) > left:
        draw_and_throw(game)


def outs(game: Game) -> list[str]:
    """The cards that may be discarded to go out now."""
    return texts([action - OUT for action in game.legal_actions() if action >= OUT])


# 1. Cards and melds


def test_1_1_ids_and_1_2_values() -> None:
    assert cards("AS KS AH AD AC KC") == [0, 12, 13, 26, 39, 51]
    assert [value(i) for i in range(39, 52)] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10]


def test_1_2_the_ace_is_low_only() -> None:
    assert is_melded(cards("AH 2H 3H"), None)
    assert not is_melded(cards("QH KH AH"), None)
    assert not is_melded(cards("KH AH 2H"), None)
    assert not is_melded([card("KS"), card("AH"), card("2H")], None)  # ids 12, 13, 14


def test_1_3_all_melds() -> None:
    assert (len(SETS), len(RUNS)) == (13 * 5, 4 * 66)
    hand = frozenset(cards("5H 6H 7H 8H 9H 7S 7D"))
    assert sorted(len(meld) for meld in all_melds(hand, None)) == [3, 3, 3, 3, 4, 4, 5]
    assert sorted(len(meld) for meld in all_melds(hand, 4)) == [3, 3, 3, 3, 4, 4]


@pytest.mark.parametrize(("key", "max_run"), [("max_run_none", None), ("max_run_4", 4)])
def test_1_3_counts_of_melded_hands(key: str, max_run: int | None) -> None:
    """Every hand of up to eleven cards without deadwood, built up meld by meld, counted against the exact counts."""
    melds = [sum(1 << i for i in meld) for meld in all_melds(frozenset(range(52)), max_run)]
    melded: set[int] = set()

    def build(hand: int, first: int) -> None:
        for index in range(first, len(melds)):
            if not hand & melds[index] and (more := hand | melds[index]).bit_count() <= 11:
                melded.add(more)
                if more.bit_count() <= 8:
                    build(more, index + 1)

    build(0, 0)
    count = [sum(hand.bit_count() == size for hand in melded) for size in range(12)]
    golden = GOLDEN["exact_counts"]
    assert count[3:10] == golden["zero_deadwood_hands_of_3_to_9_cards"][key]
    assert count[10] == golden["gin_hands_10"][key]
    assert count[11] == golden["fully_melded_11"][key]
    for hand in random.Random(0).sample(sorted(melded), 1000):
        assert is_melded([i for i in range(52) if hand >> i & 1], max_run)


@pytest.mark.parametrize("case", GOLDEN["ten_cards"] + GOLDEN["eleven_cards"], ids=lambda case: str(case["name"]))
def test_1_4_golden_deadwood(case: dict[str, Any]) -> None:
    assert deadwood(cards(case["cards"])) == case["deadwood"]
    assert deadwood(cards(case["cards"]), 4) == case["deadwood_max_run_4"]
    assert is_melded(cards(case["cards"]), None) == (case["deadwood"] == 0)


@pytest.mark.parametrize("max_run", [None, 4])
def test_1_4_deadwood_by_another_search(max_run: int | None) -> None:
    """Eleven cards hold three disjoint melds at most: try all choices of up to three."""
    rng = random.Random(0)
    for _ in range(300):
        hand = rng.sample(range(52) if rng.random() < 0.3 else range(13, 36), 11)
        melds = all_melds(frozenset(hand), max_run)
        best = max(
            sum(value(i) for meld in choice for i in meld)
            for size in range(4)
            for choice in combinations(melds, size)
            if len(frozenset().union(*choice)) == sum(len(meld) for meld in choice)
        )
        assert deadwood(hand, max_run) == sum(value(i) for i in hand) - best


def test_1_5_max_run_4_needs_3_3_4() -> None:
    two_fives = cards("5H 6H 7H 8H 9H 5S 6S 7S 8S 9S")
    assert is_melded(two_fives, None)
    assert not is_melded(two_fives, 4)
    assert is_melded(cards(WINNER), 4)


# 2. Deal and turn


def test_2_1_deal() -> None:
    deck = random.Random(0).sample(range(52), 52)
    game = Game(STRAIGHT, deck, first_player=1)
    assert game.hands == [set(deck[:10]), set(deck[10:20])]
    assert (game.pile, game.stock, len(game.stock)) == ([deck[20]], deck[21:], 31)
    assert (game.player, game.phase, game.turns, game.outcome, game.scores) == (1, "draw", 0, None, (0, 0))


@pytest.mark.parametrize("deck", [list(range(51)), [0, *range(51)], list(range(1, 53))])
def test_2_1_bad_deck(deck: list[int]) -> None:
    with pytest.raises(ValueError, match="permutation"):
        Game(STRAIGHT, deck, first_player=0)


def test_2_3_draw_then_discard() -> None:
    game = deal(STRAIGHT, NOTHING, LOSER, upcard="4C", stock="KH")
    assert game.legal_actions() == [DRAW, TAKE]
    play(game, DRAW)
    assert (game.player, game.phase) == (0, "discard")
    assert game.legal_actions() == sorted(DISCARD + i for i in cards(NOTHING + " KH"))
    play(game, DISCARD + card("AS"))
    assert (game.player, game.phase, game.turns, game.pile) == (1, "draw", 1, cards("4C AS"))


def test_2_4_opening_offer() -> None:
    rules = replace(STRAIGHT, opening_offer=True)
    for passes in (0, 1):
        game = deal(rules, NOTHING, LOSER, upcard="4C")
        play(game, *[PASS] * passes)
        assert (game.player, game.phase, game.legal_actions()) == (passes, "offer", [TAKE, PASS])
        play(game, TAKE)
        assert (game.player, game.phase, game.taken) == (passes, "discard", card("4C"))
        assert DISCARD + card("4C") not in game.legal_actions()  # 2.5
        play(game, game.legal_actions()[0])
        assert (game.player, game.phase, game.turns) == (1 - passes, "draw", 1)
    game = deal(rules, NOTHING, LOSER, upcard="4C")
    play(game, PASS, PASS)
    assert (game.player, game.phase, game.legal_actions(), game.turns) == (0, "stock", [DRAW], 0)
    play(game, DRAW)
    assert (game.player, game.phase, game.refused) == (0, "discard", [{card("4C")}] * 2)


def test_2_5_the_card_taken_may_not_go_back_in_the_same_turn() -> None:
    game = deal(STRAIGHT, NOTHING, LOSER, upcard="4C")
    play(game, TAKE)
    assert DISCARD + card("4C") not in game.legal_actions()
    play(game, DISCARD + card("AS"))
    draw_and_throw(game)
    play(game, DRAW)
    assert DISCARD + card("4C") in game.legal_actions()  # on a later turn any card may


@BOTH
def test_2_5_nor_be_the_discard_one_goes_gin_with(preset: str) -> None:
    rules = PRESETS[preset]
    game = deal(rules, G, G_LOSER, upcard="9H")
    play(game, TAKE)
    assert (outs(game), BIG_GIN in game.legal_actions()) == ([], False)
    game = deal(replace(rules, may_return_upcard=True), G, G_LOSER, upcard="9H")
    play(game, TAKE)
    assert outs(game) == ["9H"]
    assert DISCARD + card("9H") in game.legal_actions()


@BOTH
def test_2_5_a_card_from_the_stock_may(preset: str) -> None:
    game = deal(PRESETS[preset], G, G_LOSER, stock="9H")
    play(game, DRAW)
    assert outs(game) == ["9H"]


@BOTH
def test_2_5_longer_run_from_the_pile(preset: str) -> None:
    game = deal(PRESETS[preset], G, G_LOSER, upcard="9S")
    play(game, TAKE)
    assert (outs(game), BIG_GIN in game.legal_actions()) == (["KS"], False)
    game = deal(PRESETS[preset], G, G_LOSER, upcard="5C")
    play(game, TAKE)
    assert (outs(game), BIG_GIN in game.legal_actions()) == (["2C", "KS", "TS"], preset == "big_gin")


def test_2_6_declaring_is_a_choice_and_a_player_dealt_gin_draws_first() -> None:
    game = deal(STRAIGHT, WINNER, LOSER, stock="4S")
    assert game.legal_actions() == [DRAW, TAKE]
    play(game, DRAW)
    assert [a for a in game.legal_actions() if a < OUT] == sorted(DISCARD + i for i in cards(WINNER + " 4S"))
    play(game, DISCARD + card("4S"))
    assert (game.over, game.player) == (False, 1)


def test_illegal_actions_change_nothing() -> None:
    game = deal(STRAIGHT, WINNER, LOSER, stock="4S")
    for action_played in (DRAW, DISCARD + card("4S"), DRAW):
        before = (game.view(0), game.view(1), list(game.stock), [set(hand) for hand in game.hands])
        for action in set(range(-1, 110)) - set(game.legal_actions()):
            with pytest.raises(ValueError, match="illegal action"):
                game.apply(action)
        assert before == (game.view(0), game.view(1), game.stock, game.hands)
        play(game, action_played)


# 3. How a hand ends


@pytest.mark.parametrize("case", GOLDEN["eleven_cards"], ids=lambda case: str(case["name"]))
def test_3_1_golden_gin_discards(case: dict[str, Any]) -> None:
    assert texts(gin_discards(cards(case["cards"]), None)) == case["gin_discards"]
    assert texts(gin_discards(cards(case["cards"]), 4)) == case["gin_discards_max_run_4"]


@pytest.mark.parametrize(
    ("winner", "loser", "drawn", "straight", "gin", "big_gin"),
    [
        (WINNER, LOSER, "4S", 123, 118, 128),
        (WINNER, LOSER_AT_GIN, "4S", 25, 20, 30),
        ("AC 2C 3C TD JD QD KC KD KH KS", "5H 6H 7H 8H 9H 5S 6S 7S 8S 9S", "4C", 25, 30, 40),
    ],
    ids=["most deadwood", "both at gin", "two runs of five"],
)
def test_3_2_and_3_3_scores(winner: str, loser: str, drawn: str, straight: int, gin: int, big_gin: int) -> None:
    for rules, action, outcome, points in [
        (STRAIGHT, OUT + card(drawn), "gin", straight),
        (BIG, OUT + card(drawn), "gin", gin),
        (BIG, BIG_GIN, "big_gin", big_gin),
    ]:
        game = deal(rules, winner, loser, stock=drawn)
        play(game, DRAW, action)
        assert (game.over, game.outcome, game.scores, game.turns) == (True, outcome, (points, 0), 1)
        assert (game.player, game.phase, game.legal_actions()) == (None, "over", [])


@BOTH
def test_3_2_the_second_seat_scores_too(preset: str) -> None:
    game = deal(PRESETS[preset], LOSER, WINNER, stock="QC 4S")
    draw_and_throw(game)
    play(game, DRAW, OUT + card("4S"))
    assert game.scores == ((0, 123) if preset == "straight" else (0, 118))


def test_3_3_no_big_gin_unless_the_rules_have_it() -> None:
    game = deal(STRAIGHT, WINNER, LOSER, stock="4S")
    play(game, DRAW)
    assert BIG_GIN not in game.legal_actions()
    assert outs(game) == texts(cards("AS 4S 4H 7C 7D 7H 7S"))


def test_3_3_big_gin_with_a_card_from_the_pile() -> None:
    game = deal(BIG, G, G_LOSER, upcard="5C")
    play(game, TAKE, BIG_GIN)
    assert (game.outcome, game.scores, len(game.hands[0])) == ("big_gin", (128, 0), 11)


@BOTH
def test_3_4_the_third_last_card_may_still_go_gin(preset: str) -> None:
    game = deal(PRESETS[preset], WINNER, LOSER, last="4S")
    run_down(game, 3)
    assert (game.player, game.legal_actions()) == (0, [DRAW, TAKE])
    play(game, DRAW)
    assert len(game.stock) == 2
    play(game, OUT + card("4S"))
    assert (game.outcome, game.scores) == ("gin", (123, 0) if preset == "straight" else (118, 0))


@BOTH
def test_3_4_dead_when_a_plain_discard_leaves_two(preset: str) -> None:
    game = deal(PRESETS[preset], WINNER, LOSER, last="4S")
    run_down(game, 3)
    play(game, DRAW, DISCARD + card("4S"))
    assert (game.outcome, game.scores, game.turns, len(game.stock)) == ("dead", (0, 0), 29, 2)


@BOTH
def test_3_4_taking_the_upcard_leaves_three(preset: str) -> None:
    game = deal(PRESETS[preset], NOTHING, LOSER)
    run_down(game, 3)
    play(game, TAKE, DISCARD + card("AS"))
    assert (game.over, game.player, game.phase, len(game.stock)) == (False, 1, "draw", 3)
    play(game, TAKE, DISCARD + card("KC"), DRAW, DISCARD + card("3H"))
    assert game.outcome == "dead"


def last_option(rules: ReferenceRules, seat1: str, last: str) -> Game:
    """Seat 0 draws `last` as the third-last card of the stock and discards it."""
    game = deal(replace(rules, last_discard_option=True), NOTHING, seat1, last=last)
    run_down(game, 2)
    return game


def test_3_5_off_by_default() -> None:
    game = deal(STRAIGHT, NOTHING, ALMOST, last="KS")
    run_down(game, 2)
    assert game.outcome == "dead"


def test_3_5_take_and_go_out() -> None:
    game = last_option(STRAIGHT, ALMOST, "KS")
    assert (game.player, game.phase, game.legal_actions(), game.turns) == (1, "last", [TAKE, PASS], 29)
    play(game, TAKE)
    assert (game.phase, game.taken, game.legal_actions()) == ("last_out", card("KS"), [OUT + card("AH")])
    play(game, OUT + card("AH"))
    assert (game.outcome, game.scores, game.turns) == ("gin", (0, 25 + deadwood(cards(NOTHING))), 30)
    assert len(game.stock) == 2


def test_3_5_pass() -> None:
    game = last_option(STRAIGHT, ALMOST, "KS")
    play(game, PASS)
    assert (game.outcome, game.scores, game.turns) == ("dead", (0, 0), 29)
    assert game.refused[1] >= {card("KS")}


def test_3_5_not_asked_if_he_could_not() -> None:
    assert last_option(STRAIGHT, ALMOST, "KD").outcome == "dead"


def test_3_5_not_asked_if_he_could_only_throw_it_back() -> None:
    assert last_option(STRAIGHT, G, "9H").outcome == "dead"
    game = last_option(replace(STRAIGHT, may_return_upcard=True), G, "9H")
    play(game, TAKE)
    assert game.legal_actions() == [OUT + card("9H")]


def test_3_5_big_gin() -> None:
    game = last_option(BIG, G, "5C")
    play(game, TAKE)
    assert game.legal_actions() == [BIG_GIN, *sorted(OUT + i for i in cards("2C TS KS"))]
    play(game, BIG_GIN)
    assert (game.outcome, game.scores) == ("big_gin", (0, 30 + deadwood(cards(NOTHING), 4)))


def test_3_6_turn_limit() -> None:
    """Both take the upcard for ever: the stock stays full."""
    game = deal(replace(STRAIGHT, opening_offer=True), NOTHING, LOSER, upcard="4C")
    play(game, PASS)  # a pass is no turn
    for turn in range(200):
        assert (game.over, game.turns) == (False, turn)
        play(game, TAKE)
        play(game, game.legal_actions()[0])
    assert (game.outcome, game.scores, game.turns, len(game.stock)) == ("turn_limit", (0, 0), 200, 31)


def test_3_6_dead_comes_before_the_turn_limit() -> None:
    for limit, outcome, stock in [(28, "turn_limit", 3), (29, "dead", 2), (30, "dead", 2)]:
        game = deal(replace(STRAIGHT, turn_limit=limit), NOTHING, LOSER)
        run_down(game, stock)
        assert (game.outcome, game.turns) == (outcome, 31 - stock)


def test_3_6_so_does_the_last_discard_option() -> None:
    game = last_option(replace(STRAIGHT, turn_limit=29), ALMOST, "KS")
    assert game.phase == "last"
    play(game, PASS)
    assert game.outcome == "dead"


def test_3_6_gin_on_the_last_turn_scores() -> None:
    game = deal(replace(STRAIGHT, turn_limit=1), WINNER, LOSER, stock="4S")
    play(game, DRAW, OUT + card("4S"))
    assert (game.outcome, game.scores) == ("gin", (123, 0))


def test_3_7_gin_discard_face_up() -> None:
    game = deal(STRAIGHT, WINNER, LOSER, upcard="4C", stock="4S")
    play(game, DRAW, OUT + card("4S"))
    assert (game.pile, game.face_down, game.shed[0]) == (cards("4C 4S"), None, {card("4S")})
    assert game.view(1)["recent"] == ((card("4S"), 1),)


def test_3_7_gin_discard_face_down() -> None:
    """The opponent's view after it does not depend on which card went, not even one known to be held."""
    views = []
    for discard in ("2C", "TS", "KS"):
        game = deal(BIG, G.replace("KS", "KH"), NOTHING, upcard="KS", stock="AH 5C")
        play(game, TAKE, DISCARD + card("KH"))
        draw_and_throw(game)
        play(game, DRAW, OUT + card(discard))
        assert (game.face_down, game.known[0]) == (card(discard), {card("KS")})
        assert card(discard) not in game.hands[0] | set(game.pile) | game.shed[0]
        views.append(game.view(1))
    assert views[0] == views[1] == views[2]


# Hands played by another engine


def test_openspiel_hands() -> None:
    """Every fifth of 1000 hands OpenSpiel played (all 1000 agree): the same moves legal at every decision, same points.

    Its steps are [seat, action, legal actions, whether it left a gin out]. It asks the last-discard question even of a
    player who could not go out, takes and goes out in one action, and ends hands that go in circles ("repeat").
    """
    rules = replace(STRAIGHT, opening_offer=True, may_return_upcard=True, last_discard_option=True)
    action_id = {"stock": DRAW, "take": TAKE, "pass": PASS, "wall_gin": TAKE, "wall_pass": PASS}
    base = {"discard": DISCARD, "gin": OUT}

    def convert(name: str, discard: int = 0) -> int:
        return base[name] + discard if name in base else action_id[name]

    with gzip.open(GOLDEN_FOLDER / "openspiel_knock0_hands.jsonl.gz", "rt") as lines:
        hands = [json.loads(line) for line in lines][::5]
    for hand in hands:
        game = Game(rules, hand["deck"], hand["steps"][0][0])
        for seat, action, legal, left_out in hand["steps"]:
            if game.over:
                assert (game.outcome, action) == ("dead", ["wall_pass"])
                continue
            assert game.player == seat
            theirs = {convert(*each) for each in legal}
            assert theirs < set(game.legal_actions()) if left_out else theirs == set(game.legal_actions())
            play(game, convert(*action))
            if action[0] == "wall_gin":
                play(game, OUT + action[1])
        assert game.outcome == {"gin": "gin", "wall": "dead", "repeat": None}[hand["end"]]
        points = [0, 0]
        if hand["winner"] is not None:
            points[hand["winner"]] = hand["points"]
        assert list(game.scores) == points


# What a seat may know


def test_view() -> None:
    game = deal(replace(STRAIGHT, opening_offer=True), NOTHING, LOSER, upcard="4C", stock="AH KH")
    play(game, PASS, TAKE, DISCARD + card("KC"), DRAW)  # seat 0 refuses 4C and KC and holds AH
    empty: tuple[int, ...] = ()
    public = {"upcard": card("KC"), "buried": (), "taken": None, "phase": "discard", "stock": 30, "turns": 1}
    public |= {"outcome": None, "scores": (0, 0)}
    refused = tuple(sorted(cards("4C KC")))
    assert game.view(0) == public | {
        "hand": tuple(sorted(cards(NOTHING + " AH"))),
        "known": (empty, (card("4C"),)),
        "shed": (empty, (card("KC"),)),
        "refused": (refused, empty),
        "recent": ((card("KC"), 1),),
        "to_act": 0,
        "first": 0,
        "legal": sorted(DISCARD + i for i in cards(NOTHING + " AH")),
    }
    assert game.view(1) == public | {
        "hand": tuple(sorted(cards(LOSER.replace("KC", "4C")))),
        "known": ((card("4C"),), empty),
        "shed": ((card("KC"),), empty),
        "refused": (empty, refused),
        "recent": ((card("KC"), 0),),
        "to_act": 1,
        "first": 1,
        "legal": [],
    }


def test_view_of_a_card_taken_shows_what_lay_beneath() -> None:
    game = deal(STRAIGHT, NOTHING, LOSER, upcard="4C", stock="AH")
    draw_and_throw(game)
    assert (game.view(0)["upcard"], game.view(0)["buried"]) == (card("AH"), (card("4C"),))
    play(game, TAKE)
    for seat in (0, 1):
        view = game.view(seat)
        assert (view["upcard"], view["buried"], view["taken"]) == (card("4C"), (), card("AH"))
    game = deal(STRAIGHT, NOTHING, LOSER, upcard="4C")
    play(game, TAKE)
    assert (game.view(1)["upcard"], game.view(1)["buried"]) == (None, ())


def test_view_known_until_discarded() -> None:
    game = deal(STRAIGHT, NOTHING, LOSER, upcard="4C")
    play(game, TAKE, DISCARD + card("AS"))
    draw_and_throw(game)
    assert (game.view(0)["known"], game.view(1)["known"]) == (((card("4C"),), ()), ((), (card("4C"),)))
    play(game, DRAW, DISCARD + card("4C"))
    assert game.view(0)["known"] == game.view(1)["known"] == ((), ())


@pytest.mark.parametrize("face_down", [False, True])
def test_view_when_over(face_down: bool) -> None:
    """A gin with a card taken from the pile; a card known before, 2C, is the discard."""
    game = deal(replace(BIG, gin_discard_face_down=face_down), G.replace("2C", "KH"), NOTHING, upcard="2C", stock="5C")
    play(game, TAKE, DISCARD + card("KH"), DRAW, DISCARD + card("5C"), TAKE, OUT + card("2C"))
    points = 20 + deadwood(cards(NOTHING), 4)
    for seat in (0, 1):
        view = game.view(seat)
        assert (view["phase"], view["to_act"], view["taken"], view["legal"]) == ("over", None, None, [])
        assert (view["outcome"], view["turns"]) == ("gin", 3)
        assert view["scores"] == ((points, 0) if seat == 0 else (0, points))
        known: Any = view["known"]
        assert set(known[seat]) == set(cards("2C 5C" if face_down else "5C"))
        assert view["upcard"] == card("KH" if face_down else "2C")


def test_view_recent_is_the_last_eight_newest_first() -> None:
    game = deal(STRAIGHT, NOTHING, LOSER)
    drawn = game.stock[:11]
    run_down(game, 20)
    assert game.view(0)["recent"] == tuple((drawn[turn], turn % 2) for turn in range(10, 2, -1))
    assert game.view(1)["recent"] == tuple((drawn[turn], 1 - turn % 2) for turn in range(10, 2, -1))


VARIANTS = {
    **PRESETS,
    "all options": replace(
        BIG,
        opening_offer=True,
        may_return_upcard=True,
        last_discard_option=True,
        gin_discard_face_down=False,
        turn_limit=40,
    ),
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_hands_keep_the_52_cards_and_views_hide_what_is_hidden(variant: str) -> None:
    """Random hands but for going out when possible: at every step a view stays the same when the cards that its seat
    cannot place are dealt anew."""
    rng = random.Random(variant)
    for _ in range(10):
        game = Game(VARIANTS[variant], rng.sample(range(52), 52), rng.randrange(2))
        while not game.over:
            out = [action for action in game.legal_actions() if action >= OUT]
            play(game, rng.choice(out or game.legal_actions()))
            for seat in (0, 1):
                assert redealt(game, seat, rng).view(seat) == game.view(seat)
        assert min(game.scores) == 0
        assert (max(game.scores) > 0) == (game.outcome in ("gin", "big_gin"))


def redealt(game: Game, seat: int, rng: random.Random) -> Game:
    """A copy with the stock and the opponent's cards that he is not known to hold shuffled together."""
    other = deepcopy(game)
    held = other.hands[1 - seat] & other.known[1 - seat]
    hidden = sorted(other.hands[1 - seat] - held) + other.stock
    rng.shuffle(hidden)
    count = len(other.hands[1 - seat]) - len(held)
    other.hands[1 - seat], other.stock = held | set(hidden[:count]), hidden[count:]
    other.check_conservation()
    return other
