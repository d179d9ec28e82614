"""Tables for people and JSON for programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

from ..base.terminal import console
from ..base.text import count
from ..base.versions import versions
from ..boards.board_files import Board
from ..boards.ram_budget import Budget, Part
from ..boards.sample_time import SampleTime
from ..evaluation.classes import Result
from ..streams.stream import Stream

_LEAK = "neighbours in time leak: a sample is learned after others that are nearly the same"
_SHUFFLED = f"But they were shuffled, and in a recording {_LEAK}. A board will be less accurate."
_FEW = 100  # samples below which there is no verdict
_FIRST = ("model", "quantizer", "metrics", "target", "rows")  # of a budget; code comes last


def run_record(
    result: Result,
    budget: Budget,
    board: Board,
    key: str,
    options: dict[str, Any],
    time: SampleTime | None = None,
) -> dict[str, Any]:
    """What `simulate --json` writes; options say how the stream was read."""
    sizes: dict[str, Any] = {"model_bytes": budget.model_bytes, "ram_bytes": budget.ram_bytes}
    sizes |= {"board": key, "sample_time": time and time.record()}
    return result.record() | sizes | _limits(budget, board) | options | {"versions": versions()}


def stream_record(options: Mapping[str, Any], stream: Stream) -> dict[str, Any]:
    """How the stream was read, what is in it, and whether there was a --board."""
    record = {name: options[name] for name in ("limit", "warmup", "shuffle", "label")}
    if stream.extraction:
        record["extraction"] = stream.extraction.saved()
    return record | {
        "class_names": list(stream.class_names),
        "feature_names": list(stream.feature_names),
        "board_given": options["board"] is not None,
    }


def budget_record(
    budget: Budget, board: Board, key: str, time: SampleTime | None = None
) -> dict[str, Any]:
    """What `budget --json` writes: the sums, and every part with its bytes."""
    sections = {"buffers": budget.buffers, "overhead": budget.overhead, "code": budget.code}
    parts = {title: {p.name: p.bytes for p in found} for title, found in sections.items()}
    sums: dict[str, Any] = {"model_bytes": budget.model_bytes, "ram_bytes": budget.ram_bytes}
    sums |= {"board": key, "sample_time": time and time.record()}
    return sums | _limits(budget, board) | parts


def _limits(budget: Budget, board: Board) -> dict[str, Any]:
    return {
        "fits": budget.fits,
        "free_bytes": budget.free_bytes,
        "machine_code_bytes": budget.machine_code_bytes,
        "executable_bytes": budget.executable_bytes,
        "model_budget_bytes": board.model_budget_bytes,
    }


def print_run(
    result: Result,
    budget: Budget,
    board: Board,
    *,
    shuffled: bool,
    time: SampleTime | None = None,
) -> None:
    """The table after a simulation, and a sentence on whether the model beats the baselines."""
    console.say(f"{result.stream}: {size_of_run(result)}")
    table = Table(show_header=False)
    for row in run_rows(result, budget, board, time):
        table.add_row(*map(Text, row))
    console.print(table)
    console.say(verdict(result, shuffled=shuffled))
    if not budget.fits:
        console.say(f"This model does not fit on {board.name}.", style="bold red")


def size_of_run(result: Result) -> str:
    """How large the stream was."""
    return (
        f"{count(result.samples, 'sample')}, "
        f"{count(result.features, 'feature')}, {count(result.classes, 'class')}"
    )


def run_rows(
    result: Result, budget: Budget, board: Board, time: SampleTime | None = None
) -> list[tuple[str, str]]:
    """The table of a simulation: what, and how much of it."""
    return [
        ("accuracy", f"{result.accuracy:.2f} %"),
        ("  mean of the running accuracy", f"{result.running_average_accuracy:.2f} %"),
        ("  NoChange (the last label)", f"{result.accuracy_nochange:.2f} %"),
        ("  MajorityClass", f"{result.accuracy_majority:.2f} %"),
        ("kappa", f"{result.kappa:.2f} %"),
        ("kappa temporal", f"{result.kappa_temporal:.2f} %"),
        *result.by_class.rows(),
        *(result.alone.rows() if result.alone else []),
        ("model", count(budget.model_bytes, "byte")),
        (f"RAM on {board.name}", f"{budget.ram_bytes:,} bytes of {budget.free_bytes:,} free"),
        *(time.rows() if time else []),
        *progress_rows(result.progress),
        *(row for run in result.beside.values() for row in run.rows()),
        ("values out of range", f"{result.clamped:,}"),
        ("missing values", f"{result.missing:,}"),
        (f"samples a second ({result.engine})", f"{result.samples_per_second:,.0f}"),
        ("state CRC32", f"{result.state_crc32:08x}"),
    ]


def progress_rows(progress: Mapping[str, int]) -> list[tuple[str, str]]:
    """What the model tells of its state; of each member of an ensemble its share and accuracy."""
    rows = []
    for name, value in progress.items():
        what, _, member = name.partition("_")
        if what == "accuracy" and f"share_{member}" in progress:
            continue  # told with the share
        right = progress.get(f"accuracy_{member}")
        if what == "share" and right is not None:
            rows.append((f"  {member}", f"{value} % of the votes, lately {right} % right"))
        else:
            rows.append((name.replace("_", " "), f"{value:,}"))
    return rows


def verdict(result: Result, *, shuffled: bool = False) -> str:
    """Whether the model beats repeating the last label and the majority class, in sentences; and
    how often it is right where nobody tells labels, which alone counts if labels come in runs."""
    if result.alone and _knows_without_labels(result):
        return (
            f"{result.alone.sentence()} Naming the most frequent class is right in "
            f"{result.accuracy_majority:.2f} %. This is what counts: the stream has long runs of "
            f"one label, so that repeating the last one is right in {result.accuracy_nochange:.2f}"
            " %, for as long as somebody tells it."
        )
    said = _with_labels(result, shuffled)
    return f"{said} {result.alone.sentence()}" if result.alone else said


def _with_labels(result: Result, shuffled: bool) -> str:
    if result.samples < _FEW:
        return f"{count(result.samples, 'sample')}: too few to tell whether the model is useful."
    baselines = {"NoChange": result.accuracy_nochange, "MajorityClass": result.accuracy_majority}
    if result.asking:  # they have all labels
        return _verdict_of_few(result, baselines)
    best = max(baselines, key=lambda name: baselines[name])
    gain = result.accuracy - baselines[best]
    if gain > 0:
        said = f"The model is {gain:.2f} points above the better of the two simple baselines."
        return f"{said} {_SHUFFLED}" if shuffled else said
    said = f"The model does not beat {best} ({baselines[best]:.2f} %)."
    if best == "NoChange" and _in_runs(result):
        said += (
            " The stream has long runs of one label; a model is only useful there if labels "
            "come late or never."
        )
        if not shuffled:
            said += (
                f" --shuffle SEED breaks the runs up, but then {_LEAK}, so accuracy is too high."
            )
    return said


def _knows_without_labels(result: Result) -> bool:
    """Whether labels in runs hide what the model knows: it is below repeating the last label, and
    far above the majority class without any."""
    hidden = result.accuracy <= result.accuracy_nochange and _in_runs(result)
    if not (result.alone and hidden) or result.asking or result.samples < _FEW:
        return False
    return result.alone.accuracy - result.accuracy_majority > _margin(result.alone.samples)


def _verdict_of_few(result: Result, baselines: Mapping[str, float]) -> str:
    """The same of a model that does not know all labels, and of baselines that do."""
    ahead = [name for name, accuracy in baselines.items() if result.accuracy > accuracy]
    if ahead:
        return f"The model is above {' and '.join(ahead)}, which know every label."
    return "The model does not beat the simple baselines, but these know every label."


def _in_runs(result: Result) -> bool:
    """Whether a label repeats far more often than in a random order: three standard errors."""
    chance = max(result.accuracy_majority, result.label_agreement)
    return result.accuracy_nochange - chance > _margin(result.samples)


def _margin(samples: int) -> float:
    """Percent: three standard errors of a share in so many samples, at least 5."""
    return float(max(5, 150 / samples**0.5))


def fitting(budget: Budget) -> str:
    """What is said of a model that fits, and of machine code that may not."""
    left = budget.free_bytes - budget.ram_bytes
    said = f"It fits: {left:,} bytes are left for your program."
    return said if budget.code_fits else f"{said} {code_shortage(budget)}"


def code_shortage(budget: Budget) -> str:
    """What is said of machine code that is too large for the RAM that can run it."""
    return (
        f"But its machine code takes {budget.machine_code_bytes:,} bytes of executable RAM, and "
        f"{budget.board} has {budget.executable_bytes:,}: use `build --emit bytecode`, which has "
        "none, or `build --freeze`, which leaves it in flash."
    )


def shortage(what: str, budget: Budget) -> str:
    """The sentence for what does not fit: `The model` or the like."""
    found = budget.shortage
    assert found is not None
    needed, available = f"{found.needed:,} bytes", f"{found.available:,}"
    if found.buffer:
        return (
            f"{what} has a buffer, {found.buffer}, of {needed}, and {budget.board} has no more "
            f"than {available} in one piece."
        )
    when = " while its buffers are made" if found.construction else ""
    return f"{what} takes {needed} of RAM{when}, and {budget.board} has {available} free."


def print_budget(budget: Budget, board: Board, time: SampleTime | None = None) -> None:
    """Every part with its bytes, what they add up to, and what the board has."""
    console.say(f"RAM on {board.name}")
    table = Table("part", "bytes", "note")
    table.columns[1].justify = "right"
    parts = [*budget.buffers, *budget.overhead, *budget.code]
    for owner in dict.fromkeys([*_FIRST, *(part.owner for part in parts)]):
        if own := [part for part in parts if part.owner == owner]:
            _section(table, owner, own, budget)
    _row(table, "all", budget.ram_bytes, "", style="bold")
    _row(table, "free on the board", budget.free_bytes, board.heap_source)
    if budget.executable_bytes is not None:
        code = budget.machine_code_bytes
        _row(table, "machine code", code, "in executable RAM", style="bold")
        _row(table, "executable RAM", budget.executable_bytes, board.executable_source)
    _row(
        table, "for a model there", board.model_budget_bytes, "a recommendation of the board file"
    )
    console.print(table)
    console.say(
        f"model {budget.model_bytes:,} bytes, RAM {budget.ram_bytes:,} of {budget.free_bytes:,}"
    )
    for name, value in time.rows() if time else []:
        console.say(f"{name.strip()}: {value}")
    if budget.model_bytes > board.model_budget_bytes:
        console.say(
            f"The model takes more than the {board.model_budget_bytes:,} bytes that "
            f"{board.name}'s file recommends, which leaves room for a program."
        )


def _section(table: Table, owner: str, parts: list[Part], budget: Budget) -> None:
    buffers = f"{budget.model_bytes:,} of them in its buffers" if owner == "model" else ""
    _row(table, owner, sum(part.bytes for part in parts), buffers, style="bold")
    for part in parts:
        if part.bytes:
            _row(table, "  " + part.name.removeprefix(owner + ": "), part.bytes, part.note)
    table.add_section()


def _row(table: Table, name: str, size: int, note: str, style: str | None = None) -> None:
    table.add_row(Text(name), Text(f"{size:,}"), Text(note), style=style)
