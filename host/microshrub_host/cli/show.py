"""`microshrub show`: a saved model's trees as text or picture, and reasons for predictions."""

from __future__ import annotations

import argparse
import csv
import math
from array import array
from pathlib import Path

import numpy as np

from ..base.errors import UserError
from ..base.terminal import console
from ..base.text import count, printable
from ..models import model_files, tree_plot, trees
from ..models.forecasters import coded, forecast, in_units
from ..models.model_files import OpenModel
from ..models.trees import Tree
from ..reports.result_tables import progress_rows
from ..streams.columns import number_of
from .outputs import add_outputs, check_outputs, write
from .parsed import check_at_least_one, whole_number
from .plain_parser import show_first

_LIGHT = 0.05  # a shrub with a smaller weight is shown only with --tree
_ASCII = ("|- ", "`- ", "|  ")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Print a saved model's trees, in the units of its features, or draw one of them. A leaf "
        "shows its class, the share of that class, and the number of samples. In a shrub, the "
        "share is from when it was grown, and the samples are those in the window that reach the "
        "leaf now."
    )
    parser.add_argument(
        "model", metavar="MODEL", type=Path, help="a file that `simulate --save` wrote"
    )
    add_outputs(parser, plot="draw the tree, or the shrub with the largest weight")
    parser.add_argument(
        "--depth",
        metavar="N",
        type=whole_number,
        help="only the first N levels of tests (default: all)",
    )
    parser.add_argument(
        "--tree",
        metavar="N",
        type=whole_number,
        help="only the shrub with the N-th largest weight (default: all with a weight of "
        f"at least {_LIGHT})",
    )
    parser.add_argument(
        "--row",
        metavar="V1,V2,...",
        help="explain the prediction for this sample instead of printing the trees; "
        "write --row=-1,2 if it starts with a minus; an empty cell is a missing value",
    )
    parser.set_defaults(temporary_cache=False)
    show_first(parser, "--plot", "--depth", "--tree", "--row")


def run(arguments: argparse.Namespace) -> int:
    """Print the model's trees, or explain its prediction for a row; draw the first tree."""
    check_at_least_one(depth=arguments.depth, tree=arguments.tree)
    check_outputs(arguments)
    model = model_files.open_model(arguments.model)
    if model.forecaster:
        _show_numbers(model, arguments)
        return 0
    codes = None if arguments.row is None else row_codes(model, arguments.row)
    every = trees.trees_of(model)
    places = _chosen(every, arguments.tree)
    if codes is None:
        _print_trees(model, every, places, arguments.depth)
    else:
        _print_reasons(model, every, places, codes)
    left_out = len(every) - len(places)
    if left_out and arguments.tree is None:
        console.say(
            f"\n{count(left_out, 'shrub')} with less weight not shown; --tree N shows the N-th."
        )
    if arguments.plot is not None:
        _plot(model, every, places, arguments)
    return 0


def _show_numbers(model: OpenModel, arguments: argparse.Namespace) -> None:
    """Print the tree or state of a regressor, or its prediction for a row of all columns."""
    every = trees.trees_of(model)
    for name in ("plot", "tree") if every else ("plot", "tree", "depth"):
        if getattr(arguments, name) is not None:
            raise UserError(f"--{name} is for trees of classes, and this model predicts numbers")
    file, forecaster = model.file, model.forecaster
    name = printable(file.feature_names[forecaster.column])
    ahead = f", {count(forecaster.horizon, 'row')} ahead" if forecaster.horizon else ""
    if arguments.row is None:
        console.say(_title(model))
        console.say(f"It predicts {name}{ahead}. Its state:")
        _print_state(model)
        if forecaster.naive:
            console.say(f"  season: {forecaster.naive.period:,}")
        _print_each(every, [*range(len(every))], arguments.depth)
        return
    predicted, half = forecast(forecaster, row_raw(model, arguments.row))
    low, middle, high = (
        in_units(raw, file.scale, forecaster.column)
        for raw in (predicted - half, predicted, predicted + half)
    )
    console.say(f"{name}{ahead}: {middle}" + (f", between {low} and {high}" * (half >= 0)))
    for tree in every:
        console.say(trees.path(tree.root, coded(forecaster)))


