"""The steps of `compare` that streams of classes and regression streams share."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from microshrub_host.base.errors import UserError
from microshrub_host.base.exits import undisturbed
from microshrub_host.base.terminal import showing
from microshrub_host.base.text import count
from microshrub_host.cli.stream_options import compile_kernels
from microshrub_host.evaluation.prequential import are_compiled

from ..compare.comparison_runner import Progress
from ..compare.contender import Contender
from ..compare.outcome import AnyCell, AnyStream

_NOT_OPTIONS = ("run", "json", "html", "command_line")

C = TypeVar("C", bound=AnyCell)
S = TypeVar("S", bound=AnyStream)


def learn_all(
    streams: Sequence[S],
    contenders: Sequence[Contender],
    cells: Callable[[S, Progress], Iterator[C]],
    tell: Callable[[S, Mapping[str, C]], None],
    finish: Callable[[], None],
) -> None:
    """Let all contenders learn each stream; pass a stream's cells by contenders' names to `tell`.

    After Ctrl-C, `tell` and `finish` still get the results so far.
    """
    for stream in streams:
        result: dict[str, C] = {}
        stopped = None
        with showing(stream.name) as update:
            try:
                for cell in cells(stream, update):
                    result[cell.name] = cell
            except KeyboardInterrupt as interrupt:
                stopped = interrupt
        in_order = {c.name: result[c.name] for c in contenders if c.name in result}
        if stopped:
            with undisturbed():
                tell(stream, in_order)
                finish()
            raise stopped
        tell(stream, in_order)
    finish()


def with_data(arguments: argparse.Namespace, source: str) -> argparse.Namespace:
    """Return the options with this source alone as DATA."""
    return argparse.Namespace(**vars(arguments) | {"data": source})


def options_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the options as JSON and page hold them."""
    return {k: v for k, v in vars(arguments).items() if k not in _NOT_OPTIONS}


def check_bytes(
    contenders: Sequence[Contender],
    streams: Sequence[S],
    size_on: Callable[[Contender, S], int],
    most: int | None,
) -> None:
    """Raise UserError for refused parameters, and for models of more than `most` bytes."""
    for stream in streams:
        for contender in contenders:
            if contender.system != "ours":
                continue
            size = size_on(contender, stream)
            if most is not None and size > most:
                raise UserError(
                    f"{contender.name} takes {count(size, 'byte')} on {stream.name}, "
                    f"and --bytes is {most:,}"
                )


def compile_ours(contenders: Sequence[Contender]) -> None:
    """Compile the kernels of our learners; the processes that run the learners use the result."""
    for c in contenders:
        if c.system == "ours" and not are_compiled(c.learner, c.settings):
            compile_kernels(c.learner, c.settings)
