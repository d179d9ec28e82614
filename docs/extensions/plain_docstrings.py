"""Converts docstrings, plain text that reads well in a terminal, to reStructuredText.

name      its description: a row of such a table becomes an entry of a definition list,
          to which the lines indented below the row belong
"""

import re
import textwrap

from sphinx.application import Sphinx

_ROW = re.compile(r"(\S+(?: \S+)*) {2,}(\S.*)$")
_SPECIAL = re.compile(r"([*|\\]|_(?=\W|$))")
_DIRECTIVE = re.compile(r">>> |\.\. |:\w+[^:]*: ")


def plain_to_rst(lines: list[str]) -> list[str]:
    """Return a docstring's lines as reStructuredText; numpydoc's sections are left to napoleon."""
    if any(line.strip() and not line.strip("- ") for line in lines):
        return lines
    found: list[str] = []
    for paragraph in _paragraphs(lines):
        found += [*_converted(paragraph), ""]
    return found


def _paragraphs(lines: list[str]) -> list[list[str]]:
    """Return the runs of lines between empty lines."""
    runs: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            runs[-1].append(line.rstrip())
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _converted(paragraph: list[str]) -> list[str]:
    first = paragraph[0]
    if _DIRECTIVE.match(first.lstrip()):
        return paragraph
    if first.startswith("  "):
        return [
            "::",
            "",
            *textwrap.indent(textwrap.dedent("\n".join(paragraph)), "   ").split("\n"),
        ]
    if _ROW.match(first):
        return _definitions(paragraph)
    return [_escaped(line) for line in paragraph]


def _definitions(rows: list[str]) -> list[str]:
    """Return the definition list for a table of names and texts."""
    found: list[str] = []
    for line in rows:
        row = _ROW.match(line)
        if row and not line.startswith(" "):
            found += [f"``{row[1]}``", "   " + _escaped(row[2])]
        else:
            found.append("   " + _escaped(line.strip()))
    return found


def _escaped(line: str) -> str:
    """Escape the characters of a line, outside of backquotes, that reStructuredText interprets."""
    parts = line.split("`")
    parts[::2] = [_SPECIAL.sub(r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


def _process(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list) -> None:
    lines[:] = plain_to_rst(lines)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", _process)
    return {"parallel_read_safe": True}
