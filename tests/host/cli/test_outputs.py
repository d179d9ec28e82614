"""Output files: no input file is overwritten, none is written twice, other kinds need --force."""

from __future__ import annotations

from pathlib import Path

import pytest

from microshrub_tools.cli.main import main

ROWS = ["x,z,y", *[f"{i},{i % 7},{'ab'[i % 2]}" for i in range(40)]]
OUTPUTS = ["--save", "--json", "--html", "--plot"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The commands' working folder, with a recording."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.csv").write_text("\n".join(ROWS))
    (tmp_path / "link.svg").symlink_to("mine.csv")
    return tmp_path


def simulate(*words: str) -> int:
    return main(
        ["simulate", "mine.csv", "--model", "shrub", "--window", "2", "--trees", "1", *words]
    )


@pytest.mark.parametrize("option", OUTPUTS)
@pytest.mark.parametrize("force", [[], ["--force"]])
def test_no_input_is_overwritten(
    folder: Path, capsys: pytest.CaptureFixture[str], option: str, force: list[str]
) -> None:
    name = "link.svg" if option == "--plot" else "./mine.csv"
    assert simulate(option, name, *force) == 2
    assert "DATA mine.csv is the same" in capsys.readouterr().err
    assert (folder / "mine.csv").read_text() == "\n".join(ROWS)


def test_no_file_is_written_twice(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate("--json", "out", "--html", "./out") == 2
    assert "--html out: --json is the same" in capsys.readouterr().err
    assert not (folder / "out").exists()


@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize("name", ["of/out.json", "of/more/../out.json"])
def test_no_report_is_written_among_recordings(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, force: list[str]
) -> None:
    """The next run would read the report as a recording;
    it would not read a picture or a hidden file.
    """
    (folder / "of" / "more").mkdir(parents=True)
    for label in "ab":
        (folder / "of" / f"{label}_1.csv").write_text("\n".join(ROWS))
    words = ["simulate", "of", "--model", "shrub", "--window", "2", "--trees", "1"]
    assert main([*words, "--json", name, *force]) == 2
    assert "the recordings in of" in capsys.readouterr().err
    assert not (folder / name).exists()
    for other in ("of/out.svg", "out.json", "of/.out.json"):
        assert main([*words, "--plot" if "svg" in other else "--json", other, *force]) == 0
        assert main([*words, "--limit", "9"]) == 0, "it is none of the recordings"


@pytest.mark.parametrize("option", OUTPUTS)
def test_a_file_of_another_kind_needs_force(
    folder: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    other = folder / "other.svg"
    other.write_text("a,b\n1,2\n")
    assert simulate(option, "other.svg") == 2
    assert "of another kind" in capsys.readouterr().err
    assert other.read_text() == "a,b\n1,2\n"
    assert simulate(option, "other.svg", "--force") == 0
    made = other.read_bytes()
    assert made != b"a,b\n1,2\n"
    assert simulate(option, "other.svg") == 0, "one of its own kind is replaced"


def test_a_spreadsheet_is_not_overwritten_as_a_model(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "table.xlsx").write_bytes(b"PK\3\4" + bytes(26) + b"[Content_Types].xml")
    assert simulate("--save", "table.xlsx") == 2
    assert "of another kind" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("option", OUTPUTS)
def test_a_full_disk_is_reported_with_the_file(
    folder: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    (folder / "full.svg").symlink_to("/dev/full")
    assert simulate(option, "full.svg") == 2
    err = capsys.readouterr().err
    assert f"{option} full.svg: " in err
    assert "No space left" in err
