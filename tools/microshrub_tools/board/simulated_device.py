"""The device's twin in the simulator: the same config.json and the same program."""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from microshrub_host.base.errors import UserError
from microshrub_host.base.text import count
from microshrub_host.library import loader
from microshrub_host.simulation.engine_interface import NO_LABELS, Labels
from microshrub_host.streams.names import labels_of
from microshrub_host.streams.regression_streams import NumberStream, Values
from microshrub_host.streams.stream import Stream
from microshrub_host.streams.units import Raw, Scale

from .stream_of_device import check_extraction, columns_of, unit_notes

CONFIG = "config.json"
BUILDS = Path("build")  # where `microshrub build` puts a folder for each board


class Twin:
    """A model of a device with a config.json, which learns labelled samples step by step.

    Raises UserError for a file that is missing or cannot be used.
    """

    first_label = 0  # the label of a sample that is learned

    def __init__(self, folder: Path) -> None:
        self._library: Any = loader.load(loader.fastest())
        self._folder = folder
        self.notes: tuple[str, ...] = ()  # notes on the stream
        try:
            data = (folder / CONFIG).read_bytes()
            self.configuration = self._library.device.config.Configuration(data)
        except OSError as error:
            raise UserError(f"{folder / CONFIG} cannot be read: {error.strerror}") from None
        except ValueError as error:
            raise UserError(f"{folder}: {error}") from None
        self.configuration.checkpoint = None  # only the device saves checkpoints
        self.start()

    def start(self) -> None:
        """Start as a device that has learned nothing yet."""
        try:
            self._app = self._application(self.configuration, f"{self._folder}/")
            self._app.begin()
        except (ValueError, OSError) as error:
            raise UserError(f"{self._folder}: {error}") from None
        self.samples = self.right = 0

    def prepare(self, rows: Raw) -> None:
        """Load the kernels, which takes seconds, and start again."""
        self.observe(rows[: self.warmup])
        self.step(rows[0], self.first_label)
        self.start()

    @property
    def _application(self) -> Any:
        """The class of the program's application."""
        device = self._library.device
        if self.configuration.regression is None:
            return device.application.Application
        return device.regression_app.RegressionApp

    @property
    def hash(self) -> int:
        """The CRC32 of config.json."""
        return int(self.configuration.hash)

    @property
    def warmup(self) -> int:
        """Samples that the device has to observe before it learns the first one."""
        return 0 if self._app.quantizer.frozen else int(self.configuration.warmup or 0)

    def raw_rows(self, stream: Stream | NumberStream) -> Raw:
        """Return the stream's values as raw integers in the configuration's units.

        Raises UserError if the stream has other features.
        """
        if isinstance(stream, NumberStream):
            raise UserError("the device predicts classes: leave --target out")
        check_extraction(stream.name, stream.extraction, self.configuration.extraction)
        features, wanted = stream.values.shape[1], self.configuration.features
        if features != wanted:
            raise UserError(
                f"{stream.name} has {count(features, 'feature')}, and the device's model {wanted}"
            )
        names = stream.feature_names
        return self._in_units(stream.name, stream.values, names, stream.scale)

    def labels(self, stream: Stream | NumberStream) -> Labels:
        """Return the stream's labels with the device's class numbers. Raises UserError."""
        if isinstance(stream, NumberStream):
            return NO_LABELS
        spare = (
            self.configuration.spare_classes["classes"] if self.configuration.spare_classes else 0
        )
        known = self.configuration.classes - spare
        names = self.configuration.class_names
        if names is None and len(stream.class_names) != known:
            raise UserError(
                f"{stream.name} has {count(len(stream.class_names), 'class')}, and the device's "
                f"model {known}"
            )
        if names is None:
            return stream.labels
        return labels_of(stream, names[:known], "the device's model")

    def _in_units(self, what: str, values: Values, names: Sequence[str], usual: Scale) -> Raw:
        """Return values, (rows, columns), in the device's order of columns and its units."""
        order = columns_of(what, names, self.configuration.feature_names)
        scale = Scale(usual.offset[order], usual.digits[order])
        if self.configuration.units is not None:
            offset, digits = zip(*self.configuration.units, strict=True)
            scale = Scale(np.array(offset, dtype=np.float64), np.array(digits, dtype=np.int64))
        values = values[:, order]
        exact = scale.exact(values)
        if self.configuration.units is not None:
            columns = [names[k] for k in order]
            self.notes = tuple(unit_notes(what, columns, values, exact, scale.digits.tolist()))
        return scale.rounded(exact)

    def observe(self, rows: Raw) -> None:
        """Show the quantizer the rows of the warm-up."""
        for row in rows:
            self._take(row, -1)

    def step(self, row: Raw, label: int) -> int:
        """Predict, then learn a sample; return the prediction."""
        predicted = self._take(row, label)
        self.samples += 1
        self.right += predicted == label
        return predicted

    def crc32(self) -> int:
        """Return the CRC32 of the learner's state."""
        return int(self._app.state_crc32())

    def _take(self, row: Raw, label: int) -> int:
        self._app.values[:] = array("i", row.tolist())
        return int(self._app.sample(label))


