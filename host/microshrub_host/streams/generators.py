"""Streams without a file: data sets of River and scikit-learn, and seeded synthetic streams.

A synthetic stream is endless and always the same; a limit only cuts it. recipes.py lists all of
them. As River takes seconds, streams are cached, without irrelevant features. River itself is
imported only when a stream is generated.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.cache import cache_folder
from ..base.errors import DataError
from ..base.text import did_you_mean
from . import recipes
from .class_names import class_order, encode_labels
from .recipes import Recipe, Sample
from .sklearn_sets import OTHER_KIND, sklearn_stream
from .stream import Progress, Stream, stream_order

SAMPLES = 100_000  # of a synthetic stream without a limit
CACHE = "streams"
GENERATOR_VERSION = 1  # part of the cache key: increase it when a stream changes

_ROWS_PER_PROGRESS = 1000

Arrays = tuple[NDArray[np.float64], NDArray[np.uint8]]  # (samples, features), (samples,)


def open_generated(
    source: str, limit: int | None, shuffle: int | None, progress: Progress | None
) -> Stream:
    """Open `river:NAME`, `sklearn:NAME` or `synth:NAME`; see `open_stream` for the arguments.

    A shuffle draws from the whole data set, or from 100,000 samples of a synthetic stream, or from
    `limit` if that is more. Raises DataError, with the possible names, for an unknown name.
    """
    provider, name = source.split(":", 1)
    if provider == "river":
        whole = river_stream(name, progress)
    elif provider == "sklearn":
        whole = sklearn_stream(name)
    else:
        samples = SAMPLES if limit is None else limit
        whole = synth_stream(name, samples if shuffle is None else max(samples, SAMPLES), progress)
    order = stream_order(len(whole.labels), limit, shuffle)
    times = None if shuffle is None else order
    return replace(whole, values=whole.values[order], labels=whole.labels[order], times=times)


# River's data sets


def river_names(*tasks: str) -> list[str]:
    """Return the data sets in the installed river package; by default, for classification.

    Data sets that have to be downloaded are not among them.
    """
    from river import datasets

    wanted = tasks or (datasets.base.BINARY_CLF, datasets.base.MULTI_CLF)
    names = []
    for name in datasets.__all__:
        member = getattr(datasets, name)
        if not isinstance(member, type) or issubclass(member, datasets.base.RemoteDataset):
            continue
        dataset: Any = member()
        if dataset.task in wanted:
            names.append(name)
    return names


# Numeric, with a class; River's own loader downloads each into its folder
_FETCHED = ("CreditCard", "Elec2", "HTTP", "Higgs", "Insects", "Keystroke", "SMTP")


def river_dataset(name: str, noun: str, *tasks: str) -> Any:
    """Return a data set of the river package.

    Raises DataError if there is none for these tasks, or if River would have to download it first.
    """
    from river import datasets

    if name in _FETCHED and not tasks:
        fetched = getattr(datasets, name)()
        if fetched.is_downloaded:
            return fetched
        raise DataError(
            f"river:{name} is to be downloaded first, once: "
            f'python -c "from river import datasets; datasets.{name}().download()"'
        )
    known = river_names(*tasks)
    if name not in known:
        others = river_names() if tasks else river_names(datasets.base.REG)
        hint = OTHER_KIND[noun] if name in others else did_you_mean(name, known)
        raise DataError(f"river:{name} is not a {noun} data set that River ships. {hint}")
    return getattr(datasets, name)()


def river_stream(name: str, progress: Progress | None = None) -> Stream:
    """Return a whole data set of the river package."""
    dataset = river_dataset(name, "classification")
    samples: list[Sample] = list(_counted(dataset, dataset.n_samples, progress))
    names = tuple(samples[0][0])
    categories: dict[Any, dict[str, int]] = {feature: {} for feature in names}
    values = [[in_numbers(x.get(each), categories[each]) for each in names] for x, _ in samples]
    cells = [str(y) for _, y in samples]
    labels, classes, _ = encode_labels(
        cells, lambda _: f"river:{name}", class_order(set(cells)), 1
    )
    return Stream(f"river:{name}", np.array(values), labels, tuple(map(str, names)), classes)


def in_numbers(value: object, codes: dict[str, int]) -> float:
    """Return a feature as a number: NaN if missing, 0 or 1 if boolean, a code if text."""
    if value is None:
        return math.nan
    if isinstance(value, str):
        return float(codes.setdefault(value, len(codes)))
    return float(value)  # type: ignore[arg-type]  # River's features are numbers otherwise


def _counted(samples: Iterable[Sample], total: int, progress: Progress | None) -> Iterator[Sample]:
    for done, sample in enumerate(islice(samples, total), 1):
        yield sample
        if progress is not None and (done % _ROWS_PER_PROGRESS == 0 or done == total):
            progress(done, total)


# Synthetic streams


SYNTH_NAMES = tuple(recipes.NAMED)


def synth_stream(name: str, samples: int, progress: Progress | None = None) -> Stream:
    """Return the first samples of a synthetic stream, from the cache if it holds enough."""
    recipe = recipes.find(name)
    base = recipes.base_name(name)
    arrays = _load(base, samples, len(recipe.features))
    if arrays is None:
        arrays = _generate(recipe, samples, progress)
        _save(base, arrays)
    raw, labels = arrays
    values, names = _expand(recipe, raw)
    return Stream(f"synth:{name}", values, labels, names, tuple(map(str, range(recipe.classes))))


def _generate(recipe: Recipe, samples: int, progress: Progress | None) -> Arrays:
    values = np.empty((samples, len(recipe.features)))
    labels = np.empty(samples, dtype=np.uint8)
    for i, (x, y) in enumerate(_counted(recipes.take_turns(recipe), samples, progress)):
        values[i] = tuple(x.values())
        labels[i] = y
    return values, labels


def _expand(
    recipe: Recipe, raw: NDArray[np.float64]
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """One-hot encode the categories, a column for each value; append the irrelevant features."""
    columns: list[NDArray[np.float64]] = []
    names: list[str] = []
    for feature, column in zip(recipe.features, raw.T, strict=True):
        if feature not in recipe.one_hot:
            columns.append(column)
            names.append(feature)
        for value in recipe.one_hot.get(feature, ()):
            columns.append((column == value).astype(np.float64))
            names.append(f"{feature}={value}")
    if recipe.irrelevant:
        columns.extend(_irrelevant(recipe, len(raw)).T)
        names += [f"irrelevant{i}" for i in range(recipe.irrelevant)]
    return np.column_stack(columns), tuple(names)


def _irrelevant(recipe: Recipe, samples: int) -> NDArray[np.float64]:
    """Return features that no class depends on: uniform from 0 to 1, or only these two values."""
    result = np.random.default_rng(recipes.SEED).random((samples, recipe.irrelevant))
    return np.round(result) if recipe.binary else result


# The cache: NAME-SAMPLES-riverVERSION-gVERSION.npz; a longer file serves shorter limits


def _version() -> str:
    from importlib.metadata import version  # slow, and only needed here

    return f"river{version('river')}-g{GENERATOR_VERSION}"


def _load(name: str, samples: int, features: int) -> Arrays | None:
    pattern = re.compile(rf"{name}-(\d+)-{re.escape(_version())}\.npz")
    for path in _cached(name):
        match = pattern.fullmatch(path.name)
        if match is None or int(match[1]) < samples:
            continue
        try:
            with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
                values, labels = file["values"], file["labels"]
        except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile, zlib.error):
            continue  # broken: generate again
        if values.shape == (int(match[1]), features) and labels.shape == (int(match[1]),):
            return values[:samples], labels[:samples]
    return None


def _cached(name: str) -> list[Path]:
    try:
        return sorted(cache_folder(CACHE).glob(f"{name}-*.npz"))
    except OSError:  # no cache is no error
        return []


def _save(name: str, arrays: Arrays) -> None:
    """Write to a temporary folder and rename, so that readers see whole files.

    No cache is no error.
    """
    target = f"{name}-{len(arrays[1])}-{_version()}.npz"
    with (
        contextlib.suppress(OSError),
        tempfile.TemporaryDirectory(dir=cache_folder(CACHE)) as part,
    ):
        whole = Path(part) / target
        np.savez_compressed(whole, values=arrays[0], labels=arrays[1])
        os.replace(whole, cache_folder(CACHE) / target)
