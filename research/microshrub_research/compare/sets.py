"""The sets of learners that --set names, with the table that each makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from . import comparison_report, field_set, speed_set, tree_set
from .comparison_report import Lines, Rows
from .comparison_runner import Cell
from .contender import Contender


@dataclass(frozen=True)
class Selection:
    """A set of --set: who takes part, and the table of the cells that come of it."""

    rows: Callable[[], Mapping[str, Mapping[str, Contender]]]  # by the rows' names and system
    systems: Mapping[str, str]  # their titles
    table: Callable[[Rows, Mapping[str, str]], Lines] | None  # None: that of all learners
    notes: Sequence[str] = ()

    def contenders(self) -> list[Contender]:
        """All of them."""
        return [contender for row in self.rows().values() for contender in row.values()]

    def lines(self, cells: Mapping[str, Cell]) -> Lines | None:
        """The table of one stream's cells, which are by the contenders' names."""
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
