"""The subcommands that need a real MicroPython and nothing else: micropython, costs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..base import files
from ..base.terminal import messages
from ..emulation import emulated_boards
from ..engines import micropython_binary
from .commands import add_parser


def add_commands(commands: Any) -> None:
    """Add the subcommands to argparse's subparsers; each sets `run` to what it does."""
    _add_micropython(commands)
    _add_costs(commands)


def _add_micropython(commands: Any) -> None:
    parser = add_parser(
        commands, "micropython", "Find, or fetch, a real 32-bit MicroPython.", _micropython
    )
    parser.set_defaults(temporary_cache=False)  # to fetch into which would help nobody
    parser.add_argument(
        "--find-only", action="store_true", help="fetch nothing (default: fetch if need be)"
    )
    parser.add_argument(
        "--board",
        choices=list(emulated_boards.BOARDS),
        help="one for this board, emulated by QEMU (default: one for this PC)",
    )


def _micropython(arguments: argparse.Namespace) -> int:
    if arguments.board and arguments.find_only:
        print(emulated_boards.describe(emulated_boards.find(arguments.board)))
        return 0
    if arguments.board:
        emulator = emulated_boards.find_or_build(arguments.board, messages.say)
        print(emulated_boards.describe(emulator))
        return 0
    if arguments.find_only:
        found = micropython_binary.find()
    else:
        found = micropython_binary.find_or_fetch(messages.say)
    print(micropython_binary.describe(found))
    return 0


def _add_costs(commands: Any) -> None:
    text = "Count instructions of predict and learn on emulated boards, for five models."
    parser = add_parser(commands, "costs", text, _costs)
    parser.add_argument(
        "--board",
        choices=list(emulated_boards.BOARDS),
        help="only this one (default: a Cortex-M0 and a Cortex-M3)",
    )
    parser.add_argument(
        "--kernels",
        action="store_true",
        help="also count in the shrubs' kernels (default: do not)",
    )
    parser.add_argument(
        "--markdown",
        metavar="FILE.md",
        type=Path,
        help="also write the page docs/reference/results/cost.md",
    )


def _costs(arguments: argparse.Namespace) -> int:
    from ..benchmarks import instruction_report

    if arguments.markdown is not None:
        files.check_target("--markdown", arguments.markdown)
    names = [arguments.board] if arguments.board else list(emulated_boards.BOARDS)
    for name in names:
        emulated_boards.find_or_build(name, messages.say)
    table = instruction_report.rows(instruction_report.measure(names))
    print(instruction_report.as_text(table), flush=True)
    kernels = instruction_report.kernels(names[0]) if arguments.kernels else []
    if kernels:
        print("\n" + instruction_report.as_text(kernels))
    if arguments.markdown is not None:
        words = ["microshrub costs"]
        words += [f"--board {arguments.board}"] if arguments.board else []
        words += ["--kernels"] if arguments.kernels else []
        command = " ".join([*words, f"--markdown {arguments.markdown}"])
        page = instruction_report.as_markdown(table, command, kernels, names[0])
        files.replace(arguments.markdown, page.encode())
        messages.say(f"written to {arguments.markdown}")
    return 0
