"""`microshrub example`: a recording from a small model of the world, for users without one."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..base import files
from ..base.errors import UserError
from ..base.terminal import console
from ..base.text import count
from ..streams.worlds.table import world, worlds
from ..streams.worlds.world import World


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Write a recording to learn from, such as gestures.csv. It is not measured: a small model "
        "of the world makes it up from a seed. Without a NAME, the examples are listed."
    )
    parser.add_argument("name", metavar="NAME", nargs="?", help="the example (default: list them)")
    parser.add_argument(
        "-o", "--output", metavar="FILE.csv", type=Path, help="the file (default NAME.csv)"
    )
    parser.add_argument(
        "--seed",
        metavar="N",
        type=int,
        default=1,
        help="seed of the world that is recorded (default 1)",
    )
    parser.add_argument(
        "--force", action="store_true", help="replace an existing file (default: refuse)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the recording, or list the examples."""
    if arguments.name is None:
        for known in worlds().values():
            console.say(f"{known.name:<10}{known.about}")
        return 0
    result = world(arguments.name)
    path = arguments.output or Path(f"{result.name}.csv")
    if arguments.seed < 0:
        raise UserError(f"--seed has to be 0 or more, not {arguments.seed}")
    write(result, path, arguments.seed, force=arguments.force)
    return 0


def write(scenario: World, path: Path, seed: int = 1, *, force: bool = False) -> None:
    """Write the recording and print a line. Raises UserError if another file has that name."""
    files.check_target("--output", path)
    data = scenario.csv(seed).encode()
    if path.exists() and path.read_bytes() != data and not force:
        raise UserError(f"--output {path}: it is there already; name another file, or use --force")
    files.replace(path, data)
    rows = data.count(b"\n") - 1
    console.say(f"{path}: {count(rows, 'reading')} made up by a model of the world, seed {seed}")
