"""Child processes end with this process, and are started in one place."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from child_support import children, is_running
from patience import PATIENCE, wait_until

from microshrub_host.base import child_process

ROOT = Path(__file__).resolve().parents[3]
PARENT = """
import sys
from microshrub_host.base import child_process
child = child_process.start(["sleep", "600"], start_new_session=True)
print(child.pid, flush=True)
child.wait()
"""
WITH_US = sys.platform == "linux" and shutil.which("setpriv") is not None


@pytest.mark.skipif(not WITH_US, reason="needs setpriv of Linux")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_child_ends_with_this_process(number: signal.Signals) -> None:
    command = [sys.executable, "-c", PARENT]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
        assert parent.stdout
        child = int(parent.stdout.readline())
        # before, setpriv may not have registered with the kernel
        wait_until(lambda: children(parent.pid).get(child, "").startswith("sleep"))
        parent.send_signal(number)
        parent.communicate(timeout=PATIENCE)
    wait_until(lambda: not is_running(child))


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_command_prints_a_message_and_leaves_no_files(
    number: signal.Signals, tmp_path: Path
) -> None:
    words = ["simulate", "synth:rbf_m", "--limit", "20000", "--engine", "micropython"]
    words += ["--json", "result.json"]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "microshrub_command", *words]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        wait_until(
            lambda: any("bin/micropython" in line for line in children(process.pid).values())
        )
        engines = children(process.pid)
        process.send_signal(number)
        text = process.communicate(timeout=PATIENCE)[1].decode()
    assert process.returncode == 128 + number
    assert text.splitlines()[-1] == "microshrub: stopped"
    assert "Traceback" not in text
    assert not (tmp_path / "result.json").exists()
    wait_until(lambda: not any(map(is_running, engines)))


def test_the_output_of_a_program_is_text() -> None:
    done = child_process.run([sys.executable, "-c", "import sys; print('here'); sys.exit(3)"])
    assert (done.returncode, done.stdout.strip(), done.stderr) == (3, "here", "")


def test_a_missing_program_is_an_os_error() -> None:
    with pytest.raises(OSError, match="no-such-program"):
        child_process.start(["no-such-program"])


def test_no_other_file_starts_programs() -> None:
    starts = re.compile(
        r"\bsubprocess\.(Popen|run|call|check_\w+)\(|\bos\.(system|spawn|exec|fork)"
    )
    files = [
        file for room in ("host", "tools", "research") for file in (ROOT / room).rglob("*.py")
    ]
    names = {file.name for file in files if starts.search(file.read_text(encoding="utf-8"))}
    assert names == {"child_process.py"}
