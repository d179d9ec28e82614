"""A file system in RAM for a MicroPython that has none. This file runs on the (emulated) board.

`vfs.mount(RamDisk(), "/")` makes open(), os, import and mpremote's commands work there. What is in
it lives on the heap until the board is reset, but for what keep() has put elsewhere.
"""

import errno
import io

MYPY = False  # MicroPython has no typing; mypy takes this for true
if MYPY:
    from collections.abc import Iterator

_FOLDER = 0x4000
_FILE = 0x8000


class File(io.IOBase):
    """An open file: `data`, a bytearray, is its content in the disk."""

    def __init__(self, data: bytearray, text: bool, at: int = 0) -> None:
        self.data = data
        self.text = text
        self.at = at

    def readinto(self, buffer):  # type: ignore[no-untyped-def]
        """Fill buffer, of any kind, as far as there is content; returns how many bytes."""
        if not isinstance(buffer, bytearray):
            from uctypes import addressof, bytearray_at  # type: ignore[import-not-found]

            buffer = bytearray_at(addressof(buffer), len(bytes(buffer)))
        size = max(0, min(len(buffer), len(self.data) - self.at))
        buffer[:size] = self.data[self.at : self.at + size]
        self.at += size
        return size

    def read(self, size: int = -1):  # type: ignore[no-untyped-def]
        """At most size bytes, or all that are left; str from a file that is open as text."""
        end = len(self.data) if size < 0 else self.at + size
        part = bytes(self.data[self.at : end])
        self.at += len(part)
        return str(part, "utf-8") if self.text else part

    def readline(self):  # type: ignore[no-untyped-def, override]
        """The next line with its newline, or what is left."""
        end = self.at
        while end < len(self.data) and self.data[end] != 10:
            end += 1
        return self.read(end + 1 - self.at)

    def write(self, part) -> int:  # type: ignore[no-untyped-def]
        """Write over what is there, or on behind it."""
        if isinstance(part, str):
            part = part.encode()
        elif not isinstance(part, (bytes, bytearray)):
            part = bytes(part)
        self.data[self.at : self.at + len(part)] = part
        self.at += len(part)
        return len(part)

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to an offset from the beginning, from here or from the end."""
        self.at = max(0, offset + (0, self.at, len(self.data))[whence])
        return self.at

    def tell(self) -> int:
        """Where the next byte is."""
        return self.at

    def ioctl(self, request: int, argument: int) -> int:
        """What MicroPython's streams ask: flush and close are fine, else there is nothing."""
        return 0 if request in (1, 4) else -1

    def flush(self) -> None:
        """Everything is written at once."""

    def close(self) -> None:
        """Nothing has to be let go of."""

    def __enter__(self):  # type: ignore[no-untyped-def]
        return self

    def __exit__(self, *error: object) -> None:
        pass


class RamDisk:
    """Files and folders, by their path without a leading slash; a folder's content is None."""

    def __init__(self, size: int = 1 << 20) -> None:
        self.size = size
        self.here = ""
        self.entries: dict[str, bytearray | None] = {"": None}

    def adopt(self, places: "list[tuple[str, int, int]]") -> None:
        """Have files whose content is in memory already: (path, address, bytes) of each."""
        from uctypes import bytearray_at

        for path, at, size in places:
            parts = self._path(path).split("/")
            for level in range(1, len(parts)):
                self.entries["/".join(parts[:level])] = None
            self.entries["/".join(parts)] = bytearray_at(at, size) if size else bytearray()

    def keep(self, at: int, size: int) -> "list[tuple[str, int, int]]":
        """Have the content of all files in that memory, which a reset leaves alone.

        Returns what adopt() takes afterwards. Empty folders are not kept. What was there before
        stays where it is, whether there is still a file of it or not.
        """
        from uctypes import addressof, bytearray_at

        places, end = [], at + size
        fresh = []
        for path, data in self.entries.items():
            if data is None:
                continue
            where = addressof(data) if data else 0
            if data and not at <= where < end:
                fresh.append((path, data))
            else:
                places.append((path, where, len(data)))
        free = max([at] + [where + length for _, where, length in places])
        for path, data in fresh:
            if free + len(data) > end:
                raise OSError(errno.ENOSPC)
            bytearray_at(free, len(data))[:] = data
            places.append((path, free, len(data)))
            free += len(data)
        return places

    def mount(self, readonly: bool, mkfs: bool) -> None:
        """Called by vfs.mount."""

    def umount(self) -> None:
        """Called by vfs.umount."""

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
        """A file, for the modes r, w and a, with b or t."""
        path = self._existing(path) if mode[0] == "r" else self._new(path)
        if path in self.entries and self.entries[path] is None:
            raise OSError(errno.EISDIR)
        if mode[0] == "w" or path not in self.entries:
            self.entries[path] = bytearray()
        elif mode[0] == "a":  # what was adopted cannot grow
            self.entries[path] = bytearray(self.entries[path] or b"")
        data = self.entries[path]
        assert data is not None
        return File(data, "b" not in mode, len(data) if mode[0] == "a" else 0)

    def stat(self, path: str) -> tuple[int, ...]:
        """(mode, 0, 0, 0, 0, 0, size, 0, 0, 0)"""
        data = self.entries[self._existing(path)]
        mode = _FOLDER if data is None else _FILE
        return (mode, 0, 0, 0, 0, 0, 0 if data is None else len(data), 0, 0, 0)

    def statvfs(self, path: str) -> tuple[int, ...]:
        """Sizes in blocks of 1 byte: all that fit, and the free ones."""
        free = self.size - sum([len(data) for data in self.entries.values() if data])
        return (1, 1, self.size, free, free, 0, 0, 0, 0, 255)

    def ilistdir(self, path: str) -> "Iterator[tuple[str, int, int, int]]":
        """(name, mode, 0, size) of what is in a folder."""
        for inside in self._inside(self._existing(path)):
            data = self.entries[inside]
            size = 0 if data is None else len(data)
            yield inside.rpartition("/")[2], _FOLDER if data is None else _FILE, 0, size

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
        """The current folder."""
        return "/" + self.here