def row_codes(model: OpenModel, text: str) -> array[int]:
    """Return the codes of a row in the features' units. Raises UserError for an invalid row."""
    codes = array("H", bytes(2 * len(model.file.feature_names)))
    model.quantizer.code(array("i", row_raw(model, text)), codes)
    return codes


def row_raw(model: OpenModel, text: str) -> list[int]:
    """Return a row of values in the features' units as raw integers.

    Raises UserError for an invalid row.
    """
    names = model.file.feature_names
    cells = next(csv.reader([text], skipinitialspace=True), [])
    if len(cells) != len(names):
        raise UserError(
            f"--row has to have {count(len(names), 'value')} ({','.join(names)}), not {len(cells)}"
        )
    values = [number_of(cell.strip()) for cell in cells]
    for name, cell, value in zip(names, cells, values, strict=True):
        if value is None or math.isinf(value):
            raise UserError(f"--row: {name} has to be a number, or empty if missing, not {cell!r}")
    raw: list[int] = model.file.scale.apply(np.array([values], dtype=np.float64))[0].tolist()
    return raw


def _chosen(every: list[Tree], number: int | None) -> list[int]:
    """Return the trees to show, as indices in the list."""
    if number is None:
        return [i for i, tree in enumerate(every) if not i or tree.weight >= _LIGHT]
    if number > len(every):
        raise UserError(f"--tree {number}: the model has {count(len(every), 'tree')}")
    return [number - 1]


def _print_trees(
    model: OpenModel, every: list[Tree], places: list[int], levels: int | None
) -> None:
    console.say(_title(model))
    if trees.reader_of(model) is None:
        has_state = bool(model.learner.progress())
        console.say("It cannot be shown as trees" + (". Its state:" if has_state else "."))
        _print_state(model)
    _print_each(every, places, levels)


def _print_state(model: OpenModel) -> None:
    for what, value in progress_rows(model.learner.progress()):
        console.say(f"  {what.strip()}: {value}")


def _print_each(every: list[Tree], places: list[int], levels: int | None) -> None:
    encoding = getattr(console.file, "encoding", None) or "utf-8"
    marks = () if encoding.lower().startswith("utf") else _ASCII
    for place in places:
        root = every[place].root
        console.say(("\n" if len(every) > 1 else "") + _subtitle(every, place))
        for line in trees.lines(root if levels is None else trees.cut(root, levels), *marks):
            console.say(line)


def _print_reasons(
    model: OpenModel, every: list[Tree], places: list[int], codes: array[int]
) -> None:
    file = model.file
    features = [printable(name) for name in file.feature_names]
    classes = [printable(name) for name in file.class_names]
    if hasattr(model.learner, "explain"):
        units = file.scale.units()
        console.say(model.learner.explain(codes, model.quantizer, features, classes, units))
        return
    label = model.learner.predict(codes)
    part = model.learner.votes[label] / (65536 * 255)
    known = any(model.learner.votes)
    console.say(f"{classes[label]} ({part:.2f} of the votes)" if known else classes[label])
    for place in places:
        console.say(f"{every[place].weight:.2f} * {trees.path(every[place].root, codes)}")


def _plot(
    model: OpenModel, every: list[Tree], places: list[int], arguments: argparse.Namespace
) -> None:
    if not places:
        raise UserError("the model has no tree to draw" + " yet" * bool(trees.reader_of(model)))
    tree = every[places[0]]
    if arguments.depth is not None:
        tree = Tree(tree.weight, trees.cut(tree.root, arguments.depth))
    title = f"{_title(model)}; {_subtitle(every, places[0])}"
    suffix = arguments.plot.suffix[1:].lower()
    write(arguments, "plot", tree_plot.plotted(tree, title, len(model.file.class_names), suffix))


def _title(model: OpenModel) -> str:
    file = model.file
    return (
        f"{file.learner} of {printable(file.stream)}: "
        f"{count(file.samples, 'sample')}, {file.score}"
        + (f"; samples {file.extraction.words}" if file.extraction else "")
    )


def _subtitle(every: list[Tree], place: int) -> str:
    tree = every[place]
    leaves = sum(1 for _ in trees.leaves(tree.root))
    size = f"{leaves:,} {'leaf' if leaves == 1 else 'leaves'}, depth {trees.depth(tree.root)}"
    if len(every) == 1 and tree.weight == 1:
        return size
    return f"shrub {place + 1} of {len(every)}: weight {tree.weight:.2f}, {size}"
