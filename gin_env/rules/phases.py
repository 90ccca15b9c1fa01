"""The course of a hand: for each phase, what is legal and what an action does. Changes records, and nothing else.

Rules: clauses 2.2 to 3.7. A record always holds the legal actions of the seat to act, worked out once when its turn to
decide comes. `apply` trusts that the action is legal; :func:`is_legal` asks.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gin_env.bits import bit
from gin_env.compiled import jit
from gin_env.rules import chance
from gin_env.rules.actions import BIG_GIN, DISCARD, DRAW, GO_OUT, PASS, TAKE
from gin_env.rules.melds import gin_discard_mask, hand_deadwood
from gin_env.rules.state import (
    BIG,
    BY_ONE,
    DEAD,
    DISCARD_PHASE,
    GIN,
    LAST,
    LAST_OUT,
    LIMIT,
    NO_CARD,
    NO_DISCARD,
    OFFER,
    OVER,
    PLAY,
    STOCK,
    clear_legal,
)

NONE = np.uint64(0)
DEAD_STOCK = 2  # cards of the stock that are never drawn (rule 3.4)


# The deal


@jit
def start(record: Any) -> None:
    """Deal the hand that the record's seed and deal number name (rules 2.1, 2.2)."""
    stream = chance.stream_of(record.hidden.seed, record.hidden.deal, chance.DEALING)
    deck = record.hidden.deck
    for card in range(52):
        deck[card] = card
    chance.shuffle(deck, stream)
    lay_out(record, chance.below(chance.draw(stream, np.uint64(51)), 2))


@jit
def lay_out(record: Any, first_player: int) -> None:
    """Begin a hand with the deck that stands in the record: ten cards each, the upcard, the stock (rule 2.1)."""
    public, hidden = record.public, record.hidden
    for seat in range(2):
        hand = NONE
        for i in range(10 * seat, 10 * seat + 10):
            hand |= bit(hidden.deck[i])
        hidden.hands[seat] = hand
        public.known[seat] = NONE
        public.shed[seat] = NONE
        public.refused[seat] = NONE
        public.scores[seat] = 0
    for i in range(len(public.recent)):
        public.recent[i] = NO_DISCARD
    public.buried = NONE
    public.turns = 0
    public.upcard = hidden.deck[20]
    public.under = NO_CARD
    public.taken = NO_CARD
    public.stock_left = 31
    public.outcome = 0
    public.winner = -1
    public.first_player = first_player
    public.player = first_player
    public.phase = OFFER if public.rules.opening_offer else PLAY
    hidden.decisions = 0
    hidden.face_down = NO_CARD
    find_legal(record)


# What is legal, phase by phase


@jit
def offer_legal(legal: Any) -> None:
    """Take the first upcard or pass (rule 2.4)."""
    legal.others = (1 << TAKE) | (1 << PASS)


@jit
def stock_legal(legal: Any) -> None:
    """After two passes the stock must be drawn from (rule 2.4)."""
    legal.others = 1 << DRAW


@jit
def play_legal(legal: Any) -> None:
    """Draw from the stock or take the upcard (rule 2.3). A turn never starts with a dead stock (rule 3.4)."""
    legal.others = (1 << DRAW) | (1 << TAKE)


@jit
def discard_legal(legal: Any, hand: np.uint64, taken: int, rules: Any) -> None:
    """Discard, go gin, or big gin (rules 2.3, 2.5, 3.1, 3.3)."""
    legal.discards = hand
    if taken != NO_CARD and not rules.may_return_upcard:
        legal.discards = hand & ~bit(taken)
    going_out_legal(legal, hand, taken, rules)


