"""`microshrub record`: a board's sensor values, with labels from the keyboard, as a CSV file."""

from __future__ import annotations

import argparse
import contextlib
import math
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.live import Live
from rich.text import Text

from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import messages
from microshrub_host.base.text import count
from microshrub_host.cli.features_option import add_features_option
from microshrub_host.cli.parsed import parsed, whole_number
from microshrub_host.cli.plain_parser import show_first
from microshrub_host.streams.columns import MISSING_CELLS
from microshrub_host.streams.log_lines import TEXT

from ..board.ports import add_port_option, chosen_port
from ..link.lines import is_network, open_line
from ..link.serial_line import Line
from ..watch.feature_readings import FeatureReadings
from ..watch.interrupts import Interrupts
from ..watch.keyboard import Keyboard
from ..watch.line_samples import Reading
from ..watch.readings import SampleSource
from ..watch.recorder import Recorder
from ..watch.sample_file import SampleFile, SampleFileError

_WAIT = 0.05  # seconds between two looks at the keyboard
_PLAIN = 10.0  # seconds between two lines without a terminal
_TWO_LABELS = re.compile(r",\s*(?=\S=)")  # a comma between two labels, as in a list
_NO_LABEL = """\
No sample had a label: --label-keys 0=rest 1=walk sets it from the keyboard, --label NAME gives \
all the same."""
_NO_SAMPLE = """\
No sample came: a board sends those of its own sensor, and none while its program learns what \
a PC sends."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Record a board's sensor values, from plotter lines or over the link, in a CSV file for "
        "`simulate`, until Ctrl-C."
    )
    add_port_option(parser, network=True)
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE.csv",
        type=Path,
        required=True,
        help="the file to write (required)",
    )
    labels = parser.add_mutually_exclusive_group()
    labels.add_argument(
        "--label",
        metavar="NAME",
        type=_label,
        help="the label of all samples of this recording (default: the board's labels)",
    )
    labels.add_argument(
        "--label-keys",
        nargs="+",
        metavar="KEY=NAME",
        type=_label_key,
        action=_LabelKeys,
        default={},
        help="keys that set the label, such as 0=rest 1=walk (default: the board's labels)",
    )
    parser.add_argument(
        "--normal-key",
        metavar="KEY",
        default="",
        help="a key that marks the current readings as normal (--anomaly; default: none)",
    )
    parser.add_argument(
        "--limit", type=whole_number, metavar="N", help="stop after N samples (default: at Ctrl-C)"
    )
    parser.add_argument(
        "--seconds",
        type=parsed(float),
        metavar="S",
        help="stop after S seconds (default: Ctrl-C)",
    )
    parser.add_argument(
        "--time", action="store_true", help="add a first column with milliseconds (default: off)"
    )
    add_features_option(parser, "instead of the board's readings, write")
    existing = parser.add_mutually_exclusive_group()
    existing.add_argument(
        "--append", action="store_true", help="add to an existing file (default: refuse)"
    )
    existing.add_argument(
        "--force", action="store_true", help="replace an existing file (default: refuse)"
    )
    show_first(
        parser,
        "--output",
        "--label",
        "--label-keys",
        "--port",
        "--seconds",
        "--limit",
        "--time",
        "--append",
        "--force",
    )


def _label(text: str) -> str:
    """Parse a label."""
    if not text.strip() or not text.isprintable() or text in MISSING_CELLS:
        raise argparse.ArgumentTypeError(f"has to be a name such as walk, not {text!r}")
    return text.strip()


def _label_key(text: str) -> tuple[str, str]:
    """Return key and label of a text such as 0=rest; a label may have any printable character."""
    key, equals, label = text.partition("=")
    if not equals or len(key) != 1 or not label.strip() or not label.isprintable():
        raise argparse.ArgumentTypeError(f"has to be like 0=rest 1=walk, not {text!r}")
    if _TWO_LABELS.search(label):
        raise argparse.ArgumentTypeError(
            f"has to be words such as {' '.join(_TWO_LABELS.split(text))}, not {text!r}"
        )
    return key, label.strip()


class _LabelKeys(argparse.Action):
    """The action that collects the label of each key."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any,
        option_string: str | None = None,
    ) -> None:  # fmt: skip
        result: dict[str, str] = {}
        for key, label in values:
            if key in result:
                raise argparse.ArgumentError(self, f"has the key {key} twice")
            result[key] = label
        setattr(namespace, self.dest, result)


