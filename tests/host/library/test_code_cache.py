"""Compiled code comes from the cache, unless its source has changed."""

from __future__ import annotations

from pathlib import Path
from types import CodeType

import pytest

from microshrub_host.base.cache import remembered_code

SOURCE = b"x = 6 * 7"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv("MICROSHRUB_CACHE", str(tmp_path))
    return tmp_path / "code"


class Maker:
    """A maker of code, which compiles SOURCE and counts its calls."""

    made = 0

    def __call__(self) -> CodeType:
        self.made += 1
        return compile(SOURCE, "here.py", "exec")


def value_of(code: CodeType) -> object:
    names: dict[str, object] = {}
    exec(code, names)
    return names["x"]


def test_code_is_compiled_once() -> None:
    make = Maker()
    for _ in range(3):
        assert value_of(remembered_code(SOURCE, Path("here.py"), "a", make)) == 42
    assert make.made == 1


@pytest.mark.parametrize(
    ("source", "path", "maker"),
    [(b"x = 1", "here.py", "a"), (SOURCE, "there.py", "a"), (SOURCE, "here.py", "b")],
)
def test_another_source_path_or_key_is_compiled_again(
    source: bytes, path: str, maker: str
) -> None:
    make = Maker()
    remembered_code(SOURCE, Path("here.py"), "a", make)
    remembered_code(source, Path(path), maker, make)
    assert make.made == 2


def test_a_damaged_file_is_replaced(cache: Path) -> None:
    make = Maker()
    remembered_code(SOURCE, Path("here.py"), "a", make)
    (file,) = cache.iterdir()
    for damage in (b"", b"nonsense", file.read_bytes()[:20]):
        file.write_bytes(damage)
        assert value_of(remembered_code(SOURCE, Path("here.py"), "a", make)) == 42
    assert make.made == 4


def test_without_a_cache_code_is_compiled_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("MICROSHRUB_CACHE", str(tmp_path / "file"))
    make = Maker()
    for _ in range(2):
        assert value_of(remembered_code(SOURCE, Path("here.py"), "a", make)) == 42
    assert make.made == 2
