"""Our learners in a comparison, named as in "hoeffding policy=efdt depth=10"."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from microshrub_host.base.errors import UserError
from microshrub_host.evaluation import prequential
from microshrub_host.library import loader
from microshrub_host.library.learners import (
    MODELS,
    check_parameters,
    learner,
    model_name,
    specification,
    stream_parameters,
    warmup_of,
)
from microshrub_host.models import model_files
from microshrub_host.models.model_files import ModelFile
from microshrub_host.models.second_recording import started
from microshrub_host.simulation import engines
from microshrub_host.simulation.engine_interface import Labels
from microshrub_host.simulation.label_budget import LabelBudget
from microshrub_host.streams.stream import Stream
from microshrub_host.streams.units import Raw

from .contender import Contender
from .tree_shape import Shape, our_shape


def ours(text: str, name: str = "") -> Contender:
    """Return the contender that a text describes; its name in tables is `name`, or the text.

    Raises UserError for an unknown learner or parameter.
    """
    try:
        model, parameters = specification(text)
    except UserError as error:
        raise UserError(f"--ours {text!r}: {error}") from None
    return Contender(name or f"ours:{text.strip()}", "ours", model, parameters)


def saved_model(path: Path) -> Contender:
    """Return a saved model that continues to learn, named after its file."""
    file = model_files.read(path)
    return Contender(f"saved:{path.name}", "saved", str(path), file.parameters)


def all_parameters(contender: Contender, stream: Stream, warmup: int | None) -> dict[str, Any]:
    """Return the parameters of the constructor on this stream;
    raises UserError for refused ones.
    """
    shape = stream_parameters(contender.learner, stream, warmup)
    parameters = shape | dict(contender.settings)
    try:
        check_parameters(contender.learner, parameters)
    except UserError as error:
        raise UserError(f"{contender.name} on {stream.name}: {error}") from None
    return parameters


def model_bytes(contender: Contender, stream: Stream, warmup: int | None) -> int:
    """Return the bytes of the buffers on this stream; raises UserError for refused parameters."""
    parameters = all_parameters(contender, stream, warmup)
    return int(learner(contender.learner).nbytes(**parameters))


class OurLearner:
    """One of our learners with its quantizer, as `simulate` runs them.

    With `label_budget`, it learns only the labels of its queries, and `asked` counts them.
    """

    def __init__(
        self,
        model: str,
        settings: Mapping[str, Any],
        stream: Stream,
        warmup: int | None,
        label_budget: LabelBudget | None = None,
    ) -> None:
        parameters = stream_parameters(model, stream, warmup) | dict(settings)
        self._model, self._parameters = model, parameters
        prequential.compile_kernels(model, parameters)
        self._bytes = int(learner(model).nbytes(**parameters))
        self._rows = stream.raw_rows()
        self._labels = stream.labels
        self.asked = 0 if label_budget else None
        warmup = warmup_of(model, warmup)
        companions = [label_budget] if label_budget else []
        self._engine = engines.start(
            loader.fastest(), MODELS[model], parameters, companions, growing=not warmup
        )
        prequential.fit(self._engine, self._rows, warmup)

    @classmethod
    def saved(cls, file: ModelFile, stream: Stream) -> OurLearner:
        """Return a learner that continues from a saved model;
        as_the_model() has prepared the stream.
        """
        self = cls.__new__(cls)
        self._model, self._parameters = model_name(file.learner), file.parameters
        prequential.compile_kernels(self._model, file.parameters)
        self._bytes = int(learner(self._model).nbytes(**file.parameters))
        self._rows, self._labels = stream.raw_rows(), stream.labels
        self.asked = None
        self._engine = started(file)
        return self

    def prepare(self, part: slice) -> tuple[Raw, Labels]:
        """Return raw integers, as a sensor gives them, and the labels."""
        return self._rows[part], self._labels[part]

    def run(self, samples: tuple[Raw, Labels]) -> list[int]:
        predicted: list[int] = self._engine.run(*samples).tolist()
        if self.asked is not None:
            self.asked += int(len(self._engine.outputs()) - self._engine.outputs().count(0))
        return predicted

    def nbytes(self) -> int:
        """Return the bytes of the buffers on the board."""
        return self._bytes

    def shape(self) -> Shape | None:
        """Return the shape of a HoeffdingTree; None for other learners."""
        buffers = {name: buffer for name, _, buffer in self._engine.buffers()}
        return our_shape(self._model, self._parameters, buffers)
