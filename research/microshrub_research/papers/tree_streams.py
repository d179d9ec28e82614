"""The streams of the papers on Hoeffding trees: with a change in the middle, or shuffled."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from microshrub_host.base.errors import DataError
from microshrub_host.streams import recipes
from microshrub_host.streams.generators import SAMPLES
from microshrub_host.streams.open_stream import open_stream
from microshrub_host.streams.stream import Stream, stream_order

from . import paper_streams
from .experiment import Sources, StreamSource

_SHUFFLED = re.compile(r"(.+)_shuffled_(\d+)")


@dataclass(frozen=True)
class Changing:
    """A synthetic stream whose concept changes in the middle, at any length."""

    name: str
    recipe: str  # with {at} for the sample of the change

    @property
    def origin(self) -> str:
        """A description of the source."""
        return f"generated, {self.recipe.format(at='the middle')}"

    def open(self, limit: int | None) -> Stream:
        """Open the stream under its name."""
        samples = limit or SAMPLES
        source = f"synth:{self.recipe.format(at=samples // 2)}"
        return replace(open_stream(source, limit=samples), name=self.name)


@dataclass(frozen=True)
class Shuffled:
    """Another stream in another order: the whole stream is shuffled, then cut."""

    source: StreamSource
    seed: int

    @property
    def name(self) -> str:
        """The name: NAME_shuffled_SEED."""
        return shuffled(self.source.name, self.seed)

    @property
    def origin(self) -> str:
        """A description of the source."""
        return f"{self.source.origin}, shuffled"

    def open(self, limit: int | None) -> Stream:
        """Open the stream under its name."""
        whole = self.source.open(None)
        order = stream_order(len(whole.labels), limit, self.seed)
        values, labels = whole.values[order], whole.labels[order]
        return replace(whole, name=self.name, values=values, labels=labels)


def shuffled(name: str, seed: int) -> str:
    """Return the name of a shuffled stream for find()."""
    return f"{name}_shuffled_{seed}"


def find(
    names: Sequence[str], folder: Path | None, known: Mapping[str, str] | None = None
) -> Sources:
    """Return the sources by name, and a note for each stream that is not available.

    A name is a key of `known`, which maps it to another name; or the name of a recipe (with a
    change of concept, if it holds {at}), of a file or of a data set of OpenML; each of them may be
    shuffled.
    """
    result: dict[str, StreamSource] = {}
    notes: list[str] = []
    bases: dict[str, StreamSource | None] = {}
    for name in names:
        match = _SHUFFLED.fullmatch(name)
        base = match[1] if match else name
        if base not in bases:
            bases[base], missing = _find_one(base, (known or {}).get(base, base), folder)
            notes += missing
        source = bases[base]
        if source is not None:
            result[name] = Shuffled(source, int(match[2])) if match else source
    return result, notes


def _find_one(
    name: str, stands_for: str, folder: Path | None
) -> tuple[StreamSource | None, list[str]]:
    if "{at}" in stands_for:
        return Changing(name, stands_for), []
    try:
        recipes.find(stands_for)
    except DataError:
        sources, notes = paper_streams.find([stands_for], folder)
        source = sources.get(stands_for)
        return (None if source is None else replace(source, name=name)), notes
    origin = "generated" if name == stands_for else f"generated, {stands_for}"
    return paper_streams.Source(name, f"synth:{stands_for}", origin=origin), []
