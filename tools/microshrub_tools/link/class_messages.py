"""Messages about classes that get their names on the device: requests and answers."""

from __future__ import annotations

import struct
from dataclasses import dataclass

_TELL, _NAME, _RENAME, _MERGE, _FORGET, _DISMISS = range(6)  # the first byte of request 15
REQUESTS = {
    **{"TELL": _TELL, "NAME": _NAME, "RENAME": _RENAME},
    **{"MERGE": _MERGE, "FORGET": _FORGET, "DISMISS": _DISMISS},
}
_HEAD = "<BBBBBBBH"
NAMED, MERGED = 1, 2  # states of a class


@dataclass(frozen=True)
class ClassState:
    """A class of a device with spare classes, and the novel samples there."""

    name: str  # empty for a class without a name
    number: int
    state: int  # 0 free, NAMED, MERGED, 3 forgotten
    stands_for: int  # the class that it was merged into, or itself
    novel: int  # similar novel samples that wait for a name, at most 255
    collect: int  # novel samples that are worth a query
    score: int  # unusual samples near the last one, at most 255
    threshold: int  # score above which a sample is novel
    changes: int  # changes of the names so far, modulo 65536

    @property
    def is_asking(self) -> bool:
        """Whether there are enough novel samples for a query."""
        return self.novel >= self.collect


def read_class_state(payload: bytes) -> ClassState:
    """Read an answer's payload. Raises struct.error if it is too short."""
    size = struct.calcsize(_HEAD)
    head = struct.unpack(_HEAD, payload[:size])
    return ClassState(payload[size:].decode(errors="replace"), *head)


# The payloads of request 15


def tell(number: int) -> bytes:
    """Return the request for a class's state."""
    return bytes([_TELL, number])


def name(text: str) -> bytes:
    """Return the request to give the novel samples the class of this name, new if need be."""
    return bytes([_NAME]) + text.encode()


def rename(number: int, text: str) -> bytes:
    """Return the request to give a class another name."""
    return bytes([_RENAME, number]) + text.encode()


def merge(number: int, into: int) -> bytes:
    """Return the request to merge a class into another from now on."""
    return bytes([_MERGE, number, into])


def forget(number: int) -> bytes:
    """Return the request never to predict a class again."""
    return bytes([_FORGET, number])


def dismiss() -> bytes:
    """Return the request to drop the novel samples, as they are no new class."""
    return bytes([_DISMISS])
