"""The compiled files of a program whose modules are merged; see merged_source.py.

    microshrub/__init__.mpy       the modules that the program imports at its start, without
                                  unused code
    microshrub/native.mpy         their kernels, in a native build
    microshrub/shrub/state_check.mpy
                                  a module that is imported only in some cases
    microshrub/quantizer.mpy      for each of the merged modules: `from microshrub import ...`, so
                                  that a user's own program can import it as usual
    microshrub/errors.txt         the texts of error messages

The cache holds these files, and the sources that they are compiled from. The sources are the same
for all architectures.
"""

from __future__ import annotations

import ast
import gc
import hashlib
import itertools
import json
import pickle
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TypeGuard

from ..base.cache import compiled_folder, kept
from ..base.files import alone
from ..library import kernel_rewriting, library_files, loader
from ..library.library_files import PACKAGE, user_companions
from ..library.syntax_tree import source_text, walk
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
_TEXTS = "texts.json"  # the same for all architectures
_KERNELS = "kernels.txt"
_SOURCE = f"{PACKAGE}.py"  # the file named in tracebacks
_KEPT = {"main": "device.program", error_texts.FUNCTION: error_texts.MODULE}
_VERSION = "__version__"
_PART = "-"  # in a file's name, before the name of a part left out
_ONLY = "_ONLY"  # in learner.py: the configuration of the only learner


@dataclass(frozen=True)
class MergedFiles:
    """Paths of .mpy files: the files that a running program has imported, and the others.

    Few of the others affect a program's RAM, so they are compiled only when needed.
    """

    imported: tuple[Path, ...]
    errors: Path  # the texts of error messages; not a .mpy file
    kernels: Path  # the names of the kernels in the first imported file; not a .mpy file
    _others: Callable[[Collection[str] | None], list[Path]]

    def others(self, modules: Collection[str] | None = None) -> list[Path]:
        """Return the other files, or only those of these modules."""
        return self._others(modules)


def compiled(
    arch: str,
    modules: Collection[str],
    running: Collection[str],
    native: bool = False,
    user_sources: Iterable[str] = (),
    only: Settled | None = None,
    unasked: Collection[str] = (),
    plain: Collection[str] = (),
    left_out: Collection[str] = (),
) -> MergedFiles:
    """Return the files of a program with these modules of the library; some stay imported.

    arch          an -march of mpy-cross, or mpy.BYTECODE_ONLY
    running       the modules that stay imported; they are merged
    native        whether kernels are in a native module; raises NoNativeTools
    user_sources  source texts of the user's own, which may use anything in the running modules
    only          the configuration of the only learner: kernels are compiled for it, and any
                  other configuration is refused
    unasked       modules of which the program needs only what other modules import from them
    plain         kernels that stay bytecode, such as "thicket.neighbours.search"
    left_out      functions and classes of the modules that the program does not use, such as
                  "device.saving:LabelsHeld"

    A module that is not running can have several files: "device.switches-UsbKeyboard" is the file
    of device.switches without this class.
    """
    names = [*sorted(modules), error_texts.MODULE]
    user_sources = tuple(user_sources)
    makes = (mpy.maker(), _maker(), loader.digest(), _parts(), arch == mpy.BYTECODE_ONLY)
    if plain:
        names += plain_kernels.OF_MIXED
        running = (*running, *plain_kernels.OF_MIXED)
    asked = (
        *(names, tuple(running), native, user_sources, only),
        *(sorted(unasked), sorted(plain), sorted(left_out)),
    )
    key = repr((makes, *asked)).encode()
    home = compiled_folder("merged", hashlib.sha256(key).digest())
    folder = home / arch / PACKAGE

    def trees() -> _Trees:
        sources = _sources(arch, names, native, unasked, plain, left_out)
        kept_running = [name for name in running if name in sources and name != INIT]
        kept_running.append(error_texts.MODULE)
        return _trees_of(sources, kept_running, user_sources, None if native else only, unasked)

    def merge(part: Path) -> None:
        with _uncollected():
            if plain:  # further calls will vary `plain` until the program fits
                all_but_plain = (makes, *asked[:-2], *asked[-1:])
                texts = _texts(_made_once(repr(all_but_plain).encode(), trees), plain, native)
            else:
                texts = _texts(trees(), plain, native)
        part.write_text(json.dumps(asdict(texts)), encoding="utf-8")

    @cache
    def made() -> _Texts:
        """Return the texts, which are only needed if a file is missing."""
        return _Texts(**json.loads(kept(home / _TEXTS, merge).read_text(encoding="utf-8")))

    def one(name: str) -> Path:
        target = folder.joinpath(*name.split(".")).with_suffix(".mpy")
        source = _SOURCE if name == INIT else f"{whole(name).rpartition('.')[2]}.py"
        return kept(target, lambda part: mpy.compile_text(made().files[name], part, arch, source))

    def others(wanted: Collection[str] | None) -> list[Path]:
        with alone(home / mpy.LOCK):
            listed_names = listed.read_text(encoding="utf-8").splitlines()
            listed_names.remove(INIT)
            return [one(name) for name in listed_names if wanted is None or name in wanted]

    def written(name: str, tell: Callable[[], str]) -> Path:
        return kept(folder / name, lambda part: part.write_bytes(tell().encode()))

    with alone(home / mpy.LOCK):
        listed = written(_LIST, lambda: "\n".join(made().files))
        imported = [one(INIT)]
        errors = written(error_texts.FILE, lambda: made().errors)
        kernels = written(_KERNELS, lambda: "\n".join(made().kernels))
    if native:
        imported.append(native_files.module(arch, {*map(whole, modules)}, made().native))
    return MergedFiles(tuple(imported), errors, kernels, others)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Disable garbage collection: it would take a third of the time, as trees have many nodes."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@cache
