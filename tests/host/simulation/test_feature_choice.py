"""--features without values: windows, hops and bands for the sensor's rate and
the board's speed.
"""

from __future__ import annotations

import pytest

from microshrub_host.base.errors import UserError
from microshrub_host.boards import board_files
from microshrub_host.boards.counted_times import time_on
from microshrub_host.simulation.feature_choice import (
    Place,
    Work,
    band_edges,
    hop_for,
    turn_lags,
    window_for,
)
from microshrub_host.simulation.feature_extraction import Extractor
from microshrub_host.simulation.feature_options import FeatureOptions

RATES = (None, 0.1, 1, 10, 20, 50, 100, 200, 1000, 8000)


def named(channels: int) -> tuple[str, ...]:
    return tuple(f"c{k}" for k in range(channels))


def chosen(rate: float | None, channels: int = 3, words: str = "") -> FeatureOptions:
    return FeatureOptions.of(words.split(), Place(rate, named(channels)))


@pytest.mark.parametrize("rate", RATES)
def test_by_default_there_are_statistics_and_bands_of_a_window(rate: float | None) -> None:
    options = chosen(rate)
    names = named(3)
    extraction = options.extraction(names)
    made = extraction.options
    assert made["window"] in (32, 64, 128, 256, 512)
    assert 1 <= made["hop"] <= made["window"] // 2
    assert made["statistics"] == [0, 1, 4, 6, 7]
    assert len(made["bands"]) == 8
    assert Extractor(extraction, "python").features == len(set(options.names(names))) == 48


def test_a_faster_sensor_has_more_readings_in_a_window_and_at_most_a_second_of_them() -> None:
    windows = {rate: window_for(rate) for rate in (50, 100, 200, 400, 1000, 8000)}
    assert list(windows.values()) == sorted(windows.values())
    assert all(windows[rate] <= rate for rate in (100, 200, 400, 1000, 8000))
    assert window_for(10) / 10 > 10  # seconds: slow signals such as breath need long windows


