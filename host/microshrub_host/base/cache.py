"""The cache for streams, MicroPython and compiled kernels, all of which can be made again.

Code is loaded from the cache, so the cache is used only if no other user can write there. Code
that was compiled from sources which no longer exist is removed automatically.
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
    """Return the file; make(path) writes the file unless it exists and is whole.

    Missing folders are made. A digest, written after the file, proves that the file is whole. So a
    power cut or a bad disk costs only time, and there is no need to wait for the disk.
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
    """Return whether kept() made the file and the file is unchanged since."""
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
_KEPT = 16  # most recent folders of a kind that are kept
_CODES = 1024  # files of code that are kept, some 12 MB
_DIGEST = 32  # bytes of the digest before the data
_OURS = 0o700
_WRITABLE = "others may write to it"


def remembered(kind: str, key: bytes, make: Callable[[], bytes], most: int) -> bytes:
    """Return the result of make() for the key, from the cache if possible.

    About `most` results of a kind are kept. A damaged file is made again; without a cache, make()
    is called each time.
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
    """Return the folder of that name in the user's cache, made if need be, as an absolute path.

    The environment variable MICROSHRUB_CACHE moves the cache. Raises OSError if the folder cannot
    be made, or is not the user's own. A folder to which others could write is emptied.
    """
    base = _base()
    base.mkdir(mode=_OURS, parents=True, exist_ok=True)
    if _is_default() and _fault(base) == _WRITABLE:  # its folders are checked one by one
        base.chmod(_OURS)
    _check(base)
    path = base / name
    if path != base and path.is_dir() and _fault(path) == _WRITABLE:
        shutil.rmtree(path)
    path.mkdir(mode=_OURS, exist_ok=True)
    _check(path)
    return path


def compiled_folder(kind: str, key: bytes) -> Path:
    """Return the cache's folder for code compiled from sources with that key, a digest.

    The key changes with the sources, so folders accumulate. When a folder is made, folders of the
    same kind that have not been used for a month are removed; beyond the newest few, some hours
    are enough.
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
    """Delete cache entries unused for a month, or, if not among the newest, for some hours."""
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
    """Return the time of an entry's last use, in the clock's seconds; now if the entry is gone."""
    try:
        return path.stat().st_mtime
    except OSError:
        return time.time()


def _check(folder: Path) -> None:
    fault = _fault(folder)
    if fault:
        raise PermissionError(errno.EPERM, fault, str(folder))


def _fault(folder: Path) -> str:
    """Return why no code may be loaded from a folder; "" if code may be loaded."""
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
    """Return the cache's path; None if the user has no home."""
    try:
        named = Path(os.environ.get(_VARIABLE) or platformdirs.user_cache_dir("microshrub"))
    except RuntimeError:
        return None
    return None if named.parts[:1] == ("~",) else named


@contextmanager
def work_folder(folder: Path) -> Iterator[Path]:
    """Make a temporary folder inside a folder of the cache; Ctrl-C waits for its removal.

    Folders left by processes that were killed are removed after a day.
    """
    for left in folder.glob(f"{_WORK}*"):
        if left.stat().st_mtime < time.time() - _DAY:
            shutil.rmtree(left, ignore_errors=True)
    work = Path(tempfile.mkdtemp(prefix=_WORK, dir=folder))
    try:
        yield work
    finally:
        if sys.platform == "win32":  # Windows cannot hold Ctrl-C back
            shutil.rmtree(work, ignore_errors=True)
        else:
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            shutil.rmtree(work, ignore_errors=True)
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def remembered_code(
    source: bytes, path: Path, maker: str, make: Callable[[], CodeType]
) -> CodeType:
    """Return the code that make() makes from the source, or the same code from the cache.

    Parsing the device library takes most of the start-up time. `maker` identifies the code of
    make() and its settings; another maker makes other code. `path` becomes the code's file name.
    """
    tag = f"{path}\0{maker}\0{sys.implementation.cache_tag}\0{sys.flags.optimize}\0"
    made = remembered("code", tag.encode() + source, lambda: marshal.dumps(make()), _CODES)
    result: CodeType = marshal.loads(made)
    return result


@contextmanager
def usable(warn: Callable[[str], object]) -> Iterator[None]:
    """Make the cache writable within the block, if need be in another folder, with a warning."""
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
