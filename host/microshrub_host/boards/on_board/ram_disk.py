"""A file system in RAM for a MicroPython without one. This file runs on the (emulated) board.

After `vfs.mount(RamDisk(ADDRESS, BYTES), "/")`, open(), os, import and mpremote's commands work.
The files are in that memory, outside the heap; after a reset, adopt() recovers them.
"""

import errno
import io

from uctypes import addressof, bytearray_at  # type: ignore[import-not-found]

MYPY = False  # MicroPython has no typing; mypy takes this for true
if MYPY:
    from collections.abc import Iterator

_FOLDER = 0x4000
_FILE = 0x8000


class File(io.IOBase):
    """An open file: `place` is [address, bytes] of its content in the disk."""

    def __init__(self, disk: "RamDisk", place: "list[int]", text: bool, at: int = 0) -> None:
        self.disk = disk
        self.place = place
        self.text = text
        self.at = at

    @property
    def data(self) -> bytearray:
        """The content in place, on the disk; its length must not change."""
        return bytearray_at(self.place[0], self.place[1])  # type: ignore[no-any-return]

    def _next(self, size: int):  # type: ignore[no-untyped-def]
        """Return the memory of at most `size` bytes from the position on; move the position."""
        size = max(0, min(size, self.place[1] - self.at))
        part = bytearray_at(self.place[0] + self.at, size) if size else b""
        self.at += size
        return part

    def readinto(self, buffer):  # type: ignore[no-untyped-def]
        """Fill a buffer of any kind as far as there is content; return the number of bytes."""
        if not isinstance(buffer, bytearray):  # len() of a bytearray counts bytes
            buffer = bytearray_at(addressof(buffer), len(bytes(buffer)))
        part = self._next(len(buffer))
        buffer[: len(part)] = part
        return len(part)

    def read(self, size: int = -1):  # type: ignore[no-untyped-def]
        """Return at most size bytes, or all the rest; str from a file that is open as text."""
        part = bytes(self._next(self.place[1] if size < 0 else size))
        return str(part, "utf-8") if self.text else part

    def readline(self):  # type: ignore[no-untyped-def, override]
        """Return the next line with its newline, or the rest."""
        place = self.place
        left = bytearray_at(place[0] + self.at, max(place[1] - self.at, 1))
        end = self.at
        while end < place[1] and left[end - self.at] != 10:
            end += 1
        return self.read(end + 1 - self.at)

    def write(self, part) -> int:  # type: ignore[no-untyped-def]
        """Write over the content, and beyond its end."""
        if isinstance(part, str):
            part = part.encode()
        elif not isinstance(part, (bytes, bytearray)):
            part = bytes(part)
        if part:
            self.disk.grow(self.place, self.at + len(part))
            bytearray_at(self.place[0] + self.at, len(part))[:] = part
            self.at += len(part)
        return len(part)

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to an offset from the beginning, from here or from the end."""
        self.at = max(0, offset + (0, self.at, self.place[1])[whence])
        return self.at

    def tell(self) -> int:
        """Return the position."""
        return self.at

    def ioctl(self, request: int, argument: int) -> int:
        """Answer MicroPython's requests to streams: flush and close succeed, all others fail."""
        return 0 if request in (1, 4) else -1

    def flush(self) -> None:
        """Do nothing, as everything is written at once."""

    def close(self) -> None:
        """Do nothing, as there is nothing to release."""

    def __enter__(self):  # type: ignore[no-untyped-def]
        return self

    def __exit__(self, *error: object) -> None:
        pass


