"""Features from a sensor's readings, for Python programs."""

from __future__ import annotations

from typing import overload

from ..simulation.feature_choice import Place
from ..simulation.feature_extraction import extracted, extracted_numbers
from ..simulation.feature_options import FeatureOptions
from ..streams.regression_streams import NumberStream, ahead
from ..streams.stream import Stream
from .models import check_stream


@overload
def extract_features(stream: Stream, settings: str, *, shuffle: int | None = None) -> Stream: ...


@overload
def extract_features(
    stream: NumberStream,
    settings: str,
    *,
    target: str | None = None,
    horizon: int = 0,
    lags: int = 1,
) -> NumberStream: ...


def extract_features(
    stream: Stream | NumberStream,
    settings: str,
    *,
    shuffle: int | None = None,
    target: str | None = None,
    horizon: int = 0,
    lags: int = 1,
) -> Stream | NumberStream:
    """Make samples from windows of a recording's readings, as a board would.

    Parameters
    ----------
    stream
        A recording from open_stream or open_numbers, with a row for each reading: whole numbers of
        16 bits.
    settings
        The settings of --features: "window=64 hop=32 bands=0.5-3,3-8 rate=100". With "rate=100"
        alone, the other settings are chosen; with "", they are chosen without a known rate.
    shuffle
        Seed of a permutation of the samples; None keeps their order. Only for classes.
    target, horizon, lags
        For numbers: the feature to predict, by default the last one, and the horizon and lags as
        in open_numbers, in samples.

    Returns
    -------
    Another stream: a row for each window; with classes, its label is the last reading's label.

    Raises
    ------
    UserError
        If a setting is impossible, or a board could not have made these readings.

    Examples
    --------
    >>> import numpy as np
    >>> from microshrub_host import Stream, extract_features
    >>> values = np.arange(200.0).reshape(100, 2)
    >>> recording = Stream("r", values, np.zeros(100, np.uint8), ("x", "y"), ("no", "yes"))
    >>> made = extract_features(recording, "window=50 hop=25 statistics=min,max")
    >>> made.feature_names
    ('x_min', 'x_max', 'y_min', 'y_max')
    >>> made.values.astype(int).tolist()
    [[0, 98, 1, 99], [50, 148, 51, 149], [100, 198, 101, 199]]

    """
    check_stream(stream, "extract_features")
    if isinstance(stream, NumberStream):
        options = FeatureOptions.of(settings.split(), Place(channels=stream.column_names))
        return ahead(extracted_numbers(stream, options, target), horizon, lags)
    options = FeatureOptions.of(settings.split(), Place(channels=stream.feature_names))
    return extracted(stream, options, shuffle)
