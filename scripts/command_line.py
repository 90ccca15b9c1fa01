"""What every script does around its work: one clear line for bad input, a clean end on Ctrl-C."""

from __future__ import annotations

import sys
from collections.abc import Callable


def run_command(main: Callable[[], None]) -> None:
    """Run a script's main function; exit 2 with one line on bad input, 130 on Ctrl-C."""
    try:
        main()
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
