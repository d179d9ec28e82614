"""The time of a sample on a board: from measurements in its file, or from instruction counts.

There is a figure for each model in the table, and for models between two in the table. A model is
between two others if all three are of the same kind (for now, Shrub Ensembles) and differ at most
in window, trees, depth, features and classes, and if none of these is larger in the one or smaller
in the other. The figure is then interpolated linearly in the work, which is trees * depth for
predict and window * depth * features * classes for learn. There is no figure for other models. The
seed and a Shrub Ensemble's step do not matter: they change the results, not the amount of work.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..library.learners import specification
from ..simulation.companion import Companions
from ..simulation.pipeline import Extracted
from . import counted_times
from .board_files import Board, CostRow, Costs
from .counted_times import Window, line_us, outside_learner_us, window_of
from .emits import NATIVE, VIPER
from .energy import Energy
from .ram_budget import Kernels

_SHAPE = ("window", "trees", "depth", "features", "classes")
_PREDICT = ("trees", "depth")
_LEARN = ("window", "depth", "features", "classes")
_NEUTRAL = (
    "seed",
    "step",
    "two_valued",
)  # two_valued is from the stream, not the specification
MEASURED = "measured"
ESTIMATED = "estimated from instruction counts in emulation"

Pair = tuple[float, float]
_Figures = tuple[Pair, Pair, tuple[str, ...]]  # of a predict, of a learn, and the two models


@dataclass(frozen=True)
class SampleTime:
    """Microseconds of a predict and of a learn, median and 99th percentile.

    `basis` is MEASURED or ESTIMATED, `between` the two models of an interpolation, empty if the
    table has the model itself, `source` the source of the table, and `without` the companions that
    are not included. `link` is the time of the rest of `build`'s program for a labelled sample
    from the link, `sensor` for a sample from the board's own sensor, with the `window` of readings
    of a sample, and `line` the time of its line for a plotter, which a program that sleeps does
    not print. `both` tells that a labelled sample takes two calls, to predict and to learn, not
    one.
    """

    predict: Pair
    learn: Pair
    basis: str
    between: tuple[str, ...]
    source: str
    without: tuple[str, ...] = ()
    link: float = 0.0
    sensor: float = 0.0
    line: float = 0.0
    window: Window | None = None
    both: bool = False
    energy: Energy | None = None  # of a sample, if the board's currents are known

    def served(self, sensor: bool = False) -> Pair:
        """Return the microseconds of a labelled sample with the whole program."""
        program_us = self.sensor + self.line if sensor else self.link
        predict = self.predict if self.both else (0.0, 0.0)
        return predict[0] + self.learn[0] + program_us, predict[1] + self.learn[1] + program_us

    def asleep_us(self) -> float:
        """Return the median of a labelled sample from the sensor in a program that sleeps."""
        return self.served(sensor=True)[0] - self.line

    def with_kernels(self, kernels: Kernels) -> SampleTime:
        """Return the time with some of the learner's kernels as bytecode."""
        if not kernels.plain:
            return self
        predict, learn = (
            (median * kernels.slower, most * kernels.slower)
            for median, most in (self.predict, self.learn)
        )
        basis = f"{self.basis}, {kernels.slower:.1f} times as long with {kernels.plain} of "
        basis += f"{kernels.of} kernels as bytecode"
        return replace(self, predict=predict, learn=learn, basis=basis)

    def note_on(self, rate: float, option: str, sensor: bool = True) -> str:
        """Return a note if the board cannot keep up with the option's rate; else ""."""
        median, most = self.served(sensor)
        if rate * median <= 1e6:
            return ""
        return (
            f"Note: {rate:g} samples a second cannot be kept, and the board will miss some: "
            f"lower {option} to {int(1e6 / most)} samples a second, or take a smaller model."
        )

    def record(self) -> dict[str, Any]:
        """Return the figures for --json."""
        return {
            "predict_us": list(self.predict),
            "learn_us": list(self.learn),
            "served_us": list(self.served()),
            "basis": self.basis,
            "between": list(self.between),
            "source": self.source,
            "without": list(self.without),
            "energy": self.energy and self.energy.record(),
        }

    def rows(self) -> list[tuple[str, str]]:
        """Return the rows of a table: names and values."""
        how = self.basis
        if self.between:
            how += f", interpolated between {' and '.join(self.between)}"
        return [
            ("microseconds per predict", f"{self.predict[0]:,.0f}, p99 {self.predict[1]:,.0f}"),
            ("microseconds per learn", f"{self.learn[0]:,.0f}, p99 {self.learn[1]:,.0f}"),
            ("  based on", how),
            ("  served over the link", "{:,.0f}, p99 {:,.0f}".format(*self.served())),
            *([("  without", ", ".join(self.without))] if self.without else []),
            *(self.energy.rows() if self.energy else []),
        ]


