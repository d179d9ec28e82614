"""Benchmarks of one task each: anomalies, rare or novel classes, features, labels, regression."""

from __future__ import annotations

import argparse
import tempfile
from functools import partial
from pathlib import Path

from microshrub_host.base.side_by_side import Progress
from microshrub_host.base.terminal import showing
from microshrub_host.cli.outputs import add_outputs, write_figure
from microshrub_host.cli.stream_options import compile_kernels
from microshrub_host.library import loader
from microshrub_host.library.learners import BALANCED, DEFAULT

from ..benchmarks import (
    ahead,
    anomaly_scores,
    features,
    label_shares,
    new_classes,
    process_cost,
    rare_classes,
    regression_benchmark,
)
from ..benchmarks.known_streams import STREAMS
from ..benchmarks.label_shares_plot import draw
from ..benchmarks.sensed import SENSED
from ..papers.data_folder import data_folder
from .benchmark_page import (
    LIMIT,
    Benchmark,
    PageOption,
    Pages,
    known_streams_option,
    listed,
    seeds,
)
from .benchmark_streams import (
    FILES,
    add_streams_jobs,
    available_streams,
    chosen,
    each_of,
    numbers_of,
    open_known,
    say_missing,
)


def _anomaly(arguments: argparse.Namespace, command: str) -> Pages:
    names = chosen("--streams", arguments.streams, anomaly_scores.FILES)
    missing = say_missing({name: STREAMS[name].file for name in names}, arguments)
    there = [name for name in names if name not in missing]
    result: dict[str, list[dict[str, list[float]]]] = {}
    tasks = list(anomaly_scores.tasks(data_folder(arguments.data), there))
    for task, areas in zip(tasks, each_of(arguments, tasks, _areas), strict=True):
        result.setdefault(task.name, []).append(areas)
    yield anomaly_scores.markdown(result, command)


def _areas(task: anomaly_scores.Task, progress: Progress) -> dict[str, list[float]]:
    return anomaly_scores.measure(task, lambda done, total: progress(done, total, task.name))


ANOMALY = Benchmark(
    "anomaly",
    _anomaly,
    [
        add_streams_jobs,
        listed(
            "streams",
            anomaly_scores.FILES,
            "recordings beside AnomalySine, some of {} (default: all)",
        ),
    ],
)


def _rare(arguments: argparse.Namespace, command: str) -> Pages:
    for model in (DEFAULT, BALANCED):
        compile_kernels(model, {})
    work = partial(_rare_row, arguments.data, arguments.limit)
    rows = each_of(arguments, available_streams(arguments), work)
    yield rare_classes.page(rows, arguments.limit, command)


def _rare_row(
    data: Path | None, limit: int, name: str, progress: Progress
) -> rare_classes.RareRow:
    result: rare_classes.RareRow | None = None
    stream = rare_classes.thinned(open_known(name, data, limit))
    for number, (learner, row) in enumerate(rare_classes.measure(name, stream), 1):
        result = row
        progress(number, rare_classes.runs(), f"{name}, {learner}")
    assert result is not None
    return result


RARE = Benchmark(
    "rare",
    _rare,
    [
        known_streams_option("chosen"),
        PageOption(
            "limit",
            "only the first N samples of a stream, before it is thinned (default "
            f"{rare_classes.LIMIT:,})",
            rare_classes.LIMIT,
            positive=True,
        ),
        add_streams_jobs,
    ],
)


def _new_classes(arguments: argparse.Namespace, command: str) -> Pages:
    wanted = chosen("--streams", arguments.streams, new_classes.names())
    files = {name: STREAMS[name].file if name in STREAMS else None for name in wanted}
    missing = say_missing(files, arguments)
    compile_kernels(DEFAULT, {})
    folder, rows = data_folder(arguments.data), []
    for name in wanted:
        if name not in missing:
            with showing(name) as update:
                rows.append(new_classes.measure(name, folder, arguments.seed, update))
    yield new_classes.page(rows, command)


NEW_CLASSES = Benchmark(
    "new-classes",
    _new_classes,
    [
        listed("streams", new_classes.names()),
        PageOption(
            "seed",
            f"the order of the samples, and the generators (default {new_classes.SEED})",
            new_classes.SEED,
            None,
        ),
    ],
)


def _features(arguments: argparse.Namespace, command: str) -> Pages:
    wanted = chosen("--streams", arguments.streams, list(SENSED))
    compile_kernels(DEFAULT, {})
    rows = each_of(arguments, wanted, partial(_feature_row, arguments.seeds))
    sets = [(rate, words) for rate in features.RATES for words in features.direction_words(rate)]
    sets = sets if features.DIRECTIONS in wanted else []
    directions = each_of(arguments, sets, partial(_direction_row, arguments.seeds))
    yield features.page(rows, directions, arguments.seeds, command)


def _feature_row(drawn: int, name: str, progress: Progress) -> features.FeatureRow:
    return features.measure(name, drawn, lambda done, total: progress(done, total, name))


def _direction_row(drawn: int, of: tuple[int, str], progress: Progress) -> features.DirectionRow:
    name = f"directions at {of[0]} Hz"
    return features.measure_direction(*of, drawn, lambda done, total: progress(done, total, name))


