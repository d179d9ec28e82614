"""Copies of constants that one file of the device library declares, in the files that use them.

On a board, a constant is free only if the file that uses it has `_NAME = const(number)`: const()
cannot be imported, and kernels would look up a global at run time. So a file uses a name that it
does not declare, and

    python -m microshrub_host.library.shared_constants [--check]

writes the declaration below the file's imports. The number comes from

    a buffer   the buffer's place in its learner's table: _TREE_CHILD is the place of "tree.child".
               The learner is the one that the file defines, else one of its folder, else a
               related one
    any other  the declaration in a file that it imports, else in its folder, else in a related one

A file is related to the files that it imports and that import it, and to the imports of these. So
two unrelated files may use the same name for different numbers.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..base.errors import UserError
from . import kernel_rules, library_files, loader

HEAD = "# From elsewhere, written by `make constants`:\n"
END = "# (end)\n"
_NAME = re.compile(r"_[A-Z][A-Z0-9_]*$")
BUFFERS = "places of buffers"
# Other classes with a table of buffers for kernels, with parameters that create all buffers
_OTHERS: dict[str, dict[str, Any]] = {
    "AnomalyScore": {"features": 1},
    "QueryStrategy": {"classes": 2},
    "DriftAlarm": {"detector": "adwin"},
    "GrowingQuantizer": {"features": 1},
    "Metrics": {"classes": 2},
    "NoveltyDetector": {"features": 1, "classes": 2},
    "NaiveForecasts": {"horizon": 1, "kept": 1},
    "Quantizer": {"features": 1},
}

Numbers = Mapping[str, int]


class Declaration(NamedTuple):
    """A constant, and the place of its declaration."""

    where: str
    name: str
    number: int


def without_shared(source: str) -> str:
    """Return the source without the constants that were written into the file."""
    head, begin, rest = source.partition("\n" + HEAD)
    return head + rest.partition(END)[2] if begin else source


def declared(source: str) -> dict[str, int]:
    """Return the constants that a file declares itself, in their order."""
    return kernel_rules.constants(ast.parse(without_shared(source)))


def wanted(source: str) -> list[str]:
    """Return the names of constants that a file uses but does not assign."""
    names = [n for n in ast.walk(ast.parse(without_shared(source))) if isinstance(n, ast.Name)]
    here = {n.id for n in names if isinstance(n.ctx, ast.Store)}
    return sorted({n.id for n in names if _NAME.match(n.id)} - here)


class Scopes:
    """The files in which the names of a file are searched, nearest first."""

    def __init__(self, imports: Mapping[Path, Collection[Path]]) -> None:
        self._imports = imports
        self._users = {
            path: {user for user, files in imports.items() if path in files} for path in imports
        }

    def of(self, path: Path) -> tuple[Collection[Path], ...]:
        """Return a file's imports, its folder, and its related files."""
        folder = [file for file in self._imports if file.parent == path.parent]
        users = library_files.reached([path], lambda file: self._users.get(file, ()))
        related = library_files.reached(users, lambda file: self._imports.get(file, ()))
        return self._imports.get(path, ()), folder, related


def declared_elsewhere(
    name: str, known: Mapping[Path, Numbers], scopes: Collection[Collection[Path]], of: str
) -> Declaration | None:
    """Return the declaration in the nearest scope that has one, for the file `of`.

    Raises UserError if the scope has two different ones.
    """
    for files in scopes:
        result = [
            Declaration(file.relative_to(library_files.folder()).as_posix(), name, constants[name])
            for file, constants in known.items()
            if file in files and name in constants
        ]
        if len({declaration.number for declaration in result}) > 1:
            raise UserError(f"{of}: which {name}? {result}")
        if result:
            return result[0]
    return None


def place_of_buffer(
    path: Path, name: str, tables: Mapping[Path, Numbers], scopes: Collection[Collection[Path]]
) -> Declaration | None:
    """Return the place of a buffer in the file's table, else in the nearest scope's.

    Raises UserError if there are several places, depending on the learner.
    """
    for files in ([path], *scopes):
        places = {tables[file][name] for file in tables if file in files and name in tables[file]}
        if len(places) > 1:
            raise UserError(f"{path.name}: {name} is at {places}, depending on the learner")
        if places:
            return Declaration(BUFFERS, name, places.pop())
    return None


