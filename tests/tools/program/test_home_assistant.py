"""Home Assistant's own MQTT integration creates its entities from a board's real messages."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from device_support import Device
from mqtt_support import Listener, Mosquitto, needs_broker, put_mqtt, settings
from patience import PATIENCE
from tests_support import ROOT

HOMES = {"old": ".venv-house", "new": ".venv-house-new"}
CHECK = ROOT / "tests" / "support" / "home_assistant" / "check_entities.py"
CLASSES = ["rest", "walk", "", ""]
ALL = {
    "class_names": CLASSES,
    "anomaly": {"period": 1000, "window": 32, "reach": 4, "normal": 100},
    "queries": {"labels": 1, "samples": 2},
    "spare_classes": {"classes": 2, "room": 16},
    "alarm": {"detector": "page_hinkley"},
    "checkpoint": {"path": "checkpoint", "seconds": 240},
    "parameters": {"features": 2, "classes": 4, "bytes": 12000},
}


@needs_broker
@pytest.mark.parametrize("age", HOMES)
def test_home_assistant_makes_the_entities(
    age: str, micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    """A version before 2024.12 gets a message per entity, a newer one a message for the board."""
    home = ROOT / HOMES[age] / "bin" / "python"
    if not home.exists():
        pytest.skip("no Home Assistant of that age: `make optional` installs it")
    broker = Mosquitto(tmp_path / "broker")
    listener = Listener(broker.port)
    put_mqtt(tmp_path, settings(broker.port, **ALL), old=age == "old")
    with Device(micropython_command, tmp_path, "256k"):
        listener.until_state()
        broker.stop()
    messages = {topic: data.decode() for topic, data in listener.last.items()}
    check = tmp_path / "alone" / "test_entities.py"  # away from our own conftest.py
    check.parent.mkdir()
    shutil.copy(CHECK, check)
    path = tmp_path / "messages.json"
    path.write_text(json.dumps(messages))
    done = subprocess.run(
        [home, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--asyncio-mode=auto",
         "--show-capture=no", "--rootdir", check.parent, check],
        env={**os.environ, "MESSAGES": str(path)},
        cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:]
