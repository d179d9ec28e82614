"""`microshrub monitor`: a live view of a device that learns, which does not disturb it."""

from __future__ import annotations

import argparse
import contextlib
import math
import time
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import console, messages
from microshrub_host.base.text import count
from microshrub_host.cli.outputs import add_outputs, check_outputs, write_figure
from microshrub_host.cli.parsed import parsed
from microshrub_host.evaluation.by_class import ByClass
from microshrub_host.simulation.engine_interface import percent

from ..board import simulated_board
from ..board.ports import add_port_option, chosen_port
from ..link.client import HostLink
from ..link.lines import open_line
from ..link.messages import AnomalyStatus, Observed
from ..watch import exam
from ..watch.board_words import BoardWords
from ..watch.class_naming import HELP, Classes, CommandLine
from ..watch.device_watch import Watch, drift_name
from ..watch.interrupts import Interrupts
from ..watch.keyboard import Keyboard
from ..watch.monitor_plot import draw_watch
from ..watch.normal import COMMAND, KEY, this_is_normal
from ..watch.query_keys import answer, answer_name, described

_EVERY = 1.0  # seconds between two looks at the device
_SLICE = 0.1  # seconds between two checks for Ctrl-C
_ROWS_ELSE = 17  # lines of the terminal that are not for the confusion matrix
_CELL = 8  # columns for a number of the confusion matrix
_HEADING = 6  # columns of a heading besides the name of the class


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Watch a device that learns, until Ctrl-C: accuracy, predictions, drift, heap, latency; "
        "of a regressor, the prediction with its interval, and the mean absolute error. If the "
        "device asks for a label, the bell rings, and each class has a key. With spare classes, "
        f"type {HELP}, and Enter; `answer NAME` then answers a query. With --anomaly, the key "
        f"{KEY} says: this is normal; with spare classes, type `{COMMAND}`. A device reads "
        "its sensor before it answers."
    )
    add_port_option(parser, network=True)
    add_outputs(parser, plot="draw what was seen, at the end")
    parser.add_argument(
        "--seconds", type=parsed(float), metavar="S", help="stop after S seconds (default: off)"
    )
    parser.add_argument(
        "--exam",
        type=parsed(float),
        nargs="?",
        const=exam.USUAL,
        metavar="S",
        help="show the board each class once more, without a label, S seconds each (default "
        f"{exam.USUAL:g}): how many predictions are right?",
    )


def run(arguments: argparse.Namespace) -> int:
    """Show a device until the time is over, or Ctrl-C; return 130 after Ctrl-C."""
    check_outputs(arguments)
    for name in ("seconds", "exam"):
        value = getattr(arguments, name)
        if value is not None and not value > 0:
            raise UserError(f"--{name} has to be above 0, not {value}")
    if arguments.exam is not None and (arguments.seconds or arguments.plot):
        raise UserError("--exam ends by itself and draws nothing: leave out --seconds and --plot")
    port = chosen_port(arguments.port)
    words = BoardWords()
    with HostLink(open_line(port, arguments.key), on_text=words.feed) as link, words.explaining():
        watch = Watch(link, words)
        watch.is_virtual = simulated_board.is_at(port)
        if watch.note:
            messages.say(watch.note)
        with Interrupts() as ctrl_c:
            if arguments.exam is not None:
                console.say(exam.grade(exam.take(watch, arguments.exam, ctrl_c)))
                return 130 if ctrl_c.came else 0
            try:
                _watch(watch, link, arguments.seconds or math.inf, ctrl_c)
            finally:
                if arguments.plot is not None and watch.history.last:
                    write_figure(arguments, draw_watch(watch.history.moments, port, watch.unit))
    return 130 if ctrl_c.came else 0


