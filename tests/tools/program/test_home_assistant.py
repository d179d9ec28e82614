"""Home Assistant's own MQTT integration makes its entities of the very messages of a board."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from device_support import Device
from house_support import Listener, Mosquitto, needs_broker, put_house, settings
from patience import PATIENCE
from tests_support import ROOT

HOME = ROOT / ".venv-house" / "bin" / "python"
CHECK = ROOT / "tests" / "support" / "home_assistant" / "check_entities.py"
CLASSES = ["rest", "walk", "", ""]
ALL = {
    "class_names": CLASSES,
    "anomaly": {"period": 1000, "window": 32, "reach": 4, "normal": 100},
    "asking": {"labels": 1, "samples": 2},
    "spare": {"classes": 2, "room": 16},
    "alarm": {"detector": "page_hinkley"},
    "parameters": {"features": 2, "classes": 4, "bytes": 12000},
}


@needs_broker
@pytest.mark.skipif(not HOME.exists(), reason="no Home Assistant: `make optional` installs it")
def test_home_assistant_makes_the_entities(
    micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    broker = Mosquitto(tmp_path / "broker")
    listener = Listener(broker.port)
    put_house(tmp_path, settings(broker.port, **ALL))
    device = Device(micropython_command, tmp_path, "256k")
    try:
        listener.until_state()
    finally:
        device.close()
        broker.stop()
    told = {topic: data.decode() for topic, data in listener.last.items()}
    check = tmp_path / "house" / "test_entities.py"  # away from our own conftest.py
    check.parent.mkdir()
    shutil.copy(CHECK, check)
    path = tmp_path / "told.json"
    path.write_text(json.dumps(told))
    done = subprocess.run(
        [HOME, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--asyncio-mode=auto",
         "--rootdir", check.parent, check],
        env={**os.environ, "TOLD": str(path)},
        cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:]
