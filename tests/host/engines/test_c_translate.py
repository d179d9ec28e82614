"""Kernels translated to C say what the same source says in Python."""

from __future__ import annotations

import ctypes
import subprocess
from array import array
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microshrub_host.engines import c_kernels, c_translate, library_files, python_pointers
from microshrub_host.engines.c_declarations import TranslationError

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
def widths(buffer, out: ptr32):
    eight = ptr8(buffer)
    sixteen = ptr16(buffer)
    out[0] = eight[1]
    out[1] = sixteen[1]
    eight[0] = 200
    sixteen[1] = 40000
    out[2] = sixteen[0]


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


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    """The kernels of SOURCE compiled from C, and as Python."""
    folder = tmp_path_factory.mktemp("library") / "microshrub"
    folder.mkdir()
    (folder / "odd.py").write_text(SOURCE, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(library_files, "folder", lambda: folder)
        text, kernels = c_translate.translate(["odd"])
        target = folder / "odd.so"
        head = c_translate.TYPES + c_translate.DIVISION
        (folder / "odd.c").write_text(head + text, encoding="utf-8")
        command = [str(c_kernels.compiler()), "-Wall", *c_kernels.FLAGS]
        subprocess.run([*command, "-o", target, folder / "odd.c"], check=True)
        library = ctypes.CDLL(str(target))
        compiled = SimpleNamespace(
            **{
                kernel.node.name: c_kernels.Function(c_kernels.Signature.of(kernel), library)
                for kernel in kernels
            }
        )
    names: dict[str, Any] = {n: getattr(python_pointers, n) for n in ("ptr8", "ptr16", "ptr32")}
    kernels_only = SOURCE.replace("import micropython\n", "").replace("@micropython.viper\n", "")
    plain = kernels_only.replace("from micropython import const\n", "const = int\n")
    exec(plain, names)
    return compiled, SimpleNamespace(**names)


INTEGERS = st.integers(-(1 << 29), (1 << 29) - 1)


@needs_compiler
@given(a=INTEGERS | st.integers(-20, 20), b=INTEGERS | st.integers(-20, 20))
def test_arithmetic(both: tuple[Any, Any], a: int, b: int) -> None:
    found = [array("i", [0] * 12) for _ in both]
    for kernels, out in zip(both, found, strict=True):
        kernels.arithmetic(out, a, b)
    assert found[0] == found[1]


@needs_compiler
@given(n=st.integers(-2, 60), step=st.integers(-5, 50))
def test_loops(both: tuple[Any, Any], n: int, step: int) -> None:
    compiled, plain = both
    assert compiled.loops(n, step) == plain.loops(n, step)


@needs_compiler
def test_widths(both: tuple[Any, Any]) -> None:
    out, buffer = array("i", [0] * 3), bytearray([7, 255, 0x34, 0x92])
    both[0].widths(buffer, out)
    assert list(out) == [255, 0x9234, 200 | 255 << 8]
    assert buffer == bytes([200, 255, 40000 & 255, 40000 >> 8])


@needs_compiler
def test_kernels_call_kernels_with_a_table_of_addresses(both: tuple[Any, Any]) -> None:
    compiled, _ = both
    buffers = (bytearray([1, 2, 3]), array("H", [1000, 2000, 3000]))
    table = c_kernels.write_addresses(buffers, None)
    assert compiled.first(table, 2) == 3003
    assert compiled.apply(compiled.first, table, 3) == 6006


def test_what_has_no_meaning_in_c_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wrong.py").write_text(
        "import micropython\n@micropython.viper\ndef f(x: int) -> int:\n    return x ** 2\n"
    )
    monkeypatch.setattr(library_files, "folder", lambda: tmp_path)
    with pytest.raises(TranslationError, match=r"wrong, line 4: x \*\* 2 cannot"):
        c_translate.translate(["wrong"])


@needs_compiler
def test_the_whole_library_is_translated() -> None:
    kernels = c_kernels.functions("")
    assert ("fixed", "square_root") in kernels
    assert kernels["fixed", "square_root"](144) == 12
