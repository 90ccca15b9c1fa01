"""The docs page of the benchmark's figures: `docs/performance.json`, written by `scripts/benchmark.py`, as Markdown tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gin_env.rules.state import RECORD

FIGURES = Path(__file__).resolve().parents[2] / "docs" / "performance.json"

Result = dict[str, Any]

_PAGE = """\
# Performance

`make bench` measures all of this in one run; this page is made from its JSON, kept as `docs/performance.json`, by
`python scripts/write_docs.py`.

Measured on: {machine}; {versions}.

Everything plays random legal actions on one thread. A decision is one action of a player, with what its door gives for it
written: {sum:,} bytes in a batch, {observation} of observation and {action_mask} of action mask. Rates are medians over rounds
in which all workloads take turns; ± is half the distance between the quartiles. Ratios are medians of the rounds' own ratios.

## Rates

{rates}

The limit is the memory: `memset` writes the same number of bytes and does nothing else. OpenSpiel and RLCard play their nearest
rules, without knocking, as fast as their documentation allows. Every rate of decisions includes the choice of the action, whose
own rate is in the table too (`choice_1024`).

## Cost by number of games

Both seats, `copy=False`. The memory is all that a `VectorEnv` holds, its arrays included; a game's own record is {record}
bytes.

{growth}

## Threads

`VectorEnv.step()` alone, `copy=False`, by the wall clock: times as fast as with one thread.

{threads}

## Starting

Seconds from `import` to the first step, in a process of its own: the first ever, which compiles, and later ones, which load
what that left on disk.

{starts}

## Training

MaskablePPO against `greedy` inside the environment, actor and critic of 2 x 256 each, on all {cores} cores: the learner's
decisions a second, and where the wall time goes.

{training}

## How the design gets there

- **Cards are bits.** A hand, the pile, what each seat knows of the other are 64-bit words in one flat record a game, so
  thousands of games stay in the cache.
- **All games in one compiled call.** A step of a `VectorEnv` checks every action, then goes through the games once: act, let
  the opponent answer, pay and deal anew where a hand has ended, observe. Bots are compiled functions that the kernel calls by
  address; no game comes back to Python in between.
- **Observations are written by the word.** Every block stays bits until the end, when 64 columns at a time are spread to bytes
  in one store, in rows that begin on cache lines. Legal actions are found once for a state and kept in its record.
- **Nothing is allocated.** With `copy=False` a step fills the same arrays each time and allocates only what names the ended
  hands; `copy=True`, the default, makes new arrays first and writes straight into them.
- **Threads without the GIL.** Each thread begins with its own share of the games, the same ones each step, and then takes over
  what the others have not come to. What is played does not depend on it.
- **Single games** make one compiled call for a step and one for an observation. `env()` has one wrapper that does what
  PettingZoo's three do; a test compares them call by call.
- **Machine code is kept** on disk by a hash of the sources, under the user's cache folder, so a reinstall or a read-only
  installation finds it again.
"""


def performance_page() -> str:
    """The page, in Markdown."""
    result: Result = json.loads(FIGURES.read_text(encoding="utf-8"))
    machine = result["machine"]
    return _PAGE.format(
        machine=f"{machine['processor']}, {machine['cores']} cores, {machine['system']}",
        versions=", ".join(f"{name} {number}" for name, number in result["versions"].items() if number),
        **result["bytes_per_decision"],
        record=RECORD.itemsize,
        cores=machine["cores"],
        rates=_rates(result["rates"]),
        growth=_growth(result["growth"]),
        threads=_threads(result["threads"]),
        starts=_starts(result["starts"]),
        training=_training(result["training"]),
    )


def _rates(rates: Result) -> str:
    rows = []
    for key, rate in rates.items():
        if rate["unit"] == "turns":  # of the yardsticks, which say nothing by themselves
            continue
        cpu = rate["per_cpu_second"]
        times = rate["times"]
        limit = next((ratio for other, ratio in times.items() if other.startswith("memset")), None)
        rows.append(
            [
                f"`{key}`",
                rate["text"],
                f"{cpu['median']:,.0f}",
                _spread(cpu),
                f"{1e9 / cpu['median']:,.0f}",
                _times(times.get("openspiel_observation")),
                _times(times.get("rlcard")),
                f"{100 * limit['median']:.0f}%" if limit else "",
            ]
        )
    headings = ["", "", "a CPU-second", "", "ns each", "x OpenSpiel with observation", "x RLCard", "of memset's rate"]
    return _table(headings, rows, left=2)


def _growth(growth: Result) -> str:
    return _table(
        ["games", "decisions a CPU-second", "", "ns each", "bytes a game"],
        [
            [
                f"{int(games):,}",
                f"{found['per_cpu_second']['median']:,.0f}",
                _spread(found["per_cpu_second"]),
                f"{1e9 / found['per_cpu_second']['median']:,.0f}",
                f"{found['bytes_per_game']:,}",
            ]
            for games, found in growth.items()
        ],
    )


def _threads(threads: Result) -> str:
    rows = []
    for key, found in threads.items():
        games, _, opponent = key.partition("_v_")
        rows += [
            [f"{int(games):,}", opponent or "none: both seats", count, f"{times['median']:.2f}", _spread(times)]
            for count, times in found.items()
        ]
    return _table(["games", "opponent", "threads", "x", ""], rows)


def _starts(starts: Result) -> str:
    return _table(
        ["door", "first ever", "later"],
        [[f"`{door}`", f"{found['first']['median']:.1f}", f"{found['later']['median']:.2f}"] for door, found in starts.items()],
    )


def _training(training: Result) -> str:
    parts = list(next(iter(training.values()))["shares"])
    return _table(
        ["games", "decisions a second", *parts],
        [
            [
                f"{int(lanes):,}",
                f"{found['decisions_per_wall_second']['median']:,.0f}",
                *(f"{100 * found['shares'][part]['median']:.1f}%" for part in parts),
            ]
            for lanes, found in training.items()
        ],
    )


def _spread(figure: Result) -> str:
    return f"±{50 * (figure['high'] - figure['low']) / figure['median']:.0f}%"


def _times(ratio: Result | None) -> str:
    return f"{ratio['median']:,.1f}" if ratio else ""


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """A Markdown table whose first columns are set left and the others right."""
    marks = ["---"] * left + ["---:"] * (len(headings) - left)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (headings, marks, *rows))
