"""`microshrub export`: a saved model in C, or frozen for programs that only predict."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from ..base import files
from ..base.errors import UserError
from ..base.terminal import messages
from ..base.text import did_you_mean
from ..models import c, c_frozen, c_regression, emlearn, graphviz, model_files, onnx_trees
from ..models.frozen import Frozen

# Each returns the file, and a few sentences on the parts of the model that it leaves out.
_FROZEN: dict[str, Callable[[Frozen], tuple[bytes, str]]] = {
    "c-frozen": c_frozen.exported,
    "emlearn": emlearn.exported,
    "onnx": onnx_trees.exported,
}
FORMATS = ("c", *_FROZEN, "graphviz")
_STARTS = {
    "c": rb"/\*",
    "c-frozen": rb"/\*",
    "emlearn": rb"f,\d",
    "onnx": rb"\x08",
    "graphviz": rb"digraph ",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Write a saved model in another format. c is a header for C99 and C++ that predicts and "
        "learns, bit for bit as the model does. The others are for programs that only predict: "
        "c-frozen is a C99 header with the same predictions and votes, emlearn the CSV that "
        "emlearn_trees for MicroPython loads, onnx a TreeEnsembleClassifier, graphviz the trees "
        "as a graph. Regressors can be written as c, and Hoeffding trees that predict numbers "
        "also as graphviz."
    )
    parser.add_argument(
        "model", metavar="MODEL", type=Path, help="a file that `simulate --save` wrote"
    )
    parser.add_argument("--format", metavar="|".join(FORMATS), required=True, help="what to write")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        required=True,
        help="the file to write; an existing file of the same format is replaced",
    )
    parser.add_argument(
        "--force", action="store_true", help="also replace any other file (default: refuse)"
    )
    parser.set_defaults(temporary_cache=False)


def run(arguments: argparse.Namespace) -> int:
    """Write the model in the given format."""
    path: Path = arguments.output
    if arguments.format not in FORMATS:
        raise UserError(
            f"the format {arguments.format!r} is unknown. "
            + did_you_mean(arguments.format, FORMATS)
        )
    files.check_apart({"--output": path}, {"MODEL": arguments.model})
    files.check_target("--output", path)
    if not arguments.force:
        files.check_kind("--output", path, _STARTS[arguments.format])
    model = model_files.open_model(arguments.model)
    try:
        data, lost = _exported(model, arguments.format)
    except UserError as error:
        raise UserError(f"{arguments.model}: {error}") from None
    files.replace(path, data)
    messages.say(f"written to {path}: {len(data):,} bytes. {lost}".rstrip())
    return 0


def _exported(model: model_files.OpenModel, file_format: str) -> tuple[bytes, str]:
    if file_format == "graphviz":
        return graphviz.exported(model)
    if file_format == "c":
        return c_regression.exported(model) if model.forecaster else c.exported(model)
    if model.forecaster:
        raise UserError(
            f"{model.file.learner} predicts numbers, and {file_format} is for classes; "
            "write --format c"
        )
    return _FROZEN[file_format](Frozen(model))