def _maker() -> bytes:
    """Return a key for the code that merges sources."""
    rooms = Path(__file__).parent, Path(kernel_rewriting.__file__).parent
    files = sorted(file for room in rooms for file in room.glob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).digest()


def _sources(
    arch: str,
    modules: list[str],
    native: bool,
    unasked: Collection[str],
    plain: Collection[str],
    left_out: Collection[str],
) -> Mapping[str, str]:
    """Return the modules' texts before they are merged."""
    texts = {name: library_files.source_of(whole(name)).read_text("utf-8") for name in modules}
    if native:
        library = native_module.native_library(sorted({*map(whole, modules[:-1])}))
        parts = {name: library.sources[whole(name)] for name in modules if _PART in name}
        texts = {**library.sources, **parts, modules[-1]: texts[modules[-1]]}
    if arch == mpy.BYTECODE_ONLY:
        texts = {name: plain_kernels.plain(text) for name, text in texts.items()}
    if plain:
        texts = {name: plain_kernels.with_tables(name, text) for name, text in texts.items()}
    present = {*modules, native_module.MODULE}.difference(unasked)
    return {
        name: without_missing(whole(name), text, present, {*left_out, *parts_without(name)})
        for name, text in texts.items()
    }


def whole(name: str) -> str:
    """Return the module to which a file's name belongs; see compiled()."""
    return name.partition(_PART)[0]


def parts_without(name: str) -> list[str]:
    """Return the functions and classes that are left out of the file with that name."""
    module, *parts = name.split(_PART)
    return [f"{module}:{part}" for part in parts]


def file_without(module: str, parts: Iterable[str]) -> str:
    """Return the name of a module's file without these parts, which are named as in left_out."""
    gone = sorted(part.partition(":")[2] for part in parts if unused_code.home_of(part) == module)
    return _PART.join((module, *gone))


def files_of(module: str, parts: Collection[str]) -> Iterator[str]:
    """Yield the names of a module's files, one for each subset of these parts left out."""
    for count in range(len(parts) + 1):
        for gone in itertools.combinations(parts, count):
            yield file_without(module, gone)


@dataclass(frozen=True)
class _Texts:
    """The sources from which the files are compiled.

    files    the sources of all files, by module name
    errors   the texts of error messages
    kernels  for each function and class of the merged module: the name of the kernel, or ""
    native   for each kernel in the native module: its name in native_library(), by its new name
    """

    files: dict[str, str]
    errors: str
    kernels: list[str]
    native: dict[str, str]


@dataclass(frozen=True)
class _Trees:
    """The syntax trees of a program, all of whose kernels are still machine code.

    body     the statements of the merged module
    outside  the modules that are not merged, by name
    callers  code that may use anything in the merged module
    defined  by merged module: its globals, each with its new name
    public   the names that can be imported from the package, with their modules
    """

    body: list[ast.stmt]
    outside: dict[str, ast.Module]
    callers: list[ast.Module]
    defined: dict[str, dict[str, str]]
    public: dict[str, str]


_last: dict[bytes, bytes] = {}  # at most one entry


def _made_once(key: bytes, make: Callable[[], _Trees]) -> _Trees:
    """Return the trees for that key, kept or made now; the caller may change them."""
    if key not in _last:
        made = pickle.dumps(make(), pickle.HIGHEST_PROTOCOL)
        _last.clear()
        _last[key] = made
    trees: _Trees = pickle.loads(_last[key])
    return trees


def _trees_of(
    sources: Mapping[str, str],
    running: list[str],
    user_sources: Iterable[str],
    only: Settled | None,
    unasked: Collection[str],
) -> _Trees:
    learners = _learners()
    parts = _parts() | learners
    public = {name: home for name, home in parts.items() if home in {*running}.difference(unasked)}
    merged = Merged(sources, running, public, learners)
    outside = {
        name: _redirected(merged, name, text)
        for name, text in sources.items()
        if name not in (INIT, *running)
    }
    body = [*_version(sources[INIT]), *merged.body]
    if only:
        body = _made_for(only, body)
    callers = [*outside.values(), *map(ast.parse, user_sources)]
    defined = {name: merged.defined[name] for name in running}
    return _Trees(body, outside, callers, defined, public)


