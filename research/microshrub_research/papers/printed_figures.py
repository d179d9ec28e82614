"""The figures that the papers print, for comparison with our measurements."""

from __future__ import annotations

import importlib.resources
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_FOLDER = "figures"


@dataclass(frozen=True)
class Paper:
    """A paper: its title, and the tables in its file."""

    title: str
    authors: str
    year: int
    venue: str
    methods: tuple[str, ...]  # in the order of the tables' rows
    tables: Mapping[str, Any]  # the whole content of the file

    @property
    def citation(self) -> str:
        """The citation in one line."""
        return f"{self.authors}: {self.title}, {self.venue}"

    def value(self, table: str, row: str, method: str) -> float | None:
        """Return a cell of a table whose rows hold a value for each method;
        None for an empty cell.
        """
        if method not in self.methods:
            return None
        result = self.tables[table].get(row)
        value = None if result is None else float(result[self.methods.index(method)])
        return None if value is None or math.isnan(value) else value


def load_paper(name: str) -> Paper:
    """Return the paper of that experiment, from figures/NAME.toml."""
    file = importlib.resources.files(__package__) / _FOLDER / f"{name}.toml"
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    return Paper(
        title=table["title"],
        authors=table["authors"],
        year=table["year"],
        venue=table["venue"],
        methods=tuple(table["methods"]),
        tables=table,
    )
