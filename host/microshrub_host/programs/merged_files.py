"""The compiled files of a program whose modules are one; see merged_source.py.

    microshrub/__init__.mpy       the modules that the program imports while it starts, without
                                  what it never calls
    microshrub/native.mpy         their kernels, in a native build
    microshrub/shrub/check.mpy    a module that is imported in some cases only
    microshrub/quantizer.mpy      for each of the merged modules: `from microshrub import ...`, so
                                  that a program of the user's own can import it as ever
    microshrub/errors.txt         texts of errors

They are kept in the cache, as are the texts that they are compiled from, which are the same for
each architecture.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from ..base.cache import compiled_folder, kept
from ..base.files import alone
from ..kernels import kernel_rewriting
from ..kernels.syntax_tree import source_text, walk
from ..library import loader
from ..sources import library_files
from ..sources.library_files import PACKAGE, own_parts
from . import (
    error_texts,
    mpy,
    native_files,
    native_module,
    plain_kernels,
    short_names,
    unused_code,
)
from .folded import number
from .merged_source import Merged, bound, constant, is_text
from .scoped_names import library_home
from .settled_words import Settled, with_words
from .short_names import shortened_parameters
from .unused_code import without_missing

INIT = "__init__"
_LIST = "modules.txt"  # the names of all files
_TEXTS = "texts.json"  # of all architectures
_KERNELS = "kernels.txt"
_SOURCE = f"{PACKAGE}.py"  # where an error that nobody caught comes from, it says
_KEPT = {"main": "device.program", error_texts.FUNCTION: error_texts.MODULE}
_VERSION = "__version__"
_ONLY = "_ONLY"  # of learner.py: the configuration of the only learner


@dataclass(frozen=True)
class MergedFiles:
    """Paths of .mpy files: those that a program has imported while it runs, and the others.

    To know how much RAM they take, few of the others are needed: they are compiled when asked for.
    """

    imported: tuple[Path, ...]
    errors: Path  # the texts of errors; not a .mpy file
    kernels: Path  # the name of each kernel of the first of the imported; no .mpy file either
    _others: Callable[[Collection[str] | None], list[Path]]

    def others(self, modules: Collection[str] | None = None) -> list[Path]:
        """The others, or of these modules those that are among them."""
        return self._others(modules)


def compiled(
    arch: str,
    modules: Collection[str],
    running: Collection[str],
    native: bool = False,
    own: Iterable[str] = (),
    only: Settled | None = None,
    unasked: Collection[str] = (),
    plain: Collection[str] = (),
) -> MergedFiles:
    """The files of a program that has all these modules of the library, and runs with some.

    arch is an -march of mpy-cross or mpy.BYTECODE_ONLY. own are sources of the user's, which may
    use whatever there is in the running modules. If one learner is the `only` one, the kernels
    are made for it, and it refuses to be another. Of the `unasked` modules the program wants
    nothing but what others take from them when they are imported. With `native`, kernels are in a
    native module, for all learners; raises NoNativeTools. The `plain` kernels, such as
    "thicket.search.search", stay bytecode.
    """
    names = [*sorted(modules), error_texts.MODULE]
    own = tuple(own)
    makes = (mpy.maker(), _maker(), loader.digest(), _parts(), arch == mpy.BYTECODE_ONLY)
    if plain:
        names += plain_kernels.OF_MIXED
        running = (*running, *plain_kernels.OF_MIXED)
    asked = (names, tuple(running), native, own, only, sorted(unasked), sorted(plain))
    key = repr((makes, *asked)).encode()
    home = compiled_folder("merged", hashlib.sha256(key).digest())
    folder = home / arch / PACKAGE

    def merge(part: Path) -> None:
        sources = _sources(arch, names, native, unasked, plain)
        kept_running = [name for name in running if name in sources and name != INIT]
        kept_running.append(error_texts.MODULE)
        texts = _texts(sources, kept_running, own, None if native else only, unasked, plain)
        part.write_text(json.dumps(asdict(texts)), encoding="utf-8")

    @cache
    def made() -> _Texts:
        """The texts, if one of the files is not there."""
        return _Texts(**json.loads(kept(home / _TEXTS, merge).read_text(encoding="utf-8")))

    def one(name: str) -> Path:
        target = folder.joinpath(*name.split(".")).with_suffix(".mpy")
        source = _SOURCE if name == INIT else f"{name.rpartition('.')[2]}.py"
        return kept(target, lambda part: mpy.compile_text(made().files[name], part, arch, source))

    def others(wanted: Collection[str] | None) -> list[Path]:
        with alone(home / mpy.LOCK):
            found = listed.read_text(encoding="utf-8").splitlines()
            found.remove(INIT)
            return [one(name) for name in found if wanted is None or name in wanted]

    def written(name: str, tell: Callable[[], str]) -> Path:
        return kept(folder / name, lambda part: part.write_bytes(tell().encode()))

    with alone(home / mpy.LOCK):
        listed = written(_LIST, lambda: "\n".join(made().files))
        imported = [one(INIT)]
        errors = written(error_texts.FILE, lambda: made().errors)
        kernels = written(_KERNELS, lambda: "\n".join(made().kernels))
    if native:
        imported.append(native_files.module(arch, modules))
    return MergedFiles(tuple(imported), errors, kernels, others)


def _maker() -> bytes:
    """A key for what puts the sources together."""
    rooms = Path(__file__).parent, Path(kernel_rewriting.__file__).parent
    files = sorted(file for room in rooms for file in room.glob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).digest()


def _sources(
    arch: str,
    modules: list[str],
    native: bool,
    unasked: Collection[str],
    plain: Collection[str],
) -> Mapping[str, str]:
    """The texts of the modules as they are to be compiled."""
    if native:
        texts = dict(native_module.native_library(modules).sources)
    else:
        texts = {name: library_files.source_of(name).read_text("utf-8") for name in modules}
    if arch == mpy.BYTECODE_ONLY:
        texts = {name: plain_kernels.plain(text) for name, text in texts.items()}
    if plain:
        texts = {name: plain_kernels.with_tables(name, text) for name, text in texts.items()}
    present = {*modules, native_module.MODULE}.difference(unasked)
    return {name: without_missing(name, text, present) for name, text in texts.items()}


@dataclass(frozen=True)
class _Texts:
    """The sources of all files, by module name, the texts of errors, and for each function and
    class of the merged module the name that a kernel has in the library, else none."""

    files: dict[str, str]
    errors: str
    kernels: list[str]


def _texts(
    sources: Mapping[str, str],
    running: list[str],
    own: Iterable[str],
    only: Settled | None,
    unasked: Collection[str],
    plain: Collection[str],
) -> _Texts:
    learners = _learners()
    parts = _parts() | learners
    public = {name: home for name, home in parts.items() if home in {*running}.difference(unasked)}
    merged = Merged(sources, running, public, learners)
    others = {
        name: _redirected(merged, name, text)
        for name, text in sources.items()
        if name not in (INIT, *running)
    }
    outside = {name: ast.parse(text) for name, text in others.items()}
    callers = [*outside.values(), *map(ast.parse, own)]
    roots = unused_code.mentions(callers)
    body = [*_version(sources[INIT]), *merged.body]
    if only:
        body = _made_for(only, body)
    for node, name in _kernels(body, merged):
        if name in plain:
            plain_kernels.make_mixed(node)
    body = unused_code.used(body, roots | public.keys() | {_VERSION})
    for part in (body, *(tree.body for tree in outside.values())):
        shortened_parameters(part, callers, public)
    known: dict[ast.stmt, str] = dict(_kernels(body, merged))
    functions = [node for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    kernels = [known.get(node, "") for node in functions]
    free = short_names.attributes(body)
    able = short_names.unread(body)
    names = short_names.new_names(able, free, body, callers, {*roots, *public})
    short_names.rename(body, names)
    for defined in merged.defined.values():
        defined.update({name: names.get(new, new) for name, new in defined.items()})
    for tree in outside.values():
        able = short_names.private(tree.body)
        short_names.rename(tree.body, short_names.new_names(able, free, tree.body))
    others = {name: source_text(tree) for name, tree in outside.items()}
    numbers = short_names.buffer_numbers(body)
    body, errors = error_texts.moved([short_names.numbered(each, numbers) for each in body])
    there = {name: constant(node) for node in body for name in unused_code.defined(node)}
    stubs = {name: _stub(merged.defined[name], there) for name in running}
    files = {INIT: source_text(ast.Module(body, [])), **others, **stubs}
    return _Texts(files, errors.decode(), kernels)


def _kernels(body: Iterable[ast.stmt], merged: Merged) -> Iterator[tuple[ast.FunctionDef, str]]:
    """The kernels of the merged module, and what they are called in the library."""
    homes = {
        new: f"{module}.{name}"
        for module, names in merged.defined.items()
        for name, new in names.items()
    }
    for node in body:
        if isinstance(node, ast.FunctionDef) and node.decorator_list:
            yield node, homes[node.name]


def _made_for(only: Settled, body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements for one learner alone."""
    constants: dict[str, int] = {}
    for node in body:
        value = constant(node)
        found = None if value is None else number(value, constants)
        if found is not None:
            constants[bound(node)[0]] = found
    return [_for_one(node, only, constants) for node in body]


