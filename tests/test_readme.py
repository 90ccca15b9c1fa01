"""The README tells the truth: its Python runs, the files and make targets it names exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
BLOCKS = list(re.finditer(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL))


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"line {README[: block.start()].count(chr(10)) + 2}")
def test_python_block_runs_alone(block: re.Match[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines_before = README[: block.start(1)].count("\n")
    # Blank lines in front: an error names the README's own line.
    exec(compile("\n" * lines_before + block[1], str(ROOT / "README.md"), "exec"), {"__name__": "__main__"})


def test_first_block_is_the_example() -> None:
    """The package check runs the first block with the core dependencies alone; it is the 20-line example."""
    assert "straight_gin_v0.env(" in BLOCKS[0][1]
    assert len(BLOCKS[0][1].splitlines()) <= 20


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_named_files_exist(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    folders = "gin_env|training|configs|scripts|tests|docs|examples"
    paths = re.findall(rf"(?<![\w./])(?:{folders})/[\w./-]*\w", text)
    missing = {path for path in links + paths if not (ROOT / path).exists() and path != "gin_env/StraightGin-v0"}
    assert not missing


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_named_make_targets_exist(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE))
    assert named <= set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
    assert named
