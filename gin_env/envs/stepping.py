"""What a batch of games does in one step, compiled: the part of :mod:`gin_env.envs.lanes` that changes records.

A step has stages, done lane after lane in one pass where all opponents are compiled: ACT does the outside decisions and lets
the opponents answer, SETTLE pays and turns to the next hand where one has ended, OBSERVE writes what the next decision sees.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gin_env.advance import OUTSIDE, play_on
from gin_env.compiled import jit
from gin_env.observation import write_action_mask, write_observation
from gin_env.rules import chance, phases
from gin_env.rules.melds import hand_deadwood
from gin_env.rules.state import FORFEIT, LEGAL, LIMIT, OVER, clear_legal
from gin_env.rules.view import write_view

ANY_SEAT = -1

ACT = 1
SETTLE = 2
OBSERVE = 4

# Beside each game record: who plays it.
LANE = np.dtype(
    [
        ("offered", LEGAL),  # the legal actions of the outside decision that is due; none where none is
        ("seat", np.int8),  # the learner's, ANY_SEAT where both seats are decided outside
        ("acting", np.int8),  # the seat that acted in the last step
        ("seen", np.int8),  # the seat whose observation was written
        ("forfeit", np.int8),  # 1 if the last action was illegal
        ("opponent", np.int16),  # place among the opponents
    ],
    align=True,
)

OPPONENT = np.dtype(
    [
        ("address", np.int64),  # of the compiled policy, or OUTSIDE
        ("share", np.float64),  # new hands draw the first opponent whose share is above a number drawn from 0 to 1
    ]
)

# The same for every lane: one record.
SETTINGS = np.dtype(
    [
        ("illegal_reward", np.float64),
        ("learner_seat", np.int8),  # 0, 1, or ANY_SEAT for a seat drawn anew for each hand
        ("win", np.bool_),  # rewards are 1, 0, -1 instead of points
        ("redeal", np.bool_),  # a hand that has ended is followed by the next on the same step
    ]
)

# How a hand ended, in numbers; all zero while it is open.
ENDING = np.dtype(
    [
        ("outcome", np.int64),  # place in OUTCOMES
        ("scores", np.int64, (2,)),
        ("turns", np.int64),
        ("deadwood", np.int64, (2,)),
        ("seat", np.int64),  # the learner's, or else the one that acted last
        ("opponent", np.int64),  # place among the opponents
    ]
)


@jit
def decided_outside(lane: Any, player: int) -> bool:
    """Whether a decision of this player is an outside one."""
    return player >= 0 and (lane.seat == ANY_SEAT or lane.seat == player)


@jit
def first_refused(lanes: NDArray[np.void], actions: NDArray[np.int64], any_action: bool) -> int:
    """The first lane in which no outside decision is due, or whose action is illegal unless any is let pass; -1: none."""
    for i in range(len(lanes)):
        offered = lanes[i].offered
        if any_action:
            if offered.discards == 0 and offered.goes_out == 0 and offered.others == 0:
                return i
        elif not phases.is_legal(offered, actions[i]):
            return i
    return -1


@jit
def due(records: NDArray[np.void], lanes: NDArray[np.void], opponent: int, found: NDArray[np.int64]) -> int:
    """The lanes in which one opponent is to act; returns how many."""
    n = 0
    for i in range(len(records)):
        player = records[i].public.player
        if player >= 0 and lanes[i].opponent == opponent and not decided_outside(lanes[i], player):
            found[n] = i
            n += 1
    return n


@jit
def _answer(record: Any, lane: Any, opponents: NDArray[np.void], view: Any) -> bool:
    """Let a compiled opponent decide until it no longer can; False: it chose an illegal action."""
    if lane.seat == ANY_SEAT:
        return True
    address = opponents[lane.opponent].address
    return play_on(record, OUTSIDE, address, view) if lane.seat == 0 else play_on(record, address, OUTSIDE, view)


@jit
def _seat(record: Any, lane: Any, opponents: NDArray[np.void], settings: Any) -> None:
    """Seat learner and opponent, by the seed of the hand."""
    if len(opponents) == 0:
        return
    stream = chance.stream_of(record.hidden.seed, np.uint64(record.hidden.deal), chance.SEATING)
    lane.seat = settings.learner_seat
    if lane.seat == ANY_SEAT:
        lane.seat = chance.below(chance.draw(stream, np.uint64(0)), 2)
    at = chance.below(chance.draw(stream, np.uint64(1)), 1 << 31) / (1 << 31)
    chosen = 0
    while chosen < len(opponents) - 1 and at >= opponents[chosen].share:
        chosen += 1
    lane.opponent = chosen


@jit
def _deal(record: Any, lane: Any, opponents: NDArray[np.void], settings: Any, view: Any) -> bool:
    """Deal the hand that seed and deal number name and play on to an outside decision; False: an illegal choice.

    A hand that the opponent ends before anything was decided outside is passed over: the next one is dealt.
    """
    while True:
        phases.start(record)
        _seat(record, lane, opponents, settings)
        if not _answer(record, lane, opponents, view):
            return False
        if record.public.phase != OVER:
            return True
        record.hidden.deal += np.uint32(1)


@jit
def begin(
    records: NDArray[np.void],
    lanes: NDArray[np.void],
    chosen: NDArray[np.int64],
    opponents: NDArray[np.void],
    settings: NDArray[np.void],
    scratch: NDArray[np.void],
) -> int:
    """Deal the hands of some lanes; returns the first lane whose opponent chose an illegal action, -1: none did."""
    for i in chosen:
        if not _deal(records[i], lanes[i], opponents, settings[0], scratch[0]):
            return i
    return -1


@jit
def begin_with(
    records: NDArray[np.void],
    lanes: NDArray[np.void],
    chosen: NDArray[np.int64],
    opponents: NDArray[np.void],
    settings: NDArray[np.void],
    scratch: NDArray[np.void],
    deck: NDArray[np.int8],
    first_player: int,
) -> int:
    """Like :func:`begin`, with a deck (empty: the seed's) and a first player (-1: the seed's) from outside, and no redeal."""
    for i in chosen:
        record = records[i]
        phases.start(record)
        for place in range(len(deck)):
            record.hidden.deck[place] = deck[place]
        phases.lay_out(record, record.public.first_player if first_player < 0 else first_player)
        _seat(record, lanes[i], opponents, settings[0])
        if not _answer(record, lanes[i], opponents, scratch[0]):
            return i
    return -1


@jit
def _act(record: Any, lane: Any, action: int) -> None:
    """Do an outside decision; an illegal action forfeits the hand."""
    lane.acting = record.public.player
    clear_legal(lane.offered)
    lane.forfeit = not phases.is_legal(record.hidden.legal, action)
    if lane.forfeit:
        phases.end_hand(record, FORFEIT)
        phases.find_legal(record)
    else:
        phases.apply(record, action)


@jit
def _reward(public: Any, lane: Any, settings: Any) -> float:
    """What a hand that is over pays the learner's seat, or else the one that acted last."""
    seat = lane.acting if lane.seat == ANY_SEAT else lane.seat
    if lane.forfeit:
        return settings.illegal_reward
    if not settings.win:
        return float(public.scores[seat] - public.scores[1 - seat])
    if public.winner < 0:
        return 0.0
    return 1.0 if public.winner == seat else -1.0


