"""The label budget as a companion: a learner learns only the labels that it queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import UserError
from ..base.text import share_of_samples
from ..library import loader
from .companion import BoardObjects, Companion, CompanionReport, CompanionRun, Option
from .engine_interface import Plan
from .session_companions import ANSWERED

OPTION = "--label-budget"
_MOST_SAMPLES = 1 << 29
_MOST_DELAY = 32767
_OF_QUERIES = 32768  # denominator of the share of unanswered queries
_STEPS = 200  # steps of the curve in a picture, or up to twice as many


@dataclass(frozen=True)
class LabelBudget(Companion):
    """Active learning: the model queries a share of the labels, and learns no others.

    share       the share of the samples whose labels may be queried, above 0, up to 1
    delay       samples from a query to its answer, 0..32767
    unanswered  the share of the queries that are never answered, 0 to 1, drawn at random

    Raises UserError for other values.
    """

    share: float | Fraction = 1
    delay: int = 0
    unanswered: float | Fraction = 0

    name = title = "queries"
    key = "label_budget"
    cost = "label queries"
    has_light = True
    buffers = ("query.", "pending.")
    options = (
        Option(
            OPTION,
            "active learning, with this share of the labels: 10%%; the model asks for those of "
            "samples that it is unsure of; also '1 per 20 samples', '30 per day at 2 Hz' (leave "
            "out `at 2 Hz` where the sensor has a rate); it learns from no other labels; "
            "where concepts change often, this may cost 5 points of accuracy and more "
            "(default: off, the model learns from every label)",
            "SHARE",
        ),
        Option(
            "--label-delay",
            "each label arrives N samples late, 1 to 32767 (default: at once)",
            "N",
            kind=int,
            simulated=True,
        ),
        Option(
            "--unanswered",
            "this share of the labels, chosen at random, never arrives, such as 20%% (default: "
            "none)",
            "SHARE",
            simulated=True,
        ),
    )

    def __post_init__(self) -> None:
        if not isinstance(self.delay, int) or not 0 <= self.delay <= _MOST_DELAY:
            given = f"{self.delay:,}" if isinstance(self.delay, int) else repr(self.delay)
            raise UserError(f"--label-delay has to be 0..{_MOST_DELAY:,} samples, not {given}")
        for name, share in (("share", self.share), ("unanswered", self.unanswered)):
            if not isinstance(share, Real) or not 0 <= share <= 1:
                raise UserError(f"{OPTION}: {name} has to be 0 to 1, not {share}")
        if not self.labels:
            raise UserError(
                f"{OPTION} {self.share}: that is less than one label in {_MOST_SAMPLES:,} samples"
            )

    @classmethod
    def of_options(cls, given: Mapping[str, Any], hertz: float | None) -> LabelBudget:
        budget, delay, unanswered = (given.get(option.name) for option in cls.options)
        share = never = Fraction(0)
        if budget is not None:
            share = share_of_samples(budget, OPTION, "a label may be asked for", hertz)
        if unanswered is not None:
            never = share_of_samples(unanswered, "--unanswered", "a query is left unanswered")
        one = Fraction(1)
        return cls(min(share, one) if budget else one, delay or 0, min(never, one))

    @property
    def labels(self) -> int:
        """The number of labels that may be queried in `samples` samples."""
        return self._budget.numerator

    @property
    def samples(self) -> int:
        """The number of samples in which `labels` labels may be queried."""
        return self._budget.denominator

    @property
    def _budget(self) -> Fraction:
        return Fraction(self.share).limit_denominator(_MOST_SAMPLES)

    @property
    def percent(self) -> float:
        """The share, in percent."""
        return 100 * self.labels / self.samples

    @property
    def advance(self) -> int:
        """The labels that may be queried in advance, and count against later ones.

        Two thirds of them, and at least 10, are for the beginning; all are available when drift is
        suspected.
        """
        at_once, samples = (
            loader.constant("active_learning", name) for name in ("_AT_ONCE", "_CREDIT")
        )
        return max(at_once, samples * self.labels // self.samples)

    def most(self, samples: int) -> int:
        """Return the largest number of queries in that many samples."""
        last = min(samples, loader.constant("query_rules", "_Q_LENT"))  # of queries in advance
        before, earned = (n * self.labels // self.samples for n in (last, samples))
        paid_back = (earned - before) // 2
        return min(earned + max(self.advance - paid_back, 0), samples)

    def parameters(self) -> dict[str, int]:
        """Return the budget of session_companions.AskedLabels, with `unanswered` of 32768."""
        unanswered = min(round(self.unanswered * _OF_QUERIES), _OF_QUERIES)
        return {**self.budget(), "delay": self.delay, "unanswered": unanswered}

    def budget(self) -> dict[str, int]:
        """Return the keyword arguments of the QueryStrategy."""
        return {"labels": self.labels, "samples": self.samples}

    def plan(self) -> Plan:
        return "session_companions", "AskedLabels", self.parameters()

    def on_board(self, library: Any, learner: Any) -> BoardObjects:
        return BoardObjects(library.QueryStrategy(learner.classes, **self.budget()))

    def program(self, classes: Sequence[str]) -> dict[str, Any]:
        return {self.name: self.budget()}

    def check_program(self, *, serial: bool, labelled: bool) -> None:
        if labelled:
            raise UserError(
                "--label-pin tells the label of every sample, so --label-budget has none to ask "
                "for: leave one of them out, or let a button that is not pressed tell no label, "
                "with released="
            )

    @classmethod
    def modules(cls, config: Mapping[str, Any], learner: str) -> dict[str, bool]:
        part = config.get(cls.name)
        rehearsed = bool(part) and learner == "Thicket" and not config.get("spare_classes")
        asks = dict.fromkeys(("active_learning", "device.label_queries"), bool(part))
        return {**asks, "thicket.rehearsal": rehearsed}

    def result(self, report: CompanionReport) -> LabelBudgetRun:
        queries = report.outputs[0]
        return LabelBudgetRun(self, queries > 0, queries == ANSWERED)


@dataclass(frozen=True)
class LabelBudgetRun(CompanionRun):
    """The samples whose labels were queried, and those answered, shapes (samples,).

    A query whose answer was still due at the end of the stream counts as answered, too.
    """

    options: LabelBudget
    asked: NDArray[np.bool_] = field(repr=False)
    answered: NDArray[np.bool_] = field(repr=False)

    draws = True

    @property
    def queries(self) -> int:
        """The number of queries."""
        return int(np.count_nonzero(self.asked))

    @property
    def share(self) -> float:
        """The number of queries, in percent of all samples."""
        return 100 * self.queries / max(len(self.asked), 1)

    def record(self) -> dict[str, Any]:
        """Return the queried and the answered samples, counted from 0, for --json."""
        return {
            **self.options.parameters(),
            "asked": np.flatnonzero(self.asked).tolist(),
            "answered": np.flatnonzero(self.answered).tolist(),
        }

    def rows(self) -> list[tuple[str, str]]:
        options = self.options
        words = f"{self.queries:,}, {self.share:.2f} %"
        if options.labels < options.samples:
            words += f"; {options.percent:.3g} % are allowed"
            if self.share > options.percent:
                words += f", and {options.advance:,} in advance"
        rows = [("labels asked for", words)]
        if options.unanswered:
            never = self.queries - int(np.count_nonzero(self.answered))
            rows.append(("  never answered", f"{never:,}"))
        if options.delay:
            rows.append(("  answers come", f"{options.delay:,} samples later"))
        return rows

    def draw(self, axes: Any) -> None:
        """Draw the percentage of samples whose labels were queried, over steps of the stream."""
        width = max(1, len(self.asked) // _STEPS)
        starts = np.arange(0, len(self.asked), width)
        sums = np.add.reduceat(self.asked.astype(np.int64), starts)
        percent = 100 * sums / np.diff([*starts, len(self.asked)])
        axes.step(starts + 1, percent, where="post", color="C0", lw=0.8)
        axes.set_ylabel("asked for, %")
        axes.set_ylim(0, 105)
