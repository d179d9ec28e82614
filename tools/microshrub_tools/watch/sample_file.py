"""A CSV file of samples that is complete after every line, however the program ends."""

from __future__ import annotations

import contextlib
import csv
import io
import os
from pathlib import Path

from microshrub_host.base.errors import UserError
from microshrub_host.base.files import check_target
from microshrub_host.base.text import count

Cell = int | str | None
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)


class SampleFileError(UserError):
    """The file cannot be written any more; the message states how many samples were kept."""


class SampleFile:
    """A file made at the first sample; each line is one write. `samples` counts samples written.

    An existing file is extended (`append`), replaced (`force`) or else refused. Raises UserError.
    """

    def __init__(self, path: Path, *, append: bool = False, force: bool = False) -> None:
        self._path = path
        self._append = append and path.exists() and path.stat().st_size > 0
        self._force = force
        self._file: int | None = None
        self._bytes = 0
        self._names: list[str] = []
        self.samples = 0
        if path.is_file() and not (append or force):
            raise UserError(f"{path} already exists: --append adds to it, --force replaces it")
        check_target("--output", path)
        if self._append:
            self._names = _header(path)

    def __enter__(self) -> SampleFile:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            os.close(self._file)

    def write(self, names: list[str], cells: list[Cell]) -> None:
        """Add a line. All lines have to have the names of the first one."""
        if self._names and names != self._names:
            raise SampleFileError(
                f"the board's samples now have the columns {', '.join(names)}, and before "
                f"they had {', '.join(self._names)}: {self._kept()}"
            )
        if self._file is None:
            self._open(names)
        self._names = names
        self._put(_line(cells))
        self.samples += 1

    def _open(self, names: list[str]) -> None:
        flags = _FLAGS if self._append else _FLAGS | (os.O_TRUNC if self._force else 0)
        if not (self._append or self._force or self._path.exists()):
            flags |= os.O_EXCL
        try:
            self._file = os.open(self._path, flags, 0o666)
        except OSError as error:
            raise UserError(f"{self._path}: cannot be written: {error.strerror}") from None
        self._bytes = os.fstat(self._file).st_size
        if not self._append:
            self._put(_line(list(names)))

    def _put(self, line: bytes) -> None:
        """Write the whole line, or leave the file as it was."""
        assert self._file is not None
        reason = "no space is left"
        try:
            if os.write(self._file, line) == len(line):
                self._bytes += len(line)
                return
        except OSError as error:
            reason = error.strerror or str(error)
        with contextlib.suppress(OSError):  # a device file has no length
            os.ftruncate(self._file, self._bytes)
        raise SampleFileError(f"{self._path} can no longer be written: {reason}; {self._kept()}")

    def _kept(self) -> str:
        return f"{count(self.samples, 'sample')} of this recording are in {self._path}"


def _line(cells: list[Cell]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(["" if c is None else c for c in cells])
    return text.getvalue().encode()


def _header(path: Path) -> list[str]:
    """Return the columns of the file to extend, which has to end with a whole line."""
    try:
        with path.open("rb") as file:
            first = file.readline().decode(errors="replace")
            file.seek(-1, os.SEEK_END)
            whole = file.read(1) == b"\n"
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from None
    if {"\0", "\ufffd"} & set(first):  # the latter replaces bytes that are not UTF-8
        raise UserError(f"{path} is no CSV file in UTF-8, so --append cannot add to it")
    if not whole:
        raise UserError(f"{path}: the last line is incomplete; complete or remove it first")
    return next(csv.reader([first]), [])
