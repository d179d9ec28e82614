"""`microshrub build`: a program for a board, from a saved model or for streams like DATA."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import messages
from microshrub_host.boards import board_files
from microshrub_host.boards.default_bytes import SIZE
from microshrub_host.boards.program import Program
from microshrub_host.cli.energy_options import add_battery_option
from microshrub_host.cli.options import (
    add_companion_options,
    add_model_options,
    given_options,
    is_model_file,
)
from microshrub_host.cli.parsed import whole_number
from microshrub_host.cli.plain_parser import show_first
from microshrub_host.cli.regression_options import (
    add_number_options,
    open_numbers_arguments,
    wants_numbers,
)
from microshrub_host.cli.stream_options import (
    add_board_option,
    add_emit_option,
    add_no_label_option,
    add_stream_options,
    open_with_parameters,
)
from microshrub_host.library.learners import WARMUP, option
from microshrub_host.models import model_files
from microshrub_host.simulation import companion_registry
from microshrub_host.streams.stream import source_names

from ..board import build, program_config, program_network, program_words
from ..board.build import FOLDER
from ..board.program_options import ProgramOptions
from ..board.program_sensors import sensors
from ..board.program_settings import DETECTORS, HOOKS
from ..link import key_file
from .build_report import print_build
from .network_options import add_network_options, ask_password


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Build a program for a board: the device library compiled for its processor, and "
        "config.json. The model is a saved one (--model FILE.mshrub), or a fresh one for samples "
        "like those of DATA."
    )
    add_stream_options(parser, nargs="*")
    add_board_option(parser, None, "the board (required)", required=True)
    parser.add_argument(
        "-o",
        "--output",
        metavar="FOLDER",
        type=Path,
        help=f"the folder to write (default {FOLDER}/BOARD)",
    )
    add_emit_option(parser)
    parser.add_argument(
        "--freeze",
        action="store_true",
        help="put the library into the firmware of a MicroPython that you build, with "
        "FOLDER/firmware/manifest.py: there it takes flash instead of RAM (default: copy the "
        "library to the board)",
    )
    add_battery_option(parser)
    _add_program_options(parser)
    add_network_options(parser)
    add_number_options(parser)
    add_model_options(parser, files=True, numbers=True)
    show_first(
        parser,
        "--model",
        "--board",
        "--sensor",
        "--features",
        "--label-pin",
        "--switch",
        "--led-pin",
        "--label-budget",
        "--anomaly",
        "--tcp",
        "--mqtt",
        "--output",
    )


def _add_program_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("options of the program")
    group.add_argument(
        "--sensor",
        action="append",
        nargs="+",
        metavar=("KIND", "NAME=VALUE"),
        help="what the program reads, such as adc pins=26,27 rate=50; serial (default); mpu6050 "
        "scl=1 sda=0 i2c=0 address=104 rate=100 axes=6 fifo=no; adxl345, lsm6ds3, bme280, bh1750, "
        "scd41, dht22, ina219, clamp, microphone, soil_probe or mpr121; my_sensor.py rate=1/60, a "
        "file of your own. --features, or the saved model, says which features are made of the "
        "readings. Several --sensor options give one reading together, at the rate of the first",
    )
    group.add_argument(
        "--label-pin",
        nargs="+",
        metavar=("PIN", "NAME=VALUE"),
        help="a button that labels: 15 pressed=walk released=rest; a name left empty "
        "means no label (default: none)",
    )
    add_companion_options(group)
    group.add_argument(
        "--led-pin",
        metavar="PIN",
        help="a light that is on while a query waits: 25, or LED; the queries are those of "
        "--label-budget and --spare-classes (default: none)",
    )
    group.add_argument(
        "--switch",
        nargs="+",
        metavar="CLASS=PIN",
        help="what a class switches: walk=16 run=27:green; pins of lights or relays that are high "
        "while it is predicted, colours of a NeoPixel, tones of a buzzer, or keys of a USB "
        "keyboard that the board is: walk=16 run=17+18 rest=27:green fall=28:880Hz jump=key:Space "
        "(default: none)",
    )
    group.add_argument(
        "--switch-above",
        nargs="+",
        metavar="CLASS=PERCENT",
        help="the confidence from which on a class switches what --switch says: walk=80%%; below "
        "it, nothing is switched (default: any)",
    )
    group.add_argument(
        "--pending",
        type=whole_number,
        default=32,
        metavar="K",
        help="samples that may wait for a late label (default 32)",
    )
    group.add_argument(
        "--checkpoint-seconds",
        type=whole_number,
        metavar="S",
        help="what is taught is saved to flash within seconds; labels that never end, every S "
        "seconds (default: as many minutes as the board's flash needs to last ten years); 0: "
        "nothing is saved",
    )
    group.add_argument(
        "--checkpoint-led",
        metavar="PIN",
        help="a light that is on while something that was taught is not saved yet: do not unplug "
        "the board (default: none)",
    )
    group.add_argument(
        "--alarm",
        choices=("none", *DETECTORS),
        help="the drift detector (default page_hinkley; none for a regressor)",
    )
    add_no_label_option(group, "the board is told labels of the classes in --classes")
    group.add_argument(
        "--hook",
        choices=HOOKS,
        help="what the model does when a drift is detected (default nothing)",
    )
    group.add_argument(
        "--sleep",
        nargs="*",
        metavar="NAME=VALUE",
        help="sleep between two readings of --sensor, and listen to the line for window=2 seconds "
        "in every=60, for hold=60 after the start or after something came, and after a press of a "
        "button at pin=15; deep=yes saves everything and restarts the board for each "
        "sample, where samples are so rare that this takes less energy (default: never sleep)",
    )
    group.add_argument(
        "--watchdog",
        type=whole_number,
        default=0,
        metavar="MS",
        help="restart the board if it hangs for so many milliseconds, at least 5000 (default 0: "
        "off)",
    )
    group.add_argument(
        "--text",
        action="store_true",
        help="also print plotter lines (default: only with a sensor of the board, and not with "
        "--sleep)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the folder and print the flash and RAM that it takes."""
    board = board_files.load(arguments.board)
    output: Path = arguments.output or build.folder_of(board)
    build.check_output(output)
    options = _options(arguments, output)
    sensors(options.sensor, board)  # a mistake is reported before the data are read
    with key_file.all_or_none():
        program = options.network.furnish(_program(arguments, board, options))
        files = options.sensor_files(board)
        made = build.make(
            program, board, output, arguments.emit, freeze=arguments.freeze, user_files=files,
            is_size_free=arguments.data is not None and SIZE not in given_options(arguments),
        )  # fmt: skip
    size = made.program.parameters.get(SIZE)
    if size != program.parameters.get(SIZE):
        messages.say(f"Note: --bytes {size}, which {board.name} has beside this program.")
    print_build(made, board, made.program, arguments)
    return 0


