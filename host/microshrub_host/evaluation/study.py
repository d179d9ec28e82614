"""The search for a model: an Optuna study in one file, whose trials run in worker processes.

It has two objectives: a good score on the first part of the stream, and few bytes. Models that do
not fit the board are never run. All finished trials are in the file, so a search that was stopped
continues from there.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..base.cluster import Outcome, spread
from ..base.errors import UserError
from ..boards.default_bytes import SIZE, NoRoom, bytes_for
from ..library import loader
from ..library.learners import defaults
from . import prequential, study_file, trials
from .holdout_scores import Scores
from .pareto import front
from .search_space import Choice, first, sample
from .splits import Measure, SearchedStream
from .trials import AHEAD, AskedAhead, Candidate, Limits, Size

_NAME = "microshrub tune"
SET = "features"  # name of a trial's parameter for its set of features
_FEW = 200  # configurations; if all of them are far too large, the search stops
_REFUSED = 2000  # unsuitable configurations in a row, after which the search stops
_STUBBORN = 20  # unsuitable configurations in a row, after which the next ones are drawn at random
_FAILED = 5  # failed trials in a row, after which the search stops
RULE = "the model with the best score where models are chosen, as free RAM is of no other use"

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class FinishedTrial:
    """A finished trial: its configuration, scores and size."""

    configuration: Candidate
    scores: Scores
    size: Size


class Search:
    """The study in a file: its finished trials, and the configurations to try next.

    The file stays locked until close(), which a with statement calls.
    """

    def __init__(self, path: Path, split: SearchedStream, limits: Limits, seed: int) -> None:
        """Open the study, or create it.

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
                self._study = _study(optuna, path, seed, rising=split.measure.rising)
                self._samplers = self._study.sampler, optuna.samplers.RandomSampler(seed)
                _check(self._study, path, _identity(split, limits))
                known = map(_finished, self._trials("COMPLETE"))
                self._seen = {_key(configuration) for configuration, _ in known}
                self._remember()
                self._again()
            stack.pop_all()

    def close(self) -> None:
        """Close the file, which unlocks it for other searches."""
        self._file.close()

    def __enter__(self) -> Search:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _remember(self) -> None:
        """Pass the latencies of earlier runs to the clock."""
        for trial in self._trials("COMPLETE"):
            if self._limits.clock and "latency" in trial.user_attrs:
                known = _configuration(trial)
                wanted = self._split.parameters(known)
                self._limits.clock.remember(known.model, wanted, trial.user_attrs["latency"])

    def within_limits(self) -> list[FinishedTrial]:
        """Return all finished trials within the limits, in the order of their numbers."""
        finished = []
        for configuration, scores in map(_finished, self._trials("COMPLETE")):
            size = self._size(configuration)
            if size is not None:
                finished.append(FinishedTrial(configuration, scores, size))
        return finished

    def finished(self) -> int:
        """Return the number of finished trials."""
        return len(self._trials("COMPLETE"))

    def run(self, wanted: int, *, jobs: int, scheduler: str | None, progress: Progress) -> None:
        """Run trials until `wanted` are finished.

        progress gets the number of finished trials, `wanted`, and the best score as text. Raises
        UserError if the file cannot be written, or if no trial works.
        """
        with study_file.writable(self._path):
            self._run(wanted, jobs, scheduler, progress)

    def _run(self, wanted: int, jobs: int, scheduler: str | None, progress: Progress) -> None:
        missing = wanted - self.finished()
        if missing <= 0:
            return
        ahead = AskedAhead(missing, self._ask, elastic=bool(scheduler) or jobs > AHEAD)
        tasks = self._tasks(ahead, compile_here=not scheduler)
        failed = 0
        try:
            for done in spread(self._split.run, tasks, jobs=jobs, scheduler=scheduler):
                for outcome in ahead.in_order(done):
                    failed = failed + 1 if outcome.failure else 0
                    self._take(outcome)
                    if failed == _FAILED:
                        raise UserError(
                            f"{_FAILED} trials in a row failed, the last one, "
                            f"{outcome.task.options}: {outcome.failure}"
                        )
                    if not failed:
                        progress(self.finished(), wanted, self._best())
        finally:
            for outcome in ahead.left():
                self._take(outcome)

    def _best(self) -> str:
        measure = self._split.measure
        scores = (trial.values[0] for trial in self._trials("COMPLETE"))
        return f"best {measure.score_text(max(scores, key=measure.worth))}"

    def _tasks(self, ahead: AskedAhead, *, compile_here: bool) -> Iterator[Candidate | None]:
        for task in ahead.tasks():
            if task and compile_here and not prequential.are_compiled(task.model, task.settings):
                prequential.compile_kernels(task.model, task.settings)  # here, not in each worker
            yield task

    def _ask(self) -> Candidate:
        """Return the next configuration that is new and fits.

        The sampler learns nothing from refused configurations, so it may propose similar ones
        without end.
        """
        split, budget = self._split, self._limits.budget
        models, sets = split.models(), split.sets()
        smallest = math.inf  # bytes of the smallest configuration
        for refused in range(_REFUSED):
            if refused == _FEW and not self._seen and 4 * budget < smallest < math.inf:
                raise UserError(
                    f"no model takes {budget:,} bytes or less: the smallest of {_FEW} takes "
                    f"{smallest:,.0f}. Raise --bytes"
                )
            self._study.sampler = self._samplers[refused >= _STUBBORN]
            trial = self._study.ask()
            made = sets[0] if len(sets) == 1 else trial.suggest_categorical(SET, sets)
            features = split.of(made).features
            model, settings = sample(trial, models, features, budget)
            candidate = Candidate(trial.number, model, settings, made)
            takes = trials.bytes_of(model, split.parameters(candidate))
            smallest = min(smallest, takes)
            self._under_way[trial.number] = trial
            new = takes <= budget and _key(candidate) not in self._seen
            if new and self._size(candidate) is not None:
                self._seen.add(_key(candidate))
                configuration = {
                    "model": model,
                    "settings": settings,
                    **({SET: made} if made else {}),
                }
                trial.set_user_attr("configuration", configuration)
                return candidate
            self._fail(trial.number)
        raise UserError(
            f"{_REFUSED:,} configurations in a row were too large, too slow or known already; "
            "raise --bytes or --max-latency, or lower --trials"
        )

    def _size(self, task: Candidate) -> Size | None:
        """Return the size of a candidate, None if it is above the limits."""
        wanted, split = self._split.parameters(task), self._split.of(task.features)
        how = {"companions": split.on_board, "names": split.names}
        asked = self._limits.deployment(task.model, wanted, fixed_ranges=bool(split.warmup), **how)
        return trials.size_within(task.model, asked, self._limits)

    def _take(self, outcome: Outcome) -> None:
        """Add an outcome to the study."""
        if outcome.failure:
            self._fail(outcome.task.number)
        else:
            self._tell(outcome.task, outcome.value)

    def _tell(self, task: Candidate, value: Scores) -> None:
        size = self._size(task)
        assert size is not None
        trial = self._under_way.pop(task.number)
        trial.set_user_attr("scores", asdict(value))
        if size.latency is not None:
            trial.set_user_attr("latency", size.latency)
        self._study.tell(trial, [value.first, size.model_bytes])

    def _fail(self, number: int) -> None:
        self._study.tell(self._under_way.pop(number), state=self._states.FAIL)

    def _again(self) -> None:
        """Queue a stopped search's open trials; in a new study, queue the first choices."""
        for trial in self._trials("RUNNING"):
            self._study.tell(trial.number, state=self._states.FAIL)
            if "configuration" in trial.user_attrs:
                self._study.enqueue_trial(trial.params)
        if not self._study.get_trials(deepcopy=False):
            split = self._split
            budget, sets = self._limits.budget, split.sets()
            for made in sets:
                self._enqueue({"model": split.default, **self._size_alone(made)}, made)
            for choice in first(split.models(), split.default, budget):
                self._enqueue(choice, sets[0])

    def _enqueue(self, choice: Choice, made: str) -> None:
        self._study.enqueue_trial({**choice, SET: made} if made else choice)

    def _size_alone(self, made: str) -> Choice:
        """Return the default model's size option if alone on the board; {} if none is possible."""
        default, limits = self._split.default, self._limits
        usual = Candidate(-1, default, defaults(default), made)
        if SIZE not in usual.settings:
            return {}
        wanted = self._split.parameters(usual)
        try:
            size = bytes_for(limits.deployment(default, wanted))
        except NoRoom:
            return {}
        size = min(size, limits.budget)
        fits = trials.bytes_of(default, {**wanted, SIZE: size}) <= size
        return {f"{default} {SIZE}": size} if fits else {}

    def _trials(self, state: str) -> list[Any]:
        states = (self._states[state],)
        result: list[Any] = self._study.get_trials(deepcopy=False, states=states)
        return result


