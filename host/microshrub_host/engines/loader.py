"""Loads the device library on CPython, for one engine: the same files, another `micropython`.

The kernels stay as they are, except for one thing that viper does by itself: an argument annotated
ptr8, ptr16 or ptr32 arrives as a buffer and becomes a pointer. So `load` rewrites

    def kernel(x: ptr8, n: int):        into        def kernel(_x, n):  x = ptr8(_x)

and leaves out the library's own write_addresses, since each engine brings one together with its
pointers.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from ..base.errors import UserError
from . import kernel_rewriting, library_files, python_pointers
from .code_cache import cached
from .kernel_rewriting import POINTERS, REWRITERS, cast_arguments
from .own_learners import own_files, own_learners


def digest() -> str:
    """A hash of the device library's sources and of the code that compiles them here."""
    sha = hashlib.sha256()
    names = ("loader.py", "kernel_rewriting.py", "numba_kernels.py", "numba_pointers.py")
    here = map(Path(__file__).with_name, names)
    for path in [*library_files.sources_with_own(), *here]:
        sha.update(path.read_bytes())
    return sha.hexdigest()[:16]


def _calls_first(node: ast.FunctionDef) -> bool:
    """Whether a kernel calls its first argument."""
    calls = [part.func for part in ast.walk(node) if isinstance(part, ast.Call)]
    first = node.args.args[0].arg if node.args.args else None
    return any(isinstance(call, ast.Name) and call.id == first for call in calls)


class _Kernels(ast.NodeTransformer):
    def __init__(self, package: str, more: list[ast.NodeTransformer]) -> None:
        self.package = package
        self.more = more  # that rewrite the bodies of kernels

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom:
        """In a user's own learner, an import of the library means this engine's library."""
        top, dot, rest = (node.module or "").partition(".")
        if not node.level and top == library_files.PACKAGE:
            node.module = self.package + dot + rest
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        """Viper runs a method faster on a board; it is no kernel, as it works on objects."""
        for part in node.body:
            if isinstance(part, ast.FunctionDef):
                part.decorator_list = [
                    d for d in part.decorator_list if ast.unparse(d) != "micropython.viper"
                ]
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef | None:
        if node.name == library_files.WRITE_ADDRESSES:
            return None
        if any(ast.unparse(d) == "micropython.viper" for d in node.decorator_list):
            cast_arguments(node)
            if _calls_first(node):
                first = node.args.args.pop(0).arg
                call = ast.parse(f"micropython.viper.taking({first!r})", mode="eval").body
                node.decorator_list = [ast.copy_location(call, node)]
            for rewriter in self.more:
                node.body = [rewriter.visit(statement) for statement in node.body]
        return node


@functools.cache
def _own_digest() -> str:
    here = Path(__file__).read_bytes(), Path(kernel_rewriting.__file__).read_bytes()
    return hashlib.sha256(b"".join(here)).hexdigest()


class _Loader(InspectLoader):
    def __init__(self, path: Path, names: dict[str, Any]) -> None:
        self.path = path
        self.names = names

    def get_source(self, fullname: str) -> str:
        return self.path.read_text(encoding="utf-8")

    def get_code(self, fullname: str) -> CodeType:
        source = self.path.read_bytes()
        more = [name for name in REWRITERS if name in self.names]
        package = fullname.partition(".")[0]

        def make() -> CodeType:
            rewriters = [REWRITERS[name]() for name in more]
            tree = _Kernels(package, rewriters).visit(ast.parse(source, str(self.path)))
            tree = ast.fix_missing_locations(tree)
            return compile(tree, str(self.path), "exec", dont_inherit=True)

        owner = package if self.path in own_files().values() else ""
        return cached(source, self.path, f"{_own_digest()} {more} {owner}", make)

    def exec_module(self, module: ModuleType) -> None:
        module.__file__ = str(self.path)
        module.__dict__.update(self.names)
        super().exec_module(module)


