"""River's data sets and the synthetic streams: reproducible, cut by a limit, cached."""

import os
import subprocess
import sys
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from river import datasets
from river.datasets.synth import Agrawal

from microshrub_host.base.errors import DataError
from microshrub_host.streams import generators, recipes, sklearn_sets
from microshrub_host.streams.generators import SYNTH_NAMES
from microshrub_host.streams.open_regression_stream import open_numbers
from microshrub_host.streams.open_stream import open_stream
from microshrub_host.streams.recipes import PERIOD, WIDTH, Recipe

SHAPES = {  # features and classes by a prefix of the name; the longest prefix counts
    "agrawal": (9, 2), "agrawal_a": (40, 2), "agrawal_g": (40, 2), "bg1": (6, 2),
    "hyper": (10, 2), "led": (24, 10), "random_tree_5_3": (5, 5), "rbf_10": (10, 2),
    "rbf_50": (50, 2), "rbf_f": (10, 5), "rbf_m": (10, 5), "sea": (3, 2),
    "unseen_agrawal": (9, 2), "unseen_led": (7, 10), "unseen_rbf": (8, 4),
    "unseen_rbf_drift": (6, 3), "unseen_sea": (3, 2), "unseen_sine": (2, 2),
    "unseen_clusters": (12, 6), "unseen_hyperplane": (8, 2), "unseen_mixed": (4, 2),
    "unseen_random_tree": (10, 4), "unseen_waveform": (21, 3),
    "clusters": (10, 5), "sine": (2, 2), "stagger": (3, 2), "trees": (10, 4),
    "changing_agrawal": (9, 2), "changing_sea": (3, 2), "changing_sine": (2, 2),
    "changing_stagger": (3, 2),
}  # fmt: skip
CHANGES = ("agrawal_8_to_2_at_600", "bg1_0_to_1_at_600", "sea_2_to_3_at_600")


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


def test_image_segments_have_values_and_classes():
    stream = open_stream("river:ImageSegments")
    assert stream.values.shape == (2310, 18)
    assert stream.feature_names[0] == "region-centroid-col"
    assert stream.class_names == (
        *("brickface", "cement", "foliage", "grass", "path", "sky", "window"),
    )
    assert stream.class_names[stream.labels[0]] == "path"


@pytest.mark.parametrize("name", generators.river_names())
def test_every_shipped_data_set_can_be_opened(name):
    stream = open_stream(f"river:{name}")
    assert stream.name == f"river:{name}"
    assert stream.values.shape == (len(stream.labels), len(stream.feature_names))
    assert np.isfinite(stream.values).all()
    assert set(stream.labels) == set(range(len(stream.class_names)))
    assert len(open_stream(f"river:{name}", limit=1).labels) == 1


@pytest.mark.parametrize("name", sklearn_sets.CLASSES)
def test_every_data_set_of_scikit_learn_can_be_opened(name):
    stream = open_stream(f"sklearn:{name}")
    assert stream.values.shape == (len(stream.labels), len(stream.feature_names))
    assert np.isfinite(stream.values).all()
    assert set(stream.labels) == set(range(len(stream.class_names)))


def test_a_data_set_of_scikit_learn_has_its_own_names():
    stream = open_stream("sklearn:iris")
    assert stream.class_names == ("setosa", "versicolor", "virginica")
    assert stream.feature_names[0] == "sepal_length_(cm)"
    numbers = open_numbers("sklearn:diabetes")
    assert numbers.columns.shape == (442, 11)
    assert numbers.column_names[-1] == "target"


def test_a_data_set_that_river_has_downloaded_can_be_opened(monkeypatch, tmp_path):
    monkeypatch.setenv("RIVER_DATA", str(tmp_path))
    header = "date,day,period,nswprice,nswdemand,vicprice,vicdemand,transfer,class\n"
    dates = (datasets.Elec2().size - len(header)) // 1000 - 34  # River checks the file's size
    row = "0.1{:0<%d},2,0.1,0.2,0.4,0.1,0.2,0.3,{}\n"
    rows = [(row % dates).format(k, ("DOWN", "UP")[k % 2]) for k in range(1000)]
    file = tmp_path / "Elec2" / "electricity.csv"
    file.parent.mkdir()
    size = datasets.Elec2().size
    text = header + "".join(rows)
    file.write_text(text.replace("0.1", "0.1" + "0" * (size - len(text)), 1))
    stream = open_stream("river:Elec2", limit=500)
    assert stream.feature_names[3] == "nswprice"
    assert len(stream.class_names) == 2


