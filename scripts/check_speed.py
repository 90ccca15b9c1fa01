"""Fail if the engine has become much slower: its time in turns of a fixed loop measured beside it, so on any machine.

A workload over its bound is measured again before it counts. After a change that is meant to cost time, raise its bound here.

Examples:
  python scripts/check_speed.py
  python scripts/check_speed.py --rounds 21
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts.command_line import Parser, run_command
from scripts.measuring import games, limits
from scripts.measuring.timing import Figure, Workload, rates

# At most so many turns of the loop for one unit of the workload: a third more than on the slowest of the machines tried. What
# is made of calls from Python is held to a loop that is called as often.
BOUNDS = {
    "batched_1": ("calls", 30.0),
    "batched_1024": ("loop", 4.0),
    "batched_1024_v_greedy": ("loop", 13.0),
    "raw_env": ("calls", 18.0),
    "env": ("calls", 22.0),
    "round": ("calls", 14.0),
    "bots_greedy": ("loop", 350.0),
}
SECONDS = 0.1
TRIES = 3


def main() -> None:
    """Measure until all bounds are kept, a few times at most."""
    parser = Parser(__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="measurements of each workload (default 7)")
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        raise ValueError(f"--rounds {arguments.rounds}: expected at least 1")
    over = list(BOUNDS)
    for _ in range(TRIES):
        turns = measured(over, arguments.rounds)
        Console().print(_table(turns))
        over = [key for key, figure in turns.items() if figure.median > BOUNDS[key][1]]
        if not over:
            return
    print(f"slower than their bounds in {TRIES} tries: {', '.join(over)}", file=sys.stderr)
    sys.exit(1)


def measured(keys: Sequence[str], rounds: int) -> dict[str, Figure]:
    """Turns of its loop that each workload takes for a unit."""
    chosen: list[Workload] = [workload for workload in games.workloads(with_sb3=False) if workload.key in keys]
    result = rates([*chosen, *limits.yardsticks()], rounds, SECONDS, lambda text: None)
    return {workload.key: result.ratio(BOUNDS[workload.key][0], workload.key) for workload in chosen}


def _table(turns: dict[str, Figure]) -> Table:
    table = Table(title="turns of the fixed loop for one unit")
    table.add_column("workload")
    for heading in ("loop", "turns", "quartiles", "at most"):
        table.add_column(heading, justify="right")
    for key, figure in turns.items():
        loop, most = BOUNDS[key]
        table.add_row(key, loop, f"{figure.median:,.1f}", f"{figure.low:,.1f} - {figure.high:,.1f}", f"{most:,.0f}")
    return table


if __name__ == "__main__":
    run_command(main)
