"""Many games at once, decided from outside: what the Gymnasium environments and trainers are thin users of.

A lane plays one hand after another of its own seed. Either both seats are decided outside, or one learner seat is and an
opponent plays the other inside: compiled opponents in the kernel, others batch by batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gin_env.advance import advance, apply_some, write_decisions
from gin_env.compiled import jit
from gin_env.envs.episode import (
    MATCHES,
    REWARDS,
    checked_choice,
    checked_reward,
    default_illegal_reward,
)
from gin_env.observation import WIDTH, write_action_mask, write_observation
from gin_env.policies.policy import Batch, Policy, checked_actions
from gin_env.policies.registry import policy as policy_of
from gin_env.round import checked_seed
from gin_env.rules import chance, phases
from gin_env.rules.actions import ACTIONS, illegal
from gin_env.rules.melds import hand_deadwood
from gin_env.rules.ruleset import Rules, compiled_rules
from gin_env.rules.state import FORFEIT, LIMIT, OUTCOMES, OVER, PHASES, RECORD
from gin_env.rules.view import VIEW, legal_actions, write_view

Opponent = str | Policy | Sequence[tuple[str | Policy, float]] | None

ILLEGAL_ACTIONS = ("raise", "forfeit")
BOTH_SEATS = 3
ANY_SEAT = -1
MOST_WEIGHT = 1e9


@jit
def _begin(
    records: NDArray[np.void],
    lanes: NDArray[np.int64],
    learner_seat: int,
    first_opponent: int,
    shares: NDArray[np.float64],
    seats: NDArray[np.int8],
    outside: NDArray[np.int8],
    opponents: NDArray[np.int16],
) -> None:
    """Deal the hand that each lane's seed and deal number name, and seat learner and opponent by the same seed."""
    for lane in lanes:
        record = records[lane]
        phases.start(record)
        if len(shares) == 0:
            seats[lane] = ANY_SEAT
            outside[lane] = BOTH_SEATS
            continue
        stream = chance.stream_of(record.hidden.seed, np.uint64(record.hidden.deal), chance.SEATING)
        seat = learner_seat
        if seat == ANY_SEAT:
            seat = chance.below(chance.draw(stream, np.uint64(0)), 2)
        at = chance.below(chance.draw(stream, np.uint64(1)), 1 << 31) / (1 << 31)
        chosen = 0
        while chosen < len(shares) - 1 and at >= shares[chosen]:
            chosen += 1
        seats[lane] = seat
        outside[lane] = 1 << seat
        opponents[lane] = first_opponent + chosen


@jit
def _first_not_due(records: NDArray[np.void], outside: NDArray[np.int8]) -> int:
    """The first lane in which no outside decision is due, -1 if there is none."""
    for lane in range(len(records)):
        player = records[lane].public.player
        if player < 0 or not (outside[lane] >> player) & 1:
            return lane
    return -1


@jit
def _first_illegal(records: NDArray[np.void], actions: NDArray[np.int64]) -> int:
    """The first lane whose action is not legal, -1 if all are."""
    for lane in range(len(records)):
        if not phases.is_legal(records[lane].hidden.legal, actions[lane]):
            return lane
    return -1


@jit
def _apply_all(
    records: NDArray[np.void], actions: NDArray[np.int64], acting: NDArray[np.int8], forfeits: NDArray[np.bool_]
) -> None:
    """Do each lane's action; an illegal one forfeits the hand. `acting` gets the seats that acted."""
    for lane in range(len(records)):
        record = records[lane]
        acting[lane] = record.public.player
        forfeits[lane] = not phases.is_legal(record.hidden.legal, actions[lane])
        if forfeits[lane]:
            phases.end_hand(record, FORFEIT)
            phases.find_legal(record)
        else:
            phases.apply(record, actions[lane])


