"""`benchmark worth`: the accuracy of a thicket without one of its members."""

from __future__ import annotations

import numpy as np
import pytest

from microshrub_host.evaluation import prequential
from microshrub_host.streams.open_stream import open_stream
from microshrub_host.streams.stream import Stream
from microshrub_research.benchmarks.members_worth import WHOLE, markdown, measure
from microshrub_tools.cli.main import main


@pytest.fixture(scope="module")
def accuracies() -> dict[str, float]:
    return measure(open_stream("synth:rbf_m", limit=1500), 8192, 0, 256, lambda *_: None)


def test_with_all_members_the_accuracy_equals_simulates(accuracies: dict[str, float]) -> None:
    stream = open_stream("synth:rbf_m", limit=1500)
    shape = {"features": 10, "classes": 5, "bytes": 8192}
    result = prequential.evaluate(stream, "thicket", shape, warmup=256)
    assert accuracies[WHOLE] == pytest.approx(result.accuracy, abs=1e-3)


def test_neighbours_matter_where_concepts_are_local(accuracies: dict[str, float]) -> None:
    assert accuracies["neighbours"] < accuracies[WHOLE]


def test_the_last_label_matters_where_labels_come_in_runs() -> None:
    """Features have no information, and labels come in long runs."""
    rng = np.random.default_rng(0)
    labels = np.repeat(rng.integers(0, 2, 60), 25).astype(np.uint8)
    values = rng.normal(size=(1500, 6)).round(2)
    stream = Stream("runs", values, labels, tuple("abcdef"), ("no", "yes"))
    measured = measure(stream, 8192, 0, 256, lambda *_: None)
    assert measured["last"] < measured[WHOLE] - 1


def test_the_page_does_not_depend_on_the_number_of_jobs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["benchmark", "worth", "--streams", "sea_a,rbf_m", "--bytes", "8192", "--limit", "400"]
    pages = []
    for jobs in ("1", "2"):
        assert main([*words, "--jobs", jobs]) == 0
        pages.append(capsys.readouterr().out)
    assert pages[0] == pages[1]
    assert pages[0].index("sea_a") < pages[0].index("rbf_m")


def test_the_page_has_differences_and_their_means() -> None:
    text = markdown({"a": {WHOLE: 90, "x": 88}, "b": {WHOLE: 80, "x": 81}}, "command")
    assert "| a | 90.00 | +2.00 |" in text
    assert "| mean | 85.00 | +0.50 |" in text
