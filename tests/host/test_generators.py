"""River's data sets and the synthetic streams: reproducible, cut by a limit, cached."""

import os
import subprocess
import sys
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from river.datasets.synth import Agrawal

from microshrub_host import generators
from microshrub_host.generators import PERIOD, SYNTH_NAMES, WIDTH
from microshrub_host.streams import DataError, open_stream

SHAPES = {"agrawal": (40, 2), "led": (24, 10), "rbf": (10, 5), "sea": (3, 2)}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MICROSHRUB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "streams"


@pytest.fixture
def no_generating(monkeypatch):
    def refuse(*_):
        raise AssertionError("generated, though the cache has it")

    return lambda: monkeypatch.setattr(generators, "_generate", refuse)


# River's data sets


def test_image_segments():
    stream = open_stream("river:ImageSegments")
    assert stream.values.shape == (2310, 18)
    assert stream.feature_names[0] == "region-centroid-col"
    assert stream.class_names == (
        *("brickface", "cement", "foliage", "grass", "path", "sky", "window"),
    )
    assert stream.class_names[stream.labels[0]] == "path"


@pytest.mark.parametrize("name", generators.river_names())
def test_every_shipped_data_set(name):
    stream = open_stream(f"river:{name}")
    assert stream.name == f"river:{name}"
    assert stream.values.shape == (len(stream.labels), len(stream.feature_names))
    assert np.isfinite(stream.values).all()
    assert set(stream.labels) == set(range(len(stream.class_names)))
    assert len(open_stream(f"river:{name}", limit=1).labels) == 1


def test_shipped_names():
    assert {"Bananas", "ImageSegments", "Phishing"} <= set(generators.river_names())
    assert not {"Elec2", "Insects", "SolarFlare", "Yeast"} & set(generators.river_names())


def test_booleans_text_and_missing_values():
    codes: dict[str, int] = {}
    values = [generators._value(value, codes) for value in (True, False, "b", "a", "b", 2.5)]
    assert values == [1, 0, 0, 1, 0, 2.5]
    assert np.isnan(generators._value(None, codes))


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("river:Elec2", ["no", "Bananas", "ImageSegments", "Phishing"]),
        ("river:imagesegments", ["Did you mean ImageSegments?"]),
        ("synth:agrawal", ["Did you mean agrawal_", "sea_a"]),
        ("synth:", ["led_a"]),
    ],
)
def test_unknown_names(source, words):
    with pytest.raises(DataError) as caught:
        open_stream(source)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("argument", [{"label": "y"}, {"classes": "0,1"}])
@pytest.mark.parametrize("source", ["river:Phishing", "synth:sea_a"])
def test_label_and_classes_are_for_files(source, argument):
    with pytest.raises(DataError, match="for files"):
        open_stream(source, **argument)


# Synthetic streams


@pytest.mark.parametrize("name", SYNTH_NAMES)
def test_shape_seed_and_limit(name, monkeypatch, tmp_path):
    long = open_stream(f"synth:{name}", limit=1500)
    monkeypatch.setenv("MICROSHRUB_CACHE", str(tmp_path / "another"))
    short = open_stream(f"synth:{name}", limit=500)
    features, classes = SHAPES[name.split("_")[0]]
    assert long.values.shape == (1500, features)
    assert len(set(long.feature_names)) == features
    assert long.class_names == tuple(map(str, range(classes)))
    assert set(long.labels) == set(range(classes))
    np.testing.assert_array_equal(short.values, long.values[:500])
    np.testing.assert_array_equal(short.labels, long.labels[:500])


def test_agrawal_is_one_hot_and_changes_its_function():
    stream = open_stream("synth:agrawal_a", limit=2 * PERIOD + 1000)
    for feature, count in (("elevel=", 5), ("car=", 20), ("zipcode=", 9)):
        columns = [name.startswith(feature) for name in stream.feature_names]
        assert sum(columns) == count
        assert (stream.values[:, columns].sum(axis=1) == 1).all()
    age = stream.values[:, stream.feature_names.index("age")]
    agrees = stream.labels == ((age < 40) | (age >= 60))  # function 0
    assert agrees[:PERIOD].all()
    assert not agrees[PERIOD : PERIOD + 20].all()
    salary = stream.values[:, 0]
    assert [_function(1, *pair) for pair in zip(salary, age, strict=True)][
        PERIOD : 2 * PERIOD
    ] == stream.labels[PERIOD : 2 * PERIOD].tolist()


def _function(number, salary, age):
    function = getattr(Agrawal, f"_classification_function_{number}")
    return function(salary, 0, age, 0, 0, 0, 0, 0, 0)


def _turns(samples, width):
    recipe = generators._Recipe(
        lambda turn: iter(lambda: ({}, turn), None), 4, 4, ("x0",), {}, width
    )
    return np.array([turn for _, turn in islice(generators._take_turns(recipe), samples)])


