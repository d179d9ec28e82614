"""A model by its name and parameters, and files of saved models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..base.errors import UserError
from ..base.text import did_you_mean
from ..evaluation.classes import Result
from ..evaluation.regression import NumberResult
from ..library.learners import MODELS, REGRESSORS, check_parameters, defaults
from ..models import model_files
from ..models.model_files import OpenModel
from ..streams.regression_streams import NumberStream
from ..streams.stream import Stream
from ..streams.units import RAW_MAX


def save_model(
    stream: Stream | NumberStream, run: Result | NumberResult, path: str | Path
) -> None:
    """Write the model at the end of a simulation of the stream, as `simulate --save` does.

    A thicket has first done the work that the last labels left it, as a board does when no label
    comes. So its state is not that of `run.state_crc32`, which is from before that work.

    An existing model file is replaced in one step, and only by a complete file. Raises UserError
    if the file cannot be written, if the path is a file of another kind, or if the run is not of
    this stream.

    Examples
    --------
    >>> import os, tempfile
    >>> from microshrub_host import load_model, open_stream, save_model, simulate
    >>> stream = open_stream("synth:sea_a", limit=400)
    >>> run = simulate(stream, "shrub", engine="python", window=16, trees=4, depth=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "sea.mshrub")
    ...     save_model(stream, run, path)
    ...     model = load_model(path)
    >>> model.learner.state_crc32() == run.state_crc32
    True

    """
    check_stream(stream, "save_model")
    _check_run(stream, run)
    model_files.write(Path(path), model_files.of_run(run, stream))


def _check_run(stream: Stream | NumberStream, run: Result | NumberResult) -> None:
    """Raise UserError unless the run's kind, stream, columns and classes match the stream."""
    shape = {"features": len(stream.feature_names)} if isinstance(stream, Stream) else {}
    if isinstance(stream, Stream) and isinstance(run, Result) and not run.companions:
        shape["classes"] = max(2, len(stream.class_names))
    numbers = isinstance(stream, NumberStream), isinstance(run, NumberResult)
    other = numbers[0] != numbers[1] or run.stream != stream.name
    if other or any(run.parameters[name] != value for name, value in shape.items()):
        raise UserError(
            f"the run learned {run.stream}, and the stream given is {stream.name}, or has other "
            "columns or classes: save_model() takes the stream that simulate() had"
        )


def load_model(path: str | Path) -> OpenModel:
    """Return the model in a file from `simulate --save`, save_model() or an adapter's `save`.

    The model's `learner` and `quantizer` are objects of the device library, in their saved state.
    The model's `file` has the parameters, the names and units of the features, and the names of
    the classes. Raises UserError if the file does not exist, is damaged, or is of another version.
    """
    return model_files.open_model(Path(path))


def check_stream(stream: object, function: str) -> None:
    """Raise TypeError unless the object is a stream; the message says how to open a stream.

    Raises UserError for a stream made by hand that cannot be learned.
    """
    if isinstance(stream, (Stream, NumberStream)):
        if isinstance(stream, Stream) and stream.known_scale is None:
            _check_content(stream)
        return
    what = repr(stream) if isinstance(stream, (str, Path)) else type(stream).__name__
    opens = f"open_stream({what})" if isinstance(stream, (str, Path)) else "open_stream(FILE)"
    raise TypeError(
        f"{function}() takes a stream, not {what}: {function}({opens}, ...), or of numbers "
        f"{function}({opens.replace('stream', 'numbers', 1)}, ...)"
    )


def _check_content(stream: Stream) -> None:
    """Raise UserError for content that no file could have and Stream does not refuse itself."""
    for what, names in {"features": stream.feature_names, "classes": stream.class_names}.items():
        if len(set(names)) < len(names):
            raise UserError(f"the stream {stream.name!r}: two of its {what} have the same name")
    if not stream.samples:
        raise UserError(f"the stream {stream.name!r} has no samples")
    most = int(stream.labels.max())
    if most >= len(stream.class_names):
        raise UserError(
            f"the stream {stream.name!r}: the label {most} is none of its "
            f"{len(stream.class_names)} classes, which are counted from 0"
        )
    if np.isinf(stream.values).any():
        raise UserError(
            f"the stream {stream.name!r} has an infinite value; NaN says that one is missing"
        )


def known(model: str) -> str:
    """Return the name if there is such a classifier. Raises UserError if there is none."""
    if model not in MODELS:
        what = "predicts numbers, not classes" if model in REGRESSORS else "is unknown"
        raise UserError(f"the model {model!r} {what}. {did_you_mean(model, MODELS)}")
    return model


def parameters_of(model: str, shape: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return all parameters of the learner's constructor. Raises UserError for an invalid one."""
    usual = defaults(model)
    given = {name: _plain(value) for name, value in given.items()}
    for name in given:
        if name not in usual:
            raise UserError(f"{name} is not a parameter of {model}. {did_you_mean(name, usual)}")
    result = shape | usual | given
    check_parameters(model, result, on_command_line=False)
    return result


def _plain(value: Any) -> Any:
    """Return a Python number for a NumPy number, such as np.arange() has."""
    return value.item() if isinstance(value, np.generic) else value


def raw_ends(stream: NumberStream, ends: tuple[float, float] | None) -> tuple[int, int] | None:
    """Return a range of the targets as raw integers. Raises UserError for an invalid range."""
    if ends is None:
        return None
    low, high = stream.target_scale.apply_numbers([float(end) for end in ends])
    if not -RAW_MAX < low < high < RAW_MAX:
        raise UserError(f"the targets' unit has no such range as {ends[0]:g},{ends[1]:g}")
    return low, high
