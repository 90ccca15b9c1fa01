"""One hand of Straight Gin, slow and obvious. Numbers in comments are clauses of the rules page.

Actions: 0 draw the stock, 1 take the upcard, 2 pass (opening offer, last-discard option), 3 big gin,
4-55 discard card `a - 4`, 56-107 discard card `a - 56` and go out.

Phases: "offer" (opening offer), "stock" (the draw forced by two passes), "draw", "discard",
"last" (the last-discard option), "last_out" (after taking in "last": go out), "over".

Knocking and the reshuffled stock (6) are not played here yet: they would enter in `_ways_out`, `_go_out` and `_draw`.
"""

from collections.abc import Iterable, Sequence

from tests.reference.melding import deadwood, gin_discards, is_melded
from tests.reference.rules import PRESETS, ReferenceRules, RulesLike

__all__ = ["BIG_GIN", "DISCARD", "DRAW", "OUT", "PASS", "PRESETS", "TAKE", "Game", "ReferenceRules", "RulesLike"]

DRAW, TAKE, PASS, BIG_GIN, DISCARD, OUT = 0, 1, 2, 3, 4, 56


class Game:
    """`deck`: ten cards of seat 0, ten of seat 1, the upcard, the stock from its top (2.1). Seats are 0 and 1."""

    def __init__(self, rules: RulesLike, deck: Sequence[int], first_player: int) -> None:
        if sorted(deck) != list(range(52)):
            raise ValueError("deck must be a permutation of 0..51")
        if first_player not in (0, 1):
            raise ValueError(f"first_player must be 0 or 1, not {first_player!r}")
        if rules.knock_limit is not None or rules.oklahoma or rules.stock_end != "dead":
            raise NotImplementedError("knocking and the reshuffled stock (6) are not part of the reference engine")
        self.rules = rules
        self.hands: list[set[int]] = [set(deck[:10]), set(deck[10:20])]
        self.pile: list[int] = [deck[20]]  # top last
        self.stock: list[int] = list(deck[21:])  # top first
        self.face_down: int | None = None  # 3.7: a gin discard that nobody saw
        self.first = first_player
        self.player: int | None = first_player  # 2.2
        self.phase = "offer" if rules.opening_offer else "draw"  # 2.4
        self.turns = 0  # completed by both players together (3.6)
        self.outcome: str | None = None
        self.scores: tuple[int, int] = (0, 0)
        # What the table has seen, by seat.
        self.taken: int | None = None  # from the pile this turn
        self.known: list[set[int]] = [set(), set()]  # taken from the pile and still held
        self.shed: list[set[int]] = [set(), set()]  # ever discarded face up
        self.refused: list[set[int]] = [set(), set()]  # upcards passed, or left by drawing from the stock
        self.discards: list[tuple[int, int]] = []  # (card, seat) of every face-up discard, oldest first

    @property
    def over(self) -> bool:
        return self.phase == "over"

    # What is legal

    def legal_actions(self) -> list[int]:
        if self.phase == "over":
            return []
        if self.phase == "offer":  # 2.4
            return [TAKE, PASS]
        if self.phase == "stock":  # 2.4: both passed
            return [DRAW]
        if self.phase == "draw":  # 2.3
            return [DRAW, TAKE]
        if self.phase == "last":  # 3.5
            return [TAKE, PASS]
        hand = self.hands[self._seat()]
        out = self._ways_out(hand, self.taken)
        if self.phase == "last_out":  # 3.5: only going out
            return out
        plain = [DISCARD + card for card in hand if self._may_discard(card, self.taken)]
        return sorted(plain + out)  # 2.6: declaring is a choice

    def _may_discard(self, card: int, taken: int | None) -> bool:
        """2.5: the card just taken from the pile may not go back in the same turn, unless the rules let it."""
        return card != taken or self.rules.may_return_upcard

    def _ways_out(self, hand: set[int], taken: int | None) -> list[int]:
        """The actions that go out from these eleven cards, `taken` being the one taken from the pile."""
        gin = [
            OUT + card
            for card in gin_discards(hand, self.rules.max_run)  # 3.1
            if self._may_discard(card, taken)
        ]
        big_gin = self.rules.big_gin_bonus is not None and is_melded(hand, self.rules.max_run)  # 3.3
        return [BIG_GIN, *gin] if big_gin else gin

    # What an action does

    def apply(self, action: int) -> None:
        """Play an action of the seat to act; an illegal one raises ValueError and changes nothing."""
        if action not in self.legal_actions():
            raise ValueError(f"illegal action {action} in phase {self.phase!r}; legal: {self.legal_actions()}")
        seat = self._seat()
        if action == DRAW:
            self._draw(seat)
        elif action == TAKE:
            self._take(seat)
        elif action == PASS:
            self._pass(seat)
        elif action == BIG_GIN:
            self._big_gin(seat)
        elif action < OUT:
            self._discard(seat, action - DISCARD)
        else:
            self._go_out(seat, action - OUT)

    def _draw(self, seat: int) -> None:
        if self.phase == "draw":  # the forced draw of phase "stock" refuses nothing more
            self.refused[seat].add(self.pile[-1])
        self.hands[seat].add(self.stock.pop(0))
        self.phase = "discard"

    def _take(self, seat: int) -> None:
        card = self.pile.pop()
        self.hands[seat].add(card)
        self.known[seat].add(card)  # 2.3: the opponent sees it
        self.taken = card
        self.phase = "last_out" if self.phase == "last" else "discard"

    def _pass(self, seat: int) -> None:
        self.refused[seat].add(self.pile[-1])
        if self.phase == "last":  # 3.5
            self._end("dead")
        elif seat == self.first:  # 2.4: now the dealer is asked
            self.player = 1 - seat
        else:  # 2.4: both passed
            self.player = self.first
            self.phase = "stock"

    def _discard(self, seat: int, card: int) -> None:
        self._shed(seat, card)
        self.turns += 1
        self.taken = None
        opponent = 1 - seat
        if len(self.stock) == 2:  # 3.4; before the turn limit (3.6)
            if self.rules.last_discard_option and self._ways_out(self.hands[opponent] | {card}, taken=card):
                self.player, self.phase = opponent, "last"  # 3.5: asked only if he could
            else:
                self._end("dead")
        elif self.turns >= self.rules.turn_limit:  # 3.6
            self._end("turn_limit")
        else:
            self.player, self.phase = opponent, "draw"

    def _go_out(self, seat: int, card: int) -> None:
        if self.rules.gin_discard_face_down:  # 3.7: `known` stays, or it would tell which card went
            self.hands[seat].remove(card)
            self.face_down = card
        else:
            self._shed(seat, card)
        self.turns += 1
        self._end("gin", seat, self.rules.gin_bonus)

    def _big_gin(self, seat: int) -> None:
        assert self.rules.big_gin_bonus is not None
        self.turns += 1
        self._end("big_gin", seat, self.rules.big_gin_bonus)

    def _shed(self, seat: int, card: int) -> None:
        """Discard a card face up."""
        self.hands[seat].remove(card)
        self.pile.append(card)
        self.known[seat].discard(card)
        self.shed[seat].add(card)
        self.discards.append((card, seat))

    def _end(self, outcome: str, winner: int | None = None, bonus: int = 0) -> None:
        if winner is not None:  # 3.2, 3.3: the opponent's deadwood and the bonus; 3.1: nothing to the opponent
            points = deadwood(self.hands[1 - winner], self.rules.max_run) + bonus
            self.scores = (points, 0) if winner == 0 else (0, points)
        self.outcome = outcome
        self.phase, self.player, self.taken = "over", None, None

    def _seat(self) -> int:
        assert self.player is not None
        return self.player

    # What a seat may know

    def view(self, seat: int) -> dict[str, object]:
        """Own hand and what the table has seen. In pairs I come first; as a seat I am 0 and the opponent 1."""

        def mine_theirs(by_seat: list[set[int]]) -> tuple[tuple[int, ...], tuple[int, ...]]:
            return ordered(by_seat[seat]), ordered(by_seat[1 - seat])

        def relative(who: int) -> int:
            return 0 if who == seat else 1

        return {
            "hand": ordered(self.hands[seat]),
            "upcard": self.pile[-1] if self.pile else None,
            "buried": ordered(self.pile[:-1]),
            "known": mine_theirs(self.known),
            "shed": mine_theirs(self.shed),
            "refused": mine_theirs(self.refused),
            "recent": tuple((card, relative(who)) for card, who in reversed(self.discards[-8:])),
            "taken": self.taken,
            "phase": self.phase,
            "to_act": None if self.player is None else relative(self.player),
            "first": relative(self.first),
            "stock": len(self.stock),
            "turns": self.turns,
            "outcome": self.outcome,
            "scores": (self.scores[seat], self.scores[1 - seat]),
            "legal": self.legal_actions() if self.player == seat else [],
        }

    def check_conservation(self) -> None:
        """The hands, the pile, the stock and a face-down discard are the 52 cards, each once."""
        face_down = [] if self.face_down is None else [self.face_down]
        assert sorted([*self.hands[0], *self.hands[1], *self.pile, *self.stock, *face_down]) == list(range(52))


def ordered(cards: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(cards))
