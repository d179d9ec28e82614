"""Options that subcommands share: DATA, the options for reading it, --no-label and --board."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..base.errors import UserError
from ..base.terminal import messages, showing
from ..base.text import count
from ..boards import board_files
from ..boards.default_bytes import SIZE, bytes_for
from ..boards.deployment import Deployment
from ..boards.emits import EMITS
from ..boards.program import in_network
from ..evaluation import prequential
from ..library.learners import MODELS, WARMUP, check_parameters, stream_parameters, warmup_of
from ..simulation import companion_registry
from ..simulation.companion import Companions
from ..simulation.feature_extraction import extracted
from ..simulation.pipeline import pipeline
from ..simulation.recording_clock import timed
from ..streams.class_names import declared_classes
from ..streams.generators import SYNTH_NAMES
from ..streams.named_files import LABEL_FROM
from ..streams.open_regression_stream import open_columns
from ..streams.open_stream import open_stream
from ..streams.regression_streams import NumberStream
from ..streams.stream import Stream
from .features_option import add_features_option, feature_options, say_chosen, say_scale
from .options import companions_of, given_options, model_parameters
from .parsed import check_no_group, columns_read, whole_number

DEFAULT_BOARD = "rpi_pico"
STREAM_OPTIONS = ("--label", "--drop", "--features", "--limit")  # the options shown by --help
_ANY_RATE = 1.0  # readings a second: companions take the same RAM at any rate


class _Wide(argparse.Action):
    """--wide, which needs --features."""

    def __call__(
        self, parser: object, namespace: argparse.Namespace, values: Any, option: object = None
    ) -> None:
        namespace.wide = values
        if getattr(namespace, "features", ()) is None:
            namespace.features = []


class _Sources(argparse.Action):
    """DATA: one source, or several files as a tuple; None if there is none."""

    def __call__(
        self, parser: object, namespace: argparse.Namespace, values: Any, option: object = None
    ) -> None:
        if isinstance(values, (list, tuple)):
            values = values[0] if len(values) == 1 else tuple(values) or None
        setattr(namespace, self.dest, values)


def add_stream_options(
    parser: argparse.ArgumentParser, *, nargs: str = "+", each_alone: bool = False
) -> None:
    """Add DATA and the options for reading DATA; for each_alone see add_data()."""
    add_data(parser, nargs=nargs, each_alone=each_alone)
    add_recording_options(parser)
    parser.add_argument(
        "--warmup",
        type=whole_number,
        metavar="N",
        help="take the features' ranges from the first N samples before the run starts; 0: the "
        "ranges grow from the first sample on (default: 0 for learners that can follow growing "
        "ranges, such as thicket, else 256)",
    )
    parser.add_argument(
        "--shuffle",
        type=whole_number,
        metavar="SEED",
        help="shuffle the stream with this seed (default: keep its order)",
    )
    add_features_option(parser, "learn")


def add_data(
    parser: argparse.ArgumentParser, *, nargs: str = "+", each_alone: bool = False
) -> None:
    """Add DATA; with each_alone, each of several sources is a separate stream."""
    synths = ", ".join(SYNTH_NAMES)
    several = "a folder of files is read as one" if each_alone else (
        "several files, or those in a folder, are read one after the other: each is a recording, "
        "and its class a column or in its name"
    )  # fmt: skip
    parser.add_argument(
        "data",
        metavar="DATA",
        nargs=nargs,
        action="store" if each_alone else _Sources,
        help="a CSV or ARFF file, river:, sklearn: or synth:NAME; a file may be a "
        f".csv.gz, a pipe, or - for the standard input, or of another kind; {several}; river:NAME "
        "and sklearn:NAME are data sets of River and scikit-learn, such as river:ImageSegments "
        f"and sklearn:digits; synth:NAME is a generated stream: {synths}",
    )


def add_recording_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for columns, and for the places of the class and of recordings."""
    add_column_options(parser)
    parser.add_argument(
        "--group",
        metavar="COLUMN",
        help="the column that says which samples belong together, such as a person, a session or "
        "a file: whole groups are held out for the accuracy on unseen data, and the column is no "
        "feature (default: none; runs of one label are held out, or blocks of time)",
    )
    parser.add_argument(
        "--label-from",
        metavar="WHERE",
        choices=LABEL_FROM,
        help="where the class of each file is: name, without the number of the take, as in "
        "fist_2.csv; folder; or file, the whole name (default: a column, or what several files "
        "show)",
    )
    parser.add_argument(
        "--wide",
        nargs="*",
        metavar="NAME=VALUE",
        action=_Wide,
        help="each row of a file is a whole recording, of axes=3 values a reading; order=axes: "
        "one axis after the other; with it, --features makes samples of windows in them "
        "(default: a row is a reading or a sample)",
    )


