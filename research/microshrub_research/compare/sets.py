"""The sets of learners for --set, each with the table of its results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from . import comparison_report, field_set, speed_set, tree_set
from .comparison_report import Lines, Rows
from .comparison_runner import Cell
from .contender import Contender


@dataclass(frozen=True)
class Selection:
    """A set for --set: its contenders, and the table of their cells."""

    rows: Callable[[], Mapping[str, Mapping[str, Contender]]]  # by the names of rows and systems
    systems: Mapping[str, str]  # the systems' titles
    table: Callable[[Rows, Mapping[str, str]], Lines] | None  # None: the table of all learners
    notes: Sequence[str] = ()

    def contenders(self) -> list[Contender]:
        """Return all contenders of the set."""
        return [contender for row in self.rows().values() for contender in row.values()]

    def lines(self, cells: Mapping[str, Cell]) -> Lines | None:
        """Return the table of one stream's cells, which are given by the contenders' names."""
        if self.table is None:
            return None
        result = {
            name: {system: cells.get(contender.name) for system, contender in row.items()}
            for name, row in self.rows().items()
        }
        return self.table(result, self.systems)


SETS = {
    "field": Selection(field_set.field_rows, field_set.SYSTEMS, None, comparison_report.NOTES),
    "trees": Selection(tree_set.tree_rows, tree_set.SYSTEMS, comparison_report.tree_table),
    "speed": Selection(
        speed_set.speed_rows, speed_set.SYSTEMS, comparison_report.speed_table, speed_set.NOTES
    ),
}
