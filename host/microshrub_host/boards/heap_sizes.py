"""Sizes of the library's objects on the heap of a 32-bit MicroPython, with blocks of 16 bytes."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

from ..library import loader
from ..library.planned import Unmade
from ..library.python_pointers import AddressTable
from .import_heap import BLOCK, WORD, blocks, table


def heap_bytes(
    thing: object, names: Collection[str] | None = None, seen: Collection[int] = ()
) -> int:
    """Return the heap bytes of a device library's object, with the objects that only it holds.

    Classes and functions count as 0, as they belong to the code, except closures: these are made
    while the program starts, with the variables that they hold. A text counts as 0 if it is one of
    names; without names, every text does. An object counts as 0 if its id() is in seen, as it is
    counted elsewhere.
    """
    return _heap_bytes(thing, set(seen), names)


def held_by(thing: object) -> set[int]:
    """Return the id() of an object and of all objects that it holds."""
    ids: set[int] = set()
    _heap_bytes(thing, ids, ())
    return ids


def address_tables(things: Mapping[str, object]) -> list[AddressTable]:
    """Return the tables of addresses that objects of the device library hold."""
    tables: dict[int, AddressTable] = {}
    seen: set[int] = set()
    waiting: list[Any] = [*things.values()]
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        if isinstance(thing, AddressTable):
            tables[id(thing)] = thing
        elif isinstance(thing, (tuple, list, dict, MethodType)):
            waiting += _items(thing)
        elif type(thing).__module__.startswith(_LIBRARY):
            waiting += vars(thing).values()
    return [*tables.values()]


def _heap_bytes(thing: Any, seen: set[int], names: Collection[str] | None) -> int:
    if isinstance(thing, str):
        known = names is None or thing in names
        return 0 if known else BLOCK + blocks(len(thing.encode()) + 1)
    closure = _closure(thing)
    if id(thing) in seen or (isinstance(thing, _CODE) and not closure):
        return 0
    seen.add(id(thing))
    if closure:
        size = BLOCK + blocks((3 + len(closure)) * WORD)  # the function, and the variables' cells
        return size + sum(_cell_bytes(cell, seen, names) for cell in closure)
    holds = isinstance(thing, (tuple, list, dict, MethodType))
    if holds and not isinstance(thing, AddressTable):
        return _bare_bytes(thing) + sum(_heap_bytes(item, seen, names) for item in _items(thing))
    if type(thing).__module__.startswith(_LIBRARY):
        values = vars(thing).values()
        return BLOCK + table(len(values)) + sum(_heap_bytes(v, seen, names) for v in values)
    return _plain_bytes(thing)


def _closure(thing: object) -> tuple[CellType, ...]:
    """Return the cells of a closure of the device library: the outer function's variables."""
    ours = isinstance(thing, FunctionType) and thing.__module__.startswith(_LIBRARY)
    return (thing.__closure__ or ()) if ours else ()  # type: ignore[attr-defined]


def _cell_bytes(cell: CellType, seen: set[int], names: Collection[str] | None) -> int:
    """Return the bytes of a closure's variable, which several functions may share."""
    if id(cell) in seen:
        return 0
    seen.add(id(cell))
    held = None if cell == CellType() else cell.cell_contents  # a cell may still be empty
    return BLOCK + _heap_bytes(held, seen, names)


_LIBRARY = "_microshrub"
_CODE = (bool, type, FunctionType, ModuleType, type(None))


def _items(thing: Any) -> list[Any]:
    """Return the objects that an object holds."""
    if isinstance(thing, dict):
        return [*thing, *thing.values()]
    return [thing.__self__] if isinstance(thing, MethodType) else list(thing)


def _bare_bytes(thing: Any) -> int:
    """Return the bytes of an object that holds others, without the others."""
    if isinstance(thing, dict):
        return BLOCK + table(len(thing))
    if isinstance(thing, list):  # room for four from the start, then doubled
        room = max(4, 1 << (len(thing) - 1).bit_length()) if thing else 4
        return BLOCK + blocks(room * WORD)
    if isinstance(thing, tuple):
        return blocks((2 + len(thing)) * WORD) if thing else 0
    return BLOCK  # a method of an object


def _plain_bytes(thing: Any) -> int:
    """Return the bytes of an object that holds no others."""
    if isinstance(thing, (array, bytearray, Unmade)):
        return BLOCK + blocks(size_of(thing))
    if isinstance(thing, bytes):
        return BLOCK + blocks(len(thing) + 1)
    if isinstance(thing, int):
        small = -(1 << 30) <= thing < 1 << 30
        return 0 if small else BLOCK + blocks(-(-thing.bit_length() // 16) * 2)
    if isinstance(thing, AddressTable):  # an array of addresses on a board
        return BLOCK + blocks(len(thing) * WORD)
    if isinstance(thing, float) or type(thing) is object:
        return BLOCK
    raise TypeError(f"no rule says how much a {type(thing).__name__} takes on the heap")


def size_of(buffer: array[int] | bytearray | Unmade) -> int:
    """Return the bytes of a buffer's contents."""
    return len(buffer) * (1 if isinstance(buffer, bytearray) else buffer.itemsize)


def planned(learner: str, learner_kwargs: Mapping[str, Any]) -> Any:
    """Return the learner as it will be on the heap, whatever its size, without its buffers."""
    return getattr(loader.load("plan"), learner)(**learner_kwargs)
