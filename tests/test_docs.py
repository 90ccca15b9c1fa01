"""Pages made from the code are up to date."""

from pathlib import Path

import pytest

from scripts.write_docs import PAGES

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("path", PAGES)
def test_page_is_up_to_date(path: str) -> None:
    """If this fails: python scripts/write_docs.py."""
    assert (ROOT / path).read_text(encoding="utf-8") == PAGES[path]()
