"""Measure this project's speed beside its peers and the limit of memory, on one machine in one run.

Everything plays random legal actions; a decision is one action of a player, with what its door gives for it written. Rates are
medians over rounds in which all workloads take turns, with half the distance between the quartiles; one thread, unless it says
otherwise. The JSON says what each row is.

Parts: rates (and their ratios), growth (by number of games), threads, starts (cold and warm), training. Peers are measured
where installed (`pip install -e '.[bench]'`), training and the SB3 VecEnv where the extra `train` is.

Examples:
  python scripts/benchmark.py --json out.json
  python scripts/benchmark.py --parts rates --rounds 3
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gin_env.files import write_text
from gin_env.observation import WIDTH
from gin_env.rules.actions import ACTIONS
from scripts.command_line import Parser, run_command
from scripts.measuring import games, growth, limits, peers, starts
from scripts.measuring.machine import cores, machine, versions
from scripts.measuring.timing import Figure, Rates, Workload, rates

Progress = Callable[[str], None]
Result = dict[str, Any]

TABLE_WIDTH = 116
PARTS = ("rates", "growth", "threads", "starts", "training")
TRAINED = bool(find_spec("sb3_contrib") and find_spec("pydantic"))


def main() -> None:
    """Parse the command line, measure part by part, show each, write the JSON."""
    parser = Parser(__doc__)
    parser.add_argument("--json", type=Path, metavar="OUT", help="write all figures there")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, metavar="PART", help="which parts (default all)")
    parser.add_argument("--rounds", type=int, default=9, help="measurements of each workload (default 9)")
    parser.add_argument("--seconds", type=float, default=0.25, help="length of a measurement (default 0.25)")
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        raise ValueError(f"--rounds {arguments.rounds}: expected at least 1")
    if not 0 < arguments.seconds <= 60:
        raise ValueError(f"--seconds {arguments.seconds}: expected more than 0 and at most 60")
    if arguments.json is not None and (arguments.json.is_dir() or not arguments.json.resolve().parent.is_dir()):
        raise ValueError(f"--json {arguments.json}: expected a file in a folder that exists")

    console = Console()
    if not console.is_terminal or console.width < TABLE_WIDTH:
        console.width = TABLE_WIDTH
    result: Result = {
        "machine": machine(),
        "versions": versions(),
        "settings": {"rounds": arguments.rounds, "seconds": arguments.seconds},
        "bytes_per_decision": {"observation": WIDTH, "action_mask": ACTIONS, "sum": games.BYTES},
    }
    console.print(f"{result['machine']['processor']}, {result['machine']['cores']} cores, {result['machine']['system']}")
    console.print(", ".join(f"{name} {number}" for name, number in result["versions"].items() if number))
    for part in PARTS:
        if part not in arguments.parts:
            continue
        with console.status(part) as status:
            tables, found = _MEASURED[part](arguments.rounds, arguments.seconds, status.update)
        result[part] = found
        for table in tables:
            console.print(table)
    if arguments.json is not None:
        write_text(arguments.json, json.dumps(result, indent=1) + "\n")
        console.print(f"written: {arguments.json}")


def _rates(rounds: int, seconds: float, progress: Progress) -> tuple[list[Table], Result | None]:
    workloads = [*games.workloads(TRAINED), *peers.workloads(), *limits.workloads(), *limits.yardsticks()]
    measured = rates(workloads, rounds, seconds, progress)
    table = _table(
        "decisions, or hands of bots", "", "a CPU-second", "quartiles", "a wall second", "ns each", "x OpenSpiel", "% memset"
    )
    table.caption = f"{games.BYTES:,} bytes are written for a decision. x OpenSpiel: with its observation."
    found: Result = {}
    for workload in workloads:
        key = workload.key
        cpu, wall = measured.cpu(key), measured.wall(key)
        times = {other: measured.ratio(key, other) for other in _compared(workload, measured)}
        found[key] = {
            "text": workload.text,
            "unit": workload.unit,
            "per_cpu_second": cpu.as_dict(),
            "per_wall_second": wall.as_dict(),
            "times": {other: ratio.as_dict() for other, ratio in times.items()},
        }
        openspiel = times.get("openspiel_observation")
        limit = next((ratio for other, ratio in times.items() if other.startswith("memset")), None)
        table.add_row(
            key,
            f"{cpu.median:,.0f}",
            _spread(cpu),
            f"{wall.median:,.0f}",
            f"{1e9 / cpu.median:,.1f}",
            f"{openspiel.median:,.1f}" if openspiel else "",
            f"{100 * limit.median:.0f}" if limit else "",
        )
    return [table], found


def _compared(workload: Workload, measured: Rates) -> list[str]:
    """What a workload is compared with: the peers, and the limit where as many games' bytes are written; as far as measured."""
    if workload.unit != "decisions" or workload.key.startswith("mem"):
        return []
    others = ["openspiel", "openspiel_observation", "rlcard"]
    if workload.key.startswith(("batched", "vector_env")):
        size = next(word for word in workload.key.split("_") if word.isdigit())
        others += [f"memset_{size}", f"memcpy_{size}"]
    return [other for other in others if other in measured.keys]


