"""The command line's messages for wrong input, word by word: refusals.txt, next to this file.

Other tests check that a message names an option, a column or a line; this one checks the whole
text. After a change of a message, or a new command in refusals.txt, write the file again:
`PYTHONPATH=tests/support python tests/host/cli/test_refusals.py`.

A command that is refused writes nothing: neither a file nor a line on the standard output.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import tempfile
from pathlib import Path

import golden
import pytest
from board_file_support import GOOD
from file_cases import FILE_CASES
from packet_support import saved_model
from script_support import run

from microshrub_host.evaluation import batch_forest

GOLDEN = Path(__file__).with_name("refusals.txt")
CASES = {case.what: case for case in FILE_CASES if case.words or case.notes}
# Files whose message, or its position, depends on the versions of other packages
OF_PACKAGES = {"a workbook", "a workbook by its name", "Parquet", "half a gzip file"}


def is_command(text: str) -> bool:
    """Return whether a case is a microshrub command; the others make input files."""
    return text.startswith("microshrub ")


def make(words: list[str]) -> None:
    """Do the work of a shell: `printf 'TEXT' > FILE`, or `sed 's|OLD|NEW|' FILE > OTHER`."""
    *command, arrow, target = words
    assert arrow == ">"
    assert not Path(target).exists(), f"{target} is made twice"
    if command[0] == "printf":
        text = command[1]
    else:
        _, old, new, _ = command[1].split("|")
        before = Path(command[2]).read_text(encoding="utf-8")
        assert before.count(old) == 1, f"{old} is not there once"
        text = before.replace(old, new)
    Path(target).write_text(text.replace("\\n", "\n"), encoding="utf-8")


def prepare() -> None:
    """Make all input files of the commands, in the working directory."""
    for what, case in CASES.items():
        Path(what).mkdir()
        Path(what, case.name).write_bytes(case.data)
    Path("good.toml").write_text(GOOD, encoding="utf-8")
    saved_model(Path("kitchen.mshrub"), (0, 1, 2), 1)
    saved_model(Path("attic.mshrub"), (0, 1), 2)
    saved_model(Path("cellar.mshrub"), (0, 1), 2, ("x", "y", "heat"))
    Path("cut.mshrub").write_bytes(Path("attic.mshrub").read_bytes()[:-99])
    with contextlib.redirect_stderr(io.StringIO()):
        code = run("share", "export", "kitchen.mshrub", "--classes", "run", "-o", "run.packet")
    assert code == 0
    for case in golden.cases(GOLDEN):
        if not is_command(case.text):
            make(shlex.split(case.text))


def files() -> list[tuple[str, int]]:
    """Return the files here and in the cases' folders, each with its time of modification."""
    entries = [entry for folder in (".", *CASES) for entry in os.scandir(folder)]
    return [(entry.path, entry.stat().st_mtime_ns) for entry in entries]


def printed(command: str) -> list[str]:
    """Return a command's lines on the standard error, and its exit code."""
    before = files()
    out, err = io.StringIO(), io.StringIO()
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(batch_forest, "answers", lambda *_: None)  # takes long, prints nothing
        code = run(*shlex.split(command)[1:])
    assert files() == before
    assert code != 2 or not out.getvalue()
    return [*err.getvalue().splitlines(), f"[{code}]"]


def commands() -> list[golden.Case]:
    """Return the commands of the golden file."""
    return [case for case in golden.cases(GOLDEN) if is_command(case.text)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("refusals")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        prepare()
    return path


@pytest.mark.parametrize("case", commands(), ids=lambda case: case.text)
def test_the_printed_lines_equal_the_golden_file(
    case: golden.Case, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert printed(case.text) == case.printed, "if that is meant, see the top of this file"


def test_the_golden_file_has_all_refused_files() -> None:
    words = {word for case in commands() for word in shlex.split(case.text)}
    refused = {f"{what}/{case.name}": what for what, case in CASES.items() if case.words}
    assert {refused[name] for name in refused.keys() - words} == OF_PACKAGES


def _write_anew() -> None:
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as path:
        os.chdir(path)
        prepare()
        golden.write(GOLDEN, lambda text: printed(text) if is_command(text) else [])
        os.chdir(before)


if __name__ == "__main__":
    _write_anew()