@jit
def _pay(
    records: NDArray[np.void],
    seats: NDArray[np.int8],
    acting: NDArray[np.int8],
    forfeits: NDArray[np.bool_],
    win: bool,
    illegal_reward: float,
    rewards: NDArray[np.float64],
    terminated: NDArray[np.bool_],
    truncated: NDArray[np.bool_],
) -> int:
    """Rewards and endings of each lane, for the learner's seat or else the seat that acted; returns how many hands ended."""
    ended = 0
    for lane in range(len(records)):
        public = records[lane].public
        rewards[lane] = 0.0
        over = public.phase == OVER
        truncated[lane] = over and public.outcome == LIMIT
        terminated[lane] = over and public.outcome != LIMIT
        if not over:
            continue
        ended += 1
        seat = acting[lane] if seats[lane] == ANY_SEAT else seats[lane]
        if forfeits[lane]:
            rewards[lane] = illegal_reward
        elif not win:
            rewards[lane] = public.scores[seat] - public.scores[1 - seat]
        elif public.winner >= 0:
            rewards[lane] = 1.0 if public.winner == seat else -1.0
    return ended


@jit
def _observe(
    records: NDArray[np.void],
    lanes: NDArray[np.int64],
    seats: NDArray[np.int8],
    scratch: NDArray[np.void],
    observations: NDArray[np.int8],
    masks: NDArray[np.int8],
) -> None:
    """Write observation and mask of some lanes, one row each, for the seat given, or the seat to act for ANY_SEAT."""
    for row in range(len(lanes)):
        record = records[lanes[row]]
        seat = seats[lanes[row]]
        write_view(record, record.public.player if seat == ANY_SEAT else seat, scratch[0])
        write_observation(scratch[0], observations[row])
        write_action_mask(scratch[0].legal, masks[row])


@jit
def _due(
    records: NDArray[np.void],
    outside: NDArray[np.int8],
    opponents: NDArray[np.int16],
    opponent: int,
    lanes: NDArray[np.int64],
) -> int:
    """The lanes in which one opponent is to act; returns how many."""
    n = 0
    for lane in range(len(records)):
        player = records[lane].public.player
        if player >= 0 and opponents[lane] == opponent and not (outside[lane] >> player) & 1:
            lanes[n] = lane
            n += 1
    return n


# How a hand ended, in numbers.
ENDING = np.dtype(
    [
        ("outcome", np.int64),  # place in OUTCOMES
        ("scores", np.int64, (2,)),
        ("turns", np.int64),
        ("deadwood", np.int64, (2,)),
        ("seat", np.int64),  # the learner's, or else the one that acted last
        ("opponent", np.int64),  # place in `Lanes.opponent_names`
    ]
)


@jit
def _conclude(
    records: NDArray[np.void],
    lanes: NDArray[np.int64],
    seats: NDArray[np.int8],
    acting: NDArray[np.int8],
    opponents: NDArray[np.int16],
    scratch: NDArray[np.void],
    observations: NDArray[np.int8],
    endings: NDArray[np.void],
) -> None:
    """Write the last observation and the ending of each of some lanes, one row each."""
    for row in range(len(lanes)):
        lane = lanes[row]
        record = records[lane]
        public = record.public
        seat = acting[lane] if seats[lane] == ANY_SEAT else seats[lane]
        write_view(record, seat, scratch[0])
        write_observation(scratch[0], observations[row])
        ending = endings[row]
        ending.outcome = public.outcome
        ending.turns = public.turns
        ending.seat = seat
        ending.opponent = opponents[lane]
        for s in range(2):
            ending.scores[s] = public.scores[s]
            ending.deadwood[s] = hand_deadwood(record.hidden.hands[s], public.rules.meld_limit)