def buffer_tables(known: Mapping[Path, Numbers], scopes: Scopes) -> dict[Path, Numbers]:
    """Return the places of the buffers, by name, in the table of each file that defines one."""
    library = loader.load("python")
    result: dict[Path, Numbers] = {}
    modules = {
        path: sys.modules.get(f"{library.__name__}.{library_files.module_name(path)}", library)
        for path in library_files.sources()
    }
    for path, module in modules.items():
        for name in wanted(path.read_text(encoding="utf-8")):
            if hasattr(module, name):
                continue
            declaration = declared_elsewhere(name, known, scopes.of(path), path.name)
            if declaration:  # not written into the file yet
                setattr(module, name, declaration.number)
    learners = library.learners.learner_names()
    for path, module in modules.items():
        if path.name == "adwin.py":
            result[path] = _places(module.windows_table(1))
        for cls in vars(module).values():
            name = getattr(cls, "__name__", "")
            if getattr(cls, "__module__", "") == module.__name__ and name in (*_OTHERS, *learners):
                result[path] = _places(_table(cls, _OTHERS.get(name) or _all_of(cls)))
    return result


def _all_of(learner: Any) -> dict[str, Any]:
    """Return the parameters with which a learner has all of its buffers: all switches on."""
    shape = {"features": 1, "classes": 2}
    switches = (row[0] for row in learner._rows() if row[1] in ("False", "True"))
    return {name: shape[name] for name in learner._SHAPE} | dict.fromkeys(switches, True)


def _table(cls: Any, parameters: Mapping[str, Any]) -> list[tuple[str, str, int]]:
    plan = object.__new__(cls)
    plan._allocate = lambda: None  # __init__ must not allocate
    plan.__init__(**parameters)
    # an ensemble and each of its members have their own tables
    table: list[tuple[str, str, int]] = getattr(plan, "_own_table", plan._table)()
    return table


def _places(table: list[tuple[str, str, int]]) -> Numbers:
    return {place_of(name): i for i, (name, _, _) in enumerate(table)}


def place_of(buffer: str) -> str:
    """Return the name of the constant for a buffer's place in a table, such as _RING_SHAPE."""
    return "_" + buffer.upper().replace(".", "_")


def completed(source: str, constants: Collection[Declaration]) -> str:
    """Return the source with these constants below its imports."""
    source = without_shared(source)
    if not constants:
        return source
    lines = ["\n", HEAD]
    for where in sorted({c.where for c in constants}, key=lambda where: (where != BUFFERS, where)):
        lines.append(f"# {where}\n")
        numbers = sorted((c.number, c.name) for c in constants if c.where == where)
        lines += [f"{name} = const({number})\n" for number, name in numbers]
    kept = source.splitlines(keepends=True)
    imports = (ast.Import, ast.ImportFrom)
    last = max(n.end_lineno or 0 for n in ast.parse(source).body if isinstance(n, imports))
    return "".join([*kept[:last], *lines, END, *kept[last:]])


def up_to_date() -> dict[Path, str]:
    """Return the right content of each file of the library."""
    sources = {path: path.read_text(encoding="utf-8") for path in library_files.sources()}
    known = {path: declared(source) for path, source in sources.items()}
    imports = {path: library_files.imports(library_files.module_name(path)) for path in sources}
    scopes = Scopes(
        {path: {*map(library_files.source_of, names)} for path, names in imports.items()}
    )
    tables = buffer_tables(known, scopes)
    result = {}
    for path, source in sources.items():
        constants = []
        near = scopes.of(path)
        for name in wanted(source):
            constant = place_of_buffer(path, name, tables, near[1:]) or declared_elsewhere(
                name, known, near, path.name
            )
            if not constant:
                raise UserError(
                    f"{path.name}: no file declares {name}, and no buffer has that name"
                )
            constants.append(constant)
        result[path] = completed(source, constants)
    return result


def main(arguments: list[str]) -> int:
    """Write the constants, or with --check print the files that are out of date."""
    stale = {p: s for p, s in up_to_date().items() if s != p.read_text(encoding="utf-8")}
    if arguments == ["--check"] and stale:
        names = ", ".join(path.name for path in stale)
        print(f"{names}: constants from elsewhere are out of date; run `make constants`")
        return 1
    for path, source in stale.items():
        path.write_text(source, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
