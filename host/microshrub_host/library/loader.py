"""Loading of the device library on CPython for an engine: the same files, another `micropython`.

The kernels stay unchanged, except for one thing that viper does implicitly: an argument annotated
ptr8, ptr16 or ptr32 arrives as a buffer and becomes a pointer. So `load` rewrites

    def kernel(x: ptr8, n: int):        into        def kernel(_x, n):  x = ptr8(_x)

and leaves out the library's own write_addresses, since each engine has one for its pointers.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import importlib.util
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from ..base.cache import remembered_code
from ..base.errors import UserError
from ..base.text import did_you_mean
from . import kernel_rewriting, library_files, planned, python_pointers, user_learner_check
from .compiled_kernels import CompiledViper, KernelCompiler, write_addresses
from .kernel_rewriting import (
    POINTERS,
    VIPER,
    WORK,
    cast_arguments,
    check_overflows,
    count_work,
    in_viper,
    index_addresses,
)
from .library_files import user_companions, user_learners

Names = dict[str, Any]
COMPILED = ("llvm", "c")  # engines that make machine code of the kernels
_CHECK = "_i32"  # the function that kernels call to check their results


def digest() -> str:
    """Return a hash of the device library's sources."""
    return _digest(*map(library_files.as_it_is, library_files.sources_with_users()))


@functools.lru_cache(maxsize=16)
def _digest(*files: tuple[Path, int, int]) -> str:
    sha = hashlib.sha256()
    for path, *_ in files:
        sha.update(path.read_bytes())
    return sha.hexdigest()[:16]


class _Kernels(ast.NodeTransformer):
    def __init__(self, fullname: str, names: Names) -> None:
        self.package, _, self.module = fullname.partition(".")
        self.names = names  # these determine the additions to kernels

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom:
        """Make an import of the library in a user's learner import this engine's library."""
        top, dot, rest = (node.module or "").partition(".")
        if not node.level and top == library_files.PACKAGE:
            node.module = self.package + dot + rest
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        """Remove viper from methods: they are no kernels, as they work on objects."""
        for part in node.body:
            if isinstance(part, ast.FunctionDef):
                kept = [each for each in part.decorator_list if ast.unparse(each) != VIPER]
                part.decorator_list = kept
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef | None:
        if node.name == library_files.WRITE_ADDRESSES:
            return None
        if in_viper(node):
            cast_arguments(node)
            index_addresses(node)
            if _CHECK in self.names:
                check_overflows(node)
            if WORK in self.names:
                count_work(node, f"{self.module}.{node.name}")
            ast.fix_missing_locations(node)
        return node


@functools.cache
def _loader_digest() -> str:
    files = (__file__, kernel_rewriting.__file__)
    return hashlib.sha256(b"".join(Path(file).read_bytes() for file in files)).hexdigest()


class _Loader(InspectLoader):
    def __init__(self, path: Path, names: Names, standins: Names) -> None:
        self.path = path
        self.names = names
        self.standins = standins  # stand-ins in a plan

    def get_source(self, fullname: str) -> str:
        return self.path.read_text(encoding="utf-8")

    def get_code(self, fullname: str) -> CodeType:
        source = self.path.read_bytes()
        more = sorted(self.names.keys() & {_CHECK, WORK})

        def make() -> CodeType:
            code: Any = source
            if any(word in source for word in changed):  # a syntax tree is three times as slow
                code = _Kernels(fullname, self.names).visit(ast.parse(source, str(self.path)))
            return compile(code, str(self.path), "exec", dont_inherit=True)

        imports = f"from {library_files.PACKAGE}".encode()
        named = imports in source  # the name is then replaced by this package's
        changed = imports, VIPER.encode(), f"def {library_files.WRITE_ADDRESSES}(".encode()
        owner = fullname.partition(".")[0] if named else ""
        return remembered_code(source, self.path, f"{_loader_digest()} {more} {owner}", make)

    def exec_module(self, module: ModuleType) -> None:
        module.__file__ = str(self.path)
        module.__dict__.update(self.names)
        super().exec_module(module)
        if "gc" in module.__dict__:
            module.__dict__["gc"] = _Collector
        module.__dict__.update(self.standins)


class _Collector:
    """The library's `gc` on a PC, where a collection would search the whole process in vain."""

    @staticmethod
    def collect() -> None:
        """Do nothing: Python frees an object as soon as nothing refers to it."""


class _Finder(MetaPathFinder):
    def __init__(self, package: str, names: Names, standins: Mapping[str, Names]) -> None:
        self.package = package
        self.names = names
        self.standins = standins

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        top, _, rest = name.partition(".")
        if top != self.package:
            return None
        place = (
            library_files.folder().joinpath(*rest.split(".")) if rest else library_files.folder()
        )
        package = place.is_dir()
        file = place / "__init__.py" if package else library_files.source_of(rest)
        return importlib.util.spec_from_file_location(
            name,
            file,
            loader=_Loader(file, self.names, self.standins.get(rest, {})),
            submodule_search_locations=[] if package else None,
        )


def _as_it_is(function: Any) -> Any:
    return function


