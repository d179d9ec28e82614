"""Tables in Markdown, as all pages have them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

# "-", "94.02", "**94.02**", "94.02 (94.01)"
_NUMBER = re.compile(r"\*{0,2}(-|[-+]?[0-9][0-9.,]*)( \([0-9.,]+\))?\*{0,2}")


def markdown_table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    best: Collection[tuple[int, int]] = (),
) -> str:
    """Return a table of a head and rows; the cells (row, column) in best are bold.

    Columns of numbers, some of which may be missing, are aligned to the right.
    """
    columns = [[row[c] for row in rows] for c in range(len(head))]
    rules = ["---:" if all(map(_NUMBER.fullmatch, column)) else "---" for column in columns]
    lines = [[_cell(text) for text in head], rules]
    for r, row in enumerate(rows):
        lines.append(
            [f"**{_cell(text)}**" if (r, c) in best else _cell(text) for c, text in enumerate(row)]
        )
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
