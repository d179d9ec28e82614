"""A small model of the world, and the recording that is made from it."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

Row = tuple[list[int], str]  # a sensor's values, and the label; "" for none


@dataclass(frozen=True)
class World:
    """A model that generates a recording.

    rows() takes a random generator; its rows have a value for each column. Without labels, a
    recording has no label column.
    """

    name: str
    about: str  # a line for the list of examples
    columns: tuple[str, ...]
    seconds: float  # from one row to the next
    rows: Callable[[np.random.Generator], Iterator[Row]]
    labelled: bool = True

    def csv(self, seed: int = 1) -> str:
        """Return the recording as the text of a CSV file, as `record` writes it."""
        import numpy as np

        text = io.StringIO()
        text.write(",".join([*self.columns, *(["label"] if self.labelled else [])]) + "\n")
        for values, label in self.rows(np.random.default_rng(seed)):
            text.write(",".join([*map(str, values), *([label] if self.labelled else [])]) + "\n")
        return text.getvalue()


def whole(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> list[int]:
    """Return the nearest whole numbers, within 16 bits, as a sensor's register has them."""
    return [int(value) for value in values.round().clip(-32768, 32767)]
