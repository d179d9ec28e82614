"""A learned model as one file: configuration, names, units, and saved states.

The file, suggested suffix .mshrub, is a zip, not compressed and without times, so that equal
models make equal files. It contains:

    config.json      the fields of ModelFile except the states, "format" and "state_crc32"
    learner.state    the result of the learner's save(), see firmware's buffers.py
    quantizer.state  the result of the quantizer's save()

and for a regressor, whose features a Forecaster makes from columns:

    target.state     the target's range
    interval.state   the interval; empty without one
    naive.state      the naive forecasts that are weighed against the learner's; empty without a
                     horizon

and for a companion that is saved, such as spare classes, its `states`:

    names.state      the names
    novelty.state    the novel samples

and in a project of the page, see project_files.py, the recordings that it learned. Nothing in a
file is ever executed, and all of it is checked: a damaged file is refused.
"""

from __future__ import annotations

import io
import json
import math
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ..base import files
from ..base.errors import UserError
from ..evaluation.classes import Result
from ..evaluation.regression import NumberResult
from ..library import learners, loader
from ..library.learners import learner_name
from ..simulation import companion_registry
from ..simulation.engine_interface import States
from ..simulation.feature_extraction import Extractor, extraction_of
from ..streams.project_files import PARTS
from ..streams.regression_streams import NumberStream
from ..streams.stream import Extraction, Stream
from ..streams.units import Scale
from .forecasters import forecaster_of, is_forecaster

FORMAT = 1
_CONFIG, _LEARNER, _QUANTIZER = _NAMES = ("config.json", "learner.state", "quantizer.state")
_OF_REGRESSION = ("target", "interval", "naive")
_LONGEST = 10_000  # characters of a name
_MOST_BYTES = 1 << 28  # in a part of the file; learners for boards are far smaller
_HEAD = 7  # bytes of a saved state before its configuration
_TIME = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip can hold
_RECORDINGS = (".csv", ".tsv", ".txt", ".arff")
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, KeyError, ValueError),
    *(NotImplementedError, RuntimeError, RecursionError),
)


@dataclass(frozen=True)
class ModelFile:
    """The contents of a model's file; features and classes are in the order of their numbers.

    The features of a regressor are all columns of its stream, including the target. A regressor
    has no classes.
    """

    learner: str  # name of its class
    parameters: dict[str, Any]  # of the learner's constructor
    feature_names: tuple[str, ...]
    class_names: tuple[str, ...]
    scale: Scale  # units of the features' raw integers
    stream: str  # name of the learned stream
    samples: int  # number of samples learned
    accuracy: float  # prequential, percent; for regression the mean absolute error
    states: States = field(repr=False)
    regression: dict[str, Any] | None = None  # parameters of a regressor's Forecaster
    companions: dict[str, Any] = field(default_factory=dict)  # parameters of companions, by name
    extraction: Extraction | None = None  # how features are made of readings, if at all
    shared: dict[str, list[int]] = field(default_factory=dict)  # learned samples by packets' CRC32

    @property
    def spare(self) -> dict[str, int] | None:
        """The parameters of the SpareClasses; the spare classes come after all others."""
        return self.companions.get("spare_classes")

    @property
    def known_names(self) -> tuple[str, ...]:
        """The names of the classes that were known from the start."""
        return self.class_names[: len(self.class_names) - (self.spare or {}).get("spare", 0)]

    @property
    def score(self) -> str:
        """The accuracy, or the mean absolute error, as text."""
        return f"MAE {self.accuracy:.5g}" if self.regression else f"accuracy {self.accuracy:.2f} %"


@dataclass(frozen=True)
class OpenModel:
    """A model ready to predict: objects of the device library for the engine `python`."""

    file: ModelFile
    learner: Any
    quantizer: Any
    forecaster: Any = None  # of a regressor
    companions: dict[str, Any] = field(default_factory=dict)  # by name

    @property
    def spare(self) -> Any:
        """The SpareClasses, or None."""
        return self.companions.get("spare_classes")


def of_run(result: Result | NumberResult, stream: Stream | NumberStream) -> ModelFile:
    """Return the model that a simulation of the stream has produced."""
    if isinstance(result, NumberResult):
        assert isinstance(stream, NumberStream)
        about = _of_numbers(result, stream)
    else:
        assert isinstance(stream, Stream)
        about = _of_classes(result, stream)
    return ModelFile(
        learner=learner_name(result.model),
        parameters=result.parameters,
        scale=stream.scale,
        stream=result.stream,
        samples=result.samples,
        states=result.states,
        extraction=stream.extraction,
        **about,
    )


def _of_classes(result: Result, stream: Stream) -> dict[str, Any]:
    names = stream.class_names
    saved: dict[str, Any] = {}
    for run in result.companions.values():
        names = run.class_names(names, result.parameters["classes"])
        saved |= run.saved()
    return {
        "feature_names": stream.feature_names,
        "class_names": names,
        "accuracy": result.accuracy,
        "companions": saved,
    }


