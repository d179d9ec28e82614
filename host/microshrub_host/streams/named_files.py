"""The files that DATA names, also in folders, and the class in a file's name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..base.errors import DataError
from ..base.text import count
from .source_file import GENERATED, STANDARD_INPUT

NAME, FOLDER, FILE = LABEL_FROM = ("name", "folder", "file")
_TEXT = ("csv", "txt", "tsv", "tab", "dat", "data", "log", "arff", "json", "jsonl", "ndjson")
_OTHER = ("npy", "npz", "parquet", "feather", "xlsx", "mat", "libsvm", "svm")
_ENDINGS = frozenset(f".{ending}" for ending in (*_TEXT, *_OTHER))
_TAKE = re.compile(r"(?:[\s_\-]*[(\[]?\d[\d:T_\-]*[)\]]?)+$")  # fist_01, fist-2, fist (3)
_FIRST = re.compile(r"^\d[\d:T_\-]*[\s_\-]+(?=\D)")  # 01_fist, 2026-02-03_fist
_SHOWN = 6  # names in a message, at most


@dataclass(frozen=True)
class NamedFiles:
    """Files in their order, each once; `others` are files in folders that were left out."""

    name: str  # a name for all files together
    paths: tuple[str, ...]
    others: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """A note on files that were left out; "" if there are none."""
        if not self.others:
            return ""
        return f"{count(len(self.others), 'other file')} left out: {shown(self.others)}"


def shown(names: Sequence[str], most: int = _SHOWN) -> str:
    """Return names as `a, b and 3 others`."""
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} others"


def files_of(sources: Sequence[str]) -> NamedFiles:
    """Return the files that these sources name. Raises DataError."""
    paths: list[str] = []
    others: list[str] = []
    for source in sources:
        if source.startswith(GENERATED) or source == STANDARD_INPUT:
            raise DataError(f"{source} cannot be read together with other files: name it alone.")
        if Path(source).is_dir():
            inside, left = _files_in(Path(source))
            if not inside:
                raise DataError(f"{source} is a folder without a data file, such as a .csv.")
            paths += inside
            others += left
        else:
            paths.append(source)
    twice = [path for path, times in Counter(map(_identity, paths)).items() if times > 1]
    if twice:
        raise DataError(f"{twice[0]} is named twice.")
    name = sources[0] if len(sources) == 1 else shown([Path(path).name for path in paths], 3)
    return NamedFiles(name, tuple(paths), tuple(others))


def _identity(path: str) -> str:
    return str(Path(path).resolve())


def _files_in(folder: Path) -> tuple[list[str], list[str]]:
    """Return the data files in a folder and its subfolders, and the other files."""
    data: list[str] = []
    others: list[str] = []
    for path in sorted(folder.rglob("*"), key=lambda path: _natural(path.relative_to(folder))):
        if _is_hidden(path.relative_to(folder)) or not path.is_file():
            continue
        if _is_data(path):
            data.append(str(path))
        else:
            others.append(path.name)
    return data, others


def _is_hidden(path: Path) -> bool:
    return any(part.startswith((".", "__")) for part in path.parts)


def _is_data(path: Path) -> bool:
    return Path(path.name.lower().removesuffix(".gz")).suffix in _ENDINGS


def is_read_with(folder: Path, path: Path) -> bool:
    """Return whether the path is among the data files in a folder."""
    folder, path = folder.resolve(), path.resolve()
    if not path.is_relative_to(folder) or not _is_data(path):
        return False
    return not _is_hidden(path.relative_to(folder))


def _natural(path: Path) -> list[tuple[int, int, str]]:
    """Return a sort key that puts 2 before 10."""
    parts = re.split(r"(\d+)", str(path))
    return [(1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts]


def classes_in_names(paths: Sequence[str], way: str) -> list[str]:
    """Return the class of each file, from its name or its folder's.

    From the name it is the part without the take's number, or with FILE the whole name.
    """
    if way == FOLDER:
        return [Path(path).resolve().parent.name for path in paths]
    wholes = [Path(path).name.partition(".")[0] or Path(path).name for path in paths]
    if way == FILE:
        return wholes
    names = [_without_take(whole) for whole in wholes]
    return names if len(set(names)) > 1 else wholes


def _without_take(name: str) -> str:
    return _FIRST.sub("", _TAKE.sub("", name)) or name


def guessed_way(paths: Sequence[str]) -> str:
    """Return whether the class of each file is in its name or its folder's.

    Raises DataError if that is unclear.
    """
    names, folders = (classes_in_names(paths, way) for way in (NAME, FOLDER))
    by_name, by_folder = set(zip(names, folders, strict=True)), len(set(folders))
    if by_folder < 2:
        return NAME
    lettered = any(re.search(r"[^\W\d]", name) for name in names)
    names_differ = len(by_name) == len(set(names))  # no name occurs in two folders
    if len(set(names)) < 2 or not lettered or (names_differ and len(set(names)) > by_folder):
        return FOLDER
    if names_differ:  # one name per folder: fist/fist_1.csv
        return FOLDER
    raise DataError(
        f"The class may be in the files' names ({listed(names)}) or in their folders' "
        f"({listed(folders)}): --label-from name or --label-from folder says which."
    )


def listed(classes: Iterable[str]) -> str:
    """Return text like `fist (2 files), rest (1 file)`."""
    counts = Counter(classes)
    return shown([f"{name} ({count(number, 'file')})" for name, number in counts.items()], 12)