FEATURES = Benchmark(
    "features",
    _features,
    [
        add_streams_jobs,
        listed("streams", SENSED),
        seeds(features.SEEDS, "recordings of each sensor"),
    ],
)


def _labels(arguments: argparse.Namespace, command: str) -> Pages:
    compile_kernels(DEFAULT, {})
    work = partial(_label_row, arguments.data, arguments.limit, arguments.seeds)
    rows = each_of(arguments, available_streams(arguments), work)
    picture = arguments.plot and arguments.plot.name
    yield label_shares.page(rows, arguments.seeds, command, picture)
    if arguments.plot is not None:
        write_figure(arguments, draw(rows))


def _label_row(
    data: Path | None, limit: int | None, drawn: int, name: str, progress: Progress
) -> label_shares.LabelRow:
    result = None
    stream = open_known(name, data, limit)
    for number, row in enumerate(label_shares.measure(name, stream, drawn), 1):
        result = row
        progress(number, label_shares.runs(), name)
    assert result is not None
    return result


LABELS = Benchmark(
    "labels",
    _labels,
    [
        known_streams_option("labels"),
        seeds(1),
        LIMIT,
        add_streams_jobs,
        partial(add_outputs, plot="draw accuracy against the share of labels"),
    ],
)


def _numbers(arguments: argparse.Namespace, command: str) -> Pages:
    sources = regression_benchmark.SOURCES
    files = {name: each.source if each.is_file else None for name, each in sources.items()}
    missing = say_missing(files, arguments)
    for model in regression_benchmark.OURS:
        compile_kernels(model, {}, loader.fastest())
    there = [name for name in sources if name not in missing]
    work = partial(_number_row, data_folder(arguments.data), arguments.limit)
    rows = each_of(arguments, there, work)
    yield regression_benchmark.page(rows, arguments.limit, command)


def _number_row(
    folder: Path | None, limit: int, name: str, progress: Progress
) -> regression_benchmark.Row:
    of = regression_benchmark
    stream = of.SOURCES[name].open(folder, limit)
    result: dict[str, float] = {}
    whole = len(of.BASELINES) + len(of.OURS) + len(of.PEERS)
    for learner, error in of.measure(name, stream):
        result[learner] = error
        progress(len(result), whole, f"{name}, {learner} {error:.4g}")
    return of.Row(name, stream.samples, result)


NUMBERS = Benchmark(
    "numbers",
    _numbers,
    [
        add_streams_jobs,
        PageOption(
            "limit",
            f"only the first N samples (default {regression_benchmark.LIMIT:,})",
            regression_benchmark.LIMIT,
            positive=True,
        ),
    ],
)


def _ahead(arguments: argparse.Namespace, command: str) -> Pages:
    names, known = ahead.names(), ahead.FILES
    files = {name: known[name][0] if name in known else None for name in names}
    missing = say_missing(files, arguments)
    compile_kernels(ahead.MODEL, {}, loader.fastest())
    there = [name for name in names if name not in missing]
    rows = each_of(arguments, there, partial(_ahead_row, data_folder(arguments.data)))
    yield ahead.page(rows, command)


def _ahead_row(folder: Path | None, name: str, progress: Progress) -> ahead.AheadRow:
    cells = []
    with tempfile.TemporaryDirectory() as work:
        for horizon in ahead.HORIZONS:
            cells.append(ahead.measure(name, horizon, folder, Path(work)))
            note = f"{name}, {horizon} ahead: {cells[-1].thicket:.3f}"
            progress(len(cells), len(ahead.HORIZONS), note)
    return ahead.AheadRow(name, tuple(cells))


AHEAD = Benchmark("ahead", _ahead, [add_streams_jobs])


def _process(arguments: argparse.Namespace, command: str) -> Pages:
    sizes = [rows for rows in numbers_of("--rows", arguments.rows) if rows]
    costs: list[process_cost.ProcessCost] = []
    with tempfile.TemporaryDirectory() as folder, showing("processes") as update:
        place = Path(folder)

        def tell(text: str) -> None:
            update(len(costs), 4 + 4 * len(sizes), text)

        costs_of = partial(process_cost.measure, repeats=arguments.repeats, progress=tell)
        if not say_missing({"elec": FILES["elec"]}, arguments):
            elec = (data_folder(arguments.data) or Path()) / FILES["elec"]
            costs += costs_of(elec, place, cold=True)
        for rows in sizes:
            data = place / f"rows-{rows}.csv"
            tell(f"writing {data.name}")
            process_cost.write_file(data, rows)
            for numbers in (False, True):
                costs += costs_of(data, place, numbers=numbers)
            data.unlink()
    if costs:
        yield process_cost.page(costs, arguments.repeats, command)


PROCESS = Benchmark(
    "process",
    _process,
    [
        PageOption(
            "rows",
            "rows of the files to make for it, 172 MB per million (default 1000000); none: 0",
            "1000000",
            "N,N,...",
            value_type=None,
        ),
        PageOption("repeats", "how often each process is started (default 3)", 3, positive=True),
    ],
)