def _of_numbers(result: NumberResult, stream: NumberStream) -> dict[str, Any]:
    target = loader.load("python").Target()
    target.load(result.states.more["target"])
    share = result.interval.share if result.interval else None
    return {
        "feature_names": stream.column_names,
        "class_names": (),
        "accuracy": result.errors.mae,
        "regression": stream.forecaster(target.ends, share),
    }


# --- Writing -------------------------------------------------------------------------------------


def write(path: Path, model: ModelFile) -> None:
    """Write the model's file, as replace() does. Raises UserError for a file of another kind."""
    if files.is_other_kind(path, files.MODEL_START):
        raise UserError(
            f"{path} is no model and would be overwritten. Save under another name, or remove "
            "that file first"
        )
    files.replace(path, packed(model))


def packed(model: ModelFile) -> bytes:
    """Return the bytes of the model's file. Raises UserError if a name is too long."""
    if any(len(name) > _LONGEST for name in (*model.feature_names, *model.class_names)):
        raise UserError(f"a name has more than {_LONGEST:,} letters: no model is saved with it")
    config = {
        "format": FORMAT,
        "learner": model.learner,
        "parameters": model.parameters,
        "feature_names": list(model.feature_names),
        "class_names": list(model.class_names),
        "offset": model.scale.offset.tolist(),
        "digits": model.scale.digits.tolist(),
        "stream": model.stream,
        "samples": model.samples,
        "accuracy": model.accuracy,
        "state_crc32": checksum(model),
    }
    if model.extraction:
        config["extraction"] = model.extraction.saved()
    if model.shared:
        config["shared"] = model.shared
    states = model.states
    parts = dict(zip(_NAMES[1:], (states.learner, states.quantizer), strict=True))
    if model.regression:
        config["regression"] = model.regression
    config |= model.companions
    parts |= {f"{name}.state": states.more[name] for name in _more_of(config)}
    text = (json.dumps(config, indent=2) + "\n").encode()
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, part in {_CONFIG: text, **parts}.items():
            info = zipfile.ZipInfo(name, _TIME)
            info.create_system = 3  # the same on all systems
            info.external_attr = 0o644 << 16
            archive.writestr(info, part)
    return data.getvalue()


def checksum(model: ModelFile) -> int:
    """Return the CRC32 of the learner's state."""
    return int(_build(model).learner.state_crc32())


def _more_of(config: dict[str, Any]) -> tuple[str, ...]:
    """Return the names of all states except the learner's and the quantizer's."""
    companions = [name for each in companion_registry.named(config) for name in each.states]
    return (*(_OF_REGRESSION if "regression" in config else ()), *companions)


# --- Reading -------------------------------------------------------------------------------------


def read(path: Path) -> ModelFile:
    """Return the checked contents of the file. Raises UserError as open_model() does."""
    return open_model(path).file


def _no_model(path: Path) -> str:
    """Return the error message for a file that is damaged or is no model."""
    if any(end in _RECORDINGS for end in path.suffixes):
        made = path.with_name(path.name.partition(".")[0] + ".mshrub").name
        return f"this is a recording. Make a model: microshrub simulate {path} --save {made}"
    return "this is not a model file, or it is damaged. Save the model again."


def open_model(path: Path) -> OpenModel:
    """Return the model in the file, as it was when it was saved.

    Raises UserError if there is no such file, or if it is damaged, of another version, or no
    model.
    """
    try:
        parts = _parts(path)
        config = json.loads(parts[_CONFIG])
        more = _more_of(config) if isinstance(config, dict) else ()
        of_model = tuple(name for name in parts if name not in PARTS)
        if of_model != (*_NAMES, *(f"{name}.state" for name in more)):
            raise zipfile.BadZipFile
    except FileNotFoundError:
        raise UserError(f"there is no file {path}") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from None
    except _BROKEN:
        raise UserError(f"{path}: {_no_model(path)}") from None
    try:
        states = {name: parts[f"{name}.state"] for name in more}
        result = _of_config(config, States(parts[_LEARNER], parts[_QUANTIZER], states))
        model = _build(result)
        if model.learner.state_crc32() != config["state_crc32"]:
            raise ValueError("the state's checksum is not the one in config.json")
    except (ValueError, OverflowError) as error:
        raise UserError(f"{path}: {error}") from None
    return model


