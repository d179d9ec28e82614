"""A parsed HTML page."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any


class Parsed(HTMLParser):
    """The texts of all cells by rows, the elements with their attributes, and all text.

    The names of SVG elements and of their attributes are in lower case.
    """

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.rows: list[list[str]] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.command: str | None = None
        self._inside = ""
        self.feed(html)
        self.close()

    @property
    def tags(self) -> list[str]:
        """The names of all elements, in order."""
        return [tag for tag, _ in self.elements]

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag == "pre":
            self.command = ""
        if tag in ("td", "th", "pre"):
            self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        if tag == self._inside:
            self._inside = ""

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._inside == "pre":
            self.command = (self.command or "") + data
        elif self._inside:
            self.rows[-1][-1] += data