@pytest.mark.parametrize("window", [32, 64, 128, 256, 512])
def test_bands_cover_all_frequencies_once_and_grow(window: int) -> None:
    bands = band_edges(window, 8)
    covered = [k for low, high in bands for k in range(low, high + 1)]
    assert covered == list(range(1, window // 2 + 1))
    widths = [high - low for low, high in bands]
    assert len(bands) == 8
    assert widths == sorted(widths)


def test_bands_are_named_in_hertz_if_the_rate_is_known() -> None:
    """Names have hertz also at 50 readings per second, where no band is above 25 Hz."""
    known = chosen(None, 1, "rate=50 statistics=none").names(["ax"])
    assert known[:4] == ("ax_peak", "ax_tone", "ax_overtone", "ax_0.781-1.56Hz")
    assert known[-1].endswith("-25Hz")
    assert chosen(None, 1, "bands=auto window=64 statistics=none").names(["ax"])[3] == "ax_band1"


def test_given_options_stay_and_the_others_are_chosen() -> None:
    options = chosen(100, 3, "hop=10 statistics=mean")
    assert (options.window, options.hop, options.statistics, len(options.chosen)) == (
        64,
        10,
        (0,),
        8,
    )
    assert chosen(100, 3, "window=128").chosen == ()
    assert chosen(100, 3, "bands=none").chosen == ()
    assert len(chosen(100, 3, "window=128 bands=auto").chosen) == 8
    assert chosen(100, 3, "bands=1-9").chosen == ()
    again = chosen(None, 3, "rate=100 " + " ".join(chosen(100).chosen_words))
    assert again == chosen(100)


def test_axes_of_one_sensor_have_turns() -> None:
    def turns(names: str, words: str = "window=64") -> list[str]:
        names_of_features = FeatureOptions.of(words.split()).names(names.split())
        return [name for name in names_of_features if "_turn" in name]

    def lags(*pairs: str) -> list[str]:
        return [f"{pair}_turn{lag}" for pair in pairs for lag in ("", "2", "4")]

    assert turns("ax ay az") == lags("ax_ay", "ax_az", "ay_az")
    assert turns("accel_x gyro_x Accel_Y t") == lags("accel_x_Accel_Y")
    assert not turns("a b max min x")
    assert not turns("ax ay az", "window=1")
    assert not turns("ax ay az", "window=64 turns=none")
    assert not turns("ax ay az", "window=64 statistics=mean")
    assert turns("ax ay az", "window=64 plain=az") == lags("ax_ay")
    assert turns("a b", "window=64 turns=b:a") == lags("b_a")
    for words in ("turns=a:c", "turns=a", "turns=a:a", "turns=a:b plain=b", "window=1 turns=all"):
        with pytest.raises(UserError, match="turns"):
            turns("a b", words)


@pytest.mark.parametrize("window", [2, 3, 4, 7, 8, 64, 512, 1024])
def test_lags_of_turns_grow_with_the_window_and_fit_into_it(window: int) -> None:
    lags = turn_lags(window)
    assert lags == sorted(set(lags))
    assert lags[0] == 1
    assert lags[-1] <= window / 2
    assert len(lags) == (3 if window >= 8 else 2 if window >= 4 else 1)
    assert window < 128 or lags[-1] == window // 16


@pytest.mark.parametrize("sensors", [1, 4, 5, 8, 9, 10, 11, 12])
def test_turns_have_as_many_lags_as_fit(sensors: int) -> None:
    names = [f"{axis}{k}" for k in range(sensors) for axis in "xyz"]
    options = FeatureOptions.of(["window=64"])
    features = len(options.names(names))
    lags = options.extraction(names).options.get("lags", [])
    pairs = 3 * sensors
    assert features == 6 * len(names) + pairs * len(lags) <= 256
    assert len(lags) == 3 or features + pairs > 256
    assert Extractor(options.extraction(names), "python").features == features


def test_many_channels_have_fewer_bands_and_never_too_many_features() -> None:
    for channels in (1, 18, 19, 30, 42, 64):
        names = named(channels)
        options = chosen(100, channels, "statistics=mean,deviation")
        assert len(options.names(names)) <= 256
        room = 256 // channels - 2
        assert len(options.tones) == (3 if room > 3 else 0)
        assert len(options.chosen) == min(8, room - len(options.tones))
    assert len(chosen(100, 42).names(named(42))) == 252


def test_the_hop_is_long_enough_for_the_board() -> None:
    pico = time_on(board_files.load("rpi_pico"), 4, 16_384)
    assert pico is not None
    for rate, channels in ((50, 3), (1000, 1), (1000, 6), (4000, 6)):
        options = FeatureOptions.of([], Place(rate, named(channels), pico))
        reading, sample = pico(options.work(named(channels)))
        busy = (options.hop * reading + sample) / (options.hop * 1e6 / rate)
        assert busy <= 0.5 or options.hop == 1024
    free = FeatureOptions.of([], Place(1000, named(6)))
    slow = FeatureOptions.of([], Place(1000, named(6), pico))
    assert slow.hop > free.hop
    assert FeatureOptions.of([], Place(50, named(3), pico)) == chosen(50)
    assert time_on(board_files.load("esp32"), 4, 16_384) is None  # its speed is unknown
    assert hop_for(Work(1, 64, True, True, 14), None, pico) == 16


def test_the_hop_includes_the_cost_of_turns() -> None:
    """Four sensors have twelve pairs of axes."""
    pico = time_on(board_files.load("rpi_pico"), 4, 16_384)
    assert pico is not None
    axes = tuple(f"{axis}{k}" for k in range(4) for axis in "xyz")
    with_turns, without = (
        FeatureOptions.of(words, Place(300, axes, pico)) for words in ([], ["turns=none"])
    )
    assert with_turns.work(axes).turns > without.work(axes).turns == 0
    assert pico(with_turns.work(axes))[1] > pico(without.work(axes))[1]
    assert with_turns.hop > without.hop
    assert FeatureOptions.of(["turns=ax:ay"]).work(()).turns == 0  # the values are unknown


def test_a_note_says_if_there_are_fewer_lags() -> None:
    few, many = named(11), named(12)
    assert FeatureOptions.of(["turns=all", "window=64"]).fewer_lags(few) == ""
    note = FeatureOptions.of(["turns=all", "window=64"]).fewer_lags(many)
    assert "at 2 of 3 lags" in note
    assert FeatureOptions.of(["turns=none", "window=64"]).fewer_lags(many) == ""
    assert FeatureOptions.of(["window=64"]).fewer_lags(many) == ""
    with pytest.raises(UserError, match=r"20 values .* 190 turns .* 310"):
        FeatureOptions.of(["turns=all", "window=64"]).extraction(named(20))


def test_the_time_matches_the_counted_instructions() -> None:
    """The estimate is within a fifth of `microshrub costs --features` for an
    emulated Cortex-M0.
    """
    board = board_files.load("rpi_pico")
    assert board.cost
    time = time_on(board, 2, 2048)
    assert time
    unit = board.cost.cycles * 1e6 / board.clock_hz
    nothing = time(Work(1, 0, True, True, 2))[1]  # the learner's time
    for window, statistics, bands, counted in (
        (64, True, False, 51_871), (128, False, True, 157_450), (512, False, True, 622_254),
    ):  # fmt: skip
        seconds = time(Work(1, window, statistics, bands, 2))[1] - nothing
        assert seconds / unit == pytest.approx(counted, rel=0.2)
