"""Kernels compiled with C and LLVM compute the same as their source in Python."""

from __future__ import annotations

import ast
import re
import threading
import time
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microshrub_host.library import (
    c_kernels,
    c_translate,
    compiled_kernels,
    library_files,
    llvm_translate,
    loader,
    python_pointers,
)
from microshrub_host.library.compiled_kernels import CompilerError
from microshrub_host.library.kernel_rewriting import index_addresses
from microshrub_host.library.kernel_sources import TranslationError
from microshrub_host.library.llvm_kernels import LlvmCompiler

needs_compiler = pytest.mark.skipif(not c_kernels.compiler(), reason="there is no C compiler")

SOURCE = '''
"""A module of kernels that use all that kernels may."""
import micropython
from micropython import const

_LOW = const(-3)
_HIGH = const(1 << 4)


@micropython.viper
def arithmetic(out: ptr32, a: int, b: int):
    """Every operator."""
    out[0] = a + b
    out[1] = a - b
    out[2] = (a & 4095) * (b & 4095)
    out[3] = a // b if b else _LOW
    out[4] = a % b if b else _HIGH
    out[5] = a >> (b & 15)
    out[6] = (a & 255) << (b & 15)
    out[7] = (a | b) ^ (a & b)
    out[8] = int(a < b) + int(a <= b) + int(a == b) + int(not a > b)
    out[9] = 0 - a
    out[10] = int(_LOW < a < _HIGH)
    out[11] = int(a != b and a > 0 or b > 0)


@micropython.viper
def loops(n: int, step: int) -> int:
    total = 0
    for i in range(n):
        if i % 3 == 1:
            continue
        if total > 1000:
            break
        total += i * step
        n = 0
    for i in range(20, _LOW, -4):
        total = total * 2 + i & 65535
    while step > 0:
        step -= 3
        total += 1
    return total


@micropython.viper
def ways_out(n: int, most: int) -> int:
    """Jumps of every kind, also to places that nothing else leads to."""
    total = 0
    while 1:
        n -= 1
        if n < 0:
            break
        elif n % 4 == 3:
            continue
        else:
            for i in range(n, n + 3):
                for k in range(i):
                    if k > 5:
                        break
                    elif k == 2 or not 0 <= n - k < 9:
                        continue
                    total += (k if k < i - 1 else -k) ^ ~n
                if total > most:
                    return total
                else:
                    pass
    if total < 0:
        return -total
    else:
        return total if total & 1 else most


@micropython.viper
def widths(buffer, out: ptr32):
    eight = ptr8(buffer)
    sixteen = ptr16(buffer)
    out[0] = eight[1]
    out[1] = sixteen[1]
    eight[0] = 200
    sixteen[1] = 40000
    out[2] = sixteen[0]


@micropython.viper
def addresses(row: int, t, n: int) -> int:
    a = ptr32(t)
    items = ptr8(a[1])
    middle = a[0] + 4
    below = middle - items[1]
    total = 0
    while n:
        n -= 1
        row = a[1] + n * 2
        total += ptr8(middle)[items[0] - ptr8(row)[1]] + 10 * ptr8(below)[ptr8(row)[0]]
        row += 1
        ptr8(row)[0] = total & 7
        pair = a[2] + 2 + 2 * n
        total += ptr16(pair)[1]
    return total


@micropython.viper
def apply(function, t, n: int) -> int:
    total = 0
    for i in range(n):
        total += int(function(t, i))
    return total


@micropython.viper
def first(t, i: int) -> int:
    a = ptr32(t)
    b = ptr16(a[1])
    return b[i] + int(second(t, i))


@micropython.viper
def second(t, i: int) -> int:
    a = ptr32(t)
    return ptr8(a[0])[i]
'''


@pytest.fixture(scope="module", params=["llvm", pytest.param("c", marks=needs_compiler)])
def both(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Any, Any]:
    """The kernels of SOURCE as an engine compiles them, and as Python."""
    folder = tmp_path_factory.mktemp("library") / "microshrub"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "odd.py").write_text(SOURCE, encoding="utf-8")
    compiler = type(loader.compiler(request.param))()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(library_files, "folder", lambda: folder)
        compiled = {name: kernel for (_, name), kernel in compiler.functions("").items()}
    names: dict[str, Any] = {n: getattr(python_pointers, n) for n in ("ptr8", "ptr16", "ptr32")}
    kernels_only = SOURCE.replace("import micropython\n", "").replace("@micropython.viper\n", "")
    plain = kernels_only.replace("from micropython import const\n", "const = int\n")
    tree = ast.parse(plain)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            index_addresses(node)
    exec(compile(tree, "odd.py", "exec"), names)
    return SimpleNamespace(**compiled), SimpleNamespace(**names)


INTEGERS = st.integers(-(1 << 29), (1 << 29) - 1)


@given(a=INTEGERS | st.integers(-20, 20), b=INTEGERS | st.integers(-20, 20))
def test_arithmetic_is_the_same(both: tuple[Any, Any], a: int, b: int) -> None:
    results = [array("i", [0] * 12) for _ in both]
    for kernels, out in zip(both, results, strict=True):
        kernels.arithmetic(out, a, b)
    assert results[0] == results[1]


