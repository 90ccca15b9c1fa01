"""1,000 hands that OpenSpiel's gin_rummy played without knocking, move by move through `Round`.

Its steps are [seat, move, legal moves, missed_gin]. The differences, all counted here:

- missed_gin: it fails to offer a gin that exists;
- wall_pass as the only move: it asks for the last discard even a player who could not go out with it; here the hand is over;
- wall_gin: it takes the last discard and goes out in one move; here these are two;
- repeat: it draws the hand when both players in turn take and throw back the same upcard; here play goes on;
- upcard50: it draws the hand after fifty upcards taken; no hand of the file ends so.
"""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

from gin_env.round import Round
from gin_env.rules.actions import DISCARD, DRAW, GO_OUT, PASS, TAKE
from gin_env.rules.ruleset import Rules

FILE = Path(__file__).parents[1] / "golden" / "openspiel_knock0_hands.jsonl.gz"
RULES = Rules(opening_offer=True, may_return_upcard=True, last_discard_option=True)
OUR_SUITS = (0, 3, 2, 1)  # its suits are spades, clubs, diamonds, hearts


def our_card(card: int) -> int:
    return 13 * OUR_SUITS[card // 13] + card % 13


def our_action(move: list[Any]) -> int:
    """The first action that a move of OpenSpiel's is here."""
    if move[0] in ("discard", "gin"):
        return (DISCARD if move[0] == "discard" else GO_OUT) + our_card(move[1])
    return {"stock": DRAW, "take": TAKE, "pass": PASS, "wall_gin": TAKE, "wall_pass": PASS}[move[0]]


def replay(line: dict[str, Any], differences: Counter[str]) -> None:
    """Play one hand in step with the file."""
    first = line["steps"][0][0]
    hand = Round(RULES, deck=[our_card(card) for card in line["deck"]], first_player=first)
    for seat, move, legal_moves, missed_gin in line["steps"]:
        if hand.over:
            assert (hand.outcome, move, legal_moves) == ("dead", ["wall_pass"], [["wall_pass"]])
            differences["asked in vain"] += 1
            continue
        theirs = sorted({our_action(move) for move in legal_moves})
        ours = hand.legal_actions()
        assert hand.player == seat
        if missed_gin:
            assert set(theirs) < set(ours)
            assert all(action >= GO_OUT for action in set(ours) - set(theirs))
            differences["missed gin"] += 1
        else:
            assert theirs == ours
        hand.apply(our_action(move))
        if move[0] == "wall_gin":
            gins = {GO_OUT + our_card(other[1]) for other in legal_moves if other[0] == "wall_gin"}
            assert gins == set(hand.legal_actions())
            hand.apply(GO_OUT + our_card(move[1]))
            differences["wall gin"] += 1
        elif move[0] == "wall_pass":
            differences["last discard passed"] += 1
    differences[line["end"]] += 1
    assert hand.outcome == {"gin": "gin", "wall": "dead", "repeat": None}[line["end"]]
    assert hand.over == (line["end"] != "repeat")
    points = [0, 0]
    if line["winner"] is not None:
        points[line["winner"]] = line["points"]
    assert hand.scores == tuple(points)
    assert hand.winner == line["winner"]


def test_openspiel_hands() -> None:
    differences: Counter[str] = Counter()
    with gzip.open(FILE, "rt") as lines:
        for line in lines:
            replay(json.loads(line), differences)
    assert differences == {
        "gin": 766,
        "wall": 213,
        "repeat": 21,
        "missed gin": 2,
        "asked in vain": 213,
        "wall gin": 13,
    }
