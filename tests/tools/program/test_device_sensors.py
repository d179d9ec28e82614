"""The board's sensors in the real program on a real MicroPython.

The chips are missing: an object replaces the board, and its pins and registers give recorded
values. All else, from the register bytes to the frames on the line, is real.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from device_support import configuration
from recorded_board import AXES, READINGS, Clock, observe, recorded

from microshrub_host.library import loader
from microshrub_host.simulation.feature_extraction import Extractor
from microshrub_host.simulation.feature_options import FeatureOptions
from microshrub_tools.link.board_names import BoardNames
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.frames import Frame, pack
from microshrub_tools.link.messages import (
    STATUS,
    AnomalyStatus,
    DeviceStatus,
    RegressionErrors,
    anomaly,
    late_label,
    regression,
)
from microshrub_tools.link.serial_line import SerialLine
from microshrub_tools.watch.readings import of_observation

WINDOW, HOP, RATE = 16, 8, 500
SECOND = 1_000_000  # microseconds
WORDS = [f"window={WINDOW}", f"hop={HOP}", "turns=none"]
STATISTICS = FeatureOptions.of(WORDS).extraction(AXES).options


def motion(
    features: int = 36, extraction: dict[str, Any] | None = STATISTICS, **fields: Any
) -> dict[str, Any]:
    sensor = {"kind": "mpu6050", "scl": 1, "sda": 0, "i2c": 0, "address": 104, "rate": RATE,
        "axes": 6, "fifo": False,
    }  # fmt: skip

    parameters = {"features": features, "classes": 2, "window": 16, "trees": 4}
    config = configuration("ShrubEnsemble", parameters, sensor=sensor, warmup=4)
    return config | {"extraction": extraction} | fields


def features(window: np.ndarray[Any, Any]) -> list[int]:
    """Return the features of readings, shape (rows, 6)."""
    results = []
    for x in window.T.astype(np.int64):
        mean = x.sum() // len(x)
        signs = np.sign(x - mean)
        signs = signs[signs != 0]
        deviation = int(np.sqrt(((x - mean) ** 2).sum() // len(x)))
        energy = (x**2).sum() // len(x) // 4
        crossings = np.sum(signs[1:] != signs[:-1])
        results += [mean, deviation, x.min(), x.max(), crossings, energy]
    return [int(v) for v in results]


def test_features_of_a_motion_sensor_reach_the_pc(start: Any, tmp_path: Path) -> None:
    rows = recorded()
    clock = Clock(tmp_path)
    with HostLink(SerialLine(start(motion(), rows).port)) as link:
        assert link.connect().features == 36
        clock.go((WINDOW + 19 * HOP) * SECOND // RATE)
        seen = observe(link, 20)
    readings = np.array(rows)[:, [0, 1, 2, 4, 5, 6]]
    possible = [
        features(np.roll(readings, -begin, axis=0)[:WINDOW]) for begin in range(0, READINGS, HOP)
    ]
    first = possible.index(list(seen[0].values))
    for k, observed in enumerate(seen):
        assert list(observed.values) == possible[(first + k) % len(possible)]
        assert observed.label is None
    assert [o.number for o in seen] == list(range(1, 21))


def test_features_on_the_pc_match_those_of_the_board(start: Any, tmp_path: Path) -> None:
    """The features are made of the recording from its start, with filters, bands and turns."""
    readings = np.array(recorded())[:, [0, 1, 2, 4, 5, 6]].tolist()
    words = ["window=64", "hop=32", "bands=10-50,50-250", "high-pass=5", "statistics=min,max"]
    words.append("turns=ax:ay,gz:ax")
    extraction = FeatureOptions.of(words).extraction(AXES, RATE)
    extractor = Extractor(extraction)
    samples = [sample for reading in readings if (sample := extractor.take(reading))]
    clock = Clock(tmp_path)
    with HostLink(
        SerialLine(start(motion(len(samples[0]), extraction.options), recorded()).port)
    ) as link:
        link.connect()
        clock.go(READINGS * SECOND // RATE)
        assert [list(one.values) for one in observe(link, 10)] == samples[:10]


def test_without_extraction_a_reading_is_a_sample(start: Any) -> None:
    readings = np.array(recorded())[:, [0, 1, 2, 4, 5, 6]].tolist()
    with HostLink(SerialLine(start(motion(6, None), recorded()).port)) as link:
        link.connect()
        seen = [list(one.values) for one in observe(link, 20)]
    begin = readings.index(seen[0])
    assert seen == (readings * 2)[begin : begin + 20]


def test_observations_are_labelled_late(start: Any, tmp_path: Path) -> None:
    clock = Clock(tmp_path)
    with HostLink(SerialLine(start(motion(), recorded()).port)) as link:
        link.connect()
        clock.go((WINDOW + 11 * HOP) * SECOND // RATE)  # so that all labels are still pending
        seen = [o for o in observe(link, 12) if o.prediction.sample_id]
        assert len(seen) == 8  # after the warm-up
        for observed in seen:
            link.ask(late_label(observed.prediction.sample_id, 1))
        status = link.ask(STATUS)
        assert isinstance(status, DeviceStatus)
        assert status.samples == len(seen)


def test_readings_that_fail_are_left_out(start: Any) -> None:
    rows: list[Any] = recorded()
    rows[::3] = [None] * len(rows[::3])
    with HostLink(SerialLine(start(motion(), rows).port)) as link:
        link.connect()
        assert len(observe(link, 5)) == 5


def test_half_a_frame_blocks_nothing(start: Any) -> None:
    """As with a pulled cable, the sensor is still read, and the frame's rest may arrive later."""
    with HostLink(SerialLine(start(motion(), recorded()).port)) as link:
        link.connect()
        link._timeout = link._wait = 60.0  # so that a slow machine resends nothing
        observe(link, 2)
        frame = pack(Frame(STATUS.kind, link._session, 1, b""))
        for part in (frame[:5], frame[5:9]):
            link._line.write(part)
            link.observed.clear()
            assert len(observe(link, 10)) == 10
        link._line.write(frame[9:])
        assert isinstance(link.ask(STATUS), DeviceStatus)  # the same request again
        assert link.resent == 0


