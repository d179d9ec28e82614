"""The regressors under River's and scikit-learn's checks, compared with `simulate`."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from river import checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from microshrub_host.api import river_adapter, sklearn_adapter
from microshrub_host.base.errors import AdapterError
from microshrub_host.evaluation.regression import evaluate_numbers
from microshrub_host.library.learners import defaults
from microshrub_host.models import model_files
from microshrub_host.streams.regression_streams import NumberStream
from microshrub_tools.cli.main import main

SETTINGS: dict[str, dict[str, Any]] = {
    "Linear": {},
    "Shrub": {"window": 60, "trees": 4, "leaves": 12},
    "Thicket": {"bytes": 4000},
}
CALLED = {"Linear": "LinearRegression"}  # names in River and scikit-learn


def of_river(name: str, **options: Any) -> Any:
    return getattr(river_adapter, CALLED.get(name, f"{name}Regressor"))(
        **SETTINGS[name], **options
    )


def of_sklearn(name: str, **options: Any) -> Any:
    return getattr(sklearn_adapter, CALLED.get(name, f"{name}Regressor"))(
        **SETTINGS[name], **options
    )


@parametrize_with_checks([of_sklearn(name, engine="python") for name in ("Linear", "Shrub")])
def test_scikit_learns_estimator_checks_pass(estimator: Any, check: Any) -> None:
    check(estimator)


def _checks() -> list[Any]:
    results = []
    for name, warmup in (("Linear", 20), ("Shrub", 256)):
        for number, check in enumerate(checks.yield_checks(of_river(name, warmup=warmup))):
            label = f"{name}-{check.__name__}-{number}"
            results.append(pytest.param(of_river(name, warmup=warmup), check, id=label))
    return results


@pytest.mark.parametrize(("learner", "check"), _checks())
def test_rivers_estimator_checks_pass(learner: Any, check: Any) -> None:
    check(learner.clone())


def stream(count: int = 500) -> NumberStream:
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 900, (2, count)) / 10
    return NumberStream("sum", np.column_stack([a, b, 3 * a - b]), ("a", "b", "y"), 2, 0, 0)


def simulated(name: str) -> Any:
    model = f"{name.lower()}-regressor"
    shape = {"features": 2} | ({"late": 0} if name == "Thicket" else {})
    return evaluate_numbers(stream(), model, defaults(model) | SETTINGS[name] | shape)


@pytest.mark.parametrize("name", SETTINGS)
def test_scikit_learns_regressors_have_the_bits_of_simulate(name: str) -> None:
    data = stream()
    whole, parts = of_sklearn(name), of_sklearn(name)
    whole.partial_fit(data.columns[:, :2], data.targets)
    for at in range(0, 500, 300):
        parts.partial_fit(data.columns[at : at + 300, :2], data.targets[at : at + 300])
    wanted = simulated(name).states
    for learner in (whole, parts):
        assert learner.online_._states().learner == wanted.learner
        assert learner.online_._states().more["target"] == wanted.more["target"]
    predicted = whole.predict(data.columns[:9, :2])
    assert np.array_equal(predicted, parts.predict(data.columns[:9, :2]))
    assert np.array_equal(
        predicted, pickle.loads(pickle.dumps(whole)).predict(data.columns[:9, :2])
    )
    assert whole.score(data.columns[:, :2], data.targets) > 0.7


@pytest.mark.parametrize("name", SETTINGS)
def test_rivers_regressors_predict_as_simulate_does(name: str) -> None:
    data, wanted = stream(), simulated(name)
    learner = of_river(name)
    predictions = []
    for row in data.columns:
        x = {"a": row[0], "b": row[1]}
        predictions.append(learner.predict_one(x))
        learner.learn_one(x, row[2])
    assert np.array_equal(predictions[256:], wanted.predictions[256:])
    assert learner._online._states().learner == wanted.states.learner
    assert predictions[:2] == [0.0, data.targets[0]]
    errors = [np.abs(p - data.targets)[64:256].mean() for p in (predictions, wanted.predictions)]
    assert errors[0] < 1.1 * errors[1], "it predicts during the warm-up, too"


def test_predictions_have_the_decimals_of_the_targets() -> None:
    data = stream()
    rows, targets = data.columns[:, :2], (data.targets / 40).round()
    whole = of_sklearn("Thicket").fit(rows, targets).predict(rows)
    finer = of_sklearn("Thicket").fit(rows, 100 * targets).predict(rows) / 100
    assert np.array_equal(whole, whole.round())
    assert len(set(finer)) > len(set(whole))


def test_a_target_that_changes_its_units_in_the_warm_up_is_learned() -> None:
    learner = of_river("Linear")
    for i in range(100):
        learner.learn_one({"a": i % 5}, i % 5 if i < 70 else (i % 5) / 1000)
        assert abs(learner.predict_one({"a": i % 5})) <= 4
    learner.learn_one({"a": 1}, 1e9)
    assert learner.predict_one({}) <= 1e9


@pytest.mark.parametrize("make", [of_river, of_sklearn])
def test_a_saved_model_can_be_shown_and_built(
    make: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, learner = stream(), make("Linear", warmup=50)
    if make is of_river:
        for row in data.columns:
            learner.learn_one({"a": row[0], "b": row[1]}, row[2])
        expected = learner.predict_one({"a": 5.0, "b": 6.0})
    else:
        learner.fit(data.columns[:, :2], data.targets)
        expected = learner.predict([[5.0, 6.0]])[0]
    path = tmp_path / "m.mshrub"
    learner.save(path)
    file = model_files.read(path)
    assert (file.feature_names[-1], file.samples) == ("target", 500)
    assert main(["show", str(path), "--row", "5,6,0"]) == 0
    assert capsys.readouterr().out.strip() == f"target: {expected:.10g}"
    built = ["build", "--model", str(path), "--board", "rpi_pico", "--output", str(tmp_path / "o")]
    assert main(built) == 0


def test_wrong_arguments_are_reported() -> None:
    with pytest.raises(AdapterError, match=r"^window .* 8"):
        river_adapter.ShrubRegressor(window=3)
    with pytest.raises(AdapterError, match=r"^warmup .* 1 or more"):
        river_adapter.LinearRegression(warmup=0)
    with pytest.raises(AdapterError, match="there is nothing to save"):
        river_adapter.LinearRegression().save("no.mshrub")
    with pytest.raises(AttributeError, match="SoftmaxRegressor"):
        _ = river_adapter.SoftmaxRegressor


@pytest.mark.parametrize("target", [None, float("nan"), float("inf"), "7"])
@pytest.mark.parametrize("learned", [0, 5, 30])
def test_a_target_that_is_not_a_number_changes_nothing(target: Any, learned: int) -> None:
    """The target is also checked during the warm-up, whose end would be too late for an error."""
    learner = of_river("Linear", warmup=20)
    for number in range(learned):
        learner.learn_one({"x": number}, 2.0 * number)
    predicted = learner.predict_one({"x": 3})
    before = pickle.dumps(learner)
    with pytest.raises(AdapterError, match="target has to be"):
        learner.learn_one({"x": 3}, target)
    assert pickle.dumps(learner) == before
    assert learner.predict_one({"x": 3}) == predicted
