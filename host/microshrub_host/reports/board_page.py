"""Makes the page docs/reference/boards.md from the files in boards/, board by board."""

from __future__ import annotations

from ..boards import board_files
from ..boards.board_files import Board
from ..boards.deployment import Deployment
from ..boards.energy import Battery, Energy, amount, estimate
from ..boards.sample_time import sample_time
from ..boards.usual_budget import usual_budget
from ..library.learners import learner_name, specification
from .markdown import markdown_table

HEAD = (
    "`--board`", "board", "clock", "RAM", "free heap", "in one piece", "the figure is",
    "microshrub ran", "file system", "machine code", "Wi-Fi",
)  # fmt: skip

INTRODUCTION = """\
# Boards

The boards that `--board` knows, one file each in `boards/`, with the stock firmware from
micropython.org and its radio off. Sizes are bytes. *Free heap* is the heap that a program finds
after boot.
*Wi-Fi* is yes if `--wifi`, `--mqtt` and `--tcp` of `build` work; no board was measured
with its radio on.
A figure of the heap is *reported* if somebody read it on a physical board, *emulated* if the stock
firmware gave it in an emulator, and *derived* if it follows from other published figures, linker
scripts and sources; which, is listed below the table. *Machine code* says where a board puts the
kernels compiled by viper or C: on the free heap, or in so many bytes of separate RAM.

*microshrub ran* says on what: *reported* names the firmware and the date of a report of a physical
board, and *emulated* how much of microshrub ran on an emulated processor with the same
instructions: whole programs on a Cortex-M0 and M3, learners on a Cortex-M4, M7 and RV32, and the
native kernels of an ESP32, S2 and S3 in an Xtensa core.
{reported}
Everything else that these pages say of a board is derived. `microshrub report` [measures your
board](../how-to/report-a-board.md) and prints a report to send.

On an ESP32, the heap has two areas, beside which the radio has room to start. When they are full
and no radio is on, it grows by a third: its size is listed below the table, and `build` counts it
for every program without `--wifi`, `--mqtt`, `--tcp` and `--share`. A program of your own that
switches a radio on has the free heap of the table.

A board below which it says *ROM file system* has a partition for one, where `flash`
[puts the library](../explanation/ram.md#the-library-in-a-rom-file-system).

For a board that is not listed, copy the file of the most similar board, and give `--board` the
path of the copy. With `[cost]` and `like = "rpi_pico"`, the copy uses another board's table of
instructions.

`{command}` writes this page.
"""

NO_REPORT = "No board has a report yet: nobody has reported microshrub on a physical one."
# How much of microshrub the tests run on emulated processors, by a board's machine code
_EMULATED = {
    "armv6m": "whole programs",
    "armv7m": "whole programs",
    "armv7emsp": "learners",
    "rv32imc": "learners",
    "xtensawin": "kernels",
}

BATTERY_HEAD = (
    "board", "learner", "uJ to predict", "to learn", "with the program", "mW awake",
    "mW asleep between", "days awake", "days asleep between",
)  # fmt: skip
# Learners of 14 features and 2 classes, as in elec
LEARNERS = (
    ("shrub window=16 trees=4 depth=4 step=8", "4 shrubs"),
    ("thicket bytes=16384", "thicket, 16 KB"),
    ("thicket bytes=65536", "thicket, 64 KB"),
)
_SHAPE = {"features": 14, "classes": 2}


def battery_rows(boards: list[Board], battery: Battery, rate: float) -> list[tuple[str, ...]]:
    """Return a row as in BATTERY_HEAD for each of LEARNERS on each board with known figures.

    A board needs a known time of a sample and known currents.
    """
    result = []
    for board in boards:
        for text, name in LEARNERS:
            model, parameters = specification(text)
            time = sample_time(board, model, parameters | _SHAPE)
            if time and board.currents:
                budget = usual_budget(
                    Deployment(parameters | _SHAPE, board, learner_name(model)), slowest=1
                )
                time = time.with_kernels(budget.kernels)
                us = (time.predict[0], time.learn[0], time.asleep_us())
                energy = estimate(board.currents, *us, rate, battery)
                result.append((board.name, name, *_battery_cells(energy, battery)))
    return result


