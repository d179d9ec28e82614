"""Every Hoeffding tree with every leaf rule on every stream, as a page of tables.

The page is a Markdown file: a table of accuracies, and tables of costs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from microshrub_host.library import loader
from microshrub_host.library.learners import options_text
from microshrub_host.reports.markdown import markdown_table
from microshrub_host.streams.stream import Stream

from .family_members import MEMBERS, SHARED, WARMUP, Key, MemberScore

_ACCURACY = "Accuracy, %"
_MEASURES: Mapping[str, Callable[[MemberScore], str]] = {
    _ACCURACY: lambda cell: f"{cell.accuracy:.2f}",
    "Nodes used": lambda cell: f"{cell.nodes:,}",
    "Model bytes": lambda cell: f"{cell.model_bytes:,}",
    "Samples a second": lambda cell: f"{cell.samples_per_second:,.0f}",
}


def markdown(
    cells: Mapping[Key, MemberScore],
    streams: Mapping[str, Stream],
    command: str,
    missing: Sequence[str],
) -> str:
    """Return the whole page."""
    paragraphs = [
        "# The Hoeffding trees, measured",
        f"Made by `{command}`; do not edit it by hand.",
        "Prequential accuracy over the whole stream, the number of nodes at its end, the bytes of "
        f"the model's buffers, and the speed of the engine {loader.fastest()} in the fastest of "
        "its runs, which differs from machine to machine. `mc` is the majority class, `nb` naive "
        "Bayes, `nba` whichever was right more often at the leaf; the best accuracies of a stream "
        "are bold. "
        f"The quantizer saw the features of the first {WARMUP} samples.",
        f"All share `{options_text(SHARED)}`, but for what stands behind their names here:",
        "\n".join(_description(member) for member in dict.fromkeys(key[0] for key in cells)),
        "Streams: " + ", ".join(_size(name, stream) for name, stream in streams.items()) + ".",
    ]
    if missing:
        paragraphs.append(f"Skipped, since their files were not there: {', '.join(missing)}.")
    for title, text in _MEASURES.items():
        paragraphs += [f"## {title}", _table(cells, list(streams), text, title == _ACCURACY)]
    return "\n\n".join(paragraphs) + "\n"


def _description(member: str) -> str:
    parameters = MEMBERS[member].parameters
    return f"- {MEMBERS[member].title}: `{options_text(parameters)}`"


def _size(name: str, stream: Stream) -> str:
    samples, features = stream.values.shape
    return f"{name} ({samples:,} samples, {features} features, {len(stream.class_names)} classes)"


def _table(
    cells: Mapping[Key, MemberScore],
    streams: Sequence[str],
    text: Callable[[MemberScore], str],
    bold: bool,
) -> str:
    """Return a table: a column for each stream, a row for each member;
    leaf rules with equal results share a row.
    """
    best = {s: max(c.accuracy for (_, _, at), c in cells.items() if at == s) for s in streams}
    leaves: dict[tuple[str, ...], list[str]] = {}  # a row's cells: its leaf rules
    for member, leaf in dict.fromkeys(key[:2] for key in cells):
        result = {name: cells[member, leaf, name] for name in streams}
        words = [
            f"**{text(cell)}**" if bold and cell.accuracy == best[name] else text(cell)
            for name, cell in result.items()
        ]
        leaves.setdefault((MEMBERS[member].title, *words), []).append(leaf)
    rows = [(row[0], ", ".join(rules), *row[1:]) for row, rules in leaves.items()]
    return markdown_table(("member", "leaf", *streams), rows)
