"""MOA's learners, through the Java virtual machine that the package capymoa starts.

MOA's classifiers are made from its own option strings, so they have MOA's own defaults, which
differ from the defaults of capymoa's classes. Bifet, Holmes, Kirkby, Pfahringer: MOA, JMLR 2010.
"""

from __future__ import annotations

import importlib
import os
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microshrub_host.streams.stream import Stream

from .contender import NO_ANSWER, SEED, ContenderRun
from .label_budgets import UNKNOWN, GivenLabels
from .tree_shape import Shape, moa_shape

_NO_WINDOW = 2**31 - 1
VARIABLE = "CAPYMOA_JVM_ARGS"
MEMORY = "-Xmx8g -Xss10M"  # capymoa's default
_MANIFEST = "Manifest-Version: 1.0\nPremain-Class: sizeof.agent.SizeOfAgent\n"
_OPENED = ("lang", "util", "util.concurrent", "util.concurrent.atomic", "util.random", "text")


def start(
    learner: str,
    settings: Mapping[str, Any],
    values: NDArray[np.float64],
    stream: Stream,
    labels: GivenLabels | None = None,
) -> ContenderRun:
    """Return the learner: MOA's, by its name in option strings, or capymoa's own ShrubsClassifier.

    With `labels`, it learns only those that are not UNKNOWN, in a loop in Python.
    """
    with tempfile.TemporaryDirectory(prefix="microshrub-") as folder:
        _start_java(Path(folder))
    samples = _Samples(values, stream)
    if learner == "ShrubsClassifier":
        return CapymoaLearner(learner, settings, samples, labels)
    options = option_string(learner, settings)
    if labels is not None:
        return MoaWithFewLabels(options, samples, labels)
    return MoaLearner(options, samples)


def option_string(learner: str, settings: Mapping[str, Any]) -> str:
    """Return the learner in the form of MOA's command line: `trees.EFDT -g 200 -c 1e-07`."""
    return " ".join([learner, *(f"{option} {value}" for option, value in settings.items())])


def _start_java(folder: Path) -> None:
    """Let capymoa start Java with an agent for MOA's measureByteSize.

    Java only loads an agent from an archive whose manifest names it, as MOA's does; the agent also
    needs access to Java's own objects. If the path has a space, which Java does not accept, the
    bytes are not measured.
    """
    agent = folder / "sizeof.jar"
    with zipfile.ZipFile(agent, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", _MANIFEST)
    words = [os.environ.get(VARIABLE, MEMORY)]
    if " " not in str(agent):
        words.append(f"-javaagent:{agent}")
        words += [f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in _OPENED]
    os.environ[VARIABLE] = " ".join(words)
    importlib.import_module("capymoa")


class _Samples:
    """The stream as MOA's instances: numbers, and a nominal class whose values are all known."""

    def __init__(self, values: NDArray[np.float64], stream: Stream) -> None:
        from capymoa.core import LabeledInstance
        from capymoa.stream import Schema

        self._instance = LabeledInstance
        features = [f"f{f}" for f in range(values.shape[1])]
        classes = [str(c) for c in range(len(stream.class_names))]
        self.schema = Schema.from_custom([*features, "class"], "class", {"class": classes})
        self._values = values
        self._labels = stream.labels

    def take(self, part: slice) -> list[Any]:
        """Return these samples as capymoa's instances; MOA takes their java_instance."""
        rows = zip(self._values[part], self._labels[part].tolist(), strict=True)
        return [self._instance.from_array(self.schema, x, label) for x, label in rows]


class MoaLearner:
    """A classifier of MOA in MOA's own prequential loop, which is in Java.

    The prediction is the first of the classes with the most votes, as in MOA's evaluators.
    """

    def __init__(self, options: str, samples: _Samples) -> None:
        from moa.classifiers import Classifier
        from moa.evaluation import EfficientEvaluationLoops
        from moa.options import ClassOption

        self._loop = EfficientEvaluationLoops.PrequentialEvaluation
        self._samples = samples
        self._model = ClassOption.cliStringToObject(options, Classifier, None)
        self._model.setRandomSeed(SEED)
        self._model.setModelContext(samples.schema.get_moa_header())
        self._model.prepareForUse()

    def prepare(self, part: slice) -> Any:
        """Return the samples as a stream of Java objects."""
        from com.yahoo.labs.samoa.instances import Instances
        from moa.streams import CachedInstancesStream

        samples = self._samples.take(part)
        block = Instances(self._samples.schema.get_moa_header(), len(samples))
        for sample in samples:
            block.add(sample.java_instance.getData())
        return CachedInstancesStream(block)

    def run(self, samples: Any) -> list[int]:
        # arguments: no evaluators, no limit, no window, no labels, but predictions
        predicted = self._loop(samples, self._model, None, None, -1, _NO_WINDOW, False, True)
        return [int(word) for word in str(predicted.predictions)[1:-1].split(",")]

    def nbytes(self) -> int | None:
        """Return MOA's own measure: all Java objects that the model holds."""
        size = int(self._model.measureByteSize())
        return size if size > 0 else None

    def shape(self) -> Shape | None:
        """Return the shape of a tree."""
        return moa_shape(self._model)


_Known = tuple[Any, bool]  # a sample, and whether its label is known


def _known(samples: list[Any], part: slice, labels: GivenLabels | None) -> list[_Known]:
    if labels is None:
        return [(sample, True) for sample in samples]
    return list(zip(samples, (labels[part] != UNKNOWN).tolist(), strict=True))


class MoaWithFewLabels(MoaLearner):
    """A classifier of MOA that learns only some samples; MOA's own loop learns all."""

    def __init__(self, options: str, samples: _Samples, labels: GivenLabels) -> None:
        super().__init__(options, samples)
        self._labels = labels

    def prepare(self, part: slice) -> list[_Known]:
        """Return the samples as Java objects, and which labels are known."""
        samples = [sample.java_instance for sample in self._samples.take(part)]
        return _known(samples, part, self._labels)

    def run(self, samples: list[_Known]) -> list[int]:
        predicted = []
        for sample, has_label in samples:
            votes = list(self._model.getVotesForInstance(sample))
            predicted.append(votes.index(max(votes)) if votes else 0)
            if has_label:
                self._model.trainOnInstance(sample)
        return predicted


class CapymoaLearner:
    """A classifier that capymoa has in Python, without a measure of its bytes.

    The setting max_depth limits the ensemble's trees, which are scikit-learn's.
    """

    def __init__(
        self,
        learner: str,
        settings: Mapping[str, Any],
        samples: _Samples,
        labels: GivenLabels | None = None,
    ) -> None:
        from capymoa import classifier

        arguments = dict(settings)
        if "max_depth" in arguments:
            from sklearn.tree import DecisionTreeClassifier

            depth = arguments.pop("max_depth")
            arguments["sk_dt"] = DecisionTreeClassifier(max_depth=depth, random_state=SEED)
        self._samples = samples
        self._labels = labels
        self._model = getattr(classifier, learner)(samples.schema, **arguments)

    def prepare(self, part: slice) -> list[_Known]:
        """Return the samples as capymoa's instances, and which labels are known."""
        return _known(self._samples.take(part), part, self._labels)

    def run(self, samples: list[_Known]) -> list[int]:
        predicted = []
        for sample, has_label in samples:
            answer = self._model.predict(sample)
            predicted.append(NO_ANSWER if answer is None else int(answer))
            if has_label:
                self._model.train(sample)
        return predicted

    def nbytes(self) -> None:
        """Return None: capymoa has no measure."""

    def shape(self) -> None:
        """Return None: the shape is unknown."""
