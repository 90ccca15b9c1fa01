"""Clauses 2.1 to 3.7 and the flow cases of section 7, through `Round` with constructed decks."""

import random

import pytest

from gin_env.round import Round
from gin_env.rules.actions import BIG_GIN, DISCARD, DRAW, GO_OUT, PASS, TAKE, IllegalAction
from gin_env.rules.cards import card_text, parse_cards
from gin_env.rules.melds import deadwood
from gin_env.rules.ruleset import Rules
from tests.hands import LOSER, NOTHING, WINNER, G, asked_last, dealt, next_card, outs, play, run_down

STRAIGHT, BIG = Rules.preset("straight"), Rules.preset("big_gin")
OFFER = Rules(opening_offer=True)
RETURN = Rules(may_return_upcard=True)
LAST = Rules(last_discard_option=True)
BOTH = pytest.mark.parametrize("preset", ["straight", "big_gin"])
G_LOSER = "KH KC QC QD JH JD TH TC 9C 9D"  # 98 too
LOSER_AT_GIN = "8C 9C TC JC JD QD KD 2C 2D 2H"
RUNS_OF_FIVE = "5H 6H 7H 8H 9H 5S 6S 7S 8S 9S"


def card(text: str) -> int:
    return parse_cards(text)[0]


def discard(text: str) -> int:
    return DISCARD + card(text)


def out(text: str) -> int:
    return GO_OUT + card(text)


def texts(cards: list[int]) -> set[str]:
    return set(card_text(cards).split())


def discards(cards: str) -> list[int]:
    return sorted(DISCARD + one for one in parse_cards(cards))


# 2. Deal and turn


@pytest.mark.parametrize("first", [0, 1])
def test_2_1_deal(first: int) -> None:
    deck = random.Random(0).sample(range(52), 52)
    hand = Round(deck=deck, first_player=first)
    assert hand.hands == (tuple(sorted(deck[:10])), tuple(sorted(deck[10:20])))
    assert (hand.upcard, hand.stock, hand.deck) == (deck[20], 31, tuple(deck))
    assert (hand.player, hand.first_player, hand.phase, hand.turns) == (first, first, "draw", 0)
    assert (hand.over, hand.outcome, hand.scores, hand.winner, hand.actions) == (False, None, (0, 0), None, ())
    for drawn in range(21, 50):  # the stock from its top
        player = hand.player
        assert player is not None
        play(hand, DRAW)
        assert deck[drawn] in hand.hands[player]
        play(hand, DISCARD + deck[drawn])
        assert hand.upcard == deck[drawn]


def test_2_2_the_seat_named_first_has_the_first_turn() -> None:
    for first in (0, 1):
        hand = Round(seed=3, first_player=first)
        assert (hand.player, hand.first_player) == (first, first)
        assert [hand.view(seat).first for seat in (0, 1)] == [first, 1 - first]


def test_2_3_draw_one_then_discard_one() -> None:
    hand = dealt(STRAIGHT, NOTHING, LOSER, upcard="4C", stock="KH")
    assert (hand.player, hand.phase, hand.legal_actions()) == (0, "draw", [DRAW, TAKE])
    play(hand, DRAW)
    assert (hand.player, hand.phase, hand.stock, hand.turns) == (0, "discard", 30, 0)
    assert hand.legal_actions() == discards(NOTHING + " KH")
    play(hand, discard("AS"))
    assert (hand.player, hand.phase, hand.upcard, hand.turns) == (1, "draw", card("AS"), 1)
    assert hand.view(1).buried == (card("4C"),)


def test_2_3_taking_shows_the_card_and_uncovers_the_one_below() -> None:
    hand = dealt(STRAIGHT, NOTHING, LOSER, upcard="4C", stock="KH")
    play(hand, DRAW, discard("AS"), TAKE)
    assert (hand.player, hand.stock, hand.upcard) == (1, 30, card("4C"))
    assert card("AS") in hand.hands[1]
    for seat in (0, 1):
        view = hand.view(seat)
        assert (view.upcard, view.buried, view.taken) == (card("4C"), (), card("AS"))
    assert hand.view(0).known == ((), (card("AS"),))
    assert hand.view(1).known == ((card("AS"),), ())


