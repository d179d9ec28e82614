"""`microshrub stream` matches classes and columns by name, and refuses other samples."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest
from device_support import configuration, put_device

from microshrub_host.base.errors import UserError
from microshrub_host.simulation.feature_options import FeatureOptions
from microshrub_host.streams.stream import Stream
from microshrub_tools.board.simulated_device import Twin


def walks(
    columns: tuple[str, ...] = ("x", "y"), classes: tuple[str, ...] = ("rest", "run", "walk")
) -> Stream:
    """Return three samples, one of each class, whose values identify their columns."""
    values = np.array([[ord(name[0]) + k for name in columns] for k in range(3)], dtype=np.float64)
    labels = np.array([0, 1, 2], dtype=np.uint8)
    return Stream("walks.csv", values, labels, columns, classes)


@pytest.fixture
def twin(tmp_path: Path) -> Twin:
    stream = walks()
    shape = {"features": 2, "classes": 3}
    names = {"feature_names": stream.feature_names, "class_names": stream.class_names}
    put_device(tmp_path, configuration("ShrubEnsemble", shape, **names))
    return Twin(tmp_path)


def test_classes_and_columns_are_matched_by_name(twin: Twin) -> None:
    """A class in another position is not learned as the device's class of that position."""
    assert twin.labels(walks()).tolist() == [0, 1, 2]
    assert twin.labels(walks(classes=("walk", "rest", "run"))).tolist() == [2, 0, 1]
    rows = twin.raw_rows(walks())
    assert twin.raw_rows(walks(("y", "x"))).tolist() == rows.tolist()
    some = walks()
    some = Stream(
        "walks.csv", some.values[:2], np.array([1, 0], np.uint8), ("x", "y"), ("walk", "run")
    )
    assert twin.labels(some).tolist() == [1, 2]  # some of the classes are enough


def test_classes_and_columns_that_the_device_does_not_have_are_refused(twin: Twin) -> None:
    with pytest.raises(UserError, match=r"swim, .*classes rest, run, walk"):
        twin.labels(walks(classes=("rest", "swim", "walk")))
    with pytest.raises(UserError, match=r"feature z, .*feature y"):
        twin.raw_rows(walks(("x", "z")))


def test_values_that_the_devices_units_cannot_hold_are_reported(tmp_path: Path) -> None:
    """A device that was built with whole numbers learns 0.37 as 0."""
    stream = walks()
    names = {"feature_names": ("x", "y"), "class_names": stream.class_names}
    shape = {"features": 2, "classes": 3}
    put_device(tmp_path, configuration("ShrubEnsemble", shape, units=[(0, 0), (0, 1)], **names))
    twin = Twin(tmp_path)
    twin.raw_rows(stream)
    assert twin.notes == ()
    finer = dataclasses.replace(stream, values=np.array([[0.37, 0.5], [1.0, 0.1], [2, 1e10]]))
    assert twin.raw_rows(finer)[0].tolist() == [0, 5]
    large, rounded = twin.notes
    assert re.search(r"y, such as 1e\+10 .*large", large)
    assert re.search(r"x, such as 0\.37 .*rounded", rounded)


def test_samples_of_other_windows_are_refused(tmp_path: Path) -> None:
    stream = walks(("x",))
    made = [
        FeatureOptions.of([f"window={window}", "hop=4", "statistics=mean"]).extraction(("x",), 50)
        for window in (8, 16)
    ]
    names = {"feature_names": ["x"], "class_names": stream.class_names}
    shape = {"features": 1, "classes": 3}
    sensor = {"sensor": {"kind": "adc", "pins": [26], "rate": 50}, "extraction": made[0].options}
    put_device(tmp_path, configuration("ShrubEnsemble", shape, **names, **sensor))
    twin = Twin(tmp_path)
    assert len(twin.raw_rows(dataclasses.replace(stream, extraction=made[0]))) == 3
    with pytest.raises(UserError, match=r"another way: .*window=8 hop=4"):
        twin.raw_rows(dataclasses.replace(stream, extraction=made[1]))
    with pytest.raises(UserError, match=r"plain readings: .*window=8 hop=4"):
        twin.raw_rows(stream)
