"""Train an agent from a configuration, then show what it has learned.

Examples:
  python scripts/train.py --config configs/quickstart.yaml
  python scripts/train.py --config configs/quickstart.yaml ppo.steps=200000 seed=3
  python scripts/train.py --resume runs/quickstart
"""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gin_env.arena.duplicate import play_pairs
from gin_env.policies.registry import policy
from gin_env.rules.ruleset import Rules
from scripts.command_line import Parser, run_command


def main() -> None:
    """Parse the command line, train, evaluate, and say where everything lies."""
    parser = Parser(__doc__)
    parser.add_argument("--config", type=Path, help="a configuration file, see configs/")
    parser.add_argument("--resume", type=Path, help="the folder of an interrupted run")
    parser.add_argument("--out", type=Path, help="the run's folder (default: runs/NAME, numbered if that is taken)")
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="fields of the configuration to set anew")
    arguments = parser.parse_args()

    # Here, so that --help and bad arguments answer at once.
    from training.config import load_config
    from training.report import plot_curve, result_table, write_results
    from training.run import CURVE, resume, start_of, train

    console = Console()
    began = time.monotonic()
    if (arguments.config is None) == (arguments.resume is None):
        raise ValueError("give either --config FILE or --resume FOLDER")
    if arguments.resume is not None:
        if arguments.overrides or arguments.out:
            raise ValueError("--resume goes on with the run's own configuration: no overrides, no --out")
        folder = arguments.resume
        config = load_config(folder / "config.yaml")
    else:
        config = load_config(arguments.config, arguments.overrides)
        folder = arguments.out or _free_folder(Path("runs") / config.name)
    with Progress(
        TextColumn("{task.description:6}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[text]}"),
        console=console,
    ) as bars:
        stages = {"clone": config.clone.decisions, "ppo": config.ppo.steps}
        tasks = {stage: bars.add_task(stage, total=total, text="") for stage, total in stages.items() if total}

        def progress(stage: str, done: int, text: str) -> None:
            if stage in tasks:
                bars.update(tasks[stage], advance=done, text=text)

        console.print(f"training {config.name} in {folder}", markup=False, soft_wrap=True)
        if arguments.resume is None:
            trained = train(config, folder, shlex.join(["python", *sys.argv]), progress)
        else:
            trained = resume(config, folder, progress)
    trained_seconds = time.monotonic() - began

    rules = Rules.of(config.rules)
    start = start_of(folder)
    opponents = [start, *(policy(name) for name in config.evaluation.opponents)]
    with console.status("playing the table"):
        results = [play_pairs(trained, other, config.evaluation.deals, config.evaluation.seed, rules) for other in opponents]
    title = f"{config.evaluation.deals:,} deals, each played twice with seats swapped; 95% intervals"
    console.print(result_table(results, title))
    write_results(
        folder / "table.json", results, rules=rules.as_dict(), deals=config.evaluation.deals, seed=config.evaluation.seed
    )
    teacher = f"a clone of {config.clone.teacher}" if config.clone.decisions else "an untrained network"
    plot_curve(folder / CURVE, folder / "curve.png", teacher)
    console.print(f"Its start was {teacher}. Trained in {trained_seconds:.0f} s.")
    for name, what in (
        ("policy.npz", "the saved policy: gin_env.policy(path), or --agents path"),
        ("curve.png", "the learning curve"),
        ("table.json", "the table"),
        ("progress.csv", "the training log; TensorBoard events beside it"),
        ("config.yaml", "the configuration; command.txt beside it"),
        ("checkpoint.zip", "for --resume"),
    ):
        console.print(f"  {folder / name}  {what}", markup=False, soft_wrap=True)


def _free_folder(folder: Path) -> Path:
    """The folder itself, or with the first number behind it that is not taken."""
    candidates = (folder if n == 1 else folder.with_name(f"{folder.name}-{n}") for n in range(1, 10_000))
    return next(candidate for candidate in candidates if not candidate.exists())


if __name__ == "__main__":
    run_command(main)
