"""Methods that several threads may call: one call at a time, as a model has one set of buffers."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import RLock
from typing import Concatenate, ParamSpec, Protocol, TypeVar

_Arguments = ParamSpec("_Arguments")
_Answer = TypeVar("_Answer")


class _Locked(Protocol):
    _lock: RLock


_Object = TypeVar("_Object", bound=_Locked)


def one_at_a_time(
    method: Callable[Concatenate[_Object, _Arguments], _Answer],
) -> Callable[Concatenate[_Object, _Arguments], _Answer]:
    """Make a method wait until no other thread is in such a method of the same object."""

    @wraps(method)
    def waits(self: _Object, /, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Answer:
        with self._lock:
            return method(self, *args, **kwargs)

    return waits