def sample_time(
    board: Board, model: str, parameters: Mapping[str, Any], emit: str = NATIVE
) -> SampleTime | None:
    """Return the board file's figures for a model, by its short name, with all its parameters.

    Measurements are preferred to instruction counts. emit is the form of the kernels, one of
    EMITS. Returns None if no figures are known. Raises UserError if the file has a model that does
    not exist.
    """
    wanted = _comparable(model, parameters)
    program: dict[str, Any] = {"both": model == "hoeffding" and parameters.get("adaptive", False)}
    features = int(parameters.get("features", 0))
    for over in ("link", "sensor"):
        program[over] = outside_learner_us(board, features, emit, sensor=over == "sensor")
    program["line"] = line_us(board, features)
    if (costs := board.measured) and (figures := _look_up(costs.rows, wanted)):
        times = _times(figures, 1.0, costs.uncached_us)
        return SampleTime(*times, MEASURED, figures[2], costs.source, **program)
    if (costs := board.cost) is None or emit not in (NATIVE, VIPER):
        return None
    source = costs.source
    figures = _look_up(costs.rows if emit == NATIVE else costs.of_viper(), wanted)
    if figures is None and model == "thicket":
        figures, source = _thicket(board.arch, wanted, emit), counted_times.SOURCE
    if figures is None:
        return None
    times = _times(figures, costs.cycles * 1e6 / board.clock_hz, costs.uncached_us)
    basis = f"{ESTIMATED}, {_per_instruction(costs)}"
    return SampleTime(*times, basis, figures[2], source, **program)


def _thicket(arch: str, wanted: Mapping[str, Any], emit: str) -> _Figures | None:
    """Return the counted instructions of a thicket that the board's file lacks."""
    size, features, classes = (int(wanted[name]) for name in ("bytes", "features", "classes"))
    instructions = counted_times.instructions(arch, size, features, classes, emit)
    return (*instructions, counted_times.BETWEEN) if instructions else None


def of_learner(time: SampleTime | None, board: Board, companions: Companions) -> SampleTime | None:
    """Return the time with the names of companions not included, and with a sensor's readings."""
    if time is None:
        return None
    time = replace(time, without=tuple(each.cost for each in companions if each.cost))
    for each in companions:
        if isinstance(each, Extracted) and (window := window_of(board, each.extraction.options)):
            return replace(time, sensor=time.sensor + window.us, window=window)
    return time


def _per_instruction(costs: Costs) -> str:
    if costs.cycles == 1:
        return "one instruction per cycle"
    more = f", and {costs.uncached_us} us in p99 for uncached flash" if costs.uncached_us else ""
    return f"{costs.cycles:g} cycles per instruction as on the chip{more}"


def _times(figures: _Figures, unit: float, extra: int) -> tuple[Pair, Pair]:
    """Return the microseconds of a predict and a learn; extra is added to the 99th percentile."""
    (a, b), (c, d), _ = figures
    return (a * unit, b * unit + extra), (c * unit, d * unit + extra)


def _comparable(model: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    rest = {name: value for name, value in parameters.items() if name not in _NEUTRAL}
    return {"model": model, **rest}


@functools.lru_cache
def _of_row(row: CostRow) -> dict[str, Any]:
    model, parameters = specification(row.model)
    shape = {"features": row.features, "classes": row.classes}
    return _comparable(model, parameters | shape)


def _look_up(rows: tuple[CostRow, ...], wanted: dict[str, Any]) -> _Figures | None:
    for row in rows:
        if _of_row(row) == wanted:
            return row.predict, row.learn, ()
    if not set(_SHAPE) <= set(wanted):
        return None
    alike = [row for row in rows if _rest(_of_row(row)) == _rest(wanted)]
    pairs = [(a, b) for a in alike for b in alike if a != b and _between(a, wanted, b)]
    if not pairs:
        return None
    low, high = min(pairs, key=lambda pair: _distance(*pair))
    predict = _interpolated(low, wanted, high, _PREDICT, lambda row: row.predict)
    learn = _interpolated(low, wanted, high, _LEARN, lambda row: row.learn)
    return predict, learn, (_called(low), _called(high))


def _rest(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in _SHAPE}


def _between(low: CostRow, wanted: dict[str, Any], high: CostRow) -> bool:
    a, b = _of_row(low), _of_row(high)
    return all(a[name] <= wanted[name] <= b[name] for name in _SHAPE)


def _distance(low: CostRow, high: CostRow) -> float:
    return _work(_of_row(high), _LEARN) / _work(_of_row(low), _LEARN)


def _work(values: dict[str, Any], names: tuple[str, ...]) -> int:
    return math.prod(values[name] for name in names)


def _interpolated(
    low: CostRow,
    wanted: dict[str, Any],
    high: CostRow,
    names: tuple[str, ...],
    value: Callable[[CostRow], Pair],
) -> Pair:
    begin, end = _work(_of_row(low), names), _work(_of_row(high), names)
    part = (_work(wanted, names) - begin) / (end - begin) if end > begin else 1.0
    (a, b), (c, d) = value(low), value(high)
    return a + part * (c - a), b + part * (d - b)


def _called(row: CostRow) -> str:
    return f"{row.model} ({row.features} features, {row.classes} classes)"
