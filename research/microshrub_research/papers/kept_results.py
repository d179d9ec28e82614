"""Results of a long run as JSON lines, so that an interrupted run can continue.

The first line has the options and versions of the results; a file with other ones is refused. Only
complete lines count: a kill or a power cut may truncate the last line.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from microshrub_host.base.errors import UserError
from microshrub_host.base.files import lock

_NAME = "results.jsonl"


class KeptResults:
    """The file results.jsonl in a folder, created if need be; used in a with statement.

    `records` are the results of earlier runs; `option` is the option that names the folder. Raises
    UserError if the file has another head, or cannot be read or written.
    """

    def __init__(self, folder: Path, head: Mapping[str, Any], option: str = "--output") -> None:
        self.path = folder / _NAME
        self._option = option
        self.records: list[dict[str, Any]] = []
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("a+b")
            lock(self._file, self.path)
            self._read(json.loads(json.dumps(head)))  # as a file would return it
        except OSError as error:
            raise UserError(f"{option} {folder}: cannot be used: {error.strerror}") from None

    def _read(self, head: dict[str, Any]) -> None:
        self._file.seek(0)
        whole = 0
        lines: list[dict[str, Any]] = []
        for number, line in enumerate(self._file, 1):
            if not line.endswith(b"\n"):
                break
            lines.append(self._parsed(line, number))
            whole += len(line)
        self._file.truncate(whole)  # so that the next append starts a line
        if not lines:
            self.append(head)
            return
        self._check_head(lines[0], head)
        self.records = lines[1:]

    def _parsed(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            result = json.loads(line)
        except ValueError:
            result = None
        if not isinstance(result, dict):
            raise UserError(
                f"{self.path}, line {number}: not a result. Use another {self._option}."
            )
        return result

    def _check_head(self, kept: dict[str, Any], head: dict[str, Any]) -> None:
        for name in {**kept, **head}:
            if kept.get(name) != head.get(name):
                raise UserError(
                    f"{self.path} was made with {name} {_words(kept.get(name))}, not "
                    f"{_words(head.get(name))}: results of both cannot be mixed. Use the same "
                    f"options, or another {self._option}."
                )

    def append(self, record: Mapping[str, Any]) -> None:
        """Add a line; it is on the disk when this method returns."""
        self._file.write(json.dumps(record).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def __enter__(self) -> KeptResults:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _words(value: Any) -> str:
    return "none" if value is None else str(value)
