"""`python -m microshrub_host.benchmarks.family`: every tree, leaf rule and stream.

The result is a Markdown file: a table of accuracies, and tables of what they cost.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from ..base import files
from ..base.errors import UserError
from ..base.exits import exit_code, run_command
from ..base.files import check_target
from ..base.progress import showing
from ..base.terminal import messages
from ..base.text import did_you_mean
from ..cli.commands import compile_kernels
from ..cli.options import Parser, whole_number
from ..engines.learners import options_text
from ..reports import report
from ..streams.open_stream import open_stream
from ..streams.stream import Stream
from .family_members import MEMBERS, MODEL, SHARED, WARMUP, Cell, Key, check_members, measure

DATA = Path("../shared/data")
FILES = {"elec": "elec.csv.gz", "weather": "weather.csv.gz"}
STREAMS = (*FILES, "agrawal_a", "led_a", "rbf_m", "sea_a")

_ACCURACY = "Accuracy, %"
_MEASURES: Mapping[str, Callable[[Cell], str]] = {
    _ACCURACY: lambda cell: f"{cell.accuracy:.2f}",
    "Nodes used": lambda cell: f"{cell.nodes:,}",
    "Model bytes": lambda cell: f"{cell.model_bytes:,}",
    "Samples a second": lambda cell: f"{cell.samples_per_second:,.0f}",
}


def markdown(
    cells: Mapping[Key, Cell], streams: Mapping[str, Stream], command: str, missing: Sequence[str]
) -> str:
    """The whole file."""
    said = [
        "# The Hoeffding trees, measured",
        f"Made by `{command}`, and only by it.",
        "Prequential accuracy over the whole stream, the number of nodes at its end, the bytes of "
        "the model's buffers, and the speed of the numba engine in the fastest of its runs, which "
        "differs from machine to machine. `mc` is the majority class, `nb` naive Bayes, `nba` "
        "whichever was right more often at the leaf; the best accuracies of a stream are bold. "
        f"The quantizer saw the features of the first {WARMUP} samples.",
        f"All share `{options_text(SHARED)}`, but for what stands behind their names here:",
        "\n".join(_description(member) for member in dict.fromkeys(key[0] for key in cells)),
        "Streams: " + ", ".join(_size(name, stream) for name, stream in streams.items()) + ".",
    ]
    if missing:
        said.append(f"Left out, since their files were not there: {', '.join(missing)}.")
    for title, text in _MEASURES.items():
        said += [f"## {title}", _table(cells, list(streams), text, title == _ACCURACY)]
    return "\n\n".join(said) + "\n"


def _description(member: str) -> str:
    own = MEMBERS[member].parameters
    return f"- {MEMBERS[member].title}: `{options_text(own)}`"


def _size(name: str, stream: Stream) -> str:
    samples, features = stream.values.shape
    return f"{name} ({samples:,} samples, {features} features, {len(stream.class_names)} classes)"


def _table(
    cells: Mapping[Key, Cell], streams: Sequence[str], text: Callable[[Cell], str], bold: bool
) -> str:
    """A column for each stream, a row for each member and the leaf rules that come to the same."""
    best = {s: max(c.accuracy for (_, _, at), c in cells.items() if at == s) for s in streams}
    leaves: dict[tuple[str, ...], list[str]] = {}  # of a row: the member, then its words
    for member, leaf in dict.fromkeys(key[:2] for key in cells):
        found = {name: cells[member, leaf, name] for name in streams}
        words = [
            f"**{text(cell)}**" if bold and cell.accuracy == best[name] else text(cell)
            for name, cell in found.items()
        ]
        leaves.setdefault((MEMBERS[member].title, *words), []).append(leaf)
    rows = [("member", "leaf", *streams), ("---", "---", *["---:"] * len(streams))]
    rows += [(row[0], ", ".join(rules), *row[1:]) for row, rules in leaves.items()]
    return report.markdown_table(rows)


def parser() -> Parser:
    """The options of the command."""
    found = Parser(
        prog="python -m microshrub_host.benchmarks.family",
        description="Run every Hoeffding tree with every leaf rule on six streams.",
    )
    add_output_options(found)
    for name, known in (("members", MEMBERS), ("streams", STREAMS)):
        found.add_argument(
            f"--{name}",
            default=",".join(known),
            metavar="A,B,...",
            help=f"some of {', '.join(known)} (default: all)",
        )
    found.add_argument(
        "--limit",
        type=whole_number,
        metavar="N",
        help="only the first N samples (default: all of a file, 100,000 of the others)",
    )
    found.add_argument(
        "--repeats",
        type=whole_number,
        default=3,
        metavar="N",
        help="runs of each, of which the fastest tells the speed (default 3)",
    )
    found.set_defaults(run=run)
    return found


def add_output_options(parser: Parser) -> None:
    """Add --output and --data."""
    parser.add_argument(
        "--output", type=Path, metavar="FILE.md", help="write it there (default: print it)"
    )
    parser.add_argument(
        "--data",
        type=Path,
        default=DATA,
        metavar="FOLDER",
        help=f"where {' and '.join(FILES.values())} are (default {DATA})",
    )


def run(arguments: argparse.Namespace) -> int:
    """Measure what was asked for and write it down."""
    if arguments.output is not None:
        check_target("--output", arguments.output)
    if arguments.repeats < 1:
        raise UserError(f"--repeats has to be at least 1, not {arguments.repeats}")
    members = chosen("--members", arguments.members, MEMBERS)
    names = chosen("--streams", arguments.streams, STREAMS)
    check_members(members)
    missing = missing_files(names, arguments)
    streams = {name: open_named(name, arguments) for name in names if name not in missing}
    if not streams:
        raise UserError(f"--data {arguments.data}: no stream is left")
    for name in members:
        compile_kernels(MODEL, MEMBERS[name].parameters)
    with showing("learning") as update:
        cells = measure(streams, members, arguments.repeats, update)
    command = command_text(parser(), arguments, ("members", "streams", "limit", "repeats"))
    text = markdown(cells, streams, command, missing)
    if arguments.output is None:
        sys.stdout.write(text)
    else:
        files.replace(arguments.output, text.encode())
        messages.say(f"written to {arguments.output}")
    return 0


def chosen(name: str, text: str, known: Iterable[str]) -> list[str]:
    """The words of an option's list; raises UserError for one that is not known."""
    words = list(dict.fromkeys(word.strip() for word in text.split(",")))
    for word in words:
        if word not in known:
            raise UserError(f"{name}: there is no {word!r}. {did_you_mean(word, known)}")
    return words