def _growth(rounds: int, seconds: float, progress: Progress) -> tuple[list[Table], Result | None]:
    sizes = growth.sizes()
    measured = rates(sizes, rounds, seconds, progress)
    table = _table(
        "by number of games, both seats, copy=False", "games", "a CPU-second", "quartiles", "ns each", "bytes a game"
    )
    found = {}
    for count, workload in zip(growth.GAMES, sizes, strict=True):
        cpu, held = measured.cpu(workload.key), growth.memory_a_game(count)
        found[str(count)] = {"per_cpu_second": cpu.as_dict(), "bytes_per_game": round(held)}
        table.add_row(f"{count:,}", f"{cpu.median:,.0f}", _spread(cpu), f"{1e9 / cpu.median:,.1f}", f"{held:,.0f}")
    return [table], found


def _threads(rounds: int, seconds: float, progress: Progress) -> tuple[list[Table], Result | None]:
    if cores() < 2:
        return [], None
    table = _table(
        "VectorEnv.step(), copy=False: times as fast as one thread", "games", "opponent", "threads", "x", "quartiles"
    )
    found: Result = {}
    for opponent in (None, games.OPPONENT):
        for count in growth.THREADED:
            speedups = growth.threads(count, opponent, cores(), rounds, seconds, progress)
            key = f"{count}_v_{opponent}" if opponent else str(count)
            found[key] = {str(threads): speedup.as_dict() for threads, speedup in speedups.items()}
            for threads, speedup in speedups.items():
                table.add_row(f"{count:,}", opponent or "none", str(threads), f"{speedup.median:.2f}", _spread(speedup))
    return [table], found


def _starts(rounds: int, seconds: float, progress: Progress) -> tuple[list[Table], Result | None]:
    table = _table("seconds from import to the first step", "door", "first ever", "later", "quartiles")
    found: Result = {}
    for door, figures in starts.starts(rounds, progress).items():
        found[door] = {kind: figure.as_dict() for kind, figure in figures.items()}
        later = figures["later"]
        table.add_row(door, f"{figures['first'].median:.2f}", f"{later.median:.2f}", _spread(later))
    return [table], found


def _training(rounds: int, seconds: float, progress: Progress) -> tuple[list[Table], Result | None]:
    if not TRAINED:
        return [], None
    from scripts.measuring import training_time

    table = _table(
        f"MaskablePPO v {games.OPPONENT}, 2 x 256 networks, {cores()} threads: % of wall time",
        *("games", "decisions/s", *training_time.PARTS),
    )
    found: Result = {}
    for lanes in training_time.LANES:
        time = training_time.training_time(lanes, min(rounds, 3), progress)
        found[str(lanes)] = {
            "decisions_per_wall_second": time.decisions_per_second.as_dict(),
            "shares": {part: share.as_dict() for part, share in time.shares.items()},
        }
        shares = [f"{100 * share.median:.1f}" for share in time.shares.values()]
        table.add_row(f"{lanes:,}", f"{time.decisions_per_second.median:,.0f}", *shares)
    return [table], found


def _spread(figure: Figure) -> str:
    return f"±{100 * figure.spread:.0f}%"


def _table(title: str, first: str, *headings: str) -> Table:
    table = Table(title=title, box=SIMPLE_HEAD)
    table.add_column(first, no_wrap=True)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


_MEASURED = {"rates": _rates, "growth": _growth, "threads": _threads, "starts": _starts, "training": _training}

if __name__ == "__main__":
    run_command(main)
