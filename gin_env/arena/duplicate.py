"""Duplicate deals: every deal is played twice with the seats swapped, and the pair is the unit of every interval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gin_env.advance import OUTSIDE, advance, apply_some, write_decisions
from gin_env.compiled import jit
from gin_env.policies.policy import Batch, Policy, checked_actions
from gin_env.policies.registry import policy
from gin_env.round import checked_seed
from gin_env.rules import phases
from gin_env.rules.ruleset import Rules, compiled_rules
from gin_env.rules.state import BIG, RECORD
from gin_env.rules.view import VIEW

# 97.5% quantile of the normal distribution: half the width of a 95% interval in standard errors.
_HALF_WIDTH = 1.959963984540054


@jit
def _due(records: NDArray[np.void], seat: int, lanes: NDArray[np.int64]) -> int:
    """The records in which a seat is to act; returns how many."""
    n = 0
    for lane in range(len(records)):
        if records[lane].public.player == seat:
            lanes[n] = lane
            n += 1
    return n


def play_out(records: NDArray[np.void], seat0: Policy, seat1: Policy) -> None:
    """Play every record to the end of its hand.

    Compiled policies play in the kernel; others get all decisions that are due in one batch.

    Raises:
        ValueError: a policy answered with an illegal action or none at all.
    """
    policies = (seat0, seat1)
    addresses = [player.address for player in policies]
    outside = [seat for seat in (0, 1) if addresses[seat] == OUTSIDE]
    for seat in outside:
        policies[seat].start(np.arange(len(records)) + seat * len(records))
    scratch = np.zeros(1, VIEW)
    due = np.empty(len(records), np.int64)
    while True:
        lane = advance(records, addresses[0], addresses[1], scratch)
        if lane >= 0:
            player = policies[records["public"]["player"][lane]]
            raise ValueError(f"policy {player.name!r} chose an illegal action in deal {records['hidden']['deal'][lane]}")
        waiting = False
        for seat in outside:
            if n := _due(records, seat, due):
                waiting = True
                views, keys = np.zeros(n, VIEW), np.empty(n, np.uint64)
                write_decisions(records, due[:n], views, keys)
                # A policy that plays both seats keeps its memories of them apart by lane.
                batch = Batch(views, due[:n] + seat * len(records), keys)
                apply_some(records, due[:n], checked_actions(policies[seat], batch))
        if not waiting:
            return


def deal_records(rules: Rules, seed: int, first: int, count: int) -> NDArray[np.void]:
    """Hands `first` to `first + count - 1` of a seed, dealt: an array of `RECORD`."""
    records = np.zeros(count, RECORD)
    records["public"]["rules"] = compiled_rules(rules)[0]
    records["hidden"]["seed"] = seed
    records["hidden"]["deal"] = np.arange(first, first + count)
    phases.start_all(records)
    return records


@dataclass(frozen=True)
class PairResult:
    """What two policies came to over duplicate deals, from the side of `a`.

    Attributes:
        share: a's wins as a share of the decided hands; NaN where none was decided.
        share_ci95: its 95% interval, clustered by pairs.
        points: a's net points a hand, won minus lost.
        points_ci95: its 95% interval, clustered by pairs.
        dead: share of hands without a winner, the turn limit included.
        turns: mean turns of a hand, both players'.
        big_gins: share of hands ended by big gin.
        deals: deals, each played twice.
    """

    a: str
    b: str
    share: float
    share_ci95: tuple[float, float]
    points: float
    points_ci95: tuple[float, float]
    dead: float
    turns: float
    big_gins: float
    deals: int

    def mirrored(self) -> PairResult:
        """The same result from the side of `b`."""
        low, high = self.share_ci95
        worst, best = self.points_ci95
        return PairResult(
            a=self.b,
            b=self.a,
            share=1 - self.share,
            share_ci95=(1 - high, 1 - low),
            points=0 - self.points,
            points_ci95=(0 - best, 0 - worst),
            dead=self.dead,
            turns=self.turns,
            big_gins=self.big_gins,
            deals=self.deals,
        )

    def as_dict(self) -> dict[str, Any]:
        """For JSON: NaN becomes null, which JSON has."""
        numbers = {name: getattr(self, name) for name in ("share", "points", "dead", "turns", "big_gins")}
        intervals = {name: list(getattr(self, name)) for name in ("share_ci95", "points_ci95")}
        clean = {name: None if np.isnan(value) else value for name, value in numbers.items()}
        clean |= {name: None if np.isnan(value).any() else value for name, value in intervals.items()}
        return {"a": self.a, "b": self.b, **clean, "deals": self.deals}


def play_pairs(
    a: str | Path | Policy,
    b: str | Path | Policy,
    deals: int,
    seed: int,
    rules: Rules | str = "straight",
    progress: Callable[[int], None] | None = None,
    chunk: int = 2_000,
) -> PairResult:
    """Play two policies over duplicate deals.

    Args:
        a: one policy, by name, path or object.
        b: the other.
        deals: how many deals, each played twice with the seats swapped, at least 2.
        seed: deal i is hand i of this seed.
        rules: a preset's name or a `Rules`.
        progress: called with the number of deals played since the last call.
        chunk: deals in flight at once; the result does not depend on it for policies without floating-point batches.

    Raises:
        ValueError: a bad number of deals or seed, or an illegal answer of a policy.
    """
    if isinstance(deals, bool) or not isinstance(deals, (int, np.integer)) or deals < 2:
        raise ValueError(f"deals={deals!r}: expected an integer of at least 2, an interval needs that")
    if isinstance(chunk, bool) or not isinstance(chunk, (int, np.integer)) or chunk < 1:
        raise ValueError(f"chunk={chunk!r}: expected an integer of at least 1")
    seed = checked_seed(seed)
    a, b = policy(a), policy(b)
    rules = Rules.of(rules)
    parts = []
    for first in range(0, deals, chunk):
        count = min(chunk, deals - first)
        orders = []
        for a_seat, (seat0, seat1) in enumerate(((a, b), (b, a))):
            records = deal_records(rules, seed, first, count)
            play_out(records, seat0, seat1)
            orders.append(_from_side(records["public"], a_seat))
        parts.append(np.stack(orders, axis=1))
        if progress is not None:
            progress(count)
    won, decided, points, turns, big = np.concatenate(parts, axis=2)  # each (order, deal)
    share, share_half = _ratio(won.sum(0), decided.sum(0))
    mean, half = _ratio(points.sum(0), np.full(deals, 2.0))
    return PairResult(
        a=a.name,
        b=b.name,
        share=share,
        share_ci95=(_share(share - share_half), _share(share + share_half)),
        points=mean,
        points_ci95=(mean - half, mean + half),
        dead=1 - float(decided.mean()),
        turns=float(turns.mean()),
        big_gins=float(big.mean()),
        deals=int(deals),
    )


def _share(bound: float) -> float:
    """A bound of a share, no further than a share can go; NaN stays."""
    return float(np.clip(bound, 0, 1))


def _from_side(public: NDArray[np.void], seat: int) -> NDArray[np.float64]:
    """Won, decided, points, turns, big gin of each hand, from a seat's side: (5, n)."""
    scores = public["scores"].astype(np.float64)
    return np.stack(
        [
            public["winner"] == seat,
            public["winner"] >= 0,
            scores[:, seat] - scores[:, 1 - seat],
            public["turns"],
            public["outcome"] == BIG,
        ]
    ).astype(np.float64)


def _ratio(numerators: NDArray[np.float64], denominators: NDArray[np.float64]) -> tuple[float, float]:
    """A ratio of sums over pairs, and half its 95% interval by the delta method (Cochran 1977, chapter 6)."""
    total = denominators.sum()
    if total == 0:
        return float("nan"), float("nan")
    n = len(numerators)
    ratio = numerators.sum() / total
    residuals = numerators - ratio * denominators
    error = np.sqrt(n / (n - 1) * (residuals**2).sum()) / total
    return float(ratio), float(_HALF_WIDTH * error)