def missing_files(names: Sequence[str], arguments: argparse.Namespace) -> list[str]:
    """Those of the streams whose files are not there; it says so."""
    missing = [name for name in names if name in FILES and not _source(name, arguments).is_file()]
    if missing:
        messages.say(f"Left out, since {arguments.data} has no such file: {', '.join(missing)}")
    return missing


def _source(name: str, arguments: argparse.Namespace) -> Path:
    return Path(arguments.data / FILES[name])


def open_named(name: str, arguments: argparse.Namespace) -> Stream:
    """One of the six streams."""
    source = str(_source(name, arguments)) if name in FILES else f"synth:{name}"
    with showing(f"reading {name}") as update:
        return open_stream(source, limit=arguments.limit, warmup=WARMUP, progress=update)


def command_text(parser: Parser, arguments: argparse.Namespace, names: Sequence[str]) -> str:
    """The command that makes the same again; it does not tell where folders are."""
    words = [parser.prog]
    for name in names:
        value = getattr(arguments, name)
        if value is True:
            words.append(f"--{name}")
        elif value != parser.get_default(name):
            words.append(f"--{name} {value}")
    if arguments.data != DATA:
        words.append("--data FOLDER")
    if arguments.output is not None:
        absolute = arguments.output.is_absolute()
        words.append(f"--output {arguments.output.name if absolute else arguments.output}")
    return " ".join(words)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code, see exit_code()."""
    return exit_code(lambda: run_command(parser(), argv))


if __name__ == "__main__":
    sys.exit(main())
