"""Which columns of a source are features: those that are named, or all but some, or all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..base.text import did_you_mean
from .stream import MAX_FEATURES, DataError

CLOCK = "time"  # the first column of what `record --time` writes


@dataclass(frozen=True)
class ColumnChoice:
    """The arguments `columns` and `drop` of open_stream, at most one of which is given."""

    columns: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()

    @staticmethod
    def of(columns: Sequence[str] | None, drop: Sequence[str] | None) -> ColumnChoice:
        """Raises DataError if both are given."""
        if columns is not None and drop is not None:
            raise DataError(
                "--columns names the columns that are learned and --drop those that are not: "
                "use one of the two."
            )
        return ColumnChoice(None if columns is None else tuple(columns), tuple(drop or ()))

    @property
    def is_given(self) -> bool:
        """Whether anything was chosen."""
        return self.columns is not None or bool(self.drop)

    def places(self, source: str, names: Sequence[str], label: int | None) -> list[int]:
        """The places of the features among the names, of which that of the class is none.

        Raises DataError for a name that is none of them, or that of the class.
        """
        option = "--drop" if self.columns is None else "--columns"
        for name in (*self.drop, *(self.columns or ())):
            if name not in names:
                raise DataError(
                    f"{source} has no column {name}, which {option} names. "
                    f"{did_you_mean(name, names)}"
                )
        if label is not None and names[label] in self.drop:
            raise DataError(
                f"{source}: --drop names {names[label]}, the column that is to be told. "
                "--label NAME takes another one for the class, --target NAME for the target."
            )
        kept = {*self.columns} if self.columns is not None else {*names}.difference(self.drop)
        return [place for place, name in enumerate(names) if place != label and name in kept]

    def leaves_out(self, name: str) -> bool:
        """Whether a column is not learned, be it a feature or not."""
        return name in self.drop or (self.columns is not None and name not in self.columns)

    def named(self, names: Sequence[str], label: str | None) -> list[tuple[int, str]]:
        """The names that matter, and the place of each: of the features and the class."""
        last = len(names) - 1
        return [
            (place, name)
            for place, name in enumerate(names)
            if name == label or (place == last and label is None) or not self.leaves_out(name)
        ]

    def clock(self, names: Sequence[str], label: int | None, features: int) -> ColumnChoice | None:
        """What leaves out the time that `record` writes; None if something was chosen, or fewer
        than so many features were left."""
        left = len(names) - (1 if label is None else 2)
        is_clock = names[0] == CLOCK and label != 0 and left >= features
        return ColumnChoice(drop=(CLOCK,)) if is_clock and not self.is_given else None

    def note(self, source: str) -> str:
        """What is said of a clock that is left out."""
        return (
            f"{source}: the column {CLOCK} is left out: it says when a row was recorded, which a "
            "board that learns cannot know. --columns names the columns to learn, if it is one."
        )


ALL = ColumnChoice()


def check_count(source: str, features: int, least: int, beside: str) -> None:
    """Raise DataError unless so many can be learned beside the class, the target or nothing."""
    if least <= features <= MAX_FEATURES:
        return
    said = (
        f"{source} has {features:,} feature columns beside the {beside}; {least} to "
        f"{MAX_FEATURES} are possible. "
    )
    if features:
        raise DataError(f"{said}--columns names those that are to be learned.")
    said += "Cells are separated by commas, semicolons or tabs."
    if beside == "target":
        said += " With --horizon N, the target's own last values are features: --lags K."
    raise DataError(said)
