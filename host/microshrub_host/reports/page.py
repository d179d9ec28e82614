"""A report as one self-contained HTML file.

It holds its style, its pictures (SVG) and the script that sorts its tables; a Content Security
Policy forbids everything else. https://www.w3.org/TR/CSP3/
"""

from __future__ import annotations

import base64
import contextlib
import datetime
import hashlib
import io
import math
import os
import platform
import re
from collections.abc import Collection, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ..base import files
from ..base.text import count, printable

STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1d1f23; --quiet: #5d626b;
  --rule: #d8dbe1; --shade: #f4f5f7; --strong: #0a58ca; }
@media screen and (prefers-color-scheme: dark) {
  :root { --paper: #15171b; --ink: #e3e5e9; --quiet: #9aa0aa; --rule: #363a42; --shade: #1e2126;
    --strong: #8ab4f8; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); line-height: 1.55;
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1, h2, p, figcaption { max-width: 42rem; overflow-wrap: anywhere; }
h1 { font-size: 1.75rem; line-height: 1.25; margin: 0 0 1.5rem; }
h2 { font-size: 1.25rem; line-height: 1.3; margin: 2.75rem 0 .75rem; }
p { margin: .75rem 0; }
pre { background: var(--shade); border-radius: 4px; padding: .75rem 1rem; margin: 1rem 0;
  white-space: pre-wrap; overflow-wrap: anywhere; font-size: .85rem;
  font-family: ui-monospace, "Cascadia Code", Menlo, Consolas, monospace; }
.wide { overflow-x: auto; margin: 1rem 0; width: fit-content; max-width: 100%; }
.wide:focus-visible, button:focus-visible { outline: 2px solid var(--strong); }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .8rem; text-align: left; vertical-align: baseline;
  border-bottom: 1px solid var(--rule); }
thead th { vertical-align: bottom; padding-top: 0; border-bottom: 1px solid var(--quiet); }
th:first-child, td:first-child { padding-left: .2rem;
  min-width: calc(1.15 * var(--word) + 1rem); max-width: 24rem;
  overflow-wrap: anywhere; position: sticky; left: 0; background: var(--paper); }
.n { text-align: right; }
td.n { white-space: nowrap; }
strong { color: var(--strong); }
th button { all: unset; cursor: pointer; color: var(--quiet); font-size: .8rem; font-weight: 600;
  line-height: 1.25; }
th button:hover, th[aria-sort] button { color: var(--ink); }
th button::after { content: "\\2191"; visibility: hidden; padding-left: .2em; }
.n button::after { padding-left: 0; margin-right: -.8em; }
th[aria-sort] button::after { visibility: visible; }
th[aria-sort=descending] button::after { content: "\\2193"; }
tbody tr:hover td { background: var(--shade); }
figure { margin: 1.5rem 0; }
figure svg { display: block; max-width: 100%; height: auto; overflow: visible;
  stroke-linejoin: round; stroke-linecap: butt; }
figure svg text { font-family: inherit !important; fill: currentColor; }
figcaption { color: var(--quiet); font-size: .9rem; margin-top: .5rem; }
footer { margin-top: 3.5rem; border-top: 1px solid var(--rule); }
footer h2 { margin-top: 1.5rem; }
footer th { font-weight: normal; color: var(--quiet); }
@media (max-width: 40rem) {
  main { padding: 1.5rem 1rem 3rem; }
  h1 { font-size: 1.4rem; }
  th, td { padding: .3rem .5rem; }
  th:first-child, td:first-child { max-width: 9rem; font-size: .8rem; } }
@media print {
  :root { color-scheme: light; }
  main { max-width: none; padding: 0; }
  body { font-size: 10pt; }
  .wide { overflow: visible; }
  table { font-size: .8rem; }
  th, td { padding: .15rem .4rem; }
  th button::after { content: none; }
  figure, tr, pre { break-inside: avoid; }
  h1, h2 { break-after: avoid; } }
"""

# A click on a head sorts upwards, and the next click downwards; numbers come before texts, and
# both before missing values.
SCRIPT = """
document.addEventListener("click", (event) => {
  const button = event.target.closest("th button");
  if (!button) return;
  const head = button.parentElement, table = head.closest("table"), body = table.tBodies[0];
  const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
  const keyed = Array.from(body.rows, (row) => {
    const cell = row.cells[head.cellIndex], text = cell.textContent;
    const number = cell.dataset.number;
    return { row, text, number: Number(number), kind: number ? 0 : text.length > 1 ? 1 : 2 };
  });
  keyed.sort((a, b) => a.kind - b.kind || sign * (a.kind ? a.text.localeCompare(b.text)
    : a.number - b.number));
  body.append(...keyed.map((key) => key.row));
});
"""


_HASH = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
# The pictures have style attributes of their own
_POLICY = (
    f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{_HASH}'; "
    "base-uri 'none'; form-action 'none'"
)
_NUMBER = re.compile(
    r"([-+\N{MINUS SIGN}]?[0-9][0-9,]*(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?)(?: ?%| ± [0-9.,]+)?",
    re.ASCII | re.IGNORECASE,
)
_WORD = 22  # letters; longer words in the first column are broken
_SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"


def surroundings() -> dict[str, str]:
    """Return the date and the machine, as facts of a page."""
    processor = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split("\n")
        named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
        processor = next(iter(named), processor)
    now = datetime.datetime.now().astimezone()
    return {
        "date": now.strftime("%Y-%m-%d %H:%M %Z"),
        "machine": f"{platform.system()}, {processor}, {count(os.cpu_count() or 1, 'core')}",
    }


class Page:
    """A page, whose parts have the order in which they are added.

    command is the command that made the page, ready to paste; facts are versions, seeds and a
    date, for the page's end. All texts are escaped.
    """

    def __init__(self, title: str, command: str, facts: Mapping[str, str]) -> None:
        self._title = _text(title)
        self._command = escape(printable(command))
        self._facts = facts
        self._parts: list[str] = []
        self._pictures = 0

    def heading(self, text: str) -> None:
        """Add a heading."""
        self._parts.append(f"<h2>{_text(text)}</h2>")

    def paragraph(self, text: str) -> None:
        """Add running text."""
        self._parts.append(f"<p>{_text(text)}</p>")

    def table(
        self,
        head: Sequence[str],
        rows: Sequence[Sequence[str]],
        *,
        best: Collection[tuple[int, int]] = (),
    ) -> None:
        """Add a table that a click on a head sorts; the cells (row, column) in best are bold.

        Columns of numbers (`1,234`, `-0.5`, `94.02 %`, `94.02 ± 0.1`) are right-aligned.
        """
        self._parts.append(_table(head, rows, best))

    def picture(self, figure: Any, caption: str) -> None:
        """Add a matplotlib figure; the caption is also its description for screen readers."""
        self._pictures += 1
        drawn = _inline_svg(figure, f"p{self._pictures}-", caption)
        self._parts.append(f"<figure>{drawn}<figcaption>{_text(caption)}</figcaption></figure>")

    def write(self, path: Path) -> None:
        """Write the page, whole or not at all; raises UserError if it cannot be written."""
        files.replace(path, self.html().encode())

    def html(self) -> str:
        """Return the page as HTML."""
        facts = "\n".join(
            f'<tr><th scope="row">{_text(name)}</th><td>{_text(fact)}</td></tr>'
            for name, fact in self._facts.items()
        )
        return "\n".join(
            [
                '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
                f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
                '<meta name="viewport" content="width=device-width, initial-scale=1">',
                f"<title>{self._title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>",
                f"<h1>{self._title}</h1>",
                *self._parts,
                f"<footer>\n<h2>How this was made</h2>\n<pre>{self._command}</pre>",
                f'<div class="wide"><table>\n<tbody>{facts}</tbody>\n</table></div>',
                f"</footer>\n</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n",
            ]
        )


def shown(text: str) -> str:
    """Return a text as the page shows it: on one line, and without control characters."""
    return printable(" ".join(text.split()))


def _text(text: str) -> str:
    return escape(shown(text))


def _number(text: str) -> float | None:
    match = _NUMBER.fullmatch(shown(text))
    if not match:
        return None
    number = float(match[1].replace(",", "").replace("\N{MINUS SIGN}", "-"))
    return number if math.isfinite(number) else None


def _table(
    head: Sequence[str], rows: Sequence[Sequence[str]], best: Collection[tuple[int, int]]
) -> str:
    numbers = [[_number(text) for text in row] for row in rows]
    looks = [_look([row[c] for row in rows], [n[c] for n in numbers]) for c in range(len(head))]
    heads = [
        f'<th scope="col"{look}><button type="button">{_text(text)}</button></th>'
        for text, look in zip(head, looks, strict=True)
    ]
    words = [word for row in rows for word in row[0].split()]
    width = min(max(map(len, words), default=0), _WORD)
    lines = [
        f'<div class="wide" tabindex="0"><table style="--word: {width}ch">',
        f"<thead><tr>{''.join(heads)}</tr></thead>\n<tbody>",
    ]
    for r, row in enumerate(rows):
        cells = []
        for c, (text, number, look) in enumerate(zip(row, numbers[r], looks, strict=True)):
            value = "" if number is None else f' data-number="{number!r}"'
            message = f"<strong>{_text(text)}</strong>" if (r, c) in best else _text(text)
            cells.append(f"<td{look}{value}>{message}</td>")
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return "\n".join([*lines, "</tbody>\n</table></div>"])


def _look(texts: Sequence[str], numbers: Sequence[float | None]) -> str:
    """Return a number column's class: at least a quarter of the present cells must be numbers."""
    total = sum(number is not None for number in numbers)
    missing = sum(len(shown(text)) < 2 for text in texts)
    return ' class="n"' if total and 4 * total >= len(texts) - missing else ""


def _inline_svg(figure: Any, prefix: str, name: str) -> str:
    """Return the figure as an HTML element; its ids begin with the prefix, its text stays text."""
    import matplotlib

    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    file = io.BytesIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "microshrub"}):
        figure.savefig(file, format="svg", transparent=True, metadata=nothing)
    root = ElementTree.fromstring(file.getvalue())
    for element in root.iter():
        element.tag = element.tag.removeprefix(_SVG)
        for key, value in list(element.attrib.items()):
            element.attrib[key] = _adapted(key, value, prefix)
        if _LINK in element.attrib:
            element.attrib["href"] = element.attrib.pop(_LINK)
        for child in list(element):  # the page has its own style
            if child.tag in (f"{_SVG}style", f"{_SVG}metadata"):
                element.remove(child)
    root.attrib |= {"role": "img", "aria-label": shown(name)}
    return ElementTree.tostring(root, encoding="unicode")


def _adapted(key: str, value: str, prefix: str) -> str:
    """Return an attribute's value with prefixed ids and the page's colours for black and white."""
    if key == "id":
        return prefix + value
    if key == _LINK:
        return value.replace("#", f"#{prefix}", 1)
    if key in ("style", "fill", "stroke"):
        value = value.replace("#000000", "currentColor").replace("#ffffff", "var(--paper)")
    return value.replace("url(#", f"url(#{prefix}")
