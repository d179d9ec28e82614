"""`microshrub share import`: a saved model, or a board, learns from parcels of others."""

from __future__ import annotations

import argparse

from rich.table import Table

from microshrub_host.base.terminal import console
from microshrub_host.models import model_files, shared_samples
from microshrub_host.models.shared_samples import ParcelTold

from ..board.board_sharing import board_model
from .share_files import add_board, add_output, add_taught, taught_files, write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Have a thicket judge parcels, and learn what it lacks of them. What contradicts the "
        "samples that it holds is refused, and so are parcels of other features. The program of a "
        "board is stopped for it, and goes on with what was learned."
    )
    add_taught(parser, "one PARCEL of `share export`, or more")
    add_board(parser, "teach")
    add_output(parser, "the model to write; an existing model is replaced (required with MODEL)")


def run(arguments: argparse.Namespace) -> int:
    """Learn, say what became of each class, and write the model."""
    path, paths = taught_files(arguments)
    parcels = [shared_samples.read_parcel(each) for each in paths]
    if path is None:
        with board_model(arguments.port, arguments.key) as board:
            board.check_keeps()
            names, units = board.feature_names, board.units
            for parcel in parcels:
                _tell(shared_samples.lesson("the board", board.sharing, parcel, names, units))
            board.put_back()
        console.say("The board goes on with what it knows now.")
        return 0
    model, lessons = shared_samples.taught(path, parcels)
    for lesson in lessons:
        _tell(lesson)
    write(arguments, model_files.packed(model))
    return 0


def _tell(lesson: ParcelTold) -> None:
    table = Table("class", "samples", "learned", "", title=f"from {lesson.origin}")
    for taken in lesson.classes:
        what = "" if taken.what == "learned" else taken.what
        table.add_row(taken.name, str(taken.samples), str(taken.learned), what)
    console.print(table)
    worst = max(lesson.changes, key=lambda name: lesson.changes[name])
    told = ", ".join(f"{name} {change:.3g}" for name, change in lesson.changes.items())
    if len(lesson.changes) > 6:
        told = f"{worst} {lesson.changes[worst]:.3g}, the most of all features"
    console.say(f"values are moved by at most: {told}")
