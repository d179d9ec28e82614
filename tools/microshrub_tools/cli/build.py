"""`microshrub build`: a program for a board, from a saved model or for a stream like this one."""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path

from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import console, messages
from microshrub_host.base.text import count
from microshrub_host.boards import board_files, program_time, sample_time
from microshrub_host.cli.anomaly_option import add_anomaly_option
from microshrub_host.cli.asking_option import add_asking_option
from microshrub_host.cli.no_label_option import add_no_label_option
from microshrub_host.cli.number_options import (
    add_number_options,
    open_numbers_arguments,
    wants_numbers,
)
from microshrub_host.cli.options import add_model_options, given_options, is_model_file
from microshrub_host.cli.parsed import whole_number
from microshrub_host.cli.spare_option import add_spare_option
from microshrub_host.cli.stream_options import (
    add_board_option,
    add_stream_options,
    open_with_parameters,
)
from microshrub_host.engines.learners import MODELS, WARMUP, option
from microshrub_host.models import model_files
from microshrub_host.reports.report import fitting

from ..board import build, flash_wear, program_config, program_options
from ..board.build import FOLDER
from ..board.program_config import Program
from ..board.program_options import DETECTORS, HOOKS, ProgramOptions


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Build a program for a board: the device library compiled for its processor, and "
        "config.json. The model is a saved one (--model FILE.mshrub), or a fresh one for samples "
        "like those of DATA."
    )
    add_stream_options(parser, nargs="?")
    add_board_option(parser, None, "the board (required)", required=True)
    parser.add_argument(
        "--output",
        metavar="FOLDER",
        type=Path,
        help=f"the folder to write (default {FOLDER}/BOARD)",
    )
    kernels = parser.add_mutually_exclusive_group()
    kernels.add_argument(
        "--native",
        action="store_const",
        const="native",
        default="viper",
        dest="emit",
        help="compile the kernels with a C compiler, into one native module: fewer instructions, "
        "less RAM, the same bits; without such a compiler, it falls back to viper (default: off)",
    )
    kernels.add_argument(
        "--emit",
        choices=("viper", "bytecode"),
        default="viper",
        help="machine code by mpy-cross, or bytecode for any processor (default viper)",
    )
    parser.add_argument(
        "--freeze",
        action="store_true",
        help="the library is for a MicroPython that you build, with FOLDER/firmware/manifest.py: "
        "in the firmware it takes flash instead of RAM (default: it is copied to the board)",
    )
    _add_program_options(parser)
    add_number_options(parser)
    add_model_options(parser, files=True, numbers=True)