def run(arguments: argparse.Namespace) -> int:
    """Record until the limit, or Ctrl-C; return 130 after Ctrl-C."""
    for name in ("limit", "seconds"):
        value = getattr(arguments, name)
        if value is not None and not value > 0:
            raise UserError(f"--{name} has to be above 0, not {value}")
    if len(arguments.normal_key) > 1 or arguments.normal_key in arguments.label_keys:
        raise UserError("--normal-key has to be one key, which is none of --label-keys")
    words = arguments.features
    appends = arguments.append and arguments.output.exists()
    features = None if words is None else FeatureReadings(words, appends=appends)
    port = chosen_port(arguments.port)
    with (
        SampleFile(arguments.output, append=arguments.append, force=arguments.force) as file,
        Interrupts() as ctrl_c,
        contextlib.closing(_Stoppable(open_line(port, arguments.key), ctrl_c)) as line,
    ):
        source = SampleSource(line, port, silent=is_network(port))
        recorder = Recorder(file, arguments.label_keys, arguments.label, timed=arguments.time)
        try:
            _run(arguments, source, recorder, file, features)
        except KeyboardInterrupt:
            messages.say(f"stopped: {_progress_text(source, recorder, file)}")
            return 130
        except SampleFileError:
            raise
        except UserError as error:
            if file.samples:
                kept = f"{count(file.samples, 'sample')} are in {arguments.output}"
                raise UserError(f"{error} {kept}; --append continues it.") from error
            raise
        messages.say(_progress_text(source, recorder, file))
        if not (file.samples or recorder.unlabelled):
            messages.say(_NO_SAMPLE)
        elif recorder.unlabelled and not (file.samples or arguments.label_keys):
            messages.say(_NO_LABEL)
        return 0 if file.samples else 1


class _Stoppable:
    """A line whose reads Ctrl-C interrupts, and so never the write of a sample to the file."""

    def __init__(self, line: Line, ctrl_c: Interrupts) -> None:
        self._line, self._ctrl_c = line, ctrl_c
        self.write, self.reopen, self.close = line.write, line.reopen, line.close

    def read(self, seconds: float) -> bytes:
        """Return received bytes. Raises KeyboardInterrupt after Ctrl-C."""
        if self._ctrl_c.came:
            raise KeyboardInterrupt
        return self._line.read(min(seconds, _WAIT))


def _run(
    arguments: argparse.Namespace,
    source: SampleSource,
    recorder: Recorder,
    file: SampleFile,
    features: FeatureReadings | None,
) -> None:
    keys = arguments.label_keys
    end = time.monotonic() + (arguments.seconds or math.inf)
    normal = arguments.normal_key
    keyboard = Keyboard() if keys or normal else None
    noted = ""
    with contextlib.ExitStack() as stack:
        pressed = stack.enter_context(keyboard).pressed if keyboard else str
        show = _Shown(stack, arguments)
        while time.monotonic() < end:
            typed = pressed()
            if normal and normal in typed:
                messages.say(source.this_is_normal())
            changed = recorder.press(typed)
            show(_progress_text(source, recorder, file), changed)
            result = source.take(_WAIT)
            if source.note != noted:
                noted = source.note
                messages.say(noted)
            while source.words:
                messages.say(f"the board: {source.words.popleft()}")
            for reading in _samples(result, source, features) if features else result:
                recorder.put(reading)
                if file.samples == arguments.limit:
                    return


def _samples(
    readings: list[Reading], source: SampleSource, features: FeatureReadings
) -> Iterator[Reading]:
    """Yield samples made of the readings. Raises UserError if the board makes features itself."""
    if source.extracts:
        raise UserError("the board makes features of its readings already: leave --features out")
    for reading in readings:
        noted = features.note
        sample = features.take(reading)
        if features.note != noted:
            messages.say(features.note)
        if sample:
            yield sample


class _Shown:
    """A line that changes on a terminal; elsewhere a line every few seconds and per label."""

    def __init__(self, stack: contextlib.ExitStack, arguments: argparse.Namespace) -> None:
        self._next = time.monotonic() + _PLAIN
        self._live: Live | None = None
        keys = ", ".join(f"{key}: {label}" for key, label in arguments.label_keys.items())
        messages.say(f"recording to {arguments.output}, Ctrl-C stops" + f"; {keys}" * bool(keys))
        if messages.is_terminal:
            self._live = stack.enter_context(Live(console=messages, transient=True))

    def __call__(self, text: str, changed: bool) -> None:
        if self._live:
            self._live.update(Text(text))
        elif changed or time.monotonic() > self._next:
            self._next = time.monotonic() + _PLAIN
            messages.say(text)


def _kinds(source: SampleSource) -> str:
    counts = source.skipped.counts
    if set(counts) <= {TEXT}:
        return ""
    return f" ({', '.join(f'{number:,} {kind}' for kind, number in counts.items())})"


def _progress_text(source: SampleSource, recorder: Recorder, file: SampleFile) -> str:
    parts = [count(file.samples, "sample")]
    if recorder.label is not None:
        parts.append(f"label {recorder.label}")
    for number, what in (
        (recorder.unlabelled, "without a label skipped"),
        (
            sum(source.skipped.counts.values()),
            f"lines that are not samples skipped{_kinds(source)}",
        ),
        (source.lost, "observations lost on the line"),
    ):
        if number:
            parts.append(f"{number:,} {what}")
    return ", ".join(parts)
