"""Messages about classes that get their names on the device: requests and answers."""

from __future__ import annotations

import struct
from dataclasses import dataclass

_TELL, _NAME, _RENAME, _MERGE, _FORGET, _DISMISS = range(6)  # what request 15 begins with
REQUESTS = {
    **{"TELL": _TELL, "NAME": _NAME, "RENAME": _RENAME},
    **{"MERGE": _MERGE, "FORGET": _FORGET, "DISMISS": _DISMISS},
}
_HEAD = "<BBBBBBBH"
NAMED, MERGED = 1, 2  # states of a class


@dataclass(frozen=True)
class ClassState:
    """A class of a device with spare classes, and the novel samples there."""

    name: str  # empty if it has none
    number: int
    state: int  # 0 free, NAMED, MERGED, 3 forgotten
    stands_for: int  # the class that it was merged into, else itself
    novel: int  # similar novel samples that wait for a name, at most 255
    collect: int  # so many are worth a query
    score: int  # to how many odd samples the last one is near, at most 255
    threshold: int  # what it has to pass to be new
    changes: int  # of the names so far, modulo 65536

    @property
    def is_asking(self) -> bool:
        """Whether there are enough for a query."""
        return self.novel >= self.collect


def read_class_state(payload: bytes) -> ClassState:
    """The answer. Raises struct.error if it is too short."""
    size = struct.calcsize(_HEAD)
    head = struct.unpack(_HEAD, payload[:size])
    return ClassState(payload[size:].decode(errors="replace"), *head)


# The payloads of request 15


def tell(number: int) -> bytes:
    """What is this class?"""
    return bytes([_TELL, number])


def name(text: str) -> bytes:
    """The novel samples are of the class of this name; it is a new one if there is none."""
    return bytes([_NAME]) + text.encode()


def rename(number: int, text: str) -> bytes:
    """Give a class another name."""
    return bytes([_RENAME, number]) + text.encode()


def merge(number: int, into: int) -> bytes:
    """Have a class be another one from now on."""
    return bytes([_MERGE, number, into])


def forget(number: int) -> bytes:
    """Never say a class again."""
    return bytes([_FORGET, number])


def dismiss() -> bytes:
    """The novel samples are nothing new."""
    return bytes([_DISMISS])