def _parts(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        if set(_NAMES) - set(names) or len(names) > len(set(names)):
            raise zipfile.BadZipFile
        if any(info.file_size > _MOST_BYTES for info in archive.infolist()):
            raise zipfile.BadZipFile
        return {name: archive.read(name) for name in names}


def _of_config(config: Any, states: States) -> ModelFile:
    """Return the file's contents. Raises ValueError for anything that save() would not write."""
    if not isinstance(config, dict):
        raise ValueError("config.json has to hold an object")
    version = config.get("format")
    if version != FORMAT:
        raise ValueError(
            f"the file's format is version {version!r}, this program has {FORMAT}: save it again "
            "with this microshrub"
        )
    offset = _get(config, "offset", _is_list_of(_is_number))
    digits = _get(config, "digits", _is_list_of(_is_digits))
    _get(config, "state_crc32", _is_count)
    file = ModelFile(
        learner=_get(config, "learner", _is_text),
        parameters=_get(config, "parameters", lambda value: isinstance(value, dict)),
        feature_names=tuple(_get(config, "feature_names", _are_names)),
        class_names=tuple(_get(config, "class_names", _are_names)),
        scale=Scale(np.array(offset, dtype=np.float64), np.array(digits, dtype=np.int64)),
        stream=_get(config, "stream", _is_text),
        samples=_get(config, "samples", _is_count),
        accuracy=float(_get(config, "accuracy", _is_number)),
        states=states,
        regression=_get(config, "regression", is_forecaster) if "regression" in config else None,
        companions={each.name: config[each.name] for each in companion_registry.named(config)},
        extraction=extraction_of(config["extraction"]) if "extraction" in config else None,
        shared=_get(config, "shared", _is_shared) if "shared" in config else {},
    )
    features = len(file.feature_names)
    shape = {} if file.regression else {"features": features, "classes": len(file.class_names)}
    for name, value in shape.items():
        if file.parameters.get(name) != value:
            raise ValueError(f"config.json names {value} {name}, and its parameters have others")
    if len(offset) != features or len(digits) != features:
        raise ValueError("config.json does not have a unit for each feature")
    if file.extraction and Extractor(file.extraction, "python").features != features:
        raise ValueError("config.json has another number of features than its extraction makes")
    return file


def _get(config: dict[str, Any], name: str, is_right: Callable[[Any], bool]) -> Any:
    if name not in config or not is_right(config[name]):
        raise ValueError(f"config.json has no valid {name}")
    return config[name]


def _are_names(value: Any) -> bool:
    """Return whether the value is a list of distinct texts."""
    return _is_list_of(_is_text)(value) and len(set(value)) == len(value)


def _is_text(value: Any) -> bool:
    """Return whether the value is a text that is not too long."""
    return isinstance(value, str) and len(value) <= _LONGEST


def _is_shared(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_list_of(_is_count), value.values()))


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _is_digits(value: Any) -> bool:
    return type(value) is int and abs(value) <= 400


def _is_list_of(is_right: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(is_right, value))


def grew(quantizer_state: bytes) -> bool:
    """Return whether the saved state belongs to a quantizer whose ranges grow."""
    return quantizer_state[_HEAD:].startswith(b"GrowingQuantizer ")


def class_of(library: ModuleType, name: str) -> Any:
    """Return the class of a learner. Raises ValueError if no learner has that name."""
    try:
        return library.learners.learner_class(name)
    except ValueError as error:
        raise ValueError(
            f"{error}. If {name} is a learner of your own, say where it is: "
            f"MICROSHRUB_LEARNERS=FILE.py:{name}"
        ) from None


def _build(file: ModelFile) -> OpenModel:
    """Return the objects with their states. Raises ValueError if these do not belong together."""
    library = loader.load("python")
    learner_class = class_of(library, file.learner)
    if library.learners.is_regressor(file.learner) != (file.regression is not None):
        raise ValueError(f"config.json does not tell what {file.learner} predicts")
    shape = {"features"} if file.regression else {"features", "classes"}
    known = shape | set(learners.parameters(learners.model_name(file.learner)))
    unknown = sorted(set(file.parameters) - known)
    if unknown:
        raise ValueError(f"{file.learner} has no parameter {unknown[0]}")
    if learner_class.nbytes(**file.parameters) > len(file.states.learner):  # before any allocation
        raise ValueError("the saved state is too short for the parameters")
    missing = sorted(shape - set(file.parameters))
    if missing:
        raise ValueError(f"the parameters have no {missing[0]}")
    learner = learner_class(**file.parameters)
    forecaster = None
    if file.regression:
        columns = len(file.feature_names)
        forecaster = forecaster_of(learner, file.regression, columns, file.states)
    if forecaster:
        quantizer = forecaster.quantizer
    elif grew(file.states.quantizer):
        follow = (learner,) if learner.moves else ()
        quantizer = library.GrowingQuantizer(learner.features, follow)
    else:
        quantizer = library.Quantizer(learner.features)
    learner.load(file.states.learner)
    quantizer.load(file.states.quantizer)
    if not quantizer.frozen:
        raise ValueError("the quantizer has no ranges yet")
    companions = {
        each.name: each.opened(
            learner, file.companions[each.name], file.class_names, file.states.more
        )
        for each in companion_registry.named(file.companions)
    }
    return OpenModel(file, learner, quantizer, forecaster, companions)