def test_2_3_the_table_sees_what_is_refused_and_in_which_order_cards_are_shed() -> None:
    hand = dealt(STRAIGHT, NOTHING, LOSER, upcard="4C")
    drawn = [next_card(run_down(hand, left)) for left in range(31, 21, -1)]
    run_down(hand, 21)
    newest_first = list(enumerate(drawn))[:1:-1]
    for seat in (0, 1):
        view = hand.view(seat)
        assert view.recent == tuple((shed, (turn + seat) % 2) for turn, shed in newest_first)
        assert view.shed[seat] == tuple(sorted(drawn[::2]))
        assert view.refused[seat] == tuple(sorted([card("4C"), *drawn[1:-1:2]]))
        assert view.refused[1 - seat] == tuple(sorted(drawn[:-1:2]))


def test_2_3_taking_the_only_card_of_the_pile_leaves_no_upcard() -> None:
    hand = play(dealt(STRAIGHT, NOTHING, LOSER, upcard="4C"), TAKE)
    assert hand.upcard is None
    assert (hand.view(1).upcard, hand.view(1).buried) == (None, ())
    play(hand, discard("AS"))
    assert hand.upcard == card("AS")
    assert hand.view(1).buried == ()


def test_2_4_no_opening_offer_in_the_straight_presets() -> None:
    for preset in ("straight", "gin_only", "big_gin"):
        assert dealt(preset, NOTHING, LOSER).legal_actions() == [DRAW, TAKE]


@pytest.mark.parametrize("passes", [0, 1])
def test_2_4_taking_in_the_offer_is_the_draw(passes: int) -> None:
    hand = play(dealt(OFFER, NOTHING, LOSER, upcard="4C"), *[PASS] * passes)
    assert (hand.player, hand.phase, hand.legal_actions()) == (passes, "offer", [TAKE, PASS])
    play(hand, TAKE)
    assert (hand.player, hand.phase, hand.stock, hand.upcard) == (passes, "discard", 31, None)
    assert hand.legal_actions() == discards((NOTHING, LOSER)[passes])  # 2.5: not 4C
    play(hand, hand.legal_actions()[0])
    assert (hand.player, hand.phase, hand.turns) == (1 - passes, "draw", 1)
    assert hand.legal_actions() == [DRAW, TAKE]


def test_2_4_both_pass_and_the_non_dealer_draws_from_the_stock() -> None:
    hand = play(dealt(OFFER, NOTHING, LOSER, upcard="4C", stock="KH"), PASS, PASS)
    assert (hand.player, hand.phase, hand.legal_actions(), hand.turns) == (0, "stock", [DRAW], 0)
    assert (hand.upcard, hand.stock) == (card("4C"), 31)
    play(hand, DRAW)
    assert (hand.player, hand.phase, hand.stock) == (0, "discard", 30)
    assert hand.legal_actions() == discards(NOTHING + " KH")
    assert hand.view(0).refused == ((card("4C"),), (card("4C"),))


def test_2_4_the_dealer_is_seat_0_when_seat_1_goes_first() -> None:
    hand = Round(OFFER, seed=0, first_player=1)
    assert (hand.player, hand.phase) == (1, "offer")
    play(hand, PASS)
    assert (hand.player, hand.phase) == (0, "offer")
    play(hand, PASS)
    assert (hand.player, hand.phase) == (1, "stock")


def test_2_5_the_card_taken_may_not_go_back_in_the_same_turn() -> None:
    hand = play(dealt(STRAIGHT, NOTHING, LOSER, upcard="4C", stock="KH AH"), TAKE)
    assert hand.legal_actions() == discards(NOTHING)
    with pytest.raises(IllegalAction, match="discard 4C"):
        hand.apply(discard("4C"))
    play(hand, discard("AS"), DRAW, discard("KH"), DRAW)
    assert discard("4C") in hand.legal_actions()  # on a later turn any card may
    play(hand, discard("4C"))
    assert hand.view(1).known == ((), ())


def test_2_5_a_card_from_the_stock_may_go_back() -> None:
    hand = play(dealt(STRAIGHT, NOTHING, LOSER, upcard="4C", stock="KH"), DRAW)
    assert discard("KH") in hand.legal_actions()


def test_2_5_may_return_upcard() -> None:
    hand = play(dealt(RETURN, NOTHING, LOSER, upcard="4C"), TAKE)
    assert hand.legal_actions() == discards(NOTHING + " 4C")
    play(hand, discard("4C"))
    assert (hand.upcard, hand.view(0).known) == (card("4C"), ((), ()))