def _key(configuration: Candidate) -> str:
    result = [configuration.model, dict(configuration.settings), configuration.features]
    return json.dumps(result, sort_keys=True)


def _configuration(trial: Any) -> Candidate:
    """Return the configuration of a trial in the study's file."""
    return Candidate(trial.number, **trial.user_attrs["configuration"])


def _finished(trial: Any) -> tuple[Candidate, Scores]:
    """Return the configuration and the scores of a finished trial in the study's file."""
    return _configuration(trial), Scores(**trial.user_attrs["scores"])


def points(finished: list[FinishedTrial], measure: Measure) -> list[tuple[float, float]]:
    """Return each trial's bytes and the worth of its score to choose by, for pareto.py."""
    return [(trial.size.model_bytes, measure.worth(trial.scores.first)) for trial in finished]


def pareto(finished: list[FinishedTrial], measure: Measure) -> list[FinishedTrial]:
    """Return the trials of the Pareto front, by ascending bytes."""
    return [finished[i] for i in front(points(finished, measure))]


def take(finished: list[FinishedTrial], measure: Measure) -> FinishedTrial:
    """Return the configuration to take by RULE, the smallest of equals; finished is not empty."""
    return max(
        finished, key=lambda trial: (measure.worth(trial.scores.first), -trial.size.model_bytes)
    )


