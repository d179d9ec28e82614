"""A board whose program shares samples, on a cable and in a network."""

from __future__ import annotations

import time
from pathlib import Path

from mqtt_support import free_port
from packet_support import rows_of, saved_model
from patience import PATIENCE

from microshrub_tools.board import simulated_board
from microshrub_tools.board.pc_board import PcBoard
from microshrub_tools.cli.main import main
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.lines import open_line
from microshrub_tools.link.messages import Prediction, sample
from microshrub_tools.link.serial_line import PortError


class SharingBoard:
    """A virtual board whose program knows these classes, with a serial and a network port."""

    def __init__(
        self, command: tuple[str, ...], folder: Path, classes: tuple[int, ...], *more: str
    ) -> None:
        folder.mkdir()
        model = saved_model(folder / "board.mshrub", classes, 2)
        tcp, self.key = free_port(), folder / "board.key"
        words = [
            "build",
            "--model",
            str(model),
            "--board",
            "rpi_pico2_w",
            "--tcp",
            str(tcp),
            *more,
        ]
        build = folder / "build"
        assert main([*words, "--key", str(self.key), "--output", str(build)]) == 0
        self.flash = folder / "flash"
        self.flash.mkdir()
        simulated_board.put_program(self.flash, build)
        sensors = simulated_board.write_sensors(folder, None, 100.0, {})
        self.pc = PcBoard(command, self.flash, "1m", sensors=sensors)
        self.network = f"tcp://127.0.0.1:{tcp}"

    def port(self, link: str) -> list[str]:
        """Return the command-line options for the port."""
        port = self.network if link == "network" else self.pc.port
        self.right(0)  # wait until the board answers
        return ["--port", port, "--key", str(self.key)]

    def right(self, label: int, *, waits: bool = True) -> float:
        """Return the share of other samples of a class that are predicted right."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                line = open_line(self.network, self.key)
                break
            except PortError:
                assert waits
                assert time.monotonic() < end
                time.sleep(0.1)
        rows = rows_of(label, 25, 99)
        with HostLink(line, patience=PATIENCE) as link:
            link.connect()
            answers = [link.ask(sample(row.tolist())) for row in rows]
        assert all(isinstance(each, Prediction) for each in answers)
        return sum(each.label == label for each in answers) / len(answers)  # type: ignore[union-attr]
