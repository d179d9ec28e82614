"""The table of the Hoeffding trees: complete, with the figures of simulate()."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from microshrub_host.base.errors import UserError
from microshrub_host.evaluation import prequential
from microshrub_host.library.learners import learner, stream_parameters
from microshrub_host.streams.open_stream import open_stream
from microshrub_research.benchmarks import family, family_members
from microshrub_research.benchmarks.family_members import LEAVES, MEMBERS, Member, MemberScore
from microshrub_tools.cli.main import main

COMMAND = ["benchmark", "family"]
CHOSEN = ("bayes", "vfdt", "efdt", "regularized")
SMALL = ["--members", ",".join(CHOSEN), "--limit", "1500", "--repeats", "1"]


def tables(text: str) -> dict[str, dict[tuple[str, ...], list[str]]]:
    """Return cells by the title of their table, then by member and leaf rule;
    () has the streams.
    """
    results: dict[str, dict[tuple[str, ...], list[str]]] = {}
    for section in text.split("\n## ")[1:]:
        title, _, rest = section.partition("\n")
        rows = [[word.strip() for word in line.split("|")[1:-1]] for line in rest.split("\n")]
        head, _, *body = [row for row in rows if row]
        results[title] = {(): head[2:]}
        for member, leaves, *words in body:
            results[title] |= {(member, leaf): words for leaf in leaves.split(", ")}
    return results


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder that contains only weather."""
    rows = [f"{i % 17},{i * 7 % 31},{int(i % 17 > 8)}" for i in range(2000)]
    text = "\n".join(["wind,heat,class", *rows]) + "\n"
    (tmp_path / "weather.csv.gz").write_bytes(gzip.compress(text.encode()))
    return tmp_path


def test_the_figures_equal_those_of_simulate(tmp_path: Path) -> None:
    output = tmp_path / "family.md"
    words = ["--streams", "sea_a,led_a", "--output", str(output)]
    assert main([*COMMAND, *SMALL, *words]) == 0
    by_title = tables(output.read_text(encoding="utf-8"))
    assert list(by_title) == ["Accuracy, %", "Nodes used", "Model bytes", "Samples a second"]
    keys = {(MEMBERS[m].title, leaf): (m, leaf) for m in CHOSEN for leaf in MEMBERS[m].leaves}
    assert len(keys) == 10
    for table in by_title.values():
        assert table.pop(()) == ["sea_a", "led_a"]
        assert set(table) == set(keys)
    for column, name in enumerate(("sea_a", "led_a")):
        stream = open_stream(f"synth:{name}", limit=1500)
        accuracies = {}
        for row, (member, leaf) in keys.items():
            wanted = stream_parameters("hoeffding", stream, 256)
            wanted |= {**family_members.SHARED, **MEMBERS[member].parameters, "leaf": leaf}
            result = prequential.evaluate(stream, "hoeffding", wanted)
            accuracies[row] = result.accuracy
            figures = {title: by_title[title][row][column] for title in by_title}
            assert figures["Accuracy, %"].strip("*") == f"{result.accuracy:.2f}"
            assert figures["Nodes used"] == f"{result.progress['nodes_used']:,}"
            assert figures["Model bytes"] == f"{learner('hoeffding').nbytes(**wanted):,}"
            assert int(figures["Samples a second"].replace(",", "")) > 0
        best = max(accuracies.values())
        for row, accuracy in accuracies.items():
            assert by_title["Accuracy, %"][row][column].startswith("**") == (accuracy == best)


def test_the_head_has_the_command_and_no_folder(folder: Path) -> None:
    output = folder / "family.md"
    words = ["--members", "vfdt", "--streams", "weather", "--data", str(folder)]
    assert main([*COMMAND, *words, "--output", str(output)]) == 0
    text = output.read_text(encoding="utf-8")
    options = "--members vfdt --streams weather --data FOLDER --output family.md`"
    assert f"`microshrub benchmark family {options}" in text
    assert str(folder) not in text
    assert "--depth 10 --nodes 255 --leaves 32" in text
    assert "weather (2,000 samples, 2 features, 2 classes)" in text
    assert sorted(path.name for path in folder.iterdir()) == ["family.md", "weather.csv.gz"]


def test_a_missing_file_is_left_out(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    words = ["--members", "vfdt", "--streams", "elec,weather", "--data", str(folder)]
    assert main([*COMMAND, *words]) == 0
    out, err = capsys.readouterr()
    assert tables(out)["Accuracy, %"][()] == ["weather"]
    assert re.search(r"Skipped.*: elec\.$", out, re.MULTILINE)
    assert "elec" in err
    assert main([*COMMAND, *words[:2], "--streams", "elec", "--data", str(folder / "no")]) == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--members", "vfdt,hat"], "hat"),
        (["--members", ""], "--members"),
        (["--streams", "elek"], "Did you mean elec?"),
        (["--members", "vfdt", "--streams", "sea_a", "--limit", "0"], "--limit"),
        (["--members", "vfdt", "--repeats", "0"], "--repeats"),
        (["--members", "vfdt", "--output", "no/such/folder/t.md"], "--output"),
    ],
)
def test_wrong_options_are_refused(
    capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert main([*COMMAND, *words]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert message in err.splitlines()[-1]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"wings": 2}, "no --wings"), ({"policy": "grow"}, "--policy"), ({"depth": -1}, "--depth")],
)
def test_an_impossible_member_is_refused(
    monkeypatch: pytest.MonkeyPatch, parameters: dict[str, object], message: str
) -> None:
    monkeypatch.setitem(MEMBERS, "odd", Member("Odd", parameters))
    with pytest.raises(UserError, match=f"^member odd: .*{message}") as caught:
        family_members.check_members(["vfdt", "odd"])
    able = str(caught.value).rpartition(" ")[2].split(",")
    assert set(CHOSEN) <= set(able)
    assert "odd" not in able
    family_members.check_members(able)


def test_equal_rows_are_merged() -> None:
    cells = {("vfdt", leaf, "sea_a"): MemberScore(90.0, 3, 100, 1e6) for leaf in LEAVES}
    cells["vfdt", "mc", "sea_a"] = MemberScore(80.0, 3, 100, 1e6)
    stream = open_stream("synth:sea_a", limit=10)
    text = family.markdown(cells, {"sea_a": stream}, "command", [])
    assert "| VFDT | mc | 80.00 |" in text
    assert "| VFDT | nb, nba | **90.00** |" in text
    assert "| VFDT | mc, nb, nba | 3 |" in text