@BOTH
def test_2_5_nor_be_the_discard_one_goes_gin_with(preset: str) -> None:
    """G + 9H from the pile: only 9H would do, and it may not go back."""
    hand = play(dealt(preset, G, G_LOSER, upcard="9H"), TAKE)
    assert outs(hand) == []
    assert hand.legal_actions() == discards(G)
    hand = play(dealt(Rules.preset(preset).replace(may_return_upcard=True), G, G_LOSER, upcard="9H"), TAKE)
    assert texts(outs(hand)) == {"9H"}


@BOTH
def test_2_5_but_a_card_from_the_stock_may_be(preset: str) -> None:
    hand = play(dealt(preset, G, G_LOSER, stock="9H"), DRAW)
    assert texts(outs(hand)) == {"9H"}
    assert BIG_GIN not in hand.legal_actions()


@BOTH
def test_2_5_gin_with_another_card_after_taking(preset: str) -> None:
    """G + 9S from the pile: gin with KS only. G + 5C: gin with 2C, TS or KS, or big gin."""
    hand = play(dealt(preset, G, G_LOSER, upcard="9S"), TAKE)
    assert texts(outs(hand)) == {"KS"}
    assert BIG_GIN not in hand.legal_actions()
    hand = play(dealt(preset, G, G_LOSER, upcard="5C"), TAKE)
    assert texts(outs(hand)) == {"2C", "TS", "KS"}
    assert (BIG_GIN in hand.legal_actions()) == (preset == "big_gin")


@BOTH
def test_2_6_a_player_dealt_gin_must_draw_first(preset: str) -> None:
    hand = dealt(preset, WINNER, LOSER, stock="4S")
    assert deadwood(hand.hands[0], hand.rules.max_run) == 0
    assert hand.legal_actions() == [DRAW, TAKE]
    play(hand, DRAW)
    assert texts(outs(hand)) == texts(list(parse_cards("AS 4S 4H 7C 7D 7H 7S")))


@BOTH
def test_2_6_declaring_is_a_choice(preset: str) -> None:
    hand = play(dealt(preset, WINNER, LOSER, stock="4S"), DRAW)
    assert [action for action in hand.legal_actions() if DISCARD <= action < GO_OUT] == discards(WINNER + " 4S")
    play(hand, discard("4S"))
    assert (hand.over, hand.player, hand.turns) == (False, 1, 1)
    play(hand, DRAW, discard("KC"), DRAW)
    assert outs(hand)  # on a later turn


# 3. How a hand ends


@pytest.mark.parametrize(
    ("winner", "loser", "drawn", "straight", "gin", "big_gin"),
    [
        (WINNER, LOSER, "4S", 123, 118, 128),
        (WINNER, LOSER_AT_GIN, "4S", 25, 20, 30),
        ("AC 2C 3C TD JD QD KC KD KH KS", RUNS_OF_FIVE, "4C", 25, 30, 40),
    ],
    ids=["most deadwood", "both at gin", "two runs of five"],
)
@pytest.mark.parametrize("seat", [0, 1])
def test_3_2_and_3_3_scores(seat: int, winner: str, loser: str, drawn: str, straight: int, gin: int, big_gin: int) -> None:
    """Only the declarer scores (3.1), the loser's deadwood under the preset's own meld limit (1.4) and the bonus."""
    for rules, action, outcome, points in [
        (STRAIGHT, out(drawn), "gin", straight),
        (BIG, out(drawn), "gin", gin),
        (BIG, BIG_GIN, "big_gin", big_gin),
    ]:
        if seat == 0:
            hand = dealt(rules, winner, loser, stock=drawn)
        else:
            hand = play(dealt(rules, loser, winner, stock=f"3D {drawn}"), DRAW, discard("3D"))
        play(hand, DRAW, action)
        assert (hand.over, hand.outcome, hand.winner, hand.turns) == (True, outcome, seat, 1 + seat)
        assert hand.scores == ((points, 0), (0, points))[seat]
        assert (hand.player, hand.phase, hand.legal_actions()) == (None, "over", [])
        assert [hand.view(who).scores for who in (seat, 1 - seat)] == [(points, 0), (0, points)]
        assert [hand.view(who).winner for who in (seat, 1 - seat)] == [0, 1]


def test_3_1_turn_order_decides_when_both_could_go_gin() -> None:
    hand = dealt(STRAIGHT, WINNER, LOSER_AT_GIN, stock="4S")
    play(hand, DRAW, discard("4S"), DRAW)
    play(hand, GO_OUT + outs(hand)[0])
    assert (hand.scores, hand.winner) == ((0, 25), 1)


