"""The adapters' classifiers with spare classes: an unknown label takes one of them."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microshrub_host.api.river_adapter import HoeffdingTreeClassifier, ShrubClassifier
from microshrub_host.models import model_files
from microshrub_tools import Sensor, build

SETTINGS: dict[str, Any] = {"window": 32, "trees": 4, "depth": 3, "engine": "python"}


def sample(i: int) -> dict[str, int]:
    """Return a sample of one of three kinds, in turn."""
    return {"a": 100 * (i % 3) + i % 7, "b": i % 5}


def test_river_learns_a_label_that_comes_later(tmp_path: Path) -> None:
    """The label is predicted from then on, also by copies,
    and a board uses the remaining spare classes.
    """
    learner = ShrubClassifier(warmup=20, spare_classes=2, **SETTINGS)
    for i in range(60):
        if i % 3 < 2:
            learner.learn_one(sample(i), ("walk", "rest")[i % 3])
    assert learner.predict_one(sample(2)) in ("walk", "rest")
    for i in range(60, 160):
        learner.learn_one(sample(i), ("walk", "rest", "stairs")[i % 3])
    predictions = [learner.predict_one(sample(i)) for i in range(3)]
    assert predictions == ["walk", "rest", "stairs"]
    assert list(learner.predict_proba_one(sample(0))) == predictions
    for each in (pickle.loads(pickle.dumps(learner)), copy.deepcopy(learner)):
        each.learn_one(sample(2), "fall")
        assert pickle.loads(pickle.dumps(each)).predict_one(sample(2)) in (*predictions, "fall")
        with pytest.raises(ValueError, match=r"only 4: .* spare_classes="):
            each.learn_one(sample(2), "swim")
    path = tmp_path / "walk.mshrub"
    learner.save(path)
    file = model_files.read(path)
    assert file.class_names == ("walk", "rest", "stairs", "spare 2")
    assert file.spare is not None
    assert model_files.open_model(path).spare.novelty.waiting == 0
    build(path, "rpi_pico", output=tmp_path / "out", sensor=Sensor.adc(pins=(26, 27)))
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert config["class_names"] == list(file.class_names)
    assert config["spare_classes"]["classes"] == 2


def test_scikit_learn_learns_a_class_that_comes_later(tmp_path: Path) -> None:
    sklearn_adapter = pytest.importorskip("microshrub_host.api.sklearn_adapter")
    rows = np.array([list(sample(i).values()) for i in range(150)], dtype=float)
    labels = np.array([("walk", "rest", "climbing")[i % 3] for i in range(150)])
    known = labels != "climbing"
    model = sklearn_adapter.ShrubClassifier(spare_classes=2, **SETTINGS)
    model.fit(rows[known], labels[known])
    assert list(model.classes_) == ["rest", "walk"]
    assert model.partial_fit(rows, labels) is model
    assert list(model.classes_) == ["rest", "walk", "climbing"]
    assert list(model.predict(rows[:3])) == ["walk", "rest", "climbing"]
    assert model.predict_proba(rows[:3]).shape == (3, 3)
    model.partial_fit(rows[:2], labels[:2], classes=["walk", "rest"])
    with pytest.raises(ValueError, match=r"class 'd', .* no spare class"):
        model.partial_fit(rows[:2], ["c", "d"])
    model.save(tmp_path / "m.mshrub")
    names = model_files.read(tmp_path / "m.mshrub").class_names
    assert names == ("rest", "walk", "climbing", "spare 2")
    plain = sklearn_adapter.ShrubClassifier(**SETTINGS).fit(rows[known], labels[known])
    with pytest.raises(ValueError, match="not one of"):
        plain.partial_fit(rows, labels)


def test_an_impossible_number_of_spare_classes_is_refused() -> None:
    with pytest.raises(ValueError, match=r"spare_classes .* 0\.\.255, not -1"):
        HoeffdingTreeClassifier(spare_classes=-1)
    with pytest.raises(ValueError, match="classes is a list"):
        HoeffdingTreeClassifier(spare_classes=2, classes=5)
    learner = ShrubClassifier(warmup=2, spare_classes=1, **SETTINGS)
    for i in range(2):
        learner.learn_one(sample(i), "walk")
    with pytest.raises(ValueError, match=r"1\.\.16 bytes of text"):
        learner.learn_one(sample(2), "a name that is far too long")
    assert learner.predict_one(sample(0)) == "walk"
