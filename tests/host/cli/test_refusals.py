"""What the command line says of wrong input, word by word: refusals.txt, beside this file.

Other tests assert what a message names, an option, a column or a line; this one, what users read.
Whoever changes a message, or adds a command to refusals.txt, has that file written anew:
`PYTHONPATH=tests/support python tests/host/cli/test_refusals.py`.

A command that is refused writes nothing: neither a file nor a line on the standard output.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from board_file_support import GOOD
from file_cases import FILE_CASES
from packet_support import saved_model
from script_support import run

from microshrub_host.evaluation import batch_forest

GOLDEN = Path(__file__).with_name("refusals.txt")
CASES = {case.what: case for case in FILE_CASES if case.words or case.notes}
# Of these, the versions of other packages decide what is said, or behind which line
OF_PACKAGES = {"a workbook", "a workbook by its name", "Parquet", "half a gzip file"}


@dataclass
class Step:
    """A line behind `$ `; of a command, also its lines on the standard error and its exit code."""

    words: list[str]
    result: list[str] = field(default_factory=list)

    @property
    def is_command(self) -> bool:
        return self.words[0] == "microshrub"


def steps(text: str) -> Iterator[Step | str]:
    """The steps of the golden file, and its other lines as they are."""
    step = None
    for line in text.splitlines():
        if line.startswith("$ "):
            step = Step(shlex.split(line[2:]))
            yield step
        elif step and line and not line.startswith("#"):
            step.result.append(line)
        else:
            yield line


def make(words: list[str]) -> None:
    """Do what a shell does: `printf 'TEXT' > FILE`, or `sed 's|OLD|NEW|' FILE > OTHER`."""
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


def prepare(text: str) -> None:
    """Make all files that the commands read, in the working directory."""
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
    for step in steps(text):
        if isinstance(step, Step) and not step.is_command:
            make(step.words)


def files() -> list[tuple[str, int]]:
    """The files here and in the folders, and when each was written."""
    entries = [entry for folder in (".", *CASES) for entry in os.scandir(folder)]
    return [(entry.path, entry.stat().st_mtime_ns) for entry in entries]


def printed(words: list[str]) -> list[str]:
    """What `microshrub WORDS` prints on the standard error, and its exit code."""
    before = files()
    out, err = io.StringIO(), io.StringIO()
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(batch_forest, "answers", lambda *_: None)  # takes long, says nothing here
        code = run(*words)
    assert files() == before
    assert code != 2 or not out.getvalue()
    return [*err.getvalue().splitlines(), f"[{code}]"]


def commands() -> list[Step]:
    """Those of the golden file."""
    text = GOLDEN.read_text(encoding="utf-8")
    return [step for step in steps(text) if isinstance(step, Step) and step.is_command]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("refusals")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        prepare(GOLDEN.read_text(encoding="utf-8"))
    return path


@pytest.mark.parametrize("step", commands(), ids=lambda step: shlex.join(step.words[1:]))
def test_what_is_printed(step: Step, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert printed(step.words[1:]) == step.result, "if that is meant, see the top of this file"


def test_all_files_that_are_refused_are_there() -> None:
    words = {word for step in commands() for word in step.words}
    refused = {f"{what}/{case.name}": what for what, case in CASES.items() if case.words}
    assert {refused[name] for name in refused.keys() - words} == OF_PACKAGES


def _write_anew() -> None:
    before = os.getcwd()
    text = GOLDEN.read_text(encoding="utf-8")
    lines = []
    with tempfile.TemporaryDirectory() as path:
        os.chdir(path)
        prepare(text)
        for step in steps(text):
            if isinstance(step, str):
                lines.append(step)
                continue
            words = [word if word == ">" else shlex.quote(word) for word in step.words]
            result = printed(step.words[1:]) if step.is_command else []
            lines += [f"$ {' '.join(words)}", *result]
        os.chdir(before)
    GOLDEN.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    _write_anew()
