"""How the unnamed classes of a stream got their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.text import count
from .companion import CompanionReport, CompanionRun
from .engine_interface import Labels
from .spare_person import KNOWN, NAMED, NO_ROOM


@dataclass(frozen=True)
class Naming:
    """A class that got a name."""

    name: str
    sample: int  # samples of the stream up to then
    of_class: int  # samples of this class among these
    novel: int  # samples of this class detected as novel at once
    labelled: int  # samples that got this label together
    right: int  # samples of this class among these
    later: int  # samples of this class after it got its name
    recall: float | None  # percent of these predicted right; None without any


@dataclass(frozen=True)
class SpareRun(CompanionRun):
    """The novel samples, shape (samples,), and how a person named their classes."""

    spare: int
    known: tuple[str, ...]  # known from the start
    named: tuple[Naming, ...]
    never: dict[str, int]  # classes that never got a name, with their numbers of samples
    in_vain: int  # queries about a class with a name
    no_room: int  # queries when no spare class was left
    taken_for_new: float  # percent novel among samples of classes with a name
    accuracy_of_named: float  # percent right of these samples
    bytes: int  # size of the buffers
    parameters: dict[str, int]  # arguments of the SpareClasses, except model and names
    new: NDArray[np.bool_] = field(repr=False)

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        known: Sequence[int],
        parameters: dict[str, int],
        report: CompanionReport,
    ) -> SpareRun:
        """Return the result of a Person; `known` are the classes with a name at first."""
        new, labels, right = report.outputs[0].astype(np.bool_), report.labels, report.right
        answers: list[list[int]] = report.status["answers"]
        since = np.full(len(names), len(labels))  # the first sample at which a class has a name
        since[list(known)] = 0
        for sample, truth, _, _, what in answers:
            if what == NAMED:
                since[truth] = sample
        has_name = np.arange(len(labels)) >= since[labels]
        outcomes = [answer[-1] for answer in answers]
        return cls(
            spare=parameters["spare"],
            known=tuple(names[truth] for truth in known),
            named=tuple(
                _naming(names[a[1]], a, new, labels, right) for a in answers if a[-1] == NAMED
            ),
            never={
                name: int(np.sum(labels == k))
                for k, name in enumerate(names)
                if since[k] == len(labels) and np.any(labels == k)
            },
            in_vain=outcomes.count(KNOWN),
            no_room=outcomes.count(NO_ROOM),
            taken_for_new=_percent(new[has_name]) or 0.0,
            accuracy_of_named=_percent(right[has_name]) or 0.0,
            bytes=report.bytes,
            parameters=parameters,
            new=new,
        )

    def saved(self) -> dict[str, Any]:
        return {"spare_classes": self.parameters}

    def class_names(self, names: tuple[str, ...], classes: int) -> tuple[str, ...]:
        """Return the known classes' names and the given names, then `spare 3` and so on."""
        named = [*self.known, *(naming.name for naming in self.named)]
        rest = classes - len(named)
        return (*named, *(f"spare {self.spare - rest + k + 1}" for k in range(rest)))

    def record(self) -> dict[str, Any]:
        """Return the result for --json, without the marks of novel samples."""
        figures = {name: value for name, value in vars(self).items() if name != "new"}
        return figures | {"named": [vars(naming) for naming in self.named]}

    def rows(self) -> list[tuple[str, str]]:
        table = [
            ("classes known from the start", ", ".join(self.known)),
            ("  right, of classes that had a name", f"{self.accuracy_of_named:.2f} %"),
            ("  of these, taken for novel", f"{self.taken_for_new:.2f} %"),
            ("queries about a class with a name", f"{self.in_vain:,}"),
        ]
        if self.no_room:
            table.append(("queries with no class left", f"{self.no_room:,}"))
        for naming in self.named:
            table += _naming_rows(naming)
        table += [
            (f"never named: {name}", count(total, "sample")) for name, total in self.never.items()
        ]
        room = f"{self.bytes:,} bytes, for {count(self.spare, 'spare class')}"
        return [*table, ("  buffers", room)]


def _naming(
    name: str,
    answer: Sequence[int],
    new: NDArray[np.bool_],
    labels: Labels,
    right: NDArray[np.bool_],
) -> Naming:
    sample, truth, of_it, labelled, _ = answer
    before = labels[:sample] == truth
    after = labels[sample:] == truth
    return Naming(
        name=name,
        sample=sample,
        of_class=int(before.sum()),
        novel=int(new[:sample][before].sum()),
        labelled=labelled,
        right=of_it,
        later=int(after.sum()),
        recall=_percent(right[sample:][after]),
    )


def _naming_rows(naming: Naming) -> list[tuple[str, str]]:
    later = "none came later"
    if naming.recall is not None:
        later = f"{naming.recall:.2f} % right of {naming.later:,}"
    return [
        (
            f"named: {naming.name}",
            f"with sample {naming.sample:,}, the {_th(naming.of_class)} of it",
        ),
        ("  novel samples that were of it", f"{naming.right} of {naming.labelled}"),
        ("  from then on", later),
    ]


def _th(number: int) -> str:
    ends = {1: "st", 2: "nd", 3: "rd"}
    teen = number // 10 % 10 == 1
    return f"{number:,}{'th' if teen else ends.get(number % 10, 'th')}"


def _percent(some: NDArray[np.bool_]) -> float | None:
    return 100 * float(some.mean()) if len(some) else None
