"""The best known models within 16 and 64 KB, as a page of tables.

The page is a Markdown file: accuracies and bytes, and the options of each model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from microshrub_host.library.learners import options_text
from microshrub_host.reports.markdown import markdown_table

from ..compare.catalogue import PEERS
from ..compare.comparison_runner import Cell
from ..compare.contender import Contender
from .best_known import RIVALS, Pick
from .known_streams import CHOSEN

_NONE = "-"

Cells = Mapping[tuple[str, str], Cell]  # by stream and name of the learner


def contenders(picks: Sequence[Pick], rivals: bool) -> list[Contender]:
    """Return all contenders for these picks, each once."""
    result = [pick.contender() for pick in picks]
    if rivals:
        result += [PEERS[name] for pick in picks for name in RIVALS[pick.budget]]
    return list({contender.name: contender for contender in result}.values())


def accuracy_row(pick: Pick, cells: Cells, rivals: bool) -> tuple[str, ...]:
    """Return stream, budget, model, its bytes and accuracy; the rivals',
    and the lead over them.
    """
    ours = cells[pick.stream, pick.contender().name]
    row = [pick.stream, f"{pick.budget >> 10} KB", pick.model, _whole(ours), _percent(ours)]
    if rivals:
        others = [cells[pick.stream, name] for name in RIVALS[pick.budget]]
        row += [_rival(cell) for cell in others]
        known = [cell.accuracy for cell in others if cell.accuracy is not None]
        if known and ours.accuracy is not None:
            row.append(f"{ours.accuracy - max(known):+.2f}")
        else:
            row.append(_NONE)
    return tuple(row)


def _whole(cell: Cell) -> str:
    return _NONE if cell.model_bytes is None else f"{cell.model_bytes:,}"


def _percent(cell: Cell) -> str:
    return cell.failure or _NONE if cell.accuracy is None else f"{cell.accuracy:.2f}"


def _rival(cell: Cell) -> str:
    """Return name, accuracy and, in KB, the bytes that MOA measures."""
    name = cell.name.partition(":")[2]
    size = f", {cell.model_bytes / 1024:,.0f} KB" if cell.model_bytes else ""
    return f"{name} {_percent(cell)}{size}"


def options_row(pick: Pick) -> tuple[str, ...]:
    """Return stream, budget and the options of the command line."""
    source = CHOSEN[pick.stream]
    words = [
        f"--model {pick.model}" if pick.model != "shrub" else "",
        options_text(pick.parameters),
    ]
    if source.shuffle is not None:
        words.append(f"--shuffle {source.shuffle}")
    if source.classes:
        words.append(f"--classes {','.join(source.classes)}")
    return pick.stream, f"{pick.budget >> 10} KB", f"`{' '.join(filter(None, words))}`"


def markdown(picks: Sequence[Pick], cells: Cells, rivals: bool, command: str) -> str:
    """Return the whole page."""
    paragraphs = [
        "# The best known models of a small memory",
        f"Made by `{command}`; do not edit it by hand. Prequential accuracy in percent over the "
        "whole stream; model bytes are those of the buffers on a board. The options were found by "
        "searching on the very streams that they are shown on, which favours them. `microshrub "
        "tune` is for your own stream, and shows what a search is worth on samples that it has "
        "not seen.",
    ]
    head = ["stream", "within", "model", "bytes", "accuracy"]
    if rivals:
        paragraphs.append(
            "MOA's learners have MOA's defaults, and ensembles ten trees: the Hoeffding tree and "
            "EFDT next to ours of 16 KB, adaptive random forests and streaming random patches "
            "next to ours of 64 KB. Their bytes are MOA's own measure (measureByteSize). The last "
            "column is how many points ours are ahead of the better of the two."
        )
        head += ["MOA", "MOA", "ahead"]
    rows = [accuracy_row(pick, cells, rivals) for pick in picks]
    paragraphs.append(markdown_table(head, rows))
    options = [options_row(pick) for pick in picks]
    paragraphs.append(
        markdown_table(["stream", "within", "options of `microshrub simulate`"], options)
    )
    return "\n\n".join(paragraphs) + "\n"