def test_only_shipped_data_sets_are_listed():
    assert {"Bananas", "ImageSegments", "Phishing"} <= set(generators.river_names())
    assert not {"Elec2", "Insects", "SolarFlare", "Yeast"} & set(generators.river_names())


def test_booleans_and_texts_become_numbers():
    codes: dict[str, int] = {}
    values = [generators.in_numbers(value, codes) for value in (True, False, "b", "a", "b", 2.5)]
    assert values == [1, 0, 0, 1, 0, 2.5]
    assert np.isnan(generators.in_numbers(None, codes))


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("river:Yeast", ["not", "Bananas", "ImageSegments", "Phishing"]),
        ("river:Elec2", ["downloaded", "datasets.Elec2().download()"]),
        ("sklearn:digit", ["Did you mean digits?"]),
        ("sklearn:diabetes", ["classification"]),
        ("river:imagesegments", ["Did you mean ImageSegments?"]),
        ("synth:agrawal", ["Did you mean agrawal_", "sea_a"]),
        ("synth:", ["led_a"]),
    ],
)
def test_unknown_names_are_refused(source, words, monkeypatch, tmp_path):
    monkeypatch.setenv("RIVER_DATA", str(tmp_path))
    with pytest.raises(DataError) as caught:
        open_stream(source)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("argument", [{"label": "y"}, {"classes": "0,1"}])
@pytest.mark.parametrize("source", ["river:Phishing", "synth:sea_a"])
def test_label_and_classes_are_only_for_files(source, argument):
    with pytest.raises(DataError, match="for files"):
        open_stream(source, **argument)


# Synthetic streams


@pytest.mark.parametrize("name", [*SYNTH_NAMES, *CHANGES, "random_tree_5_3_1"])
def test_a_stream_has_a_shape_a_seed_and_a_limit(name, monkeypatch, tmp_path):
    long = open_stream(f"synth:{name}", limit=1500)
    monkeypatch.setenv("MICROSHRUB_CACHE", str(tmp_path / "another"))
    short = open_stream(f"synth:{name}", limit=500)
    features, classes = SHAPES[max(filter(name.startswith, SHAPES), key=len)]
    assert long.values.shape == (1500, features)
    assert len(set(long.feature_names)) == features
    assert long.class_names == tuple(map(str, range(classes)))
    assert set(long.labels) == set(range(classes))
    np.testing.assert_array_equal(short.values, long.values[:500])
    np.testing.assert_array_equal(short.labels, long.labels[:500])


def test_changing_concepts_change_every_4000_samples():
    stream = open_stream("synth:changing_stagger", limit=20_000)
    turns = [open_stream(f"synth:stagger_{number}", limit=4000) for number in (0, 1, 2, 0, 1)]
    np.testing.assert_array_equal(stream.values[:4000], turns[0].values)
    for turn, other in enumerate(turns):
        part = slice(4000 * turn, 4000 * (turn + 1))
        known = {tuple(row): y for row, y in zip(other.values.tolist(), other.labels, strict=True)}
        predicted = [known[tuple(row)] for row in stream.values[part].tolist()]
        np.testing.assert_array_equal(predicted, stream.labels[part])


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
    recipe = Recipe(lambda turn: iter(lambda: ({}, turn), None), 4, 4, ("x0",), {}, width)
    return np.array([turn for _, turn in islice(recipes.take_turns(recipe), samples)])


