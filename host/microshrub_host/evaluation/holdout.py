"""Holds out whole stretches of a stream, and predicts them after the last label.

Prequential evaluation reveals each label right after its prediction, and so rewards a model that
repeats the last label. A board in use gets no labels. Here a model learns the stretches that a
draw of stretches.py leaves, in the order of the stream, and then predicts the held-out ones. There
are several draws unless one draw holds out many stretches: the accuracy on a few stretches is
uncertain, as the spread of the draws shows.

Old stretches, too, are predicted at the end, and belong to the past of a stream that drifts. So
the last stretches are also predicted after all samples before them were learned: the accuracy as
of now. It is the headline if the stream drifts. A stream drifts if the older half of the stretches
is predicted clearly worse than the recent half: by more than _DRIFT points, and by more than three
standard errors of the difference. Runs are only compared with runs of the same class.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..library import loader
from ..library.learners import MODELS, warmup_of
from ..simulation import engines
from ..simulation.companion import Companions, freezes
from ..simulation.engine_interface import Predictions
from ..streams.stream import Stream
from ..streams.units import Raw
from . import batch_forest, prequential
from .by_class import ByClass
from .stretches import RUNS, Draw, Labels, Marks, Stretches, find
from .unseen import Holdout, Unseen

FEWEST = 10  # samples of a stream, at least
_LATEST = (20_000, 50_000, 100_000)  # samples at the end; more only if a class has one stretch
_MOST = 100_000  # samples that all draws learn
_DRAWS = 5
_STRETCHES = 20  # held-out stretches in all draws together, after which no draw is added
_DRIFT = 10.0  # percent
_BLOCK = 2048


@dataclass(frozen=True)
class Answers:
    """A draw, and the predictions for its held-out samples, in the order of the samples."""

    draw: Draw
    predictions: Predictions
    forest: Predictions | None = None


@dataclass(frozen=True)
class HeldOut:
    """The end of a stream: its stretches and its raw rows."""

    stretches: Stretches
    rows: Raw

    @property
    def labels(self) -> Labels:
        """The labels of the samples."""
        return self.stretches.labels


def held_out(stream: Stream, *, whole: bool = False) -> HeldOut | None:
    """Return the stretches and rows to draw from: the last 20,000 samples.

    If a class has only one stretch in these, up to 100,000 samples; with `whole`, all samples.
    None if there are fewer than FEWEST samples.
    """
    total = len(stream.labels)
    if total < FEWEST:
        return None
    classes = len(stream.class_names)
    for most in (total,) if whole else _LATEST:
        end = slice(max(total - most, 0), total)
        parts = (part if part is None else part[end] for part in (stream.times, stream.groups))
        times, groups = parts
        window = int(stream.extraction.options["window"]) if stream.extraction else 0
        labels = np.asarray(stream.labels[end])
        stretches = find(labels, classes, times=times, window=window, groups=groups)
        if end.start == 0 or not stretches.single:
            break
    return HeldOut(stretches, stream.scale.apply(np.asarray(stream.values[end])))


def draws(stretches: Stretches, seed: int = 0) -> Iterator[Draw]:
    """Yield draws until they hold out enough stretches; five at most."""
    asked = 0
    for number, draw in enumerate(stretches.draws(seed), 1):
        if not draw.learned.any() or not draw.held_out.any():
            return
        yield draw
        asked += len(np.unique(stretches.of[draw.asked]))
        most = min(_DRAWS, max(_MOST // len(stretches.of), 1))
        if number == most or not draw.asked.any() or asked >= _STRETCHES:
            return


def measure(
    stream: Stream,
    model: str,
    parameters: Mapping[str, Any],
    *,
    warmup: int | None = None,
    companions: Companions = (),
    forest: bool = False,
    seed: int = 0,
) -> Unseen | None:
    """Return the accuracy of new models on the stretches that draws of a stream hold out.

    For each draw, a model learns the rest of the samples. None if there are too few samples, or if
    a companion cannot be evaluated like this. The models run on the fastest engine, as all engines
    compute the same bits. For `warmup` see warmup_of(). With `forest`, a batch forest learns and
    predicts the same samples, if scikit-learn is installed.
    """
    known = held_out(stream) if all(each.can_be_asked for each in companions) else None
    if known is None:
        return None

    def asked(drawn: Iterable[Draw]) -> list[Answers]:
        how: dict[str, Any] = {"warmup": warmup, "companions": companions, "forest": forest}
        return [ask(known, draw, model, parameters, **how) for draw in drawn]

    drawn = asked(draws(known.stretches, seed))
    if not drawn:
        return None
    last = known.stretches.last()
    several = last and len(np.unique(known.labels[last.asked])) > 1
    return unseen(stream, known.stretches, drawn, asked([last] if last and several else []))


def ask(
    known: HeldOut,
    draw: Draw,
    model: str,
    parameters: Mapping[str, Any],
    *,
    warmup: int | None = None,
    companions: Companions = (),
    forest: bool = False,
) -> Answers:
    """Learn a draw's `learned` samples, and predict the held-out ones; see also measure()."""
    parts = known.rows[draw.learned], known.labels[draw.learned], known.rows[draw.held_out]
    predictions = answers(model, parameters, *parts, warmup=warmup, companions=companions)
    return Answers(draw, predictions, batch_forest.answers(*parts) if forest else None)