def test_3_2_bonuses_are_the_rules() -> None:
    rules = Rules(gin_bonus=7, big_gin_bonus=3)
    assert play(dealt(rules, WINNER, LOSER, stock="4S"), DRAW, out("4S")).scores == (105, 0)
    assert play(dealt(rules, WINNER, LOSER, stock="4S"), DRAW, BIG_GIN).scores == (101, 0)


def test_3_3_no_big_gin_unless_the_rules_have_it() -> None:
    hand = play(dealt(STRAIGHT, WINNER, LOSER, stock="4S"), DRAW)
    assert BIG_GIN not in hand.legal_actions()
    assert outs(hand)
    with pytest.raises(IllegalAction):
        hand.apply(BIG_GIN)


def test_3_3_big_gin_needs_all_eleven_melded() -> None:
    hand = play(dealt(BIG, WINNER, LOSER, stock="KH"), DRAW)
    assert BIG_GIN not in hand.legal_actions()
    assert texts(outs(hand)) == {"KH"}
    five = "5H 6H 7H 8H 9H 2C 2D 2S KC KD"  # melded with KS, but for the run of five: rule 1.3
    other = "AS 3H 5D 8C 6S AD 3S 9C 8D 4D"
    for rules, big_gin in ((BIG, False), (BIG.replace(max_run=None), True)):
        hand = play(dealt(rules, five, other, stock="KS"), DRAW)
        assert (BIG_GIN in hand.legal_actions(), texts(outs(hand))) == (big_gin, {"5H", "9H"})


def test_3_3_big_gin_keeps_eleven_cards_and_no_discard() -> None:
    hand = play(dealt(BIG, G, G_LOSER, upcard="5C"), TAKE, BIG_GIN)
    assert (hand.outcome, hand.scores, len(hand.hands[0])) == ("big_gin", (128, 0), 11)
    assert (hand.upcard, hand.view(1).recent) == (None, ())


def test_3_3_plain_gin_stays_available() -> None:
    hand = play(dealt(BIG, WINNER, LOSER, stock="4S"), DRAW, out("AS"))
    assert (hand.outcome, hand.scores) == ("gin", (118, 0))


@BOTH
def test_3_4_the_third_last_card_may_still_go_gin(preset: str) -> None:
    hand = run_down(dealt(preset, WINNER, LOSER, last="4S"), 3)
    assert (hand.player, hand.legal_actions(), hand.turns) == (0, [DRAW, TAKE], 28)
    play(hand, DRAW)
    assert hand.stock == 2
    play(hand, out("4S"))
    assert (hand.outcome, hand.scores) == ("gin", (123, 0) if preset == "straight" else (118, 0))


@BOTH
def test_3_4_dead_when_a_plain_discard_leaves_two(preset: str) -> None:
    hand = play(run_down(dealt(preset, WINNER, LOSER, last="4S"), 3), DRAW, discard("4S"))
    assert (hand.over, hand.outcome, hand.scores, hand.winner) == (True, "dead", (0, 0), None)
    assert (hand.turns, hand.stock, hand.player, hand.upcard) == (29, 2, None, card("4S"))


@BOTH
def test_3_4_taking_the_upcard_leaves_three(preset: str) -> None:
    hand = run_down(dealt(preset, NOTHING, LOSER), 3)
    play(hand, TAKE, discard("AS"))
    assert (hand.over, hand.player, hand.phase, hand.stock) == (False, 1, "draw", 3)
    play(hand, TAKE, discard("KC"), DRAW, discard("3H"))
    assert (hand.outcome, hand.turns) == ("dead", 31)


def test_3_5_off_in_the_presets() -> None:
    assert asked_last(STRAIGHT).outcome == "dead"
    assert asked_last(BIG).outcome == "dead"


def test_3_5_take_and_go_out() -> None:
    hand = asked_last(LAST)
    assert (hand.player, hand.phase, hand.legal_actions(), hand.turns) == (1, "last", [TAKE, PASS], 29)
    play(hand, TAKE)
    assert (hand.player, hand.phase, hand.legal_actions()) == (1, "last_out", [out("AH")])
    assert hand.view(0).taken == card("KS")
    play(hand, out("AH"))
    assert (hand.outcome, hand.scores, hand.turns, hand.stock) == ("gin", (0, 25 + 46), 30, 2)
    assert [hand.view(seat).taken for seat in (0, 1)] == [None, None]


def test_3_5_pass() -> None:
    hand = play(asked_last(LAST), PASS)
    assert (hand.outcome, hand.scores, hand.turns) == ("dead", (0, 0), 29)
    assert card("KS") in hand.view(1).refused[0]


