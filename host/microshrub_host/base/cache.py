"""The cache: streams, MicroPython and compiled kernels, which can be made again.

Code is loaded from there, so it is used only where nobody else could have put it. What was
compiled for sources that are no more goes by itself.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import marshal
import os
import shutil
import signal
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType

import platformdirs


def kept(target: Path, make: Callable[[Path], object]) -> Path:
    """The file, which make(path) writes, unless it is there as it was made; folders are made, too.

    Behind it comes what proves that it is whole, so a power cut or a bad disk costs time only, and
    nothing waits until the disk has it.
    """
    if not is_whole(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_suffix(f".{os.getpid()}")
        make(part)
        data = part.read_bytes()
        part.replace(target)
        part.write_bytes(hashlib.sha256(data).digest())
        part.replace(_proof(target))
    return target


def is_whole(target: Path) -> bool:
    """Whether kept() made the file, and nothing has changed it since."""
    try:
        return _proof(target).read_bytes() == hashlib.sha256(target.read_bytes()).digest()
    except OSError:
        return False


def _proof(target: Path) -> Path:
    return target.with_name(f"{target.name}.sha256")


_VARIABLE = "MICROSHRUB_CACHE"
_WORK = "fetch-"
_DAY = 86400  # seconds
_MONTH = 30 * _DAY
_HOUR = 3600
_HOURS = 6 * _HOUR
_KEPT = 16  # folders of a kind
_CODES = 1024  # files of code, some 12 MB
_DIGEST = 32  # bytes, of what follows them
_OURS = 0o700
_WRITABLE = "others may write to it"


def remembered(kind: str, key: bytes, make: Callable[[], bytes], most: int) -> bytes:
    """What make() gives for that key, or gave before; of a kind, some `most` are kept.

    A file that is damaged is made again; without a cache, each is made each time.
    """
    try:
        file = cache_folder(kind) / f"{hashlib.sha256(key).hexdigest()[:24]}.{kind}"
    except OSError:
        return make()
    with contextlib.suppress(OSError):
        data = file.read_bytes()
        if data[:_DIGEST] == _digest(data[_DIGEST:]):
            use(file)
            return data[_DIGEST:]
    data = make()
    with contextlib.suppress(OSError):
        part = file.with_suffix(f".{os.getpid()}")
        part.write_bytes(_digest(data) + data)
        part.replace(file)
        if file.name[0] == "0":  # now and then
            drop_old(file.parent.iterdir(), most)
    return data


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def cache_folder(name: str) -> Path:
    """A folder of that name in the user's cache, made if need be, as an absolute path.

    The environment variable MICROSHRUB_CACHE moves the cache. Raises OSError if the folder cannot
    be made, or is not the user's own. One that others could write to is emptied.
    """
    base = _base()
    base.mkdir(mode=_OURS, parents=True, exist_ok=True)
    if _is_default() and _fault(base) == _WRITABLE:  # what is in it is looked at on its own
        base.chmod(_OURS)
    _check(base)
    path = base / name
    if path != base and path.is_dir() and _fault(path) == _WRITABLE:
        shutil.rmtree(path)
    path.mkdir(mode=_OURS, exist_ok=True)
    _check(path)
    return path


def compiled_folder(kind: str, key: bytes) -> Path:
    """The folder of the cache for what is compiled from sources with that key, a digest.

    The key changes with the sources, so folders pile up. When one is made, those of its kind go
    that nobody has used for a month; beyond the newest few, those that were not used for hours.
    """
    name = f"{kind}-{key.hex()[:16]}"
    if (_base() / name).is_dir():
        path = cache_folder(name)
        use(path)
        return path
    path = cache_folder(name)
    drop_old(path.parent.glob(f"{kind}-{'[0-9a-f]' * 16}"), _KEPT)
    return path


def drop_old(entries: Iterable[Path], kept: int) -> None:
    """Delete files or folders of the cache: unused for a month, or not among the newest."""
    ages = {entry: time.time() - _used(entry) for entry in entries}
    for place, entry in enumerate(sorted(ages, key=lambda entry: ages[entry])):
        if ages[entry] > (_HOURS if place >= kept else _MONTH):
            if entry.is_dir():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink(missing_ok=True)


def use(path: Path) -> None:
    """Note for drop_old() that a file or folder of the cache is used."""
    with contextlib.suppress(OSError):
        if _used(path) < time.time() - _HOUR:
            os.utime(path)


def _used(path: Path) -> float:
    """When it was used last, in seconds of the clock; now if it is gone."""
    try:
        return path.stat().st_mtime
    except OSError:
        return time.time()


def _check(folder: Path) -> None:
    fault = _fault(folder)
    if fault:
        raise PermissionError(errno.EPERM, fault, str(folder))


def _fault(folder: Path) -> str:
    """Why code may not be loaded from there; "" if it may."""
    if not hasattr(os, "geteuid"):
        return ""
    status = folder.stat()
    if status.st_uid != os.geteuid():
        return "it belongs to another user"
    return _WRITABLE if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) else ""


def _is_default() -> bool:
    return not os.environ.get(_VARIABLE)


def _base() -> Path:
    named = _named()
    if named is None:
        raise FileNotFoundError(errno.ENOENT, "the user has no home", "~")
    return named.absolute()


def _named() -> Path | None:
    """Where the cache is to be; None if the user has no home."""
    try:
        named = Path(os.environ.get(_VARIABLE) or platformdirs.user_cache_dir("microshrub"))
    except RuntimeError:
        return None
    return None if named.parts[:1] == ("~",) else named


@contextmanager
def work_folder(folder: Path) -> Iterator[Path]:
    """A new folder in a folder of the cache, gone afterwards; Ctrl-C waits for its removal.

    What others left there that were killed more than a day ago goes, too.
    """
    for left in folder.glob(f"{_WORK}*"):
        if left.stat().st_mtime < time.time() - _DAY:
            shutil.rmtree(left, ignore_errors=True)
    work = Path(tempfile.mkdtemp(prefix=_WORK, dir=folder))
    try:
        yield work
    finally:
        if sys.platform == "win32":  # Ctrl-C cannot be held back there
            shutil.rmtree(work, ignore_errors=True)
        else:
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            shutil.rmtree(work, ignore_errors=True)
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def remembered_code(
    source: bytes, path: Path, maker: str, make: Callable[[], CodeType]
) -> CodeType:
    """The code that make() makes from the source, or the same code from the cache.

    To parse the device library takes most of a start. `maker` names what makes the code and how; a
    different maker makes different code. `path` becomes the code's file name.
    """
    tag = f"{path}\0{maker}\0{sys.implementation.cache_tag}\0{sys.flags.optimize}\0"
    made = remembered("code", tag.encode() + source, lambda: marshal.dumps(make()), _CODES)
    result: CodeType = marshal.loads(made)
    return result


@contextmanager
def usable(warn: Callable[[str], object]) -> Iterator[None]:
    """Within it the cache can be written; if need be it is elsewhere, which warn is told."""
    reason = _refusal()
    if not reason:
        yield
        return
    before = os.environ.get(_VARIABLE)
    with tempfile.TemporaryDirectory(prefix="microshrub-", ignore_cleanup_errors=True) as folder:
        where = f" {_named()}" if _named() else ""
        warn(f"The cache{where} cannot be used ({reason}); a temporary folder has to do.")
        os.environ[_VARIABLE] = folder
        try:
            yield
        finally:
            del os.environ[_VARIABLE]
            if before is not None:
                os.environ[_VARIABLE] = before


def _refusal() -> str:
    try:
        with tempfile.TemporaryFile(dir=cache_folder("")):
            return ""
    except OSError as error:
        return error.strerror or str(error)
