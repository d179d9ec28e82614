"""The options of --features in the user's words, and the samples made from readings."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from microshrub_host.base.errors import UserError
from microshrub_host.evaluation import prequential
from microshrub_host.models import model_files
from microshrub_host.simulation.feature_extraction import Extractor, extracted, extraction_of
from microshrub_host.simulation.feature_options import FeatureOptions
from microshrub_host.simulation.recording_clock import timed
from microshrub_host.streams.stream import Stream

CHANNELS = ("ax", "ay")


def options(words: str) -> FeatureOptions:
    return FeatureOptions.of(words.split())


def recording(rows: int = 400, **fields: object) -> Stream:
    rng = np.random.default_rng(2)
    labels = (np.arange(rows) // 50 % 2).astype(np.uint8)
    values = rng.integers(-500, 500, (rows, 2)).astype(np.float64) * (1 + labels[:, None])
    return Stream("walk.csv", values, labels, CHANNELS, ("rest", "walk"), **fields)  # type: ignore[arg-type]


def test_all_options_are_parsed() -> None:
    parsed = options(
        "window=128 hop=16 statistics=max,mean bands=0-4,4-50 band-pass=0.5-20 rate=100 zero=5"
    )
    made = parsed.extraction(CHANNELS).options
    assert (made["window"], made["hop"], made["zero"]) == (128, 16, [5, 5])
    assert made["statistics"] == [0, 3]
    assert made["bands"] == [[0, 5], [6, 64]]  # 0.78 Hz apart; 50 Hz is half the rate
    assert [form for form, _ in made["filters"]] == ["high", "low"]
    names = parsed.names(CHANNELS)
    assert names[:4] == ("ax_mean", "ax_max", "ax_0-4Hz", "ax_4-50Hz")


def test_bands_that_meet_share_no_frequency() -> None:
    bands = options("bands=0-1.6,1.6-3.2,3.2-10").extraction(CHANNELS, 20).options["bands"]
    assert bands == [[0, 5], [6, 10], [11, 32]]


def test_default_features_are_six_statistics_of_64_readings() -> None:
    extraction = options("window=64").extraction(CHANNELS, 50).options
    assert (extraction["hop"], extraction["statistics"], extraction["bands"]) == (
        32,
        [0, 1, 2, 3, 4, 5],
        [],
    )
    assert options("window=9").hop == 4
    assert options("window=1 low-pass=2").names(CHANNELS) == CHANNELS


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("window=0", "window .* 1..1,024, not 0"),
        ("window=2000", "window .* 1..1,024"),
        ("hop=x", "hop .* 1..1,024, not 'x'"),
        ("window=100 bands=auto", "window of 32, .* 512 readings"),
        ("windw=3", "--features has no windw. Did you mean window?"),
        ("window=100 bands=1-2", "window of 32, .* 512 readings"),
        ("bands=3-60", "3-60 Hz .* 100 readings"),
        ("bands=3-3.1", "1.5625 Hz apart, .* 3-3.1 Hz"),
        ("bands=4-3", "4-3 Hz ends before it begins"),
        ("bands=4", "'4' is not a band"),
        ("bands=1.2.3-4", "'1.2.3-4' is not a band"),
        ("low-pass=45", "100 readings .* 0.05..40 Hz"),
        ("high-pass=0.001", "cut-off .* 0.05..40 Hz"),
        ("high-pass=x", "high-pass .* 0, not 'x'"),
        ("low-pass=1 high-pass=2", "high-pass .* below .* low-pass"),
        ("low-pass=1 band-pass=1-2", "leave the others out"),
        ("statistics=median", "statistics has no median. .* mean"),
        ("statistics=none bands=none", "there is no feature"),
        ("zero=1,2,3", "zero has 3 .* 2 values"),
        ("zero=a", "zero .* whole number, not 'a'"),
        ("plain=az", "plain: .* no az"),
        ("rate=50 low-pass=1", "rate=50: .* 100 readings"),
    ],
)
def test_impossible_options_are_refused(words: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        options(words).extraction(CHANNELS, 100)
    assert re.search(message, str(error.value))


def test_hertz_need_a_rate() -> None:
    with pytest.raises(UserError, match=r": rate=100$"):
        options("bands=1-2").extraction(CHANNELS)
    with pytest.raises(UserError, match=r"64 values .* 384, .* 256"):
        options("window=4").extraction([str(k) for k in range(64)])


def test_a_recording_becomes_the_boards_samples() -> None:
    stream = recording()
    chosen = options("window=32 hop=10 bands=5-20 rate=50 low-pass=10")
    made = extracted(stream, chosen)
    extractor = Extractor(chosen.extraction(CHANNELS), "python")
    samples = [
        (sample, label)
        for row, label in zip(stream.values.astype(int).tolist(), stream.labels, strict=True)
        if (sample := extractor.take(row))
    ]
    assert made.values.tolist() == [sample for sample, _ in samples]
    assert made.labels.tolist() == [label for _, label in samples]
    assert made.feature_names == chosen.names(CHANNELS)
    assert made.scale.units() == [(0, 0)] * len(made.feature_names)
    mixed = extracted(stream, chosen, shuffle=3)
    assert sorted(mixed.values.tolist()) == sorted(made.values.tolist())
    assert mixed.values.tolist() != made.values.tolist()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (40000, "-32,768..32,767. .* 0..65535, add zero="),
    ],
)
def test_readings_that_no_board_can_have_are_refused(value: float, message: str) -> None:
    stream = recording()
    stream.values[30, 1] = value
    with pytest.raises(UserError, match=message):
        extracted(stream, options("window=16"))
    stream.values[30, 1] = np.nan
    assert len(extracted(stream, options("window=16")).values) == 49
    with pytest.raises(UserError, match=r"400 readings, .* --features .* 500"):
        extracted(recording(), options("window=500"))


def test_decimals_are_multiplied_by_a_suitable_factor() -> None:
    """A sensor's axes share a factor; whole numbers stay unchanged."""
    whole = recording()
    assert extracted(whole, options("window=16")).extraction.scale == ()
    values = whole.values / [100, 1000, 1][: whole.values.shape[1]]
    made = extracted(replace(whole, values=values), options("window=16"))
    assert made.extraction.scale_chosen
    assert made.extraction.scale[0] == made.extraction.scale[1]
    assert extraction_of(made.extraction.saved()) == made.extraction
    chosen = extracted(replace(whole, values=values), options("window=16 scale=50"))
    assert set(chosen.extraction.scale) == {50}
    assert not chosen.extraction.scale_chosen
    with pytest.raises(UserError, match="scale has 5 numbers"):
        extracted(whole, options("window=16 scale=1,2,3,4,5"))


