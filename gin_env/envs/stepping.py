"""What a batch of games does in one step, compiled: the part of :mod:`gin_env.envs.lanes` that changes records.

A step has stages. CHECK comes first, in all lanes: it finds a decision that can't be done, and then nothing is. The others are
done lane after lane in one pass where all opponents are compiled: ACT does the outside decisions and lets the opponents answer,
SETTLE pays and turns to the next hand where one has ended, OBSERVE writes what the next decision sees.

Any number of threads may do one step together. Each begins with its own share of the lanes, a part at a time, the same ones
each step, as they are in its core's cache; then it takes what the others have not come to, so that none waits for another
that started late. No lane's result depends on who does it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gin_env.advance import OUTSIDE, play_on
from gin_env.atomic import fetch_add, fetch_min, fetch_or
from gin_env.compiled import jit
from gin_env.observation import write_action_mask, write_observation
from gin_env.rules import chance, phases
from gin_env.rules.melds import hand_deadwood
from gin_env.rules.state import FORFEIT, LEGAL, LIMIT, OVER, clear_legal
from gin_env.rules.view import write_view

ANY_SEAT = -1

CHECK = 1
ACT = 2
SETTLE = 4
OBSERVE = 8

# How far a step is: places among the numbers that its threads share.
CHECKED, DONE = 0, 1  # parts of the lanes
ENDED = 2  # hands
REFUSED, FAILED = 3, 4  # the first lane whose decision can't be done, whose opponent chose an illegal action; or NO_LANE
LEFT = 5  # whether the thread that began the step is on its way
CLAIMS = 6  # from here on, for each part of the lanes, which stages were begun
NO_LANE = np.iinfo(np.int64).max

MOST_LOOKS = 100_000  # about a millisecond

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
        ("forfeits", np.bool_),  # an illegal action is let pass and forfeits the hand
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
def _refused(lane: Any, action: int, settings: Any) -> bool:
    """Whether no outside decision is due, or the action is illegal unless any is let pass."""
    offered = lane.offered
    if settings.forfeits:
        return offered.discards == 0 and offered.goes_out == 0 and offered.others == 0
    return not phases.is_legal(offered, action)


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
def no_progress(parts: int) -> NDArray[np.int64]:
    """What the threads of a step share as it begins."""
    progress = np.zeros(CLAIMS + parts, np.int64)
    progress[REFUSED] = progress[FAILED] = NO_LANE
    return progress


@jit
def _claim(stage: int, thread: int, threads: int, visits: int, progress: NDArray[np.int64]) -> tuple[int, int]:
    """Claim the next part of the lanes that no thread has begun, after some visits; returns it, or -1, and the visits by now.

    A thread visits its own parts upwards, then the rest downwards from there: the last ones that their own thread comes to.
    """
    parts = len(progress) - CLAIMS
    first, end = parts * thread // threads, parts * (thread + 1) // threads
    while visits < parts:
        part = first + visits
        if part >= end:
            part = (end - 1 - visits) % parts
        visits += 1
        if progress[CLAIMS + part] & stage == 0 and fetch_or(progress, CLAIMS + part, stage) & stage == 0:
            return part, visits
    return -1, visits


@jit
def _check(
    actions: NDArray[np.int64],
    settings: NDArray[np.void],
    thread: int,
    threads: int,
    progress: NDArray[np.int64],
    lanes: NDArray[np.void],
) -> bool:
    """Look for decisions that can't be done; whether there are none in any lane."""
    parts = len(progress) - CLAIMS
    part, visits = _claim(CHECK, thread, threads, 0, progress)
    while part >= 0:
        for i in range(len(lanes) * part // parts, len(lanes) * (part + 1) // parts):
            if _refused(lanes[i], actions[i], settings[0]):
                fetch_min(progress, REFUSED, i)
                break
        fetch_add(progress, CHECKED, 1)
        part, visits = _claim(CHECK, thread, threads, visits, progress)
    while fetch_add(progress, CHECKED, 0) < parts:
        pass
    return progress[REFUSED] == NO_LANE


@jit
def step(
    stages: int,
    actions: NDArray[np.int64],
    opponents: NDArray[np.void],
    settings: NDArray[np.void],
    scratch: NDArray[np.void],
    thread: int,
    threads: int,
    progress: NDArray[np.int64],
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
) -> None:
    """Do some stages of a step in n lanes; return when all lanes are done, by this thread or by others that were called alike.

    A thread that comes when nothing is left to do touches nothing.

    Args:
        stages: CHECK, ACT, SETTLE, OBSERVE or several of them.
        actions: (n,), for CHECK and ACT.
        opponents: (k,) of `OPPONENT`, none where both seats are decided outside.
        settings: one of `SETTINGS`.
        scratch: a `VIEW` to work in, each thread's own.
        thread: which of the threads this is, from 0.
        threads: how many do the step.
        progress: begins as `no_progress` of as many parts as the lanes are taken in. After the step, ENDED says how many hands
            ended, REFUSED and FAILED name the first lane in which a decision can't be done (then nothing was) or whose
            opponent chose an illegal action.
        records: (n,) of `RECORD`.
        lanes: (n,) of `LANE`.
        observations: (n, 960), written by OBSERVE.
        masks: (n, 108), written by OBSERVE.
        rewards: (n,), written by SETTLE.
        terminated: (n,), written by SETTLE.
        truncated: (n,), written by SETTLE.
        endings: (n,) of `ENDING`, written by SETTLE.
        ended: (n,), of which SETTLE fills the first places with the lanes whose hands ended, in no order.
        final_observations: (n, 960), of which SETTLE writes as many rows, in the same order.
    """
    if stages & CHECK and not _check(actions, settings, thread, threads, progress, lanes):
        return
    view = scratch[0]
    parts = len(progress) - CLAIMS
    part, visits = _claim(OBSERVE, thread, threads, 0, progress)
    while part >= 0:
        for i in range(len(lanes) * part // parts, len(lanes) * (part + 1) // parts):
            record, lane = records[i], lanes[i]
            if stages & ACT:
                _act(record, lane, actions[i])
                if not _answer(record, lane, opponents, view):
                    fetch_min(progress, FAILED, i)
                    continue
            if stages & SETTLE:
                if terminated[i] or truncated[i]:
                    _clear(endings[i])
                over = record.public.phase == OVER
                rewards[i] = _reward(record.public, lane, settings[0]) if over else 0.0
                truncated[i] = over and record.public.outcome == LIMIT
                terminated[i] = over and record.public.outcome != LIMIT
                if over:
                    place = fetch_add(progress, ENDED, 1)
                    _conclude(record, lane, view, final_observations[place], endings[i])
                    ended[place] = i
                    if settings[0].redeal:
                        record.hidden.deal += np.uint32(1)
                        if not _deal(record, lane, opponents, settings[0], view):
                            fetch_min(progress, FAILED, i)
                            continue
            if stages & OBSERVE:
                lane.seen = record.public.player if lane.seat == ANY_SEAT else lane.seat
                write_view(record, lane.seen, view)
                write_observation(view, observations[i])
                write_action_mask(view.legal, masks[i])
                lane.offered = view.legal
        fetch_add(progress, DONE, 1)
        part, visits = _claim(OBSERVE, thread, threads, visits, progress)
    while fetch_add(progress, DONE, 0) < parts:
        pass
    # The first thread is to go on with Python's lock, and would wait for it if the others took it now.
    for _ in range(MOST_LOOKS if thread > 0 else 0):
        if fetch_add(progress, LEFT, 0):
            break
