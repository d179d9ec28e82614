"""The clock of a recording: its rate, how even its rows are, and where time is missing."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
from numpy.typing import NDArray

from ..base.errors import UserError
from ..base.text import count
from ..streams.label_leakage import is_clock_name
from ..streams.stream import Stream

_UNITS = (
    (re.compile(r"(?i)(n(ano)?s(ec\w*)?|nanos?)\W*$"), 1e9),
    (re.compile(r"(?i)([u\u00b5\u03bc](s|sec\w*)|micro\w*)\W*$"), 1e6),
    (re.compile(r"(?i)(ms(ec\w*)?|milli\w*)\W*$"), 1e3),
    (re.compile(r"(?i)[\W_](s|sec|seconds?)\W*$"), 1.0),
)
_LONG = ((86_400, "days"), (3600, "hours"), (60, "minutes"))
_GAP = 3  # a longer step than this many usual ones is a gap
_FALLS = 0.01  # share of steps backwards; a column with more of them is no clock
_EVEN = 0.1  # deviation of most steps, at most, as a share of the usual step


@dataclasses.dataclass(frozen=True)
class RecordingClock:
    """The contents of a column of times."""

    name: str
    times: NDArray[np.float64]  # in seconds
    known: bool  # whether the unit is known
    rate: float  # rows a second
    jitter: float  # deviation of 90 % of the steps, at most, as a share of the usual step
    gaps: tuple[int, ...]  # rows after a gap in time, or at which the clock restarts
    begins: tuple[int, ...]  # rows at which other recordings begin
    longest: float  # longest gap in seconds

    @property
    def starts(self) -> tuple[int, ...]:
        """The rows at which stretches begin, except the first row."""
        return tuple(sorted({*self.gaps, *self.begins}))

    @property
    def note(self) -> str:
        """A description of the clock, for notes."""
        if not self.known:
            return f"{self.name} is a clock, and no value of a reading"
        gaps = ""
        if self.gaps:
            longest = f", the longest of {self.longest:,.4g} s" if self.longest else ""
            gaps = f", and {count(len(self.gaps), 'gap')}{longest}: no window spans one"
        return (
            f"{self.name} is a clock: {self._pace}, the steps within "
            f"{100 * self.jitter:.0f} %{gaps}"
        )

    @property
    def _pace(self) -> str:
        if self.rate >= 1:
            return f"{self.rate:.4g} rows a second"
        seconds = 1 / self.rate
        of = next((each for each in _LONG if seconds >= 2 * each[0]), (1, "s"))
        return f"a row every {seconds / of[0]:.3g} {of[1]}"


def clock_of(stream: Stream) -> tuple[int, RecordingClock] | None:
    """Return the place of the column that is a clock, and its contents; None without a clock."""
    for place, name in enumerate(stream.feature_names):
        if is_clock_name(name) and len(stream.feature_names) > 1:
            clock = clock_in(name, stream.values[:, place], stream.starts)
            if clock is not None:
                return place, clock
    return None


def clock_in(
    name: str, column: NDArray[np.float64], begins: tuple[int, ...] = ()
) -> RecordingClock | None:
    """Return the clock in a column, if any; `begins` are other recordings' first rows."""
    inside = np.ones(max(len(column) - 1, 0), np.bool_)
    inside[np.array(begins, np.intp) - 1] = False
    places = np.flatnonzero(inside)
    steps = np.diff(column)[places]
    if len(steps) < 2 or np.isnan(steps).any() or (steps < 0).mean() > _FALLS:
        return None
    usual = float(np.median(steps[steps > 0])) if (steps > 0).any() else 0.0
    if not usual:
        return None
    per_second = next((unit for form, unit in _UNITS if form.search(name)), None)
    if per_second is None:
        per_second = 1.0 if usual < 0.5 else 1e3 if 2 <= usual < 2e3 else 0.0
    odd = (steps > _GAP * usual) | (steps < 0)
    even = np.abs(steps[~odd] / usual - 1)
    unit = per_second or 1.0
    return RecordingClock(
        name,
        column / unit,
        bool(per_second),
        unit / float(steps[~odd].mean()),
        float(np.quantile(even, 0.9)) if len(even) else 0.0,
        tuple((places[odd] + 1).tolist()),
        begins,
        float(steps.max()) / unit if (steps > _GAP * usual).any() else 0.0,
    )


def timed(stream: Stream, resample: float | None) -> tuple[Stream, str]:
    """Return the recording without its clock, with its rate and gaps, and a note about them.

    With resample, it has that many readings a second: the latest one at each moment, as a board
    would read. Raises UserError.
    """
    placed_clock = clock_of(stream)
    if placed_clock is None:
        if resample:
            raise UserError("--features resample needs a column that is a clock, such as time_ms")
        return stream, ""
    place, clock = placed_clock
    keep = [at for at in range(len(stream.feature_names)) if at != place]
    rate = float(f"{clock.rate:.4g}") if clock.known and clock.jitter <= _EVEN else None
    rows, starts = np.arange(stream.samples), clock.starts
    if resample:
        if not clock.known:
            raise UserError(f"--features resample: the unit of {clock.name} is not known; name "
                            "the column time_s, time_ms or time_us")  # fmt: skip
        rows, starts = _even_rows(clock, resample)
        rate = resample
    result = dataclasses.replace(
        stream,
        values=stream.values[rows][:, keep],
        labels=stream.labels[rows],
        feature_names=tuple(stream.feature_names[at] for at in keep),
        known_scale=None,
        groups=None if stream.groups is None else stream.groups[rows],
        rate=rate,
        starts=starts,
    )
    made = f", made {count(len(rows), 'row')}, {resample:g} a second" if resample else ""
    return result, clock.note + made


def _even_rows(clock: RecordingClock, rate: float) -> tuple[NDArray[np.intp], tuple[int, ...]]:
    """Return the latest row at each moment, and the rows at which stretches begin."""
    result: list[NDArray[np.intp]] = []
    starts, length = [], 0
    edges = [0, *clock.starts, len(clock.times)]
    for begin, end in zip(edges, edges[1:], strict=False):  # noqa: RUF007
        times = clock.times[begin:end]
        moments = times[0] + np.arange(int((times[-1] - times[0]) * rate + 1e-6) + 1) / rate
        result.append(begin + np.searchsorted(times, moments + 1e-9, "right") - 1)
        starts.append(length)
        length += len(moments)
    return np.concatenate(result).astype(np.intp), tuple(starts[1:])