def _for_one(node: ast.stmt, only: Settled, constants: Mapping[str, int]) -> ast.stmt:
    if isinstance(node, ast.Assign) and bound(node) == [_ONLY]:
        node.value = ast.Constant(only.configuration)
    if isinstance(node, ast.FunctionDef) and node.decorator_list:
        return with_words(node, only.words, constants)
    return node


def _version(source: str) -> list[ast.stmt]:
    """What remains of the package's own source."""
    return [
        node for node in ast.parse(source).body if not is_text(node) and bound(node) == [_VERSION]
    ]


def _redirected(merged: Merged, module: str, source: str) -> str:
    """The source of a module that stays a file of its own: it imports from the merged one."""
    tree = ast.parse(source)
    for node in walk(tree):
        if isinstance(node, ast.ImportFrom):
            home = library_home(module, node) or ""
            names = [merged.names.get(home, {}).get(alias.name, "_") for alias in node.names]
            if not any(name.startswith("_") for name in names):
                node.module, node.level = PACKAGE, 0
                node.names = [
                    ast.alias(new, alias.asname or alias.name)
                    for new, alias in zip(names, node.names, strict=True)
                ]
    return source_text(tree)


def _stub(defined: Mapping[str, str], there: Mapping[str, ast.expr | None]) -> str:
    """What gives a merged module's names to those who import it: of those there, with the values
    of constants."""
    lines = []
    for name, new in defined.items():
        if new in there and not name.startswith("_"):
            value = there[new]
            if value is not None and new.startswith("_"):
                lines.append(f"{name} = {ast.unparse(value)}")
            else:
                lines.append(f"from {PACKAGE} import {new} as {name}")
    return "\n".join([*lines, ""])


def _parts() -> dict[str, str]:
    """What people can import from the package but learners, and the module of each."""
    found = dict(_KEPT)
    for line in filter(None, loader.load("python")._PARTS.split("\n")):
        home, *names = line.split()
        found.update(dict.fromkeys(names, home))
    return found | {own.name: own.path.stem for own in own_parts()}


def _learners() -> dict[str, str]:
    """The learners' classes, and the module of each."""
    rows = loader.load("python").learners._LEARNERS.split("\n")
    return {name: module[1:] for name, module in map(str.split, filter(None, rows))}
