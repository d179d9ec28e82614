"""Tools for boards: programs are built, flashed, and watched as they learn.

The names for programs and notebooks are exported here, and imported at their first use. All other
names are private: they may change without notice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from microshrub_host.base.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from .api import build, flash
    from .board.build import Build
    from .board.flash import SelfTest
    from .board.program_mqtt import MqttSettings
    from .board.program_network import TcpSettings, WifiSettings
    from .board.program_settings import Checkpoint, DriftAlarm, LabelPin, Pending, Sleep
    from .board.program_share import ShareSettings
    from .board.sensor_settings import Sensor

__all__ = [
    "Build",
    "Checkpoint",
    "DriftAlarm",
    "LabelPin",
    "MqttSettings",
    "Pending",
    "SelfTest",
    "Sensor",
    "ShareSettings",
    "Sleep",
    "TcpSettings",
    "WifiSettings",
    "build",
    "flash",
]

_NAMES = {  # by their modules
    "api": "build flash",
    "board.build": "Build",
    "board.flash": "SelfTest",
    "board.program_mqtt": "MqttSettings",
    "board.program_network": "TcpSettings WifiSettings",
    "board.program_settings": "Checkpoint DriftAlarm LabelPin Pending Sleep",
    "board.program_share": "ShareSettings",
    "board.sensor_settings": "Sensor",
}

__getattr__, __dir__ = lazy_exports(__name__, _NAMES)
