"""Results for people: tables on screen, JSON, the plot of a learning curve."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import Any

from rich.table import Table

from gin_env.arena.duplicate import PairResult
from gin_env.files import whole_file, write_text


def result_table(results: Sequence[PairResult], title: str) -> Table:
    """Results as a table, one row a pair, each figure from the side of the first policy."""
    table = Table(title=title)
    for heading in ("policy", "against"):
        table.add_column(heading, no_wrap=True)
    for heading in ("% of decided", "points a hand", "dead %", "turns"):
        table.add_column(heading, justify="right", no_wrap=True)
    for r in results:
        table.add_row(
            r.a,
            r.b,
            "-" if isnan(r.share) else f"{100 * r.share:.1f} ±{100 * (r.share_ci95[1] - r.share):.1f}",
            f"{r.points:+.2f} ±{r.points_ci95[1] - r.points:.2f}",
            f"{100 * r.dead:.1f}",
            f"{r.turns:.1f}",
        )
    return table


def write_results(path: str | Path, results: Sequence[PairResult], **about: Any) -> None:
    """Results as JSON: `about`, and `pairs` with both orders of each pair."""
    both = [side.as_dict() for result in results for side in (result, result.mirrored())]
    write_text(path, json.dumps({**about, "pairs": both}, indent=1) + "\n")


def plot_curve(curve: Path, path: Path, start: str) -> None:
    """Draw a learning curve from its CSV: share of decided hands and points a hand by opponent, with 95% intervals.

    Args:
        curve: the CSV.
        path: the PNG to write.
        start: what the agent began as, for the title.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    with curve.open(newline="") as file:
        rows = list(csv.DictReader(file))
    figure, axes = pyplot.subplots(2, 1, figsize=(8, 7), sharex=True, layout="constrained")
    for axis, name, scale, even, label in (
        (axes[0], "share", 100, 50, "wins of decided hands, %"),
        (axes[1], "points", 1, 0, "points a hand"),
    ):
        for opponent in dict.fromkeys(row["opponent"] for row in rows):
            mine = [row for row in rows if row["opponent"] == opponent]
            steps = [int(row["steps"]) for row in mine]
            middle, low, high = ([scale * float(row[name + end]) for row in mine] for end in ("", "_low", "_high"))
            axis.plot(steps, middle, marker="o", markersize=3, label=f"v {opponent}")
            axis.fill_between(steps, low, high, alpha=0.2)
        axis.axhline(even, color="grey", linewidth=0.8)
        axis.set_ylabel(label)
        axis.grid(alpha=0.3)
    axes[0].legend()
    axes[0].set_title(f"Learning curve, from {start}")
    axes[1].set_xlabel("learner decisions")
    with whole_file(path) as file:
        figure.savefig(file, format="png", dpi=120)
    pyplot.close(figure)