class Lanes:
    """A batch of games with their outside decisions.

    Args:
        num_lanes: how many games.
        rules: a preset's name, a `Rules`, or a mapping of rule fields.
        match: "hand".
        opponent: a policy's name, path or object, a list of (policy, weight) of which each hand draws one, or None: both
            seats are decided outside.
        learner_seat: 0, 1, or "random": drawn anew each hand from the lane's seed.
        reward: "points" (of the hand, zero-sum) or "win" (+1, 0, -1).
        illegal_action: "raise" an `IllegalAction`, or "forfeit" the hand.
        illegal_reward: the reward of a forfeit; None: no better than the worst loss.

    Attributes:
        records: (n,) game records.
        seats: (n,) int8, the learner's seat; -1 where both seats are decided outside.
        masks: (n, 108) int8, and `observations`, (n, 960) int8, as last written by :meth:`observe`.
        rewards, terminated, truncated: (n,) of the last step.
        acting: (n,) int8, the seats that acted in the last step.
    """

    def __init__(
        self,
        num_lanes: int,
        rules: str | Rules | dict[str, Any] = "straight",
        match: str = "hand",
        opponent: Opponent = None,
        learner_seat: str | int = "random",
        reward: str = "points",
        illegal_action: str = "raise",
        illegal_reward: float | None = None,
    ) -> None:
        if isinstance(num_lanes, bool) or not isinstance(num_lanes, (int, np.integer)) or num_lanes < 1:
            raise ValueError(f"num_envs={num_lanes!r}: expected an integer of at least 1")
        checked_choice("match", match, MATCHES)
        checked_choice("learner_seat", learner_seat, ("random", 0, 1))
        checked_choice("reward", reward, REWARDS)
        checked_choice("illegal_action", illegal_action, ILLEGAL_ACTIONS)
        self.rules = Rules.of(rules)
        self.reward = reward
        self.illegal_action = illegal_action
        self.illegal_reward = (
            default_illegal_reward(self.rules, reward)
            if illegal_reward is None
            else checked_reward("illegal_reward", illegal_reward)
        )
        n = self.num_lanes = int(num_lanes)
        self._learner_seat = ANY_SEAT if learner_seat == "random" else int(learner_seat)
        self._all = np.arange(n)
        self.records = np.zeros(n, RECORD)
        self.records["public"]["rules"] = compiled_rules(self.rules)[0]
        self.seats = np.full(n, ANY_SEAT, np.int8)
        self.acting = np.zeros(n, np.int8)
        self.rewards = np.zeros(n)
        self.terminated = np.zeros(n, np.bool_)
        self.truncated = np.zeros(n, np.bool_)
        self.observations = np.zeros((n, WIDTH), np.int8)
        self.masks = np.zeros((n, ACTIONS), np.int8)
        self._outside = np.full(n, BOTH_SEATS, np.int8)
        self._forfeits = np.zeros(n, np.bool_)
        self._scratch = np.zeros(1, VIEW)
        self._begun = False
        self._policies: list[Policy] = []
        self._opponents = np.zeros(n, np.int16)
        self._first_opponent = 0
        self._shares = np.zeros(0)
        self.set_opponent(opponent)

    def set_opponent(self, opponent: Opponent) -> None:
        """Change the opponent, from each lane's next hand on; hands in progress end against the one they began with.

        Raises:
            ValueError: an unknown policy, weights that are not positive, or a change between an opponent and none.
        """
        entries = _weighted(opponent)
        if (self._policies and not entries) or (entries and not self._policies and self._begun):
            raise ValueError(f"opponent={opponent!r}: an environment with an opponent keeps having one, and one without none")
        # Opponents that hands in progress were begun with stay; the rest make room.
        kept = sorted({int(i) for i in self._opponents}) if self._policies else []
        places = np.zeros(max(len(self._policies), 1), np.int16)
        places[kept] = np.arange(len(kept))
        self._opponents = places[self._opponents]
        self._policies = [self._policies[i] for i in kept] + [policy for policy, _ in entries]
        self._first_opponent = len(kept)
        weights = np.array([weight for _, weight in entries])
        self._shares = np.cumsum(weights) / weights.sum() if len(weights) else weights

    def seed(self, seeds: Iterable[int]) -> None:
        """Give each lane its seed; the next :meth:`begin` deals the first hand of it."""
        self.records["hidden"]["seed"] = np.array(list(seeds), np.uint64)
        self.records["hidden"]["deal"] = 0
        self._begun = True

    def begin(self, lanes: NDArray[np.int64] | None = None) -> None:
        """Deal the lanes' hands and play on to the first outside decision.

        A hand that the opponent ends before the learner has decided anything (about one in twenty thousand) is passed over: the
        next hand is dealt.
        """
        lanes = self._all if lanes is None else lanes
        while len(lanes):
            self._seat(lanes)
            self.play_opponents()
            lanes = lanes[self.records["public"]["phase"][lanes] == OVER]
            self.next_deal(lanes)

    def begin_with(self, lanes: NDArray[np.int64], deck: list[int] | None, first_player: int | None) -> None:
        """Begin the lanes' hands with a deck or first player given from outside, then play on as :meth:`begin` does.

        Raises:
            ValueError: the opponent ends the hand before the learner decides anything.
        """
        self._seat(lanes)
        for lane in lanes:
            record = self.records[lane : lane + 1]
            if deck is not None:
                record["hidden"]["deck"] = deck
            first = int(record["public"]["first_player"][0]) if first_player is None else first_player
            phases.lay_out_first(record, first)
        self.play_opponents()
        if (self.records["public"]["phase"][lanes] == OVER).any():
            raise ValueError("with this deck the opponent goes out before the learner decides anything: take another")

    def next_deal(self, lanes: NDArray[np.int64]) -> None:
        """Turn to the lanes' next hand, which :meth:`begin` will deal."""
        self.records["hidden"]["deal"][lanes] += 1

    def _seat(self, lanes: NDArray[np.int64]) -> None:
        """Deal the lanes' hands and say who plays them."""
        _begin(
            self.records,
            lanes,
            self._learner_seat,
            self._first_opponent,
            self._shares,
            self.seats,
            self._outside,
            self._opponents,
        )
        for i, policy in enumerate(self._policies):
            if policy.compiled is None:
                policy.start(lanes[self._opponents[lanes] == i])

    def check(self, actions: NDArray[np.int64]) -> None:
        """Raise for the first lane whose action is not legal.

        Raises:
            IllegalAction: it names the lane, the value, the phase and what is legal; nothing was changed.
        """
        lane = _first_illegal(self.records, actions)
        if lane >= 0:
            record = self.records[lane]
            where = f" in game {lane}" if self.num_lanes > 1 else ""
            legal = legal_actions(record["hidden"]["legal"])
            raise illegal(int(actions[lane]), PHASES[record["public"]["phase"]], legal, where)

    def step(self, actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Do each lane's action and let the opponents answer.

        Args:
            actions: (n,) int64.

        Returns:
            The lanes whose hand ended, rising. `rewards`, `terminated` and `truncated` are set for all.

        Raises:
            IllegalAction: with `illegal_action="raise"`; no lane was changed.
            ValueError: an opponent is still to act, as the last call was interrupted.
        """
        lane = _first_not_due(self.records, self._outside)
        if lane >= 0:
            raise ValueError(
                f"no decision is due in game {lane}, as the last call was interrupted: reset the environment first"
            )
        if self.illegal_action == "raise":
            self.check(actions)
        _apply_all(self.records, actions, self.acting, self._forfeits)
        self.play_opponents()
        ended = _pay(
            self.records,
            self.seats,
            self.acting,
            self._forfeits,
            self.reward == "win",
            self.illegal_reward,
            self.rewards,
            self.terminated,
            self.truncated,
        )
        return np.flatnonzero(self.terminated | self.truncated) if ended else self._all[:0]

    def play_opponents(self) -> None:
        """Let the opponents decide until an outside decision is due in every lane, or its hand is over."""
        for i, policy in enumerate(self._policies):
            if policy.compiled is not None:
                outside = self._outside
                if len(self._policies) > 1:
                    outside = np.where(self._opponents == i, outside, BOTH_SEATS).astype(np.int8)
                lane = advance(self.records, outside, policy.compiled, policy.compiled, self._scratch)
                if lane >= 0:
                    raise ValueError(f"policy {policy.name!r} chose an illegal action in game {lane}")
            else:
                self._play_in_batches(policy, i)

    def _play_in_batches(self, policy: Policy, opponent: int) -> None:
        due = np.empty(self.num_lanes, np.int64)
        while n := _due(self.records, self._outside, self._opponents, opponent, due):
            views, keys = np.zeros(n, VIEW), np.empty(n, np.uint64)
            write_decisions(self.records, due[:n], views, keys)
            batch = Batch(views, due[:n].copy(), keys)
            apply_some(self.records, batch.lanes, checked_actions(policy, batch))

    def observe(self) -> None:
        """Write every lane's observation and action mask, of the learner's seat or else the seat to act."""
        _observe(self.records, self._all, self.seats, self._scratch, self.observations, self.masks)

    def seats_to_act(self) -> NDArray[np.int8]:
        """The seat whose decision is due in each lane: (n,) int8."""
        return self.records["public"]["player"].copy()

    def conclude(self, lanes: NDArray[np.int64]) -> tuple[NDArray[np.int8], NDArray[np.void]]:
        """Lanes whose hand has ended, one row each: the last observations, (k, 960) int8, and the endings, (k,) of `ENDING`."""
        observations, endings = np.empty((len(lanes), WIDTH), np.int8), np.empty(len(lanes), ENDING)
        _conclude(self.records, lanes, self.seats, self.acting, self._opponents, self._scratch, observations, endings)
        return observations, endings

    def ending_info(self, ending: NDArray[np.void]) -> dict[str, Any]:
        """What the last info of an episode says: one of `ENDING` in words."""
        return {
            "outcome": OUTCOMES[ending["outcome"]],
            "scores": tuple(ending["scores"].tolist()),
            "turns": int(ending["turns"]),
            "deadwood": tuple(ending["deadwood"].tolist()),
            "seat": int(ending["seat"]),
            "opponent": self.opponent_names[ending["opponent"]],
        }

    @property
    def opponent_names(self) -> list[str | None]:
        """The names of the opponents, of hands in progress too; one None where there is no opponent."""
        return [policy.name for policy in self._policies] or [None]


def lane_seeds(seed: int | Sequence[int] | None, n: int) -> list[int]:
    """Seeds of n lanes: `seed + i` of an integer, those of a sequence, or fresh ones from the system.

    Raises:
        ValueError: a bad seed, or a sequence of another length.
    """
    if seed is None or isinstance(seed, (int, np.integer)):
        first = checked_seed(seed)
        return [(first + i) % 2**64 for i in range(n)]
    if not isinstance(seed, (Sequence, np.ndarray)) or isinstance(seed, str):
        raise ValueError(f"seed={seed!r}: expected None, an integer, or a sequence of them")
    if len(seed) != n:
        raise ValueError(f"{len(seed)} seeds for {n} games: expected one seed for each, or a single integer")
    return [checked_seed(s) for s in seed]


def _weighted(opponent: Opponent) -> list[tuple[Policy, float]]:
    """The opponent as a list of policies and weights."""
    if opponent is None:
        return []
    if isinstance(opponent, (str, Policy)) or not isinstance(opponent, Iterable):
        return [(policy_of(opponent), 1.0)]
    entries = []
    for entry in opponent:
        try:
            name, weight = entry
        except (TypeError, ValueError):
            raise ValueError(f"opponent entry {entry!r}: expected a pair (policy, weight)") from None
        number = isinstance(weight, (int, float, np.number)) and not isinstance(weight, bool)
        if not number or not 0 < weight <= MOST_WEIGHT:
            raise ValueError(f"opponent entry {entry!r}: expected a weight above 0, {MOST_WEIGHT:g} at most")
        entries.append((policy_of(name), float(weight)))
    if not entries:
        raise ValueError("opponent=[]: expected at least one pair (policy, weight), or None")
    return entries
