"""The papers' streams by their names: generated, in a folder of files, or OpenML's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from microshrub_host.base.terminal import showing
from microshrub_host.streams.generators import SYNTH_NAMES
from microshrub_host.streams.open_stream import open_stream
from microshrub_host.streams.stream import Stream

from . import openml
from .data_folder import data_folder

_ENDINGS = (".csv.gz", ".csv", ".arff.gz", ".arff")
_ALL = 1 << 40  # samples: in an experiment, all classes of a file are known from the start

# The name in OpenML, and the number of samples, since several versions have one name.
OPENML = {
    "gas-sensor": ("gas-drift", 13_910),
    "nomao": ("nomao", 34_465),
    "elec": ("electricity", 45_312),
    "covtype": ("covertype", 581_012),
    "airlines": ("airlines", 539_383),
}


@dataclass(frozen=True)
class Source:
    """The source of a stream; it can be sent to another process, which opens the stream."""

    name: str
    source: str  # for open_stream
    label: str | None = None
    origin: str = "generated"  # for people

    def open(self, limit: int | None) -> Stream:
        """Open the stream under its name; raises DataError as open_stream does."""
        stream = open_stream(self.source, label=self.label, limit=limit, warmup=_ALL)
        return Stream(
            self.name, stream.values, stream.labels, stream.feature_names, stream.class_names
        )


def find(names: Sequence[str], folder: Path | None) -> tuple[dict[str, Any], list[str]]:
    """Return the sources by name, and a note for each stream that is not available.

    A file NAME.csv.gz (or .csv, .arff.gz, .arff) in the folder is preferred to OpenML. The default
    folder is that of MICROSHRUB_DATA.
    """
    result: dict[str, Any] = {}  # the values are of the type Source
    notes: list[str] = []
    reachable = True
    folder = data_folder(folder)
    for name in names:
        source = _local(name, folder)
        if source is None and name in OPENML and reachable:
            try:
                source = _of_openml(name)
            except openml.OpenmlError as error:
                reachable = not isinstance(error, openml.OpenmlUnreachableError)
                notes.append(f"The stream {name} is skipped: {error}.")
                continue
        if source is not None:
            result[name] = source
        elif name in OPENML:
            notes.append(
                f"The stream {name} is skipped: there is no file, and OpenML cannot be reached."
            )
        else:
            notes.append(
                f"The stream {name} is skipped: --data FOLDER has to name a folder with a file "
                f"{name}.csv.gz."
            )
    return result, notes


def _local(name: str, folder: Path | None) -> Source | None:
    if name in SYNTH_NAMES:
        return Source(name, f"synth:{name}")
    if folder is None:
        return None
    for ending in _ENDINGS:
        path = (folder / f"{name}{ending}").absolute()
        if path.is_file():
            return Source(name, str(path), origin=path.name)
    return None


def _of_openml(name: str) -> Source:
    theirs, samples = OPENML[name]
    with showing(f"fetching {name}") as update:
        path, about = openml.fetch(theirs, samples, update)
    origin = f"OpenML {about.number}: {about.name}, version {about.version}, MD5 {about.md5}"
    return Source(name, str(path), about.label, origin)