def _watch(watch: Watch, link: HostLink, seconds: float, ctrl_c: Interrupts) -> None:
    end = time.monotonic() + seconds
    names = watch.names.classes
    with contextlib.ExitStack() as stack:
        live: Live | None = None
        typed = CommandLine()
        pressed = _keys(stack) if watch.naming or watch.asks or watch.scores else str
        if console.is_terminal:
            live = stack.enter_context(Live(console=console, auto_refresh=False))
        asked = False
        while not ctrl_c.came and (not asked or time.monotonic() < end):
            asked = True
            room = watch.target is None and has_room(
                watch.matrix_names, console.width, console.height
            )
            watch.ask(matrix=live is not None and room)
            if live:
                live.update(view(watch, typed.text), refresh=True)
                if watch.has_new_alarm() | watch.has_new_query():
                    console.bell()
            else:
                console.say(plain(watch))
            pause = min(time.monotonic() + _EVERY, end)
            while not ctrl_c.came and time.monotonic() < pause:
                link.poll(_SLICE)
                watch.collect()
                keys = pressed()
                asks = watch.query if not watch.naming else None
                if asks and answer(link, asks, names, keys):
                    break  # so that the next query is shown
                if watch.scores and not watch.naming and KEY in keys:
                    watch.message = this_is_normal(link)
                    break
                for line in typed.press(keys if watch.naming else ""):
                    _obey(watch, line)
                if live and typed.changed():
                    live.update(view(watch, typed.text), refresh=True)


def _keys(stack: contextlib.ExitStack) -> Callable[[], str]:
    """Return a function that returns the pressed keys; no keys if they cannot be read."""
    try:
        return stack.enter_context(Keyboard()).pressed
    except UserError as error:
        messages.say(f"Note: {error}")
        return str


def _obey(watch: Watch, line: str) -> None:
    """Carry out a typed command, and print the result."""
    if watch.naming:
        command, _, name = line.strip().partition(" ")
        if watch.scores and command == COMMAND:
            watch.naming.message = this_is_normal(watch.link)
        elif watch.asks and name and "answer".startswith(command):
            watch.naming.message = answer_name(watch, name.strip())
        else:
            watch.naming.do(line)
        if watch.naming.message and not console.is_terminal:
            console.say(watch.naming.message)


def has_room(names: Sequence[str], width: int, height: int) -> bool:
    """Return whether a terminal of that size has room for a confusion matrix with these names."""
    cell = max(_CELL, _HEADING + max(map(len, names), default=0))
    return len(names) + _ROWS_ELSE < height and (len(names) + 2) * cell < width


def facts(watch: Watch) -> Iterable[tuple[str, str]]:
    """Yield names and values of all that is shown, except the confusion matrix."""
    status = watch.status
    yield from _class_facts(watch) if watch.target is None else _number_facts(watch)
    if watch.query:
        asked, seen = watch.query.asked, watch.query.seen
        typed = watch.naming is not None
        yield "query", described(watch.query, watch.class_names, typed=typed)
        yield (
            "labels asked for",
            f"{asked:,} of {seen:,} samples, {100 * asked / max(seen, 1):.2f} %",
        )
    if watch.anomaly:
        yield "anomaly", _anomaly(watch.anomaly, watch.strangest)
        if watch.message:
            yield "normal", watch.message
    yield from watch.figures
    if watch.naming:
        yield "new", _new(watch.naming)
    yield _saved(watch)
    here = ", on this PC" if watch.is_virtual else ""
    yield "heap", f"{status.heap_used:,} bytes used, {status.heap_free:,} free{here}"
    median, worst = watch.latency
    yield "latency", f"{median:.1f} ms, p99 {worst:.1f} ms"
    waits = "a label" if watch.target is None else "their target"
    yield f"waiting for {waits}", f"{status.pending}"
    if status.missed:
        yield "missed", f"{count(status.missed, 'reading')} while the board was busy"
    awake = status.uptime - status.asleep
    yield "up", f"{status.uptime:,} s" + (f", {awake:,} of them awake" if status.asleep else "")
    if watch.words.last:
        yield "the board said", watch.words.last


def _saved(watch: Watch) -> tuple[str, str]:
    """Return the fact whether the board can be unplugged without losing labels."""
    status = watch.status
    if status.unsaved > 0:
        return "unsaved", count(status.unsaved, "label" if watch.target is None else "sample")
    if status.unsaved < 0:
        return "saved", "never: this program keeps nothing without power"
    return "saved", f"{status.saved_ago:,} s ago" if status.saved_ago >= 0 else "nothing new"


