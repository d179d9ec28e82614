"""`parity --features` checks that all engines compute the same features."""

from __future__ import annotations

import numpy as np
import pytest

from microshrub_host.evaluation import parity
from microshrub_host.library import loader
from microshrub_host.simulation.feature_extraction import raw_readings
from microshrub_host.simulation.feature_options import FeatureOptions
from microshrub_host.streams.stream import Stream

WORDS = ["window=32", "hop=9", "bands=1-10,10-50", "band-pass=1-20", "rate=100"]


def recording() -> Stream:
    rng = np.random.default_rng(6)
    values = rng.integers(-9000, 9000, (300, 2)).astype(np.float64)
    values[::29, 0] = np.nan
    return Stream("r", values, np.zeros(300, np.uint8), ("x", "y"), ("no", "yes"))


@pytest.mark.usefixtures("micropython_command")
def test_engines_compute_the_same_features() -> None:
    stream, options = recording(), FeatureOptions.of(WORDS)
    extraction = options.extraction(stream.feature_names)
    names = ["python", loader.fastest(), "micropython"]
    assert parity.difference(stream.values, extraction, names) is None
    readings = raw_readings(stream.values)[:40]
    features = len(options.names(stream.feature_names))
    assert parity.samples(extraction, readings, "micropython").shape == (1, features)
