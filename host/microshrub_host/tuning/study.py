"""The search for a model: an Optuna study in one file, whose trials run in worker processes.

It has two objectives: high accuracy on the first part of the stream, and few bytes. Models that do
not fit the board are never run. All finished trials are in the file, so a search that was stopped
continues from there.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..base.cluster import spread
from ..base.errors import UserError
from ..engines import loader
from ..engines.learners import DEFAULT
from ..evaluation import prequential
from ..evaluation.pareto import front
from . import study_file, trials
from .search_space import first, sample
from .trials import Accuracies, Candidate, Limits, Size, StreamSplit

_NAME = "microshrub tune"
_REFUSED = 2000  # configurations in a row that do not fit: there is none, or as good as none
_FAILED = 5  # trials in a row that came to nothing
RULE = "the smallest model within a standard error of the most accurate one, where it is chosen"

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class FinishedTrial:
    """A finished trial."""

    configuration: Candidate
    accuracies: Accuracies
    size: Size


class Search:
    """The study in a file: what it has found, and what it is to try next.

    The file is its own until close(), which a with statement calls.
    """

    def __init__(self, path: Path, split: StreamSplit, limits: Limits, seed: int) -> None:
        """Open or begin it.

        Raises UserError for a file that is no study, is damaged, is of other data, or is in use by
        another search.
        """
        self._split = split
        self._limits = limits
        self._path = path
        optuna = _package()
        self._states = optuna.trial.TrialState
        self._under_way: dict[int, Any] = {}  # Optuna's trials by number
        with contextlib.ExitStack() as stack:
            self._file = stack.enter_context(study_file.open_locked(path))
            with study_file.readable(path):
                self._study = _study(optuna, path, seed)
                _check(self._study, path, _identity(split, limits))
                known = map(_finished, self._trials("COMPLETE"))
                self._seen = {_key(configuration) for configuration, _ in known}
                self._remember()
                self._again()
            stack.pop_all()

    def close(self) -> None:
        """Let other searches have the file."""
        self._file.close()

    def __enter__(self) -> Search:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _remember(self) -> None:
        """Tell the clock what it counted in earlier runs."""
        for trial in self._trials("COMPLETE"):
            if self._limits.clock and "latency" in trial.user_attrs:
                known = _configuration(trial)
                wanted = trials.parameters(self._split, known)
                self._limits.clock.remember(known.model, wanted, trial.user_attrs["latency"])

    def found(self) -> list[FinishedTrial]:
        """All finished trials that keep to the limits, in the order of their numbers."""
        found = []
        for configuration, accuracies in map(_finished, self._trials("COMPLETE")):
            size = trials.size_within(self._split, configuration, self._limits)
            if size is not None:
                found.append(FinishedTrial(configuration, accuracies, size))
        return found

    def finished(self) -> int:
        """How many trials are finished."""
        return len(self._trials("COMPLETE"))

    def run(self, wanted: int, *, jobs: int, scheduler: str | None, progress: Progress) -> None:
        """Go on until so many trials are finished. progress is told of each, and of the best.

        Raises UserError if the file cannot be written, and if no trial works.
        """
        with study_file.writable(self._path):
            self._run(wanted, jobs, scheduler, progress)

    def _run(self, wanted: int, jobs: int, scheduler: str | None, progress: Progress) -> None:
        failed = 0
        work = functools.partial(trials.run, self._split)
        while self.finished() < wanted:
            tasks = self._tasks(wanted - self.finished(), compile_here=not scheduler)
            for outcome in spread(work, tasks, jobs=jobs, scheduler=scheduler):
                if outcome.failure:
                    failed += 1
                    self._fail(outcome.task.number)
                    if failed == _FAILED:
                        raise UserError(
                            f"{_FAILED} trials in a row failed, the last one, "
                            f"{outcome.task.options}: {outcome.failure}"
                        )
                    continue
                failed = 0
                self._tell(outcome.task, outcome.value)
                progress(self.finished(), wanted, self._best())

    def _best(self) -> str:
        best = max(trial.values[0] for trial in self._trials("COMPLETE"))
        return f"best {best:.2f} %"

    def _tasks(self, missing: int, *, compile_here: bool) -> Iterator[Candidate]:
        for _ in range(missing):
            task = self._ask()
            if compile_here and not prequential.are_compiled(task.model, task.settings):
                prequential.compile_kernels(task.model, task.settings)  # once, not in each worker
            yield task

    def _ask(self) -> Candidate:
        """The next one that fits and is new."""
        features = self._split.stream.values.shape[1]
        for _ in range(_REFUSED):
            trial = self._study.ask()
            model, settings = sample(trial, features, self._limits.budget)
            found = Candidate(trial.number, model, settings)
            self._under_way[trial.number] = trial
            if _key(found) not in self._seen and self._fits(found):
                self._seen.add(_key(found))
                trial.set_user_attr("configuration", {"model": model, "settings": settings})
                return found
            self._fail(trial.number)
        raise UserError(
            f"{_REFUSED:,} configurations in a row were too large, too slow or known already; "
            "raise --budget or --max-latency, or lower --trials"
        )

    def _fits(self, configuration: Candidate) -> bool:
        return trials.size_within(self._split, configuration, self._limits) is not None

    def _tell(self, task: Candidate, value: Accuracies) -> None:
        size = trials.size_within(self._split, task, self._limits)
        assert size is not None
        trial = self._under_way.pop(task.number)
        trial.set_user_attr("accuracies", asdict(value))
        if size.latency is not None:
            trial.set_user_attr("latency", size.latency)
        self._study.tell(trial, [value.first, size.model_bytes])

    def _fail(self, number: int) -> None:
        self._study.tell(self._under_way.pop(number), state=self._states.FAIL)

    def _again(self) -> None:
        """Have what was under way when a search was stopped run again; ask for the known first."""
        for trial in self._trials("RUNNING"):
            self._study.tell(trial.number, state=self._states.FAIL)
            if "configuration" in trial.user_attrs:
                self._study.enqueue_trial(trial.params)
        if not self._study.get_trials(deepcopy=False):
            for choice in first(self._limits.budget):
                self._study.enqueue_trial(choice)

    def _trials(self, state: str) -> list[Any]:
        states = (self._states[state],)
        found: list[Any] = self._study.get_trials(deepcopy=False, states=states)
        return found


def _key(configuration: Candidate) -> str:
    return json.dumps([configuration.model, dict(configuration.settings)], sort_keys=True)


def _configuration(trial: Any) -> Candidate:
    """That of a trial of the study's file."""
    return Candidate(trial.number, **trial.user_attrs["configuration"])


