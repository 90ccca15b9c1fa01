"""Write the pages of docs/ that are made from the code.

Example:
  python scripts/write_docs.py
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gin_env.files import write_text
from gin_env.observation import index_page
from scripts.measuring.page import performance_page

ROOT = Path(__file__).resolve().parent.parent
PAGES = {"docs/observation.md": index_page, "docs/performance.md": performance_page}


def main() -> None:
    """Write every page."""
    for path, page in PAGES.items():
        write_text(ROOT / path, page())
        print(f"wrote {path}")


if __name__ == "__main__":
    main()