def _number_facts(watch: Watch) -> Iterable[tuple[str, str]]:
    """Yield the facts on a device that predicts a number, in the target's unit."""
    state, place = watch.errors, watch.target
    if state is None or place is None:
        return
    names = watch.names
    if watch.status.samples:
        words = str(names.value(place, state.predicted))
        if state.half >= 0:
            low, high = (
                names.value(place, state.predicted + side * state.half) for side in (-1, 1)
            )
            words += f", between {low} and {high}"
        yield f"predicted {names.features[place]}", words
    if not state.scored:
        yield "mean absolute error", f"no {names.features[place]} yet"
        return
    unit = watch.unit
    yield "mean absolute error", f"{state.mae * unit:.5g} of {state.scored:,}"
    yield "NoChange", f"{state.mae_nochange * unit:.5g}"
    if state.half >= 0:
        yield "inside the interval", f"{100 * state.inside / state.scored:.2f} %"


def _class_facts(watch: Watch) -> Iterable[tuple[str, str]]:
    """Yield the facts on a device that predicts classes."""
    status, now = watch.status, watch.recent.accuracy
    if watch.newest:
        label, confidence = watch.newest
        yield "newest sample", f"{watch.class_names[label]}, confidence {confidence:.2f}"
    if now and watch.taught != 1:
        yield "accuracy now", f"{now[0]:.2f} % of the last {now[1]:,}"
    if watch.taught == 1:
        yield "accuracy", "unknown, until two classes had labels"
    elif status.samples:
        yield "accuracy", f"{percent(status.accuracy):.2f} % of {status.samples:,}"
        yield "NoChange", f"{percent(status.accuracy_nochange):.2f} %"
        yield "kappa", f"{percent(status.kappa):.2f} %"
    else:
        yield "accuracy", "no labels yet"
    if status.samples and watch.taught != 1 and watch.confusion:
        result = ByClass(watch.matrix_names, np.array(watch.confusion))
        yield "balanced accuracy", f"{result.balanced_accuracy:.2f} %"
        yield "G-mean", f"{result.g_mean:.2f} %"
    last = sum(number for _, number, _ in watch.predictions)
    for label, number, confidence in watch.predictions:
        yield (
            f"predicted {watch.class_names[label]}",
            f"{number} of the last {last}, confidence {confidence:.2f}",
        )
    yield "drift", f"{drift_name(status.drift)}, {count(status.drifts, 'alarm')}"


def _anomaly(state: AnomalyStatus, strangest: Observed | None) -> str:
    words = f"score {state.score}, threshold {state.threshold}, {count(state.alarms, 'alarm')}"
    return words + (
        f", the last with a score of up to {strangest.prediction.score}" if strangest else ""
    )


def _new(naming: Classes) -> str:
    now = naming.now
    words = f"{count(now.novel, 'novel sample')}, score {now.score}, threshold {now.threshold}"
    return words + (": what is it? Type: name NAME" if now.is_asking else "")


def plain(watch: Watch) -> str:
    """Return one line with all facts, for an output that is no terminal."""
    return "; ".join(f"{name} {value}" for name, value in facts(watch))


def view(watch: Watch, typed: str = "") -> RenderableType:
    """Return the terminal's view, with the text typed so far."""
    table = Table(show_header=False)
    for row in facts(watch):
        table.add_row(*map(Text, row))
    if watch.naming:
        known = HELP + f", or {COMMAND}" * watch.scores
        table.add_row(Text("type"), Text(typed or watch.naming.message or known))
    elif watch.scores:
        table.add_row(Text("press"), Text(f"{KEY} where this is normal"))
    return Group(table, matrix(watch.confusion, watch.matrix_names)) if watch.confusion else table


def matrix(rows: list[tuple[int, ...]], names: Sequence[str]) -> Table:
    """Return the confusion matrix: a row a label, a column a prediction; with recalls."""
    table = Table("label")
    for name in names:
        table.add_column(Text(f"as {name}"))
    table.add_column("recall")
    recalls = ByClass(tuple(names), np.array(rows)).recalls
    for name, row, recall in zip(names, rows, recalls, strict=True):
        share = "-" if recall is None else f"{recall:.1f} %"
        table.add_row(Text(name), *(f"{number:,}" for number in row), share)
    return table