@jit
def going_out_legal(legal: Any, hand: np.uint64, taken: int, rules: Any) -> None:
    """The ways to end the hand now: gin (rule 3.1), big gin (rule 3.3)."""
    gin = gin_discard_mask(hand, rules.meld_limit)
    # Eleven melded cards always leave a gin, so that no gin means no big gin.
    if gin and rules.big_gin and hand_deadwood(hand, rules.meld_limit) == 0:
        legal.others = 1 << BIG_GIN
    if taken != NO_CARD and not rules.may_return_upcard:
        gin &= ~bit(taken)
    legal.goes_out = gin


@jit
def last_legal(legal: Any) -> None:
    """Take the last discard to go out with it, or pass (rule 3.5)."""
    legal.others = (1 << TAKE) | (1 << PASS)


@jit
def find_legal(record: Any) -> None:
    """Work out the legal actions of the seat to act and keep them in the record."""
    public, legal = record.public, record.hidden.legal
    clear_legal(legal)
    phase = public.phase
    if phase == PLAY:
        play_legal(legal)
    elif phase == DISCARD_PHASE:
        discard_legal(legal, record.hidden.hands[public.player], public.taken, public.rules)
    elif phase == OFFER:
        offer_legal(legal)
    elif phase == STOCK:
        stock_legal(legal)
    elif phase == LAST:
        last_legal(legal)
    elif phase == LAST_OUT:
        going_out_legal(legal, record.hidden.hands[public.player], public.taken, public.rules)


@jit
def is_legal(legal: Any, action: int) -> bool:
    """Whether an action, any integer, is among the legal ones."""
    if action < 0 or action >= GO_OUT + 52:
        return False
    if action < DISCARD:
        return (legal.others >> action) & 1 != 0
    if action < GO_OUT:
        return (legal.discards & bit(action - DISCARD)) != NONE
    return (legal.goes_out & bit(action - GO_OUT)) != NONE


# What an action does, phase by phase


@jit
def offer_apply(record: Any, action: int) -> None:
    """The first upcard is taken, or passed to the other player, or by both (rule 2.4)."""
    public = record.public
    if action == TAKE:
        take_upcard(record)
        public.phase = DISCARD_PHASE
        return
    refuse_upcard(public)
    public.player = 1 - public.player
    if public.player == public.first_player:
        public.phase = STOCK


@jit
def stock_apply(record: Any) -> None:
    """The forced draw after two passes (rule 2.4)."""
    draw_stock(record)
    record.public.phase = DISCARD_PHASE


@jit
def play_apply(record: Any, action: int) -> None:
    """One card is drawn (rule 2.3)."""
    if action == TAKE:
        take_upcard(record)
    else:
        refuse_upcard(record.public)
        draw_stock(record)
    record.public.phase = DISCARD_PHASE


@jit
def discard_apply(record: Any, action: int) -> None:
    """A card is discarded and the turn passes, or the hand ends (rules 2.3, 3.1 to 3.6)."""
    public = record.public
    if action == BIG_GIN or action >= GO_OUT:
        go_out(record, action)
        return
    lay_face_up(record, action - DISCARD)
    public.turns += 1
    public.taken = NO_CARD
    public.player = 1 - public.player
    public.phase = PLAY
    if public.stock_left == DEAD_STOCK:
        if public.rules.last_discard_option and could_go_out(record):
            public.phase = LAST
        else:
            end_hand(record, DEAD)
    elif public.turns >= public.rules.turn_limit:
        end_hand(record, LIMIT)


@jit
def last_apply(record: Any, action: int) -> None:
    """The last discard is taken, or passed and the hand is dead (rule 3.5)."""
    if action == TAKE:
        take_upcard(record)
        record.public.phase = LAST_OUT
    else:
        refuse_upcard(record.public)
        end_hand(record, DEAD)


