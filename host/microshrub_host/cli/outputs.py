"""The options --json, --html, --csv, --plot and --save of several commands."""

from __future__ import annotations

import argparse
import importlib
import io
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ..base import files
from ..base.errors import UserError
from ..base.exits import missing
from ..base.terminal import messages
from ..streams.named_files import is_read_with

if TYPE_CHECKING:
    from ..reports.page import Page

PLOT_ENDINGS = (".png", ".svg", ".pdf")
_DPI = 110
_FILES = {
    "json": "FILE|-",
    "html": "FILE",
    "csv": "FILE.csv",
    "plot": "FILE.png",
    "save": "FILE.mshrub",
    "output": "FILE",
}
_INPUTS = {"data": "DATA", "model": "--model", "board": "--board", "study": "--study"}
# The start of a file, by option; for --plot, by the name's ending
_STARTS = {
    "json": rb"\s*\{",
    "html": rb"<!DOCTYPE html",
    ".png": rb"\x89PNG",
    ".svg": rb"<\?xml|<svg",
    ".pdf": rb"%PDF",
    "csv": files.NONE,  # an existing file may be the user's only recording
    "save": files.MODEL_START,
}


def add_outputs(parser: argparse.ArgumentParser, **texts: str) -> None:
    """Add the named options, each with a text on the file's content."""
    for name, text in texts.items():
        value_type = str if name == "json" else Path
        parser.add_argument(
            f"--{name}", metavar=_FILES[name], type=value_type, help=f"{text} (default: off)"
        )
    parser.add_argument(
        "--force",
        action="store_true",
        help="also overwrite files that hold something else (default: refuse)",
    )


def check_outputs(arguments: argparse.Namespace) -> None:
    """Raise UserError for a file that cannot be written, before the work begins.

    Nor may a file be an input of the command, a data file in a folder that the command reads,
    another output, or, without --force, an existing file of another kind.
    """
    targets = {name: getattr(arguments, name, None) for name in _FILES}
    paths = {name: Path(target) for name, target in targets.items() if target not in (None, "-")}
    inputs = _inputs(arguments)
    files.check_apart({f"--{name}": path for name, path in paths.items()}, inputs)
    folders = [path for path in inputs.values() if path.is_dir()]
    force = getattr(arguments, "force", True)
    for name, path in paths.items():
        if name in ("plot", "html"):
            check_drawing(f"--{name}")
        if name == "plot" and path.suffix.lower() not in PLOT_ENDINGS:
            raise UserError(f"--plot {path}: the name has to end in {', '.join(PLOT_ENDINGS)}")
        files.check_target(f"--{name}", path)
        for folder in folders:
            if is_read_with(folder, path):
                raise UserError(
                    f"--{name} {path}: the next run would read this file as one of the recordings "
                    f"in {folder}. Name a file in another folder."
                )
        start = _STARTS.get(path.suffix.lower() if name == "plot" else name)
        if start and not force:
            files.check_kind(f"--{name}", path, start)


def check_drawing(what: str) -> None:
    """Raise UserError if matplotlib is missing."""
    try:
        importlib.import_module("matplotlib")
    except ImportError:
        raise UserError(f"{what}: {missing('matplotlib')}") from None


def _inputs(arguments: argparse.Namespace) -> dict[str, Path]:
    """Return the files that the command reads, by their names in its help."""
    result = {}
    for name, called in _INPUTS.items():
        given = getattr(arguments, name, None) or []
        for source in [given] if isinstance(given, (str, Path)) else given:
            if Path(source).exists():
                result[f"{called} {source}"] = Path(source)
    return result


def is_quiet(arguments: argparse.Namespace) -> bool:
    """Return whether standard output is for JSON alone."""
    return bool(arguments.json == "-")


def write_json(arguments: argparse.Namespace, record: Mapping[str, Any]) -> None:
    """Write one JSON object to the file of --json, or to standard output for `-`."""
    text = json.dumps(record, indent=2) + "\n"
    if is_quiet(arguments):
        sys.stdout.write(text)
    else:
        write(arguments, "json", text.encode())


def write_page(arguments: argparse.Namespace, page: Page) -> None:
    """Write the page of --html."""
    write(arguments, "html", page.html().encode())


def write_figure(arguments: argparse.Namespace, figure: Any) -> None:
    """Write a matplotlib figure to the file of --plot, in the format of the name's ending."""
    data = io.BytesIO()
    figure.savefig(data, format=arguments.plot.suffix[1:].lower(), dpi=_DPI)
    write(arguments, "plot", data.getvalue())


def write(arguments: argparse.Namespace, name: str, data: bytes | IO[bytes]) -> None:
    """Write the file that the option names, and print a line."""
    target = Path(getattr(arguments, name))
    try:
        files.replace(target, data)
    except UserError as error:
        raise UserError(f"--{name} {error}") from None
    messages.say(f"written to {target}")
