"""Simulated boards in real MicroPythons: each runs many of them, see many_boards.py."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from microshrub_host.base import child_process
from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import messages
from microshrub_host.fetch.micropython_binary import find_or_fetch
from microshrub_host.sources import library_files

from ..board import house_messages
from ..board.pc_board import SCRIPTS
from ..board.program_house import MESSAGES

MOST = 250  # boards of a MicroPython
_HEAP = "16m"
DAY = 86_400  # seconds


@dataclass(frozen=True)
class Fleet:
    """Boards of one kind: how many, the names of their classes, and what changes in a day."""

    boards: int
    classes: tuple[str, ...]
    changes: int

    @property
    def names(self) -> list[str]:
        """Of the boards."""
        return [f"board-{number:05}" for number in range(self.boards)]


@dataclass(frozen=True)
class Traffic:
    """What went over the boards' lines: bytes, and the packets that they sent."""

    sent: int
    received: int
    states: int
    events: int
    packets: int
    begun: int  # bytes that boards sent before their first state, of
    begins: int  # so many lines that were opened

    def __add__(self, other: Traffic) -> Traffic:
        return Traffic(*(a + b for a, b in zip(self._all(), other._all(), strict=True)))

    def _all(self) -> tuple[int, ...]:
        return (
            self.sent, self.received, self.states, self.events, self.packets, self.begun,
            self.begins,
        )  # fmt: skip


NOTHING = Traffic(0, 0, 0, 0, 0, 0, 0)


class BoardPrograms:
    """The MicroPythons of a fleet that talks to the broker at a port; files are in `folder`."""

    def __init__(self, fleet: Fleet, port: int, folder: Path) -> None:
        self._fleet = fleet
        self._folder = folder
        self._command = find_or_fetch(messages.say).command
        self._firsts = range(0, fleet.boards, MOST)
        self._read = dict.fromkeys(self._firsts, 0)  # of each file of times, so many bytes
        self._pool = ThreadPoolExecutor(len(self._firsts))
        self._processes: list[subprocess.Popen[Any]] = []
        try:
            for first in self._firsts:
                self._processes.append(self._start(first, port))
        except BaseException:
            self.__exit__(None, None, None)
            raise

    def __enter__(self) -> BoardPrograms:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in self._processes:
            process.kill()
            process.wait()
        self._pool.shutdown()

    def go_on(self, seconds: int, microseconds: int) -> list[Future[Traffic]]:
        """Let all boards live so many seconds, each of them at least that long, or longer."""
        line = f"{seconds} {microseconds}\n"
        return [self._pool.submit(_ask, process, line) for process in self._processes]

    def times(self) -> dict[int, list[int]]:
        """When each board has sent a state since times() was called last, in microseconds."""
        found: dict[int, list[int]] = {}
        for first in self._firsts:
            with (self._folder / f"sent-{first}").open("rb") as file:
                file.seek(self._read[first])
                data = file.read()
            self._read[first] += len(data)
            for line in data.splitlines():
                number, at = line.split()
                found.setdefault(int(number), []).append(int(at))
        return found

    def _start(self, first: int, port: int) -> subprocess.Popen[Any]:
        fleet = self._fleet
        names = fleet.names[first : first + MOST]
        for name in names:
            (self._folder / f"{name}-{MESSAGES}").write_bytes(introduction(name, fleet.classes))
        plan = {
            "library": str(library_files.folder().parent),
            "folder": str(self._folder),
            "port": port,
            "boards": names,
            "first": first,
            "all": fleet.boards,
            "classes": fleet.classes,
            "period": DAY // fleet.changes,
            "found": len(house_messages.entity_topics(names[0])) + 1,  # with its status
        }
        path = self._folder / f"plan-{first}.json"
        path.write_text(json.dumps(plan))
        program = SCRIPTS / "many_boards.py"
        command: list[str | Path] = [*self._command, "-X", f"heapsize={_HEAP}", program, path]
        pipe = subprocess.PIPE
        return child_process.start(command, stdin=pipe, stdout=pipe, text=True)


def _ask(process: subprocess.Popen[Any], line: str) -> Traffic:
    assert process.stdin
    assert process.stdout
    process.stdin.write(line)
    process.stdin.flush()
    said = process.stdout.readline()
    if not said:
        raise UserError("the MicroPython of the boards has stopped")
    told = json.loads(said)
    packets = {int(first): count for first, count in told["packets"].items()}
    events = sum(count for first, count in packets.items() if first >> 4 == 3 and first & 2)
    return Traffic(
        told["sent"], told["received"], told["states"], events, sum(packets.values()),
        told["begun"], told["begins"],
    )  # fmt: skip


def _around(name: str) -> dict[str, Any]:
    """What the configuration of such a board says: it has a sensor and watches for drift."""
    return {"mqtt": {"name": name}, "sensor": {"kind": "adc"}, "alarm": {"detector": "adwin"}}


def introduction(name: str, classes: Sequence[str]) -> bytes:
    """The file of a board's first messages, as `build` makes it."""
    around = _around(name)
    told = house_messages.messages(around, "Thicket", library_files.version())
    return house_messages.packed(around, told, classes)