def test_abrupt_changes_come_at_each_period():
    turns = _turns(5 * PERIOD, 0)
    np.testing.assert_array_equal(turns, np.arange(5 * PERIOD) // PERIOD % 4)


def test_gradual_changes_mix_concepts_around_each_change():
    turns = _turns(5 * PERIOD, WIDTH)
    for change in range(1, 5):
        middle, new = change * PERIOD, change % 4
        near = turns[middle - WIDTH // 2 : middle + WIDTH // 2]
        assert set(near) == {new, (change - 1) % 4}
        assert 0.45 < (near == new).mean() < 0.55
        before = turns[middle - WIDTH : middle - WIDTH // 2] == new
        after = turns[middle + WIDTH // 2 : middle + WIDTH] == new
        assert 0.02 < before.mean() < 0.12  # the mean of the sigmoid is 0.06
        assert 0.88 < after.mean() < 0.98
    assert (turns[: PERIOD // 2] == 0).all()


def test_a_change_takes_a_tenth_of_the_samples_before_it():
    at = 20_000
    stream = open_stream(f"synth:bg1_0_to_1_at_{at}", limit=2 * at)
    true = stream.values.reshape(-1, 2, 3).all(axis=2)
    old, new = ((true[:, turn] == stream.labels) for turn in (0, 1))
    for rows, agree, other in (
        (slice(0, at - at // 10), old, new),
        (slice(at + at // 10, None), new, old),
    ):
        assert 0.88 < agree[rows].mean() < 0.92
        assert 0.7 < other[rows].mean() < 0.75  # 0.9 * 50/64 + 0.1 * 14/64
    middle = slice(at - at // 40, at + at // 40)  # half of these samples are of the new concept
    for agree in (old, new):
        assert 0.77 < agree[middle].mean() < 0.85


@pytest.mark.parametrize("variant", [0, 1])
def test_bg1_is_a_conjunction_with_a_tenth_of_noise(variant):
    stream = open_stream(f"synth:bg1_{variant}", limit=20_000)
    assert set(np.unique(stream.values)) == {0, 1}
    np.testing.assert_allclose(stream.values.mean(axis=0), 0.5, atol=0.02)
    true = stream.values[:, 3 * variant : 3 * variant + 3].all(axis=1)
    assert abs(true.mean() - 1 / 8) < 0.01
    assert abs((true != stream.labels).mean() - 0.1) < 0.01
    assert abs((true != stream.labels)[true].mean() - 0.1) < 0.02
    assert abs(stream.labels.mean() - 0.2) < 0.01  # 1/8 * 0.9 + 7/8 * 0.1


@pytest.mark.parametrize("function", range(10))
def test_agrawal_with_a_number_is_rivers_function(function):
    stream = open_stream(f"synth:agrawal_{function}", limit=1000)
    rule = getattr(Agrawal, f"_classification_function_{function}")
    predicted = [rule(*row) for row in stream.values.tolist()]
    np.testing.assert_array_equal(predicted, stream.labels)


@pytest.mark.parametrize(("variant", "threshold"), [(0, 8), (1, 9), (2, 7), (3, 9.5)])
def test_sea_with_a_number_has_its_threshold(variant, threshold):
    stream = open_stream(f"synth:sea_{variant}", limit=5000)
    wrong = (stream.values[:, :2].sum(axis=1) > threshold) != stream.labels
    assert 0.08 < wrong.mean() < 0.12


@pytest.mark.parametrize("classes", [2, 5])
def test_a_random_tree_gives_equal_samples_one_class(classes):
    stream = open_stream(f"synth:random_tree_{classes}_3_7", limit=3000)
    assert set(np.unique(stream.values)) == {0, 1, 2}
    cells, which = np.unique(stream.values, axis=0, return_inverse=True)
    assert len(cells) == 3**5
    pairs = {(int(cell), int(label)) for cell, label in zip(which, stream.labels, strict=True)}
    assert len(pairs) == 3**5
    assert set(stream.labels) == set(range(classes))
    other = open_stream(f"synth:random_tree_{classes}_3_8", limit=3000)
    assert (other.labels != stream.labels).any()


@pytest.mark.parametrize("name", ["agrawal_8", "bg1_0", "sea_2_to_3_at_5000"])
def test_irrelevant_features_have_no_information(name):
    plain = open_stream(f"synth:{name}", limit=10_000)
    wide = open_stream(f"synth:{name}_irrelevant_40", limit=10_000)
    columns = plain.values.shape[1]
    assert wide.name == f"synth:{name}_irrelevant_40"
    np.testing.assert_array_equal(wide.values[:, :columns], plain.values)
    np.testing.assert_array_equal(wide.labels, plain.labels)
    more = wide.values[:, columns:]
    assert more.shape == (10_000, 40)
    assert wide.feature_names[columns:] == tuple(f"irrelevant{i}" for i in range(40))
    assert (set(np.unique(more)) == {0, 1}) == name.startswith("bg1")
    everything = np.corrcoef(np.column_stack([more, plain.values, plain.labels]).T)
    among = np.abs(everything[:40] - np.eye(40, len(everything)))
    assert among.max() < 0.05  # five standard deviations
    few = open_stream(f"synth:{name}_irrelevant_40", limit=100)
    np.testing.assert_array_equal(few.values, wide.values[:100])


def test_the_cache_stores_streams_without_irrelevant_features(cache):
    open_stream("synth:sea_0_irrelevant_3", limit=50)
    open_stream("synth:sea_0_irrelevant_30", limit=50)
    assert [path.name.split("-")[0] for path in cache.iterdir()] == ["sea_0"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("agrawal_8_to_3", ["Did you mean agrawal_8?"]),
        ("agrawal_10_to_3_at_1000", ["no generated stream of classes"]),
        ("sea_0_to_4_at_1000", ["no generated stream of classes"]),
        ("led_0_to_1_at_1000", ["no generated stream of classes"]),
        ("sea_0_to_1_at_9", ["sample 10 or later"]),
        ("random_tree_1_3_1", ["2 to 256 classes", "2 values"]),
        ("random_tree_2_1_1", ["2 values"]),
        ("agrawal_a_irrelevant_217", ["257 features", "at most 256", "216"]),
        ("irrelevant_3", ["no generated stream of classes"]),
    ],
)
def test_impossible_recipes_are_refused(name, words):
    with pytest.raises(DataError) as caught:
        open_stream(f"synth:{name}", limit=10)
    for word in words:
        assert word in str(caught.value)


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


def test_sea_has_noise_and_thresholds():
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


def test_progress_counts_rows_of_generated_streams():
    seen = []
    open_stream("synth:sea_a", limit=2500, progress=lambda *pair: seen.append(pair))
    assert seen == [(1000, 2500), (2000, 2500), (2500, 2500)]


# The cache


def test_a_longer_cached_stream_is_used_for_a_shorter_limit(no_generating):
    long = open_stream("synth:sea_a", limit=300)
    no_generating()
    short = open_stream("synth:sea_a", limit=200)
    np.testing.assert_array_equal(short.values, long.values[:200])
    with pytest.raises(AssertionError):
        open_stream("synth:sea_a", limit=301)


def test_the_cache_key_has_the_versions(cache, monkeypatch, no_generating):
    open_stream("synth:sea_a", limit=300)
    (path,) = cache.iterdir()
    assert path.name.startswith("sea_a-300-river")
    monkeypatch.setattr(generators, "GENERATOR_VERSION", 10**6)
    no_generating()
    with pytest.raises(AssertionError):
        open_stream("synth:sea_a", limit=300)


def test_streams_with_different_names_share_no_cache_file(no_generating):
    open_stream("synth:led_a", limit=50)
    no_generating()
    with pytest.raises(AssertionError):
        open_stream("synth:led_g", limit=50)


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "text", "other arrays", "folder"])
def test_a_broken_cache_file_is_replaced(cache, damage):
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


def test_importing_the_generators_does_not_load_river():
    code = "import sys, microshrub_host.streams.generators; print('river' in sys.modules)"
    path = str(Path(generators.__file__).parents[2])
    env = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.stdout == "False\n"


def test_without_a_cache_streams_are_generated(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("MICROSHRUB_CACHE", str(tmp_path / "file" / "cache"))
    assert len(open_stream("synth:sea_a", limit=100).labels) == 100
