"""Constants that files of the device library share: up to date, and with the right values."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from source_support import FILES, parse

from microshrub_host.base.errors import UserError
from microshrub_host.library import library_files, loader, shared_constants
from microshrub_host.library.kernel_rules import constants
from microshrub_host.streams import units

OWNER = """from micropython import const

_S_SIZE = const(0)  # words of the state
_S_SEEN = const(1)
"""
USER = """from micropython import const


def seen(state):
    return state[_S_SEEN]
"""


def test_a_constant_is_written_below_the_imports_and_removed_again() -> None:
    known = {Path("owner.py"): shared_constants.declared(OWNER)}
    assert shared_constants.wanted(USER) == ["_S_SEEN"]
    number = known[Path("owner.py")]["_S_SEEN"]
    constant = shared_constants.Declaration("owner.py", "_S_SEEN", number)
    written = shared_constants.completed(USER, [constant])
    assert re.search(r"import const\n\n#.*\n# owner.py\n_S_SEEN = const\(1\)\n", written)
    assert shared_constants.completed(written, [constant]) == written
    assert shared_constants.without_shared(written) == USER
    assert shared_constants.declared(written) == {}  # this file does not declare it


def test_the_nearest_declaration_counts_and_two_that_differ_are_refused() -> None:
    top = library_files.folder()
    one, two, three = (top / "room" / f"{name}.py" for name in ("one", "two", "three"))
    four, five, six = (top / f"{name}.py" for name in ("four", "five", "six"))
    known = {one: {"_X": 0}, two: {"_X": 1}, three: {}, four: {"_X": 7}, five: {}, six: {"_Y": 3}}
    imports: dict[Path, set[Path]] = {path: set() for path in known}
    imports[five] = {four, six}
    scopes = shared_constants.Scopes(imports)

    def nearest(name: str, path: Path) -> shared_constants.Declaration | None:
        return shared_constants.declared_elsewhere(name, known, scopes.of(path), path.name)

    with pytest.raises(UserError, match="which _X"):
        nearest("_X", three)
    assert nearest("_X", five) == ("four.py", "_X", 7)
    assert nearest("_Y", four) == ("six.py", "_Y", 3)
    assert nearest("_Y", five) == ("six.py", "_Y", 3)  # five imports it, too
    assert nearest("_Y", one) is None  # unrelated
    known[one].clear()
    assert nearest("_X", three) == ("room/two.py", "_X", 1)


def test_buffers_are_at_the_places_of_the_table() -> None:
    model = loader.load("python").HoeffdingTree(features=1, classes=2, adaptive=True)
    names = [name for name, _, _ in model.buffers()]
    for file in ("hoeffding/hat.py", "hoeffding/tree.py", "hoeffding/pool.py"):
        for name, place in constants(parse(file)).items():
            if name.startswith(("_TREE_", "_OBSERVERS_", "_DRIFT_")):
                assert names[place] == name[1:].lower().replace("_", ".", 1)
    assert names[constants(parse("hoeffding/hat.py"))["_TREE_ALTERNATE"]] == "tree.alternate"


@pytest.mark.parametrize("file", FILES)
def test_the_words_of_a_layout_are_numbered_consecutively(file: str) -> None:
    """_S_SIZE, _S_SEEN and so on are numbered up to _S_WORDS, their count."""
    words = shared_constants.declared((library_files.folder() / file).read_text(encoding="utf-8"))
    names = list(words)
    for end in (name for name in names if name.endswith("_WORDS")):
        first = names.index(end) - words[end]
        if end not in ("_STRICT_WORDS", "_O_WORDS"):  # where a name has three words, or eight
            assert [words[name] for name in names[first : first + words[end]]] == list(
                range(words[end])
            )


def test_the_missing_value_equals_the_public_one() -> None:
    library = loader.load("python")
    assert units.MISSING == library.MISSING == -library.RAW_MAX - 1


def test_policies_have_their_places() -> None:
    places = {f"_{name.upper()}": i for i, name in enumerate(("vfdt", "efdt", "svfdt1", "svfdt2"))}
    values = constants(parse("hoeffding/tree.py"))
    assert {
        name: values[name] for name in ("_EFDT", "_SVFDT1", "_SVFDT2")
    }.items() <= places.items()