def _add_program_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("options of the program")
    group.add_argument(
        "--sensor",
        action="append",
        nargs="+",
        metavar=("KIND", "NAME=VALUE"),
        help="what the program reads: serial (default); adc pins=26,27 rate=50; mpu6050 scl=1 "
        "sda=0 i2c=0 address=104 rate=100 axes=6 fifo=no; my_sensor.py rate=50, a file of your "
        "own. What is made of the readings is in --features, or in the saved model. Several "
        "--sensor give one reading together, and the first sets the pace",
    )
    group.add_argument(
        "--label-pin",
        nargs="+",
        metavar=("PIN", "NAME=VALUE"),
        help="a button that gives the label: 15 pressed=walk released=rest; "
        "nothing behind the = stands for no label (default: none)",
    )
    add_asking_option(group)
    group.add_argument(
        "--led-pin",
        metavar="PIN",
        help="a light that is on while a question of --label-budget or --spare-classes waits for "
        "its answer: 25, or LED (default: none)",
    )
    group.add_argument(
        "--pending",
        type=whole_number,
        default=32,
        metavar="K",
        help="samples that may wait for a late label (default 32)",
    )
    group.add_argument(
        "--checkpoint-samples",
        type=whole_number,
        default=1000,
        metavar="N",
        help="save a checkpoint to flash after every N samples; 0: never (default 1000)",
    )
    group.add_argument(
        "--checkpoint-seconds",
        type=whole_number,
        metavar="S",
        help="but not more often than every S seconds (default: as many minutes as the board's "
        "flash needs to last ten years)",
    )
    group.add_argument(
        "--alarm",
        choices=("none", *DETECTORS),
        help="the drift detector (default page_hinkley; none of numbers)",
    )
    add_anomaly_option(group)
    add_no_label_option(group, "labels of the classes of --classes come on the board")
    add_spare_option(group)
    group.add_argument(
        "--hook",
        choices=HOOKS,
        default="nothing",
        help="what the model does when a drift is detected (default nothing)",
    )
    group.add_argument(
        "--watchdog",
        type=whole_number,
        default=0,
        metavar="MS",
        help="restart the board if it hangs for this long, at least 5000 (default 0: off)",
    )
    group.add_argument(
        "--text", action="store_true", help="also print plotter lines (default: frames only)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the folder and say what it takes of the board."""
    board = board_files.load(arguments.board)
    output: Path = arguments.output or build.folder_of(board)
    build.check_output(output)
    options = _options(arguments)
    program = _program(arguments, board, options)
    own = options.own_files(board)
    made = build.make(program, board, output, arguments.emit, freeze=arguments.freeze, own=own)
    _print(made, board, program)
    return 0


def _options(arguments: argparse.Namespace) -> ProgramOptions:
    given = {
        field.name: getattr(arguments, field.name) for field in dataclasses.fields(ProgramOptions)
    }
    return ProgramOptions(**given | {"sensor": arguments.sensor or ("serial",)})


def _program(
    arguments: argparse.Namespace, board: board_files.Board, options: ProgramOptions
) -> Program:
    if is_model_file(arguments.model):
        if arguments.data is not None:
            raise UserError(
                f"DATA {arguments.data} is not used: the model is in {arguments.model}"
            )
        reading = ("label", "classes", "columns", "drop", "no_header", "no_label", "limit",
            "shuffle")  # fmt: skip
        of_numbers = ("target", "horizon", "lags", "target_range", "interval")
        of_data = [name for name in (*reading, *of_numbers) if vars(arguments)[name]]
        for name in [*given_options(arguments), *of_data]:
            raise UserError(f"{option(name)} is not used: the model is in {arguments.model}")
        model = model_files.read(Path(arguments.model))
        if arguments.features and model.extraction:
            raise UserError(f"--features is not used: {arguments.model} has its own")
        around = options.config(board, model.feature_names, model.known_names, model.extraction)
        return program_config.of_model(model, around)
    if arguments.data is None:
        raise UserError("Name a saved model, --model FILE.mshrub, or DATA for a fresh one")
    if wants_numbers(arguments):
        return _number_program(arguments, board, options)
    stream, parameters = open_with_parameters(arguments)
    around = options.config(board, stream.feature_names, stream.class_names, stream.extraction)
    return program_config.of_stream(stream, arguments.model, parameters, arguments.warmup, around)


def _number_program(
    arguments: argparse.Namespace, board: board_files.Board, options: ProgramOptions
) -> Program:
    stream, parameters, target = open_numbers_arguments(arguments)
    around = options.config(board, stream.column_names, (), stream.extraction)
    return program_config.of_numbers(
        stream, arguments.model, parameters, arguments.warmup or WARMUP, target, around
    )


def _print_time(board: board_files.Board, program: Program) -> None:
    """How long a sample takes, and whether the sensor's rate can be kept, if that is known."""
    names = {kind: name for name, kind in MODELS.items()}
    if program.learner not in names:
        return
    own = program.around["sensor"]["kind"] != "serial"
    found = sample_time.sample_time(board, names[program.learner], program.parameters)
    if not found:
        around = program_time.around_us(board, program.parameters["features"], own)
        console.say(f"time    {around / 1000:>9,.1f} ms a sample beside the learner, about")
        return
    median, most = (us / 1000 for us in found.served(own))
    console.say(
        f"time    {median:>9,.1f} ms a labelled sample with the program around it, p99 "
        f"{most:,.1f}: estimated, {1000 / median:,.0f} a second"
    )
    wanted = program_options.rate_of(program.around)
    if wanted and wanted > 1000 / median:
        messages.say(
            f"Note: {wanted:g} samples a second cannot be kept, and the board will miss some: "
            f"lower the rate of --sensor to {int(1000 / most)} samples a second, or take a "
            "smaller model."
        )


def _print_wear(made: build.Build, board: board_files.Board, program: Program) -> None:
    """What checkpoints take of the flash, and for how long it bears that."""
    checkpoint = program.around["checkpoint"]
    if checkpoint:
        size = sum(part.bytes for part in made.budget.buffers)
        lasts = flash_wear.years(board, size, checkpoint["seconds"])
        console.say(
            f"        {2 * size:>9,} bytes for two checkpoints, about; with one every "
            f"{checkpoint['seconds']:,} seconds, the flash lasts {_some_years(lasts)}"
        )
        if lasts < flash_wear.YEARS:
            seconds = flash_wear.lasting(board, size)
            messages.say(
                f"Note: --checkpoint-seconds {seconds} lets it last {flash_wear.YEARS:g} years."
            )


def _some_years(years: float) -> str:
    return f"{years:,.0f} years" if years >= 2 else f"{years:.1f} years"


def _print(made: build.Build, board: board_files.Board, program: Program) -> None:
    learned = "with what it has learned" if program.learner_state else "fresh"
    console.say(f"{program.learner} ({learned}) for {board.name}, in {made.folder}")
    console.say(f"flash   {made.flash_bytes:>9,} bytes in {count(len(made.files), 'file')}")
    console.say(f"        {made.file_system_bytes:>9,} bytes of its file system, about")
    _print_wear(made, board, program)
    console.say(f"RAM     {made.code_bytes:>9,} bytes for the imported code")
    if board.native and not made.budget.machine_code_bytes:
        machine_code, names = sum(module.native for module in made.heap.modules), made.heap.names
        console.say(f"        of which {machine_code:,} are machine code, and {names:,} names")
    model = made.budget.ram_bytes - made.code_bytes
    console.say(f"        {model:>9,} bytes for the model and what it needs")
    if made.budget.machine_code_bytes:
        code = made.budget.machine_code_bytes
        console.say(f"        {code:>9,} bytes for machine code, in executable RAM")
    console.say(fitting(made.budget))
    if made.emit == "viper":
        _print_time(board, program)
    if build.MANIFEST in made.files:
        console.say(
            f"Next, build MicroPython for {board.name} with\n"
            f"    FROZEN_MANIFEST={(made.folder / build.MANIFEST).resolve()}\n"
            "and install it on the board; then `microshrub flash` copies the rest."
        )