def _texts(trees: _Trees, plain: Collection[str], native: bool) -> _Texts:
    body, outside, callers = trees.body, trees.outside, trees.callers
    defined, public = trees.defined, trees.public
    roots = unused_code.mentions(callers)
    for node, name in _kernels(body, defined):
        if name in plain:
            plain_kernels.make_mixed(node)
    body = unused_code.used(body, roots | public.keys() | {_VERSION})
    for part in (body, *(tree.body for tree in outside.values())):
        shortened_parameters(part, callers, public)
    known: dict[ast.stmt, str] = dict(_kernels(body, defined))
    functions = [node for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    kernels = [known.get(node, "") for node in functions]
    free = short_names.free_names(body)
    able = short_names.unread(body) + short_names.private(body)
    able += [name for node in body if _is_of_native(node) for name in unused_code.defined(node)]
    names = short_names.new_names(able, free, body, callers, {*roots, *public})
    short_names.rename(body, names)
    of_native: dict[str, str] = {}
    if native:
        body, of_native = _native_names(body, outside.values(), names)
    for each in defined.values():
        each.update({name: names.get(new, new) for name, new in each.items()})
    for tree in outside.values():
        able = short_names.private(tree.body)
        short_names.rename(tree.body, short_names.new_names(able, free, tree.body))
    others = {name: source_text(tree) for name, tree in outside.items()}
    short_names.number_buffers(body)
    body, errors = error_texts.moved(body)
    there = {name: constant(node) for node in body for name in unused_code.defined(node)}
    stubs = {name: _stub(each, there) for name, each in defined.items()}
    files = {INIT: source_text(ast.Module(body, [])), **others, **stubs}
    return _Texts(files, errors.decode(), kernels, of_native)


def _is_of_native(node: ast.AST) -> TypeGuard[ast.ImportFrom]:
    return isinstance(node, ast.ImportFrom) and node.module == native_module.IN_LIBRARY


def _native_names(
    body: list[ast.stmt], others: Iterable[ast.AST], names: Mapping[str, str]
) -> tuple[list[ast.stmt], dict[str, str]]:
    """Return the merged module's body with the native module's kernels as its own globals.

    The native module adds these globals when it is imported. names are the new names of globals.
    Also returns each kernel's name in the library, by its new name.
    """
    kernels: dict[str, str] = {}
    imports = list(filter(_is_of_native, body))
    for node in imports:
        for alias in node.names:
            new = names.get(alias.asname or alias.name, alias.asname or alias.name)
            kernels[new] = alias.name
    rest = [node for node in body if node not in imports]
    inner = [each for node in (*rest, *others) for each in walk(node)]
    for node in filter(_is_of_native, inner):
        node.module = PACKAGE
        for alias in node.names:
            new, old = alias.name, alias.name
            while kernels.setdefault(new, old) != old:
                new += "_"
            alias.name, alias.asname = new, alias.asname or old
    if kernels:
        rest.insert(0, ast.ImportFrom(PACKAGE, [ast.alias(native_module.MODULE)], 0))
    return rest, kernels


def _kernels(
    body: Iterable[ast.stmt], defined: Mapping[str, Mapping[str, str]]
) -> Iterator[tuple[ast.FunctionDef, str]]:
    """Yield the kernels of the merged module, with their names in the library."""
    homes = {
        new: f"{module}.{name}" for module, names in defined.items() for name, new in names.items()
    }
    for node in body:
        if isinstance(node, ast.FunctionDef) and node.decorator_list:
            yield node, homes[node.name]


def _made_for(only: Settled, body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements, specialised for the only learner."""
    constants: dict[str, int] = {}
    for node in body:
        value = constant(node)
        known = None if value is None else number(value, constants)
        if known is not None:
            constants[bound(node)[0]] = known
    return [_for_one(node, only, constants) for node in body]


def _for_one(node: ast.stmt, only: Settled, constants: Mapping[str, int]) -> ast.stmt:
    if isinstance(node, ast.Assign) and bound(node) == [_ONLY]:
        node.value = ast.Constant(only.configuration)
    if isinstance(node, ast.FunctionDef) and node.decorator_list:
        return with_words(node, only.words, constants)
    return node


def _version(source: str) -> list[ast.stmt]:
    """Return the package's version, the only statement needed from the package's own source."""
    return [
        node for node in ast.parse(source).body if not is_text(node) and bound(node) == [_VERSION]
    ]


def _redirected(merged: Merged, module: str, source: str) -> ast.Module:
    """Return the tree of a module with a file of its own, which imports from the merged module."""
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
    return tree


def _stub(defined: Mapping[str, str], there: Mapping[str, ast.expr | None]) -> str:
    """Return a module that passes on a merged module's names, and the values of constants.

    there holds the names that are left in the merged module.
    """
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
    """Return the names that the package exports, except learners, with their modules."""
    homes = dict(_KEPT)
    for line in filter(None, loader.load("python")._PARTS.split("\n")):
        home, *names = line.split()
        homes.update(dict.fromkeys(names, home))
    return homes | {each.name: each.path.stem for each in user_companions()}


def _learners() -> dict[str, str]:
    """Return the learners' classes, with their modules."""
    rows = loader.load("python").learners._LEARNERS.split("\n")
    return {name: module[1:] for name, module in map(str.split, filter(None, rows))}
