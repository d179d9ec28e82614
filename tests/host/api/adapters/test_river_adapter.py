"""The learners as classifiers of River: its own checks, its pipelines, and simulate's results."""

from __future__ import annotations

import copy
import math
import pickle
from array import array
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from river import checks, compose, datasets, evaluate, metrics, preprocessing
from tests_support import make_blobs

from microshrub_host.api.river_adapter import (
    HoeffdingTreeClassifier,
    ShrubClassifier,
    ThicketClassifier,
)
from microshrub_host.evaluation import prequential
from microshrub_host.library.learners import defaults, stream_parameters
from microshrub_host.models import model_files
from microshrub_host.streams.open_stream import open_stream
from microshrub_host.streams.stream import Stream
from microshrub_host.streams.units import Scale
from microshrub_tools.cli.main import main

ADAPTERS: dict[str, Any] = {"shrub": ShrubClassifier, "hoeffding": HoeffdingTreeClassifier}
SETTINGS: dict[str, dict[str, Any]] = {
    "shrub": {"window": 16, "trees": 4, "depth": 3},
    "hoeffding": {"grace_period": 20, "tie_threshold": 0.5},
}
WARMUPS: dict[str, dict[str, Any]] = {
    "all_is_warmup": {},
    "short_warmup": {"warmup": 5, "classes": 7},
}


def _checks() -> list[Any]:
    """Return all of River's checks for each classifier."""
    results = []
    for model, adapter in ADAPTERS.items():
        for warmup, settings in WARMUPS.items():
            learner = adapter(**SETTINGS[model], **settings)
            for number, check in enumerate(checks.yield_checks(learner)):
                name = f"{model}-{warmup}-{check.__name__}-{number}"
                results.append(pytest.param(learner, check, id=name))
    return results


@pytest.mark.parametrize(("learner", "check"), _checks())
def test_rivers_estimator_checks_pass(learner: Any, check: Any) -> None:
    check(learner.clone())


def samples(stream: Stream) -> list[tuple[dict[str, float], str]]:
    names = stream.class_names
    rows = [dict(zip(stream.feature_names, r, strict=True)) for r in stream.values.tolist()]
    return list(zip(rows, [names[c] for c in stream.labels], strict=True))


def blobs(count: int = 600) -> Stream:
    rows, labels = make_blobs(count)
    return Stream("blobs", rows / 100, labels, ("b", "a"), ("no", "yes"))


@pytest.mark.parametrize("model", list(ADAPTERS))
@pytest.mark.parametrize("source", ["blobs", "river:ImageSegments", "synth:sea_a"])
def test_accuracy_equals_that_of_simulate(model: str, source: str) -> None:
    stream = blobs() if source == "blobs" else open_stream(source, limit=1500)
    shape = stream_parameters(model, stream, 256)
    result = prequential.evaluate(stream, model, shape | SETTINGS[model])
    learner = ADAPTERS[model](
        classes=stream.class_names, features=stream.feature_names, **SETTINGS[model]
    )
    pairs = samples(stream)
    learner.warm_up([x for x, _ in pairs[:256]], Scale.fit(stream.values))
    right = []
    for x, y in pairs:
        right.append(learner.predict_one(x) == y)
        learner.learn_one(x, y)
    assert np.array_equal(right, result.right)
    assert learner._online._states().learner == result.states.learner


def test_a_pipeline_can_be_validated_progressively() -> None:
    learner = ShrubClassifier(window=64, trees=16, depth=6, step=0.3)
    pipeline = preprocessing.StandardScaler() | learner
    score = evaluate.progressive_val_score(datasets.ImageSegments(), pipeline, metrics.Accuracy())
    assert score.get() > 0.7  # the first 256 are predicted from class frequencies
    assert isinstance(pipeline, compose.Pipeline)


def test_labels_of_any_type_are_in_order_of_appearance() -> None:
    learner = ShrubClassifier(warmup=4, engine="python", classes=3)
    labels: list[Any] = [("a", 1), "", True]
    for i in range(60):
        learner.learn_one({"v": i % 3}, labels[i % 3])
    assert [learner.predict_one({"v": v}) for v in range(3)] == labels
    assert list(learner.predict_proba_one({"v": 0})) == labels
    with pytest.raises(ValueError, match=r"label 7 is new.* only 3: .* classes="):
        learner.learn_one({"v": 1}, 7)


