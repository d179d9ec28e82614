"""`microshrub costs`: the instructions of predict and learn on emulated boards, as a table."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import showing
from microshrub_host.boards import counted_models, emulated_boards, instruction_counts
from microshrub_host.reports.markdown import markdown_table

from . import xtensa_cost

ASKED = ", predicted before"
QUICK = ", the class alone"
_HEAD = ("board", "configuration", "call", "mean", "p50", "p99", "most")

TEXT = """\
# What predict and learn cost

Instructions of `model.predict(x)` and `model.learn(x, label)`, called from Python, counted in QEMU
on a MicroPython {version}, for each of {counted:,} samples after {warmup:,} others; of Thicket for
{thicket_counted:,} after all its windows are full. A sample that was predicted right before it is
learned has its neighbours then: "predicted before". "The class alone" is what `decide(model, x)`
takes, which leaves no votes. The counts are exact, and
the same in every run of the same files; those of `predict` differ by up to 12 % with what else is
loaded, since MicroPython looks names up in tables whose order depends on it. A real board's time
is more than instructions divided by its clock rate: a Cortex-M0+ takes two cycles for a load or a
taken branch, and more where code waits for flash. After each run the model's state was compared
with the simulator's (CRC32 over all buffers). Up to a window of 64, shrubs compare splits as
fractions; beyond it, they divide twice for each that could be the best.

{table}

{native}{xtensa}{kernels}The streams are generated (`counted_models.stream`): 14 features where a
configuration says elec, and 8 for the others. Made by `{command}`.
"""

NATIVE_TEXT = """\
## With native kernels

The same of native code, as `build` takes it without `--emit`: the kernels translated to C and
compiled by Debian's gcc, -Os. The models' states are the same.

{table}

"""

XTENSA_TEXT = """\
## On ESP32, ESP32-S2 and ESP32-S3

There is no MicroPython for an emulated Xtensa core, so what is counted here are the kernels that
`predict` and `learn` call, run in QEMU's user mode on the same calls and with the same bits, and
not the Python around them. On a board, viper's kernels call each other through MicroPython. Its
part is not counted here, so viper takes longer than the table says. Nor is the work of saving
register windows that overflow. A labelled sample is predicted, then learned; the last {counted} of
each stream are counted. `microshrub costs --xtensa` prints this table alone.

{table}

"""

KERNELS_TEXT = """\
## What learning is made of

Instructions in one `learn` on the {board}, each kernel with all that it calls: the mean, and the
mean over the dearest hundredth of the samples. `mix` is called by `predict`.

{table}

"""
_KERNELS_MOST = 64  # the widest window; wider ones take minutes
_KERNELS_HEAD = ("configuration", "kernel", "calls", "mean", "dearest")


def measure(
    boards: Sequence[str], native: bool = False
) -> list[tuple[str, counted_models.CountedModel, instruction_counts.InstructionCost]]:
    """Count every configuration of the table on every board; with `native`, of native modules.
    Thickets are counted once more with learn() after predict() of the same sample, and with
    decide().

    Raises UserError if a model on a board ends up in another state than the simulator's.
    """
    # each configuration has its own board: one board has no room for the modules of all
    whats = [*counted_models.configurations(), *counted_models.thickets()]
    result = []
    with showing("counting instructions", announce=True) as update:
        for i, (board, what) in enumerate(itertools.product(boards, whats)):
            with instruction_counts.Counter(board, [what], native=native) as counter:
                result.append((board, what, _counted(counter, what, board)))
                if what.learner == "Thicket":
                    # a native module has no decide()
                    for how in (ASKED,) if native else (ASKED, QUICK):
                        again = replace(what, name=what.name + how)
                        result.append((board, again, _counted(counter, again, board)))
            update(i + 1, len(whats) * len(boards), f"{board}: {what.name}")
    return result


def _counted(
    counter: instruction_counts.Counter, what: counted_models.CountedModel, board: str
) -> instruction_counts.InstructionCost:
    """Count the instructions of a model; raises UserError if its state is not the simulator's."""
    asked, quick = (what.name.endswith(how) for how in (ASKED, QUICK))
    cost = counter.count(0, what.learner, what.parameters, asked=asked, quick=quick)
    expected = instruction_counts.learned_on_pc(what)
    if cost.crc != expected:
        text = f"{what.name} on the {board} is not what the simulator computes"
        raise UserError(f"{text}: {cost.crc:08x}, not {expected:08x}")
    return cost


