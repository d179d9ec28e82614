"""Microseconds of predict and learn, measured on a device, and the table for its board."""

from __future__ import annotations

import json
import math
import subprocess
import tempfile
import threading
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path

from microshrub_host.base import child_process
from microshrub_host.base.child_process import patience
from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import messages, showing
from microshrub_host.boards.board_files import CostRow
from microshrub_host.library import library_files
from microshrub_host.library.learners import MODELS, specification

from .board_repl import Device

_PATIENCE = 20.0  # seconds until the device's first line
_START_SECONDS = 5.0
_TREE = (
    "depth=8 nodes=63 leaves=8 grace_period=100 split_confidence=1e-3 tie_threshold=0.1 leaf=nba "
    "bins=16"
)
# The models, each with its features and classes; the first is for elec
CONFIGURATIONS = (
    ("shrub window=16 trees=4 depth=4 step=8", 14, 2),
    ("shrub window=16 trees=4 depth=4", 8, 2),
    ("shrub window=32 trees=8 depth=5", 8, 2),
    ("shrub window=32 trees=8 depth=5", 8, 5),
    (f"hoeffding {_TREE} adaptive=false", 8, 2),
    (f"hoeffding {_TREE} policy=svfdt2 boost=true", 8, 2),
)


def measure(port: str, *, mount: bool = False) -> tuple[int, str, list[CostRow]]:
    """Return the device's clock in Hz (0 if unknown) and name, and microseconds of each model.

    With mount, the device imports this PC's library. The device's program is restarted afterwards.
    Raises UserError if nothing can be measured.
    """
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "bench.py"
        script.write_text(device_script(), encoding="utf-8")
        output: list[str] = []
        lines = _mpremote(port, script, output, mount=mount)
        try:
            return read_rows(lines)
        finally:
            lines.close()
            if any(line.startswith("device ") for line in output):
                start_again(port)


def device_script() -> str:
    """Return the program for the device."""
    listed = []
    for number, (model, features, classes) in enumerate(CONFIGURATIONS):
        name, parameters = specification(model)
        shape = {"features": features, "classes": classes}
        listed.append([number, MODELS[name], parameters | shape])
    program = Path(__file__).with_name("bench_device.py").read_text(encoding="utf-8")
    return f"{program}\n\nimport json\n\nmain(json.loads({json.dumps(listed)!r}))\n"


def start_again(port: str) -> None:
    """Start the board's program again, and print whether it runs."""
    try:
        with Device(port) as device:
            if not device.value("'main.py' in __import__('os').listdir()"):
                return
            started, message = device.start(patience(_START_SECONDS))
            # another program sends no start frame: it runs unless there is a prompt
            started = started or ">>> " not in message.rpartition("soft reboot")[2]
    except UserError:
        started = False
    messages.say(
        "The board's program runs again."
        if started
        else "The board's program is stopped: reset the board to start it."
    )


def _mpremote(
    port: str, script: Path, output: list[str], *, mount: bool
) -> Generator[str, None, None]:
    """Yield each line that the script prints, and append it to `output`.

    Raises UserError if the script does not finish.
    """
    mounted = ["mount", str(library_files.folder().parent)] if mount else []
    words = ("connect", port, *mounted, "run", str(script))
    command = child_process.python_module("mpremote", *words)
    process = child_process.start(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    # on a pty mpremote waits for ever
    silence = threading.Timer(patience(_PATIENCE), process.kill)
    silence.start()
    try:
        assert process.stdout
        for line in process.stdout:
            silence.cancel()
            output.append(line.strip())
            yield line.strip()
        if process.wait():
            raise UserError(_advice(port, output))
    finally:
        silence.cancel()
        process.kill()
        process.wait()


def _advice(port: str, output: Sequence[str]) -> str:
    last = next((line for line in reversed(output) if line), "")
    if not last or "raw repl" in last.lower():
        return (
            f"{port}: MicroPython does not answer. Is it on the board, and can its program be "
            "stopped? Reset the board and try again."
        )
    return f"{port}: the measurement stopped, mpremote says: {last}"


def read_rows(lines: Iterator[str]) -> tuple[int, str, list[CostRow]]:
    """Return the clock in Hz (0 if unknown), the device's name and the rows of bench_device.py.

    Prints which models did not fit. Raises UserError if there is no row.
    """
    hertz, device, rows, reasons = 0, "", [], []
    with showing("measuring on the device", announce=True) as update:
        for line in lines:
            kind, _, rest = line.partition(" ")
            if kind == "device":
                first, _, device = rest.partition(" ")
                hertz = int(first)
            elif kind == "missing":
                raise UserError("microshrub is not on the device: flash it, or use --mount")
            elif kind in ("row", "no"):
                number, _, rest = rest.partition(" ")
                model, features, classes = CONFIGURATIONS[int(number)]
                if kind == "no":
                    reasons.append(rest)
                    messages.say(f"{model}, {features} features: {rest}")
                else:
                    p50, p99, q50, q99 = map(int, rest.split())
                    rows.append(CostRow(model, features, classes, (p50, p99), (q50, q99)))
                update(int(number) + 1, len(CONFIGURATIONS))
    if not rows:
        raise UserError(reasons[0] if reasons else "the device printed no measurement")
    clock = f" at {hertz / 1e6:g} MHz" if hertz and math.isfinite(hertz) else ""
    return hertz, device + clock, rows


def table(source: str, rows: Sequence[CostRow]) -> str:
    """Return the section [measured] of a board file."""
    parts = [
        "# microseconds of a sample: [median, 99th percentile]",
        "[measured]",
        f"source = {json.dumps(source, ensure_ascii=False)}",
    ]
    for row in rows:
        parts += [
            "",
            "[[measured.row]]",
            f"model = {json.dumps(row.model)}",
            f"features = {row.features}",
            f"classes = {row.classes}",
            f"predict = {list(row.predict)}",
            f"learn = {list(row.learn)}",
        ]
    return "\n".join(parts) + "\n"
