"""A budget as a table: how a program's RAM is used."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from ..base.terminal import console
from ..base.text import count
from ..boards.board_files import Board
from ..boards.ram_budget import Budget, Part
from ..boards.sample_time import SampleTime
from .result_tables import in_rom, mixed

_FIRST = ("model", "quantizer", "metrics", "target", "rows")  # first sections; code comes last
_OPENED = 20  # a section with 1/_OPENED of all bytes or more is shown in detail
_NAMED = 100  # in such a section, lines with 1/_NAMED of all bytes or more have a name


def print_budget(
    budget: Budget, board: Board, time: SampleTime | None = None, every: bool = False
) -> None:
    """Print the parts with their bytes, their sums, and the board's RAM.

    The buffers of one object are one line, and small parts share a line, unless `every` is set.
    """
    console.say(f"RAM on {board.name}")
    table = Table("part", "bytes", "note")
    table.columns[1].justify = "right"
    parts = [*budget.buffers, *budget.overhead, *budget.code]
    for owner in dict.fromkeys([*_FIRST, *(part.owner for part in parts)]):
        if owned := [part for part in parts if part.owner == owner and part.bytes]:
            _section(table, owner, owned, budget, every)
    table.add_section()
    _row(table, "all", budget.ram_bytes, "", style="bold")
    _row(table, "free on the board", budget.free_bytes, _of_heap(budget, board))
    if budget.executable_bytes is not None:
        code = budget.machine_code_bytes
        _row(table, "machine code", code, "in executable RAM", style="bold")
        _row(table, "executable RAM", budget.executable_bytes, board.executable_source)
    _row(
        table, "for a model there", board.model_budget_bytes, "a recommendation of the board file"
    )
    console.print(table)
    console.say(
        f"model {budget.model_bytes:,} bytes, RAM {budget.ram_bytes:,} of {budget.free_bytes:,}"
    )
    if budget.less_in_rom:
        console.say(in_rom(budget))
    if budget.kernels.plain:
        console.say(mixed(budget))
    for name, value in time.rows() if time else []:
        console.say(f"{name.strip()}: {value}")
    if budget.model_bytes > board.model_budget_bytes:
        console.say(
            f"The model takes more than the {board.model_budget_bytes:,} bytes that "
            f"{board.name}'s file recommends, which leaves room for a program."
        )


def _of_heap(budget: Budget, board: Board) -> str:
    """Return the source of the free heap, and of the part that is free while no radio is on."""
    grown = board.grown_bytes(budget.machine_code_bytes)
    if not (board.growth and grown):
        return board.heap_source
    return f"{board.heap_source}; {grown:,} of it while no radio is on: {board.growth.source}"


def _section(table: Table, owner: str, parts: list[Part], budget: Budget, every: bool) -> None:
    buffers = f"{budget.model_bytes:,} of them in its buffers" if owner == "model" else ""
    whole = sum(part.bytes for part in parts)
    _row(table, owner, whole, buffers, style="bold")
    if every:
        for part in parts:
            _row(table, f"  {_name(part)}", part.bytes, part.note)
        table.add_section()
    elif whole * _OPENED >= budget.ram_bytes:
        _opened(table, parts, budget.ram_bytes // _NAMED)
        table.add_section()


def _opened(table: Table, parts: list[Part], least: int) -> None:
    """Add the lines of a section; several buffers of one object are one line."""
    things: dict[str, list[Part]] = {}
    for part in parts:
        things.setdefault(_name(part).partition(".")[0], []).append(part)
    sizes = {name: sum(part.bytes for part in members) for name, members in things.items()}
    small = [name for name, size in sizes.items() if size < least]
    for name, members in things.items():
        if len(small) == 1 or name not in small:
            note = members[0].note if len(members) == 1 else count(len(members), "buffer")
            _row(table, f"  {name}", sizes[name], note)
    if len(small) > 1:
        rest = sum(sizes[name] for name in small)
        _row(table, "  the rest", rest, f"{count(len(small), 'part')}; --buffers lists each")


def _name(part: Part) -> str:
    return part.name.removeprefix(f"{part.owner}: ")


def _row(table: Table, name: str, size: int, note: str, style: str | None = None) -> None:
    table.add_row(Text(name), Text(f"{size:,}"), Text(note), style=style)
