"""Parcels of samples that a saved model gives away, learns, or forgets again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..base.errors import UserError
from ..library import loader
from .model_files import ModelFile, OpenModel, open_model

MOST = 20  # samples of a class


@dataclass(frozen=True)
class Taken:
    """What became of a class of a parcel: in a word, and how many of its samples were learned."""

    name: str
    what: str
    samples: int
    learned: int


@dataclass(frozen=True)
class ParcelTold:
    """What a model made of a parcel; changes has how far values of a feature were moved."""

    origin: str
    classes: tuple[Taken, ...]
    changes: dict[str, float]
    numbers: tuple[int, ...]  # of the samples that were learned


def read_parcel(path: Path) -> Any:
    """The Parcel in a file. Raises UserError if there is none."""
    try:
        return loader.load("python").Parcel(path.read_bytes())
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise UserError(f"{path}: {error}") from None


def collected(path: Path, wanted: Sequence[str], most: int, origin: str) -> bytes:
    """A parcel of up to `most` samples of each of these classes. Raises UserError."""
    model = open_model(path)
    try:
        data: bytes = _sharing(model).collect(origin, tuple(wanted), most)
    except ValueError as error:
        raise UserError(f"{path}: {error}") from None
    return data


def taught(path: Path, parcels: Sequence[Any]) -> tuple[ModelFile, list[ParcelTold]]:
    """The model once it has learned what it takes of the parcels, and what that was.

    Raises UserError for a parcel of other features.
    """
    model = open_model(path)
    sharing = _sharing(model, path)
    shape = model.file.feature_names, model.file.scale.units()
    lessons = [lesson(str(path), sharing, parcel, *shape) for parcel in parcels]
    while sharing.step():
        pass
    shared = dict(model.file.shared)
    for parcel, told in zip(parcels, lessons, strict=True):
        if told.numbers:
            shared[parcel.key] = sorted({*shared.get(parcel.key, []), *told.numbers})
    return _settled(model, shared), lessons


def without(path: Path, parcel: Any) -> tuple[ModelFile, int]:
    """The model without what it has of a parcel, and how many samples that were.

    Raises UserError if it has learned nothing of the parcel, or nothing else.
    """
    model = open_model(path)
    shared = dict(model.file.shared)
    if parcel.key not in shared:
        raise UserError(f"{path}: it has learned nothing of this parcel of {parcel.origin}")
    try:
        gone: int = _sharing(model, path).forget(parcel, shared.pop(parcel.key))
    except ValueError as error:
        raise UserError(f"{path}: {error}") from None
    return _settled(model, shared), gone


def lesson(
    whose: str,
    sharing: Any,
    parcel: Any,
    names: Sequence[str],
    units: Sequence[tuple[int, int]],
) -> ParcelTold:
    """Have a Sharing of features of these names and units take a parcel. Raises UserError."""
    try:
        found = sharing.take(parcel)
    except ValueError as error:
        raise UserError(f"{whose}: {error}") from None
    counts = [0] * len(parcel.class_names)
    for i in range(parcel.samples):
        counts[parcel.label(i)] += 1
    classes = [
        Taken(name, what, counts[k], len(which)) for k, (name, what, which) in enumerate(found)
    ]
    moved = zip(names, sharing.value_changes(parcel), units, strict=True)
    changes = {name: change / 10.0 ** unit[1] for name, change, unit in moved}
    numbers = tuple(i for _, _, which in found for i in which)
    return ParcelTold(parcel.origin, tuple(classes), changes, numbers)


def _sharing(model: OpenModel, path: Path | None = None) -> Any:
    file = model.file
    told = f"{path}: " if path else ""
    if file.beside:
        raise UserError(f"{told}a model with {', '.join(file.beside)} beside it shares no samples")
    library = loader.load("python")
    shape = file.feature_names, file.scale.units(), file.class_names
    try:
        return library.Sharing(model.learner, model.quantizer, *shape)
    except ValueError as error:
        raise UserError(f"{told}{error}") from None


def _settled(model: OpenModel, shared: dict[str, list[int]]) -> ModelFile:
    """The file of a model that has changed, once it has nothing left to do."""
    while model.learner.idle():
        pass
    states = replace(
        model.file.states, learner=model.learner.save(), quantizer=model.quantizer.save()
    )
    return replace(model.file, states=states, shared=shared)
