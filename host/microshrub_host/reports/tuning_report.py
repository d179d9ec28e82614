"""The report of a search: table, advice, commands, plot, page, JSON."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.box import SIMPLE
from rich.table import Column, Table
from rich.text import Text

from ..base.terminal import console
from ..base.text import count
from ..base.versions import versions
from ..evaluation import pareto, study
from ..evaluation.holdout_scores import Scores
from ..evaluation.search_space import changed
from ..evaluation.splits import SearchedStream
from ..evaluation.study import FinishedTrial
from ..evaluation.trials import Limits
from ..library.learners import learner_name
from .page import Page, surroundings

_TIME = "ms per sample"
_NONE = "-"


@dataclass(frozen=True)
class TuningReport:
    """The contents of the report; reading has --board and the options for reading DATA.

    trials is not empty.
    """

    split: SearchedStream
    limits: Limits
    trials: list[FinishedTrial]
    baselines: Mapping[str, Scores]
    sources: Sequence[str]  # DATA
    reading: Sequence[str]
    seed: int  # of the search
    only_simulate: Sequence[str] = ()  # more words for the simulate command
    only_build: Sequence[str] = ()  # more words for the build command

    @property
    def front(self) -> list[FinishedTrial]:
        return study.pareto(self.trials, self.split.measure)

    @property
    def taken(self) -> FinishedTrial:
        return study.take(self.trials, self.split.measure)

    @property
    def simulate_command(self) -> str:
        return self._command("simulate", self.taken)

    @property
    def build_command(self) -> str:
        return self._command("build", self.taken)

    def _command(self, name: str, trial: FinishedTrial) -> str:
        more = self.only_simulate if name == "simulate" else self.only_build
        words = [*self.sources, *self.reading, *more]
        return f"microshrub {name} {shlex.join(words)} {trial.configuration.options}".strip()

    @property
    def verdict(self) -> str:
        """A sentence on whether the chosen model beats the baselines."""
        scores, measure = self.taken.scores, self.split.measure
        parts = {"the part it was chosen on": "first", "the rest": "rest"}
        beaten = [
            f"{name} ({measure.score_text(getattr(baseline, part))}) on {called}"
            for called, part in parts.items()
            for name, baseline in self.baselines.items()
            if measure.worth(getattr(baseline, part)) >= measure.worth(getattr(scores, part))
        ]
        if beaten:
            return f"It does not beat {', nor '.join(beaten)}."
        return f"It beats {' and '.join(self.baselines)} on both parts."

    def advice(self) -> list[str]:
        """Return sentences about the suggested model."""
        taken, measure = self.taken, self.split.measure
        first, rest, whole = map(measure.score_text, _three(taken.scores))
        return [
            f"Suggested: {study.RULE}.",
            f"{taken.size.model_bytes:,} bytes, {first} where it was chosen, {rest} on the rest. "
            f"{self.verdict}",
            f"This prints its {measure.name} on all parts, {whole}:",
            f"  {self.simulate_command}",
            "And this builds its program for the board:",
            f"  {self.build_command}",
            *self._bytes(),
            *self._default(),
        ]

    def _bytes(self) -> list[str]:
        """Return sentences that compare the suggested model with the smallest good one."""
        taken, measure = self.taken, self.split.measure
        small = study.smallest(self.trials, measure)
        fewer = taken.size.model_bytes - small.size.model_bytes
        if not fewer:
            return ["No smaller model is within a standard error of it."]
        parts = ("first", "rest")
        here, there = (
            measure.difference(getattr(small.scores, part), getattr(taken.scores, part))
            for part in parts
        )
        return [
            f"What the bytes are worth: the smallest within a standard error has {fewer:,} fewer, "
            f"{small.size.model_bytes:,}, and is {here} where it was chosen, {there} on the rest:",
            f"  {self._command('simulate', small)}",
        ]

    def _default(self) -> list[str]:
        """Return sentences about the default learner if it is as good as the suggested model."""
        default, measure = self.split.default, self.split.measure
        same = study.of_default(self.trials, measure, default)
        if same is None or same.configuration == self.taken.configuration:
            return []
        first, rest, _ = map(measure.score_text, _three(same.scores))
        return [
            f"{learner_name(default)}, which needs no search, is as good with "
            f"{same.size.model_bytes:,} bytes: {first} where the model was chosen, {rest} on the "
            "rest:",
            f"  {self._command('simulate', same)}",
        ]

    @property
    def timed(self) -> bool:
        """Whether the time per sample is known for any model on the front."""
        return any(result.size.latency is not None for result in self.front)

    @property
    def head(self) -> list[str]:
        """The head of the table in rows()."""
        time = [_TIME] if self.timed else []
        unit = self.split.measure.unit
        return ["bytes", "RAM", *time, f"chosen on, {unit}", f"rest, {unit}"]

    def rows(self) -> list[list[str]]:
        """Return the front and the baselines: figures, then the model."""
        rows = []
        for result in self.front:
            size, latency = result.size, result.size.latency
            time = [_NONE if latency is None else f"{latency:.2f}"] if self.timed else []
            options = result.configuration.options.removeprefix("--model ")
            figures = [f"{size.model_bytes:,}", f"{size.ram_bytes:,}", *time]
            rows.append([*figures, *self._both(result.scores), options])
        for name, baseline in self.baselines.items():
            nothing = [_NONE] * (len(self.head) - 2)
            rows.append([*nothing, *self._both(baseline), name])
        return rows

    def print(self) -> None:
        """Print the report to the standard output."""
        split, board = self.split, self.limits.board
        console.say(
            f"{split.name}: {count(split.samples, 'sample')}, "
            f"{count(len(self.trials), 'model')} tried that fit {board.name} within "
            f"{self.limits.budget:,} bytes"
        )
        heads = [name.replace(" ", "\n", 1) for name in self.head]
        columns = [Column(name, justify="right", no_wrap=True) for name in heads]
        table = Table(
            *columns, Column("model", overflow="fold"), box=SIMPLE, pad_edge=False,
            collapse_padding=True,
        )  # fmt: skip
        taken = self.front.index(self.taken)
        for number, row in enumerate(self.rows()):
            table.add_row(*map(Text, row), style="bold" if number == taken else None)
        console.print(table)
        console.say(self.split.parts)
        if self.split.measure.rising and any(f.size.latency is None for f in self.front):
            console.say(_no_time(self.front, board.name))
        for sentence in self.advice():
            console.say(sentence)

    def record(self) -> dict[str, Any]:
        """Return the contents for --json."""
        return {
            "stream": self.split.name,
            "samples": self.split.samples,
            "score": self.split.measure.name,
            "samples_that_choose": self.split.samples_that_choose,
            "board": self.limits.board.key,
            "budget": self.limits.budget,
            "front": [self._record(result) for result in self.front],
            "taken": self._record(self.taken),
            "trials": [self._record(result) for result in self.trials],
            "baselines": {name: asdict(baseline) for name, baseline in self.baselines.items()},
            "simulate": self.simulate_command,
            "build": self.build_command,
            "seed": self.seed,
            "versions": versions(),
        }

    def draw(self) -> Any:
        """Return a figure: all models where they were chosen, the front on the rest, baselines."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(8, 5), layout="constrained")
        axes = figure.subplots()
        measure = self.split.measure
        named = {
            model: study.points(
                [f for f in self.trials if f.configuration.model == model], measure
            )
            for model in self.split.models()
        }
        pareto.draw(axes, named, most_bytes=self.limits.budget)
        front = [(f.size.model_bytes, measure.worth(f.scores.rest)) for f in self.front]
        axes.plot(
            *zip(*front, strict=True), ls="none", marker="x", color="0.4", label="front, the rest"
        )
        taken = (self.taken.size.model_bytes, measure.worth(self.taken.scores.first))
        axes.plot(*taken, ls="none", marker="o", ms=12, mfc="none", color="k", label="suggested")
        for (name, baseline), dashes in zip(self.baselines.items(), ("--", ":"), strict=False):
            axes.axhline(measure.worth(baseline.first), color="0.5", lw=1, ls=dashes, label=name)
        shown = [measure.worth(f.scores.first) for f in self.front] + [y for _, y in front]
        shown += [measure.worth(baseline.first) for baseline in self.baselines.values()]
        low, high = min(shown), max(shown)
        if measure.rising:
            axes.set_ylim(max(0, low - 0.1 * (high - low) - 0.5), min(100, high + 1))
        else:  # less is better, and the axis is inverted
            axes.set_ylim(low - 0.1 * (high - low), high + 0.1 * (high - low))
            axes.yaxis.set_major_formatter(lambda worth, _: f"{-worth:.4g}")
        axes.set_ylabel(f"{measure.name}, where models were chosen")
        axes.set_title(f"{self.split.name} on {self.limits.board.name}", parse_math=False)
        figure.legend(loc="outside lower center", ncols=3, frameon=False)
        return figure

    def page(self, command: str) -> Page:
        """Return the report as a page; command is the command that made it."""
        board = self.limits.board
        facts = surroundings() | versions() | {"seed of the search": str(self.seed)}
        page = Page(f"Models for {self.split.name} on {board.name}", command, facts)
        page.paragraph(self.split.parts)
        page.picture(self.draw(), "All models that were tried: how good, and how many bytes.")
        page.heading("The front")
        rows = [[row[-1], *row[:-1]] for row in self.rows()]
        taken = self.front.index(self.taken)
        page.table(["model", *self.head], rows, best=[(taken, 0)])
        page.heading("The suggested model")
        for sentence in self.advice():
            page.paragraph(sentence)
        return page

    def _both(self, baseline: Scores) -> tuple[str, str]:
        """Return a model's scores on the two parts, as text."""
        text = self.split.measure.text
        return text(baseline.first), text(baseline.rest)

    def _record(self, trial: FinishedTrial) -> dict[str, Any]:
        configuration = trial.configuration
        first, rest, whole = _three(trial.scores)
        return {
            "trial": configuration.number,
            "model": configuration.model,
            "settings": dict(configuration.settings),
            "changed": changed(configuration.model, configuration.settings),
            "options": configuration.options,
            **asdict(trial.size),
            self.split.measure.key: {"first": first, "rest": rest, "whole": whole},
        }


def _three(baseline: Scores) -> tuple[float, float, float]:
    return baseline.first, baseline.rest, baseline.whole


def _no_time(front: list[FinishedTrial], board: str) -> str:
    known = sum(result.size.latency is not None for result in front)
    return (
        f"The time per sample on {board} is known for {known} of these "
        f"{count(len(front), 'model')}; --max-latency counts it for boards with a Cortex-M, and "
        "`microshrub bench` measures it on the board."
    )
