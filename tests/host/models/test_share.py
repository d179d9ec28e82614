"""`microshrub share`: saved models teach each other with files of a few samples."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from packet_support import CLASSES, NAMES, rows_of, saved_model

from microshrub_host.base.errors import UserError
from microshrub_host.evaluation import prequential
from microshrub_host.models import model_files
from microshrub_host.streams.stream import Stream
from microshrub_tools.cli.main import main


def part_right(path: Path, label: int) -> float:
    """Return the share of other samples of a class that a saved model predicts right."""
    from array import array

    opened = model_files.open_model(path)
    raw = opened.file.scale.apply(rows_of(label, 100, 99) / 100)
    codes = array("H", bytes(6))
    right = 0
    for row in raw:
        opened.quantizer.code(array("i", row.tolist()), codes)
        right += opened.learner.predict(codes) == label
    return right / 100


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str, str, str]:
    """A model of all classes, one without the last class, a packet, and a model to write."""
    kitchen = saved_model(tmp_path / "kitchen.mshrub", (0, 1, 2), 1)
    attic = saved_model(tmp_path / "attic.mshrub", (0, 1), 2)
    return str(kitchen), str(attic), str(tmp_path / "k.packet"), str(tmp_path / "more.mshrub")


def test_a_model_learns_a_missing_class_and_can_forget_it_again(
    files: tuple[str, str, str, str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    kitchen, attic, packet, more = files
    assert main(["share", "export", kitchen, "--classes", "all", "-o", packet]) == 0
    assert main(["share", "import", attic, packet, "-o", more]) == 0
    out = capsys.readouterr().out
    assert "from kitchen" in out
    assert "well known" in out
    assert "values are moved by at most: x " in out
    assert part_right(Path(attic), 2) == 0
    assert min(part_right(Path(more), c) for c in range(3)) > 0.9
    less = str(tmp_path / "less.mshrub")
    assert main(["share", "forget", more, packet, "-o", less]) == 0
    assert "without 20 samples" in capsys.readouterr().err
    assert part_right(Path(less), 2) == 0
    assert min(part_right(Path(less), c) for c in range(2)) > 0.9
    assert main(["share", "forget", less, packet, "-o", more]) == 2
    assert "this packet of kitchen" in capsys.readouterr().err


def test_an_origin_can_be_forgotten_without_its_packets(
    files: tuple[str, str, str, str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    kitchen, attic, packet, more = files
    assert main(["share", "export", kitchen, "--classes", "all", "-o", packet]) == 0
    assert main(["share", "import", attic, packet, "-o", more]) == 0
    less = str(tmp_path / "less.mshrub")
    assert main(["share", "forget", more, "--origin", "kitchen", "-o", less]) == 0
    assert "without 20 samples" in capsys.readouterr().err
    assert part_right(Path(less), 2) == 0
    assert min(part_right(Path(less), c) for c in range(2)) > 0.9
    assert main(["share", "forget", less, "--origin", "kitchen", "-o", more]) == 2
    assert "learned nothing of kitchen" in capsys.readouterr().err
    assert main(["share", "forget", more, packet, "--origin", "kitchen", "-o", less]) == 2
    assert "either PACKET or --origin NAME" in capsys.readouterr().err


def test_names_may_have_commas_and_owners_spaces(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    classes = ("Ruhe", 'geht, "schnell"', "läuft")
    rows = np.concatenate([rows_of(c, 100, 1) for c in range(3)]) / 100
    labels = np.repeat(np.arange(3, dtype=np.uint8), 100)
    models = str(tmp_path / "Küche 1.mshrub"), str(tmp_path / "attic.mshrub")
    for path, among in zip(models, (labels >= 0, labels != 1), strict=True):
        stream = Stream("some", rows[among], labels[among], NAMES, classes)
        result = prequential.evaluate(stream, "thicket", {"features": 3, "classes": 3})
        model_files.write(Path(path), model_files.of_run(result, stream))
    files = [str(tmp_path / name) for name in ("packet", "more.mshrub", "less.mshrub")]
    packet, more, less = files
    export = ["share", "export", models[0], "-o", packet, "--classes"]
    assert main([*export, classes[1]]) == 2
    message = capsys.readouterr().err
    assert "no class is called geht" in message
    assert 'As a list: \'Ruhe,"geht, ""schnell""",läuft\'' in message
    assert main([*export, '"geht, ""schnell"""']) == 0
    assert "1 class of Küche 1" in capsys.readouterr().err
    assert main(["share", "import", models[1], packet, packet, "-o", more]) == 0
    assert capsys.readouterr().out.count("│ 20 ") == 2, "in one row, as samples and as learned"
    assert main(["share", "forget", more, "--origin", "Küche 1", "-o", less]) == 0
    assert "without 20 samples" in capsys.readouterr().err


def test_nothing_is_exported_without_a_choice_of_classes(
    files: tuple[str, str, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    kitchen, attic, packet, _ = files
    assert main(["share", "export", kitchen, "-o", packet]) == 2
    assert "--classes is missing" in capsys.readouterr().err
    assert not Path(packet).exists()
    assert main(["share", "export", attic, "--classes", "run", "-o", packet]) == 2
    assert "attic.mshrub: nothing is held" in capsys.readouterr().err


def test_other_features_are_refused_and_no_file_is_written(
    files: tuple[str, str, str, str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    kitchen, _, packet, more = files
    other = saved_model(tmp_path / "other.mshrub", (0, 1), 2, ("x", "y", "temperature"))
    assert main(["share", "export", kitchen, "--classes", "run", "-o", packet]) == 0
    assert main(["share", "import", str(other), packet, "-o", more]) == 2
    words = "the packet is of the features x, y, z, and here they are x, y, temperature"
    assert words in capsys.readouterr().err
    assert not Path(more).exists()


def test_invalid_packets_and_models_that_cannot_share_are_refused(
    files: tuple[str, str, str, str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    kitchen, attic, packet, more = files
    assert main(["share", "import", attic, kitchen, "-o", more]) == 2
    assert "kitchen.mshrub: this is no packet" in capsys.readouterr().err
    assert main(["share", "import", attic, str(tmp_path / "none"), "-o", more]) == 2
    assert "none: cannot be read" in capsys.readouterr().err
    assert main(["share", "export", kitchen, "--classes", "run", "-o", attic]) == 2
    assert "--force" in capsys.readouterr().err
    assert main(["share", "export", kitchen, "--classes", "run", "-o", packet]) == 0
    stream = Stream("one", rows_of(0, 60, 1) / 100, np.zeros(60, np.uint8), NAMES, CLASSES)
    result = prequential.evaluate(stream, "hoeffding", {"features": 3, "classes": 3})
    model_files.write(Path(more), model_files.of_run(result, stream))
    assert main(["share", "import", more, packet, "-o", str(tmp_path / "x.mshrub")]) == 2
    assert "only a thicket" in capsys.readouterr().err


def test_the_record_of_shared_samples_is_checked(files: tuple[str, str, str, str]) -> None:
    from dataclasses import replace

    kitchen = Path(files[0])
    file = model_files.read(kitchen)
    for wrong in ({"00000000": [-1]}, {"00000000": 3}, {"00000000": ["a"]}):
        model_files.write(kitchen, replace(file, shared=wrong))  # type: ignore[arg-type]
        with pytest.raises(UserError, match="no valid shared"):
            model_files.read(kitchen)
