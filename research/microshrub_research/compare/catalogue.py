"""The contenders: our learners, simple baselines, River's learners, MOA's and soft trees.

A `Contender` is just a name and settings; `start` makes a `ContenderRun` from a contender, in the
process that runs it.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microshrub_host.base.errors import UserError
from microshrub_host.base.text import did_you_mean
from microshrub_host.library.learners import WARMUP
from microshrub_host.models import model_files
from microshrub_host.simulation.label_budget import LabelBudget
from microshrub_host.streams.stream import Stream

from .contender import NO_ANSWER, SEED, Contender, ContenderRun
from .label_budgets import UNKNOWN, GivenLabels, given_labels

_TEN = {"n_models": 10, "seed": SEED}
_RIVER: dict[str, tuple[str, dict[str, Any]]] = {
    "NaiveBayes": ("naive_bayes.GaussianNB", {}),
    "HoeffdingTree": ("tree.HoeffdingTreeClassifier", {}),
    "EFDT": ("tree.ExtremelyFastDecisionTreeClassifier", {}),
    "HAT": ("tree.HoeffdingAdaptiveTreeClassifier", {"seed": SEED}),
    "ARF": ("forest.ARFClassifier", _TEN),
    "SRP": ("ensemble.SRPClassifier", _TEN),
    "AMF": ("forest.AMFClassifier", {"n_estimators": 10, "seed": SEED}),
    "Bagging": ("ensemble.BaggingClassifier", {"model": "tree.HoeffdingTreeClassifier", **_TEN}),
}
_MOA: dict[str, tuple[str, dict[str, Any]]] = {
    "NaiveBayes": ("bayes.NaiveBayes", {}),
    "HoeffdingTree": ("trees.HoeffdingTree", {}),
    "EFDT": ("trees.EFDT", {}),
    "HAT": ("trees.HoeffdingAdaptiveTree", {}),
    "ARF": ("meta.AdaptiveRandomForest", {"-s": 10}),
    "SRP": ("meta.StreamingRandomPatches", {"-s": 10}),
    "SGBT": ("meta.StreamingGradientBoostedTrees", {}),
    "LeveragingBag": ("meta.LeveragingBag", {"-s": 10}),
    "OzaBag": ("meta.OzaBag", {"-s": 10}),
    "OnlineSmoothBoost": ("meta.OnlineSmoothBoost", {"-s": 10}),
    "ShrubsClassifier": ("ShrubsClassifier", {"l_ensemble_reg": 10}),
}


_WINDOW = "neighbours"
# Learners that have a second contender, with the last label as a feature
_WITH_LAST_LABEL = ("HoeffdingTree", "ARF", "SRP")
LAST_LABEL = "+last-label"  # the suffix of that contender's name


def _of(system: str, known: Mapping[str, tuple[str, dict[str, Any]]]) -> dict[str, Contender]:
    result = {f"{system}:{k}": Contender(f"{system}:{k}", system, *v) for k, v in known.items()}
    for name in _WITH_LAST_LABEL:
        longer = f"{system}:{name}{LAST_LABEL}"
        result[longer] = Contender(longer, system, *known[name], last_label=True)
    return result


PEERS: dict[str, Contender] = {
    "nochange": Contender("nochange", "baseline", "nochange"),
    "majority": Contender("majority", "baseline", "majority"),
    _WINDOW: Contender(_WINDOW, "baseline", _WINDOW),
    **_of("river", _RIVER),
    **_of("moa", _MOA),
    "torch:SoftTrees": Contender("torch:SoftTrees", "torch", "SoftTrees"),
}


def select(text: str, peers: Mapping[str, Contender] = PEERS) -> list[Contender]:
    """Return the peers of a list such as "nochange,river:HAT,moa"; "river" and "moa" are all of
    theirs.

    Raises UserError for an unknown peer, and for those that cannot run here.
    """
    result: dict[str, Contender] = {}
    for word in filter(None, (word.strip() for word in text.split(","))):
        group = {name: peer for name, peer in peers.items() if name.startswith(f"{word}:")}
        if word not in peers and not group:
            raise UserError(f"--peers: {word} is unknown. {did_you_mean(word, peers)}")
        result |= group or {word: peers[word]}
    if not result:
        raise UserError(
            "--peers names no learner; without the option, all that can run here take part."
        )
    require(result.values())
    return list(result.values())


def require(contenders: Iterable[Contender]) -> None:
    """Raise UserError, which tells how to install the missing part, if a contender cannot run."""
    for contender in contenders:
        missing = missing_for(contender.system)
        if missing:
            raise UserError(f"{contender.name} needs {missing}")


def missing_for(system: str) -> str:
    """Return what a system needs and how to get it; empty if nothing is missing."""
    if system == "torch" and importlib.util.find_spec("torch") is None:
        return "the package torch: pip install 'microshrub[bench]'"
    return missing_for_moa() if system == "moa" else ""


def missing_for_moa() -> str:
    """Return what MOA needs and how to get it; empty if nothing is missing."""
    if importlib.util.find_spec("capymoa") is None:
        return (
            "the package capymoa (Python 3.11 or newer) and a Java runtime: "
            "pip install 'microshrub[bench]'"
        )
    if java() is None:
        return (
            "a Java runtime: install one (on Debian default-jre-headless), or set JAVA_HOME to "
            "its folder"
        )
    return ""


def java() -> str | None:
    """Return the Java program of JAVA_HOME or, if that is not set, the first one on PATH.

    None if there is no such program.
    """
    home = os.environ.get("JAVA_HOME")
    return shutil.which(str(Path(home, "bin", "java")) if home else "java")


def start(
    contender: Contender,
    stream: Stream,
    warmup: int | None,
    label_budget: LabelBudget | None = None,
) -> ContenderRun:
    """Return the learner for this stream. The modules that it needs are imported only here.

    With `label_budget`, ours learn only the labels that they query, and the others as few of them.
    """
    system, learner, settings = contender.system, contender.learner, contender.settings
    if system == "ours":
        from . import our_learners

        return our_learners.OurLearner(learner, settings, stream, warmup, label_budget)
    if system == "saved":
        from . import our_learners

        return our_learners.OurLearner.saved(model_files.read(Path(learner)), stream)
    labels = given_labels(stream, label_budget)
    if system == "baseline" and learner != _WINDOW:
        return Baseline(learner, stream, labels)
    values = filled(stream.values, warmup or WARMUP)
    if contender.last_label:
        values = np.column_stack([values, last_labels(labels, len(stream.class_names))])
    if system == "baseline":
        from . import window_neighbours

        return window_neighbours.WindowNeighbours(values, labels, len(stream.class_names))
    if system == "river":
        from . import river_peers

        return river_peers.RiverLearner(learner, settings, values, labels)
    if system == "torch":
        from . import soft_trees

        return soft_trees.SoftTrees(settings, values, stream, labels)
    from . import moa_peers

    return moa_peers.start(learner, settings, values, stream, labels if label_budget else None)


def filled(values: NDArray[np.float64], warmup: int) -> NDArray[np.float64]:
    """Return the values with each missing one replaced by the feature's previous value.

    Our quantizer does the same.

    Without a previous value, it is the middle of the feature's range in the warm-up, or 0.
    """
    result: NDArray[np.float64] = values.copy()
    for column in result.T:
        known = ~np.isnan(column)
        early = column[:warmup][known[:warmup]]
        middle = (early.min() + early.max()) / 2 if len(early) else 0.0
        last = np.maximum.accumulate(np.where(known, np.arange(len(column)), -1))
        column[:] = np.where(last < 0, middle, column[last])
    return result


def last_labels(labels: GivenLabels, classes: int) -> NDArray[np.float64]:
    """Return a column for each class: 1 where the class is the last known label before a sample.

    A learner with these columns is called temporally augmented (Zliobaite, Bifet, Read,
    Pfahringer, Holmes: Evaluation methods and decision theory for classification of streaming data
    with temporal dependence, 2015).
    """
    known = np.where(labels == UNKNOWN, -1, np.arange(len(labels)))
    last = np.concatenate([[-1], np.maximum.accumulate(known)[:-1]])
    there = last >= 0
    result = np.zeros((len(labels), classes))
    result[np.flatnonzero(there), np.asarray(labels, np.intp)[last[there]]] = 1
    return result


class Baseline:
    """NoChange, which predicts the last known label, or MajorityClass, which predicts the most
    frequent one.

    Among equally frequent classes, it is the class with the lowest index.
    """

    def __init__(self, learner: str, stream: Stream, labels: GivenLabels) -> None:
        self._majority = learner == "majority"
        self._labels = labels
        self._counts = [0] * len(stream.class_names)
        self._says = NO_ANSWER

    def prepare(self, part: slice) -> list[int]:
        """Return the labels; a baseline needs nothing else."""
        result: list[int] = self._labels[part].tolist()
        return result

    def run(self, samples: list[int]) -> list[int]:
        predicted = []
        for label in samples:
            predicted.append(self._says)
            if label == UNKNOWN:
                continue
            if self._majority:
                self._counts[label] += 1
                label = self._counts.index(max(self._counts))
            self._says = label
        return predicted

    def nbytes(self) -> None:
        """Return None: a baseline has next to no memory to measure."""

    def shape(self) -> None:
        """Return None: a baseline is not a tree."""