@jit
def go_out(record: Any, action: int) -> None:
    """Gin or big gin: the hand ends and the declarer scores (rules 3.1 to 3.3, 3.7)."""
    public, hidden = record.public, record.hidden
    winner = public.player
    points = hand_deadwood(hidden.hands[1 - winner], public.rules.meld_limit)
    if action == BIG_GIN:
        outcome = BIG
        points += public.rules.big_gin_bonus
    else:
        outcome = GIN
        points += public.rules.gin_bonus
        if public.rules.gin_discard_face_down:
            # `known` keeps even a card taken from the pile: its going would tell which card lies there.
            hidden.face_down = action - GO_OUT
            hidden.hands[winner] &= ~bit(action - GO_OUT)
        else:
            lay_face_up(record, action - GO_OUT)
    public.turns += 1
    public.scores[winner] = points
    public.winner = winner
    end_hand(record, outcome)


@jit
def apply(record: Any, action: int) -> None:
    """Do a legal action and find what is legal next."""
    phase = record.public.phase
    record.hidden.decisions += np.uint32(1)
    if phase == PLAY:
        play_apply(record, action)
    elif phase == DISCARD_PHASE:
        discard_apply(record, action)
    elif phase == OFFER:
        offer_apply(record, action)
    elif phase == STOCK:
        stock_apply(record)
    elif phase == LAST:
        last_apply(record, action)
    elif phase == LAST_OUT:
        go_out(record, action)
    find_legal(record)


# The moves that actions are made of


@jit
def draw_stock(record: Any) -> None:
    """The seat to act draws the top of the stock."""
    public, hidden = record.public, record.hidden
    hidden.hands[public.player] |= bit(hidden.deck[52 - public.stock_left])
    public.stock_left -= 1


@jit
def take_upcard(record: Any) -> None:
    """The seat to act takes the top of the pile; the card below it is the top now."""
    public = record.public
    card = bit(public.upcard)
    record.hidden.hands[public.player] |= card
    public.known[public.player] |= card
    public.taken = public.upcard
    public.upcard = public.under
    public.under = NO_CARD
    if public.upcard != NO_CARD:
        public.buried &= ~bit(public.upcard)


@jit
def refuse_upcard(public: Any) -> None:
    """The seat to act lets the upcard lie."""
    public.refused[public.player] |= bit(public.upcard)


@jit
def lay_face_up(record: Any, card: int) -> None:
    """The seat to act lays a card of its hand on the pile."""
    public = record.public
    seat = public.player
    record.hidden.hands[seat] &= ~bit(card)
    public.known[seat] &= ~bit(card)
    public.shed[seat] |= bit(card)
    for i in range(len(public.recent) - 1, 0, -1):
        public.recent[i] = public.recent[i - 1]
    public.recent[0] = card + BY_ONE * seat
    if public.upcard != NO_CARD:
        public.buried |= bit(public.upcard)
    public.under = public.upcard
    public.upcard = card


@jit
def could_go_out(record: Any) -> bool:
    """Whether the seat to act could take the upcard and go out at once (rule 3.5)."""
    public, legal = record.public, record.hidden.legal
    legal.others = 0
    going_out_legal(legal, record.hidden.hands[public.player] | bit(public.upcard), public.upcard, public.rules)
    return legal.goes_out != NONE or legal.others != 0


@jit
def end_hand(record: Any, outcome: int) -> None:
    """The hand is over; the scores stand in the record."""
    record.public.outcome = outcome
    record.public.phase = OVER
    record.public.player = -1
    record.public.taken = NO_CARD


# Entries from Python: one array of records, so that a call costs little


@jit
def start_all(records: NDArray[np.void]) -> None:
    """Deal every record's hand anew."""
    for i in range(len(records)):
        start(records[i])


@jit
def lay_out_first(records: NDArray[np.void], first_player: int) -> None:
    """Begin the first record's hand with the deck that stands in it."""
    lay_out(records[0], first_player)


@jit
def apply_first(records: NDArray[np.void], action: int) -> bool:
    """Do an action in the first record if it is legal, and say whether it was; else nothing is changed."""
    if not is_legal(records[0].hidden.legal, action):
        return False
    apply(records[0], action)
    return True