@given(n=st.integers(-2, 60), step=st.integers(-5, 50))
def test_loops_are_the_same(both: tuple[Any, Any], n: int, step: int) -> None:
    compiled, plain = both
    assert compiled.loops(n, step) == plain.loops(n, step)


@given(n=st.integers(-2, 40), most=st.integers(-5, 2000))
def test_break_continue_and_return_are_the_same(both: tuple[Any, Any], n: int, most: int) -> None:
    compiled, plain = both
    assert compiled.ways_out(n, most) == plain.ways_out(n, most)


def test_buffers_have_their_widths(both: tuple[Any, Any]) -> None:
    out, buffer = array("i", [0] * 3), bytearray([7, 255, 0x34, 0x92])
    both[0].widths(buffer, out)
    assert list(out) == [255, 0x9234, 200 | 255 << 8]
    assert buffer == bytes([200, 255, 40000 & 255, 40000 >> 8])


def test_kernels_call_kernels_with_a_table_of_addresses(both: tuple[Any, Any]) -> None:
    compiled, _ = both
    buffers = (bytearray([1, 2, 3]), array("H", [1000, 2000, 3000]))
    table = compiled_kernels.write_addresses(buffers, None)
    assert compiled.first(table, 2) == 3003
    assert compiled.apply(compiled.first, table, 3) == 6006


def test_an_offset_to_an_address_is_an_index(both: tuple[Any, Any]) -> None:
    numbers, items = bytes(range(100, 120)), bytearray([3, 4, 0, 2, 1, 0])
    pairs = array("H", range(1000, 1006))
    expected, after = 0, bytearray(items)
    for n in (2, 1, 0):
        expected += numbers[4 + after[0] - after[2 * n + 1]]
        expected += 10 * numbers[4 - items[1] + after[2 * n]]
        after[2 * n + 1] = expected & 7
        expected += pairs[n + 2]
    for kernels, home in zip(both, (compiled_kernels, python_pointers), strict=True):
        mine = bytearray(items)
        table = home.write_addresses((numbers, mine, pairs), array("i"))
        assert kernels.addresses(0, table, 3) == expected
        assert mine == after


def test_an_address_of_two_buffers_is_refused() -> None:
    text = "def f(t):\n    a = ptr32(t)\n    x = a[0] + 1\n    x = a[1]\n    return ptr8(x)[0]"
    (kernel,) = ast.parse(text).body
    assert isinstance(kernel, ast.FunctionDef)
    with pytest.raises(ValueError, match=r"x .* two buffers"):
        index_addresses(kernel)


@pytest.mark.parametrize("translate", [c_translate.translate, llvm_translate.translate])
@pytest.mark.parametrize(
    "wrong", ["x ** 2", "x / 2", "print(x)", "x.y", "2.5", "x in x", "x[0]", "[x]", "y"]
)
def test_expressions_without_a_meaning_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, translate: Any, wrong: str
) -> None:
    (tmp_path / "wrong.py").write_text(
        f"import micropython\n@micropython.viper\ndef f(x: int) -> int:\n    return {wrong}\n"
    )
    monkeypatch.setattr(library_files, "folder", lambda: tmp_path)
    pattern = re.escape(wrong.split("(")[0].split(".")[0])
    with pytest.raises(TranslationError, match=rf"wrong, line 4: .*{pattern}.* cannot"):
        translate(["wrong"], of=["wrong"])


@pytest.mark.parametrize("engine", ["llvm", pytest.param("c", marks=needs_compiler)])
def test_the_whole_library_is_compiled_once(engine: str) -> None:
    """A second compiler, as in another process, loads the code from the cache."""
    compiler = type(loader.compiler(engine))()
    kernels = compiler.functions("")
    assert ("fixed", "square_root") in kernels
    assert kernels["fixed", "square_root"](144) == 12
    again = type(compiler)()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(compiler), "compile", None)
        assert again.functions("")["fixed", "square_root"](145) == 12


def test_two_processes_do_not_compile_the_same_source_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second process waits, and uses the first one's result."""
    monkeypatch.setenv("MICROSHRUB_CACHE", str(tmp_path))
    compiled = []

    class Slow(LlvmCompiler):
        def compile(self, text: str) -> bytes:
            compiled.append(text)
            time.sleep(0.2)
            return b"code"

        def addresses(self, folder: Path, names: Sequence[str]) -> Mapping[str, int]:
            assert (folder / self.file).read_bytes() == b"code"
            return dict.fromkeys(names, 1)

    both = [threading.Thread(target=Slow().functions, args=("shrub",)) for _ in range(2)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert len(compiled) == 1


def test_an_invalid_file_of_kernels_is_reported(tmp_path: Path) -> None:
    (tmp_path / "kernels.o").write_bytes(b"torn")
    with pytest.raises(CompilerError, match=r"cannot load the kernels .*Delete"):
        loader.compiler("llvm").addresses(tmp_path, ["f"])


def test_an_error_of_llvm_is_reported() -> None:
    with pytest.raises(CompilerError, match=r"(?s)cannot compile the kernels: .*expected"):
        loader.compiler("llvm").compile("define i32 @f( {")
