"""The learners as classifiers of scikit-learn: its own checks, and a model's file."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests_support import make_blobs

from microshrub_host.api.sklearn_adapter import HoeffdingTreeClassifier, ShrubClassifier
from microshrub_host.evaluation import prequential
from microshrub_host.library.learners import MODELS, stream_parameters
from microshrub_host.models import model_files
from microshrub_host.streams.stream import Stream
from microshrub_tools.cli.main import main

ADAPTERS: dict[str, Any] = {"shrub": ShrubClassifier, "hoeffding": HoeffdingTreeClassifier}


@parametrize_with_checks([adapter(engine="python") for adapter in ADAPTERS.values()])
def test_scikit_learns_estimator_checks_pass(estimator: Any, check: Any) -> None:
    check(estimator)


def frame(count: int = 600) -> tuple[pd.DataFrame, pd.Series]:
    rows, labels = make_blobs(count)
    names = np.array(["no", "yes"])
    return pd.DataFrame(rows / 100, columns=["b", "a"]), pd.Series(names[labels])


@pytest.mark.parametrize("model", list(ADAPTERS))
def test_two_batches_predict_like_one(model: str) -> None:
    x, y = frame()
    whole = ADAPTERS[model](window=16) if model == "shrub" else ADAPTERS[model]()
    parts = ADAPTERS[model](**whole.get_params())
    whole.partial_fit(x, y)
    for at in range(0, 600, 300):
        parts.partial_fit(x[at : at + 300], y[at : at + 300], classes=["yes", "no"])
    assert list(whole.classes_) == ["no", "yes"]
    assert np.array_equal(whole.predict_proba(x), parts.predict_proba(x))
    assert whole.score(x, y) > 0.7


@pytest.mark.parametrize("model", list(ADAPTERS))
def test_classifiers_have_the_bits_of_simulate(model: str) -> None:
    x, y = frame()
    stream = Stream("blobs", x.to_numpy(), (y == "yes").to_numpy(np.uint8), ("b", "a"), ("n", "y"))
    parameters = stream_parameters(model, stream, 256)
    result = prequential.evaluate(stream, model, parameters)
    assert ADAPTERS[model]().partial_fit(x, y).online_._states() == result.states


def test_classes_other_than_the_named_ones_are_refused() -> None:
    x, y = frame(20)
    learner = ShrubClassifier(engine="python").partial_fit(x, y, classes=["no", "yes"])
    before = learner.online_._states()
    with pytest.raises(ValueError, match=r"^y .* 'maybe', not one"):
        learner.partial_fit(x[:1], ["maybe"])
    with pytest.raises(ValueError, match=r"others than .* first call"):
        learner.partial_fit(x, y, classes=["no", "yes", "maybe"])
    assert learner.online_._states() == before
    with pytest.raises(ValueError, match="window has to be"):
        ShrubClassifier(window=1).fit(x, y)


@pytest.mark.parametrize("model", list(ADAPTERS))
def test_a_data_frame_becomes_a_model_file(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    x, y = frame()
    learner = ADAPTERS[model]().fit(x, y)
    learner.save(tmp_path / "m.mshrub")
    opened = model_files.open_model(tmp_path / "m.mshrub")
    assert (opened.file.feature_names, opened.file.class_names) == (("b", "a"), ("no", "yes"))
    assert opened.file.learner == MODELS[model]
    raw = opened.file.scale.apply(x.to_numpy())
    codes = array("H", bytes(4))
    predictions = []
    for row in raw.tolist():
        opened.quantizer.encode(array("i", row), codes)
        predictions.append(opened.file.class_names[opened.learner.predict(codes)])
    assert predictions == learner.predict(x).tolist()
    assert main(["show", str(tmp_path / "m.mshrub")]) == 0
    assert "600 samples" in capsys.readouterr().out


def test_a_grid_search_can_vary_the_learners_options() -> None:
    x, y = frame(200)
    grid = {"window": np.array([4, 32]), "loss": ["mse", "cross_entropy"]}
    search = GridSearchCV(ShrubClassifier(engine="python", trees=2), grid, cv=2).fit(x, y)
    assert search.best_score_ > 0.6
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()