def test_features_may_come_later_or_be_missing() -> None:
    learner = HoeffdingTreeClassifier(warmup=8, features=("a", "late"), classes=2, engine="python")
    for i in range(20):
        learner.learn_one({"a": i % 2, "other": i}, i % 2)
    assert learner._online._quantizer.missing == 20
    learner.learn_one({"late": 3.5}, 1)
    learner.learn_one({"a": None, "late": math.nan}, 1)
    assert learner._online._quantizer.missing == 23
    assert learner.predict_one({}) in (0, 1)


@pytest.mark.parametrize("value", ["red", [1], 1j])
def test_values_that_are_no_numbers_are_refused_before_any_change(value: Any) -> None:
    learner = ShrubClassifier(engine="python")
    before = pickle.dumps(learner)
    with pytest.raises(ValueError, match=r"feature 'colour' .* not a number"):
        learner.learn_one({"size": 1, "colour": value}, 0)
    assert pickle.dumps(learner) == before


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ({"size": 1}, None, "the label is missing: None"),
        ({"size": 1}, math.nan, "the label is missing: nan"),
        ({"size": math.inf}, 0, "the feature 'size' is infinite"),
        ({"size": -math.inf}, 1, "the feature 'size' is infinite"),
    ],
)
@pytest.mark.parametrize("learned", [0, 5, 20])
def test_a_sample_that_cannot_be_learned_changes_nothing(
    x: Any, y: Any, message: str, learned: int
) -> None:
    """The refused sample may be the first one, one of the warm-up, or a later one."""
    learner = ShrubClassifier(engine="python", warmup=10)
    for number in range(learned):
        learner.learn_one({"size": number}, number % 2)
    before = pickle.dumps(learner)
    with pytest.raises(ValueError, match=message):
        learner.learn_one(x, y)
    assert pickle.dumps(learner) == before


def test_an_error_names_only_some_of_many_labels() -> None:
    learner = ShrubClassifier(engine="python", classes=list(range(100)))
    with pytest.raises(ValueError, match=r"only 100: 0, 1, .*, 11, \.\.\."):
        learner.learn_one({"size": 1}, "new")


def test_predicting_changes_nothing() -> None:
    learner, twin = (ShrubClassifier(warmup=10, engine="python") for _ in range(2))
    for x, y in samples(blobs(60)):
        learner.learn_one(x, y)
        twin.learn_one(x, y)
        learner.predict_one({"a": 1e9})
        learner.predict_proba_one({})
    quantizers = [each._online._quantizer.save() for each in (learner, twin)]
    assert quantizers[0] == quantizers[1]