def _finished(trial: Any) -> tuple[Candidate, Accuracies]:
    """What a finished trial of the study's file ran, and what came of it."""
    return _configuration(trial), Accuracies(**trial.user_attrs["accuracies"])


def points(found: list[FinishedTrial]) -> list[tuple[float, float]]:
    """Bytes and accuracy on the part that chooses, for pareto.py."""
    return [(f.size.model_bytes, f.accuracies.first) for f in found]


def pareto(found: list[FinishedTrial]) -> list[FinishedTrial]:
    """Those that no other one beats, by bytes."""
    return [found[i] for i in front(points(found))]


def take(found: list[FinishedTrial], samples: int) -> FinishedTrial:
    """The configuration to take, by RULE, of so many samples that choose; found is not empty.

    It is the rule of one standard error (Breiman, Friedman, Olshen, Stone: Classification and
    Regression Trees, 1984, section 3.4.3): the most accurate of many was also the luckiest.
    """
    best = max(f.accuracies.first for f in found)
    return next(f for f in pareto(found) if f.accuracies.first >= best - _error(best, samples))


def as_good(found: list[FinishedTrial], samples: int) -> FinishedTrial | None:
    """The smallest model of DEFAULT that is within a standard error of the best, if one is."""
    best = max(f.accuracies.first for f in found)
    able = [
        f
        for f in found
        if f.configuration.model == DEFAULT and f.accuracies.first >= best - _error(best, samples)
    ]
    return min(able, key=lambda f: f.size.model_bytes, default=None)


def _error(percent: float, samples: int) -> float:
    """The standard error of an accuracy, in points."""
    return math.sqrt(percent * (100 - percent) / samples)


def _package() -> Any:
    try:
        import optuna
    except ImportError:
        raise UserError("tune needs optional packages: pip install 'microshrub[tune]'") from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
    return optuna


def _study(optuna: Any, path: Path, seed: int) -> Any:
    study = optuna.create_study(
        storage=study_file.storage(path),
        study_name=_NAME,
        directions=["maximize", "minimize"],
        load_if_exists=True,
    )
    # a search that goes on does not draw what it began with once more
    seed += len(study.get_trials(deepcopy=False))
    study.sampler = optuna.samplers.TPESampler(
        multivariate=True, group=True, constant_liar=True, seed=seed
    )
    return study


def _identity(split: StreamSplit, limits: Limits) -> dict[str, Any]:
    """What all trials of a study have in common."""
    digest = hashlib.sha256()
    stream = split.stream
    names = json.dumps([stream.feature_names, stream.class_names])
    for part in (stream.values.tobytes(), stream.labels.tobytes(), names.encode()):
        digest.update(part)
    return {
        "data": digest.hexdigest(),
        "board": limits.board.key,
        "samples that choose": split.first,
        "warm-up": split.warmup,
        "version of the learners": loader.digest(),
    }


def _check(study: Any, path: Path, identity: dict[str, Any]) -> None:
    known = study.user_attrs
    if not known:
        for name, value in identity.items():
            study.set_user_attr(name, value)
        return
    other = [name for name, value in identity.items() if known.get(name) != value]
    if other:
        raise UserError(
            f"--study {path} is of another search: not the same {', '.join(other)}. Name another "
            "file, or delete this one"
        )