class RamDisk:
    """Files and folders, by their path without a leading slash; a folder's content is None."""

    def __init__(self, at: int, size: int) -> None:
        self.end = at + size
        self.free = at  # address of the next content
        self.size = size
        self.here = ""
        self.entries: dict[str, list[int] | None] = {"": None}

    def adopt(self, places: "list[tuple[str, int, int]]") -> None:
        """Add files that are in the disk's memory: (path, address, size) of each."""
        for path, at, size in places:
            parts = self._path(path).split("/")
            for level in range(1, len(parts)):
                self.entries["/".join(parts[:level])] = None
            self.entries["/".join(parts)] = [at, size]
            self.free = max(self.free, at + size)

    def places(self) -> "list[tuple[str, int, int]]":
        """Return the contents for adopt() after a reset; empty folders are left out."""
        return [(path, place[0], place[1]) for path, place in self.entries.items() if place]

    def grow(self, place: "list[int]", size: int) -> None:
        """Make room for `size` bytes. The content may move; its old place is not reused."""
        if size <= place[1]:
            return
        at, before = place
        last = at + before == self.free
        start = at if last else self.free
        if start + size > self.end:
            raise OSError(errno.ENOSPC)
        if not last and before:
            bytearray_at(start, before)[:] = bytearray_at(at, before)
        self.free = start + size
        place[:] = start, size

    def mount(self, readonly: bool, mkfs: bool) -> None:
        """Do nothing; called by vfs.mount."""

    def umount(self) -> None:
        """Do nothing; called by vfs.umount."""

    def _path(self, path: str) -> str:
        if not path.startswith("/"):
            path = self.here + "/" + path
        parts: list[str] = []
        for part in path.split("/"):
            if part == "..":
                parts[-1:] = []
            elif part not in ("", "."):
                parts.append(part)
        return "/".join(parts)

    def _existing(self, path: str) -> str:
        path = self._path(path)
        if path not in self.entries:
            raise OSError(errno.ENOENT)
        return path

    def _new(self, path: str) -> str:
        path = self._path(path)
        if self.entries.get(path.rpartition("/")[0], b"") is not None:
            raise OSError(errno.ENOENT)
        return path

    def _inside(self, folder: str) -> list[str]:
        return [p for p in self.entries if p and p.rpartition("/")[0] == folder]

    def open(self, path: str, mode: str) -> File:
        """Open a file; the modes are r, w and a, with b or t."""
        path = self._existing(path) if mode[0] == "r" else self._new(path)
        if path in self.entries and self.entries[path] is None:
            raise OSError(errno.EISDIR)
        place = self.entries.get(path)
        if place and mode[0] == "w" and place[0] + place[1] == self.free:
            self.free = place[0]
        if place is None or mode[0] == "w":
            place = self.entries[path] = [self.free, 0]
        return File(self, place, "b" not in mode, place[1] if mode[0] == "a" else 0)

    def stat(self, path: str) -> tuple[int, ...]:
        """Return (mode, 0, 0, 0, 0, 0, size, 0, 0, 0)."""
        place = self.entries[self._existing(path)]
        mode = _FOLDER if place is None else _FILE
        return (mode, 0, 0, 0, 0, 0, place[1] if place else 0, 0, 0, 0)

    def statvfs(self, path: str) -> tuple[int, ...]:
        """Return the total and free sizes, in blocks of 1 byte."""
        free = self.end - self.free
        return (1, 1, self.size, free, free, 0, 0, 0, 0, 255)

    def ilistdir(self, path: str) -> "Iterator[tuple[str, int, int, int]]":
        """Yield (name, mode, 0, size) for each entry of a folder."""
        for inside in self._inside(self._existing(path)):
            place = self.entries[inside]
            size = place[1] if place else 0
            yield inside.rpartition("/")[2], _FOLDER if place is None else _FILE, 0, size

    def remove(self, path: str) -> None:
        """Remove a file."""
        path = self._existing(path)
        if self.entries[path] is None:
            raise OSError(errno.EISDIR)
        del self.entries[path]

    def rename(self, old: str, new: str) -> None:
        """Rename a file, over another one if need be, or a folder."""
        old, new = self._existing(old), self._new(new)
        for path in [p for p in self.entries if p == old or p.startswith(old + "/")]:
            self.entries[new + path[len(old) :]] = self.entries.pop(path)

    def mkdir(self, path: str) -> None:
        """Make a folder."""
        path = self._new(path)
        if path in self.entries:
            raise OSError(errno.EEXIST)
        self.entries[path] = None

    def rmdir(self, path: str) -> None:
        """Remove an empty folder."""
        path = self._existing(path)
        if self.entries[path] is not None:
            raise OSError(errno.ENOTDIR)
        if not path or self._inside(path):
            raise OSError(errno.EACCES)
        del self.entries[path]

    def chdir(self, path: str) -> None:
        """Make a folder the current one."""
        self.here = self._existing(path)

    def getcwd(self) -> str:
        """Return the current folder."""
        return "/" + self.here