def test_3_5_asked_only_if_he_could() -> None:
    assert asked_last(LAST, last="KD").outcome == "dead"


def test_3_5_not_asked_if_he_could_only_throw_it_back() -> None:
    assert asked_last(LAST, G, "9H").outcome == "dead"
    hand = asked_last(LAST.replace(may_return_upcard=True), G, "9H")
    assert hand.phase == "last"
    assert play(hand, TAKE).legal_actions() == [out("9H")]


def test_3_5_big_gin() -> None:
    hand = play(asked_last(BIG.replace(last_discard_option=True), G, "5C"), TAKE)
    assert hand.legal_actions() == [BIG_GIN, *sorted(out(text) for text in ("2C", "TS", "KS"))]
    play(hand, BIG_GIN)
    assert (hand.outcome, hand.scores) == ("big_gin", (0, 30 + 46))


def test_3_6_turn_limit() -> None:
    """Both take the upcard for ever: the stock stays full. A pass is no turn."""
    hand = play(dealt(OFFER, NOTHING, LOSER, upcard="4C"), PASS)
    for turn in range(200):
        assert (hand.over, hand.turns) == (False, turn)
        play(hand, TAKE)
        play(hand, hand.legal_actions()[0])
    assert (hand.outcome, hand.scores, hand.turns, hand.stock) == ("turn_limit", (0, 0), 200, 31)
    assert (hand.player, hand.winner) == (None, None)


@pytest.mark.parametrize(("limit", "outcome", "stock"), [(28, "turn_limit", 3), (29, "dead", 2), (30, "dead", 2)])
def test_3_6_dead_comes_before_the_turn_limit(limit: int, outcome: str, stock: int) -> None:
    hand = run_down(dealt(Rules(turn_limit=limit), NOTHING, LOSER), stock)
    assert (hand.outcome, hand.turns) == (outcome, 31 - stock)


def test_3_6_so_does_the_last_discard_option() -> None:
    hand = asked_last(LAST.replace(turn_limit=29))
    assert hand.phase == "last"
    assert play(hand.clone(), PASS).outcome == "dead"
    assert play(hand, TAKE, out("AH")).outcome == "gin"


def test_3_6_gin_on_the_last_turn_scores() -> None:
    hand = play(dealt(Rules(turn_limit=1), WINNER, LOSER, stock="4S"), DRAW, out("4S"))
    assert (hand.outcome, hand.scores) == ("gin", (123, 0))
    hand = play(dealt(Rules(turn_limit=1), WINNER, LOSER, stock="4S"), DRAW, discard("4S"))
    assert (hand.outcome, hand.turns) == ("turn_limit", 1)


def test_3_7_gin_discard_face_up() -> None:
    hand = play(dealt(STRAIGHT, WINNER, LOSER, upcard="4C", stock="4S"), DRAW, out("4S"))
    assert hand.upcard == card("4S")
    view = hand.view(1)
    assert (view.upcard, view.buried, view.shed, view.recent) == (
        card("4S"),
        (card("4C"),),
        ((), (card("4S"),)),
        ((card("4S"), 1),),
    )


def test_3_7_gin_discard_face_down_is_never_learned() -> None:
    """Whichever card goes, even one that was seen taken, the loser's view and observation stay the same."""
    hands = []
    for gone in ("2C", "TS", "KS"):
        hand = dealt(BIG, G.replace("KS", "KH"), NOTHING, upcard="KS", stock="AH 5C")
        play(hand, TAKE, discard("KH"), DRAW, discard("AH"), DRAW, out(gone))
        assert card(gone) not in hand.hands[0]
        assert (len(hand.hands[0]), hand.upcard, hand.turns) == (10, card("AH"), 3)
        assert hand.view(1).known == ((), (card("KS"),))
        assert hand.view(1).shed == ((card("AH"),), (card("KH"),))
        hands.append(hand)
    assert len({hand.view(1).tobytes() for hand in hands}) == 1
    assert len({hand.observation(1).tobytes() for hand in hands}) == 1
    assert len({hand.view(0).tobytes() for hand in hands}) == 3


def test_3_7_the_other_discards_are_face_up() -> None:
    hand = play(dealt(BIG, WINNER, LOSER, stock="4S"), DRAW, discard("4S"))
    assert (hand.upcard, hand.view(1).shed) == (card("4S"), ((), (card("4S"),)))