def _options(arguments: argparse.Namespace, output: Path) -> ProgramOptions:
    given = vars(arguments)
    plain = ("features", "led_pin", "watchdog", "text")
    network = program_network.of_options(given, output, ask_password)
    return ProgramOptions(
        **{name: given[name] for name in plain},
        **program_words.of_words(given),
        sensor=arguments.sensor or ("serial",),
        words={name: given[name] for name in companion_registry.option_names() if name in given},
        wifi=network.wifi,
        mqtt=network.mqtt,
        tcp=network.tcp,
        share=network.share,
    )


def _program(
    arguments: argparse.Namespace, board: board_files.Board, options: ProgramOptions
) -> Program:
    if is_model_file(arguments.model):
        if arguments.data is not None:
            data = shlex.join(source_names(arguments.data))
            raise UserError(f"DATA {data} is not used: the model is in {arguments.model}")
        reading = ("label", "classes", "columns", "drop", "no_header", "decimal", "no_label",
            "label_from", "wide", "limit", "shuffle")  # fmt: skip
        of_numbers = ("target", "horizon", "lags", "target_range", "interval")
        of_data = [name for name in (*reading, *of_numbers) if vars(arguments)[name]]
        for name in [*given_options(arguments), *of_data]:
            raise UserError(f"{option(name)} is not used: the model is in {arguments.model}")
        model = model_files.read(Path(arguments.model))
        if arguments.features is not None and model.extraction:
            raise UserError(f"--features is not used: {arguments.model} has its own")
        config = options.config(board, model.feature_names, model.known_names, model.extraction)
        return program_config.of_model(model, config)
    if arguments.data is None:
        raise UserError("Name a saved model, --model FILE.mshrub, or DATA for a fresh one")
    if arguments.features is not None:
        arguments.features = [*arguments.features, *_rate(arguments, board, options)]
    if wants_numbers(arguments):
        return _number_program(arguments, board, options)
    stream, parameters = open_with_parameters(arguments)
    config = options.config(board, stream.feature_names, stream.class_names, stream.extraction)
    return program_config.of_stream(stream, arguments.model, parameters, arguments.warmup, config)


def _rate(
    arguments: argparse.Namespace, board: board_files.Board, options: ProgramOptions
) -> list[str]:
    """Return the sensor's rate for --features, if it has one and --features gives none."""
    rate = sensors(options.sensor, board).rate
    message = any(word.startswith("rate=") for word in arguments.features)
    return [f"rate={rate:g}"] if rate and not message else []


def _number_program(
    arguments: argparse.Namespace, board: board_files.Board, options: ProgramOptions
) -> Program:
    stream, parameters, target = open_numbers_arguments(arguments)
    config = options.config(board, stream.column_names, (), stream.extraction)
    return program_config.of_numbers(
        stream, arguments.model, parameters, arguments.warmup or WARMUP, target, config
    )
