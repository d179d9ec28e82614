"""The page docs/reference/boards.md: what the files in boards/ say, board by board."""

from __future__ import annotations

from ..boards import board_files
from ..boards.board_files import Board
from ..boards.energy import Battery, Energy, amount, estimate
from ..boards.sample_time import sample_time
from ..boards.usual_budget import usual_budget
from ..library.learners import kind_of, specification
from ..render.markdown import markdown_table

HEAD = (
    "`--board`", "board", "clock", "RAM", "free heap", "in one piece", "the figure is",
    "file system", "machine code", "Wi-Fi",
)  # fmt: skip

INTRODUCTION = """\
# Boards

The boards that `--board` knows, one file each in `boards/`, with the stock firmware from
micropython.org and its radio off. Sizes are bytes. *Free heap* is the heap that a program finds
after boot.
*Wi-Fi* is yes if `--wifi`, `--mqtt` and `--tcp` of `build` work; no board was measured
with its radio on.
A figure is *measured* if it comes from a board, and *derived* if it follows from other published
figures, linker scripts and sources, which are listed below the table. *Machine code* says where a
board puts the kernels compiled by viper or C: on the free heap, or in so many bytes of separate
RAM.

For a board that is not listed, copy the file of the most similar board, and give `--board` the
path of the copy. With `[cost]` and `like = "rpi_pico"`, the copy uses another board's table of
instructions.

`{command}` writes this page.
"""

BATTERY_HEAD = (
    "board", "learner", "uJ to predict", "to learn", "with the program", "mW awake",
    "mW asleep between", "days awake", "days asleep between",
)  # fmt: skip
# Learners of 14 features and 2 classes, as of elec
LEARNERS = (
    ("shrub window=16 trees=4 depth=4 step=8", "4 shrubs"),
    ("thicket bytes=16384", "thicket, 16 KB"),
    ("thicket bytes=65536", "thicket, 64 KB"),
)
_SHAPE = {"features": 14, "classes": 2}


def battery_rows(boards: list[Board], battery: Battery, rate: float) -> list[tuple[str, ...]]:
    """A row as in BATTERY_HEAD for each of LEARNERS on each board of known time and currents."""
    found = []
    for board in boards:
        for text, name in LEARNERS:
            model, parameters = specification(text)
            time = sample_time(board, model, parameters | _SHAPE)
            if time and board.currents:
                budget = usual_budget(parameters | _SHAPE, board, kind_of(model), slowest=1)
                time = time.with_kernels(budget.kernels)
                us = (time.predict[0], time.learn[0], time.served(sensor=True)[0])
                energy = estimate(board.currents, *us, rate, battery)
                found.append((board.name, name, *_battery_cells(energy, battery)))
    return found


def _battery_cells(energy: Energy, battery: Battery) -> list[str]:
    values = [energy.predict, energy.learn, energy.sample, energy.awake, energy.asleep]
    days = [power and battery.days(power) for power in (energy.awake, energy.asleep)]
    return ["-" if value is None else amount(value) for value in (*values, *days)]


def rows(boards: list[Board]) -> list[tuple[str, ...]]:
    """A row for each board, as in HEAD."""
    return [_row(board) for board in boards]


def page(command: str) -> str:
    """The whole page, of the boards that come with microshrub."""
    boards = [board_files.load(name) for name in board_files.names()]
    sources = [line for board in boards for line in _sources(board)]
    table = markdown_table(HEAD, rows(boards))
    text = (INTRODUCTION.format(command=command), table, "\n## Where the figures are from\n")
    return "\n".join((*text, *sources)) + "\n"


def how(source: str) -> str:
    """Whether a figure was measured, from what stands before the colon of its source."""
    return "measured" if source.startswith("measured") else "derived"


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
        f"{board.flash_bytes:,}" if board.flash_bytes else "-",
        f"{board.arch}, {_machine_code(board)}",
        "yes" if board.wifi else "no",
    )


def _machine_code(board: Board) -> str:
    if board.native:
        return "on the heap"
    return f"{board.executable_bytes:,} of its own" if board.executable_bytes else "elsewhere"


def _sources(board: Board) -> list[str]:
    found = [f"- `{board.key}`: free heap {board.heap_source}."]
    if board.executable_source:
        found.append(f"  Machine code: {board.executable_source}.")
    if board.wifi:
        less = (
            f"{board.wifi.heap_bytes:,} bytes less of it" if board.wifi.heap_bytes else "as much"
        )
        found.append(f"  With Wi-Fi on: {less}, {board.wifi.source}.")
    return found