def unseen(
    stream: Stream, stretches: Stretches, drawn: list[Answers], now: list[Answers]
) -> Unseen:
    """Return the accuracy on unseen data; `now` has the answers for the last stretches, if any."""
    names = tuple(stream.class_names)
    labels = stretches.labels
    asked = [predictable(each.draw, labels) for each in drawn]
    ends = [_of_known(each.draw, labels, each.draw.ends) for each in drawn[:1]]
    return Unseen(
        stretches.by,
        _holdout(names, stretches, drawn, asked),
        _holdout(names, stretches, now, [predictable(each.draw, labels) for each in now]),
        _holdout(names, stretches, drawn[:1], ends),
        drifts(stretches, right_by_stretch(stretches, drawn)),
        tuple(names[c] for c in stretches.single),
        stream.group_name,
    )


def predictable(draw: Draw, labels: Labels) -> Marks:
    """Mark a draw's held-out samples, except `ends`, of the classes that the draw learns."""
    return _of_known(draw, labels, draw.asked)


def _of_known(draw: Draw, labels: Labels, asked: Marks) -> Marks:
    return asked & np.isin(labels, labels[draw.learned])


def _holdout(
    names: tuple[str, ...], stretches: Stretches, drawn: list[Answers], asked: list[Marks]
) -> Holdout | None:
    by_class, each, guessed, right = ByClass.none_yet(names), [], 0, 0
    labels, of = stretches.labels, 0
    for answers, marks in zip(drawn, asked, strict=True):
        if not marks.any():
            continue
        draw = answers.draw
        in_draw = marks[draw.held_out]
        truth = labels[marks]
        by_class.add(truth, answers.predictions[in_draw])
        each.append(100 * float(np.mean(answers.predictions[in_draw] == truth)))
        guessed += int((truth == np.bincount(labels[draw.learned]).argmax()).sum())
        right += 0 if answers.forest is None else int((truth == answers.forest[in_draw]).sum())
        of += len(np.unique(stretches.of[marks]))
    if not each:
        return None
    samples = int(by_class.counts.sum()) / 100
    forest = right / samples if all(answers.forest is not None for answers in drawn) else None
    learned = round(np.mean([answers.draw.learned.sum() for answers in drawn]))
    return Holdout(by_class, tuple(each), of, learned, guessed / samples, forest)


def right_by_stretch(stretches: Stretches, drawn: list[Answers]) -> NDArray[np.float64]:
    """Return the percentage right in each stretch, over all draws; NaN if no draw predicts it."""
    right, asked = np.zeros(stretches.count), np.zeros(stretches.count)
    for answers in drawn:
        marks = predictable(answers.draw, stretches.labels)
        predictions = answers.predictions[marks[answers.draw.held_out]]
        np.add.at(asked, stretches.of[marks], 1)
        np.add.at(right, stretches.of[marks], predictions == stretches.labels[marks])
    with np.errstate(invalid="ignore"):
        return 100 * right / asked


def drifts(stretches: Stretches, right: NDArray[np.float64]) -> bool:
    """Return whether stretches of the older half are predicted clearly worse than recent ones.

    right has the percentage right of each stretch. Runs are compared within a class. False if
    there are fewer than three stretches on either side.
    """
    when = np.zeros(stretches.count)
    np.add.at(when, stretches.of, stretches.times)
    when /= np.maximum(np.bincount(stretches.of, minlength=stretches.count), 1)
    recent = when > np.median(stretches.times)
    group = stretches.held.argmax(axis=1) if stretches.by == RUNS else when * 0
    old_new: tuple[list[float], list[float]] = ([], [])
    for c in np.unique(group):
        in_group = (group == c) & ~np.isnan(right)
        parts = right[in_group & ~recent], right[in_group & recent]
        if all(len(part) for part in parts):
            middle = (parts[0].mean() + parts[1].mean()) / 2
            for differences, part in zip(old_new, parts, strict=True):
                differences += (part - middle).tolist()
    if min(map(len, old_new)) < 3:
        return False
    old, new = map(np.asarray, old_new)
    error = np.sqrt(old.var(ddof=1) / len(old) + new.var(ddof=1) / len(new))
    return bool(new.mean() - old.mean() > max(_DRIFT, 3 * error))


def answers(
    model: str,
    parameters: Mapping[str, Any],
    rows: Raw,
    labels: NDArray[np.uint8],
    asked: Raw,
    *,
    warmup: int | None = None,
    companions: Companions = (),
) -> NDArray[np.uint8]:
    """Return a new model's predictions for the rows `asked` after learning rows and labels."""
    warmup = warmup_of(model, warmup, frozen=freezes(companions))
    engine = loader.fastest()
    prequential.compile_kernels(model, parameters, engine)
    with engines.start(engine, MODELS[model], parameters, companions, growing=not warmup) as run:
        prequential.fit(run, rows[:warmup], warmup)
        for part in _blocks(len(labels)):
            run.run(rows[part], labels[part])
        run.settle()
        predictions = [run.ask(asked[part]) for part in _blocks(len(asked))]
    return np.concatenate(predictions) if predictions else np.zeros(0, dtype=np.uint8)


def _blocks(rows: int) -> Iterator[slice]:
    return (slice(at, at + _BLOCK) for at in range(0, rows, _BLOCK))
