"""`share --port`: a board exports, learns and forgets samples, on a cable and over TCP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from mqtt_support import needs_broker
from packet_support import saved_model
from patience import PATIENCE
from sharing_board import SharingBoard

from microshrub_research.benchmarks.local_broker import LocalBroker
from microshrub_tools.board import flash
from microshrub_tools.cli.main import main


class Cut(Exception):  # noqa: N818
    """A power cut."""


@pytest.fixture
def attic(micropython_command: tuple[str, ...], tmp_path: Path) -> Iterator[SharingBoard]:
    made = SharingBoard(micropython_command, tmp_path / "attic", (0, 1))
    with made.pc:
        yield made


def packet_of(folder: Path, classes: str) -> str:
    kitchen = saved_model(folder / "kitchen.mshrub", (0, 1, 2), 1)
    path = str(folder / f"{classes}.packet")
    assert main(["share", "export", str(kitchen), "--classes", classes, "-o", path]) == 0
    return path


@pytest.mark.parametrize("link", ["cable", "network"])
def test_a_board_learns_exports_and_forgets_a_class(
    attic: SharingBoard, link: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    packet = packet_of(tmp_path, "run")
    assert attic.right(2) == 0
    assert main(["share", "import", packet, *attic.port(link)]) == 0
    assert "from kitchen" in capsys.readouterr().out
    assert attic.right(2) > 0.9
    assert attic.right(0) > 0.9
    given = tmp_path / "attic.packet"
    words = ["share", "export", *attic.port(link), "-o", str(given)]
    assert main(words) == 2
    assert "classes are: rest, walk, run" in capsys.readouterr().err
    assert attic.right(0) > 0.9  # wait until it has restarted
    assert main([*words, "--classes", "run", "--name", "attic"]) == 2
    assert "held of the class run" in capsys.readouterr().err
    assert attic.right(0) > 0.9
    assert main([*words, "--classes", "rest,walk", "--name", "attic"]) == 0
    assert "2 classes of attic" in capsys.readouterr().err
    other = str(saved_model(tmp_path / "other.mshrub", (0, 2), 3))
    assert main(["share", "import", other, str(given), "-o", str(tmp_path / "more")]) == 0
    assert "20" in capsys.readouterr().out
    assert main(["share", "forget", packet, *attic.port(link)]) == 0
    assert "without 20 samples of kitchen" in capsys.readouterr().out
    assert attic.right(2) == 0
    assert attic.right(1) > 0.9


@needs_broker
@pytest.mark.parametrize("link", ["cable", "network"])
def test_a_board_and_a_broker(
    attic: SharingBoard, link: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kitchen = str(saved_model(tmp_path / "kitchen.mshrub", (0, 1, 2), 1))
    with LocalBroker(tmp_path, 4) as broker:
        words = ["--mqtt", f"127.0.0.1:{broker.port}", "--group", "things"]
        assert main(["share", "export", kitchen, "--classes", "all", *words]) == 0
        export = ["share", "export", *attic.port(link), "--classes", "all", *words]
        assert main(export) == 2
        assert "--mqtt needs --name" in capsys.readouterr().err
        attic.right(0)  # wait until it has restarted
        assert main([*export, "--name", "attic"]) == 0
        assert "rest, walk of attic" in capsys.readouterr().out
        learn = ["share", "import", *attic.port(link), *words, "--name", "attic"]
        assert main(learn) == 0
        out = capsys.readouterr().out
        assert "from kitchen" in out
        assert "from attic" not in out
        assert attic.right(2) > 0.9
        assert main(learn) == 0
        assert "learned nothing" in capsys.readouterr().out
        attic.right(0)
        forget = ["share", "forget", *attic.port(link), *words, "--origin", "kitchen"]
        assert main(forget) == 0
        assert "of kitchen" in capsys.readouterr().out
        assert attic.right(2) == 0


def test_a_networked_board_is_running_when_the_command_ends(
    attic: SharingBoard,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("MICROSHRUB_PATIENCE", str(PATIENCE))
    options = attic.port("network")
    packet = packet_of(tmp_path, "run")
    for words in (
        ["export", "--classes", "rest", "-o", str(tmp_path / "rest.packet")],
        ["import", packet],
        ["forget", packet],
    ):
        assert main(["share", *words, *options]) == 0
        assert "back at tcp://" in capsys.readouterr().err
        assert attic.right(0, waits=False) > 0.9


def test_a_cut_while_a_board_is_taught_keeps_its_state(
    attic: SharingBoard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packet = packet_of(tmp_path, "run")
    assert main(["share", "import", packet_of(tmp_path, "rest"), *attic.port("network")]) == 0
    plain = flash.write

    def write(device: flash.Runs, path: str, data: bytes) -> None:
        plain(device, path, data[: len(data) // 2])
        attic.pc.cut_power()
        raise Cut

    with monkeypatch.context() as patched:
        patched.setattr(flash, "write", write)
        with pytest.raises(Cut):
            main(["share", "import", packet, *attic.port("network")])
    assert attic.right(0) > 0.9
    assert attic.right(2) == 0
    assert main(["share", "import", packet, *attic.port("network")]) == 0
    assert attic.right(2) > 0.9


def test_a_board_and_a_model_exclude_each_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words, message in (
        (["export", "a", "--port", "b", "-o", "c"], "either MODEL or --port"),
        (["export", "--classes", "all", "-o", "c"], "either MODEL or --port"),
        (["import", "a"], "give MODEL, or --port of a board, and either PACKET or --mqtt"),
        (["import", "a", "--port", "b", "-o", "c"], "with --port the board keeps what it learns"),
        (["forget", "a", "b"], "--output is missing"),
    ):
        assert main(["share", *words]) == 2
        assert message in capsys.readouterr().err
