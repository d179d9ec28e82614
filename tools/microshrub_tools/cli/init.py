"""`microshrub init`: a project's microshrub.toml, from options, questions or an example."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from microshrub_host.base import files
from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import console
from microshrub_host.boards import board_files
from microshrub_host.cli import project_file
from microshrub_host.cli.plain_parser import show_first
from microshrub_host.cli.project_file import NAME
from microshrub_host.streams.worlds.projects import project_text, projects

from ..board.program_sensors import sensors
from ..board.program_words import label_pin

_MOTION = "mpu6050 scl=1 sda=0 rate=100 axes=3"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        f"Write {NAME}, which says once what the commands of a project share: record, simulate, "
        "tune, build, flash, monitor, stream and device read it in the folder in which they are "
        "started. What no option says is asked, in a terminal."
    )
    parser.add_argument(
        "--example",
        metavar="NAME",
        help=f"the project of an example, with its recording: {', '.join(projects())} (default: "
        "none)",
    )
    parser.add_argument("--board", metavar="NAME", help="as in `build` (required)")
    parser.add_argument(
        "--sensor",
        action="append",
        nargs="+",
        metavar="KIND",
        help=f"what the board reads, as in `build`: {_MOTION} (required)",
    )
    parser.add_argument("--data", metavar="FILE.csv", help="the recording (default recording.csv)")
    parser.add_argument(
        "--features",
        nargs="*",
        metavar="NAME=VALUE",
        help="features of windows of readings, as in `simulate`: window=64 hop=16, or no words "
        "for what suits the sensor (default: a reading is a sample)",
    )
    parser.add_argument(
        "--label-pin",
        nargs="+",
        metavar="PIN",
        help="a button: 15 pressed=walk released= (default: none)",
    )
    parser.add_argument(
        "--label-keys",
        nargs="+",
        metavar="KEY=NAME",
        help="the keys that label while you record, such as 0=rest 1=walk (default: the board's "
        "labels)",
    )
    parser.add_argument(
        "--target",
        metavar="COLUMN",
        help="predict the numbers of this column, not a class (default: off)",
    )
    parser.add_argument("--force", action="store_true", help=f"replace {NAME} (default: refuse)")
    show_first(
        parser, "--example", "--board", "--sensor", "--data", "--features", "--label-pin",
        "--label-keys",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Write the file, and print the next step."""
    path = Path(NAME)
    if path.exists() and not arguments.force:
        raise UserError(f"{NAME} is there already: edit it, or use --force")
    files.check_target(NAME, path)
    if arguments.example is not None:
        _write_example(arguments, path)
        return 0
    settings = _settings(arguments)
    data = settings["data"]
    files.replace(path, project_file.written(settings).encode())
    console.say(f"{NAME} is written.")
    if not Path(data).exists():
        console.say(f"Next: `microshrub record` writes {data}, from the board's sensor.")
    console.say("`microshrub run` simulates, builds, flashes and monitors.")
    return 0


def _write_example(arguments: argparse.Namespace, path: Path) -> None:
    others = ("board", "sensor", "data", "features", "label_pin", "label_keys", "target")
    for name in others:
        if getattr(arguments, name) is not None:
            option = name.replace("_", "-")
            raise UserError(f"--{option}: --example {arguments.example} has its own; edit {NAME}")
    text = project_text(arguments.example)
    from microshrub_host.cli import example  # another command's module
    from microshrub_host.streams.worlds import table

    files.replace(path, text.encode())
    recording = Path(project_file.read()["data"])
    example.write(table.world(recording.stem), recording, force=arguments.force)
    console.say(
        f"{NAME} is written. `microshrub device`, in another terminal, is a board; `microshrub "
        "run` does everything else."
    )


def _settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the keys of the file. Raises UserError for an invalid or missing value."""
    asks = sys.stdin.isatty()
    board_name = arguments.board or _asked(asks, "--board", "Which board?", "rpi_pico", _board)
    board = board_files.load(board_name)

    def check(text: str) -> str:
        sensors([text.split()], board)
        return text

    descriptions = [_text(words) for words in arguments.sensor or ()] or [
        _asked(asks, "--sensor", "Which sensor, at which pins?", _MOTION, check)
    ]
    sensor = sensors([each.split() for each in descriptions], board)
    data, button = arguments.data, _text(arguments.label_pin or ("",)) or None
    features = None if arguments.features is None else _text(arguments.features)
    if asks and features is None and (sensor.rate or 0) >= 10:
        answer = input(f"Learn windows of its {sensor.rate:g} readings a second? [yes] ")
        features = "" if answer.strip().lower() in ("", "y", "yes") else None
    if asks and data is None:
        data = input("The recording's file? [recording.csv] ").strip()
    if asks and button is None and arguments.target is None:
        button = _until_right("A button that labels, such as 15 pressed=walk released=? [none]",
            "", _button)  # fmt: skip
    if button:
        _button(button)
    data = data or "recording.csv"
    if Path(data).suffix != ".csv":
        raise UserError(f"--data {data}: the recording's name has to end in .csv")
    if features is not None and "rate=" not in features and sensor.rate:
        features = f"{features} rate={sensor.rate:g}".strip()
    return {
        "board": board_name,
        "data": data,
        "model": str(Path(data).with_suffix(".mshrub")),
        "sensor": descriptions[0] if len(descriptions) == 1 else descriptions,
        "features": features,
        "label-pin": button or None,
        "label-keys": arguments.label_keys,
        "target": arguments.target,
    }


def _text(words: Sequence[str]) -> str:
    """Return an option's words as one text, which a user may also have given in quotes."""
    return words[0] if len(words) == 1 else shlex.join(words)


def _board(text: str) -> str:
    board_files.load(text)
    return text


def _button(text: str) -> str:
    label_pin(shlex.split(text))
    return text


def _asked(asks: bool, option: str, question: str, usual: str, check: Callable[[str], str]) -> str:
    """Return the answer to a question; without a terminal, raise UserError, naming the option."""
    if not asks:
        raise UserError(f"{option} is missing, and there is no terminal to ask in")
    return _until_right(f"{question} [{usual}]", usual, check)


def _until_right(question: str, usual: str, check: Callable[[str], str]) -> str:
    while True:
        try:
            return check(input(f"{question} ").strip() or usual)
        except UserError as error:
            console.say(str(error))
