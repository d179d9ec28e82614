"""Instructions of the decision to query a label, on emulated boards."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import showing
from microshrub_host.boards import counted_models, instruction_counts
from microshrub_host.library import loader

from .anomaly_cost import table_bytes

_HEAD = ("board", "classes", "bytes", "ask: mean", "most", "note: mean", "most")


def query_rows(boards: Sequence[str]) -> list[tuple[str, ...]]:
    """Return a table, head first: instructions of ask() and note() for several numbers of classes.

    Raises UserError if a board ends up in another state than the simulator's.
    """
    whats = counted_models.for_queries()
    table: list[tuple[str, ...]] = [_HEAD]
    with showing("counting instructions", announce=True) as update:
        for board in boards:
            with instruction_counts.Counter(board, whats) as counter:
                for i, what in enumerate(whats):
                    ask, note, crc = counter.count_queries(i)
                    strategy = _on_pc(what)
                    if crc != strategy.state_crc32() & 0xFFFFFFFF:
                        raise UserError(f"{board}: another state than in the simulator")
                    size, classes = table_bytes(strategy), what.codes.shape[1]
                    numbers = (classes, size, *_figures(ask), *_figures(note))
                    table.append((board, *(f"{number:,}" for number in numbers)))
                    update(len(table) - 1, len(whats) * len(boards), f"{board}: {what.name}")
    return table


def rehearsal_rows(boards: Sequence[str]) -> list[tuple[str, ...]]:
    """Return a table, head first: instructions of thickets' rehearsal of a sample between labels.

    Raises UserError if a board ends up in another state than the simulator's.
    """
    whats = counted_models.for_rehearsals()
    table: list[tuple[str, ...]] = [("board", "thicket", "rehearse: mean", "most")]
    for board in boards:
        with instruction_counts.Counter(board, whats) as counter:
            for i, what in enumerate(whats):
                counts, crc = counter.count_rehearsal(i)
                if crc != _rehearsed(what).state_crc32() & 0xFFFFFFFF:
                    raise UserError(f"{board}: another state than in the simulator")
                table.append((board, what.name, *(f"{number:,}" for number in _figures(counts))))
    return table


def _rehearsed(what: counted_models.CountedModel) -> Any:
    library = loader.load(loader.fastest())
    model = library.Thicket(**what.parameters)
    rehearsal = library.Rehearsal(model, library.QueryStrategy(2))
    for i, codes in enumerate(what.codes.tolist()):
        x = array("H", codes)
        if i < what.warmup:
            model.learn(x, int(what.labels[i]))
        else:
            rehearsal.rehearse(x, model.predict(x))
    return model


def _figures(counts: instruction_counts.Counts) -> tuple[int, int]:
    """Return the mean and the greatest of the counts."""
    return round(float(counts.mean())), int(counts.max())


def _on_pc(what: counted_models.CountedModel) -> Any:
    classes = what.codes.shape[1]
    strategy = loader.load(loader.fastest()).QueryStrategy(classes)
    for codes in what.codes:
        votes = array("i", [int(code) << 7 for code in codes])
        strategy.ask(votes)
        strategy.note(votes, votes[0] > votes[1])
    return strategy