def analog(**fields: Any) -> dict[str, Any]:
    sensor = {"kind": "adc", "pins": [26, "A1", 28][::2], "rate": 200}
    parameters = {"features": 2, "classes": 2, "window": 8, "trees": 2}
    return configuration("ShrubEnsemble", parameters, sensor=sensor, warmup=4) | fields


def test_pins_with_a_button_are_learned(start: Any) -> None:
    text: list[bytes] = []
    config = analog(label_pin={"pin": 15, "pressed": 1, "released": 0}, text=True)
    with HostLink(SerialLine(start(config).port), on_text=text.append) as link:
        link.connect()
        seen = observe(link, 60)
        status = link.ask(STATUS)
    assert isinstance(status, DeviceStatus)
    assert status.samples >= 50
    for before, after in pairwise(seen):
        assert after.values[0] - before.values[0] == 100
        assert after.values[1] - after.values[0] == 2
        k = (after.values[0] - 26) // 100
        assert after.label == 1 - k // 5 % 2
    lines = b"".join(text).decode().splitlines()
    plotted = [line for line in lines if line.startswith("f0:")]
    assert len(plotted) >= 50
    assert all(line.split(" ")[2].startswith("label:") for line in plotted)


def test_samples_of_pins_have_their_anomaly_score(start: Any) -> None:
    text: list[bytes] = []
    config = analog(text=True, anomaly={"period": 9, "window": 5, "reach": 1})
    with HostLink(SerialLine(start(config).port), on_text=text.append) as link:
        link.connect()
        before = observe(link, 5)
        link.ask(anomaly(scores=True))
        link.observed.clear()
        seen = observe(link, 30)
        for _ in range(40):  # with an alarm in 9 samples, the first may come late
            answer = link.ask(anomaly(scores=True))
            assert isinstance(answer, AnomalyStatus)
            if answer.alarms:
                break
            seen = observe(link, 30)
    assert {one.prediction.score for one in before} == {None}
    assert answer.alarms > 0
    assert {one.prediction.anomalous for one in seen} <= {0, 1}
    assert None not in {one.prediction.score for one in seen}
    for earlier, later in pairwise(seen):
        assert later.values[1] - later.values[0] == 2
        assert later.values[0] > earlier.values[0]
    assert re.search(rb" pred:0 acc:0 anomaly:\d+\r\n", b"".join(text))


