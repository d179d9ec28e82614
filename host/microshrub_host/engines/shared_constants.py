"""Copies the constants that one file of the device library declares into the others that use them.

On a board a constant costs nothing only if the file that uses it says `_NAME = const(number)`:
const() cannot be imported, and kernels would look up a global at run time. So a file uses a name
that it does not declare, and

    python -m microshrub_host.engines.shared_constants [--check]

writes the declaration below the file's imports. The number comes from

    a buffer   the buffer's place in its learner's table: _TREE_CHILD is that of "tree.child". The
               learner is the one that the file defines, else one of its folder, else any
    any other  the declaration in a file that it imports, else in its folder, else in the library
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..base.errors import UserError
from . import library_files, loader

HEAD = "# From elsewhere, written by `make constants`:\n"
END = "# (end)\n"
_NAME = re.compile(r"_[A-Z][A-Z0-9_]*$")
BUFFERS = "places of buffers"
_SHAPE: dict[str, Any] = {"features": 1, "classes": 2}
# What has a table of buffers for kernels, and what to ask for to have all that they know
_FULL: dict[str, dict[str, Any]] = {
    "AnomalyScore": {"features": 1},
    "Asking": {"classes": 2},
    "BalancedThicket": _SHAPE,
    "DriftAlarm": {"detector": "adwin"},
    "GaussianNaiveBayes": _SHAPE,
    "Grove": _SHAPE,
    "GrowingQuantizer": {"features": 1},
    "HoeffdingRegressor": {"features": 1},
    "HoeffdingTree": _SHAPE | {"adaptive": True},
    "NearestNeighbours": _SHAPE,
    "Newcomers": _SHAPE,
    "ShrubEnsemble": _SHAPE,
    "LinearRegressor": {"features": 1},
    "ShrubRegressor": {"features": 1},
    "SoftmaxRegression": _SHAPE,
    "Thicket": _SHAPE,
    "ThicketRegressor": {"features": 1},
}

Numbers = Mapping[str, int]


class Found(NamedTuple):
    """A constant, and where it is declared."""

    where: str
    name: str
    number: int


def own_part(source: str) -> str:
    """The source without the constants that were written into it."""
    head, begin, rest = source.partition("\n" + HEAD)
    return head + rest.partition(END)[2] if begin else source


def declared(source: str) -> dict[str, int]:
    """The constants that a file declares itself, in their order."""
    return {
        node.targets[0].id: ast.literal_eval(node.value.args[0])
        for node in ast.parse(own_part(source)).body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func) == "const"
    }


def wanted(source: str) -> list[str]:
    """Names of constants that a file uses but does not assign."""
    names = [n for n in ast.walk(ast.parse(own_part(source))) if isinstance(n, ast.Name)]
    here = {n.id for n in names if isinstance(n.ctx, ast.Store)}
    return sorted({n.id for n in names if _NAME.match(n.id)} - here)


def imported(path: Path) -> set[Path]:
    """The library's files that a file names in its imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            folder = path.parents[node.level - 1]
            found.add(folder.joinpath(*(node.module or "").split(".")).with_suffix(".py"))
    return found


def declared_elsewhere(
    path: Path, name: str, known: Mapping[Path, Numbers], imports: Collection[Path] = ()
) -> Found | None:
    """The declaration in one of the imports, else in the file's folder, else in the library.

    Raises UserError if there are two that differ.
    """
    near = {file: constants for file, constants in known.items() if file in imports}
    folder = {file: constants for file, constants in known.items() if file.parent == path.parent}
    for files in (near, folder, known):
        found = [
            Found(file.relative_to(library_files.folder()).as_posix(), name, constants[name])
            for file, constants in files.items()
            if name in constants
        ]
        if len({declaration.number for declaration in found}) > 1:
            raise UserError(f"{path.name}: which {name}? {found}")
        if found:
            return found[0]
    return None


def place_of_buffer(path: Path, name: str, tables: Mapping[Path, Numbers]) -> Found | None:
    """The place of the buffer of that name in the file's table, else its folder's, else any.

    Raises UserError if it is at several, depending on the learner.
    """
    folder = [file for file in tables if file.parent == path.parent]
    for files in ([path] if path in tables else [], folder, tables):
        places = {tables[file][name] for file in files if name in tables[file]}
        if len(places) > 1:
            raise UserError(f"{path.name}: {name} is at {places}, depending on the learner")
        if places:
            return Found(BUFFERS, name, places.pop())
    return None


def buffer_tables(known: Mapping[Path, Numbers]) -> dict[Path, Numbers]:
    """The places of the buffers in the table of each file that defines one, by their names."""
    library = loader.load("python")
    found: dict[Path, Numbers] = {}
    modules = {
        path: sys.modules.get(f"{library.__name__}.{library_files.module_name(path)}", library)
        for path in library_files.sources()
    }
    for path, module in modules.items():
        for name in wanted(path.read_text(encoding="utf-8")):
            declaration = declared_elsewhere(path, name, known, imported(path))
            if declaration and not hasattr(module, name):  # it is not written there yet
                setattr(module, name, declaration.number)
    for path, module in modules.items():
        if path.name == "adwin.py":
            found[path] = _places(module.windows_table(1))
        for cls in vars(module).values():
            if getattr(cls, "__module__", "") == module.__name__ and cls.__name__ in _FULL:
                found[path] = _places(_table(cls))
    return found


def _table(cls: Any) -> list[tuple[str, str, int]]:
    plan = object.__new__(cls)
    plan._allocate = lambda: None  # of all that __init__ does, only this
    plan.__init__(**_FULL[cls.__name__])
    # an ensemble has a table for its own buffers; each member keeps its own table
    table: list[tuple[str, str, int]] = getattr(plan, "_own", plan._table)()
    return table


def _places(table: list[tuple[str, str, int]]) -> Numbers:
    return {"_" + row[0].upper().replace(".", "_"): i for i, row in enumerate(table)}


def completed(source: str, constants: Collection[Found]) -> str:
    """The source with these constants below its imports."""
    source = own_part(source)
    if not constants:
        return source
    lines = ["\n", HEAD]
    for where in sorted({c.where for c in constants}, key=lambda where: (where != BUFFERS, where)):
        lines.append(f"# {where}\n")
        own = sorted((c.number, c.name) for c in constants if c.where == where)
        lines += [f"{name} = const({number})\n" for number, name in own]
    kept = source.splitlines(keepends=True)
    imports = (ast.Import, ast.ImportFrom)
    last = max(n.end_lineno or 0 for n in ast.parse(source).body if isinstance(n, imports))
    return "".join([*kept[:last], *lines, END, *kept[last:]])


def up_to_date() -> dict[Path, str]:
    """What each file of the library should be."""
    sources = {path: path.read_text(encoding="utf-8") for path in library_files.sources()}
    known = {path: declared(source) for path, source in sources.items()}
    tables = buffer_tables(known)
    found = {}
    for path, source in sources.items():
        constants = []
        for name in wanted(source):
            constant = place_of_buffer(path, name, tables) or declared_elsewhere(
                path, name, known, imported(path)
            )
            if not constant:
                raise UserError(
                    f"{path.name}: no file declares {name}, and no buffer has that name"
                )
            constants.append(constant)
        found[path] = completed(source, constants)
    return found


def main(arguments: list[str]) -> int:
    """Write the constants, or with --check say which files are not up to date."""
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
