"""MOA in a comparison. Some tests need the package capymoa and a Java runtime."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import compare_support
import pytest
from compare_support import make_stream, run_all, run_with_labels
from patience import PATIENCE

from microshrub_host.base.errors import UserError
from microshrub_host.base.worker_process import Apart, wait_for_any
from microshrub_research.compare import catalogue, speed_set, tree_set
from microshrub_research.compare.catalogue import PEERS
from microshrub_research.compare.comparison_runner import compare
from microshrub_research.compare.contender import NO_ANSWER

_MISSING = catalogue.missing_for_moa()
needs_moa = pytest.mark.skipif(bool(_MISSING), reason=f"MOA needs {_MISSING}")

# The same stream through capymoa's own class and evaluation, in a separate process.
_BY_HAND = """
import sys
sys.path.insert(0, sys.argv[1])
from compare_support import make_stream, run_all
from capymoa.classifier import NaiveBayes
from capymoa.evaluation import prequential_evaluation
from capymoa.stream import NumpyStream
made = make_stream(1500)
stream = NumpyStream(made.values, made.labels)
print(prequential_evaluation(stream, NaiveBayes(stream.get_schema()))["cumulative"].accuracy())
"""


def test_without_the_extra_an_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "capymoa", None)  # importing it fails
    with pytest.raises(UserError, match=r"moa:EFDT needs .*pip install 'microshrub\[bench\]'"):
        catalogue.select("river:HAT,moa:EFDT")
    assert catalogue.select("river:HAT")


@needs_moa
def test_without_java_an_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(UserError, match="moa:NaiveBayes needs a Java runtime"):
        catalogue.select("moa")
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    with pytest.raises(UserError, match="needs a Java runtime"):
        catalogue.select("moa")


@needs_moa
def test_moas_naive_bayes_equals_capymoas() -> None:
    cell = next(compare([PEERS["moa:NaiveBayes"]], make_stream(1500)))
    assert not cell.failure
    assert cell.model_bytes_by == "measureByteSize"
    command = [sys.executable, "-c", _BY_HAND, str(Path(compare_support.__file__).parent)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert cell.accuracy == pytest.approx(float(done.stdout.split()[-1]), abs=1e-3)


@needs_moa
@pytest.mark.long
def test_with_all_labels_the_loop_for_few_labels_equals_moas() -> None:
    work = Apart(run_with_labels, PEERS["moa:HoeffdingTree"], make_stream(1500), limit=120)
    results: list[list[int]] = []
    try:
        while len(results) < 3:
            wait_for_any([work])
            results.append(work.receive())
    finally:
        work.close()
    loop, every, tenth = results
    assert every == loop
    assert tenth != loop


@needs_moa
def test_all_of_moas_learners_run() -> None:
    """All learners share one process, since starting Java takes long."""
    contenders = catalogue.select("moa")
    contenders += [row["moa"] for row in tree_set.tree_rows().values()]
    work = Apart(run_all, contenders, make_stream(300), limit=120)
    results = []
    try:
        while len(results) < len(contenders):
            wait_for_any([work])
            name, predictions, size = work.receive()
            results.append((name, size))
            assert len(predictions) == 300
            assert set(predictions) <= {NO_ANSWER, 0, 1, 2}
    finally:
        work.close()
    assert [name for name, _ in results] == [contender.name for contender in contenders]
    for name, size in results:
        if name in ("moa:ShrubsClassifier", "moa:SGBT"):  # these have no measure
            assert size is None
        else:
            assert size > 1000


@needs_moa
def test_capymoas_shrubs_run_with_our_settings() -> None:
    """The set of speed has these shrubs next to ours."""
    contender = speed_set.speed_rows()["shrubs"]["capymoa"]
    cell = next(compare([contender], make_stream(120)))
    assert (cell.failure, cell.samples, cell.model_bytes) == ("", 120, None)
    ours = speed_set.speed_rows()["shrubs"]["ours"].settings
    for name, theirs in (("depth", "max_depth"), ("window", "batch_size"), ("step", "step_size")):
        assert ours[name] == contender.settings[theirs]


@needs_moa
def test_trees_and_ensembles_have_sizes_and_trees_alone_have_shapes() -> None:
    wanted = [PEERS[name] for name in ("moa:ARF", "moa:HoeffdingTree")]
    cells = {cell.name: cell for cell in compare(wanted, make_stream(400), sizes=4, limit=120)}
    assert all(not cell.failure for cell in cells.values())
    assert all(len(cell.sizes) > 4 for cell in cells.values())
    assert [name for name, cell in cells.items() if cell.shapes] == ["moa:HoeffdingTree"]
