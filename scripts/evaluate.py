"""Play policies against each other over duplicate deals and show shares, points and intervals.

Every deal is played twice with the seats swapped; the pair is the unit of every interval.

Examples:
  python scripts/evaluate.py --agents greedy simple novice --deals 2000 --seed 1
  python scripts/evaluate.py --agents runs/quickstart greedy --deals 5000 --json table.json
  python scripts/evaluate.py --agents greedy simple --rules big_gin
"""

from __future__ import annotations

import sys
from itertools import combinations
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gin_env.arena.duplicate import play_pairs
from gin_env.policies.registry import policy
from gin_env.rules.ruleset import Rules, compiled_rules
from scripts.command_line import Parser, run_command


def main() -> None:
    """Parse the command line, play a round robin, print the table."""
    parser = Parser(__doc__)
    parser.add_argument("--agents", nargs="+", required=True, metavar="A", help="names of the ladder, or saved runs")
    parser.add_argument("--deals", type=int, default=2_000, help="deals a pair, each played twice (default 2000)")
    parser.add_argument("--seed", type=int, default=0, help="deal i is hand i of this seed (default 0)")
    parser.add_argument("--rules", default="straight", help="a preset (default straight)")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the results there")
    arguments = parser.parse_args()

    from training.report import result_table, write_results

    if len(arguments.agents) < 2:
        raise ValueError(f"--agents {' '.join(arguments.agents)}: expected at least two, they play each other")
    if arguments.deals < 2:
        raise ValueError(f"--deals {arguments.deals}: expected at least 2, an interval needs that")
    if arguments.json is not None and arguments.json.is_dir():
        raise ValueError(f"--json {arguments.json}: expected a file, this is a folder")
    if not 0 <= arguments.seed < 2**64:
        raise ValueError(f"--seed {arguments.seed}: expected an integer 0 .. 2**64 - 1")
    rules = Rules.preset(arguments.rules)
    compiled_rules(rules)
    agents = [policy(name) for name in arguments.agents]
    pairs = list(combinations(agents, 2))
    if arguments.json is not None:
        try:
            arguments.json.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ValueError(f"--json {arguments.json}: its folder can't be made ({error.strerror})") from None
    console = Console()
    with Progress(console=console) as bars:
        task = bars.add_task("deals", total=arguments.deals * len(pairs))
        results = [
            play_pairs(a, b, arguments.deals, arguments.seed, rules, lambda n: bars.update(task, advance=n)) for a, b in pairs
        ]
    console.print(result_table(results, f"{arguments.rules}, seed {arguments.seed}, 95% intervals"))
    if arguments.json is not None:
        about = {"rules": rules.as_dict(), "deals": arguments.deals, "seed": arguments.seed}
        write_results(arguments.json, results, **about)


if __name__ == "__main__":
    run_command(main)
