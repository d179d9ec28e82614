"""How much of a board's flash a set of files takes, in littlefs.

A file has blocks of its own; a small one is inside its folder's. A folder has pairs of blocks,
of which it takes another one when it has about a quarter of a block of names and small files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import PurePosixPath

BLOCK = 4096  # bytes, of all boards' flash
_SMALL = 8  # a file of at most a block / 8 is inside its folder
_SHARE = 4  # of a block: bytes in a pair
_ENTRY = 16  # bytes beside a name


def blocks(sizes: Mapping[str, int], block: int = BLOCK) -> int:
    """About how many blocks files of so many bytes take, by their paths; rather too many.

    Above them is a folder, which is counted.
    """
    inside = Counter({PurePosixPath("."): 0})
    result = 0
    for name, size in sizes.items():
        path = PurePosixPath(name)
        small = size <= block // _SMALL
        result += 0 if small else -(-size // block)
        inside[path.parent] += len(path.name) + _ENTRY + (size if small else 0)
        for folder in path.parents[:-1]:
            inside[folder] += 0
    for bytes_inside in inside.values():
        result += 2 + 2 * -(-bytes_inside * _SHARE // block)
    return result
