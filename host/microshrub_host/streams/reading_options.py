"""How a file is to be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .columns import ALL, ColumnChoice
from .wide_rows import Wide


@dataclass(frozen=True)
class ReadingOptions:
    """How a file is to be read: the arguments of open_stream of the same names."""

    label: str | None
    classes: tuple[str, ...] | None
    header: bool
    limit: int | None
    shuffle: int | None
    warmup: int
    choice: ColumnChoice = ALL
    features: int = 1  # in a file, at least
    asks: Literal["class", "target", "nothing"] = "class"  # the purpose of the samples
    fewest_classes: int = 2
    group: str | None = None
    label_from: str | None = None  # one of LABEL_FROM; None: the class is in a column, or guessed
    wide: Wide | None = None  # if each row is a whole recording
    decimal: str | None = None  # the decimal sign, if given