def _standin(viper: Any) -> ModuleType:
    module = ModuleType("micropython")
    module.const = lambda value: value  # type: ignore[attr-defined]
    module.viper = viper  # type: ignore[attr-defined]
    module.native = _as_it_is  # type: ignore[attr-defined]
    return module


@contextlib.contextmanager
def _importing(finder: _Finder, standin: ModuleType) -> Iterator[None]:
    before = sys.modules.get("micropython")
    sys.modules["micropython"] = standin
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        if before is None:
            del sys.modules["micropython"]
        else:
            sys.modules["micropython"] = before


def constant(module: str, name: str) -> int:
    """Return a const() of a device library's module: constant("shrub.window", "_W_SIZE")."""
    number: int = getattr(sys.modules[f"{load('python').__name__}.{module}"], name)
    return number


def fastest() -> str:
    """Return the fastest engine on this machine.

    The result is `c` with a C compiler, `llvm` with llvmlite, else `python`, with a printed note.
    """
    from . import c_kernels

    if c_kernels.works():
        return "c"
    if has_llvm():
        return "llvm"
    _note_python()
    return "python"


def has_llvm() -> bool:
    """Return whether llvmlite is installed, which the engine `llvm` needs; do not import it."""
    return importlib.util.find_spec("llvmlite") is not None


@functools.cache  # once for each process
def _note_python() -> None:
    from ..base.terminal import messages

    messages.say(
        "Note: there is no C compiler here, so learning takes some hundred times as long as it "
        "could: install one, or pip install 'microshrub[speed]'."
    )


def compiler(engine: str) -> KernelCompiler:
    """Return the compiler of kernels for the engine `llvm` or `c`."""
    if engine == "llvm":
        from . import llvm_kernels

        return llvm_kernels.COMPILER
    if engine == "c":
        from . import c_kernels

        return c_kernels.COMPILER
    raise ValueError(f"the engine {engine!r} compiles no kernels")


@functools.cache
def load(engine: str) -> ModuleType:
    """Load the device library for an engine: python, checked, counted, llvm or c; or as a `plan`.

    `checked` is `python`, and raises an error at every index, stored i32, sum, difference, product
    or shift that is invalid in viper, and at an endless loop; it is for tests. `counted` counts
    the work of each kernel, see kernel_rewriting.py. A plan is for counting bytes, see planned.py.

    The result corresponds to `import microshrub` on a board.
    """
    if engine != "checked":
        _check_user_learners()
    viper: Any
    names: Names
    standins: dict[str, Names] = {}
    if engine == "plan":
        viper, names, standins = planned.viper, planned.NAMES, planned.STANDINS
    elif engine in COMPILED:
        viper = CompiledViper(compiler(engine))
        names = {library_files.WRITE_ADDRESSES: write_addresses}
    elif engine in ("python", "checked", "counted"):
        viper = _as_it_is
        names = {name: getattr(python_pointers, name) for name in POINTERS}
        if engine == "checked":
            names = {name: python_pointers.checked(cast) for name, cast in names.items()}
            names[_CHECK] = python_pointers.i32
            names |= {"_bits": python_pointers.bits, "_turn": python_pointers.turn}
        if engine == "counted":
            names[WORK] = Counter()
        names[library_files.WRITE_ADDRESSES] = python_pointers.write_addresses
    else:
        known = did_you_mean(engine, ("python", "checked", *COMPILED))
        raise ValueError(f"there is no engine {engine!r} that runs in this process. {known}")
    package = f"_microshrub_{engine}"
    with _importing(_Finder(package, names, standins), _standin(viper)):
        library = importlib.import_module(package)
        modules = map(library_files.module_name, library_files.sources())
        for name in modules:  # all now, as the stand-in is only temporary
            importlib.import_module(f"{package}.{name}".removesuffix(".__init__"))
        _add_user_files(library)
        return library


def forget(module: str) -> None:
    """Make the next load of the library read a user's module again."""
    for name in [name for name in sys.modules if name.startswith("_microshrub_")]:
        if name.partition(".")[2] == module:
            del sys.modules[name]
    load.cache_clear()


def _check_user_learners() -> None:
    """Check each of the user's learners once. Raises LearnerError for a faulty learner."""
    for each in user_learners():
        mark = None
        with contextlib.suppress(OSError):
            mark = user_learner_check.mark_of(each.path, each.name, digest())
            if mark.exists():
                continue
        user_learner_check.quick(load("checked"), each.name, each.path)
        if mark:
            with contextlib.suppress(OSError):
                mark.touch()


def _add_user_files(library: ModuleType) -> None:
    """Register the user's learners that are not registered yet, and import all user files."""
    taken = set(map(library_files.module_name, library_files.sources()))
    learners = user_learners()
    for each in [*learners, *user_companions()]:
        if each.path.stem in taken:
            raise UserError(f"{each.path}: the library has a {each.path.name}; rename the file")
        if each in learners and each.name not in library.learners.learner_names():
            library.learners.register(each.name, each.module)
        importlib.import_module(f"{library.__name__}.{each.path.stem}")