def test_abrupt_turns():
    turns = _turns(5 * PERIOD, 0)
    np.testing.assert_array_equal(turns, np.arange(5 * PERIOD) // PERIOD % 4)


def test_gradual_turns_mix_around_each_change():
    turns = _turns(5 * PERIOD, WIDTH)
    for change in range(1, 5):
        middle, new = change * PERIOD, change % 4
        near = turns[middle - WIDTH // 2 : middle + WIDTH // 2]
        assert set(near) == {new, (change - 1) % 4}
        assert 0.45 < (near == new).mean() < 0.55
        before = turns[middle - WIDTH : middle - WIDTH // 2] == new
        after = turns[middle + WIDTH // 2 : middle + WIDTH] == new
        assert 0.02 < before.mean() < 0.12  # the mean of the sigmoid there is 0.06
        assert 0.88 < after.mean() < 0.98
    assert (turns[: PERIOD // 2] == 0).all()


def test_led_drift_swaps_relevant_features():
    stream = open_stream("synth:led_a", limit=PERIOD + 5000)
    digit = (stream.labels[:, None] == np.arange(10)).astype(float)

    def informative(rows):
        means = digit[rows].T @ stream.values[rows] / digit[rows].sum(axis=0)[:, None]
        return set(np.flatnonzero(means.max(axis=0) - means.min(axis=0) > 0.4))

    first, second = informative(slice(0, PERIOD)), informative(slice(PERIOD, None))
    assert len(first) == len(second) == 7
    assert len(first & set(range(7))) == 6
    assert len(second & set(range(7))) == 4


def test_sea_noise_and_thresholds():
    stream = open_stream("synth:sea_a", limit=2 * PERIOD)
    total = stream.values[:, 0] + stream.values[:, 1]
    for turn, threshold in enumerate((8, 9)):
        rows = slice(turn * PERIOD, (turn + 1) * PERIOD)
        wrong = (total[rows] > threshold) != stream.labels[rows]
        assert 0.09 < wrong.mean() < 0.11


def test_shuffle_draws_from_the_whole_stream(monkeypatch):
    monkeypatch.setattr(generators, "SAMPLES", 2000)
    whole = open_stream("synth:sea_a")
    cut = open_stream("synth:sea_a", shuffle=3, limit=100)
    order = np.random.default_rng(3).permutation(2000)[:100]
    np.testing.assert_array_equal(cut.values, whole.values[order])
    assert len(open_stream("synth:sea_a", shuffle=3, limit=2500).labels) == 2500


def test_progress_counts_rows():
    seen = []
    open_stream("synth:sea_a", limit=2500, progress=lambda *pair: seen.append(pair))
    assert seen == [(1000, 2500), (2000, 2500), (2500, 2500)]


# The cache


def test_a_longer_cached_stream_serves_a_shorter_limit(no_generating):
    long = open_stream("synth:sea_a", limit=300)
    no_generating()
    short = open_stream("synth:sea_a", limit=200)
    np.testing.assert_array_equal(short.values, long.values[:200])
    with pytest.raises(AssertionError):
        open_stream("synth:sea_a", limit=301)


def test_the_key_holds_the_versions(cache, monkeypatch, no_generating):
    open_stream("synth:sea_a", limit=300)
    (path,) = cache.iterdir()
    assert path.name.startswith("sea_a-300-river")
    monkeypatch.setattr(generators, "GENERATOR_VERSION", 10**6)
    no_generating()
    with pytest.raises(AssertionError):
        open_stream("synth:sea_a", limit=300)


def test_names_do_not_mix(no_generating):
    open_stream("synth:led_a", limit=50)
    no_generating()
    with pytest.raises(AssertionError):
        open_stream("synth:led_g", limit=50)


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "text", "other arrays", "folder"])
def test_a_broken_cache_file_is_made_again(cache, damage):
    good = open_stream("synth:sea_a", limit=300)
    (path,) = cache.iterdir()
    data = bytearray(path.read_bytes())
    if damage == "other arrays":
        np.savez(path, values=np.zeros((300, 4)), labels=np.zeros(300, np.uint8))
    elif damage == "folder":
        path.unlink()
        path.mkdir()
    else:
        data[len(data) // 2] ^= 0xFF
        broken = {"empty": b"", "cut": data[: len(data) // 2], "flipped": data, "text": b"hello"}
        path.write_bytes(broken[damage])
    again = open_stream("synth:sea_a", limit=300)
    np.testing.assert_array_equal(again.values, good.values)
    if damage != "folder":
        with np.load(path) as file:
            np.testing.assert_array_equal(file["values"], good.values)


def test_an_import_does_not_load_river():
    code = "import sys, microshrub_host.generators; print('river' in sys.modules)"
    path = str(Path(generators.__file__).parents[1])
    env = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.stdout == "False\n"


def test_no_cache_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("MICROSHRUB_CACHE", str(tmp_path / "file" / "cache"))
    assert len(open_stream("synth:sea_a", limit=100).labels) == 100