class QueryTwin(Twin):
    """The twin of a device that queries labels."""

    def step(self, row: Raw, label: int) -> int:
        """Predict a sample, whose label is only counted; return the prediction."""
        predicted = self._take(row, -1)
        self.samples += 1
        self.right += predicted == label
        return predicted

    @property
    def sample_id(self) -> int:
        """The number of the last sample; 0 if it is no query."""
        return int(self._app.sample_id)

    def answer(self, label: int) -> None:
        """Give the label of the last sample."""
        self._app.label(self.sample_id, label)


class NumberTwin(Twin):
    """The twin of a device that predicts a number; its samples have no labels."""

    first_label = -1

    def raw_rows(self, stream: Stream | NumberStream) -> Raw:
        """Return all columns of the stream, as Twin.raw_rows() does."""
        if isinstance(stream, Stream):
            raise UserError("the device predicts a number: name its column with --target")
        check_extraction(stream.name, stream.extraction, self.configuration.extraction)
        columns, place = self.configuration.features, self.configuration.regression["column"]
        names = self.configuration.feature_names
        if len(stream.column_names) != columns:
            raise UserError(
                f"{stream.name} has {count(len(stream.column_names), 'column')}, and the device's "
                f"samples have {columns}"
            )
        rows = self._in_units(stream.name, stream.columns, stream.column_names, stream.scale)
        target = names[place] if names else stream.column_names[place]
        if stream.target_name != target:
            raise UserError(
                f"the device predicts {target}, not {stream.target_name}: give --target {target}"
            )
        return rows

    @property
    def number(self) -> tuple[int, int, int]:
        """The last sample's prediction, half its interval's width, and the target's outcome."""
        forecaster = self._app.forecaster
        return forecaster.prediction, forecaster.half, forecaster.outcome

    @property
    def mean_errors(self) -> tuple[float, float]:
        """Mean absolute errors in the target's unit: of the predictions, and of NoChange."""
        units, place = self.configuration.units, self.configuration.regression["column"]
        unit = 10.0 ** -(units[place][1] if units else 0)
        metrics = self._app.forecaster.metrics
        return metrics.mae * unit, metrics.mae_nochange * unit


def open_twin(folder: Path) -> Twin:
    """Return the twin of a device with the config.json in a folder. Raises UserError."""
    twin = Twin(folder)
    if twin.configuration.queries is not None:
        return QueryTwin(folder)
    return twin if twin.configuration.regression is None else NumberTwin(folder)


def find_twin(configuration_hash: int, folder: Path | None) -> Twin:
    """Return the twin of a device that runs the configuration with that CRC32.

    folder is the folder of config.json; None: any build in build/.
    Raises UserError if no config.json matches.
    """
    folders = [folder] if folder else sorted(path.parent for path in BUILDS.glob(f"*/{CONFIG}"))
    for candidate in folders:
        path = candidate / CONFIG
        if path.is_file() and zlib.crc32(path.read_bytes()) == configuration_hash:
            return open_twin(candidate)
    if folder is not None and not (folder / CONFIG).is_file():
        raise UserError(f"there is no {CONFIG} in {folder}")
    where = f"that of {folder}" if folder else f"any in {BUILDS}/"
    raise UserError(
        f"the device runs a different configuration from {where}: name the folder that was "
        "flashed with --build, or flash it again"
    )
