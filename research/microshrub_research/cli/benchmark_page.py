"""A benchmark that writes a page: its options, and its run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from microshrub_host.base.terminal import messages
from microshrub_host.cli.outputs import check_outputs, write
from microshrub_host.cli.parsed import check_at_least_one, whole_number

from ..benchmarks.known_streams import STREAMS
from ..papers.data_folder import VARIABLE
from .benchmark_streams import FILES

Pages = Iterator[str]


@dataclass(frozen=True)
class PageOption:
    """An option of a benchmark, with argparse's properties.

    If the result depends on the option, the page's command shows it unless its value is the
    default. `positive`: the value has to be at least 1.
    """

    name: str
    help: str
    usual: Any = None
    metavar: str | None = "N"
    value_type: Callable[[str], Any] | None = whole_number
    positive: bool = False
    of_result: bool = True

    def __call__(self, parser: argparse.ArgumentParser) -> None:
        """Add the option to a parser."""
        if self.value_type is bool:
            parser.add_argument(f"--{self.name}", action="store_true", help=self.help)
            return
        how: dict[str, Any] = {} if self.value_type is None else {"type": self.value_type}
        how |= {"default": self.usual, "metavar": self.metavar, "help": self.help}
        parser.add_argument(f"--{self.name}", **how)


def listed(
    name: str, known: Iterable[str], help: str = "some of {} (default: all)", usual: str = ""
) -> PageOption:
    """Return an option for names separated by commas; by default, all known names."""
    names = list(known)
    text = help.format(", ".join(names))
    return PageOption(name, text, usual or ",".join(names), "A,B,...", value_type=None)


def sizes_option(of: Sequence[int]) -> PageOption:
    """Return --bytes: sizes of Thicket, separated by commas."""
    usual = ",".join(map(str, of))
    return PageOption(
        "bytes", f"sizes of Thicket (default: {usual})", usual, "N,M,...", value_type=None
    )


def known_streams_option(usual: str) -> PageOption:
    """Return --streams: names of known streams, or of a group of streams."""
    text = (
        f"some of {', '.join(STREAMS)}; or known, chosen (the known ones but for file order), "
        f"unseen, labels (default: {usual})"
    )
    return PageOption("streams", text, usual, "A,B,...", value_type=None)


def seeds(usual: int, text: str = "runs of each") -> PageOption:
    """Return --seeds."""
    return PageOption("seeds", f"{text} (default {usual})", usual, positive=True)


def keep(text: str) -> PageOption:
    """Return --keep, a folder of earlier measurements."""
    return PageOption("keep", f"{text} (default: off)", None, "FOLDER", Path, of_result=False)


LIMIT = PageOption("limit", "only the first N samples (default: all)")


@dataclass(frozen=True)
class Benchmark:
    """A benchmark that writes a page.

    `pages` measures. Its arguments are the parsed options and the command for the page. It yields
    pages with more and more results; the last page is complete. `options` add the benchmark's
    options to a parser. `also` has names of other options for the page's command.
    """

    name: str
    pages: Callable[[argparse.Namespace, str], Pages]
    options: Sequence[Callable[[argparse.ArgumentParser], None]]
    also: tuple[str, ...] = ()

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add --output, --data and the benchmark's own options."""
        parser.add_argument(
            "--output",
            type=Path,
            metavar="FILE.md",
            help="write the table to this file (default: print it)",
        )
        parser.add_argument(
            "--data",
            type=Path,
            metavar="FOLDER",
            help=f"where {' and '.join(FILES.values())} are (default: the folder of the "
            f"environment variable {VARIABLE})",
        )
        for add in self.options:
            add(parser)
        names = [o.name for o in self.options if isinstance(o, PageOption) and o.of_result]
        keys = [name.replace("-", "_") for name in (*names, *self.also)]
        usual = {name: parser.get_default(name) for name in keys}
        parser.set_defaults(benchmark=self.name, usual=usual)

    def run(self, arguments: argparse.Namespace) -> int:
        """Measure; write the page to --output after each part, or print it at the end."""
        positive = [o.name for o in self.options if isinstance(o, PageOption) and o.positive]
        positive += [name for name in ("time_limit",) if hasattr(arguments, name)]
        check_at_least_one(**{name: getattr(arguments, name) for name in positive})
        check_outputs(arguments)
        page = None
        for page in self.pages(arguments, _command(arguments)):
            if arguments.output is not None:
                write(arguments, "output", page.encode())
        if page is None:
            messages.say("Nothing was measured.")
            return 1
        if arguments.output is None:
            sys.stdout.write(page)
        return 0


def _command(arguments: argparse.Namespace) -> str:
    """Return the command that makes the same page again, without the paths of folders."""
    words = [f"microshrub benchmark {arguments.benchmark}"]
    for name, usual in arguments.usual.items():
        value = getattr(arguments, name)
        option = f"--{name.replace('_', '-')}"
        if value is True:
            words.append(option)
        elif value not in (None, False, usual):
            words.append(f"{option} {value}")
    if arguments.data is not None:
        words.append("--data FOLDER")
    for name in ("output", "plot"):
        path = getattr(arguments, name, None)
        if path is not None:
            words.append(f"--{name} {path.name if path.is_absolute() else path}")
    return " ".join(words)
