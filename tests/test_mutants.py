"""The mutants of tests/mutants.py: each changes an existing line; a sample is killed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from microshrub_host.library import loader

sys.path.insert(0, str(Path(__file__).parent))

from mutant_list import MUTANTS, Mutant
from mutants import ROOT, NoSuchLineError, main, mutated

NAMED = {
    "thicket/vote_mixing.py": "_SHARPNESS",
    "thicket/grove.py": "_LEAF_RATE",
    "thicket/softmax.py": "512",
    "regression/linear.py": "_FINE",
    "novelty_detection.py": "_ENOUGH",
}


def test_there_are_at_least_forty_mutants_in_many_files() -> None:
    assert len(MUTANTS) >= 40
    assert len({mutant.file for mutant in MUTANTS}) >= 25
    for file, name in NAMED.items():
        assert any(each.file == file and name in each.line for each in MUTANTS)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.file} {mutant.line}")
def test_a_mutants_line_exists_once_and_its_tests_are_in_its_folder(mutant: Mutant) -> None:
    source = mutated(mutant)
    assert mutant.replacement in source
    compile(source, mutant.file, "exec")
    room = Path(mutant.file).parent
    for test in mutant.tests:
        path, _, name = test.partition("::")
        assert Path(path).parent == Path("tests/firmware") / room
        assert f"def {name}" in (ROOT / path).read_text(encoding="utf-8")


def test_a_missing_line_is_refused() -> None:
    with pytest.raises(NoSuchLineError, match="is there 0 times"):
        mutated(Mutant("fixed.py", "_NO = const(1)", "_NO = const(2)", ()))


@pytest.mark.long
def test_a_sample_of_mutants_is_killed() -> None:
    """The sample differs for each version of the kernels."""
    assert main(["--sample", "2", "--seed", str(int(loader.digest(), 16))]) == 0