def add_column_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for the columns and rows of a file, and for their roles."""
    parser.add_argument(
        "--label", metavar="COLUMN", help="the column of the class (default: the last)"
    )
    parser.add_argument(
        "--classes", metavar="A,B,...", help="all classes, in order (default: those in the file)"
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--columns",
        nargs="+",
        action="extend",
        metavar="COLUMN",
        help="the columns that are features (default: all except the class, and the time that "
        "`record --time` writes)",
    )
    which.add_argument(
        "--drop",
        nargs="+",
        action="extend",
        metavar="COLUMN",
        help="columns that are not features; such as a row's number or its date (default: none)",
    )
    parser.add_argument(
        "--no-header",
        action="store_true",
        help="the first row of the file is a sample; the columns are called c1, c2, ... "
        "(default: off)",
    )
    parser.add_argument(
        "--decimal",
        metavar="SIGN",
        help="what stands before decimals where a file could mean either, a comma or a point "
        "(default: what all columns allow)",
    )
    parser.add_argument(
        "--limit",
        type=whole_number,
        metavar="N",
        help="only the first N samples; of several files, an equal share of each (default: all; "
        "100,000 of synth:NAME)",
    )


def add_emit_option(parser: argparse.ArgumentParser) -> None:
    """Add --emit."""
    parser.add_argument(
        "--emit",
        choices=EMITS,
        default="",
        help="what the kernels become: native, machine code that comes with microshrub; viper, "
        "machine code by mpy-cross, which is longer and slower; bytecode, for any processor "
        "(default: the first of these that there is for the board)",
    )


def add_board_option(
    parser: argparse.ArgumentParser, default: str | None, text: str, *, required: bool = False
) -> None:
    """Add --board; text is the start of its help."""
    names = ", ".join(board_files.names())
    parser.add_argument(
        "--board",
        metavar="NAME",
        default=default,
        required=required,
        help=f"{text}; {names}, or a .toml file",
    )


def open_arguments(arguments: argparse.Namespace) -> Stream:
    """Open the stream of the options of add_stream_options, and print its notes."""
    return made_of(arguments, open_rows(arguments))


def open_rows(arguments: argparse.Namespace, fewest_classes: int = 2) -> Stream:
    """Return the rows of DATA, in their own order if --features makes samples of them.

    fewest_classes is 1 if a saved model, which has its own classes, meets the rows.
    """
    if getattr(arguments, "no_label", False):
        return open_unlabelled_rows(arguments)
    options = None if arguments.features is None else feature_options(arguments)
    early = arguments.warmup or WARMUP
    with showing("reading") as update:
        stream = open_stream(
            arguments.data,
            label=arguments.label,
            label_from=arguments.label_from,
            classes=arguments.classes,
            **columns_read(arguments),
            group=arguments.group,
            wide=arguments.wide,
            shuffle=None if options else arguments.shuffle,
            warmup=options.readings(early) if options else early,
            fewest_classes=fewest_classes,
            progress=update,
        )
    notes = [*stream.notes]
    if getattr(arguments, "anomaly", None) and not arguments.label and stream.label_name:
        notes.append(
            f"the last column, {stream.label_name}, is taken for the class. --label NAME takes "
            "another one; `simulate --anomaly RATE --no-label` scores samples that have none."
        )
    if options and not arguments.columns:
        stream, note = timed(stream, options.resample)
        clock = note.partition(" is a clock")[0]
        notes = [each for each in notes if f"the column {clock} only" not in each or not note]
        notes += [f"{stream.name}: {note}."] if note else []
    for note in notes:
        messages.say(f"Note: {note}")
    return stream


def made_of(arguments: argparse.Namespace, rows: Stream) -> Stream:
    """Return the samples that --features makes of the rows, or the rows without --features."""
    if arguments.features is None:
        return rows
    names = rows.feature_names
    options = feature_options(arguments, names, len(rows.class_names), rows.rate, rows.readings)
    say_chosen(arguments, options, names)
    result = extracted(rows, options, arguments.shuffle)
    say_scale(result.extraction)
    return result


def open_with_parameters(arguments: argparse.Namespace) -> tuple[Stream, dict[str, Any]]:
    """Return the stream, and all parameters of the model to learn it.

    Raises UserError for options that the model does not have or refuses.
    """
    model_parameters(arguments)  # checked before slow work
    stream = open_arguments(arguments)
    return stream, parameters_for(arguments, stream)


def parameters_for(arguments: argparse.Namespace, stream: Stream) -> dict[str, Any]:
    """Return all parameters of the model to learn the stream. Raises UserError for invalid ones.

    arguments.warmup is also set, if no number was given.
    """
    frozen = companion_registry.keeps_ranges(vars(arguments))
    arguments.warmup = warmup_of(arguments.model, arguments.warmup, frozen=frozen)
    options = model_parameters(arguments)
    parameters = stream_parameters(arguments.model, stream, arguments.warmup) | options
    parameters = with_board_bytes(parameters, arguments, pipeline(stream.extraction))
    check_parameters(arguments.model, parameters)
    if arguments.warmup >= len(stream.labels):
        messages.say(
            f"Note: with --warmup {arguments.warmup} the quantizer sees all "
            f"{count(len(stream.labels), 'sample')} before the run."
        )
    return parameters


def with_board_bytes(
    parameters: dict[str, Any], arguments: argparse.Namespace, sensor: Companions = ()
) -> dict[str, Any]:
    """Return a model's parameters with the bytes for --board, unless the user has chosen bytes.

    `sensor` has the features of the board's sensor, if the samples are made of its readings.
    Prints a note if the bytes are fewer than usual. Raises NoRoom if not even the fewest fit.
    """
    given = vars(arguments)
    if SIZE not in parameters or SIZE in given_options(arguments) or not given.get("board"):
        return parameters
    board = board_files.load(arguments.board)
    emit = given.get("emit") or ""
    asked = companions_of(arguments, _ANY_RATE)
    companions = tuple(each.on_shape(parameters["classes"]) for each in asked)
    size = bytes_for(
        Deployment(
            parameters, board, MODELS[arguments.model], companions, in_network(given),
            emit, bool(given.get("freeze")),
            fixed_ranges=bool(given.get("warmup")),
        ),
        sensor,
    )  # fmt: skip
    if size != parameters[SIZE]:
        messages.say(f"Note: --bytes {size}, which {board.name} has beside the program of build.")
    return parameters | {SIZE: size}


def compile_kernels(model: str, parameters: Mapping[str, Any], engine: str | None = None) -> None:
    """Prepare an engine (None: the fastest), and show why the first time takes long."""
    known = prequential.are_compiled(model, parameters, engine)
    what = "loading the kernels" if known else "compiling the kernels (once)"
    with showing(what, announce=not known):
        prequential.compile_kernels(model, parameters, engine)


def add_no_label_option(parser: argparse._ActionsContainer, what: str) -> None:
    """Add --no-label, for DATA without a class; `what` is the command's action in the help."""
    parser.add_argument(
        "--no-label",
        action="store_true",
        help=f"DATA has no class, and all its columns are features: {what} (default: the last "
        "column is the class)",
    )


