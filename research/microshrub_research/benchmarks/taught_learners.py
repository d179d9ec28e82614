"""The learners of `benchmark teach`: thickets, learners of River, and batch learners."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microshrub_host.base.errors import UserError
from microshrub_host.base.text import did_you_mean
from microshrub_host.evaluation import holdout, prequential
from microshrub_host.library import loader
from microshrub_host.library.learners import DEFAULT, MODELS, defaults
from microshrub_host.simulation import engines
from microshrub_host.streams.units import Scale

from ..compare.catalogue import PEERS, filled
from ..compare.contender import NO_ANSWER
from ..compare.river_peers import SCALED, make
from .lessons import Lesson
from .taught_sets import scikit

SIZES = (8192, 16_384, 65_536)
TREES = 100  # trees of a batch forest
WINDOW = 1000  # samples that KNN keeps by default
_WARMUP = 256  # samples that give the value for a feature that is missing in the first sample

Answers = NDArray[np.int64]  # classes, or NO_ANSWER


@dataclass(frozen=True)
class TaughtLearner:
    """A learner that answers a lesson: its test samples,
    or each sample of a prequential lesson.
    """

    name: str
    answers: Callable[[Lesson, int], Answers]  # arguments: the lesson, and a seed
    drawn: bool = True  # whether another seed gives other answers
    ours: bool = False
    batch: bool = False  # trained on all samples at once, so there are no predictions in between
    many: bool = False  # it needs more samples than classes

    def can(self, lesson: Lesson) -> bool:
        """Return whether the learner can take the lesson."""
        few = len(lesson.labels) <= lesson.classes
        return not ((self.batch and lesson.prequential) or (self.many and few))


@dataclass(frozen=True)
class _Thicket:
    size: int

    def __call__(self, lesson: Lesson, seed: int) -> Answers:
        shape = {"features": lesson.values.shape[1], "classes": lesson.classes}
        parameters = {**shape, **defaults(DEFAULT), "bytes": self.size, "seed": seed}
        scale = Scale.fit(np.concatenate([lesson.values, lesson.asked]))
        rows, labels = scale.apply(lesson.values), lesson.labels
        if not lesson.prequential:
            asked = scale.apply(lesson.asked)
            predicted = holdout.answers(DEFAULT, parameters, rows, labels, asked, warmup=0)
            return predicted.astype(np.int64)
        engine = loader.fastest()
        prequential.compile_kernels(DEFAULT, parameters, engine)
        with engines.start(engine, MODELS[DEFAULT], parameters, growing=True) as run:
            return run.run(rows, labels).astype(np.int64)


@dataclass(frozen=True)
class _River:
    start: Callable[[int], Any]  # returns a new learner for a seed

    def __call__(self, lesson: Lesson, seed: int) -> Answers:
        model = self.start(seed)
        taught, asked = (list(map(dict, map(enumerate, rows.tolist()))) for rows in _whole(lesson))
        predicted = []
        for row, label in zip(taught, lesson.labels.tolist(), strict=True):
            if lesson.prequential:
                predicted.append(model.predict_one(row))
            model.learn_one(row, label)
        predicted += [model.predict_one(row) for row in asked]
        return np.array(
            [NO_ANSWER if answer is None else answer for answer in predicted], np.int64
        )


@dataclass(frozen=True)
class _Batch:
    module: str
    learner: str
    settings: Mapping[str, Any]
    seeded: bool = True
    scaled: bool = False  # whether features are centred, and divided by their deviations

    def __call__(self, lesson: Lesson, seed: int) -> Answers:
        seeded = {"random_state": seed} if self.seeded else {}
        model = getattr(scikit(self.module), self.learner)(**self.settings, **seeded)
        if self.scaled:
            scaler = scikit("preprocessing").StandardScaler()
            model = scikit("pipeline").make_pipeline(scaler, model)
        taught, asked = _whole(lesson)
        if len(np.unique(lesson.labels)) < 2:
            return np.full(len(asked), lesson.labels[0], np.int64)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings about collinear features
            return np.asarray(model.fit(taught, lesson.labels).predict(asked), np.int64)


def _whole(lesson: Lesson) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return training and test values; a missing value is replaced by the feature's
    previous one.
    """
    values = filled(np.concatenate([lesson.values, lesson.asked]), _WARMUP)
    return values[: len(lesson.values)], values[len(lesson.values) :]


def _catalogue(name: str) -> _River:
    peer = PEERS[f"river:{name}"]

    def start(seed: int) -> Any:
        return make(
            peer.learner, {n: seed if n == "seed" else v for n, v in peer.settings.items()}
        )

    return _River(start)


def _softmax(_: int) -> Any:
    return make(f"{SCALED} | linear_model.SoftmaxRegression", {})


def _neighbours(_: int) -> Any:
    """Return a KNN with an exact search: the default search draws numbers without a seed."""
    from river import neighbors

    engine = neighbors.LazySearch(window_size=WINDOW)
    return make(SCALED, {}) | neighbors.KNNClassifier(engine=engine)


def thicket(size: int) -> TaughtLearner:
    """Return a thicket of `size` bytes whose ranges grow from the first sample on."""
    return TaughtLearner(f"{DEFAULT} {size >> 10} KB", _Thicket(size), ours=True)


RIVER: Mapping[str, TaughtLearner] = {
    learner.name: learner
    for learner in (
        TaughtLearner("NaiveBayes", _catalogue("NaiveBayes"), drawn=False),
        TaughtLearner("KNN", _River(_neighbours), drawn=False),
        TaughtLearner("softmax", _River(_softmax), drawn=False),
        TaughtLearner("HAT", _catalogue("HAT")),
        TaughtLearner("ARF", _catalogue("ARF")),
    )
}
_FOREST = {"n_estimators": TREES}
_SHRUNK = {"solver": "lsqr", "shrinkage": "auto"}
_LOGISTIC = _Batch(
    "linear_model", "LogisticRegression", {"max_iter": 1000}, seeded=False, scaled=True
)
_BAYES = _Batch("naive_bayes", "GaussianNB", {}, seeded=False)
_NEIGHBOURS = _Batch("neighbors", "KNeighborsClassifier", {}, seeded=False, scaled=True)
BATCH: Mapping[str, TaughtLearner] = {
    learner.name: learner
    for learner in (
        TaughtLearner(
            "extra-trees", _Batch("ensemble", "ExtraTreesClassifier", _FOREST), batch=True
        ),
        TaughtLearner("forest", _Batch("ensemble", "RandomForestClassifier", _FOREST), batch=True),
        TaughtLearner(
            "discriminant",
            _Batch("discriminant_analysis", "LinearDiscriminantAnalysis", _SHRUNK, seeded=False),
            drawn=False,
            batch=True,
            many=True,
        ),
        TaughtLearner("logistic", _LOGISTIC, drawn=False, batch=True),
        TaughtLearner(
            "bayes", _Batch("naive_bayes", "GaussianNB", {}, seeded=False), drawn=False, batch=True
        ),
        TaughtLearner("neighbours", _NEIGHBOURS, drawn=False, batch=True),
    )
}


def select(text: str, known: Mapping[str, TaughtLearner]) -> list[TaughtLearner]:
    """Return the learners of a list such as "HAT,ARF", all, or none.

    Raises UserError for an unknown one.
    """
    if text in ("all", "none"):
        return list(known.values()) if text == "all" else []
    words = list(dict.fromkeys(word.strip() for word in text.split(",")))
    for word in words:
        if word not in known:
            raise UserError(f"--peers: there is no {word!r}. {did_you_mean(word, known)}")
    return [known[word] for word in words]
