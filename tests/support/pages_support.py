"""The pages of the documentation whose commands and figures are tested."""

from __future__ import annotations

import re
from pathlib import Path

from tests_support import ROOT

PAGES = ["README.md", "docs/tutorials/first-board.md"]
PAGES += sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("examples/*/README.md"))
# How-to pages with figures, which test_blocks.py compares with the output
FIGURES = [
    f"docs/how-to/{name}.md"
    for name in ("active-learning", "guarantee", "inspect-and-export", "name-new-classes")
]
SHELLS = ("", "sh", "bash")
_BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SAVED = re.compile(r"Save this as `([\w.]+)`:\n\n```\w+\n(.*?)^```", re.MULTILINE | re.DOTALL)


def commands(page: Path) -> list[str]:
    """Return the lines of the page's shell blocks; lines that end in a backslash are joined."""
    text = page.read_text(encoding="utf-8")
    blocks = [block for language, block in _BLOCK.findall(text) if language in SHELLS]
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [line.partition("  #")[0].strip() for line in lines if line.strip()]


def shown(page: Path) -> list[str]:
    """Return the lines of output that the page shows."""
    text = page.read_text(encoding="utf-8")
    blocks = [block for language, block in _BLOCK.findall(text) if language == "text"]
    return [plain(line) for block in blocks for line in block.splitlines()]


def plain(line: str) -> str:
    """Return a line without a table's frame, and with single spaces."""
    return " ".join(line.replace("│", " ").split())


def saved(page: Path) -> list[tuple[str, str]]:
    """Return names and texts of the files that the page tells its reader to save."""
    return _SAVED.findall(page.read_text(encoding="utf-8"))
