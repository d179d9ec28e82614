"""The bytes of a file or a pipe, which readers read more than once: always the same bytes.

A pipe yields its bytes only once, so these are kept in a file. A file that changes while it is
read is refused: the result would mix the old and the new content.
"""

from __future__ import annotations

import codecs
import gzip
import io
import os
import re
import shlex
import stat
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, Any

from ..base.cache import cache_folder
from ..base.errors import DataError
from ..base.files import MODEL_START
from .log_lines import LinesLeftOut
from .project_files import Recording, recording_in

LOOKED_AT = 4096  # bytes at the start of a file that show its kind
_SHEET = "Save the sheet that has the samples as CSV in UTF-8 (File, Save As), and name that file."
_UNPACK = "Unpack it, and name the CSV or ARFF file in it."
_MODEL = "Models are named with --model; DATA is a CSV or ARFF file."
_EXPORT = "Export the table as CSV in UTF-8, and name that file."

_JSON = rb"\s*(\{\s*(\"|\}|$)|\[\s*[\[{\"])"

# The beginnings of files, the formats that they belong to, and advice
KINDS: tuple[tuple[bytes, str, str], ...] = (
    (MODEL_START, "a model that `simulate --save` wrote", _MODEL),
    (rb"PK\x03\x04.{26}mimetypeapplication/vnd\.oasis", "an OpenDocument file", _SHEET),
    (rb"PK\x03\x04.*(xl/|\[Content_Types\]\.xml|_rels/)", "an Excel workbook", _SHEET),
    (rb"PK(\x03\x04|\x05\x06|\x07\x08)", "a zip archive", _UNPACK),
    (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel workbook", _SHEET),
    (rb"PAR1", "a Parquet file", "read_parquet"),
    (rb"ARROW1|FEA1", "an Arrow or Feather file", "read_feather"),
    (rb"\x89HDF\r\n", "an HDF5 file", "read_hdf"),
    (rb"\x80[\x02-\x05]", "a Python pickle", "read_pickle"),
    (rb"\x93NUMPY", "a NumPy array", "Write it as CSV with numpy.savetxt, with a header."),
    (rb"MATLAB 5\.0", "a MATLAB file", _EXPORT),
    (rb"SQLite format 3\x00", "an SQLite database", _EXPORT),
    (rb"\x1f\x8b", "packed with gzip twice", "Unpack it once."),
    (rb"BZh[1-9]", "packed with bzip2", _UNPACK),
    (rb"\xfd7zXZ\x00", "packed with xz", _UNPACK),
    (rb"\x28\xb5\x2f\xfd", "packed with zstd", _UNPACK),
    (rb"7z\xbc\xaf\x27\x1c|Rar!\x1a|.{257}ustar", "an archive", _UNPACK),
    (rb"%PDF-", "a PDF", _EXPORT),
    (rb"\x89PNG|\xff\xd8\xff|GIF8", "a picture", "Name a CSV or ARFF file."),
    (rb"\s*<(!doctype html|html)", "a web page", "Download the data itself, and name that file."),
    (rb"\s*<\?xml", "an XML file", _EXPORT),
    (_JSON, "a JSON file", "read_json"),
)


def unreadable_kind(name: str, start: bytes) -> str:
    """Return a description of a file that is no text, with advice; "" if it may be text.

    start has the first LOOKED_AT bytes, or the whole file.
    """
    for pattern, what, remedy in KINDS:
        if re.match(pattern, start.removeprefix(b"\xef\xbb\xbf"), re.DOTALL | re.IGNORECASE):
            if remedy.startswith("read_"):
                target = re.sub(r"\.\w+$", "", name) + ".csv"
                target = f"text-of-{target}" if target == name else target
                remedy = _pandas(remedy, name, target)
            return f"{name} is {what}, not CSV. {remedy}"
    return ""


def is_json(start: bytes) -> bool:
    """Return whether a file with this start is JSON."""
    return re.match(_JSON, start.removeprefix(b"\xef\xbb\xbf")) is not None


def _pandas(reader: str, name: str, target: str) -> str:
    code = f"import pandas; pandas.{reader}({name!r}).to_csv({target!r}, index=False)"
    return f"Save it as CSV, with pandas for example: python -c {shlex.quote(code)}"


STANDARD_INPUT = "-"
GENERATED = ("river:", "sklearn:", "synth:")  # prefixes of sources that are no files
_NAMED = "river:NAME, sklearn:NAME or synth:NAME"
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_GZIP = b"\x1f\x8b"
_CHUNK = 1 << 16


@dataclass
class Recordings:
    """The recordings in a joined file; complete after it was read."""

    starts: list[int] = field(default_factory=list)  # first row of each, from 0 on
    groups: list[int] = field(default_factory=list)  # first rows of groups held out as a whole
    group_name: str = "file"
    readings: int = 0  # rows of each, if all have the same number


@dataclass(frozen=True)
class Made:
    """The origin of a plain CSV file converted from another format, or from several files."""

    place: Callable[[int], str]  # describes a row's original line or record
    how: Callable[[], list[str]]  # notes on the reading; complete at the end
    left_out: Callable[[], LinesLeftOut]  # complete at the end
    clocks: tuple[str, ...] = ()  # columns with dates
    units: tuple[tuple[str, str], ...] = ()  # removed units of columns, by name
    recordings: Recordings | None = None


@dataclass(frozen=True)
class SourceFile:
    """A source to be read; messages use its `name`."""

    name: str
    open: Callable[[], IO[bytes]]  # opens the bytes at the first one. Raises OSError
    size: Callable[[], int]  # number of bytes; of a pipe, received so far. Raises OSError
    is_pipe: bool
    project: Recording | None = None  # if it is from a project of the page
    made: Made | None = None  # if it was converted from another file
    not_utf8: list[int] = field(default_factory=list)  # first line read that is not UTF-8, if any

    def place(self, line: int) -> str:
        """Return a description of that line's place in the user's file."""
        return self.made.place(line) if self.made else f"{self.name}, line {line}"

    def how(self) -> list[str]:
        """Return notes on how the file was read; complete at the end."""
        older = [
            f"line {line} is not UTF-8, so it is read as Windows-1252, which older programs write"
            for line in self.not_utf8
        ]
        return older + (self.made.how() if self.made else [])

    def notes(self) -> list[str]:
        """Return the notes on the whole file, after it was read."""
        left_out = self.made.left_out().notes(self.name) if self.made else []
        return [f"{self.name}: {note}." for note in self.how()] + left_out

    @contextmanager
    def opened(self) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
        """Yield the bytes as stored, and unpacked, with UTF-16 as UTF-8. Raises OSError."""
        with self.open() as raw:
            packed = self.name.lower().endswith(".gz")
            if not packed:
                packed = raw.read(len(_GZIP)) == _GZIP
                raw.seek(0)
            # GzipFile is an IO[bytes] in all but name
            file: IO[bytes] = gzip.GzipFile(fileobj=raw) if packed else raw  # type: ignore[assignment]
            is_utf16 = file.read(len(codecs.BOM_UTF16)) in (
                codecs.BOM_UTF16_LE,
                codecs.BOM_UTF16_BE,
            )
            file.seek(0)
            yield raw, io.BufferedReader(_FromUtf16(file), _CHUNK) if is_utf16 else file


@contextmanager
def opened_source(source: str) -> Iterator[SourceFile]:
    """Open the file with that name, or the standard input for `-`. Raises DataError.

    For a project of the page, the file is the recording in the project. It is an error, too, if
    the file was replaced or written in the meantime.
    """
    _check_name(source)
    with _named(source):
        is_file = source != STANDARD_INPUT and stat.S_ISREG(os.stat(source).st_mode)
    if not is_file:
        with _kept(source) as kept:
            yield kept
        return
    path = Path(source)
    before = _identity(path)
    try:
        name = os.fsencode(path.name).decode(errors="replace")  # in any locale
        with _named(source):
            project = recording_in(path)
        if project:
            csv = project.csv
            yield SourceFile(name, lambda: io.BytesIO(csv), lambda: len(csv), False, project)
        else:
            yield SourceFile(name, lambda: path.open("rb"), lambda: path.stat().st_size, False)
    except DataError as error:
        _check(path, before, error)
        raise
    _check(path, before)


def _check_name(source: str) -> None:
    if not source.strip():
        raise DataError(f"No file was named. Name a CSV or ARFF file, or {_NAMED}.")
    if _ADDRESS.match(source):
        raise DataError(f"{source} is a URL. Download it first, then name the file.")
    provider, colon, name = source.partition(":")
    meant = f"{provider.strip().lower()}:{name}"
    if colon and meant.startswith(GENERATED) and source != meant and not os.path.exists(source):
        raise DataError(f"There is no file {source}. Did you mean {meant}?")


def _near(path: Path) -> str:
    """Return advice about a missing file: the file with the nearest name, if there is one."""
    import difflib  # slow to import

    try:
        there = [each.name for each in islice(path.parent.iterdir(), 1000)]
    except OSError:
        there = []
    near = difflib.get_close_matches(path.name, there, n=1, cutoff=0.8)
    if near:
        return f"Did you mean {path.with_name(near[0])}?"
    return f"Check the name, or use {_NAMED}."


def _identity(path: Path) -> tuple[int, ...] | None:
    """Return values that change when a file is written or replaced; None without a file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _check(path: Path, before: tuple[int, ...] | None, cause: DataError | None = None) -> None:
    if _identity(path) != before:
        raise DataError(
            f"{path.name} was changed while it was read, so some of it may be old and some new. "
            "Read it again when nothing writes to it, or copy it first."
        ) from cause


@contextmanager
def _named(source: str) -> Iterator[None]:
    """Raise DataError with the system's message about a source."""
    try:
        yield
    except FileNotFoundError as error:
        raise DataError(f"There is no file {source}. {_near(Path(source))}") from error
    except (OSError, ValueError) as error:
        message = getattr(error, "strerror", None) or error
        raise DataError(f"{source} cannot be read: {message}.") from error


@contextmanager
def _kept(source: str) -> Iterator[SourceFile]:
    """Open a source whose bytes come only once."""
    with ExitStack() as stack:
        with _named(source):
            if source == STANDARD_INPUT:
                if sys.stdin is None:
                    raise DataError("The standard input is closed. Pipe a file into it.")
                raw: Any = open(sys.stdin.fileno(), "rb", buffering=0, closefd=False)  # noqa: SIM115
            elif os.path.isdir(source):
                raise DataError(f"{source} is a folder. Name a CSV or ARFF file in it.")
            else:
                raw = open(source, "rb", buffering=0)  # noqa: SIM115
        stack.enter_context(raw)
        try:
            kept = stack.enter_context(tempfile.TemporaryFile(dir=cache_folder("streams")))
        except OSError as error:
            raise _no_room(source, error) from error
        name = "standard input" if source == STANDARD_INPUT else source
        pipe = _Pipe(name, raw, kept)
        yield SourceFile(name, pipe.open, lambda: pipe.size, True)


@contextmanager
def kept_rows(source: SourceFile, data: Iterator[bytes], made: Made) -> Iterator[SourceFile]:
    """Yield a file of these bytes, which are produced and stored as they are read."""
    try:
        kept = tempfile.TemporaryFile(dir=cache_folder("streams"))  # noqa: SIM115
    except OSError as error:
        raise _no_room(source.name, error) from error
    with kept:
        pipe = _Pipe(source.name, _Pieces(data), kept)
        yield SourceFile(
            *(source.name, pipe.open, lambda: pipe.size, True),
            *(source.project, made, source.not_utf8),
        )


class _FromUtf16(io.RawIOBase):
    """Converts UTF-16 text to UTF-8, without the mark at its start."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-16")("replace")
        self._held = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._held:
            piece = self._file.read(_CHUNK)
            self._held = self._decoder.decode(piece, not piece).encode()
            if not piece:
                break
        taken = self._held[: len(buffer)]
        buffer[: len(taken)] = taken
        self._held = self._held[len(taken) :]
        return len(taken)


class _Pieces:
    """Returns the next piece of any length on each read; nothing at the end."""

    def __init__(self, data: Iterator[bytes]) -> None:
        self._data = data

    def read(self, _: int) -> bytes:
        return next(self._data, b"")


def _no_room(name: str, error: OSError) -> DataError:
    return DataError(
        f"What comes from {name} cannot be kept in {cache_folder('streams')}: "
        f"{error.strerror or error}."
    )


class _Pipe:
    """A pipe: the bytes read so far are in a file; more are read only when needed."""

    def __init__(self, name: str, raw: Any, kept: IO[bytes]) -> None:
        self._name, self._raw, self._kept = name, raw, kept
        self._ended = False
        self._lock = threading.Lock()
        self.size = 0

    def open(self) -> IO[bytes]:
        """Return a new reader that starts at the first byte, independent of others."""
        return io.BufferedReader(_PipeReader(self), _CHUNK)

    def read(self, at: int, most: int) -> bytes:
        """Return bytes from `at` on, at least one until the end. Raises OSError, DataError."""
        with self._lock:
            while at >= self.size and not self._ended:
                self._take()
            self._kept.seek(at)
            return self._kept.read(most)

    def _take(self) -> None:
        data = self._raw.read(_CHUNK)
        self._ended = not data
        try:
            self._kept.seek(self.size)
            self._kept.write(data)
            self._kept.flush()
        except OSError as error:
            raise _no_room(self._name, error) from error
        self.size += len(data)


class _PipeReader(io.RawIOBase):
    def __init__(self, pipe: _Pipe) -> None:
        self._pipe, self._at = pipe, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, to: int, whence: int = os.SEEK_SET) -> int:
        self._at = {os.SEEK_SET: 0, os.SEEK_CUR: self._at}[whence] + to
        return self._at

    def readinto(self, buffer: Any) -> int:
        data = self._pipe.read(self._at, len(buffer))
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)
