"""The model of a board's program, for sharing: fetched to the PC and put back.

The program is stopped, which saves its checkpoint. On the PC, the same application loads the
checkpoint and learns, and its next checkpoint is copied to the board: learning on the PC gives the
board's bits. The previous slot is left alone, so that after a cut the board has its old model.
"""

from __future__ import annotations

import base64
import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from microshrub_host.base.child_process import patience
from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import messages
from microshrub_host.library import loader
from microshrub_host.models.shared_samples import Sharer

from ..link import key_file
from ..link.lines import is_network
from ..link.serial_line import PortError
from ..link.tcp_line import line_within
from . import flash
from .board_repl import Device
from .flash import Runs
from .flash_network import NetworkDevice

_PIECE = 1024  # bytes read at once
_START_SECONDS = 30.0  # seconds for the program to start again
_BACK_SECONDS = 90.0  # seconds for the program to rejoin the network
_CONFIG = "config.json"
_STATES = (_CONFIG, ".state")  # endings of the names of a model's files


class BoardModel:
    """The model that the program of an open board has learned.

    sharer    the model's Sharer
    name      the board's name at its MQTT broker or in its group, None without one
    """

    def __init__(self, device: Runs, folder: Path) -> None:
        flash.prepare(device)
        slots = flash.slots(device)
        if not slots:
            raise UserError("the board has no program of `microshrub flash`")
        self._device, self._folder, self._slot = device, folder, slots[-1]
        names = [name for name, _ in device.value(f"listing({self._slot!r})")]
        for name in names:
            if name.endswith(_STATES) or name.startswith("checkpoint."):
                (folder / name).write_bytes(_read(device, f"{self._slot}/{name}"))
        self._application()

    def _application(self) -> None:
        library: Any = loader.load("python")
        try:
            config = library.device.config.Configuration((self._folder / _CONFIG).read_bytes())
            named = (config.network or {}).get("mqtt") or config.share or {}
            self.name: str | None = named.get("name")
            if config.regression is not None or config.spare_classes is not None:
                what = "predicts a number" if config.spare_classes is None else "has spare classes"
                raise UserError(f"a program that {what} shares no samples")
            self._app = library.device.application.Application(config, f"{self._folder}/")
            self._app.begin()
            if not self._app.quantizer.frozen:
                raise UserError("the board is still calibrating: it shares samples afterwards")
            units = tuple(tuple(unit) for unit in config.units)
            shape = config.feature_names, units, config.class_names
            sharing = library.Sharing(self._app.learner, self._app.quantizer, *shape)
            self.sharer = Sharer("the board", sharing, *shape)
        except (OSError, ValueError) as error:
            raise UserError(f"the board's program: {error}") from None

    def check_keeps(self) -> None:
        """Raise UserError if the program keeps no checkpoint, so that it could not be taught."""
        if self._app.store is None:
            raise UserError(
                "the board's program keeps no checkpoint, so it would forget what it is taught: "
                "build it without `--checkpoint-seconds 0`"
            )

    def put_back(self) -> None:
        """Learn the waiting samples, and copy the new checkpoint to the board."""
        while self.sharer.sharing.step():
            pass
        while self._app.learner.idle():
            pass
        before = {path: path.read_bytes() for path in self._folder.glob("checkpoint.*")}
        if not self._app.store.save():
            raise UserError(self._app.store.message)
        for path in sorted(self._folder.glob("checkpoint.*")):
            data = path.read_bytes()
            if before.get(path) != data:
                flash.write(self._device, f"{self._slot}/{path.name}", data)
                if _read(self._device, f"{self._slot}/{path.name}") != data:
                    raise UserError(
                        "the checkpoint did not arrive as it was sent; the board goes on with the "
                        "one before: try it again"
                    )


def _read(device: Runs, path: str) -> bytes:
    """Read a file of the board."""
    device.run(f"f = open({path!r}, 'rb')")
    data = b""
    while piece := device.run(
        f"feed(); print(str(binascii.b2a_base64(f.read({_PIECE})), 'ascii'))"
    ):
        part = base64.b64decode(piece)
        data += part
        if len(part) < _PIECE:
            break
    device.run("f.close()")
    return data


def _wait_for(port: str, key: bytes) -> None:
    """Wait until a restarted program is back on the network. Raises UserError."""
    messages.say(f"The program starts again; waiting until it is back at {port}.")
    try:
        line_within(port, key, patience(_BACK_SECONDS)).close()
    except PortError as error:
        raise UserError(
            f"the program was started again and has not come back to the network: {error}"
        ) from None


@contextlib.contextmanager
def board_model(port: str, key: Path | None) -> Iterator[BoardModel]:
    """Yield the model of the board at a port, and restart the program afterwards.

    Over the network, wait until the board is back. Raises UserError.
    """
    with tempfile.TemporaryDirectory(prefix="microshrub-share-") as name:
        if is_network(port):
            secret = key_file.chosen(key)
            far = NetworkDevice(port, secret)
            try:
                yield BoardModel(far, Path(name))
            finally:
                far.reset()
            _wait_for(port, secret)
            return
        with Device(port) as device:
            try:
                yield BoardModel(device, Path(name))
            except BaseException:
                with contextlib.suppress(UserError):  # the line may be gone
                    device.start(0)
                raise
            device.start(_START_SECONDS)