class _Finder(MetaPathFinder):
    def __init__(self, package: str, names: dict[str, Any]) -> None:
        self.package = package
        self.names = names

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
            loader=_Loader(file, self.names),
            submodule_search_locations=[] if package else None,
        )


def _standin(viper: Any) -> ModuleType:
    module = ModuleType("micropython")
    module.const = lambda value: value  # type: ignore[attr-defined]
    module.viper = viper  # type: ignore[attr-defined]
    module.native = lambda function: function  # type: ignore[attr-defined]
    return module


@contextmanager
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


class Viper:
    """Stands in for micropython.viper; `compiled` turns a function into an engine's kernel."""

    def __init__(self, compiled: Callable[[Any], Any]) -> None:
        self.compiled = compiled

    def __call__(self, function: Any) -> Any:
        return self.compiled(function)

    def taking(self, name: str) -> Callable[[FunctionType], Any]:
        """For a kernel that calls another, which is its first argument, as a global of that name.

        Each kernel that it is given makes a function of its own: numba compiles one that takes a
        function anew in every process, and keeps this one in its cache.
        """

        def kernel(function: FunctionType) -> Any:
            @functools.cache
            def with_kernel(called: Any) -> Any:
                names = {**function.__globals__, name: called}
                made = FunctionType(function.__code__, names, function.__name__)
                made.__module__ = function.__module__
                made.__qualname__ += f"_{called.__module__}_{called.__qualname__}"
                return self.compiled(made)

            return lambda called, *arguments: with_kernel(called)(*arguments)

        return kernel


def constant(module: str, name: str) -> int:
    """A const() of a module of the device library: constant("shrub.window", "_W_SIZE")."""
    number: int = getattr(sys.modules[f"{load('python').__name__}.{module}"], name)
    return number


def fastest() -> str:
    """The fastest engine that this machine has: `c` with a C compiler, else `numba`."""
    from . import c_kernels

    return "c" if c_kernels.works() else "numba"


@functools.cache
def load(engine: str) -> ModuleType:
    """The device library for the engine `python`, `checked`, `numba` or `c`.

    `checked` is `python` with every index, every i32 that is stored and every sum, difference,
    product and left shift checked to be what viper can do; it is for tests.

    The result is what `import microshrub` gives on a board.
    """
    viper: Any
    if engine == "numba":
        from . import numba_kernels, numba_pointers

        viper = Viper(numba_kernels.compiler(digest()))
        makers = (*POINTERS, library_files.WRITE_ADDRESSES)
        names = {name: getattr(numba_pointers, name) for name in makers}
        names["_int"] = numba_kernels.word()
    elif engine in ("python", "checked"):
        viper = Viper(lambda function: function)
        names = {name: getattr(python_pointers, name) for name in POINTERS}
        if engine == "checked":
            names = {name: python_pointers.checked(cast) for name, cast in names.items()}
            names["_i32"] = python_pointers.i32
        names[library_files.WRITE_ADDRESSES] = python_pointers.write_addresses
    elif engine == "c":
        from . import c_kernels

        viper, names = (
            c_kernels.CViper(),
            {library_files.WRITE_ADDRESSES: c_kernels.write_addresses},
        )
    else:
        raise ValueError(f"there is no engine {engine!r} that runs in this process")
    package = f"_microshrub_{engine}"
    with _importing(_Finder(package, names), _standin(viper)):
        library = importlib.import_module(package)
        modules = map(library_files.module_name, library_files.sources())
        for name in modules:  # some import others only when needed; the stand-in is here now
            importlib.import_module(f"{package}.{name}".removesuffix(".__init__"))
        _add_own(library)
        return library


def _add_own(library: ModuleType) -> None:
    """Register the user's own learners that the library does not know yet."""
    taken = set(map(library_files.module_name, library_files.sources()))
    for own in own_learners():
        if own.path.stem in taken:
            raise UserError(f"{own.path}: the library has a {own.path.name}; rename the file")
        if own.name not in library.learners.learner_names():
            library.learners.register(own.name, own.module)
        importlib.import_module(f"{library.__name__}.{own.path.stem}")