def _battery_cells(energy: Energy, battery: Battery) -> list[str]:
    values = [energy.predict, energy.learn, energy.sample, energy.awake, energy.asleep]
    days = [power and battery.days(power) for power in (energy.awake, energy.asleep)]
    return ["-" if value is None else amount(value) for value in (*values, *days)]


def rows(boards: list[Board]) -> list[tuple[str, ...]]:
    """Return a row for each board, as in HEAD."""
    return [_row(board) for board in boards]


def page(command: str) -> str:
    """Return the whole page, with the boards that come with microshrub."""
    boards = [board_files.load(name) for name in board_files.names()]
    sources = [line for board in boards for line in _sources(board)]
    table = markdown_table(HEAD, rows(boards))
    reports = [f"{board.name} ({_last(board)})" for board in boards if board.reports]
    reported = f"Reported: {', '.join(reports)}." if reports else NO_REPORT
    text = (
        INTRODUCTION.format(command=command, reported=reported),
        table,
        "\n## Where the figures are from\n",
    )
    return "\n".join((*text, *sources)) + "\n"


def how(source: str) -> str:
    """Return "reported" or "emulated" if a source begins with that word, else "derived"."""
    return next((word for word in ("reported", "emulated") if source.startswith(word)), "derived")


def _last(board: Board) -> str:
    """Return the firmware and the date of the newest report."""
    report = board.reports[-1]
    return f"{report.firmware}, {report.date.isoformat()}"


def ran(board: Board) -> str:
    """Return text on whether microshrub ran on this board, or on its emulated processor."""
    if board.reports:
        return f"reported: {_last(board)}"
    what = _EMULATED.get(board.arch)
    return f"emulated: {what}" if what else "derived"


def _row(board: Board) -> tuple[str, ...]:
    piece = board.largest_block_bytes
    return (
        f"`{board.key}`",
        board.name,
        f"{board.clock_hz / 1_000_000:.0f} MHz",
        f"{board.sram_bytes:,}",
        f"{board.heap_free_bytes:,}",
        "all" if piece == board.heap_free_bytes else f"{piece:,}",
        how(board.heap_source),
        ran(board),
        f"{board.flash_bytes:,}" if board.flash_bytes else "-",
        f"{board.arch}, {_machine_code(board)}",
        "yes" if board.wifi else "no",
    )


def _machine_code(board: Board) -> str:
    if board.native:
        return "on the heap"
    return f"{board.executable_bytes:,} of its own" if board.executable_bytes else "elsewhere"


def _sources(board: Board) -> list[str]:
    result = [f"- `{board.key}`: free heap {board.heap_source}."]
    result += [
        f"  Reported with {report.firmware} on {report.date.isoformat()}: "
        f"{report.heap_free_bytes:,} bytes free, {report.source}."
        for report in board.reports
    ]
    if board.growth:
        result.append(
            f"  While no radio is on, up to {board.grown_bytes(0):,} bytes more"
            f"{'' if board.native else ', less the machine code'}: {board.growth.source}."
        )
    if board.executable_source:
        result.append(f"  Machine code: {board.executable_source}.")
    if board.romfs_source:
        result.append(f"  ROM file system: {board.romfs_source}.")
    if board.usb_device_source:
        result.append(f"  Keys of a USB keyboard: {board.usb_device_source}.")
    if board.wifi:
        less = (
            f"{board.wifi.heap_bytes:,} bytes less of it" if board.wifi.heap_bytes else "as much"
        )
        result.append(f"  With Wi-Fi on: {less}, {board.wifi.source}.")
    return result