def test_pins_are_forecast_without_any_label(start: Any, tmp_path: Path) -> None:
    """The first pin rises by 100 with each sample, so the linear model learns its forecast."""
    text: list[bytes] = []
    config = analog(text=True) | {
        "learner": "LinearRegressor",
        "parameters": {"features": 3},
        "class_names": None,
        "warmup": 30,
        "regression": {"columns": 2, "column": 0, "horizon": 4, "lags": 2, "interval": 80},
    }
    clock = Clock(tmp_path)
    with HostLink(SerialLine(start(config).port), on_text=text.append) as link:
        link.connect()
        clock.go(SECOND * 40 // 200)
        observe(link, 40)  # the warm-up
        link.ask(regression(predictions=True))
        clock.go(SECOND * 100 // 200)
        seen = observe(link, 60)
        errors = link.ask(regression(predictions=True))
    assert isinstance(errors, RegressionErrors)
    assert errors.scored > 50
    assert errors.mae_nochange == 400
    outcomes = {one.prediction.number.outcome for one in seen if one.prediction.number}
    assert outcomes <= {1, 2}
    names = BoardNames(("0",), ("a", "b"), ((0, 0), (0, 0)))
    for one in seen:
        reading = of_observation(one, names)
        assert reading
        assert (reading.label, reading.has_label) == (None, False)
        assert reading.values == one.values
    lines = b"".join(text).decode().splitlines()
    assert re.fullmatch(r"f0:\d+ f1:\d+ pred_mid:\d+ pred_low:-?\d+ pred_high:\d+", lines[-2])


def test_a_feature_of_windows_is_forecast(start: Any, tmp_path: Path) -> None:
    """The forecast equals the PC's Forecaster's for the same samples, from the start."""
    readings = np.array(recorded())[:, [0, 1, 2, 4, 5, 6]].tolist()
    words = ["window=16", "hop=8", "statistics=mean", "plain=ay"]
    extraction = FeatureOptions.of(words).extraction(AXES, RATE)
    ahead = {"columns": 6, "column": 1, "ends": None, "horizon": 2, "lags": 1, "interval": None}
    config = motion(6, extraction.options) | {
        "learner": "LinearRegressor",
        "parameters": {"features": 6},
        "class_names": None,
        "regression": ahead,
    }
    extractor, library = Extractor(extraction, "python"), loader.load("python")
    forecaster = library.Forecaster(library.LinearRegressor(6), **ahead)
    expected: list[tuple[list[int], int]] = []
    for k, sample in enumerate(s for row in readings if (s := extractor.take(row))):
        if k < config["warmup"]:
            forecaster.observe(array("i", sample))
            if k == config["warmup"] - 1:
                forecaster.freeze()
            expected.append((sample, 0))
        else:
            expected.append((sample, forecaster.take(array("i", sample))))
    clock = Clock(tmp_path)
    with HostLink(SerialLine(start(config, recorded()).port)) as link:
        link.connect()
        link.ask(regression(predictions=True))
        clock.go(READINGS * SECOND // RATE)
        seen = [(list(o.values), o.prediction.number.predicted) for o in observe(link, 20)]
    assert seen == expected[:20]


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (motion(sensor=motion()["sensor"] | {"address": 105}), "no sensor answers at I2C address"),
        (motion(extraction=STATISTICS | {"hop": 0}), "hop has to be a whole number of 1..1024"),
        (motion(extraction={"window": 4}), "extraction has no hop"),
        (motion(5), "the sensor mpu6050 gives 36 features, the learner is for 5"),
        (motion(sensor=motion()["sensor"] | {"rate": 0}), "rate has to be a whole number"),
        (
            analog(parameters={"features": 1, "classes": 2}, feature_names=None),
            "the sensor adc gives 2 features, the learner is for 1",
        ),
    ],
)
def test_an_invalid_sensor_is_named(
    config: dict[str, Any], words: str, refused: Callable[[dict[str, Any]], str]
) -> None:
    assert words in refused(config)
