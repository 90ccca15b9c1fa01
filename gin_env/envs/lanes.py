"""Many games at once, decided from outside: what the Gymnasium environments and trainers are thin users of.

A lane plays one hand after another of its own seed. Either both seats are decided outside, or one learner seat is and an
opponent plays the other inside: compiled opponents in the kernel, others batch by batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gin_env.advance import OUTSIDE, apply_some, write_decisions
from gin_env.envs import stepping
from gin_env.envs.episode import (
    MATCHES,
    REWARDS,
    checked_choice,
    checked_reward,
    default_illegal_reward,
)
from gin_env.envs.stepping import (
    ACT,
    ANY_SEAT,
    CHECK,
    ENDED,
    ENDING,
    FAILED,
    LANE,
    LEFT,
    NO_LANE,
    OBSERVE,
    OPPONENT,
    SETTINGS,
    SETTLE,
)
from gin_env.envs.threads import work_together
from gin_env.observation import WIDTH
from gin_env.policies.policy import Batch, Policy, checked_actions
from gin_env.policies.registry import policy as policy_of
from gin_env.round import checked_seed
from gin_env.rules.actions import ACTIONS, illegal
from gin_env.rules.ruleset import Rules, compiled_rules
from gin_env.rules.state import OUTCOMES, OVER, PHASES, RECORD
from gin_env.rules.view import VIEW, legal_actions

Opponent = str | Policy | Sequence[tuple[str | Policy, float]] | None

ILLEGAL_ACTIONS = ("raise", "forfeit")
MOST_WEIGHT = 1e9

# Threads share a batch of at least so many lanes each, in so many parts each.
LANES_A_THREAD = 512
PARTS_A_THREAD = 32


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
        redeal: a hand that ends is followed by the lane's next one on the same step.
        num_threads: how many threads share the lanes; what is played does not depend on it.
        fresh: every call fills new arrays; False: the same ones each time.

    Attributes:
        records: (n,) game records.
        observations: (n, 960) int8, and `masks`, (n, 108) int8, of the learner's seat or else the seat to act.
        rewards, terminated, truncated: (n,) of the last step.
        endings: (n,) of `ENDING`, how the hands that the last step ended did so; zero in other lanes.
        final_observations: (k, 960) int8, the last observations of the k hands that the last step ended, in the order of
            the lanes that it returned.
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
        redeal: bool = True,
        num_threads: int = 1,
        fresh: bool = True,
    ) -> None:
        n = self.num_lanes = _checked_count("num_envs", num_lanes)
        self.num_threads = _checked_count("num_threads", num_threads)
        checked_choice("match", match, MATCHES)
        checked_choice("learner_seat", learner_seat, ("random", 0, 1))
        checked_choice("reward", reward, REWARDS)
        checked_choice("illegal_action", illegal_action, ILLEGAL_ACTIONS)
        self.rules = Rules.of(rules)
        self._fresh = fresh
        self._settings = np.zeros(1, SETTINGS)
        self._settings["illegal_reward"] = (
            default_illegal_reward(self.rules, reward)
            if illegal_reward is None
            else checked_reward("illegal_reward", illegal_reward)
        )
        self._settings["learner_seat"] = ANY_SEAT if learner_seat == "random" else int(learner_seat)
        self._settings["win"] = reward == "win"
        self._settings["redeal"] = redeal
        self._settings["forfeits"] = illegal_action == "forfeit"
        self.records = np.zeros(n, RECORD)
        self.records["public"]["rules"] = compiled_rules(self.rules)[0]
        self._lanes = np.zeros(n, LANE)
        self._lanes["seat"] = ANY_SEAT
        # One view a thread to work in, far enough apart that no two threads write to one cache line.
        self._scratch = np.zeros((self.num_threads, 4), VIEW)
        self._threads = max(1, min(self.num_threads, n // LANES_A_THREAD))
        self._no_progress = stepping.no_progress(1 if self._threads == 1 else self._threads * PARTS_A_THREAD)
        self._no_actions = np.zeros(n, np.int64)
        self._ended = np.zeros(n, np.int64)
        # Rows are used from the top, as hands end: memory that is never touched costs nothing.
        self._final_rows = np.empty((n, WIDTH), np.int8)
        self._begun = False
        self._policies: list[Policy] = []
        self._opponents = np.zeros(0, OPPONENT)
        self.set_opponent(opponent)
        self._show(self._new_arrays())
        self.final_observations = self._final_rows[:0]

    def _new_arrays(self) -> tuple[NDArray[Any], ...]:
        """What a step reads and writes, with fresh arrays for what is given to the caller."""
        n = self.num_lanes
        masks = _in_cache_lines(n, ACTIONS)
        masks[:] = 0
        return (
            self.records,
            self._lanes,
            _in_cache_lines(n, WIDTH),
            masks,
            np.zeros(n),
            np.zeros(n, np.bool_),
            np.zeros(n, np.bool_),
            np.zeros(n, ENDING),
            self._ended,
            self._final_rows,
        )

    def _show(self, arrays: tuple[NDArray[Any], ...]) -> None:
        """Make these the arrays that the caller sees."""
        self._arrays = arrays
        _, _, self.observations, self.masks, self.rewards, self.terminated, self.truncated, self.endings, _, _ = arrays

    def set_opponent(self, opponent: Opponent) -> None:
        """Change the opponent, from each lane's next hand on; hands in progress end against the one they began with.

        Raises:
            ValueError: an unknown policy, weights that are not positive, or a change between an opponent and none.
        """
        entries = _weighted(opponent)
        if (self._policies and not entries) or (entries and not self._policies and self._begun):
            raise ValueError(f"opponent={opponent!r}: an environment with an opponent keeps having one, and one without none")
        # Opponents that hands in progress were begun with stay, with no share in new hands; the rest make room.
        kept = sorted({int(i) for i in self._lanes["opponent"]}) if self._policies else []
        places = np.zeros(max(len(self._policies), 1), np.int16)
        places[kept] = np.arange(len(kept))
        self._lanes["opponent"] = places[self._lanes["opponent"]]
        self._policies = [self._policies[i] for i in kept] + [policy for policy, _ in entries]
        weights = np.array([0.0] * len(kept) + [weight for _, weight in entries])
        self._opponents = np.zeros(len(weights), OPPONENT)
        self._opponents["share"] = np.cumsum(weights) / weights.sum()
        self._find_addresses()

    def _find_addresses(self) -> None:
        self._opponents["address"] = [policy.address for policy in self._policies]
        self._outside_opponents = [i for i, policy in enumerate(self._policies) if policy.address == OUTSIDE]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ = state
        self._find_addresses()  # another process has the compiled code elsewhere

    def seed(self, seeds: Iterable[int]) -> None:
        """Give each lane its seed; the next :meth:`begin` deals the first hand of it."""
        self.records["hidden"]["seed"] = np.array(list(seeds), np.uint64)
        self.records["hidden"]["deal"] = 0
        self._begun = True

    def begin(
        self,
        lanes: NDArray[np.int64] | None = None,
        deck: list[int] | None = None,
        first_player: int | None = None,
    ) -> None:
        """Deal the lanes' hands, play on to the first outside decision, and observe.

        A hand that the opponent ends before the learner has decided anything (about one in twenty thousand) is passed over: the
        next hand is dealt.

        Args:
            lanes: which; None: all.
            deck: 52 card ids as :class:`gin_env.Round` takes them; None: the seed's.
            first_player: 0 or 1; None: the seed's.

        Raises:
            ValueError: with this deck or first player the opponent ends a hand before anything is decided; nothing is changed.
        """
        lanes = np.arange(self.num_lanes) if lanes is None else lanes
        played = (self.records, self._lanes, lanes, self._opponents, self._settings, self._scratch[0])
        if deck is None and first_player is None:
            self._check_lane(stepping.begin(*played))
            self._begin_outside_opponents(lanes)
        else:
            before = self.records.copy(), self._lanes.copy()
            cards = np.array(deck or [], np.int8)
            self._check_lane(stepping.begin_with(*played, cards, -1 if first_player is None else first_player))
            self._start_outside_opponents(lanes)
            self._ask_outside_opponents()
            if (self.records["public"]["phase"][lanes] == OVER).any():
                self.records[:], self._lanes[:] = before
                raise ValueError("with this deck the opponent goes out before the learner decides anything: take another")
        self._run(OBSERVE, self._no_actions, fresh=self._fresh)

    def next_deal(self, lanes: NDArray[np.int64]) -> None:
        """Turn to the lanes' next hand, which :meth:`begin` will deal."""
        self.records["hidden"]["deal"][lanes] += 1

    def step(self, actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Do each lane's action, let the opponents answer, deal anew where a hand has ended (with `redeal`), and observe.

        Args:
            actions: (n,) int64, one after another in memory.

        Returns:
            The lanes whose hand ended, in no order.

        Raises:
            IllegalAction: with `illegal_action="raise"`; no lane was changed.
            ValueError: an opponent is still to act, as the last call was interrupted.
        """
        if not self._outside_opponents:
            return self._run(CHECK | ACT | SETTLE | OBSERVE, actions, self._fresh)
        self._run(CHECK | ACT, actions, self._fresh)
        self._ask_outside_opponents()
        ended = self._run(SETTLE, actions)
        if self._settings["redeal"][0]:
            self._begin_outside_opponents(np.sort(ended))
        self._run(OBSERVE, actions)
        return ended

    def _refusal(self, lane: int, action: int) -> ValueError:
        """The error for a lane that can't be stepped with this action."""
        legal = legal_actions(self._lanes["offered"][lane])
        if not legal:
            return ValueError(
                f"no decision is due in game {lane}, as the last call was interrupted: reset the environment first"
            )
        where = f" in game {lane}" if self.num_lanes > 1 else ""
        return illegal(action, PHASES[self.records["public"]["phase"][lane]], legal, where)

    def _run(self, stages: int, actions: NDArray[np.int64], fresh: bool = False) -> NDArray[np.int64]:
        """Do stages of a step in all lanes, by all threads together; returns the lanes whose hand ended.

        With `fresh` the caller sees new arrays from then on; the last ones stand if an action is refused.
        """
        progress = self._no_progress.copy()
        arrays = self._new_arrays() if fresh else self._arrays

        def work(thread: int) -> None:
            shared: tuple[Any, ...] = (thread, self._threads, progress, *arrays)
            stepping.step(stages, actions, self._opponents, self._settings, self._scratch[thread], *shared)

        try:
            work_together(work, self._threads)
        finally:
            progress[LEFT] = 1
            ended, refused, failed = progress[ENDED : FAILED + 1].tolist()
            if fresh and refused == NO_LANE:
                self._show(arrays)
        if refused != NO_LANE:
            raise self._refusal(refused, int(actions[refused]))
        self._check_lane(-1 if failed == NO_LANE else failed)
        if stages & SETTLE:
            rows = self._final_rows[:ended]
            self.final_observations = rows.copy() if self._fresh else rows
        return self._ended[:ended]

    def _check_lane(self, lane: int) -> None:
        """Raise for a lane whose compiled opponent chose an illegal action, -1 for none."""
        if lane >= 0:
            name = self._policies[self._lanes["opponent"][lane]].name
            raise ValueError(f"policy {name!r} chose an illegal action in game {lane}")

    def _start_outside_opponents(self, lanes: NDArray[np.int64]) -> None:
        for i in self._outside_opponents:
            self._policies[i].start(lanes[self._lanes["opponent"][lanes] == i])

    def _begin_outside_opponents(self, lanes: NDArray[np.int64]) -> None:
        """Tell opponents that are not compiled of the hands that were dealt, and let them play on to an outside decision."""
        while self._outside_opponents and len(lanes):
            self._start_outside_opponents(lanes)
            self._ask_outside_opponents()
            lanes = lanes[self.records["public"]["phase"][lanes] == OVER]
            self.next_deal(lanes)
            played = (self.records, self._lanes, lanes, self._opponents, self._settings, self._scratch[0])
            self._check_lane(stepping.begin(*played))

    def _ask_outside_opponents(self) -> None:
        """Let opponents that are not compiled decide, in batches, until none of them is to act."""
        found = np.empty(self.num_lanes, np.int64)
        for i in self._outside_opponents:
            while n := stepping.due(self.records, self._lanes, i, found):
                views, keys = np.zeros(n, VIEW), np.empty(n, np.uint64)
                write_decisions(self.records, found[:n], views, keys)
                batch = Batch(views, found[:n].copy(), keys)
                apply_some(self.records, batch.lanes, checked_actions(self._policies[i], batch))

    @property
    def seats(self) -> NDArray[np.int8]:
        """The learner's seat in each lane: (n,) int8; -1 where both seats are decided outside."""
        return self._lanes["seat"]

    @property
    def seen(self) -> NDArray[np.int8]:
        """The seat whose observation was written last: (n,) int8."""
        return self._lanes["seen"]

    def ending_info(self, lane: int) -> dict[str, Any]:
        """What the last info of an episode says: the lane's `ENDING` in words."""
        ending = self.endings[lane]
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


def _in_cache_lines(rows: int, columns: int) -> NDArray[np.int8]:
    """An int8 array that begins at a multiple of 64 bytes, so that stores of 32 or 64 bytes stay within a cache line.

    A few rows are written sooner than that is arranged.
    """
    if rows < 16:
        return np.empty((rows, columns), np.int8)
    memory = np.empty(rows * columns + 63, np.int8)
    first = -memory.ctypes.data % 64
    return memory[first : first + rows * columns].reshape(rows, columns)


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


def _checked_count(name: str, count: object) -> int:
    """The count as an int, or a ValueError that names the argument."""
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
        raise ValueError(f"{name}={count!r}: expected an integer of at least 1")
    return int(count)


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
