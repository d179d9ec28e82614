"""The lines of a text file, plain or gzip, and errors for files without any.

Lines come one at a time, so that an error can name its line and a limit stops the reading. A line
ends with LF, CR LF or the lone CR of old Macs.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Generator, Iterator
from contextlib import suppress
from typing import IO

from ..base.errors import DataError
from .source_file import LOOKED_AT, SourceFile, unreadable_kind
from .stream import Progress

LONGEST_LINE = 1 << 20  # bytes; 257 reasonable cells take far less
_LINES_PER_PROGRESS = 1000


def text_lines(source: SourceFile, progress: Progress | None) -> Generator[str, None, None]:
    """Yield the lines of a text file with their ends; a lone CR becomes LF.

    A line that is not UTF-8 is read as Windows-1252, and source.not_utf8 has the first such line.
    `progress` is called at intervals with the bytes read and the bytes of the file. Raises
    DataError if the file cannot be opened, unpacked or decoded, or has a line that does not end
    within LONGEST_LINE bytes: no more of a file than that is in memory at a time.
    """
    number = 0
    try:
        with source.opened() as (_, file):
            start = file.read1(LOOKED_AT)  # type: ignore[attr-defined]  # a pipe's bytes so far
        if message := unreadable_kind(source.name, start):
            raise DataError(message)
        with source.opened() as (raw, file):
            for line in _raw_lines(file):
                for text in _split(_decode(source, line, number + 1)):
                    number += 1
                    if progress is not None and number % _LINES_PER_PROGRESS == 0:
                        progress(raw.tell(), source.size())
                    yield text
    except EOFError as error:
        raise DataError(
            f"{source.name} is cut short after line {number}: its gzip data ends too early. "
            "Copy or download it again."
        ) from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise DataError(
            f"{source.name} is not a gzip file, or it is damaged ({error}). "
            "Copy it again, or take .gz off its name if it is plain text."
        ) from error
    except OSError as error:
        raise DataError(f"{source.name} cannot be read: {error.strerror or error}.") from error


def _raw_lines(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines up to each LF; in too long ones, up to a lone CR, or all bytes so far."""
    line = b""
    while piece := file.readline(LONGEST_LINE):
        line += piece
        whole = len(line)
        if not line.endswith(b"\n"):
            if whole < LONGEST_LINE:
                continue
            whole = line.rfind(b"\r", 0, -1) + 1 or whole  # LF may follow a CR at the end
        yield line[:whole]
        line = line[whole:]
    if line:
        yield line


def _decode(source: SourceFile, line: bytes, number: int) -> str:
    name = source.name
    if b"\0" in line:
        raise DataError(
            f"{name}, line {number}: a zero byte, so this is no text, or it is UTF-16. "
            "Save the file in UTF-8."
        )
    if len(line) >= LONGEST_LINE and not line.endswith((b"\n", b"\r")):
        raise DataError(
            f"{name}, line {number}: no line end within {LONGEST_LINE:,} bytes, so this is no "
            "table. Name a CSV or ARFF file."
        )
    with suppress(UnicodeDecodeError):
        return line.decode("utf-8-sig" if number == 1 else "utf-8")
    try:
        text = line.decode("cp1252")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{name}, line {number}: not UTF-8 text. Save the file as CSV in UTF-8."
        ) from error
    if not source.not_utf8:
        source.not_utf8.append(number)
    return text


def _split(text: str) -> Iterator[str]:
    """Yield the lines of a text that ends in LF, with a lone CR as a line end, too."""
    if "\r" in text.removesuffix("\r\n"):
        yield from io.StringIO(text, newline=None)  # turns each CR into LF
    else:
        yield text