def check_no_label(arguments: argparse.Namespace) -> bool:
    """Return whether --no-label was given. Raises UserError for --no-label without --anomaly."""
    if arguments.no_label and not arguments.anomaly:
        raise UserError(
            "--no-label needs --anomaly RATE: without labels there is nothing to learn."
        )
    return bool(arguments.no_label)


def open_unlabelled_rows(arguments: argparse.Namespace) -> Stream:
    """Return the rows as a stream without labels, for a model with the classes of --classes.

    Raises UserError if the options do not allow that.
    """
    classes = declared_classes(arguments.classes)
    if classes is None:
        raise UserError("--no-label needs --classes A,B,...: those that labels will name later.")
    if arguments.label is not None:
        raise UserError(
            "--label NAME says which column is the class, and --no-label that none is."
        )
    unlabelled = open_unlabelled(arguments)
    labels = np.zeros(len(unlabelled.columns), np.uint8)
    names = unlabelled.column_names
    return Stream(
        unlabelled.name, unlabelled.columns, labels, names, classes, known_scale=unlabelled.scale
    )


def open_unlabelled(arguments: argparse.Namespace) -> NumberStream:
    """Open the columns of the options, and print their notes."""
    check_no_group(arguments)
    warmup = arguments.warmup or WARMUP
    if arguments.features is not None:
        warmup = feature_options(arguments).readings(warmup)
    with showing("reading") as update:
        stream = open_columns(
            arguments.data,
            **columns_read(arguments),
            warmup=warmup,
            progress=update,
        )
    for note in stream.notes:
        messages.say(f"Note: {note}")
    return stream
