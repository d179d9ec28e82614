"""The recording and program of a virtual board, and how commands find the board without --port."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from microshrub_host.base.errors import UserError
from microshrub_host.base.text import did_you_mean
from microshrub_host.programs import mpy
from microshrub_host.streams.open_regression_stream import open_columns
from microshrub_host.streams.open_stream import open_stream

from . import build
from .board_code import LOADER

MARK = "'microshrub simulated' in __import__('sys').modules"  # true on a virtual board
_ARCH = "x86"  # the architecture of MicroPython for the PC
_MOST = 1 << 31
_MOST_SPEED = 10_000


def write_sensors(
    folder: Path,
    recording: Path | None,
    rate: float,
    press: Mapping[int, str],
    *,
    speed: int = 1,
    labelled: bool = True,
    label: str | None = None,
    classes: str | None = None,
    **reading: Any,
) -> Path:
    """Write the recording for machine_on_pc.py, `rate` rows a second; return the file to read.

    press: by pin, the label at which the button is pressed. speed: how many times faster than real
    time the board's clock runs. labelled: a column is the label, the last one if `label` names no
    other; its classes may be given. reading: columns, drop, header and limit, as of open_columns.
    Raises UserError.
    """
    if not 0 < rate <= 10_000:
        raise UserError(f"--rate has to be above 0 and at most 10,000, not {rate:g}")
    if not 1 <= speed <= _MOST_SPEED:
        raise UserError(f"--speed has to be 1..{_MOST_SPEED:,}, not {speed}")
    of_label = {"label": label, "classes": classes} if labelled else None
    names, known, values, labels = _played(recording, of_label, reading)
    for pin, name in press.items():
        if name not in known:
            hint = did_you_mean(name, known)
            raise UserError(f"--press {pin}={name}: no row has that label. {hint}")
    rows = array("i")
    for row, number in zip(values, labels, strict=True):
        if not all(abs(value) < _MOST for value in row):
            raise UserError(f"--sensor {recording}: a board's sensor gives whole numbers")
        rows.extend([*map(round, row), number])
    place, path = folder / "rows", folder / "sensors.json"
    place.write_bytes(rows.tobytes())
    sensors = {
        "rows": str(place.resolve()),
        "columns": names,
        "period": round(1e6 / rate),
        "press": {str(pin): known.index(name) for pin, name in press.items()},
        "speed": speed,
    }
    path.write_text(json.dumps(sensors))
    return path


def _played(
    recording: Path | None, of_label: Mapping[str, Any] | None, reading: Mapping[str, Any]
) -> tuple[Sequence[str], Sequence[str], list[list[float]], list[int]]:
    """Return the names of columns and classes, the rows and their labels, -1 for none."""
    if recording is None:
        return (), (), [[]], [-1]
    if of_label is not None:
        stream = open_stream(str(recording), **of_label, **reading, fewest_classes=1)
        names, classes = stream.feature_names, stream.class_names
        return names, classes, stream.values.tolist(), stream.labels.tolist()
    result = open_columns(str(recording), **reading)
    return result.column_names, (), result.columns.tolist(), [-1] * len(result.columns)


def for_this_pc(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return a build's files with the library for this PC's processor; it gives the same bits."""
    kept = {name: data for name, data in files.items() if not name.startswith(build.LIBRARY)}
    for path in mpy.compiled(_ARCH):
        kept[f"lib/{mpy.in_library(path)}"] = path.read_bytes()
    learner = json.loads(files["config.json"]).get("learner", "")
    return kept | {"main.py": build.registration(learner) + build.main_file().read_bytes()}


def put_program(flash: Path, program: Path) -> None:
    """Put a build, or a main.py of the user's own, on the board's flash. Raises UserError."""
    if program.is_file():
        (flash / "main.py").write_bytes(program.read_bytes())
        return
    if program.suffix == ".py":
        raise UserError(f"there is no file {program}")
    for name, data in for_this_pc(build.read(program)).items():
        target = flash / "microshrub.0001" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    (flash / "main.py").write_text(LOADER)


@dataclass(frozen=True)
class Running:
    """A virtual board that runs now: its port, and the folder in which it was started."""

    port: str
    folder: Path

    @property
    def is_here(self) -> bool:
        """Whether the board was started in the working folder."""
        return self.folder == Path.cwd()


@contextlib.contextmanager
def announced(port: str) -> Iterator[None]:
    """Announce a board, so that commands in the same working folder find it without --port."""
    path = _folder() / str(os.getpid())
    path.write_bytes(os.fsencode(f"{port}\n{Path.cwd()}"))
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def running() -> list[Running]:
    """Return this user's running virtual boards; boards of the working folder come first."""
    result = []
    with contextlib.suppress(OSError, UserError):
        for path in sorted(_folder().iterdir()):
            if Path(f"/proc/{path.name}").exists():
                port, _, folder = os.fsdecode(path.read_bytes()).partition("\n")
                result.append(Running(port, Path(folder)))
            else:
                path.unlink(missing_ok=True)
    return sorted(result, key=lambda board: not board.is_here)


def is_at(port: str) -> bool:
    """Return whether a virtual board runs at that port."""
    return any(board.port == port for board in running())


def _folder() -> Path:
    """Return this user's folder in which virtual boards are announced. Raises UserError."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"microshrub-boards-{user}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if hasattr(os, "getuid") and folder.stat().st_uid != user:
        raise UserError(f"{folder} is not yours: remove it")
    return folder
