"""What every script does around its work: one clear line for bad input, a clean end on Ctrl-C."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import NoReturn


class Parser(argparse.ArgumentParser):
    """argparse with a script's docstring as its help, and a bad argument as a ValueError."""

    def __init__(self, text: str | None) -> None:
        super().__init__(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage too."""
        raise ValueError(message)


def run_command(main: Callable[[], None]) -> None:
    """Run a script's main function; exit 2 with one line on bad input, 130 on Ctrl-C."""
    try:
        main()
    except (ValueError, NotImplementedError, OSError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
