"""The tables and pictures of the paper on the Extremely Fast Decision Tree.

The paper shows all its results as pictures, without the figures in its text; the claims of the
text are shown next to the measurements made here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .experiment import ExperimentResults, Picture, ReportTable, RunOutcome
from .printed_figures import load_paper
from .tree_tables import MEASURES, errors, first, looks

PAPER = "efdt"
_RANDOM_TREE = re.compile(r"random_tree_(\d+)_(\d+)_\d+")
_SHUFFLED = re.compile(r"(.+)_shuffled_\d+")
_PAIR = ("VFDT", "EFDT")
_SYSTEMS = ("", "river ", "moa ")  # the prefix of a method's name for its system
_NONE = "-"
_FEW = 20  # points of a curve on a real stream, which is noisy

Group = Mapping[str, Sequence[str]]  # name of a row: the streams whose mean it shows


def tables(experiment: ExperimentResults) -> list[ReportTable]:
    """Return tables of the errors on random trees and on real streams."""
    trees, real = _trees(experiment), _real(experiment)
    made = []
    if trees:
        notes = [
            "Means over the trees that were drawn; errors in percent of the whole stream, as the "
            "E in the legend of Figure 1.1, whose values the paper's text does not hold. In "
            "Figure 5.13 EFDT makes a tenth of VFDT's errors after 100,000,000 samples."
        ]
        made.append(
            _table(experiment, "Random trees (Figure 1.1)", "classes, values", trees, notes)
        )
    if real:
        notes = [
            "A stream in its own order, and the mean over shuffled ones (Figures 5.1 to 5.12)."
        ]
        made += [
            _table(experiment, "Real streams", "stream", real, notes),
            _who_is_ahead(experiment, real),
        ]
    return made


def _trees(experiment: ExperimentResults) -> Group:
    """Return the random trees, grouped by classes and values."""
    groups: dict[str, list[str]] = {}
    for stream in experiment.streams:
        match = _RANDOM_TREE.fullmatch(stream)
        if match:
            groups.setdefault(f"{match[1]} classes, {match[2]} values", []).append(stream)
    return groups


def _real(experiment: ExperimentResults) -> Group:
    """Return the real streams by name, with all shuffled orders of a stream in one group."""
    groups: dict[str, list[str]] = {}
    for stream in experiment.streams:
        if not _RANDOM_TREE.fullmatch(stream):
            match = _SHUFFLED.fullmatch(stream)
            groups.setdefault(f"{match[1]}, shuffled" if match else stream, []).append(stream)
    return groups


def _error(result: RunOutcome) -> float | None:
    return None if result.accuracy is None else 100 - result.accuracy


def _running(result: RunOutcome) -> float | None:
    outcome = result.running_average_accuracy
    return None if outcome is None else 100 - outcome


_ROWS: Mapping[str, tuple[Callable[[RunOutcome], float | None], str]] = {
    "error, %": (_error, "{:.2f}"),
    "mean of the running error, %": (_running, "{:.2f}"),
    **{words: MEASURES[words][:2] for words in ("time, s", "nodes", "depth", "size, KB")},
}
_BEST = tuple(_ROWS)[:2]


def _mean(
    experiment: ExperimentResults,
    streams: Sequence[str],
    method: str,
    measure: Callable[[RunOutcome], float | None],
) -> float | None:
    """Return the mean over the streams; None unless the method finished all of them."""
    results = [first(experiment, stream, method) for stream in streams]
    values = [None if result is None else measure(result) for result in results]
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known and len(known) == len(values) else None


def _table(
    experiment: ExperimentResults, title: str, of: str, groups: Group, notes: Sequence[str]
) -> ReportTable:
    names = [method.name for method in experiment.methods]
    rows: list[list[str]] = []
    best: set[tuple[int, int]] = set()
    for group, streams in groups.items():
        for words, (measure, form) in _ROWS.items():
            values = [_mean(experiment, streams, name, measure) for name in names]
            known = [value for value in values if value is not None]
            if words in _BEST and known:
                best |= {(len(rows), 2 + c) for c, v in enumerate(values) if v == min(known)}
            texts = [_NONE if value is None else form.format(value) for value in values]
            rows.append([group, words, *texts])
    return ReportTable(title, [of, "measure", *names], rows, best, notes)


def _who_is_ahead(experiment: ExperimentResults, groups: Group) -> ReportTable:
    """Return a table of which of the two makes fewer errors, here and in the paper."""
    ahead = load_paper(PAPER).tables["ahead"]
    systems = [
        pair
        for prefix in _SYSTEMS
        if set(pair := tuple(prefix + name for name in _PAIR))
        <= {method.name for method in experiment.methods}
    ]
    rows = []
    for group, streams in groups.items():
        texts = [
            _ahead(*(_mean(experiment, streams, name, _error) for name in p)) for p in systems
        ]
        rows.append([group, *texts, ahead.get(group.partition(",")[0], _NONE)])
    head = ["stream", *(" and ".join(pair) for pair in systems), "the paper"]
    return ReportTable("Who makes fewer errors", head, rows, notes=["And by how many points."])


def _ahead(vfdt: float | None, efdt: float | None) -> str:
    if vfdt is None or efdt is None:
        return _NONE
    return f"{_PAIR[efdt < vfdt] if efdt != vfdt else 'neither'} {abs(vfdt - efdt):.2f}"


# --- Pictures ------------------------------------------------------------------------------------


def pictures(experiment: ExperimentResults) -> list[Picture]:
    """Return Figure 1.1 for each number of values,
    and the errors on each real stream over time.
    """
    values = dict.fromkeys(group.split(", ")[1] for group in _trees(experiment))
    made = [_figure_1_1(experiment, words) for words in values]
    return made + [
        _over_time(experiment, group, streams) for group, streams in _real(experiment).items()
    ]


def _curve(
    experiment: ExperimentResults, streams: Sequence[str], method: str, points: int = 50
) -> Any:
    """Return samples and the mean of the errors there, in two rows;
    None if a run did not finish.
    """
    results = [first(experiment, stream, method) for stream in streams]
    if any(result is None for result in results):
        return None
    return np.mean([errors(result, points) for result in results if result is not None], axis=0)


def _figure_1_1(experiment: ExperimentResults, values: str) -> Picture:
    from matplotlib.figure import Figure

    groups = {g: streams for g, streams in _trees(experiment).items() if g.endswith(values)}
    curves = {
        name: {g: _curve(experiment, streams, name) for g, streams in groups.items()}
        for name in (prefix + name for prefix in _SYSTEMS for name in _PAIR)
    }
    shown = [
        name for name, by_group in curves.items() if any(c is not None for c in by_group.values())
    ]
    lines = max(1, (len(shown) + 1) // 2)
    figure = Figure(figsize=(9, 3.4 * lines), layout="constrained")
    panels = figure.subplots(lines, 2, sharex=True, sharey=True, squeeze=False)
    for axes in panels.flat[len(shown) :]:
        axes.set_axis_off()
    for axes, name in zip(panels.flat, shown, strict=False):
        for number, (group, streams) in enumerate(groups.items()):
            curve = curves[name][group]
            if curve is None:
                continue
            error = _mean(experiment, streams, name, _error)
            seconds = _mean(experiment, streams, name, MEASURES["time, s"][0])
            label = f"{group.split(',')[0]}  T {seconds:.1f} s  E {error:.1f} %"
            axes.plot(*curve, color=f"C{number}", label=label)
        axes.set_title(name, fontsize=10)
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8, frameon=False)
        axes.set_xlabel("samples")
        axes.set_ylabel("error, %")
        axes.locator_params(axis="x", nbins=5)
    caption = (
        f"Random trees over 5 features of {values}: errors over time, mean over the trees that "
        "were drawn; T the time, E the errors of the whole stream (Figure 1.1)."
    )
    return Picture(f"random-trees-{values.replace(' ', '-')}", figure, caption)


def _over_time(experiment: ExperimentResults, group: str, streams: Sequence[str]) -> Picture:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    for name, look in looks(experiment).items():
        curve = _curve(experiment, streams, name, _FEW)
        if curve is not None:
            axes.plot(*curve, label=name, **look)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("samples")
    axes.set_ylabel("error, %")
    axes.grid(alpha=0.3)
    axes.set_title(group, fontsize=11, parse_math=False)
    figure.legend(loc="outside right upper", frameon=False)
    caption = f"{group}: errors over time, mean over {len(streams)} orders of the samples."
    return Picture(f"{group.replace(', ', '-')}-errors", figure, caption)