@jit
def _conclude(record: Any, lane: Any, view: Any, final_observation: NDArray[np.int8], ending: Any) -> None:
    """Write the last observation and the ending of a hand."""
    public = record.public
    seat = lane.acting if lane.seat == ANY_SEAT else lane.seat
    write_view(record, seat, view)
    write_observation(view, final_observation)
    ending.outcome = public.outcome
    ending.turns = public.turns
    ending.seat = seat
    ending.opponent = lane.opponent
    for s in range(2):
        ending.scores[s] = public.scores[s]
        ending.deadwood[s] = hand_deadwood(record.hidden.hands[s], public.rules.meld_limit)


@jit
def _clear(ending: Any) -> None:
    ending.outcome = 0
    ending.turns = 0
    ending.seat = 0
    ending.opponent = 0
    for s in range(2):
        ending.scores[s] = 0
        ending.deadwood[s] = 0


@jit
def step(
    stages: int,
    actions: NDArray[np.int64],
    opponents: NDArray[np.void],
    settings: NDArray[np.void],
    scratch: NDArray[np.void],
    records: NDArray[np.void],
    lanes: NDArray[np.void],
    observations: NDArray[np.int8],
    masks: NDArray[np.int8],
    rewards: NDArray[np.float64],
    terminated: NDArray[np.bool_],
    truncated: NDArray[np.bool_],
    endings: NDArray[np.void],
    ended: NDArray[np.int64],
    final_observations: NDArray[np.int8],
) -> int:
    """Do some stages of a step in each of n lanes.

    Args:
        stages: ACT, SETTLE, OBSERVE or several of them.
        actions: (n,), for ACT.
        opponents: (k,) of `OPPONENT`, none where both seats are decided outside.
        settings: one of `SETTINGS`.
        scratch: a `VIEW` to work in.
        records: (n,) of `RECORD`.
        lanes: (n,) of `LANE`.
        observations: (n, 960), written by OBSERVE.
        masks: (n, 108), written by OBSERVE.
        rewards: (n,), written by SETTLE.
        terminated: (n,), written by SETTLE.
        truncated: (n,), written by SETTLE.
        endings: (n,) of `ENDING`, written by SETTLE.
        ended: (n,), of which SETTLE fills the first places with the lanes whose hands ended.
        final_observations: (n, 960), of which SETTLE writes as many rows.

    Returns:
        How many hands ended; or -1 - lane, if that lane's opponent chose an illegal action.
    """
    count = 0
    view = scratch[0]
    for i in range(len(records)):
        record, lane = records[i], lanes[i]
        if stages & ACT:
            _act(record, lane, actions[i])
            if not _answer(record, lane, opponents, view):
                return -1 - i
        if stages & SETTLE:
            if terminated[i] or truncated[i]:
                _clear(endings[i])
            over = record.public.phase == OVER
            rewards[i] = _reward(record.public, lane, settings[0]) if over else 0.0
            truncated[i] = over and record.public.outcome == LIMIT
            terminated[i] = over and record.public.outcome != LIMIT
            if over:
                _conclude(record, lane, view, final_observations[count], endings[i])
                ended[count] = i
                count += 1
                if settings[0].redeal:
                    record.hidden.deal += np.uint32(1)
                    if not _deal(record, lane, opponents, settings[0], view):
                        return -1 - i
        if stages & OBSERVE:
            lane.seen = record.public.player if lane.seat == ANY_SEAT else lane.seat
            write_view(record, lane.seen, view)
            write_observation(view, observations[i])
            write_action_mask(view.legal, masks[i])
            lane.offered = view.legal
    return count