def smallest(finished: list[FinishedTrial], measure: Measure) -> FinishedTrial:
    """Return the smallest trial within a standard error of the best, for when bytes are scarce.

    It is the rule of one standard error (Breiman, Friedman, Olshen, Stone: Classification and
    Regression Trees, 1984, section 3.4.3): the best of many is also the luckiest.
    """
    enough = _enough(finished, measure)
    return next(
        trial for trial in pareto(finished, measure) if measure.worth(trial.scores.first) >= enough
    )


def of_default(
    finished: list[FinishedTrial], measure: Measure, model: str
) -> FinishedTrial | None:
    """Return the best trial of a model, if it is within a standard error of the best of all."""
    of_model = [trial for trial in finished if trial.configuration.model == model]
    enough = _enough(finished, measure)
    able = [trial for trial in of_model if measure.worth(trial.scores.first) >= enough]
    return take(able, measure) if able else None


def _enough(finished: list[FinishedTrial], measure: Measure) -> float:
    """Return the least worth within a standard error of the best score."""
    best = max(
        (trial.scores for trial in finished), key=lambda scores: measure.worth(scores.first)
    )
    return measure.worth(best.first) - best.error


def _package() -> Any:
    try:
        import optuna
    except ImportError:
        raise UserError("tune needs optional packages: pip install 'microshrub[tune]'") from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
    return optuna


def _study(optuna: Any, path: Path, seed: int, *, rising: bool) -> Any:
    study = optuna.create_study(
        storage=study_file.storage(path),
        study_name=_NAME,
        directions=["maximize" if rising else "minimize", "minimize"],
        load_if_exists=True,
    )
    # A resumed search gets another seed, so that it does not repeat its first draws
    seed += len(study.get_trials(deepcopy=False))
    study.sampler = optuna.samplers.TPESampler(
        multivariate=True, group=True, constant_liar=True, seed=seed
    )
    return study


def _identity(split: SearchedStream, limits: Limits) -> dict[str, Any]:
    """Return the properties that all trials of a study have in common."""
    digest = hashlib.sha256()
    for part in split.content():
        digest.update(part)
    return {
        "data": digest.hexdigest(),
        "board": limits.board.key,
        "samples that choose": split.first,
        "score": split.measure.name,
        "warm-up": split.warmup,
        "version of the learners": loader.digest(),
        "--emit": limits.emit,
    }


def _check(study: Any, path: Path, identity: dict[str, Any]) -> None:
    known = study.user_attrs
    if not known:
        for name, value in identity.items():
            study.set_user_attr(name, value)
        return
    names = dict.fromkeys((*identity, *known))
    other = [name for name in names if known.get(name) != identity.get(name)]
    if other:
        raise UserError(
            f"--study {path} is of another search: not the same {', '.join(other)}. Name another "
            "file, or delete this one"
        )
