"""A device with a label budget and spare classes for novel samples."""

from __future__ import annotations

from pathlib import Path

from device_support import configuration, connected, frozen_quantizer, put_device, starting
from naming_support import MODEL, NAMES, SPARE, kinds

from microshrub_host.evaluation import prequential
from microshrub_host.simulation.label_budget import LabelBudget
from microshrub_host.simulation.spare_classes import SpareClasses
from microshrub_tools.cli.monitor import facts
from microshrub_tools.link import class_messages
from microshrub_tools.link.class_messages import ClassState
from microshrub_tools.link.messages import (
    FINGERPRINT,
    QUERIES,
    Fingerprint,
    Prediction,
    Query,
    classes,
    late_label,
    sample,
)
from microshrub_tools.watch.device_watch import Watch
from microshrub_tools.watch.query_keys import answer_name

SHARE = LabelBudget(1 / 20)


def test_the_device_queries_and_predicts_as_the_simulator_does(
    micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    """Queries, predictions, queries of novel classes, and the final state are the same."""
    stream = kinds()
    spare = SpareClasses(3, ("stairs",), window=32, collect=4).on_stream(stream, 180)
    runs = [
        prequential.evaluate(
            stream, "nearest", MODEL, engine=engine, warmup=180, companions=[spare, SHARE]
        )
        for engine in ("python", "micropython")
    ]
    assert runs[0].state_crc32 == runs[1].state_crc32
    run = runs[0]
    assert run.label_budget is not None
    assert run.spare is not None
    assert [naming.name for naming in run.spare.named] == ["stairs"]
    assert run.label_budget.queries <= SHARE.most(180)
    assert run.right[-10:].all()

    config = configuration(
        "NearestNeighbours", MODEL, quantizer="quantizer.state", class_names=NAMES,
        spare_classes=SPARE, queries=SHARE.budget(), text=True,
    )  # fmt: skip
    queried, right = [], []
    named = {"walk": 0, "rest": 1}

    def put(**_: object) -> None:
        put_device(tmp_path, config)
        (tmp_path / "quantizer.state").write_bytes(frozen_quantizer(stream, 180))

    with (
        starting(micropython_command, tmp_path, put, "192k") as start,
        connected(start()) as link,
    ):
        for k, row in enumerate(stream.raw_rows().tolist()):
            name = stream.class_names[stream.labels[k]]
            answer = link.ask(sample(row))
            assert isinstance(answer, Prediction)
            right.append(answer.label == named.get(name))
            if answer.sample_id:
                queried.append(k)
            if answer.sample_id and name in named:
                link.ask(late_label(answer.sample_id, named[name]))
            if k == 130:
                watch = Watch(link)
                watch.ask()
                assert {"query", "labels asked for", "new"} <= dict(facts(watch)).keys()
            state = link.ask(classes(class_messages.tell(0)))
            assert isinstance(state, ClassState)
            if state.is_asking:
                state = link.ask(classes(class_messages.name(name)))
                assert isinstance(state, ClassState)
                named[name] = state.number
        assert queried == run.label_budget.asked.nonzero()[0].tolist()
        assert right == run.right.tolist()
        assert link.ask(FINGERPRINT) == Fingerprint(run.state_crc32)

        watch = Watch(link)
        answers = (link.ask(sample([50, k])) for k in range(200))
        waits = next(a.sample_id for a in answers if isinstance(a, Prediction) and a.sample_id)
        watch.ask()
        assert isinstance(watch.query, Query)
        assert watch.naming is not None
        assert "Type: answer NAME" in dict(facts(watch))["query"]
        reply = answer_name(watch, "fall")
        assert reply == f"fall is a class now: it is what sample {waits} was"
        now = link.ask(QUERIES)
        assert isinstance(now, Query)
        assert now.sample_id == 0
        assert "fall" in watch.class_names
        assert answer_name(watch, "fall") == "No sample waits for a label"
