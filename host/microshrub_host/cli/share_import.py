"""`microshrub share import`: a saved model learns from parcels of others."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.table import Table

from ..base.terminal import console
from ..models import model_files, shared_samples
from ..models.shared_samples import ParcelTold
from .share_files import MODEL_START, add_model, add_output, check_output, write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Have a thicket judge parcels, and learn what it lacks of them. What contradicts the "
        "samples that it holds is refused, and so are parcels of other features."
    )
    add_model(parser)
    parser.add_argument(
        "parcels", metavar="PARCEL", type=Path, nargs="+", help="files of `share export`"
    )
    add_output(parser, "the model to write")


def run(arguments: argparse.Namespace) -> int:
    """Learn, say what became of each class, and write the model."""
    inputs = {f"PARCEL {path}": path for path in arguments.parcels}
    check_output(arguments, MODEL_START, {"MODEL": arguments.model, **inputs})
    parcels = [shared_samples.read_parcel(path) for path in arguments.parcels]
    model, lessons = shared_samples.taught(arguments.model, parcels)
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
