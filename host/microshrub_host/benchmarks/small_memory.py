"""`python -m microshrub_host.benchmarks.small_memory`: the best within 16 and 64 KB.

The result is a Markdown file: accuracies and bytes, and the options of each model.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ..base import files
from ..base.errors import UserError
from ..base.exits import exit_code, run_command
from ..base.files import check_target
from ..base.progress import showing
from ..base.terminal import messages
from ..cli.commands import compile_kernels
from ..cli.options import Parser, whole_number
from ..compare import catalogue
from ..compare.catalogue import PEERS
from ..compare.contender import Contender
from ..compare.runner import Cell, compare
from ..engines.learners import options_text
from ..reports import report
from . import family
from .best_known import PICKS, RIVALS, SOURCES, WARMUP, Pick

_LIMIT = 3600  # seconds
_NONE = "-"

Cells = Mapping[tuple[str, str], Cell]  # by stream and name of the learner


def contenders(picks: Sequence[Pick], rivals: bool) -> list[Contender]:
    """All that are to run on the stream of these picks, each once."""
    found = [pick.contender() for pick in picks]
    if rivals:
        found += [PEERS[name] for pick in picks for name in RIVALS[pick.budget]]
    return list({contender.name: contender for contender in found}.values())


def accuracy_row(pick: Pick, cells: Cells, rivals: bool) -> tuple[str, ...]:
    """Stream, budget, model, its bytes and accuracy; the rivals', and how far it is ahead."""
    own = cells[pick.stream, pick.contender().name]
    row = [pick.stream, f"{pick.budget >> 10} KB", pick.model, _whole(own), _percent(own)]
    if rivals:
        others = [cells[pick.stream, name] for name in RIVALS[pick.budget]]
        row += [_rival(cell) for cell in others]
        known = [cell.accuracy for cell in others if cell.accuracy is not None]
        if known and own.accuracy is not None:
            row.append(f"{own.accuracy - max(known):+.2f}")
        else:
            row.append(_NONE)
    return tuple(row)


def _whole(cell: Cell) -> str:
    return _NONE if cell.model_bytes is None else f"{cell.model_bytes:,}"


def _percent(cell: Cell) -> str:
    return cell.failure or _NONE if cell.accuracy is None else f"{cell.accuracy:.2f}"


def _rival(cell: Cell) -> str:
    """Name, accuracy and, in KB, the bytes that MOA measures."""
    name = cell.name.partition(":")[2]
    size = f", {cell.model_bytes / 1024:,.0f} KB" if cell.model_bytes else ""
    return f"{name} {_percent(cell)}{size}"


def options_row(pick: Pick) -> tuple[str, ...]:
    """Stream, budget and what to type."""
    source = SOURCES[pick.stream]
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
    """The whole file."""
    said = [
        "# The best known models of a small memory",
        f"Made by `{command}`, and only by it. Prequential accuracy in percent over the whole "
        "stream; model bytes are those of the buffers on a board. The options were found by "
        "searching on the very streams that they are shown on: that much tuning to a stream, a "
        "user's own will not have had. `microshrub tune` is for that, and shows what a search is "
        "worth on samples that it has not seen.",
    ]
    head = ["stream", "within", "model", "bytes", "accuracy"]
    align = ["---", "---", "---", "---:", "---:"]
    if rivals:
        said.append(
            "Beside them MOA's, with MOA's defaults, ensembles of ten trees: the Hoeffding tree "
            "and EFDT where ours have 16 KB, adaptive random forests and streaming random "
            "patches where ours have 64 KB. Their bytes are MOA's own measure (measureByteSize). "
            "The last column is how many points ours are ahead of the better one."
        )
        head += ["MOA", "MOA", "ahead"]
        align += ["---", "---", "---:"]
    rows = [accuracy_row(pick, cells, rivals) for pick in picks]
    said.append(report.markdown_table([head, align, *rows]))
    options = [options_row(pick) for pick in picks]
    said.append(
        report.markdown_table(
            [["stream", "within", "options of `microshrub simulate`"], ["---"] * 3, *options]
        )
    )
    return "\n\n".join(said) + "\n"


def parser() -> Parser:
    """The options of the command."""
    found = Parser(
        prog="python -m microshrub_host.benchmarks.small_memory",
        description="Run the best known models of a small memory.",
    )
    family.add_output_options(found)
    found.add_argument(
        "--streams",
        default=",".join(SOURCES),
        metavar="A,B,...",
        help=f"some of {', '.join(SOURCES)} (default: all)",
    )
    found.add_argument("--moa", action="store_true", help="run MOA's, too (default: do not)")
    found.add_argument(
        "--limit", type=whole_number, metavar="N", help="only the first N samples (default: all)"
    )
    found.add_argument(
        "--time-limit",
        type=whole_number,
        default=_LIMIT,
        metavar="SECONDS",
        help=f"of one learner on one stream (default {_LIMIT})",
    )
    found.add_argument(
        "--jobs", type=whole_number, default=1, metavar="N", help="at a time (default 1)"
    )
    found.set_defaults(run=run)
    return found


def run(arguments: argparse.Namespace) -> int:
    """Measure the picks whose streams are there."""
    for name in ("time_limit", "jobs"):
        if getattr(arguments, name) < 1:
            raise UserError(f"--{name.replace('_', '-')} has to be at least 1")
    if arguments.output is not None:
        check_target("--output", arguments.output)
    names = family.chosen("--streams", arguments.streams, SOURCES)
    if arguments.moa:
        catalogue.require(PEERS[name] for rivals in RIVALS.values() for name in rivals)
    there = _there(names, arguments.data)
    picks = [pick for pick in PICKS if pick.stream in there]
    if not picks:
        raise UserError(f"--data {arguments.data}: no stream is left")
    for pick in picks:
        compile_kernels(pick.model, pick.parameters)
    cells: dict[tuple[str, str], Cell] = {}
    for name in there:
        own = [pick for pick in picks if pick.stream == name]
        for cell in _learn(name, contenders(own, arguments.moa), arguments):
            cells[name, cell.name] = replace(cell, stream=name)
    text = markdown(picks, cells, arguments.moa, _command(arguments))
    if arguments.output is None:
        sys.stdout.write(text)
    else:
        files.replace(arguments.output, text.encode())
        messages.say(f"written to {arguments.output}")
    return 0


def _there(names: Sequence[str], folder: Path) -> list[str]:
    """The streams that can be had; it says which cannot."""
    missing = [n for n in names if SOURCES[n].file and not (folder / SOURCES[n].file).is_file()]
    if missing:
        messages.say(f"Left out, since {folder} has no such file: {', '.join(missing)}")
    return [name for name in names if name not in missing]


def _learn(
    name: str, learners: Collection[Contender], arguments: argparse.Namespace
) -> list[Cell]:
    stream = SOURCES[name].open(name, arguments.data, arguments.limit)
    with showing(name, announce=True) as update:
        found = compare(
            list(learners),
            stream,
            warmup=WARMUP,
            limit=arguments.time_limit,
            jobs=arguments.jobs,
            progress=update,
        )
        return list(found)


def _command(arguments: argparse.Namespace) -> str:
    return family.command_text(parser(), arguments, ("streams", "moa", "limit"))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code, see exit_code()."""
    return exit_code(lambda: run_command(parser(), argv))


if __name__ == "__main__":
    sys.exit(main())
