"""Data sets of OpenML, fetched once by name and stored.

Its REST interface describes a data set as JSON: the address of its ARFF file, the file's MD5
checksum, and the attribute that is the class. https://www.openml.org/apis
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import re
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from microshrub_host.base import files
from microshrub_host.base.cache import cache_folder
from microshrub_host.base.errors import UserError

_VARIABLE = "MICROSHRUB_OPENML"  # the address of another server of the same kind
_ADDRESS = "https://www.openml.org/api/v1/json"
_FOLDER = "openml"
_SECONDS = 20  # timeout for an answer
_CHUNK = 1 << 16
_MD5 = re.compile("[0-9a-f]{32}")

Progress = Callable[[int, int], None]


class OpenmlError(UserError):
    """The reason why a data set is not available."""


class OpenmlUnreachableError(OpenmlError):
    """No server answers, so further requests are of no use."""


@dataclass(frozen=True)
class Description:
    """A data set as OpenML describes it."""

    number: int
    name: str
    version: int
    url: str  # address of the ARFF file
    md5: str
    label: str  # the attribute that is the class


def fetch(name: str, samples: int, progress: Progress | None = None) -> tuple[Path, Description]:
    """Return the ARFF file and the description of the first data set with this name and size.

    A file in the cache is used without a request. Raises OpenmlError, and leaves no file behind,
    if the data set is not available or differs from its description.
    """
    folder = cache_folder(_FOLDER)
    kept = folder / f"{name}-{samples}.json"
    result = _kept(kept) or describe(name, samples)
    path = folder / f"{result.md5}.arff"
    if not path.is_file():  # a file gets this name only when it is complete
        _download(result, path, progress)
    files.replace(kept, json.dumps(asdict(result), indent=2).encode())
    return path, result


def _kept(path: Path) -> Description | None:
    try:
        return Description(**json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def describe(name: str, samples: int) -> Description:
    """Request the active data set of that name and size. Raises OpenmlError."""
    word = urllib.parse.quote(name, safe="")
    answer = _ask(f"data/list/data_name/{word}/status/active")
    numbers = sorted(
        int(each["did"]) for each in _part(answer, "data", "dataset") if _samples(each) == samples
    )
    if not numbers:
        raise OpenmlError(f"OpenML has no active data set {name} of {samples:,} samples")
    about = _part(_ask(f"data/{numbers[0]}"), "data_set_description")
    description = _described(about)
    if about.get("format", "").lower() != "arff":
        raise OpenmlError(f"OpenML's {name} is not an ARFF file but {about.get('format')}")
    if not re.match("https?://", description.url) or not _MD5.fullmatch(description.md5):
        raise OpenmlError(f"OpenML's description of {name} has no address or no checksum")
    return description


def _described(about: Any) -> Description:
    try:
        return Description(
            number=int(about["id"]),
            name=str(about["name"]),
            version=int(about["version"]),
            url=str(about["url"]),
            md5=str(about["md5_checksum"]).lower(),
            label=str(about["default_target_attribute"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise OpenmlError(f"OpenML's description lacks {error}") from None


def _samples(entry: Any) -> int | None:
    for quality in entry.get("quality", []):
        if quality.get("name") == "NumberOfInstances":
            return int(float(quality["value"]))
    return None


def _part(answer: Any, *names: str) -> Any:
    for name in names:
        if not isinstance(answer, dict) or name not in answer:
            raise OpenmlError(f"OpenML's answer has no {name}")
        answer = answer[name]
    return answer


def _ask(path: str) -> Any:
    address = f"{os.environ.get(_VARIABLE) or _ADDRESS}/{path}"
    try:
        with _open(address) as answer:
            return json.load(answer)
    except ValueError:
        raise OpenmlError(f"{address}: the answer is not JSON") from None
    except (OSError, http.client.HTTPException) as error:
        raise _failure(address, error) from None


def _open(address: str) -> Any:
    request = urllib.request.Request(address, headers={"User-Agent": "microshrub"})
    return urllib.request.urlopen(request, timeout=_SECONDS)


def _failure(address: str, error: Exception) -> OpenmlError:
    if isinstance(error, urllib.error.HTTPError):
        return OpenmlError(f"{address}: the server answers {error.code}")
    if isinstance(error, urllib.error.URLError):
        return OpenmlUnreachableError(f"{address} cannot be reached: {error.reason}")
    return OpenmlError(f"{address}: cut off: {str(error) or type(error).__name__}")


def _download(description: Description, path: Path, progress: Progress | None) -> None:
    """Write a temporary file and rename it; a file with a wrong checksum never gets the name."""
    try:
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            part = Path(folder) / path.name
            with _open(description.url) as answer, part.open("wb") as file:
                total = int(answer.headers.get("Content-Length") or 0)
                md5, size = _copy(answer, file, total, progress)
            if size < total:
                raise OpenmlError(f"{description.url}: cut off after {size:,} of {total:,} bytes")
            if md5 != description.md5:
                raise OpenmlError(
                    f"{description.url}: its MD5 is {md5}, and OpenML's description says "
                    f"{description.md5}"
                )
            os.replace(part, path)
    except OpenmlError:
        raise
    except (OSError, http.client.HTTPException) as error:
        raise _failure(description.url, error) from None


def _copy(answer: Any, file: IO[bytes], total: int, progress: Progress | None) -> tuple[str, int]:
    """Copy an answer to a file; return its MD5 and its size in bytes."""
    digest = hashlib.md5(usedforsecurity=False)
    size = 0
    while data := answer.read(_CHUNK):
        digest.update(data)
        size += file.write(data)
        if progress:
            progress(size, max(total, size))
    return digest.hexdigest(), size