def test_a_clock_gives_the_rate_and_no_window_spans_a_gap() -> None:
    times = np.concatenate([np.arange(0, 100), np.arange(150, 250)]) / 100
    values = np.column_stack([times, np.arange(200) % 7])
    labels = np.zeros(200, np.uint8)
    stream = Stream("r", values, labels, ("Time (s)", "x"), ("a",))
    readings, note = timed(stream, None)
    assert readings.feature_names == ("x",)
    assert (readings.rate, readings.starts) == (100, (100,))
    assert "1 gap" in note
    made = extracted(readings, options("window=64 hop=16"))
    assert made.times.tolist() == [63, 79, 95, 163, 179, 195]
    half, _ = timed(stream, 50)
    assert (half.samples, half.starts) == (100, (50,))
    assert half.values[:3, 0].tolist() == [0, 2, 4]
    with pytest.raises(UserError, match="--features resample needs"):
        timed(readings, 50)


def test_a_saved_model_contains_its_feature_options() -> None:
    stream = extracted(recording(), options("window=32 hop=4 bands=5-20 rate=50"))
    features = len(stream.feature_names)
    parameters = {"features": features, "classes": 2, "window": 8, "trees": 2}
    result = prequential.evaluate(stream, "shrub", parameters, engine="python", warmup=9)
    packed = model_files.packed(model_files.of_run(result, stream))
    assert b'"bands"' in packed
    assert stream.extraction
    assert stream.extraction.words == (
        "made of windows of 32 readings, 50 a second, one after every 4"
    )
    assert extraction_of(stream.extraction.saved()) == stream.extraction
    for wrong in ({}, None, stream.extraction.saved() | {"options": {"window": 3}}):
        with pytest.raises(ValueError, match="no valid extraction"):
            extraction_of(wrong)