@pytest.mark.parametrize("model", list(ADAPTERS))
@pytest.mark.parametrize("engine", ["fastest", "python"])
def test_copies_learn_the_same(model: str, engine: str) -> None:
    learner = ADAPTERS[model](warmup=50, engine=engine, **SETTINGS[model])
    pairs = samples(blobs(300))
    for x, y in pairs[:150]:
        learner.learn_one(x, y)
    copies = [learner, pickle.loads(pickle.dumps(learner)), copy.deepcopy(learner)]
    for each in copies:
        for x, y in pairs[150:]:
            each.learn_one(x, y)
    states = [each._online._states() for each in copies]
    assert states[0] == states[1] == states[2]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"window": 1}, "window .* 2..1024, not 1"),
        ({"warmup": 0}, "warmup has to be 1 or more"),
        ({"engine": "micropython"}, "engine .* fastest, c, llvm, python"),
        ({"classes": 1}, "classes .* 2..256, not 1"),
        ({"classes": "walk"}, "classes has to be a list, or how many, not 'walk'"),
        ({"features": 3}, "features .* names, not 3"),
        ({"features": "size"}, "features .* names, not 'size'"),
    ],
)
def test_wrong_parameters_are_refused_at_once(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ShrubClassifier(**settings)
    with pytest.raises(TypeError):
        ShrubClassifier(windw=3)


def test_adapters_have_the_parameters_of_their_learners() -> None:
    for model, adapter in ADAPTERS.items():
        parameters = adapter()._get_params()
        assert {n: parameters[n] for n in defaults(model)} == defaults(model)


@pytest.mark.parametrize("model", list(ADAPTERS))
def test_the_saved_model_predicts_the_same(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    learner = ADAPTERS[model](warmup=50, **SETTINGS[model])
    with pytest.raises(ValueError, match="there is nothing to save"):
        learner.save(tmp_path / "m.mshrub")
    stream = blobs()
    for x, y in samples(stream):
        learner.learn_one(x, y)
    learner.save(tmp_path / "m.mshrub")
    opened = model_files.open_model(tmp_path / "m.mshrub")
    assert opened.file.feature_names == ("a", "b")
    assert set(opened.file.class_names) == {"no", "yes"}
    assert opened.file.accuracy > 70
    for x, _ in samples(stream)[:100]:
        raw = opened.file.scale.apply(np.array([[x["a"], x["b"]]]))
        codes = _codes(opened, raw)
        assert opened.file.class_names[opened.learner.predict(codes)] == learner.predict_one(x)
    assert main(["show", str(tmp_path / "m.mshrub")]) == 0
    assert "600 samples" in capsys.readouterr().out


def _codes(opened: model_files.OpenModel, raw: Any) -> Any:
    codes = array("H", bytes(2 * raw.size))
    opened.quantizer.encode(array("i", raw.ravel().tolist()), codes)
    return codes


def test_digits_keeps_decimals_that_the_warm_up_lacks() -> None:
    kept = ShrubClassifier(warmup=4, digits=3, engine="python")
    for i in range(200):
        kept.learn_one({"v": i % 2 if i < 4 else 0.25 * (i % 2)}, i % 2)
    assert [kept.predict_one({"v": v}) for v in (0, 0.25)] == [0, 1]
    with pytest.raises(ValueError, match=r"digits=9 .* 5"):
        ShrubClassifier(warmup=1, digits=9, engine="python").learn_one({"v": 5}, 0)


def test_a_warm_up_without_labels_needs_classes_and_comes_first() -> None:
    with pytest.raises(ValueError, match="give classes="):
        ShrubClassifier(engine="python").warm_up([{"v": 1}])
    learner = ShrubClassifier(engine="python", classes=2)
    with pytest.raises(ValueError, match="no samples"):
        learner.warm_up([])
    learner.learn_one({"v": 1}, "a")
    with pytest.raises(ValueError, match="before the first learn_one"):
        learner.warm_up([{"v": 1}])


@pytest.mark.parametrize("few", [4096, 8192, 16384])
def test_a_small_size_is_enough_for_few_features_and_classes(few: int) -> None:
    """Before the warm-up, the numbers of features and classes are unknown."""
    learner = ThicketClassifier(bytes=few, warmup=50, engine="python")
    for x, y in samples(blobs(200)):
        learner.learn_one(x, y)
    assert learner._raw_memory_usage <= few + 200  # and the quantizer's bytes
    assert ThicketClassifier(bytes=few, features=["a", "b"], classes=3, engine="python")
    with pytest.raises(ValueError, match="bytes has to be"):
        ThicketClassifier(bytes=few, features=[f"f{k}" for k in range(256)], classes=256)
    with pytest.raises(ValueError, match="bytes has to be"):
        ThicketClassifier(bytes=10)


def test_too_few_bytes_are_reported_at_the_end_of_the_warm_up() -> None:
    learner = ThicketClassifier(bytes=2048, warmup=2, engine="python")
    learner.learn_one({f"f{k}": k for k in range(200)}, "a")
    with pytest.raises(ValueError, match="bytes has to be"):
        learner.learn_one({f"f{k}": k for k in range(200)}, "b")


def test_saving_ends_the_warm_up(tmp_path: Path) -> None:
    learner = ShrubClassifier(engine="python", classes=3)
    for x, y in samples(blobs(20)):
        learner.learn_one(x, y)
    learner.save(tmp_path / "m.mshrub")
    file = model_files.read(tmp_path / "m.mshrub")
    assert (file.samples, file.class_names[2]) == (20, "class 2")