def rows(
    costs: Sequence[tuple[str, counted_models.CountedModel, instruction_counts.InstructionCost]],
) -> list[tuple[str, ...]]:
    """Return the table: head, then two rows per board and configuration,
    and four for a thicket.
    """
    table: list[tuple[str, ...]] = [_HEAD]
    for board, what, cost in costs:
        name, asked, _ = what.name.partition(ASKED)
        name, quick, _ = name.partition(QUICK)
        if not asked:
            table.append((board, name, "predict" + quick, *figures(cost.predict)))
        if not quick:
            table.append((board, name, "learn" + asked, *figures(cost.learn)))
    return table


def figures(counts: instruction_counts.Counts) -> tuple[str, ...]:
    """Return mean, p50, p99 and the greatest of counts;
    all but the mean are counts that occurred.
    """
    p50, p99 = np.percentile(counts, (50, 99), method="higher")
    return tuple(f"{round(value):,}" for value in (counts.mean(), p50, p99, counts.max()))


def kernels(board: str) -> list[tuple[str, ...]]:
    """Return the table of the shrub ensembles' kernels on a board: head,
    then a row for each kernel.
    """
    shrubs = (w for w in counted_models.configurations() if w.learner == "ShrubEnsemble")
    whats = [what for what in shrubs if what.parameters["window"] <= _KERNELS_MOST]
    table: list[tuple[str, ...]] = [_KERNELS_HEAD]
    with (
        showing("counting in kernels", announce=True) as update,
        instruction_counts.Counter(board, whats) as counter,
    ):
        for i, what in enumerate(whats):
            whole = counter.count(i).learn
            dearest = np.argsort(whole, kind="stable")[-(len(whole) // 100) :]
            table.append((what.name, "learn", "1", *_means(whole, dearest)))
            for k, line in enumerate(instruction_counts.KERNELS):
                counts, calls = counter.count_kernel(i, line.strip())
                table.append((what.name, line, f"{calls.mean():.1f}", *_means(counts, dearest)))
                done = i * len(instruction_counts.KERNELS) + k + 1
                update(done, len(whats) * len(instruction_counts.KERNELS), f"{board}: {what.name}")
    return table


def _means(counts: instruction_counts.Counts, some: NDArray[np.intp]) -> Iterator[str]:
    return (f"{round(value):,}" for value in (counts.mean(), counts[some].mean()))


def as_text(table: Sequence[Sequence[str]]) -> str:
    """Return columns for a terminal, with numbers aligned to the right."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = []
    for row in table:
        cells = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, _numeric(table), strict=True)
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _numeric(table: Sequence[Sequence[str]]) -> list[bool]:
    """Return which columns hold numbers."""
    return [cell[:1].isdigit() for cell in table[1]]


def as_markdown(
    table: Sequence[Sequence[str]],
    command: str,
    kernel_table: Sequence[Sequence[str]] = (),
    board: str = "",
    native_table: Sequence[Sequence[str]] = (),
    xtensa_table: Sequence[Sequence[str]] = (),
) -> str:
    """Return the page docs/reference/results/cost.md;
    `command` is the command that makes the page.
    """
    native = NATIVE_TEXT.format(table=_markdown_table(native_table)) if native_table else ""
    xtensa = xtensa_part(xtensa_table) if xtensa_table else ""
    part = ""
    if kernel_table:
        part = KERNELS_TEXT.format(board=board, table=_markdown_table(kernel_table))
    return TEXT.format(
        version=emulated_boards.VERSION,
        counted=counted_models.COUNTED,
        warmup=counted_models.WARMUP,
        thicket_counted=counted_models.THICKET_COUNTED,
        table=_markdown_table(table),
        native=native,
        xtensa=xtensa,
        kernels=part,
        command=command,
    )


def xtensa_part(table: Sequence[Sequence[str]]) -> str:
    """Return the page's section on ESP32, S2 and S3."""
    return XTENSA_TEXT.format(counted=xtensa_cost.SAMPLES, table=_markdown_table(table))


def _markdown_table(table: Sequence[Sequence[str]]) -> str:
    indented = [[cell.replace("  ", "&ensp;") for cell in row] for row in table]
    return markdown_table(indented[0], indented[1:])
