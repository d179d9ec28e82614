"""`microshrub costs`: instructions of predict and learn, counted on emulated boards."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from microshrub_host.base import files, native_tools
from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import messages
from microshrub_host.boards import emulated_boards
from microshrub_host.cli.plain_parser import show_first

from ..benchmarks import count_history, instruction_report
from ..benchmarks.anomaly_cost import anomaly_rows, novelty_rows
from ..benchmarks.feature_cost import feature_rows
from ..benchmarks.query_cost import query_rows, rehearsal_rows
from ..benchmarks.regression_cost import number_rows
from ..benchmarks.served_cost import BOARD, served_rows
from ..benchmarks.thicket_cost import thicket_rows
from ..benchmarks.xtensa_cost import xtensa_rows


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--board",
        choices=emulated_boards.COUNTED,
        help="only this emulated board (default: all)",
    )
    parser.add_argument(
        "--kernels",
        action="store_true",
        help="also count inside the shrubs' kernels (default: off)",
    )
    parser.add_argument(
        "--native",
        action="store_true",
        help="also count native kernels, and those in an Xtensa core (default: off)",
    )
    parser.add_argument(
        "--anomaly",
        action="store_true",
        help="count only the anomaly score (default: off)",
    )
    parser.add_argument(
        "--spare-classes",
        action="store_true",
        help="count only novelty detection (default: off)",
    )
    parser.add_argument(
        "--queries",
        action="store_true",
        help="count only what decides on queries for labels (default: off)",
    )
    parser.add_argument(
        "--rehearsal",
        action="store_true",
        help="count only what a thicket learns between labels (default: off)",
    )
    parser.add_argument(
        "--numbers",
        action="store_true",
        help="count only regressors, which learn and forecast a sample (default: off)",
    )
    parser.add_argument(
        "--features",
        action="store_true",
        help="count only features of a sensor's readings (default: off)",
    )
    parser.add_argument(
        "--thickets",
        action="store_true",
        help="count only thickets of some shapes, from which `budget` estimates all others "
        "(default: off)",
    )
    parser.add_argument(
        "--served",
        action="store_true",
        help="count only what a program takes around a sample, from which `budget` and `build` "
        "estimate it, on an emulated Cortex-M0 (default: off)",
    )
    parser.add_argument(
        "--xtensa",
        action="store_true",
        help="count only the kernels of ESP32, S2 and S3, native and viper's, in an emulated "
        "Xtensa core (default: off)",
    )
    parser.add_argument(
        "--history",
        metavar="FILE.csv",
        type=Path,
        help="compare some counts, bytes and accuracies with those in this file; exit with 1 if a "
        "figure is more than 1 %% worse and no line says why (default: no comparison)",
    )
    parser.add_argument(
        "--markdown",
        metavar="FILE.md",
        type=Path,
        help="also write the page docs/reference/results/cost.md",
    )
    show_first(parser, "--board", "--native", "--kernels", "--markdown")


def run(arguments: argparse.Namespace) -> int:
    """Count, print the tables and write the page."""
    alone: dict[str, Callable[[list[str]], list[tuple[str, ...]]]] = {
        "--anomaly": anomaly_rows,
        "--spare-classes": novelty_rows,
        "--queries": query_rows,
        "--rehearsal": rehearsal_rows,
        "--numbers": number_rows,
        "--features": feature_rows,
        "--thickets": thicket_rows,
        "--served": lambda _: served_rows(),
        "--xtensa": lambda _: xtensa_rows(),
    }
    wanted = [name for name in alone if vars(arguments)[name[2:].replace("-", "_")]]
    if arguments.history is not None:
        return _compare(arguments.history)
    if wanted and arguments.markdown is not None:
        raise UserError(f"--markdown is not for {wanted[0]}, whose table is only printed")
    if arguments.markdown is not None:
        files.check_target("--markdown", arguments.markdown)
    if arguments.xtensa and arguments.board:
        raise UserError("--board is not for --xtensa, which has a core of its own")
    names = [arguments.board] if arguments.board else list(emulated_boards.COUNTED)
    if arguments.served and arguments.board not in (None, BOARD):
        raise UserError(f"--served counts on the {BOARD} alone")
    if wanted == ["--xtensa"]:
        names = []  # the emulated Xtensa core runs no firmware
    elif wanted == ["--served"]:
        names = [BOARD]
    for name in names:
        emulated_boards.find_or_build(name, messages.say)
        if arguments.native:
            native_tools.find_or_fetch(emulated_boards.BOARDS[name].arch, messages.say)
    for name in wanted:
        print(instruction_report.as_text(alone[name](names)), flush=True)
    if wanted:
        return 0
    table = instruction_report.rows(instruction_report.measure(names))
    print(instruction_report.as_text(table), flush=True)
    native = _native(names) if arguments.native else []
    xtensa = xtensa_rows() if arguments.native and not arguments.board else []
    if xtensa:
        print(
            "\nkernels in an emulated Xtensa core\n" + instruction_report.as_text(xtensa),
            flush=True,
        )
    kernels = instruction_report.kernels(names[0]) if arguments.kernels else []
    if kernels:
        print("\n" + instruction_report.as_text(kernels))
    if arguments.markdown is not None:
        words = ["microshrub costs"]
        words += [f"--board {arguments.board}"] if arguments.board else []
        words += [f"--{n}" for n in ("kernels", "native") if vars(arguments)[n]]
        command = " ".join([*words, f"--markdown {arguments.markdown}"])
        page = instruction_report.as_markdown(table, command, kernels, names[0], native, xtensa)
        files.replace(arguments.markdown, page.encode())
        messages.say(f"written to {arguments.markdown}")
    return 0


def _compare(path: Path) -> int:
    """Print the figures of a file and the present ones; return 1 if there are complaints."""
    lines = count_history.read(path)
    emulated_boards.find_or_build(count_history.BOARD, messages.say)
    now = count_history.measure()
    print(count_history.table(lines, now))
    result = count_history.complaints(lines, now)
    for complaint in result:
        messages.say(complaint)
    return int(bool(result))


def _native(boards: list[str]) -> list[tuple[str, ...]]:
    """Count native modules and print the table."""
    table = instruction_report.rows(instruction_report.measure(boards, native=True))
    print(
        "\nwith the kernels in a native module\n" + instruction_report.as_text(table), flush=True
    )
    return table
