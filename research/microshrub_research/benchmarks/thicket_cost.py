"""Instructions of thickets of several shapes; `budget` interpolates between them."""

from __future__ import annotations

from collections.abc import Sequence

from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import showing
from microshrub_host.boards.counted_models import clustered
from microshrub_host.boards.instruction_counts import Counter, learned_on_pc

from .instruction_report import figures

SIZES = (16_384, 49_152)
SHAPES = ((3, 2), (10, 5), (36, 10))  # features and classes
_HEAD = ("board", "features", "classes", "bytes", "predict: p50", "p99", "learn: p50", "p99")


def thicket_rows(boards: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the table, its head first; counted_times.py has its figures.

    Raises UserError if a board ends up in another state than the simulator's.
    """
    table: list[tuple[str, ...]] = [_HEAD]
    with showing("counting instructions", announce=True) as update:
        wanted = [(b, f, c, size) for b in boards for f, c in _shapes(b) for size in SIZES]
        for board, *shape in wanted:
            what = clustered(*shape)
            with Counter(board, [what], native=True) as counter:
                cost = counter.count(0, what.learner, what.parameters)
            if cost.crc != learned_on_pc(what):
                raise UserError(f"{board}: another state than in the simulator")
            numbers = [figures(counts)[1:3] for counts in (cost.predict, cost.learn)]
            table.append((board, *(f"{n:,}" for n in shape), *numbers[0], *numbers[1]))
            update(len(table) - 1, len(wanted), board)
    return table


def _shapes(board: str) -> tuple[tuple[int, int], ...]:
    """Return features and classes; a Cortex-M0 has no room for the largest shape."""
    return SHAPES[:-1] if board == "cortex-m0" else SHAPES
